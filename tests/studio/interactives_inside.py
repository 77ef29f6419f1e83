"""Every mark of a picture lies inside the picture, and a marker inside its axes, whatever the numbers: the
largest and smallest a control takes, numbers typed by hand, kernels that do not fit the GPU shown. Prints
"ok NAME" or "not ok NAME: why" lines."""

import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import pages
from chrome import run_tests

WIDTHS = (390, 820, 1440)
LISTS = ["1", "0,0", "4,4", "-4,4", "100,-100", "1e9,-1e9", "1e30,1e-30", "-1e300,1e300", "0.001,0.001",
         "88,89,10", "-200,-300", "1,2,3,4,5,6,7,8", "-1e30,-1e30,-1e30", "1e38,1,1e38,-1e38"]
NUMBERS = ["0", "-0", "inf", "-inf", "nan", "1e-400", "65504", "65520", "-65504", "1e308", "1.7976931348623157e308",
           "5e-324", "448", "464", "57344", "-57344", "6", "-6", "0.1", "3.4028235e38", "1e-45"]
FORMATS = ["fp32", "tf32", "fp16", "bf16", "e4m3", "e5m2", "e2m1"]

# What sticks out of its picture: by more than a pixel, and half a stroke or a letter for words.
OUTSIDE = """
    const found = [];
    for (const picture of document.querySelectorAll('#interactive svg')) {
        const frame = picture.getBoundingClientRect();
        for (const each of picture.querySelectorAll('circle, line, rect, path, polygon, text')) {
            if (each.closest('pattern, defs'))
                continue;
            const at = each.getBoundingClientRect(), more = each.tagName === 'text' ? 4 : 2;
            if (!(at.left >= frame.left - more && at.right <= frame.right + more &&
                  at.top >= frame.top - more && at.bottom <= frame.bottom + more))
                found.push(`${each.tagName}.${each.getAttribute('class')} ${each.textContent} ` +
                    [at.left - frame.left, at.right - frame.right, at.top - frame.top,
                        at.bottom - frame.bottom].map(Math.round));
            for (const name of each.getAttributeNames())
                if (/NaN|Infinity|undefined/.test(each.getAttribute(name)))
                    found.push(`${each.tagName} ${name}=${each.getAttribute(name)}`);
        }
    }
    return found.slice(0, 4)"""

# Markers of the occupancy calculator between the ends of its grid.
OFF_AXIS = """
    return [...document.querySelectorAll('.occupancy-charts svg')].flatMap((chart) => {
        const grid = [...chart.querySelectorAll('.occupancy-grid')];
        const number = (line, name) => Number(line.getAttribute(name));
        const left = number(grid[0], 'x1'), right = number(grid[0], 'x2');
        const ys = grid.map((line) => number(line, 'y1'));
        return [...chart.querySelectorAll('circle')].map((mark) =>
            [number(mark, 'cx'), number(mark, 'cy')]).filter(([x, y]) => !(x >= left && x <= right &&
            y >= Math.min(...ys) && y <= Math.max(...ys)));
    })"""


def inside(browser, name, queries):
    for width in WIDTHS:
        browser.size(width, 900)
        for query in queries:
            browser.show(name, "?" + query)
            found = browser.script(OUTSIDE)
            assert not found, f"{name}?{query} at {width} px: {found}"


def dots(browser):
    inside(browser, "dot", [f"a={a}&b={b}" for a, b in zip(LISTS, LISTS) if len(a.split(",")) < 9] +
           ["a=4,4&b=1,0.5", "a=-4,4&b=1,0.5", "a=4,-4&b=0.25,-0.1", "a=100,3&b=-3,100", "a=1e30,0&b=0,1e-30"])


def softmaxes(browser):
    inside(browser, "softmax", [f"scores={each}&temperature={t}&format={f}" for each, t, f in
                                zip(LISTS, [0.1, 5, 1] * 5, ["fp16", "fp32", "bf16"] * 5)])
    inside(browser, "online_softmax", [f"scores={each}&step={s}" for each, s in zip(LISTS, [0, 1, 2] * 5)])
    inside(browser, "attention", [f"keys={k}&tile={t}&large={l}&at={k - 1}&rescale={r}&step={s}&seed={s + 1}"
                                  for k in (2, 24) for t in (1, k) for l in (0, 1, 120)
                                  for r, s in (("yes", 3), ("no", 72))])


def numbers(browser):
    inside(browser, "float_bits", [f"format={FORMATS[i % 7]}&number={each}" for i, each in
                                   enumerate(NUMBERS + NUMBERS[3:] + NUMBERS[5:])])
    inside(browser, "quantisation", [f"kind={k}&scale={s}&zero={z}&outlier={o}&shown=15" for k, s, z, o in
                                     [("int4", "tensor", "symmetric", 40), ("int8", "block 8", "affine", 40),
                                      ("int4", "block 64", "affine", 0), ("e2m1", "block 16", "symmetric", 40)]])


def tiles(browser):
    inside(browser, "tiles", ["n=1&tile=32", "n=1&tile=2", "n=9999&tile=2&bx=9999&by=9999&tx=99&ty=99&step=99",
                              "n=33&tile=32&bx=1&by=1&tx=31&ty=31&step=1"])


def occupancies(browser):
    """A kernel that ran on one GPU, shown on another one, whose blocks are smaller than it."""
    draw = random.Random(7)
    for gpu, threads, registers, shared in [("h200", 1024, 255, 232448), ("h200", 1, 1, 0), ("t4", 1024, 255, 65536),
                                            ("a100", 33, 168, 166912), ("h200", 0, 0, 0),
                                            *[("h200", draw.randrange(1, 1025), draw.randrange(1, 256),
                                               draw.randrange(0, 232449)) for _ in range(6)]]:
        browser.studio.server.run = {"source": "yours", "exercise": "a/b/c", "file": "c.cu", "code": "", "trace": None,
            "profile": {"gpu": f"sim:{gpu}", "kernels": [{"name": "k", "launch": 1, "lines": [], "occupancy":
                {"threads": threads, "registers": registers, "shared_bytes": shared}}]}}
        for width in WIDTHS:
            browser.size(width, 900)
            for shown in ("h200", "a100", "t4"):
                query = f"?gpu={shown}&block=99999&registers=999&shared=999999"
                browser.show("occupancy", query)
                what = f"{gpu} {threads} {registers} {shared} on {shown} at {width} px"
                assert browser.script("return document.querySelectorAll('.occupancy-kernel').length") >= 3, what
                off = browser.script(OFF_AXIS)
                assert not off, f"{what}: off its axes: {off}"
                found = browser.script(OUTSIDE)
                assert not found, f"{what}: {found}"


if __name__ == "__main__":
    sys.exit(run_tests([(each.__name__, each) for each in (dots, softmaxes, numbers, tiles, occupancies)],
                       "inside"))
