/*
 * random_program.c: writes random PTX programs: valid, ending, and with one result on every correct
 * machine. A program mixes integer, float and half arithmetic, nested branches and loops, calls,
 * shuffles, votes, shared and local memory, barriers and atomics whose result does not depend on
 * their order. Nothing in it is approximate or undefined: divisors are odd, NaNs are replaced.
 */
#include "random_program.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 12  /* 32-bit registers that a program computes with */
#define LONGS 6   /* 64-bit */
#define FLOATS 6  /* f32 */
#define DOUBLES 4 /* f64 */
#define PAIRS 4   /* f16x2 */
#define PREDS 5

struct program {
    char *text;
    size_t used, capacity;
    uint64_t state;
    unsigned labels, depth, budget;
    bool uniform; /* all threads of the block are here */
};

static uint32_t dice(struct program *p, uint32_t sides)
{
    p->state = p->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((p->state >> 33) % sides);
}

__attribute__((format(printf, 2, 3))) static void put(struct program *p, const char *format, ...)
{
    va_list args;
    if (p->capacity - p->used < 512) {
        p->capacity = p->capacity * 2 + 4096;
        p->text = realloc(p->text, p->capacity);
        if (!p->text)
            abort();
    }
    va_start(args, format);
    p->used += (size_t)vsnprintf(p->text + p->used, p->capacity - p->used, format, args);
    va_end(args);
}

#define PICK(list) (list)[dice(p, sizeof(list) / sizeof(*(list)))]

/* Statements ----------------------------------------------------------------------------------- */

static void word_operation(struct program *p)
{
    static const char *const two[] = {
        "add.u32",      "sub.s32",        "mul.lo.u32",     "mul.hi.u32",  "mul.hi.s32",
        "min.s32",      "max.u32",        "and.b32",        "or.b32",      "xor.b32",
        "shl.b32",      "shr.u32",        "shr.s32",        "add.sat.s32", "sub.sat.s32",
        "mul24.lo.s32", "bmsk.clamp.b32", "szext.wrap.s32", "mul24.hi.u32"};
    static const char *const three[] = {"mad.lo.s32",
                                        "mad.hi.u32",
                                        "sad.s32",
                                        "bfe.u32",
                                        "bfe.s32",
                                        "shf.l.wrap.b32",
                                        "shf.r.clamp.b32",
                                        "prmt.b32",
                                        "dp4a.s32.u32",
                                        "dp2a.lo.u32.s32",
                                        "mad.hi.sat.s32",
                                        "mad24.lo.u32",
                                        "vabsdiff4.u32.u32.u32",
                                        "vadd2.s32.s32.s32.sat"};
    static const char *const one[] = {
        "not.b32",  "neg.s32",  "abs.s32",   "popc.b32",           "clz.b32",
        "brev.b32", "cnot.b32", "bfind.u32", "bfind.shiftamt.s32", "mov.b32"};
    unsigned d = dice(p, WORDS), a = dice(p, WORDS), b = dice(p, WORDS), c = dice(p, WORDS);
    switch (dice(p, 9)) {
    case 0:
        put(p, "%s %%r%u, %%r%u;\n", PICK(one), d, a);
        break;
    case 1:
    case 2:
        put(p, "%s %%r%u, %%r%u, %%r%u;\n", PICK(two), d, a, b);
        break;
    case 3:
        put(p, "%s %%r%u, %%r%u, %d;\n", PICK(two), d, a, (int)dice(p, 70) - 4);
        break;
    case 4:
    case 5:
        put(p, "%s %%r%u, %%r%u, %%r%u, %%r%u;\n", PICK(three), d, a, b, c);
        break;
    case 6:
        put(p, "lop3.b32 %%r%u, %%r%u, %%r%u, %%r%u, 0x%x;\n", d, a, b, c, dice(p, 256));
        break;
    case 7:
        put(p, "or.b32 %%x, %%r%u, 1;\n%s.%s %%r%u, %%r%u, %%x;\n", b, dice(p, 2) ? "div" : "rem",
            dice(p, 2) ? "u32" : "s32", d, a);
        break;
    default:
        put(p, "add.cc.u32 %%x, %%r%u, %%r%u;\naddc.u32 %%r%u, %%r%u, 0;\n", a, b, d, c);
    }
}

