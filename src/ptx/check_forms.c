/*
 * check_forms.c: suffixes that each fit the row of ops.def but not one another, targets that a form
 * needs, and ranges of constants. All as ptxas 13.0 has it; tests/ptx_front/compare_ptxas.py
 * compares.
 */
#include "ptx/front.h"

#define FAIL(...) ptx_fail(p, offset, __VA_ARGS__)

/* Suffixes that exclude each other ---------------------------------------------------------------
 */

#define SHARED_SPACES PTX_MOD_SHARED, PTX_MOD_SHARED_CTA, PTX_MOD_SHARED_CLUSTER
#define PARAM_SPACES PTX_MOD_PARAM, PTX_MOD_PARAM_ENTRY, PTX_MOD_PARAM_FUNC
static const uint16_t outside_l2[] = {SHARED_SPACES, PARAM_SPACES, PTX_MOD_LOCAL, PTX_MOD_CONST, 0};
static const uint16_t own_spaces[] = {PARAM_SPACES, PTX_MOD_LOCAL, PTX_MOD_CONST, 0};
static const uint16_t cache_hint[] = {PTX_MOD_L2_CACHE_HINT, 0};
static const uint16_t l1_priority[] = {PTX_MOD_L1_EVICT_NORMAL, PTX_MOD_L1_EVICT_UNCHANGED,
                                       PTX_MOD_L1_EVICT_FIRST,  PTX_MOD_L1_EVICT_LAST,
                                       PTX_MOD_L1_NO_ALLOCATE,  0};
static const uint16_t l2_prefetch[] = {PTX_MOD_L2_64B, PTX_MOD_L2_128B, PTX_MOD_L2_256B, 0};
static const uint16_t cache_operator[] = {PTX_MOD_CA, PTX_MOD_CG, PTX_MOD_CS, PTX_MOD_LU,
                                          PTX_MOD_CV, PTX_MOD_WB, PTX_MOD_WT, 0};
static const uint16_t direct[] = {PTX_MOD_VOLATILE, PTX_MOD_MMIO_RELAXED, 0};
static const uint16_t ordered[] = {PTX_MOD_RELAXED, PTX_MOD_ACQUIRE, PTX_MOD_RELEASE,
                                   PTX_MOD_MMIO_RELAXED, 0};
static const uint16_t mmio[] = {PTX_MOD_MMIO_RELAXED, 0};
static const uint16_t below_system[] = {PTX_MOD_CTA, PTX_MOD_CLUSTER, PTX_MOD_GPU, 0};
static const uint16_t l2_priority[] = {PTX_MOD_L2_EVICT_NORMAL, PTX_MOD_L2_EVICT_FIRST,
                                       PTX_MOD_L2_EVICT_LAST, 0};

static enum ptx_mod first_of(const struct ptx_inst *inst, const uint16_t *mods)
{
    for (; *mods; mods++)
        if (ptx_has(inst, *mods))
            return *mods;
    return 0;
}

static bool is_access(enum ptx_op op)
{
    switch (op) {
    case PTX_OP_LD:
    case PTX_OP_LD_NC:
    case PTX_OP_LD_SYNC:
    case PTX_OP_ST:
    case PTX_OP_ST_SYNC:
        return true;
    default:
        return false;
    }
}

static void check_wide_access(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    unsigned length = ptx_has(inst, PTX_MOD_V8) ? 8 : ptx_has(inst, PTX_MOD_V4) ? 4 : 1;
    unsigned bits = ptx_type_bits(inst->types[0]);
    bool is_wide = length * bits == 256;
    if (is_wide && p->module->target < 100)
        FAIL("%s: 256 bits at once need .target sm_100 or newer", inst->text);
    enum ptx_mod priority = first_of(inst, l2_priority);
    if (priority && !is_wide)
        FAIL("%s: .%s goes with .v8.b32 and .v4.b64", inst->text, ptx_mod_name(priority));
}

static void check_access(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    static const struct {
        const uint16_t *one, *other;
    } conflicts[] = {{l1_priority, outside_l2},     {l2_prefetch, outside_l2},
                     {cache_hint, outside_l2},      {ordered, own_spaces},
                     {l1_priority, cache_operator}, {l1_priority, direct},
                     {l2_prefetch, mmio},           {cache_operator, direct},
                     {cache_hint, direct},          {mmio, below_system}};
    for (unsigned i = 0; i < sizeof(conflicts) / sizeof(*conflicts); i++) {
        enum ptx_mod one = first_of(inst, conflicts[i].one);
        enum ptx_mod other = one ? first_of(inst, conflicts[i].other) : 0;
        if (other)
            FAIL("%s: .%s and .%s do not go together", inst->text, ptx_mod_name(one),
                 ptx_mod_name(other));
    }
    check_wide_access(p, inst, offset);
}

