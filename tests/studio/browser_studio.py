#!/usr/bin/env python3
"""A learner's way through the studio in a browser: the first visit, a lesson that is solved and
broken again, help, the quiz, files that change on disk, kernels without end. The studio, the
compiler and the machine are the real ones. browser_pages.py looks at the pages themselves.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chrome
import pages

ADD = "week1/day4_first_kernel/add"
COALESCED = "week1/day5_naive_matmul/coalesced"


def mine(exercise):
    return live.MINE / f"{exercise}.cu"


def same(got, expected, words):
    assert got == expected, f"{words}: {got!r}, expected {expected!r}"


def has(text, *words):
    for each in words:
        assert each in text, f"'{each}' is not in: {text[:900]}"


def only_conflicts(browser):
    """The console has what was provoked, and nothing else."""
    errors = browser.errors()
    assert errors and all("status of 409" in each for each in errors), errors


# The first visit ----------------------------------------------------------------------------------

def first_visit(browser):
    browser.visit()
    same(browser.path(), "/", "the token is gone from the address")
    has(browser.text("#welcome"), "broken on purpose", "~/gpu-course.")
    browser.go("/lesson/week1/day4_first_kernel")
    has(browser.text("#work"), "no folder for the exercises yet")
    browser.go("/")
    browser.click("#begin")
    browser.lesson_ready()
    same(mine(ADD).read_text(), live.course_file(ADD, "exercise.cu"), "the file on disk")
    same(browser.path(), "/lesson/week1/day1_baseline?exercise=cost", "where it begins")
    browser.wait("return document.querySelector('.CodeMirror .cm-type') !== null",
                 "code is in colours")


def kata(browser):
    """Today's is offered, laid out when it is opened, and moves nobody."""
    browser.lesson(ADD)
    browser.go("/")
    name = browser.text("#kata")
    browser.click("#kata")
    browser.lesson_ready()
    has(browser.text(".task"), name, "a kata")
    laid_out = list((live.MINE / "kata").glob(f"*_{name}.*"))
    same(len(laid_out), 1, "files of the kata")
    same(browser.text("#path"), "~/" + str(laid_out[0].relative_to(live.WORK / "home")),
         "where it lies")
    key = browser.find("#work").get_attribute("data-exercise")
    same(browser.run(live.course_file(key, "solution" + laid_out[0].suffix)), "passed", "solved")
    same(browser.text("#next"), "Next: add", "what comes next is where the learner was")
    browser.go("/")
    has(browser.find("#go-on").get_attribute("href"), "day4_first_kernel?exercise=add")
    has(browser.text("#place"), "0 of ")


# A lesson -----------------------------------------------------------------------------------------

FETCHED = "document.querySelector('[data-result=fetched]')?.textContent"


