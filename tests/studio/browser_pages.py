#!/usr/bin/env python3
"""The real studio's pages in a browser, one by one: on a phone, dark and light, without JavaScript;
the interactives with the learner's run and without one; the library and its profiles. What a
learner does in a lesson is in browser_studio.py.
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chrome
import pages

LESSON = "/lesson/week1/day5_naive_matmul?exercise=coalesced"
COALESCED = "week1/day5_naive_matmul/coalesced"
FAST = "week1/day7_fast_memory/fast_matmul"
NO_RUN = "week1/day4_first_kernel/saxpy"  # nobody runs it here
FROM_RUNS = ["warp", "occupancy", "coalescing", "banks", "hierarchy", "tiles"]


def names_of_interactives():
    with open(os.path.join(pages.ROOT, "src", "learn", "interactives.def")) as stream:
        return re.findall(r"^X\((\w+),", stream.read(), re.MULTILINE)


def same(got, expected, words):
    assert got == expected, f"{words}: {got!r}, expected {expected!r}"


def has(text, *words):
    for each in words:
        assert each in text, f"'{each}' is not in: {text[:900]}"


def links(browser, path, selector):
    browser.go(path)
    return [link.get_attribute("href").removeprefix(browser.studio.address)
            for link in browser.all(selector)]


def begin(browser):
    browser.visit()
    browser.click("#begin")
    browser.lesson_ready()


# Interactives -------------------------------------------------------------------------------------

SHOWN = """return [document.querySelector('.run-source')?.dataset.source ?? null,
    document.querySelector('.figure').innerHTML, document.querySelector('.figure').clientWidth]"""


def interactives(browser):
    """Every one of them: before there is a run with a shipped one, and then with the learner's."""
    names = names_of_interactives()
    same(links(browser, "/interactives", "[data-interactive]"),
         [f"/interactive/{name}" for name in names], "the list")
    assert len(names) == 12, names
    before = {}
    for name in names:
        browser.show(name, f"?exercise={FAST}")
        before[name] = browser.script(SHOWN)
        assert before[name][1] and before[name][2] > 200, f"{name} draws nothing"
        assert browser.text("#interactive .look").startswith("Look "), name
        same(before[name][0], "shipped" if name in FROM_RUNS else None, name)
    browser.lesson(FAST)
    same(browser.run(live.course_file(FAST)), "passed", "our solution")
    for name in names:
        browser.show(name, f"?exercise={FAST}")
        source, figure, _ = browser.script(SHOWN)
        same(source, "yours" if name in FROM_RUNS else None, name)
        assert (figure != before[name][1]) == (name in FROM_RUNS), f"{name}: the picture"
        if source:
            has(browser.text(".run-source"), FAST, "fast_matmul.cu")
    for name in FROM_RUNS:  # without an exercise in the address it is the last one
        browser.show(name)
        has(browser.text(".run-source"), FAST)


CUT = """const figure = document.querySelector('.figure'), cut = [];
    for (const each of [figure, ...figure.querySelectorAll('div, section, table, td, p')]) {
        const box = each.getBoundingClientRect(), style = getComputedStyle(each);
        if (box.height && each.scrollHeight > each.clientHeight + 4 && each.clientHeight &&
            style.display !== 'inline' && !each.closest('.run-code, .code, pre'))
            cut.push(`${each.className || each.tagName} ${each.clientHeight} of ` +
                each.scrollHeight);
    }
    return [cut, figure.getBoundingClientRect().height,
        [...figure.querySelectorAll('td')].filter((cell) => /^[-+.\\d]+$/.test(cell.textContent) &&
            cell.getClientRects()[0]?.height > 45).map((cell) => cell.textContent)]"""


def nothing_is_cut(browser):
    """No picture is squeezed into a box that is too low for it, and no number is broken in two."""
    try:
        for width in (390, 820, 1440):
            browser.size(width, 900)
            for name in names_of_interactives():
                browser.show(name, "?exercise=none")
                cut, height, broken = browser.script(CUT)
                same(cut, [], f"{name} at {width} px: cut")
                same(broken, [], f"{name} at {width} px: numbers in two lines")
                assert height >= 150, f"{name} at {width} px is {height} px high"
    finally:
        browser.size(1100, 900)


def no_interactive(browser):
    browser.go("/interactive/none")
    has(browser.driver.page_source, "There is no such interactive")
    assert all("404" in each for each in browser.errors())


# The library --------------------------------------------------------------------------------------

