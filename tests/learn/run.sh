#!/bin/sh
# 'lockstep learn' from outside: the course proves itself, and a learner's good, odd and hostile files
# get the verdicts that they should; progress is kept. No times are compared.
set -u
. tests/expect.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_DATA_HOME="$work/data"
unset LOCKSTEP_PROGRESS LOCKSTEP_COURSE LOCKSTEP_GPU LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT \
    LOCKSTEP_PROFILE LOCKSTEP_CHECK LOCKSTEP_TRACE LD_LIBRARY_PATH
. tests/expect.sh
course=$(pwd)/course
mkdir -p "$HOME"
cd "$work" || exit 1
learn="$LOCKSTEP learn"

# json NAME CONDITION COMMAND...: r is what the command prints, whatever its status.
json() {
    name=$1 condition=$2
    shift 2
    "$@" 2>err.txt </dev/null >out.json
    if python3 - "$condition" <<'PY'; then
import json, sys
r = json.load(open("out.json"))
sys.exit(not eval("(" + sys.argv[1] + ")"))
PY
        echo "ok $name"
    else
        echo "not ok $name: $condition; $(cat err.txt; head -c 2000 out.json)"
    fi
}

# The course itself, with either compiler: a day of each week, or all with LOCKSTEP_TEST_ALL=yes.
# run_whole.sh has every solution.
if [ -n "${LOCKSTEP_TEST_ALL:-}" ]; then
    expect course 0 '(^| )0 things to fix' $learn check-course
else
    expect course-day6 0 '(^| )0 things to fix' $learn check-course day6
fi
if (cd "$course/.." && scripts/get-nvcc --find >/dev/null); then
    expect course-nvcc 0 '(^| )0 things to fix' $learn check-course day4 --compiler nvcc
else
    skip course-nvcc "there is no nvcc"
fi
json course-json 'r == {"sound": True, "failed": 0}' $learn check-course day4 --json

# A lesson that is not sound is found out
cp -r "$course" broken
expect init-in-course 2 'is the course itself' \
    env LOCKSTEP_COURSE="$work/broken" $learn init "$work/broken/week1"
sed -i 's/i < n/i <= n/' broken/week1/day4_first_kernel/add/solution.cu
sed -i 's/^## Explore/## Explored/' broken/week1/day4_first_kernel/lesson.md
cp broken/week1/day4_first_kernel/add/solution.cu broken/week1/day4_first_kernel/saxpy/wrong/new.cu
sed -i 's/day5_naive_matmul/day8/' broken/week1/day4_first_kernel/lesson.md
expect unsound 1 'no section .## Explore.*day8/lesson.md. leads nowhere.*must pass, and got: solution.cu:6: out of bounds.*wrong/new.cu has no verdict' \
    env LOCKSTEP_COURSE="$work/broken" $learn check-course day4
echo '{' >broken/week1/day4_first_kernel/lesson.json
expect unreadable 2 'lesson.json:[0-9]+:[0-9]+: ' env LOCKSTEP_COURSE="$work/broken" $learn list
expect no-course 2 'No such file' env LOCKSTEP_COURSE="$work/none" $learn list
mkdir empty
expect empty-course 2 'there is no lesson in it' env LOCKSTEP_COURSE="$work/empty" $learn list

# Beginning
expect welcome 0 'broken on purpose.*learn init' $learn
expect no-folder 2 'learn init DIR' $learn check
expect init-needs-folder 2 'init needs a folder' $learn init
expect init-unwritable 2 '/proc/' $learn init /proc/none
expect init 0 'broken on purpose.*Next: +[^ ]*lockstep learn' $learn init mine
json init-again 'r["folder"].endswith("/mine") and r["lessons"] >= 2' $learn init mine --json
add=mine/week1/day4_first_kernel/add.cu
[ -z "$(find mine -name 'solution*' -o -name wrong)" ] && [ -f $add ] && echo "ok laid-out" ||
    echo "not ok laid-out: $(find mine)"
# Every file that a lesson links is in the learner's folder; pictures, which are the studio's, are no links there
cat >links.py <<'PY'
import pathlib, re, sys
links = [(page, target.split("#")[0]) for page in pathlib.Path("mine").rglob("*.md")
         for target in re.findall(r"\]\(([^)]+)\)", re.sub("```.*?```", "", page.read_text(), flags=re.S))
         if not target.startswith(("http", "#"))]
