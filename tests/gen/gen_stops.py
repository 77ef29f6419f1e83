"""gen_stops.py: what the machine knows but does not execute must stop with status 3 and be named;
faults must give the error that a GPU gives.
"""
from scaffold import File

DECLARE = """    .reg .b32 %r<20>;
    .reg .f32 %f<20>;
    .reg .b64 %d<20>, %out, %in;
    .reg .pred %p<5>;
    .shared .align 1024 .b8 box[8192];
    ld.param.u64 %out, [out];
    ld.param.u64 %in, [in];"""


class Stops(File):
    def kernel(self, name, body, outcome, block=32, directive=""):
        self.header.append("// run: %s block %d %s" % (name, block, outcome))
        self.body += [".visible .entry %s(.param .u64 out, .param .u64 in) %s" % (name, directive),
                      "{", DECLARE] + ["    " + x for x in body] + ["    ret;", "}", ""]

    def stops(self, name, text, before=()):
        opcode = text.split()[0].rstrip(";")
        self.kernel(name, list(before) + [text], "stops " + opcode)


def unsupported():
    f = Stops("unsupported", 90, "8.6")
    f.body += [".global .texref tex_ref;", ".global .surfref surf_ref;", ""]
    f.stops("tex", "tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex_ref, {%r1, %r1, %r1, %r1}];")
    f.stops("tld4", "tld4.r.2d.v4.f64.f32 {%f1, %f2, %f3, %f4}, [tex_ref, {%f5, %f6}];")
    f.stops("txq", "txq.array_size.b32 %r1, [tex_ref];")
    f.stops("suq", "suq.array_size.b32 %r1, [surf_ref];")
    f.stops("multimem", "multimem.red.relaxed.gpu.global.add.u32 [%out], %r1;")
    paths = [f.write()]
    f = Stops("unsupported_100a", 100, "8.7", target="sm_100a")
    f.stops("st_other", "st.bulk.weak.shared::cta [%r1], %d1, 0;", ["mov.u32 %r1, box;"])
    f.stops("red_other", "red.async.mmio.release.sys.global.add.u32 [%out], %r1;")
    f.stops("tcgen05", "tcgen05.fence::before_thread_sync;")
    f.stops("cp_other", "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [%r1], 16, %h1;",
            ["mov.u32 %r1, box;", ".reg .b16 %h<2>;"])
    f.stops("tensormap_other", "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%out], 1;")
    f.stops("clusterlaunchcontrol", "clusterlaunchcontrol.try_cancel.async.shared::cta."
                                    "mbarrier::complete_tx::bytes.b128 [%r1], [%r2];",
            ["mov.u32 %r1, box;", "add.u32 %r2, %r1, 64;"])
    paths.append(f.write())
    # Only sm_120a has this one, and no GPU of our table is that; ptxas would refuse it here.
    f = Stops("unsupported_mma", 90, "8.7")
    f.stops("mma_other", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X."
                         "f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, "
                         "{%r5, %r6}, {%f5, %f6, %f7, %f8}, %r7, {0, 0}, %r8, {0, 0};")
    f.write()
    return paths


def faults():
    f = Stops("faults", 80)
    f.kernel("trap", ["trap;"], "fails 719", block=1)
    f.kernel("null", ["mov.u64 %d1, 0;", "ld.global.u32 %r1, [%d1];", "st.global.u32 [%out], %r1;"],
             "fails 700", block=1)
    f.kernel("misaligned", ["add.u64 %d1, %out, 2;", "st.global.u32 [%d1], 5;"], "fails 716",
             block=1)
    f.kernel("shared_outside", ["mov.u32 %r1, 0x7ffffff0;", "ld.shared.u32 %r2, [%r1];",
                                "st.global.u32 [%out], %r2;"], "fails 715", block=1)
    f.kernel("trap_in_one_lane", ["mov.u32 %r1, %tid.x;", "setp.eq.u32 %p1, %r1, 17;",
                                  "@%p1 trap;"], "fails 719")
    return f.write()


