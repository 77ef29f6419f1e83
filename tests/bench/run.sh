#!/bin/sh
# 'lockstep bench' and 'lockstep roofline FAMILY' from outside, on simulated GPUs: results, files,
# history, comparison, peers that are there or not, and bad input. No time is compared with a clock:
# modelled times are the same in every run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_CACHE_HOME="$work/cache" XDG_DATA_HOME="$work/data"
unset LOCKSTEP_HISTORY LOCKSTEP_THREADS LOCKSTEP_SCHEDULE LOCKSTEP_BENCH_TIMED LOCKSTEP_KERNELS \
    LOCKSTEP_PYTHON LOCKSTEP_PROFILE LD_LIBRARY_PATH
export LOCKSTEP_GPU=sim:h200
mkdir -p "$HOME"
cd "$work" || exit 1

# json NAME CONDITION COMMAND...: r is what the command prints.
json() {
    name=$1 condition=$2
    shift 2
    if "$@" 2>err.txt </dev/null >out.json && python3 - "$condition" <<'PY'; then
import json, sys
r = json.load(open("out.json"))
sys.exit(not eval("(" + sys.argv[1] + ")"))
PY
        echo "ok $name"
    else
        echo "not ok $name: $condition; $(cat err.txt; head -c 2000 out.json)"
    fi
}

bench="$LOCKSTEP bench"
small="reduction n=1K"
# Of variants, without the two for other types and operations
count=$($LOCKSTEP zoo show reduction --json | grep '"technique"' | grep -vc 'for other types')

# Results
expect table 0 'NVIDIA H200, simulated.*all times are modelled.*global_atomics +[0-9.]+ us.*vectorised .*4.00 KiB to move' \
    $bench $small
json json 'r["modelled"] and r["gpu"] == "sim:h200" and r["compiler"] and r["commit"] and
    all(e["state"] == "measured" and e["median_us"] > 0 and e["registers"] > 0 and e["lines"] > 0
        and e["method"] == "modelled" for e in r["results"][0]["entries"])' $bench $small --json
# Every family, of which 'make test' takes every sixth
measured='all(e["state"] == "measured" for x in r["results"] for e in x["entries"] if e["kind"] == "variant")'
families=$($LOCKSTEP zoo list --json | sed -n 's/.*"name": "\(.*\)".*/\1/p' | paste -sd' ')
if [ -n "${KERNELS_ALL:-}" ]; then
    json all "sorted(x['family'] for x in r['results']) == sorted('$families'.split()) and $measured" \
        $bench --all --quick --no-peers --json
else
    sample=$(echo "$families" | awk -v RS='[ \n]' 'NR % 6 == 1' | paste -sd' ')
    json sample "sorted(x['family'] for x in r['results']) == sorted('$sample'.split()) and $measured" \
        $bench $sample --quick --no-peers --json
fi
json own-problems '[x["problem"].split()[1] for x in r["results"]] == ["pattern=" + p for p in
    ("offset", "stride", "aos", "soa")]' $bench coalescing --no-peers --json
json one-variant '[e["name"] for e in r["results"][0]["entries"]] == ["vectorised"]' \
    $bench reduction/vectorised n=100 --json
json several-problems '[x["problem"].split()[0] for x in r["results"]] == ["n=1K", "n=2K", "n=3K"]' \
    $bench reduction/vectorised n=1K,2K,3K --json
json other-gpu 'r["gpu_name"] == "Tesla T4" or "T4" in r["gpu_name"]' $bench $small --gpu sim:t4 --json
json nothing-to-do 'r["results"][0]["entries"][0]["state"] == "measured"' \
    $bench reduction/vectorised n=0 --json
expect no-variant-takes-it 0 'skipped: it does not take this problem' \
    $bench reduction/global_atomics op=max n=10
# The vectorised reduction is modelled to be faster than atomics on one word, by a lot.
json order 'r["results"][0]["entries"][0]["median_us"] > 5 * r["results"][0]["entries"][-1]["median_us"]' \
    $bench reduction n=256K --json
expect only-peers 0 'nothing here takes this problem' $bench $small --only-peers

# Files
expect files 0 '4.00 KiB' $bench $small --csv out.csv --html out.html --json-file out2.json
expect csv 0 '^family,problem.* reduction,n=1K op=sum type=f32,global_atomics,variant,,modelled,1,' cat out.csv
expect html 0 '<!doctype html>.*modelled.*<svg.*vectorised.*</html>' cat out.html
json json-file 'len(r["results"]) == 1' cat out2.json
expect file-unwritable 2 'none/out.csv: No such file' $bench $small --csv none/out.csv
expect html-unwritable 2 'none/out.html: No such file' $bench $small --html none/out.html