dead = [f"{page}: {target}" for page, target in links if not (page.parent / target).exists()]
print(dead[0] if dead else f"{len(links)} links")
sys.exit(bool(dead))
PY
expect links 0 '^[1-9][0-9]+ links' python3 links.py
expect bare 0 '0 of [0-9]+ exercises.*lesson.md' $learn
expect start-day 0 'add.cu' $learn start week1/day4
json bare-json 'r["exercise"] == "week1/day4_first_kernel/add" and not r["passed"]' $learn --json

# Verdicts
expect given 1 'not right yet.*add.cu: wrong result for n=1000: c\[256\] must be [-0-9.]+ from a\[256\] = [-0-9.]+, b\[256\] = [-0-9.]+, but it was never written; 744 of 1000' \
    $learn check
write() { cat >$add; }
write <<'CU'
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x
    if (i < n)
        c[i] = a[i] + b[i];
}
CU
expect syntax-error 1 "does not compile yet.*add.cu:3:[0-9]+: error: expected ';'" $learn check
json syntax-error-json 'r["stage"] == "compile" and r["line"] == 3 and "expected" in r["text"]' \
    $learn check --json
write <<'CU'
__global__ void add(const float *a, const float *b, float *c, int n)
{
    volatile int never = 0;
    for (int i = threadIdx.x; never == 0; i++)
        c[i % n] = a[i % n] + b[i % n];
}
CU
expect endless 1 'does not run to its end.*the kernel does not end' $learn check
write <<'CU'
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ((float *)a)[i] = c[i] = a[i] + b[i];
}
CU
expect input-changed 1 'a is an input, and the kernel has changed it' $learn check
write <<'CU'
__global__ void add(const float *a, const float *b, float *c, long n) {}
CU
expect other-parameters 1 'is called with \(a, b, c, int n\); do not change its parameters' $learn check
write <<'CU'
__global__ void plus(const float *a, const float *b, float *c, int n) {}
CU
expect other-name 1 "there is no kernel '__global__ void add'" $learn check
write <<'CU'
__global__ void add(const float *a, const float *b, float *c, int n)
{
    __shared__ float big[20000];
    big[threadIdx.x] = a[0];
    __syncthreads();
    c[0] = big[255 - threadIdx.x];
}
CU
expect too-much-shared 1 '80000 bytes of shared memory; a block has 49152' $learn check
write <<'CU'
__device__ float huge[1ull << 40];
__global__ void add(const float *a, const float *b, float *c, int n)
{
    huge[threadIdx.x * 1000000ull] = a[0];
    c[0] = huge[b[0] > 0];
}
CU
expect huge-variable 1 'add.cu' $learn check
: >$add
expect empty-file 1 "there is no kernel" $learn check
head -c 100000 /dev/urandom >$add
expect noise 1 'does not compile yet' $learn check
rm $add
expect deleted 1 "add.cu: No such file.*'[^ ]*lockstep learn reset add' puts it back" $learn check
expect reset-deleted 0 'is back' $learn reset add
echo '// mine' >>$add
expect reset-keeps 0 'as it was given; yours is .*add.cu.1' $learn reset add
grep -q '// mine' $add.1 && ! grep -q '// mine' $add && echo "ok reset-kept" ||
    echo "not ok reset-kept: $(ls mine/week1/*)"
write <<'CU'
#include "device.h"
extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        c[i] = load_stream(a + i) + load_stream(b + i);
}
CU
expect with-device-h 0 'passed: right on all 10 sizes' $learn check
cp "$course/week1/day4_first_kernel/add/solution.cu" $add
expect solved 0 'passed: right on all 10 sizes; no races.*modelled.*global_load_sectors_per_request +4' \
    $learn check
json solved-json 'r["passed"] and r["right"] == 10 and r["counters"][0]["value"] == 4 and r["modelled"]' \
    $learn check add --json
