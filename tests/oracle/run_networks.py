#!/usr/bin/env python3
"""Runs whole int8 networks on the simulated device: each must give, bit for bit, what TFLite Micro's reference kernels
gave of the same input (S0_SHARED, models/refs/tflm-ref-kernels), or ONNX Runtime without optimisations (refs/ort-1.30); on
each of these devices and in tiles of any size; the audit must be exact.

usage: run_networks.py STRIDE0 SHARED"""
import json
import os
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
import models  # noqa: E402

TEST = "run_networks"
NETWORKS = ("tflm_hello_world_int8", "mlperf_ad_autoencoder_int8", "mlperf_kws_dscnn_int8", "tflm_person_detect",
            "mlperf_ic_resnet8_int8", "tflm_micro_speech_int8", "tinymaix_mnist_valid_q",
            "tinymaix_mbnet96_0.25_q", "mlperf_vww_mbv1_96_int8", "mcunet_vww")
OF_CODERS = ("ad_ae_qdq", "kws_dscnn_qdq")  # operators between Dequantize and Quantize
WAYS = (("gap8",), ("max78000",), ("teach", "--budget", "8K"), ("nvdla-small", "--budget", "12K"),
        ("sophgo-bm1684x", "--budget", "16K"), ("gap8", "--budget", "24K", "--schedule", "pipelined"),
        ("gap8", "--tile", "3"))
MOST_WAYS = {"mlperf_vww_mbv1_96_int8": 2}  # the largest map is 55 KB
# Its last layer reads 25 x 20 x 8 codes at once: 4000 weights in blocks of 64 a lane have no order of rows, columns and
# channels, and map and weights are 12 KB.
# The weights of tinymaix_mbnet96 are more than the far memory of gap8, and so are the maps of mcunet_vww, whose means lie
# in blocks elsewhere.
WITHOUT = {"tflm_micro_speech_int8": ("max78000", "teach", "nvdla-small"),
           "tinymaix_mbnet96_0.25_q": ("gap8",),
           "mcunet_vww": ("gap8", "max78000", "sophgo-bm1684x")}

faults = []


def run(stride0, model, *options):
    """What it wrote as JSON; None with a fault where it did not run."""
    done = models.run(stride0, "run", model, "-d", *options, "--quiet", "--json", "-")
    if done.returncode != models.DONE:
        faults.append(f"{model.name} {options}: status {done.returncode}: {done.stderr[:200]}")
        return None
    return json.loads(done.stdout)


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def drawn_reals(shape):
    """The input that a reference does not store: README of S0_SHARED says how it was drawn."""
    state, count, reals = 12345, 1, bytearray()
    for extent in shape:
        count *= extent
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        reals += struct.pack("<f", ((state >> 8) % 2001 - 1000) / 1000)
    return bytes(reals)


def input_file(refs, shape):
    stored = os.path.join(refs, "input_0.bin")
    if os.path.exists(stored):
        return stored
    with open("drawn.bin", "wb") as stream:
        stream.write(drawn_reals(shape))
    return "drawn.bin"


def run_network(stride0, model, refs):
    expected = read(os.path.join(refs, "output_0.bin"))
    first, out = run(stride0, model, "nvdla-small"), os.path.basename(refs)
    for way in WAYS[:MOST_WAYS.get(os.path.basename(refs))] if first else ():
        if way[0] in WITHOUT.get(os.path.basename(refs), ()):
            continue
        name = f"{first['inputs'][0]['name']}={input_file(refs, first['inputs'][0]['shape'])}"
        result = run(stride0, model, *way, "--input", name, "--output-dir", out)
        if result is None:
            continue
        got = [read(os.path.join(out, file)) for file in sorted(os.listdir(out)) if file.endswith(".bin")]
        if got != [expected]:
            faults.append(f"{model.name} {way}: {len(got)} outputs, or other codes than the reference's")
        if not result["audit"]["exact"]:
            faults.append(f"{model.name} {way}: the audit is not exact: {json.dumps(result['audit'])[:300]}")


def main():
    stride0, shared = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    root, count = os.path.join(shared, "models"), 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in NETWORKS + OF_CODERS:
            is_onnx = name in OF_CODERS
            path = os.path.join(root, "derived" if is_onnx else "tflite", name + (".onnx" if is_onnx else ".tflite"))
            refs = os.path.join(root, "refs", "ort-1.30" if is_onnx else "tflm-ref-kernels", name)
            if os.path.exists(path) and os.path.isdir(refs):
                run_network(stride0, models.Model(root, path), refs)
                count += 1
    print(f"networks: {count} of {len(NETWORKS) + len(OF_CODERS)}")
    for text in faults:
        print("FAULT:", text)
    if count == 0:
        models.skip(TEST, "S0_SHARED has no networks with references")
    sys.exit(1 if faults else 0 if count else models.SKIP)


main()
