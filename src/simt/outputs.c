/*
 * outputs.c: through which of its parameters a kernel may write, for launches of which only some
 * blocks ran: what the others would have written is incomplete then, and must not be read.
 * Found in the PTX, without regard to order: each register has the parameters that its value may
 * come from, and those behind whose pointers it was loaded (tables of pointers, tensor maps). Where
 * a store's address cannot be told from them, the answer is that it is not known.
 */
#include "simt/core.h"
#include "simt/flow.h"
#include "simt/tensormap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMS = 64, MOST_STORES = 64 };
/* Bytes of a table that are looked through for pointers. */
#define LARGEST_TABLE ((uint64_t)64 << 20)

enum {
    SHARED = 1, /* the address of shared or local memory */
    NEAR = 2,   /* loaded from there; pointers count as written to when they are stored there */
    UNKNOWN = 4 /* from a module's variable, a table of tables, a call */
};

struct origin {
    uint64_t params; /* a bit each: its value, or its address */
    uint64_t tables; /* 64 bits of the memory behind these */
    uint8_t flags;
};

struct simt_outputs {
    bool unknown;
    struct origin stores[MOST_STORES]; /* each must lead to some memory */
    unsigned store_count;
    uint64_t read;         /* parameters through which it also reads */
    bool near_pointers;    /* something is stored through pointers from shared or local memory */
    struct origin escaped; /* pointers that are stored, which may be used from there */
};

struct search {
    const struct ptx_function *function;
    struct origin *regs; /* [reg_count] */
    struct simt_outputs *outputs;
    struct origin read; /* of the instruction that is looked at */
    bool changed;
};

static void unite(struct origin *to, struct origin from)
{
    to->params |= from.params;
    to->tables |= from.tables;
    to->flags |= from.flags;
}

static bool is_empty(struct origin origin)
{
    return !origin.params && !origin.tables && !origin.flags;
}

static bool is_same(struct origin a, struct origin b)
{
    return a.params == b.params && a.tables == b.tables && a.flags == b.flags;
}

static struct origin of_var(const struct search *search, const struct ptx_var *var)
{
    const struct ptx_function *function = search->function;
    if (var->space == PTX_SPACE_SHARED || var->space == PTX_SPACE_LOCAL)
        return (struct origin){.flags = SHARED};
    for (uint32_t i = 0; var->space == PTX_SPACE_PARAM && i < function->param_count; i++)
        if (function->params[i].var == var)
            return (struct origin){.params = (uint64_t)1 << i};
    return (struct origin){.flags = UNKNOWN};
}

static struct origin of_operand(const struct search *search, const struct ptx_operand *operand)
{
    struct origin origin = {0};
    for (uint32_t i = 0; operand->kind == PTX_OPERAND_VECTOR && i < operand->item_count; i++)
        unite(&origin, of_operand(search, &operand->items[i]));
    bool has_reg = operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_ADDRESS;
    if (has_reg && operand->reg != PTX_NO_REG)
        unite(&origin, search->regs[operand->reg]);
    if (operand->var)
        unite(&origin, of_var(search, operand->var));
    return origin;
}

static bool is_near(const struct ptx_inst *inst)
{
    return ptx_has(inst, PTX_MOD_SHARED) || ptx_has(inst, PTX_MOD_SHARED_CTA) ||
           ptx_has(inst, PTX_MOD_SHARED_CLUSTER) || ptx_has(inst, PTX_MOD_LOCAL);
}

/* What a load gives. Only whole words are taken for pointers. */
static struct origin of_load(const struct search *search, const struct ptx_inst *inst)
{
    const struct ptx_operand *from = &inst->operands[1];
    struct origin address = of_operand(search, from), value = {0};
    if (ptx_has(inst, PTX_MOD_PARAM) || ptx_has(inst, PTX_MOD_PARAM_ENTRY) ||
        (from->var && from->var->space == PTX_SPACE_PARAM))
        return address;
    enum ptx_type type = inst->type_count ? inst->types[0] : PTX_TYPE_NONE;
    if (ptx_type_bits(type) < 64 || ptx_type_kind(type) == PTX_KIND_FLOAT)
        return value;
    if (is_near(inst) || address.flags & SHARED)
        value.flags |= NEAR;
    if (ptx_has(inst, PTX_MOD_CONST) || address.tables || address.flags & (UNKNOWN | NEAR))
        value.flags |= UNKNOWN;
    value.tables = address.params;
    return value;
}

static struct origin value_of(const struct search *search, const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_LD:
    case PTX_OP_LD_NC:
    case PTX_OP_LD_SYNC:
    case PTX_OP_LDU:
        return of_load(search, inst);
    case PTX_OP_ALLOCA:
    case PTX_OP_STACKSAVE:
        return (struct origin){.flags = SHARED};
    default:
        break;
    }
    switch (ptx_op_infos[inst->op].group) {
    case PTX_GROUP_ATOMIC:
    case PTX_GROUP_CONTROL:
        return (struct origin){.flags = UNKNOWN};
    case PTX_GROUP_FLOAT:
    case PTX_GROUP_APPROX:
    case PTX_GROUP_HALF:
    case PTX_GROUP_TENSOR:
    case PTX_GROUP_TEXTURE:
    case PTX_GROUP_ASYNC:
    case PTX_GROUP_BARRIER:
        return (struct origin){0};
    default:
        return search->read;
    }
}

