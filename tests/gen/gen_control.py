"""gen_control.py: branches, loops, exits, locks between lanes, and calls of every kind."""
from book import Book


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
.func (.param .b32 res) f_add(.param .b32 x)
{
    .reg .b32 %x;
    ld.param.b32 %x, [x];
    add.u32 %x, %x, 1000;
    st.param.b32 [res], %x;
    ret;
}
.func (.param .b32 res) f_mul(.param .b32 x)
{
    .reg .b32 %x;
    ld.param.b32 %x, [x];
    mul.lo.u32 %x, %x, 7;
    st.param.b32 [res], %x;
    ret;
}
.func (.param .b32 res) f_neg(.param .b32 x)
{
    .reg .b32 %x;
    ld.param.b32 %x, [x];
    neg.s32 %x, %x;
    st.param.b32 [res], %x;
    ret;
}
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


def make_all():
    return [control(), calls()]
