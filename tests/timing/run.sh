#!/bin/bash
# One model, one answer for time: what events measure under `run` is what `profile` says of the same
# launches, whatever the host's threads, and clocks inside kernels agree with them.
set -u
LOCKSTEP=${LOCKSTEP:-build/lockstep}
unset LOCKSTEP_GPU LOCKSTEP_THREADS LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT LOCKSTEP_PROFILE LOCKSTEP_TRACE
if ! scripts/get-nvcc --find >/dev/null; then
    echo "skip timing: there is no nvcc"
    exit 0
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
status=0

same() { # NAME WANTED GOT
    if diff "$2" "$3" >"$work/diff"; then
        echo "ok $1"
    else
        echo "not ok $1"
        sed 's/^/    /' "$work/diff"
        status=1
    fi
}

times() { # what a profile says, one "name microseconds" a line
    python3 -c '
import json, sys
for kernel in json.load(sys.stdin)["kernels"]:
    print("%s %.8g" % (kernel["name"].split("(")[0], kernel["time_us"]))'
}

equal() { # NAME WANTED GOT: times as far as the float that CUDA hands out can hold them
    if paste "$2" "$3" | awk '{ off = $2 - $4; if (off < 0) off = -off
                               if ($1 != $3 || $2 <= 0 || off > 2e-7 * $2) bad = 1 } END { exit bad || NR < 6 }'; then
        echo "ok $1"
    else
        echo "not ok $1"
        paste "$2" "$3" | sed 's/^/    /'
        status=1
    fi
}

for gpu in h200 t4; do
    options=()
    [ $gpu = t4 ] && options=(-arch=sm_75)
    "$LOCKSTEP" run --gpu sim:$gpu tests/timing/events.cu "${options[@]}" >"$work/events" ||
        { echo "not ok events on $gpu"; exit 1; }
    "$LOCKSTEP" profile --json --gpu sim:$gpu tests/timing/events.cu "${options[@]}" 2>/dev/null |
        times >"$work/profile"
    head -n 6 "$work/events" >"$work/got"
    head -n 6 "$work/profile" >"$work/wanted"
    equal "events equal profile on $gpu" "$work/wanted" "$work/got"
    awk '/^vector_add|^reduce/ { sum[$1] = $2 } END { printf "two %.4g\n", sum["vector_add"] + sum["reduce"] }' \
        "$work/profile" >"$work/wanted"
    awk '/^two/ { printf "two %.4g\n", $2 }' "$work/events" >"$work/got"
    same "two launches last as long as both on $gpu" "$work/wanted" "$work/got"
    "$LOCKSTEP" run --threads 1 --gpu sim:$gpu tests/timing/events.cu "${options[@]}" >"$work/got"
    same "one host thread, the same times on $gpu" "$work/events" "$work/got"
    "$LOCKSTEP" check --no-host-lines --gpu sim:$gpu tests/timing/events.cu "${options[@]}" 2>/dev/null |
        grep -E '^[a-z_]+ [0-9.]+$' >"$work/got"
    same "the same under check on $gpu" "$work/events" "$work/got"
done

variant=reduction/warp_shuffle # two launches
LOCKSTEP_HISTORY=$work/history.db "$LOCKSTEP" bench --gpu sim:h200 --json $variant n=1M 2>/dev/null | python3 -c '
import json, sys
print("%.6g" % json.load(sys.stdin)["results"][0]["entries"][0]["median_us"])' >"$work/got"
"$LOCKSTEP" profile --gpu sim:h200 --json $variant n=1M 2>/dev/null | times |
    awk '{ sum += $2 } END { printf "%.6g\n", sum }' >"$work/wanted"
same "bench says what profile says" "$work/wanted" "$work/got"

# Launches that are followed in time: the same twice, and near what an H200 took (tests/counters/h200.tsv).
cat >"$work/steps.py" <<'END'
import json, statistics, subprocess, sys
steps = {}
for line in open("tests/counters/h200.tsv"):
    part, label, metric, value = line.rstrip("\n").split("\t") if line.count("\t") == 3 else [""] * 4
    if part == "ladder" and "m=512 n=512 k=512 type=bf16" in label and metric == "graph_us":
        steps[label] = float(value) + 1.6 # between events instead of in a graph
off = []
for label, measured in steps.items():
    done = subprocess.run([sys.argv[1], "profile", "--json", "--gpu", "sim:h200"] + label.split(" "),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    kernel = json.loads(done.stdout)["kernels"][-1]
    off.append(abs(kernel["time_us"] / measured - 1))
    print("# %s: %.1f us on an H200, %.1f modelled, followed for %d cycles"
          % (label, measured, kernel["time_us"], kernel["counters"]["unit_cycles"]))
    if not kernel["counters"]["unit_cycles"]:
        off.append(9)
ok = len(off) == 7 and statistics.median(off) <= 0.2 and max(off) <= 0.35
print("%sok the steps of gemm are within 20 %% of the H200's times at the median" % ("" if ok else "not "))
sys.exit(not ok)
END
python3 "$work/steps.py" "$LOCKSTEP" || status=1
for turn in 1 2; do
    "$LOCKSTEP" profile --json --gpu sim:h200 gemm/multicast m=256 n=512 k=256 type=bf16 2>/dev/null | times >"$work/turn$turn"
done
same "a launch that is followed takes the same time again" "$work/turn1" "$work/turn2"

"$LOCKSTEP" run --gpu sim:h200 tests/timing/spins.cu >"$work/spins"
spun=$?
grep -E '^(not )?ok ' "$work/spins"
"$LOCKSTEP" profile --json --gpu sim:h200 tests/timing/spins.cu 2>"$work/printed" | times >"$work/profile"
if [ "$(grep -c '^take_turns' "$work/profile")" = 2 ] && [ "$(grep -c '^ok ' "$work/printed")" -ge 11 ]; then
    echo "ok kernels that wait for each other are profiled"
else
    echo "not ok kernels that wait for each other are profiled"
    sed 's/^/    /' "$work/printed" "$work/profile" | head -n 40
    status=1
fi
"$LOCKSTEP" run --gpu sim:h200 tests/timing/repeated.cu >"$work/repeated" || status=1
cat "$work/repeated"
[ "$(grep -c '^ok ' "$work/repeated")" = 4 ] || status=1
"$LOCKSTEP" run --gpu sim:h200 tests/timing/waits.cu -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' || status=1
[ $spun = 0 ] && [ "$(grep -c '^ok ' "$work/spins")" = 12 ] || { echo "not ok spins"; status=1; }
exit $status