static void note_reg(void *context, uint32_t reg, bool written, bool partly)
{
    struct search *search = context;
    if (!written)
        unite(&search->read, search->regs[reg]);
}

static void give_reg(void *context, uint32_t reg, bool written, bool partly)
{
    struct search *search = context;
    enum ptx_type type = search->function->regs[reg].type;
    if (!written || ptx_type_kind(type) == PTX_KIND_PREDICATE || ptx_type_bits(type) < 32)
        return;
    struct origin before = search->regs[reg];
    unite(&search->regs[reg], search->read);
    search->changed |= !is_same(before, search->regs[reg]);
}

static void follow(struct search *search, const struct ptx_inst *inst)
{
    search->read = (struct origin){0};
    simt_flow_visit(inst, note_reg, search);
    for (unsigned i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == PTX_OPERAND_VAR)
            unite(&search->read, of_var(search, inst->operands[i].var));
    search->read = value_of(search, inst);
    if (!is_empty(search->read))
        simt_flow_visit(inst, give_reg, search);
}

/* Stores -------------------------------------------------------------------------------------- */

/* The operand that is the address of global memory, perhaps, to which it writes; or -1. */
static int written_operand(const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_RED:
    case PTX_OP_RED_NOFTZ:
    case PTX_OP_RED_VEC:
    case PTX_OP_TENSORMAP_REPLACE:
    case PTX_OP_TENSORMAP_REPLACE_DIM:
    case PTX_OP_TENSORMAP_REPLACE_MODE:
        return is_near(inst) ? -1 : 0;
    case PTX_OP_ATOM:
    case PTX_OP_ATOM_NOFTZ:
    case PTX_OP_ATOM_CAS:
    case PTX_OP_ATOM_VEC:
        return is_near(inst) ? -1 : 1;
    case PTX_OP_CP_BULK_S2G: /* these name the space of what they read, too */
    case PTX_OP_BULK_RED_G:
    case PTX_OP_TENSORMAP_COPY:
    case PTX_OP_TMA_STORE:
    case PTX_OP_TMA_REDUCE:
    case PTX_OP_DISCARD:
        return 0;
    default:
        return strncmp(ptx_op_infos[inst->op].operands, "[d]", 3) == 0 && !is_near(inst) &&
                       !ptx_has(inst, PTX_MOD_PARAM) && !ptx_has(inst, PTX_MOD_PARAM_FUNC)
                   ? 0
                   : -1;
    }
}

/* Calls printf and assertions are harmless; what others do is not looked at. */
static bool is_unknown(const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_SUST:
    case PTX_OP_SUST_P:
    case PTX_OP_SURED:
    case PTX_OP_SURED_P:
        return true;
    case PTX_OP_CALL:
        break;
    default:
        return ptx_op_infos[inst->op].group == PTX_GROUP_UNSUPPORTED;
    }
    const struct ptx_operand *callee = &inst->operands[1];
    const char *name = callee->kind == PTX_OPERAND_FUNCTION ? callee->function->name : "";
    return strcmp(name, "vprintf") != 0 && strcmp(name, "__assertfail") != 0;
}

static void add_store(struct simt_outputs *outputs, struct origin to)
{
    for (unsigned i = 0; i < outputs->store_count; i++)
        if (is_same(outputs->stores[i], to))
            return;
    if (outputs->store_count == MOST_STORES)
        outputs->unknown = true;
    else
        outputs->stores[outputs->store_count++] = to;
}

static void look_at_store(struct search *search, const struct ptx_inst *inst)
{
    struct simt_outputs *outputs = search->outputs;
    outputs->unknown |= is_unknown(inst);
    int at = written_operand(inst);
    bool also_reads = ptx_op_infos[inst->op].group == PTX_GROUP_ATOMIC ||
                      inst->op == PTX_OP_BULK_RED_G || inst->op == PTX_OP_TMA_REDUCE;
    for (int i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == PTX_OPERAND_ADDRESS && (i != at || also_reads) &&
            !ptx_has(inst, PTX_MOD_PARAM))
            outputs->read |= of_operand(search, &inst->operands[i]).params;
    bool stores = inst->op == PTX_OP_ST || inst->op == PTX_OP_ST_SYNC ||
                  inst->op == PTX_OP_ST_ASYNC || inst->op == PTX_OP_TENSORMAP_REPLACE;
    if (stores && inst->operand_count > 1) {
        struct origin value = of_operand(search, &inst->operands[1]);
        unite(&outputs->escaped, value);
        outputs->unknown |= inst->op == PTX_OP_TENSORMAP_REPLACE &&
                            ptx_has(inst, PTX_MOD_GLOBAL_ADDRESS) && !value.params && !value.tables;
    }
    if (at < 0 || at >= inst->operand_count)
        return;
    struct origin to = of_operand(search, &inst->operands[at]);
    if (to.flags & SHARED)
        return;
    if (to.flags == NEAR && !to.params && !to.tables) {
        outputs->near_pointers = true;
        return;
    }
    if (inst->op == PTX_OP_TMA_STORE || inst->op == PTX_OP_TMA_REDUCE)
        to.tables |= to.params; /* of a map in memory, too */
    to.flags &= UNKNOWN;
    add_store(outputs, to);
}