expect picture 0 'line 6: .*load of global memory: 4 sectors.*lanes 0-7' $learn picture add
cp "$course/week1/day4_first_kernel/saxpy/wrong/own_piece.cu" mine/week1/day4_first_kernel/saxpy.cu
expect limit 1 'saxpy.cu:8: warp 0 fetched 32 sectors, 4 suffice \(stride 128 B\)' $learn check saxpy

# Mutations of a solution are caught: a barrier dropped, indices swapped, off by one, no padding
transpose=mine/week1/day7_fast_memory/transpose.cu
mutate() {
    name=$1 change=$2 wanted=$3
    sed "$change" "$course/week1/day7_fast_memory/transpose/solution.cu" >$transpose
    expect "mutation-$name" 1 "transpose.cu[0-9:]* $wanted" $learn check transpose
}
mutate barrier '/__syncthreads/d' 'race'
mutate indices 's/tile\[threadIdx.x\]\[threadIdx.y + k\]/tile[threadIdx.y + k][threadIdx.x]/' 'wrong result'
mutate off-by-one 's/c + k < cols/c + k < cols - 1/' 'wrong result'
mutate off-by-one-up 's/r < rows)/r <= rows)/' '(wrong result|out of bounds|race)'
mutate padding 's/\[33\]/[32]/' 'bank conflicts'
cp "$course/week1/day7_fast_memory/transpose/solution.cu" $transpose
expect mutation-none 0 'passed' $learn check transpose

# Words
expect unknown-lesson 2 "no lesson or exercise 'sapxy'; did you mean 'saxpy'" $learn start sapxy
expect unknown-far 2 "'[^ ]*lockstep learn list' names them" $learn start zzyzx
expect unknown-command 2 "no command 'chekc'; did you mean 'check'" $learn chekc
expect unknown-option 2 "no option '--fast'" $learn check --fast
expect too-many-words 2 'one word too many' $learn check add saxpy
expect cpu 2 'a GPU is sim:NAME or cuda:N' $learn check --gpu cpu
expect unknown-gpu 2 'h20' $learn check --gpu sim:h20
expect other-gpu 0 'passed' $learn check add --gpu sim:t4
expect bad-compiler 2 '--compiler is clang, nvcc or nvrtc' $learn check --compiler gcc
expect start 0 'Fast memory.*row_walk.cu' $learn start day7
json current 'r["exercise"] == "week1/day7_fast_memory/row_walk"' $learn --json

# Hints, solution, quiz, notebook
expect hint-1 0 'hint 1 of 3, the concept' $learn hint saxpy
expect hint-2 0 'hint 2 of 3, the line' $learn hint saxpy
json hint-3 'r["kind"] == "diff" and "+" in r["text"]' $learn hint saxpy --json
expect hint-last 0 'hint 3 of 3, the diff.*That is all' $learn hint saxpy
expect solution 0 'i \+= step' $learn solution saxpy
json quiz-list 'len(r["quiz"]) >= 3 and "answer" not in r["quiz"][0]' $learn quiz day4 --json
json quiz 'r["right"] == 4 and r["questions"] == 4' $learn quiz day4 --answer 3,2,3,2 --json
expect quiz-wrong 1 'no\. Two blocks of 128.*3 of 4 right' $learn quiz day4 --answer 1,2,3,2
expect quiz-bad 2 "whole number from 1 to 4, not 'x'" $learn quiz day4 --answer x
expect quiz-zero 2 "whole number from 1 to 4, not '0'" $learn quiz day4 --answer 0
expect quiz-many 2 'and more answers' $learn quiz day4 --answer 1,1,1,1,1
$learn check add >/dev/null 2>&1
expect note 0 'noted in .*notes/[0-9-]+\.md' $learn note 'threads beyond n must stop'
expect note-text 0 'day4_first_kernel/add.*threads beyond n must stop.*Last verdict: passed.*sectors_per_request: 4' \
    sh -c 'cat mine/notes/*.md'

# Progress is kept, and can be lost only by the learner
json progress 'r["streak"] == 1 and
    not [e for e in r["exercises"] if e["exercise"] == r["next"]][0]["passed"] and
    [e for e in r["exercises"] if e["exercise"].endswith("/add")][0]["passed"] and
    [e for e in r["exercises"] if e["exercise"].endswith("/saxpy")][0]["saw_solution"] and
    [e for e in r["exercises"] if e["exercise"].endswith("/add")][0]["best"]["global_load_sectors_per_request"] == 4' \
    $learn progress --json
