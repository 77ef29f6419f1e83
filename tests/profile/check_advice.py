"""check_advice.py RULE FILE.cu given|quiet < profile.json: is the rule's advice there, on the line
that the source marks with "<- RULE" and with a gain, or is it not there, as wanted?"""

import json
import sys

rule, path, wanted = sys.argv[1:4]
report = json.load(sys.stdin)
advice = [each for kernel in report["kernels"] for each in kernel["advice"]]
found = [each for each in advice if each["rule"] == rule]
with open(path) as source:
    marked = [number for number, line in enumerate(source, 1) if "<- " + rule in line]
if not report["kernels"]:
    problem = "no kernel was profiled"
elif wanted == "quiet":
    problem = f"says {found}" if found else None
elif not found:
    problem = f"not given; given are {[(a['rule'], a['line'], round(a['gain'], 2)) for a in advice]}"
elif not any(each["line"] in marked for each in found):
    problem = f"on line {[each['line'] for each in found]}, wanted {marked}"
elif not all(each["gain"] >= 1.03 for each in found):
    problem = f"gain {[each['gain'] for each in found]}"
else:
    problem = None
if problem:
    time = [(k["time_us"], k["bound_by"], k["parts_us"]) for k in report["kernels"][:1]]
    sys.exit(f"{problem}; {time}")
