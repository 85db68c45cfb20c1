"""TFLite's schema for flatc, made from the table of facts, and models read through flatc as JSON."""
import csv
import json
import os
import subprocess


class OperatorNames:
    """Names and numbers of BuiltinOperator."""

    def __init__(self, pairs):
        self._by_number = {number: name for name, number in pairs}
        self._by_name = dict(pairs)

    def name_of(self, number):
        return self._by_number[number]

    def index_of(self, name):
        return self._by_name[name]


def _read(facts):
    enums, unions, tables, base = {}, {}, {}, {}
    with open(facts, encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            number = int(row["number"])
            if row["kind"] == "enum":
                enums.setdefault(row["owner"], []).append((row["name"], number))
                base[row["owner"]] = row["type"]
            elif row["kind"] == "union":
                unions.setdefault(row["owner"], []).append((row["name"], number))
            else:
                tables.setdefault(row["owner"], []).append((number, row["name"], row["type"], row["default"]))
    return enums, unions, tables, base


def _table(name, fields, unions):
    """Fields at their slots; a slot that the facts leave out is filled. A union takes two, its tag comes first."""
    lines, slot = [f"table {name} {{"], 0
    tags = {field + "_type" for _, field, kind, _ in fields if kind.strip("[]") in unions}
    for number, field, kind, default in sorted(fields):
        if field in tags:
            continue
        wanted = number - 1 if kind.strip("[]") in unions else number
        while slot < wanted:
            lines.append(f"  unused{slot}:ubyte (deprecated);")
            slot += 1
        lines.append(f"  {field}:{kind}{' = ' + default if default else ''};")
        slot = number + 1
    return lines + ["}"]


def write(facts, path):
    """Writes the schema to `path`; returns the OperatorNames."""
    enums, unions, tables, base = _read(facts)
    lines = []
    for name, members in enums.items():
        rows = ", ".join(f"{member} = {number}" for member, number in sorted(members, key=lambda m: m[1]))
        lines.append(f"enum {name} : {base[name]} {{{rows}}}")
    for members in unions.values():
        lines += [f"table {member} {{}}" for member, _ in members if member not in tables]
    for name, members in unions.items():
        lines.append(f"union {name} {{{', '.join(m for m, _ in sorted(members, key=lambda m: m[1]))}}}")
    for name, fields in tables.items():
        lines += _table(name, fields, unions)
    lines += ['file_identifier "TFL3";', "root_type Model;"]
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")
    return OperatorNames(enums["BuiltinOperator"])


def read_json(model, folder):
    """The model as flatc prints it; `folder` holds tflite.fbs and takes the output."""
    schema = os.path.join(folder, "tflite.fbs")
    subprocess.run(["flatc", "--json", "--strict-json", "--raw-binary", "-o", folder, schema, "--", model],
                   check=True, capture_output=True)
    name = os.path.splitext(os.path.basename(model))[0] + ".json"
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
        return json.load(stream)