json export 'r["days"] == 1 and len(r["answers"]) == 8 and r["answers"][0]["choice"] == 3 and
    r["answers"][0]["question"] == 1 and r["answers"][0]["right"] and not r["answers"][4]["right"] and
    len(r["history"]) == sum(e["attempts"] for e in r["exercises"]) and
    r["history"][0]["stage"] == "wrong"' $learn progress --json
expect progress-best 0 'add +solved.*best global_load_sectors_per_request 4' $learn progress
expect progress-text 0 '2 of [0-9]+ exercises days in a row: 1.*add +solved.*next: [^ ]*lockstep learn start cost' \
    $learn progress
expect list 0 'solved add' $learn list
json list-json '[l for l in r if l["id"] == "week1/day4_first_kernel"][0]["exercises"][0]["passed"]' \
    $learn list --json
# Week 1 is complete: at least this many exercises a day, and a kata for each
json week1 '[day for day, least in
    (("day1_baseline", 3), ("day2_same_on_gpu", 2), ("day3_how_gpus_work", 2), ("day4_first_kernel", 2),
     ("day5_naive_matmul", 2), ("day6_tiling", 2), ("day7_fast_memory", 3))
    if [sum(not e["kata"] for e in l["exercises"]) >= least and any(e["kata"] for e in l["exercises"])
        for l in r if l["id"] == "week1/" + day] != [True]] == []' $learn list --json
# Its milestone: 2 m n k operations at 500 GFLOP/s or more, by the model
cp "$course/week1/day7_fast_memory/fast_matmul/solution.cu" mine/week1/day7_fast_memory/
mv mine/week1/day7_fast_memory/solution.cu mine/week1/day7_fast_memory/fast_matmul.cu
json milestone 'r["passed"] and 2 * 256 * 256 * 64 / r["time_us"] / 1e3 >= 500' \
    $learn check fast_matmul --json

# Katas: today's, on an empty page; they move nobody and finish nothing
$learn start row_walk >/dev/null
json kata 'r["kata"] and r["file"].startswith("'"$work"'/mine/kata/2") and not r["passed"]' \
    $learn kata --json
