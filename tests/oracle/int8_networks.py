#!/usr/bin/env python3
"""Every int8 and QDQ network of S0_SHARED on the scratchpads that have to take them.

    int8_networks.py STRIDE0 [SHARED]

On FIT each plans with status 0; the uint8 ones on UINT8 too. On MAY_NOT each plans, or ends in status 2 and says which
node, which tensors, the bytes it needs and the capacity. The lists are what flatc and the operators of the ONNX files say
of the maps, not what file names say: a network of the folders that is in no list is a fault."""
import json
import os
import sys
import tempfile

import models
from models import DONE, NO_FIT

FIT = ("ethos-u55-128", "nvdla-small", "sophgo-bm1684x", "rk3588-npu", "ascend-220x", "hexagon-v73")
UINT8 = ("k210-kpu",)
MAY_NOT = ("gap8", "max78000", "teach")

OF_UINT8 = ("tflite/coral_mobilenet_v1_0.25_128_quant.tflite",)
OF_INT8 = (
    "tflite/coral_keras_lstm_mnist_ptq.tflite",
    "tflite/mcunet_vww.tflite",
    "tflite/mlperf_ad_autoencoder_int8.tflite",
    "tflite/mlperf_ic_resnet8_int8.tflite",
    "tflite/mlperf_kws_dscnn_int8.tflite",
    "tflite/mlperf_vww_mbv1_96_int8.tflite",
    "tflite/mww_okay_nabu_v1.tflite",
    "tflite/mww_okay_nabu_v2.tflite",
    "tflite/tflm_audio_preprocessor_int8.tflite",
    "tflite/tflm_dtln_lstm_int8.tflite",
    "tflite/tflm_hello_world_int8.tflite",
    "tflite/tflm_micro_speech_int8.tflite",
    "tflite/tflm_mnist_lstm_int8.tflite",
    "tflite/tflm_person_detect.tflite",
    "tflite/tinymaix_mbnet96_0.25_q.tflite",
    "tflite/tinymaix_mnist_valid_q.tflite",
    "onnx/tract_qtdnn_qlinearconv.onnx",
    "derived/ad_ae_qdq.onnx",
    "derived/ic_resnet8_qdq.onnx",
    "derived/kws_dscnn_qdq.onnx",
    "derived/mobilenetv2_128_05_qdq_bn.onnx",
)
OF_FLOATS = (
    "tflite/mediapipe_face_short_range_f16.tflite",
    "tflite/mlperf_ad_autoencoder_dynrange.tflite",
    "tflite/mlperf_ic_resnet8_f32.tflite",
    "tflite/rfb320_f32_mulC_addC.tflite",
    "tflite/tflm_hello_world_f32.tflite",
    "tflite/tinymaix_mnist_dw_f.tflite",
    "derived/rfb320_muladd.onnx",
)


def faults_of_misfit(path):
    """What the explanation of a plan that does not fit leaves out."""
    with open(path, encoding="utf-8") as stream:
        plan = json.load(stream)
    misfit = plan["misfit"]
    faults = [] if misfit["need_bytes"] > misfit["capacity_bytes"] > 0 else ["need and capacity"]
    if misfit["memory"] == "local":
        faults += [] if misfit["node"] else ["the node"]
        named = [plan["buffers"][index]["name"] for index in misfit["buffers"]]
        faults += [] if any(named) else ["the tensors"]
    return [f"status 2 does not say {fault}" for fault in faults]


def faults_of(stride0, model, preset, may_not, path):
    """Status and faults of one network on one device."""
    done = models.run(stride0, "plan", model, "-d", preset, "--quiet", "--json", path)
    if done.returncode == DONE:
        return DONE, []
    if may_not and done.returncode == NO_FIT:
        return NO_FIT, faults_of_misfit(path)
    return done.returncode, [f"status {done.returncode}\n{done.stderr}"]


def main():
    stride0, shared = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    found = {model.name: model for model in models.networks(shared)}
    if not found:
        models.skip("int8_networks", "the shared models, S0_SHARED has none")
        return models.SKIP
    listed = set(OF_UINT8 + OF_INT8 + OF_FLOATS)
    count = 0
    for name in sorted(found):
        if name not in listed and not name.startswith("onnx/"):
            print(f"FAIL {name}: in no list")
            count += 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan.json")
        for preset in FIT + UINT8 + MAY_NOT:
            names, fit = OF_UINT8 if preset in UINT8 else OF_UINT8 + OF_INT8, 0
            for name in names:
                if name not in found:
                    print(f"FAIL {name}: no such network")
                    count += 1
                    continue
                status, faults = faults_of(stride0, found[name], preset, preset in MAY_NOT, path)
                fit += status == DONE
                count += len(faults)
                for fault in faults:
                    print(f"FAIL {name} on {preset}: {fault}")
            print(f"{preset:16} {fit:3} of {len(names)} fit")
    print(f"{count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
