"""ONNX convolutions at sampled places, in float64."""
import numpy

SAMPLES = 600


def sample(shape):
    """Indices of places of an output, one array an axis: where it is small, all of them."""
    count = int(numpy.prod(shape))
    flat = numpy.arange(count) if count <= SAMPLES else numpy.random.default_rng(1).choice(count, SAMPLES, False)
    return numpy.unravel_index(flat, shape)


def groups(node):
    return next((attr.i for attr in node.attribute if attr.name == "group"), 1)


def _attributes(node, rank):
    found = {attr.name: attr for attr in node.attribute}
    lists = {name: list(found[name].ints) if name in found else default
             for name, default in (("strides", [1] * rank), ("dilations", [1] * rank), ("pads", [0] * 2 * rank))}
    auto = found["auto_pad"].s.decode() if "auto_pad" in found else "NOTSET"
    return lists["strides"], lists["dilations"], lists["pads"], auto


def _first_pads(node, kernel, extent, out):
    """Elements of padding in front, an axis each."""
    strides, dilations, pads, auto = _attributes(node, len(kernel))
    if auto in ("NOTSET", ""):
        return pads[:len(kernel)]
    if auto == "VALID":
        return [0] * len(kernel)
    whole = [max(0, (o - 1) * s + (k - 1) * d + 1 - i)
             for o, s, k, d, i in zip(out, strides, kernel, dilations, extent)]
    return [w // 2 if auto == "SAME_UPPER" else w - w // 2 for w in whole]


def _sources(node, kernel, places, tap, before):
    """Where an output place finds the input under a tap of the kernel, and whether there is such a place at all."""
    strides, dilations, pads, _ = _attributes(node, len(kernel))
    if node.op_type == "Conv":
        at = [p * s + t * d - b for p, s, t, d, b in zip(places[2:], strides, tap, dilations, before)]
        return at, numpy.full(places[0].shape, True)
    at = [p + b - t * d for p, t, d, b in zip(places[2:], tap, dilations, pads)]
    return [a // s for a, s in zip(at, strides)], numpy.all([a % s == 0 for a, s in zip(at, strides)], axis=0)


def convolution(node, array, weights, bias, shape, places):
    """Sums of products of `node`, with `bias`, at `places` of its output of `shape`. A ConvTranspose
    has pads of its own."""
    is_plain = node.op_type == "Conv"
    spatial, own_outs = weights.shape[2:], shape[1] // groups(node)
    inputs = weights.shape[1] if is_plain else weights.shape[0] // groups(node)
    before = _first_pads(node, spatial, array.shape[2:], shape[2:]) if is_plain else None
    first = places[1] // own_outs * inputs
    total = bias.astype("float64")[places[1]]
    for tap in numpy.ndindex(*spatial):
        at, is_there = _sources(node, spatial, places, tap, before)
        is_there &= numpy.all([(a >= 0) & (a < n) for a, n in zip(at, array.shape[2:])], axis=0)
        at = [numpy.clip(a, 0, n - 1) for a, n in zip(at, array.shape[2:])]
        for k in range(inputs):
            number = weights[(places[1], k, *tap) if is_plain else (first + k, places[1] % own_outs, *tap)]
            products = array[(places[0], first + k, *at)].astype("float64") * number
            total = total + numpy.where(is_there, products, 0)
    return total
