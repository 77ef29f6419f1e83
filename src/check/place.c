/*
 * place.c: names for people: source lines, functions and variables, and how an address came
 * to be wrong.
 */
#include "check/check.h"

#include "host/demangle.h"
#include "host/headers.h"

#include <stdlib.h>
#include <string.h>

void check_name(const char *mangled, struct lk_buf *text)
{
    char *name = host_demangle_briefly(mangled);
    lk_buf_printf(text, "%s", name);
    free(name);
}

/* The toolkit's own headers are not where a program goes wrong: their lines are left out, unless
 * there are no others. Copies of a loop's body have the same chain. */
static void find_chain(const struct ptx_module *module, const struct simt_inst *in,
                       struct check_chain *chain)
{
    struct check_at outside = {0};
    uint32_t at = in->ptx->loc;
    chain->count = 0;
    for (int depth = 0; at && at < module->loc_count && depth < 64; depth++) {
        const struct ptx_loc *loc = &module->locs[at];
        at = loc->inlined_at;
        if (loc->file >= module->file_count)
            continue;
        outside = (struct check_at){module->files[loc->file], loc->line};
        if (!host_is_toolkit_header(outside.file) && !host_is_system_header(outside.file) &&
            chain->count < CHECK_DEPTH)
            chain->at[chain->count++] = outside;
    }
    if (!chain->count && outside.file)
        chain->at[chain->count++] = outside;
}

void check_chain(const struct ptx_module *module, const struct simt_inst *in,
                 const struct simt_inst *apart, struct check_chain *chain)
{
    struct check_chain other;
    find_chain(module, in, chain);
    if (!apart || apart == in)
        return;
    find_chain(module, apart, &other);
    for (size_t i = 0; i < chain->count && i < other.count; i++) {
        if (chain->at[i].line == other.at[i].line && chain->at[i].file == other.at[i].file)
            continue;
        memmove(chain->at, chain->at + i, (chain->count - i) * sizeof *chain->at);
        chain->count -= i;
        return;
    }
}

bool check_is_from_header(const struct ptx_module *module, const struct simt_inst *in,
                          const char *part)
{
    for (uint32_t at = in->ptx->loc; at && at < module->loc_count;
         at = module->locs[at].inlined_at) {
        uint32_t file = module->locs[at].file;
        if (file < module->file_count && host_is_toolkit_header(module->files[file]) &&
            strstr(module->files[file], part))
            return true;
    }
    return false;
}

/* Traits
 * ------------------------------------------------------------------------------------------- */

/* The one instruction that writes each register of a function. Looked up anew for every question it
 * would cost a large kernel's size squared at each launch. */
struct writers {
    const struct ptx_function *function;
    const struct ptx_inst **of; /* [register]; &several: more than one */
};
static const struct ptx_inst several;

static void find_writers(struct writers *writers, const struct ptx_function *function)
{
    free(writers->of);
    writers->function = function;
    writers->of = lk_alloc_zeroed((function->reg_count + 1) * sizeof *writers->of);
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *ptx = &function->insts[i];
        if (ptx->operand_count && ptx->operands[0].kind == PTX_OPERAND_REG &&
            simt_flow_roles(ptx->op)->is_written[0]) {
            const struct ptx_inst **of = &writers->of[ptx->operands[0].reg];
            *of = *of ? &several : ptx;
        }
    }
}

static const struct ptx_inst *only_writer(struct writers *writers,
                                          const struct ptx_function *function, uint32_t reg)
{
    if (writers->function != function)
        find_writers(writers, function);
    return writers->of[reg] == &several ? NULL : writers->of[reg];
}

/* Kernels compute in two's complement, and so does whoever follows them. */
static int64_t sum(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x + (uint64_t)y);
}

static int64_t product(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x * (uint64_t)y);
}

/* What an address comes from, before it was moved or turned into another space. */
struct root {
    uint32_t reg;
    const struct ptx_var *var;
    int64_t imm;
};

static struct root root_of(struct writers *writers, const struct ptx_function *function,
                           const struct ptx_operand *address)
{
    struct root root = {address->reg, address->var, address->imm};
    for (int i = 0; i < 16 && root.reg != PTX_NO_REG; i++) {
        const struct ptx_inst *ptx = only_writer(writers, function, root.reg);
        if (ptx && ptx->op == PTX_OP_ADD && ptx->operands[1].kind == PTX_OPERAND_REG &&
            ptx->operands[2].kind == PTX_OPERAND_IMM) {
            root.reg = ptx->operands[1].reg;
            root.imm = sum(root.imm, ptx->operands[2].imm);
            continue;
        }
        if (!ptx || (ptx->op != PTX_OP_MOV && ptx->op != PTX_OP_CVTA && ptx->op != PTX_OP_CVTA_TO))
            break;
        const struct ptx_operand *from = &ptx->operands[1];
        if (from->kind == PTX_OPERAND_REG) {
            root.reg = from->reg;
        } else if (from->kind == PTX_OPERAND_VAR && !root.var) {
            root = (struct root){PTX_NO_REG, from->var, sum(root.imm, from->imm)};
        } else {
            break;
        }
    }
    return root;
}

