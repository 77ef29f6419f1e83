# judge.py: were the planted errors of NAME.cu told, and nothing else? Prints "ok" or "not ok".
#   judge.py NAME FINDINGS FIXED_FINDINGS STATUS FIXED_STATUS
import json, re, sys

name, found, fixed, status, fixed_status = sys.argv[1:]
expected = {}  # line -> kinds
texts = []
for number, line in enumerate(open(name + ".cu"), 1):
    match = re.search(r"// expect: ([a-z_ ]+)(?:\"(.*)\")?", line)
    if match:
        expected[number] = match.group(1).split()
        if match.group(2):
            texts.append(match.group(2))
wrong = []


def lines(finding):
    other = finding.get("other") or {}
    return [side.get("line") for side in (finding, other) if (side.get("file") or "").endswith(name + ".cu")]


try:
    findings = json.load(open(found))
    twin = json.load(open(fixed))
except ValueError as error:
    sys.stdout.write(f"not ok {name} {error}\n")
    sys.exit()
told = findings["errors"] + findings["remarks"]
for finding in told:
    if not any(finding["kind"] in expected.get(line, []) for line in lines(finding)):
        wrong.append("accused: " + finding["text"] + " " + str(lines(finding)))
kinds = {kind for line in expected.values() for kind in line}
if kinds and not any(finding["kind"] == kind for finding in told for kind in kinds):
    wrong.append("not found: " + " ".join(kinds))
wrong += ["not said: " + text for text in texts if not any(text in f["text"] for f in told)]
if status != ("1" if findings["errors"] else "0"):
    wrong.append("status " + status)
for finding in twin["errors"] + twin["remarks"]:
    wrong.append("twin accused: " + finding["text"] + " " + str(lines(finding)))
if fixed_status != "0":
    wrong.append("status of the twin " + fixed_status)
# At once: other judges write to the same pipe.
report = [("not ok " if wrong else "ok ") + name] + ["    " + line for line in wrong]
sys.stdout.write("\n".join(report) + "\n")
