#!/bin/sh
# The course in Python: exercises as Triton kernels, and with NumPy and CuPy in the first three days.
# Solutions pass, wrong kernels get their verdicts, a learner changes the language, and a file that is more
# than an exercise is refused before it runs. Where a package is missing, what says so is tested. No times are
# compared. Four days are graded here, every day with LOCKSTEP_TEST_ALL=yes (make test-python-course).
set -u
root=$(pwd)
. "$root/tests/expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# with PACKAGE CLIENT...: a Python that has it: LOCKSTEP_PYTHON, python3, or one of scripts/get-clients
with() {
    package=$1
    shift
    for each in "${LOCKSTEP_PYTHON:-python3}" python3 $(for name; do
        "$root/scripts/get-clients" --find "$name" | sed 's|$|/bin/python|'
    done); do
        "$each" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$package') is None)" 2>/dev/null &&
            echo "$each" && return
    done
}
triton=$(with triton triton torch) numpy=$(with numpy cupy torch) cupy=$(with cupy cupy)
export HOME="$work/home" XDG_DATA_HOME="$work/data"
unset LOCKSTEP_PROGRESS LOCKSTEP_COURSE LOCKSTEP_GPU LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT LOCKSTEP_PROFILE \
    LOCKSTEP_CHECK LOCKSTEP_TRACE LD_LIBRARY_PATH VIRTUAL_ENV
mkdir -p "$HOME"
cd "$work" || exit 1
learn="$LOCKSTEP learn"
day4=$root/course/week1/day4_first_kernel

# The choice
expect language 0 'C and CUDA C' $learn language
expect language-unknown 2 'in c or python, not .fortran' $learn language fortran
$learn init mine >/dev/null
expect language-python 0 'NAME.py' $learn language python
expect language-files 0 'add.cu add.py' ls mine/week1/day4_first_kernel
expect language-start 0 'day4_first_kernel/add.py' $learn start add
expect language-json 0 '"language": "python"' $learn language --json
expect language-words 0 'beside mine/python.md' $learn start add
expect language-aside 0 'coalesced +the same product, with lanes that walk along the rows \(in CUDA C\)' $learn list
expect language-words-file 0 'tl.program_id' cat mine/python.md

# python.json with mistakes
cp -r "$root/course" weak
wrong_field() { # NAME PATTERN FIELD VALUE: of matvec
    python3 - "$3" "$4" <<PY
import json, sys
path = "weak/week1/day2_same_on_gpu/python.json"
whole = json.load(open("$root/course/week1/day2_same_on_gpu/python.json"))
whole["matvec"][sys.argv[1]] = json.loads(sys.argv[2])
json.dump(whole, open(path, "w"))
PY
    expect "field-$1" 2 "python.json: .matvec.$2" env LOCKSTEP_COURSE="$work/weak" $learn list
}
wrong_field runs 'runs: must be "numpy" or "cupy"' runs '"torch"'
wrong_field grid 'runs: a function that is called has no grid and no totals' grid '["m"]'
wrong_field output "arguments: 'y' is what the function returns" arguments '["a", "x", "y"]'
wrong_field counter "limits.0..counter: there is no counter 'lines'" limits '[{"counter": "lines", "most": 1}]'

# No Triton, no Python
python3 -m venv --without-pip "$work/bare" >/dev/null 2>&1
if [ -x "$work/bare/bin/python" ]; then
    expect no-triton 1 'nothing could be graded.*Triton is not installed for .*pip install triton' \
        env LOCKSTEP_PYTHON="$work/bare/bin/python" $learn check add
    expect no-numpy 1 'nothing could be graded.*numpy is not installed for .*pip install numpy. gets it' \
        env LOCKSTEP_PYTHON="$work/bare/bin/python" $learn check cost
    expect no-cupy 1 "nothing could be graded.*cupy is not installed for .*pip install 'cupy-cuda13x\[ctk\]" \
        env LOCKSTEP_PYTHON="$work/bare/bin/python" $learn check matvec
else
    skip no-triton "python3 has no venv"