static const struct ptx_operand *address_operand(const struct ptx_inst *ptx)
{
    for (unsigned i = 0; i < ptx->operand_count; i++)
        if (ptx->operands[i].kind == PTX_OPERAND_ADDRESS)
            return &ptx->operands[i];
    return NULL;
}

static const struct ptx_function *owner_of(const struct simt_code *code, const struct ptx_inst *ptx)
{
    for (uint32_t i = 0; i < code->function_count; i++) {
        const struct ptx_function *function = code->functions[i].ptx;
        if (ptx >= function->insts && ptx < function->insts + function->inst_count)
            return function;
    }
    return NULL;
}

/* Where the atomics of one kind are. */
struct atomics {
    struct {
        const struct ptx_function *function;
        struct root root;
    } * items;
    size_t count;
};

static void find_atomics(const struct simt_code *code, struct writers *writers,
                         bool (*is_wanted)(const struct ptx_inst *atomic), struct atomics *atomics)
{
    for (uint32_t i = 0; i < code->inst_count; i++) {
        const struct ptx_inst *ptx = code->insts[i].ptx;
        if (!is_wanted(ptx))
            continue;
        const struct ptx_function *function = owner_of(code, ptx);
        const struct ptx_operand *address = address_operand(ptx);
        if (!function || !address)
            continue;
        atomics->items = lk_realloc(atomics->items, (atomics->count + 1) * sizeof *atomics->items);
        atomics->items[atomics->count].function = function;
        atomics->items[atomics->count++].root = root_of(writers, function, address);
    }
}

/* Does the function use one of these atomics at the address that the load reads? */
static bool feeds(const struct simt_code *code, struct writers *writers, const struct ptx_inst *ptx,
                  const struct atomics *atomics)
{
    const struct ptx_function *function = atomics->count ? owner_of(code, ptx) : NULL;
    const struct ptx_operand *address = address_operand(ptx);
    if (!function || !address)
        return false;
    struct root mine = root_of(writers, function, address);
    for (size_t i = 0; i < atomics->count; i++) {
        const struct root *theirs = &atomics->items[i].root;
        if (atomics->items[i].function == function && theirs->reg == mine.reg &&
            theirs->var == mine.var && theirs->imm == mine.imm)
            return true;
    }
    return false;
}

/* The programming guide's own loop reads plainly, then swaps only if nothing has changed. */
static bool is_cas(const struct ptx_inst *ptx)
{
    return ptx->op == PTX_OP_ATOM_CAS;
}

/* if (x < v) atomicMax(&x, v): an old value costs one atomic more, or is decided by it. A sum that
 * is not complete yet decides something. */
bool check_is_idempotent(const struct ptx_inst *ptx)
{
    return ptx_op_infos[ptx->op].group == PTX_GROUP_ATOMIC && ptx->operand_count &&
           (ptx_has(ptx, PTX_MOD_MIN) || ptx_has(ptx, PTX_MOD_MAX) || ptx_has(ptx, PTX_MOD_AND) ||
            ptx_has(ptx, PTX_MOD_OR) || ptx_has(ptx, PTX_MOD_EXCH));
}

/* An address that is a variable's plus something stays inside of that variable. */
static const struct ptx_var *variable_of(struct writers *writers,
                                         const struct ptx_function *function,
                                         const struct ptx_operand *operand, int depth)
{
    if (operand->var)
        return operand->var;
    if (operand->reg == PTX_NO_REG || depth > 8 ||
        (operand->kind != PTX_OPERAND_REG && operand->kind != PTX_OPERAND_ADDRESS))
        return NULL;
    const struct ptx_inst *ptx = only_writer(writers, function, operand->reg);
    if (!ptx)
        return NULL;
    if (ptx->op == PTX_OP_MOV)
        return variable_of(writers, function, &ptx->operands[1], depth + 1);
    if (ptx->op != PTX_OP_ADD)
        return NULL;
    const struct ptx_var *left = variable_of(writers, function, &ptx->operands[1], depth + 1);
    const struct ptx_var *right = variable_of(writers, function, &ptx->operands[2], depth + 1);
    return left && right ? NULL : left ? left : right;
}

