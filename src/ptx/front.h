/*
 * front.h: what the files of the PTX front end share.
 * One struct ptx_parser lives for one call of ptx_parse. Errors leave through ptx_fail, which jumps
 * back to ptx_parse; whatever is not in the arena therefore hangs off the parser and is freed
 * there.
 */
#ifndef LOCKSTEP_PTX_FRONT_H
#define LOCKSTEP_PTX_FRONT_H

#include "base/buf.h"
#include "base/map.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <string.h>

/* Limits against hostile input; real modules stay far below them. */
#define PTX_MAX_NESTING 64              /* scopes, braces, parentheses */
#define PTX_MAX_REGISTERS 1000000       /* in one %r<N> */
#define PTX_MAX_OPERANDS 16             /* of one instruction, vectors counting once */
#define PTX_MAX_ITEMS 4096              /* in the vectors and lists of one instruction */
#define PTX_MAX_VAR_BYTES (1ull << 40)  /* one variable */
#define PTX_MAX_INIT_BYTES (256u << 20) /* all initialised data of a module */
#define PTX_MAX_TEXT_BYTES (1u << 30)

/* Lexer -------------------------------------------------------------------------------------- */

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_IDENT,
    PTX_TOKEN_DOT, /* .name, the dot included: a directive, a type, a suffix, a component */
    PTX_TOKEN_INT,
    PTX_TOKEN_FLOAT,     /* 1.5 */
    PTX_TOKEN_FLOAT_HEX, /* 0f3F800000, 0d3FF0000000000000 */
    PTX_TOKEN_STRING,    /* the quotes included */
    PTX_TOKEN_PUNCT      /* punct: one character, or two packed by PTX_PUNCT2 */
};

#define PTX_PUNCT2(a, b) ((a) | (b) << 8)

struct ptx_token {
    enum ptx_token_kind kind;
    uint32_t start, end; /* offsets in the text */
    int punct;
    bool is_unsigned; /* INT: U suffix, or beyond the range of s64 */
    bool is_single;   /* FLOAT_HEX: 0f */
    uint64_t value;   /* INT */
    double real;      /* FLOAT, FLOAT_HEX */
};

/* Names and scopes --------------------------------------------------------------------------- */

enum ptx_symbol_kind {
    PTX_SYMBOL_REG,
    PTX_SYMBOL_REG_VECTOR, /* .reg .v4: count registers from reg on */
    PTX_SYMBOL_REG_RANGE,  /* %r<count>: %r0 .. are made when first used */
    PTX_SYMBOL_VAR,
    PTX_SYMBOL_FUNCTION,
    PTX_SYMBOL_PROTOTYPE,
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_TARGETS, /* .branchtargets */
    PTX_SYMBOL_CALL_TARGETS
};

struct ptx_symbol {
    enum ptx_symbol_kind kind;
    enum ptx_type type; /* registers */
    uint32_t vector;    /* registers: 1, 2, 4 */
    uint32_t reg;
    uint32_t count;
    uint32_t target;           /* LABEL */
    struct ptx_operand *items; /* TARGETS */
    struct ptx_var *var;
    struct ptx_function *function;
    struct ptx_name *name;
    struct ptx_scope *scope;
    struct ptx_symbol *shadowed, *next; /* same name further out; same scope */
};

struct ptx_name {
    const char *text;
    uint32_t length;
    struct ptx_symbol *symbol; /* innermost */
    struct ptx_symbol *range;  /* innermost range with this name as prefix */
};

/* A use of a label; settled when the scope that defines it closes, for labels may come later. */
struct ptx_pending {
    struct ptx_pending *next;
    struct ptx_operand *operand;
    struct ptx_name *name;
    uint32_t offset;
};

struct ptx_scope {
    struct ptx_scope *parent;
    uint32_t depth;
    bool has_range;
    struct ptx_symbol *symbols;
    struct ptx_pending *pending;
};

/* Rows of ops.def, parsed ---------------------------------------------------------------------- */