def solve_and_break(browser):
    """The right kernel, and then one whose lanes walk down a column: verdict, counters, picture and
    the lesson's interactive follow."""
    browser.lesson(COALESCED)
    source = "document.querySelector('.run-source')?.dataset.source"
    browser.wait_in_frame("coalescing", f"{source} === 'shipped'", "a shipped run is drawn")
    same(browser.run(live.course_file(COALESCED)), "passed", "our solution")
    has(browser.text("#headline"), "Passed")
    same(browser.script("return [...document.querySelectorAll('[data-counter]')].map("
                        "(row) => row.dataset.kept)"), ["true", "true", "true"], "limits kept")
    has(browser.text("#gain"), "as given", "yours", "best", "ms", "TFLOP/s")
    widths = browser.script("return [...document.querySelectorAll('#gain .fill')].map("
                            "(bar) => bar.getBoundingClientRect().width)")
    assert widths[0] > 5 * widths[1] and abs(widths[1] - widths[2]) < 5, widths
    good = browser.text("#picture")
    has(good, "4 sectors of 32 bytes", "line 10")
    browser.wait_in_frame("coalescing", f"{source} === 'yours' && {FETCHED} === '4'",
                          "the lesson's picture has the learner's load of a row of b")
    drawn = browser.in_frame("coalescing", "return document.querySelector('.figure').innerHTML")
    same(mine(COALESCED).read_text(), live.course_file(COALESCED), "saved")
    same(browser.find(f".tabs [data-exercise='{COALESCED}']").get_attribute("data-state"), "solved",
         "the tab")

    broken = live.course_file(COALESCED, "exercise.cu")
    same(browser.run(broken), "limit", "lanes that walk down")
    has(browser.text("#verdict"), "warp 0 fetched 32 sectors, 4 suffice")
    same(browser.script("return [...document.querySelectorAll('[data-counter]')].map("
                        "(row) => row.dataset.kept).slice(0, 2)"), ["false", "false"],
         "limits not kept")
    bad = browser.text("#picture")
    has(bad, "32 sectors of 32 bytes", "sector at   +256 B: lane 1")
    assert bad != good
    same([mark.get_attribute("data-line") for mark in browser.all(".line-words")], ["14", "15"],
         "lines that are marked")
    browser.wait_in_frame("coalescing", f"{FETCHED} === '32'", "the lesson's picture has 32")
    assert browser.in_frame("coalescing",
                            "return document.querySelector('.figure').innerHTML") != drawn

    browser.go("/")
    same([rung.get_attribute("data-state") for rung in browser.all(
        f".ladder [data-rung='{COALESCED}'], .ladder [data-rung$='/tiled']")], ["solved", "open"],
         "the ladder has grown")
    browser.go("/progress")
    row = browser.find(f"tr[data-exercise='{COALESCED}']")
    same(row.get_attribute("data-state"), "solved", "solved once is solved")
    has(" ".join(row.text.split()), "solved 2 global_load_sectors_per_request 4")
    browser.lesson(COALESCED)
    has(browser.text("#headline"), "not yet good enough", "last time")
    same(browser.code(), broken, "the text after a reload")


def wrong_results(browser):
    browser.lesson(ADD)
    solution = live.course_file(ADD)
    same(browser.run(solution.replace("a[i] + b[i]", "a[i] - b[i]")), "wrong", "a wrong sign")
    has(browser.text("#verdict"), "c[0] must be", "but it is")
    same(browser.run(solution.replace("if (i < n)", "if (i <= n)")), "check", "one too far")
    has(browser.text("#verdict"), "out of bounds", "past the end of")
    same(browser.run(solution), "passed", "our solution")
    has(browser.find("#next").get_attribute("href"), "exercise=saxpy")


def syntax_error(browser):
    browser.lesson(ADD)
    broken = live.course_file(ADD).replace("threadIdx.x;", "threadIdx.x")
    same(browser.run(broken), "compile", "no semicolon")
    has(browser.text("#verdict"), "line 4", "expected ';'")
    has(browser.text(".line-words[data-line='4']"), "expected ';'")
    browser.click(".to-line[data-line='4']")
    same(browser.script("return document.querySelector('.CodeMirror').CodeMirror.getCursor().line"),
         3, "the cursor's line, from 0")
    same(browser.run(live.course_file(ADD)), "passed", "the solution")
    same(len(browser.all(".line-words")), 0, "marks that are left")


def quiz(browser):
    lesson = json.loads((live.COURSE / "week1/day4_first_kernel/lesson.json").read_text())
    questions = lesson["quiz"]
    browser.lesson(ADD)
    right = [question["answer"] for question in questions]
    choices = [right[0] % len(questions[0]["choices"]) + 1] + right[1:]
    for at, choice in enumerate(choices):
        browser.click(f"#quiz [data-question='{at}'] input[value='{choice}']")
    browser.click("#answer")
    score = f"{len(right) - 1} of {len(right)} right"
    browser.wait(f"return document.getElementById('quiz-score').textContent === '{score}'",
                 "the score is " + score)
    has(browser.text("[data-question='0'] .why"), "No.", questions[0]["why"])
    has(browser.text("[data-question='1'] .why"), "Right.", questions[1]["why"])
    browser.lesson(ADD)
    same(browser.text("#quiz-score"), score, "after a reload")
    browser.go("/progress")
    has(browser.text("[data-lesson='week1/day4_first_kernel']"), "Quiz: " + score)


