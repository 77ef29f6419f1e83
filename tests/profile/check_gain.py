"""check_gain.py BEFORE.json AFTER.json RULE: is the gain that the rule promises about the one that
the fixed kernel has, by the same model? Within a factor of 1.5."""

import json
import sys

before, after = (json.load(open(path)) for path in sys.argv[1:3])
promised = max(each["gain"] for kernel in before["kernels"] for each in kernel["advice"]
               if each["rule"] == sys.argv[3])
got = sum(k["time_us"] for k in before["kernels"]) / sum(k["time_us"] for k in after["kernels"])
if not got / 1.5 <= promised <= got * 1.5:
    sys.exit(f"promises {promised:.2f}, the fixed kernel gains {got:.2f}")
