"""Every notebook of a course is valid and whole, and its cells do what they should: the exercises
as they are given fail with the verdict that the lesson states, and with --solutions they pass.

  check_notebooks.py COURSE NAME [c|python [LESSON ..]]
      NAME stands in front of the tests' names. The language is chosen first; only those lessons are
      executed if any are named, and the form of all is looked at.

One Jupyter kernel runs all notebooks of a kind: to start one takes longer than most lessons. Where
there is no Jupyter, the cells are given to the magic without it.
"""

import json
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

from common import expect, learn

try:
    import nbformat
    from jupyter_client import KernelManager
    from nbclient import NotebookClient
except ImportError:
    nbformat = None


def source(cell):
    return "".join(cell["source"])


# Form --------------------------------------------------------------------------------------------

def faults_of(notebook):
    """The rules of nbformat 4.5 that we could break, whether or not nbformat is installed."""
    if (notebook["nbformat"], notebook["nbformat_minor"]) != (4, 5):
        yield "the version is not 4.5"
    if notebook["metadata"]["kernelspec"]["name"] != "python3":
        yield "no kernel is named"
    ids = [cell["id"] for cell in notebook["cells"]]
    if len(set(ids)) != len(ids):
        yield "an id is there twice"
    common = {"id", "cell_type", "metadata", "source"}
    wanted = {"markdown": common, "code": common | {"execution_count", "outputs"}}
    for cell in notebook["cells"]:
        if set(cell) != wanted[cell["cell_type"]]:
            yield f"{cell['id']} has {sorted(cell)}"
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"]):
            yield f"'{cell['id']}' is no id"
        if not source(cell).strip() or any("\n" in line[:-1] for line in cell["source"]):
            yield f"the source of {cell['id']} is not a list of lines"


def validation(notebook):
    if nbformat is None:
        return ""
    try:
        nbformat.validate(notebook)
        return ""
    except nbformat.ValidationError as error:
        return str(error)


