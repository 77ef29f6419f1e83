"""gen_structure.py: tests of control flow, calls, warps, barriers, address spaces, asynchronous
copies and fences. The kernels are written by hand; what must come out is a Python expression of
the thread beside each.
"""
from scaffold import File

M32 = 0xffffffff


class Book(File):
    """k(name, body, outs): a kernel; `out K, reg` in the body stores register K of a thread."""

    def k(self, name, body, outs, block=32, grid=1, tail="", module="", params="", bits=32,
          declare=""):
        threads = block * grid
        lines = []
        for line in body.strip().split("\n"):
            line = line.strip()
            if line.startswith("out "):
                index, reg = line[4:].rstrip(";").split(",")
                lines.append("st.global.b%d [%%o+%d], %s;" % (
                    bits, int(index) * threads * bits // 8, reg.strip()))
            elif line:
                lines.append(line)
        self.header.append("// run: %s block %d%s%s" % (
            name, block, " grid %d" % grid if grid > 1 else "", " " + tail if tail else ""))
        for label, f in outs:
            values = [f(t) for t in range(threads)]
            self.expect(label, b"".join((v & (1 << bits) - 1).to_bytes(bits // 8, "little")
                                        for v in values))
        if module:
            self.add_text(module)
        self.body += [".visible .entry %s(.param .u64 out, .param .u64 in)" % name, "{",
                      "    .reg .b16 %h<10>;", "    .reg .b32 %t, %g, %r<60>;", "    .reg .pred %p<20>;",
                      "    .reg .b64 %in, %out, %o, %d<40>;"]
        self.body += ["    " + x for x in declare.strip().split("\n") if x]
        self.body += ["    ld.param.u64 %out, [out];", "    ld.param.u64 %in, [in];",
                      "    mov.u32 %t, %tid.x;", "    mov.u32 %g, %ctaid.x;",
                      "    mad.lo.u32 %%g, %%g, %d, %%t;" % block,
                      "    mad.wide.u32 %%o, %%g, %d, %%out;" % (bits // 8)]
        self.body += [x if x.endswith(":") else "    " + x for x in lines] + ["    ret;", "}", ""]


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def control():
    f = Book("control", 80)
    f.k("if_else", """
        and.b32 %r1, %t, 1;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra EVEN;
        mul.lo.u32 %r2, %t, 3;
        bra JOIN;
        EVEN:
        add.u32 %r2, %t, 100;
        JOIN:
        out 0, %r2
    """, [("if and else", lambda t: t * 3 if t & 1 else t + 100)])
    f.k("collatz", """
        add.u32 %r1, %t, 1;
        mov.u32 %r2, 0;
        LOOP:
        setp.eq.u32 %p1, %r1, 1;
        @%p1 bra DONE;
        and.b32 %r3, %r1, 1;
        setp.ne.u32 %p2, %r3, 0;
        @%p2 bra ODD;
        shr.u32 %r1, %r1, 1;
        bra NEXT;
        ODD:
        mad.lo.u32 %r1, %r1, 3, 1;
        NEXT:
        add.u32 %r2, %r2, 1;
        bra LOOP;
        DONE:
        out 0, %r2
    """, [("loops of different length", lambda t: collatz(t + 1))], block=64)
    f.k("nested", """
        mov.u32 %r1, 0;
        mov.u32 %r2, 0;
        OUTER:
        mov.u32 %r3, 0;
        INNER:
        add.u32 %r1, %r1, %r3;
        setp.eq.u32 %p1, %r1, 20;
        @%p1 bra OUT;
        add.u32 %r3, %r3, 1;
        setp.lt.u32 %p2, %r3, %t;
        @%p2 bra INNER;
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p3, %r2, 3;
        @%p3 bra OUTER;
        OUT:
        mad.lo.u32 %r4, %r2, 1000, %r1;
        out 0, %r4
    """, [("nested loops with a way out", nested)])
    f.k("early_exit", """
        out 0, 7
        setp.gt.u32 %p1, %t, 20;
        @%p1 exit;
        setp.lt.u32 %p2, %t, 5;
        @%p2 ret;
        activemask.b32 %r2;
        mov.u32 %r3, %lanemask_eq;
        and.b32 %r2, %r2, %r3;
        out 1, %r2
    """.replace("out 0, 7", "mov.u32 %r1, 7;\nout 0, %r1\nmov.u32 %r1, 0;\nout 1, %r1"), [
        ("before exit", lambda t: 7), ("after exit", lambda t: 1 << t if 5 <= t <= 20 else 0)])
    f.k("brx", """
        rem.u32 %r1, %t, 4;
        TABLE: .branchtargets A, B, C, A;
        brx.idx %r1, TABLE;
        A:
        mov.u32 %r2, 11;
        bra.uni JOIN;
        B:
        mov.u32 %r2, 22;
        bra JOIN;
        C:
        add.u32 %r2, %t, 33;
        JOIN:
        out 0, %r2
    """, [("brx.idx", lambda t: (11, 22, t + 33, 11)[t % 4])])
    f.k("brx_uni", """
        mov.u32 %r1, %ctaid.x;
        TABLE: .branchtargets A, B;
        brx.idx.uni %r1, TABLE;
        A:
        mov.u32 %r2, 1;
        bra.uni JOIN;
        B:
        mov.u32 %r2, 2;
        JOIN:
        out 0, %r2
    """, [("brx.idx.uni", lambda t: 1 if t < 32 else 2)], grid=2)
    f.k("guards", """
        mov.u32 %r1, 5;
        setp.lt.u32 %p1, %t, 10;
        @%p1 add.u32 %r1, %r1, 1;
        @!%p1 sub.u32 %r1, %r1, 1;
        @%p1 shl.b32 %r1, %r1, 2;
        out 0, %r1
    """, [("guards", lambda t: 24 if t < 10 else 4)])
    f.k("spin_between_lanes", """
        mov.u32 %r9, 0;
        mov.u64 %d1, lock;
        mov.u64 %d2, counter;
        TRY:
        atom.global.cas.b32 %r1, [%d1], 0, 1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra TRY;
        membar.gl;
        ld.volatile.global.u32 %r2, [%d2];
        add.u32 %r2, %r2, 1;
        st.volatile.global.u32 [%d2], %r2;
        membar.gl;
        atom.global.exch.b32 %r1, [%d1], 0;
        bar.sync 0;
        ld.volatile.global.u32 %r3, [%d2];
        out 0, %r3
    """, [("a lock taken lane by lane", lambda t: 64)], block=64,
        module=".global .u32 lock;\n.global .u32 counter;")
    f.k("sleep", """
        mul.lo.u32 %r1, %t, 3;
        nanosleep.u32 %r1;
        nanosleep.u32 100;
        pmevent 1;
        out 0, %r1
    """, [("nanosleep, pmevent", lambda t: 3 * t)])
    f.k("pmevent_mask", """
        pmevent.mask 3;
        out 0, %t
    """, [("pmevent.mask", lambda t: t)])
    f.k("griddep", """
        griddepcontrol.wait;
        griddepcontrol.launch_dependents;
        out 0, %t
    """, [("griddepcontrol", lambda t: t)])
    f.needs, f.target = 90, "sm_90"
    return f.write()


def nested(t):
    r1 = r2 = 0
    while True:
        r3 = 0
        while True:
            r1 += r3
            if r1 == 20:
                return r2 * 1000 + r1
            r3 += 1
            if not r3 < t:
                break
        r2 += 1
        if not r2 < 3:
            return r2 * 1000 + r1


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def calls():
    f = Book("calls", 80)
    f.add_text("""
.func (.reg .b32 %res) twice(.reg .b32 %x)
{
    add.u32 %res, %x, %x;
    ret;
}
.func (.param .b32 res) add_three(.param .b32 x, .param .b64 y)
{
    .reg .b32 %a, %b;
    .reg .b64 %c;
    ld.param.b32 %a, [x];
    ld.param.b64 %c, [y];
    cvt.u32.u64 %b, %c;
    add.u32 %a, %a, %b;
    add.u32 %a, %a, 3;
    st.param.b32 [res], %a;
    ret;
}
.func (.param .b32 res) fib(.param .b32 n)
{
    .reg .b32 %n, %a, %b, %m;
    .reg .pred %p;
    ld.param.b32 %n, [n];
    setp.lt.u32 %p, %n, 2;
    @%p bra SMALL;
    sub.u32 %m, %n, 1;
    {
        .param .b32 p0;
        .param .b32 r0;
        st.param.b32 [p0], %m;
        call (r0), fib, (p0);
        ld.param.b32 %a, [r0];
    }
    sub.u32 %m, %n, 2;
    {
        .param .b32 p0;
        .param .b32 r0;
        st.param.b32 [p0], %m;
        call (r0), fib, (p0);
        ld.param.b32 %b, [r0];
    }
    add.u32 %a, %a, %b;
    st.param.b32 [res], %a;
    ret;
SMALL:
    st.param.b32 [res], %n;
    ret;
}
.func (.param .align 8 .b8 res[16]) swap_pair(.param .align 8 .b8 pair[16])
{
    .reg .b64 %a, %b;
    ld.param.b64 %a, [pair];
    ld.param.b64 %b, [pair+8];
    st.param.b64 [res], %b;
    st.param.b64 [res+8], %a;
    ret;
}
.func (.param .b32 res) local_sum(.param .b32 n)
{
    .local .align 4 .b8 box[64];
    .reg .b32 %n, %i, %s, %v, %at;
    .reg .pred %p;
    ld.param.b32 %n, [n];
    mov.u32 %i, 0;
    mov.u32 %at, box;
FILL:
    mul.lo.u32 %v, %i, %n;
    st.local.u32 [%at], %v;
    add.u32 %at, %at, 4;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 16;
    @%p bra FILL;
    mov.u32 %s, 0;
    mov.u32 %at, box;
    mov.u32 %i, 0;
SUM:
    ld.local.u32 %v, [%at];
    add.u32 %s, %s, %v;
    add.u32 %at, %at, 4;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 16;
    @%p bra SUM;
    st.param.b32 [res], %s;
    ret;
}
.func (.param .b32 res) f_add(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; add.u32 %x, %x, 1000; st.param.b32 [res], %x; ret; }
.func (.param .b32 res) f_mul(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; mul.lo.u32 %x, %x, 7; st.param.b32 [res], %x; ret; }
.func (.param .b32 res) f_neg(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; neg.s32 %x, %x; st.param.b32 [res], %x; ret; }
.global .align 8 .u64 table[3] = {f_add, f_mul, f_neg};
""")
    f.k("direct", """
        call.uni (%r1), twice, (%t);
        call (%r2), twice, (21);
        out 0, %r1
        out 1, %r2
    """, [(".reg parameters", lambda t: 2 * t), ("constant argument", lambda t: 42)])
    f.k("params", """
        { .param .b32 x; .param .b64 y; .param .b32 r;
        cvt.u64.u32 %d1, %t;
        st.param.b32 [x], %t;
        st.param.b64 [y], %d1;
        call (r), add_three, (x, y);
        ld.param.b32 %r1, [r]; }
        out 0, %r1
    """, [(".param parameters", lambda t: 2 * t + 3)])
    f.k("recursive", """
        rem.u32 %r1, %t, 11;
        { .param .b32 n; .param .b32 r;
        st.param.b32 [n], %r1;
        call (r), fib, (n);
        ld.param.b32 %r2, [r]; }
        out 0, %r2
    """, [("fibonacci", lambda t: fibonacci(t % 11))])
    f.k("divergent_call", """
        mov.u32 %r2, 0;
        setp.gt.u32 %p1, %t, 12;
        @%p1 bra SKIP;
        call (%r2), twice, (%t);
        SKIP:
        setp.eq.u32 %p2, %t, 3;
        @%p2 call (%r2), twice, (%r2);
        out 0, %r2
    """, [("calls by some lanes", lambda t: 12 if t == 3 else 2 * t if t <= 12 else 0)])
    f.k("structs", """
        { .param .align 8 .b8 x[16]; .param .align 8 .b8 r[16];
        cvt.u64.u32 %d1, %t;
        add.u64 %d2, %d1, 500;
        st.param.b64 [x], %d1;
        st.param.b64 [x+8], %d2;
        call (r), swap_pair, (x);
        ld.param.b64 %d3, [r];
        ld.param.b64 %d4, [r+8]; }
        shl.b64 %d3, %d3, 16;
        add.u64 %d3, %d3, %d4;
        cvt.u32.u64 %r1, %d3;
        out 0, %r1
    """, [("a struct there and back", lambda t: (t + 500 << 16) + t)])
    f.k("locals", """
        { .param .b32 n; .param .b32 r;
        st.param.b32 [n], %t;
        call (r), local_sum, (n);
        ld.param.b32 %r2, [r]; }
        out 0, %r2
    """, [("local memory of a callee", lambda t: 120 * t)])
    f.k("indirect", """
        rem.u32 %r1, %t, 3;
        mov.u64 %d1, table;
        mad.wide.u32 %d1, %r1, 8, %d1;
        ld.global.u64 %d2, [%d1];
        { .param .b32 x; .param .b32 r;
        PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
        st.param.b32 [x], %t;
        call (r), %d2, (x), PROTO;
        ld.param.b32 %r2, [r]; }
        out 0, %r2
    """, [("through a table, divergent", lambda t: (t + 1000, t * 7, -t)[t % 3])])
    f.k("indirect_targets", """
        mov.u64 %d2, f_mul;
        { .param .b32 x; .param .b32 r;
        TARGETS: .calltargets f_add, f_mul;
        st.param.b32 [x], %t;
        call (r), %d2, (x), TARGETS;
        ld.param.b32 %r2, [r]; }
        out 0, %r2
    """, [("with .calltargets", lambda t: t * 7)])
    return f.write()


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
    from functools import reduce
    cases = [("add.u32", lambda xs: sum(xs)), ("add.s32", lambda xs: sum(xs)), ("min.u32", min),
             ("max.u32", max), ("min.s32", lambda xs: min(map(s, xs))),
             ("max.s32", lambda xs: max(map(s, xs))), ("and.b32", lambda xs: reduce(int.__and__, xs)),
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
    import struct
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
    """, [("popc", lambda t: 32), ("popc of the opposite", lambda t: 64), ("popc, 96", lambda t: 32),
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
          ("%lanemask_lt", lambda t: (1 << t % 32) - 1), ("%lanemask_le", lambda t: (2 << t % 32) - 1),
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
             "fence.acq_rel.cluster", "fence.proxy.alias", "fence.proxy.async",
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
          ("after four", lambda t: 6), ("after five", lambda t: 5), ("the phase ended", lambda t: 1),
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
        mapa.shared::cluster.u32 %r6, %r6, 0;
        mapa.shared::cluster.u32 %r7, %r1, 0;
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r2], 128, [%r7];
        WAIT:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
        @!%p1 bra WAIT;
        ld.shared.u32 %r5, [%r3+128];
        out 0, %r5
    """, [("shared to shared of the cluster", lambda t: t * 5 + 2)],
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
    import struct
    from floats import BF16, F16
    from gen_float import to_value
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
            [("old", lambda t, fmt=fmt: pair(fmt, t, 1)), ("old pair", lambda t, fmt=fmt: pair(fmt, t + 1, t + 1)),
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
    return [control(), calls(), *warp(), old_warp(), barriers(), *spaces(), *fences(),
            *asynchronous(), vectors()]
