/*
 * generate.c: random instructions from the rows of ops.def: every mnemonic with any suffixes that
 * its pattern takes, and operands of mostly the right kind. They name what the seeds in corpus/run
 * declare: registers %fz_h %fz_r %fz_d %fz_q %fz_f %fz_x %fz_c %fz_p, memory fz_g fz_k fz_s fz_l.
 */
#include "mutate.h"

#include "ptx/ptx.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct out {
    char *data;
    size_t size, most;
};

static void add(struct out *out, const char *text, size_t size)
{
    if (out->size + size >= out->most)
        return;
    memcpy(out->data + out->size, text, size);
    out->size += size;
}

static void add_text(struct out *out, const char *text)
{
    add(out, text, strlen(text));
}

size_t write_number(struct dice *dice, char *out, size_t most)
{
    static const int64_t edges[] = {0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    7,
                                    8,
                                    12,
                                    15,
                                    16,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    127,
                                    128,
                                    255,
                                    256,
                                    511,
                                    512,
                                    1023,
                                    4095,
                                    4096,
                                    32767,
                                    32768,
                                    65535,
                                    65536,
                                    1 << 20,
                                    INT32_MAX,
                                    INT32_MIN,
                                    UINT32_MAX,
                                    (int64_t)1 << 32,
                                    (int64_t)1 << 40,
                                    INT64_MAX,
                                    INT64_MIN};
    int64_t value = edges[roll(dice, sizeof(edges) / sizeof(*edges))];
    if (roll(dice, 4) == 0)
        value = (int64_t)(0 - (uint64_t)value);
    if (roll(dice, 4) == 0)
        value = (int64_t)((uint64_t)value + roll(dice, 9) - 4);
    return (size_t)snprintf(out, most, roll(dice, 4) ? "%lld" : "0x%llx", (long long)value);
}

/* Suffixes ------------------------------------------------------------------------------------- */

/* Of "a|b|c": one of them. */
static void add_alternative(struct out *out, struct dice *dice, const char *text, size_t size)
{
    unsigned count = 1;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '|';
    for (unsigned pick = roll(dice, count); pick; pick--) {
        const char *bar = memchr(text, '|', size);
        size -= (size_t)(bar + 1 - text);
        text = bar + 1;
    }
    const char *bar = memchr(text, '|', size);
    add_text(out, ".");
    add(out, text, bar ? (size_t)(bar - text) : size);
}

static void add_suffixes(struct out *out, struct dice *dice, const char *pattern)
{
    while (*pattern) {
        size_t length = strcspn(pattern, " ");
        if (length > 1 && *pattern == '[') {
            if (roll(dice, 3) == 0)
                add_alternative(out, dice, pattern + 1, length - 2);
        } else if (length && *pattern != '*') {
            add_alternative(out, dice, pattern, length);
        }
        pattern += length + (pattern[length] == ' ');
    }
}

/* Operands ------------------------------------------------------------------------------------- */

static void add_register(struct out *out, struct dice *dice, unsigned bits, bool is_float)
{
    static const char kinds[] = "hrdqfxcp";
    char text[16], kind = bits == 1     ? 'p'
                          : bits == 8   ? 'c'
                          : bits == 16  ? 'h'
                          : bits == 64  ? (is_float ? 'x' : 'd')
                          : bits == 128 ? 'q'
                                        : (is_float ? 'f' : 'r');
    if (roll(dice, 24) == 0)
        kind = kinds[roll(dice, 8)];
    snprintf(text, sizeof(text), "%%fz_%c%u", kind, roll(dice, 6));
    add_text(out, text);
}

static void add_address(struct out *out, struct dice *dice)
{
    static const char *const bases[] = {"fz_g", "fz_k", "fz_s", "fz_l", "%fz_d", "%fz_r"};
    char text[64];
    const char *base = bases[roll(dice, 6)];
    add_text(out, "[");
    add_text(out, base);
    if (base[0] == '%') {
        snprintf(text, sizeof(text), "%u", roll(dice, 6));
        add_text(out, text);
    }
    if (roll(dice, 2)) {
        add_text(out, "+");
        if (roll(dice, 4))
            snprintf(text, sizeof(text), "%d", (int)roll(dice, 40) * 4 - 16);
        else
            write_number(dice, text, sizeof(text));
        add_text(out, text);
    }
    add_text(out, "]");
}

static void add_value(struct out *out, struct dice *dice, unsigned bits, bool is_float,
                      bool is_written)
{
    char text[32];
    if (is_written || roll(dice, 5)) {
        if (is_written && roll(dice, 30) == 0)
            add_text(out, "_");
        else
            add_register(out, dice, bits, is_float);
        return;
    }
    if (is_float) {
        snprintf(text, sizeof(text), bits == 64 ? "0d%08x%08x" : "0f%08x", roll(dice, UINT32_MAX),
                 roll(dice, UINT32_MAX));
        add(out, text, bits == 64 ? 18 : 10);
    } else {
        add(out, text, write_number(dice, text, sizeof(text)));
    }
}

