#!/usr/bin/env python3
"""The replay in a browser: the library's kernels and the learner's own are played, stepped and
scrubbed by mouse and keyboard; warps are held, tiles fill, and the address brings a moment back. What
it computes is compared with a launch that was written by hand.
"""
import json
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chrome
import pages
from browser_pages import CONTRAST, has, same

TILED = "week1/day6_tiling/tiled"
NO_RUN = "week1/day4_first_kernel/saxpy"  # nobody runs it here
OFFERED = ["gemm/shared_tiled", "reduction/shared_tree", "scan/hillis_steele", "transpose/padded",
           "attention/online_softmax"]


def begin(browser):
    browser.visit()
    browser.click("#begin")
    browser.lesson_ready()


def ready(browser):
    browser.wait("return document.querySelector('#replay').dataset.ready === 'yes' || "
                 "document.querySelector('.error') !== null", "the replay can be played")
    same(browser.text(".error"), "", "an error")


def show(browser, path):
    browser.go(path)
    ready(browser)


def at(browser):
    return int(browser.script("return document.querySelector('#replay').dataset.at"))


def clock(browser):
    return float(browser.script("return document.querySelector('#replay').dataset.time"))


def doings(browser):
    return browser.script("return [...document.querySelectorAll('.replay-warp')].map("
                          "(row) => row.dataset.doing)")


def ink(browser, selector):
    """How many colours a canvas has: an empty tile has one."""
    return browser.script("""const canvas = document.querySelector(arguments[0]);
        const copy = Object.assign(document.createElement('canvas'),
            { width: canvas.width, height: canvas.height });
        const context = copy.getContext('2d', { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
        const colours = new Set();
        for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] > 0)
                colours.add((data[i] << 16) + (data[i + 1] << 8) + data[i + 2]);
        return colours.size""", selector)


# What it computes ---------------------------------------------------------------------------------

BY_HAND = {"replay": 1, "gpu": "sim:h200", "mhz": 1000, "sources": [{"file": "k.cu", "text":
           "constexpr int W = 4;\n__global__ void k(const float *in, float *out) {\n"
           "    __shared__ float tile[W][W + 1];\n}\n"}],
           "launches": [{"launch": 0, "name": "k", "grid": [1, 1, 1], "block": [40, 1, 1],
                         "parameters": [2 ** 45, 2 ** 45 + 4096], "shared_bytes": 80, "dropped": 0,
                         "shared": [{"name": "tile", "offset": 0, "bytes": 80}], "events": [
    {"time": 10, "warp": 0, "kind": "load", "space": "global", "bytes": 4, "lanes": 0xffffffff,
     "first": 2 ** 45, "step": 4, "sectors": 4, "dram": 3, "l2": 1},
    {"time": 12, "warp": 1, "kind": "run", "lanes": 0xff},
    {"time": 600, "warp": 0, "kind": "store", "space": "shared", "bytes": 4, "lanes": 0b1111,
     "first": 20, "step": 4, "passes": 1},
    {"time": 601, "warp": 0, "kind": "barrier", "lanes": 0xffffffff},
    {"time": 650, "warp": 1, "kind": "barrier", "lanes": 0xff},
    {"time": 670, "warp": 0, "kind": "release", "lanes": 0xffffffff},
    {"time": 670, "warp": 1, "kind": "release", "lanes": 0xff},
    {"time": 680, "warp": 1, "kind": "load", "space": "shared", "bytes": 8, "lanes": 0b101,
     "addresses": [20, 28], "passes": 1},
    {"time": 690, "warp": 1, "kind": "store", "space": "global", "bytes": 4, "lanes": 0b11,
     "addresses": [2 ** 45 + 4096, 2 ** 45 + 8192], "sectors": 2},
    {"time": 700, "warp": 0, "kind": "end", "lanes": 0}]}]}
COMPUTE = """
const { prepare, play, doing, eventsUntil, stepFrom } = await load("replay/model.js");
const model = prepare(argument, 0, 0), after = (count) => play(model, null, count);
const end = after(model.events.length);
return { pieces: model.pieces.map((each) => [each.name, each.columns, each.unit, each.shape]),
    buffers: model.buffers.filter((each) => each.sectors.length).map((each) =>
        [each.name, each.sectors.length]),
    lanes: model.lanes, doing: model.events.map((_, i) => doing(model, i)),
    written: [...end.written[0]], read: [...end.read[0]], sums: end.sums,
    early: [...after(2).written[0]].some(Boolean), until: eventsUntil(model, 650),
    same: JSON.stringify(play(model, after(4), 8)) === JSON.stringify(after(8)),
    back: JSON.stringify(play(model, after(8), 4)) === JSON.stringify(after(4)),
    step: [stepFrom(model, 1, 1, 0), stepFrom(model, 3, -1, 1), stepFrom(model, 10, 1, -1)] };
"""


