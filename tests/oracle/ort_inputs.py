"""Inputs for ONNX models: the shipped ones, and seeded random ones.

Of each random set there are several choices, from bold to careful, because a model may allow few integers (indices,
shapes, lengths): the first that ONNX Runtime takes is used. Free dimensions have the values of the shipped input, of
the options --dim, or small ones of their own; dimensions of one name have one value."""
import base64
import glob
import json
import os

import numpy
import onnx
import onnx.numpy_helper

SETS = 5
NAMES = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.DOUBLE: "float64", onnx.TensorProto.FLOAT16: "float16",
         onnx.TensorProto.INT8: "int8", onnx.TensorProto.UINT8: "uint8", onnx.TensorProto.INT16: "int16",
         onnx.TensorProto.UINT16: "uint16", onnx.TensorProto.INT32: "int32", onnx.TensorProto.UINT32: "uint32",
         onnx.TensorProto.INT64: "int64", onnx.TensorProto.UINT64: "uint64", onnx.TensorProto.BOOL: "bool",
         onnx.TensorProto.STRING: "string"}
FEW = 4096  # elements of an input into which infinities and NaN are strewn
CHOICES = 4
AS_SHIPPED = 3  # the choice in which only the first input is random, where there are shipped ones


class NoInputs(Exception):
    """Why a model can't be given inputs."""


def inputs_of(model):
    """The inputs that have no default."""
    known = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in known]


def _element_name(value):
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        raise NoInputs(f"an input is a {kind.replace('_type', '')}")
    name = NAMES.get(value.type.tensor_type.elem_type)
    if name is None:
        raise NoInputs(f"an input has elements of {onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type)}")
    return name


def _shape_of(value, dims):
    shape = []
    for axis, dim in enumerate(value.type.tensor_type.shape.dim):
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0:
            shape.append(dim.dim_value)
        else:
            name = dim.dim_param or f"{value.name}:{axis}"
            shape.append(dims.setdefault(name, dims.get(f"{value.name}:{axis}", 2 + len(dims))))
    return shape


def _from_pb(path, value):
    with open(path, "rb") as stream:
        data = stream.read()
    if value.type.WhichOneof("value") != "tensor_type":
        _element_name(value)  # raises
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


def _shipped_beside(path, values):
    for folder in sorted(glob.glob(os.path.join(glob.escape(os.path.dirname(path)), "test_data_set_*"))):
        files = [os.path.join(folder, f"input_{k}.pb") for k in range(len(values))]
        if all(os.path.exists(file) for file in files):
            yield [_from_pb(file, value) for file, value in zip(files, values)]


def _generated(values):
    """The stream by which references that store no input were made."""
    state = 12345
    rules = {"float32": lambda r: (r % 2001 - 1000) / 1000, "int8": lambda r: (r & 255) - 256 * ((r & 255) > 127),
             "uint8": lambda r: r & 255, "int64": lambda r: r % 16, "int32": lambda r: r % 16}
    arrays = []
    for name, shape in values:
        numbers = []
        for _ in range(int(numpy.prod(shape))):
            state = (state * 1664525 + 1013904223) & 0xffffffff
            numbers.append(rules[name](state >> 8))
        arrays.append(numpy.array(numbers, name).reshape(shape))
    return arrays


def _shipped_as_reference(folder):
    facts = os.path.join(folder, "io.json")
    if os.path.exists(facts):
        with open(facts, encoding="utf-8") as stream:
            inputs = json.load(stream)["inputs"]
        files = [os.path.join(folder, entry["file"]) for entry in inputs]
        if all(os.path.exists(file) for file in files):
            yield {entry["name"]: numpy.fromfile(file, entry["type"]).reshape(entry["shape"])
                   for entry, file in zip(inputs, files)}
        elif not any(os.path.exists(file) for file in files):
            arrays = _generated([(entry["type"], entry["shape"]) for entry in inputs])
            yield {entry["name"]: array for entry, array in zip(inputs, arrays)}


def _shipped(path, values, references):
    """Shipped inputs, each a list of arrays in the order of `values`."""
    found = list(_shipped_beside(path, values))
    for named in _shipped_as_reference(references) if references else []:
        if all(value.name in named for value in values):
            found.append([named[value.name] for value in values])
    return found


