"""gen_float.py: variants and references of groups FLOAT, APPROX, HALF and COMPARE."""
import math
from fractions import Fraction

import floats as fl
from floats import FORMATS, F32, NAN
from gen_integer import sx
from ops import legal_types
from scaffold import BITS, POOLS, Variant as V, pool

ROUND = ("rn", "rz", "rm", "rp")


def join(*parts):
    return ".".join(p for p in parts if p)


def scalar_of(t):
    return t[:-2] if t.endswith("x2") else t


def lift(t, f):
    """A scalar reference on both halves of a pair."""
    if not t.endswith("x2"):
        return f
    bits = BITS[scalar_of(t)]
    top = (1 << bits) - 1
    return lambda *xs: f(*[x & top for x in xs]) | f(*[x >> bits & top for x in xs]) << bits


def nan_check(t):
    """f64 keeps payloads in ways PTX does not define; any NaN will do."""
    return "nan f64" if t == "f64" else ""


def arithmetic(t, f, mode="rn", ftz=False, sat="", check=None):
    fmt = FORMATS[scalar_of(t)]

    def ref(*xs):
        if ftz:
            xs = [fmt.flush(x) for x in xs]
        bits = fmt.encode(f(*[fmt.decode(x) for x in xs], mode), mode, ftz)
        if sat == "sat":
            bits = fl.saturate(fmt, bits)
        if sat == "relu":
            v = fmt.decode(bits)
            bits = 0 if v != NAN and v[0] else bits
        return bits
    return lift(t, ref)


def without_nan(t):
    name = t + "/num"
    POOLS[name] = lambda rng, n, t=t: [
        x for x in pool(t, 80) if not is_nan_in(t, x)][:n]
    return name


def is_nan_in(t, x):
    fmt = FORMATS[scalar_of(t)]
    parts = [x] if scalar_of(t) == t else [x & (1 << fmt.bits) - 1, x >> fmt.bits]
    return any(fmt.decode(p) == NAN for p in parts)


def minmax(t, pick, ftz, nan, xorsign):
    fmt = FORMATS[scalar_of(t)]

    def key(v):
        size = Fraction(1 << 20000) if v[1] == "inf" else v[1]
        return (-size if v[0] else size, -v[0])

    def ref(a, b):
        if ftz:
            a, b = fmt.flush(a), fmt.flush(b)
        sign = (a ^ b) & fmt.sign_bit
        if xorsign:
            a, b = a & ~fmt.sign_bit, b & ~fmt.sign_bit
        x, y = fmt.decode(a), fmt.decode(b)
        if x == NAN or y == NAN:
            if nan or (x == NAN and y == NAN):
                return fmt.nan
            return b if x == NAN else a
        r = a if pick(key(x), key(y)) == key(x) else b
        return r & ~fmt.sign_bit | sign if xorsign else r
    return lift(t, ref)


OPS2 = {"ADD": lambda x, y, m: fl.add(x, y, m), "SUB": lambda x, y, m: fl.add(x, fl.negate(y), m),
        "MUL": lambda x, y, m: fl.mul(x, y)}
fma = lambda x, y, z, m: fl.fma(x, y, z, m)


