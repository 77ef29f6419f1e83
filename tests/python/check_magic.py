"""The magic: what cells show, and that errors are shown as messages, not as tracebacks."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from common import expect
from lockstep.magic import Magic

ROOT = Path(__file__).resolve().parents[2]
ADD = ROOT / "course/week1/day4_first_kernel/add"
magic = Magic()


def cell(line, text=None):
    """The result's text and HTML, and what was printed."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        result = magic.line_or_cell(line, text)
    if result is None:
        return "", "", out.getvalue()
    return repr(result), result._repr_html_(), out.getvalue()


def check_exercises():
    solution, given = (ADD / "solution.cu").read_text(), (ADD / "exercise.cu").read_text()
    text, html, _ = cell("exercise week1/day4_first_kernel/add", solution)
    expect("magic passes", text.startswith("passed: right on all 10 sizes"), text)
    expect("magic counters", "load_sectors_per_request" in html and "at most 4" in html, html)
    expect("magic picture", "what the first warp touched" in text and "lanes 0-7" in text, text)
    expect("magic drawing", html.count("<svg") == 2 and "4 sectors of 32 bytes" in html, html)
    expect("magic short form", cell("add", solution)[0] == text, cell("add", solution)[0])
    expect("magic options", "passed" in cell("add --gpu sim:t4", solution)[0])
    text, html, _ = cell("add", given)
    expect("magic first wrong", "add.cu: wrong result for n=1000: c[256] must be" in text, text)
    text, html, _ = cell("add", solution.replace("b[i];", "b[i]"))
    wrong = next(i for i, line in enumerate(solution.splitlines(), 2) if "b[i];" in line)
    expect("magic compiler", f"add.cu:{wrong}:" in text and "error: expected ';'" in text, text)
    text, html, _ = cell("add", solution.replace("if (i < n)", "if (i < n && 1 <= n) // <u>&\n"
                                                 "        c[i + 1] = 0;\n    if (i < n)"))
    expect("magic shows the line", " |         c[i + 1] = 0;" in text, text)
    expect("magic escapes", "<u>" not in html, html)
    expect("magic no temporary path", magic.folder.name not in text + html, text)


def check_words():
    expect("magic unknown exercise", "did you mean 'saxpy'" in cell("sapxy", "int x;")[0])
    expect("magic odd name", "no lesson or exercise '../x y'" in cell("'../x y'", "int x;")[0])
    expect("magic which exercise", "which exercise?" in cell("exercise", "int x;")[0])
    expect("magic usage", "%%lockstep run" in cell("")[0])
    expect("magic not known", "'%lockstep ad' is not known" in cell("ad")[0])
    expect("magic bad option", "no option '--fast'" in cell("add --fast", "int x;")[0])
    expect("magic quote", "No closing quotation" in cell("add '", "int x;")[0])
    expect("magic hint", "hint 1 of 3, the concept" in cell("hint saxpy")[0])
    expect("magic hint again", "hint 2 of 3, the line" in cell("hint saxpy")[1])
    expect("magic quiz", cell("quiz day4 1 answer=3")[0].startswith("right. "))
    expect("magic quiz wrong", cell("quiz day4 1 2")[0].startswith("no. "))
    expect("magic quiz open", "To answer: %lockstep quiz week1/day4_first_kernel 2" in
           cell("quiz day4 2 answer=")[0])
    expect("magic quiz all", "4. " in cell("quiz day4")[0])
    expect("magic quiz far", "whole number from 1 to 4" in cell("quiz day4 9 answer=1")[0])
    expect("magic quiz odd", "the questions 1 to 4, not 'x'" in cell("quiz day4 x answer=")[0])


