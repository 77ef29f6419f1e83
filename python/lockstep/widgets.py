"""Interactives and quizzes inside a notebook.

    from lockstep.widgets import interactive, quiz
    interactive("coalescing", stride=8)    the picture, to move; also: %lockstep interactive ..
    quiz("day5")                           the questions of a lesson, to click (needs ipywidgets)

A picture is a page of `lockstep learn site`, whole within its cell: it needs no server and stays in
the notebook. Answers count in the same progress file as those of `lockstep learn`.
"""

import atexit
import html
import re
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from .command import Trouble, call, call_json, plain

_site = None


def _pages():
    """The site, made once in a session."""
    global _site
    if _site is None:
        folder = tempfile.mkdtemp(prefix="lockstep-site-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        status, _, said = call(["learn", "site", folder])
        if status:
            raise Trouble(plain(said) or f"lockstep learn site ended with status {status}")
        _site = Path(folder)
    return _site


def _style(path):
    """A style sheet with those that it imports."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r'@import url\("([^"]+)"\);', lambda m: _style(path.parent / m[1]), text)


def _whole(page, settings):
    """The page with its styles and scripts in it."""
    def file(target):
        return (page.parent / target).resolve()

    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<link rel="icon"[^>]*>', "", text)
    text = re.sub(r'<link rel="stylesheet" href="([^"]+)">',
                  lambda m: f"<style>{_style(file(m[1]))}</style>", text)
    text = re.sub(r'<script src="([^"]+)"></script>',
                  lambda m: f"<script>{file(m[1]).read_text(encoding='utf-8')}</script>", text)
    words = urlencode({"embed": 1, **settings})
    return text.replace("<head>", f'<head><script>globalThis.lockstepSettings = "?{words}";'
                                  "</script>", 1)


class Interactive:
    """A picture to move; shown by the notebook as the value of its cell."""

    def __init__(self, name, settings):
        page = _pages() / "interactive" / f"{name}.html"
        if not re.fullmatch(r"\w+", name) or not page.is_file():
            known = ", ".join(sorted(each.stem for each in page.parent.glob("*.html")))
            raise Trouble(f"there is no interactive '{name}'; there are {known}")
        self.name, self.settings = name, settings

    def __repr__(self):
        words = "".join(f", {key}={value!r}" for key, value in self.settings.items())
        return f"interactive({self.name!r}{words})"

    def _repr_html_(self):
        page = _whole(_pages() / "interactive" / f"{self.name}.html", self.settings)
        fit = "this.style.height = this.contentDocument.body.scrollHeight + 24 + 'px'"
        return (f'<iframe title="{self.name}" style="width: 100%; height: 640px; border: 0" '
                f'onload="setTimeout(() => {{ {fit} }}, 300)" srcdoc="{html.escape(page)}">'
                "</iframe>")


def interactive(name, **settings):
    """The interactive of that name (docs/interactives.md), with its settings: stride=8."""
    return Interactive(name, settings)


def quiz(lesson):
    """The questions of a lesson as buttons; an answer is recorded when it is chosen."""
    try:
        import ipywidgets
    except ImportError:
        raise Trouble("quiz needs ipywidgets: pip install ipywidgets; without it, "
                      f"%lockstep quiz {lesson} shows the questions") from None
    data, *_ = call_json(["learn", "quiz", lesson])
    return _questions(ipywidgets, lesson, data["quiz"])


def clickable(lesson, questions):
    """The questions as buttons in a notebook that has ipywidgets; None elsewhere."""
    try:
        import ipywidgets
        from IPython import get_ipython
    except ImportError:
        return None
    in_notebook = hasattr(get_ipython(), "kernel")
    return _questions(ipywidgets, lesson, questions) if in_notebook else None


def _questions(ipywidgets, lesson, questions):
    return ipywidgets.VBox([_question(ipywidgets, lesson, number, each)
                            for number, each in enumerate(questions, 1)])


def _question(ipywidgets, lesson, number, question):
    choices = ipywidgets.RadioButtons(
        options=[(choice, at) for at, choice in enumerate(question["choices"], 1)], index=None,
        layout={"width": "max-content"})
    why = ipywidgets.HTML()

    def answered(change):
        result = call_json(["learn", "quiz", lesson, "--answer", f"{number}:{change['new']}"])[0]
        answer = result["answers"][0]
        why.value = (f"<b>{'Right.' if answer['right'] else 'No.'}</b> "
                     f"{html.escape(answer.get('why', ''))}")

    choices.observe(answered, names="value")
    title = ipywidgets.HTML(f"<b>{number}. {html.escape(question['question'])}</b>")
    return ipywidgets.VBox([title, choices, why], layout={"margin": "0 0 1em 0"})
