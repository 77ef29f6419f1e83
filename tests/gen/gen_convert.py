"""gen_convert.py: variants and references of group CONVERT."""
from fractions import Fraction

import floats as fl
from floats import FORMATS, F32, NAN
from gen_float import ROUND, join, scalar_of
from gen_integer import clamp, sx
from ops import legal_types
from scaffold import BITS, Variant as V


def is_float(t):
    return t in FORMATS


def cvt_mods(dt, st):
    """Which modifiers go with a pair of types; found with ptxas, see exclusions.def."""
    whole = ("rni", "rzi", "rmi", "rpi")
    if not is_float(dt) and not is_float(st):
        keeps = dt == st or (BITS[dt] > BITS[st] and (dt[0] == "s" or st[0] == "u"))
        return [""] if keeps else ["", "sat"]
    if not is_float(dt):
        extra = {"f32": ("", "sat", "ftz", "ftz.sat"), "bf16": ("",)}.get(st, ("", "sat"))
        return [join(r, e) for r in whole for e in extra]
    if not is_float(st):
        extra = {"f32": ("", "sat", "ftz"), "bf16": ("",)}.get(dt, ("", "sat"))
        return [join(r, e) for r in ROUND for e in extra]
    if dt == st:
        extra = {"f32": ("", "sat", "ftz", "ftz.sat"), "bf16": ("",)}.get(dt, ("", "sat"))
        return [join(r, e) for r in ("",) + whole for e in extra]
    if (dt, st) in (("f64", "f16"),):
        return ["", "sat"]
    if (dt, st) in (("f32", "f16"), ("f64", "f32")):
        return ["", "sat", "ftz", "ftz.sat"]
    if st == "bf16":
        return ["", "ftz"] if dt == "f32" else [""] if dt == "f64" else list(ROUND)
    if dt == "bf16":
        return [join(r, e) for r in ROUND for e in (("", "ftz") if st == "f32" else ("",))]
    if dt == "f16" and st == "f64":
        return [join(r, e) for r in ROUND for e in ("", "sat")]
    return [join(r, e) for r in ROUND for e in ("", "sat", "ftz", "ftz.sat")]


def cvt_ref(dt, st, mods):
    words = mods.split(".") if mods else []
    mode = next((w for w in words if w[:2] in ROUND), "")
    ftz, sat = "ftz" in words, "sat" in words
    d_bits = BITS[dt]
    signed = dt[0] == "s"

    def ref(x):
        if not is_float(st):
            x &= (1 << BITS[st]) - 1
            x = sx(x, BITS[st]) if st[0] == "s" else x
            if not is_float(dt):
                r = clamp(x, d_bits, signed) if sat else x & (1 << d_bits) - 1
                return sx(r, d_bits) if signed else r
            fmt = FORMATS[dt]
            r = fmt.encode((1 if x < 0 else 0, Fraction(abs(x))), mode)
            return fl.saturate(fmt, r) if sat else r
        fs = FORMATS[st]
        if ftz and st == "f32" and dt != "f16":  # an H200 rounds subnormals to f16 all the same
            x = fs.flush(x)
        v = fs.decode(x)
        if not is_float(dt):
            if v == NAN:
                most = 1 << d_bits - 1
                return 0 if st != "f64" and d_bits != 64 else -most if signed else most
            return fl.to_integer(v, mode[:2], d_bits, signed)
        fmt = FORMATS[dt]
        if dt == st:
            if v == NAN or v[1] == "inf" or not mode:
                r = x
            else:
                r = fmt.encode((v[0], Fraction(fl.round_units(v[1], v[0], mode[:2]))))
        else:
            r = fmt.encode(v, mode[:2] or "rn", ftz and dt == "f32")
        return fl.saturate(fmt, r) if sat else r
    return ref