def check_programs():
    hello = '#include <stdio.h>\nint main(int n, char **v) { puts(v[n - 1]); return n - 2; }'
    text, _, printed = cell("run -- one", hello)
    expect("magic run", (text, printed) == ("", "one\n"), (text, printed))
    text, _, printed = cell("run -- one two", hello)
    expect("magic run fails", text == "lockstep run: it ended with status 1", text)
    text, _, printed = cell("run", hello.replace("puts", "put"))
    expect("magic run compiler", "cell.cu(3): error" in printed and "status 2" in text, printed)
    text, html, printed = cell("check", (ROOT / "tests/check/race_no_barrier.cu").read_text())
    expect("magic check", text.startswith("1 error\ncell.cu:6: race between warps"), text)
    expect("magic check line", "      6 |     tile[threadIdx.x] = a" in text, text)
    text, html, printed = cell("check", hello.replace("n - 2", "7"))
    expect("magic check status", text == "no errors; the program ended with status 7", text)
    text, *_ = cell("check", hello.replace("puts", "put"))
    expect("magic check compiler", "cell.cu(3): error" in text, text)
    text, html, printed = cell("profile", (ROOT / "tests/profile/uncoalesced.cu").read_text())
    expect("magic profile", "line 18: " in text and "32 sectors where 4 suffice" in text, text)
    expect("magic profile page", html.startswith("<iframe srcdoc=\"&lt;!DOCTYPE html"), html[:200])
    text, *_ = cell("profile -- x", hello)
    expect("magic profile nothing", text == "the program ran no kernel", text)


def check_interrupt():
    """An interrupted cell leaves no program behind."""
    def interrupt(signum, frame):
        raise KeyboardInterrupt
    mark = Path("started")
    sleeper = ('#include <stdio.h>\n#include <unistd.h>\nint main(int n, char **v) {\n'
               'FILE *f = fopen(v[1], "w"); fprintf(f, "%d", getpid()); fclose(f);\n'
               'puts("here"); fflush(stdout); for (;;) sleep(1); }')

    class Stop(StringIO):
        """Interrupts as soon as the program has printed."""

        def write(self, text):
            if "here" in text:
                os.kill(os.getpid(), signal.SIGINT)
            return super().write(text)

    signal.signal(signal.SIGINT, interrupt)
    try:
        with redirect_stdout(Stop()):
            magic.line_or_cell(f"run -- {mark}", sleeper)
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    alive = True
    for _ in range(50):
        alive = Path(f"/proc/{mark.read_text()}").exists()
        if not alive:
            break
        time.sleep(0.1)
    expect("magic interrupt", interrupted and not alive, (interrupted, alive))


def check_no_lockstep():
    """The package by itself, with no lockstep anywhere."""
    alone = Path("alone")
    shutil.copytree(ROOT / "python/lockstep", alone / "lockstep")
    script = "from lockstep.magic import Magic; print(Magic().line_or_cell('hint add'))"

    def say(**changes):
        environment = {**os.environ, "PYTHONPATH": str(alone), "PATH": str(alone), **changes}
        return subprocess.run([sys.executable, "-c", script], env=environment, check=False,
                              capture_output=True, text=True)
    for name, changes, wanted in (
            ("none", {"LOCKSTEP": ""}, "there is no program 'lockstep' here: build it"),
            ("named", {"LOCKSTEP": "/none/lockstep"}, "LOCKSTEP names /none/lockstep, and there is"),
            ("path", {"LOCKSTEP": "", "PATH": os.path.dirname(os.environ["LOCKSTEP"])}, "hint"),
            ("tree", {"LOCKSTEP": "", "PYTHONPATH": str(ROOT / "python")}, "hint")):
        if name == "tree" and not (ROOT / "build/lockstep").exists():
            continue
        done = say(**changes)
        expect(f"magic lockstep {name}", wanted in done.stdout and not done.stderr,
               done.stdout + done.stderr)


def check_version():
    header = (ROOT / "include/lockstep.h").read_text()
    version = header.split('#define LK_VERSION "')[1].split('"')[0]
    package = (ROOT / "python/pyproject.toml").read_text()
    expect("magic version", f'version = "{version}"' in package, version)


check_exercises()
check_words()
if subprocess.run([ROOT / "scripts/get-nvcc", "--find"], capture_output=True,
                  check=False).returncode == 0:
    check_programs()
    check_interrupt()
else:
    print("skip magic programs: there is no nvcc")
    print("skip magic interrupt: there is no nvcc")
check_no_lockstep()
check_version()
