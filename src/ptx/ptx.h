/*
 * ptx.h: PTX text in, checked module out.
 * This is what src/simt decodes. A module that ptx_parse returned is well formed: every name is
 * resolved, every instruction fits a row of ops.def, every operand has the size its type asks for.
 * It does not execute anything and knows nothing of GPUs.
 */
#ifndef LOCKSTEP_PTX_PTX_H
#define LOCKSTEP_PTX_PTX_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_type {
    PTX_TYPE_NONE,
#define TYPE(name, text, bits, kind) PTX_##name,
#include "ptx/types.def"
#undef TYPE
    PTX_TYPE_COUNT
};

enum ptx_type_kind {
    PTX_KIND_NONE,
    PTX_KIND_BITS,
    PTX_KIND_UNSIGNED,
    PTX_KIND_SIGNED,
    PTX_KIND_FLOAT,
    PTX_KIND_PREDICATE,
    PTX_KIND_OPAQUE
};

/* mods.def: MOD(NAME, "text"): every suffix of ops.def that is not a type; the name is the text in
 * capitals, each run of other characters turned into one '_'. NAN is both .nan and .NaN. */
enum ptx_mod {
    PTX_MOD_NONE,
#define MOD(name, text) PTX_MOD_##name,
#include "ptx/mods.def"
#undef MOD
    PTX_MOD_COUNT
};

enum ptx_group {
    PTX_GROUP_INTEGER,
    PTX_GROUP_VIDEO,
    PTX_GROUP_FLOAT,
    PTX_GROUP_APPROX,
    PTX_GROUP_HALF,
    PTX_GROUP_COMPARE,
    PTX_GROUP_MOVE,
    PTX_GROUP_CONVERT,
    PTX_GROUP_MEMORY,
    PTX_GROUP_ATOMIC,
    PTX_GROUP_CONTROL,
    PTX_GROUP_BARRIER,
    PTX_GROUP_WARP,
    PTX_GROUP_ASYNC,
    PTX_GROUP_CLUSTER,
    PTX_GROUP_BULK,
    PTX_GROUP_TENSOR,
    PTX_GROUP_TEXTURE,
    PTX_GROUP_UNSUPPORTED,
    PTX_GROUP_COUNT
};

enum ptx_op {
#define OP(name, mnemonic, suffixes, operands, group, meaning) PTX_OP_##name,
#include "ptx/ops.def"
#undef OP
    PTX_OP_COUNT
};

/* One row of ops.def, as text; docs and the coverage test read it too. */
struct ptx_op_info {
    const char *name;     /* "MUL_WIDE" */
    const char *mnemonic; /* "mul" */
    const char *suffixes;
    const char *operands;
    enum ptx_group group;
    const char *meaning;
};
extern const struct ptx_op_info ptx_op_infos[PTX_OP_COUNT];

const char *ptx_type_name(enum ptx_type type);
unsigned ptx_type_bits(enum ptx_type type);
enum ptx_type_kind ptx_type_kind(enum ptx_type type);
const char *ptx_mod_name(enum ptx_mod mod);

enum ptx_space {
    PTX_SPACE_GENERIC, /* no space suffix */
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM, /* of a kernel (read only) or of a call */
    PTX_SPACE_SHARED,
    PTX_SPACE_TEX
};

/* %tid.x and friends; PTX_SREG_TID_X .. are made from sregs.def: SREG(NAME, "%text", bits). */
enum ptx_sreg {
    PTX_SREG_NONE,
#define SREG(name, text, bits) PTX_SREG_##name,
#include "ptx/sregs.def"
#undef SREG
    PTX_SREG_COUNT
};
const char *ptx_sreg_name(enum ptx_sreg sreg);
unsigned ptx_sreg_bits(enum ptx_sreg sreg);

struct ptx_function;

/* A variable: module scope (.global .const .shared), function scope (.local .shared .param), or a
 * formal parameter. Register parameters and .reg variables are in function->regs instead. */
