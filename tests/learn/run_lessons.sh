#!/bin/sh
# What lessons say of their exercises is what the machine says: "`NAME` X us as given and Y us" are the times of
# figures.json, which the verdict shows as "as given" and "best"; "`NAME` X us." is the solution's.
set -u
python3 - <<'PY'
import glob, json, os, re

SENTENCE = re.compile(r"`(\w+)`\s+([\d.,]+)\s+(us|ms)(?:\s+as\s+given\s+and\s+([\d.,]+)\s+(us|ms))?")
SCALE = {"us": 1, "ms": 1000}
seen = 0


def us(number, unit):
    return float(number.replace(",", "").rstrip(".")) * SCALE[unit]


def near(said, is_so):
    return is_so is not None and abs(said - is_so) <= 0.006 * is_so


for path in sorted(glob.glob("course/*/*/lesson.md")):
    folder = os.path.dirname(path)
    if not os.path.exists(folder + "/figures.json"):
        continue
    figures, wrong = json.load(open(folder + "/figures.json")), []
    for name, first, unit, second, other in SENTENCE.findall(open(path).read()):
        of = figures.get(name)
        if not of or "large_us" not in of:
            continue
        seen += 1
        if second and not (near(us(first, unit), of.get("before_us")) and near(us(second, other), of["large_us"])):
            wrong.append(f"{name}: {first} {unit} and {second} {other}, not {of.get('before_us')} and {of['large_us']}")
        elif not second and not near(us(first, unit), of["large_us"]):
            wrong.append(f"{name}: {first} {unit}, not {of['large_us']}")
    day = folder.removeprefix("course/")
    print(f"not ok times of {day}: {'; '.join(wrong)}" if wrong else f"ok times of {day}")
print("ok sentences found" if seen >= 14 else f"not ok sentences found: {seen}, at least 14 are there")
PY