def library(browser):
    families = links(browser, "/library", "[data-family] a")
    assert len(families) >= 15 and "/library/transpose" in families, families
    browser.go("/library/reduction")
    assert browser.script("return document.querySelectorAll('main table tr').length") > 3
    for picture in ("img[src$='journey.svg']", "#roofline-plot"):
        browser.script("document.querySelector(arguments[0]).scrollIntoView()", picture)
        browser.wait(f"""const picture = document.querySelector("{picture}");
            return picture.complete && picture.naturalWidth > 100""", f"{picture} is there")
    steps = browser.script("return [...document.querySelectorAll('[data-variant]')].map("
                           "(link) => link.dataset.variant)")
    assert len(steps) > 3, steps
    browser.click(f"[data-variant='{steps[0]}']")
    profile_ready(browser)
    has(browser.text("h1"), f"reduction/{steps[0]}")
    browser.click(".back a")
    same(browser.path(), "/library/reduction", "the way back")


def library_pictures(browser):
    """Each picture beside a README is there, the ladders too."""
    for path in links(browser, "/library", "[data-family] a"):
        browser.go(path)
        missing = browser.script("""return [...document.querySelectorAll('main img')].filter(
            (image) => !image.getAttribute('src') || image.complete && !image.naturalWidth)
            .map((image) => image.outerHTML)""")
        same(missing, [], f"{path}: pictures that are not there")


def profile_ready(browser):
    browser.wait("return document.querySelector('#profile')?.dataset.ready === 'yes'",
                 "the profile is drawn")


def hottest(browser):
    return browser.script("""const rows = [...document.querySelectorAll('tr[data-heat]')];
        rows.sort((a, b) => b.dataset.heat - a.dataset.heat);
        return Number(rows[0].querySelector('button.line').dataset.line)""")


def open_line(browser, space):
    """Opens the hottest line's accesses; the address alone brings them back."""
    line = hottest(browser)
    browser.click(f"button.line[data-line='{line}']")
    browser.wait("return document.querySelector('tr.panel .figure svg') !== null",
                 "its picture is open")
    same(browser.find("tr.panel .figure").get_attribute("data-space"), space, "what it shows")
    has(browser.find("tr.panel svg").get_attribute("aria-label"), "32 sectors in 32 lines")
    has(browser.path(), f"line={line}")
    panel = "return document.querySelector('tr.panel').innerHTML"
    browser.script("""const access = document.getElementById('access');
        access.value = access.options[access.options.length - 1].value;
        access.dispatchEvent(new Event('change'));""")
    before = browser.script(panel)
    browser.go(browser.path())
    profile_ready(browser)
    same(browser.script(panel), before, "after a reload")
    browser.click(f"button.line[data-line='{line}']")
    same(len(browser.all("tr.panel")), 0, "panels after a second click")
    assert "line=" not in browser.path(), browser.path()
    return line


def profile_of_a_variant(browser):
    browser.go("/library/transpose/naive")
    profile_ready(browser)
    line = open_line(browser, "global")
    source = open(os.path.join(pages.ROOT, "kernels/transpose/naive.cu")).read().split("\n")
    has(browser.text(f"tr:has(> td > [data-line='{line}']) code"), source[line - 1])
    has(source[line - 1], "out[")
    has(browser.text(".advice"), "32 sectors")
    kinds = browser.script("""return [...document.querySelectorAll(
        '#timeline svg[aria-label=timeline] rect title')].map((title) => title.textContent)""")
    for kind in ("copy to the device", "copy from the device", "<<<", "cuLaunchKernel"):
        assert any(kind in words for words in kinds), (kind, kinds[:9])
    has(browser.text("#timeline [data-fact=timeline-overlap]"), "%")


def profile_of_the_exercise(browser):
    """From the verdict to the profile of the learner's own kernel, and back."""
    browser.lesson(COALESCED)
    same(browser.run(), "limit", "as it was given")
    browser.click("#profile-link")
    profile_ready(browser)
    same(browser.path(), f"/profile?exercise={COALESCED.replace('/', '%2F')}", "its address")
    same(open_line(browser, "global"), 14, "the hottest line")
    has(browser.text("[data-fact=name]"), "coalesced")
    browser.click(".back a")
    browser.lesson_ready()
    same(browser.path(), LESSON, "the way back")
    browser.go(f"/profile?exercise={NO_RUN}")
    browser.wait("return document.querySelector('.error') !== null", "it says that there is none")
    has(browser.text(".error"), "no run yet", "go to the exercise and run it")


# Sizes and colours --------------------------------------------------------------------------------