# History and comparison
expect save 0 '4.00 KiB' $bench $small --save before
expect against-same 0 "against before.*0 better, $count the same, 0 worse, 0 ambiguous" \
    $bench $small --against before
expect against-other-problem 0 "0 the same.*$count new" $bench reduction n=2K --against before
expect against-missing 2 "no run was saved as 'befor'; there are 'before'" \
    $bench $small --against befor
expect against-other-gpu 2 'modelled on NVIDIA H200, this is modelled on .*T4: they are not compared' \
    $bench $small --against before --gpu sim:t4
$bench $small --json >now.json 2>/dev/null
expect against-file 0 "$count the same" $bench $small --against now.json
python3 - <<'PY'
import json
r = json.load(open("now.json"))
for e in r["results"][0]["entries"]:
    factor = {"sequential": 0.5, "vectorised": 2}.get(e["name"], 1)
    for key in ("median_us", "q1_us", "q3_us", "low_us", "high_us"):
        e[key] *= factor
json.dump(r, open("other.json", "w"))
PY
expect against-worse 1 "worse +reduction/sequential .*100.0 %.*better +reduction/vectorised .*-50.0 %.*1 better, $((count - 2)) the same, 1 worse" \
    $bench $small --against other.json
expect against-json 1 '"verdict": "worse"' $bench $small --against other.json --json
printf '{"results": [' >broken.json
echo '{"gpu_name": "NVIDIA H200", "results": [{"entries": 3}]}' >alien.json
expect against-broken 2 'broken.json:[0-9]+:[0-9]+: ' $bench $small --against broken.json
expect against-alien 2 'not a result of' $bench $small --against alien.json
expect against-no-file 2 'none.json' $bench $small --against none.json
expect history 0 'NVIDIA H200.*, modelled n=1K op=sum.*vectorised.*\+0.0 % since' $bench history reduction
expect history-variant 0 'runs, oldest first.*GB/s  before' $bench history reduction/vectorised
json history-json 'any(s["name"] == "vectorised" and len(s["points"]) > 2 for s in r)' \
    $bench history reduction --json
expect history-peer 0 'was never measured here' $bench history reduction/cub
expect history-unknown 2 "did you mean 'reduction'" $bench history redction
expect history-unknown-variant 2 'has no variant' $bench history reduction/nothing
expect history-of-nothing 2 'of which family' $bench history
expect history-bad-option 2 'not understood' $bench history reduction --now
expect history-none 2 'nothing was measured yet' env LOCKSTEP_HISTORY="$work/no.db" $LOCKSTEP bench history reduction
expect history-unwritable 0 'remark: the run was not saved in the history: /proc/none/h.db' \
    env LOCKSTEP_HISTORY=/proc/none/h.db $bench $small
expect history-unwritable-save 2 'the run was not saved in the history' \
    env LOCKSTEP_HISTORY=/proc/none/h.db $bench $small --save x
echo 'no database at all, just a line of text that somebody wrote into the wrong file' >text.db
expect history-broken 2 'text.db: file is not a database' \
    env LOCKSTEP_HISTORY="$work/text.db" $bench $small --save x
expect history-left-alone 0 'just a line of text' cat text.db
expect no-home 0 'remark: .*no home folder' env -u HOME -u XDG_DATA_HOME $bench $small

# Bad input
expect unknown-family 2 "there is no family 'redaction'; did you mean 'reduction'" $bench redaction
expect unknown-variant 2 "did you mean 'reduction/vectorised'" $bench reduction/vectorized
expect unknown-option 2 "no option '--fast'" $bench $small --fast
expect unknown-parameter 2 'has the parameters n, op' $bench reduction m=3
expect bad-value 2 'is not a number' $bench reduction n=many
expect time-zero 2 'seconds above 0' $bench $small --time 0
expect time-negative 2 'seconds above 0' $bench $small --time -1
expect time-text 2 'seconds above 0' $bench $small --time soon
expect time-infinite 2 'seconds above 0' $bench $small --time inf
expect time-missing 2 'needs a value' $bench $small --time
expect save-empty 2 'needs a value' $bench $small --save=
expect contradiction 2 'leave nothing' $bench $small --no-peers --only-peers
expect all-and-one 2 'one of them' $bench reduction --all
# What is timed there is what was compared, so the limits lie below those of a slow reference.
expect bytes-for-simulation 2 'too long on a simulated GPU; the limits are 1e\+09 bytes' \
    $bench reduction n=251M
expect flops-for-simulation 2 'too long on a simulated GPU.* 5e\+09 operations' \
    $bench gemm m=1360 n=1360 k=1360 type=bf16
