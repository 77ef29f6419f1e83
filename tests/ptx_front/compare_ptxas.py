"""compare_ptxas.py: does the front end take the instructions that ptxas takes, and no others?

  compare_ptxas.py TRY_LINES [--seed N] [--count N] [--only MNEMONIC ...] [--show N]

Forms of all instructions (forms.py) go to ptxas, for sm_90a, and to the machine (try_lines.c). What
ptxas takes must run; what ptxas refuses must be refused, or stop as unsupported.
Differences that are known stand in known_forms.def with their reasons. One "ok" or "not ok" a
mnemonic.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

import forms

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST = forms.PROLOGUE.count("\n") + 1
BATCH = 400
# ptxas wants some suffixes in order; here any order is taken.
ORDER = re.compile(r"Unknown modifier|Not a name of any known instruction|Illegal modifier '\.cta'")


def run_ptxas(body, folder, finish):
    """ptxas's complaints by line. Without finish, it looks at the lines but makes no code."""
    path = os.path.join(folder, "forms.ptx")
    with open(path, "w") as file:
        file.write(forms.PROLOGUE + "\n".join(body) + ("\n" if finish else "\nno_such;\n") + forms.EPILOGUE)
    result = subprocess.run(["ptxas", "-arch=sm_90a", "-O0", "-o", os.path.join(folder, "forms.cubin"), path],
                            capture_output=True, text=True)
    found = {}
    for line, kind, text in re.findall(r"forms.ptx, line (\d+); (error|fatal)\s*: (.*)", result.stderr):
        found.setdefault(int(line) - FIRST, f"{kind}: {text}")
    return found, result.returncode, result.stderr


def refused_at_sight(lines, folder):
    """What ptxas refuses as it reads: line -> complaint. A syntax error ends its reading."""
    refused, left = {}, lines
    while left:
        found, _, _ = run_ptxas(left, folder, False)
        found = {at: text for at, text in found.items() if 0 <= at < len(left)}
        refused.update((left[at], text) for at, text in found.items())
        fatal = [at for at, text in found.items() if text.startswith("fatal")]
        left = left[fatal[0] + 1:] if fatal else []
    return refused


def refused_later(lines, folder):
    """What ptxas refuses when it makes code: in batches, halved until the line is found."""
    refused, work = {}, [lines[i:i + BATCH] for i in range(0, len(lines), BATCH)]
    while work:
        batch = work.pop()
        found, status, output = run_ptxas(batch, folder, True)
        if status == 0 or not batch:
            continue
        at_lines = {batch[at]: text for at, text in found.items() if 0 <= at < len(batch)}
        refused.update(at_lines)
        rest = [line for line in batch if line not in at_lines]
        if at_lines:
            work.append(rest)
        elif len(batch) == 1:
            refused[batch[0]] = output.strip().split("\n")[0]
        else:
            work += [batch[:len(batch) // 2], batch[len(batch) // 2:]]
    return refused


def ask_ptxas(lines):
    with tempfile.TemporaryDirectory() as folder:
        refused = refused_at_sight(lines, folder)
        refused.update(refused_later([line for line in lines if line not in refused], folder))
    return refused


def ask_machine(program, lines):
    """(verdict, why) of each line; "died" where the program ended."""
    answers, at = [], 0
    while at < len(lines):
        result = subprocess.run([program, forms.PROLOGUE, forms.EPILOGUE], text=True, capture_output=True,
                                input="\n".join(lines[at:]) + "\n", timeout=600)
        got = [tuple(line.partition(" ")[::2]) for line in result.stdout.split("\n") if line]
        answers += got
        at += len(got)
        if at < len(lines):
            answers.append(("died", result.stderr[-300:]))
            at += 1
    return answers


def known_forms(name):
    text = open(os.path.join(HERE, "known_forms.def")).read()
    return [re.compile(p) for p in re.findall(r'^%s\("((?:[^"\\]|\\.)*)",' % name, text, re.M)]


def differences(lines, program):
    refused = ask_ptxas(lines)
    known = {True: known_forms("REFUSED"), False: known_forms("TAKEN")}
    found, taken = [], 0
    for line, (verdict, why) in zip(lines, ask_machine(program, lines)):
        taken += line not in refused
        if verdict == "died":
            found.append(("died", line, why))
        elif any(pattern.fullmatch(line) for pattern in known[line in refused]):
            continue
        elif line not in refused and verdict != "ok" and not forms.is_odd(line):
            found.append((f"ptxas takes it, {verdict} here", line, why))
        elif line in refused and verdict == "ok" and not ORDER.search(refused[line]):
            found.append(("ptxas refuses it", line, refused[line]))
    return found, taken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("try_lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30, help="forms of each row")
    parser.add_argument("--only", nargs="*", help="mnemonics")
    parser.add_argument("--show", type=int, default=3, help="differences of each mnemonic and kind")
    options = parser.parse_args()
    exact = forms.lines(options.seed, options.count, False, options.only)
    lines = list(exact)
    near = forms.lines(options.seed, options.count, True, options.only)
    lines += [line for line in near if line not in exact]
    found, taken = differences(lines, options.try_lines)
    groups = collections.defaultdict(list)
    for kind, line, why in found:
        groups[re.split(r"[. ;]", line)[0]].append((kind, line, why))
    for mnemonic in sorted({re.split(r"[. ;]", line)[0] for line in lines}):
        wrong = groups.get(mnemonic, [])
        print(f"{'not ok' if wrong else 'ok'} ptx_front/forms/{mnemonic}")
        shown = collections.Counter()
        for kind, line, why in wrong:
            shown[kind] += 1
            if shown[kind] <= options.show:
                print(f"    {kind}: {line}   # {why}")
        for kind, count in shown.items():
            if count > options.show:
                print(f"    {kind}: {count - options.show} more")
    print(f"# {len(lines)} forms, {taken} taken by ptxas, {len(found)} different")
    return bool(found)


sys.exit(main())
