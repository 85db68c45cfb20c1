#!/usr/bin/env python3
"""The HTML report in a browser: html_page.mjs, on three networks.

    html_page.py STRIDE0 EXAMPLES MODULES

One of the examples, one that does not fit, and one of 400 operators. MODULES is the folder that `tools/setup ci` puts
Playwright and axe into; where they, Node or Chromium are not there, the test is skipped."""
import os
import shutil
import subprocess
import sys
import tempfile

import html_report
import models


def lacking(modules):
    if not shutil.which("node"):
        return "node"
    if not shutil.which("chromium"):
        return "chromium"
    for name in ("playwright-core", "axe-core"):
        if not os.path.isdir(os.path.join(modules, "node_modules", name)):
            return name
    return None


def main():
    stride0, examples, modules = sys.argv[1:4]
    missing = lacking(modules)
    if missing:
        print(f"SKIPPED: html_page: needs {missing}")
        return models.SKIP
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made.txt")
        html_report.write_chain(made, 400, "block/")
        separable = os.path.join(examples, "separable.tflite")
        plans = ([separable, "-d", "teach"], [separable, "-d", "mcu-cm", "--budget", "4K"], [made, "-d", "mcu-cm"])
        arguments = []
        for k, options in enumerate(plans):
            page, plan = os.path.join(folder, f"{k}.html"), os.path.join(folder, f"{k}.json")
            subprocess.run([stride0, "plan", *options, "--quiet", "--html", page, "--json", plan],
                           stderr=subprocess.DEVNULL, check=False)
            arguments += [page, plan]
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "html_page.mjs")
        return subprocess.run(["node", script, modules, shutil.which("chromium"), *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