static struct simt_outputs *find_outputs(const struct ptx_function *function)
{
    struct simt_outputs *outputs = lk_alloc_zeroed(sizeof *outputs);
    if (function->param_count > MOST_PARAMS) {
        outputs->unknown = true;
        return outputs;
    }
    struct search search = {.function = function, .outputs = outputs, .changed = true};
    search.regs = lk_alloc_zeroed((function->reg_count + 1) * sizeof *search.regs);
    while (search.changed) {
        search.changed = false;
        for (uint32_t i = 0; i < function->inst_count; i++)
            follow(&search, &function->insts[i]);
    }
    for (uint32_t i = 0; i < function->inst_count; i++)
        look_at_store(&search, &function->insts[i]);
    outputs->unknown |= outputs->near_pointers && outputs->escaped.flags & UNKNOWN;
    free(search.regs);
    return outputs;
}

/* Launches ------------------------------------------------------------------------------------ */

struct places {
    struct simt_machine *machine;
    const struct ptx_function *function;
    const uint8_t *params;
    uint64_t read; /* of the parameters, those that it also reads through */
    simt_output *visit;
    void *context;
};

static bool is_place(const struct places *places, uint64_t word, struct simt_allocation *in)
{
    return word >= 4096 && word >> 48 == 0 && simt_find(places->machine, word, in);
}

/* Pointers in the memory. */
static bool visit_words(const struct places *places, const uint8_t *bytes, uint64_t size,
                        bool also_read)
{
    struct simt_allocation in;
    bool any = false;
    for (uint64_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        if (!is_place(places, word, &in))
            continue;
        places->visit(places->context, word, also_read);
        any = true;
    }
    return any;
}

/* Pointers in the memory behind those of a parameter; false: too much of it. */
static bool visit_table(const struct places *places, const uint8_t *bytes, uint64_t size, bool *any)
{
    struct simt_allocation in;
    for (uint64_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        if (!is_place(places, word, &in))
            continue;
        uint64_t begin = (word + 7) & ~(uint64_t)7, end = in.address + in.size;
        if (begin >= end)
            continue;
        const uint8_t *host = simt_host(places->machine, begin, end - begin);
        if (!host || end - begin > LARGEST_TABLE)
            return false;
        *any |= visit_words(places, host, end - begin, true);
    }
    return true;
}

static bool is_map(const uint8_t *bytes, uint64_t size)
{
    uint32_t magic = 0;
    if (size >= TENSORMAP_BYTES)
        memcpy(&magic, bytes, sizeof magic);
    return magic == TENSORMAP_MAGIC;
}

/* Memory that the origin leads to; `any`: there is some. False: it cannot be told. */
static bool visit_origin(const struct places *places, struct origin origin, bool always_tables,
                         bool *any)
{
    *any = false;
    for (int tables = 0; tables < 2; tables++) {
        if (tables && *any && !always_tables) /* what was loaded is an index */
            return true;
        if (tables && origin.flags & UNKNOWN && !always_tables)
            return false;
        for (uint32_t i = 0; i < places->function->param_count; i++) {
            if (!((tables ? origin.tables : origin.params) >> i & 1))
                continue;
            const struct ptx_var *var = places->function->params[i].var;
            if (!var)
                return false;
            const uint8_t *bytes = places->params + var->offset;
            if (!tables)
                *any |= visit_words(places, bytes, var->size, places->read >> i & 1);
            else if (!is_map(bytes, var->size) && !visit_table(places, bytes, var->size, any))
                return false;
        }
    }
    return true;
}

bool simt_kernel_outputs(struct simt_kernel *kernel, const void *params, simt_output *visit,
                         void *context)
{
    simt_kernel_code(kernel);
    pthread_mutex_lock(&kernel->lock);
    if (!kernel->code->outputs)
        kernel->code->outputs = find_outputs(kernel->ptx);
    const struct simt_outputs *outputs = kernel->code->outputs;
    pthread_mutex_unlock(&kernel->lock);
    struct places places = {.machine = kernel->module->machine,
                            .function = kernel->ptx,
                            .params = params,
                            .read = outputs->read,
                            .visit = visit,
                            .context = context};
    bool any, known = !outputs->unknown;
    for (unsigned i = 0; known && i < outputs->store_count; i++) {
        struct origin store = outputs->stores[i];
        bool maps = store.params && (store.tables & store.params) == store.params;
        known = visit_origin(&places, store, maps, &any) && any;
    }
    return known && visit_origin(&places, outputs->escaped, true, &any);
}