static void long_operation(struct program *p)
{
    static const char *const two[] = {"add.s64",    "sub.u64", "mul.lo.u64", "mul.hi.u64",
                                      "mul.hi.s64", "min.s64", "max.u64",    "and.b64",
                                      "or.b64",     "xor.b64"};
    static const char *const wide[] = {"mul.wide.u32", "mul.wide.s32"};
    unsigned d = dice(p, LONGS), a = dice(p, LONGS), b = dice(p, LONGS);
    unsigned r = dice(p, WORDS), s = dice(p, WORDS);
    switch (dice(p, 7)) {
    case 0:
        put(p, "%s %%d%u, %%r%u, %%r%u;\n", PICK(wide), d, r, s);
        break;
    case 1:
        put(p, "mad.wide.s32 %%d%u, %%r%u, %%r%u, %%d%u;\n", d, r, s, a);
        break;
    case 2:
        put(p, "mov.b64 {%%r%u, %%x}, %%d%u;\nxor.b32 %%r%u, %%r%u, %%x;\n", r, a, r, r);
        break;
    case 3:
        put(p, "mov.b64 %%d%u, {%%r%u, %%r%u};\n", d, r, s);
        break;
    case 4:
        put(p, "%s %%d%u, %%d%u, %%r%u;\n", dice(p, 2) ? "shl.b64" : "shr.s64", d, a, r);
        break;
    case 5:
        put(p, "or.b64 %%y, %%d%u, 1;\n%s.%s %%d%u, %%d%u, %%y;\n", b, dice(p, 2) ? "div" : "rem",
            dice(p, 2) ? "u64" : "s64", d, a);
        break;
    default:
        put(p, "%s %%d%u, %%d%u, %%d%u;\n", PICK(two), d, a, b);
    }
}

/* A NaN becomes a number: its payload is not specified. */
static void settle_float(struct program *p, unsigned d)
{
    put(p, "testp.number.f32 %%q, %%f%u;\nselp.f32 %%f%u, %%f%u, 0f3FC00000, %%q;\n", d, d, d);
}
static void settle_double(struct program *p, unsigned d)
{
    put(p, "testp.number.f64 %%q, %%e%u;\nselp.f64 %%e%u, %%e%u, 0d3FF8000000000000, %%q;\n", d, d,
        d);
}

static void float_operation(struct program *p)
{
    static const char *const modes[] = {"rn", "rz", "rm", "rp"};
    static const char *const two[] = {"add", "sub", "mul", "div"};
    static const char *const order[] = {"min.f32", "max.f32", "min.NaN.f32", "max.ftz.f32"};
    static const char *const tails[] = {"f32", "ftz.f32", "ftz.sat.f32"};
    unsigned d = dice(p, FLOATS), a = dice(p, FLOATS), b = dice(p, FLOATS), c = dice(p, FLOATS);
    unsigned op = dice(p, 4);
    switch (dice(p, 6)) {
    case 0:
        put(p, "fma.%s.%s %%f%u, %%f%u, %%f%u, %%f%u;\n", PICK(modes), PICK(tails), d, a, b, c);
        break;
    case 1:
        put(p, "%s %%f%u, %%f%u, %%f%u;\n", PICK(order), d, a, b);
        break;
    case 2:
        put(p, "cvt.%s.f32.s32 %%f%u, %%r%u;\n", PICK(modes), d, dice(p, WORDS));
        break;
    case 3:
        put(p, "cvt.rzi.s32.f32 %%r%u, %%f%u;\n", dice(p, WORDS), a);
        return;
    case 4:
        put(p, "abs.f32 %%f%u, %%f%u;\nsqrt.%s.f32 %%f%u, %%f%u;\n", d, a, PICK(modes), d, d);
        break;
    default:
        put(p, "%s.%s.%s %%f%u, %%f%u, %%f%u;\n", two[op], PICK(modes),
            tails[dice(p, op == 3 ? 2 : 3)], d, a, b);
    }
    settle_float(p, d);
}