struct ptx_reloc {
    uint64_t offset; /* in init */
    const struct ptx_var *var;
    const struct ptx_function *function; /* one of the two is set */
    int64_t addend;
    bool generic;  /* generic(x): the address in the generic space */
    uint8_t bytes; /* how many bytes of the address: 8, 4, 2 or 1 */
    uint8_t shift; /* and from which bit, for mask(x) forms */
};

struct ptx_var {
    const char *name;
    enum ptx_space space;
    enum ptx_type type; /* of an element */
    uint8_t vector;     /* 1, 2, 4: elements of .v2 .v4 */
    uint32_t align;     /* in bytes, never 0 */
    uint64_t size;      /* in bytes; 0 for extern .shared x[] */
    bool is_extern, is_visible, is_weak, is_common, is_managed;
    bool is_pointer;     /* kernel parameter with .ptr */
    const uint8_t *init; /* size bytes, or NULL for zeros */
    const struct ptx_reloc *relocs;
    uint32_t reloc_count;
    uint32_t index;             /* in its list */
    uint32_t offset;            /* parameters: byte offset in the parameter block */
    struct ptx_function *owner; /* NULL at module scope */
    uint32_t line;
};

struct ptx_reg {
    const char *name;
    enum ptx_type type;
};

#define PTX_NO_REG UINT32_MAX

enum ptx_operand_kind {
    PTX_OPERAND_REG,      /* reg; negate for !p; selector for %r.b0 .. */
    PTX_OPERAND_IMM,      /* imm: the bits of the constant in the operand's type; signed types are
                             sign-extended, all others zero-extended */
    PTX_OPERAND_SREG,     /* sreg */
    PTX_OPERAND_VAR,      /* address of var, plus imm */
    PTX_OPERAND_FUNCTION, /* address of function */
    PTX_OPERAND_ADDRESS,  /* [reg + imm], [var + imm], [imm] or [var + reg + imm] */
    PTX_OPERAND_VECTOR,   /* {items}; also the (list) of a call */
    PTX_OPERAND_LABEL,    /* target: index of an instruction */
    PTX_OPERAND_TARGETS,  /* brx: items are labels */
    PTX_OPERAND_SINK      /* _ */
};

/* Sub-words of video instructions. */
enum ptx_selector {
    PTX_SELECT_NONE,
    PTX_SELECT_B0,
    PTX_SELECT_B1,
    PTX_SELECT_B2,
    PTX_SELECT_B3,
    PTX_SELECT_H0,
    PTX_SELECT_H1,
    PTX_SELECT_OTHER /* .h10, .b3210 ..: imm holds one source index per nibble, lowest first */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    enum ptx_type type; /* what the row asks for; PTX_TYPE_NONE for :any */
    bool negate;        /* !p, and -%r of video instructions */
    uint8_t selector;   /* enum ptx_selector */
    uint32_t reg;       /* index into function->regs, or PTX_NO_REG */
    uint32_t pair;      /* d|p: the second register, or PTX_NO_REG */
    enum ptx_sreg sreg;
    int64_t imm;
    uint64_t imm_high; /* upper half of a b128 constant */
    const struct ptx_var *var;
    const struct ptx_function *function;
    uint32_t target;
    const struct ptx_operand *items;
    uint32_t item_count;
};

/* Where an instruction comes from in the source: .loc, with the call it was inlined at. */
struct ptx_loc {
    uint32_t file; /* index into module->files */
    uint32_t line, column;
    uint32_t inlined_at;       /* index into module->locs, 0 if not inlined */
    const char *function_name; /* of the inlined function, or NULL */
};

#define PTX_MAX_SLOTS 16
#define PTX_MAX_TYPES 4

