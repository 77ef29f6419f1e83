"""The interactives about numbers and tiles in a browser: every control moved, every result compared
with witness.py, every address loaded again. Prints "ok NAME" or "not ok NAME: why" lines."""

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



def number(word):
    word = word.replace("∞", "inf")
    return float(word) if word != "none" else None


def near(got, wanted, what, relative=2e-5, absolute=0):
    """Six digits are shown."""
    got = number(got) if isinstance(got, str) else got
    same = math.isnan(got) if math.isnan(wanted) else got == wanted or \
        abs(got - wanted) <= relative * abs(wanted) + absolute
    assert same, f"{what}: {got} shown, {wanted} expected"


def near_list(got, wanted, what):
    words = got.split(", ")
    assert len(words) == len(wanted), f"{what}: {got} shown, {wanted} expected"
    for i, (word, value) in enumerate(zip(words, wanted)):
        near(word, value, f"{what} {i}", absolute=1e-40)  # float32 has few digits below that


def equal(got, wanted, what):
    assert got == wanted, f"{what}: {got!r} shown, {wanted!r} expected"


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


# softmax ------------------------------------------------------------------------------------------

def softmax_formats(browser):
    page = Page(browser, "softmax")
    lists = [[2, 9, 11, 12], [1, 2, 3], [88, 89, 10], [-200, -300], [5],
             [0.1, 0.2, -0.3, 4.5, 11.05]]
    for scores, name, temperature in itertools.product(lists, ("fp32", "fp16", "bf16"),
                                                       (1, 0.5, 2.5)):
        page.set(scores=", ".join(map(str, scores)), format=name, temperature=temperature)
        got, what = page.results(), f"{scores} {name} {temperature}"
        naive, naive_sum = witness.softmax(scores, temperature, name, False)
        shifted, shifted_sum = witness.softmax(scores, temperature, name, True)
        near_list(got["naive"], naive, what + " naive")
        near_list(got["shifted"], shifted, what + " shifted")
        near(got["naive_sum"], naive_sum, what)
        near(got["shifted_sum"], shifted_sum, what)
        near(got["max"], witness.rounded(name, witness.rounded(name, max(scores)) /
                                         witness.rounded(name, temperature)), what + " max")
        true = witness.true_softmax([score / temperature for score in scores])
        near(got["shifted_error"], max(abs(a - b) for a, b in zip(shifted, true)), what, 1e-4)
        bad = page.find("[data-way=naive] .softmax-track.bad")
        equal(len(bad), sum(p != p for p in naive), what + " bars without a number")
        equal(len(page.find("[data-way=shifted] .softmax-bad")), 0, what)


def softmax_bad_input(browser):
    page = Page(browser, "softmax", "scores=1,x,3")
    equal(page.texts("[role=alert]"), ['scores: "x" (number 2) is not a finite number'], "words")
    page.set(scores="")
    assert "empty" in page.texts("[role=alert]")[0]
    page.set(scores=" ".join(["1"] * 17))
    assert "at most 16" in page.texts("[role=alert]")[0]
    page.set(scores="1 2")
    equal(page.texts("[role=alert]"), [], "words after it is corrected")
    equal(Page(browser, "softmax", "temperature=0&format=fp8").shown("temperature"), "0.1",
          "a temperature below the least")


# online_softmax -----------------------------------------------------------------------------------

def online_steps(browser):
    page = Page(browser, "online_softmax")
    for scores, block in itertools.product(([1, 3, 2, 5, 4, 0, 6, 2], [-1, -5.5, 100, 99.25, 2],
                                            [3, 3, 3]), (1, 2, 3, 8)):
        block = min(block, len(scores))
        page.set(scores=", ".join(map(str, scores)), block=block)
        steps = witness.online(scores, block)
        for at, (m, total, factor) in enumerate(steps, 1):
            page.set(step=at)
            got, what = page.results(), f"{scores} block {block} step {at}"
            near(got["m"], m, what + " m")
            near(got["l"], total, what + " l")
            near(got["factor"], factor, what + " factor")
            equal(int(got["read"]), min(at * block, len(scores)), what + " read")
            equal(int(got["steps"]), len(steps), what + " steps")
            equal("online" in got, at == len(steps), what + ": the result comes at the end")
        near_list(got["online"], witness.true_softmax(scores), what)
        near_list(got["two_pass"], witness.true_softmax(scores), what)
        assert number(got["difference"]) <= 2e-7, got["difference"]