def float_ops(row):
    n, out = row.name, []
    for ts in legal_types(row):
        t = ts[0]
        f32 = t in ("f32", "f32x2")
        core = n[1:].replace("_X2", "")
        if core in OPS2:
            for mode in ("",) + ROUND:
                for ftz in ("", "ftz") if f32 else ("",):
                    for sat in ("", "sat") if t == "f32" else ("",):
                        out.append(V(join(row.mnemonic, mode, ftz, sat, t), t, [t, t],
                                     arithmetic(t, OPS2[core], mode or "rn", ftz, sat),
                                     nan_check(t), guarded=mode == ""))
        elif n in ("FMA", "FMAD", "FMA_X2"):
            for mode in ROUND:
                for ftz in ("", "ftz") if f32 else ("",):
                    for sat in ("", "sat") if t == "f32" else ("",):
                        out.append(V(join(row.mnemonic, mode, ftz, sat, t), t, [t] * 3,
                                     arithmetic(t, fma, mode, ftz, sat), nan_check(t),
                                     guarded=mode == "rn"))
        elif n in ("FDIV", "RCP", "SQRT"):
            f = {"FDIV": lambda x, y, m: fl.div(x, y), "SQRT": lambda x, m: fl.sqrt(x),
                 "RCP": lambda x, m: fl.div((0, Fraction(1)), x)}[n]
            for mode in ROUND:
                for ftz in ("", "ftz") if f32 else ("",):
                    out.append(V(join(row.mnemonic, mode, ftz, t), t,
                                 [t, t] if n == "FDIV" else [t],
                                 arithmetic(t, f, mode, ftz), nan_check(t), guarded=mode == "rn"))
        elif n in ("FABS", "FNEG", "HABS", "HNEG"):
            fmt = FORMATS[scalar_of(t)]
            for ftz in ("", "ftz") if scalar_of(t) in ("f32", "f16") else ("",):
                def f(x, fmt=fmt, ftz=ftz, is_abs=n.endswith("ABS")):
                    x = fmt.flush(x) if ftz else x
                    return x & ~fmt.sign_bit if is_abs else x ^ fmt.sign_bit
                out.append(V(join(row.mnemonic, ftz, t), t, [t], lift(t, f),
                             "nan " + scalar_of(t)))
        elif n in ("FMIN", "FMAX", "HMIN", "HMAX"):
            pick = min if n.endswith("MIN") else max
            can_ftz = scalar_of(t) in ("f32", "f16")
            for ftz in ("", "ftz") if can_ftz else ("",):
                for nan in ("", "NaN") if t != "f64" else ("",):
                    for xs in ("", "xorsign.abs") if t != "f64" else ("",):
                        source = without_nan(t) if xs else t
                        out.append(V(join(row.mnemonic, ftz, nan, xs, t), t, [source, source],
                                     minmax(t, pick, ftz, nan, xs), nan_check(t),
                                     guarded=not nan))
        elif n in ("FMIN3", "FMAX3"):
            sign = FORMATS[t].sign_bit
            for ftz in ("", "ftz"):
                for nan in ("", "NaN"):
                    for absolute in ("", "abs"):
                        two = minmax(t, min if n == "FMIN3" else max, ftz, nan, "")

                        def three(a, b, c, two=two, keep=~sign if absolute else -1):
                            return two(two(a & keep, b & keep), c & keep)
                        out.append(V(join(row.mnemonic, ftz, nan, absolute, t), t, [t] * 3, three,
                                     nan_check(t), guarded=not nan))
        elif n == "TESTP":
            fmt = FORMATS[t]
            tests = {"finite": lambda v, x: v != NAN and v[1] != "inf",
                     "infinite": lambda v, x: v != NAN and v[1] == "inf",
                     "number": lambda v, x: v != NAN, "notanumber": lambda v, x: v == NAN,
                     "normal": lambda v, x, f=fmt: v != NAN and v[1] != "inf" and
                     not f.is_subnormal(x),  # zeros count as normal
                     "subnormal": lambda v, x, f=fmt: f.is_subnormal(x)}
            for k, f in tests.items():  # the driver's compiler drops a guard
                out.append(V("testp.%s.%s" % (k, t), "pred", [t],
                             lambda x, f=f, fmt=fmt: int(f(fmt.decode(x), x)), guarded=False))
        elif n == "COPYSIGN":
            s = FORMATS[t].sign_bit
            out.append(V("copysign." + t, t, [t, t], lambda a, b, s=s: b & ~s | a & s))
        else:
            raise SystemExit("no generator for " + n)
    return out


