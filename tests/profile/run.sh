#!/bin/sh
# lockstep profile from outside: each rule of the advice speaks on the line that its kernel marks
# and is silent on the fixed kernel (with FIXED defined); JSON, trace, HTML, filters, comparison, bad input.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache" NO_COLOR=1
unset LOCKSTEP_GPU LOCKSTEP_THREADS LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT LOCKSTEP_PROFILE LOCKSTEP_TRACE
cd "$here" || exit 1
NVCC=$(../../scripts/get-nvcc --find || echo none)
export NVCC
if [ "$NVCC" = none ]; then
    skip profile "there is no nvcc"
    exit 0
fi

# json NAME CONDITION COMMAND...: a Python condition on r, the JSON that the command prints.
json() {
    name=$1 condition=$2
    shift 2
    "$@" >"$work/out.json" 2>"$work/err" </dev/null
    if problem=$(python3 -c "
import json, sys
r = json.load(open('$work/out.json'))
k = r.get('kernels', [None])[0] if isinstance(r, dict) else None
sys.exit(None if ($condition) else 'not so')" 2>&1); then
        echo "ok $name"
    else
        echo "not ok $name: $condition: $(echo "$problem" | tail -n 1) $(head -c 300 "$work/err")"
    fi
}

# Advice. nvcc compiles all of these kernels at once.
advised=$(ls *.cu | sed 's/\.cu$//' | grep -vx -e plain -e faults -e none -e streams -e tiled)
# shellcheck disable=SC2086
python3 ../gather.py "$work/advice.cu" $advised || echo "not ok advice: the programs are not gathered"
for rule in $advised; do
    for wanted in given quiet; do
        name=$rule
        [ $wanted = given ] || name=$rule.fixed
        "$LOCKSTEP" profile --json "$work/advice.cu" -- "$name" >"$work/$rule.$wanted.json" 2>"$work/err"
        if problem=$(python3 check_advice.py "$rule" "$rule.cu" $wanted \
            <"$work/$rule.$wanted.json" 2>&1); then
            echo "ok advice-$rule-$wanted"
        else
            echo "not ok advice-$rule-$wanted: $problem $(head -c 300 "$work/err")"
        fi
    done
done
# What is promised comes true, by the model, where bad and fixed kernels do the same work in the
# same shape.
for rule in uncoalesced misaligned narrow-loads local-memory bank-conflicts contended-atomics \
    divergence low-occupancy few-blocks tail-wave uneven-warps f64-by-accident no-tensor-cores; do
    if problem=$(python3 check_gain.py "$work/$rule.given.json" "$work/$rule.quiet.json" $rule 2>&1)
    then echo "ok gain-$rule"; else echo "not ok gain-$rule: $problem"; fi
done
# Every rule has its kernel.
rules=$(sed -n 's/^    {"\([a-z0-9-]*\)", advice_.*/\1/p' "$here/../../src/report/advice.c")
for rule in ${rules:-none-is-found}; do
    [ -f "$rule.cu" ] && echo "ok kernel-for-$rule" || echo "not ok kernel-for-$rule: $rule.cu"
done

# JSON. The counters are those of 1M elements: 32768 warps, four sectors an access.
run="$LOCKSTEP profile plain.cu"
json json-shape 'r["gpu"] == "sim:h200" and r["modelled"] is True and [x["name"] for x in
    r["kernels"]] == ["scale", "sum<256>", "sum<256>", "tools::fill<float, 3>"]' $run --json
json json-launch 'k["grid"] == [4096, 1, 1] and k["block"] == [256, 1, 1] and k["launch"] == 0 and
    k["time_us"] > 0 and k["bound_by"] in k["parts_us"] and 0 < k["roof"] <= 1' $run --json
json json-counters 'k["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld"] == 131072 and
    k["counters"]["smsp__sass_thread_inst_executed_op_fmul_pred_on"] == 1 << 20 and
    k["counters"]["global_load_sectors_ideal"] == 131072' $run --json
