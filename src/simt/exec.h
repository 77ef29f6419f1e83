/*
 * exec.h: what an instruction body sees.
 * Bodies live in exec_*.c, grouped as ops.def groups them. Each file is compiled once per
 * instruction set of the host (SIMT_ISA = v2, v3, v4) and exports one function, NAME_select, that
 * gives the decoder the body for an instruction, or NULL if there is none.
 *
 * Registers lie as [register][lane]: 32 values side by side, at a byte offset into w->regs.
 * Constants and special registers have such slots too, so a body never asks what kind of operand
 * it has. An omitted operand (`_`, a missing |p) points to a slot that is never read.
 */
#ifndef LOCKSTEP_SIMT_EXEC_H
#define LOCKSTEP_SIMT_EXEC_H

#include "ptx/ptx.h"
#include "simt/simt.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIMT_LANES 32
#define SIMT_ALL 0xffffffffu

struct simt_warp;
struct simt_inst;

/* Runs one warp instruction; returns the next one to run: in + 1, a branch target, or NULL when
 * the warp cannot go on by itself (it waits, ended, or a fault was raised). */
typedef const struct simt_inst *simt_body(struct simt_warp *w, const struct simt_inst *in);

/* Slot sizes per type width: predicate 4 bytes (a bit per lane), 16 bits and below 64 bytes,
 * 32 bits 128 bytes, 64 bits 256 bytes, 128 bits 512 bytes ([lane] of 16 bytes). */
struct simt_inst {
    simt_body *run;
    uint32_t d, d2;      /* written: operand 0 and its |second */
    uint32_t a, b, c, e; /* read: the operands after it, in order. An instruction that writes
                            nothing (its operand names have no d) starts at a. An address operand
                            [x]: its base register's slot, with the constant part in imm. */
    uint32_t guard;      /* slot of the guard predicate, or SIMT_NO_GUARD */
    uint16_t flags;      /* SIMT_FLAG_*; above SIMT_FLAG_BYTES_SHIFT, the bytes per lane of the
                            register that a load writes or a store reads */
    uint8_t counts[2];   /* vectors: how many registers of list belong to the first, second .. */
    union {
        int64_t imm;
        const struct simt_inst *target; /* branches */
    };
    union {
        const uint32_t *list; /* slots of all vector operands, one after the other:
                                 d0 d1 .. a0 a1 .. b0 .. c0 ..; sizes in ptx->operands */
        const struct simt_inst *reconverge;
    };
    const struct ptx_inst *ptx; /* what it was decoded from */
};

#define SIMT_NO_GUARD UINT32_MAX
enum {
    SIMT_FLAG_GUARD_NOT = 1,   /* @!p */
    SIMT_FLAG_HIDDEN = 2,      /* not an instruction of the program: not counted */
    SIMT_FLAG_PARAM = 4,       /* the address is imm bytes into the kernel's parameters, */
    SIMT_FLAG_FRAME = 8,       /* or into the frame's local memory, */
    SIMT_FLAG_ADDRESS_32 = 16, /* or in a register of 32 bits */
    SIMT_FLAG_BACKOFF = 32,    /* sleeps, or reads a clock, between two looks at an mbarrier */
    SIMT_FLAG_BYTES_SHIFT = 8,
};

struct simt_frame;
struct simt_path;
struct simt_block;

struct simt_warp {
    uint8_t *regs;      /* of the current path's frame */
    uint32_t mask;      /* lanes that this instruction works on (guard applied) */
    uint32_t path_mask; /* lanes of the current path */
    uint32_t carry;     /* CC.CF, a bit per lane */
    uint32_t index;     /* in the block */
    uint32_t live;      /* lanes that have not exited */
    struct simt_path *path;
    struct simt_block *block;
    const uint8_t *granules; /* which parts of device memory are allocated (core.h), */
    uint64_t arena;          /* and where it begins */
};

/* What the decoder tells a select function. bits: width of the slot behind each operand (a u8
 * value may sit in a 32-bit register); 0 if the operand is absent, 1 for a predicate. */
enum simt_address_kind {
    SIMT_ADDRESS_REGISTER, /* slot a plus imm */
    SIMT_ADDRESS_FRAME,    /* imm bytes into the frame's local memory: parameters of calls */
    SIMT_ADDRESS_PARAM     /* imm bytes into the kernel's parameters */
};

struct simt_operands {
    const struct ptx_inst *ptx;
    const struct ptx_function *function;
    unsigned d_bits, d2_bits, a_bits, b_bits, c_bits, e_bits;
    unsigned list_bits; /* of the registers of a vector operand */
    enum simt_address_kind address;
};

#define SIMT_PASTE2(name, isa) name##_##isa
#define SIMT_PASTE(name, isa) SIMT_PASTE2(name, isa)
#define SIMT_NAME(name) SIMT_PASTE(name, SIMT_ISA)

/* Every select function, for every instruction set. */
#define SIMT_GROUPS(X)                                                                             \
    X(INTEGER, integer)                                                                            \
    X(VIDEO, video)                                                                                \
    X(FLOAT, float)                                                                                \
    X(APPROX, approx)                                                                              \
    X(HALF, half)                                                                                  \
    X(COMPARE, compare)                                                                            \
    X(MOVE, move)                                                                                  \
    X(CONVERT, convert)                                                                            \
    X(MEMORY, memory)                                                                              \
    X(ATOMIC, atomic)                                                                              \
    X(CONTROL, control)                                                                            \
    X(BARRIER, barrier)                                                                            \
    X(WARP, warp)                                                                                  \
    X(ASYNC, async)                                                                                \
    X(CLUSTER, cluster)                                                                            \
    X(BULK, bulk)                                                                                  \
    X(TENSOR, tensor)                                                                              \
    X(TEXTURE, texture)