def online_buttons(browser):
    """The steps by the buttons, and a step that is beyond the last of fewer blocks."""
    page = Page(browser, "online_softmax", "step=0&block=1")
    equal(page.results()["m"], "-∞", "m before the first block")
    for at in range(1, 9):
        page.press("[data-key=step-next]")
        equal(page.shown("step"), str(at), "step")
        equal(page.focused(), "step-next", "focus")
    page.press("[data-key=step-next]")
    equal(page.shown("step"), "8", "the last step")
    page.set(block=4)
    equal(page.shown("step"), "2", "step after larger blocks")
    page.set(scores="4")
    equal((page.shown("step"), page.shown("block")), ("1", "1"), "one score")
    page.press("[data-key=step-back]")
    equal(page.results()["read"], "0", "read")
    page.reload_is_same()


# attention ----------------------------------------------------------------------------------------

INPUTS = """const { makeInputs } = await load('numbers/attention.js');
    return makeInputs(argument);"""


def attention(scores, v, read):
    """Of the first keys, in doubles."""
    most = max(scores[:read])
    weights = [math.exp(score - most) for score in scores[:read]]
    return most, sum(weights), [sum(w * row[i] for w, row in zip(weights, v)) / sum(weights)
                                for i in range(4)]


def attention_steps(browser):
    """m, l and the result at every step, by hand from the numbers that the page shows."""
    for keys, tile, large, at, seed in ((8, 4, 0, 5, 1), (7, 3, 0, 0, 2), (12, 1, 100, 6, 3),
                                        (5, 5, 30, 4, 4)):
        settings = {"keys": keys, "large": large, "at": at, "seed": seed}
        made = pages.evaluate(INPUTS, settings, browser)
        for row, score in zip(made["k"], made["scores"]):
            near(score, sum(a * b for a, b in zip(made["query"], row)) / 2, "a score", absolute=1e-5)
        assert not large or abs(made["scores"][at] - large) < 1e-4, made["scores"]
        page = Page(browser, "attention", f"keys={keys}&tile={tile}&large={large}&at={at}&seed={seed}")
        before = -math.inf
        for step in range(1, 3 * -(-keys // tile) + 1):
            page.set(step=step)
            got, read = page.results(), min(-(-step // 3) * tile, keys)
            what = f"{settings} tile {tile} step {step}"
            equal(int(got["read"]), read, what + " read")
            equal(page.texts("[data-phase]")[0].split()[-1], ("scores", "rescale", "add")[
                (step - 1) % 3], what)
            if step % 3 == 1:
                continue
            m, total, output = attention(made["scores"], made["v"], read)
            near(got["m"], m, what + " m")
            near(got["l"], total, what + " l")
            near(got["factor"], math.exp(before - m), what + " factor", absolute=1e-40)
            before = m if step % 3 == 0 else before
        for i, (word, wanted) in enumerate(zip(got["output"].split(", "), output)):
            near(word, wanted, f"{what} output {i}", absolute=1e-6)
            near(got["exact"].split(", ")[i], wanted, f"{what} exact {i}", absolute=1e-12)
        assert number(got["difference"]) < 1e-5, got["difference"]
        equal("NaN" in got["naive"], large > 88, what + " without m")


def attention_without_rescale(browser):
    """Wrong exactly where a later tile has a larger score."""
    for large, is_wrong in ((40, True), (0, None)):
        page = Page(browser, "attention", f"large={large}&at=6&rescale=no&step=6")
        got = page.results()
        grew = number(got["factor"]) < 1
        equal(grew, True if is_wrong else grew, "the maximum grows")
        assert (number(got["difference"]) > 1e-3) == grew, got
        page.set(rescale="yes")
        assert number(page.results()["difference"]) < 1e-5, page.results()
    page = Page(browser, "attention", "step=0")
    for at in range(1, 7):
        page.press("[data-key=step-next]")
        equal((page.shown("step"), page.focused()), (str(at), "step-next"), "step and focus")
    page.set(keys=3)
    equal((page.shown("tile"), page.shown("step")), ("3", "3"), "fewer keys")
    page.reload_is_same()


# dot ----------------------------------------------------------------------------------------------

def in_float32(a, b, order):
    products = [witness.f32(x * y) for x, y in zip(a, b)]
    if order == "left":
        total = 0.0
        for x in products:
            total = witness.f32(total + x)
        return total
    while len(products) > 1:
        pairs = [products[i:i + 2] for i in range(0, len(products), 2)]
        products = [witness.f32(pair[0] + pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return products[0]


def dot_products(browser):
    page = Page(browser, "dot")
    some = random.Random(11)
    lists = [([3, 1], [1, 4]), ([4, 2], [-1, 2]), ([1, 2, 3], [4, -5, 6]), ([16777216] + [1] * 7,
             [1] * 8), ([0.5], [3]), ([0, 0], [1, 1])]
    lists += [([some.randrange(-1000, 1000) / 8 for _ in range(n)],
               [some.randrange(-1000, 1000) / 8 for _ in range(n)]) for n in (5, 32)]
    for a, b in lists:
        page.set(a=" ".join(map(str, a)), b=", ".join(map(str, b)))
        got, what = page.results(), f"{a} {b}"
        dot = math.fsum(x * y for x, y in zip(a, b))
        near(got["dot"], dot, what)
        near(got["length_a"], math.hypot(*a), what)
        near(got["length_b"], math.hypot(*b), what)
        equal(number(got["left_to_right"]), in_float32(a, b, "left"), what + " left to right")
        equal(number(got["pairwise"]), in_float32(a, b, "pairs"), what + " in pairs")
        if math.hypot(*a) == 0:
            equal((got["angle"], got["cosine"]), ("none", "none"), what)
        else:
            cosine = dot / math.hypot(*a) / math.hypot(*b)
            near(got["angle"], math.degrees(math.acos(max(-1, min(1, cosine)))), what, 1e-4)
            assert abs(number(got["cosine"]) - dot) <= 2e-5 * abs(dot) + 1e-9, what
        equal(len(page.find("tbody tr")), len(a), what + " terms")
        equal(len(page.find(".dot-plane")), int(len(a) == 2), what + " plane")
    page.set(a="1, 2, 3", b="1, 2")
    equal(page.texts("[role=alert]"), ["a has 3 numbers and b has 2: both need as many"], "words")


def dot_arrows(browser):
    """A tip is dragged, and moved with the keys."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys
    page = Page(browser, "dot", "a=3,1&b=1,4")
    unit = page.find(".dot-plane")[0].rect["width"] / 11
    tip = page.find("[data-key=tip-a]")[0]
    hand = ActionChains(browser.driver)
    hand.click_and_hold(tip).move_by_offset(round(-4 * unit), round(2 * unit)).release().perform()
    equal(page.shown("a"), "-1, -1", "a after it was dragged")
    equal(page.results()["dot"], "-5", "dot")
    ActionChains(browser.driver).move_by_offset(10, 10).perform()
    equal(page.shown("a"), "-1, -1", "a after the pointer was let go")
    page.focus("tip-b")
    for key in (Keys.ARROW_UP, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT):
        browser.driver.switch_to.active_element.send_keys(key)
    equal(page.shown("b"), "1.5, 4.25", "b after three keys")
    page.press("[data-key=example-3]")
    equal(page.results()["left_to_right"], "16777216", "an example, left to right")
    equal(page.results()["pairwise"], "16777222", "an example, in pairs")
    page.reload_is_same()


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
    listed = [(f"{test.__name__} {name}", lambda browser, test=test, name=name: test(browser, name))
              for test in (decodes, encodes) for name in witness.FORMATS]
    return listed + [(test.__name__.replace("_", " "), test) for test in (
        neighbours, float_bits_numbers, float_bits_switches, float_bits_special,
        float_bits_keyboard, softmax_formats, softmax_bad_input, online_steps, online_buttons,
        attention_steps, attention_without_rescale, dot_products, dot_arrows, tiles_coordinates, tiles_picture, tiles_run,
        quantisation_results, quantisation_outlier, addresses, address_late, phone)]


if __name__ == "__main__":
    sys.exit(run_tests(tests(), "numbers"))