json json-occupancy 'k["occupancy"]["occupancy"] == 1 and k["occupancy"]["limiter"] == "warps" and
    len(k["occupancy"]["what_if"]) > 20' $run --json
json json-lines 'any(x["file"] == "plain.cu" and "<- hot" in x["source"] and
    x["global"]["requests"] == 65536 and x["traffic"] == 1 for x in k["lines"])' $run --json
json json-ptxas 'k["registers_from"] == "ptxas" or not __import__("shutil").which("ptxas")' \
    $run --json
# As many as nvcc gives it: told a limit of 255, ptxas would unroll this loop until they are used up.
registers=$(${NVCC:-nvcc} -O3 -arch=sm_90 -Xptxas -v -cubin -o /dev/null tiled.cu 2>&1 |
    sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')
json json-registers "k['registers'] == ${registers:-0} or not __import__('shutil').which('ptxas')" \
    "$LOCKSTEP" profile --json tiled.cu -O3
json json-spills 'k["registers_from"] == "estimated" or (k["registers"] == 24 and
    any("ptxas spills" in x["text"] for x in k["advice"]))' \
    "$LOCKSTEP" profile --json local-memory.cu -DFIXED -maxrregcount 24
json json-without-ptxas 'k["registers_from"] == "estimated" and k["registers"] > 0' \
    env PATH=/usr/bin:/bin NVCC=/dev/null/nvcc "$LOCKSTEP" profile --json "$(
        "$LOCKSTEP" profile plain.cu --verbose 2>&1 | sed -n 's/^+ # cached: //p')"
json kernel-filter 'len(r["kernels"]) == 2 and k["launch"] == 1' $run --json --kernel sum
json launch-filter 'len(r["kernels"]) == 1 and k["name"].startswith("tools")' $run --json --launch 3
json other-gpu 'r["gpu"] == "sim:a100"' $run --json --gpu sim:a100
json arguments 'k["grid"] == [8, 1, 1]' $run --json -- 2048
expect stdout-is-json 0 '^\{' sh -c "$run --json 2>/dev/null"

# Terminal
expect text 0 'scale <<<4096, 256>>> on NVIDIA H200.*modelled; bound by.*% of the roofline.*occupancy  100 %.*registers +[0-9]+ a thread \((ptxas|estimated)\).*plain.cu.*<- hot' $run
expect text-groups 0 'launches  kernel.*sum<256> <<<16, 256>>>, launch 1.*sum<256> <<<16, 256>>> on NVIDIA H200, x 2' $run
expect text-advice 0 '[0-9.]+x  uncoalesced.cu:17: a warp.s store touches 32 sectors where 4 suffice .stride 4096 B.: +stage the tile in shared memory' \
    "$LOCKSTEP" profile uncoalesced.cu -DBAD
expect text-what-if 0 'if threads a block .*if registers a thread .*if shared memory ' \
    "$LOCKSTEP" profile low-occupancy.cu -DBAD
expect program-output 0 '^plain says hello' $run

# A 1M-element kernel that is compiled and cached answers in under a second (three, to be kind to a
# busy machine).
start=$(date +%s%N)
$run --launch 0 >/dev/null 2>&1
end=$(date +%s%N)
if [ $(((end - start) / 1000000)) -lt 3000 ]; then echo "ok speed"; else
    echo "not ok speed: $(((end - start) / 1000000)) ms"
fi

# Trace
"$LOCKSTEP" profile plain.cu --launch 0 --trace "$work/trace.json" >/dev/null 2>&1
json trace 'r["trace"] == 1 and r["launches"][0]["name"] == "scale" and
    len(r["launches"][0]["records"]) == 2 * 4 * 3 and all(len(x["addresses"]) == 32 and
    x["bytes"] == 4 and x["space"] == "global" and x["mask"] == 0xffffffff
    for x in r["launches"][0]["records"] if x["kind"] != "branch")' cat "$work/trace.json"
"$LOCKSTEP" profile plain.cu --launch 0 --trace "$work/trace.json" --trace-blocks 5 \
    --trace-warps 1-2 --trace-records 3 >/dev/null 2>&1