def hints_solution_reset(browser):
    saxpy = "week1/day4_first_kernel/saxpy"
    hints = json.loads((live.COURSE / saxpy.rsplit("/", 1)[0] / "lesson.json").read_text())
    hints = hints["exercises"][1]["hints"]
    browser.lesson(saxpy)
    for rung, kind in enumerate(("concept", "line", "diff"), 1):
        browser.click("#hint")
        browser.wait(f"return document.getElementById('hint-{rung}') !== null", "hint %d" % rung)
        has(browser.text(f"#hint-{rung}"), hints[kind])
    browser.type_code("// mine\n")
    browser.click("#solution")
    has(browser.text("#notice"), "Your own text stays")
    browser.click("[data-choice='Show it']")
    browser.wait("return document.getElementById('solution-text') !== null", "the solution")
    has(browser.text("#solution-text"), live.course_file(saxpy))
    same(browser.code(), "// mine\n", "the text beside the solution")
    browser.click("#reset")
    browser.click("[data-choice='Leave it']")
    same(browser.code(), "// mine\n", "the text before the reset")
    browser.click("#reset")
    browser.click("[data-choice='Reset it']")
    browser.wait("return document.getElementById('status').textContent === 'yours is saxpy.cu.1'",
                 "it is reset")
    given = live.course_file(saxpy, "exercise.cu")
    same((browser.code(), mine(saxpy).read_text()), (given, given), "as it was given")
    same(mine(saxpy).with_name("saxpy.cu.1").read_text(), "// mine\n", "what was kept")
    browser.go("/progress")
    has(browser.find(f"tr[data-exercise='{saxpy}']").text, "3, solution")


# The file on disk ---------------------------------------------------------------------------------

def code_is(browser, text):
    browser.wait("return document.querySelector('.CodeMirror').CodeMirror.getValue() === " +
                 json.dumps(text), "the editor has " + text[-40:])


def changed_on_disk(browser):
    """Another editor writes: the page shows it by itself, and what the terminal's check says."""
    browser.lesson(ADD)
    text = live.course_file(ADD) + "// by another editor\n"
    mine(ADD).write_text(text)
    code_is(browser, text)
    has(browser.text("#status"), "changed on disk")
    mine(ADD).write_text(text.replace("a[i] + b[i]", "a[i]"))
    code_is(browser, text.replace("a[i] + b[i]", "a[i]"))
    checked = live.server.command("learn", "check", "add")
    same(checked.returncode, 1, "the terminal's check")
    browser.wait("return document.getElementById('headline')?.textContent"
                 ".includes('from the terminal')", "the terminal's verdict is here")
    same(browser.script("return document.getElementById('verdict').dataset.stage"), "wrong",
         "its stage")


def both_changed(browser):
    """Nothing is written, both texts are there, and the learner chooses."""
    browser.lesson(ADD)
    solution = live.course_file(ADD)
    browser.type_code(solution + "// here\n")
    mine(ADD).write_text(solution + "// on disk\n")
    browser.wait("return document.querySelector('#notice [data-choice]') !== null", "it is asked")
    has(browser.text("#notice"), "Which one do you want?", "// on disk")
    same(mine(ADD).read_text(), solution + "// on disk\n", "the file")
    same(browser.code(), solution + "// here\n", "the editor")
    browser.press("Enter", ctrl=True)  # runs all the same: refused, and asked again
    browser.wait("return document.getElementById('status').textContent === 'not saved'", "refused")
    same(mine(ADD).read_text(), solution + "// on disk\n", "the file after a run")
    browser.lesson(ADD)  # a reload loses nothing either
    browser.wait("return document.querySelector('#notice [data-choice]') !== null", "asked again")
    same(browser.code(), solution + "// here\n", "the editor after a reload")
    browser.click("[data-choice='Keep the text here']")
    same(browser.run(), "passed", "the text here")
    same(mine(ADD).read_text(), solution + "// here\n", "the file that was chosen")

    browser.type_code("// again\n")
    mine(ADD).write_text(solution + "// theirs\n")
    browser.wait("return document.querySelector('#notice [data-choice]') !== null", "it is asked")
    browser.click("[data-choice=\"Take the file's text\"]")
    same(browser.code(), solution + "// theirs\n", "the editor with the file's text")
    only_conflicts(browser)