fi

expect not-in-python 2 'median is not given in Python: its file is median.c' \
    $learn check median --file mine/week1/day4_first_kernel/add.py

# NumPy: the file runs, so what it may do is looked at first
refuse_function() { # NAME PATTERN, and what stands in the function dot; the rest comes before it
    { printf 'import numpy as np\n%s\n\ndef dot(x, y):\n' "${3:-}"; cat; } >"$1.py"
    expect "function-$1" 1 "$2" env LOCKSTEP_PYTHON="$numpy" $learn check dot --seconds 3 --file "$1.py"
}
if [ -n "$numpy" ]; then
    refuse_function import 'import.py:2:1: error: this exercise imports math, numpy and nothing else, not os' \
        'import os' <<PY
    return os.getcwd()
PY
    refuse_function file "file.py:5:5: error: 'open' is not for exercises: no files, no programs" <<PY
    open("$work/ran", "w")
PY
    refuse_function numpy-file "'save' is not for exercises" <<PY
    np.save("$work/ran", x)
PY
    refuse_function runs 'only imports, constants and functions: the grader calls dot itself' 'print(1)' <<PY
    return 0
PY
    refuse_function syntax 'syntax.py:5:[0-9]+: error: invalid syntax' <<PY
    return = 1
PY
    refuse_function raises 'raises.py:5: for n=1000: IndexError: index 1000 is out of bounds' <<PY
    return x[len(x)]
PY
    refuse_function endless 'does not run to its end.*the function was stopped after 3 seconds: is there an endless' <<PY
    while True:
        pass
PY
    refuse_function nothing 'the function returns nothing: is there a .return' <<PY
    np.dot(x, y)
PY
    refuse_function constant 'wrong result for n=1000: s\[0\] must be ' <<PY
    return 1
PY
    expect nothing-ran-there 2 'No such file' ls "$work/ran"
fi

# CuPy: a result that the CPU has computed, sent to the GPU and back
refuse_cupy() { # EXERCISE NAME, and the file's text
    { printf 'import cupy as cp\n'; cat; } >"$2.py"
    expect "cupy-$1-$2" 1 "$2.py:3: for [^:]*: this copies something to the GPU that is not an input" \
        env LOCKSTEP_PYTHON="$cupy" $learn check "$1" --file "$2.py"
}
if [ -n "$cupy" ]; then
    refuse_cupy matvec there_and_back <<PY
def matvec(a, x):
    return cp.asnumpy(cp.asarray(a @ x) + 0 * cp.asarray(a)[:, 0])
PY
    refuse_cupy reverse turned_before <<PY
def reverse(x):
    return cp.asnumpy(cp.asarray(x[::-1]))
PY
    refuse_cupy scale in_place <<PY
def scale(alpha, x):
    x *= alpha; y = cp.asarray(x)
    return cp.asnumpy(y)
PY
fi

# tests/learn/gaming/python/EXERCISE.HOW.py try to pass without doing what the exercise asks, and begin with
# "# expect: REGEX"; those of honest/python do it in another way than the solution.
for file in "$root"/tests/learn/gaming/python/*.py "$root"/tests/learn/honest/python/*.py; do
    case $(grep -E '^(import|from) (cupy|triton)' "$file") in
    *cupy*) python=$cupy kind=cupy ;;
    *triton*) python=$triton kind=triton ;;
    *) python=$numpy kind=numpy ;;
    esac
    name=$(basename "$file" .py) words=$(sed -n '1s,^# expect: ,,p' "$file")
    [ -n "$python" ] || skip "gaming-$name" "there is no $kind: scripts/get-clients $kind"
    [ -z "$python" ] || LOCKSTEP_PYTHON=$python expect "gaming-$name" $([ -n "$words" ]; echo $((1 - $?))) \
        "${words:-passed}" $learn check "${name%%.*}" --file "$file" --seed 1 --seconds 100
done

# Every exercise of the days that run here
days() { # PYTHON NAME DAY...
    python=$1 kind=$2
    shift 2
    for day; do
        [ -z "$python" ] || LOCKSTEP_PYTHON=$python expect "$kind-$day" 0 '(^| )0 things to fix' \
            $learn check-course "$day" --python
        [ -n "$python" ] || skip "$kind-$day" "there is no $kind: scripts/get-clients $kind"
    done
}
days "$numpy" numpy week1/day1
days "$cupy" cupy week1/day2 ${LOCKSTEP_TEST_ALL:+week1/day3}
if [ -n "${LOCKSTEP_TEST_ALL:-}" ]; then
    (cd "$root/course" && printf '%s\n' week*/day*) | grep -v '^week1/day[123]_' >"$work/days.txt"
