"""check_judge.py: the judge itself: what it must object to, one case each. Prints "ok" or "not ok"."""
from judge import judge

SOURCE = ["int a; // expect: race\n", "int b; // expect: race\n", "int c;\n"]
RIGHT = {"errors": [], "remarks": []}


def finding(kind, line, other=None, text="told"):
    sides = {"kind": kind, "file": "x.cu", "line": line, "text": text}
    if other:
        sides["other"] = {"file": "x.cu", "line": other}
    return sides


def found(*findings):
    return {"errors": list(findings), "remarks": []}


both = found(finding("race", 1, 2))
choice = ["int a; // expect-one: timeout\n", "int b; // expect-one: timeout\n"]
words = ['int a; // expect: race "twice"\n']
# name, objection (None: there is none), arguments of judge
CASES = [
    ("accepts both sides", None, ("x", SOURCE, both, RIGHT, 1, 0)),
    ("accepts two findings", None,
     ("x", SOURCE, found(finding("race", 1), finding("race", 2)), RIGHT, 1, 0)),
    ("wants every mark", "line 2: no race", ("x", SOURCE, found(finding("race", 1)), RIGHT, 1, 0)),
    ("wants the kind", "line 1: no race", ("x", SOURCE, found(finding("leak", 1, 2)), RIGHT, 1, 0)),
    ("wants something", "line 1: no race", ("x", SOURCE, RIGHT, RIGHT, 0, 0)),
    ("wants nothing else", "accused",
     ("x", SOURCE, found(finding("race", 1, 2), finding("race", 3)), RIGHT, 1, 0)),
    ("wants the text", "twice", ("x", words, found(finding("race", 1, text="once")), RIGHT, 1, 0)),
    ("accepts the text", None, ("x", words, found(finding("race", 1, text="twice")), RIGHT, 1, 0)),
    ("accepts one of several", None, ("x", choice, found(finding("timeout", 2)), RIGHT, 1, 0)),
    ("wants one of several", "expect-one", ("x", choice, RIGHT, RIGHT, 0, 0)),
    ("wants a right twin", "the twin", ("x", SOURCE, both, both, 1, 1)),
    ("wants the status", "status 0", ("x", SOURCE, both, RIGHT, 0, 0)),
    ("wants the twin's status", "status of the twin", ("x", SOURCE, both, RIGHT, 1, 3)),
    ("wants marks", "has marks", ("x", ["int a;\n"], RIGHT, RIGHT, 0, 0)),
    ("wants no marks", "has marks",
     ("right_x", SOURCE, {"errors": [dict(finding("race", 1, 2), file="right_x.cu",
                                          other={"file": "right_x.cu", "line": 2})],
                          "remarks": []}, RIGHT, 1, 0)),
]

for name, objection, arguments in CASES:
    wrong = judge(*arguments)
    right = not wrong if objection is None else any(objection in line for line in wrong)
    print(f"ok judge {name}" if right else f"not ok judge {name}: {wrong}")
