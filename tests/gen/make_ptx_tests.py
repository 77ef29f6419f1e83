#!/usr/bin/env python3
"""make_ptx_tests.py: writes the generated part of tests/ptx: one file per row of ops.def.

    python3 tests/gen/make_ptx_tests.py [--check] [ROW ...]

Deterministic: the same ops.def gives the same files. Expected outputs come from the references in
this folder (exact integers and fractions), never from the machine. --check assembles every file
with ptxas, which must be on PATH. Hand-written tests in tests/ptx are left alone.
"""
import concurrent.futures
import os
import subprocess
import sys

import gen_bits
import gen_cluster
import gen_bulk
import gen_control
import gen_convert
import gen_float
import gen_integer
import gen_interleave
import gen_memory
import gen_spaces
import gen_stops
import gen_tensor
import gen_warp
import gen_warpgroup
from ops import ROWS
from scaffold import File

GENERATORS = {"INTEGER": gen_integer.integer, "VIDEO": gen_integer.video,
              "FLOAT": gen_float.float_ops, "APPROX": gen_float.approximations,
              "HALF": gen_float.half_ops, "COMPARE": gen_float.compare_ops,
              "CONVERT": gen_convert.converts}
# Rows that need more than sm_80.
NEEDS = {row.name: 90 for row in ROWS
         if row.group in ("HALF", "COMPARE", "CONVERT") or row.name in (
             "ADD", "MIN", "MAX", "MIN_RELU", "MAX_RELU", "FMIN", "FMAX")}
NEEDS.update({row.name: 100 for row in ROWS if row.name.endswith("_X2")})
VERSION = {name: "8.6" for name, sm in NEEDS.items() if sm == 100}
NEEDS.update({"FMIN3": 100, "FMAX3": 100})
VERSION.update({"FMIN3": "8.8", "FMAX3": "8.8"})


def kernels_of(variants):
    """Variants that read the same pools share a kernel, at most 48 of them."""
    groups = {}
    for v in variants:
        groups.setdefault(tuple(v.ins), []).append(v)
    for ins, members in groups.items():
        for k in range(0, len(members), 48):
            name = "_".join(dict.fromkeys(x.replace("/", "_") for x in ins))
            yield "%s_%d" % (name, k // 48) if len(members) > 48 else name, members[k:k + 48]


def make(row):
    variants = GENERATORS[row.group](row)
    if not variants:
        return None
    file = File(row.name.lower(), NEEDS.get(row.name, 80), VERSION.get(row.name, "8.5"))
    for name, members in kernels_of(variants):
        file.add_kernel(name, members)
    return file.write()


def assemble(path):
    text = open(path).read()
    target = text[text.index("\n.target ") + 9:].split("\n", 1)[0]
    arch = target if target[-1] in "af" else max("sm_90", target, key=lambda s: int(s[3:]))
    run = subprocess.run(["ptxas", "-arch=" + arch, path, "-o", "/dev/null"], capture_output=True,
                         text=True)
    return path, run.returncode, run.stderr


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    paths = []
    for row in ROWS:
        if row.group in GENERATORS and (not names or row.name in names):
            paths.append(make(row))
    if not names or "MEMORY" in names:
        paths += gen_memory.make_all()
    if not names or "STRUCTURE" in names:
        paths += gen_control.make_all() + gen_warp.make_all()
        paths += gen_spaces.make_all() + gen_stops.make_all()
    if not names or "CLUSTER" in names:
        paths += gen_cluster.make_all()
    if not names or "BITS" in names:
        paths += gen_bits.make_all()
    if not names or "BULK" in names:
        paths += gen_bulk.make_all()
        paths += gen_interleave.make_all()
    if not names or "TENSOR" in names:
        paths += gen_tensor.make_all()
    if not names or "WARPGROUP" in names:
        paths += gen_warpgroup.make_all()
    paths = [p for p in paths if p]
    bad = 0
    if "--check" in sys.argv:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for path, status, errors in pool.map(assemble, paths):
                if status:
                    bad += 1
                    print(path, *errors.split("\n")[:6], sep="\n  ")
    print("%d files, %d bytes%s" % (len(paths), sum(os.path.getsize(p) for p in paths),
                                    ", %d refused by ptxas" % bad if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