enum ptx_shape {
    PTX_SHAPE_PLAIN,   /* x */
    PTX_SHAPE_VECTOR,  /* x* */
    PTX_SHAPE_BRACES,  /* x{} */
    PTX_SHAPE_ADDRESS, /* [x] */
    PTX_SHAPE_LABEL,   /* L */
    PTX_SHAPE_CALL,    /* C */
    PTX_SHAPE_ANYTHING /* * */
};

/* Where an operand's type comes from; values below PTX_TYPE_COUNT are the type itself. */
enum ptx_type_source {
    PTX_FROM_T1 = PTX_TYPE_COUNT,
    PTX_FROM_T2,
    PTX_FROM_T3,
    PTX_FROM_T4,
    PTX_FROM_WIDE,
    PTX_FROM_HALF,
    PTX_FROM_ADDR,
    PTX_FROM_ANY
};

struct ptx_operand_spec {
    char name;
    uint8_t shape;
    uint8_t type, pair_type; /* enum ptx_type or enum ptx_type_source */
    bool written, optional, has_pair, is_constant;
};

#define PTX_MAX_SPECS 10

struct ptx_row {
    uint16_t slot_count;
    bool takes_anything; /* the suffixes end in * */
    bool anything_operands;
    uint8_t spec_count, required_count;
    struct ptx_operand_spec specs[PTX_MAX_SPECS];
    struct ptx_slot {
        bool optional;
        uint16_t first, count; /* in ptx_rows.codes */
    } slots[PTX_MAX_SLOTS];
};

#define PTX_MAX_SUFFIXES 24

/* A suffix as a number: an enum ptx_mod, or PTX_MOD_COUNT + enum ptx_type; 0 if unknown. */
unsigned ptx_find_suffix(const char *text, size_t length);

const struct ptx_row *ptx_row_of(enum ptx_op op);

/* An opcode text ("ld.global.v4.f32"), matched against the rows once per module: one instruction
 * template per row that fits. */
struct ptx_opcode {
    const char *text;
    uint32_t template_count;
    struct ptx_inst templates[];
};

/* Finds the rows that text fits. On failure returns NULL with a message, and *at set to the offset
 * in text that the caret should point to. */
struct ptx_opcode *ptx_match_opcode(struct lk_arena *arena, const char *text, size_t length,
                                    struct lk_buf *message, size_t *at);

/* Returns a special register's number by its full name ("%tid.x"), or PTX_SREG_NONE. *index is the
 * N of %envregN and %pmN. */
enum ptx_sreg ptx_find_sreg(const char *text, size_t length, unsigned *index);

/* Parser --------------------------------------------------------------------------------------- */

/* The value of a constant expression. */
struct ptx_value {
    enum { PTX_VALUE_SIGNED, PTX_VALUE_UNSIGNED, PTX_VALUE_FLOAT } kind;
    bool is_hex_float, is_single;
    uint64_t bits; /* integers */
    double real;
};

/* An operand as read, before the row says what it must be. */
struct ptx_raw {
    struct ptx_operand operand;
    uint32_t offset;
    bool has_pair;                  /* written d|p, also if p is _ */
    bool is_unknown;                /* name means nothing here (a label further on, perhaps) */
    struct ptx_name *name;          /* if it is a name */
    struct ptx_value value;         /* IMM */
    struct ptx_function *prototype; /* if it names a .callprototype or .calltargets */
    uint32_t first_item;            /* VECTOR, ADDRESS: items are p->items[first_item ..] */
};

struct ptx_parser {
    const char *name; /* for messages */
    const char *text;
    uint32_t size;
    uint32_t line, line_start; /* of token */
    struct ptx_token token;
    uint32_t scan;  /* where the next token is looked for */
    unsigned depth; /* nesting of recursive constructs */

    struct lk_arena *arena;
    struct ptx_module *module;
    struct lk_map names;   /* text -> struct ptx_name */
    struct lk_map opcodes; /* text -> struct ptx_opcode */
    struct ptx_scope *scope;

