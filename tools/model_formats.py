"""TFLite and ONNX in terms of tools/model_bytes.py: just what the models that this project writes need.

Sources: schema.fbs of TFLite, schema version 3; onnx.proto3 of onnx 1.17."""
import struct

from model_bytes import FlatBuffer, Table, Vector, message, repeated

# ---- TFLite

TFLITE_TYPES = {"float32": 0, "int32": 2, "int16": 7, "int8": 9, "resource": 13}
BUILTINS = {"ADD": 0, "AVERAGE_POOL_2D": 1, "CONCATENATION": 2, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "FULLY_CONNECTED": 9,
            "LOGISTIC": 14, "MUL": 18, "RELU": 19, "RESHAPE": 22, "SOFTMAX": 25, "STRIDED_SLICE": 45, "QUANTIZE": 114,
            "CALL_ONCE": 129, "VAR_HANDLE": 142, "READ_VARIABLE": 143, "ASSIGN_VARIABLE": 144}
VERSIONS = {"ADD": 2, "AVERAGE_POOL_2D": 2, "CONCATENATION": 2, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 3,
            "FULLY_CONNECTED": 4, "MUL": 2, "RELU": 2, "SOFTMAX": 2, "STRIDED_SLICE": 2}
PACK = {"int8": "b", "int32": "i", "int64": "q", "float32": "f"}


def pack(dtype, numbers):
    return struct.pack(f"<{len(numbers)}{PACK[dtype]}", *numbers)


class TfliteSubgraph:
    def __init__(self, model, name):
        self.model, self.name = model, name
        self.tensors, self.operators, self.inputs, self.outputs = [], [], [], []

    def tensor(self, name, dtype, shape, data=None, scale=None, zero=0, axis=0):
        """Adds a tensor, a constant where `data` (numbers) is given; `scale` is a number or a list. Its index."""
        quant = None
        if scale is not None:
            scales = scale if isinstance(scale, list) else [scale]
            quant = Table({2: Vector("f", scales), 3: Vector("q", [zero] * len(scales)), 6: ("i", axis)})
        self.tensors.append(Table({0: Vector("i", shape), 1: ("b", TFLITE_TYPES[dtype]),
                                   2: ("I", self.model.buffer(dtype, data)), 3: name, 4: quant, 8: ("B", 1)}))
        return len(self.tensors) - 1

    def operator(self, builtin, inputs, outputs, options_type=0, options=None):
        self.operators.append(Table({0: ("I", self.model.code(builtin)), 1: Vector("i", inputs),
                                     2: Vector("i", outputs), 3: ("B", options_type) if options else None,
                                     4: Table(options) if options else None}))


class TfliteModel:
    def __init__(self, description):
        self.description = description
        self.codes, self.buffers, self.subgraphs, self.known = [], [Table({})], [], {}
        self.more = {}  # fields of the root table beside those of data()

    def subgraph(self, name):
        self.subgraphs.append(TfliteSubgraph(self, name))
        return self.subgraphs[-1]

    def code(self, builtin):
        if builtin not in self.codes:
            self.codes.append(builtin)
        return self.codes.index(builtin)

    def buffer(self, dtype, data):
        """Equal constants share a buffer."""
        if data is None:
            return 0
        content = pack(dtype, data)
        if content not in self.known:
            self.known[content] = len(self.buffers)
            self.buffers.append(Table({0: content}))
        return self.known[content]

    def _code(self, builtin):
        number = BUILTINS[builtin]
        return Table({0: ("b", min(number, 127)), 2: ("i", VERSIONS.get(builtin, 1)), 3: ("i", number)})

    def data(self):
        graphs = [Table({0: g.tensors, 1: Vector("i", g.inputs), 2: Vector("i", g.outputs), 3: g.operators, 4: g.name})
                  for g in self.subgraphs]
        root = Table({0: ("I", 3), 1: [self._code(b) for b in self.codes], 2: graphs, 3: self.description,
                      4: self.buffers, **self.more})
        return bytes(FlatBuffer(root, "TFL3").data)


# ---- ONNX

ONNX_TYPES = {"float32": 1, "int8": 3, "int32": 6, "int64": 7}


class OnnxModel:
    def __init__(self, name, opset=13):
        self.name, self.opset = name, opset
        self.nodes, self.initializers, self.inputs, self.outputs, self.annotations = [], [], [], [], []

    def constant(self, name, dtype, shape, data):
        self.initializers.append(message(*repeated(1, shape), (2, ONNX_TYPES[dtype]), (8, name),
                                         (9, pack(dtype, data))))
        return name

    @staticmethod
    def _value(name, dtype, shape):
        dims = message(*repeated(1, [message((1, extent)) for extent in shape]))
        return message((1, name), (2, message((1, message((1, ONNX_TYPES[dtype]), (2, dims))))))

    def input(self, name, dtype, shape):
        self.inputs.append(self._value(name, dtype, shape))
        return name

    def output(self, name, dtype, shape):
        self.outputs.append(self._value(name, dtype, shape))

    def annotate(self, tensor, **parameters):
        entries = [message((1, key.upper()), (2, name)) for key, name in parameters.items()]
        self.annotations.append(message((1, tensor), *repeated(2, entries)))

    @staticmethod
    def _attribute(name, value):
        if isinstance(value, int):
            return message((1, name), (3, value), (20, 2))
        return message((1, name), *repeated(8, value), (20, 7))

    def node(self, op, inputs, output, **attributes):
        """Adds a node that is called as its output. The output."""
        self.nodes.append(message(*repeated(1, inputs), (2, output), (3, output), (4, op),
                                  *repeated(5, [self._attribute(k, v) for k, v in sorted(attributes.items())])))
        return output

    def data(self):
        graph = message(*repeated(1, self.nodes), (2, self.name), *repeated(5, self.initializers),
                        *repeated(11, self.inputs), *repeated(12, self.outputs), *repeated(14, self.annotations))
        return message((1, 8), (2, "stride0"), (7, graph), (8, message((1, ""), (2, self.opset))))