void check_shared_variables(struct check *check)
{
    const struct simt_code *code = check->launch->code;
    struct writers writers = {0};
    for (uint32_t i = 0; code->shared_var_count > 0 && i < code->inst_count; i++) {
        const struct watch_inst *what = &check->launch->watch->insts[i];
        const struct ptx_inst *ptx = code->insts[i].ptx;
        if ((what->kind != WATCH_LOAD && what->kind != WATCH_STORE && what->kind != WATCH_RED &&
             what->kind != WATCH_ATOM) ||
            what->space != PTX_SPACE_SHARED)
            continue;
        const struct ptx_function *function = owner_of(code, ptx);
        const struct ptx_operand *address = address_operand(ptx);
        const struct ptx_var *var =
            function && address ? variable_of(&writers, function, address, 0) : NULL;
        for (uint32_t k = 0; var && k < code->shared_var_count; k++)
            if (code->shared_vars[k].var == var)
                check->caches[i].shared = &code->shared_vars[k];
    }
    free(writers.of);
}

/* Of an element of an array, not of a single word, which may be a flag. */
static bool is_of_array(const struct simt_code *code, struct writers *writers,
                        const struct ptx_inst *ptx)
{
    if (ptx->op != PTX_OP_LD && ptx->op != PTX_OP_ST && ptx->op != PTX_OP_LD_SYNC &&
        ptx->op != PTX_OP_ST_SYNC)
        return false;
    const struct ptx_function *function = owner_of(code, ptx);
    const struct ptx_operand *address = address_operand(ptx);
    return function && address && root_of(writers, function, address).reg != PTX_NO_REG;
}

/* Atomics and ordered accesses of block scope; a cluster of one block is no more than that. */
static bool is_narrow(const struct ptx_inst *ptx, const struct simt_launch *launch)
{
    const uint32_t *cluster = launch->cluster;
    bool alone = cluster[0] <= 1 && cluster[1] <= 1 && cluster[2] <= 1;
    return ptx_has(ptx, PTX_MOD_CTA) || (alone && ptx_has(ptx, PTX_MOD_CLUSTER));
}

/* CUB and Thrust. Most of the toolkit's other headers are thin wraps of one instruction, such as
 * atomicAdd and cuda::atomic_ref, and what they do is the user's doing. */
static bool is_library(const char *file)
{
    return file && (strstr(file, "/cub/") || strstr(file, "/thrust/")) &&
           host_is_toolkit_header(file);
}

/* Was the instruction written in one of these files, or inlined there? */
static bool comes_from(const struct ptx_module *module, uint32_t loc, const bool *files)
{
    for (; loc && loc < module->loc_count; loc = module->locs[loc].inlined_at)
        if (module->locs[loc].file < module->file_count && files[module->locs[loc].file])
            return true;
    return false;
}

uint8_t *check_traits(const struct simt_launch_state *launch, bool strict, bool *has_narrow)
{
    const struct simt_code *code = launch->code;
    const struct ptx_module *module = launch->kernel->ptx->module;
    uint8_t *traits = lk_alloc_zeroed(code->inst_count + 1);
    bool *library = lk_alloc_zeroed(module->file_count + 1); /* [file] */
    for (uint32_t i = 0; i < module->file_count; i++)
        library[i] = is_library(module->files[i]);
    struct writers writers = {0};
    struct atomics swaps = {0}, others = {0};
    find_atomics(code, &writers, is_cas, &swaps);
    find_atomics(code, &writers, check_is_idempotent, &others);
    *has_narrow = false;
    for (uint32_t i = 0; i < code->inst_count; i++) {
        const struct ptx_inst *ptx = code->insts[i].ptx;
        if (ptx->op == PTX_OP_LD && feeds(code, &writers, ptx, &swaps))
            traits[i] |= CHECK_TRAIT_FEEDS_CAS;
        if (ptx->op == PTX_OP_LD && feeds(code, &writers, ptx, &others))
            traits[i] |= CHECK_TRAIT_PRECHECK;
        if (launch->watch->insts[i].is_ordered && is_narrow(ptx, launch->launch)) {
            traits[i] |= CHECK_TRAIT_NARROW;
            *has_narrow = true;
        }
        bool is_volatile = ptx_has(ptx, PTX_MOD_VOLATILE);
        if ((is_volatile || (strict && ptx_has(ptx, PTX_MOD_RELAXED))) &&
            is_of_array(code, &writers, ptx))
            traits[i] |=
                (is_volatile ? CHECK_TRAIT_VOLATILE : 0) | (strict ? CHECK_TRAIT_PLAIN : 0);
        if (comes_from(module, ptx->loc, library))
            traits[i] |= CHECK_TRAIT_LIBRARY;
    }
    free(swaps.items);
    free(others.items);
    free(writers.of);
    free(library);
    return traits;
}

