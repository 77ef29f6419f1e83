/*
 * test_rows.c: every row of ops.def in the floating-point groups, spelled out with all choices of
 * its suffixes: there is a body, or PTX does not allow the combination.
 */
#include "num/harness.h"

#include "simt/num_convert.h"

enum { MAX_SLOTS = 8, MAX_CHOICES = 24 };
struct slot {
    int count;
    int choices[MAX_CHOICES]; /* 0: left out; a mod; or PTX_MOD_COUNT + type */
};

static int find_suffix(const char *text, size_t size)
{
    for (enum ptx_type type = 1; type < PTX_TYPE_COUNT; type++)
        if (strlen(ptx_type_name(type)) == size && memcmp(ptx_type_name(type), text, size) == 0)
            return PTX_MOD_COUNT + (int)type;
    for (enum ptx_mod mod = 1; mod < PTX_MOD_COUNT; mod++)
        if (strlen(ptx_mod_name(mod)) == size && strncasecmp(ptx_mod_name(mod), text, size) == 0)
            return (int)mod;
    fail_msg("no suffix %.*s", (int)size, text);
    return 0;
}
static int split_suffixes(const char *text, struct slot *slots)
{
    int count = 0;
    while (*text) {
        struct slot *slot = &slots[count++];
        *slot = (struct slot){0};
        if (*text == '[')
            slot->choices[slot->count++] = 0, text++;
        for (;;) {
            size_t size = strcspn(text, "|] ");
            slot->choices[slot->count++] = find_suffix(text, size);
            text += size;
            if (*text != '|')
                break;
            text++;
        }
        text += strspn(text, "] ");
    }
    return count;
}

static bool is_float_group(enum ptx_group group)
{
    return group == PTX_GROUP_FLOAT || group == PTX_GROUP_APPROX || group == PTX_GROUP_HALF ||
           group == PTX_GROUP_COMPARE || group == PTX_GROUP_CONVERT;
}
static enum group group_of(enum ptx_op op)
{
    switch (ptx_op_infos[op].group) {
    case PTX_GROUP_FLOAT:
        return GROUP_FLOAT;
    case PTX_GROUP_APPROX:
        return GROUP_APPROX;
    case PTX_GROUP_HALF:
        return GROUP_HALF;
    case PTX_GROUP_COMPARE:
        return GROUP_COMPARE;
    default:
        return GROUP_CONVERT;
    }
}

/* Combinations that the rows write down but PTX does not have. */
static bool is_allowed(const struct ptx_inst *ptx)
{
    enum ptx_type type = ptx->types[0], last = ptx->types[ptx->type_count - 1];
    bool ftz = ptx_has(ptx, PTX_MOD_FTZ), sat = ptx_has(ptx, PTX_MOD_SAT);
    bool is_bf16 = last == PTX_BF16 || last == PTX_BF16X2;
    switch (ptx_op_infos[ptx->op].group) {
    case PTX_GROUP_FLOAT:
        return type != PTX_F64 ||
               !(ftz || sat || ptx_has(ptx, PTX_MOD_NAN) || ptx_has(ptx, PTX_MOD_XORSIGN_ABS));
    case PTX_GROUP_APPROX:
        return ptx->op != PTX_OP_RCP_APPROX || type != PTX_F64 || ftz;
    case PTX_GROUP_HALF:
        return !is_bf16 || !ftz || ptx->op == PTX_OP_HEX2_BF;
    case PTX_GROUP_CONVERT:
        if (ptx->op == PTX_OP_CVT)
            return num_convert_is_legal(ptx);
        return ptx->op != PTX_OP_CVT_TF32 || !ptx_has(ptx, PTX_MOD_RNA) ||
               !ptx_has(ptx, PTX_MOD_RELU);
    default:
        break;
    }
    if (ptx->op == PTX_OP_SELP || ptx->op == PTX_OP_SLCT || ptx->op == PTX_OP_SLCT_F32)
        return true;
    bool is_unsigned_name = ptx_has(ptx, PTX_MOD_LO) || ptx_has(ptx, PTX_MOD_LS) ||
                            ptx_has(ptx, PTX_MOD_HI) || ptx_has(ptx, PTX_MOD_HS);
    if (ftz && (is_bf16 || last == PTX_F64))
        return false;
    if (is_unsigned_name)
        return ptx_type_kind(last) == PTX_KIND_UNSIGNED;
    bool is_equality = ptx_has(ptx, PTX_MOD_EQ) || ptx_has(ptx, PTX_MOD_NE);
    return ptx_type_kind(last) != PTX_KIND_BITS || is_equality;
}

static unsigned register_bits(enum ptx_type type)
{
    unsigned bits = ptx_type_bits(type);
    return bits == 1 || bits >= 16 ? bits : 16;
}

static void test_every_row(void **state)
{
    (void)state;
    int combinations = 0, bodies = 0;
    for (enum ptx_op op = 0; op < PTX_OP_COUNT; op++) {
        struct slot slots[MAX_SLOTS];
        if (!is_float_group(ptx_op_infos[op].group))
            continue;
        int slot_count = split_suffixes(ptx_op_infos[op].suffixes, slots);
        assert_true(slot_count <= MAX_SLOTS);
        int total = 1, bodies_before = bodies;
        for (int s = 0; s < slot_count; s++)
            total *= slots[s].count;
        for (int k = 0; k < total; k++) {
            struct bench bench = make(group_of(op), op, 0, 0, 0, 0);
            for (int s = 0, rest = k; s < slot_count; rest /= slots[s].count, s++) {
                int choice = slots[s].choices[rest % slots[s].count];
                bench.ptx.slots[s] = (uint16_t)choice;
                if (choice > PTX_MOD_COUNT)
                    bench.ptx.types[bench.ptx.type_count++] = (uint8_t)(choice - PTX_MOD_COUNT);
                else if (choice != 0)
                    add_mod(&bench, (enum ptx_mod)choice);
            }
            const struct ptx_inst *ptx = &bench.ptx;
            bool is_setp = strncmp(ptx_op_infos[op].operands, "d|e:pred", 8) == 0;
            bench.operands.ptx = ptx;
            bench.operands.d_bits = is_setp ? 1 : register_bits(ptx->types[0]);
            bench.operands.a_bits = register_bits(ptx->types[ptx->type_count - 1]);
            for (int isa = 0; isa < isa_count(); isa++) {
                bool has_body = selects[isa][bench.group](&bench.operands) != NULL;
                if (has_body != is_allowed(ptx))
                    fail_msg("%s, combination %d: %s", ptx_op_infos[op].name, k,
                             has_body ? "a body for what PTX does not have" : "no body");
                bodies += has_body;
            }
            combinations++;
        }
        assert_true(bodies > bodies_before);
    }
    print_message("%d combinations\n", combinations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
