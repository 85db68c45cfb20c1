#!/usr/bin/env python3
"""The HTML report against the JSON of the same plan.

    html_report.py STRIDE0 EXAMPLES [SHARED]

The page is well-formed XML; ids are unique, links inside lead somewhere and none leads outside; every table has a caption
and heads with a scope. Totals, sums by kind, and every listed buffer and step have the figures of the JSON. 1 000 buffers
with long names make less than 1 MB, 100 000 little more, and the page says how many it left out. Two runs are equal."""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import models

MOST_BYTES = 1_000_000
HOSTILE = r'\x22></title></td><script>alert(1)</script>\x00\x1b\xff]]>'


def number(text):
    return None if text == "-" else int(text.replace(",", ""))


def text_of(element):
    return "".join(element.itertext())


class Page:
    """A parsed page: elements by id, and tables as rows by head."""

    def __init__(self, source):
        head = "<!DOCTYPE html>"
        assert source.startswith(head), "no document type"
        self.root = ElementTree.fromstring(source[len(head):])
        ids = [element.get("id") for element in self.root.iter() if element.get("id")]
        assert len(ids) == len(set(ids)), "an id occurs twice"
        self.ids = set(ids)

    def table(self, name):
        table = next(element for element in self.root.iter("table") if element.get("id") == f"t-{name}")
        heads = [text_of(cell) for cell in table.find("thead/tr")]
        rows = [list(row) for body in table.findall("tbody") for row in body]
        return [dict(zip(heads, map(text_of, row))) for row in rows if len(row) == len(heads)]


def check_structure(page):
    for element in page.root.iter():
        link = element.get("href")
        if link is not None:
            assert link.startswith("#") and link[1:] in page.ids, f"a link to {link}"
        assert element.get("src") is None and element.tag not in ("link", "img", "iframe", "object")
        for label in (element.get("aria-labelledby") or "").split():
            assert label in page.ids, f"labelled by {label}"
    for table in page.root.iter("table"):
        assert text_of(table.find("caption")), f"{table.get('id')} has no caption"
        assert all(cell.get("scope") for cell in table.iter("th")), f"{table.get('id')}: a head without scope"
    for level in ("h1", "main", "header", "nav", "footer"):
        assert len(list(page.root.iter(level))) == 1, level


def check_equal(what, found, expected):
    assert found == expected, f"{what}: the page has {found}, the JSON {expected}"


def check_totals(page, plan):
    keyed = [row for row in page.root.iter("tr") if row.find("th") is not None and row.find("th").get("title")]
    rows = {row.find("th").get("title"): number(text_of(row.find("td"))) for row in keyed
            if row.find("td").get("data-key")}
    assert len(rows) == 9
    for key, found in rows.items():
        check_equal(f"totals.{key}", found, plan["totals"][key])
    for row in page.table("kinds")[:-1]:
        expected = plan["by_kind"][row["kind"]]
        found = [number(row[head]) for head in ("logical", "physical", "at the peak")]
        check_equal(row["kind"], found, [expected[k] for k in ("logical_bytes", "physical_bytes", "at_peak_bytes")])
    check_equal("the peak", [int(row["id"]) for row in page.table("peak")], plan["peak"]["buffers"][:200])
    answer = "It fits." if plan["totals"]["fits"] else "It does not fit."
    assert any(answer == text_of(element) for element in page.root.iter("strong"))


BUFFER = {"kind": "kind", "dtype": "dtype", "memory": "memory"}
BUFFER_NUMBERS = {"logical": "logical_bytes", "physical": "physical_bytes", "banks": "banks_used", "offset": "offset",
                  "first": "first", "last": "last", "repeat": "repeat"}


def check_buffer(row, buffer):
    what = f"buffer {buffer['id']}"
    for head, key in BUFFER.items():
        check_equal(f"{what}: {head}", row[head], buffer[key])
    for head, key in BUFFER_NUMBERS.items():
        check_equal(f"{what}: {head}", number(row[head]), buffer[key])
    alias = "" if buffer["alias_of"] is None else f"{buffer['alias_reason']} {buffer['alias_of']}"
    check_equal(f"{what}: shares", row["shares"], alias)
    check_equal(f"{what}: stored", row["stored"], "[" + ",".join(map(str, buffer["stored_shape"])) + "]")
    check_equal(f"{what}: form", row["form"].split(",")[0], buffer["broadcast"] or "")


def check_lists(page, plan, source):
    buffers, steps = page.table("buffers"), page.table("steps")
    for name, rows in (("buffers", buffers), ("steps", steps)):
        check_equal(f"listed {name}", len(rows), min(len(plan[name]), 1100))
        if len(rows) < len(plan[name]):
            assert f"{len(rows):,} of {len(plan[name]):,} {name} are listed" in source
    for row in buffers:
        check_buffer(row, plan["buffers"][int(row["id"])])
    for row in steps:
        step = plan["steps"][int(row["step"])]
        found = [number(row[head]) for head in ("bytes alive", "bytes it uses", "repeats", "bytes moved")]
        check_equal(f"step {row['step']}", found, [step[k] for k in ("live_bytes", "own_bytes", "repeat", "moved_bytes")])
        check_equal(f"step {row['step']}", row["column"], step["column"])
        if len(step["reads"]) <= 8:
            check_equal(f"step {row['step']} reads", [int(k) for k in row["reads"].split()], step["reads"])