def computed(browser):
    replay = json.loads(json.dumps(BY_HAND))
    for event in replay["launches"][0]["events"]:
        event.update(block=0, source=0, line=3, active=event["lanes"], count=1)
    browser.go("/replay")
    got = evaluate(browser, COMPUTE, replay)
    same(got["pieces"], [["tile", 5, 4, "[4][5]"]], "the tile")
    same(got["buffers"], [["in", 4], ["out", 2]], "the buffers")
    same(got["lanes"], [32, 8], "lanes of warps")
    same(got["doing"], ["memory", "wait", "writes", "held", "held", "run", "run", "reads", "store",
                        "ended"], "what warps do")
    same(got["written"], [0] * 5 + [3] * 4 + [0] * 11, "cells written, by event")
    same(got["read"], [0] * 5 + [8] * 4 + [0] * 11, "cells read")
    same(got["sums"], {"instructions": 7, "fetched": 4, "l1": 0, "l2": 1, "dram": 3, "stored": 2,
                       "passes": 2, "barriers": 2}, "sums")
    same((got["early"], got["until"], got["same"], got["back"]), (False, 5, True, True), "states")
    same(got["step"], [3, 2, 10], "steps")


def evaluate(browser, body, argument):
    answer = browser.driver.execute_async_script("""
        const done = arguments[arguments.length - 1];
        const load = (path) => import(`/web/${path}`);
        const body = async (load, argument) => { %s };
        body(load, arguments[0]).then((value) => done({ value }),
            (error) => done({ error: String(error.stack) }));""" % body, argument)
    assert "error" not in answer, answer
    return answer["value"]


# The library --------------------------------------------------------------------------------------

def library(browser):
    """Each that is offered plays to its end."""
    browser.go("/replay")
    same(browser.script("return [...document.querySelectorAll('[data-replay] ')].map((link) => "
                        "link.dataset.replay).filter(Boolean)"), OFFERED, "what is offered")
    for name in OFFERED:
        show(browser, f"/replay/{name}")
        same(at(browser), 0, f"{name}: where it begins")
        assert set(doings(browser)) == {"idle"}, doings(browser)
        empty = ink(browser, "canvas[data-piece]")
        browser.click("#to-end")
        assert at(browser) > 300, f"{name} has {at(browser)} events"
        assert ink(browser, "canvas[data-piece]") > empty, f"{name}: shared memory stays empty"
        for sum_name in ("instructions", "fetched", "passes"):
            assert browser.text(f"[data-sum={sum_name}]") != "0", f"{name}: {sum_name}"
        cut = browser.text(".replay-cut")
        assert "left out" not in cut, f"{name}: {cut!r}"
        same(set(doings(browser)), {"ended"}, f"{name}: its end")


def by_hand(browser):
    """Buttons, keys and the scrub bar."""
    show(browser, "/replay/reduction/shared_tree")
    browser.click("#step")
    same(at(browser), 1, "a step")
    has(browser.text("#sentence"), "Warp 0", "line")
    browser.script("document.activeElement.blur()")
    for key, expected in (("Right", 2), ("Right", 3), ("Left", 2)):
        browser.press(key)
        same(at(browser), expected, key)
    browser.press("Right", shift=True)
    same(at(browser), 12, "ten steps")
    browser.click("#back")
    same(at(browser), 11, "a step back")
    browser.script("""const scrub = document.getElementById('scrub');
        scrub.value = (Number(scrub.min) + Number(scrub.max)) / 2;
        scrub.dispatchEvent(new Event('input'));""")
    middle = clock(browser)
    assert 500 < middle < 1200, middle
    assert browser.script("return Number(document.getElementById('scrub').value)") == middle
    browser.click(".replay-warp[data-warp='3']")
    same(browser.script("return document.getElementById('warp').value"), "3", "the warp followed")
    browser.click("#step")
    has(browser.text("#sentence"), "Warp 3")
    browser.click("#to-begin")
    same(at(browser), 0, "the beginning")


def plays(browser):
    """By the space bar: time runs, and stops where it was paused."""
    show(browser, "/replay/reduction/shared_tree")
    browser.script("document.activeElement.blur()")
    browser.press(" ")
    browser.wait("return Number(document.querySelector('#replay').dataset.at) > 20", "it plays")
    same(browser.script("return document.querySelector('#replay').dataset.playing"), "yes", "state")
    browser.press(" ")
    stopped = clock(browser)
    time.sleep(0.3)
    same(clock(browser), stopped, "the time after a pause")
    browser.script("""const speed = document.getElementById('speed'); speed.value = '8';
        speed.dispatchEvent(new Event('change'));""")
    browser.click("#play")
    browser.wait("return document.querySelector('#replay').dataset.playing === 'no'", "it ends")
    same(set(doings(browser)), {"ended"}, "the end")