/* Indices
 * ------------------------------------------------------------------------------------------- The
 * value of a register is worked out again from special registers, parameters and constants, once in
 * the width it has and once without limit. */

struct value {
    bool known;
    int64_t wrapped, real;
};

struct tracer {
    const struct watch_access *access;
    const struct ptx_function *function;
    struct writers writers;
    int lane;
    unsigned steps;
    /* The first widening of a value that did not fit into 32 bits: */
    const struct ptx_inst *overflow;
    int64_t wanted, got;
    int64_t scale; /* bytes of an element */
};

static struct value unknown(void)
{
    return (struct value){false, 0, 0};
}

static struct value exactly(int64_t value)
{
    return (struct value){true, value, value};
}

static struct value special(const struct tracer *tracer, enum ptx_sreg sreg)
{
    const struct simt_warp *w = tracer->access->w;
    const struct simt_launch *launch = w->block->launch->launch;
    uint32_t thread = w->index * SIMT_LANES + (uint32_t)tracer->lane;
    const uint32_t *size = launch->block;
    switch (sreg) {
    case PTX_SREG_TID_X:
        return exactly(thread % size[0]);
    case PTX_SREG_TID_Y:
        return exactly(thread / size[0] % size[1]);
    case PTX_SREG_TID_Z:
        return exactly(thread / size[0] / size[1]);
    case PTX_SREG_NTID_X:
    case PTX_SREG_NTID_Y:
    case PTX_SREG_NTID_Z:
        return exactly(size[sreg - PTX_SREG_NTID_X]);
    case PTX_SREG_CTAID_X:
    case PTX_SREG_CTAID_Y:
    case PTX_SREG_CTAID_Z:
        return exactly(w->block->index[sreg - PTX_SREG_CTAID_X]);
    case PTX_SREG_NCTAID_X:
    case PTX_SREG_NCTAID_Y:
    case PTX_SREG_NCTAID_Z:
        return exactly(launch->grid[sreg - PTX_SREG_NCTAID_X]);
    default:
        return unknown();
    }
}

static struct value register_value(struct tracer *tracer, uint32_t reg);

static struct value operand_value(struct tracer *tracer, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_IMM:
        return exactly(operand->imm);
    case PTX_OPERAND_SREG:
        return special(tracer, operand->sreg);
    case PTX_OPERAND_REG:
        return register_value(tracer, operand->reg);
    default:
        return unknown();
    }
}

/* Parameters of calls are .param variables too. */
static bool is_kernel_parameter(const struct ptx_function *function, const struct ptx_var *var)
{
    for (uint32_t i = 0; function->is_entry && i < function->param_count; i++)
        if (function->params[i].var == var)
            return true;
    return false;
}

static struct value parameter(const struct tracer *tracer, const struct ptx_inst *ptx)
{
    const struct ptx_operand *from = &ptx->operands[1];
    unsigned bits = ptx_type_bits(ptx->types[ptx->type_count - 1]);
    if (!from->var || !is_kernel_parameter(tracer->function, from->var) || bits > 64 ||
        ptx->operands[0].kind != PTX_OPERAND_REG)
        return unknown();
    const uint8_t *at = tracer->access->w->block->launch->params + from->var->offset + from->imm;
    int64_t value = 0;
    memcpy(&value, at, bits / 8);
    return exactly(bits == 32 ? (int32_t)value : value);
}

static struct value narrow(struct value value, unsigned bits)
{
    if (bits == 32)
        value.wrapped = (int32_t)value.wrapped;
    else
        value.real = value.wrapped; /* of a 64-bit result nothing is lost any more */
    return value;
}

/* A value of 32 bits is made one of 64. */
static int64_t widen(struct tracer *tracer, const struct ptx_inst *ptx, struct value value,
                     bool is_signed)
{
    int64_t got = is_signed ? (int32_t)value.wrapped : (int64_t)(uint32_t)value.wrapped;
    bool fits = is_signed ? value.real >= INT32_MIN && value.real <= INT32_MAX
                          : value.real >= INT32_MIN && value.real <= UINT32_MAX;
    if (!fits && !tracer->overflow) {
        tracer->overflow = ptx;
        tracer->wanted = value.real;
        tracer->got = got;
    }
    return got;
}

