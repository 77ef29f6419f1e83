"""Plays a learner at a terminal for run_hostile.sh: starts 'lockstep learn' on a pseudo terminal,
saves, deletes and renames files, presses keys, and prints "ok NAME" or "not ok NAME" lines.

    terminal.py LOCKSTEP FOLDER SOLUTION     FOLDER is the learner's, SOLUTION a right add.cu
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time

LOCKSTEP, FOLDER, SOLUTION = sys.argv[1:4]
FILE = FOLDER + "/week1/day4_first_kernel/add.cu"
PATIENCE = 60  # seconds: a busy machine is no failure
LONG = """__global__ void add(const float *a, const float *b, float *c, int n)
{
    volatile int x = 0;
    for (int i = 0; i < 20000; i++)
        x = x + 1;
    c[0] = x;
}
"""


class Learner:
    def __init__(self, columns=80):
        self.seen = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execv(LOCKSTEP, [LOCKSTEP, "learn", "--seconds", "100"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def sees(self, pattern, seconds=PATIENCE):
        """Waits until what came since the last match matches; forgets all up to it."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.seen, re.S)
            if found:
                self.seen = self.seen[found.end():]
                return True
            if time.monotonic() > end:
                return False
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:  # it has ended
                    return bool(re.search(pattern, self.seen, re.S))

    def press(self, key):
        os.write(self.terminal, key.encode())

    def ends(self, seconds=PATIENCE):
        """Its exit status; None if it goes on."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.sees("$.^", 0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.terminal)
                return os.waitstatus_to_exitcode(status)
        return None

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def tell(name, fine, learner=None):
    seen = learner.seen[-600:] if learner else ""
    print("ok " + name if fine else "not ok %s: %r" % (name, seen))
    sys.stdout.flush()


def save(text):
    with open(FILE, "w") as file:
        file.write(text)


def workers():
    """Graded kernels that run now, of this folder's lessons."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open("/proc/%s/cmdline" % pid, "rb").read().split(b"\0")
        except OSError:
            continue
        if b"grade-worker" in words and os.environ["LOCKSTEP_COURSE"].encode() in b" ".join(words):
            found.append(pid)
    return found


def waits_for(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


KEYS = "q quit  or save the file"
right = open(SOLUTION).read()

one = Learner()
fine = one.sees("broken on purpose.*not right yet.*0 of [0-9]+ exercises.*" + KEYS)
tell("first-screen", fine, one)
save(right)
tell("save", one.sees("passed.*Solved.*1 of [0-9]+.*" + KEYS), one)
os.remove(FILE)
tell("deleted", one.sees("add.cu is gone.*reset add.*" + KEYS), one)
save(right)
tell("comes-back", one.sees("passed.*" + KEYS), one)
# As editors do that keep a copy: the old file is put aside, then the new one is written.
os.rename(FILE, FILE + "~")
save(right)
fine = one.sees("passed.*" + KEYS)
tell("backup", fine and "gone" not in one.seen, one)
with open(FILE + ".new", "w") as file:
    file.write(right.replace("i < n", "i <= n"))
os.rename(FILE + ".new", FILE)
tell("renamed", one.sees("out of bounds.*" + KEYS), one)

# Two at once: one save, two verdicts.
two = Learner()
tell("second", two.sees("out of bounds.*" + KEYS), two)
save(right)
tell("two-watchers", one.sees("passed.*" + KEYS) and two.sees("passed.*" + KEYS), two)
two.press("q")
tell("quit", two.sees("Until next time") and two.ends() == 0, two)

# A kernel that takes long: Ctrl-C ends both at once.
save(LONG)
fine = waits_for(workers)
one.press("\x03")
tell("interrupt", fine and one.sees("Until next time", 10) and one.ends(10) == 0, one)
tell("interrupt-worker", waits_for(lambda: not workers(), 10))

# Nobody is left behind when the terminal's program is killed.
one = Learner()
fine = waits_for(workers)
one.kill()
tell("killed", fine and waits_for(lambda: not workers(), 10))

save(right)
narrow = Learner(60)
fine = narrow.sees("passed.*" + KEYS)
narrow.press("l")
fine = fine and narrow.sees("day4.*" + KEYS)
tell("narrow", fine, narrow)
shutil.copytree(FOLDER, FOLDER + ".away")
shutil.rmtree(FOLDER)
fine = narrow.sees("add.cu is gone; '[^ ]*lockstep learn' lays") and narrow.ends() == 2
tell("folder-gone", fine, narrow)
shutil.move(FOLDER + ".away", FOLDER)