def held(browser):
    """In a tree all but one warp wait at the barriers, on the barrier's line."""
    show(browser, "/replay/reduction/shared_tree")
    source = open(os.path.join(pages.ROOT, "kernels/reduction/shared_tree.cu")).read().split("\n")
    most = 0
    for _ in range(60):
        browser.press("Right", shift=True)
        now = doings(browser)
        if now.count("held") > most:
            most = now.count("held")
            lines = browser.script("""return [...document.querySelectorAll(
                '.replay-source tr.here, .replay-source tr.now')].filter((row) =>
                row.querySelector('.warps').textContent).map((row) => Number(row.dataset.line))""")
            assert any("__syncthreads" in source[line - 1] for line in lines), lines
    assert most >= 5, f"{most} of 8 warps are held at most"


def address(browser):
    """It alone brings back a moment; several launches can be chosen."""
    show(browser, "/replay/reduction/shared_tree?at=120&warp=2")
    same((at(browser), browser.script("return document.getElementById('warp').value")), (120, "2"),
         "from the address")
    browser.click("#step")
    browser.wait("return location.search.includes(`at=${document.querySelector('#replay')"
                 ".dataset.at}`)", "the address is written")
    moment, words = at(browser), browser.text("#sentence")
    browser.go(browser.path())
    ready(browser)
    same((at(browser), browser.text("#sentence")), (moment, words), "after a reload")
    browser.script("""const launch = document.getElementById('launch'); launch.value = '1';
        launch.dispatchEvent(new Event('change'));""")
    same(at(browser), 0, "another launch")
    browser.wait("return location.search.includes('launch=1')", "the launch is in the address")


# The learner's ------------------------------------------------------------------------------------

def own_kernel(browser):
    browser.lesson(TILED)
    same(browser.run(live.course_file(TILED)), "passed", "our solution")
    browser.click("#replay-link")
    ready(browser)
    has(browser.path(), "/replay?exercise=")
    has(browser.text(".replay-left h2"), "tiled.cu")
    assert live.course_file(TILED).split("\n")[0].strip() in browser.text(".replay-source")
    browser.click("#to-end")
    assert len(browser.all("canvas[data-piece]")) >= 2, "two tiles"
    has(browser.text(".replay-memory"), "a ", "b ")
    browser.click(".back a")
    browser.lesson_ready()
    browser.go(f"/replay?exercise={NO_RUN}")
    browser.wait("return document.querySelector('.error') !== null", "it says that there is none")
    has(browser.text(".error"), "no replay yet", "go to the exercise and run it")


def from_a_file(browser):
    file = live.WORK / "replay.json"
    subprocess.run([os.environ["LOCKSTEP"], "profile", "transpose/shared", "rows=64", "cols=64",
                    "--replay", str(file)], check=True, stdout=subprocess.DEVNULL)
    bad = live.WORK / "bad.json"
    bad.write_text('{"replay": 2}')
    browser.go("/replay")
    browser.find("#replay-file").send_keys(str(bad))
    browser.wait("return document.querySelector('.error') !== null", "a file that is no replay")
    has(browser.text(".error"), "not a replay")
    browser.find("#replay-file").send_keys(str(file))
    ready(browser)
    browser.click("#step")
    same(at(browser), 1, "a step in a file")


def looks(browser):
    """At three widths and in both themes: nothing sticks out, and text can be read."""
    for theme in ("dark", "light"):
        browser.go("/")
        browser.script("localStorage.setItem('lockstep:theme', arguments[0])", theme)
        for width in (390, 820, 1440):
            browser.size(width, 900)
            for path in ("/replay", "/replay/gemm/shared_tiled?at=900&warp=1"):
                browser.go(path)
                if "gemm" in path:
                    ready(browser)
                same(browser.script("return document.documentElement.dataset.shown"), theme, path)
                wide, name = browser.script("""
                    const widest = [...document.querySelectorAll('body *')].find((each) =>
                        each.getBoundingClientRect().right > innerWidth + 1 && !each.closest(
                            '.replay-source, .skip, .hidden'));
                    return [document.documentElement.scrollWidth,
                        widest ? widest.tagName + '.' + widest.className : ''];""")
                assert wide <= width and not name, f"{path} at {width} is {wide} wide: {name}"
                weak = browser.script(CONTRAST)
                assert not weak, f"{path}, {theme}: {weak[:4]}"


def none(browser):
    for path in ("/replay/gemm/none", "/replay/none/none", "/replay?exercise=none"):
        browser.go(path)
        assert "404" in " ".join(browser.errors()), path


TESTS = [begin, computed, library, by_hand, plays, held, address, own_kernel, from_a_file, looks, none]


def main(wanted):
    global live
    if pages.without_browser():
        return chrome.skip_tests(TESTS, "replay")
    import live  # makes a folder, so only here
    return chrome.run_live_tests(live, TESTS, "replay", wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
