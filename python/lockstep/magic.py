"""The magic: reads a cell's first line, calls lockstep, gives back what is to be shown.

Nothing here needs IPython: Magic.line_or_cell can be called by any program.
"""

import os
import re
import shlex
import tempfile
from pathlib import Path

from .command import Trouble, call_json, find, stream
from .results import Answers, Findings, Hint, Message, Profile, Questions, Ready, Verdict
from .widgets import Interactive, clickable

USAGE = """\
%%lockstep exercise NAME     grade the cell as an exercise of the course; also %%lockstep NAME
%%lockstep run [-- ARGS]     compile and run a CUDA program
%%lockstep profile           the same, with counters and advice for each line
%%lockstep check             the same, looking for races and stray accesses
%lockstep hint NAME          the next hint
%lockstep quiz LESSON N answer=CHOICE
%lockstep ready [answer=2,4,..]     what this computer has, and where to begin
%lockstep interactive NAME [SETTING=VALUE ..]     a picture to move
Options of the command lockstep go on the first line: %%lockstep run -O3 --gpu sim:a100 -- 512"""


class Magic:
    """One for a session: keeps the folder that cells are compiled in."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lockstep-cells-")

    def close(self):
        self.folder.cleanup()

    def line_or_cell(self, line, cell=None):
        """`%lockstep line`, or `%%lockstep line` with a cell below it."""
        try:
            words = shlex.split(line)
            find()
            return self.dispatch(words, line, cell)
        except ValueError as error:  # of shlex: a quote that does not end
            return Message(f"{line}: {error}")
        except Trouble as trouble:
            return Message(self.shorten(str(trouble)))

    def dispatch(self, words, line, cell):
        word, rest = (words[0], words[1:]) if words else ("", [])
        if word in ("run", "profile", "check"):
            source = None if cell is None else f"// %%lockstep {line}\n{cell}"
            return getattr(self, word)(rest, source)
        if word in ("hint", "quiz", "interactive", "ready") and cell is None:
            return getattr(self, word)(rest)
        if not word or word.startswith("-") or cell is None:
            return Message(USAGE, ok=not word, headline="lockstep" if not word else
                           f"'%lockstep {line}' is not known")
        if word == "exercise":
            if not rest:
                raise Trouble("which exercise? as in: %%lockstep exercise add")
            word, rest = rest[0], rest[1:]
        return self.exercise(word, rest, line, cell)

    # Cells ---------------------------------------------------------------------------------------

    def write(self, name, source):
        path = Path(self.folder.name) / name
        try:
            path.write_text(source, encoding="utf-8")
        except OSError as error:
            raise Trouble(f"{path}: {error.strerror}") from None
        return str(path)

    def shorten(self, text):
        """The cell's file as the reader knows it; lockstep leaves the current folder out."""
        folder, here = self.folder.name + os.sep, os.getcwd() + os.sep
        text = text.replace(folder, "")
        return text.replace(folder[len(here):], "") if folder.startswith(here) else text

    def exercise(self, key, options, line, cell):
        # The first line of the cell stands in front, so that lines count as in the notebook.
        name = key.split("/")[-1]
        name = name if re.fullmatch(r"[a-z0-9_]+", name) else "cell"
        end = "py" if is_python(cell) else "c" if language(name) == {"c"} else "cu"
        source = f"{'#' if end == 'py' else '//'} %%lockstep {line}\n{cell}"
        name += "." + end
        path = self.write(name, source)
        data, *_ = call_json(["learn", "check", key, *options, "--file", path, "--keep", "--run"])
        data["text"] = self.shorten(data["text"])
        data["file"] = name
        return Verdict(data, name, source)

    def program(self, words, source):
        """The words for a command that runs a program: the cell's, or one named on the line."""
        if source is None:
            return words
        return [self.write("cell.cu", source), "-I" + os.getcwd(), *words]

    def run(self, words, source):
        status = stream(["run", *self.program(words, source)], self.shorten)
        if status:
            return Message(f"it ended with status {status}", headline="lockstep run")
        return None

    def check(self, words, source):
        data, said, status = call_json(["check"], self.program(words, source))
        self.say(said)
        for each in data["errors"] + data["remarks"]:
            for place in (each, each.get("other", {})):
                if place.get("file"):
                    place["file"] = self.shorten(place["file"])
        return Findings(data, status, source or "")

    def profile(self, words, source):
        page = self.write("page.html", "")
        data, said, _ = call_json(["profile", "--html", page], self.program(words, source))
        self.say(said)
        for kernel in data["kernels"]:
            for each in kernel["lines"] + kernel["advice"]:
                each["file"] = self.shorten(each.get("file") or "")
        return Profile(data, self.shorten(Path(page).read_text(encoding="utf-8")))

    def say(self, text):
        """What the program printed."""
        if text.strip():
            print(self.shorten(text), end="" if text.endswith("\n") else "\n")

    # Lines ---------------------------------------------------------------------------------------

    def hint(self, words):
        return Hint(call_json(["learn", "hint", *words])[0])

    def ready(self, words):
        answers = [word[len("answer="):] for word in words if word.startswith("answer=")]
        if len(answers) != len(words):
            raise Trouble("as in: %lockstep ready, or %lockstep ready answer=2,4,1,3,2,4,3,1")
        asked = ["--answer", answers[0]] if answers and answers[0] else []
        return Ready(call_json(["learn", "ready", *asked])[0], bool(asked))

    def interactive(self, words):
        if not words or any("=" not in word for word in words[1:]):
            raise Trouble("as in: %lockstep interactive coalescing stride=8")
        return Interactive(words[0], dict(word.split("=", 1) for word in words[1:]))

    def quiz(self, words):
        numbers = [word[len("answer="):] if word.startswith("answer=") else word
                   for word in words[1:]]
        if len(words) == 0 or len(numbers) > 2:
            raise Trouble("as in: %lockstep quiz day4 3 answer=2")
        if len(numbers) == 2 and numbers[1]:
            answer = f"{numbers[0]}:{numbers[1]}"
            return Answers(call_json(["learn", "quiz", words[0], "--answer", answer])[0])
        data, *_ = call_json(["learn", "quiz", words[0]])
        if not numbers:
            return clickable(words[0], data["quiz"]) or Questions(data)
        if not numbers[0].isdigit() or not 1 <= int(numbers[0]) <= len(data["quiz"]):
            raise Trouble(f"{data['lesson']} has the questions 1 to {len(data['quiz'])}, "
                          f"not '{numbers[0]}'")
        return Questions(data, int(numbers[0]))


def is_python(cell):
    """A notebook stays in the language that it was written in, whatever the learner has chosen since. Every
    exercise in Python has a function at the beginning of a line, and none in C has."""
    return re.search(r"^(def|import|from) ", cell, re.MULTILINE) is not None


def language(name):
    """What the exercises of that name are written in: only how the cell's file is called depends on it."""
    lessons, *_ = call_json(["learn", "list"])
    return {exercise["language"] for lesson in lessons for exercise in lesson["exercises"]
            if exercise["name"] == name}