def _floats(random, number, shape):
    count = int(numpy.prod(shape))
    if number == 3:  # many magnitudes, and signed zeros
        return random.choice([-1.0, 1.0], shape) * numpy.exp2(random.uniform(-20, 12, shape)) * (random.random(shape) > .1)
    if number == 4 and count <= FEW:
        special = random.choice([numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0], shape)
        return numpy.where(random.random(shape) < .12, special, random.normal(0, 2, shape))
    if number == 0:
        return random.uniform(-1, 1, shape)
    return random.normal(0, (1, 3, 1, 1, 40)[number], shape)


def _integers(random, name, shape, choice, shipped):
    limits = numpy.iinfo(name)
    if choice == 0 and limits.bits <= 16:
        low, high = limits.min, limits.max
    elif choice < 2 and shipped is not None and shipped.size:
        low, high = int(shipped.min()), int(shipped.max())
    else:
        low, high = ((0, 15), (0, 1), (1, 1), (0, 0))[choice]
    return random.integers(low, high, shape, name, endpoint=True)


def _draw(random, name, shape, number, choice, shipped):
    if name == "bool":
        return random.random(shape) < .5
    if name == "string":
        return random.choice(["", "a", "stride", "0"], shape) if choice == 0 or shipped is None else shipped
    if name.startswith("float"):
        return numpy.asarray(_floats(random, number, shape)).astype(name)
    if choice == 2 and shipped is not None:
        return shipped  # what the model is known to take
    return numpy.asarray(_integers(random, name, shape, choice, shipped)).astype(name)


def _pack(value, name, array):
    if name == "string":
        data = [text.decode() if isinstance(text, bytes) else str(text) for text in numpy.asarray(array).flatten()]
    else:
        data = base64.b64encode(numpy.ascontiguousarray(array).tobytes()).decode()
    return {"name": value.name, "type": name, "dims": list(numpy.shape(array)), "data": data}


class Model:
    """A model's inputs: names of element types, shapes, and shipped arrays (None where there are none)."""

    def __init__(self, model, path, dims, references):
        self.values = inputs_of(model)
        self.names = [_element_name(value) for value in self.values]
        self.shipped = _shipped(path, self.values, references)
        self.known = self.shipped[0] if self.shipped else [None] * len(self.values)
        self.dims = dict(dims)
        wanted = [_shape_of(value, self.dims) for value in self.values]
        self.shapes = [shape if array is None else list(array.shape) for shape, array in zip(wanted, self.known)]

    def pack(self, arrays):
        return [_pack(*entry) for entry in zip(self.values, self.names, arrays)]

    def bound(self, of_value):
        """Shapes with free dimensions of other values."""
        dims = {name: of_value(value) for name, value in self.dims.items()}
        return [_shape_of(value, dims) for value in self.values]

    def shapes_of(self, number):
        """Larger free dimensions in one set; where the model does not take that, nor the usual ones: all of them 1."""
        larger = [self.bound(lambda value: value + 1)] if self.dims and number == 3 else []
        return larger + [self.shapes] + ([self.bound(lambda _: 1)] if self.dims and not self.shipped else [])

    def choices(self, number, shapes):
        is_plain = all(name.startswith("float") or name == "bool" for name in self.names)
        known = [array if array is not None and list(array.shape) == shape else None
                 for array, shape in zip(self.known, shapes)]
        for choice in (0, AS_SHIPPED) if is_plain else range(CHOICES):
            random = numpy.random.default_rng([number, choice])
            arrays = [_draw(random, name, shape, number, choice, array)
                      for name, shape, array in zip(self.names, shapes, known)]
            if choice == AS_SHIPPED:
                arrays[1:] = [drawn if array is None else array for drawn, array in zip(arrays[1:], known[1:])]
            yield self.pack(arrays)


def sets_of(model, path, dims, references=None):
    """Sets of choices of inputs, as ort_run.mjs takes them: those shipped, then SETS random ones. `dims` gives values of
    free dimensions by name or as INPUT:AXIS; `references` is a folder with io.json, or None. In one set free
    dimensions are larger, where the model takes that."""
    inputs = Model(model, path, dims, references)
    sets = [[inputs.pack(arrays)] for arrays in inputs.shipped]
    for number in range(SETS):
        sets.append([choice for shapes in inputs.shapes_of(number) for choice in inputs.choices(number, shapes)])
    return sets
