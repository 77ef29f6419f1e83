"""Interactives and quizzes of lockstep.widgets, and the package as pip installs it. A stand-in for
ipywidgets is enough: what is tested is what a click does.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

from common import expect

from lockstep.command import Trouble
from lockstep.magic import Magic
from lockstep.widgets import interactive, quiz

ROOT = Path(__file__).resolve().parents[2]


def pictures():
    text = interactive("coalescing", stride=8)._repr_html_()
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', text)[1])
    expect("widget settings", 'lockstepSettings = "?embed=1&stride=8"' in page, page[:300])
    expect("widget is whole", " src=" not in re.sub(r"<(script|style)>.*?</\1>", "", page,
                                                    flags=re.DOTALL) and
           "@import" not in page and "lockstepSite" in page and "--accent" in page, page[:300])
    shown = Magic().line_or_cell("interactive banks padding=1")
    expect("magic interactive", repr(shown) == "interactive('banks', padding='1')", repr(shown))
    try:
        interactive("nothing")
        expect("unknown interactive", False, "no word")
    except Trouble as trouble:
        expect("unknown interactive", "banks, coalescing" in str(trouble), str(trouble))


class Widget:
    """As much of ipywidgets as the quiz uses."""

    def __init__(self, children=(), value="", **words):
        self.children, self.value, self.words, self.seen = children, value, words, []

    def observe(self, function, names):
        self.seen.append(function)

    def choose(self, value):
        for function in self.seen:
            function({"new": value})


class Html(Widget):
    def __init__(self, value=""):
        super().__init__(value=value)


def questions():
    sys.modules["ipywidgets"] = types.SimpleNamespace(VBox=Widget, RadioButtons=Widget, HTML=Html)
    box = quiz("day4_first_kernel")
    title, choices, why = box.children[0].children
    expect("quiz question", title.value.startswith("<b>1. "), title.value)
    said = []
    for _, number in choices.words["options"]:
        choices.choose(number)
        said.append(why.value.split(" ")[0])
    expect("quiz answers", sorted(said) == ["<b>No.</b>"] * (len(said) - 1) + ["<b>Right.</b>"], said)


def installed():
    """From a copy: pip writes beside the sources."""
    with tempfile.TemporaryDirectory() as folder:
        copy, target = Path(folder) / "python", Path(folder) / "target"
        shutil.copytree(ROOT / "python", copy, ignore=shutil.ignore_patterns("__pycache__"))
        if subprocess.run([sys.executable, "-c", "import pip, setuptools, wheel"],
                          capture_output=True).returncode:
            print("skip pip install: there is no pip, setuptools or wheel, and no network for them")
            return
        environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-build-isolation", "-q",
                               "--no-deps", "--target", str(target), str(copy)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
        expect("pip install", done.returncode == 0, done.stdout[-600:])
        files = {each.name for each in (target / "lockstep").glob("*.py")}
        expect("pip installs all", files == {each.name for each in
                                             (ROOT / "python/lockstep").glob("*.py")}, sorted(files))
        call = subprocess.run([sys.executable, "-c", "import lockstep, lockstep.widgets; "
                               "print(lockstep.__file__)"], cwd="/", text=True,
                              env={**environment, "PYTHONPATH": str(target)}, capture_output=True)
        expect("pip package imports", str(target) in call.stdout, call.stderr[-600:])


pictures()
questions()
installed()