def missing_text(notebook, lesson_folder):
    """Lines of the lesson that are in no cell; those with links are looked at elsewhere."""
    text = "\n".join(source(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    lines = set(text.splitlines())
    given = (lesson_folder / "lesson.md").read_text()
    linked = {i for match in re.finditer(r"\[[^][]*\]\([^()\n]*\)", given)
              for i in range(given.count("\n", 0, match.start()),
                             given.count("\n", 0, match.end()) + 1)}
    return [line for i, line in enumerate(given.splitlines())
            if i not in linked and line not in lines and line.strip()]


def check_form(name, notebook, lesson, folder):
    faults = list(faults_of(notebook))
    expect(f"{name} form", not faults, faults)
    expect(f"{name} valid", not validation(notebook), validation(notebook))
    expect(f"{name} text", not missing_text(notebook, folder), missing_text(notebook, folder))
    first = notebook["cells"][0]
    expect(f"{name} loads", "%load_ext lockstep" in source(first), first)
    keys = [source(cell).splitlines()[0] for cell in notebook["cells"]
            if source(cell).startswith("%%lockstep")]
    wanted = [f"%%lockstep exercise {lesson['id']}/{each['name']}" for each in lesson["exercises"]
              if not each["aside"]]
    expect(f"{name} exercises", keys == wanted, keys)
    quiz = sum(cell["id"].startswith("quiz-") for cell in notebook["cells"])
    expect(f"{name} questions", quiz == lesson["questions"], quiz)
    links = set(re.findall(r"\]\(interactive:(\w+)", (folder / "lesson.md").read_text()))
    moved = {source(cell).split()[2] for cell in notebook["cells"]
             if source(cell).startswith("%lockstep interactive ")}
    expect(f"{name} interactives", moved == links, (moved, links))


# Running -----------------------------------------------------------------------------------------

class Jupyter:
    """Runs notebooks in a kernel of its own; the cells then have outputs."""

    def __init__(self):
        self.manager = KernelManager(kernel_name="python3", transport="ipc")
        self.manager.start_kernel()

    def run(self, notebook):
        ran = nbformat.reads(json.dumps(notebook), 4)
        client = NotebookClient(ran, km=self.manager, timeout=60, allow_errors=True)
        client.execute()
        client.kc.stop_channels() # the kernel stays, and so would these files
        return [cell.get("outputs", []) for cell in ran.cells]

    def close(self):
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()


class Direct:
    """Without Jupyter: the cells of the magic, in the form that Jupyter's outputs have."""

    def __init__(self):
        from lockstep.magic import Magic
        self.magic = Magic()

    def run(self, notebook):
        return [self.outputs(source(cell)) for cell in notebook["cells"]]

    def outputs(self, text):
        line, _, cell = text.partition("\n")
        if line.startswith("%%lockstep"):
            result = self.magic.line_or_cell(line[len("%%lockstep"):], cell)
        elif line.startswith("%lockstep"):
            result = self.magic.line_or_cell(line[len("%lockstep"):])
        else:
            return []
        return [{"output_type": "execute_result",
                 "data": {"text/plain": repr(result), "text/html": result._repr_html_()}}]

    def close(self):
        self.magic.close()


def shown(outputs):
    """Text and HTML of the one result of a cell."""
    results = [each["data"] for each in outputs if each["output_type"] == "execute_result"]
    if len(results) != 1 or len(outputs) != 1:
        return f"outputs: {outputs}", ""
    return results[0].get("text/plain", ""), results[0].get("text/html", "")


def stated_verdict(exercise):
    """The lesson's expression for the given exercise, as the cell gets it: the file is called
    NAME.cu, and its lines (14, or one of (9|13)) come one later, behind the magic's own."""
    def rename(match):
        lines = re.sub(r"\d+", lambda number: str(int(number[0]) + 1), match[2] or "")
        return f"{exercise['name']}.{match[1]}{lines}"
    return re.sub(r"exercise\\*\.(cu?|py)\b(:[\d(|)]+)?", rename, exercise["shipped"])


def check_runs(name, notebook, ran, lesson, solutions):
    errors = [each for outputs in ran for each in outputs if each["output_type"] == "error"]
    expect(f"{name} no traceback", not errors, errors)
    exercises = {each["name"]: each for each in lesson["exercises"]}
    for cell, outputs in zip(notebook["cells"], ran):
        kind, _, which = cell["id"].partition("-")
        text, html = shown(outputs)
        if kind == "exercise" and solutions:
            expect(f"{name} {which} passes", text.startswith("passed: right on all"), text)
            expect(f"{name} {which} is green", "#1a7f37" in html, html)
        elif kind == "exercise":
            stated = stated_verdict(exercises[which])
            expect(f"{name} {which} fails", re.search(stated, text), f"{stated} / {text}")
            expect(f"{name} {which} is red", "#cf222e" in html, html)
        elif kind == "interactive":
            expect(f"{name} picture {which}", "<iframe" in html and "lockstepSettings" in html, text)
        elif kind == "quiz":
            wanted = "right." if solutions else f"{which}. "
            expect(f"{name} question {which}", text.startswith(wanted), text)


def stated_of(folder, language):
    """The lesson as its files state it, in the learner's language."""
    stated = json.loads((folder / "lesson.json").read_text())
    others = folder / "python.json"
    if language == "python" and others.exists():
        twins = json.loads(others.read_text())
        stated["exercises"] = [{**each, **twins.get(each["name"], {})} for each in stated["exercises"]]
    return stated


def check_ready(name, notebook, runner, solutions):
    """00_ready_check: the computer is looked at, and the right answers are."""
    faults = list(faults_of(notebook))
    expect(f"{name} form", not faults, faults)
    expect(f"{name} valid", not validation(notebook), validation(notebook))
    texts = {cell["id"]: shown(outputs)[0]
             for cell, outputs in zip(notebook["cells"], runner.run(notebook))}
    expect(f"{name} looks", "simulated GPU" in texts["look"] and "triton" in texts["look"], texts["look"])
    wanted = r"8 of 8 right\. Begin with week1/day1_baseline\.ipynb" if solutions else "simulated GPU"
    expect(f"{name} answers", re.search(wanted, texts["answers"]), texts["answers"])


def with_fixed_seed(lockstep):
    """A command whose checks draw what the course's own audit draws: stated verdicts name sizes."""
    path = Path(tempfile.mkdtemp(dir=".")).resolve() / "lockstep"
    path.write_text(f"""#!/bin/sh
[ "$1 $2" != "learn check" ] || exec {shlex.quote(lockstep)} "$@" --seed 1
exec {shlex.quote(lockstep)} "$@"
""")
    path.chmod(0o755)
    return str(path)


def main():
    course, prefix = Path(sys.argv[1]).resolve(), sys.argv[2]
    language, only = (sys.argv[3] if len(sys.argv) > 3 else "c"), sys.argv[4:]
    os.environ["LOCKSTEP_COURSE"] = str(course)
    os.environ["LOCKSTEP"] = with_fixed_seed(os.environ["LOCKSTEP"])
    learn("language", language)
    lessons = learn("list")
    ready = ["00_ready_check"] if (course / "ready.json").exists() else []
    for kind, words in (("given", []), ("solved", ["--solutions"])):
        folder = Path(f"{prefix}-{kind}")
        learn("notebooks", str(folder), *words)
        written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.ipynb"))
        wanted = ready + [each["id"] for each in lessons]
        expect(f"{prefix} {kind} all", written == sorted(f"{each}.ipynb" for each in wanted), written)
        runner = Jupyter() if nbformat else Direct()
        for each in ready if language == "c" else []:
            notebook = json.loads((folder / f"{each}.ipynb").read_text())
            check_ready(f"{prefix} {kind} {each}", notebook, runner, kind == "solved")
        for lesson in lessons:
            name = f"{prefix} {kind} {lesson['id']}"
            notebook = json.loads((folder / f"{lesson['id']}.ipynb").read_text())
            check_form(name, notebook, lesson, course / lesson["id"])
            if not only or lesson["id"] in only:
                stated = stated_of(course / lesson["id"], language)
                check_runs(name, notebook, runner.run(notebook), stated, kind == "solved")
        runner.close()


main()