static struct value computed(struct tracer *tracer, const struct ptx_inst *ptx)
{
    enum ptx_type type = ptx->type_count ? ptx->types[ptx->type_count - 1] : PTX_TYPE_NONE;
    unsigned bits = ptx_type_bits(type);
    struct value v[3] = {unknown(), unknown(), unknown()}, result = exactly(0);
    if (ptx->op == PTX_OP_LD)
        return parameter(tracer, ptx);
    for (unsigned i = 1; i < ptx->operand_count && i < 4; i++) {
        v[i - 1] = operand_value(tracer, &ptx->operands[i]);
        if (!v[i - 1].known && ptx->op != PTX_OP_ADD && ptx->op != PTX_OP_MAD_WIDE)
            return unknown();
    }
    bool is_signed = ptx_type_kind(type) == PTX_KIND_SIGNED;
    switch (ptx->op) {
    case PTX_OP_MOV:
    case PTX_OP_CVTA:
    case PTX_OP_CVTA_TO:
        return v[0];
    case PTX_OP_ADD: /* of a pointer that is not known and an index */
        if (!v[0].known || !v[1].known)
            return unknown();
        result.wrapped = sum(v[0].wrapped, v[1].wrapped);
        result.real = sum(v[0].real, v[1].real);
        return narrow(result, bits);
    case PTX_OP_SUB:
        result.wrapped = sum(v[0].wrapped, product(v[1].wrapped, -1));
        result.real = sum(v[0].real, product(v[1].real, -1));
        return narrow(result, bits);
    case PTX_OP_MUL_LO:
    case PTX_OP_MAD_LO:
        result.wrapped = product(v[0].wrapped, v[1].wrapped);
        result.real = product(v[0].real, v[1].real);
        if (ptx->op == PTX_OP_MAD_LO) {
            result.wrapped = sum(result.wrapped, v[2].wrapped);
            result.real = sum(result.real, v[2].real);
        }
        return narrow(result, bits);
    case PTX_OP_SHL:
        if (v[1].wrapped < 0 || v[1].wrapped > 31)
            return unknown();
        result.wrapped = (int64_t)((uint64_t)v[0].wrapped << v[1].wrapped);
        result.real = product(v[0].real, INT64_C(1) << v[1].wrapped);
        tracer->scale = bits == 64 ? INT64_C(1) << v[1].wrapped : tracer->scale;
        return narrow(result, bits);
    case PTX_OP_MUL_WIDE:
    case PTX_OP_MAD_WIDE:
        tracer->scale = v[1].wrapped;
        if (!v[0].known || bits != 32)
            return unknown();
        result.wrapped = product(widen(tracer, ptx, v[0], is_signed), v[1].wrapped);
        return narrow(result, 64);
    case PTX_OP_CVT: /* types: the new one, then the old one */
        if (ptx->type_count < 2 || ptx_type_bits(ptx->types[0]) != 64 || bits != 32)
            return ptx->type_count == 2 && ptx_type_bits(ptx->types[0]) == 32 && bits == 64
                       ? narrow(v[0], 32)
                       : unknown();
        result.wrapped = widen(tracer, ptx, v[0], is_signed);
        return narrow(result, 64);
    default:
        return unknown();
    }
}

/* Only registers that are written in one place have a value that is known from there. */
static struct value register_value(struct tracer *tracer, uint32_t reg)
{
    if (++tracer->steps > 256)
        return unknown();
    const struct ptx_inst *found = only_writer(&tracer->writers, tracer->function, reg);
    return found ? computed(tracer, found) : unknown();
}

void check_explain_index(struct check *check, const struct watch_access *access, int lane,
                         struct lk_buf *text)
{
    struct tracer tracer = {.access = access, .lane = lane, .scale = access->bytes};
    tracer.function = owner_of(check->launch->code, access->in->ptx);
    const struct ptx_operand *operand = address_operand(access->in->ptx);
    if (!tracer.function || !operand || operand->reg == PTX_NO_REG)
        return;
    register_value(&tracer, operand->reg);
    free(tracer.writers.of);
    if (tracer.overflow) {
        lk_buf_printf(text,
                      "; the index overflows 32 bits: it should be %lld and becomes %lld (compute "
                      "it in 64 bits)",
                      (long long)tracer.wanted, (long long)tracer.got);
        return;
    }
    struct check_allocation found;
    uint64_t step = (uint64_t)tracer.scale << 32;
    if (tracer.scale > 0 && tracer.scale <= 64 &&
        check_find_allocation(check, access->addresses[lane] + step, &found))
        lk_buf_printf(text,
                      "; 2^32 elements further it would be inside allocation #%u: an index has "
                      "probably overflowed 32 bits",
                      found.number);
}
