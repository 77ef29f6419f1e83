#!/usr/bin/env python3
"""'lockstep learn site' in a browser, from the disk: every page opens without a script error, every
link leads to a file of the site, pictures are drawn, and nothing is wider than a phone.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chrome
import pages

LOCKSTEP = os.environ.get("LOCKSTEP") or os.path.join(pages.ROOT, "build", "lockstep")
WORK = pathlib.Path(tempfile.mkdtemp())
SITE = WORK / "site"


def learn(*words):
    environment = {**os.environ, "HOME": str(WORK), "XDG_DATA_HOME": str(WORK / "data")}
    return subprocess.run([LOCKSTEP, "learn", *words], text=True, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def html_files():
    return sorted(SITE.rglob("*.html"))


def written(_):
    done = learn("site", str(SITE))
    assert done.returncode == 0, done.stdout
    lessons = list(pathlib.Path(pages.ROOT, "course").glob("*/*/lesson.md"))
    interactives = re.findall(r"^X\(", pathlib.Path(pages.ROOT, "src/learn/interactives.def")
                              .read_text(), re.MULTILINE)
    expected = 2 + len(lessons) + len(interactives)
    assert len(html_files()) == expected, (len(html_files()), expected)
    assert f"{expected} pages" in done.stdout, done.stdout
    again = learn("site", str(SITE))
    assert again.returncode == 0, "a site is written again: " + again.stdout
    other = WORK / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    refused = learn("site", str(other))
    assert refused.returncode == 2 and "not empty" in refused.stdout, refused.stdout
    assert list(other.iterdir()) == [other / "mine.txt"], "it was left alone"


def links_lead_somewhere(_):
    """Relative, to files that exist; a part of a page that is named exists in it."""
    for page in html_files():
        text = page.read_text()
        for attribute, target in re.findall(r' (href|src|action)="([^"]*)"', text):
            if target.startswith(("https://", "http://")):
                assert attribute == "href", (page, target)  # a source to read, nothing to load
                continue
            assert not target.startswith("/"), f"{page}: {target}"
            path, _, part = target.partition("#")
            file = (page.parent / path.split("?")[0]).resolve() if path else page
            assert file.is_file() and SITE.resolve() in file.parents, f"{page}: {target}"
            assert not part or f'id="{part}"' in file.read_text(), f"{page}: no part {part}"


def ready(browser, page):
    browser.driver.get(page.resolve().as_uri())
    if page.parent.name == "interactive":
        browser.wait("return document.getElementById('interactive').dataset.ready === 'yes' || "
                     "document.querySelector('.error') !== null", f"{page.name} is drawn")
        assert browser.script("return document.querySelector('.figure')?.innerHTML.length") > 200


def every_page(browser):
    """In order from the disk, on a phone."""
    browser.size(390, 844)
    for page in html_files():
        ready(browser, page)
        errors = browser.errors()
        assert not errors, f"{page}: {errors[:2]}"
        wide = browser.script("return document.documentElement.scrollWidth")
        assert wide <= 390, f"{page} is {wide} wide"
        if "lesson" in page.parts:
            assert browser.script("return document.querySelectorAll('x-equation').length === "
                                  "document.querySelectorAll('x-equation .katex').length"), page


def walk_through(browser):
    """From the first lesson by Next to the last one, and each knows the way back."""
    first = browser.driver
    first.get((SITE / "index.html").resolve().as_uri())
    days = browser.script("return document.querySelectorAll('.stop').length")
    first.get(browser.script("return document.querySelector('.stop h3 a').href"))
    seen = 1
    while browser.script("return document.getElementById('day-next') !== null"):
        here = first.current_url
        first.get(browser.script("return document.getElementById('day-next').href"))
        back = browser.script("return document.getElementById('day-back').href")
        assert back == here, (back, here)
        seen += 1
    assert seen == days, (seen, days)


def picture_in_a_lesson(browser):
    """It moves there, and has the height that it needs."""
    browser.size(1280, 900)
    browser.driver.get((SITE / "lesson/week1/day5_naive_matmul.html").resolve().as_uri())
    browser.script("document.querySelector('iframe').scrollIntoView()")
    browser.wait("return parseFloat(document.querySelector('iframe').style.height) > 200",
                 "the frame is as high as its picture")
    browser.driver.switch_to.frame(browser.driver.find_element("css selector", "iframe"))
    try:
        browser.wait("return document.getElementById('interactive')?.dataset.ready === 'yes'",
                     "the picture is drawn")
        assert browser.script("return document.querySelector('header').offsetHeight") == 0
    finally:
        browser.driver.switch_to.default_content()


def controls_move(browser):
    browser.driver.get((SITE / "interactive/coalescing.html").resolve().as_uri() +
                       "?from=formula&stride=8")
    browser.wait("return document.getElementById('interactive').dataset.ready === 'yes'", "drawn")
    assert browser.results()["fetched"] == "32", browser.results()
    browser.move("stride", 1)
    assert browser.results()["fetched"] == "4", browser.results()


def in_a_notebook(browser):
    """The same page within a cell, as lockstep.widgets writes it."""
    page = WORK / "cell.html"
    os.environ["LOCKSTEP"] = os.path.abspath(LOCKSTEP)
    sys.path.insert(0, os.path.join(pages.ROOT, "python"))
    from lockstep.magic import Magic
    shown = Magic().line_or_cell("interactive coalescing from=formula stride=8")
    page.write_text("<!doctype html><meta charset=utf-8><link rel=icon href=data:,>" +
                    shown._repr_html_())
    browser.driver.get(page.as_uri())
    browser.driver.switch_to.frame(browser.driver.find_element("css selector", "iframe"))
    try:
        browser.wait("return document.getElementById('interactive')?.dataset.ready === 'yes'",
                     "the picture is drawn")
        assert browser.results()["fetched"] == "32", browser.results()
        browser.move("stride", 2)
        assert browser.results()["fetched"] == "8", browser.results()
    finally:
        browser.driver.switch_to.default_content()


TESTS = [written, links_lead_somewhere, every_page, walk_through, picture_in_a_lesson,
         controls_move, in_a_notebook]


def main():
    try:
        return chrome.run_tests([(test.__name__, test) for test in TESTS], "site")
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
