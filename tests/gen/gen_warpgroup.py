"""gen_warpgroup.py: tests of wgmma and of sparse products (mma.sp, wgmma.mma_async.sp).

Factors are small whole numbers, so sums are exact in any order. A and B lie in the input line after
line; threads carry their pieces of 16 bytes to where a table says, which is the layout that the
descriptor then describes. Layouts and metadata are written here from PTX's pictures.
"""
import random

from gen_integer import clamp
from gen_tensor import decode_whole, encode_whole, width
from scaffold import File

THREADS = 128
NIBBLES = (4, 8, 9, 12, 13, 14)


def whole(t, rng):
    if t in ("e4m3", "e5m2"):
        return rng.randint(-4, 4)
    if t == "b1":
        return rng.getrandbits(1)
    if t[0] in "su":
        return decode_whole(t, rng.getrandbits(width(t)))
    return rng.randint(-9, 9)


def matrix(t, lines, count, who):
    rng = random.Random("warpgroup/%s/%s" % (t, who))
    return [[whole(t, rng) for _ in range(count)] for _ in range(lines)]


def line_bytes(t, values):
    w = width(t)
    number = sum(encode_whole(t, x) << w * k for k, x in enumerate(values))
    return number.to_bytes(len(values) * w // 8, "little")


class Layout:
    """Where pieces of 16 bytes go. swizzle: 0, 32, 64 or 128 bytes. across: a piece is 8 lines of
    one k (for types of 16 bits), else 16 bytes of a line."""

    def __init__(self, swizzle, across, lines, size):
        self.across, self.swizzle = across, swizzle
        row = swizzle or 16
        atom = 8 * row
        if across:
            wide = row // 2  # lines of an atom's row
            k8 = size // 16
            self.at = lambda line, k: (line // wide * k8 + k // 8) * atom + k % 8 * row + \
                line % wide * 2
            lead, stride = (k8 * atom, atom) if swizzle else (atom, k8 * atom)
            self.pieces = [(line, k) for k in range(size // 2) for line in range(0, lines, 8)]
        else:
            per = max(1, size // row)
            self.at = lambda line, piece: (line // 8 * per + piece * 16 // row) * atom + \
                line % 8 * row + piece * 16 % row
            lead, stride = atom, per * atom
            self.pieces = [(line, p) for line in range(lines) for p in range(size // 16)]
        self.size = max(self.offset(*p) for p in self.pieces) + 16
        self.bits = lead >> 4 << 16 | stride >> 4 << 32 | {0: 0, 128: 1, 64: 2, 32: 3}[swizzle] << 62

    def offset(self, line, at):
        x = self.at(line, at)
        return x ^ (x >> 7) % (max(self.swizzle, 16) // 16) << 4

    def source(self, rows):
        """The pieces, one after the other."""
        if self.across:
            return b"".join(b"".join(rows[line + i][2 * k:2 * k + 2] for i in range(8))
                            for line, k in self.pieces)
        return b"".join(rows[line][16 * p:16 * p + 16] for line, p in self.pieces)


class WarpgroupFile:
    def __init__(self, name, version="8.5"):
        self.f = File(name, 90, version, target="sm_90a")
        self.inputs = {}

    def put(self, data):
        if data not in self.inputs:
            words = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
            self.inputs[data] = self.f.add_input(32, words)
        return self.inputs[data]

    def table(self, layout):
        return self.put(b"".join(layout.offset(*p).to_bytes(4, "little") for p in layout.pieces))

    def carry(self, layout, rows, base):
        """Lines of PTX that bring a matrix to shared memory."""
        source, table = self.put(layout.source(rows)), self.table(layout)
        lines = []
        for first in range(0, len(layout.pieces), THREADS):
            count = min(THREADS, len(layout.pieces) - first)
            lines += ["setp.lt.u32 %%p, %%t, %d;" % count,
                      "mad.wide.u32 %at, %t, 4, %in;",
                      "@%%p ld.global.u32 %%r, [%%at+%d];" % (table + 4 * first),
                      "add.u32 %r, %r, %smem;",
                      "mad.wide.u32 %at, %t, 16, %in;",
                      "@%%p ld.global.v4.u32 {%%x0, %%x1, %%x2, %%x3}, [%%at+%d];" % (
                          source + 16 * first),
                      "@%%p st.shared.v4.u32 [%%r+%d], {%%x0, %%x1, %%x2, %%x3};" % base]
        return lines

    def descriptor(self, name, layout, base):
        return ["add.u32 %%r, %%smem, %d;" % base, "and.b32 %r, %r, 0x3ffff;", "shr.u32 %r, %r, 4;",
                "cvt.u64.u32 %s, %%r;" % name, "or.b64 %s, %s, 0x%x;" % (name, name, layout.bits)]

    def registers_of_a(self, rows):
        at = self.put(b"".join(rows))
        lines = ["shr.u32 %r, %t, 5;", "shl.b32 %r, %r, 4;", "bfe.u32 %x0, %t, 2, 3;",
                 "add.u32 %r, %r, %x0;", "shl.b32 %r, %r, 5;", "and.b32 %x0, %t, 3;",
                 "mad.lo.u32 %r, %x0, 4, %r;", "cvt.u64.u32 %at, %r;", "add.u64 %at, %at, %in;"]
        return lines + ["ld.global.u32 %%a%d, [%%at+%d];" % (r, at + 256 * (r & 1) + 16 * (r >> 1))
                        for r in range(4)]

    def kernel(self, name, text, n, k, dt, at, bt, a_layout, b_layout, options="", satfinite=False,
               scale=1, add=True, sparse=None):
        """a_layout None: A from registers; else (swizzle, across)."""
        stored = k // 2 if sparse is not None else k
        packed = matrix(at, 64, stored, "a")
        A, meta = spread(at, packed, sparse) if sparse is not None else (packed, None)
        B = matrix(bt, n, k, "b%d" % n)
        regs = n // 2 if dt in ("f32", "s32") else n // 4
        a_rows = [line_bytes(at, row) for row in packed]
        b_rows = [line_bytes(bt, row) for row in B]
        lines = []
        bl = Layout(*b_layout, n, len(b_rows[0]))
        lines += self.carry(bl, b_rows, 16384)
        if a_layout:
            al = Layout(*a_layout, 64, len(a_rows[0]))
            lines += self.carry(al, a_rows, 0) + self.descriptor("%da", al, 0)
        else:
            lines += self.registers_of_a(a_rows)
        lines += self.descriptor("%db", bl, 16384)
        if meta:
            at_meta = self.put(b"".join(x.to_bytes(4, "little") for x in meta))
            lines += ["mad.wide.u32 %at, %t, 4, %in;", "ld.global.u32 %%m, [%%at+%d];" % at_meta]
        lines += start_values(dt, regs)
        lines += ["setp.%s.u32 %%p, %%t, %%t;" % ("eq" if add else "ne"), "fence.proxy.async;",
                  "bar.sync 0;", "wgmma.fence.sync.aligned;"]
        d = "{%s}" % ", ".join("%%d%d" % i for i in range(regs))
        lines.append("%s %s, %s, %%db, %s%%p%s;" % (
            text, d, "%da" if a_layout else "{%a0, %a1, %a2, %a3}",
            "%%m, %d, " % sparse if meta else "", options))
        lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;",
                  "mad.wide.u32 %%at, %%t, %d, %%out;" % (4 * regs)]
        lines += ["st.global.u32 [%%at+%d], %%d%d;" % (4 * i, i) for i in range(regs)]
        self.emit(name, text, lines, regs, results(dt, n, regs, A, B, scale, add, satfinite))

    def emit(self, name, text, lines, regs, data, threads=THREADS):
        self.f.header.append("// run: %s block %d" % (name, threads))
        self.f.expect(text, data)
        self.f.body += [".visible .entry %s(.param .u64 out, .param .u64 in)" % name, "{",
                        "    .reg .pred %p;", "    .reg .b64 %in, %out, %at, %da, %db;",
                        "    .reg .b32 %%t, %%r, %%m, %%smem, %%x<4>, %%a<4>, %%b<4>, %%d<%d>;" % regs,
                        "    .shared .align 1024 .b8 smem[32768];",
                        "    ld.param.u64 %out, [out];", "    ld.param.u64 %in, [in];",
                        "    mov.u32 %t, %tid.x;", "    mov.u32 %smem, smem;"]
        self.f.body += ["    " + x for x in lines] + ["    ret;", "}", ""]


def start_value(t, i):
    """What a number of D is at first: a function of its thread and its place in the thread."""
    return (t * 3 + i) % 16


def start_values(dt, regs):
    lines = ["mul.lo.u32 %x0, %t, 3;"]
    for i in range(regs):
        if dt == "f16":
            for e in range(2):
                lines += ["add.u32 %%x1, %%x0, %d;" % (2 * i + e), "and.b32 %x1, %x1, 15;",
                          "{ .reg .b16 %%h; cvt.rn.f16.u32 %%h, %%x1; mov.b32 %%x%d, {%%h, %%h}; }" % (
                              2 + e)]
            lines.append("prmt.b32 %%d%d, %%x2, %%x3, 0x5410;" % i)
        else:
            lines += ["add.u32 %%x1, %%x0, %d;" % i, "and.b32 %x1, %x1, 15;",
                      "cvt.rn.f32.u32 %%d%d, %%x1;" % i if dt == "f32" else "mov.u32 %%d%d, %%x1;" % i]
    return lines


def results(dt, n, regs, A, B, scale, add, satfinite):
    """D of all threads, as they store it."""
    data = b""
    for t in range(THREADS):
        for i in range(regs):
            word = 0
            for e in range(2 if dt == "f16" else 1):
                x = 2 * i + e if dt == "f16" else i  # number in the thread
                row = t // 32 * 16 + t % 32 // 4 + 8 * (x // 2 % 2)
                column = x // 4 * 8 + t % 4 * 2 + x % 2
                total = start_value(t, x) if add else 0
                total += scale * sum(p * q for p, q in zip(A[row], B[column]))
                total = clamp(total, 32, True) if satfinite else total
                word |= encode_whole(dt, total) << 16 * e
            data += (word & 0xffffffff).to_bytes(4, "little")
    return data


def spread(t, packed, selector, lanes=THREADS, length=None):
    """A with its zeros, and the metadata of each thread."""
    rng = random.Random("metadata/" + t)
    w = width(t)
    meta = [0x5a5a5a5a] * lanes
    for row in range(len(packed)):
        quad = row // 16 * 32 + row % 8 * 4
        for lane in range(4):
            meta[quad + lane] &= 0xffffffff
    A = [[0] * (2 * len(packed[0])) for _ in packed]
    short = len(packed[0]) * w == 128  # 16 bytes are stored of a row
    per = {32: 1, 4: 4}.get(w, 2)  # stored numbers of a nibble
    for row, values in enumerate(packed):
        for group in range(len(values) // per):
            nibble = rng.choice((4, 14)) if w == 32 else rng.choice(NIBBLES)
            for e in range(per):
                unit = (nibble & 3, nibble >> 2)[e * 2 // per] if per > 1 else (nibble & 3) // 2
                inside = e % (per // 2) if per > 1 else 0
                size = max(1, per // 2)
                A[row][2 * per * group + unit * size + inside] = values[per * group + e]
            quad, low = row // 16 * 32 + row % 8 * 4, row % 16 >= 8
            if w >= 16:
                lane = selector if short else 2 * selector + group // 4
                shift = 16 * low + 4 * (group % 4)
            else:
                lane = 2 * (selector if short else group // 8) + low
                shift = 4 * (group % 8)
            meta[quad + lane] = meta[quad + lane] & ~(15 << shift) | nibble << shift
    return A, meta


F8 = [(a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
I8 = [(a, b) for a in ("s8", "u8") for b in ("s8", "u8")]


def dense():
    f = WarpgroupFile("wgmma")
    start = "wgmma.mma_async.sync.aligned."
    for dt in ("f32", "f16"):
        for t in ("f16", "bf16")[:2 if dt == "f32" else 1]:
            text = start + "m64n%dk16." + "%s.%s.%s" % (dt, t, t)
            f.kernel("%s_%s_ss" % (dt, t), text % 64, 64, 16, dt, t, t, (128, False), (128, False),
                     ", 1, 1, 0, 0")
            f.kernel("%s_%s_trans" % (dt, t), text % 16, 16, 16, dt, t, t, (64, True), (32, True),
                     ", -1, 1, 1, 1", scale=-1)
            f.kernel("%s_%s_rs" % (dt, t), text % 24, 24, 16, dt, t, t, None, (0, True),
                     ", -1, -1, 1", add=False)
    text = start + "m64n%dk8.f32.tf32.tf32"
    f.kernel("tf32_ss", text % 8, 8, 8, "f32", "tf32", "tf32", (0, False), (32, False), ", 1, -1",
             scale=-1)
    f.kernel("tf32_rs", text % 8, 8, 8, "f32", "tf32", "tf32", None, (64, False), ", 1, 1")
    for k, (a, b) in enumerate(F8):
        for dt in ("f32", "f16"):
            text = start + "m64n8k32.%s.%s.%s" % (dt, a, b)
            f.kernel("%s_%s_%s" % (dt, a, b), text, 8, 32, dt, a, b, (32, False) if k % 2 else None,
                     (128, False), ", 1, 1")
    for k, (a, b) in enumerate(I8):
        text = start + "m64n8k32.%ss32.%s.%s" % ("satfinite." if k == 1 else "", a, b)
        f.kernel("%s_%s" % (a, b), text, 8, 32, "s32", a, b, (64, False) if k % 2 else None,
                 (32, False), satfinite=k == 1)
    f.kernel("b1", start + "m64n8k256.s32.b1.b1.and.popc", 8, 256, "s32", "b1", "b1", (128, False),
             (0, False))
    return f.f.write()


def sparse_warpgroup():
    f = WarpgroupFile("wgmma_sparse")
    start = "wgmma.mma_async.sp.sync.aligned."
    for dt, t in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16")):
        text = start + "m64n8k32.%s.%s.%s" % (dt, t, t)
        f.kernel("%s_%s_ss" % (dt, t), text, 8, 32, dt, t, t, (32, False), (64, False),
                 ", 1, 1, 0, 0", sparse=0)
        f.kernel("%s_%s_rs" % (dt, t), text, 8, 32, dt, t, t, None, (0, True), ", 1, -1, 1",
                 scale=-1, sparse=1)
    f.kernel("tf32", start + "m64n8k16.f32.tf32.tf32", 8, 16, "f32", "tf32", "tf32", (128, False),
             (128, False), ", 1, 1", sparse=1)
    for a, b in F8:
        for dt in ("f32", "f16"):
            f.kernel("%s_%s_%s" % (dt, a, b), start + "m64n8k64.%s.%s.%s" % (dt, a, b), 8, 64, dt, a,
                     b, None, (128, False), ", 1, 1", sparse=0)
    for k, (a, b) in enumerate(I8):
        text = start + "m64n8k64.%ss32.%s.%s" % ("satfinite." if k == 1 else "", a, b)
        f.kernel("%s_%s" % (a, b), text, 8, 64, "s32", a, b, (0, False), (64, False),
                 satfinite=k == 1, sparse=0)
    return f.f.write()


def sparse_mma():
    f = WarpgroupFile("mma_sparse")
    f.f.target = "sm_90"
    cases = [(d, "f16", "f16", k, s) for d in ("f16", "f32") for k, s in ((16, 2), (32, 1))]
    cases += [("f32", "bf16", "bf16", 16, 3), ("f32", "bf16", "bf16", 32, 0),
              ("f32", "tf32", "tf32", 8, 1), ("f32", "tf32", "tf32", 16, 1)]
    cases += [("f32", a, b, 64, 0) for a, b in F8]
    cases += [("s32", a, b, k, 64 // k - 1) for a, b in I8 for k in (32, 64)]
    cases += [("s32", a.replace("8", "4"), b.replace("8", "4"), k, 128 // k - 1)
              for a, b in I8 for k in (64, 128)]
    for number, (dt, at, bt, k, selector) in enumerate(cases):
        flavour = ("sp", "sp::ordered_metadata")[number % 2]
        sat = dt == "s32" and number % 3 == 0
        text = "mma.%s.sync.aligned.m16n8k%d.row.col.%s%s.%s.%s.%s" % (
            flavour, k, "satfinite." if sat else "", dt, at, bt, dt)
        packed = matrix(at, 16, k // 2, "sp")
        A, meta = spread(at, packed, selector, 32)
        B = matrix(bt, 8, k, "sp")
        mma_kernel(f, "m16n8k%d_%s_%s_%s_%d" % (k, dt, at, bt, selector), text, dt, packed and [
            line_bytes(at, row) for row in packed], [line_bytes(bt, row) for row in B], meta,
                   selector, A, B, sat)
    return f.f.write()


def mma_kernel(f, name, text, dt, a_rows, b_rows, meta, selector, A, B, sat):
    """One warp; the registers of A and B are loaded by the formulas of mma's fragments."""
    size, regs = len(a_rows[0]), 2 if dt == "f16" else 4
    a_at, b_at = f.put(b"".join(a_rows)), f.put(b"".join(b_rows))
    m_at = f.put(b"".join(x.to_bytes(4, "little") for x in meta))
    lines = ["shr.u32 %x0, %t, 2;", "and.b32 %x1, %t, 3;"]
    for letter, row_bytes, at, pieces in (("a", size, a_at, size // 16), ("b", 2 * size, b_at,
                                                                         size // 8)):
        lines += ["mul.lo.u32 %%r, %%x0, %d;" % row_bytes, "mad.lo.u32 %r, %x1, 4, %r;",
                  "cvt.u64.u32 %at, %r;", "add.u64 %at, %at, %in;"]
        for r in range(size // 8):
            offset = 8 * row_bytes * (r & 1) + 16 * (r >> 1) if letter == "a" else 16 * r
            lines.append("ld.global.u32 %%%s%d, [%%at+%d];" % (letter, r, at + offset))
    lines += ["mad.wide.u32 %at, %t, 4, %in;", "ld.global.u32 %%m, [%%at+%d];" % m_at]
    lines += start_values(dt, regs)
    names = lambda letter, count: "{%s}" % ", ".join("%%%s%d" % (letter, i) for i in range(count))
    d = names("d", regs)
    lines += ["%s %s, %s, %s, %s, %%m, %d;" % (text, d, names("a", size // 8), names("b", size // 8),
                                              d, selector),
              "mad.wide.u32 %%at, %%t, %d, %%out;" % (4 * regs)]
    lines += ["st.global.u32 [%%at+%d], %%d%d;" % (4 * i, i) for i in range(regs)]
    data = results(dt, 8, regs, A * 4, B, 1, True, sat)[:32 * regs * 4]
    f.emit(name, text, lines, regs, data, 32)


def make_all():
    return [dense(), sparse_warpgroup(), sparse_mma()]