json large-for-simulation '[(e["state"], e["gflop_s"] > 1e5) for e in r["results"][0]["entries"]] ==
    [("measured", True)] and not r["results"][0].get("verified_on")' \
    $bench gemm/tma m=1K n=1K k=1K type=bf16 --json
expect huge 2 'and NVIDIA H200 has' $bench reduction n=16G type=f64
expect out-of-range 2 'goes from 0 to' $bench reduction n=999999G
expect negative 2 'goes from 0 to' $bench reduction n=-1
expect no-gpu 2 'no NVIDIA GPU|this machine has|there is no' $bench $small --gpu cuda:15
expect bad-gpu 2 'a GPU is sim:NAME' $bench $small --gpu h200
expect help 0 'usage: [^ ]*lockstep bench' $bench --help

# The CPU's variants, if a family has some, are timed by the clock.
expect cpu 0 'CPU, [0-9]+ GB/s measured in a copy' $bench $small --gpu cpu --time 0.05

# The way of a real GPU: copies in turn, graphs, peers.
timed="env LOCKSTEP_BENCH_TIMED=1 NVCC=/dev/null/nvcc LOCKSTEP_PYTHON=/dev/null/python $bench"
json timed 'all(e["method"] == "graphs of launches" and e["samples"] >= 5 and e["launches"] > 1
    for e in r["results"][0]["entries"]) and r["results"][0]["copies"] > 1' \
    $timed reduction n=64 --no-peers --time 0.2 --json
json timed-single 'all(e["method"] == "single launches" and e["launches"] == 1
    for e in r["results"][0]["entries"]) and r["results"][0]["copies"] == 2' \
    $timed reduction/global_atomics n=64K --no-peers --time 0.2 --json
expect peers-not-here 0 'cub +skipped: there is no nvcc.*torch +skipped: ' \
    $timed reduction/vectorised n=64 --time 0.1

# A compiler that makes a peer of what is in a folder of ours; a Python that says what we want.
cat >nvcc <<'SH'
#!/bin/sh
out= source= list= include= last=
for word; do
    case $last$word in -o*) [ "$last" = -o ] && out=$word ;; -M) list=1 ;; *.cu) source=$word ;; *-I*) include=$word ;; esac
    last=$word
done
[ -z "$list" ] || { echo "x.o : $source"; exit 0; }
exec gcc -shared -fPIC -x c "$include" -o "$out" "$source" -ldl
SH
chmod +x nvcc
mkdir -p kernels/host kernels/reduction/host
cp "$here/../../kernels/host/peer.h" kernels/host/
cp "$here/peer_of_one.c" kernels/reduction/host/peer_cub.cu
peers="env LOCKSTEP_BENCH_TIMED=1 NVCC=$work/nvcc LOCKSTEP_KERNELS=$work/kernels LOCKSTEP_PYTHON=$work/python $bench"
printf '#!/bin/sh\nexit 3\n' >python
chmod +x python
json peer 'r["results"][0]["entries"][1]["version"] == "Copy 1.0" and
    r["results"][0]["entries"][1]["method"] == "graphs of launches" and
    r["results"][0]["entries"][1]["workspace_bytes"] == 512' \
    $peers reduction/vectorised n=1 --time 0.1 --json
json peer-that-waits 'all(e["method"] == "queues of launches" for e in r["results"][0]["entries"][:2])
    and "cub cannot be captured in a graph" in r["results"][0]["remarks"]' \
    env PEER_WAITS=1 $peers reduction/vectorised n=1 --time 0.1 --json
expect peer-wrong 1 'cub +WRONG: result\[0\] is ' $peers reduction/vectorised n=5 --time 0.1
expect peer-error 1 'cub +WRONG: it returned error 7' $peers reduction/vectorised n=7 --time 0.1
expect peer-library-missing 0 'cub +skipped: its library is not here' \
    $peers reduction/vectorised n=8 --time 0.1
json only-peers-timed '[e["kind"] for e in r["results"][0]["entries"]] == ["peer", "peer"]' \
    $peers reduction n=1 --only-peers --time 0.1 --json
expect python-dies 0 'torch +skipped: the Python process ended' $peers reduction/vectorised n=1 --time 0.1
printf '#!/bin/sh\nread line; echo nonsense; sleep 1\n' >python
expect python-nonsense 0 'torch +skipped: the Python process ended or does not answer: nonsense' \
    $peers reduction/vectorised n=1 --time 0.1
printf '#!/bin/sh\necho "{\\"ok\\": false, \\"error\\": \\"PyTorch is not installed\\"}"\n' >python
expect python-without-torch 0 'torch +skipped: PyTorch is not installed' \
    $peers reduction/vectorised n=1 --time 0.1