static void double_operation(struct program *p)
{
    static const char *const modes[] = {"rn", "rz", "rm", "rp"};
    static const char *const two[] = {"add", "sub", "mul", "div"};
    unsigned d = dice(p, DOUBLES), a = dice(p, DOUBLES), b = dice(p, DOUBLES);
    switch (dice(p, 4)) {
    case 0:
        put(p, "fma.%s.f64 %%e%u, %%e%u, %%e%u, %%e%u;\n", PICK(modes), d, a, b, dice(p, DOUBLES));
        break;
    case 1:
        put(p, "cvt.f64.f32 %%e%u, %%f%u;\n", d, dice(p, FLOATS));
        break;
    case 2:
        put(p, "cvt.%s.f64.s64 %%e%u, %%d%u;\n", PICK(modes), d, dice(p, LONGS));
        break;
    default:
        put(p, "%s.%s.f64 %%e%u, %%e%u, %%e%u;\n", PICK(two), PICK(modes), d, a, b);
    }
    settle_double(p, d);
}

static void half_operation(struct program *p)
{
    static const char *const two[] = {"add.rn.f16x2", "sub.rn.f16x2",  "mul.rn.f16x2",
                                      "min.f16x2",    "max.NaN.f16x2", "add.rn.ftz.sat.f16x2"};
    unsigned d = dice(p, PAIRS), a = dice(p, PAIRS), b = dice(p, PAIRS);
    switch (dice(p, 4)) {
    case 0:
        put(p, "fma.rn.f16x2 %%m%u, %%m%u, %%m%u, %%m%u;\n", d, a, b, dice(p, PAIRS));
        break;
    case 1:
        put(p, "cvt.rn.f16x2.f32 %%m%u, %%f%u, %%f%u;\n", d, dice(p, FLOATS), dice(p, FLOATS));
        break;
    case 2:
        put(p, "mov.b32 {%%h0, %%h1}, %%m%u;\ncvt.f32.f16 %%f%u, %%h1;\n", a, b = dice(p, FLOATS));
        settle_float(p, b);
        break;
    default:
        put(p, "%s %%m%u, %%m%u, %%m%u;\n", PICK(two), d, a, b);
    }
}

static void predicate_operation(struct program *p)
{
    static const char *const compare[] = {"eq.u32", "ne.u32", "lt.s32",
                                          "ge.u32", "hi.u32", "le.s32"};
    static const char *const logic[] = {"and", "or", "xor"};
    unsigned d = dice(p, PREDS), a = dice(p, WORDS), b = dice(p, WORDS);
    switch (dice(p, 5)) {
    case 0:
        put(p, "setp.%s %%p%u|%%q, %%r%u, %%r%u;\n", PICK(compare), d, a, b);
        break;
    case 1:
        put(p, "setp.ltu.%s.f32 %%p%u, %%f%u, %%f%u, %%p%u;\n", PICK(logic), d, dice(p, FLOATS),
            dice(p, FLOATS), dice(p, PREDS));
        break;
    case 2:
        put(p, "%s.pred %%p%u, %%p%u, !%%p%u;\n", PICK(logic), d, dice(p, PREDS), dice(p, PREDS));
        break;
    case 3:
        put(p, "selp.b32 %%r%u, %%r%u, %%r%u, %%p%u;\n", a, b, dice(p, WORDS), d);
        break;
    default:
        put(p, "@%s%%p%u add.u32 %%r%u, %%r%u, %u;\n", dice(p, 2) ? "!" : "", d, a, b, dice(p, 99));
    }
}

/* Only where every lane of the warp is. */
static void warp_operation(struct program *p)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const char *const reduce[] = {"add.u32", "min.s32", "max.u32", "and.b32", "xor.b32"};
    unsigned d = dice(p, WORDS), a = dice(p, WORDS), b = dice(p, WORDS);
    const char *mode = PICK(modes);
    switch (dice(p, 4)) {
    case 0:
        put(p, "shfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %u, %u, 0xffffffff;\n", mode, d,
            dice(p, PREDS), a, dice(p, 32), mode[0] == 'u' ? 0 : 31);
        break;
    case 1:
        put(p, "vote.sync.ballot.b32 %%r%u, %%p%u, 0xffffffff;\n", d, dice(p, PREDS));
        break;
    case 2:
        put(p, "redux.sync.%s %%r%u, %%r%u, 0xffffffff;\n", PICK(reduce), d, a);
        break;
    default:
        put(p, "and.b32 %%x, %%r%u, 7;\nmatch.any.sync.b32 %%r%u, %%x, 0xffffffff;\n", b, d);
    }
}

