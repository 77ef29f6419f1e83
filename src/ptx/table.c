/*
 * table.c: the names of things in PTX, made from the .def files.
 * Texts only; rows.c turns the patterns of ops.def into tables that the parser can match.
 */
#include "ptx/front.h"

const struct ptx_op_info ptx_op_infos[PTX_OP_COUNT] = {
#define OP(name, mnemonic, suffixes, operands, group, meaning)                                     \
    {#name, mnemonic, suffixes, operands, PTX_GROUP_##group, meaning},
#include "ptx/ops.def"
#undef OP
};

static const struct {
    const char *text;
    uint8_t bits, kind;
} type_infos[PTX_TYPE_COUNT] = {
    {"", 0, PTX_KIND_NONE},
#define TYPE(name, text, bits, kind) {text, bits, PTX_KIND_##kind},
#include "ptx/types.def"
#undef TYPE
};

static const char *const mod_names[PTX_MOD_COUNT] = {
    "",
#define MOD(name, text) text,
#include "ptx/mods.def"
#undef MOD
};

static const struct {
    const char *text;
    unsigned bits;
} sreg_infos[PTX_SREG_COUNT] = {
    {"", 0},
#define SREG(name, text, bits) {text, bits},
#include "ptx/sregs.def"
#undef SREG
};

_Static_assert(PTX_MOD_COUNT <= 320, "ptx_inst.mods has 320 bits");

const char *ptx_type_name(enum ptx_type type)
{
    return type < PTX_TYPE_COUNT ? type_infos[type].text : "?";
}

unsigned ptx_type_bits(enum ptx_type type)
{
    return type < PTX_TYPE_COUNT ? type_infos[type].bits : 0;
}

enum ptx_type_kind ptx_type_kind(enum ptx_type type)
{
    return type < PTX_TYPE_COUNT ? (enum ptx_type_kind)type_infos[type].kind : PTX_KIND_NONE;
}

const char *ptx_mod_name(enum ptx_mod mod)
{
    return mod < PTX_MOD_COUNT ? mod_names[mod] : "?";
}

const char *ptx_sreg_name(enum ptx_sreg sreg)
{
    return sreg < PTX_SREG_COUNT ? sreg_infos[sreg].text : "?";
}

unsigned ptx_sreg_bits(enum ptx_sreg sreg)
{
    return sreg < PTX_SREG_COUNT ? sreg_infos[sreg].bits : 0;
}
