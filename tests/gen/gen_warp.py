"""gen_warp.py: shuffles, votes, matches and reductions of a warp, and barriers of a block."""
import struct
from functools import reduce

from book import M32, Book


def shfl_ref(mode, t, b, c):
    bval, cval, mask = b & 31, c & 31, c >> 8 & 31
    max_lane = (t & mask) | (cval & ~mask & 31)
    min_lane = t & mask
    if mode == "up":
        j = t - bval
        return (j, 1) if j >= max_lane else (t, 0)
    if mode == "down":
        j = t + bval
    elif mode == "bfly":
        j = t ^ bval
    else:
        j = min_lane | (bval & ~mask & 31)
    return (j, 1) if j <= max_lane else (t, 0)


def warp():
    f = Book("warp", 80, "8.5")
    value = lambda t: t * 0x01010101 + 5 & M32
    for mode in ("up", "down", "bfly", "idx"):
        outs, body, n = [], "mad.lo.u32 %r1, %t, 0x01010101, 5;\n", 0
        for b, c in ((1, 0 if mode == "up" else 31), (5, 0x1800 if mode == "up" else 0x181f),
                     (3, 0x1c00 if mode == "up" else 0x1c1f)):
            body += "shfl.sync.%s.b32 %%r2|%%p1, %%r1, %d, %d, 0xffffffff;\n" % (mode, b, c)
            body += "selp.u32 %%r3, 1, 0, %%p1;\nout %d, %%r2\nout %d, %%r3\n" % (n, n + 1)
            n += 2
            outs.append(("shfl.sync.%s %d %#x" % (mode, b, c),
                         lambda t, b=b, c=c, m=mode: value(shfl_ref(m, t, b, c)[0])))
            outs.append(("its predicate", lambda t, b=b, c=c, m=mode: shfl_ref(m, t, b, c)[1]))
        f.k("shfl_" + mode, body, outs)
    f.k("shfl_lane_index", """
        sub.u32 %r2, 31, %t;
        shfl.sync.idx.b32 %r3, %t, %r2, 31, 0xffffffff;
        out 0, %r3
    """, [("shfl.sync.idx, a lane each", lambda t: 31 - t)])
    f.k("shfl_half", """
        setp.lt.u32 %p1, %t, 16;
        @!%p1 bra HIGH;
        shfl.sync.down.b32 %r2, %t, 1, 31, 0x0000ffff;
        bra JOIN;
        HIGH:
        shfl.sync.bfly.b32 %r2, %t, 1, 31, 0xffff0000;
        JOIN:
        setp.eq.u32 %p2, %t, 15;
        selp.u32 %r2, 99, %r2, %p2;
        out 0, %r2
    """, [("two halves apart", lambda t: 99 if t == 15 else t + 1 if t < 15 else t ^ 1)])
    odd = sum(1 << t for t in range(32) if t % 3 == 1)
    f.k("vote", """
        rem.u32 %r1, %t, 3;
        setp.eq.u32 %p1, %r1, 1;
        vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
        vote.sync.any.pred %p2, %p1, 0xffffffff;
        vote.sync.all.pred %p3, %p1, 0xffffffff;
        vote.sync.uni.pred %p4, %p1, 0xffffffff;
        vote.sync.all.pred %p5, !%p4, 0xffffffff;
        selp.u32 %r3, 1, 0, %p2;
        selp.u32 %r4, 2, 0, %p3;
        selp.u32 %r5, 4, 0, %p4;
        selp.u32 %r6, 8, 0, %p5;
        or.b32 %r3, %r3, %r4;
        or.b32 %r5, %r5, %r6;
        or.b32 %r3, %r3, %r5;
        vote.sync.ballot.b32 %r7, !%p1, 0xffffffff;
        out 0, %r2
        out 1, %r3
        out 2, %r7
    """, [("ballot", lambda t: odd), ("any, all, uni", lambda t: 9),
          ("ballot of the opposite", lambda t: ~odd & M32)])
    f.k("vote_part", """
        setp.lt.u32 %p1, %t, 12;
        mov.u32 %r2, 0;
        @!%p1 bra JOIN;
        setp.gt.u32 %p2, %t, 3;
        vote.sync.ballot.b32 %r2, %p2, 0xfff;
        JOIN:
        out 0, %r2
    """, [("ballot of twelve lanes", lambda t: 0xff0 if t < 12 else 0)])
    group = lambda t: sum(1 << u for u in range(32) if u % 5 == t % 5)
    f.k("match", """
        rem.u32 %r1, %t, 5;
        match.any.sync.b32 %r2, %r1, 0xffffffff;
        mul.wide.u32 %d1, %r1, 0x40000001;
        match.any.sync.b64 %r3, %d1, 0xffffffff;
        match.all.sync.b32 %r4|%p1, %r1, 0xffffffff;
        selp.u32 %r5, 1, 0, %p1;
        mov.u64 %d2, 77;
        match.all.sync.b64 %r6|%p2, %d2, 0xffffffff;
        selp.u32 %r7, 1, 0, %p2;
        mov.u32 %r8, 5;
        match.all.sync.b32 %r9, %r8, 0xffffffff;
        out 0, %r2
        out 1, %r3
        out 2, %r4
        out 3, %r5
        out 4, %r6
        out 5, %r7
        out 6, %r9
    """, [("any b32", group), ("any b64", group), ("all, no", lambda t: 0), ("p", lambda t: 0),
          ("all, yes", lambda t: M32), ("p", lambda t: 1), ("without p", lambda t: M32)])
    v = lambda t: (t * 0x9e3779b1 + 12345) & M32
    s = lambda x: x - (1 << 32) if x >> 31 else x
    cases = [("add.u32", lambda xs: sum(xs)), ("add.s32", lambda xs: sum(xs)), ("min.u32", min),
             ("max.u32", max), ("min.s32", lambda xs: min(map(s, xs))),
             ("max.s32", lambda xs: max(map(s, xs))), ("and.b32", lambda xs: reduce(int.__and__,
                                                                                    xs)),
             ("or.b32", lambda xs: reduce(int.__or__, xs)),
             ("xor.b32", lambda xs: reduce(int.__xor__, xs))]
    body = "mad.lo.u32 %r1, %t, 0x9e3779b1, 12345;\n"
    outs = []
    for n, (op, fold) in enumerate(cases):
        body += "redux.sync.%s %%r2, %%r1, 0xffffffff;\nout %d, %%r2\n" % (op, n)
        outs.append(("redux.sync." + op, lambda t, fold=fold: fold([v(u) for u in range(32)])))
    f.k("redux", body, outs)
    f.k("redux_part", """
        setp.ge.u32 %p1, %t, 8;
        mov.u32 %r2, 0;
        @%p1 bra JOIN;
        redux.sync.add.u32 %r2, %t, 0xff;
        JOIN:
        out 0, %r2
    """, [("eight lanes", lambda t: 28 if t < 8 else 0)])
    f.k("active", """
        activemask.b32 %r1;
        out 0, %r1
        mov.u32 %r2, 0;
        setp.ge.u32 %p1, %t, 20;
        @%p1 bra JOIN;
        bar.warp.sync 0xfffff;
        activemask.b32 %r3;
        mov.u32 %r4, %lanemask_eq;
        and.b32 %r3, %r3, %r4;
        setp.ne.u32 %p2, %r3, 0;
        selp.u32 %r2, 1, 0, %p2;
        JOIN:
        bar.warp.sync 0xffffffff;
        out 1, %r2
    """, [("activemask of all", lambda t: M32), ("holds the lane itself", lambda t: int(t < 20))])
    f.k("warp_sync_memory", """
        mov.u32 %r1, box;
        mad.lo.u32 %r2, %t, 4, %r1;
        st.shared.u32 [%r2], %t;
        bar.warp.sync 0xffffffff;
        xor.b32 %r3, %t, 31;
        mad.lo.u32 %r2, %r3, 4, %r1;
        ld.shared.u32 %r4, [%r2];
        out 0, %r4
    """, [("bar.warp.sync orders memory", lambda t: 31 - t)], declare=".shared .b32 box[32];")
    path = f.write()
    g = Book("elect", 90, "8.5")
    g.k("elect", """
        elect.sync %r1|%p1, 0xffffffff;
        selp.u32 %r2, 1, 0, %p1;
        out 0, %r1
        elect.sync _|%p2, 0xffffffff;
        vote.sync.ballot.b32 %r3, %p2, 0xffffffff;
        popc.b32 %r3, %r3;
        vote.sync.ballot.b32 %r4, %p1, 0xffffffff;
        mov.u32 %r5, 1;
        shl.b32 %r5, %r5, %r1;
        sub.u32 %r4, %r4, %r5;
        out 1, %r3
        out 2, %r4
    """, [("the leader", lambda t: 0), ("one lane has p", lambda t: 1),
          ("it is the leader", lambda t: 0)])
    h = Book("redux_f32", 100, "8.6", target="sm_100a")
    values = [float(t * 37 % 64 - 20) for t in range(32)]
    bits = lambda x: struct.unpack("<I", struct.pack("<f", x))[0]
    h.k("redux_f32", """
        mul.lo.u32 %r1, %t, 37;
        and.b32 %r1, %r1, 63;
        sub.u32 %r1, %r1, 20;
        cvt.rn.f32.s32 %r1, %r1;
        redux.sync.min.f32 %r2, %r1, 0xffffffff;
        redux.sync.max.f32 %r3, %r1, 0xffffffff;
        redux.sync.min.abs.f32 %r4, %r1, 0xffffffff;
        redux.sync.max.abs.NaN.f32 %r5, %r1, 0xffffffff;
        out 0, %r2
        out 1, %r3
        out 2, %r4
        out 3, %r5
    """, [("min", lambda t: bits(min(values))), ("max", lambda t: bits(max(values))),
          ("min.abs", lambda t: bits(min(map(abs, values)))),
          ("max.abs.NaN", lambda t: bits(max(map(abs, values))))])
    return [path, g.write(), h.write()]