    /* The function being read. */
    struct ptx_function *function;
    struct ptx_reg *regs;
    uint32_t reg_count, reg_capacity;
    struct ptx_inst *insts;
    uint32_t inst_count, inst_capacity;
    bool keeps_loops;    /* .pragma "nounroll" of the module */
    bool keeps_loop;     /* of the loop that begins with the next instruction */
    uint32_t last_label; /* target of the latest label */
    struct ptx_var **local_vars;
    uint32_t local_var_count, local_var_capacity;

    /* The instruction being read: its operands, and the items of their vectors. */
    struct ptx_raw raws[PTX_MAX_OPERANDS];
    uint32_t raw_count;
    struct ptx_raw *items;
    uint32_t item_count, item_capacity;

    /* Module lists. */
    struct ptx_function **functions;
    uint32_t function_count, function_capacity;
    struct ptx_var **vars;
    uint32_t var_count, var_capacity;
    struct ptx_reloc *relocs; /* of the variable being initialised */
    uint32_t reloc_count, reloc_capacity;
    uint8_t *init; /* of the variable being initialised, while its size is open */
    size_t init_size, init_capacity;
    uint64_t init_total;

    /* Source places. */
    struct lk_map file_numbers; /* number (4 bytes) -> index + 1 in files */
    const char **files;
    uint32_t file_count, file_capacity;
    struct lk_map loc_numbers; /* file, line, column -> index in locs */
    struct ptx_loc *locs;
    uint32_t loc_count, loc_capacity;
    struct ptx_loc_name {
        uint32_t loc;
        struct ptx_name *label;
        uint64_t addend;
    } * loc_names;
    uint32_t loc_name_count, loc_name_capacity;
    struct lk_map debug_labels; /* label -> offset + 1 in debug_strings */
    struct lk_buf debug_strings;
    uint32_t loc;   /* current */
    bool in_asm;    /* between LLVM's comments around inline assembly, as far as it is scanned */
    char loc_blank; /* what follows the function's first .loc; 0: there was none yet */

    struct lk_buf message, scratch;
    jmp_buf failed;
};

