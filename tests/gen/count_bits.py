#!/usr/bin/env python3
"""count_bits.py: how many outputs of a PTX test the machine has to the bit, and how far off the rest.

    python3 tests/gen/count_bits.py [RUNNER [FILE.ptx]]      from the repository's root

For tests that compare by bound (tests/ptx/approx_bits.ptx, the default), after a GPU has filled in
their expected outputs. The file runs once more with all of them made `pending`, which --dump shows.
"""
import os
import subprocess
import sys
import tempfile
from collections import Counter


def split(lines):
    """The lines with every output pending, and [(label, element bits, expected words)]."""
    pending, sections, in_output = [], [], False
    for line in lines:
        if line.startswith("// out: "):
            head, label = line.split(" | ")
            words = head.split()
            bits = {"f16": 16, "bf16": 16, "f64": 64}.get(
                words[words.index("float") + 1] if "float" in words else "", 32)
            sections.append((label, bits, []))
            line, in_output = "// out: %s pending | %s" % (words[2], label), True
        elif line.startswith("// +") and in_output:
            sections[-1][2].extend(int(w, 16) for w in line.split()[2:])
            continue
        else:
            in_output = False
        pending.append(line)
    return pending, sections


def elements(words, bits):
    data = b"".join(w.to_bytes(4, "little") for w in words)
    step = bits // 8
    return [int.from_bytes(data[k:k + step], "little") for k in range(0, len(data), step)]


def main():
    runner = sys.argv[1] if len(sys.argv) > 1 else "build/tests/ptx/runner"
    path = sys.argv[2] if len(sys.argv) > 2 else "tests/ptx/approx_bits.ptx"
    pending, sections = split(open(path).read().split("\n"))
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "pending.ptx")
        with open(copy, "w") as f:
            f.write("\n".join(pending))
        run = subprocess.run([runner, "--gpu", "sim:h200", "--dump", copy], capture_output=True,
                             text=True)
    words = [[]]
    for line in run.stdout.split("\n"):
        if line.startswith("#   "):
            words[-1] += [int(w, 16) for w in line[4:].split()]
        elif line.startswith("# "):
            words.append([])
    for (label, bits, expected), got in zip(sections, words[1:]):
        steps = Counter(abs(a - b) for a, b in zip(elements(expected, bits), elements(got, bits)))
        far = sum(n for step, n in steps.items() if step > 2)
        print("%-28s %3d of %d equal, %d one step off, %d two, %d more" % (
            label, steps[0], sum(steps.values()), steps[1], steps[2], far))
    return 0 if len(words) > len(sections) else 1


if __name__ == "__main__":
    sys.exit(main())
