"""gen_spaces.py: address spaces, stacks, special registers, fences, hints, asynchronous copies,
mbarriers and vector atomics.
"""
import struct

from book import M32, Book
from floats import BF16, F16
from gen_float import to_value


def spaces():
    f = Book("spaces", 80)
    f.k("cvta", """
        mov.u32 %r1, sbox;
        cvt.u64.u32 %d1, %r1;
        cvta.shared.u64 %d2, %d1;
        mov.u64 %d3, gbox;
        cvta.global.u64 %d4, %d3;
        cvta.local.u64 %d5, lbox;
        mov.u64 %d6, cbox;
        cvta.const.u64 %d7, %d6;
        mov.u32 %r10, 41;
        st.u32 [%d2], %r10;
        bar.sync 0;
        ld.shared.u32 %r11, [%r1];
        st.u32 [%d4], 42;
        ld.global.u32 %r12, [%d3];
        st.u32 [%d5], %t;
        ld.local.u32 %r13, [lbox];
        ld.u32 %r14, [%d7];
        cvta.to.shared.u64 %d8, %d2;
        cvt.u32.u64 %r15, %d8;
        sub.u32 %r15, %r15, %r1;
        cvta.to.global.u64 %d9, %d4;
        sub.u64 %d9, %d9, %d3;
        cvt.u32.u64 %r16, %d9;
        cvta.to.local.u64 %d10, %d5;
        ld.local.u32 %r17, [%d10];
        cvta.to.const.u64 %d11, %d7;
        ld.const.u32 %r18, [%d11];
        out 0, %r11
        out 1, %r12
        out 2, %r13
        out 3, %r14
        out 4, %r15
        out 5, %r16
        out 6, %r17
        out 7, %r18
    """, [("shared", lambda t: 41), ("global", lambda t: 42), ("local", lambda t: t),
          ("const", lambda t: 4711), ("to shared", lambda t: 0), ("to global", lambda t: 0),
          ("to local", lambda t: t), ("to const", lambda t: 4711)],
        module=".global .u32 gbox;\n.const .u32 cbox = 4711;",
        declare=".shared .u32 sbox;\n.local .u32 lbox;")
    body, outs, n = "", [], 0
    body = """
        cvta.shared.u64 %d1, sbox;
        cvta.global.u64 %d2, gbox;
        cvta.local.u64 %d3, lbox;
        cvta.const.u64 %d4, cbox;
    """.replace("sbox", "sbox2").replace("gbox", "gbox2").replace("lbox", "lbox2").replace(
        "cbox", "cbox2")
    for k, space in enumerate(("shared", "global", "local", "const")):
        for j in range(4):
            body += "isspacep.%s %%p1, %%d%d;\nselp.u32 %%r1, 1, 0, %%p1;\nout %d, %%r1\n" % (
                space, j + 1, n)
            # constant memory lies in the global window for a generic address
            outs.append(("isspacep.%s of %s" % (space, ("shared", "global", "local", "const")[j]),
                         lambda t, k=k, j=j: int(k == j)))
            n += 1
            if (space, j) in (("global", 3),):
                body = body[:body.rindex("isspacep.")]
                outs.pop()
                n -= 1
    f.k("isspacep", body, outs, module=".global .u32 gbox2;\n.const .u32 cbox2 = 1;",
        declare=".shared .u32 sbox2;\n.local .u32 lbox2;")
    # 32 bits that ptxas 13.0 knows the value of make it crash for sm_90, and the driver with it.
    f.k("isspacep_widths", """
        mad.lo.u32 %r1, %t, 4, 16;
        isspacep.shared %p1, %r1;
        selp.u32 %r2, 1, 0, %p1;
        out 0, %r2
        isspacep.local %p1, 16;
        selp.u32 %r2, 1, 0, %p1;
        out 1, %r2
        isspacep.const %p1, %r1;
        selp.u32 %r2, 1, 0, %p1;
        out 2, %r2
    """, [("isspacep.shared of 32 bits", lambda t: 0), ("isspacep.local of a literal", lambda t: 0),
          ("isspacep.const of 32 bits", lambda t: 0)])
    f.k("function_variables", """
        ld.const.u32 %r1, [inner_c+4];
        out 0, %r1
        ld.global.u32 %r2, [inner_g];
        out 1, %r2
    """, [("constant of a function", lambda t: 22), ("global of a function", lambda t: 33)],
        declare=".const .u32 inner_c[2] = {11, 22};\n.global .u32 inner_g = 33;")
    f.k("shared_dynamic", """
        mov.u32 %r1, dyn;
        mad.lo.u32 %r2, %t, 4, %r1;
        st.shared.u32 [%r2], %t;
        bar.sync 0;
        xor.b32 %r3, %t, 1;
        mad.lo.u32 %r2, %r3, 4, %r1;
        ld.shared.u32 %r4, [%r2];
        mov.u32 %r5, %dynamic_smem_size;
        out 0, %r4
        out 1, %r5
    """, [("extern .shared", lambda t: t ^ 1), ("%dynamic_smem_size", lambda t: 512)],
        block=64, tail="shared 512", module=".extern .shared .align 16 .b8 dyn[];")
    f.k("param_parts", """
        ld.param.u32 %r1, [out];
        ld.param.u32 %r2, [out+4];
        mov.b64 %d1, {%r1, %r2};
        sub.u64 %d1, %d1, %out;
        ld.param.v2.u32 {%r3, %r4}, [in];
        mov.b64 %d2, {%r3, %r4};
        sub.u64 %d2, %d2, %in;
        add.u64 %d1, %d1, %d2;
        cvt.u32.u64 %r5, %d1;
        out 0, %r5
    """, [("ld.param in pieces", lambda t: 0)])
    path = f.write()
    g = Book("stack", 80)
    g.k("alloca", """
        stacksave.u64 %d9;
        mad.lo.u32 %r1, %t, 8, 16;
        cvt.u64.u32 %d1, %r1;
        alloca.u64 %d2, %d1;
        alloca.u64 %d3, 32, 16;
        st.local.u32 [%d2], %t;
        st.local.u32 [%d3], 77;
        and.b64 %d4, %d3, 15;
        ld.local.u32 %r2, [%d2];
        ld.local.u32 %r3, [%d3];
        cvt.u32.u64 %r4, %d4;
        stackrestore.u64 %d9;
        out 0, %r2
        out 1, %r3
        out 2, %r4
    """, [("first", lambda t: t), ("second", lambda t: 77), ("aligned to 16", lambda t: 0)])
    h = Book("sregs", 80)
    h.k("thread_sregs", """
        mov.u32 %r1, %laneid;
        mov.u32 %r2, %lanemask_eq;
        mov.u32 %r3, %lanemask_lt;
        mov.u32 %r4, %lanemask_le;
        mov.u32 %r5, %lanemask_gt;
        mov.u32 %r6, %lanemask_ge;
        mov.u32 %r7, %ntid.x;
        mov.u32 %r8, %nctaid.x;
        mov.u32 %r9, %ctaid.x;
        mov.u32 %r10, %ntid.y;
        mov.u32 %r11, %tid.y;
        mov.u32 %r12, %nctaid.z;
        out 0, %r1
        out 1, %r2
        out 2, %r3
        out 3, %r4
        out 4, %r5
        out 5, %r6
        out 6, %r7
        out 7, %r8
        out 8, %r9
        out 9, %r10
        out 10, %r11
        out 11, %r12
    """, [("%laneid", lambda t: t % 32), ("%lanemask_eq", lambda t: 1 << t % 32),
          ("%lanemask_lt", lambda t: (1 << t % 32) - 1), ("%lanemask_le",
                                                          lambda t: (2 << t % 32) - 1),
          ("%lanemask_gt", lambda t: ~((2 << t % 32) - 1) & M32),
          ("%lanemask_ge", lambda t: ~((1 << t % 32) - 1) & M32), ("%ntid.x", lambda t: 64),
          ("%nctaid.x", lambda t: 3), ("%ctaid.x", lambda t: t // 64), ("%ntid.y", lambda t: 1),
          ("%tid.y", lambda t: 0), ("%nctaid.z", lambda t: 1)], block=64, grid=3)
    h.k("clocks", """
        mov.u64 %d1, %clock64;
        mov.u64 %d3, %globaltimer;
        mov.u32 %r1, %clock;
        mov.u32 %r2, %smid;
        mov.u32 %r3, %nsmid;
        mov.u64 %d2, %clock64;
        mov.u64 %d4, %globaltimer;
        setp.ge.u64 %p1, %d2, %d1;
        setp.ge.u64 %p2, %d4, %d3;
        setp.lt.u32 %p3, %r2, %r3;
        selp.u32 %r4, 1, 0, %p1;
        selp.u32 %r5, 2, 0, %p2;
        selp.u32 %r6, 4, 0, %p3;
        or.b32 %r4, %r4, %r5;
        or.b32 %r4, %r4, %r6;
        out 0, %r4
    """, [("clocks do not go back; %smid < %nsmid", lambda t: 7)])
    return [path, g.write(), h.write()]


def fences():
    f = Book("fences", 90, "8.6")
    lines = ["membar.cta", "membar.gl", "membar.sys", "fence.sc.cta", "fence.sc.gpu",
             "fence.sc.sys", "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys",
             "fence.acq_rel.cluster", "fence.cta.sc", "fence.sys.acq_rel",  # as CCCL 2 has them
             "membar.proxy.alias", "fence.proxy.alias", "fence.proxy.async",
             "fence.proxy.async.global", "fence.proxy.async.shared::cta",
             "fence.mbarrier_init.release.cluster"]
    f.k("fences", ";\n".join(lines) + ";\nout 0, %t", [("fences do no harm", lambda t: t)])
    g = Book("hints", 90, "8.5")
    g.k("hints", """
        prefetch.global.L1 [%in];
        prefetch.global.L2 [%in];
        prefetch.L1 [%in];
        prefetch.global.L2::evict_last [%in];
        prefetch.global.L2::evict_normal [%in];
        prefetchu.L1 [%in];
        prefetch.local.L1 [lbox];
        createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;
        createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d2, 0.5;
        createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d3, [%in], 128, 256;
        createpolicy.cvt.L2.b64 %d4, 0x10f0000000000000;
        ld.global.L2::cache_hint.u32 %r1, [%in], %d1;
        st.global.L2::cache_hint.u32 [%o], %r1, %d2;
        applypriority.global.L2::evict_normal [gbox], 128;
        ld.global.u32 %r2, [gbox];
        out 1, %r2
        discard.global.L2 [gtrash], 128;
    """, [("a load and a store with policies", lambda t: 0x1234),
          ("priority keeps data", lambda t: 9)],
        module=".global .align 128 .u32 gbox[32] = {9};\n.global .align 128 .u32 gtrash[32];",
        declare=".local .align 8 .b8 lbox[64];")
    g.add_input(32, [0x1234, 0, 0, 0])
    return [f.write(), g.write()]


def asynchronous():
    f = Book("cp_async", 80)
    f.add_input(32, [k * 0x01000193 + 7 & M32 for k in range(256)])
    word = lambda k: k * 0x01000193 + 7 & M32
    f.k("copies", """
        mov.u32 %r1, box;
        mad.lo.u32 %r2, %t, 16, %r1;
        mad.wide.u32 %d1, %t, 16, %in;
        cp.async.ca.shared.global [%r2], [%d1], 16;
        cp.async.commit_group;
        mad.lo.u32 %r3, %t, 8, %r1;
        mad.wide.u32 %d2, %t, 8, %in;
        cp.async.ca.shared.global [%r3+512], [%d2], 8;
        mad.lo.u32 %r4, %t, 4, %r1;
        mad.wide.u32 %d3, %t, 4, %in;
        cp.async.ca.shared.global [%r4+768], [%d3], 4;
        cp.async.commit_group;
        cp.async.cg.shared.global [%r2+1024], [%d1], 16, 4;
        cp.async.wait_group 1;
        ld.shared.u32 %r10, [%r2+12];
        cp.async.wait_group 0;
        ld.shared.u32 %r11, [%r3+516];
        ld.shared.u32 %r12, [%r4+768];
        cp.async.wait_all;
        ld.shared.u32 %r13, [%r2+1024];
        ld.shared.u32 %r14, [%r2+1036];
        cp.async.cg.shared.global.L2::128B [%r2], [%d1], 16;
        cp.async.wait_all;
        ld.shared.u32 %r15, [%r2+4];
        out 0, %r10
        out 1, %r11
        out 2, %r12
        out 3, %r13
        out 4, %r14
        out 5, %r15
    """, [("16 bytes", lambda t: word(4 * t + 3)), ("8 bytes", lambda t: word(2 * t + 1)),
          ("4 bytes", word), ("4 of 16, data", lambda t: word(4 * t)),
          ("4 of 16, zeros", lambda t: 0), ("with a prefetch size", lambda t: word(4 * t + 1))],
        declare=".shared .align 16 .b8 box[2048];")
    path = f.write()
    g = Book("mbarrier", 90, "8.5")
    g.add_input(32, [k * 3 + 1 for k in range(256)])
    start = """
        mov.u32 %r1, bar;
        setp.eq.u32 %p9, %t, 0;
        @%p9 mbarrier.init.shared.b64 [%r1], COUNT;
        bar.sync 0;
    """
    g.k("arrive_wait", start.replace("COUNT", "64") + """
        mov.u32 %r2, box;
        mad.lo.u32 %r3, %t, 4, %r2;
        st.shared.u32 [%r3], %t;
        mbarrier.arrive.shared.b64 %d1, [%r1];
        WAIT:
        mbarrier.test_wait.shared.b64 %p1, [%r1], %d1;
        @!%p1 bra WAIT;
        xor.b32 %r4, %t, 63;
        mad.lo.u32 %r3, %r4, 4, %r2;
        ld.shared.u32 %r5, [%r3];
        out 0, %r5
        bar.sync 0;
        @%p9 mbarrier.inval.shared.b64 [%r1];
    """, [("all arrive, all wait", lambda t: t ^ 63)], block=64,
        declare=".shared .align 8 .b64 bar;\n.shared .b32 box[64];")
    g.k("phases", start.replace("COUNT", "32") + """
        mov.u32 %r6, 0;
        mov.u32 %r7, 0;
        AGAIN:
        mbarrier.arrive.release.cta.shared::cta.b64 %d1, [%r1];
        TRY:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r7;
        @!%p1 bra TRY;
        xor.b32 %r7, %r7, 1;
        add.u32 %r6, %r6, 1;
        setp.lt.u32 %p2, %r6, 5;
        @%p2 bra AGAIN;
        mbarrier.test_wait.parity.shared.b64 %p3, [%r1], 0;
        mbarrier.test_wait.parity.shared.b64 %p4, [%r1], 1;
        selp.u32 %r8, 1, 0, %p3;
        selp.u32 %r9, 2, 0, %p4;
        or.b32 %r8, %r8, %r9;
        out 0, %r6
        out 1, %r8
    """, [("five phases", lambda t: 5), ("parities afterwards", lambda t: 1)],
        declare=".shared .align 8 .b64 bar;")
    g.k("counts", start.replace("COUNT", "10") + """
        @!%p9 bra JOIN;
        mbarrier.arrive.noComplete.shared.b64 %d1, [%r1], 3;
        mbarrier.pending_count.b64 %r10, %d1;
        mbarrier.arrive.shared.b64 %d2, [%r1];
        mbarrier.pending_count.b64 %r11, %d2;
        mbarrier.arrive_drop.shared.b64 %d3, [%r1];
        mbarrier.pending_count.b64 %r12, %d3;
        mbarrier.arrive_drop.noComplete.shared.b64 %d4, [%r1], 2;
        mbarrier.pending_count.b64 %r13, %d4;
        mbarrier.arrive.shared.b64 %d5, [%r1], 3;
        mbarrier.try_wait.shared.b64 %p1, [%r1], %d5;
        selp.u32 %r14, 1, 0, %p1;
        mbarrier.arrive.noComplete.shared.b64 %d6, [%r1], 1;
        mbarrier.pending_count.b64 %r15, %d6;
        JOIN:
        shfl.sync.idx.b32 %r10, %r10, 0, 31, 0xffffffff;
        shfl.sync.idx.b32 %r11, %r11, 0, 31, 0xffffffff;
        shfl.sync.idx.b32 %r12, %r12, 0, 31, 0xffffffff;
        shfl.sync.idx.b32 %r13, %r13, 0, 31, 0xffffffff;
        shfl.sync.idx.b32 %r14, %r14, 0, 31, 0xffffffff;
        shfl.sync.idx.b32 %r15, %r15, 0, 31, 0xffffffff;
        out 0, %r10
        out 1, %r11
        out 2, %r12
        out 3, %r13
        out 4, %r14
        out 5, %r15
    """, [("pending before the first", lambda t: 10), ("after three", lambda t: 7),
          ("after four", lambda t: 6), ("after five", lambda t: 5), ("the phase ended",
                                                                     lambda t: 1),
          ("the next expects three less", lambda t: 7)], declare=".shared .align 8 .b64 bar;")
    g.k("transactions", start.replace("COUNT", "1") + """
        mov.u32 %r20, 0;
        @!%p9 bra JOIN;
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 64;
        mbarrier.arrive.expect_tx.shared.b64 %d1, [%r1], 32;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 64;
        mbarrier.test_wait.shared.b64 %p1, [%r1], %d1;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 32;
        mbarrier.test_wait.shared.b64 %p2, [%r1], %d1;
        selp.u32 %r21, 1, 0, %p1;
        selp.u32 %r20, 2, 0, %p2;
        or.b32 %r20, %r20, %r21;
        JOIN:
        out 0, %r20
    """, [("not before all bytes have come", lambda t: 2 if t == 0 else 0)],
        declare=".shared .align 8 .b64 bar;")
    g.k("drop_tx", start.replace("COUNT", "2") + """
        mov.u32 %r20, 0;
        @!%p9 bra JOIN;
        mbarrier.arrive_drop.expect_tx.shared.b64 %d1, [%r1], 16;
        mbarrier.arrive.shared::cluster.b64 _, [%r1];
        mbarrier.test_wait.shared.b64 %p1, [%r1], %d1;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 16;
        mbarrier.test_wait.shared.b64 %p2, [%r1], %d1;
        mbarrier.arrive.shared.b64 %d2, [%r1];
        mbarrier.test_wait.shared.b64 %p3, [%r1], %d2;
        selp.u32 %r21, 1, 0, %p1;
        selp.u32 %r22, 2, 0, %p2;
        selp.u32 %r20, 4, 0, %p3;
        or.b32 %r20, %r20, %r21;
        or.b32 %r20, %r20, %r22;
        JOIN:
        out 0, %r20
    """, [("drop with bytes, then a phase of one", lambda t: 6 if t == 0 else 0)],
        declare=".shared .align 8 .b64 bar;")
    g.k("cp_async_arrive", start.replace("COUNT", "32") + """
        mov.u32 %r2, box;
        mad.lo.u32 %r3, %t, 4, %r2;
        mad.wide.u32 %d1, %t, 4, %in;
        cp.async.ca.shared.global [%r3], [%d1], 4;
        cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
        @!%p1 bra WAIT;
        xor.b32 %r4, %t, 31;
        mad.lo.u32 %r3, %r4, 4, %r2;
        ld.shared.u32 %r5, [%r3];
        out 0, %r5
    """, [("an mbarrier counts copies", lambda t: (t ^ 31) * 3 + 1)],
        declare=".shared .align 8 .b64 bar;\n.shared .b32 box[64];")
    h = Book("cp_bulk", 90, "8.6")
    h.add_input(32, [k * 3 + 1 for k in range(256)])
    h.k("to_shared", start.replace("COUNT", "1") + """
        mov.u32 %r2, box;
        @!%p9 bra WAIT;
        fence.proxy.async;
        mbarrier.arrive.expect_tx.shared.b64 %d1, [%r1], 512;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%in], 512, [%r1];
        cp.async.bulk.prefetch.L2.global [%in], 512;
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
        @!%p1 bra WAIT;
        mad.lo.u32 %r3, %t, 4, %r2;
        ld.shared.u32 %r5, [%r3+128];
        out 0, %r5
    """, [("global to shared", lambda t: (t + 32) * 3 + 1)], block=64,
        declare=".shared .align 16 .b64 bar;\n.shared .align 128 .b8 box[512];")
    h.k("to_global", """
        mov.u32 %r2, box;
        mad.lo.u32 %r3, %t, 4, %r2;
        mad.lo.u32 %r4, %t, 5, 2;
        st.shared.u32 [%r3], %r4;
        fence.proxy.async;
        bar.sync 0;
        setp.ne.u32 %p1, %t, 0;
        @%p1 bra JOIN;
        cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], 256;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group.read 0;
        cp.async.bulk.wait_group 0;
        JOIN:
    """, [("shared to global", lambda t: t * 5 + 2)], block=64,
        declare=".shared .align 128 .b8 box[256];")
    # A GPU takes this copy for illegal outside of a cluster launch; each block copies within itself.
    h.k("shared_to_shared", start.replace("COUNT", "1") + """
        mov.u32 %r2, box;
        mad.lo.u32 %r3, %t, 4, %r2;
        mad.lo.u32 %r4, %t, 5, 2;
        st.shared.u32 [%r3], %r4;
        fence.proxy.async;
        bar.sync 0;
        @!%p9 bra WAIT;
        mbarrier.arrive.expect_tx.shared.b64 %d1, [%r1], 128;
        add.u32 %r6, %r2, 128;
        mov.u32 %r8, %cluster_ctarank;
        mapa.shared::cluster.u32 %r6, %r6, %r8;
        mapa.shared::cluster.u32 %r7, %r1, %r8;
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r2], 128, [%r7];
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
        @!%p1 bra WAIT;
        ld.shared.u32 %r5, [%r3+128];
        out 0, %r5
    """, [("shared to shared of the cluster", lambda t: t % 32 * 5 + 2)], grid=2, tail="cluster 1",
        declare=".shared .align 16 .b64 bar;\n.shared .align 128 .b8 box[256];")
    h.k("cluster_of_one", """
        mov.u32 %r1, box;
        mapa.shared::cluster.u32 %r2, %r1, 0;
        st.shared::cluster.u32 [%r2], 55;
        ld.shared.u32 %r3, [%r1];
        cvta.shared.u64 %d1, box;
        mapa.u64 %d2, %d1, 0;
        ld.u32 %r4, [%d2];
        getctarank.shared::cluster.u32 %r5, %r2;
        getctarank.u64 %r6, %d2;
        mov.u32 %r7, %cluster_nctarank;
        out 0, %r3
        out 1, %r4
        out 2, %r5
        out 3, %r6
        out 4, %r7
    """, [("mapa.u32", lambda t: 55), ("mapa.u64", lambda t: 55), ("rank", lambda t: 0),
          ("rank of a generic address", lambda t: 0), ("a cluster of one", lambda t: 1)],
        declare=".shared .u32 box[4];")
    return [path, g.write(), h.write()]


def vectors():
    """Vector atomics of sm_90."""
    f = Book("atom_vec", 90, "8.5")
    f32 = lambda x: struct.unpack("<I", struct.pack("<f", x))[0]
    half = lambda fmt, x: fmt.encode(to_value(float(x)))
    pair = lambda fmt, a, b: half(fmt, a) | half(fmt, b) << 16
    f.add_text(".global .align 16 .b8 cells[512];")
    load = """
        mov.u64 %d1, cells;
        mad.wide.u32 %d1, %t, 16, %d1;
        cvt.rn.f32.u32 %r1, %t;
        mov.b32 %r2, 0f3f800000;
    """
    f.k("f32", load + """
        st.global.v4.b32 [%d1], {%r1, %r1, %r2, %r2};
        atom.global.add.v2.f32 {%r3, %r4}, [%d1], {%r2, %r1};
        atom.global.v4.f32.add {%r5, %r6, %r7, %r8}, [%d1], {%r2, %r2, %r1, %r1};
        red.global.add.v2.f32 [%d1], {%r2, %r2};
        red.global.add.v4.f32 [%d1], {%r2, %r2, %r2, %r1};
        ld.global.v4.b32 {%r9, %r10, %r11, %r12}, [%d1];
        out 0, %r3
        out 1, %r6
        out 2, %r9
        out 3, %r10
        out 4, %r11
        out 5, %r12
    """.replace("atom.global.v4.f32.add", "atom.global.add.v4.f32"),
        [("old", lambda t: f32(t)), ("old", lambda t: f32(2 * t)), ("x", lambda t: f32(t + 4)),
         ("y", lambda t: f32(2 * t + 3)), ("z", lambda t: f32(t + 2)),
         ("w", lambda t: f32(2 * t + 1))])
    for name, fmt in (("f16", F16), ("bf16", BF16)):
        cvt = "cvt.rn.%s.f32" % name
        f.k(name, half_body(load, cvt, name),
            [("old", lambda t, fmt=fmt: pair(fmt, t, 1)), ("old pair", lambda t, fmt=fmt: pair(fmt,
                t + 1, t + 1)),
             ("x", lambda t, fmt=fmt: pair(fmt, 1, 1)),
             ("y", lambda t, fmt=fmt: pair(fmt, min(max(t, 1), t), min(max(1, t), 1))),
             ("z", lambda t, fmt=fmt: pair(fmt, min(t, 1) + 2, 3)),
             ("w", lambda t, fmt=fmt: pair(fmt, min(t, 1) + 1, 2))])
    return f.write()


def half_body(load, cvt, name):
    return load + """
        CVT %h1, %r1;
        CVT %h2, %r2;
        mov.b32 %r3, {%h1, %h2};
        mov.b32 %r4, {%h2, %h2};
        st.global.v4.b32 [%d1], {%r3, %r3, %r3, %r3};
        atom.global.add.noftz.v2.NAME {%h3, %h4}, [%d1], {%h2, %h1};
        atom.global.max.noftz.v2.NAME {%h5, %h6}, [%d1+4], {%h2, %h1};
        atom.global.min.noftz.v4.NAMEx2 {%r5, %r6, %r7, %r8}, [%d1], {%r4, %r3, %r4, %r4};
        red.global.add.noftz.v2.NAME [%d1+8], {%h2, %h2};
        red.global.add.noftz.v2.NAMEx2 [%d1+8], {%r4, %r4};
        ld.global.v4.b32 {%r9, %r10, %r11, %r12}, [%d1];
        mov.b32 %r13, {%h3, %h4};
        out 0, %r13
        out 1, %r5
        out 2, %r9
        out 3, %r10
        out 4, %r11
        out 5, %r12
    """.replace("CVT", cvt).replace("NAME", name)


def make_all():
    return [*spaces(), *fences(), *asynchronous(), vectors()]
