"""gen_cluster.py: tests/ptx/cluster*.ptx: thread block clusters, their shared memory and their barrier,
and what is counted at an mbarrier of another block.

Kernels run as blocks of 32 threads, in clusters of 4 unless they say otherwise. Expected values
come from the thread's number alone.
"""
from book import Book

SIZE = 4
MEET = """
        barrier.cluster.arrive.release.aligned;
        barrier.cluster.wait.acquire.aligned;
"""
# One mbarrier per block, which thread 0 initialises; %p9: is this thread 0, %r1: its address.
START = """
        mov.u32 %r1, bar;
        setp.eq.u32 %p9, %t, 0;
        @%p9 mbarrier.init.shared::cta.b64 [%r1], COUNT;
        fence.mbarrier_init.release.cluster;
""" + MEET
WAIT = """
        WAIT:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0, 1000000;
        @!%p1 bra WAIT;
"""
# %r40: this block's rank, %r41: that of the next one in the ring.
RING = """
        mov.u32 %r40, %cluster_ctarank;
        add.u32 %r41, %r40, 1;
        and.b32 %r41, %r41, 3;
"""


def rank(t):
    return t // 32 % SIZE


def following(t, step=1):
    """The thread's counterpart in a block further on in its cluster."""
    block = t // 32
    return (block - block % SIZE + (block + step) % SIZE) * 32 + t % 32


