"""gen_bits.py: outputs that only a GPU knows to the bit, as `pending` until one has filled them in.

nan_payloads  which NaN comes out of arithmetic, signs, min and max, and conversions
ftz_edges     what .ftz does to results that rounding carries across the smallest normal number
approx_bits   .approx functions; compared by bound, so that the bits that differ can be counted

    build/tests/ptx/runner --gpu cuda:0 --update tests/ptx/nan_payloads.ptx \\
        tests/ptx/ftz_edges.ptx tests/ptx/approx_bits.ptx
    python3 tests/gen/count_bits.py        how many bits of approx_bits the machine has right
"""
import random

from floats import F16, F32, F64, FORMATS
from fractions import Fraction
from scaffold import BITS, REG, File

ROUND = ("rn", "rz", "rm", "rp")


class Table:
    """A kernel whose thread t reads row t of a table of operands and runs every instruction."""

    def __init__(self, file, name, types, rows):
        self.file, self.name, self.count = file, name, len(rows)
        self.lines, self.offset, self.used = [], 0, {}
        self.sources = {}
        for k, t in enumerate(types):
            offset = file.add_input(BITS[t], [row[k] for row in rows])
            reg = self.new(BITS[t])
            self.lines += ["    mad.wide.u32 %%at, %%t, %d, %%in;" % (BITS[t] // 8),
                           "    ld.global.b%d %s, [%%at+%d];" % (BITS[t], reg, offset)]
            self.sources["abc"[k]] = reg
        file.header.append("// run: %s block %d" % (name, self.count))

    def new(self, bits):
        letter = REG[bits][0]
        self.used[letter] = self.used.get(letter, 0) + 1
        return "%%%s%d" % (letter, self.used[letter])

    def add(self, text, dest, bound=""):
        bits = BITS[dest]
        reg = self.new(bits)
        if "{" not in text:
            text += " {d}" + "".join(", {%s}" % x for x in self.sources)
        label = text.format(d="d", a="a", b="b", c="c")
        self.lines += ["    %s;" % text.format(d=reg, **self.sources),
                       "    mad.wide.u32 %%at, %%t, %d, %%out;" % (bits // 8),
                       "    st.global.b%d [%%at+%d], %s;" % (bits, self.offset, reg)]
        size = self.count * bits // 8
        self.offset += size
        self.file.header.append("// out: %d%s pending | %s" % (size, bound and " " + bound, label))

    def finish(self):
        text = [".visible .entry %s(.param .u64 out, .param .u64 in)" % self.name, "{",
                "    .reg .b32 %t;", "    .reg .b64 %in, %out, %at;"]
        for letter, bits in (("h", 16), ("r", 32), ("d", 64)):
            if letter in self.used:
                text.append("    .reg .b%d %%%s<%d>;" % (bits, letter, self.used[letter] + 1))
        text += ["    ld.param.u64 %out, [out];", "    ld.param.u64 %in, [in];",
                 "    mov.u32 %t, %tid.x;"]
        self.file.body += text + self.lines + ["    ret;", "}", ""]


# NaNs

def nans(fmt):
    """Two quiet NaNs, two signalling ones, one of all bits, and one whose payload is high up."""
    quiet = 1 << (fmt.f - 1)
    q1, q2 = fmt.inf | quiet | 0x13, fmt.inf | quiet | 0x2f | fmt.sign_bit
    s1, s2 = fmt.inf | 0x16, fmt.inf | 0x09 | fmt.sign_bit
    return q1, q2, s1, s2, fmt.sign_bit - 1, fmt.inf | quiet | quiet >> 2


def nan_pairs(fmt):
    q1, q2, s1, s2, full, high = nans(fmt)
    one, inf, neg = fmt.bias << fmt.f, fmt.inf, fmt.sign_bit
    return [(q1, one), (one, q1), (q1, q2), (q2, q1), (s1, one), (one, s1), (s1, q1), (q1, s1),
            (s2, s1), (inf, inf | neg), (0, inf), (inf, 0), (0, 0), (inf, inf), (full, high),
            (one | neg, q2)]


def nan_triples(fmt):
    q1, q2, s1, s2, full, high = nans(fmt)
    one, inf, neg = fmt.bias << fmt.f, fmt.inf, fmt.sign_bit
    return [(q1, one, one), (one, q1, one), (one, one, q1), (q1, q2, one), (one, q1, q2),
            (q1, one, q2), (q1, q2, full), (q2, q1, high), (full, high, q1), (s1, one, q1),
            (q1, s1, one), (one, one, s2), (0, inf, q1), (inf, 0, one), (inf, one, inf | neg),
            (0, inf, s1)]


def nan_values(fmt):
    q1, q2, s1, s2, full, high = nans(fmt)
    one, inf, neg = fmt.bias << fmt.f, fmt.inf, fmt.sign_bit
    return [(x,) for x in (q1, q1 | neg, q2, q2 & ~neg, s1, s1 | neg, s2, s2 & ~neg, full,
                           full | neg, high, high | neg, inf | neg, one | neg, neg, 0)]


def nan_payloads():
    file = File("nan_payloads", 90)
    for t in ("f64", "f32"):
        fmt = FORMATS[t]
        two = Table(file, t + "_two", [t, t], nan_pairs(fmt))
        mods = ("",) if t == "f64" else ("", ".ftz", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs")
        for op in ("add.rn", "add.rz", "sub.rn", "mul.rn", "div.rn", "div.rz", "copysign"):
            two.add("%s.%s" % (op, t), t)
        for op in ("min", "max"):
            for mod in mods:
                two.add("%s%s.%s" % (op, mod, t), t)
        two.finish()
        three = Table(file, t + "_three", [t, t, t], nan_triples(fmt))
        three.add("fma.rn." + t, t)
        three.add("fma.rp." + t, t)
        three.finish()
        one = Table(file, t + "_one", [t], nan_values(fmt))
        for op in ("neg", "abs", "sqrt.rn", "sqrt.rz", "rcp.rn", "rcp.rz"):
            one.add("%s.%s" % (op, t), t)
        for op in ("cvt", "cvt.rni", "cvt.rzi", "cvt.sat"):
            one.add("%s.%s.%s" % (op, t, t), t)
        if t == "f64":
            one.add("rcp.approx.ftz.f64", t)
            one.add("rsqrt.approx.f64", t)
            one.add("rsqrt.approx.ftz.f64", t)
            one.add("cvt.rn.f32.f64", "f32")
            one.add("cvt.rz.f32.f64", "f32")
        else:
            one.add("neg.ftz.f32", t)
            one.add("abs.ftz.f32", t)
            one.add("cvt.ftz.f32.f32", t)
            one.add("cvt.f64.f32", "f64")
            one.add("cvt.ftz.f64.f32", "f64")
            one.add("cvt.sat.f64.f32", "f64")
            one.add("cvt.rna.tf32.f32", "b32")
            one.add("cvt.rn.tf32.f32", "b32")
            one.add("cvt.rn.relu.bf16.f32", "bf16")
        for half in ("f16", "bf16"):
            one.add("cvt.rn.%s.%s" % (half, t), half)
            one.add("cvt.rp.%s.%s" % (half, t), half)
        one.finish()
    for t in ("f16", "bf16"):
        fmt = FORMATS[t]
        one = Table(file, t + "_one", [t], nan_values(fmt))
        one.add("neg." + t, t)
        one.add("abs." + t, t)
        if t == "f16":
            one.add("neg.ftz.f16", t)
            one.add("abs.ftz.f16", t)
            one.add("cvt.f16.f16", t)
            one.add("cvt.rn.bf16.f16", "bf16")
        else:
            one.add("cvt.rn.f16.bf16", "f16")
        one.add("cvt.rni.%s.%s" % (t, t), t)
        one.add("cvt.f32." + t, "f32")
        one.add("cvt.f64." + t, "f64")
        one.finish()
        two = Table(file, t + "_two", [t, t], nan_pairs(fmt))
        for op in ("min", "max"):
            for mod in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
                two.add("%s%s.%s" % (op, mod, t), t)
        two.finish()
    return file


# .ftz

def ftz_edges():
    """Exact results of (1 - e) times the smallest normal number. Flushing may look at the exact
    result, at one rounded as if exponents had no end, or at one rounded among subnormal numbers:
    these differ for e below 2^-25, between 2^-25 and 2^-24, and between 2^-24 and 2^-23."""
    file = File("ftz_edges", 90)
    f32 = lambda x: F32.encode((1 if x < 0 else 0, abs(x)))
    f64 = lambda x: F64.encode((1 if x < 0 else 0, abs(x)))
    f16 = lambda x: F16.encode((1 if x < 0 else 0, abs(x)))
    p = lambda n: Fraction(2) ** n
    signs = (1, -1)

    rows = [(f32(s * p(-60) * (1 + k * p(-23))), f32(p(-66) * (1 - 2 * k * p(-24))))
            for s in signs for k in (1, 1000, 1440, 1449, 1700, 2040, 2049, 2500, 2890, 2900, 4000)]
    two = Table(file, "f32_mul", ["f32", "f32"], rows)
    for mode in ROUND:
        two.add("mul.%s.ftz.f32" % mode, "f32")
    two.finish()

    deltas = [p(-100), p(-26), p(-25) * Fraction(3, 4), p(-25), p(-25) * Fraction(5, 4), p(-24),
              p(-24) * Fraction(5, 4), p(-24) * Fraction(7, 4), p(-23), p(-23) * Fraction(5, 4)]
    rows = []
    for s in signs:
        for d in deltas:
            rows.append((f32(-s * d * p(-126) / p(-100)), f32(p(-100)), f32(s * p(-126))))
    three = Table(file, "f32_fma", ["f32"] * 3, rows)
    for mode in ROUND:
        three.add("fma.%s.ftz.f32" % mode, "f32")
    three.finish()

    rows = []
    for s in signs:
        for x, y in ((0x00800000, 0x3f800001), (0x00800000, 0x3f800002), (0x00fffffe, 0x3fffffff),
                     (0x00c00000, 0x3fc00001), (0x00bfffff, 0x3fc00000), (0x01000000, 0x40000001),
                     (0x3f800000, 0x7e800001), (0x3f800000, 0x7e800002), (0x40000001, 0x7f000002),
                     (0x00800001, 0x3f800001)):
            rows.append((x | (0x80000000 if s < 0 else 0), y))
    two = Table(file, "f32_div", ["f32", "f32"], rows)
    for mode in ROUND:
        two.add("div.%s.ftz.f32" % mode, "f32")
    two.finish()

    rows = [(f32(s * p(126) * (1 + k * p(-23))),) for s in signs for k in (0, 1, 2, 3)]
    one = Table(file, "f32_rcp", ["f32"], rows)
    for mode in ROUND:
        one.add("rcp.%s.ftz.f32" % mode, "f32")
    one.finish()

    rows = [(f64(s * p(-126) * (1 - d)),) for s in signs for d in [p(-50)] + deltas[1:]]
    one = Table(file, "f32_from_f64", ["f64"], rows)
    for mode in ROUND:
        one.add("cvt.%s.ftz.f32.f64" % mode, "f32")
    one.finish()

    rows = [(x | s,) for s in (0, 0x80000000)
            for x in (0, 1, 0x7fffff, 0x400001, 0x7f0000, 0x10000, 0x800000, 0x8000, 0x7fff)]
    one = Table(file, "f32_to_half", ["f32"], rows)
    for mode in ROUND:
        for half in ("f16", "bf16"):
            one.add("cvt.%s.ftz.%s.f32" % (mode, half), half)
    one.finish()

    rows = [(f16(s * p(-7) * (1 + k * p(-10))), f16(p(-7) * (1 - 2 * k * p(-11))))
            for s in signs for k in (1, 10, 14, 18, 20, 23, 26, 31, 33, 40)]
    two = Table(file, "f16_mul", ["f16", "f16"], rows)
    two.add("mul.rn.ftz.f16", "f16")
    two.finish()
    rows = [(f16(-s * d * p(14)), f16(p(-14)), f16(s * p(-14))) for s in signs
            for d in (p(-24) * Fraction(n, 16) for n in (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 20))]
    three = Table(file, "f16_fma", ["f16"] * 3, rows)
    three.add("fma.rn.ftz.f16", "f16")
    three.finish()
    return file


# Approximations

SPECIAL = [0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00001, 1, 0x80000001,
           0x007fffff, 0x00400000, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7e800000,
           0x7e800001, 0x7f000000, 0x3f000000, 0x40000000, 0x3f800001, 0x3f7fffff, 0x00000123,
           0x80412345]


def f32_inputs(name, draw):
    rng = random.Random("approx_bits/" + name)
    values = list(SPECIAL)
    while len(values) < 256:
        x = Fraction(draw(rng))
        values.append(F32.encode((1 if x < 0 else 0, abs(x))))
    return [(x,) for x in values]


def approx_bits():
    file = File("approx_bits", 90)
    any_size = lambda r: r.choice((-1, 1)) * 2.0 ** r.uniform(-126, 126)
    one_to_four = lambda r: r.uniform(1, 4) if r.random() < 0.5 else 2.0 ** r.uniform(-126, 127)
    sources = [
        ("rcp", any_size, "ulp 2"), ("rsqrt", one_to_four, "ulp 3"), ("sqrt", one_to_four, "ulp 3"),
        ("ex2", lambda r: r.uniform(-1, 1) if r.random() < 0.5 else r.uniform(-150, 128), "ulp 4"),
        ("lg2", lambda r: r.uniform(0.5, 2) if r.random() < 0.5 else 2.0 ** r.uniform(-126, 127),
         "abs 4.8e-7 rel 4.8e-7"),
        ("sin", lambda r: r.uniform(-6.28, 6.28), "abs 1.4e-6"),
        ("cos", lambda r: r.uniform(-6.28, 6.28), "abs 1.4e-6"),
        ("tanh", lambda r: r.uniform(-4, 4) if r.random() < 0.7 else r.uniform(-10, 10),
         "rel 9.8e-4")]
    for op, draw, bound in sources:
        one = Table(file, op, ["f32"], f32_inputs(op, draw))
        for ftz in ("", ".ftz") if op != "tanh" else ("",):
            one.add("%s.approx%s.f32" % (op, ftz), "f32", "float f32 " + bound)
        one.finish()
    rng = random.Random("approx_bits/div")
    rows = [(x[0], y[0]) for x, y in zip(f32_inputs("numerator", any_size),
                                         f32_inputs("denominator", any_size)[::-1])]
    rows = [(x, y & 0x80ffffff | 0x3f000000) if rng.random() < 0.4 else (x, y) for x, y in rows]
    two = Table(file, "div", ["f32", "f32"], rows)
    for mod in ("approx", "approx.ftz", "full", "full.ftz"):
        two.add("div.%s.f32" % mod, "f32", "float f32 ulp 4")
    two.finish()
    for t in ("f16", "bf16"):
        fmt = FORMATS[t]
        values = [fmt.encode(F32.decode(x[0])) for x in
                  f32_inputs("half", lambda r: r.uniform(-4, 4) if r.random() < 0.6 else
                             r.uniform(-20, 16))]
        one = Table(file, t, [t], [(x,) for x in values])
        one.add("tanh.approx." + t, t, "float %s ulp 2 abs %s" % (t, "1e-3" if t == "f16" else
                                                                  "7.9e-3"))
        one.add("ex2.approx.f16" if t == "f16" else "ex2.approx.ftz.bf16", t,
                "float %s ulp 2 rel %s" % (t, "2.1e-3" if t == "f16" else "1.6e-2"))
        one.finish()
    return file


def make_all():
    return [file.write() for file in (nan_payloads(), ftz_edges(), approx_bits())]
