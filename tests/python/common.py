"""What the tests of notebooks share: their one way to say that something holds."""

import json
import os
import subprocess

LOCKSTEP = os.environ["LOCKSTEP"]


def expect(name, holds, got=""):
    """Prints "ok NAME", or "not ok NAME: got"."""
    print(f"ok {name}" if holds else f"not ok {name}: {str(got)[:2000]!r}", flush=True)


def learn(*words):
    """What `lockstep learn WORDS --json` prints."""
    done = subprocess.run([LOCKSTEP, "learn", *words, "--json"], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)