/* Atomics have their hints in the L2 only. */
static void check_atomic_form(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    enum ptx_mod space = first_of(inst, outside_l2);
    bool is_vector = inst->op == PTX_OP_ATOM_VEC || inst->op == PTX_OP_RED_VEC;
    enum ptx_type type = inst->types[0];
    if (ptx_has(inst, PTX_MOD_L2_CACHE_HINT) && space)
        FAIL("%s: .L2::cache_hint does not go with .%s", inst->text, ptx_mod_name(space));
    if (ptx_has(inst, PTX_MOD_L2_CACHE_HINT) && inst->op == PTX_OP_ATOM_CAS)
        FAIL("%s: .L2::cache_hint does not go with .cas", inst->text);
    if (!is_vector)
        return;
    if (space)
        FAIL("%s: vectors are for global memory", inst->text);
    if (ptx_has(inst, PTX_MOD_NOFTZ) != (type != PTX_F32))
        FAIL("%s: .noftz goes with the 16-bit formats, which need it", inst->text);
    if (type == PTX_F32 && !ptx_has(inst, PTX_MOD_ADD))
        FAIL("%s: .f32 has .add only", inst->text);
}

/* An order of mbarrier operations comes with its scope, and a scope with an order. */
static void check_scope(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    bool has_order = first_of(inst, ordered), has_scope = first_of(inst, below_system);
    if (strcmp(ptx_op_infos[inst->op].mnemonic, "mbarrier") == 0 && has_order != has_scope)
        FAIL("%s: an order and a scope come together", inst->text);
}

static void check_restricted_fence(struct ptx_parser *p, const struct ptx_inst *inst,
                                   uint32_t offset)
{
    if ((inst->op == PTX_OP_FENCE_RESTRICT || inst->op == PTX_OP_FENCE_PROXY_RESTRICT) &&
        ptx_has(inst, PTX_MOD_ACQUIRE) != ptx_has(inst, PTX_MOD_SYNC_RESTRICT_SHARED_CLUSTER))
        FAIL("%s: .acquire goes with .shared::cluster, .release with .shared::cta", inst->text);
}

/* What targets have ------------------------------------------------------------------------------
 */

static bool is_since(const struct ptx_module *module, unsigned target, unsigned version)
{
    return module->target >= target &&
           module->version_major * 10 + module->version_minor >= version;
}

static void check_target(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    switch (inst->op) {
    case PTX_OP_FADD_X2:
    case PTX_OP_FSUB_X2:
    case PTX_OP_FMUL_X2:
    case PTX_OP_FMA_X2:
        if (p->module->target < 100)
            FAIL("%s needs .target sm_100 or newer", inst->text);
        return;
    case PTX_OP_LDU:
        if (ptx_has(inst, PTX_MOD_V4) && ptx_type_bits(inst->types[0]) == 64)
            FAIL("%s: vectors have at most 128 bits", inst->text);
        return;
    case PTX_OP_CVT_TF32:
        if (ptx_has(inst, PTX_MOD_SATFINITE) && !ptx_has(inst, PTX_MOD_RNA) &&
            p->module->target < 100)
            FAIL("%s: .satfinite needs .rna, or .target sm_100 or newer", inst->text);
        return;
    case PTX_OP_VOTE_PRED_OLD:
    case PTX_OP_VOTE_BALLOT_OLD:
    case PTX_OP_SHFL_OLD:
        if (is_since(p->module, 70, 64))
            FAIL("%s needs .sync and a mask, from sm_70 and PTX 6.4 on", inst->text);
        return;
    case PTX_OP_CVTA:
    case PTX_OP_CVTA_TO:
        if (inst->types[0] == PTX_U32 && p->module->address_size == 64)
            FAIL("%s: generic addresses have 64 bits here", inst->text);
        return;
    case PTX_OP_WMMA_MMA_F16:
        if (ptx_has(inst, PTX_MOD_SATFINITE) && is_since(p->module, 0, 65))
            FAIL("%s: there is no .satfinite with .f16 from PTX 6.5 on", inst->text);
        return;
    default:
        return;
    }
}

/* Types ------------------------------------------------------------------------------------------
 */