json trace-chosen 'len(r["launches"][0]["records"]) == 3 and r["launches"][0]["dropped"] == 3 and
    all(x["block"] == 5 and x["warp"] in (1, 2) for x in r["launches"][0]["records"])' \
    cat "$work/trace.json"
json trace-lines 'all(x["file"] == "plain.cu" and x["line"] > 0 and x["text"]
    for x in r["launches"][0]["records"])' cat "$work/trace.json"

# Replay: whole, its sums are the counters', which are as without it, and it says what it cut.
replay() { # NAME WORDS...
    name=$1
    shift
    "$LOCKSTEP" profile "$@" --json >"$work/plain.json" 2>/dev/null
    "$LOCKSTEP" profile "$@" --json --replay "$work/replay.json" --replay-blocks 0-999 \
        --replay-events 100000 >"$work/counted.json" 2>/dev/null
    found=$(python3 check_replay.py "$work/replay.json" "$work/counted.json" 2>&1)
    [ "$found" = fine ] && echo "ok replay-$name" || echo "not ok replay-$name: $found"
    cmp -s "$work/plain.json" "$work/counted.json" && echo "ok replay-$name-counters" ||
        echo "not ok replay-$name-counters: --replay changed the report"
}
replay tiles gemm/shared_tiled m=64 n=64 k=32
replay tree reduction/shared_tree n=2K
replay transpose transpose/padded rows=64 cols=64
replay scan scan/hillis_steele n=512
"$LOCKSTEP" profile plain.cu --kernel sum --replay "$work/replay.json" --replay-events 400 >/dev/null 2>&1
json replay-cut 'r["launches"][0]["dropped"] > 0 and 0 < len(r["launches"][0]["events"]) <= 400 and
    {x["block"] for x in r["launches"][0]["events"]} == {0}' cat "$work/replay.json"
json replay-shared '[x["name"] for x in r["launches"][0]["shared"]] == ["values"] and
    r["sources"][0]["file"] == "plain.cu" and "__shared__" in r["sources"][0]["text"]' \
    cat "$work/replay.json"

# Timeline. A copy takes c = 1.5 us and 4 MiB over the link, a kernel d. Kernels run from c to 2c + d,
# copies from 0 to 2c and from c + d to 3c + d: 2c of 4c are together.
streams="$LOCKSTEP profile streams.cu"
json timeline-overlap 'len(r["timelines"]) == 1 and abs(r["timelines"][0]["overlap"] - 0.5) < 0.01 and
    r["timelines"][0]["streams"] == 2 and r["timelines"][0]["process"] == 0' $streams --json
json timeline-engines '(lambda t, c: abs(t["engines"]["copy_to"]["busy_us"] - 2 * c) < 0.01 and
    abs(t["engines"]["copy_from"]["busy_us"] - 2 * c) < 0.01 and
    t["engines"]["copy_to"]["bytes"] == 8 << 20 and
    abs(t["engines"]["compute"]["busy_us"] - c - k["time_us"]) < 0.01 and
    abs(t["time_us"] - 3 * c - k["time_us"]) < 0.01)(r["timelines"][0],
    next(o["end_us"] - o["begin_us"] for o in r["timelines"][0]["operations"] if "bytes" in o))' \
    $streams --json
json timeline-gaps '["copy to the device, 4 MiB in stream", "copy from the device, 4 MiB in stream"] ==
    sorted((g["waits_for"].rsplit(" ", 1)[0] for g in r["timelines"][0]["gaps"]), reverse=True)' \
    $streams --json
json timeline-calls '{(o["kind"], o["call"].removesuffix("Ex")) for o in
    r["timelines"][0]["operations"]} >= {("kernel", "cuLaunchKernel"), ("copy to the device", "cuMemcpyHtoDAsync"),
     ("copy from the device", "cuMemcpyDtoHAsync"), ("wait", "cuStreamSynchronize"),
     ("event", "cuEventRecord")}' $streams --json