def fits(browser, path):
    wide, name = browser.script("""
        const wide = document.documentElement.scrollWidth;
        const widest = [...document.querySelectorAll('body *')].find((each) =>
            each.getBoundingClientRect().right > innerWidth + 1 && !each.closest(
                '.scroll, pre, table, .figure, .CodeMirror, svg, .skip, .hidden, .katex-mathml, ' +
                '.family p:has(> img)'));
        return [wide, widest ? widest.tagName + '.' + widest.className : ''];""")
    assert wide <= 390 and not name, f"{path} is {wide} wide: {name}"


def phone(browser):
    """At 390 pixels no page is wider than that, and none opens elsewhere than at its top."""
    lessons = links(browser, "/", "[data-lesson] h3 a")
    families = links(browser, "/library", "[data-family] a")
    assert len(lessons) >= 14 and len(families) >= 15
    browser.size(390, 844)
    for path in ["/", "/progress", "/library", "/interactives", "/interactive/dot", "/nothing",
                 "/library/transpose/naive", *lessons, *families]:
        browser.go(path)
        if path.startswith("/lesson"):
            browser.lesson_ready()
        fits(browser, path)
        same(browser.script("""return [...document.querySelectorAll('#text .scroll')].filter((table) =>
            table.scrollWidth > table.clientWidth + 1).map((table) => table.textContent.slice(0, 60))"""),
             [], f"{path}: tables that scroll sideways")
        same(browser.script("return scrollY"), 0, f"{path}: where it opens")
        same(browser.script("return document.querySelector(document.querySelector('.skip')"
                            "?.hash ?? 'body') !== null"), True, f"{path}: where 'skip' leads")
    assert all("404" in each for each in browser.errors())  # /nothing


def phone_at_work(browser):
    """With verdict, hint, notice and an open profile."""
    browser.size(390, 844)
    browser.lesson(COALESCED)
    browser.run()
    browser.click("#hint")
    browser.click("#reset")
    browser.wait("return document.querySelector('.hint') && document.querySelector('.notice')",
                 "hint and notice")
    for frame in range(len(browser.all("iframe"))):
        browser.script("document.querySelectorAll('iframe')[arguments[0]].scrollIntoView()", frame)
        browser.wait(f"return document.querySelectorAll('iframe')[{frame}].contentDocument"
                     "?.getElementById('interactive')?.dataset.ready === 'yes'", "a frame is drawn")
        wide, high, room = browser.script("""const inside = document.querySelectorAll('iframe')
            [arguments[0]].contentDocument.documentElement;
            return [inside.scrollWidth - inside.clientWidth, inside.scrollHeight,
                inside.clientHeight]""", frame)
        assert wide <= 0, f"frame {frame} is {wide} too wide"
        assert high <= room, f"frame {frame} is {room} high, and its content {high}"
    fits(browser, LESSON)
    browser.click("#profile-link")
    profile_ready(browser)
    browser.click(f"button.line[data-line='{hottest(browser)}']")
    fits(browser, "the profile")


def phone_with_an_error(browser):
    """A picture whose script cannot be loaded says so, within the screen."""
    browser.size(390, 844)
    command = browser.driver.execute_cdp_cmd
    command("Network.enable", {})
    command("Network.setBlockedURLs", {"urls": ["*/interactives/coalescing.js"]})
    try:
        browser.show("coalescing")
        has(browser.text(".error"), "could not be shown", "coalescing.js")
        fits(browser, "an interactive with an error")
    finally:
        command("Network.setBlockedURLs", {"urls": []})
    assert all("coalescing.js" in each for each in browser.errors())


# Contrast of all text that can be seen, as WCAG 2 reckons it: 4.5 for text of normal size. Where a
# background is drawn (gradients, pictures) it is left out.
CONTRAST = """
const parse = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
const light = (colour) => colour.slice(0, 3).map((part) => part / 255).map((part) =>
    part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
function ground(node) {
    for (let at = node; at; at = at.parentElement) {
        const style = getComputedStyle(at), colour = parse(style.backgroundColor);
        if (style.backgroundImage !== 'none')
            return null;
        if (colour.length < 4 || colour[3] === 1)
            return colour;
        if (colour[3] > 0)
            return null;
    }
    return [255, 255, 255];
}
return [...document.querySelectorAll('body *')].filter((node) => node.checkVisibility() &&
    !node.disabled && !node.closest('svg, .CodeMirror-cursor, progress') &&
    [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
    .map((node) => {
        const behind = ground(node), ink = parse(getComputedStyle(node).color);
        if (!behind || node.closest('table.source tr[data-heat] button'))
            return null;
        const [a, b] = [light(ink), light(behind)].sort((x, y) => y - x);
        return [(a + 0.05) / (b + 0.05), node.tagName + '.' + node.className,
            node.textContent.trim().slice(0, 30)];
    }).filter((each) => each && each[0] < 4.5);
"""


