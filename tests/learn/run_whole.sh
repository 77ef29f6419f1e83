#!/bin/sh
# The whole course, as a learner goes through it: a fresh folder, every exercise in its order with our
# solution as the file, every quiz with its answers. In the end all is solved, and nothing is next. Without
# LOCKSTEP_TEST_ALL=yes (make test-course) it is week 2 alone.
set -u
. tests/expect.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" XDG_DATA_HOME="$work/data"
unset LOCKSTEP_PROGRESS LOCKSTEP_COURSE LOCKSTEP_GPU LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT \
    LOCKSTEP_PROFILE LOCKSTEP_CHECK LOCKSTEP_TRACE LOCKSTEP_SAMPLE
learn="$LOCKSTEP learn"
mine=$work/course
expect whole-init 0 '' $learn init "$mine"

python3 - >"$work/plan" <<'PY'
import json, os, pathlib
weeks = ["preflight", "week1", "week2", "week3", "week4"]
for week in weeks if os.environ.get("LOCKSTEP_TEST_ALL") else ["week2"]:
    for lesson in sorted(pathlib.Path("course", week).glob("day*")):
        plan = json.loads((lesson / "lesson.json").read_text())
        for exercise in plan["exercises"]:
            print("exercise", lesson.relative_to("course"), exercise["name"],
                  ("kata." if exercise.get("kata") else "") +
                  ("c" if exercise.get("language") == "c" else "cu"))
        if plan.get("quiz"):
            print("quiz", lesson.relative_to("course"),
                  ",".join(str(question["answer"]) for question in plan["quiz"]), "-")
PY
while read -r what lesson name kind; do
    if [ "$what" = quiz ]; then
        $learn quiz "$lesson" --answer "$name" >"$work/said" 2>&1 ||
            echo "not ok whole-quiz-$lesson: $(head -n 5 "$work/said")"
        continue
    fi
    solution=course/$lesson/$name/solution.${kind#kata.}
    if [ "$kind" = "${kind#kata.}" ]; then
        cp "$solution" "$mine/$lesson/$name.$kind"
    else # it gets today's date
        $learn reset "$name" >"$work/said" 2>&1
        cp "$solution" "$mine"/kata/*_"$name.${kind#kata.}"
    fi
    $learn check "$lesson/$name" >"$work/said" 2>&1 ||
        echo "not ok whole-$lesson/$name: $(head -n 5 "$work/said")"
done <"$work/plan"

$learn progress --json >"$work/progress.json"
python3 - "$work/progress.json" "$work/plan" <<'PY'
import json, os, sys
progress = json.load(open(sys.argv[1]))
plan = [line.split() for line in open(sys.argv[2])]
wanted = {f"{lesson}/{name}" for what, lesson, name, _ in plan if what == "exercise"}
solved = {row["exercise"] for row in progress["exercises"] if row["passed"]}
once = all(row["attempts"] == 1 for row in progress["exercises"] if row["exercise"] in wanted)
for name, right in (("whole-solved", wanted == solved), ("whole-at-once", once),
                    ("whole-nothing-next", bool(progress.get("next")) != bool(os.environ.get("LOCKSTEP_TEST_ALL")))):
    print(f"ok {name}" if right else f"not ok {name}: missing {sorted(wanted - solved)[:5]}, "
          f"next {progress.get('next')}")
PY
