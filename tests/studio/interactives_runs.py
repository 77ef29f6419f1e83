#!/usr/bin/env python3
"""The interactives that draw a run, in a browser: every control is moved, and what is shown is
compared with values that are computed here; the address keeps the state; a learner's run takes the
place of the shipped one; nothing stands in the console.
"""
import decimal, json, os, subprocess, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chrome
import pages

LOCKSTEP = os.environ.get("LOCKSTEP") or os.path.join(pages.ROOT, "build", "lockstep")
NAMES = ["warp", "occupancy", "coalescing", "banks", "hierarchy"]


# What must be shown ------------------------------------------------------------------------------

def shipped(name):
    with open(os.path.join(pages.WEB, "runs", name + ".json")) as stream:
        return json.load(stream)


def lanes(mask):
    return [lane for lane in range(32) if mask >> lane & 1]


def records_of(run, space=None):
    records = [record for launch in run["trace"]["launches"] for record in launch["records"]]
    return [r for r in records if space is None or r.get("space") == space and r["mask"]]


def sectors_of(addresses, size):
    """(sectors, sectors that would do) of lanes' first bytes"""
    touched = {address + k for address in addresses for k in range(size)}
    return len({byte // 32 for byte in touched}), (len(touched) + 31) // 32


def passes_of(addresses, size):
    """Passes of a load none of whose lanes share a word."""
    together = 32 if size <= 4 else 128 // size
    passes = 0
    for first in range(0, 32, together):
        banks = [set() for _ in range(32)]
        for address in addresses[first:first + together]:
            for k in range(max(size // 4, 1)):
                banks[(address // 4 + k) % 32].add(address // 4 + k)
        passes += max(map(len, banks))
    return passes, passes - 32 // together


def digits(value):
    """Four digits, as draw.js writes them: a half is rounded up."""
    context = decimal.Context(prec=4, rounding=decimal.ROUND_HALF_UP)
    return "%g" % float(context.create_decimal(decimal.Decimal(value)))


def bytes_words(value):
    for unit, name in ((2 ** 30, "GiB"), (2 ** 20, "MiB"), (2 ** 10, "KiB")):
        if value >= unit:
            return "%s %s" % (digits(value / unit), name)
    return "%s B" % digits(value)


def same(got, expected, words):
    for key, value in expected.items():
        assert got.get(key) == str(value), "%s: %s is '%s', expected '%s'" % (
            words, key, got.get(key), value)


# The five ----------------------------------------------------------------------------------------

def check_warp(browser):
    run = shipped("warp")
    browser.show("warp")
    for warp in sorted({record["warp"] for record in records_of(run)}):
        browser.move("warp", "0.0.%d" % warp)
        mine = [record for record in records_of(run) if record["warp"] == warp]
        mean = sum(len(lanes(record["active"])) for record in mine) / len(mine)
        splits = [record for record in mine if record["kind"] == "branch"
                  and record["mask"] not in (0, record["active"])]
        expected = {"records": len(mine), "lanes": digits(mean), "splits": len(splits)}
        same(browser.results(), expected, "warp %d" % warp)
        for step in (0, len(mine) // 2, len(mine) - 1):
            browser.move("step", step)
            now = browser.script("""return [document.querySelector('.warp-now code').textContent,
                document.querySelectorAll('.warp-now .fill-0').length]""")
            line = run["code"].split("\n")[mine[step]["line"] - 1].strip()
            assert now == ["line %d: %s" % (mine[step]["line"], line),
                           len(lanes(mine[step]["mask"]))], (warp, step, now)
    assert browser.move("step", 100000) == str(len(mine) - 1), "the slider ends at the last record"
    browser.script("document.querySelector('.warp-rows li:nth-child(2)').click()")
    assert "step=1" in browser.driver.current_url, "a click on a row sets the step"


def check_occupancy(browser):
    browser.show("occupancy")
    kernel = shipped("occupancy")["profile"]["kernels"][0]["occupancy"]
    state = {"gpu": "h200", "block": kernel["threads"], "registers": kernel["registers"],
             "shared": kernel["shared_bytes"]}
    moves = [{}, {"block": 1024}, {"registers": 96}, {"shared": 65536}, {"gpu": "t4"},
             {"block": 64}, {"registers": 33}, {"gpu": "a100"}, {"shared": 0}, {"block": 96},
             {"registers": 255}]
    for move in moves:
        for key, value in move.items():
            state[key] = value
            browser.move(key, value)
        told = json.loads(subprocess.run(
            [LOCKSTEP, "gpus", state["gpu"], "--block", str(state["block"]), "--registers",
             str(state["registers"]), "--shared", str(state["shared"]), "--json"],
            stdout=subprocess.PIPE, check=True, text=True).stdout)
        got = told["occupancy"]
        limiter = got["limiter"] if got["blocks_per_sm"] else "does not run: " + got["limiter"]
        same(browser.results(), {
            "occupancy": digits(100 * got["occupancy"]) + " %", "blocks": got["blocks_per_sm"],
            "warps": "%d of %d" % (got["warps_per_sm"], told["warps_per_sm"]),
            "limiter": limiter}, str(state))
    circles = "return document.querySelectorAll('circle.occupancy-kernel').length"
    assert browser.script(circles) == 3, "the kernel is a dot on each curve"
    browser.script("document.querySelector('[data-key=kernel]').click()")
    same(browser.results(), {"occupancy": digits(100 * kernel["occupancy"]) + " %"}, "back")
    assert "?" not in browser.driver.current_url, browser.driver.current_url


def check_coalescing(browser):
    records = records_of(shipped("coalescing"), "global")
    browser.show("coalescing")
    browser.move("line", 0)
    for at in range(0, len(records), 3):
        browser.move("record", at)
        used = [records[at]["addresses"][lane] for lane in lanes(records[at]["mask"])]
        fetched, needed = sectors_of(used, records[at]["bytes"])
        same(browser.results(), {"fetched": fetched, "needed": needed}, "access %d" % at)
        assert browser.script("return document.querySelectorAll('.coalescing-sector').length") \
            == fetched, "as many sectors are drawn"
    browser.move("from", "formula")
    for stride, offset, size in ((1, 0, 4), (1, 1, 4), (2, 0, 4), (0, 3, 4), (7, 5, 8), (3, 2, 1),
                                 (1, 0, 16), (40, 32, 16), (5, 0, 2)):
        browser.move("stride", stride)
        browser.move("offset", offset)
        browser.move("bytes", size)
        addresses = [(offset + stride * lane) * size for lane in range(32)]
        fetched, needed = sectors_of(addresses, size)
        touched = len({a + k for a in addresses for k in range(size)})
        same(browser.results(), {
            "fetched": fetched, "needed": needed, "lines": len({a // 128 for a in addresses}),
            "efficiency": digits(100 * touched / (32 * fetched)) + " %"},
            str((stride, offset, size)))


def check_banks(browser):
    records = records_of(shipped("banks"), "shared")
    browser.show("banks")
    for row, padding in ((32, 0), (32, 1), (16, 1), (32, 4), (8, 3)):
        browser.move("row", row)
        browser.move("padding", padding)
        browser.move("line", 0)
        for at in (0, 1, len(records) // 2, len(records) - 1):
            browser.move("record", at)
            moved = [a + a // (4 * row) * 4 * padding for a in records[at]["addresses"]]
            passes, conflicts = passes_of(moved, 4)
            same(browser.results(), {"passes": passes, "conflicts": conflicts},
                 str((row, padding, at)))
    browser.move("from", "formula")
    for row, padding, size in ((32, 0, 4), (32, 1, 4), (1, 0, 4), (12, 2, 4), (16, 0, 8),
                               (16, 1, 8), (8, 0, 16), (8, 1, 16), (3, 0, 16), (64, 8, 8)):
        browser.move("row", row)
        browser.move("padding", padding)
        browser.move("bytes", size)
        passes, conflicts = passes_of([lane * (row + padding) * size for lane in range(32)], size)
        same(browser.results(), {"passes": passes, "conflicts": conflicts, "lanes":
                                 min(32, 128 // size)}, str((row, padding, size)))


def check_hierarchy(browser):
    kernel = shipped("hierarchy")["profile"]["kernels"][0]
    counters = kernel["counters"]
    browser.show("hierarchy")
    shared = (counters["smsp__sass_data_bytes_mem_shared_op_ld"] +
              counters["smsp__sass_data_bytes_mem_shared_op_st"])
    asked = shared + (counters["smsp__sass_data_bytes_mem_global_op_ld"] +
                      counters["smsp__sass_data_bytes_mem_global_op_st"])
    dram = kernel["dram_bytes"]
    same(browser.results(), {
        "threads": bytes_words(asked), "shared": bytes_words(shared), "dram": bytes_words(dram),
        "l1": bytes_words(32 * (counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld"] +
                                counters["l1tex__t_sectors_pipe_lsu_mem_global_op_st"])),
        "l2": bytes_words(32 * (counters["lts__t_sectors_srcunit_tex_op_read"] +
                                counters["lts__t_sectors_srcunit_tex_op_write"])),
        "reuse": digits(asked / dram) + " ×", "bound": "shared memory"}, "the run")
    browser.move("from", "formula")
    gpus = json.loads(subprocess.run([LOCKSTEP, "gpus", "--json"], stdout=subprocess.PIPE,
                                     check=True, text=True).stdout)
    for n, tile, name in ((1024, 16, "h200"), (256, 1, "h200"), (4096, 128, "t4"),
                          (8192, 2, "a100")):
        browser.move("n", n)
        browser.move("tile", tile)
        browser.move("gpu", name)
        gpu = next(each for each in gpus if each["id"] == name)
        moved = 8 * n ** 3 / tile + 4 * n * n
        is_dram = moved / gpu["memory_gb_s"] / 1e9 > 2 * n ** 3 / gpu["f32_tflops"] / 1e12
        same(browser.results(), {"dram": bytes_words(moved),
                                 "reuse": digits(8 * n ** 3 / moved) + " ×",
                                 "intensity": digits(2 * n ** 3 / moved),
                                 "bound": "DRAM" if is_dram else "f32 units"},
             str((n, tile, name)))


# All of them -------------------------------------------------------------------------------------

def check_addresses(browser):
    """What is set is in the address; the address alone brings it back; a wrong one does no harm."""
    for name, moves in (("warp", [("warp", "0.0.1"), ("step", 5)]),
                        ("occupancy", [("gpu", "a100"), ("registers", 100)]),
                        ("coalescing", [("from", "formula"), ("stride", 9), ("bytes", 8)]),
                        ("banks", [("padding", 1)]),
                        ("hierarchy", [("from", "formula"), ("tile", 4)])):
        browser.show(name)
        plain = browser.results()
        for key, value in moves:
            browser.move(key, value)
        address, drawn = browser.driver.current_url, browser.script(
            "return document.querySelector('.figure').outerHTML")
        for key, value in moves:
            assert "%s=%s" % (key, value) in address, address
        browser.driver.get("about:blank")
        browser.show(name, "?" + address.split("?")[1])
        assert browser.script("return document.querySelector('.figure').outerHTML") == drawn, name
        browser.show(name, "?step=x&record=-7&line=99999&warp=9.9.9&gpu=none&tile=3&from=nowhere&"
                     "stride=1e99&padding=0.2&registers=&block=-1&launch=4")
        assert not browser.script("return document.querySelector('.error')"), name
        if name != "occupancy":
            assert browser.results() == plain, (name, browser.results())


def check_own_run(browser):
    """A learner's run is drawn where there is one, and what it does changes the picture."""
    run = shipped("coalescing")
    run.update(source="yours", file="row_walk.cu", code=run["code"].replace(
        "// TODO", "// <img src=x onerror=alert(1)>"))
    for record in records_of(run, "global"):
        record["addresses"] = [2 ** 45 + 4 * lane for lane in range(32)]
    browser.studio.server.run = run
    browser.show("coalescing")
    same(browser.results(), {"fetched": 4, "needed": 4, "efficiency": "100 %"}, "own run")
    assert browser.script("return document.querySelector('.run-source').dataset.source") == "yours"
    browser.show("coalescing", "?exercise=none")
    same(browser.results(), {"fetched": 32}, "shipped run")
    browser.show("warp")
    assert browser.results()["splits"] == "0" and not browser.script(
        "return document.querySelector('img')")


def check_empty_run(browser):
    """A run in which nothing was traced: formulas, and words instead of an empty picture."""
    run = shipped("coalescing")
    run["source"] = "yours"
    run["trace"]["launches"] = []
    run["profile"]["kernels"] = []
    browser.studio.server.run = run
    for name in NAMES:
        browser.show(name)
        assert not browser.script("return document.querySelector('.error')"), name
        assert browser.script("return document.querySelector('.figure').textContent") != "", name
        if name in ("coalescing", "banks"):
            figure = browser.script("return document.querySelector('.figure').textContent")
            assert figure.startswith("Your last run has no traced access"), figure
            assert browser.script("return document.querySelector('.run-source').hidden")
    assert browser.results()["bound"] == "DRAM", "the formula stands in"


def check_keyboard(browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    browser.show("banks", "?from=formula")
    slider = browser.driver.find_element(By.ID, "control-padding")
    before = browser.results()["passes"]
    slider.send_keys(Keys.ARROW_RIGHT)
    assert (before, browser.results()["passes"]) == ("32", "1"), "an arrow moves the slider"
    assert browser.script("return document.activeElement.id") == "control-padding"
    browser.show("occupancy", "?registers=200")
    button = browser.driver.find_element(By.CSS_SELECTOR, "[data-key=kernel]")
    button.send_keys(Keys.ENTER)
    assert "registers" not in browser.driver.current_url
    assert browser.script("return document.activeElement.dataset.key") == "kernel", "focus stays"


def check_phone(browser):
    """390 pixels: nothing is cut off, pictures are as wide as the page and named for a reader."""
    browser.size(390, 800)
    for name in NAMES:
        browser.show(name)
        wide, unnamed, look = browser.script("""return [document.documentElement.scrollWidth,
            document.querySelectorAll('.figure svg[role=img]:not([aria-label])').length,
            document.querySelector('.look').textContent]""")
        assert wide <= 390, "%s is %d pixels wide" % (name, wide)
        assert unnamed == 0 and look.startswith("Look "), name
        inner = browser.script("""const f = document.querySelector('.figure');
            return f.scrollWidth - f.clientWidth""")
        assert inner <= 1, "%s is cut off by %d pixels" % (name, inner)
    browser.size(1100, 900)


TESTS = [check_warp, check_occupancy, check_coalescing, check_banks, check_hierarchy,
         check_addresses, check_own_run, check_empty_run, check_keyboard, check_phone]


def main():
    tests = [(test.__name__.replace("check_", ""), test) for test in TESTS]
    return chrome.run_tests(tests, "interactives")


if __name__ == "__main__":
    sys.exit(main())
