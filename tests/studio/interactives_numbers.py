"""The interactives about sums in a browser: softmax, online softmax, attention and dot products, every
control moved, every result compared with witness.py. Prints "ok NAME" or "not ok NAME: why" lines."""

import itertools
import math
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import pages
import witness
from chrome import Page, run_tests
from shown import equal, near, near_list, number


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


def tests():
    return [(test.__name__.replace("_", " "), test) for test in (
        softmax_formats, softmax_bad_input, online_steps, online_buttons, attention_steps,
        attention_without_rescale, dot_products, dot_arrows)]


if __name__ == "__main__":
    sys.exit(run_tests(tests(), "numbers"))
