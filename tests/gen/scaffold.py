"""scaffold.py: from instruction variants with a reference to a PTX test file.

A Variant is one instruction with its operands and a Python function that computes its results. A
kernel loads operands from pools of values (the `in:` lines), so that 256 threads see every pair of
16 values, runs each variant twice, once in all lanes and once under a guard, and stores what came
out. tests/ptx/README.md says what the header lines mean.
"""
import os
import random

from floats import FORMATS
from ops import ROOT

BITS = {"pred": 32}
for _n in ("b", "u", "s"):
    for _w in (8, 16, 32, 64):
        BITS["%s%d" % (_n, _w)] = _w
BITS.update({"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f16x2": 32, "bf16x2": 32, "f32x2": 64,
             "u16x2": 32, "s16x2": 32, "tf32": 32, "e4m3x2": 16, "e5m2x2": 16, "b128": 128})

FILL = 0x5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A  # what a guarded destination holds before


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return h


# Pools of values

def int_pool(bits, count, rng):
    top = (1 << bits) - 1
    half = 1 << (bits - 1)
    values = [0, 1, top, half, half - 1, 2, 3, top - 1, half + 1, 7, 10,
              0x5555555555555555 & top]
    while len(values) < count:
        values.append(rng.getrandbits(bits) >> rng.choice((0, 0, 0, bits // 2, bits - 6)))
    return values[:count]


def float_pool(name, count, rng):
    f = FORMATS[name]
    one = f.bias << f.f
    sign = f.sign_bit
    values = [0, sign, one, one | sign, 1, (1 << f.f) - 1 | sign, 1 << f.f, f.max, f.inf,
              f.inf | sign, f.inf | 1 << (f.f - 1) | 5, one + 1]
    while len(values) < count:
        exponent = f.bias + rng.randint(-4, 6) if rng.random() < 0.8 else rng.randint(1, 2 * f.bias)
        values.append(rng.getrandbits(1) * sign | exponent << f.f | rng.getrandbits(f.f))
    return values[:count]


POOLS = {}  # name -> function(count, rng)


def pool(name, count):
    """The values of a pool: a type's name, or one that a generator registered."""
    rng = random.Random("%s/%d" % (name, count))
    if name in POOLS:
        values = POOLS[name](rng, count)
        return (values * count)[:count]
    if name == "pred":
        return [(k * 7 >> 1) & 1 for k in range(count)]
    if name in FORMATS:
        return float_pool(name, count, rng)
    if name in ("f16x2", "bf16x2", "f32x2"):
        part = name[:-2]
        values = float_pool(part, count, rng)
        width = BITS[part]
        return [values[k] | values[(k * 5 + 3) % count] << width for k in range(count)]
    return int_pool(BITS[name], count, rng)


def pool_bits(name):
    return BITS[name.split("/")[0]]


# Variants

class Variant:
    """text: the instruction with {d} {d1} for results and {a} {b} {c} {e} {f} for sources; without
    operands the usual list is added. ref: bits of the sources to bits (or a tuple) of the results.
    check: how results are compared, e.g. "nan f64" (see the README)."""

    def __init__(self, text, outs, ins, ref, check="", guarded=True, setup="", after=""):
        self.outs = [outs] if isinstance(outs, str) else list(outs)
        self.ins = list(ins)
        if "{" not in text:
            names = "abcef"[:len(self.ins)]
            text += " {d}" + "".join(", {%s}" % n for n in names)
        self.text, self.ref, self.check, self.guarded = text, ref, check, guarded
        self.setup, self.after = setup, after


REG = {8: ("h", 16), 16: ("h", 16), 32: ("r", 32), 64: ("d", 64), 128: ("q", 128)}
INDEX = {  # operand -> (Python, PTX) of the pool index of thread t, with 16 values a pool
    "a": (lambda t: t & 15, ["and.b32 %i, %t, 15;"]),
    "b": (lambda t: t >> 4 & 15, ["bfe.u32 %i, %t, 4, 4;"]),
    "c": (lambda t: t * 5 + (t >> 4) * 3 + 1 & 15,
          ["shr.u32 %i, %t, 4;", "mul.lo.u32 %i, %i, 3;", "mad.lo.u32 %i, %t, 5, %i;",
           "add.u32 %i, %i, 1;", "and.b32 %i, %i, 15;"]),
    "e": (lambda t: t * 11 + (t >> 3) + 7 & 15,
          ["shr.u32 %i, %t, 3;", "mad.lo.u32 %i, %t, 11, %i;", "add.u32 %i, %i, 7;",
           "and.b32 %i, %i, 15;"]),
    "f": (lambda t: t * 3 + (t >> 5) + 2 & 15,
          ["shr.u32 %i, %t, 5;", "mad.lo.u32 %i, %t, 3, %i;", "add.u32 %i, %i, 2;",
           "and.b32 %i, %i, 15;"]),
}


def guard_of(t):
    return t * 53 >> 3 & 1


class File:
    """One test file: header lines, then kernels."""

    def __init__(self, name, needs=80, version="8.5", target=None):
        self.name, self.needs, self.version = name, needs, version
        self.target = target or ("sm_%d" % needs)
        self.header, self.body, self.input = [], [], bytearray()
        self.pools = {}  # (name, count) -> offset in the input

    def add_input(self, bits, values):
        while len(self.input) % 16:
            self.input.append(0)
        offset = len(self.input)
        digits = bits // 4
        words = ["%0*x" % (digits, v) for v in values]
        per_line = max(1, 84 // (digits + 1))
        for k in range(0, len(words), per_line):
            self.header.append("// %s %s" % ("in: %d" % bits if k == 0 else "+",
                                             " ".join(words[k:k + per_line])))
        for v in values:
            self.input += v.to_bytes(bits // 8, "little")
        return offset

    def pool_offset(self, name, count):
        if (name, count) not in self.pools:
            self.pools[name, count] = self.add_input(pool_bits(name), pool(name, count))
        return self.pools[name, count]

    def expect(self, label, data, check=""):
        words = ["%08x" % int.from_bytes(data[k:k + 4], "little") for k in range(0, len(data), 4)]
        line = "// out: %d" % len(data) + (" " + check if check else "")
        if len(words) <= 8 or any(x in check for x in ("ulp", "abs", "rel")):
            self.header.append("%s hex | %s" % (line, label))
            for k in range(0, len(words), 10):
                self.header.append("// + " + " ".join(words[k:k + 10]))
        else:
            self.header.append("%s fnv %016x %s | %s" % (line, fnv(canonical(data, check)),
                                                         " ".join(words[:4]), label))

    def add_kernel(self, name, variants):
        """All variants must read the same pools."""
        ins = variants[0].ins
        unary = len(ins) == 1
        count = 64 if unary else 16
        threads = 64 if unary else 256
        kernel = Kernel(self, name, ins, count, unary)
        for v in variants:
            kernel.add(v)
        self.header.append("// run: %s block %d" % (name, threads))
        columns = [pool(n, count) for n in ins]
        index = [(lambda t: t & 63) if unary else INDEX["abcef"[k]][0] for k in range(len(ins))]
        sources = [[columns[k][index[k](t)] for k in range(len(ins))] for t in range(threads)]
        for v in variants:
            self.expect(*results_of(v, sources, threads))
        self.body += kernel.text()

    def add_text(self, text):
        self.body += text.strip("\n").split("\n")

    def expect_pending(self, label, size):
        """Only a GPU knows: filled in by `runner --gpu cuda:0 --update`."""
        self.header.append("// out: %d pending | %s" % (size, label))

    def keep_known(self, path):
        """What a GPU has said about a pending output stays when the file is made again."""
        if not os.path.exists(path):
            return
        known, label = {}, None
        for line in open(path):
            line = line.rstrip("\n")
            if line.startswith("// out: ") and " pending " not in line:
                label = line.split("| ", 1)[1]
                known[label] = [line]
            elif line.startswith("// +") and label:
                known[label].append(line)
            else:
                label = None
        header = []
        for line in self.header:
            pending = line.startswith("// out: ") and " pending | " in line
            label = line.split("| ", 1)[1] if pending else None
            header += known[label] if label in known else [line]
        self.header = header

    def write(self, folder=None):
        folder = folder or os.path.join(ROOT, "tests/ptx")
        path = os.path.join(folder, self.name + ".ptx")
        self.keep_known(path)
        needs = ["// needs: sm_%d" % self.needs] if self.needs > 80 else []
        lines = ["// %s: made by tests/gen/make_ptx_tests.py; see tests/ptx/README.md" % self.name]
        lines += needs + self.header
        lines += [".version " + self.version, ".target " + self.target, ".address_size 64", ""]
        with open(path, "w") as f:
            f.write("\n".join(lines + self.body) + "\n")
        return path


def canonical(data, check):
    """NaNs that may have any payload count as one."""
    if not check.startswith("nan"):
        return data
    out = bytearray(data)
    name = check.split()[1]
    f = FORMATS[name]
    size = f.bits // 8
    for k in range(0, len(out), size):
        bits = int.from_bytes(out[k:k + size], "little")
        if bits & (f.sign_bit - 1) > f.inf:
            out[k:k + size] = f.nan.to_bytes(size, "little")
    return bytes(out)


def results_of(v, sources, threads):
    data = bytearray()
    values = [v.ref(*s) for s in sources]
    values = [x if isinstance(x, tuple) else (x,) for x in values]
    for k, out in enumerate(v.outs):
        size = BITS[out] // 8
        plain = [x[k] & (1 << (8 * size)) - 1 for x in values]
        for x in plain:
            data += x.to_bytes(size, "little")
        if v.guarded:
            fill = 1 if out == "pred" else FILL & (1 << (8 * size)) - 1
            for t, x in enumerate(plain):
                data += (x if guard_of(t) else fill).to_bytes(size, "little")
    label = v.text.format_map(Names()).replace("%", "")
    return label, bytes(data), v.check


class Names(dict):
    def __missing__(self, key):
        return key


class Kernel:
    def __init__(self, file, name, ins, count, unary):
        self.name, self.counts = name, {}
        self.lines, self.offset = [], 0
        self.threads = 64 if unary else 256
        self.sources = {}
        for k, source in enumerate(ins):
            letter = "abcef"[k]
            offset = file.pool_offset(source, count)
            self.emit(*(["and.b32 %i, %t, 63;"] if unary else INDEX[letter][1]))
            bits = pool_bits(source)
            self.emit("mad.wide.u32 %%at, %%i, %d, %%in;" % (bits // 8))
            reg = self.new(bits)
            self.emit("ld.global.b%d %s, [%%at+%d];" % (bits, reg, offset))
            if source == "pred":
                p = self.new_pred()
                self.emit("setp.ne.u32 %s, %s, 0;" % (p, reg))
                reg = p
            self.sources[letter] = reg

    def emit(self, *lines):
        self.lines += ["    " + x for x in lines if x]

    def new(self, bits):
        letter, _ = REG[bits]
        n = self.counts[letter] = self.counts.get(letter, 0) + 1
        return "%%%s%d" % (letter, n)

    def new_pred(self):
        n = self.counts["p"] = self.counts.get("p", 0) + 1
        return "%%p%d" % n

    def add(self, v):
        for guarded in (False, True) if v.guarded else (False,):
            names = dict(self.sources)
            regs = []
            for k, out in enumerate(v.outs):
                reg = self.new_pred() if out == "pred" else self.new(BITS[out])
                names["d" if k == 0 else "d%d" % k] = reg
                regs.append(reg)
                if guarded and out == "pred":
                    self.emit("setp.eq.u32 %s, %%t, %%t;" % reg)
                elif guarded:
                    bits = max(BITS[out], 16)
                    self.emit("mov.b%d %s, 0x%x;" % (bits, reg, FILL & (1 << bits) - 1))
            guard = "@%pg " if guarded else ""
            for line in (v.setup + v.text + ";" + v.after).split(";"):
                if line.strip():
                    self.emit(guard + line.strip().format(**names) + ";")
            for k, out in enumerate(v.outs):
                self.store(regs[k], out, k, guarded, v)
        for out in v.outs:
            self.offset += BITS[out] // 8 * self.threads * (2 if v.guarded else 1)

    def store(self, reg, out, k, guarded, v):
        size = BITS[out] // 8
        if out == "pred":
            word = self.new(32)
            self.emit("selp.b32 %s, 1, 0, %s;" % (word, reg))
            reg = word
        before = sum(BITS[o] // 8 for o in v.outs[:k]) * self.threads * (2 if v.guarded else 1)
        at = self.offset + before + (size * self.threads if guarded else 0)
        if at % size:
            raise SystemExit("misaligned section in " + self.name)
        self.emit("st.global.b%d [%%o%d+%d], %s;" % (size * 8, size, at, reg))

    def text(self):
        head = [".visible .entry %s(.param .u64 out, .param .u64 in)" % self.name, "{",
                "    .reg .b32 %t, %i;", "    .reg .b64 %in, %out, %at, %o1, %o2, %o4, %o8, %o16;",
                "    .reg .pred %pg, %p<" + "%d>;" % (self.counts.get("p", 0) + 1)]
        for letter, bits in (("h", 16), ("r", 32), ("d", 64), ("q", 128)):
            if letter in self.counts:
                head.append("    .reg .b%d %%%s<%d>;" % (bits, letter, self.counts[letter] + 1))
        head += ["    ld.param.u64 %out, [out];", "    ld.param.u64 %in, [in];",
                 "    mov.u32 %t, %tid.x;"]
        for size in (1, 2, 4, 8, 16):
            if any("%%o%d+" % size in line for line in self.lines):
                head.append("    mad.wide.u32 %%o%d, %%t, %d, %%out;" % (size, size))
        if any("@%pg" in line for line in self.lines):
            head += ["    mul.lo.u32 %i, %t, 53;", "    bfe.u32 %i, %i, 3, 1;",
                     "    setp.ne.u32 %pg, %i, 0;"]
        return head + self.lines + ["    ret;", "}", ""]
