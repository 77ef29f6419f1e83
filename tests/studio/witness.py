"""What the interactives about numbers must show, computed apart from them: in fractions and in C's
own formats (struct), never with their code."""

import math
import struct
from fractions import Fraction

# bits of exponent and mantissa; what the largest exponent holds; whether large numbers saturate
FORMATS = {"fp32": (8, 23, "ieee", False), "tf32": (8, 10, "ieee", False),
           "fp16": (5, 10, "ieee", False), "bf16": (8, 7, "ieee", False),
           "e4m3": (4, 3, "nan", True), "e5m2": (5, 2, "ieee", True), "e2m1": (2, 1, "none", True)}
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def bits(name):
    return 1 + FORMATS[name][0] + FORMATS[name][1]


def of_struct(letter, code):
    size = {"f": "I", "e": "H"}[letter]
    return struct.unpack("<" + letter, struct.pack("<" + size, code))[0]


def decode(name, code):
    """A code's value as a Python float."""
    if name in ("fp32", "tf32", "bf16"):
        return of_struct("f", code << (32 - bits(name)))
    if name in ("fp16", "e5m2"):
        return of_struct("e", code << (16 - bits(name)))
    if name == "e2m1":
        return math.copysign(E2M1[code & 7], -1 if code & 8 else 1)
    exponent, mantissa = code >> 3 & 15, code & 7
    if exponent == 15 and mantissa == 7:
        return math.nan
    size = Fraction(mantissa, 8) * Fraction(2) ** -6 if exponent == 0 \
        else (1 + Fraction(mantissa, 8)) * Fraction(2) ** (exponent - 7)
    return math.copysign(float(size), -1 if code & 128 else 1)


def largest(name):
    return {"fp32": 0x7f7fffff, "tf32": 0x3fbff, "fp16": 0x7bff, "bf16": 0x7f7f, "e4m3": 0x7e,
            "e5m2": 0x7b, "e2m1": 7}[name]


def encode(name, value):
    """The code nearest to a float or Fraction, even ones between two. Fraction's own round() is the
    one to nearest even."""
    exponent_bits, mantissa_bits, _, saturates = FORMATS[name]
    negative = value < 0 or (isinstance(value, float) and math.copysign(1, value) < 0)
    sign = 1 << (bits(name) - 1) if negative else 0
    if value != value:
        return (1 << (bits(name) - 1)) - 1
    beyond = largest(name) + (0 if saturates else 1)
    if value in (math.inf, -math.inf):
        return sign | beyond
    size, least = abs(Fraction(value)), 2 - 2 ** (exponent_bits - 1)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()  # or one less
    exponent = max(exponent - (size < Fraction(2) ** exponent), least) if size else least
    units = round(size / Fraction(2) ** (exponent - mantissa_bits))
    code = (exponent - least << mantissa_bits) + units
    return sign | (beyond if code > largest(name) else code)


def rounded(name, value):
    return decode(name, encode(name, value))


def f32(value):
    return rounded("fp32", value)


def exp(value):
    """As JavaScript has it: too large is infinity."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def divide(a, b):
    if b == 0 or (math.isinf(a) and math.isinf(b)):
        return math.nan
    return a / b


def softmax(scores, temperature, name, shifted):
    def to(value):
        return rounded(name, value)
    scaled = [to(to(score) / to(temperature)) for score in scores]
    shift = max(scaled) if shifted else 0
    exps = [to(exp(to(x - shift))) for x in scaled]
    total = 0.0
    for x in exps:
        total = to(total + x)
    return [to(divide(x, total)) for x in exps], total


def true_softmax(scores):
    exps = [math.exp(score - max(scores)) for score in scores]
    return [x / math.fsum(exps) for x in exps]


def online(scores, block):
    """(m, l, factor) after each block, in exact steps of float32."""
    m, total, steps = -math.inf, 0.0, []
    for start in range(0, len(scores), block):
        some = scores[start:start + block]
        new = max([m] + some)
        factor = f32(exp(m - new))
        added = 0.0
        for x in some:
            added = f32(added + f32(exp(f32(x - new))))
        total = f32(f32(total * factor) + added)
        m = new
        steps.append((m, total, factor))
    return steps


def uniform(seed):
    """The generator of numbers/random.js: murmur3's last steps of a counter."""
    count = seed * 0x9e3779b9 & 0xffffffff
    while True:
        count = count + 0x6d2b79f5 & 0xffffffff
        hash_ = (count ^ count >> 16) * 0x85ebca6b & 0xffffffff
        hash_ = (hash_ ^ hash_ >> 13) * 0xc2b2ae35 & 0xffffffff
        yield (hash_ ^ hash_ >> 16) / 2 ** 32


def values(count, seed, outlier):
    chance, made = uniform(seed), []
    for i in range(count):
        size = math.sqrt(-2 * math.log(1 - next(chance)))
        x = size * math.cos(2 * math.pi * next(chance))
        made.append(math.copysign(outlier, x) if outlier and i % 64 == 5 else f32(x))
    return made


def grid(kind, affine):
    """All levels before the scale, ascending."""
    if kind.startswith("int"):
        count = 2 ** int(kind[3:])
        return list(range(count)) if affine else list(range(1 - count // 2, count // 2))
    positive = [decode(kind, code) for code in range(largest(kind) + 1)]
    return [-x for x in positive[:0:-1]] + positive


def scale_of(some, levels, affine):
    if affine:
        low, high = min(0, *some), max(0, *some)
        scale = f32((high - low) / levels[-1])
        return scale, min(levels[-1], max(0, round(Fraction(-low) / Fraction(scale))))
    return f32(max(map(abs, some)) / levels[-1]), 0


def nearest(levels, x, is_even):
    """By trying all levels; between two the even one."""
    best = min(abs(level - x) for level in levels)
    near = [i for i, level in enumerate(levels) if abs(level - x) == best]
    return levels[near[0] if len(near) == 1 or is_even(near[0]) else near[1]]


def by_chance(levels, x, chance):
    below = max([level for level in levels if level <= x], default=levels[0])
    above = min([level for level in levels if level >= x], default=levels[-1])
    return above if above > below and chance < (x - below) / (above - below) else below


def quantise(kind, affine, group, stochastic, seed, outlier, count=128):
    """(RMS error, SNR in dB, scale of the first group, values that came back)"""
    affine = affine and kind.startswith("int")
    given, levels, chance = values(count, seed, outlier), grid(kind, affine), uniform(seed + 1000)
    middle, back, scales = levels.index(0), [], []
    for start in range(0, count, group or count):
        some = given[start:start + (group or count)]
        scale, zero = scale_of(some, levels, affine)
        scales.append(scale)
        for x in some:
            at = x / scale + zero
            code = by_chance(levels, at, next(chance)) if stochastic \
                else nearest(levels, at, lambda i: (i - middle) % 2 == 0)
            back.append((code - zero) * scale)
    noise = math.fsum((b - g) ** 2 for b, g in zip(back, given))
    signal = math.fsum(g * g for g in given)
    return math.sqrt(noise / count), 10 * math.log10(signal / noise), scales[0], back
