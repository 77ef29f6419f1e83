"""judge.py: were all planted errors of NAME.cu reported, and nothing else? Prints "ok" or "not ok".
    judge.py FOLDER NAME...
FOLDER has what check printed of each and of its twin, NAME.json and NAME.fixed.json, and its exit
status, NAME.status and NAME.fixed.status.
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
    places = [place for side in sides for place in (side, *side.get("calls", []))]
    return [place.get("line") for place in places if (place.get("file") or "").endswith(name + ".cu")]


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


def read(folder, name):
    """What check printed, and its status."""
    with open(f"{folder}/{name}.json") as report, open(f"{folder}/{name}.status") as status:
        return json.load(report), int(status.read())


def main():
    folder, *names = sys.argv[1:]
    for name in names:
        try:
            found, status = read(folder, name)
            twin, twin_status = read(folder, name + ".fixed")
            with open(name + ".cu") as source:
                wrong = judge(name, source.readlines(), found, twin, status, twin_status)
        except (OSError, ValueError, KeyError) as error:
            wrong = [repr(error)]
        print("\n    ".join([("not ok " if wrong else "ok ") + name] + wrong))


if __name__ == "__main__":
    main()