def unsaved_text(browser):
    browser.lesson(ADD)
    browser.type_code("// not saved yet\n")
    browser.wait("return (localStorage.getItem('lockstep:draft:%s') ?? '').includes('not saved')" %
                 ADD, "the draft is kept")
    browser.lesson(ADD)
    same(browser.code(), "// not saved yet\n", "the draft after a reload")
    browser.focus_editor()
    browser.press("s", ctrl=True)
    browser.wait("return document.getElementById('status').textContent === 'saved'", "saved")
    same(mine(ADD).read_text(), "// not saved yet\n", "the file after Ctrl-S")


def deleted(browser):
    browser.lesson(ADD)
    text = live.course_file(ADD)
    same(browser.run(text), "passed", "our solution")
    mine(ADD).unlink()
    browser.wait("return document.getElementById('notice').textContent.includes('deleted')",
                 "the page says so")
    same(browser.code(), text, "the text is still there")
    browser.click("[data-choice='Write it again']")
    browser.wait("return document.getElementById('status').textContent === 'saved'", "saved")
    same(mine(ADD).read_text(), text, "the file is back")


# Kernels that go wrong in a large way -------------------------------------------------------------

HEAD = "__global__ void add(const float *a, const float *b, float *c, int n)\n{\n"
ENDLESS = HEAD + "    while (c[0] == c[0] || n > 0)\n        c[n - 1] = a[0];\n}\n"
HUGE = "__device__ float big[1u << 29];\n" + HEAD + """\
    for (unsigned i = threadIdx.x; i < 1u << 29; i += 1024)
        big[i] = a[0];
    c[0] = big[n];
}
"""


def without_end(browser):
    """Clear verdicts; the page can be used in the meantime."""
    browser.lesson(ADD)
    for text, words in ((ENDLESS, "endless loop"), (HUGE, "MiB of memory")):
        browser.type_code(text)
        browser.script("document.getElementById('verdict').dataset.stage = 'waiting'")
        browser.press("Enter", ctrl=True)
        browser.wait("return document.getElementById('status').textContent === 'running …'",
                     "it runs")
        browser.click("#hint")
        browser.wait("return document.querySelector('#help .hint') !== null", "a hint meanwhile")
        same(browser.verdict(), "fault", words)
        has(browser.text("#verdict"), words)
    browser.type_code(ENDLESS)
    browser.press("Enter", ctrl=True)
    same(browser.run(live.course_file(ADD)), "passed", "a newer run takes the place of an endless")
    same(browser.text("#status"), "", "nothing runs any more")


# Ways to use it -----------------------------------------------------------------------------------

def focus_seen(browser):
    """The id, class or name of what has the focus; it must have an outline."""
    name, seen = browser.script("""
        const now = document.activeElement, box = now.closest('.CodeMirror') ?? now;
        const style = getComputedStyle(box);
        return [box.classList.contains('CodeMirror') ? 'editor' : now.id || now.className ||
            now.tagName, now.tagName === 'IFRAME' || now.tagName === 'BODY' ||
            style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2]""")
    assert seen, f"the focus on {name} cannot be seen"
    return name


