#!/bin/sh
# Mistakes in the solutions of the course are caught: in one day, of each exercise the
# first mutant of each kind (a barrier dropped, x and y swapped, off by one, no padding, = for +=,
# one thread for all). `make test-mutants` makes all of them, in every day.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_DATA_HOME="$work/data"
unset LOCKSTEP_PROGRESS LOCKSTEP_COURSE LOCKSTEP_GPU LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT \
    LOCKSTEP_PROFILE LOCKSTEP_CHECK LOCKSTEP_TRACE LD_LIBRARY_PATH
mkdir -p "$HOME"
learn="$LOCKSTEP learn"

for day in week2/day3; do
    $learn check-course "$day" --mutate-some >"$work/day.txt" 2>&1 ||
        echo "not ok mutations of $day (status $?): $(tail -n 1 "$work/day.txt")"
    cat "$work/day.txt" >>"$work/all.txt"
done
grep '^not ok' -A1 "$work/all.txt"
grep '^ok ' "$work/all.txt"

# The proof can fail: with weak sizes, with a false reason, with one for a place that no longer
# exists.
cp -r course "$work/weak"
lesson=$work/weak/week1/day4_first_kernel/lesson.json
python3 - "$lesson" <<'PY'
import json, sys
lesson = json.load(open(sys.argv[1]))
add = lesson["exercises"][0]
add["problem"]["sizes"] = ["n=256"]
add["problem"]["measured"] = "n=256"
add["limits"] = []
add["equivalent"] = {"4:13 blockIdx.x to blockIdx.y": "one block", "99:1 < to <=": "not there"}
json.dump(lesson, open(sys.argv[1], "w"))
PY
weak="env LOCKSTEP_COURSE=$work/weak $learn check-course day4 --mutate"
expect weak 1 'not ok [^ ]*add: solution.cu:99:1 < to <= +there is no such place.*not ok [^ ]*add: solution.cu:5:11 < to <= +this mistake passes.*[0-9]+ caught, 1 equivalent, [1-9][0-9]* survived' $weak
sed -i 's/"4:13 blockIdx.x to blockIdx.y"/"6:12 one further"/' "$lesson"
expect no-reason 1 'solution.cu:6:12 one further +"equivalent" says that this passes, and it does not \((wrong|check)\)' $weak
sed -i 's/"equivalent": {/"equivalent": {"1:1 x": "", /' "$lesson"
expect empty-reason 2 "equivalent.*'1:1 x' must have a sentence that says why" $weak
