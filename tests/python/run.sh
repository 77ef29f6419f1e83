#!/bin/bash
# 'lockstep learn notebooks' and the magic of python/lockstep. Every third lesson's notebook is executed, and a
# few of those in Python (all with 'make test-python-course'; tests/learn grades the exercises themselves):
# by Jupyter where it is installed (Debian: python3-nbclient python3-ipykernel), else without it.
# shellcheck disable=SC1091,SC2034,SC2154
set -u
root=$(pwd)
. tests/expect.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home=$HOME # where scripts/get-clients has its cache
export HOME="$work/home" XDG_DATA_HOME="$work/data" TMPDIR="$work/tmp"
export PYTHONDONTWRITEBYTECODE=1 PYDEVD_DISABLE_FILE_VALIDATION=1
export PYTHONPATH="$root/python:$root/tests/python"
unset LOCKSTEP_PROGRESS LOCKSTEP_COURSE LOCKSTEP_GPU LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT \
    LOCKSTEP_PROFILE LOCKSTEP_CHECK LOCKSTEP_TRACE LD_LIBRARY_PATH JUPYTER_PATH IPYTHONDIR
mkdir -p "$HOME" "$TMPDIR"
python=python3
for each in python3 /usr/bin/python3; do
    "$each" -c 'import nbclient, ipykernel, nbformat' 2>/dev/null && python=$each && break
done
cd "$work" || exit 1
small=$root/tests/python/course
learn() { "$LOCKSTEP" learn "$@"; }

# Files: what a learner changed or ran is his
notebooks() { LOCKSTEP_COURSE=$small learn notebooks "$@"; }
day=mine/week1/day1_small.ipynb
expect needs-folder 2 'notebooks needs a folder' notebooks
expect in-course 2 'is the course itself' notebooks "$small/week1"
expect unwritable 2 '/proc/' notebooks /proc/none
expect written 0 "1 notebook written below mine Next:  PYTHONPATH=$root/python jupyter lab mine" \
    notebooks mine
cp $day first.ipynb
expect written-again 0 '0 notebooks written' notebooks mine
expect untouched-anew 0 '1 notebook written' notebooks mine --solutions
expect untouched-back 0 '1 notebook written' notebooks mine
cmp -s $day first.ipynb && echo "ok same-bytes" || echo "not ok same-bytes"
sed -i 's/3 \* x/4 * x/' $day
cp $day changed.ipynb
expect changed-refused 1 "$day: you have changed or run it, so it stays" notebooks mine
expect changed-refused-json 1 '"kept": \[ *"mine/week1/day1_small.ipynb"' notebooks mine --json
cmp -s $day changed.ipynb && echo "ok changed-stays" || echo "not ok changed-stays"
expect changed-forced 0 "was written again; yours is mine/week1/day1_small.1.ipynb" \
    notebooks mine --force
cmp -s $day first.ipynb && cmp -s mine/week1/day1_small.1.ipynb changed.ipynb &&
    echo "ok forced-keeps" || echo "not ok forced-keeps: $(ls mine/week1)"
echo 'my own notes' >$day
expect alien-refused 1 'stays as it is' notebooks mine
expect alien-forced 0 'yours is mine/week1/day1_small.2.ipynb' notebooks mine --force
expect force-elsewhere 2 "--force goes with 'notebooks'" learn list --force
cp -r "$small" latin && printf '\351' >>latin/week1/day1_small/lesson.md
expect not-utf8 2 'lesson.md: is not UTF-8' \
    env LOCKSTEP_COURSE="$work/latin" "$LOCKSTEP" learn notebooks other

# --file and one answer
expect file 0 'passed: right on all 10 sizes' \
    learn check add --file "$root/course/week1/day4_first_kernel/add/solution.cu"
expect file-place-stays 2 'learn init DIR' learn check
expect file-picture 0 'load of global memory' \
    learn picture add --file "$root/course/week1/day4_first_kernel/add/solution.cu"
expect file-none 2 'none.cu: No such file' learn check add --file none.cu
expect run-elsewhere 2 "--run goes with 'check --json'" learn check add --run
expect file-elsewhere 2 "--file goes with 'check' and 'picture'" learn reset add --file none.cu
expect one-answer 0 '"question": 2.*"right": true' learn quiz day4 --answer 2:2 --json
expect one-answer-wrong 1 '1 of 2 right' learn quiz day4 --answer 2:1,3
expect one-answer-none 2 'whole number from 1 to 4' learn quiz day4 --answer 9:1
expect one-answer-zero 2 "a question takes a whole number from 1 to 4, not '0'" learn quiz day4 --answer 0:1

"$python" "$root/tests/python/check_links.py" || echo "not ok links end early"
"$python" "$root/tests/python/check_picture.py" || echo "not ok picture ends early"
"$python" "$root/tests/python/check_magic.py" || echo "not ok magic ends early"
"$python" "$root/tests/python/check_widgets.py" || echo "not ok widgets end early"
"$python" "$root/tests/python/check_notebooks.py" "$small" small || echo "not ok small ends early"
all=${LOCKSTEP_TEST_ALL:-}
mapfile -t days < <(cd "$root/course" && printf '%s\n' */day* | awk -v all="$all" 'all || NR % 6 == 1')
"$python" "$root/tests/python/check_notebooks.py" "$root/course" course c "${days[@]}" ||
    echo "not ok course ends early"

# The same in Python, where the packages are: a few days, or all with LOCKSTEP_TEST_ALL=yes
in_python() { # PACKAGE "CLIENT..." DAY...: with the first client that has it
    local package=$1 clients=$2 with each
    local -a pythons=("${LOCKSTEP_PYTHON:-python3}")
    shift 2
    for each in $clients; do
        pythons+=("$(HOME=$home "$root/scripts/get-clients" --find "$each")/bin/python")
    done
    for with in "${pythons[@]}"; do
        "$with" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$package') is None)" 2>/dev/null || continue
        LOCKSTEP_PYTHON=$with "$python" "$root/tests/python/check_notebooks.py" "$root/course" \
            "course-$package" python "$@" || echo "not ok course with $package ends early"
        return
    done
    skip "course-$package" "there is no $package: scripts/get-clients ${clients%% *}"
}
in_python numpy "cupy torch" week1/day1_baseline
in_python cupy cupy week1/day2_same_on_gpu ${all:+week1/day3_how_gpus_work}
if [ -n "$all" ]; then
    mapfile -t days < <(cd "$root/course" && printf '%s\n' week*/day* | grep -v '^week1/day[123]_')
else
    days=(week4/day5_kv_cache)
fi
in_python triton "triton torch" "${days[@]}"
