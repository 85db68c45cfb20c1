"""What emit_onnx writes is valid for the onnx package: programs of tests/emit write models before and after an edit.
Where the model before passes onnx.checker, so must the one after it, and for the package's own protobuf reader they
must differ in nothing but the graph.

Usage: emit_onnx.py TEST_PROGRAM…"""
import glob
import os
import subprocess
import sys
import tempfile

SKIP = 77


def is_valid(onnx, model):
    try:
        onnx.checker.check_model(model)
        return True, None
    except Exception as error:  # the checker raises several kinds
        return False, error


def find_fault(onnx, before, after):
    """None where the edited model is as it should be; False where the model was not valid before."""
    old, new = onnx.load(before, load_external_data=False), onnx.load(after, load_external_data=False)
    if not is_valid(onnx, old)[0]:
        return False
    valid, error = is_valid(onnx, new)
    if not valid:
        return error
    old.ClearField("graph")
    new.ClearField("graph")
    return None if old == new else "more than the graph changed"


def check_program(onnx, program):
    """Faults of one program's models."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True, capture_output=True)
        edited = sorted(glob.glob(os.path.join(folder, "*-after.onnx")))
        faults = [find_fault(onnx, path.replace("-after", "-before"), path) for path in edited]
    for path, fault in zip(edited, faults):
        if fault:
            print(f"{os.path.basename(path)}: {fault}")
    checked = sum(fault is not False for fault in faults)
    count = sum(bool(fault) for fault in faults)
    print(f"{os.path.basename(program)}: {len(edited)} edited models, {checked} valid before, {count} faults")
    return count if checked else 1


def main(programs):
    try:
        import onnx
    except ImportError:
        print("SKIPPED: emit_onnx: needs the onnx package of Python")
        return SKIP
    return 1 if sum(check_program(onnx, program) for program in programs) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
