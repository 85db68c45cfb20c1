"""`stride0 simplify` on a model, and the figures that it prints."""
import filecmp
import os
import re

import models

FIGURES = {"operators": "nodes", "bytes of constants": "constants", "bytes of the file": "file", "peak alive": "peak"}


class Simplified:
    """status; trouble (models.Trouble); pairs before and after: nodes, constants, file, and peak or None;
    rules: name -> largest difference; counts: name -> times; stays: affines with the reason."""

    def __init__(self, stride0, model, out, *options):
        done = models.run(stride0, "simplify", model, "-o", out, "--verify", *options)
        self.status, self.trouble, self.path = done.returncode, models.Trouble(model, done.stderr), out
        self.nodes = self.constants = self.file = self.peak = None
        self.rules, self.counts, self.stays = {}, {}, re.findall(r"^  (\S.*: .*)$", done.stdout, re.MULTILINE)
        for line in done.stdout.splitlines():
            self._read(line)

    def _read(self, line):
        figure = re.fullmatch(r"  (\S.*?)(?: on \S+)? +([\d,]+) +([\d,]+)", line)
        rule = re.fullmatch(r"  (\S+) +([\d,]+) +([-+\d,]+) +([-+\d,]+)  (?:exact|(?:differs by at most|within) (\d+)).*", line)
        if figure and figure[1] in FIGURES:
            setattr(self, FIGURES[figure[1]], tuple(int(number.replace(",", "")) for number in figure.groups()[1:]))
        elif rule:
            self.rules[rule[1]] = int(rule[5] or 0)
            self.counts[rule[1]] = int(rule[2].replace(",", ""))

    def is_settled(self, stride0, model, *options):
        """Has a second run nothing to add to what the first has written?"""
        folder, name = os.path.split(self.path)
        again, second = os.path.join(folder, f"again_{name}"), models.Model(folder, self.path)
        second.dims = model.dims
        done = models.run(stride0, "simplify", second, "-o", again, *options)
        return done.returncode == models.DONE and filecmp.cmp(self.path, again, shallow=False)

    @property
    def proof(self):
        """What the certificates say together."""
        if not self.rules:
            return "same file"
        return f"up to {self.tolerance}" if self.tolerance else "exact"

    @property
    def tolerance(self):
        return max(self.rules.values(), default=0)