#ifdef SIMT_ISA
#define SIMT_DECLARE_SELECT(upper, lower)                                                          \
    simt_body *SIMT_PASTE(lower##_select, SIMT_ISA)(const struct simt_operands *operands);
SIMT_GROUPS(SIMT_DECLARE_SELECT)
#undef SIMT_DECLARE_SELECT
#endif

/* Helpers for bodies ------------------------------------------------------------------------- */

#define SIMT_BODY(name)                                                                            \
    static const struct simt_inst *name(struct simt_warp *w, const struct simt_inst *in)

/* The 32 values of a slot. */
#define SIMT_SLOT(type, offset) ((type *)(void *)(w->regs + (offset)))
/* The steps of the loop that follows do not depend on one another. */
#ifdef __clang__
#define SIMT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIMT_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define SIMT_EACH_LANE SIMT_INDEPENDENT for (int i = 0; i < SIMT_LANES; i++)
#define SIMT_ACTIVE(lane) (w->mask >> (lane)&1)

/* Picks elements of two vectors of a type by constants. gcc before 12 has only its own builtin. */
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
#define SIMT_SHUFFLE(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SIMT_SHUFFLE(type, x, y, ...) __builtin_shuffle(x, y, (type){__VA_ARGS__})
#endif

/* One row per operation and type: d = expression of x (and y, z), in all active lanes. The
 * expression must be harmless for any input: it is evaluated in inactive lanes too. */
#define SIMT_STORE_LANES(D, expression)                                                            \
    if (w->mask == SIMT_ALL) {                                                                     \
        SIMT_EACH_LANE d[i] = (D)(expression);                                                     \
    } else {                                                                                       \
        D result[SIMT_LANES];                                                                      \
        SIMT_EACH_LANE result[i] = (D)(expression);                                                \
        uint32_t mask = w->mask;                                                                   \
        SIMT_EACH_LANE d[i] = mask >> i & 1 ? result[i] : d[i];                                    \
    }                                                                                              \
    return in + 1;

#define SIMT_MAP1(name, D, A, expression)                                                          \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        const A *xs = SIMT_SLOT(const A, in->a);                                                   \
        SIMT_STORE_LANES(D, ({                                                                     \
                             A x = xs[i];                                                          \
                             (void)x;                                                              \
                             expression;                                                           \
                         }))                                                                       \
    }
#define SIMT_MAP2(name, D, A, B, expression)                                                       \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        const A *xs = SIMT_SLOT(const A, in->a);                                                   \
        const B *ys = SIMT_SLOT(const B, in->b);                                                   \
        SIMT_STORE_LANES(D, ({                                                                     \
                             A x = xs[i];                                                          \
                             B y = ys[i];                                                          \
                             expression;                                                           \
                         }))                                                                       \
    }
#define SIMT_MAP3(name, D, A, B, C, expression)                                                    \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        const A *xs = SIMT_SLOT(const A, in->a);                                                   \
        const B *ys = SIMT_SLOT(const B, in->b);                                                   \
        const C *zs = SIMT_SLOT(const C, in->c);                                                   \
        SIMT_STORE_LANES(D, ({                                                                     \
                             A x = xs[i];                                                          \
                             B y = ys[i];                                                          \
                             C z = zs[i];                                                          \
                             expression;                                                           \
                         }))                                                                       \
    }

/* Predicates: a bit per lane. */
static inline uint32_t simt_predicate(const struct simt_warp *w, uint32_t slot)
{
    return *SIMT_SLOT(const uint32_t, slot);
}
static inline void simt_set_predicate(struct simt_warp *w, uint32_t slot, uint32_t bits)
{
    uint32_t *p = SIMT_SLOT(uint32_t, slot);
    *p = (*p & ~w->mask) | (bits & w->mask);
}

/* 32 lanes of 0 or all-ones to a bit per lane. Read as vectors where they lie, not through memcpy:
 * the compiler then keeps lanes that were just computed in vector registers. */
static inline uint32_t simt_movemask(const uint32_t lanes[SIMT_LANES])
{
    uint32_t bits = 0;
#ifdef __AVX2__
    typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));
    for (int i = 0; i < 4; i++) {
        v8 part = *(const v8 *)(const void *)(lanes + 8 * i);
        bits |= (uint32_t)__builtin_ia32_movmskps256(part) << (8 * i);
    }
#else
    for (int i = 0; i < SIMT_LANES; i++)
        bits |= (lanes[i] & 1) << i;
#endif
    return bits;
}

/* A fault ends the launch: `return simt_raise(w, in, SIMT_FAULT_..., lane, "what %d", x);`
 * Kernel, block, thread, PTX line and source line are added to the message. */
const struct simt_inst *simt_raise(struct simt_warp *w, const struct simt_inst *in,
                                   enum simt_fault_kind kind, int lane, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Host bytes of [address, address + size) in a state space, for one lane; NULL after raising the
 * fault that a GPU gives (address not mapped, misaligned for size, outside the window). */
uint8_t *simt_translate(struct simt_warp *w, const struct simt_inst *in, enum ptx_space space,
                        uint64_t address, uint32_t size, int lane, bool is_write);

/* .sync: true when every live lane of members is at this instruction; w->mask then holds them
 * all. False: return NULL at once; the body runs again when the others have come. */
bool simt_wait_lanes(struct simt_warp *w, const struct simt_inst *in, uint32_t members);

#endif