def half_ops(row):
    n, out = row.name, []
    if n in ("HABS", "HNEG", "HMIN", "HMAX"):
        return float_ops(row)
    if n in ("HTANH", "HEX2", "HEX2_BF"):
        return approximations(row)
    for ts in legal_types(row):
        t = ts[0]
        is_bf = t.startswith("b")
        core = n[1:].replace("_BF", "")
        if core in OPS2:
            for mode in ("", "rn"):
                for ftz in ("",) if is_bf else ("", "ftz"):
                    for sat in ("",) if is_bf else ("", "sat"):
                        out.append(V(join(row.mnemonic, mode, ftz, sat, t), t, [t, t],
                                     arithmetic(t, OPS2[core], "rn", ftz, sat),
                                     guarded=mode == ""))
        elif n in ("HFMA", "HFMA_BF"):
            for ftz in ("",) if is_bf else ("", "ftz"):
                for sat in ("", "relu") if is_bf else ("", "sat", "relu"):
                    out.append(V(join("fma.rn", ftz, sat, t), t, [t] * 3,
                                 arithmetic(t, fma, "rn", ftz, sat)))
        else:  # HFMA_OOB: the NaN that counts, and one that does not
            for name, nans in ((t + "/oob", (0xffff,)), (t + "/marked", (0x7ff7, 0xfff7))):
                POOLS[name] = lambda rng, k, t=t, nans=nans: [
                    x & ~0xffff | nans[i % len(nans)] if i % 5 == 3 else x
                    for i, x in enumerate(pool(t, k))]
                for sat in ("", "relu"):
                    def f(a, b, c, g=arithmetic(scalar_of(t), fma, "rn", "", sat)):
                        return 0 if a & 0x7fff == 0x7ff7 or b & 0x7fff == 0x7ff7 else g(a, b, c)
                    out.append(V(join("fma.rn.oob", sat, t), t,
                                 [name, name, name if "marked" in name else t], lift(t, f)))
    return out


# Approximations: the true value, to be met within PTX's bound

def real_pool(name, values):
    POOLS["f32/" + name] = lambda rng, n: [F32.encode(to_value(v)) for v in values(rng, n)]


def to_value(x):
    if isinstance(x, float) and math.isnan(x):
        return NAN
    if isinstance(x, float) and math.isinf(x):
        return (1 if x < 0 else 0, "inf")
    sign = 1 if (math.copysign(1, x) < 0) else 0
    return (sign, abs(Fraction(x)))


INF = float("inf")
SPECIAL = [0.0, -0.0, 1.0, -1.0, INF, -INF, float("nan"), 2.0, 0.5]
real_pool("mid", lambda r, n: SPECIAL + [r.choice((-1, 1)) * 2.0 ** r.uniform(-60, 60)
                                         for _ in range(n)])
real_pool("positive", lambda r, n: [0.0, 1.0, INF, float("nan"), -1.0, 2.0, 4.0, 0.25] +
          [2.0 ** r.uniform(-100, 100) for _ in range(n)])
real_pool("angle", lambda r, n: [0.0, -0.0, INF, float("nan"), 1.0, -1.0] +
          [r.uniform(-6.28, 6.28) for _ in range(n)])
real_pool("exponent", lambda r, n: [0.0, 1.0, -1.0, INF, -INF, float("nan"), 127.5, 128.0, -126.0,
                                    0.5] + [r.uniform(-125, 127) for _ in range(n)])
real_pool("small", lambda r, n: SPECIAL + [r.uniform(-4, 4) for _ in range(n)])


def as_float(fmt, bits):
    v = fmt.decode(bits)
    if v == NAN:
        return float("nan")
    m = INF if v[1] == "inf" else float(v[1])
    return -m if v[0] else m


def approximate(t, f, ftz):
    fmt = FORMATS[scalar_of(t)]

    def ref(*xs):
        if ftz:
            xs = [fmt.flush(x) for x in xs]
        try:
            y = f(*[as_float(fmt, x) for x in xs])
        except (ValueError, OverflowError):
            y = float("nan")
        return fmt.encode(to_value(y), "rn", ftz)
    return lift(t, ref)


def quotient(a, b):
    if b == 0:
        return float("nan") if a == 0 or math.isnan(a) else math.copysign(INF, a) * \
            math.copysign(1, b)
    return a / b


def log2(x):
    return -INF if x == 0 else math.log2(x)


def exp2(x):
    return INF if x > 1000 else 0.0 if x < -1000 else 2.0 ** x


def rsqrt(x):
    return math.copysign(INF, x) if x == 0 else 1 / math.sqrt(x)