def rare():
    f = File("rare", 80)
    f.header.append("// run: rare block 32")
    f.expect("brkpt not taken; 32-bit alloca and stack pointers", b"".join(
        v.to_bytes(4, "little") for v in [40] * 32 + list(range(32)) + [3] * 32))
    f.add_text(""".visible .entry rare(.param .u64 out, .param .u64 in)
{
    .reg .b32 %r<20>, %t;
    .reg .b64 %o, %out;
    .reg .pred %p<3>;
    .shared .align 8 .b8 box[64];
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %out;
    setp.gt.u32 %p1, %t, 100;
    @%p1 brkpt;
    mov.u32 %r1, box;
    add.u32 %r1, %r1, 40;
    mov.u32 %r4, box;
    sub.u32 %r3, %r1, %r4;
    st.global.u32 [%o], %r3;
    stacksave.u32 %r10;
    alloca.u32 %r11, 16;
    alloca.u32 %r12, 24, 8;
    st.local.u32 [%r11], %t;
    st.local.u32 [%r12+4], 3;
    ld.local.u32 %r13, [%r11];
    ld.local.u32 %r14, [%r12+4];
    stackrestore.u32 %r10;
    st.global.u32 [%o+128], %r13;
    st.global.u32 [%o+256], %r14;
    ret;
}
""")
    path = f.write()
    g = File("setmaxnreg", 90, "8.0", target="sm_90a")
    g.header.append("// run: budget block 128")
    g.expect("setmaxnreg keeps registers", b"".join(v.to_bytes(4, "little") for v in range(128)))
    g.add_text(""".visible .entry budget(.param .u64 out, .param .u64 in)
    .reqntid 128
    .maxnreg 96
{
    .reg .b32 %t;
    .reg .b64 %o;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    setmaxnreg.dec.sync.aligned.u32 64;
    bar.sync 0;
    setmaxnreg.inc.sync.aligned.u32 80;
    st.global.u32 [%o], %t;
    ret;
}
""")
    h = File("mov_vector", 80)
    h.add_input(32, list(range(1, 129)))
    h.header.append("// run: vectors block 32")
    h.expect("mov.v2, mov.v4 and components", b"".join(
        v.to_bytes(4, "little") for t in range(32) for v in (4 * t + 2, 4 * t + 1, 4 * t + 4,
                                                             4 * t + 3)))
    h.add_text(""".visible .entry vectors(.param .u64 out, .param .u64 in)
{
    .reg .v4 .u32 %v, %w;
    .reg .v2 .u32 %x, %y;
    .reg .b32 %t;
    .reg .b64 %in, %out, %at;
    ld.param.u64 %out, [out];
    ld.param.u64 %in, [in];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %at, %t, 16, %in;
    ld.global.v4.u32 %v, [%at];
    mov.v4.u32 %w, %v;
    mov.v2.u32 %x, {%w.y, %w.x};
    mov.v2.u32 %y, {%w.w, %w.z};
    mad.wide.u32 %at, %t, 16, %out;
    st.global.v2.u32 [%at], %x;
    st.global.v2.u32 [%at+8], {%y.x, %y.y};
    ret;
}
""")
    return [path, g.write(), h.write()]


def by_zero():
    """PTX leaves division by zero open; ptxas' code gives all ones for quotient and remainder."""
    f = File("division_by_zero", 80)
    f.add_input(64, [0, 1, 7, 0x80000000, 0x8000000000000000, 0xffffffffffffffff, 0x7fff,
                     0x123456789abcdef0])
    lines, at = [], 0
    f.header.append("// run: by_zero block 8")
    for op in ("div", "rem"):
        for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
            size = int(t[1:]) // 8
            lines += ["cvt.u%d.u64 %%a%d, %%x;" % (size * 8, size),
                      "cvt.u%d.u64 %%b%d, %%zero;" % (size * 8, size)] if size < 8 else [
                          "mov.b64 %a8, %x;", "mov.b64 %b8, %zero;"]
            lines += ["%s.%s %%c%d, %%a%d, %%b%d;" % (op, t, size, size, size),
                      "mad.wide.u32 %%o, %%t, %d, %%out;" % size,
                      "st.global.b%d [%%o+%d], %%c%d;" % (size * 8, at, size)]
            f.expect("%s.%s by zero" % (op, t), b"\xff" * (8 * size))
            at += 8 * size
    f.add_text(""".visible .entry by_zero(.param .u64 out, .param .u64 in)
{
    .reg .b16 %a2, %b2, %c2;
    .reg .b32 %a4, %b4, %c4, %t;
    .reg .b64 %a8, %b8, %c8, %x, %zero, %o, %in, %out;
    ld.param.u64 %out, [out];
    ld.param.u64 %in, [in];
    mov.u32 %t, %tid.x;
    ld.global.u64 %zero, [%in];
    mad.wide.u32 %o, %t, 8, %in;
    ld.global.u64 %x, [%o];""")
    f.body += ["    " + x for x in lines] + ["    ret;", "}"]
    return f.write()


def make_all():
    return unsupported() + [faults(), by_zero()] + rare()
