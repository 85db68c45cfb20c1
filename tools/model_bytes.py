"""Writers of the two encodings that models come in: FlatBuffers (TFLite) and Protocol Buffers (ONNX).

FlatBuffers: a tree of tables. A table is written in front of what it names, so that every offset points
forward; a table's own start is 4 past a multiple of 8, and its fields follow by size, so that all are aligned.
Source: flatbuffers.dev/internals; protobuf.dev/programming-guides/encoding."""
import struct

# ---- FlatBuffers

SIZES = {"b": 1, "B": 1, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8}


class Table:
    """fields: slot -> (format, number), or what is named by offset: str, bytes, Vector, Table, list of Table."""

    def __init__(self, fields):
        self.fields = {slot: value for slot, value in fields.items() if value is not None}


class Vector:
    """Numbers of one format."""

    def __init__(self, kind, numbers):
        self.kind, self.numbers = kind, list(numbers)


class FlatBuffer:
    """Writes a root table with its file identifier; `data` is the file."""

    DATA_ALIGN = 16  # of byte vectors: the runtime maps constants

    def __init__(self, root, identifier):
        self.data = bytearray(4) + identifier.encode()
        struct.pack_into("<I", self.data, 0, self._table(root))

    def _pad(self, align, phase=0):
        self.data += bytes((phase - len(self.data)) % align)

    def _table(self, table):
        order = sorted(table.fields.items(), key=lambda item: (-self._size(item[1]), item[0]))
        offsets, end = {}, 4
        for slot, value in order:
            offsets[slot] = end
            end += self._size(value)
        slots = max(table.fields, default=-1) + 1
        self._pad(8, (-2 * slots) % 8)  # the vtable ends 4 past a multiple of 8
        vtable = len(self.data)
        self.data += struct.pack("<HH", 4 + 2 * slots, end)
        self.data += b"".join(struct.pack("<H", offsets.get(slot, 0)) for slot in range(slots))
        at = len(self.data)
        self.data += struct.pack("<i", at - vtable) + bytes(end - 4)
        for slot, value in order:
            if isinstance(value, tuple):
                struct.pack_into("<" + value[0], self.data, at + offsets[slot], value[1])
        for slot, value in sorted(table.fields.items()):
            if not isinstance(value, tuple):
                self._refer(at + offsets[slot], self._named(value))
        return at

    @staticmethod
    def _size(value):
        return SIZES[value[0]] if isinstance(value, tuple) else 4

    def _refer(self, at, target):
        struct.pack_into("<I", self.data, at, target - at)

    def _named(self, value):
        if isinstance(value, Table):
            return self._table(value)
        if isinstance(value, str):
            return self._bytes(value.encode(), 4, b"\0")
        if isinstance(value, bytes):
            return self._bytes(value, self.DATA_ALIGN, b"")
        if isinstance(value, Vector):
            size = SIZES[value.kind]
            numbers = struct.pack(f"<{len(value.numbers)}{value.kind}", *value.numbers)
            return self._bytes(numbers, max(size, 4), b"", len(value.numbers))
        return self._tables(value)

    def _bytes(self, content, align, end, count=None):
        self._pad(align, -4)
        at = len(self.data)
        self.data += struct.pack("<I", len(content) if count is None else count) + content + end
        return at

    def _tables(self, tables):
        self._pad(4)
        at = len(self.data)
        self.data += struct.pack("<I", len(tables)) + bytes(4 * len(tables))
        for k, table in enumerate(tables):
            self._refer(at + 4 + 4 * k, self._table(table))
        return at


# ---- Protocol Buffers


def _varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(*fields):
    """fields: (number, value); an int is a varint, a float 32 bits, str and bytes are length-delimited; None is left out."""
    out = bytearray()
    for number, value in fields:
        if value is None:
            continue
        if isinstance(value, int):
            out += _varint(number << 3) + _varint(value)
        elif isinstance(value, float):
            out += _varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            content = value.encode() if isinstance(value, str) else bytes(value)
            out += _varint(number << 3 | 2) + _varint(len(content)) + content
    return bytes(out)


def repeated(number, values):
    return [(number, value) for value in values]