static void shared_exchange(struct program *p)
{
    unsigned d = dice(p, WORDS), a = dice(p, WORDS);
    put(p, "bar.sync 0;\nst.shared.u32 [%%mine], %%r%u;\nbar.sync 0;\n", a);
    put(p, "add.u32 %%x, %%t, %u;\nrem.u32 %%x, %%x, %u;\nmad.lo.u32 %%x, %%x, 4, %%box;\n",
        dice(p, BLOCK), BLOCK);
    put(p, "ld.shared.u32 %%r%u, [%%x];\n", d);
    if (dice(p, 3) == 0)
        put(p, "bar.red.popc.u32 %%r%u, 0, %%p%u;\n", dice(p, WORDS), dice(p, PREDS));
}

static void atomic_operation(struct program *p)
{
    static const char *const operations[] = {"add.u32", "min.s32", "max.u32",
                                             "and.b32", "or.b32",  "xor.b32"};
    unsigned cell = dice(p, CELLS); /* cell k has operation k % 6 */
    if (dice(p, 2))
        put(p, "red.global.%s [%%cells+%u], %%r%u;\n", operations[cell % 6], cell * 4,
            dice(p, WORDS));
    else
        put(p, "atom.shared.%s %%x, [%%counts+%u], %%r%u;\n", operations[cell % 6], cell * 4,
            dice(p, WORDS));
}

static void memory_operation(struct program *p)
{
    unsigned d = dice(p, WORDS), a = dice(p, WORDS);
    switch (dice(p, 3)) {
    case 0:
        put(p,
            "and.b32 %%x, %%r%u, %u;\nmad.wide.u32 %%y, %%x, 4, %%in;\n"
            "ld.global.u32 %%r%u, [%%y];\n",
            a, INPUT_WORDS - 1, d);
        break;
    case 1:
        put(p,
            "and.b32 %%x, %%r%u, 15;\nmad.lo.u32 %%x, %%x, 4, %%stack;\nst.local.u32 [%%x], "
            "%%r%u;\n",
            a, d);
        break;
    default:
        put(p,
            "and.b32 %%x, %%r%u, 15;\nmad.lo.u32 %%x, %%x, 4, %%stack;\nld.local.u32 %%r%u, "
            "[%%x];\n",
            a, d);
    }
}

static void statements(struct program *p, unsigned count);

static void branch(struct program *p)
{
    unsigned label = p->labels++;
    bool uniform = p->uniform;
    put(p, "@%s%%p%u bra ELSE%u;\n", dice(p, 2) ? "!" : "", dice(p, PREDS), label);
    p->uniform = false;
    p->depth++;
    statements(p, 1 + dice(p, 5));
    if (dice(p, 3)) {
        put(p, "bra JOIN%u;\nELSE%u:\n", label, label);
        statements(p, 1 + dice(p, 5));
        put(p, "JOIN%u:\n", label);
    } else {
        put(p, "ELSE%u:\n", label);
    }
    p->depth--;
    p->uniform = uniform;
}

static void loop(struct program *p)
{
    unsigned label = p->labels++, n = p->depth;
    bool uniform = p->uniform, same_count = dice(p, 2);
    if (same_count)
        put(p, "mov.u32 %%n%u, %u;\n", n, 1 + dice(p, 4));
    else
        put(p, "and.b32 %%n%u, %%r%u, 7;\nadd.u32 %%n%u, %%n%u, 1;\n", n, dice(p, WORDS), n, n);
    bool leaves = dice(p, 3) == 0;
    p->uniform = uniform && same_count && !leaves;
    p->depth++;
    put(p, "LOOP%u:\n", label);
    statements(p, 1 + dice(p, 5));
    if (leaves)
        put(p, "@%%p%u bra DONE%u;\n", dice(p, PREDS), label);
    put(p, "sub.u32 %%n%u, %%n%u, 1;\nsetp.ne.u32 %%q, %%n%u, 0;\n@%%q bra LOOP%u;\n", n, n, n,
        label);
    put(p, "DONE%u:\n", label);
    p->depth--;
    p->uniform = uniform;
}