APPROX = {  # row -> (function, pools, bound per type)
    "FDIV_APPROX": (quotient, ["f32/mid", "f32/mid"], "ulp 2"),
    "RCP_APPROX": (lambda x: quotient(1.0, x), ["f32/mid"], "ulp 1"),
    "SQRT_APPROX": (math.sqrt, ["f32/positive"], "ulp 1 rel 1.2e-7"),
    "RSQRT_APPROX": (rsqrt, ["f32/positive"], "ulp 1 rel 1.3e-7"),
    "SIN": (math.sin, ["f32/angle"], "abs 6.8e-7"),
    "COS": (math.cos, ["f32/angle"], "abs 6.8e-7"),
    "LG2": (log2, ["f32/positive"], "abs 2.4e-7 rel 2.4e-7"),
    "EX2": (exp2, ["f32/exponent"], "ulp 2 rel 2.4e-7"),
    "TANH": (math.tanh, ["f32/small"], "rel 4.9e-4"),
    "HTANH": (math.tanh, None, {"f16": "abs 4.95e-4 ulp 1", "bf16": "abs 3.91e-3"}),
    "HEX2": (exp2, None, {"f16": "rel 1.05e-3 ulp 1"}),
    "HEX2_BF": (exp2, None, {"bf16": "rel 7.9e-3"}),
}
F64_POOL = {"RCP_APPROX": "mid", "RSQRT_APPROX": "positive"}


def approximations(row):
    f, pools, bound = APPROX[row.name]
    out = []
    for ts in legal_types(row):
        t = ts[0]
        limit = bound if isinstance(bound, str) else bound[scalar_of(t)]
        sources = pools
        if t == "f64":
            name = "f64/" + F64_POOL[row.name]
            POOLS[name] = lambda rng, n, p=F64_POOL[row.name]: [
                fl.F64.encode(F32.decode(x)) for x in pool("f32/" + p, n)]
            sources, limit = [name], "rel 1e-6"
        elif pools is None:
            sources = [t + "/real"]
            fmt = FORMATS[scalar_of(t)]

            def reals(rng, n, t=t, fmt=fmt):
                values = [fmt.encode(F32.decode(x)) for x in pool("f32/small", n)]
                return values if scalar_of(t) == t else [
                    values[k] | values[(k * 5 + 3) % n] << 16 for k in range(n)]
            POOLS[sources[0]] = reals
        check = "float %s %s" % (scalar_of(t), limit)
        mods = {"FDIV_APPROX": ("approx", "approx.ftz", "full", "full.ftz"), "TANH": ("approx",),
                "HTANH": ("approx",), "HEX2": ("approx",), "HEX2_BF": ("approx.ftz",)}.get(
                    row.name, ("approx", "approx.ftz"))
        if t == "f64":
            mods = ("approx.ftz",) if row.name == "RCP_APPROX" else ("approx", "approx.ftz")
        for mod in mods:
            out.append(V(join(row.mnemonic, mod, t), t, sources,
                         approximate(t, f, "ftz" in mod), check, guarded=False))
    return out


# Comparison

INT_CMP = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
           "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
UNSIGNED_CMP = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
FLOAT_CMP = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
             "nan")
BOOL = {"": lambda r, c: r, "and": lambda r, c: r & c, "or": lambda r, c: r | c,
        "xor": lambda r, c: r ^ c}


def compares(t):
    """(operator, reference) pairs of a source type."""
    if scalar_of(t) in FORMATS:
        fmt = FORMATS[scalar_of(t)]
        for op in FLOAT_CMP:
            yield op, lambda a, b, op=op: int(fl.compare(op, fmt.decode(a), fmt.decode(b)))
        return
    bits = BITS[t]
    names = ["eq", "ne"] if t[0] == "b" else list(INT_CMP) + (list(UNSIGNED_CMP) if t[0] == "u"
                                                             else [])
    for op in names:
        f = INT_CMP[UNSIGNED_CMP.get(op, op)]
        if t[0] == "s":
            yield op, lambda a, b, f=f: int(f(sx(a, bits), sx(b, bits)))
        else:
            yield op, lambda a, b, f=f: int(f(a, b))


def with_ftz(t, f):
    fmt = FORMATS[scalar_of(t)]
    return lambda a, b: f(fmt.flush(a), fmt.flush(b))