struct ptx_inst {
    enum ptx_op op;
    uint8_t type_count;
    uint8_t types[PTX_MAX_TYPES];  /* enum ptx_type: the type suffixes, left to right */
    uint64_t mods[5];              /* bitset over enum ptx_mod; see ptx_has */
    uint16_t slots[PTX_MAX_SLOTS]; /* what each slot of the row matched: an enum ptx_mod; for a
                                      type, PTX_MOD_COUNT + enum ptx_type; 0 if left out */
    uint32_t guard;                /* predicate register, or PTX_NO_REG */
    bool guard_negate;
    bool keeps_loop; /* .pragma "nounroll" stands before it: the loop that begins here */
    uint8_t operand_count;
    const struct ptx_operand *operands;   /* a call: [returns VECTOR] [callee] [arguments VECTOR] */
    const struct ptx_function *prototype; /* of an indirect call */
    uint32_t line, column;                /* in the PTX text, from 1 */
    uint32_t loc;                         /* index into module->locs; 0: none */
    const char *text; /* the mnemonic as written, with its suffixes: for messages */
};

static inline bool ptx_has(const struct ptx_inst *inst, enum ptx_mod mod)
{
    return inst->mods[mod / 64] >> (mod % 64) & 1;
}

/* wgmma.mma_async, and its sparse form. */
static inline bool ptx_is_wgmma(enum ptx_op op)
{
    return op >= PTX_OP_WGMMA_F16 && op <= PTX_OP_WGMMA_SP_INT;
}
static inline bool ptx_is_sparse_wgmma(enum ptx_op op)
{
    return op >= PTX_OP_WGMMA_SP_F16 && op <= PTX_OP_WGMMA_SP_INT;
}
/* mma.sp */
static inline bool ptx_is_sparse_mma(enum ptx_op op)
{
    return op >= PTX_OP_MMA_SP_F16 && op <= PTX_OP_MMA_SP_INT;
}

struct ptx_function {
    const char *name;
    bool is_entry, is_extern, is_visible, is_weak, is_noreturn, is_prototype;
    struct ptx_module *module;
    const struct ptx_function *alias_of; /* .alias; NULL otherwise */

    /* Formal parameters and return values. A .reg parameter has var NULL and reg set. */
    struct ptx_formal {
        const struct ptx_var *var;
        uint32_t reg;
    } * params, *returns;
    uint32_t param_count, return_count;
    uint32_t param_bytes; /* size of a kernel's parameter block */

    struct ptx_reg *regs; /* those that are used, in the order of their first use */
    uint32_t reg_count;
    struct ptx_inst *insts;
    uint32_t inst_count;   /* 0: declared only; a body always ends in ret, exit, bra, brx or trap */
    struct ptx_var **vars; /* .local, .shared and call .param variables of the body */
    uint32_t var_count;

    /* Directives; 0 if absent. */
    uint32_t max_threads[3], required_threads[3], min_blocks, max_regs;
    uint32_t required_cluster[3], max_cluster_rank;
    bool explicit_cluster;
    bool keeps_loops; /* .pragma "nounroll": of the function, or of the module before it */
    uint32_t line, index;
};

struct ptx_module {
    struct lk_arena *arena; /* owns everything below */
    const char *name;       /* for messages: a file name or "<ptx>" */
    const char *text;       /* the PTX itself; kept for messages */
    uint32_t version_major, version_minor;
    uint32_t target;    /* 80 for sm_80 */
    char target_suffix; /* 'a', 'f' or 0 */
    uint32_t address_size;
    struct ptx_function **functions;
    uint32_t function_count;
    struct ptx_var **vars;
    uint32_t var_count;
    const char **files; /* [0] is "" */
    uint32_t file_count;
    struct ptx_loc *locs; /* [0] is empty */
    uint32_t loc_count;
};

/* Parses and checks size bytes of PTX text (a final NUL is not needed and may be included).
 * On failure returns NULL and puts a message with place, line and caret into *message (malloc'd).
 */
struct ptx_module *ptx_parse(const char *name, const char *text, size_t size, char **message);
void ptx_free(struct ptx_module *module);

const struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name);
const struct ptx_var *ptx_find_var(const struct ptx_module *module, const char *name);

#endif