static void call(struct program *p)
{
    put(p, "call (%%r%u), helper%u, (%%r%u, %%r%u);\n", dice(p, WORDS), dice(p, 3), dice(p, WORDS),
        dice(p, WORDS));
}

static void statement(struct program *p)
{
    unsigned roll = dice(p, 100);
    if (roll < 30)
        word_operation(p);
    else if (roll < 42)
        long_operation(p);
    else if (roll < 53)
        float_operation(p);
    else if (roll < 58)
        double_operation(p);
    else if (roll < 64)
        half_operation(p);
    else if (roll < 74)
        predicate_operation(p);
    else if (roll < 79)
        memory_operation(p);
    else if (roll < 83)
        atomic_operation(p);
    else if (roll < 86)
        call(p);
    else if (roll < 90 && p->uniform)
        dice(p, 2) ? warp_operation(p) : shared_exchange(p);
    else if (roll < 95 && p->depth < 4)
        branch(p);
    else if (p->depth < 3)
        loop(p);
    else
        word_operation(p);
}

static void statements(struct program *p, unsigned count)
{
    for (unsigned i = 0; i < count && p->budget > 0; i++) {
        p->budget--;
        statement(p);
    }
    if (p->budget == 0)
        put(p, "add.u32 %%r0, %%r0, 1;\n");
}

/* Whole programs --------------------------------------------------------------------------------
 */

static void helper(struct program *p, unsigned index)
{
    static const char *const operations[] = {"add.u32", "mul.lo.u32", "xor.b32", "sub.u32"};
    put(p, ".func (.reg .b32 %%res) helper%u(.reg .b32 %%a, .reg .b32 %%b)\n{\n.reg .pred %%p;\n",
        index);
    put(p, "mad.lo.u32 %%res, %%a, %u, %%b;\n", dice(p, 1000));
    put(p, "setp.lt.s32 %%p, %%a, %%b;\n@%%p bra SMALL;\n%s %%res, %%res, %%a;\nret;\nSMALL:\n",
        PICK(operations));
    put(p, "%s %%res, %%res, %%b;\nret;\n}\n", PICK(operations));
}