_Noreturn void ptx_fail(struct ptx_parser *p, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void ptx_fail_expected(struct ptx_parser *p, const char *what);

/* Grows a list of the parser by one element and yields that element, zeroed. */
void *ptx_grow(void *list, uint32_t *count, uint32_t *capacity, size_t size);
#define PTX_PUSH_SIZED(list, count, capacity, size)                                                \
    (*((list) = ptx_grow((list), &(count), &(capacity), (size)), &(list)[(count)-1]))
#define PTX_PUSH(list, count, capacity) PTX_PUSH_SIZED(list, count, capacity, sizeof(*(list)))
#define PTX_PUSH_POINTER(list, count, capacity)                                                    \
    PTX_PUSH_SIZED(list, count, capacity, sizeof(void *))

/* lexer.c */
void ptx_next(struct ptx_parser *p);
bool ptx_is_punct(const struct ptx_parser *p, int punct);
bool ptx_accept(struct ptx_parser *p, int punct);
void ptx_expect(struct ptx_parser *p, int punct);
bool ptx_is_dot(const struct ptx_parser *p, const char *text); /* ".reg" */
bool ptx_accept_dot(struct ptx_parser *p, const char *text);
bool ptx_is_word(const struct ptx_parser *p, const char *text);
struct ptx_name *ptx_take_name(struct ptx_parser *p); /* an identifier; fails if there is none */
char *ptx_take_string(struct ptx_parser *p);
bool ptx_parse_pragma(struct ptx_parser *p); /* is "nounroll" one of its strings? */
void ptx_enter(struct ptx_parser *p);        /* counts nesting; fails beyond the limit */
void ptx_leave(struct ptx_parser *p);

/* symbols.c */
struct ptx_name *ptx_intern(struct ptx_parser *p, const char *text, uint32_t length);
void ptx_open_scope(struct ptx_parser *p);
void ptx_close_scope(struct ptx_parser *p);
struct ptx_symbol *ptx_declare(struct ptx_parser *p, struct ptx_name *name,
                               enum ptx_symbol_kind kind, uint32_t offset);
struct ptx_symbol *ptx_lookup(struct ptx_parser *p, struct ptx_name *name);
uint32_t ptx_add_reg(struct ptx_parser *p, const char *name, enum ptx_type type);
struct ptx_symbol *ptx_declare_reg(struct ptx_parser *p, struct ptx_name *name, enum ptx_type type,
                                   unsigned vector, uint32_t offset);
void ptx_declare_range(struct ptx_parser *p, struct ptx_name *prefix, enum ptx_type type,
                       unsigned vector, uint64_t count, uint32_t offset);
void ptx_add_pending(struct ptx_parser *p, struct ptx_operand *operand, struct ptx_name *name,
                     uint32_t offset);

/* expr.c: constant expressions */
struct ptx_value ptx_parse_constant(struct ptx_parser *p);
uint64_t ptx_parse_integer(struct ptx_parser *p, const char *what);
/* The bits of a constant in a type; false if the type does not take it (1.5 for .u32, 1 for .f32).
 */
bool ptx_constant_bits(struct ptx_value value, enum ptx_type type, uint64_t *bits);

/* variables.c */
struct ptx_linkage {
    bool is_extern, is_visible, is_weak, is_common;
};
enum ptx_type ptx_take_type(struct ptx_parser *p);
void ptx_parse_variables(struct ptx_parser *p, struct ptx_linkage linkage);
struct ptx_var *ptx_parse_param(struct ptx_parser *p, struct ptx_function *owner);
void ptx_parse_registers(struct ptx_parser *p);

/* initialisers.c: after the '='. open_ended: the first dimension is open. */
void ptx_parse_initialiser(struct ptx_parser *p, struct ptx_var *var, const uint64_t *dims,
                           unsigned dim_count, bool open_ended);

/* functions.c */
void ptx_parse_function(struct ptx_parser *p, struct ptx_linkage linkage, bool is_entry);
struct ptx_function *ptx_parse_prototype(struct ptx_parser *p, struct ptx_name *name);
void ptx_parse_alias(struct ptx_parser *p);

/* body.c */
void ptx_parse_body(struct ptx_parser *p);

/* operands.c */
void ptx_parse_operands(struct ptx_parser *p);      /* up to the ';' */
void ptx_parse_call_operands(struct ptx_parser *p); /* returns, callee, arguments [, prototype] */

/* check.c: p->raws become the operands of inst, a copy of the template that fits them. */
void ptx_check_operands(struct ptx_parser *p, const struct ptx_opcode *opcode,
                        struct ptx_inst *inst, uint32_t offset);

/* check_rules.c: what rows cannot say: which suffixes, types and operands go together. */
void ptx_check_rules(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset);
/* check_bulk.c: tensor copies, bulk reductions and tensor maps. */
void ptx_check_bulk(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset);
void ptx_check_matrices(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset);
/* check_forms.c: suffixes that do not go together, targets, ranges of constants. */
void ptx_check_forms(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset);

/* check_memory.c: constant addresses of .param variables, and sizes. offset: of what is wrong. */
void ptx_check_param_address(struct ptx_parser *p, const struct ptx_inst *inst,
                             const struct ptx_operand *operand, uint32_t offset);
void ptx_check_param_value(struct ptx_parser *p, const struct ptx_inst *inst,
                           const struct ptx_operand *operand, uint32_t offset);
void ptx_check_function_sizes(struct ptx_parser *p, const struct ptx_function *function,
                              uint32_t offset);
void ptx_check_module_sizes(struct ptx_parser *p);

/* check_call.c */
void ptx_check_call(struct ptx_parser *p, struct ptx_inst *inst, uint32_t offset);
bool ptx_reg_fits(enum ptx_type reg, enum ptx_type wanted, bool may_be_wider); /* check.c */

/* debug.c */
void ptx_parse_file(struct ptx_parser *p);
void ptx_parse_loc(struct ptx_parser *p);
void ptx_parse_section(struct ptx_parser *p);
void ptx_settle_locs(struct ptx_parser *p);

#endif