json kata-again 'r["kata"]' $learn kata --json
expect kata-named 0 'write +mine/kata/[0-9-]+_turn16.cu.*learn check turn16' $learn kata turn16
expect kata-none 2 'add is not a kata' $learn kata add
expect kata-given 1 'kata/[0-9-]+_turn16.cu: wrong result' $learn check turn16
cp "$course/week1/day7_fast_memory/turn16/solution.cu" mine/kata/*_turn16.cu
expect kata-kept 0 'turn16' $learn kata turn16
expect kata-solved 0 'passed' $learn check turn16
expect kata-in-c 0 'kata/[0-9-]+_dot.c' $learn kata dot
# A variable, and even a parameter, may have the function's own name
sed 's/\bsum\b/dot/g' "$course/week1/day1_baseline/dot/solution.c" >dot.c
expect c-own-name 0 'passed' $learn check dot --file dot.c
sed 's/\bs\b/dot/g' "$course/week1/day1_baseline/dot/solution.c" >dot.c
expect c-own-parameter 0 'passed' $learn check dot --file dot.c
sed 's/int n)/imt n)/' "$course/week1/day1_baseline/dot/solution.c" >dot.c
expect c-parameters 1 "dot.c:2:[0-9]+: error: unknown type name 'imt'[^<]*1 error generated. *\$" \
    $learn check dot --file dot.c
json kata-moves-nobody 'r["exercise"] == "week1/day7_fast_memory/row_walk"' $learn --json
expect kata-list 0 'katas .*done +turn16' $learn list
expect kata-not-counted 0 '3 of [0-9]+ exercises' $learn progress
[ -z "$(find mine/week1 -name 'turn16*')" ] && echo "ok kata-apart" || echo "not ok kata-apart"
echo 'no database at all, just a line of text that somebody wrote into the wrong file' >text.db
expect progress-alien 2 'text.db: .*not a database' env LOCKSTEP_PROGRESS="$work/text.db" $learn list
expect progress-unwritable 2 'LOCKSTEP_PROGRESS names another file' \
    env LOCKSTEP_PROGRESS=/proc/none/p.db $learn list
expect progress-homeless 2 'no home folder' env -u XDG_DATA_HOME -u HOME $learn list

# Before the weeks: listed first, begun with only where 'ready' says so
json preflight-first 'r[0]["id"].startswith("preflight/day1") and
    [l["id"].split("/")[0] for l in r].index("week1") == 7' $learn list --json
json preflight-name 'r["lesson"].startswith("preflight/day4")' $learn quiz preflight/day4 --json
fresh="env LOCKSTEP_PROGRESS=$work/fresh.db $learn"
json ready-questions 'r["ready"] and len(r["quiz"]) == 8 and "answer" not in r["quiz"][0] and
    [f for f in r["findings"] if f["name"] == "simulated GPU"][0]["found"].startswith("sim:h200: ")' \
    $fresh ready --json
expect ready-no-terminal 0 'simulated GPU +sim:h200: .* graded in [0-9.]+ s.*can be done here.*8 questions' $fresh ready
json ready-all-right 'r["quiz"]["right"] == 8 and r["start"].startswith("week1/") and not r["quiz"]["missed"]' \
    $fresh ready --answer 2,4,1,3,2,4,3,1 --json
json ready-week '"week1/" in r["exercise"]' $fresh --folder mine --json
rm fresh.db
expect ready-missed 0 'no\. n.2 sums.*7 of 8 right.*look first: FLOPs and bytes.*Begin with preflight/day2.*learn init' \
    $fresh ready --answer 2,1,1,3,2,4,3,1
json ready-begins 'r["exercise"].startswith("preflight/day2")' $fresh --folder mine --json
json ready-short 'r["quiz"]["answered"] == 1 and r["start"].startswith("preflight/day2")' \
    $fresh ready --answer 2 --json
expect ready-many 2 'and more answers' $fresh ready --answer 1,1,1,1,1,1,1,1,1
expect ready-bad 2 'whole number' $fresh ready --answer one
expect ready-no-compiler 1 'missing +clang.*needed by exercises.*apt-get install clang.*cannot be done here yet' \
    env PATH="$work/empty" NVCC=none LOCKSTEP_PROGRESS="$work/fresh.db" $learn ready
cp -r "$course" unready
sed -i 's|preflight/day7_tools|preflight/day8|' unready/ready.json
expect ready-unsound 2 "ready.json: .7..lesson: the course has no lesson 'preflight/day8'" \
    env LOCKSTEP_COURSE="$work/unready" $learn ready
rm unready/ready.json
expect ready-none 2 'ready.json: No such file' env LOCKSTEP_COURSE="$work/unready" $learn ready

# strides: a predictor that needs no course
expect strides 0 'permute 2,0,1 +shape \(4, 2, 3\) +strides \(1, 12, 4\) +not contiguous +view: .*reshape 6,4 +shape \(6, 4\) +strides \(4, 1\) +contiguous +copy: .*2 x 12 = 24 is needed, and the stride is 1' \
    $learn strides 2,3,4 permute 2,0,1 reshape 6,4
json strides-json 'r["copies"] == 0 and r["steps"][1]["offset"] == 6 and r["steps"][2]["shape"] == [4, 3]
    and r["steps"][2]["how"] == "view" and not r["steps"][1]["contiguous"]' \
    $learn strides 4,6 slice 1:,:4 permute -1,0 --json
expect strides-refused 1 'no view: .*reshape\(\) would copy' $learn strides 4,6 transpose 0,1 view 24
expect strides-no-shape 2 'needs a shape.*usage' $learn strides
expect strides-bad-shape 2 "'2,x': whole numbers" $learn strides 2,x
expect strides-bad-word 2 "no operation 'rotate'" $learn strides 2,3 rotate 1
expect strides-bad-fit 2 'does not fit: there are 6' $learn strides 2,3 reshape 4
expect strides-no-value 2 'reshape needs a value' $learn strides 2,3 reshape
