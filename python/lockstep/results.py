"""What a cell shows: each result as text, and as HTML where the notebook can show it.

Colours are only in borders and labels, so that both light and dark pages stay readable.
"""

from html import escape

from . import picture

GREEN, RED, AMBER = "#1a7f37", "#cf222e", "#9a6700"

HEADLINES = {
    "passed": "passed",
    "compile": "it does not compile yet",
    "wrong": "the result is not right yet",
    "fault": "it does not run to its end",
    "check": "results are right, but the kernel has an error",
    "limit": "right, and not yet good enough",
    "broken": "nothing could be graded",
}


def box(colour, headline, body=""):
    return (f'<div style="border-left:4px solid {colour};padding:0.2em 0 0.2em 0.8em">'
            f'<div><b style="color:{colour}">{escape(headline)}</b></div>{body}</div>')


def block(text):
    return f'<pre style="margin:0.3em 0;white-space:pre-wrap">{escape(text)}</pre>'


class Result:
    """Has text() and html(); `ok` says whether all is well."""

    ok = True

    def __repr__(self):
        return self.text()

    def _repr_html_(self):
        return self.html()


class Message(Result):
    """A few words; of trouble, unless said otherwise."""

    def __init__(self, words, ok=False, headline="lockstep"):
        self.words, self.ok, self.headline = words, ok, headline

    def text(self):
        return f"{self.headline}:" + ("\n" if "\n" in self.words else " ") + self.words

    def html(self):
        return box(AMBER if self.ok else RED, self.headline, block(self.words))


def duration(us):
    """Never 7.6e+03 us."""
    value, unit = (us, "us") if us < 1e3 else (us / 1e3, "ms") if us < 1e6 else (us / 1e6, "s")
    return f"{value:.2f} {unit}" if value < 10 else f"{value:.1f} {unit}"


class Verdict(Result):
    """Of `lockstep learn check --json`. source: the file's lines; name: how the texts call it."""

    def __init__(self, data, name, source):
        self.data, self.name = data, name
        self.source = source.splitlines()
        self.ok = self.passed = data["passed"]

    def headline(self):
        data = self.data
        words = HEADLINES.get(data["stage"], data["stage"])
        if not data["passed"]:
            return words
        words += f": right on all {data['sizes']} sizes"
        if not data["time_us"]:  # a function of NumPy's or CuPy's, which no checker watches
            return words
        return words + f"; no races, no stray accesses; {duration(data['time_us'])} (modelled)"

    def lines(self):
        """The text; below each line that names a line of the cell, that line itself."""
        if self.data["stage"] == "compile":  # compilers show the line themselves
            yield from self.data["text"].splitlines()
            return
        for message in self.data["messages"]:
            line = message["line"]
            place = f"{self.name}:{line}" if line else self.name
            yield f"{place}: {message['text']}"
            if 0 < line <= len(self.source):
                yield f"{line:7} | {self.source[line - 1]}"
            for more in message.get("detail", "").splitlines():
                yield f"    {more}"

    def gain(self):
        """The modelled times of the large size, in a line."""
        gain = self.data.get("gain", {})
        names = {"before": "as given" if gain.get("is_given") else "before", "yours": "yours",
                 "best": "best"}
        times = [f"{words} {gain[key]['text']}" for key, words in names.items() if key in gain]
        return [f"  for {gain['size']}: {', '.join(times)} (modelled)"] if times else []

    def text(self):
        parts = [self.headline(), *self.lines()]
        for each in self.data["counters"]:
            parts.append(f"  {each['name']:34} {each['value']:10.6g}  at most {each['most']:.6g}"
                         + ("" if each["kept"] else "  <- too much"))
        parts += self.gain()
        if self.data.get("printed"):
            parts += ["", "printed:", self.data["printed"].rstrip("\n")]
        if self.data.get("picture"):
            parts += ["", "what the first warp touched:", self.data["picture"].rstrip("\n")]
        return "\n".join(parts)

    def counters(self):
        rows = ""
        for each in self.data["counters"]:
            colour = GREEN if each["kept"] else RED
            rows += (f'<tr><td style="text-align:left">{escape(each["name"])}</td>'
                     f'<td><b style="color:{colour}">{each["value"]:.6g}</b></td>'
                     f'<td>at most {each["most"]:.6g}</td></tr>')
        return f"<table>{rows}</table>" if rows else ""

    def touched(self):
        """Drawn where there is a trace, else as text."""
        run = self.data.get("run")
        drawing = picture.html(run["trace"], self.source) if run else ""
        return drawing or (block(self.data["picture"]) if self.data.get("picture") else "")

    def html(self):
        said = "\n".join(self.lines())
        body = (block(said) if said else "") + self.counters()
        touched = self.touched()
        if touched:
            body += ("<details open><summary>what the first warp touched</summary>"
                     f"{touched}</details>")
        return box(GREEN if self.passed else RED, self.headline(), body)


