"""The interactives about number formats in a browser: formats.js, bits of floats and quantisation, every
result compared with witness.py. Prints "ok NAME" or "not ok NAME: why" lines."""

import itertools
import math
import random
import re
import struct
import sys
from fractions import Fraction
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import pages
import witness
from chrome import Page, run_tests
from shown import equal, near, number


# numbers/formats.js -------------------------------------------------------------------------------

HEX = """const bytes = new DataView(new ArrayBuffer(8));
    const hex = (x) => { bytes.setFloat64(0, x); return bytes.getBigUint64(0).toString(16); };
    const double = (h) => { bytes.setBigUint64(0, BigInt('0x' + h)); return bytes.getFloat64(0); };
    const { formats, decode, encodeNumber, neighbour } = await load('numbers/formats.js');
"""


def as_hex(value):
    return struct.pack(">d", value).hex()


def of_hex(word):
    return struct.unpack(">d", bytes.fromhex(word.zfill(16)))[0]


def codes_of(name):
    """All codes of a format of up to 16 bits; of a longer one the ends and a seeded sample."""
    size = 1 << witness.bits(name)
    if size <= 1 << 16:
        return list(range(size))
    some = random.Random(5)
    ends = [0, 1, 2, witness.largest(name) - 1, witness.largest(name), witness.largest(name) + 1,
            witness.largest(name) + 2, (1 << FIELD[name]) - 1, 1 << FIELD[name]]
    ends += [code + size // 2 for code in ends]
    return ends + [some.randrange(size) for _ in range(20000)]


FIELD = {name: mantissa for name, (_, mantissa, _, _) in witness.FORMATS.items()}


def decodes(browser, name):
    codes = codes_of(name)
    got = pages.evaluate(HEX + f"return argument.map((code) => hex(decode(formats.{name}, code)))",
                         codes, browser)
    equal(len(got), len(codes), "count")
    for code, word in zip(codes, got):
        value, wanted = of_hex(word), witness.decode(name, code)
        same = math.isnan(value) if math.isnan(wanted) else as_hex(value) == as_hex(wanted)
        assert same, f"{name} {code:#x}: {value}, expected {wanted}"


def numbers_to_round(name):
    """Values of the format, the middles between them and what lies just beside, and others."""
    some = random.Random(7)
    positive = [witness.decode(name, some.randrange(witness.largest(name) + 1)) for _ in range(300)]
    top = witness.decode(name, witness.largest(name))
    steps = [(witness.decode(name, c), witness.decode(name, c + 1))
             for c in {some.randrange(witness.largest(name)) for _ in range(300)}
             | {0, 1, witness.largest(name) - 1}]
    middles = [(a + b) / 2 for a, b in steps] + [top + (top - a) / 2 for a, b in steps if b == top]
    beside = [math.nextafter(x, way) for x in middles + [top] for way in (0, math.inf)]
    other = [some.uniform(-8, 8) for _ in range(300)] + [10 ** some.uniform(-46, 39)
                                                         for _ in range(300)]
    ends = [0.0, 5e-324, 1.7e308, top * 2, math.inf, math.nan]
    return [x * sign for x in positive + middles + beside + other + ends for sign in (1, -1)]


def encodes(browser, name):
    given = numbers_to_round(name)
    body = f"return argument.map((h) => encodeNumber(formats.{name}, double(h)))"
    got = pages.evaluate(HEX + body, [as_hex(x) for x in given], browser)
    equal(len(got), len(given), "count")
    for value, code in zip(given, got):
        wanted = witness.encode(name, value)
        assert code == wanted, f"{name} of {value!r}: {code:#x}, expected {wanted:#x}"
        if name in ("fp32", "fp16") and value == value:
            letter = {"fp32": "f", "fp16": "e"}[name]
            try:
                packed = int.from_bytes(struct.pack("<" + letter, value), "little")
            except OverflowError:
                packed = witness.largest(name) + 1 | (value < 0) << (witness.bits(name) - 1)
            assert code == packed, f"{name} of {value!r}: {code:#x}, C says {packed:#x}"


def neighbours(browser):
    """From the lowest to the highest of each small format, each step to the next larger value."""
    for name in ("e4m3", "e5m2", "e2m1", "fp16"):
        pairs = pages.evaluate(HEX + """const f = formats[argument], list = [];
            for (let code = 0; code < 2 ** f.bits; code++)
                list.push([neighbour(f, code, 1), neighbour(f, code, -1)]);
            return list;""", name, browser)
        equal(len(pairs), 1 << witness.bits(name), "codes")
        values = sorted({v for v in map(lambda c: witness.decode(name, c), codes_of(name))
                         if v == v})
        index = {value: i for i, value in enumerate(values)}
        for code, steps in enumerate(pairs):
            value = witness.decode(name, code)
            for step, way in zip(steps, (1, -1)):
                at = index[value] + way if value == value else -1
                wanted = values[at] if 0 <= at < len(values) else None
                got = None if step is None else witness.decode(name, step)
                equal(got, wanted, f"{name} {code:#x}, neighbour {way}")


# float_bits ---------------------------------------------------------------------------------------

DECIMALS = ["0.1", "-3.3", "448", "464", "464.1", "500", "1e9", "57344", "61440", "6e-8", "0.25",
            "5", "-0", "inf", "-inf", "3.4028235677973366e38", "7e-46",
            "1.000000059604644775390625",             # between two float32: to the even one
            "1.00000005960464477539062500000000001",  # and a double cannot tell it from the middle
            "1.00048828125", "1.000488281250000000000000000000001"]


def exact(word):
    return float(word) if "inf" in word or word == "-0" else Fraction(word)


def float_bits_numbers(browser):
    page = Page(browser, "float_bits")
    for name, word in itertools.product(witness.FORMATS, DECIMALS):
        page.set(format=name, number=word)
        got, code = page.results(), witness.encode(name, exact(word))
        what = f"{name} of {word}"
        equal(int(got["bits"], 16), code, what + " bits")
        value = witness.decode(name, code)
        equal(number(got["value"]), value, what + " value")
        equal(number(got["largest"]), witness.decode(name, witness.largest(name)), what)
        if math.isfinite(value) and "inf" not in word:
            error = Fraction(value) - Fraction(exact(word))
            near(got["error"], float(error), what + " error")
        up = witness.decode(name, code + 1) if code < witness.largest(name) else None
        if up is not None and code != 0:
            equal(number(got["next"]), up, what + " next")
            near(got["spacing"], up - value, what + " spacing")
            near(got["relative"], (up - value) / value, what + " relative spacing")
    page.set(format="fp16", number="0.1")
    rows = browser.script("return [...document.querySelectorAll('[data-format]')]"
                          ".map((r) => [r.dataset.format, r.innerText])")
    equal([row[0] for row in rows], list(witness.FORMATS), "rows of the table")
    for row in rows:
        code = witness.encode(row[0], Fraction("0.1"))
        words = row[1].split("\t")
        equal(int(words[1], 16), code, f"table {row[0]}")
        equal(number(words[2]), witness.decode(row[0], code), f"table {row[0]}")
        near(words[3], float(Fraction(witness.decode(row[0], code)) - Fraction("0.1")),
             f"table {row[0]}", 6e-3)


def float_bits_switches(browser):
    """Every bit of every format is pressed; the address has the bits."""
    for name in witness.FORMATS:
        page = Page(browser, "float_bits", f"format={name}&bits=0")
        code, count = 0, witness.bits(name)
        equal(len(page.find(".bit")), count, f"{name} buttons")
        for index in random.Random(3).sample(range(count), count):
            page.find(f"[data-key=bit-{index}]")[0].click()
            code ^= 1 << index
            got, wanted = page.results(), witness.decode(name, code)
            equal(int(got["bits"], 16), code, f"{name} bits")
            near(got["value"], wanted, f"{name} {code:#x}", 0)
            equal(re.search(r"[?&]bits=(\w+)", page.address())[1],
                  f"{code:0{-(-count // 4)}x}", "address")
            pressed = page.find(".bit[aria-pressed=true]")
            equal(len(pressed), bin(code).count("1"), f"{name} pressed")
        page.reload_is_same()


def float_bits_special(browser):
    for query, value, kind in (("format=e4m3&bits=7f", "NaN", "NaN"),
                               ("format=e4m3&bits=78", "256", "normal"),
                               ("format=e4m3&bits=ff", "NaN", "NaN"),
                               ("format=e5m2&bits=7c", "∞", "infinity"),
                               ("format=e5m2&bits=7d", "NaN", "NaN"),
                               ("format=fp16&bits=fc00", "-∞", "infinity"),
                               ("format=fp16&bits=1", "5.960464477539063e-8", "subnormal"),
                               ("format=e2m1&bits=8", "-0", "zero"),
                               ("format=e2m1&bits=f", "-6", "normal"),
                               ("format=e4m3&bits=1ff&number=2", "2", "normal"),
                               ("format=none&bits=xyz", "0.0999755859375", "normal")):
        page = Page(browser, "float_bits", query)
        equal(page.results()["value"], value, query)
        equal(page.results()["kind"], kind, query)
        page.reload_is_same()
    page.set(number="a few")
    assert "not a number" in page.texts("[role=alert]")[0]
    page.reload_is_same()


def float_bits_keyboard(browser):
    """The focus stays on the bit that was pressed, though the figure is drawn anew."""
    from selenium.webdriver.common.keys import Keys
    page = Page(browser, "float_bits", "format=e2m1&bits=0")
    page.focus("bit-1")
    for wanted in (1, 0, 1):
        browser.driver.switch_to.active_element.send_keys(Keys.SPACE)
        equal(number(page.results()["value"]), float(wanted), "value after a key")
        equal(page.focused(), "bit-1", "focus")


# quantisation -------------------------------------------------------------------------------------

def quantisation_results(browser):
    page = Page(browser, "quantisation")
    kinds = ("int8", "int4", "int2", "e4m3", "e5m2", "e2m1")
    for i, (kind, zero, rounding) in enumerate(itertools.product(
            kinds, ("symmetric", "affine"), ("nearest", "stochastic"))):
        group, outlier, seed = (0, 64, 32, 16, 8)[i % 5], (0, 20, 7)[i % 3], i + 1
        page.set(kind=kind, zero=zero, rounding=rounding, outlier=outlier, seed=seed,
                 scale=f"block {group}" if group else "tensor", shown=0)
        got, what = page.results(), f"{kind} {zero} {rounding} {group} {outlier} {seed}"
        rms, snr, scale, back = witness.quantise(kind, zero == "affine", group,
                                                 rounding == "stochastic", seed, outlier)
        near(got["rms"], rms, what + " rms")
        assert abs(number(got["snr"]) - snr) < 0.006, f"{what}: {got['snr']} dB, expected {snr}"
        near(got["scale"], scale, what + " scale")
        given = witness.values(128, seed, outlier)
        near(got["largest_error"], max(abs(a - b) for a, b in zip(given, back)), what)
        affine = zero == "affine" and kind.startswith("int")
        width = {"e4m3": 8, "e5m2": 8, "e2m1": 4}.get(kind) or int(kind[3:])
        near(got["bits_per_value"], width + (32 + width * affine) / (group or 128), what)
        equal(int(got["levels"]), len(witness.grid(kind, affine)), what + " levels")
        assert (number(got["zero"]) != 0) == affine, what + " zero point"


def quantisation_outlier(browser):
    """What the picture is for: an outlier costs all values of its scale, and no others."""
    page = Page(browser, "quantisation")
    calm = number(page.results()["snr"])
    page.set(outlier=30)
    lost = number(page.results()["rms"])
    page.set(scale="block 8")
    assert number(page.results()["rms"]) < lost / 2, "blocks do not help"
    assert calm > 15, calm
    equal(len(page.find("[data-group]")), 16, "groups drawn")
    scales = set()
    for shown in (0, 1, 8):
        page.press(f"[data-group='{shown}']")
        equal(page.shown("shown"), str(shown), "the group shown")
        scales.add(page.results()["scale"])
    near(max(map(number, scales)), 30 / 7, "scale of the outlier's block")
    page.set(shown=15)
    page.reload_is_same()
    page.set(scale="tensor")
    equal(page.shown("shown"), "0", "one group only")
    page.reload_is_same()


def tests():
    listed = [(f"{test.__name__} {name}", lambda browser, test=test, name=name: test(browser, name))
              for test in (decodes, encodes) for name in witness.FORMATS]
    return listed + [(test.__name__.replace("_", " "), test) for test in (
        neighbours, float_bits_numbers, float_bits_switches, float_bits_special,
        float_bits_keyboard, quantisation_results, quantisation_outlier)]


if __name__ == "__main__":
    sys.exit(run_tests(tests(), "formats"))
