"""gen_integer.py: variants and references of groups INTEGER and VIDEO, from PTX's definitions."""
from ops import legal_types
from scaffold import BITS, POOLS, Variant as V


def width(t):
    return 16 if t.endswith("16x2") else BITS[t]


def sx(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def is_signed(t):
    return t[0] == "s"


def value(t, x):
    bits = width(t)
    return sx(x, bits) if is_signed(t) else x & (1 << bits) - 1


def clamp(x, bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return max(low, min(high, x))


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def over(t, f):
    """f on the values of type t; on both halves of a pair."""
    if t.endswith("x2"):
        def pair(*xs):
            low = f(*[value(t, x) for x in xs]) & 0xffff
            high = f(*[value(t, x >> 16) for x in xs]) & 0xffff
            return low | high << 16
        return pair
    return lambda *xs: f(*[value(t, x) for x in xs])


POOLS["u32/shift"] = lambda rng, n: [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255,
                                     0x80000001]
POOLS["u32/field"] = lambda rng, n: [0, 1, 3, 8, 16, 24, 31, 32, 33, 40, 63, 64, 128, 255, 256,
                                     0x1ff05]
POOLS["u32/base"] = lambda rng, n: [0, 1, 2, 5, 8, 13, 16, 20, 24, 27, 30, 31, 3, 4, 6, 7]
POOLS["s32/nth"] = lambda rng, n: [x & 0xffffffff for x in
                                   (0, 1, -1, 2, -2, 3, -3, 5, -5, 9, -9, 16, -16, 31, 32, -33)]
for _t in ("u16", "u32", "u64", "s16", "s32", "s64"):
    def _divisors(rng, n, t=_t):
        bits = BITS[t]
        top = (1 << bits) - 1
        values = [1, 2, 3, 7, 10, top, top - 1, 1 << bits - 1, (1 << bits - 1) - 1, 5, 255]
        while len(values) < n:
            values.append(rng.getrandbits(bits) >> rng.choice((0, bits // 2)) | 1)
        return values
    POOLS[_t + "/divisor"] = _divisors


def divide(op):
    def f(a, b):
        q = trunc_div(a, b)
        return q if op == "div" else a - q * b
    return f


def carries(row, types):
    """Flag in and out, seen by running the instruction between a setter and a reader."""
    out = []
    for (t,) in types:
        bits, top = BITS[t], (1 << BITS[t]) - 1
        for part in ("lo", "hi") if "MAD" in row.name else ("",):
            for cc in ("",) if row.name.endswith("_CC") else ("", ".cc"):
                takes = row.name in ("ADDC", "SUBC", "MADC")
                name = row.mnemonic + ("." + part if part else "")
                gives = row.name.endswith("_CC") or bool(cc)
                text = name + (".cc" if gives else "") + "." + t
                mad = bool(part)
                sub = row.mnemonic.startswith("sub")

                def ref(a, b, c, mad=mad, part=part, t=t, bits=bits, top=top, takes=takes,
                        gives=gives, sub=sub):
                    # The flag is the adder's carry: a - b - borrow is a + ~b + flag.
                    flag = (c + c >> bits) if takes else 0
                    if mad:
                        product = value(t, a) * value(t, b)
                        p = (product >> bits if part == "hi" else product) & top
                        total = p + c + flag
                        carry = total >> bits
                    elif sub:
                        total = a + (b ^ top) + (flag if takes else 1)
                        carry = total >> bits
                    else:
                        total = a + b + flag
                        carry = total >> bits
                    if not gives:
                        return total & top
                    return (total & top, 1 - carry if sub else carry)
                setup = "add.cc.u%d {x}, {c}, {c}; " % bits if takes else ""
                body = text + (" {d}, {a}, {b}, {c}" if mad else " {d}, {a}, {b}")
                outs = [t] + (["u%d" % bits] if gives else [])
                # After a subtraction 0 - 0 - borrow shows the flag.
                after = ""
                if gives:
                    after = "; subc.u%d {y}, 0, 0; sub.u%d {d1}, 0, {y}" % (bits, bits) if sub \
                        else "; addc.u%d {d1}, 0, 0" % bits
                reg = "d" if bits == 64 else "r"
                setup = setup.replace("{x}", "%%%s0" % reg)
                after = after.replace("{y}", "%%%s0" % reg)
                out.append(V(setup + body + after, outs, [t, t, t], ref, guarded=False))
        if row.name == "SUBC" and t[0] == "u":
            x = "%r0" if bits == 32 else "%d0"
            out.append(V("sub.cc.%s %s, {a}, {b}; addc.%s {d}, {c}, 0" % (t, x, t), t, [t] * 3,
                         lambda a, b, c: c + int(a >= b), guarded=False))
            out.append(V("mad.lo.cc.%s %s, {a}, {b}, {c}; subc.%s {d}, {a}, {b}" % (t, x, t), t,
                         [t] * 3, lambda a, b, c, bits=bits, top=top:
                         a + (b ^ top) + ((a * b & top) + c >> bits), guarded=False))
    return out


def lop3_ref(table):
    def f(a, b, c):
        d = 0
        for k in range(8):
            if table >> k & 1:
                d |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        return d & 0xffffffff
    return f


def prmt_ref(mode):
    tables = {"f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
              "rc8": (0, 0x1111, 0x2222, 0x3333), "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
              "ecr": (0, 0x1110, 0x2210, 0x3210), "rc16": (0x1010, 0x3232, 0x1010, 0x3232)}

    def f(a, b, c):
        control = tables[mode][c & 3] if mode else c
        data = (b << 32 | a).to_bytes(8, "little")
        d = 0
        for k in range(4):
            nibble = control >> 4 * k & 15
            byte = data[nibble & 7]
            if nibble & 8:
                byte = 255 if byte & 128 else 0
            d |= byte << 8 * k
        return d
    return f


def field_operand(x, bits):
    """PTX says modulo 256; GPUs do that for 32-bit words, and read all of it for 64-bit ones."""
    return x & 255 if bits == 32 else x


def bfe_ref(t):
    def f(a, b, c):
        bits = BITS[t]
        pos, length, msb = field_operand(b, bits), field_operand(c, bits), bits - 1
        sbit = 0 if not is_signed(t) or length == 0 else a >> min(pos + length - 1, msb) & 1
        d = 0
        for i in range(bits):
            d |= (a >> pos + i & 1 if i < length and pos + i <= msb else sbit) << i
        return d
    return f


def bfi_ref(bits):
    def f(a, b, c, e):
        pos, length = field_operand(c, bits), field_operand(e, bits)
        for i in range(min(length, bits)):
            if pos + i < bits:
                b = b & ~(1 << pos + i) | (a >> i & 1) << pos + i
        return b
    return f


def bmsk_ref(mode):
    def f(a, b):
        m = 0xffffffff
        a1, b1 = a & 31, b & 31
        mask0, mask1 = m << a1 & m, m << a1 + b1 & m
        overflow = a1 + b1 >= 32
        if mode == "clamp":
            if a >= 32:
                overflow, mask0 = True, 0
            overflow = overflow or b >= 32
        if overflow:
            mask1 = 0
        elif b1 == 0:
            mask1 = m << a1 & m  # nothing is set: mask0 and not mask1
        return mask0 & ~mask1
    return f


def szext_ref(mode, t):
    def f(a, b):
        m = 0xffffffff
        b1 = b & 31
        large = b >= 32 and mode == "clamp"
        mask = 0 if large else m << b1 & m
        sign = not (b1 == 0 or large or t != "s32") and a >> (b1 - 1 & 31) & 1
        return a & ~mask | (mask if sign else 0)
    return f


def bfind_ref(t, shift):
    def f(a):
        bits = BITS[t]
        if is_signed(t) and a >> bits - 1:
            a ^= (1 << bits) - 1
        if a == 0:
            return 0xffffffff
        at = a.bit_length() - 1
        return bits - 1 - at if shift else at
    return f


def fns_ref(a, b, c):
    c = sx(c, 32)
    if c == 0:
        return b if a >> b & 1 else 0xffffffff
    at, left = b, abs(c) - 1
    while 0 <= at < 32:
        if a >> at & 1:
            if left == 0:
                return at
            left -= 1
        at += 1 if c > 0 else -1
    return 0xffffffff


def shift_ref(op, t):
    def f(a, b):
        bits = BITS[t]
        b = min(b, bits)
        return a << b if op == "shl" else value(t, a) >> b if is_signed(t) else a >> b
    return f


def shf_ref(side, mode):
    def f(a, b, c):
        n = min(c, 32) if mode == "clamp" else c & 31
        pair = b << 32 | a
        return (pair << n) >> 32 if side == "l" else pair >> n
    return f


def dot_ref(t1, t2, mode):
    def part(x, k, bits, t):
        x = x >> bits * k & (1 << bits) - 1
        return sx(x, bits) if is_signed(t) else x

    def f(a, b, c):
        if mode is None:
            return c + sum(part(a, k, 8, t1) * part(b, k, 8, t2) for k in range(4))
        first = 2 if mode == "hi" else 0
        return c + sum(part(a, k, 16, t1) * part(b, first + k, 8, t2) for k in range(2))
    return f


BINARY = {"ADD": lambda a, b: a + b, "SUB": lambda a, b: a - b, "MUL_LO": lambda a, b: a * b,
          "MIN": min, "MAX": max, "AND": lambda a, b: a & b, "OR": lambda a, b: a | b,
          "XOR": lambda a, b: a ^ b, "ADD_SAT": lambda a, b: clamp(a + b, 32, True),
          "SUB_SAT": lambda a, b: clamp(a - b, 32, True),
          "MIN_RELU": lambda a, b: max(min(a, b), 0), "MAX_RELU": lambda a, b: max(a, b, 0)}
TERNARY = {"MAD_LO": lambda a, b, c: a * b + c, "SAD": lambda a, b, c: c + abs(a - b)}
UNARY = {"ABS": abs, "NEG": lambda a: -a}
INFIX = {"MUL_LO": "lo.", "MAD_LO": "lo.", "MIN_RELU": "relu.", "MAX_RELU": "relu.",
         "ADD_SAT": "sat.", "SUB_SAT": "sat."}


def rev(bits):
    return lambda a: int(format(a, "0%db" % bits)[::-1], 2)


def simple(row, types):
    out = []
    for (t,) in types:
        name = "%s.%s%s" % (row.mnemonic, INFIX.get(row.name, ""), t)
        if row.name in BINARY:
            out.append(V(name, t, [t, t], over(t, BINARY[row.name])))
            if t == "pred":
                out.append(V(name + " {d}, !{a}, {b}", t, [t, t],
                             lambda a, b, f=BINARY[row.name]: f(1 - a, b)))
        elif row.name in TERNARY:
            out.append(V(name, t, [t, t, t], over(t, TERNARY[row.name])))
        else:
            out.append(V(name, t, [t], over(t, UNARY[row.name])))
    return out


def integer(row):
    types = legal_types(row)
    n = row.name
    if n in BINARY or n in TERNARY or n in UNARY:
        return simple(row, types)
    if n in ("ADD_CC", "ADDC", "SUB_CC", "SUBC", "MAD_CC", "MADC"):
        return carries(row, types)
    out = []
    for ts in types:
        t = ts[0]
        bits = BITS[t]
        hi = over(t, lambda a, b, bits=bits: a * b >> bits)
        if n == "MUL_HI":
            out.append(V("mul.hi." + t, t, [t, t], hi))
        elif n == "MAD_HI":
            out.append(V("mad.hi." + t, t, [t, t, t],
                         lambda a, b, c, hi=hi: hi(a, b) + c))
        elif n == "MAD_HI_SAT":
            out.append(V("mad.hi.sat.s32", t, [t, t, t], over(
                t, lambda a, b, c: clamp((a * b >> 32) + c, 32, True))))
        elif n in ("MUL_WIDE", "MAD_WIDE"):
            wide = t[0] + str(2 * bits)
            if n == "MUL_WIDE":
                out.append(V("mul.wide." + t, wide, [t, t], over(t, lambda a, b: a * b)))
            else:
                out.append(V("mad.wide." + t, wide, [t, t, wide],
                             lambda a, b, c, t=t: value(t, a) * value(t, b) + c))
        elif n in ("MUL24", "MAD24", "MAD24_SAT"):
            for part in ("lo", "hi") if n != "MAD24_SAT" else ("hi",):
                def f(a, b, c=0, t=t, part=part):
                    v = (lambda x: sx(x, 24)) if is_signed(t) else (lambda x: x & 0xffffff)
                    p = v(a) * v(b)
                    p = (p >> 16 if part == "hi" else p) & 0xffffffff
                    if n == "MAD24_SAT":
                        return clamp(sx(p, 32) + sx(c, 32), 32, True)
                    return p + c
                sat = "sat." if n == "MAD24_SAT" else ""
                ins = [t, t] if n == "MUL24" else [t, t, t]
                ref = (lambda a, b, f=f: f(a, b)) if n == "MUL24" else f
                out.append(V("%s.%s.%s%s" % (row.mnemonic, part, sat, t), t, ins, ref))
        elif n in ("DIV", "REM"):
            out.append(V("%s.%s" % (row.mnemonic, t), t, [t, t + "/divisor"],
                         over(t, divide(row.mnemonic))))
            out.append(V("%s.%s {d}, {a}, 7" % (row.mnemonic, t), t, [t, t + "/divisor"],
                         over(t, lambda a, b: divide(row.mnemonic)(a, 7))))
        elif n == "POPC":
            out.append(V("popc." + t, "u32", [t], lambda a: bin(a).count("1")))
        elif n == "CLZ":
            out.append(V("clz." + t, "u32", [t], lambda a, bits=bits: bits - a.bit_length()))
        elif n == "BFIND":
            out.append(V("bfind." + t, "u32", [t], bfind_ref(t, False)))
            out.append(V("bfind.shiftamt." + t, "u32", [t], bfind_ref(t, True)))
        elif n == "FNS":
            out.append(V("fns.b32", t, [t, "u32/base", "s32/nth"], fns_ref))
        elif n == "BREV":
            out.append(V("brev." + t, t, [t], rev(bits)))
        elif n == "BFE":
            out.append(V("bfe." + t, t, [t, "u32/field", "u32/field"], bfe_ref(t)))
            out.append(V("bfe.%s {d}, {a}, 5, 7" % t, t, [t, "u32/field", "u32/field"],
                         lambda a, b, c, f=bfe_ref(t): f(a, 5, 7)))
        elif n == "BFI":
            out.append(V("bfi." + t, t, [t, t, "u32/field", "u32/field"], bfi_ref(bits)))
        elif n == "BMSK":
            for mode in ("clamp", "wrap"):
                out.append(V("bmsk.%s.b32" % mode, t, ["u32/shift", "u32/shift"], bmsk_ref(mode)))
        elif n == "SZEXT":
            for mode in ("clamp", "wrap"):
                out.append(V("szext.%s.%s" % (mode, t), t, [t, "u32/shift"], szext_ref(mode, t)))
        elif n == "DP4A":
            out.append(V("dp4a.%s.%s" % ts, "b32", ["b32"] * 3, dot_ref(*ts, None)))
        elif n == "DP2A":
            for mode in ("lo", "hi"):
                out.append(V("dp2a.%s.%s.%s" % (mode, *ts), "b32", ["b32"] * 3, dot_ref(*ts, mode)))
        elif n == "NOT":
            out.append(V("not." + t, t, [t],
                         (lambda a: 1 - a) if t == "pred" else (lambda a: ~a)))
        elif n == "CNOT":
            out.append(V("cnot." + t, t, [t], lambda a: int(a == 0)))
        elif n == "LOP3":
            for table in (0x00, 0x96, 0xfe, 0x80, 0xca, 0xe8, 0xf8, 0x6a, 0x3c, 0xc0, 0x1d, 0x2b,
                          0x5f, 0x81, 0xff):
                out.append(V("lop3.b32 {d}, {a}, {b}, {c}, 0x%02x" % table, t, [t] * 3,
                             lop3_ref(table)))
        elif n == "LOP3_BOOL":
            for op in ("or", "and"):
                def f(a, b, c, q, op=op):
                    d = lop3_ref(0x42)(a, b, c)
                    p = int(d != 0)
                    return (d, p | q if op == "or" else p & q)
                out.append(V("lop3.%s.b32 {d}|{d1}, {a}, {b}, {c}, 0x42, {e}" % op, [t, "pred"],
                             [t, t, t, "pred"], f))
                out.append(V("lop3.%s.b32 _|{d}, {a}, {b}, {c}, 0x42, !{e}" % op, ["pred"],
                             [t, t, t, "pred"], lambda a, b, c, q, f=f: f(a, b, c, 1 - q)[1]))
        elif n in ("SHL", "SHR"):
            out.append(V("%s.%s" % (row.mnemonic, t), t, [t, "u32/shift"],
                         shift_ref(row.mnemonic, t)))
            out.append(V("%s.%s {d}, {a}, 5" % (row.mnemonic, t), t, [t, "u32/shift"],
                         lambda a, b, f=shift_ref(row.mnemonic, t): f(a, 5)))
        elif n == "SHF":
            for side in "lr":
                for mode in ("clamp", "wrap"):
                    out.append(V("shf.%s.%s.b32" % (side, mode), t, [t, t, "u32/shift"],
                                 shf_ref(side, mode)))
        elif n == "PRMT":
            out.append(V("prmt.b32", t, [t] * 3, prmt_ref(None)))
            for control in (0x3210, 0x7654, 0x5140, 0x9876):
                out.append(V("prmt.b32 {d}, {a}, {b}, 0x%x" % control, t, [t] * 3,
                             lambda a, b, c, k=control: prmt_ref(None)(a, b, k)))
            for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
                out.append(V("prmt.b32.%s" % mode, t, [t] * 3, prmt_ref(mode)))
        else:
            raise SystemExit("no generator for " + n)
    return out


# Video

def part(x, selector, signed):
    if not selector:
        bits, at = 32, 0
    else:
        bits = 8 if selector[0] == "b" else 16
        at = int(selector[1]) * bits
    x = x >> at & (1 << bits) - 1
    return sx(x, bits) if signed else x


def merge(x, selector, c):
    """GPUs merge .h1 from the result's own upper half: they do not move the lower half up."""
    if not selector:
        return x & 0xffffffff
    bits = 8 if selector[0] == "b" else 16
    at = int(selector[1]) * bits
    field = (1 << bits) - 1 << at
    return c & ~field | (x if selector == "h1" else x << at) & field


def saturate(x, selector, signed, is_shift):
    """To a whole unsigned word GPUs cut only what is negative; to a part of a word they take what
    is negative for large. Of what was shifted they look at 34 bits, and clamp it to a word whatever
    its destination."""
    if is_shift:
        return clamp(sx(x, 34), 32, signed)
    if not selector:
        return clamp(x, 32, True) if signed else max(x, 0)
    bits = 8 if selector[0] == "b" else 16
    high = (1 << bits - signed) - 1
    return x if 0 <= x <= high else high


def second(op, x, z, signed):
    """GPUs compare with an unsigned c as if x were unsigned too, and of more bits than c: what is
    negative is larger than every c."""
    if not op:
        return x
    if op == ".add":
        return x + z
    smaller = x < sx(z, 32) if signed else 0 <= x < z
    return x if smaller == (op == ".min") else z


COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
           "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def video_op(name, mode=""):
    base = name.rstrip("24")
    if base == "vset":
        return lambda a, b: int(COMPARE[mode](a, b))
    if base in ("vshl", "vshr"):
        def shift(a, b):
            n = b & 31 if mode == "wrap" else min(b, 32)
            return sx(a << n, 64) if base == "vshl" else a >> n
        return shift
    return {"vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vmin": min, "vmax": max,
            "vabsdiff": lambda a, b: abs(a - b),
            "vavrg": lambda a, b: a + b + 1 >> 1 if a + b >= 0 else a + b >> 1}[base]


def scalar_video(row, types):
    out = []
    base = row.mnemonic
    is_set, is_shift = base == "vset", base in ("vshl", "vshr")
    selectors = (("", "", ""), ("", "b1", "h1"), ("b2", "", "b0"), ("h1", "h0", "b3"))
    modes = ("clamp", "wrap") if is_shift else tuple(COMPARE) if is_set else ("",)
    for ts in types:
        dt, at, bt = ts[:1] + ts if is_set else ts
        for k, mode in enumerate(modes):
            for sat in ("",) if is_set else ("", ".sat"):
                for op2 in ("", ".add", ".min", ".max"):
                    for d, a, b in selectors:
                        if (op2 and d) or (is_set and (k + len(op2) + len(d)) % 3 == 1):
                            continue
                        f = video_op(base, mode)

                        def ref(x, y, z, f=f, sat=sat, op2=op2, d=d, a=a, b=b, dt=dt, at=at, bt=bt):
                            v = f(part(x, a, at[0] == "s"), part(y, b, bt[0] == "s"))
                            if sat:
                                v = saturate(v, d, dt[0] == "s", is_shift)
                            if base in ("vadd", "vsub") or (is_shift and sat):
                                v = sx(v, 32)
                            v = second(op2, v, z, dt[0] == "s")
                            return merge(v, d, z)
                        suffix = ("." + mode if mode else "")
                        head = ".".join((base,) + ts) + (sat + suffix if not is_set else suffix)
                        dot = lambda s: "." + s if s else ""
                        c = ", {c}" if op2 or d else ""
                        text = "%s%s {d}%s, {a}%s, {b}%s%s" % (head, op2, dot(d), dot(a), dot(b), c)
                        out.append(V(text, "b32", ["b32"] * 3, ref, guarded=not sat))
    return out


def vmad(types):
    out = []
    for dt, at, bt in types:
        for po in ("", ".po"):
            for sat in ("", ".sat"):
                for scale in ("", ".shr7", ".shr15"):
                    for a, b, na, nb, nc in (("", "", "", "", ""), ("b1", "h1", "", "", ""),
                                             ("", "b2", "-", "", ""), ("h0", "", "", "", "-")):
                        if po and (na or nb or nc):
                            continue

                        def ref(x, y, z, a=a, b=b, at=at, bt=bt, po=po, sat=sat, scale=scale,
                                na=na, nb=nb, nc=nc):
                            # GPUs take every whole word for signed. The sum has 64 bits, and is
                            # shifted as an unsigned one if the types and signs are all unsigned.
                            signed = at[0] == "s" or bt[0] == "s" or bool(na) != bool(nb) or nc
                            u = part(x, a, at[0] == "s" or not a)
                            v = part(y, b, bt[0] == "s" or not b)
                            total = sx(z, 32) * (-1 if nc else 1) + int(bool(po))
                            total += -u * v if bool(na) != bool(nb) else u * v
                            shift = {"": 0, ".shr7": 7, ".shr15": 15}[scale]
                            total = sx(total, 64) if signed or not shift else total % (1 << 64)
                            total >>= shift
                            return clamp(total, 32, bool(signed)) if sat else total
                        dot = lambda s: "." + s if s else ""
                        text = "vmad.%s.%s.%s%s%s%s {d}, %s{a}%s, %s{b}%s, %s{c}" % (
                            dt, at, bt, po, sat, scale, na, dot(a), nb, dot(b), nc)
                        out.append(V(text, "b32", ["b32"] * 3, ref, guarded=False))
    return out


def packed_video(row, types):
    out = []
    base = row.mnemonic
    n = int(base[-1])
    bits = 32 // n
    is_set = base.startswith("vset")
    choices = ((("", "", ""), ("h0", "h32", "h01"), ("h1", "h13", "h20"), ("h10", "", "h33"))
               if n == 2 else
               (("", "", ""), ("b0", "b7654", "b0123"), ("b310", "b1357", "b0246"),
                ("b21", "", "b7777")))
    for ts in types:
        dt, at, bt = ("u32",) + ts if is_set else ts
        for mode in tuple(COMPARE) if is_set else ("",):
            for tail in ("", ".add") if is_set else ("", ".sat", ".add"):
                for d, a, b in choices:
                    f = video_op(base, mode)

                    def ref(x, y, z, f=f, tail=tail, d=d, a=a, b=b, dt=dt, at=at, bt=bt):
                        pair = y << 32 | x
                        pick = lambda s, default, k: int((s[1:] or default)[n - 1 - k])
                        word = z
                        for k in range(n):
                            i = pick(a, "10" if n == 2 else "3210", k)
                            j = pick(b, "32" if n == 2 else "7654", k)
                            top = (1 << bits) - 1
                            u, v = pair >> bits * i & top, pair >> bits * j & top
                            t = f(sx(u, bits) if at[0] == "s" else u,
                                  sx(v, bits) if bt[0] == "s" else v)
                            if d and str(k) not in d[1:]:
                                continue
                            if tail == ".sat":
                                t = clamp(t, bits, dt[0] == "s")
                            if tail == ".add":
                                word += t
                            else:
                                field = (1 << bits) - 1 << bits * k
                                word = word & ~field | t << bits * k & field
                        return word
                    dot = lambda s: "." + s if s else ""
                    text = "%s%s%s {d}%s, {a}%s, {b}%s, {c}" % (
                        ".".join((base,) + ts), dot(mode), tail, dot(d), dot(a), dot(b))
                    out.append(V(text, "b32", ["b32"] * 3, ref, guarded=False))
    return out


def video(row):
    types = legal_types(row)
    if row.name == "VMAD":
        return vmad(types)
    if row.name[-1] in "24":
        return packed_video(row, types)
    return scalar_video(row, types)
