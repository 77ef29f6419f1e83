"""ops.py: the rows of src/ptx/ops.def, for the generators of this folder.

A row's slots are lists of suffixes; legal_types gives every tuple of types that a row allows, less
those of tests/ptx/exclusions.def.
"""
import ast
import itertools
import os
import re
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def type_names():
    text = open(os.path.join(ROOT, "src/ptx/types.def")).read()
    return set(re.findall(r'^TYPE\(\w+, "(\w+)"', text, re.M))


TYPES = type_names()


class Row:
    def __init__(self, name, mnemonic, suffixes, operands, group):
        self.name, self.mnemonic, self.group = name, mnemonic, group
        self.suffixes, self.operands = suffixes, operands
        self.slots = []  # (optional, [choices])
        for word in suffixes.split():
            optional = word.startswith("[")
            self.slots.append((optional, word.strip("[]").split("|")))

    def type_tuples(self):
        slots = [c for _, c in self.slots if all(x in TYPES for x in c)]
        return list(itertools.product(*slots))


def read_rows():
    source = '#define OP(...) @OP(__VA_ARGS__)@\n#include "src/ptx/ops.def"\n'
    text = subprocess.run(["gcc", "-E", "-P", "-x", "c", "-I" + ROOT, "-"], input=source, text=True,
                          capture_output=True, check=True).stdout
    rows = []
    for body in re.findall(r"@OP\((.*?)\)@", text, re.S):
        body = re.sub(r"^\s*(\w+),", r'"\1",', body)
        body = re.sub(r',\s*([A-Z]+),\s*(?=")', r', "\1", ', body.replace("\n", " "))
        rows.append(Row(*ast.literal_eval("(" + body + ")")[:5]))
    return rows


ROWS = read_rows()
BY_NAME = {row.name: row for row in ROWS}


def exclusions():
    path = os.path.join(ROOT, "tests/ptx/exclusions.def")
    if not os.path.exists(path):
        return []
    return re.findall(r'^EXCLUDE\((\w+), "([^"]*)",', open(path).read(), re.M)


EXCLUDED = exclusions()


def is_excluded(row, types):
    for name, pattern in EXCLUDED:
        if name == row.name:
            parts = pattern.split(" ")
            if len(parts) == len(types) and all(
                    t in p.split("|") or p == "*" for p, t in zip(parts, types)):
                return True
    return False


def legal_types(row):
    return [t for t in row.type_tuples() if not is_excluded(row, t)]
