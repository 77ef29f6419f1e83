"""floats.py: floating point in exact arithmetic, for expected outputs of PTX tests.

A value is NAN, INF, -INF, or (sign, Fraction) so that zeros keep their sign. Nothing here uses the
host's floating point except for the reference of approximations.
"""
from fractions import Fraction
from math import isqrt

NAN = "nan"


class Format:
    def __init__(self, name, exponent, fraction, canonical, has_inf=True):
        self.name, self.e, self.f, self.nan = name, exponent, fraction, canonical
        self.bits = 1 + exponent + fraction
        self.bias = (1 << (exponent - 1)) - 1
        self.has_inf = has_inf
        self.sign_bit = 1 << (self.bits - 1)
        self.inf = ((1 << exponent) - 1) << fraction if has_inf else None
        self.max = self.inf - 1 if has_inf else 0x7e  # e4m3
        self.min_exponent = 1 - self.bias

    def decode(self, bits):
        sign = bits >> (self.bits - 1) & 1
        e = bits >> self.f & ((1 << self.e) - 1)
        m = bits & ((1 << self.f) - 1)
        if self.has_inf and e == (1 << self.e) - 1:
            return NAN if m else (sign, "inf")
        if not self.has_inf and bits & (self.sign_bit - 1) == self.sign_bit - 1:
            return NAN
        if e == 0:
            return (sign, Fraction(m, 1 << self.f) * pow2(self.min_exponent))
        return (sign, (1 + Fraction(m, 1 << self.f)) * pow2(e - self.bias))

    def is_subnormal(self, bits):
        return bits >> self.f & ((1 << self.e) - 1) == 0 and bits & ((1 << self.f) - 1) != 0

    def flush(self, bits):
        return bits & self.sign_bit if self.is_subnormal(bits) else bits

    def encode(self, value, mode="rn", ftz=False, satfinite=False):
        if value == NAN:
            return self.nan
        sign, magnitude = value
        top = self.sign_bit if sign else 0
        if magnitude == "inf":
            return top | (self.max if satfinite else self.inf)
        if magnitude == 0:
            return top
        if ftz and self.rounds_below_normal(sign, magnitude, mode):
            return top
        scale = max(floor_log2(magnitude), self.min_exponent) - self.f
        units = magnitude / pow2(scale)
        whole = round_units(units, sign, mode)
        # A carry into the next binade moves by itself: the encoding is continuous.
        bits = whole if scale == self.min_exponent - self.f else \
            whole + ((scale + self.f - self.min_exponent) << self.f)
        if bits > self.max:
            up = mode in ("rn", "rna") or (mode == "rp" and not sign) or (mode == "rm" and sign)
            bits = self.max if satfinite or not up else self.inf
        return top | bits

    def rounds_below_normal(self, sign, magnitude, mode):
        """What .ftz makes zero: rounded as if exponents had no lower end, as an H200 does."""
        unit = pow2(floor_log2(magnitude) - self.f)
        return round_units(magnitude / unit, sign, mode) * unit < pow2(self.min_exponent)


def pow2(n):
    return Fraction(1 << n) if n >= 0 else Fraction(1, 1 << -n)


def floor_log2(x):
    n = x.numerator.bit_length() - x.denominator.bit_length()
    return n if pow2(n) <= x else n - 1


def round_units(units, sign, mode):
    whole, rest = divmod(units.numerator, units.denominator)
    rest = Fraction(rest, units.denominator)
    if rest == 0 or mode == "rz":
        return whole
    if mode == "rn":
        return whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1))
    if mode == "rna":
        return whole + (rest >= Fraction(1, 2))
    return whole + ((mode == "rp") != bool(sign))


F16 = Format("f16", 5, 10, 0x7fff)
BF16 = Format("bf16", 8, 7, 0x7fff)
F32 = Format("f32", 8, 23, 0x7fffffff)
F64 = Format("f64", 11, 52, 0x7ff8000000000000)
TF32 = Format("tf32", 8, 10, 0x7fff)
E4M3 = Format("e4m3", 4, 3, 0x7f, has_inf=False)
E5M2 = Format("e5m2", 5, 2, 0x7f)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64, "e4m3": E4M3, "e5m2": E5M2}


def negate(v):
    return v if v == NAN else (1 - v[0], v[1])


def is_inf(v):
    return v != NAN and v[1] == "inf"


def signed(v):
    return -v[1] if v[0] else v[1]


def add(x, y, mode):
    if x == NAN or y == NAN:
        return NAN
    if is_inf(x) or is_inf(y):
        if is_inf(x) and is_inf(y):
            return x if x[0] == y[0] else NAN
        return x if is_inf(x) else y
    total = signed(x) + signed(y)
    if total == 0:
        if x[0] == y[0]:
            return (x[0], Fraction(0)) if x[1] == 0 and y[1] == 0 else (0, Fraction(0))
        return (1 if mode == "rm" else 0, Fraction(0))
    return (1 if total < 0 else 0, abs(total))


def mul(x, y):
    if x == NAN or y == NAN:
        return NAN
    sign = x[0] ^ y[0]
    if is_inf(x) or is_inf(y):
        return NAN if x[1] == 0 or y[1] == 0 else (sign, "inf")
    return (sign, x[1] * y[1])


def div(x, y):
    if x == NAN or y == NAN:
        return NAN
    sign = x[0] ^ y[0]
    if is_inf(x):
        return NAN if is_inf(y) else (sign, "inf")
    if is_inf(y):
        return (sign, Fraction(0))
    if y[1] == 0:
        return NAN if x[1] == 0 else (sign, "inf")
    return (sign, x[1] / y[1])


def sqrt(x):
    """Good to 600 bits, and never exact where the true root is not."""
    if x == NAN or (x[0] and x[1] != 0):
        return NAN
    if x[1] == "inf" or x[1] == 0:
        return x
    shift = 1200
    scaled = x[1] * pow2(2 * shift)
    root = isqrt(scaled.numerator // scaled.denominator)
    exact = root * root * scaled.denominator == scaled.numerator
    return (0, Fraction(root, 1 << shift) if exact else Fraction(2 * root + 1, 1 << (shift + 1)))


def fma(x, y, z, mode):
    return add(mul(x, y), z, mode)


def saturate(fmt, bits):
    """.sat: to [0, 1], NaN to 0."""
    v = fmt.decode(bits)
    if v == NAN or v[0] or v[1] == 0:
        return 0
    if v[1] == "inf" or v[1] > 1:
        return fmt.encode((0, Fraction(1)))
    return bits


def to_integer(v, mode, bits, is_signed):
    """Float to integer, clamped; v is no NaN."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    if is_inf(v):
        return low if v[0] else high
    whole = round_units(v[1], v[0], mode)
    whole = -whole if v[0] else whole
    return max(low, min(high, whole))


def compare(op, x, y):
    """setp's float operators; op with u at the end is true for NaN."""
    unordered = x == NAN or y == NAN
    if op == "num":
        return not unordered
    if op == "nan":
        return unordered
    if unordered:
        return op.endswith("u")
    key = lambda v: (-1 if v[0] else 1) * (1 << 20000) if is_inf(v) else signed(v)
    a, b = key(x), key(y)
    base = op[:-1] if op in ("equ", "neu", "ltu", "leu", "gtu", "geu") else op
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[base]
