"""suite.py: part of a client's own tests on the machine, and their counts in one line.

    lockstep run suite.py numba                      the unittest cases in Numba's package
    lockstep run suite.py cupy FOLDER ... OPTIONS    tests that pytest collects there

EVERY=15 takes every 15th test, SUITE_SECONDS=600 stops after ten minutes (0: never). The tests run in a child
process: a kernel that faults ends its process's context, as on a GPU, so another child goes on after
that test, and likewise after a crash. Failures are printed at once, as `not ok TEST: why`; the last
line is `NAME: 12 passed, 1 failed, 2 skipped, 30 not run`. The exit status is 1 if a test failed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

# What a program does not recover from.
STICKY = re.compile(
    "(?i)illegal_?address|illegal memory access|illegal_?instruction|illegal instruction|misaligned_?address|"
    "misaligned address|launch_?failed|unspecified launch failure|launch_?timeout|device-side assert"
)


class Progress:
    """What a child tells of its tests, kept in a file that outlives the child."""

    def __init__(self):
        self.path = os.environ.get("SUITE_PROGRESS")
        self.first = int(os.environ.get("SUITE_FIRST", "0"))
        self.end = float(os.environ.get("SUITE_END", "inf"))
        self.seen = {"passed": 0, "failed": 0, "skipped": 0, "next": self.first, "total": 0, "test": None}
        self.lost = False

    def choose(self, tests):
        chosen = tests[:: int(os.environ.get("EVERY", "1"))]
        self.seen["total"] = len(chosen)
        self.write()
        return chosen[self.first :]

    def write(self):
        if self.path:
            with open(self.path, "w", encoding="utf-8") as file:
                json.dump(self.seen, file)

    def say(self, line):
        """To suite.py, past what pytest does to stdout."""
        if self.path:
            os.write(int(os.environ["SUITE_PIPE"]), (" ".join(line.split()) + "\n").encode())
        else:
            print(line, flush=True)

    def start(self, name):
        self.seen["test"] = name
        self.seen["next"] += 1
        self.write()

    def passed(self):
        self.seen["passed"] += 1
        self.done()

    def skipped(self):
        self.seen["skipped"] += 1
        self.done()

    def failed(self, name, why, details="", again=False):
        self.say(f"not ok {name}: {why[:200]}")
        self.lost = self.lost or bool(STICKY.search(why + details))
        if not again:
            self.seen["failed"] += 1
        self.done()

    def not_collected(self, name, why):
        self.say(f"not ok {name}: {why[:200]}")
        self.seen["failed"] += 1

    def done(self):
        self.seen["test"] = None
        self.write()

    def over(self):
        return self.lost or time.time() > self.end


def command(name, arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    if name == "numba":
        return [sys.executable, os.path.join(here, "numba_suite.py")]
    os.environ["PYTHONPATH"] = here + os.pathsep + os.environ.get("PYTHONPATH", "")
    options = ["--continue-on-collection-errors", "-q", "-W", "ignore", "--tb=short", "--show-capture=no", "--no-header", "-p", "no:cacheprovider"]
    # A checkout's own package, which is not built, would be found before the installed one.
    hidden = os.path.isdir(name) and sys.version_info >= (3, 11)
    if hidden:
        os.environ["SUITE_PACKAGE"] = name
    return [sys.executable, *(["-P"] if hidden else []), "-m", "pytest", "-p", "every", *options, *arguments]


def run_child(child, progress):
    """Prints the child's failures; returns what it has counted."""
    ours, theirs = os.pipe()
    os.environ["SUITE_PIPE"] = str(theirs)
    with open(progress + ".out", "w+", encoding="utf-8", errors="replace") as out:
        run = subprocess.Popen(child, stdin=subprocess.DEVNULL, stdout=out, stderr=out, pass_fds=[theirs])
        os.close(theirs)
        with open(ours, encoding="utf-8", errors="replace") as pipe:
            for line in pipe:
                print(line, end="", flush=True)
        run.wait()
        out.seek(0)
        last = ([line.strip() for line in out if line.strip()] or [""])[-1]
    try:
        with open(progress, encoding="utf-8") as file:
            seen = json.load(file)
        os.remove(progress)
    except FileNotFoundError:
        print(f"not ok nothing ran: {last[:200]}", flush=True)
        return {"passed": 0, "failed": 1, "skipped": 0, "next": 0, "total": 0, "test": None}
    if seen["test"]:  # it died in this one
        print(f"not ok {seen['test']}: the process ended with status {run.returncode}", flush=True)
        seen["failed"] += 1
    return seen


def main(name, arguments):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    seconds = float(os.environ.get("SUITE_SECONDS", "0"))
    end = time.time() + seconds if seconds else float("inf")
    first, total = 0, 1
    os.environ["SUITE_END"] = str(end)
    child = command(name, arguments)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SUITE_PROGRESS"] = progress = os.path.join(folder, "progress")
        while first < total and time.time() < end:
            os.environ["SUITE_FIRST"] = str(first)
            seen = run_child(child, progress)
            for key in counts:
                counts[key] += seen[key]
            if seen["next"] == first:
                break
            first, total = seen["next"], seen["total"]
    rest = f", {total - first} not run" if first < total else ""
    print(f"{name}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped{rest}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