/* A handle is all of the address; what goes to and from a surface fits its registers. */
static void check_texture(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    bool is_logic = ptx_has(inst, PTX_MOD_AND) || ptx_has(inst, PTX_MOD_OR);
    bool is_surface = inst->op >= PTX_OP_SULD && inst->op <= PTX_OP_SURED_P;
    if (inst->op == PTX_OP_SURED && is_logic != (inst->types[0] == PTX_B32))
        FAIL("%s: .and and .or are for .b32, all else for numbers", inst->text);
    for (unsigned i = 0; i < inst->operand_count; i++) {
        const struct ptx_operand *operand = &inst->operands[i];
        bool is_list = operand->kind == PTX_OPERAND_VECTOR;
        if (operand->kind == PTX_OPERAND_ADDRESS) {
            if (operand->imm ||
                (operand->reg != PTX_NO_REG && ptx_type_bits(p->regs[operand->reg].type) != 64))
                FAIL("%s: the handle is a .b64 register, with no offset", inst->text);
            continue;
        }
        for (uint32_t k = 0; is_surface && k < (is_list ? operand->item_count : 1); k++) {
            const struct ptx_operand *item = is_list ? &operand->items[k] : operand;
            if (item->kind == PTX_OPERAND_REG &&
                ptx_type_bits(p->regs[item->reg].type) < ptx_type_bits(inst->types[0]))
                FAIL("%s: %s is narrower than .%s", inst->text, p->regs[item->reg].name,
                     ptx_type_name(inst->types[0]));
        }
    }
    if (inst->op >= PTX_OP_TEX && inst->op <= PTX_OP_TLD4) {
        unsigned texels = ptx_has(inst, PTX_MOD_V2) ? 2 : 4;
        if (inst->operands[0].kind != PTX_OPERAND_VECTOR || inst->operands[0].item_count != texels)
            FAIL("%s: the result is a vector of %u", inst->text, texels);
    }
}

/* Operands that have to be registers, though others of their kind may be constants. */
static void check_registers(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    bool is_simd = inst->op >= PTX_OP_VADD2 && inst->op <= PTX_OP_VSET4;
    bool is_single = inst->op == PTX_OP_STACKRESTORE || inst->op == PTX_OP_MOVMATRIX;
    for (unsigned i = 0; (is_simd || is_single) && i < inst->operand_count; i++)
        if (inst->operands[i].kind == PTX_OPERAND_IMM)
            FAIL("%s: operand %u must be a register", inst->text, i + 1);
    if (inst->op == PTX_OP_ISTYPEP && inst->operands[1].kind == PTX_OPERAND_REG &&
        ptx_type_bits(p->regs[inst->operands[1].reg].type) != 64)
        FAIL("%s: the handle is a .b64 register", inst->text);
}

static void check_types(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    enum ptx_type one = inst->types[0],
                  last = inst->types[inst->type_count ? inst->type_count - 1 : 0];
    switch (inst->op) {
    case PTX_OP_SET_INT:
    case PTX_OP_SET_INT_BOOL:
    case PTX_OP_SET_FLOAT:
    case PTX_OP_SET_FLOAT_BOOL:
        if ((one == PTX_U16 || one == PTX_S16) && last != PTX_F16 && last != PTX_BF16)
            FAIL("%s: .%s comes of .f16 and .bf16 only", inst->text, ptx_type_name(one));
        if (one == PTX_F32 && (last == PTX_F16 || last == PTX_BF16))
            FAIL("%s: .f32 comes of .f32 and .f64 only", inst->text);
        if (one == PTX_BF16 && ptx_has(inst, PTX_MOD_FTZ))
            FAIL("%s: .ftz does not go with .bf16", inst->text);
        return;
    case PTX_OP_SETP_FLOAT:
    case PTX_OP_SETP_FLOAT_BOOL:
        if ((one == PTX_F16 || one == PTX_BF16) && inst->operands[0].pair != PTX_NO_REG)
            FAIL("%s has one result", inst->text);
        return;
    case PTX_OP_MOV_VECTOR:
        if (ptx_type_bits(one) * (ptx_has(inst, PTX_MOD_V4) ? 4 : 2) > 128)
            FAIL("%s: vectors have at most 128 bits", inst->text);
        return;
    case PTX_OP_MMA_F16:
        if (!ptx_has(inst, PTX_MOD_M8N8K4) &&
            (inst->slots[3] != PTX_MOD_ROW || inst->slots[4] != PTX_MOD_COL))
            FAIL("%s: this shape has .row.col only", inst->text);
        if (last == PTX_F32 && one != PTX_F32)
            FAIL("%s: an addend in .f32 needs a result in .f32", inst->text);
        return;
    case PTX_OP_WMMA_MMA_INT:
        if (inst->types[1] != inst->types[2])
            FAIL("%s: A and B have one type", inst->text);
        return;
    case PTX_OP_RED_ASYNC:
        if (ptx_has(inst, PTX_MOD_SHARED_CTA))
            FAIL("%s: .cluster goes with .shared::cluster", inst->text);
        return;
    case PTX_OP_PREFETCH:
        if (ptx_has(inst, PTX_MOD_LOCAL) && first_of(inst, l2_priority))
            FAIL("%s: priorities are for global memory", inst->text);
        return;
    default:
        return;
    }
}

/* Constants --------------------------------------------------------------------------------------
 */

