#!/bin/sh
# The course in Python: exercises as Triton kernels. Solutions pass, wrong kernels get their verdicts, a
# learner changes the language, and a file that is more than a kernel is refused before it runs. Without
# Triton, what says so is tested. No times are compared.
set -u
root=$(pwd)
. "$root/tests/expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Triton of this Python, or of scripts/get-clients
triton=${LOCKSTEP_PYTHON:-python3}
if ! "$triton" -c 'import triton' 2>/dev/null; then
    triton=$("$root/scripts/get-clients" --find triton)/bin/python
fi
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

# No Triton, no Python
python3 -m venv --without-pip "$work/bare" >/dev/null 2>&1
if [ -x "$work/bare/bin/python" ]; then
    expect no-triton 1 'nothing could be graded.*Triton is not installed for .*pip install triton' \
        env LOCKSTEP_PYTHON="$work/bare/bin/python" $learn check add
else
    skip no-triton "python3 has no venv"
fi

if ! "$triton" -c 'import triton' 2>/dev/null; then
    skip python-exercises "there is no Triton: scripts/get-clients triton"
    exit 0
fi
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
refuse parameters 'called with \(a, b, c, int n\)' <<PY
import triton
@triton.jit
def add(a, b): pass
PY
refuse none 'there is no kernel .add. in the file' <<PY
import triton
PY
expect nothing-ran 2 'No such file' ls "$work/ran"

# Every exercise in Python
expect python-course 0 '(^| )0 things to fix' $learn check-course --python
