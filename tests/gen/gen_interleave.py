"""gen_interleave.py: bulk copies of interleaved tensors, NC/8HWC8 and NC/16HWC16.
How such a map is read (tma.h says it) was found with an H200: 1,125 copies and 30,000 encodings.
What must come out is computed here, slice by slice.
"""
from gen_bulk import Maps, Tensor, load_kernel, pattern, store_kernel
from gen_stops import Stops


class Interleaved(Tensor):
    """Dimensions W, [H, [D,]] slice, N. Coordinate 0 counts pixels of 16 or 32 bytes."""

    def __init__(self, interleave, *args, **rest):
        super().__init__(*args, **rest)
        self.interleave, self.unit = interleave, 16 * interleave

    def line(self):
        return super().line() + " interleave=%d" % self.interleave

    def pixels(self, at, offsets):
        """The coordinates of each slice that is copied, in their order."""
        rank = len(self.dim)
        if self.lower is None:
            places = [()]
            for i in range(rank - 1, -1, -1):
                count = 1 if i == rank - 2 else -(-self.box[i] // self.step[i])
                places = [p + (at[i] + k * self.step[i],) for p in places for k in range(count)]
            return [p[::-1] for p in places]
        places, here = [], list(at)
        for _ in range(self.box[1]):
            places.append(tuple(h + (offsets[i] if offsets and i < rank - 2 else 0)
                                for i, h in enumerate(here)))
            for i in range(rank - 2):
                here[i] += self.step[i]
                if here[i] < self.dim[i] + self.upper[i]:
                    break
                here[i] = self.lower[i]
            else:
                here[rank - 1] += self.step[rank - 1]
        return places

    def elements(self, at, offsets=()):
        for n, place in enumerate(self.pixels(at, offsets)):
            inside = all(0 <= c < d for c, d in zip(place, self.dim))
            start = place[0] * self.unit + sum(c * s for c, s in zip(place[1:], self.stride))
            for byte in range(0, self.unit, self.bytes):
                to = n * self.unit + byte
                line, piece = to // 128, to // 16 % 8 ^ to // 128 & (1 << self.swizzle) - 1
                yield line * 128 + piece * 16 + to % 16, start + byte, inside, 0


def loads():
    f = Maps("tma_interleave", 90, "8.6")
    memory = f.start(pattern(640))
    I = Interleaved
    cases = [
        ("three16", I(1, "u16", [9, 3, 4], [160, 480], [8, 2, 3]), (3, 1, 2), ()),
        ("three32", I(2, "bf16", [6, 2, 3], [192, 576], [8, 1, 2], swizzle=1, nan=True), (-1, 1, 0),
         ()),
        ("bytes32", I(2, "u8", [5, 2, 2], [160, 320], [16, 1, 2], swizzle=1), (2, 0, 0), ()),
        ("swizzled2", I(1, "u32", [12, 2, 2, 2], [192, 384, 768], [8, 2, 3, 2], swizzle=2),
         (6, 0, 1, 0), ()),
        ("swizzled3", I(1, "f32", [20, 2, 2, 2], [320, 640, 1280], [16, 2, 1, 2], swizzle=3,
                        nan=True), (8, 1, 0, 0), ()),
        ("steps", I(1, "u16", [17, 4, 2, 2], [288, 1152, 32], [16, 4, 1, 2], step=[3, 2, 1, 1]),
         (2, 1, 0, 0), ()),
        ("five32", I(2, "tf32", [3, 2, 2, 2, 3], [96, 192, 384, 768], [4, 2, 2, 1, 2], swizzle=1),
         (0, 0, -1, 1, 1), ()),
        ("pixels3", I(1, "u16", [7, 3, 4], [112, 336], [8, 20], lower=[-1], upper=[-1]), (2, 1, 1),
         (2,)),
        ("pixels4", I(2, "f16", [4, 3, 2, 3], [128, 384, 768], [16, 30], lower=[-1, 0],
                      upper=[0, 1], step=[2, 1, 1, 1], swizzle=1, nan=True), (1, 1, 1, 0), (1, 2)),
        ("pixels5", I(1, "u32", [4, 3, 2, 2, 3], [64, 192, 384, 768], [4, 40], lower=[0, -1, 0],
                      upper=[-1, 0, 0], swizzle=3), (1, 0, 1, 1, 0), (1, 0, 0)),
    ]
    for name, tensor, at, offsets in cases:
        load_kernel(f, name, tensor, at, f.add_map(tensor), memory, offsets)
    return f.write()


def stores():
    f = Maps("tma_interleave_store", 90, "8.6")
    f.start([0] * 16)
    out = ("out", 0)
    I = Interleaved
    cases = [
        ("three16", I(1, "u16", [9, 2, 3], [160, 320], [8, 2, 2], base=out), (3, 1, 1)),
        ("four32", I(2, "u32", [3, 2, 2, 2], [96, 192, 384], [4, 2, 1, 2], swizzle=1, base=out),
         (1, 0, 1, 0)),
        ("swizzled", I(1, "u16", [16, 2, 2], [256, 512], [16, 1, 2], swizzle=3, base=out), (4, 0, 1)),
        ("steps", I(1, "f32", [9, 2, 2, 2], [144, 288, 576], [8, 2, 1, 1], step=[3, 1, 1, 1],
                    base=out), (0, 1, 1, 0)),
        ("pixels", I(1, "u16", [5, 3, 2, 2], [80, 240, 480], [8, 14], lower=[1, 0], upper=[-1, 0],
                     base=out), (2, 1, 1, 0)),
    ]
    for name, tensor, at in cases:
        store_kernel(f, name, tensor, at, f.add_map(tensor), 1024)
    for interleave, op, combine in ((1, "add", lambda x, y: x + y & 0xffffffff), (2, "max", max)):
        tensor = I(interleave, "u32", [8 // interleave, 2, 3], [128, 256], [4, 1, 2],
                   swizzle=interleave - 1, base=out)
        store_kernel(f, "%s_u32" % op, tensor, (2, 1, 1), f.add_map(tensor), 1024, op, combine,
                     0x80000123)
    return f.write()


def faults():
    """An im2col walk begins in the bounding box; that of a store lies in the tensor."""
    f = Stops("tma_pixel_faults", 90, "8.6", target="sm_90a")
    f.header.append("// in: 32 " + " ".join(["00000000"] * 16))
    out = ("out", 0)
    for tensor in (Interleaved(1, "u16", [4, 2, 2], [64, 128], [8, 4], lower=[0], upper=[0], base=out),
                   Interleaved(1, "u16", [4, 2, 2], [64, 128], [8, 4], lower=[-1], upper=[0], base=out),
                   Tensor("u16", [8, 4, 4], [16, 64], [8, 4], lower=[0], upper=[-1], base=out),
                   Tensor("u16", [8, 4, 4], [16, 64], [8, 4], lower=[0], upper=[1], base=out)):
        f.header.append(tensor.line())
    start = [".reg .b16 %h1;", "mov.u32 %r1, box;", "add.u32 %r2, %r1, 4096;", "mbarrier.init.shared.b64 [%r2], 1;",
             "mov.u16 %h1, 0;"]
    load = ("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
            "[%%r1], [%%d1, {%s}], [%%r2], {%%h1};")
    store = ("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
             "[%%d1, {%s}], [%%r1];")
    cases = [("after_slices", 0, load % "4, 0, 0"), ("before_slices", 1, load % "-2, 0, 0"),
             ("store_slices", 1, store % "0, 0, 0"), ("after_pixels", 2, load % "0, 3, 0"),
             ("before_pixels", 2, load % "0, -1, 0"), ("store_pixels", 3, store % "0, 0, 0")]
    for name, index, line in cases:
        f.kernel(name, start + ["add.u64 %%d1, %%in, %d;" % (64 + 128 * index), line], "fails 715",
                 block=1)
    return f.write()


def make_all():
    return [loads(), stores(), faults()]