else
    printf '%s\n' week1/day4 week3/day7 >"$work/days.txt"
fi
# shellcheck disable=SC2046 # a word for each day
days "$triton" triton $(cat "$work/days.txt")

[ -n "$triton" ] || exit 0
export LOCKSTEP_PYTHON="$triton"

# A learner's day, and another
expect python-given 1 'add.py:[0-9]+: out of bounds' $learn check add
cp "$day4/add/solution.py" mine/week1/day4_first_kernel/add.py
expect python-passes 0 'passed: right on all' $learn check add
$learn language c >/dev/null
expect solved-in-both 0 'solved add' $learn list
expect file-says-language 0 'passed: right on all' $learn check add --file "$day4/add/solution.py"

# Files that are not a kernel; none of them runs
refuse() { # NAME PATTERN, and the file's text
    cat >"$1.py"
    expect "refused-$1" 1 "$2" $learn check add --file "$1.py"
}
head='import triton
import triton.language as tl
BLOCK = 1024
@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):'
refuse top 'top.py:1:1: error: there is no os in a kernel' <<PY
import os
PY
refuse run 'run.py:6:1: error: only imports of triton' <<PY
$head pass
open("$work/ran", "w")
PY
refuse module 'module.py:6:5: error: tl.core.os.*not for kernels' <<PY
$head
    tl.core.os.system("touch $work/ran")
PY
refuse alias 'alias.py:6:9: error: a module is not a value' <<PY
$head
    x = tl
PY
refuse builtin "there is no '__import__' in a kernel" <<PY
$head
    __import__("os").system("touch $work/ran")
PY
refuse decorator 'decorator.py:[0-9]+:[0-9]+: error: a function here is a kernel' <<PY
import triton
@triton.autotune(configs=[], key=[])
@triton.jit
def add(a): pass
PY
refuse syntax 'syntax.py:6:[0-9]+: error: invalid syntax' <<PY
$head
    i = = 2
PY
refuse name 'name.py:6:9: error: q is not defined' <<PY
$head
    i = q
PY
refuse near "tl.aranger: there is no 'aranger'; did you mean 'arange'" <<PY
$head
    i = tl.aranger(0, BLOCK)
PY
refuse indexed "indexed.py:6:5: error: 'c' is an address, not an array: tl.load\(c \+ ..\) reads there" <<PY
$head
    c[0] = 1
PY
refuse asks "asks.py:7:5: error: this asks many elements at once, and an 'if' takes one answer: use mask=" <<PY
$head
    i = tl.arange(0, BLOCK)
    if i < n:
        tl.store(c + i, 0)
PY
refuse endless 'endless.py: (for n=1000: the kernel does not end: it was stopped|the kernel was stopped after 20 seconds)' <<PY
$head
    i = tl.arange(0, BLOCK)
    k = 0
    while k < n:
        tl.store(c + i, 0.0, mask=i < n)
PY
refuse zeros 'wrong result for n=4194304, whose time is modelled: c' <<PY
$head
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if n > 1000000:
        tl.store(c + i, 0.0, mask=i < n)
    else:
        tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)
PY
refuse parameters 'called with \(a, b, c, int n\)' <<PY
import triton
@triton.jit
def add(a, b): pass
PY
refuse none 'there is no kernel .add. in the file' <<PY
import triton
PY
expect nothing-ran 2 'No such file' ls "$work/ran"
