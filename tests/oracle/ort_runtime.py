"""ONNX Runtime in a process of its own (ort_run.mjs), which a model may end without harm to the others."""
import json
import os
import select
import subprocess
import tempfile

TIMEOUT_S = 240


class Runtime:
    """ort_run.mjs, started again when a model ends it."""

    def __init__(self, package):
        self.package, self.process, self.log = package, None, tempfile.TemporaryFile()

    def _start(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ort_run.mjs")
        self.log.truncate(0)
        self.process = subprocess.Popen(["node", script, self.package], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log)

    def _line(self):
        parts = []
        while not parts or not parts[-1].endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], TIMEOUT_S)[0]:
                return b""
            parts.append(os.read(self.process.stdout.fileno(), 1 << 20))
            if not parts[-1]:
                return b""
        return b"".join(parts)

    def ask(self, original, simplified, sets, wants_outputs=False):
        """The answer; a message instead where the runtime did not survive."""
        if self.process is None:
            self._start()
        request = {"original": original, "simplified": simplified, "sets": sets, "wants_outputs": wants_outputs}
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            line = self._line()
        except BrokenPipeError:
            line = b""
        if line:
            return json.loads(line)
        return self._fallen()

    def _fallen(self):
        self.process.kill()
        status, self.process = self.process.wait(), None
        self.log.seek(0)
        said = self.log.read().decode(errors="replace").strip().splitlines()
        return f"the runtime ended with status {status}: {said[-1] if said else 'no message'}"

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