def keyboard(browser):
    """From the address bar to a verdict without a mouse."""
    browser.lesson(ADD)
    browser.press("Tab")
    same(focus_seen(browser), "skip", "what Tab comes to first")
    same(browser.script("return document.activeElement.getBoundingClientRect().left >= 0"), True,
         "it can be seen")
    browser.script("document.querySelector('.tabs a').focus()")
    names = []
    while "editor" not in names and len(names) < 9:
        browser.press("Tab")
        names.append(focus_seen(browser))
    assert "editor" in names, names
    browser.press("a", ctrl=True)
    browser.driver.execute_cdp_cmd("Input.insertText", {"text": live.course_file(ADD)})
    browser.press("Tab")  # indents
    has(browser.code(), "    ")
    browser.press("a", ctrl=True)
    browser.driver.execute_cdp_cmd("Input.insertText", {"text": live.course_file(ADD)})
    browser.press("Esc")
    same(focus_seen(browser), "run", "Esc leaves the editor")
    browser.script("document.getElementById('verdict').dataset.stage = 'waiting'")
    browser.press("Enter")
    same(browser.verdict(), "passed", "Enter on Run")
    names = []
    for _ in range(3):
        browser.press("Tab")
        names.append(focus_seen(browser))
    same(names, ["hint", "solution", "reset"], "then")


def two_studios(browser):
    """Another one at the same files: what one saves the other shows, and neither's token is the
    other's."""
    first = browser.studio
    second = live.Studio()
    try:
        browser.lesson(ADD)
        browser.driver.switch_to.new_window("tab")
        browser.studio = second
        browser.go("/")
        has(browser.driver.page_source, "lockstep studio")
        browser.errors()  # that was a 403
        browser.visit()
        browser.lesson(ADD)
        text = live.course_file(ADD) + "// in the second\n"
        same(browser.run(text), "passed", "in the second")
        browser.driver.close()
        browser.driver.switch_to.window(browser.driver.window_handles[0])
        code_is(browser, text)
        browser.studio = first
        same(browser.run(live.course_file(ADD)), "passed", "in the first")
    finally:
        browser.studio = first
        same(second.stop(), 0, "the second ends")


def plain_editor(browser):
    """Where CodeMirror is not installed: a text field, with the same keys."""
    block = browser.driver.execute_cdp_cmd
    block("Network.enable", {})
    block("Network.setBlockedURLs", {"urls": ["*/lib/codemirror/*"]})
    try:
        browser.lesson(ADD)
        field = browser.find("#code")
        field.click()
        browser.press("a", ctrl=True)
        block("Input.insertText", {"text": live.course_file(ADD).replace("b[i];", "b[i] + 1;")})
        browser.script("document.getElementById('verdict').dataset.stage = 'waiting'")
        browser.press("Enter", ctrl=True)
        same(browser.verdict(), "wrong", "Ctrl-Enter in the field")
    finally:
        block("Network.setBlockedURLs", {"urls": []})
    errors = browser.errors()
    assert all("codemirror" in each for each in errors), errors


def studio_ended(browser):
    """The page says so and keeps the text."""
    browser.lesson(ADD)
    text = live.course_file(ADD) + "// not sent\n"
    browser.type_code(text)
    browser.studio.stop()
    browser.press("Enter", ctrl=True)
    browser.wait("return document.getElementById('notice').textContent.includes('does not answer')",
                 "the page says so")
    same(browser.code(), text, "the text")
    same(json.loads(browser.script("return localStorage.getItem('lockstep:draft:%s')" % ADD))
         ["text"], text, "the draft")
    errors = browser.errors()
    assert all("ERR_CONNECTION_REFUSED" in each or "ERR_EMPTY" in each or "ERR_INCOMPLETE" in each
               or "ERR_CONNECTION_RESET" in each for each in errors), errors


TESTS = [first_visit, kata, solve_and_break, wrong_results, syntax_error, quiz,
         hints_solution_reset, changed_on_disk, both_changed, unsaved_text, deleted, without_end,
         keyboard, two_studios, plain_editor, studio_ended]


def main(wanted):
    global live
    if pages.without_browser():
        return chrome.skip_tests(TESTS, "studio")
    import live  # makes a folder, so only here
    return chrome.run_live_tests(live, TESTS, "studio", wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
