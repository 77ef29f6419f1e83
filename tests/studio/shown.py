"""How the tests of interactives compare what a page shows with what it should show."""

import math


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
