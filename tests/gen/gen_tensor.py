"""gen_tensor.py: tests of mma, wmma, ldmatrix and their kin.

Factors are small whole numbers, so that every order of summation gives the same result; what comes
out is then exact. Fragment layouts are PTX's, written here a second time, from its pictures.
"""
import random
from fractions import Fraction

from floats import FORMATS, F16, F32, F64
from gen_integer import clamp, sx
from ops import BY_NAME
from scaffold import File

LANES = 32


def encode_whole(t, x):
    """The bits of a whole number in type t (tf32 lives in 32 bits)."""
    if t == "tf32":
        return F32.encode((int(x < 0), Fraction(abs(x))))
    if t in FORMATS:
        return FORMATS[t].encode((int(x < 0), Fraction(abs(x))))
    bits = int(t[1:])
    return x & (1 << bits) - 1


def decode_whole(t, bits):
    if t == "tf32":
        t = "f32"
    if t in FORMATS:
        v = FORMATS[t].decode(bits)
        return int(-v[1] if v[0] else v[1])
    return sx(bits, int(t[1:])) if t[0] == "s" else bits


def width(t):
    return {"tf32": 32, "bf16": 16}.get(t) or (FORMATS[t].bits if t in FORMATS else int(t[1:]))


def random_words(t, count, who):
    """32-bit (f64: 64-bit) words full of small numbers of type t."""
    rng = random.Random("tensor/%s/%s" % (t, who))
    w = width(t)
    if t in FORMATS or t == "tf32":
        limit = {"e4m3": 8, "e5m2": 4}.get(t, 9)
        one = lambda: encode_whole(t, rng.randint(-limit, limit))
    else:
        one = lambda: rng.getrandbits(w)
    size = max(w, 32)
    return [sum(one() << w * k for k in range(size // w)) for _ in range(count)]


class Parts:
    """Elements of one operand of mma: element(lane, register, k) -> (row, column)."""

    @staticmethod
    def a(w, regs, m):
        n = max(1, 32 // w)
        return lambda lane, r, e: ((lane >> 2) + (8 * (r & 1) if m == 16 else 0),
                                   lane % 4 * n + e + 4 * n * (r >> 1 if m == 16 else r))

    @staticmethod
    def b(w):
        n = max(1, 32 // w)
        return lambda lane, r, e: (lane % 4 * n + e + 4 * n * r, lane >> 2)

    @staticmethod
    def c(w):
        if w == 16:
            return lambda lane, r, e: ((lane >> 2) + 8 * r, lane % 4 * 2 + e)
        return lambda lane, r, e: ((lane >> 2) + 8 * (r >> 1), lane % 4 * 2 + (r & 1))


def unpack(words, place, t, regs):
    w = width(t)
    n = max(1, 32 // w)
    out = {}
    for lane in range(LANES):
        for r in range(regs):
            for e in range(n):
                bits = words[lane * regs + r] >> w * e & (1 << w) - 1
                out[place(lane, r, e)] = decode_whole(t, bits)
    return out


def pack(matrix, place, t, regs):
    w = width(t)
    n = max(1, 32 // w)
    return [sum(encode_whole(t, matrix[place(lane, r, e)]) << w * e for e in range(n))
            for lane in range(LANES) for r in range(regs)]


def bit_product(op):
    return lambda x, y: (x ^ y) if op == "xor" else (x & y)


class MmaFile:
    def __init__(self, name, needs=90, version="8.5"):
        self.f = File(name, needs, version)
        self.offsets = {}

    def words(self, t, regs, who, c_range=None):
        key = (t, regs, who)
        if key not in self.offsets:
            size = 64 if t == "f64" else 32
            values = random_words(t, regs * LANES, who)
            if c_range:
                rng = random.Random("c" + t)
                values = [rng.randint(-c_range, c_range) & 0xffffffff for _ in values]
            self.offsets[key] = (self.f.add_input(size, values), values)
        return self.offsets[key]

    def kernel(self, name, text, m, n, k, dt, at, bt, ct, product=None, satfinite=False,
               layout=None):
        """One mma instruction: registers from memory, result to memory."""
        regs = lambda rows, cols, t: rows * cols * width(t) // (32 * max(32, width(t)))
        ra, rb, rc, rd = regs(m, k, at), regs(k, n, bt), regs(m, n, ct), regs(m, n, dt)
        a_at, a = self.words(at, ra, "a")
        b_at, b = self.words(bt, rb, "b")
        c_at, c = self.words(ct, rc, "c", 1000 if ct == "s32" and not satfinite else None)
        if layout:
            pa, pb, pc, pd = layout
        else:
            pa, pb = Parts.a(width(at), ra, m), Parts.b(width(bt))
            pc, pd = Parts.c(width(ct)), Parts.c(width(dt))
        A, B, C = unpack(a, pa, at, ra), unpack(b, pb, bt, rb), unpack(c, pc, ct, rc)
        D = {}
        multiply = product or (lambda x, y: x * y)
        for i in range(m):
            for j in range(n):
                if (i, j) in C:
                    total = C[i, j] + sum(multiply(A[i, p], B[p, j]) for p in range(k))
                    D[i, j] = clamp(total, 32, True) if satfinite else total
        d = pack(D, pd, dt, rd)
        self.emit(name, text, (dt, rd), ((at, ra, a_at), (bt, rb, b_at), (ct, rc, c_at)), d)

    def emit(self, name, text, dest, sources, result):
        dt, rd = dest
        lines, groups = [], []
        letter = lambda t: "d" if t == "f64" else "r"
        counts = {"r": 0, "d": 0}

        def fresh(t):
            counts[letter(t)] += 1
            return "%%%s%d" % (letter(t), counts[letter(t)])
        for t, regs, offset in sources:
            size = 8 if t == "f64" else 4
            names = [fresh(t) for _ in range(regs)]
            lines.append("mad.wide.u32 %%at, %%t, %d, %%in;" % (regs * size))
            lines += ["ld.global.b%d %s, [%%at+%d];" % (size * 8, n, offset + k * size)
                      for k, n in enumerate(names)]
            groups.append("{%s}" % ", ".join(names))
        d = [fresh(dt) for _ in range(rd)]
        size = 8 if dt == "f64" else 4
        lines.append("%s {%s}, %s;" % (text[0], ", ".join(d), ", ".join(groups)) + text[1])
        lines.append("mad.wide.u32 %%at, %%t, %d, %%out;" % (rd * size))
        lines += ["st.global.b%d [%%at+%d], %s;" % (size * 8, k * size, n) for k, n in enumerate(d)]
        f = self.f
        f.header.append("// run: %s block 32" % name)
        if result is None:
            f.expect_pending("%s %s" % (text[0], name), rd * size * LANES)
        else:
            f.expect(text[0], b"".join((x & (1 << 8 * size) - 1).to_bytes(size, "little")
                                       for x in result))
        f.body += [".visible .entry %s(.param .u64 out, .param .u64 in)" % name, "{",
                   "    .reg .b32 %%t, %%r<%d>;" % (counts["r"] + 1),
                   "    .reg .b64 %%in, %%out, %%at, %%d<%d>;" % (counts["d"] + 1),
                   "    ld.param.u64 %out, [out];", "    ld.param.u64 %in, [in];",
                   "    mov.u32 %t, %tid.x;"] + ["    " + x for x in lines] + ["    ret;", "}", ""]


    def unknown(self, name, text, m, n, k, dt, at, bt, ct, data):
        """Random factors: how a GPU sums and rounds is its own affair."""
        regs = lambda rows, cols, t: rows * cols * width(t) // (32 * max(32, width(t)))
        sources = []
        for t, count, who in ((at, regs(m, k, at), "a"), (bt, regs(k, n, bt), "b"),
                              (ct, regs(m, n, ct), "c")):
            key = (t, count, who, data)
            if key not in self.offsets:
                self.offsets[key] = self.f.add_input(32, wild_words(t, count * LANES, who, data))
            sources.append((t, count, self.offsets[key]))
        self.emit(name, text, (dt, regs(m, n, dt)), sources, None)


def wild_words(t, count, who, data):
    """Floats of spread exponents; data "near" keeps them close together, "far" spreads them."""
    rng = random.Random("wild/%s/%s/%s" % (t, who, data))
    f = F32 if t == "tf32" else FORMATS[t]
    w = f.bits
    spread = {"near": 3, "far": 14 if f.e > 5 else f.bias - 2}[data]

    def one():
        exponent = f.bias + rng.randint(-spread, min(spread, f.bias // 2))
        bits = rng.getrandbits(1) * f.sign_bit | max(exponent, 0) << f.f | rng.getrandbits(f.f)
        return bits & ~0x1fff if t == "tf32" else bits
    return [sum(one() << w * k for k in range(32 // w)) for _ in range(count)]


def random_mma():
    file = MmaFile("mma_random", 90, "8.5")
    cases = [("m16n8k8", "f16", "f16"), ("m16n8k16", "f16", "f16"), ("m16n8k8", "f16", "f32"),
             ("m16n8k16", "f16", "f32"), ("m16n8k8", "bf16", "f32"), ("m16n8k16", "bf16", "f32"),
             ("m16n8k4", "tf32", "f32"), ("m16n8k8", "tf32", "f32"), ("m16n8k32", "e4m3", "f32"),
             ("m16n8k32", "e5m2", "f32")]
    for s, t, acc in cases:
        for data in ("near", "far"):
            text = "mma.sync.aligned.%s.row.col.%s.%s.%s.%s" % (s, acc, t, t, acc)
            file.unknown("_".join((s, t, acc, data)), (text, ""), *shape(s), acc, t, t, acc, data)
    return file.f.write()


def shape(text):
    m, rest = text[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def simple_mma(name, shapes, tuples, layouts="row.col", extra="", needs=90):
    file = MmaFile(name, needs)
    for s in shapes:
        for dt, at, bt, ct in tuples(s):
            m, n, k = shape(s)
            text = "mma.sync.aligned.%s.%s.%s%s.%s.%s.%s" % (s, layouts, extra, dt, at, bt, ct)
            file.kernel("_".join((s, dt, at, bt, ct)), (text, ""), m, n, k, dt, at, bt, ct)
    return file


def volta(file):
    """m8n8k4: four products side by side, each by the lanes {q, q + 16} of a quad pair."""
    def quad(lane):
        return lane % 16 // 4

    for la in ("row", "col"):
        for lb in ("row", "col"):
            for dt, ct in (("f16", "f16"), ("f32", "f32"), ("f32", "f16")):
                high = lambda lane: 4 if lane >= 16 else 0

                def pa(lane, r, e, la=la):
                    i = 2 * r + e
                    row, col = (lane % 4 + high(lane), i) if la == "row" else (i % 4 + high(lane),
                                                                               lane % 4)
                    return (quad(lane), row, col)

                def pb(lane, r, e, lb=lb):
                    i = 2 * r + e
                    row, col = (lane % 4, i + high(lane)) if lb == "row" else (i, lane % 4 +
                                                                               high(lane))
                    return (quad(lane), row, col)

                def pc(t):
                    if t == "f16":
                        return lambda lane, r, e: (quad(lane), lane % 4 + high(lane), 2 * r + e)
                    return lambda lane, r, e: (quad(lane), (lane & 1) + (r & 2) + high(lane),
                                               (r & 4) + (lane & 2) + (r & 1))
                ra, rb, rc, rd = 2, 2, 4 if ct == "f16" else 8, 4 if dt == "f16" else 8
                a_at, a = file.words("f16", ra, "a")
                b_at, b = file.words("f16", rb, "b2")
                c_at, c = file.words(ct, rc, "c")
                A, B, C = unpack(a, pa, "f16", ra), unpack(b, pb, "f16", rb), unpack(c, pc(ct), ct,
                                                                                     rc)
                D = {(q, i, j): C[q, i, j] + sum(A[q, i, k] * B[q, k, j] for k in range(4))
                     for q in range(4) for i in range(8) for j in range(8)}
                text = "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s" % (la, lb, dt, ct)
                file.emit("m8n8k4_%s_%s_%s_%s" % (la, lb, dt, ct), (text, ""), (dt, rd),
                          (("f16", ra, a_at), ("f16", rb, b_at), (ct, rc, c_at)),
                          pack(D, pc(dt), dt, rd))


def mma():
    paths = []
    f = simple_mma("mma_f16", ("m16n8k8", "m16n8k16"), lambda s: [
        (d, "f16", "f16", c) for d in ("f16", "f32") for c in ("f16", "f32")
        if d == c])
    volta(f)
    paths.append(f.f.write())
    paths.append(simple_mma("mma_bf16", ("m16n8k8", "m16n8k16"),
                            lambda s: [("f32", "bf16", "bf16", "f32")]).f.write())
    paths.append(simple_mma("mma_tf32", ("m16n8k4", "m16n8k8"),
                            lambda s: [("f32", "tf32", "tf32", "f32")]).f.write())
    f8 = [(a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
    f = simple_mma("mma_f8", ("m16n8k32",), lambda s: [("f32", a, b, "f32") for a, b in f8])
    paths.append(f.f.write())
    f = MmaFile("mma_f8_f16")
    f.f.version = "8.7"
    for s in ("m16n8k16", "m16n8k32"):
        for a, b in f8:
            for acc in ("f16", "f32"):
                if s == "m16n8k32" and acc == "f32":
                    continue
                text = "mma.sync.aligned.%s.row.col.%s.%s.%s.%s" % (s, acc, a, b, acc)
                f.kernel("_".join((s, acc, a, b)), (text, ""), *shape(s), acc, a, b, acc)
    paths.append(f.f.write())
    f = simple_mma("mma_f64", ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"),
                   lambda s: [("f64",) * 4])
    m, n, k = shape("m8n8k4")
    for mode in ("rn", "rz", "rm", "rp"):
        f.kernel("m8n8k4_" + mode, ("mma.sync.aligned.m8n8k4.row.col.%s.f64.f64.f64.f64" % mode,
                                    ""),
                 m, n, k, *("f64",) * 4)
    paths.append(f.f.write())
    f = MmaFile("mma_int", 80)
    for s in ("m8n8k16", "m16n8k16", "m16n8k32", "m8n8k32", "m16n8k64"):
        wide = s in ("m8n8k32", "m16n8k64")
        for bits in (4,) if wide else (8,) if s != "m16n8k32" else (8, 4):
            for a in ("u%d" % bits, "s%d" % bits):
                for b in ("u%d" % bits, "s%d" % bits):
                    for sat in ("", "satfinite."):
                        if sat and a != b:
                            continue
                        text = "mma.sync.aligned.%s.row.col.%ss32.%s.%s.s32" % (s, sat, a, b)
                        f.kernel("%s_%s_%s%s" % (s, a, b, "_sat" if sat else ""), (text, ""),
                                 *shape(s), "s32", a, b, "s32", satfinite=bool(sat))
    paths.append(f.f.write())
    f = MmaFile("mma_bit", 80)
    for s in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for op in ("xor", "and"):
            text = "mma.sync.aligned.%s.row.col.s32.b1.b1.s32.%s.popc" % (s, op)
            f.kernel("%s_%s" % (s, op), (text, ""), *shape(s), "s32", "b1", "b1", "s32",
                     product=bit_product(op))
    paths.append(f.f.write())
    return paths


# wmma: matrices in memory, any fragment layout

WMMA = [  # row, shape, (A type, C type, D type), text of the types in wmma.mma
    ("f16", "m16n16k16 m8n32k16 m32n8k16", [("f16", "f16", c, d) for c in ("f16", "f32")
                                            for d in ("f16", "f32")]),
    ("bf16", "m16n16k16 m8n32k16 m32n8k16", [("bf16", "bf16", "f32", "f32")]),
    ("tf32", "m16n16k8", [("tf32", "tf32", "f32", "f32")]),
    ("f64", "m8n8k4", [("f64", "f64", "f64", "f64")]),
    ("int8", "m16n16k16 m8n32k16 m32n8k16", [("s8", "s8", "s32", "s32"), ("u8", "u8", "s32",
                                                                          "s32")]),
    ("int4", "m8n8k32", [("s4", "s4", "s32", "s32"), ("u4", "u4", "s32", "s32")]),
    ("bit", "m8n8k128", [("b1", "b1", "s32", "s32")]),
]
FRAGMENT = {  # (type, use) -> registers, for the shapes above
    ("f16", "ab"): 8, ("bf16", "ab"): None, ("tf32", "ab"): 4, ("f64", "ab"): 1, ("b1", "ab"): 1,
    ("s4", "ab"): 1, ("u4", "ab"): 1}


def fragment_registers(t, use, s):
    m, n, k = shape(s)
    if t == "f16" and use in "ab":
        return 8
    if t == "bf16":
        return 4 if s == "m16n16k16" else {"a": (2 if m == 8 else 8),
                                           "b": (8 if m == 8 else 2)}[use]
    if t in ("s8", "u8"):
        return 2 if s == "m16n16k16" else {"a": (1 if m == 8 else 4),
                                           "b": (4 if m == 8 else 1)}[use]
    if t == "tf32":
        return 4
    if t in ("f64",):
        return 1 if use in "ab" else 2
    if t in ("s4", "u4", "b1"):
        return 1
    if t == "f16":
        return 4
    return 8 if m * n == 256 else 2


def matrix_bytes(t, values, rows, cols, layout):
    """Row- or column-major, tightly packed."""
    w = width(t)
    order = [(i, j) for i in range(rows) for j in range(cols)] if layout == "row" else \
        [(i, j) for j in range(cols) for i in range(rows)]
    number = 0
    for k, place in enumerate(order):
        number |= encode_whole(t, values[place]) << w * k
    return number.to_bytes(rows * cols * w // 8, "little")


def wmma():
    paths = []
    for name, shapes, tuples in WMMA:
        f = File("wmma_" + name, 80, "8.5")
        for s in shapes.split():
            for at, bt, ct, dt in tuples:
                m, n, k = shape(s)
                narrow = name in ("int4", "bit")
                variants = [("row", "col")] if narrow else [
                    (x, y) for x in ("row", "col") for y in ("row", "col")]
                for v, (la, lb) in enumerate(variants):
                    for op in ("xor", "and") if name == "bit" else ("",):
                        if s != shapes.split()[0] and v != 1:
                            continue
                        lc, ld = ("row", "col") if v % 2 else ("col", "row")
                        wmma_kernel(f, s, m, n, k, at, bt, ct, dt, la, lb, lc, ld, op,
                                    satfinite=name in ("int8", "int4") and v == 0)
        if name == "int8":  # mixed signs have fragments of the same shape
            pass
        paths.append(f.write())
    return paths


def wmma_kernel(f, s, m, n, k, at, bt, ct, dt, la, lb, lc, ld, op, satfinite):
    rng = random.Random("wmma/%s/%s/%s" % (s, at, ct))
    limit = {"u4": (0, 15), "s4": (-8, 7), "b1": (0, 1), "u8": (0, 255), "s8": (-128, 127)}.get(
        at, (-4, 4))
    A = {(i, p): rng.randint(*limit) for i in range(m) for p in range(k)}
    B = {(p, j): rng.randint(*limit) for p in range(k) for j in range(n)}
    C = {(i, j): rng.randint(-20, 20) for i in range(m) for j in range(n)}
    multiply = bit_product(op) if op else lambda x, y: x * y
    D = {(i, j): C[i, j] + sum(multiply(A[i, p], B[p, j]) for p in range(k))
         for i in range(m) for j in range(n)}
    wide = lambda data: [int.from_bytes(data[x:x + 8], "little") for x in range(0, len(data), 8)]
    place = {}
    for letter, t, values, rows, cols, layout in (("a", at, A, m, k, la), ("b", bt, B, k, n, lb),
                                                  ("c", ct, C, m, n, lc)):
        data = matrix_bytes(t, values, rows, cols, layout)
        key = (s, letter, at, t, layout, ct)
        if not hasattr(f, "matrices"):
            f.matrices = {}
        if key not in f.matrices:
            f.matrices[key] = f.add_input(64, wide(data))
        place[letter] = f.matrices[key]
    name = "_".join(x for x in (s, at, ct, dt, la, lb, op) if x)
    # wmma's alignment is 32 bytes; the input's pieces are aligned to 16, so they go through shared
    # memory, whose alignment is ours.
    sizes = {"a": m * k * width(at) // 8, "b": k * n * width(bt) // 8, "c": m * n * width(ct) // 8}
    lines, regs = [], {}
    total = 0
    shared_at = {}
    for letter in "abc":
        shared_at[letter] = total
        total += (sizes[letter] + 127) // 128 * 128
    for letter in "abc":
        lines += ["mov.u32 %%i, %%t;",
                  "copy_%s:" % letter,
                  "setp.ge.u32 %%p1, %%i, %d;" % (sizes[letter] // 4),
                  "@%%p1 bra done_%s;" % letter,
                  "mad.wide.u32 %at, %i, 4, %in;",
                  "ld.global.u32 %%r0, [%%at+%d];" % place[letter],
                  "mad.lo.u32 %s, %i, 4, %base;",
                  "st.shared.u32 [%%s+%d], %%r0;" % shared_at[letter],
                  "add.u32 %i, %i, 32;", "bra copy_%s;" % letter, "done_%s:" % letter]
        lines = [x.replace("%%", "%") for x in lines]
    lines += ["bar.warp.sync 0xffffffff;"]
    count = {"r": 0, "d": 0}

    def fresh(t, number):
        letter = "d" if t == "f64" else "r"
        first = count[letter] + 1
        count[letter] += number
        return ["%%%s%d" % (letter, first + x) for x in range(number)]
    leading = {"a": k if la == "row" else m, "b": n if lb == "row" else k,
               "c": n if lc == "row" else m}
    for letter, t, layout in (("a", at, la), ("b", bt, lb), ("c", ct, lc)):
        regs[letter] = fresh(t, fragment_registers(t, letter, s))
        lines += ["add.u32 %%s, %%base, %d;" % shared_at[letter],
                  "wmma.load.%s.sync.aligned.%s.%s.shared.%s {%s}, [%%s], %d;" % (
                      letter, layout, s, t, ", ".join(regs[letter]), leading[letter])]
    regs["d"] = fresh(dt, fragment_registers(dt, "d", s))
    if at == "f16":
        types = "%s.%s" % (dt, ct)
    else:
        types = "%s.%s.%s.%s" % (dt, at, bt, ct)
    head = "wmma.mma.%s.popc.sync.aligned" % op if op else "wmma.mma.sync.aligned"
    text = "%s.%s.%s.%s.%s%s" % (head, la, lb, s, types, ".satfinite" if satfinite else "")
    lines += ["%s {%s}, {%s}, {%s}, {%s};" % (text, *[", ".join(regs[x]) for x in "dabc"]),
              "wmma.store.d.sync.aligned.%s.%s.global.%s [%%out], {%s}, %d;" % (
                  ld, s, dt, ", ".join(regs["d"]), n if ld == "row" else m)]
    f.header.append("// run: %s block 32" % name)
    f.expect(text, matrix_bytes(dt, D, m, n, ld))
    f.body += [".visible .entry %s(.param .u64 out, .param .u64 in)" % name, "{",
               "    .reg .b32 %%t, %%i, %%s, %%base, %%r<%d>;" % (count["r"] + 1),
               "    .reg .b64 %%in, %%out, %%at, %%d<%d>;" % (count["d"] + 1),
               "    .reg .pred %p<2>;", "    .shared .align 128 .b8 data[%d];" % total,
               "    ld.param.u64 %out, [out];", "    ld.param.u64 %in, [in];",
               "    mov.u32 %t, %tid.x;", "    mov.u32 %base, data;"]
    f.body += ["    " + x for x in lines] + ["    ret;", "}", ""]


# ldmatrix, stmatrix, movmatrix

def matrices():
    f = File("matrix_moves", 90, "8.5")
    rng = random.Random("matrices")
    # Four 8x8 matrices of 16 bits, 16 bytes a row.
    data = [[[rng.getrandbits(16) for _ in range(8)] for _ in range(8)] for _ in range(4)]
    rows = b"".join(b"".join(x.to_bytes(2, "little") for x in row) for mat in data for row in mat)
    f.add_input(64, [int.from_bytes(rows[k:k + 8], "little") for k in range(0, len(rows), 8)])

    def fragment(mat, lane, trans):
        g, t = lane >> 2, lane % 4 * 2
        return mat[t][g] | mat[t + 1][g] << 16 if trans else mat[g][t] | mat[g][t + 1] << 16
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            regs = ", ".join("%%r%d" % (k + 1) for k in range(count))
            name = "x%d%s" % (count, "_trans" if trans else "")
            text = "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16" % (count, trans)
            body = ["%s {%s}, [%%row];" % (text, regs)]
            body += ["st.global.b32 [%%o+%d], %%r%d;" % (128 * k, k + 1) for k in range(count)]
            values = [fragment(data[k], lane, trans) for k in range(count) for lane in range(LANES)]
            matrix_kernel(f, "ld_" + name, text, body, values)
            # Store what was loaded plainly, and look at the memory.
            plain = ", ".join("%%r%d" % (k + 1) for k in range(4))
            text = "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16" % (count, trans)
            body = ["ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%s}, [%%row];" % plain,
                    "bar.warp.sync 0xffffffff;", "%s [%%row], {%s};" % (text, regs),
                    "bar.warp.sync 0xffffffff;", "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%row];",
                    "mad.wide.u32 %o, %t, 16, %out;",
                    "st.global.v4.b32 [%o], {%r1, %r2, %r3, %r4};"]
            memory = [[[data[k][j][i] if trans and k < count else data[k][i][j] for j in range(8)]
                       for i in range(8)] for k in range(4)]
            words = [memory[k][i][2 * j] | memory[k][i][2 * j + 1] << 16
                     for k in range(4) for i in range(8) for j in range(4)]
            matrix_kernel(f, "st_" + name, text, body, words)
    text = "movmatrix.sync.aligned.m8n8.trans.b16"
    body = ["ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%row];", text + " %r2, %r1;",
            "st.global.b32 [%o], %r2;"]
    matrix_kernel(f, "movmatrix", text, body, [fragment(data[0], x, True) for x in range(LANES)])
    return f.write()


def matrix_kernel(f, name, text, body, words):
    f.header.append("// run: %s block 32" % name)
    f.expect(text, b"".join(x.to_bytes(4, "little") for x in words))
    f.body += [".visible .entry %s(.param .u64 out, .param .u64 in)" % name, "{",
               "    .reg .b32 %t, %row, %r<9>;", "    .reg .b64 %in, %out, %o, %at, %d<3>;",
               "    .shared .align 128 .b8 data[512];", "    ld.param.u64 %out, [out];",
               "    ld.param.u64 %in, [in];", "    mov.u32 %t, %tid.x;",
               "    mad.wide.u32 %o, %t, 4, %out;", "    mad.wide.u32 %at, %t, 16, %in;",
               "    mov.u32 %row, data;", "    mad.lo.u32 %row, %t, 16, %row;",
               "    ld.global.v2.u64 {%d1, %d2}, [%at];",
               "    st.shared.v2.u64 [%row], {%d1, %d2};",
               "    bar.warp.sync 0xffffffff;"] + ["    " + x for x in body] + ["    ret;", "}", ""]


def make_all():
    return mma() + wmma() + [matrices(), random_mma()]