def memory():
    f = Book("cluster", 90, "8.6")
    f.k("registers", """
        mov.u32 %r1, %cluster_ctarank;
        mov.u32 %r2, %cluster_nctarank;
        mov.u32 %r3, %clusterid.x;
        mov.u32 %r4, %nclusterid.x;
        mov.u32 %r5, %cluster_ctaid.x;
        mov.u32 %r6, %cluster_nctaid.x;
        mov.pred %p1, %is_explicit_cluster;
        selp.u32 %r7, 1, 0, %p1;
        out 0, %r1
        out 1, %r2
        out 2, %r3
        out 3, %r4
        out 4, %r5
        out 5, %r6
        out 6, %r7
    """, [("rank", rank), ("blocks of a cluster", lambda t: 4), ("cluster", lambda t: t // 128),
          ("clusters", lambda t: 3), ("place in the cluster", rank), ("its width", lambda t: 4),
          ("explicit", lambda t: 1)], grid=12, tail="cluster 4")
    f.k("neighbours", RING + """
        mov.u32 %r1, box;
        mad.lo.u32 %r2, %t, 4, %r1;
        mad.lo.u32 %r3, %g, 7, 5;
        st.shared.u32 [%r2], %r3;
    """ + MEET + """
        mapa.shared::cluster.u32 %r4, %r2, %r41;
        ld.shared::cluster.u32 %r5, [%r4];
        out 0, %r5
        cvta.shared.u64 %d1, box;
        mad.wide.u32 %d1, %t, 4, %d1;
        mapa.u64 %d2, %d1, %r41;
        ld.u32 %r6, [%d2];
        out 1, %r6
        getctarank.shared::cluster.u32 %r7, %r4;
        out 2, %r7
        getctarank.u64 %r8, %d2;
        out 3, %r8
        isspacep.shared::cluster %p1, %d2;
        isspacep.shared::cta %p2, %d2;
        isspacep.shared::cta %p3, %d1;
        isspacep.global %p4, %d2;
        selp.u32 %r9, 1, 0, %p1;
        selp.u32 %r10, 2, 0, %p2;
        selp.u32 %r11, 4, 0, %p3;
        selp.u32 %r12, 8, 0, %p4;
        or.b32 %r9, %r9, %r10;
        or.b32 %r9, %r9, %r11;
        or.b32 %r9, %r9, %r12;
        out 4, %r9
        cvta.to.shared::cluster.u64 %d3, %d2;
        cvta.shared::cluster.u64 %d4, %d3;
        sub.u64 %d5, %d4, %d2;
        cvt.u32.u64 %r13, %d5;
        out 5, %r13
        mapa.shared::cluster.u32 %r14, %r2, %r40;
        sub.u32 %r15, %r14, %r2;
        out 6, %r15
        getctarank.shared::cluster.u32 %r16, %r2;
        out 7, %r16
        ld.shared::cluster.u32 %r17, [%r2];
        out 8, %r17
    """ + MEET, [("of the next block", lambda t: following(t) * 7 + 5),
                 ("by a generic address", lambda t: following(t) * 7 + 5),
                 ("whose it is", lambda t: (rank(t) + 1) % 4),
                 ("whose, generic", lambda t: (rank(t) + 1) % 4),
                 ("spaces", lambda t: 5), ("there and back", lambda t: 0),
                 ("one's own address", lambda t: 0), ("one's own rank", rank),
                 ("one's own word", lambda t: t * 7 + 5)],
        grid=8, tail="cluster 4", declare=".shared .align 16 .b32 box[32];")
    f.k("changes", RING + """
        mov.u32 %r1, box;
        setp.eq.u32 %p9, %t, 0;
        @%p9 st.shared.v4.u32 [%r1], {0, 0, 0, 0};
    """ + MEET + """
        mapa.shared::cluster.u32 %r2, %r1, %r41;
        atom.acq_rel.cluster.shared::cluster.add.u32 %r3, [%r2], 3;
        red.relaxed.cluster.shared::cluster.max.u32 [%r2+4], %g;
        cvta.shared.u64 %d1, box;
        mapa.u64 %d1, %d1, 0;
        atom.cluster.add.u32 %r4, [%d1+8], 1;
        mapa.shared::cluster.u32 %r5, %r1, 2;
        @%p9 st.release.cluster.shared::cluster.u32 [%r5+12], 77;
    """ + MEET + """
        ld.acquire.cluster.shared::cluster.u32 %r6, [%r2];
        out 0, %r6
        ld.volatile.shared.u32 %r7, [%r1+4];
        out 1, %r7
        ld.u32 %r8, [%d1+8];
        out 2, %r8
        ld.shared::cluster.v2.u32 {%r9, %r10}, [%r5+8];
        out 3, %r10
    """ + MEET, [("a sum in the next block", lambda t: 96),
                 ("the largest of the block before", lambda t: following(t, 3) // 32 * 32 + 31),
                 ("counted in the first", lambda t: 128), ("stored in the third", lambda t: 77)],
        grid=8, tail="cluster 4", declare=".shared .align 16 .b32 box[4];")
    f.k("shape", """
        mov.u32 %r1, %cluster_ctarank;
        mov.u32 %r2, %cluster_ctaid.y;
        mov.u32 %r3, %cluster_nctaid.y;
        mov.u32 %r4, box;
        setp.eq.u32 %p9, %t, 0;
        @%p9 st.shared.u32 [%r4], %r1;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mapa.shared::cluster.u32 %r5, %r4, 1;
        ld.shared::cluster.u32 %r6, [%r5];
        out 0, %r1
        out 1, %r2
        out 2, %r3
        out 3, %r6
        barrier.cluster.arrive;
        barrier.cluster.wait;
    """, [("rank", lambda t: t // 32 % 2), ("row", lambda t: 0), ("rows", lambda t: 1),
          ("the second's", lambda t: 1)], grid=4, tail="cluster 2 1 1", declare=".shared .b32 box;")
    f.k("split", RING + """
        mov.u32 %r1, box;
        mad.lo.u32 %r2, %t, 4, %r1;
        st.shared.u32 [%r2], %g;
        fence.acq_rel.cluster;
        barrier.cluster.arrive.relaxed;
        mul.lo.u32 %r3, %g, 3;
        barrier.cluster.wait;
        mapa.shared::cluster.u32 %r4, %r2, %r41;
        ld.shared::cluster.u32 %r5, [%r4];
        add.u32 %r5, %r5, %r3;
        out 0, %r5
        setp.lt.u32 %p1, %t, 8;
        @%p1 bra STAYS;
        exit;
        STAYS:
        barrier.cluster.arrive.release;
        barrier.cluster.wait.acquire;
    """, [("arrive, then wait; threads that exit count", lambda t: following(t) + t * 3)],
        grid=8, tail="cluster 4", declare=".shared .b32 box[32];")
    f.k("alone", """
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
        fence.acquire.sync_restrict::shared::cluster.cluster;
        fence.release.sync_restrict::shared::cta.cluster;
        fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
        fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
        out 0, %t
    """, [("a block is a cluster", lambda t: t)])
    return f.write()


def counted():
    f = Book("cluster_mbarrier", 90, "8.6")
    f.add_input(32, [k * 3 + 1 for k in range(256)])
    bar = ".shared .align 16 .b64 bar;\n.shared .align 128 .b32 box[64];"
    f.k("arrives", RING + START.replace("COUNT", "35") + """
        mapa.shared::cluster.u32 %r2, %r1, %r41;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
        @%p9 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2], 2;
        @%p9 mbarrier.arrive.relaxed.cluster.shared::cta.b64 %d1, [%r1];
    """ + WAIT + """
        mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], 1;
        selp.u32 %r3, 1, 0, %p2;
        out 0, %r3
    """ + MEET, [("the phase after it goes on", lambda t: 0)], grid=8, tail="cluster 4", declare=bar)
    f.k("expects", RING + START.replace("COUNT", "2") + """
        mapa.shared::cluster.u32 %r2, %r1, %r41;
        @!%p9 bra WAIT;
        mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r2], 48;
        mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r2], 16;
        mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], 64;
        mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r2];
    """ + WAIT + """
        mov.u32 %r3, 0;
        @!%p9 bra JOIN;
        mbarrier.arrive.shared::cta.b64 %d1, [%r1];
        mbarrier.pending_count.b64 %r3, %d1;
        JOIN:
        out 0, %r3
    """ + MEET, [("one arrival less", lambda t: 1 if t % 32 == 0 else 0)], grid=8,
        tail="cluster 4", declare=bar)
    f.k("stores", RING + START.replace("COUNT", "1") + """
        mapa.shared::cluster.u32 %r2, %r1, %r41;
        mov.u32 %r3, box;
        mad.lo.u32 %r4, %t, 8, %r3;
        mapa.shared::cluster.u32 %r5, %r4, %r41;
        @%p9 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;
        mul.lo.u32 %r6, %g, 2;
        setp.ge.u32 %p2, %t, 8;
        @%p2 bra REST;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %r6, [%r2];
        add.u32 %r6, %r6, 1;
        st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5+4], %r6, [%r2];
        bra WAIT;
        REST:
        add.u32 %r7, %r6, 1;
        setp.ge.u32 %p2, %t, 16;
        @%p2 bra LONGS;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r5], {%r6, %r7}, [%r2];
        bra WAIT;
        LONGS:
        setp.ge.u32 %p2, %t, 24;
        @%p2 bra FOURS;
        mov.b64 %d1, {%r6, %r7};
        st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r5], %d1, [%r2];
        bra WAIT;
        FOURS:
        and.b32 %r8, %t, 1;
        setp.ne.u32 %p2, %r8, 0;
        @%p2 bra WAIT;
        add.u32 %r8, %r6, 2;
        add.u32 %r9, %r6, 3;
        setp.ge.u32 %p2, %t, 28;
        @%p2 bra PAIRS;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r5], {%r6, %r7, %r8, %r9}, [%r2];
        bra WAIT;
        PAIRS:
        mov.b64 %d1, {%r6, %r7};
        mov.b64 %d2, {%r8, %r9};
        cvt.u64.u32 %d3, %r5;
        cvt.u64.u32 %d4, %r2;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%d3], {%d1, %d2}, [%d4];
    """ + WAIT + """
        ld.shared.v2.u32 {%r10, %r11}, [%r4];
        out 0, %r10
        out 1, %r11
    """ + MEET, [("low words", lambda t: following(t, 3) * 2),
                 ("high words", lambda t: following(t, 3) * 2 + 1)],
        grid=8, tail="cluster 4", declare=bar)
    types = ["b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"]
    body = RING + START.replace("COUNT", "1") + """
        mapa.shared::cluster.u32 %r2, %r1, %r41;
        mov.u32 %r3, box;
        mapa.shared::cluster.u32 %r5, %r3, %r41;
        cvt.u64.u32 %d1, %g;
        mul.lo.u64 %d1, %d1, 0x100000003;
        cvt.u32.u64 %r6, %d1;
        @!%p9 bra WAIT;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 48;
    """
    for i, name in enumerate(types):
        body += "st.async.shared::cluster.mbarrier::complete_tx::bytes.%s [%%r5+%d], %s, [%%r2];\n" % (
            name, 8 * i, "%r6" if name.endswith("32") else "%d1")
    body += WAIT
    for i in range(8):
        body += "ld.shared.u32 %%r7, [%%r3+%d];\nout %d, %%r7\n" % (8 * i + 4 * (i > 5), i)
    f.k("types", body + MEET, [
        (name, lambda t, i=i: following(t, 3) // 32 * 32 * (1 if i > 5 else 3))
        for i, name in enumerate(types)], grid=8, tail="cluster 4", declare=bar)
    ops = [("add.u32", 10, "%g"), ("inc.u32", 40, "100"), ("dec.u32", 50, "100"),
           ("min.s32", -5, "%t"), ("max.u32", 7, "%g"), ("and.b32", 0xff, "%g"),
           ("or.b32", 0x1000, "%g"), ("xor.b32", 0x55, "%g"), ("add.s32", -3, "%t"),
           ("max.s32", -70, "-9"), ("min.u32", 9, "%g")]
    body = RING + """
        mov.u32 %r3, box;
        mapa.shared::cluster.u32 %r5, %r3, %r41;
    """
    for i, (_, first, _) in enumerate(ops):
        body += "st.shared.u32 [%%r3+%d], %d;\n" % (16 + 4 * i, first)
    body += "st.shared.u64 [%r3], 5;\n" + START.replace("COUNT", "1") + """
        mapa.shared::cluster.u32 %r2, %r1, %r41;
        cvt.u64.u32 %d1, %g;
        shl.b64 %d1, %d1, 33;
    """
    body += "@%%p9 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r1], %d;\n" % (
        32 * (4 * len(ops) + 16))
    for i, (op, _, value) in enumerate(ops):
        body += ("mov.b32 %%r8, %s;\nred.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx"
                 "::bytes.%s [%%r5+%d], %%r8, [%%r2];\n" % (value, op, 16 + 4 * i))
    body += """
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r5], %d1, [%r2];
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s64 [%r5], -1, [%r2];
    """ + WAIT
    outs = []
    for i, (op, first, value) in enumerate(ops):
        body += "ld.shared.u32 %%r9, [%%r3+%d];\nout %d, %%r9\n" % (16 + 4 * i, i)
        outs.append((op, lambda t, op=op, first=first, value=value: reduced(t, op, first, value)))
    body += "ld.shared.u64 %%d2, [%%r3];\nshr.u64 %%d3, %%d2, 32;\ncvt.u32.u64 %%r9, %%d2;\n" \
            "cvt.u32.u64 %%r10, %%d3;\nout %d, %%r9\nout %d, %%r10\n" % (len(ops), len(ops) + 1)
    whole = lambda t: 5 - 32 + sum(before(t)) * 2**33
    outs += [("add.u64 and add.s64, low", whole), ("high", lambda t: whole(t) >> 32)]
    f.k("reductions", body + MEET, outs, grid=8, tail="cluster 4", declare=bar)
    f.k("bulk_to_neighbour", RING + """
        mov.u32 %r3, box;
        mad.lo.u32 %r4, %t, 4, %r3;
        st.shared.u32 [%r4], %g;
        fence.proxy.async.shared::cta;
    """ + START.replace("COUNT", "1") + """
        mapa.shared::cluster.u32 %r2, %r1, %r41;
        mapa.shared::cluster.u32 %r5, %r3, %r41;
        add.u32 %r5, %r5, 128;
        @!%p9 bra WAIT;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 128;
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r3], 128, [%r2];
    """ + WAIT + """
        ld.shared.u32 %r6, [%r4+128];
        out 0, %r6
    """ + MEET, [("copied by the block before", lambda t: following(t, 3))], grid=8,
        tail="cluster 4", declare=bar)
    f.k("multicast", RING + START.replace("COUNT", "1") + """
        mov.u32 %r3, box;
        mad.lo.u32 %r4, %t, 4, %r3;
        st.shared.u32 [%r4], 9;
        @!%p9 bra WAIT;
        mov.u32 %r6, 128;
        setp.eq.u32 %p2, %r40, 2;
        selp.u32 %r6, 0, %r6, %p2;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r6;
        setp.ne.u32 %p2, %r40, 1;
        @%p2 bra WAIT;
        mov.u16 %h1, 11;
        fence.proxy.async;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%in], 128, [%r1], %h1;
    """ + WAIT + """
        ld.shared.u32 %r7, [%r4];
        out 0, %r7
    """ + MEET, [("to all but the third", lambda t: 9 if rank(t) == 2 else t % 32 * 3 + 1)],
        grid=8, tail="cluster 4", declare=bar)
    return f.write()


def before(t):
    """Numbers of the threads of the block before this one, which reduce into it."""
    first = following(t, 3) // 32 * 32
    return range(first, first + 32)


def reduced(t, op, first, value):
    name, kind = op.split(".")
    x = first
    for g in before(t):
        y = {"%g": g, "%t": g % 32}.get(value)
        y = int(value) if y is None else y
        if name == "inc":
            x = 0 if x >= y else x + 1
        elif name == "dec":
            x = y if x == 0 or x > y else x - 1
        else:
            x = {"add": lambda: x + y, "min": lambda: min(x, y), "max": lambda: max(x, y),
                 "and": lambda: x & y, "or": lambda: x | y, "xor": lambda: x ^ y}[name]()
    return x


def make_all():
    return [memory(), counted()]
