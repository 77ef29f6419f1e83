"""The command `lockstep`: where it is, and how it is called.

What goes wrong is raised as Trouble, whose words are for the reader of the notebook.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path


class Trouble(Exception):
    """Told to the reader in place of a traceback."""


def find():
    """$LOCKSTEP, then PATH, then what this package lies in: a source tree or an installation."""
    asked = os.environ.get("LOCKSTEP")
    if asked:
        if shutil.which(asked):
            return asked
        raise Trouble(f"LOCKSTEP names {asked}, and there is no such program")
    above = Path(__file__).resolve().parents[2]  # the source tree, or share/lockstep
    for place in ("lockstep", above / "build/lockstep", above.parent.parent / "bin/lockstep"):
        if shutil.which(place):
            return shutil.which(place)
    raise Trouble("there is no program 'lockstep' here: build it with 'make', and put it on PATH "
                  "or set the environment variable LOCKSTEP to where it is")


def _start(words):
    """A process group of its own, so that an interrupted cell leaves nothing running."""
    try:
        # Exercises in Python use the packages of this Python.
        return subprocess.Popen([find(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                                env={"LOCKSTEP_PYTHON": sys.executable, **os.environ},
                                start_new_session=True)
    except OSError as error:
        raise Trouble(f"lockstep does not start: {error}") from None


def _stop(process):
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    process.wait()


def call(words):
    """Its exit status, stdout and stderr."""
    process = _start(words)
    try:
        out, err = process.communicate()
    except BaseException:  # an interrupt
        _stop(process)
        raise
    return process.returncode, out, err


def plain(words_on_stderr):
    """A message of lockstep's without its name in front."""
    lines = words_on_stderr.strip().splitlines()
    name = "lockstep: "
    return "\n".join(line[len(name):] if line.startswith(name) else line for line in lines)


def call_json(command, words=()):
    """What it prints with --json, what it says beside it, and its exit status. Words that may have
    a '--', with the program's own after it, go last. Trouble if it prints no JSON."""
    status, out, err = call([*command, "--json", *words])
    try:
        return json.loads(out), err, status
    except ValueError:
        said = plain(err) or out.strip()
        raise Trouble(said or f"lockstep ended with status {status}, without a word") from None


def stream(words, clean):
    """Passes on both outputs, line by line, as clean makes them; returns the exit status."""
    process = _start(words)

    def pass_on(source, to):
        for line in source:
            to.write(clean(line))
            to.flush()

    beside = threading.Thread(target=pass_on, args=(process.stderr, sys.stderr), daemon=True)
    beside.start()
    try:
        pass_on(process.stdout, sys.stdout)
        process.wait()
        beside.join()
    except BaseException:
        _stop(process)
        raise
    return process.returncode