def old_warp():
    """Forms without .sync: PTX before 6.4 only."""
    f = Book("warp_old", 80, "6.3", target="sm_60")
    f.k("shfl_old", """
        shfl.down.b32 %r1|%p1, %t, 2, 31;
        selp.u32 %r2, 1, 0, %p1;
        shfl.up.b32 %r3, %t, 1, 0;
        shfl.bfly.b32 %r4, %t, 16, 31;
        shfl.idx.b32 %r5, %t, 7, 31;
        out 0, %r1
        out 1, %r2
        out 2, %r3
        out 3, %r4
        out 4, %r5
    """, [("down", lambda t: t + 2 if t < 30 else t), ("p", lambda t: int(t < 30)),
          ("up", lambda t: max(t - 1, 0)), ("bfly", lambda t: t ^ 16), ("idx", lambda t: 7)])
    f.k("vote_old", """
        setp.lt.u32 %p1, %t, 9;
        vote.ballot.b32 %r1, %p1;
        vote.any.pred %p2, %p1;
        vote.all.pred %p3, %p1;
        vote.uni.pred %p4, %p1;
        selp.u32 %r2, 1, 0, %p2;
        selp.u32 %r3, 2, 0, %p3;
        selp.u32 %r4, 4, 0, %p4;
        or.b32 %r2, %r2, %r3;
        or.b32 %r2, %r2, %r4;
        out 0, %r1
        out 1, %r2
    """, [("ballot", lambda t: 0x1ff), ("any, all, uni", lambda t: 1)])
    return f.write()