/* Types of an instruction as its suffixes have them: the widths of t1, t2 .. */
struct types {
    unsigned bits[4], count, vector;
    bool is_float[4];
};

static void read_types(const char *text, size_t size, struct types *types)
{
    const char *end = text + size;
    types->vector = 1;
    while ((text = memchr(text, '.', (size_t)(end - text))) != NULL) {
        text++;
        const char *dot = memchr(text, '.', (size_t)(end - text));
        size_t length = (size_t)((dot ? dot : end) - text);
        for (unsigned i = 1; i < PTX_TYPE_COUNT && types->count < 4; i++)
            if (strlen(ptx_type_name(i)) == length && memcmp(ptx_type_name(i), text, length) == 0) {
                types->bits[types->count] = i == PTX_PRED ? 1 : ptx_type_bits(i);
                types->is_float[types->count++] = i == PTX_F32 || i == PTX_F64;
            }
        if (length == 2 && text[0] == 'v')
            types->vector = (unsigned)(text[1] - '0');
        if (length == 2 && text[0] == 'x' && text[1] < '5')
            types->vector = (unsigned)(text[1] - '0');
    }
}

static unsigned spec_type(const char *text, size_t size, const struct types *types, bool *is_float)
{
    const char *colon = memchr(text, ':', size);
    unsigned bits = types->count ? types->bits[0] : 32;
    *is_float = types->count && types->is_float[0];
    if (!colon)
        return bits;
    colon++;
    size_t length = (size_t)(text + size - colon);
    if (length == 2 && colon[0] == 't') {
        unsigned at = (unsigned)(colon[1] - '1') % 4;
        *is_float = types->is_float[at];
        return at < types->count ? types->bits[at] : 32;
    }
    *is_float = false;
    if (length >= 4 && memcmp(colon, "wide", 4) == 0)
        return bits * 2;
    if (length >= 4 && memcmp(colon, "half", 4) == 0)
        return bits / 2;
    if (length >= 4 && memcmp(colon, "addr", 4) == 0)
        return 64;
    if (length >= 4 && memcmp(colon, "pred", 4) == 0)
        return 1;
    if (length == 3 && memcmp(colon + 1, "64", 2) == 0)
        return 64;
    if (length == 3 && memcmp(colon + 1, "16", 2) == 0)
        return 16;
    *is_float = length == 3 && colon[0] == 'f';
    return 32;
}

static void add_operand(struct out *out, struct dice *dice, const char *spec, size_t size,
                        const struct types *types)
{
    char number[32];
    bool is_float, written = *spec == 'd';
    unsigned bits = spec_type(spec, size, types, &is_float);
    if (*spec == '[') {
        add_address(out, dice);
        return;
    }
    if (*spec == 'L' || *spec == 'C') {
        add_text(out, *spec == 'L' ? "FZ_END" : "fz_call");
        return;
    }
    if (memchr(spec, '!', size)) {
        static const char *const common[] = {"4", "8", "16", "0", "1", "0xff"};
        if (roll(dice, 3))
            add_text(out, common[roll(dice, 6)]);
        else
            add(out, number, write_number(dice, number, sizeof(number)));
        return;
    }
    bool braces = memchr(spec, '{', size) || (memchr(spec, '*', size) && types->vector > 1);
    if (!braces || (types->vector == 1 && roll(dice, 2))) {
        add_value(out, dice, bits, is_float, written);
        if (memchr(spec, '|', size) && roll(dice, 2)) {
            add_text(out, "|");
            add_register(out, dice, 1, false);
        }
        return;
    }
    unsigned count = types->vector > 1 ? types->vector : 1u << roll(dice, 4);
    if (roll(dice, 16) == 0)
        count = 1 + roll(dice, 9);
    add_text(out, "{");
    for (unsigned i = 0; i < count; i++) {
        add_text(out, i ? "," : "");
        add_value(out, dice, bits, is_float, written);
    }
    add_text(out, "}");
}

size_t generate_instruction(struct dice *dice, char *text, size_t most)
{
    struct out out = {text, 0, most};
    const struct ptx_op_info *info = &ptx_op_infos[roll(dice, PTX_OP_COUNT)];
    struct types types = {0};
    if (info->group == PTX_GROUP_UNSUPPORTED || strcmp(info->mnemonic, "call") == 0)
        info = &ptx_op_infos[PTX_OP_LD];
    if (roll(dice, 4) == 0)
        add_text(&out, roll(dice, 2) ? "@%fz_p1 " : "@!%fz_p2 ");
    size_t start = out.size;
    add_text(&out, info->mnemonic);
    add_suffixes(&out, dice, info->suffixes);
    read_types(text + start, out.size - start, &types);
    bool first = true;
    for (const char *spec = info->operands; *spec;) {
        size_t length = strcspn(spec, ",");
        bool optional = memchr(spec, '?', length) != NULL;
        if (!optional || roll(dice, 3) == 0) {
            add_text(&out, first ? " " : ", ");
            add_operand(&out, dice, spec, length, &types);
            first = false;
        }
        spec += length + (spec[length] == ',');
    }
    add_text(&out, ";\n");
    return out.size;
}