printf '#!/bin/sh\nwhile read line; do echo "{\\"ok\\": true, \\"version\\": \\"PyTorch 0\\"}"; done\n' >python
expect python-that-computes-nothing 1 'torch +WRONG: result\[0\] .*it was not written' \
    $peers reduction/vectorised n=1 --time 0.1

# What our Python says, with a made-up PyTorch and driver.
echo 'int cuIpcOpenMemHandle_v2(unsigned long long *at, struct { char b[64]; } h, unsigned f) { *at = 4096; return h.b[0] == 1; }
int cuIpcCloseMemHandle(unsigned long long at) { return at != 4096; }' |
    gcc -w -shared -fPIC -x c -o libcuda.so.1 -
zeros=$(printf '%0128d' 0)
enter() { # HANDLE EXPRESSION
    printf '{"do": "enter", "handle": "%s", "bytes": 2097152, "stride": 4352, "copies": 3, "expression": "%s", "parameters": {"n": 1000, "op": "sum"}, "buffers": [{"type": "f32", "count": 1000, "offset": 0, "output": false}, {"type": "f32", "count": 1, "offset": 4096, "output": true}]}\n' "$1" "$2"
}
talk() { # lines from stdin to the bridge
    PYTHONPATH="$here/fake" PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH="$work" \
        python3 "$here/../../python/peer_torch.py"
}
cat >session <<'SH'
echo '{"do": "hello", "device": 0}'
enter "$zeros" 'torch.count_one(x[0]) if op == \"sum\" and n == 1000 else None'
echo '{"do": "check"}'
echo '{"do": "estimate"}'
echo '{"do": "prepare", "method": "graph", "launches": 5, "flush": 4096}'
echo '{"do": "time", "samples": 4}'
echo '{"do": "prepare", "method": "single", "launches": 1, "flush": 0}'
echo '{"do": "time", "samples": 2}'
echo '{"do": "leave"}'
SH
. ./session | talk >said 2>&1
expect bridge 0 'PyTorch 0.fake.*"ok": true.*"seconds": 0.001.*"method": "graph".*\[0.001, 0.001, 0.001, 0.001\].*"method": "single".*\[0.001, 0.001\]' cat said
expect bridge-never-fails 0 '^9 *$' sh -c 'grep -c "\"ok\": true" said'
cat >session <<'SH'
echo '{"do": "hello", "device": 0}'
enter "$zeros" 'torch.count_one(x[0], True)'
echo '{"do": "prepare", "method": "graph", "launches": 5, "flush": 0}'
echo '{"do": "time", "samples": 1}'
enter "01${zeros#??}" 'x[0]'
enter "$zeros" 'x[0] +'
enter "$zeros" 'nonsense(x)'
echo '{"do": "check"}'
echo 'no JSON'
echo '{"do": "dance"}'
SH
. ./session | talk >said 2>&1
expect bridge-queue 0 '"method": "queue".*\[0.001\]' cat said
expect bridge-errors 0 'cannot be shared .*invalid syntax.*nonsense. is not defined.*Expecting value.*dance' cat said
expect bridge-answers-all 0 '^10 *$' sh -c 'wc -l <said'

# roofline
roofline="$LOCKSTEP roofline"
expect roofline 0 'H200: 4800 GB/s.*times are modelled.*operations a second.*/.*a reduction/global_atomics' \
    $roofline reduction n=4K --svg r.svg
expect roofline-svg 0 '<svg [^>]*xmlns=.*vectorised.*</svg>' cat r.svg
json roofline-json "len(r['points']) == $count"' and all(abs(p["intensity"] - 0.25) < 0.01 for p in r["points"])' \
    $roofline reduction n=4K --json
# Copies and integers have no operations to count: they stand at the left edge, by their bytes.
expect roofline-copies 0 'a transpose/naive .*GB/s, [0-9.]+ % of the roof .no floating-point' \
    $roofline transpose rows=64 cols=64 --no-peers --svg t.svg
expect roofline-copies-svg 0 'naive.*vectorised.*</svg>' cat t.svg
json roofline-copies-json 'len(r["points"]) >= 5 and all(p["intensity"] == 0 and p["gb_s"] > 0 and 0 < p["roof"] <= 1 for p in r["points"])' \
    $roofline transpose rows=64 cols=64 --no-peers --json
expect roofline-unknown 2 'did you mean' $roofline redction
expect roofline-nothing 2 'or a family' $roofline --gpu sim:h200
expect roofline-cpu 2 'the peaks of CPU' $roofline reduction --gpu cpu
expect roofline-unwritable 2 'none/r.svg' $roofline reduction n=100 --svg none/r.svg