def dark_and_light(browser):
    """The switch changes all pages and the pictures inside them; text can be read in both."""
    browser.go("/")
    shades = []
    for theme in ("dark", "light"):
        browser.go("/")
        if browser.script("return document.documentElement.dataset.shown") != theme:
            browser.click("#theme")
        same(browser.script("return document.documentElement.dataset.shown"), theme, "a click")
        for path in ("/", LESSON, "/progress", "/library/transpose", "/interactive/banks", "/nothing",
                     f"/profile?exercise={COALESCED}"):
            browser.go(path)
            if path == LESSON:
                browser.lesson_ready()
                browser.wait("return document.getElementById('headline') !== null", "a verdict")
            elif path.startswith("/profile"):
                profile_ready(browser)
            same(browser.script("return document.documentElement.dataset.shown"), theme, path)
            weak = browser.script(CONTRAST)
            assert not weak, f"{path}, {theme}: {weak[:4]}"
            assert path != "/nothing" or all("404" in each for each in browser.errors())
        browser.lesson(COALESCED)
        browser.wait_in_frame("coalescing",
                              "document.getElementById('interactive')?.dataset.ready === 'yes'",
                              "the frame is drawn")
        shades.append(browser.in_frame(
            "coalescing", "return getComputedStyle(document.documentElement).backgroundColor"))
        same(browser.script("return getComputedStyle(document.documentElement).backgroundColor"),
             shades[-1], "page and frame")
    assert shades[0] != shades[1], shades


def as_the_system_has_it(browser):
    command = browser.driver.execute_cdp_cmd
    browser.go("/")
    browser.script("localStorage.removeItem('lockstep:theme')")
    for theme in ("dark", "light"):
        command("Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": theme}]})
        browser.go("/")
        same(browser.script("return document.documentElement.dataset.shown"), theme, "the page")
    command("Emulation.setEmulatedMedia", {"features": []})


def formulas(browser):
    """KaTeX draws them; none is left as it was written."""
    paths = links(browser, "/", "[data-lesson] h3 a")
    drawn = 0
    for path in paths:
        if "x-equation" in browser.studio.get(path).text:
            browser.go(path)
            browser.wait("return [...document.querySelectorAll('x-equation')].every((each) =>"
                         " each.querySelector('.katex'))", f"the formulas of {path}")
            drawn += 1
    assert drawn, "no lesson has a formula"


# Without JavaScript -------------------------------------------------------------------------------

def without_javascript(other):
    browser = live.Browser(other.studio, {"profile.managed_default_content_settings.javascript": 2})
    try:
        browser.visit()
        source = lambda: browser.driver.page_source  # noqa: E731
        has(source(), 'id="go-on"', "Naive matmul")
        assert "data-shown" not in source(), "scripts run here"
        browser.go(LESSON)
        has(source(), 'id="part-challenge"', "void coalesced(", "need JavaScript",
            "lockstep learn</code> grades the file")
        lesson = json.loads((live.COURSE / "week1/day5_naive_matmul/lesson.json").read_text())
        first = lesson["quiz"][0]
        browser.find(f"[data-question='0'] input[value='{first['answer']}']").click()
        browser.find("#answer").click()
        browser.wait("return location.hash === '#quiz'", "the answer is taken")
        has(source(), "<strong>Right.</strong>", f"1 of {len(lesson['quiz'])} right")
        for path, words in (("/progress", "exercises solved"), ("/library", "transpose"),
                            ("/library/transpose", "rows and columns change places"),
                            ("/library/transpose/naive", "__global__ void __launch_bounds__"),
                            (f"/profile?exercise={COALESCED}", "__global__"),
                            ("/interactives", "Coalescing"),
                            ("/interactive/banks", "needs JavaScript")):
            browser.go(path)
            has(source(), words)
        errors = [each for each in browser.errors() if "script" not in each.lower()]
        assert not errors, errors
    finally:
        browser.close()


TESTS = [begin, interactives, nothing_is_cut, no_interactive, library, library_pictures,
         profile_of_a_variant, profile_of_the_exercise, dark_and_light, as_the_system_has_it,
         formulas, phone, phone_at_work, phone_with_an_error, without_javascript]


def main(wanted):
    global live
    if pages.without_browser():
        return chrome.skip_tests(TESTS, "pages")
    import live  # makes a folder, so only here
    return chrome.run_live_tests(live, TESTS, "pages", wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
