"""judge.py: were all planted errors of NAME.cu reported, and nothing else? Prints "ok" or "not ok".
    judge.py NAME FINDINGS FIXED_FINDINGS STATUS FIXED_STATUS
A mark is a comment at the end of a line:
    // expect: KIND ["TEXT"]      an error of this kind must be reported here, on either of its sides,
                                  and say TEXT
    // expect-one: KIND           the same of at least one of the lines marked so
Nothing may be reported where no mark is. A program without marks must be called right_*.
"""
import json
import re
import sys

MARK = re.compile(r'// (expect|expect-one): ([a-z_]+)(?: "(.*)")?$')


def read_marks(lines):
    """[(line, kind, text, required)]"""
    marks = []
    for number, line in enumerate(lines, 1):
        match = MARK.search(line.rstrip())
        if match:
            marks.append((number, match.group(2), match.group(3) or "", match.group(1) == "expect"))
        elif "// expect" in line:
            raise ValueError(f"line {number}: a mark that cannot be read")
    return marks


def lines_of(finding, name):
    sides = (finding, finding.get("other") or {})
    return [side.get("line") for side in sides if (side.get("file") or "").endswith(name + ".cu")]


def judge(name, source, found, twin, status, twin_status):
    """What is wrong, as lines of text."""
    marks = read_marks(source)
    told = found["errors"] + found["remarks"]

    def answers(finding, mark):
        line, kind, text, _ = mark
        return finding["kind"] == kind and line in lines_of(finding, name) and text in finding["text"]

    wrong = [f"line {mark[0]}: no {mark[1]} was reported" + (f' that says "{mark[2]}"' if mark[2] else "")
             for mark in marks if mark[3] and not any(answers(finding, mark) for finding in told)]
    choice = [mark for mark in marks if not mark[3]]
    if choice and not any(answers(finding, mark) for finding in told for mark in choice):
        wrong.append("none of the lines marked expect-one was reported")
    wrong += [f"accused: {finding['text']} {lines_of(finding, name)}" for finding in told
              if not any(answers(finding, (line, kind, "", True)) for line, kind, _, _ in marks)]
    wrong += [f"the twin is accused: {finding['text']} {lines_of(finding, name)}"
              for finding in twin["errors"] + twin["remarks"]]
    if bool(marks) == name.startswith("right_"):
        wrong.append("a program has marks, or is called right_*")
    if status != (1 if found["errors"] else 0):
        wrong.append(f"status {status}")
    if twin_status != 0:
        wrong.append(f"status of the twin {twin_status}")
    return wrong


def main():
    name, found, fixed, status, fixed_status = sys.argv[1:]
    try:
        with open(name + ".cu") as source, open(found) as one, open(fixed) as other:
            wrong = judge(name, source.readlines(), json.load(one), json.load(other), int(status),
                          int(fixed_status))
    except (ValueError, KeyError) as error:
        wrong = [repr(error)]
    # In one piece: other judges write to the same pipe.
    report = [("not ok " if wrong else "ok ") + name] + ["    " + line for line in wrong]
    sys.stdout.write("\n".join(report) + "\n")


if __name__ == "__main__":
    main()
