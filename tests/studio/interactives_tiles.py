"""The tiles interactive in a browser, and what holds for all interactives about numbers and tiles: every
address loaded again, and a phone. Prints "ok NAME" or "not ok NAME: why" lines."""

import itertools
import random
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from chrome import Page, run_tests
from shown import equal


# tiles --------------------------------------------------------------------------------------------

def tiles_coordinates(browser):
    page = Page(browser, "tiles", "exercise=none")
    some = random.Random(2)
    for n, tile in ((20, 8), (13, 4), (32, 16), (33, 32), (96, 32), (5, 7), (1, 2), (96, 2)):
        page.set(n=n, tile=tile)
        count = -(-n // tile)
        for _ in range(4):
            bx, by, step = (some.randrange(count) for _ in range(3))
            tx, ty = some.randrange(tile), some.randrange(tile)
            page.set(bx=bx, by=by, tx=tx, ty=ty, step=step)
            got, what = page.results(), f"n {n} tile {tile} {bx, by, tx, ty, step}"
            row, col, first = by * tile + ty, bx * tile + tx, step * tile
            inside = row < n and col < n
            equal((int(got["row"]), int(got["col"])), (row, col), what)
            equal(got["index"], str(row * n + col) if inside else "none", what)
            equal(got["guard"], "true" if inside else "false", what)
            of_a, of_b = (row, first + tx), (first + ty, col)
            for key, place in (("reads_a", of_a), ("reads_b", of_b)):
                equal(got[key], "{}, {}".format(*place) if max(place) < n else "outside: 0", what)
            equal(int(got["blocks"]), count * count, what)
            equal(int(got["steps"]), count, what)
            equal(int(got["guarded"]), sum(r >= n or c >= n for r in range(count * tile)
                                           for c in range(count * tile)), what)
    page.set(n=4, tile=2)
    equal([page.shown(name) for name in ("bx", "by", "step")],
          [str(min(x, 1)) for x in (bx, by, step)], "blocks and step of a smaller matrix")


def tiles_picture(browser):
    """The rectangle of the block's tile in A moves right with the step, in B down; a click in C
    chooses the thread below it."""
    from selenium.webdriver import ActionChains
    page = Page(browser, "tiles", "exercise=none&n=12&tile=4&bx=1&by=2&tx=0&ty=0")

    def tile_at(name):
        return browser.script(
            "const r = document.querySelector(`[data-tile=${arguments[0]}]`);"
            "return [r.x.baseVal.value, r.y.baseVal.value, r.width.baseVal.value]", name)
    places = []
    for step in range(3):
        page.set(step=step)
        places.append([tile_at(name) for name in "abc"])
    wide = places[0][0][2]
    for step in (1, 2):
        for name, (dx, dy) in {0: (step, 0), 1: (0, step), 2: (0, 0)}.items():
            before, after = places[0][name], places[step][name]
            assert abs(after[0] - before[0] - dx * wide) < 0.1 and \
                abs(after[1] - before[1] - dy * wide) < 0.1, f"step {step}: {before} {after}"
    place = page.find(".tiles-click")[0]
    cell = place.rect["width"] / 12
    browser.script("arguments[0].scrollIntoView({block: 'center'})", place)
    hand = ActionChains(browser.driver)
    hand.move_to_element_with_offset(place, round(3.5 * cell), round(-4.5 * cell)).click().perform()
    equal([page.results()[name] for name in ("row", "col")], ["1", "9"], "the thread chosen")
    equal([page.shown(name) for name in ("bx", "by", "tx", "ty")], ["2", "0", "1", "1"], "place")
    page.set(step=0)
    page.press("[data-key=step-next]")
    equal(page.results()["reads_a"], "1, 5", "what is carried in step 1")
    page.reload_is_same()


def plays(browser):
    """Play goes from where it stands to the last step and stops there; pressed once more it begins
    anew, and Pause holds it."""
    for name, last in (("tiles", 2), ("online_softmax", 4), ("attention", 6), ("warp", None)):
        page = Page(browser, name, "step=1")
        button = "return document.querySelector('[data-key=step-play]').textContent"
        step = "return Number(document.getElementById('control-step').value)"
        end = browser.script("return Number(document.getElementById('control-step').max)")
        assert last in (None, end), f"{name}: {end} steps"
        page.set(step=max(0, end - 2))
        page.press("[data-key=step-play]")
        equal(page.focused(), "step-play", f"{name}: focus")
        browser.wait(f"{step} === {end}", f"{name} plays to its end")
        equal(browser.script(button), "\u25b6 Play", f"{name}: stopped")
        page.press("[data-key=step-play]")
        equal((browser.script(step), browser.script(button)), (0, "Pause"), f"{name}: from its beginning")
        page.press("[data-key=step-play]")
        held = browser.script(step)
        time.sleep(1.2)
        equal((browser.script(step), browser.script(button)), (held, "\u25b6 Play"), f"{name}: held")


def run_of(grid, block, row=None):
    """A learner's run; with a row's length also a load of a warp's first elements."""
    load = {"block": 0, "warp": 0, "kind": "load", "space": "global", "bytes": 4, "addresses": [
        4096 + 4 * (lane // block[0] * (row or 0) + lane % block[0]) for lane in range(32)]}
    launch = {"launch": 0, "name": "tiled", "grid": grid, "block": block,
              "records": [load] if row else []}
    return {"source": "yours", "exercise": "week1/day6_tiling/tiled", "file": "tiled.cu",
            "code": "", "trace": {"trace": 1, "launches": [launch]},
            "profile": {"kernels": [launch]}}


def tiles_run(browser):
    """The learner's own launch gives the defaults; without one the shipped run does."""
    cases = [(run_of([5, 5, 1], [16, 16, 1], 70), "70", "16"),
             (run_of([5, 5, 1], [16, 16, 1], 7), "80", "16"),  # not the length of a row
             (run_of([4, 2, 1], [8, 8, 1]), "32", "8"),
             (run_of([64, 64, 1], [32, 32, 1]), "96", "32"),
             (run_of([9, 1, 1], [256, 1, 1]), "20", "8"), (None, "40", "16")]
    for run, n, tile in cases:
        browser.studio.server.run = run
        page = Page(browser, "tiles")
        equal((page.shown("n"), page.shown("tile")), (n, tile), f"defaults of {run}")
        equal(browser.script("return document.querySelector('.run-source').dataset.source"),
              "yours" if run else "shipped", "source")
        page.set(n=20, tile=8, bx=2)
        page.reload_is_same()
        equal((page.shown("n"), page.shown("tile")), ("20", "8"), "the address goes first")


# all ----------------------------------------------------------------------------------------------

MOVED = {"tiles": {"n": 50, "tile": 7, "bx": 2, "by": 3, "tx": 4, "ty": 5, "step": 6},
         "dot": {"a": "1 2 3", "b": "4 5 6"},
         "softmax": {"scores": "1 2", "temperature": 0.7, "format": "bf16"},
         "online_softmax": {"scores": "4 3 2 1", "block": 3, "step": 2},
         "attention": {"keys": 9, "tile": 2, "step": 8, "large": 20, "at": 3, "rescale": "no",
                       "seed": 7},
         "float_bits": {"format": "bf16", "number": "3.14159"},
         "quantisation": {"kind": "e2m1", "scale": "block 16", "zero": "affine",
                          "rounding": "stochastic", "outlier": 12, "seed": 5, "shown": 7}}


def addresses(browser):
    """Every control is moved by itself; each changes the page, is kept in the address, and gone
    from it when it is back at its default."""
    for name, moves in MOVED.items():
        page = Page(browser, name)
        equal(sorted(x for x, _ in page.state()[2]), sorted("control-" + x for x in moves), name)
        for control, value in moves.items():
            before, was = page.state(), page.shown(control)
            page.set(**{control: value})
            equal(page.shown(control), str(value), f"{name} {control}")
            assert page.state()[:2] != before[:2], f"{name}: {control} does nothing"
            page.reload_is_same()
        page.set(**{control: was})
        assert name == "float_bits" or f"{control}=" not in page.address(), page.address()


def address_late(browser):
    """More changes than a browser takes: the last one is in the address all the same."""
    page = Page(browser, "softmax")
    browser.script("""const input = document.getElementById('control-temperature');
        for (let i = 0; i < 131; i++) {
            input.value = (i % 40 + 1) / 10;
            input.dispatchEvent(new Event('input', {bubbles: true}));
        }""")
    assert "temperature=1.1" not in browser.driver.current_url, "all changes were written at once"
    browser.script("const now = performance.now.bind(performance);"
                   "performance.now = () => now() + 31000;")
    assert page.address().endswith("?temperature=1.1"), page.address()


def phone(browser):
    """390 pixels, dark and light: nothing is cut off, and every control has a name."""
    try:
        browser.size(390, 844)
        for name, scheme in itertools.product(MOVED, ("dark", "light")):
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            page = Page(browser, name)
            wide, hidden = browser.script(
                "const f = document.querySelector('.figure');"
                "return [document.documentElement.scrollWidth, f.scrollWidth - f.clientWidth]")
            assert wide <= 390 and hidden <= 1, f"{name}: {wide} pixels wide, {hidden} cut off"
            nameless = browser.script(
                "return [...document.querySelectorAll('input, select, button, svg')].filter((x) => "
                "!(x.labels?.length || x.ariaLabel || x.textContent.trim())).length")
            equal(nameless, 0, f"{name}: controls without a name")
            assert page.texts("#interactive .look")[0].startswith("Look at "), name
    finally:
        browser.size(1100, 900)
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def tests():
    return [(test.__name__.replace("_", " "), test) for test in (
        tiles_coordinates, tiles_picture, tiles_run, plays, addresses, address_late, phone)]


if __name__ == "__main__":
    sys.exit(run_tests(tests(), "tiles"))