json timeline-graph '(lambda t: abs(t["overlap"] - 0.5) < 0.02 and len(t["rows"]) == 2 and
    t["rows"][1]["lane"] == 1 and t["host"]["calls"] == 1)(r["timelines"][0])' \
    $streams --json -- graph
json timeline-many 'r["timelines"][0]["more"]["operations"] > 10000 and
    len(r["timelines"][0]["operations"]) == 20000' $streams --json -- many
"$LOCKSTEP" profile streams.cu --timeline "$work/timeline.json" >"$work/timeline.txt" 2>&1
json timeline-perfetto 'len({(e["pid"], e["tid"]) for e in r["traceEvents"]}) == 6 and
    sum(e["ph"] == "X" and e["cat"] == "kernel" and e["dur"] > 1000 for e in r["traceEvents"]) == 2 and
    all({"ph", "pid", "tid", "name"} <= set(e) for e in r["traceEvents"])' cat "$work/timeline.json"
expect timeline-text 0 'timeline of .* 2 kernels, 4 copies, 2 streams.*overlap +50 %.*no kernel runs' \
    cat "$work/timeline.txt"
expect timeline-80-columns 0 '^fits' python3 -c "
lines = open('$work/timeline.txt').read().split('timeline of')[1].split('\n\n')[0].split('\n')
assert len(lines) > 8 and max(map(len, lines[1:])) <= 80, max(lines, key=len)
print('fits')"

# Examples: what they print, and that streams are worth it
cd "$here/../.." || exit 1
expect example-overlap 0 '4 streams +[0-9.]+ ms +([2-9]|1\.[5-9]).*as graph.*empty kernel.*0 of [0-9]+ elements are wrong' \
    "$LOCKSTEP" run examples/overlap.cu
expect example-gemm 0 '4 streams +[0-9.]+ ms +([2-9]|1\.[5-9]).*as graph.*0 elements are wrong' \
    "$LOCKSTEP" run examples/gemm_streams.cu
cd "$here" || exit 1

# HTML
"$LOCKSTEP" profile bank-conflicts.cu -DBAD --html "$work/page.html" >/dev/null 2>&1
expect html 0 'good' python3 -c "
import xml.dom.minidom
text = open('$work/page.html').read()
page = xml.dom.minidom.parseString(text.replace('<!DOCTYPE html>', ''))
labels = [svg.getAttribute('aria-label') for svg in page.getElementsByTagName('svg')]
assert {'roofline', 'banks', 'sectors touched', 'timeline'} <= set(labels), labels
assert 'http' not in text and '<script' not in text
print('good')"

# Comparison
expect compare 0 'transpose .*time .*us -> .*us +[0-9.]+x less.*bound by .*op_st .*8x less' \
    "$LOCKSTEP" profile --compare "$work/uncoalesced.given.json" "$work/uncoalesced.quiet.json"
json compare-json 'r["kernels"][0]["speedup"] > 1.1 and r["kernels"][0]["counters"][
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st"] == [1048576, 131072]' \
    "$LOCKSTEP" profile --json --compare "$work/uncoalesced.given.json" "$work/uncoalesced.quiet.json"
expect compare-programs 0 'copy -> transpose|copy only|transpose' \
    "$LOCKSTEP" profile --compare uncoalesced.cu "$work/uncoalesced.quiet.json"

# Roofline
expect roofline-memory 0 '^memory-bound, by a factor of 167.*62.5 % of the roof' \
    "$LOCKSTEP" roofline --bytes 12e6 --flops 1M --time 4us
expect roofline-compute 0 '^compute-bound, by a factor of .*H100' \
    "$LOCKSTEP" roofline --bytes 201M --flops 1.4T --time 3ms --type tensor-f16 --gpu sim:h100
json roofline-json 'r["bound_by"] == "memory" and abs(r["roof"] - 0.625) < 1e-6' \
    "$LOCKSTEP" roofline --bytes 12e6 --flops 1e6 --time 4e-6 --json