static void prologue(struct program *p)
{
    put(p, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (unsigned i = 0; i < 3; i++)
        helper(p, i);
    put(p, ".visible .entry program(.param .u64 out, .param .u64 in)\n{\n");
    put(p, ".reg .b32 %%r<%d>, %%m<%d>, %%n<8>, %%x, %%t, %%g, %%box, %%mine, %%counts, %%stack;\n",
        WORDS, PAIRS);
    put(p, ".reg .b64 %%d<%d>, %%y, %%out, %%in, %%cells, %%hash, %%k;\n.reg .b16 %%h<2>;\n",
        LONGS);
    put(p, ".reg .f32 %%f<%d>;\n.reg .f64 %%e<%d>;\n.reg .pred %%p<%d>, %%q;\n", FLOATS, DOUBLES,
        PREDS);
    put(p, ".shared .b32 box[%d];\n.shared .b32 counts[%d];\n.local .b32 stack[16];\n", BLOCK,
        CELLS);
    put(p,
        "ld.param.u64 %%cells, [out];\nld.param.u64 %%in, [in];\nmov.u32 %%t, %%tid.x;\n"
        "mov.u32 %%g, %%ctaid.x;\nmad.lo.u32 %%g, %%g, %d, %%t;\nadd.u64 %%out, %%cells, %d;\n"
        "mad.wide.u32 %%out, %%g, 8, %%out;\nmov.u32 %%box, box;\n"
        "mad.lo.u32 %%mine, %%t, 4, %%box;\nmov.u32 %%counts, counts;\nmov.u32 %%stack, stack;\n",
        BLOCK, CELLS * 4);
    put(p,
        "setp.ge.u32 %%q, %%t, %d;\nmad.lo.u32 %%x, %%t, 4, %%counts;\n@!%%q st.shared.u32 "
        "[%%x], 0;\n",
        CELLS);
    for (unsigned i = 0; i < 16; i++)
        put(p, "mad.lo.u32 %%x, %%g, %u, %u;\nst.local.u32 [%%stack+%u], %%x;\n",
            dice(p, 100000) * 2 + 1, dice(p, 1000), i * 4);
    for (unsigned i = 0; i < WORDS; i++)
        put(p, "mad.lo.u32 %%r%u, %%g, %u, %u;\n", i, dice(p, 1u << 30) * 2 + 1, dice(p, 1u << 30));
    for (unsigned i = 0; i < LONGS; i++)
        put(p, "mul.wide.u32 %%d%u, %%r%u, %u;\n", i, i, dice(p, 1u << 30));
    for (unsigned i = 0; i < FLOATS; i++)
        put(p, "cvt.rn.f32.s32 %%f%u, %%r%u;\nmul.rn.f32 %%f%u, %%f%u, 0f%08X;\n", i, i, i, i,
            0x30000000u + dice(p, 1u << 24));
    for (unsigned i = 0; i < DOUBLES; i++)
        put(p, "cvt.f64.f32 %%e%u, %%f%u;\n", i, i);
    for (unsigned i = 0; i < PAIRS; i++)
        put(p, "cvt.rn.f16x2.f32 %%m%u, %%f%u, %%f%u;\n", i, i, i + 1);
    for (unsigned i = 0; i < PREDS; i++)
        put(p, "and.b32 %%x, %%r%u, %u;\nsetp.ne.u32 %%p%u, %%x, 0;\n", i, 1u << (3 + dice(p, 20)),
            i);
    put(p, "bar.sync 0;\n");
}

/* Every register goes into the thread's digest; shared counters are added to the first cells'
 * block. */
static void epilogue(struct program *p)
{
    put(p, "mov.u64 %%hash, 0xcbf29ce484222325;\n");
#define MIX(format, ...)                                                                           \
    put(p, format, __VA_ARGS__);                                                                   \
    put(p, "xor.b64 %%hash, %%hash, %%k;\nmul.lo.u64 %%hash, %%hash, 0x100000001b3;\n")
    for (unsigned i = 0; i < WORDS; i++) {
        MIX("cvt.u64.u32 %%k, %%r%u;\n", i);
    }
    for (unsigned i = 0; i < LONGS; i++) {
        MIX("mov.b64 %%k, %%d%u;\n", i);
    }
    for (unsigned i = 0; i < FLOATS; i++) {
        MIX("mov.b32 %%x, %%f%u;\ncvt.u64.u32 %%k, %%x;\n", i);
    }
    for (unsigned i = 0; i < DOUBLES; i++) {
        MIX("mov.b64 %%k, %%e%u;\n", i);
    }
    for (unsigned i = 0; i < PAIRS; i++) {
        MIX("cvt.u64.u32 %%k, %%m%u;\n", i);
    }
    for (unsigned i = 0; i < PREDS; i++) {
        MIX("selp.b64 %%k, 1, 2, %%p%u;\n", i);
    }
    for (unsigned i = 0; i < 16; i++) {
        MIX("ld.local.u32 %%x, [%%stack+%u];\ncvt.u64.u32 %%k, %%x;\n", i * 4);
    }
    put(p, "bar.sync 0;\n");
    for (unsigned i = 0; i < CELLS; i++) {
        MIX("ld.shared.u32 %%x, [%%counts+%u];\ncvt.u64.u32 %%k, %%x;\n", i * 4);
    }
    put(p, "st.global.u64 [%%out], %%hash;\nret;\n}\n");
}

char *make_program(uint64_t seed)
{
    struct program program = {.uniform = true}, *p = &program;
    p->state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 8; i++)
        dice(p, 2);
    p->budget = 60 + dice(p, 140);
    prologue(p);
    while (p->budget > 0)
        statements(p, 20);
    epilogue(p);
    return p->text;
}