def check_map(page, plan, source):
    """Storages drawn alone and together are all there are."""
    local = [b for b in plan["buffers"] if b["memory"] == "local" and b["alias_of"] is None and b["physical_bytes"] > 0]
    alone = sum(1 for element in page.root.iter("a") if (element.get("id") or "").startswith("m"))
    if plan["totals"]["placed_bytes"] > 0:
        said = f"{alone:,} storage{'' if alone == 1 else 's'} drawn alone, {len(local) - alone:,} storage"
        assert said in source, f"the map does not say: {said}"


REMEDIES = ("compact_parameters", "in_place", "order", "unpin_inputs", "unpin_outputs", "tiles", "larger_memory", "larger_flash",
            "larger_far")


def check_misfit(page, plan, source):
    if plan["misfit"] is not None:
        found = [(row["saves bytes"], row["lacks bytes"]) for row in page.table("remedies")]
        told = [(f"{r['saves_bytes']:,}", r["kind"].startswith("larger_")) for r in plan["misfit"]["remedies"]]
        check_equal("remedies", found, [("", text) if lacks else (text, "") for text, lacks in told])
        kinds = [head.get("title") for head in page.root.iter("th") if head.get("title") in REMEDIES]
        only_larger = all(lacks for _, lacks in told) and plan["totals"]["placed_bytes"] > plan["totals"]["capacity_bytes"]
        assert ("no option of stride0 lowers" in source) == (only_larger and len(plan["steps"]) > 0)
        check_equal("remedies", kinds, [r["kind"] for r in plan["misfit"]["remedies"]])
    found = [(row["rule"], number(row["evaluations"])) for row in page.table("rewrites")] if plan["rewrites"] else []
    check_equal("rewrites", found, [(r["rule"], r["evaluations"]) for r in plan["rewrites"][:200]])


def check_request(page, plan):
    """The page says what it was planned with."""
    said = next(text for text in map(text_of, page.root.iter("p")) if text.startswith("Planned by stride0 "))
    for word in [f"-d {plan['request']['device']}"] + plan["request"]["options"]:
        assert word in said, f"{word!r} is not in {said!r}"


def check_links(page):
    """What a link leads to is there."""
    known = {element.get("id") for element in page.root.iter()}
    for link in page.root.iter("a"):
        assert link.get("href")[1:] in known, f"{link.get('href')} leads nowhere"


def check(stride0, folder, model, options):
    """The page's source and the plan; null where the model is refused."""
    paths = [os.path.join(folder, name) for name in ("page.html", "again.html", "plan.json")]
    for path in paths[:2]:
        run = subprocess.run([stride0, "plan", model, "--quiet", "--html", path, "--json", paths[2], *options],
                             stderr=subprocess.DEVNULL, check=False)
        if run.returncode not in (models.DONE, models.NO_FIT):
            return None
    with open(paths[0], encoding="utf-8", newline="") as stream:
        source = stream.read()
    with open(paths[1], encoding="utf-8", newline="") as stream:
        assert stream.read() == source, "two runs differ"
    with open(paths[2], encoding="utf-8") as stream:
        plan = json.load(stream)
    page = Page(source)
    check_structure(page)
    check_totals(page, plan)
    check_lists(page, plan, source)
    check_map(page, plan, source)
    check_misfit(page, plan, source)
    check_request(page, plan)
    check_links(page)
    return source, plan


def write_chain(path, length, name):
    """Operators of unknown kind in a row that read a value before the last one too."""
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'stride0-graph 1\ninput "{name}0" int8[1000]\n')
        for k in range(1, length + 1):
            out.write(f'value "{name}{k}" int8[{100 + k % 7 * 50}]\n')
            out.write(f'node Custom "{name}n{k}": "{name}{k - 1}" "{name}{(k - 1) // 4 * 4}" -> "{name}{k}"\n')
        out.write(f'output "{name}{length}"\n')


def check_made(stride0, folder):
    for length, name in ((996, "model/block_7/separable_conv/BatchNorm/Fused/"), (100_000, "v"), (50, HOSTILE)):
        path = os.path.join(folder, "made.txt")
        write_chain(path, length, name)
        source, plan = check(stride0, folder, path, ["-d", "teach"])
        size = len(source.encode())
        print(f"{len(plan['buffers'])} buffers: {size} bytes")
        assert size < MOST_BYTES, f"{len(plan['buffers'])} buffers make {size} bytes"


def main():
    stride0, examples, shared = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
    files = [os.path.join(examples, name) for name in sorted(os.listdir(examples)) if name.endswith((".tflite", ".onnx"))]
    networks = models.networks(shared)
    if not networks:
        print("SKIPPED: networks of S0_SHARED")
    wanted = [(path, []) for path in files] + [(model.path, model.dims) for model in networks]
    faults = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for path, dims in wanted:
            for options in (["-d", "teach"], ["-d", "mcu-cm", "--budget", "8K"]):
                try:
                    count += check(stride0, folder, path, options + dims) is not None
                except (AssertionError, ElementTree.ParseError) as fault:
                    faults += 1
                    print(f"{os.path.basename(path)} {' '.join(options)}: {fault}")
        check_made(stride0, folder)
    print(f"{count} pages compared, {faults} faults")
    assert count > 0
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