def barriers():
    f = Book("barriers", 80)
    f.k("bar_sync", """
        mov.u32 %r1, box;
        mad.lo.u32 %r2, %t, 4, %r1;
        st.shared.u32 [%r2], %t;
        bar.sync 0;
        sub.u32 %r3, 127, %t;
        mad.lo.u32 %r2, %r3, 4, %r1;
        ld.shared.u32 %r4, [%r2];
        barrier.sync 1;
        st.shared.u32 [%r2], 5;
        bar.cta.sync 0, 128;
        ld.shared.u32 %r5, [%r1+64];
        barrier.cta.sync.aligned 3;
        out 0, %r4
        out 1, %r5
    """, [("the other end's value", lambda t: 127 - t), ("after two more", lambda t: 5)], block=128,
        declare=".shared .b32 box[128];")
    f.k("bar_red", """
        rem.u32 %r1, %t, 3;
        setp.eq.u32 %p1, %r1, 0;
        bar.red.popc.u32 %r2, 0, %p1;
        bar.red.and.pred %p2, 0, %p1;
        bar.red.or.pred %p3, 0, !%p1;
        barrier.red.popc.u32 %r3, 1, !%p1;
        barrier.red.and.pred %p4, 1, %p1;
        barrier.red.or.aligned.pred %p5, 1, 96, %p1;
        barrier.red.popc.aligned.u32 %r4, 2, 96, %p1;
        selp.u32 %r5, 1, 0, %p2;
        selp.u32 %r6, 2, 0, %p3;
        selp.u32 %r7, 4, 0, %p4;
        selp.u32 %r8, 8, 0, %p5;
        or.b32 %r5, %r5, %r6;
        or.b32 %r7, %r7, %r8;
        or.b32 %r5, %r5, %r7;
        out 0, %r2
        out 1, %r3
        out 2, %r4
        out 3, %r5
    """, [("popc", lambda t: 32), ("popc of the opposite", lambda t: 64),
          ("popc, 96", lambda t: 32),
          ("and, or", lambda t: 10)], block=96)
    f.k("producer", """
        mov.u32 %r1, box;
        setp.ge.u32 %p1, %t, 32;
        @%p1 bra CONSUMER;
        mad.lo.u32 %r2, %t, 4, %r1;
        mad.lo.u32 %r3, %t, 7, 1;
        st.shared.u32 [%r2], %r3;
        membar.cta;
        bar.arrive 1, 64;
        mov.u32 %r4, 0;
        bra JOIN;
        CONSUMER:
        bar.sync 1, 64;
        sub.u32 %r5, %t, 32;
        mad.lo.u32 %r2, %r5, 4, %r1;
        ld.shared.u32 %r4, [%r2];
        JOIN:
        out 0, %r4
    """, [("bar.arrive and bar.sync", lambda t: 0 if t < 32 else (t - 32) * 7 + 1)], block=64,
        declare=".shared .b32 box[32];")
    f.k("producer_barrier", """
        mov.u32 %r1, box;
        setp.ge.u32 %p1, %t, 32;
        @%p1 bra CONSUMER;
        mad.lo.u32 %r2, %t, 4, %r1;
        st.shared.u32 [%r2], 9;
        barrier.arrive 2, 64;
        mov.u32 %r4, 0;
        bra JOIN;
        CONSUMER:
        barrier.sync 2, 64;
        ld.shared.u32 %r4, [%r1+12];
        JOIN:
        out 0, %r4
    """, [("barrier.arrive", lambda t: 0 if t < 32 else 9)], block=64,
        declare=".shared .b32 box[32];")
    f.k("partial_warp", """
        setp.lt.u32 %p1, %t, 40;
        mov.u32 %r2, 3;
        @%p1 bra GO;
        ret;
        GO:
        bar.red.popc.u32 %r2, 0, %p1;
        out 0, %r2
    """.replace("mov.u32 %r2, 3;", "mov.u32 %r2, 3;\nout 0, %r2"),
        [("threads that left do not count", lambda t: 40 if t < 40 else 3)], block=64)
    return f.write()


def make_all():
    return [*warp(), old_warp(), barriers()]