def cvt(row):
    out = []
    for dt, st in legal_types(row):
        dest = dt if BITS[dt] >= 16 else "b16"
        source = st if BITS[st] >= 16 else "b16"
        check = "nan " + dt if is_float(dt) else ""
        for k, mods in enumerate(cvt_mods(dt, st)):
            out.append(V(join("cvt", mods, dt, st), dest, [source], cvt_ref(dt, st, mods), check,
                         guarded=k == 0))
        if not is_float(dt) and BITS[dt] < 32 and BITS[st] == 32:
            mods = cvt_mods(dt, st)[0]  # a destination wider than the type
            out.append(V(join("cvt", mods, dt, st), "b32", [source], cvt_ref(dt, st, mods)))
    return out


def relu(fmt, bits, on):
    v = fmt.decode(bits)
    return 0 if on and v != NAN and v[0] else bits


def converts(row):
    n, out = row.name, []
    if n == "CVT":
        return cvt(row)
    for ts in legal_types(row):
        if n in ("CVT_NARROW", "CVT_PACK2"):
            fmt = FORMATS[scalar_of(ts[0])]
            for mode in ("rn", "rz"):
                for r in ("", "relu"):
                    for s in ("", "satfinite"):
                        if n == "CVT_NARROW" and not r and not s:
                            continue

                        def one(x, fmt=fmt, mode=mode, r=r, s=s):
                            return relu(fmt, fmt.encode(F32.decode(x), mode, satfinite=bool(s)), r)
                        if n == "CVT_NARROW":
                            out.append(V(join("cvt", mode, r, s, *ts), ts[0], ["f32"], one))
                        else:
                            out.append(V(join("cvt", mode, r, s, *ts), ts[0], ["f32", "f32"],
                                         lambda a, b, one=one: one(a) << 16 | one(b)))
        elif n == "CVT_TF32":
            for mode in ("rna", "rn", "rz"):
                for mods in ("",) if mode == "rna" else ("", "relu", "satfinite"):
                    if mods == "satfinite" and mode != "rna":
                        continue

                    def f(x, mode=mode, mods=mods):
                        v = F32.decode(x)
                        if v == NAN:
                            return 0x7fffffff
                        r = fl.TF32.encode(v, mode) << 13
                        return 0 if mods == "relu" and v[0] else r
                    out.append(V(join("cvt", mode, mods, *ts), "b32", ["f32"], f, "nan f32"))
        elif n in ("CVT_F8_F32", "CVT_F8_F16", "CVT_F16_F8"):
            for r in ("", "relu"):
                if n == "CVT_F16_F8":
                    f8 = FORMATS[ts[1][:4]]

                    def f(x, f8=f8, r=r):
                        one = lambda y: relu(fl.F16, fl.F16.encode(f8.decode(y)), r)
                        return one(x & 255) | one(x >> 8) << 16
                    out.append(V(join("cvt.rn", r, *ts), "b32", ["b16"], f))
                else:
                    f8 = FORMATS[ts[0][:4]]
                    src = F32 if n == "CVT_F8_F32" else fl.F16

                    def one(y, f8=f8, src=src, r=r):
                        return relu(f8, f8.encode(src.decode(y), "rn", satfinite=True), r)
                    if n == "CVT_F8_F32":
                        out.append(V(join("cvt.rn.satfinite", r, *ts), "b16", ["f32", "f32"],
                                     lambda a, b, one=one: one(a) << 8 | one(b)))
                    else:
                        out.append(V(join("cvt.rn.satfinite", r, *ts), "b16", ["f16x2"],
                                     lambda a, one=one: one(a >> 16) << 8 | one(a & 0xffff)))
        elif n in ("CVT_PACK", "CVT_PACK_C"):
            bits, signed = int(ts[0][1:]), ts[0][0] == "s"
            top = (1 << bits) - 1

            def f(a, b, c=0, bits=bits, signed=signed, top=top):
                one = lambda x: clamp(sx(x, 32), bits, signed) & top
                return one(a) << bits | one(b) | c << 2 * bits
            if n == "CVT_PACK":
                out.append(V(join("cvt.pack.sat", *ts), "b32", ["s32", "s32"],
                             lambda a, b, f=f: f(a, b)))
            else:
                out.append(V(join("cvt.pack.sat", *ts), "b32", ["s32", "s32", "b32"], f))
        else:
            raise SystemExit("no generator for " + n)
    return out