class Findings(Result):
    """Of `lockstep check --json`, which ended with status."""

    def __init__(self, data, status, source):
        self.data, self.status, self.source = data, status, source.splitlines()
        self.ok = status == 0 and not data["errors"]

    def place(self, finding):
        file, line = finding.get("file"), finding.get("line", 0)
        return f"{file}:{line}: " if file else ""

    def describe(self, finding):
        yield self.place(finding) + finding["text"]
        line = finding.get("line", 0)
        if finding.get("file") == "cell.cu" and 0 < line <= len(self.source):
            yield f"{line:7} | {self.source[line - 1]}"
        if finding.get("kernel"):
            where = [f"{key} ({','.join(map(str, finding[key]))})"
                     for key in ("block", "thread") if key in finding]
            yield "  in kernel " + ", ".join([finding["kernel"], *where])
        other = finding.get("other")
        if other and other.get("file"):
            yield f"  the other side: {self.place(other)}{other.get('access', '')}".rstrip(": ")
        if finding.get("count", 1) > 1:
            yield f"  and {finding['count'] - 1} times more"

    def headline(self):
        count = len(self.data["errors"])
        if count:
            return f"{count} error{'s' if count > 1 else ''}"
        return "no errors" + (f"; the program ended with status {self.status}" if self.status
                              else "")

    def body(self):
        lines = [line for each in self.data["errors"] for line in self.describe(each)]
        for each in self.data["remarks"]:
            first, *rest = self.describe(each)
            lines += ["remark: " + first, *rest]
        return "\n".join(lines)

    def text(self):
        body = self.body()
        return self.headline() + ("\n" + body if body else "")

    def html(self):
        body = self.body()
        return box(GREEN if self.ok else RED, self.headline(), block(body) if body else "")


class Profile(Result):
    """Of `lockstep profile --json`, with the page that --html writes."""

    def __init__(self, data, page):
        self.data, self.page = data, page
        self.ok = data["status"] == 0 and bool(data["kernels"])

    def text(self):
        lines = []
        for kernel in self.data["kernels"]:
            grid, threads = (" x ".join(map(str, kernel[key])) for key in ("grid", "block"))
            lines += [f"{kernel['name']} <<<{grid}, {threads}>>> on {self.data['gpu']}",
                      f"  time       {kernel['time_us']:.3g} us, modelled; bound by "
                      f"{kernel['bound_by']}",
                      f"  occupancy  {kernel['occupancy']['occupancy']:.0%}, limited by "
                      f"{kernel['occupancy']['limiter']}"]
            hot = [line for line in kernel["lines"] if line["heat"] >= 0.05]
            lines += [f"  {line['heat']:4.0%}  line {line['line']}: {line['source'].strip()}"
                      for line in sorted(hot, key=lambda line: -line["heat"])[:5]]
            lines += [f"  advice     {advice['gain']:.2f}x  {advice['text']}"
                      for advice in kernel["advice"]]
        return "\n".join(lines) or "the program ran no kernel"

    def html(self):
        if not self.data["kernels"]:
            return box(RED, self.text())
        return (f'<iframe srcdoc="{escape(self.page)}" title="lockstep profile" '
                'style="width:100%;height:36em;border:1px solid #8888"></iframe>')


class Ready(Result):
    """Of `lockstep learn ready --json`; asked: with answers to its questions."""

    def __init__(self, data, asked):
        self.data, self.asked = data, asked
        self.ok = data["ready"]

    def headline(self):
        return "exercises can be done here" if self.ok else "exercises cannot be done here yet"

    def rows(self):
        for each in self.data["findings"]:
            if each["ok"]:
                yield "ok", each["name"], each["found"] or ""
            else:
                yield "missing", each["name"], f"{each['use']}; get it: {each['install']}"

    def start(self):
        quiz, start = self.data["quiz"], self.data["start"]
        missed = f"; worth a look first: {', '.join(quiz['missed'])}" if quiz["missed"] else ""
        return f"{quiz['right']} of {quiz['questions']} right{missed}. Begin with {start}.ipynb"

    def text(self):
        if self.asked:
            return self.start()
        rows = [f"{word:8} {name:18} {what}" for word, name, what in self.rows()]
        return "\n".join([self.headline(), *rows])

    def html(self):
        if self.asked:
            return box(GREEN if not self.data["quiz"]["missed"] else AMBER, self.start())
        rows = "".join(f'<tr><td style="color:{GREEN if word == "ok" else AMBER}">{word}</td>'
                       f'<td style="text-align:left">{escape(name)}</td>'
                       f'<td style="text-align:left">{escape(what)}</td></tr>'
                       for word, name, what in self.rows())
        return box(GREEN if self.ok else RED, self.headline(), f"<table>{rows}</table>")


class Hint(Result):
    def __init__(self, data):
        self.data = data

    def headline(self):
        return f"hint {self.data['rung']} of 3, the {self.data['kind']}"

    def text(self):
        return f"{self.headline()}\n{self.data['text']}"

    def html(self):
        return box(AMBER, self.headline(), block(self.data["text"]))


class Answers(Result):
    """Of `lockstep learn quiz --answer --json`."""

    def __init__(self, data):
        self.data = data
        self.ok = data["right"] == data["answered"]

    def lines(self):
        for each in self.data["answers"]:
            yield "right." if each["right"] else "no.", each["why"]

    def text(self):
        return "\n".join(f"{word} {why}" for word, why in self.lines())

    def html(self):
        return "".join(box(GREEN if word == "right." else RED, word, f"<div>{escape(why)}</div>")
                       for word, why in self.lines())


class Questions(Result):
    """Of `lockstep learn quiz --json`: those whose numbers are in wanted, or all."""

    def __init__(self, data, wanted=None):
        self.data, self.wanted = data, wanted

    def text(self):
        lines = []
        for number, each in enumerate(self.data["quiz"], 1):
            if self.wanted in (None, number):
                lines.append(f"{number}. {each['question']}")
                lines += [f"   {i}  {choice}" for i, choice in enumerate(each["choices"], 1)]
        lesson, number = self.data["lesson"], self.wanted or "NUMBER"
        lines.append(f"To answer: %lockstep quiz {lesson} {number} answer=CHOICE")
        return "\n".join(lines)

    def html(self):
        return box(AMBER, "quiz", block(self.text()))
