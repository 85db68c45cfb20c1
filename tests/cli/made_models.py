"""Models that several scripts here make."""
from model_formats import OnnxModel


def moved():
    """Codes of 0.5 to which 1 is added: two codes further, which a zero point says as well."""
    model = OnnxModel("moved")
    model.input("x", "int8", [1, 4])
    model.constant("half", "float32", [], [0.5])
    model.constant("one", "float32", [], [1])
    model.constant("zero", "int8", [], [0])
    model.node("Abs", ["x"], "q")
    model.node("DequantizeLinear", ["q", "half", "zero"], "f")
    model.node("Add", ["f", "one"], "g")
    model.node("QuantizeLinear", ["g", "half", "zero"], "o")
    model.node("Neg", ["o"], "y")
    model.output("y", "int8", [1, 4])
    open("moved.onnx", "wb").write(model.data())
