"""gen_bulk.py: bulk copies of tensors, bulk reductions and tensor maps.
What must come out is computed here, element by element, from the text of the PTX ISA and from facts
that an H200 showed: the NaN fill, the rounding of tf32, stores that clip by 16 bytes.
"""
import struct

from book import Book
from floats import FORMATS
from gen_stops import Stops

BYTES = {"u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "f32": 4, "f64": 8,
         "bf16": 2, "f32ftz": 4, "tf32": 4, "tf32ftz": 4}
SHARED = 4096


def round_tf32(bits):
    if bits & 0x7f800000 == 0x7f800000:
        return 0x7fffe000 if bits & 0x7fffff else bits
    rest, kept = bits & 0x1fff, bits & ~0x1fff
    up = rest > 0x1000 or (rest == 0x1000 and kept & 0x2000)
    return kept + (0x2000 if up else 0) & 0xffffffff


class Tensor:
    def __init__(self, type_, dim, stride, box, step=None, swizzle=0, nan=False, lower=None,
                 upper=None, base=("in", 0)):
        self.type, self.dim, self.stride, self.box = type_, dim, stride, box
        self.step = step or [1] * len(dim)
        self.swizzle, self.nan, self.lower, self.upper, self.base = swizzle, nan, lower, upper, base
        self.bytes = BYTES[type_]

    def line(self):
        words = ["// map: %s %s+%d" % (self.type, *self.base)]
        lists = [("dim", self.dim), ("stride", self.stride), ("box", self.box), ("step", self.step)]
        if self.lower:
            lists += [("lower", self.lower), ("upper", self.upper)]
        words += ["%s=%s" % (k, ",".join(map(str, v))) for k, v in lists if v]
        if self.swizzle:
            words.append("swizzle=%d" % self.swizzle)
        return " ".join(words + (["nan"] if self.nan else []))

    def pixels(self, at, offsets):
        """The outer coordinates of each row of the box."""
        rank = len(self.dim)
        if self.lower is None:
            rows = [()]
            for i in range(rank - 1, 0, -1):
                count = -(-self.box[i] // self.step[i])
                rows = [r + (at[i] + k * self.step[i],) for r in rows for k in range(count)]
            return [r[::-1] for r in rows]
        rows, here = [], list(at[1:])
        for _ in range(self.box[1]):
            moved = [h + (offsets[i] if offsets and i < rank - 2 else 0) for i, h in enumerate(here)]
            rows.append(tuple(moved))
            for i in range(rank - 2):
                here[i] += self.step[i + 1]
                if here[i] < self.dim[i + 1] + self.upper[i]:
                    break
                here[i] = self.lower[i]
            else:
                here[rank - 2] += self.step[rank - 1]
        return rows

    def elements(self, at, offsets=()):
        """(byte in shared memory, byte in the tensor, inside?) of each element."""
        width = self.box[0] * self.bytes
        pitch = 16 << self.swizzle if self.swizzle else width
        for row, outer in enumerate(self.pixels(at, offsets)):
            inside = all(0 <= c < d for c, d in zip(outer, self.dim[1:]))
            start = sum(c * s for c, s in zip(outer, self.stride))
            for x in range(self.box[0]):
                place = row * pitch + x * self.bytes
                line, piece = place // 128, place // 16 % 8
                piece ^= line & (1 << self.swizzle) - 1
                column = at[0] + x
                yield (line * 128 + piece * 16 + place % 16, start + column * self.bytes,
                       inside, column)

    def count(self, at, offsets=()):
        return sum(1 for _ in self.elements(at, offsets)) * self.bytes

    def load(self, memory, at, offsets=()):
        shared = bytearray(b"\xee" * SHARED)
        for to, start, inside, column in self.elements(at, offsets):
            if inside and 0 <= column < self.dim[0]:
                value = bytes(memory[start:start + self.bytes])
                if self.type.startswith("tf32"):
                    value = struct.pack("<I", round_tf32(struct.unpack("<I", value)[0]))
            elif self.nan:
                value = (b"\xf7\x7f" * 4)[:max(self.bytes, 1)]
            else:
                value = bytes(self.bytes)
            shared[to:to + self.bytes] = value
        return shared

    def store(self, memory, shared, at, combine=None):
        """Whole pieces of 16 bytes are stored, also where the row ends inside one."""
        memory = bytearray(memory)
        limit = -(-self.dim[0] * self.bytes // 16) * 16
        for place, start, inside, column in self.elements(at):
            if not inside or column * self.bytes >= limit:
                continue
            new = bytes(shared[place:place + self.bytes])
            if combine:
                old = int.from_bytes(memory[start:start + self.bytes], "little")
                new = combine(old, int.from_bytes(new, "little")).to_bytes(self.bytes, "little")
            memory[start:start + self.bytes] = new
        return memory


def words(data):
    return [int.from_bytes(data[k:k + 4], "little") for k in range(0, len(data), 4)]


FILL = """
        mov.u32 %r1, bar;
        mov.u32 %r2, box;
        mov.b32 %r3, 0xeeeeeeee;
        mad.lo.u32 %r4, %t, 4, %r2;
""" + "".join("st.shared.u32 [%%r4+%d], %%r3;\n" % (k * 1024) for k in range(4)) + """
        setp.eq.u32 %p9, %t, 0;
        @!%p9 bra START;
        mbarrier.init.shared.b64 [%r1], 1;
        START:
        fence.proxy.async;
        bar.sync 0;
"""
DECLARE = ".shared .align 8 .b64 bar;\n.shared .align 1024 .b8 box[4096];"


def load_kernel(book, name, tensor, at, map_at, memory, offsets=(), hint="", extra="",
                space="shared::cluster", tail_of_run=""):
    rank = len(tensor.dim)
    mode = ".im2col" if tensor.lower else ".tile"
    lines = ["mov.u32 %%r%d, %d;" % (10 + i, c & 0xffffffff) for i, c in enumerate(at)]
    coordinates = ", ".join("%%r%d" % (10 + i) for i in range(rank))
    tail = ""
    if tensor.lower:
        lines += ["mov.u16 %%h%d, %d;" % (i + 1, o) for i, o in enumerate(offsets)]
        tail = ", {%s}" % ", ".join("%%h%d" % (i + 1) for i in range(rank - 2))
    body = FILL + "\n".join(lines) + """
        add.u64 %%d1, %%in, %d;
        @!%%p9 bra WAIT;
        mbarrier.arrive.expect_tx.shared.b64 %%d2, [%%r1], %d;
        prefetch.tensormap [%%d1];
        cp.async.bulk.prefetch.tensor.%dd.L2.global%s [%%d1, {%s}]%s;
        mov.u16 %%h9, 1;
        cp.async.bulk.tensor.%dd.%s.global%s.mbarrier::complete_tx::bytes%s [%%r2], [%%d1, {%s}], [%%r1]%s%s;
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %%p1, [%%r1], 0;
        @!%%p1 bra WAIT;
    """ % (map_at, tensor.count(at, offsets), rank, mode, coordinates, tail, rank, space, mode, hint,
           coordinates, tail, extra)
    for k in range(4):
        body += "ld.shared.u32 %%r5, [%%r4+%d];\nout %d, %%r5\n" % (k * 1024, k)
    right = words(tensor.load(memory, at, offsets))
    book.k(name, body, [("%s: KiB %d" % (name, k), lambda t, k=k: right[k * 256 + t])
                        for k in range(4)], block=256, declare=DECLARE, tail=tail_of_run)


class Maps(Book):
    """A test whose input begins with data; maps follow."""

    def start(self, values):
        self.add_input(32, values)
        return b"".join(v.to_bytes(4, "little") for v in values)

    def add_map(self, tensor):
        while len(self.input) % 64:
            self.input.append(0)
        self.header.append(tensor.line())
        at = len(self.input)
        self.input += bytes(128)
        return at


def pattern(count, seed=1):
    values = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) & 0xffffffff
        values.append(seed >> 8 | (seed & 0xff) << 24)
    return values


def loads():
    f = Maps("tma_load", 90, "8.6")
    memory = f.start(pattern(480))
    cases = [
        ("one", Tensor("u32", [60], [], [32]), (40,), ()),
        ("two", Tensor("u16", [37, 10], [96], [16, 6]), (32, 7), ()),
        ("two_swizzled", Tensor("bf16", [48, 16], [96], [40, 12], swizzle=3, nan=True), (16, -3), ()),
        ("three", Tensor("u8", [20, 6, 5], [32, 192], [16, 4, 3], step=[1, 2, 1]), (0, -1, 3), ()),
        ("four", Tensor("f64", [2, 5, 3, 3], [16, 96, 320], [2, 3, 2, 2], swizzle=1), (0, 3, 1, 2), ()),
        ("five", Tensor("f16", [8, 3, 3, 2, 4], [16, 64, 192, 448], [8, 2, 2, 2, 2], nan=True,
                        step=[1, 1, 2, 1, 2]), (-8, 1, 0, 1, 2), ()),
        ("five_inside", Tensor("f32ftz", [4, 3, 3, 2, 4], [16, 64, 192, 448], [4, 2, 3, 2, 2]),
         (0, 1, 0, 0, 1), ()),
        ("tf32", Tensor("tf32", [32, 8], [128], [16, 8], swizzle=2), (16, 4), ()),
        ("pixels3", Tensor("u16", [16, 9, 3], [32, 320], [16, 14], lower=[-1], upper=[-1]),
         (0, 3, 0), (2,)),
        ("pixels4", Tensor("u16", [16, 5, 4, 2], [32, 160, 640], [8, 30], lower=[-1, -1],
                           upper=[-1, 0], step=[1, 2, 1, 1], swizzle=1), (8, 1, 2, 0), (1, 1)),
        ("pixels5", Tensor("u32", [4, 3, 3, 2, 3], [16, 64, 192, 448], [4, 40], lower=[0, -1, 0],
                           upper=[1, -1, -1], nan=False), (0, 2, 0, 0, 0), (0, 1, 1)),
    ]
    for name, tensor, at, offsets in cases:
        load_kernel(f, name, tensor, at, f.add_map(tensor), memory, offsets)
    tensor = cases[1][1]
    load_kernel(f, "hinted", tensor, (16, 2), f.add_map(tensor), memory, (), ".L2::cache_hint",
                ", %d9")
    load_kernel(f, "to_block", tensor, (0, 1), f.add_map(tensor), memory, space="shared::cta")
    load_kernel(f, "multicast", tensor, (16, 3), f.add_map(tensor), memory, (),
                ".multicast::cluster.L2::cache_hint", ", %h9, %d9", tail_of_run="cluster 1")
    pixels = cases[9]
    load_kernel(f, "multicast_pixels", pixels[1], pixels[2], f.add_map(pixels[1]), memory,
                pixels[3], ".multicast::cluster", ", %h9", tail_of_run="cluster 1")
    return f.write()


def store_kernel(book, name, tensor, at, map_at, size, op=None, combine=None, initial=None):
    """Shared memory holds 3 t + 1 in word t; the output is the tensor."""
    rank = len(tensor.dim)
    lines = ["mov.u32 %%r%d, %d;" % (10 + i, c) for i, c in enumerate(at)]
    coordinates = ", ".join("%%r%d" % (10 + i) for i in range(rank))
    what = "cp.reduce.async.bulk.tensor" if op else "cp.async.bulk.tensor"
    body = """
        mov.u32 %r2, box;
        mad.lo.u32 %r4, %t, 4, %r2;
        mad.lo.u32 %r5, %t, 3, 1;
    """
    for k in range(4):
        body += "st.shared.u32 [%%r4+%d], %%r5;\nadd.u32 %%r5, %%r5, 768;\n" % (k * 1024)
    if initial is not None:
        body += "mov.b32 %%r6, 0x%x;\n" % initial
        body += "".join("st.global.u32 [%%o+%d], %%r6;\n" % (k * 1024) for k in range(size // 1024))
    body += "\n".join(lines) + """
        fence.proxy.async;
        bar.sync 0;
        setp.ne.u32 %%p1, %%t, 0;
        @%%p1 bra END;
        add.u64 %%d1, %%in, %d;
        %s.%dd.global.shared::cta%s%s.bulk_group [%%d1, {%s}], [%%r2];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        END:
    """ % (map_at, what, rank, "." + op if op else "",
           ".im2col_no_offs" if tensor.lower else "", coordinates)
    shared = b"".join((3 * t + 1).to_bytes(4, "little") for t in range(1024))
    start = b"\xa5" * size if initial is None else initial.to_bytes(4, "little") * (size // 4)
    out = words(tensor.store(start, shared, at, combine))
    book.k(name, body, [("%s: KiB %d" % (name, k), lambda t, k=k: out[k * 256 + t])
                        for k in range(size // 1024)], block=256,
           declare=".shared .align 1024 .b8 box[4096];")


def half(name, operation):
    fmt = FORMATS[name]

    def combine(x, y):
        a, b = fmt.decode(x), fmt.decode(y)
        return fmt.encode(operation(a, b))
    return combine


def stores():
    f = Maps("tma_store", 90, "8.6")
    f.start([0] * 16)
    out = ("out", 0)
    m32 = 0xffffffff
    signed = lambda v, bits=32: v - (1 << bits) if v >> (bits - 1) else v
    cases = [
        ("one", Tensor("u32", [100], [], [64], base=out), (60,)),
        ("ragged", Tensor("u16", [37, 10], [96], [16, 6], base=out), (32, 7)),
        ("swizzled", Tensor("u16", [48, 10], [96], [40, 9], swizzle=3, base=out), (8, 4)),
        ("three", Tensor("u8", [20, 6, 5], [32, 192], [16, 4, 3], step=[1, 2, 1], base=out), (0, 1, 3)),
        ("four", Tensor("f64", [2, 5, 3, 2], [16, 96, 320], [2, 3, 2, 2], swizzle=1, base=out),
         (0, 3, 1, 1)),
        ("five", Tensor("f16", [8, 3, 3, 2, 2], [16, 64, 192, 448], [8, 2, 2, 2, 2], base=out),
         (0, 1, 0, 0, 1)),
        ("pixels", Tensor("u16", [16, 5, 3, 2], [32, 160, 480], [8, 12], lower=[0, 0],
                          upper=[-1, 0], base=out), (8, 1, 1, 0)),
    ]
    for name, tensor, at in cases:
        store_kernel(f, name, tensor, at, f.add_map(tensor), 1024)
    operations = [
        ("add", "u32", lambda x, y: x + y & m32), ("min", "u32", min), ("max", "u32", max),
        ("inc", "u32", lambda x, y: 0 if x >= y else x + 1),
        ("dec", "u32", lambda x, y: y if x == 0 or x > y else x - 1),
        ("and", "s32", lambda x, y: x & y), ("or", "u64", lambda x, y: x | y),
        ("xor", "u64", lambda x, y: x ^ y), ("add", "s32", lambda x, y: x + y & m32),
        ("add", "u64", lambda x, y: x + y & (1 << 64) - 1),
        ("min", "s32", lambda x, y: min(x, y, key=signed)),
        ("max", "s64", lambda x, y: max(x, y, key=lambda v: signed(v, 64))),
        ("min", "u64", min),
    ]
    for op, type_, combine in operations:
        tensor = Tensor(type_, [64 // BYTES[type_], 16], [64], [32 // BYTES[type_], 8], base=out)
        store_kernel(f, "%s_%s" % (op, type_), tensor, (32 // BYTES[type_], 10), f.add_map(tensor),
                     1024, op, combine, 0x80000123)
    return f.write()


def reduce_kernel(book, name, op, type_, values, initial, combine, bytes_, to_shared=False):
    """values: 16 elements in shared memory, initial: those they are combined with."""
    load = "".join("mov.b64 %%d1, 0x%x;\nst.shared.b64 [box+%d], %%d1;\n" % (word, k * 8)
                   for k, word in enumerate(pack(values, bytes_)))
    body = "setp.ne.u32 %p1, %t, 0;\n@%p1 bra END;\n" + load
    if to_shared:
        body += "".join("mov.b64 %%d1, 0x%x;\nst.shared.b64 [box+%d], %%d1;\n" % (word, 256 + k * 8)
                        for k, word in enumerate(pack(initial, bytes_)))
        body += """
            mov.u32 %%r1, bar;
            mov.u32 %%r2, box;
            mbarrier.init.shared.b64 [%%r1], 1;
            fence.proxy.async;
            mov.u32 %%r8, %%cluster_ctarank;
            add.u32 %%r3, %%r2, 256;
            mapa.shared::cluster.u32 %%r3, %%r3, %%r8;
            mapa.shared::cluster.u32 %%r4, %%r1, %%r8;
            mbarrier.arrive.expect_tx.shared.b64 %%d2, [%%r1], %d;
            cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s.%s [%%r3], [%%r2], %d, [%%r4];
            WAIT:
            mbarrier.try_wait.parity.shared.b64 %%p2, [%%r1], 0;
            @!%%p2 bra WAIT;
        """ % (16 * bytes_, op, type_, 16 * bytes_)
        body += "".join("ld.shared.b64 %%d1, [box+%d];\nst.global.b64 [%%out+%d], %%d1;\n"
                        % (256 + k * 8, k * 8) for k in range(2 * bytes_))
    else:
        body += "".join("mov.b64 %%d1, 0x%x;\nst.global.b64 [%%out+%d], %%d1;\n" % (word, k * 8)
                        for k, word in enumerate(pack(initial, bytes_)))
        body += """
            fence.proxy.async;
            mov.u32 %%r2, box;
            cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%%out], [%%r2], %d;
            cp.async.bulk.commit_group;
            cp.async.bulk.wait_group 0;
        """ % (op, type_, 16 * bytes_)
    body += "END:\n"
    right = [combine(x, y) for x, y in zip(initial, values)]
    out = b"".join(v.to_bytes(bytes_, "little") for v in right)
    book.k(name, body, [(name, lambda t: words(out)[t])], block=4 * bytes_,
           tail="cluster 1" if to_shared else "",
           declare=".shared .align 8 .b64 bar;\n.shared .align 128 .b8 box[512];")


def pack(values, bytes_):
    data = b"".join(v.to_bytes(bytes_, "little") for v in values)
    return [int.from_bytes(data[k:k + 8], "little") for k in range(0, len(data), 8)]


def float_add(code, bits):
    def combine(x, y):
        a, b = (struct.unpack("<" + code, v.to_bytes(bits // 8, "little"))[0] for v in (x, y))
        return int.from_bytes(struct.pack("<" + code, a + b), "little")
    return combine


def reductions():
    f = Book("bulk_reduce", 90, "8.6")
    numbers = lambda code, values: [int.from_bytes(struct.pack("<" + code, v), "little")
                                    for v in values]
    small = [0.5 * k - 3 for k in range(16)]
    other = [7.25 - k for k in range(16)]
    m32, m64 = 0xffffffff, (1 << 64) - 1
    signed = lambda bits: lambda v: v - (1 << bits) if v >> (bits - 1) else v
    ints = lambda bits: [v | v << 32 & ((1 << bits) - 1) for v in pattern(16, bits)]
    more = lambda bits: [v ^ (v << 31 & ((1 << bits) - 1)) for v in pattern(16, bits + 7)]
    bf16 = lambda values: [v >> 16 for v in numbers("f", values)]
    rows = [("add", "u32", 4, lambda x, y: x + y & m32), ("add", "s32", 4, lambda x, y: x + y & m32),
            ("add", "u64", 8, lambda x, y: x + y & m64), ("min", "u32", 4, min),
            ("max", "s32", 4, lambda x, y: max(x, y, key=signed(32))),
            ("min", "s64", 8, lambda x, y: min(x, y, key=signed(64))), ("max", "u64", 8, max),
            ("inc", "u32", 4, lambda x, y: 0 if x >= y else x + 1),
            ("dec", "u32", 4, lambda x, y: y if x == 0 or x > y else x - 1),
            ("and", "b32", 4, lambda x, y: x & y), ("or", "b64", 8, lambda x, y: x | y),
            ("xor", "b32", 4, lambda x, y: x ^ y), ("xor", "b64", 8, lambda x, y: x ^ y)]
    for op, type_, bytes_, combine in rows:
        reduce_kernel(f, "%s_%s" % (op, type_), op, type_, ints(8 * bytes_), more(8 * bytes_),
                      combine, bytes_)
        if type_ in ("u32", "s32", "b32") or (op, type_) == ("add", "u64"):
            reduce_kernel(f, "shared_%s_%s" % (op, type_), op, type_, ints(8 * bytes_),
                          more(8 * bytes_), combine, bytes_, True)
    reduce_kernel(f, "add_f32", "add", "f32", numbers("f", small), numbers("f", other),
                  float_add("f", 32), 4)
    reduce_kernel(f, "add_f64", "add", "f64", numbers("d", small), numbers("d", other),
                  float_add("d", 64), 8)
    reduce_kernel(f, "add_f16", "add.noftz", "f16", numbers("e", small), numbers("e", other),
                  float_add("e", 16), 2)
    as_float = lambda v: struct.unpack("<f", struct.pack("<I", v << 16))[0]
    for op, pick in (("min", min), ("max", max)):
        reduce_kernel(f, op + "_bf16", op, "bf16", bf16(small), bf16(other),
                      lambda x, y, pick=pick: pick(x, y, key=as_float), 2)
    reduce_kernel(f, "add_bf16", "add.noftz", "bf16", bf16(small), bf16(other),
                  lambda x, y: bf16([as_float(x) + as_float(y)])[0], 2)
    return f.write()


def changes():
    """A map is changed field by field, in shared memory, and used from global memory."""
    f = Maps("tensormap", 90, "8.6")
    f.target = "sm_90a"
    memory = f.start(pattern(480))
    before = Tensor("u8", [16], [], [16])
    map_at = f.add_map(before)
    scratch = f.add_map(before)
    after = Tensor("u16", [20, 6, 4], [64, 448], [16, 4, 3], step=[1, 2, 1], swizzle=1)
    at = (0, -1, 2)
    replace = "tensormap.replace.tile.%s.shared::cta.b1024.%s [%%r6], %s;\n"
    body = FILL + """
        mov.u32 %%r6, map;
        setp.lt.u32 %%p8, %%t, 32;
        @!%%p8 bra CHANGED;
        mad.lo.u32 %%r7, %%t, 4, %%r6;
        mad.wide.u32 %%d3, %%t, 4, %%in;
        ld.global.u32 %%r8, [%%d3+%d];
        st.shared.u32 [%%r7], %%r8;
        bar.warp.sync 0xffffffff;
        @!%%p9 bra COPY;
    """ % map_at
    body += replace % ("rank", "b32", 2) + replace % ("global_address", "b64", "%in")
    body += replace % ("elemtype", "b32", 1) + replace % ("swizzle_mode", "b32", 1)
    body += replace % ("interleave_layout", "b32", 0) + replace % ("fill_mode", "b32", 0)
    for i in range(3):
        body += replace % ("box_dim", "b32", "%d, %d" % (i, after.box[i]))
        body += replace % ("global_dim", "b32", "%d, %d" % (i, after.dim[i]))
        body += replace % ("element_stride", "b32", "%d, %d" % (i, after.step[i]))
    for i in range(2):
        body += replace % ("global_stride", "b64", "%d, %d" % (i, after.stride[i]))
    body += """
        COPY:
        bar.warp.sync 0xffffffff;
        add.u64 %%d1, %%in, %d;
        tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%%d1], [%%r6], 128;
        fence.proxy.tensormap::generic.release.gpu;
        fence.proxy.tensormap::generic.acquire.gpu [%%d1], 128;
        fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
        fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
        CHANGED:
        bar.sync 0;
        @!%%p9 bra WAIT;
        mbarrier.arrive.expect_tx.shared.b64 %%d2, [%%r1], %d;
        mov.u32 %%r10, 0;
        cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%%r2], [%%d1, {%%r10, -1, 2}], [%%r1];
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %%p1, [%%r1], 0;
        @!%%p1 bra WAIT;
    """ % (scratch, after.count(at))
    for k in range(4):
        body += "ld.shared.u32 %%r5, [%%r4+%d];\nout %d, %%r5\n" % (k * 1024, k)
    right = words(after.load(memory, at))
    f.k("replace", body, [("a changed map: KiB %d" % k, lambda t, k=k: right[k * 256 + t])
                          for k in range(4)], block=256,
        declare=DECLARE + "\n.shared .align 128 .b8 map[128];")
    f.k("global", """
        setp.ne.u32 %%p1, %%t, 0;
        @%%p1 bra END;
        add.u64 %%d1, %%in, %d;
        tensormap.replace.tile.global_dim.global.b1024.b32 [%%d1], 0, 7;
        tensormap.replace.tile.rank.b1024.b32 [%%d1], 0;
        tensormap.replace.tile.global_stride.global.b1024.b64 [%%d1], 0, 16;
        fence.proxy.tensormap::generic.release.gpu;
        fence.proxy.tensormap::generic.acquire.gpu [%%d1], 128;
        mov.u32 %%r1, bar;
        mov.u32 %%r2, box;
        mbarrier.init.shared.b64 [%%r1], 1;
        fence.proxy.async;
        mbarrier.arrive.expect_tx.shared.b64 %%d2, [%%r1], 16;
        cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%%r2], [%%d1, {0}], [%%r1];
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %%p2, [%%r1], 0;
        @!%%p2 bra WAIT;
        END:
        bar.sync 0;
        mov.u32 %%r2, box;
        mad.lo.u32 %%r4, %%t, 4, %%r2;
        ld.shared.u32 %%r5, [%%r4];
        out 0, %%r5
    """ % map_at, [("seven bytes of a row", lambda t: words(memory[:7] + bytes(9))[t])], block=4,
        declare=DECLARE)
    return f.write()


def faults():
    f = Stops("tma_faults", 90, "8.6", target="sm_90a")
    f.header.append("// in: 32 " + " ".join(["00000000"] * 16))
    f.header.append(Tensor("u16", [64, 8], [128], [16, 4], base=("out", 0)).line())
    f.header.append(Tensor("s64", [8, 16], [64], [4, 8], base=("out", 0)).line())
    start = ["mov.u32 %r1, box;", "add.u32 %r2, %r1, 4096;", "add.u64 %d1, %in, 64;",
             "mbarrier.init.shared.b64 [%r2], 1;"]
    load = ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%%r1], [%s, {%s}], [%%r2];")
    store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%%d1, {%s}], [%%r1];"
    f.kernel("inner", start + [load % ("%d1", "4, 0")], "fails 715", block=1)
    f.kernel("negative_store", start + [store % "0, -1"], "fails 715", block=1)
    f.kernel("not_a_map", start + [load % ("%in", "0, 0")], "fails 715", block=1)
    f.kernel("interleaved", start + ["tensormap.replace.tile.interleave_layout.global.b1024.b32 "
                                     "[%d1], 1;", load % ("%d1", "0, 0")],
             "fails 715", block=1)
    f.kernel("no_such_reduction", start + ["cp.reduce.async.bulk.tensor.2d.global.shared::cta.add."
                                           "bulk_group [%d1, {0, 0}], [%r1];"], "fails 715", block=1)
    f.kernel("xor_s64", start + ["add.u64 %d1, %d1, 128;", "cp.reduce.async.bulk.tensor.2d.global."
                                 "shared::cta.xor.bulk_group [%d1, {0, 0}], [%r1];"],
             "fails 715", block=1)
    return f.write()


def make_all():
    return [loads(), stores(), reductions(), changes(), faults()]
