"""gen_memory.py: tests of loads, stores, moves and atomics, every type in every state space."""
import random

import floats as fl
from floats import FORMATS
from gen_float import to_value
from gen_integer import sx
from ops import BY_NAME, legal_types
from scaffold import BITS, File

STRIDE = 32  # bytes of input that belong to a thread
LANES = 32
REG = {16: "%h", 32: "%r", 64: "%d", 128: "%q"}


def data_bytes():
    rng = random.Random("memory")
    return bytes(rng.getrandbits(8) for _ in range(STRIDE * LANES))


DATA = data_bytes()


class Sheet:
    """A kernel of 32 threads; every result is a value per thread, in a section of its own."""

    def __init__(self, file, name, prologue=(), declare=()):
        self.file, self.name = file, name
        self.lines, self.slots, self.preds = list(prologue), [], 0
        self.declare = list(declare)

    def emit(self, *lines):
        self.lines += lines

    def result(self, label, register, values, bits=64):
        """register (bits wide) holds values[t] in thread t."""
        offset = sum(LANES * b // 8 for _, _, b in self.slots)
        self.emit("st.global.b%d [%%o%d+%d], %s;" % (bits, bits // 8, offset, register))
        self.slots.append((label, values, bits))

    def finish(self):
        f = self.file
        f.header.append("// run: %s block %d" % (self.name, LANES))
        for label, values, bits in self.slots:
            data = b"".join((v & (1 << bits) - 1).to_bytes(bits // 8, "little") for v in values)
            f.expect(label, data)
        sizes = sorted({b // 8 for _, _, b in self.slots})
        head = [".visible .entry %s(.param .u64 out, .param .u64 in)" % self.name, "{"]
        head += ["    .reg .b16 %h<20>;", "    .reg .b32 %r<40>, %t, %s, %l;",
                 "    .reg .pred %p<9>;",
                 "    .reg .b64 %d<40>, %in, %out, %mine, %g, %o2, %o4, %o8, %o16, %policy;"]
        if any("%q" in line for line in self.lines):
            head.append("    .reg .b128 %q<9>;")
        head += ["    " + d for d in self.declare]
        head += ["    ld.param.u64 %out, [out];", "    ld.param.u64 %in, [in];",
                 "    mov.u32 %t, %tid.x;", "    mad.wide.u32 %%mine, %%t, %d, %%in;" % STRIDE]
        head += ["    mad.wide.u32 %%o%d, %%t, %d, %%out;" % (s, s) for s in sizes]
        f.body += head + ["    " + x for x in self.lines] + ["    ret;", "}", ""]


def start_file(name, needs=90, version="8.5"):
    f = File(name, needs, version)
    f.add_input(64, [int.from_bytes(DATA[k:k + 8], "little") for k in range(0, len(DATA), 8)])
    return f


def at(t, offset, size):
    return int.from_bytes(DATA[t * STRIDE + offset:t * STRIDE + offset + size], "little")


def extended(t, thread, offset):
    x = at(thread, offset, BITS[t] // 8)
    return sx(x, BITS[t]) if t[0] == "s" else x


def to_64(sheet, t, register):
    """A 64-bit register that shows all of what a load put into register."""
    bits = BITS[t]
    if t in ("f32",):
        sheet.emit("cvt.u64.u32 %%d30, %s;" % register)
        return "%d30"
    return register


COPY = ["ld.global.v2.u64 {%d20, %d21}, [%mine];", "ld.global.v2.u64 {%d22, %d23}, [%mine+16];"]
SPACES = {
    "": [], "global": [],
    "shared": COPY + ["mov.u32 %s, sdata;", "mad.lo.u32 %s, %t, 32, %s;",
                      "st.shared.v2.u64 [%s], {%d20, %d21};",
                      "st.shared.v2.u64 [%s+16], {%d22, %d23};"],
    "local": COPY + ["mov.u32 %l, ldata;", "st.local.v2.u64 [%l], {%d20, %d21};",
                     "st.local.v2.u64 [%l+16], {%d22, %d23};"],
    "const": ["mov.u64 %d24, cdata;", "mad.wide.u32 %d24, %t, 32, %d24;"],
}
BASE = {"": "%mine", "global": "%mine", "shared": "%s", "local": "%l", "const": "%d24"}
DECLARE = {"shared": [".shared .align 16 .b8 sdata[1024];"],
           "local": [".local .align 16 .b8 ldata[32];"]}


def load_target(t, k):
    """Integers load into 64-bit registers, so that the extension shows."""
    if t == "f32":
        return "%%r%d" % k
    if t == "b128":
        return "%%q%d" % k
    return "%%d%d" % k


def add_load(sheet, op, t, base, vector=1, offset=0, uniform=False, tail=""):
    size = BITS[t] // 8
    regs = [load_target(t, k + 1) for k in range(vector)]
    target = "{%s}" % ", ".join(regs) if vector > 1 else regs[0]
    sheet.emit("%s %s, [%s%s]%s;" % (op, target, base, "+%d" % offset if offset else "", tail))
    for k, reg in enumerate(regs):
        label = "%s [%d]" % (op, offset + k * size)
        who = (lambda i: 0) if uniform else (lambda i: i)
        if t == "b128":
            values = [at(who(i), offset, 16) for i in range(LANES)]
            sheet.result(label, reg, values, 128)
        else:
            values = [extended(t, who(i), offset + k * size) for i in range(LANES)]
            sheet.result(label, to_64(sheet, t, reg), values)


def vectors(t):
    if t == "b128":
        return (1,)
    return (1, 2, 4) if BITS[t] <= 32 else (1, 2)


LD_MODS = ["volatile.global", "weak.global", "global.ca", "global.cg", "global.cs", "global.lu",
           "global.cv", "global.L1::evict_last", "global.L1::no_allocate", "global.L2::128B"]


def ld(row):
    f = start_file("ld")
    f.body += [".const .align 16 .b8 cdata[1024] = {%s};" % ", ".join(str(b) for b in DATA), ""]
    for n, (t,) in enumerate(legal_types(row)):
        spaces = [s for s in SPACES if not (t == "b128" and s in ("const",))]
        sheet = Sheet(f, "ld_" + t, sum((SPACES[s] for s in spaces), []),
                      sum((DECLARE.get(s, []) for s in spaces), []))
        for k, space in enumerate(spaces):
            size = BITS[t] // 8
            for v in vectors(t):
                if v > 1 and space not in ("global", spaces[(n + 1) % len(spaces)]):
                    continue
                op = ".".join(x for x in ("ld", space, "v%d" % v if v > 1 else "", t) if x)
                add_load(sheet, op, t, BASE[space], v, (k % 2) * size * v if v * size <= 16 else 0)
        for k in range(2):
            mod = LD_MODS[(n * 2 + k) % len(LD_MODS)]
            if t != "b128":
                add_load(sheet, "ld.%s.%s" % (mod, t), t, "%mine", 1, 16)
        sheet.finish()
    return f.write()


def ld_nc(row):
    f = start_file("ld_nc")
    mods = ["global.nc", "global.ca.nc", "global.nc.L1::evict_first", "global.nc.L2::64B",
            "global.nc.L1::no_allocate.L2::256B"]
    for n, (t,) in enumerate(legal_types(row)):
        sheet = Sheet(f, "ld_nc_" + t)
        for v in vectors(t):
            op = "ld.%s%s.%s" % (mods[n % len(mods)] if v == 1 else "global.nc",
                                 ".v%d" % v if v > 1 else "", t)
            add_load(sheet, op, t, "%mine", v, 16 if v == 1 else 0)
        sheet.finish()
    return f.write()


def ld_sync(row):
    f = start_file("ld_sync")
    orders = ["relaxed.cta", "acquire.gpu", "relaxed.sys", "acquire.cta", "relaxed.gpu",
              "acquire.sys"]
    for n, (t,) in enumerate(legal_types(row)):
        sheet = Sheet(f, "ld_sync_" + t, SPACES["shared"], DECLARE["shared"])
        for v in vectors(t):
            for space in ("", "global", "shared") if v == 1 else ("global",):
                op = ".".join(x for x in ("ld", orders[(n + v) % 6], space,
                                          "v%d" % v if v > 1 else "", t) if x)
                add_load(sheet, op, t, BASE[space], v)
        if t in ("u32", "b64"):
            add_load(sheet, "ld.mmio.relaxed.sys.global." + t, t, "%mine", 1, 8)
        sheet.finish()
    return f.write()


def ldu(row):
    f = start_file("ldu")
    for t, in legal_types(row):
        sheet = Sheet(f, "ldu_" + t)
        for v in vectors(t):
            for space in ("global", ""):
                op = ".".join(x for x in ("ldu", space, "v%d" % v if v > 1 else "", t) if x)
                add_load(sheet, op, t, "%in", v, 0, uniform=True)
        sheet.finish()
    return f.write()


# Stores: the sixteen bytes of a thread are overwritten in part, then read back.

def store_case(sheet, op, t, space, vector, offset):
    size = BITS[t] // 8
    base = {"": "%g", "global": "%g", "shared": "%s", "local": "%l"}[space]
    read = {"": "ld.global", "global": "ld.global", "shared": "ld.shared", "local": "ld.local"}
    write = read[space].replace("ld", "st")
    sheet.emit("%s.v2.u64 [%s], {%%d20, %%d21};" % (write, base))
    regs = []
    for k in range(vector):
        if t == "b128":
            regs.append("%q1")
        elif t == "f32":
            sheet.emit("cvt.u32.u64 %%r%d, %%d%d;" % (k + 1, 22 + k % 2))
            regs.append("%%r%d" % (k + 1))
        else:
            regs.append("%%d%d" % (22 + k % 2))
    source = "{%s}" % ", ".join(regs) if vector > 1 else regs[0]
    sheet.emit("%s [%s%s], %s;" % (op, base, "+%d" % offset if offset else "", source))
    sheet.emit("%s.v2.u64 {%%d10, %%d11}, [%s];" % (read[space], base))
    results = []
    for i in range(LANES):
        block = bytearray(DATA[i * STRIDE:i * STRIDE + 16])
        for k in range(vector):
            value = at(i, 16 if t == "b128" else 16 + 8 * (k % 2), 16 if t == "b128" else 8)
            block[offset + k * size:offset + (k + 1) * size] = (
                value & (1 << 8 * size) - 1).to_bytes(size, "little")
        results.append(bytes(block))
    label = "%s [%d]" % (op, offset)
    for half in (0, 1):
        sheet.result(label, "%%d1%d" % half,
                     [int.from_bytes(b[8 * half:8 * half + 8], "little") for b in results])


def store_sheet(f, name, t, spaces):
    declare = sum((DECLARE.get(s, []) for s in spaces), [])
    lines = list(COPY)
    if "shared" in spaces:
        lines += ["mov.u32 %s, sdata;", "mad.lo.u32 %s, %t, 32, %s;"]
    if "local" in spaces:
        lines += ["mov.u32 %l, ldata;"]
    lines += ["mov.u64 %g, gdata;", "mad.wide.u32 %g, %t, 16, %g;"]
    if t == "b128":
        lines += ["mov.b128 %q1, {%d22, %d23};"]
    return Sheet(f, name, lines, declare)


def st(row):
    f = start_file("st")
    f.body += [".global .align 16 .b8 gdata[512];", ""]
    mods = ["volatile.global", "weak.global", "global.wb", "global.cg", "global.cs", "global.wt",
            "global.L1::evict_last", "global.L1::no_allocate"]
    for n, (t,) in enumerate(legal_types(row)):
        sheet = store_sheet(f, "st_" + t, t, ("global", "shared", "local"))
        size = BITS[t] // 8
        for k, space in enumerate(("", "global", "shared", "local")):
            for v in vectors(t):
                if v > 1 and space != ("global", "shared", "local")[n % 3]:
                    continue
                op = ".".join(x for x in ("st", space, "v%d" % v if v > 1 else "", t) if x)
                store_case(sheet, op, t, space, v, 8 // size * size if v * size <= 8 else 0)
        if t != "b128":
            store_case(sheet, "st.%s.%s" % (mods[n % len(mods)], t), t, "global", 1, 0)
        sheet.finish()
    return f.write()


def st_sync(row):
    f = start_file("st_sync")
    f.body += [".global .align 16 .b8 gdata[512];", ""]
    orders = ["relaxed.cta", "release.gpu", "relaxed.sys", "release.cta", "relaxed.gpu",
              "release.sys"]
    for n, (t,) in enumerate(legal_types(row)):
        sheet = store_sheet(f, "st_sync_" + t, t, ("global", "shared"))
        for v in vectors(t):
            for space in ("", "global", "shared") if v == 1 else ("global",):
                op = ".".join(x for x in ("st", orders[(n + v) % 6], space,
                                          "v%d" % v if v > 1 else "", t) if x)
                store_case(sheet, op, t, space, v, 0)
        if t in ("u32", "b64"):
            store_case(sheet, "st.mmio.relaxed.sys.global." + t, t, "global", 1, 0)
        sheet.finish()
    return f.write()


# Moves

def mov(row):
    f = start_file("mov")
    sheet = Sheet(f, "mov_types", ["ld.global.v2.u64 {%d20, %d21}, [%mine];"])
    whole = [at(i, 0, 8) for i in range(LANES)]
    high = [at(i, 8, 8) for i in range(LANES)]
    for (t,) in legal_types(row):
        bits = 64 if t == "pred" else BITS[t]
        if t == "pred":
            sheet.emit("setp.lt.s64 %p1, %d20, 0;", "mov.pred %p2, %p1;",
                       "selp.u64 %d1, 1, 0, %p2;")
            sheet.result("mov.pred", "%d1", [x >> 63 for x in whole])
        elif bits == 128:
            sheet.emit("mov.b128 %q1, {%d20, %d21};", "mov.b128 %q2, %q1;",
                       "mov.b128 {%d1, %d2}, %q2;")
            sheet.result("mov.b128", "%q2", [at(i, 0, 16) for i in range(LANES)], 128)
            sheet.result("mov.b128 unpack", "%d2", high)
        else:
            short = {16: "h", 32: "r", 64: "d"}[bits]
            narrow = "mov.b64 %d2, %d20;" if bits == 64 else "cvt.u%d.u64 %%%s2, %%d20;" % (bits,
                                                                                            short)
            sheet.emit(narrow, "mov.%s %%%s3, %%%s2;" % (t, short, short))
            sheet.result("mov." + t, "%%%s3" % short, [x & (1 << bits) - 1 for x in whole], bits)
            constant, value = {"f32": ("0f40490fdb", 0x40490fdb), "f64": ("0d400921fb54442d18",
                               0x400921fb54442d18)}.get(t, ("-2", (1 << bits) - 2))
            sheet.emit("mov.%s %%%s3, %s;" % (t, short, constant))
            sheet.result("mov.%s constant" % t, "%%%s3" % short, [value] * LANES, bits)
    sheet.finish()
    sheet = Sheet(f, "mov_pack", ["ld.global.v2.u64 {%d20, %d21}, [%mine];"])
    sheet.emit("mov.b64 {%r1, %r2}, %d20;", "mov.b64 %d1, {%r2, %r1};")
    swap = lambda x, n, k: sum((x >> k * i & (1 << k) - 1) << k * (n - 1 - i) for i in range(n))
    sheet.result("mov.b64 {r,r}", "%d1", [swap(x, 2, 32) for x in whole])
    sheet.emit("mov.b64 {%h1, %h2, %h3, %h4}, %d20;", "mov.b64 %d1, {%h4, %h3, %h2, %h1};")
    sheet.result("mov.b64 {h,h,h,h}", "%d1", [swap(x, 4, 16) for x in whole])
    sheet.emit("mov.b32 {%h1, %h2}, %r1;", "mov.b32 %r3, {%h2, %h1};")
    sheet.result("mov.b32 {h,h}", "%r3", [swap(x & 0xffffffff, 2, 16) for x in whole], 32)
    sheet.emit("mov.b64 {_, %r4}, %d20;")
    sheet.result("mov.b64 {_,r}", "%r4", [x >> 32 for x in whole], 32)
    sheet.finish()
    mov_parts(f)
    mov_guarded(f)
    return f.write()


# Every width and count that mov packs: the whole, its registers, the parts, their registers.
PACKINGS = [("b16", "h", 2, "c"), ("b32", "r", 2, "h"), ("b32", "r", 4, "c"), ("b64", "d", 2, "r"),
            ("b64", "d", 4, "h"), ("b128", "q", 2, "d"), ("b128", "q", 4, "r")]


def parts_sheet(f, name):
    """A sheet whose %h2, %r2, %d2 and %q2 hold the thread's first bytes."""
    return Sheet(f, name, ["ld.global.v2.u64 {%d20, %d21}, [%mine];", "mov.b64 %d2, %d20;",
                           "mov.b128 %q2, {%d20, %d21};", "cvt.u32.u64 %r2, %d20;",
                           "cvt.u16.u64 %h2, %d20;"], [".reg .b8 %c<20>;"])


def part(whole, k, bits):
    return whole >> k * bits & (1 << bits) - 1


def mov_parts(f):
    """Unpacked parts one by one, packed in reverse, with some dropped, and from constants."""
    for t, letter, count, item in PACKINGS:
        bits = BITS[t]
        each = bits // count
        sheet = parts_sheet(f, "mov_%s_%d" % (t, count))
        wholes = [at(i, 0, bits // 8) for i in range(LANES)]
        regs = ["%%%s%d" % (item, 10 + k) for k in range(count)]
        sheet.emit("mov.%s {%s}, %%%s2;" % (t, ", ".join(regs), letter))
        for k, reg in enumerate(regs):
            shown = reg
            if each == 8:
                sheet.emit("cvt.u32.u8 %%r5, %s;" % reg)
                shown = "%r5"
            sheet.result("mov.%s: part %d of %d" % (t, k, count), shown,
                         [part(x, k, each) for x in wholes], 32 if each == 8 else each)
        reverse = [sum(part(x, k, each) << (count - 1 - k) * each for k in range(count))
                   for x in wholes]
        sheet.emit("mov.%s %%%s3, {%s};" % (t, letter, ", ".join(reversed(regs))))
        sheet.result("mov.%s: %d parts in reverse" % (t, count), "%%%s3" % letter, reverse, bits)
        one = count - 1
        sheet.emit("mov.%s {%s}, %%%s3;" % (t, ", ".join("_" if k != one else "%%%s19" % item
                                                         for k in range(count)), letter),
                   "mov.%s %%%s4, {%s};" % (t, letter, ", ".join(["%%%s19" % item] * count)))
        sheet.result("mov.%s: the last of %d, all over" % (t, count), "%%%s4" % letter,
                     [sum(part(x, one, each) << k * each for k in range(count)) for x in reverse],
                     bits)
        if each < 64:
            constants = [(0x91 * (k + 3)) & (1 << each) - 1 for k in range(count)]
            sheet.emit("mov.%s %%%s5, {%s, %s};" % (t, letter, regs[0],
                                                    ", ".join("%d" % c for c in constants[1:])))
            sheet.result("mov.%s: %d parts, most of them constants" % (t, count),
                         "%%%s5" % letter,
                         [part(x, 0, each) + sum(c << (k + 1) * each
                                                 for k, c in enumerate(constants[1:]))
                          for x in wholes], bits)
        sheet.finish()


def mov_guarded(f):
    """Under a guard, the other lanes keep what they had."""
    sheet = parts_sheet(f, "mov_guarded")
    sheet.emit("and.b32 %r30, %t, 5;", "setp.eq.u32 %p1, %r30, 1;")
    taken = [i & 5 == 1 for i in range(LANES)]
    for t, letter, count, item in PACKINGS:
        bits = BITS[t]
        each = bits // count
        regs = ["%%%s%d" % (item, 10 + k) for k in range(count)]
        whole = [at(i, 0, bits // 8) for i in range(LANES)]
        sheet.emit("mov.%s {%s}, %%%s2;" % (t, ", ".join(regs), letter),
                   "mov.%s %%%s6, %%%s2;" % (t, letter, letter),
                   "@%%p1 mov.%s %%%s6, {%s};" % (t, letter, ", ".join(reversed(regs))))
        sheet.result("@p mov.%s, %d parts" % (t, count), "%%%s6" % letter,
                     [sum(part(x, k, each) << (count - 1 - k) * each for k in range(count))
                      if yes else x for x, yes in zip(whole, taken)], bits)
        sheet.emit("@%%p1 mov.%s {%s}, %%%s2;" % (t, ", ".join(reversed(regs)), letter),
                   "mov.%s %%%s7, {%s};" % (t, letter, ", ".join(regs)))
        sheet.result("@p mov.%s to %d parts" % (t, count), "%%%s7" % letter,
                     [sum(part(x, k, each) << (count - 1 - k) * each for k in range(count))
                      if yes else x for x, yes in zip(whole, taken)], bits)
    # One part is the whole; special registers and constants come apart too.
    sheet.emit("mov.b32 {%r8}, %r2;", "mov.b32 %r9, {%r8};")
    sheet.result("mov.b32 {r}", "%r9", [at(i, 0, 4) for i in range(LANES)], 32)
    sheet.emit("mov.b32 {%h8, %h9}, %tid.x;", "mov.b32 %r8, {%h9, %h8};")
    sheet.result("mov.b32 {h,h}, %tid.x", "%r8", [i << 16 for i in range(LANES)], 32)
    sheet.emit("mov.b32 {%c8, %c9, _, %c7}, 0x12345678;", "mov.b32 %r8, {%c7, %c9, %c8, %c8};")
    sheet.result("mov.b32 {c,c,_,c}, constant", "%r8", [0x78785612] * LANES, 32)
    sheet.emit("mov.b64 {%r8, %r9}, %clock64;", "mov.b64 %d8, {%r8, %r9};",
               "mov.b64 {%r8, %r9}, %clock64;", "mov.b64 %d9, {%r8, %r9};",
               "setp.ge.u64 %p2, %d9, %d8;", "setp.ne.and.u64 %p2, %d9, 0, %p2;",
               "selp.u32 %r8, 1, 0, %p2;")
    sheet.result("mov.b64 {r,r}, %clock64 goes on", "%r8", [1] * LANES, 32)
    sheet.finish()


# Atomics: every thread on a cell of its own, then all threads on one

def atomic_ref(op, t):
    bits = BITS[t]
    top = (1 << bits) - 1
    if t in FORMATS or t.endswith("x2"):
        name = t[:-2] if t.endswith("x2") else t
        fmt = FORMATS[name]
        one = lambda x, y: fmt.encode(fl.add(fmt.decode(x), fmt.decode(y), "rn"))
        if t == name:
            return one
        part = (1 << fmt.bits) - 1
        return lambda x, y: one(x & part, y & part) | one(x >> fmt.bits, y >> fmt.bits) << fmt.bits
    value = (lambda x: sx(x, bits)) if t[0] == "s" else (lambda x: x)
    return {"exch": lambda x, y: y, "add": lambda x, y: x + y & top,
            "inc": lambda x, y: 0 if x >= y else x + 1,
            "dec": lambda x, y: y if x == 0 or x > y else x - 1,
            "min": lambda x, y: min(value(x), value(y)) & top,
            "max": lambda x, y: max(value(x), value(y)) & top,
            "and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y}[op]


ATOM_OPS = {"b32": "exch and or xor", "b64": "exch and or xor", "u32": "add inc dec min max",
            "u64": "add min max", "s32": "add min max", "s64": "min max", "f32": "add",
            "f64": "add",
            "b128": "exch", "f16": "add", "f16x2": "add", "bf16": "add", "bf16x2": "add"}
ORDERS = ["", "relaxed.gpu", "acquire.cta", "release.sys", "acq_rel.gpu"]


def cell_values(t, who):
    """Two operands per thread; floats of moderate size."""
    rng = random.Random("%s/%s" % (t, who))
    name = t[:-2] if t.endswith("x2") else t
    if name in FORMATS:
        fmt = FORMATS[name]
        one = lambda: fmt.encode(to_value(rng.choice((-1, 1)) * rng.uniform(0.25, 16)))
        return [one() if t == name else one() | one() << fmt.bits for _ in range(LANES)]
    bits = BITS[t]
    values = [rng.getrandbits(bits) >> rng.choice((0, bits - 4)) for _ in range(LANES)]
    return values


def atomic(row):
    is_red = row.mnemonic == "red"
    is_cas = row.name == "ATOM_CAS"
    suffix = ".noftz" if row.name.endswith("NOFTZ") else ""
    f = File(row.name.lower(), 90)
    f.body += [".global .align 16 .b8 cells[512];", ""]
    for n, (t,) in enumerate(legal_types(row)):
        bits = BITS[t]
        size = bits // 8
        first, second = cell_values(t, "cell"), cell_values(t, "operand")
        third = [a if i % 2 else b for i, (a, b) in enumerate(zip(first, second))]  # cas compares
        a_at, b_at = f.add_input(bits, first), f.add_input(bits, second)
        c_at = f.add_input(bits, third) if is_cas else 0
        sheet = Sheet(f, "%s_%s" % (row.name.lower(), t), [], [".shared .align 16 .b8 sdata[512];"])
        r = REG[max(bits, 16)]
        sheet.emit("mad.wide.u32 %%d30, %%t, %d, %%in;" % size,
                   "ld.global.b%d %s1, [%%d30+%d];" % (bits, r, a_at),
                   "ld.global.b%d %s2, [%%d30+%d];" % (bits, r, b_at))
        if is_cas:
            sheet.emit("ld.global.b%d %s3, [%%d30+%d];" % (bits, r, c_at))
        sheet.emit("mov.u64 %g, cells;", "mad.wide.u32 %%g, %%t, %d, %%g;" % size,
                   "mov.u32 %s, sdata;", "mad.lo.u32 %%s, %%t, %d, %%s;" % size,
                   "cvta.global.u64 %d31, %g;")
        for k, op in enumerate(["cas"] if is_cas else ATOM_OPS[t].split()):
            if is_red and op == "exch":
                continue
            for m, space in enumerate(("global", "shared", "")):
                base = {"global": "%g", "shared": "%s", "": "%d31"}[space]
                where = "shared" if space == "shared" else "global"
                order = ORDERS[(n + k + m) % 5]
                if is_red and order[:3] == "acq":
                    order = "relaxed.sys"
                words = [row.mnemonic, order, space, op + suffix, t]
                text = ".".join(w for w in words if w)
                cell = base if space else "%g"
                sheet.emit("st.%s.b%d [%s], %s1;" % (where, bits, cell, r))
                operands = "%s3, %s2" % (r, r) if is_cas else "%s2" % r
                if is_red:
                    sheet.emit("%s [%s], %s;" % (text, base, operands))
                else:
                    sheet.emit("%s %s4, [%s], %s;" % (text, r, base, operands))
                    sheet.result(text + ": old", r + "4", first, bits)
                sheet.emit("ld.%s.b%d %s5, [%s];" % (where, bits, r, cell))
                if is_cas:
                    new = [b if a == c else a for a, b, c in zip(first, second, third)]
                else:
                    new = [atomic_ref(op, t)(a, b) for a, b in zip(first, second)]
                sheet.result(text + ": new", r + "5", new, bits)
        sheet.finish()
    return f.write()


def contention(row):
    """Four blocks of 64 threads on one cell; the result does not depend on the order."""
    f = File(row.name.lower() + "_contended", 80)
    threads = 256
    for t, ops in (("u32", "add min max"), ("s32", "add min max"), ("u64", "add min max"),
                   ("s64", "min max"), ("b32", "and or xor"), ("b64", "and or xor"),
                   ("f32", "add"), ("f64", "add")):
        for op in ops.split():
            bits = BITS[t]
            mask = (1 << bits) - 1
            name = "%s_%s" % (op, t)
            start = {"min": mask >> 1, "and": mask}.get(op, 0)
            mult = 0x9e3779b97f4a7c15 & mask
            value = [i * mult & mask if t[0] in "usb" else
                     FORMATS[t].encode(to_value(float(i % 17))) for i in range(threads)]
            total = start
            for v in value:
                total = atomic_ref(op, t)(total, v)
            if t[0] == "b" and op == "and":
                value = [v | ~(1 << (i % bits)) & mask if i % 3 else v for i, v in enumerate(value)]
            r = REG[bits]
            make = ["cvt.u64.u32 %d1, %i;",
                    "mul.lo.u64 %%d1, %%d1, %d;" % mult] if bits == 64 else [
                "mul.lo.u32 %%r1, %%i, %d;" % mult]
            if t in FORMATS:
                make = ["rem.u32 %r9, %i, 17;", "cvt.rn.%s.u32 %s1, %%r9;" % (t, r)]
            if t[0] == "b" and op == "and":
                total = start
                for v in value:
                    total &= v
                make += ["rem.u32 %%r9, %%i, %d;" % bits, "mov.b%d %s2, 1;" % (bits, r),
                         "shl.b%d %s2, %s2, %%r9;" % (bits, r, r), "not.b%d %s2, %s2;" % (bits, r,
                                                                                          r),
                         "or.b%d %s2, %s2, %s1;" % (bits, r, r, r), "rem.u32 %r9, %i, 3;",
                         "setp.ne.u32 %p1, %r9, 0;", "selp.b%d %s1, %s2, %s1, %%p1;" % (bits, r, r,
                                                                                        r)]
            f.header.append("// run: %s grid 4 block 64" % name)
            f.expect("%s of 256 threads" % name, (total & mask).to_bytes(bits // 8, "little") +
                     (0).to_bytes(8 - bits // 8, "little"))
            call = "red.global.%s.%s [%%cell], %s1;" % (op, t, r) if row.mnemonic == "red" else \
                "atom.global.%s.%s %s3, [%%cell], %s1;" % (op, t, r, r)
            f.body += [".global .align 8 .b64 cell_%s = %d;" % (name, start),
                       ".global .align 4 .u32 done_%s;" % name,
                       ".visible .entry %s(.param .u64 out, .param .u64 in)" % name, "{",
                       "    .reg .b32 %i, %r<10>;", "    .reg .b64 %d<9>, %cell, %count, %out;",
                       "    .reg .pred %p<3>;", "    ld.param.u64 %out, [out];",
                       "    mov.u32 %r1, %ctaid.x;", "    mov.u32 %r2, %tid.x;",
                       "    mad.lo.u32 %i, %r1, 64, %r2;", "    mov.u64 %%cell, cell_%s;" % name]
            f.body += ["    " + x for x in make] + ["    " + call]
            # The last thread to be done copies the cell.
            f.body += ["    membar.gl;", "    mov.u64 %%count, done_%s;" % name,
                       "    atom.global.add.u32 %r4, [%count], 1;",
                       "    setp.ne.u32 %p2, %r4, 255;",
                       "    @%p2 ret;", "    ld.volatile.global.u64 %d5, [%cell];",
                       "    st.global.u64 [%out], %d5;", "    ret;", "}", ""]
    return f.write()


def make_all():
    paths = [ld(BY_NAME["LD"]), ld_nc(BY_NAME["LD_NC"]), ld_sync(BY_NAME["LD_SYNC"]),
             ldu(BY_NAME["LDU"]), st(BY_NAME["ST"]), st_sync(BY_NAME["ST_SYNC"]),
             mov(BY_NAME["MOV"])]
    for name in ("ATOM", "ATOM_NOFTZ", "ATOM_CAS", "RED", "RED_NOFTZ"):
        paths.append(atomic(BY_NAME[name]))
    paths += [contention(BY_NAME["ATOM"]), contention(BY_NAME["RED"])]
    return paths