def setp(row):
    out = []
    is_bool = row.name.endswith("_BOOL")
    for (t,) in legal_types(row):
        for k, (op, f) in enumerate(compares(t)):
            for ftz in ("", "ftz") if scalar_of(t) in ("f32", "f16") else ("",):
                if ftz and k % 3:
                    continue
                g = with_ftz(t, f) if ftz else f
                for b in (("and", "or", "xor")[k % 3],) if is_bool else ("",):
                    name = join("setp", op, b, ftz, t)
                    pair = t.endswith("x2")

                    def ref(x, y, c=0, g=g, b=b, pair=pair):
                        if pair:
                            r = g(x & 0xffff, y & 0xffff), g(x >> 16, y >> 16)
                        else:
                            r = g(x, y), 1 - g(x, y)
                        return BOOL[b](r[0], c), BOOL[b](r[1], c)
                    ins = [t, t] + (["pred"] if is_bool else [])
                    if not is_bool:
                        ref = lambda x, y, ref=ref: ref(x, y)
                    tail = ", {a}, {b}" + (", {c}" if is_bool else "")
                    if t in ("f16", "bf16"):  # these have one result
                        first = lambda *xs, ref=ref: ref(*xs)[0]
                        out.append(V(name + " {d}" + tail, "pred", ins, first))
                    else:
                        out.append(V(name + " {d}|{d1}" + tail, ["pred", "pred"], ins, ref))
                    if is_bool and k == 0:
                        out.append(V(name + " {d}, {a}, {b}, !{c}", "pred", ins,
                                     lambda x, y, c, ref=ref: ref(x, y, 1 - c)[0]))
                    if not is_bool and not pair and k == 0:
                        out.append(V(name + " {d}, {a}, {b}", "pred", ins,
                                     lambda x, y, ref=ref: ref(x, y)[0]))
    return out


def set_value(t):
    return {"f32": 0x3f800000, "f16": 0x3c00, "bf16": 0x3f80}.get(t, (1 << BITS[t]) - 1)


def guard_works(dt, st):
    """The driver's compiler makes these of a set of the source's width and a conversion, which it
    does not guard: lanes whose guard is false get what they held, converted."""
    return dt[0] in "us" and not (BITS[dt] == 32 and BITS[st] == 16)


def sets(row):
    out = []
    is_bool = row.name.endswith("_BOOL")
    for n, (dt, st) in enumerate(legal_types(row)):
        all_compares = list(compares(st))
        chosen = [all_compares[(n + k * 5) % len(all_compares)] for k in range(3)]
        pair = st.endswith("x2")
        for k, (op, f) in enumerate(dict(chosen).items()):
            ftz = "ftz" if scalar_of(st) in ("f32", "f16") and "bf16" not in dt and k == 1 else ""
            g = with_ftz(st, f) if ftz else f
            b = ("and", "or", "xor")[(n + k) % 3] if is_bool else ""

            def ref(x, y, c=0, g=g, b=b, pair=pair, dt=dt):
                if not pair:
                    return set_value(dt) if BOOL[b](g(x, y), c) else 0
                one = {"f16x2": 0x3c00, "bf16x2": 0x3f80}.get(dt, 0xffff)
                low = one if BOOL[b](g(x & 0xffff, y & 0xffff), c) else 0
                high = one if BOOL[b](g(x >> 16, y >> 16), c) else 0
                return low | high << 16
            ins = [st, st] + (["pred"] if is_bool else [])
            if not is_bool:
                ref = lambda x, y, ref=ref: ref(x, y)
            out.append(V(join("set", op, b, ftz, dt, st), dt, ins, ref,
                         guarded=k == 0 and (pair or guard_works(dt, st))))
    return out


def compare_ops(row):
    n = row.name
    if n.startswith("SETP"):
        return setp(row)
    if n.startswith("SET_"):
        return sets(row)
    out = []
    for ts in legal_types(row):
        t = ts[0]
        if n == "SELP":
            out.append(V("selp." + t, t, [t, t, "pred"], lambda a, b, c: a if c else b))
            out.append(V("selp.%s {d}, {a}, {b}, !{c}" % t, t, [t, t, "pred"],
                         lambda a, b, c: b if c else a))
        elif n == "SLCT":
            out.append(V("slct.%s.s32" % t, t, [t, t, "s32"],
                         lambda a, b, c: a if sx(c, 32) >= 0 else b))
        else:
            for ftz in ("", "ftz"):
                def f(a, b, c, ftz=ftz):
                    v = F32.decode(F32.flush(c) if ftz else c)
                    return a if v != NAN and (v[1] == 0 or not v[0]) else b
                out.append(V(join("slct", ftz, t, "f32"), t, [t, t, "f32"], f))
    return out