for bad in many '' -1 nan inf 1e400 1e308P 12x; do
    expect "roofline-bytes-${bad:-empty}" 2 '--bytes takes a number from 0 up' \
        "$LOCKSTEP" roofline --bytes "$bad" --flops 1
    expect "roofline-time-${bad:-empty}" 2 '--time takes a time above 0' \
        "$LOCKSTEP" roofline --bytes 1 --flops 1 --time "$bad"
done
expect roofline-time-0 2 '--time takes a time above 0' \
    "$LOCKSTEP" roofline --bytes 1 --flops 1 --time 0
expect roofline-no-operations 0 '^memory-bound' "$LOCKSTEP" roofline --bytes 1e6 --flops 0 --time 1us
expect roofline-incomplete 2 'are needed' "$LOCKSTEP" roofline --bytes 10
expect roofline-bad-type 2 'no type' "$LOCKSTEP" roofline --bytes 1 --flops 1 --type f1
expect roofline-missing-unit 2 'has no' "$LOCKSTEP" roofline --bytes 1 --flops 1 --type tensor-tf32 --gpu t4
expect gpus-what-if 0 'if threads a block .*-> +256 .*if shared memory' \
    "$LOCKSTEP" gpus h200 --block 256 --registers 64 --shared 16384

# A family's source is built in: it is shown wherever the command runs.
expect family-elsewhere 0 'kernels/reduction/vectorised.cu.*__global__.* reduce\(' \
    sh -c "cd '$work' && '$LOCKSTEP' profile reduction/vectorised n=1000"
expect family-html-elsewhere 0 '__global__' \
    sh -c "cd '$work' && '$LOCKSTEP' profile reduction/vectorised n=1000 --html family.html >family.out &&
        cat family.html"

# What goes wrong
expect help 0 'usage: [^ ]*lockstep profile' "$LOCKSTEP" profile --help
expect nothing 2 'which program' "$LOCKSTEP" profile
expect nothing-but-arguments 2 'which program' "$LOCKSTEP" profile -- 1
expect missing 2 'no such file' "$LOCKSTEP" profile missing.cu
expect real-gpu 2 'simulated GPU is needed|no NVIDIA GPU' "$LOCKSTEP" profile plain.cu --gpu cuda:0
expect no-kernel 1 'ran no kernel' "$LOCKSTEP" profile none.cu
expect no-such-kernel 1 "no kernel with 'absent'" $run --kernel absent
expect no-such-launch 1 'no launch number 99' $run --launch 99
expect bad-launch 2 'whole number' $run --launch first
expect bad-range 2 '0-3' $run --trace "$work/t" --trace-warps x
expect bad-replay-blocks 2 '0-3' $run --replay "$work/t" --replay-blocks x
expect replay-unwritable 2 '/absent/t.json: No such' $run --replay "$work/absent/t.json"
expect faults 1 'ended with status 1; this is what was counted.*fine <<<1, 32>>>.*failed +write of 4 bytes' \
    "$LOCKSTEP" profile faults.cu
json faults-json '[("fault" in x) for x in r["kernels"]] == [False, True] and r["status"] == 1' \
    "$LOCKSTEP" profile --json faults.cu
expect crash 134 'ended with status 134; this is what was counted.*fine <<<' \
    "$LOCKSTEP" profile faults.cu -- abort
expect html-unwritable 2 '/absent/page.html: No such' $run --html "$work/absent/page.html"
expect trace-unwritable 2 '/absent/t.json: No such' $run --trace "$work/absent/t.json"
echo '{"no": "profile"}' >"$work/other.json"
echo '{' >"$work/broken.json"
expect compare-one 2 'needs two' "$LOCKSTEP" profile --compare plain.cu
expect compare-missing 2 'gone.json' "$LOCKSTEP" profile --compare gone.json "$work/out.json"
expect compare-other 2 'not a result of' "$LOCKSTEP" profile --compare "$work/other.json" plain.cu
expect compare-broken 2 'broken.json:' "$LOCKSTEP" profile --compare plain.cu "$work/broken.json"
expect compare-html 2 'goes with' "$LOCKSTEP" profile --compare a b --html x