static const struct {
    uint16_t op;
    uint8_t operand;
    int64_t least, most;
    unsigned multiple;
} ranges[] = {
    {PTX_OP_BFE, 2, 0, 255, 1},
    {PTX_OP_BFE, 3, 0, 255, 1},
    {PTX_OP_BFI, 3, 0, 255, 1},
    {PTX_OP_BFI, 4, 0, 255, 1},
    {PTX_OP_APPLYPRIORITY, 1, 128, 128, 1},
    {PTX_OP_DISCARD, 1, 128, 128, 1},
    {PTX_OP_BAR_SYNC, 0, 0, 15, 1},
    {PTX_OP_BAR_SYNC, 1, 0, UINT16_MAX, 32},
    {PTX_OP_BAR_ARRIVE, 0, 0, 15, 1},
    {PTX_OP_BAR_ARRIVE, 1, 32, UINT16_MAX, 32},
    {PTX_OP_BAR_RED_POPC, 1, 0, 15, 1},
    {PTX_OP_BAR_RED_BOOL, 1, 0, 15, 1},
    {PTX_OP_BARRIER_SYNC, 0, 0, 15, 1},
    {PTX_OP_BARRIER_SYNC, 1, 0, UINT16_MAX, 32},
    {PTX_OP_BARRIER_ARRIVE, 0, 0, 15, 1},
    {PTX_OP_BARRIER_ARRIVE, 1, 32, UINT16_MAX, 32},
    {PTX_OP_BARRIER_RED_POPC, 1, 0, 15, 1},
    {PTX_OP_BARRIER_RED_BOOL, 1, 0, 15, 1},
    {PTX_OP_CP_BULK_G2S, 2, 0, UINT32_MAX, 16},
    {PTX_OP_CP_BULK_S2G, 2, 0, UINT32_MAX, 16},
    {PTX_OP_CP_BULK_S2S, 2, 0, UINT32_MAX, 16},
    {PTX_OP_CP_BULK_PREFETCH, 1, 0, UINT32_MAX, 16},
    {PTX_OP_BULK_RED_G, 2, 0, UINT32_MAX, 16},
    {PTX_OP_BULK_RED_S, 2, 0, UINT32_MAX, 16},
    {PTX_OP_MBARRIER_ARRIVE, 2, 1, INT32_MAX, 1},
    {PTX_OP_TENSORMAP_REPLACE_DIM, 1, 0, 4, 1},
    {PTX_OP_MBARRIER_ARRIVE_NC, 2, 1, INT32_MAX, 1},
    {PTX_OP_MBARRIER_ARRIVE_DROP_NC, 2, 1, INT32_MAX, 1},
    {PTX_OP_MBARRIER_TEST_WAIT_PARITY, 2, 0, 1, 1},
    {PTX_OP_MBARRIER_TRY_WAIT_PARITY, 2, 0, 1, 1},
};

static void check_range(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset,
                        unsigned operand, int64_t least, int64_t most)
{
    int64_t value = inst->operands[operand].imm;
    if (value < least || value > most)
        FAIL("%s: operand %u is %lld; it must be from %lld to %lld", inst->text, operand + 1,
             (long long)value, (long long)least, (long long)most);
}

static void check_ranges(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    for (unsigned i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        unsigned operand = ranges[i].operand;
        if (ranges[i].op != inst->op || operand >= inst->operand_count ||
            inst->operands[operand].kind != PTX_OPERAND_IMM)
            continue;
        check_range(p, inst, offset, operand, ranges[i].least, ranges[i].most);
        if (inst->operands[operand].imm % ranges[i].multiple)
            FAIL("%s: operand %u must be a multiple of %u", inst->text, operand + 1,
                 ranges[i].multiple);
    }
    if (inst->op == PTX_OP_PMEVENT && !ptx_has(inst, PTX_MOD_MASK))
        check_range(p, inst, offset, 0, 0, 15);
    if (inst->op == PTX_OP_TENSORMAP_REPLACE_MODE)
        check_range(p, inst, offset, 1, 0,
                    ptx_has(inst, PTX_MOD_ELEMTYPE)            ? 12
                    : ptx_has(inst, PTX_MOD_INTERLEAVE_LAYOUT) ? 2
                    : ptx_has(inst, PTX_MOD_SWIZZLE_MODE)      ? 3
                                                               : 1);
}

void ptx_check_forms(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    if (is_access(inst->op))
        check_access(p, inst, offset);
    else if (ptx_op_infos[inst->op].group == PTX_GROUP_ATOMIC && inst->type_count)
        check_atomic_form(p, inst, offset);
    check_scope(p, inst, offset);
    check_restricted_fence(p, inst, offset);
    check_target(p, inst, offset);
    check_types(p, inst, offset);
    if (ptx_op_infos[inst->op].group == PTX_GROUP_TEXTURE)
        check_texture(p, inst, offset);
    check_registers(p, inst, offset);
    check_ranges(p, inst, offset);
}
