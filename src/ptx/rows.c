/*
 * rows.c: the patterns of ops.def as tables, and opcodes matched against them.
 * The patterns are parsed once per process. An opcode is first matched with its suffixes in the
 * order of the row; like ptxas, any other order is taken too when no row fits as written.
 */
#include "ptx/front.h"

#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_CODES 8192

static struct ptx_row rows[PTX_OP_COUNT];
static uint16_t codes[MAX_CODES]; /* the alternatives of all slots */
static unsigned code_count;
static struct lk_map suffix_map;        /* text -> code */
static struct lk_map mnemonic_map;      /* text -> index of its first row + 1 */
static struct lk_map sreg_map;          /* text -> enum ptx_sreg */
static uint16_t next_row[PTX_OP_COUNT]; /* next row with the same mnemonic, or 0 */
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;

/* Reading the patterns ------------------------------------------------------------------------- */

static _Noreturn void bad_row(unsigned op, const char *what)
{
    fprintf(stderr, "lockstep: ops.def: row %s: %s\n", ptx_op_infos[op].name, what);
    abort();
}

static unsigned find_suffix(const char *text, size_t length)
{
    return (unsigned)(uintptr_t)lk_map_get(&suffix_map, text, length);
}

static void put_number(struct lk_map *map, const char *text, unsigned number)
{
    lk_map_put(map, text, strlen(text), (void *)(uintptr_t)number);
}

/* .m64n8k16 to .m64n256k16 are one suffix, .m64nNk16; the instruction's text has the number. */
static void put_wide_shapes(void)
{
    static const struct {
        enum ptx_mod mod;
        unsigned k;
    } shapes[] = {{PTX_MOD_M64NNK8, 8},
                  {PTX_MOD_M64NNK16, 16},
                  {PTX_MOD_M64NNK32, 32},
                  {PTX_MOD_M64NNK64, 64},
                  {PTX_MOD_M64NNK256, 256}};
    static char texts[sizeof(shapes) / sizeof(*shapes)][32][16]; /* the map keeps pointers */
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        for (unsigned n = 8; n <= 256; n += 8) {
            char *text = texts[i][n / 8 - 1];
            snprintf(text, sizeof(texts[0][0]), "m64n%uk%u", n, shapes[i].k);
            put_number(&suffix_map, text, shapes[i].mod);
        }
}

static void read_slot(unsigned op, const char *text, size_t length)
{
    struct ptx_row *row = &rows[op];
    if (length == 1 && *text == '*') {
        row->takes_anything = true;
        return;
    }
    if (row->slot_count == PTX_MAX_SLOTS)
        bad_row(op, "too many slots");
    struct ptx_slot *slot = &row->slots[row->slot_count++];
    slot->optional = *text == '[';
    if (slot->optional) {
        text++;
        length -= 2;
    }
    slot->first = (uint16_t)code_count;
    for (const char *end = text + length; text < end;) {
        const char *bar = memchr(text, '|', (size_t)(end - text));
        size_t part = (size_t)((bar ? bar : end) - text);
        unsigned code = find_suffix(text, part);
        if (!code)
            bad_row(op, "a suffix is in neither mods.def nor types.def");
        if (code_count == MAX_CODES)
            bad_row(op, "MAX_CODES is too small");
        codes[code_count++] = (uint16_t)code;
        slot->count++;
        text += part + 1;
    }
}

static void read_suffixes(unsigned op)
{
    const char *text = ptx_op_infos[op].suffixes;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (length)
            read_slot(op, text, length);
        text += length + (text[length] == ' ');
    }
}

static uint8_t read_type_source(unsigned op, const char *text, size_t length)
{
    static const char *const sources[] = {"t1", "t2", "t3", "t4", "wide", "half", "addr", "any"};
    for (unsigned i = 0; i < sizeof(sources) / sizeof(*sources); i++)
        if (strlen(sources[i]) == length && memcmp(sources[i], text, length) == 0)
            return (uint8_t)(PTX_FROM_T1 + i);
    unsigned code = find_suffix(text, length);
    if (code <= PTX_MOD_COUNT)
        bad_row(op, "unknown operand type");
    return (uint8_t)(code - PTX_MOD_COUNT);
}

/* Reads the marks after an operand's name: [] are gone already. */
static const char *read_marks(unsigned op, const char *text, const char *end,
                              struct ptx_operand_spec *spec, uint8_t *type)
{
    *type = PTX_FROM_T1;
    while (text < end && *text != '|') {
        if (*text == '*') {
            spec->shape = PTX_SHAPE_VECTOR;
            text++;
        } else if (*text == '{') {
            spec->shape = PTX_SHAPE_BRACES;
            text += 2;
        } else if (*text == '?') {
            spec->optional = true;
            text++;
        } else if (*text == '!') {
            spec->is_constant = true;
            text++;
        } else if (*text == ':') {
            size_t length = 0;
            for (text++; text + length < end && text[length] != '|';)
                length++;
            *type = read_type_source(op, text, length);
            text += length;
        } else {
            bad_row(op, "unknown mark in an operand");
        }
    }
    return text;
}

static void read_operand(unsigned op, const char *text, size_t length)
{
    struct ptx_row *row = &rows[op];
    if (length == 1 && *text == '*') {
        row->anything_operands = true;
        return;
    }
    if (row->spec_count == PTX_MAX_SPECS)
        bad_row(op, "too many operands");
    struct ptx_operand_spec *spec = &row->specs[row->spec_count++];
    const char *end = text + length;
    if (*text == '[') {
        spec->shape = PTX_SHAPE_ADDRESS;
        spec->name = text[1];
        spec->optional = end[-1] == '?';
    } else if (*text == 'L' || *text == 'C') {
        spec->shape = *text == 'L' ? PTX_SHAPE_LABEL : PTX_SHAPE_CALL;
        spec->name = *text;
    } else {
        spec->name = *text;
        spec->written = *text == 'd';
        text = read_marks(op, text + 1, end, spec, &spec->type);
        if (text < end) {
            spec->has_pair = true;
            read_marks(op, text + 2, end, spec, &spec->pair_type);
        }
    }
    if (!spec->optional)
        row->required_count = row->spec_count;
}

static void read_operands(unsigned op)
{
    const char *text = ptx_op_infos[op].operands;
    while (*text) {
        size_t length = strcspn(text, ",");
        read_operand(op, text, length);
        text += length + (text[length] == ',');
    }
}

static void read_rows(void)
{
    for (unsigned i = 1; i < PTX_MOD_COUNT; i++)
        put_number(&suffix_map, ptx_mod_name(i), i);
    for (unsigned i = 1; i < PTX_TYPE_COUNT; i++)
        put_number(&suffix_map, ptx_type_name(i), PTX_MOD_COUNT + i);
    put_number(&suffix_map, "nan", PTX_MOD_NAN);
    put_wide_shapes();
    for (unsigned i = 1; i < PTX_SREG_COUNT; i++)
        put_number(&sreg_map, ptx_sreg_name(i), i);
    for (unsigned op = PTX_OP_COUNT; op-- > 0;) { /* backwards, so that chains run forwards */
        const char *mnemonic = ptx_op_infos[op].mnemonic;
        unsigned first = (unsigned)(uintptr_t)lk_map_get(&mnemonic_map, mnemonic, strlen(mnemonic));
        next_row[op] = (uint16_t)first;
        put_number(&mnemonic_map, mnemonic, op + 1);
        read_suffixes(op);
        read_operands(op);
    }
}

unsigned ptx_find_suffix(const char *text, size_t length)
{
    pthread_once(&rows_once, read_rows);
    return find_suffix(text, length);
}

static const char *suffix_name(unsigned code)
{
    return code < PTX_MOD_COUNT ? ptx_mod_name(code) : ptx_type_name(code - PTX_MOD_COUNT);
}

const struct ptx_row *ptx_row_of(enum ptx_op op)
{
    pthread_once(&rows_once, read_rows);
    return &rows[op];
}

/* Is text prefix, a number of one or two digits, and suffix? */
static bool read_index(const char *text, size_t length, const char *prefix, const char *suffix,
                       unsigned *index)
{
    size_t before = strlen(prefix), after = strlen(suffix);
    if (length <= before + after || length - before - after > 2 ||
        memcmp(text, prefix, before) != 0 || memcmp(text + length - after, suffix, after) != 0)
        return false;
    *index = 0;
    for (size_t i = before; i < length - after; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *index = *index * 10 + (unsigned)(text[i] - '0');
    }
    return text[before] != '0' || length - before - after == 1;
}

enum ptx_sreg ptx_find_sreg(const char *text, size_t length, unsigned *index)
{
    pthread_once(&rows_once, read_rows);
    *index = 0;
    enum ptx_sreg sreg = (enum ptx_sreg)(uintptr_t)lk_map_get(&sreg_map, text, length);
    if (sreg)
        return sreg == PTX_SREG_ENVREG || sreg == PTX_SREG_PM || sreg == PTX_SREG_PM_64
                   ? PTX_SREG_NONE
                   : sreg;
    /* %envreg0 .. 31, %pm0 .. 7, %pm0_64 .. */
    if (read_index(text, length, "%envreg", "", index) && *index < 32)
        return PTX_SREG_ENVREG;
    if (read_index(text, length, "%pm", "_64", index) && *index < 8)
        return PTX_SREG_PM_64;
    if (read_index(text, length, "%pm", "", index) && *index < 8)
        return PTX_SREG_PM;
    return PTX_SREG_NONE;
}

/* Matching an opcode --------------------------------------------------------------------------- */

struct suffixes {
    unsigned count;
    struct {
        const char *text;
        size_t length;
        unsigned code; /* 0: unknown */
        unsigned pair; /* of this and the next suffix together; 0: none */
    } items[PTX_MAX_SUFFIXES];
    unsigned farthest;                 /* how many suffixes the best row took */
    unsigned wanted[64], wanted_count; /* what would have been taken there */
};

static bool slot_has(const struct ptx_slot *slot, unsigned code)
{
    for (unsigned i = 0; i < slot->count; i++)
        if (codes[slot->first + i] == code)
            return code != 0;
    return false;
}

static void fill_slot(struct ptx_inst *inst, unsigned slot, unsigned code)
{
    inst->slots[slot] = (uint16_t)code;
    if (code > PTX_MOD_COUNT) {
        if (inst->type_count < PTX_MAX_TYPES)
            inst->types[inst->type_count++] = (uint8_t)(code - PTX_MOD_COUNT);
    } else {
        inst->mods[code / 64] |= 1ull << code % 64;
    }
}

static void note_wanted(struct suffixes *suffixes, unsigned at, const struct ptx_slot *slot)
{
    if (at < suffixes->farthest)
        return;
    if (at > suffixes->farthest) {
        suffixes->farthest = at;
        suffixes->wanted_count = 0;
    }
    for (unsigned i = 0; slot && i < slot->count; i++) {
        unsigned code = codes[slot->first + i], seen = 0;
        while (seen < suffixes->wanted_count && suffixes->wanted[seen] != code)
            seen++;
        if (seen == suffixes->wanted_count && seen < 64)
            suffixes->wanted[suffixes->wanted_count++] = code;
    }
}

static bool match_ordered(const struct ptx_row *row, unsigned slot, struct suffixes *suffixes,
                          unsigned at, struct ptx_inst *inst)
{
    if (slot == row->slot_count) {
        if (at == suffixes->count || row->takes_anything)
            return true;
        note_wanted(suffixes, at, NULL);
        return false;
    }
    const struct ptx_slot *wanted = &row->slots[slot];
    struct ptx_inst saved = *inst;
    if (at + 1 < suffixes->count && slot_has(wanted, suffixes->items[at].pair)) {
        fill_slot(inst, slot, suffixes->items[at].pair);
        if (match_ordered(row, slot + 1, suffixes, at + 2, inst))
            return true;
        *inst = saved;
    }
    if (at < suffixes->count && slot_has(wanted, suffixes->items[at].code)) {
        fill_slot(inst, slot, suffixes->items[at].code);
        if (match_ordered(row, slot + 1, suffixes, at + 1, inst))
            return true;
        *inst = saved;
    }
    note_wanted(suffixes, at, wanted);
    return wanted->optional && match_ordered(row, slot + 1, suffixes, at, inst);
}

static bool match_unordered(const struct ptx_row *row, const struct suffixes *suffixes,
                            struct ptx_inst *inst)
{
    bool used[PTX_MAX_SUFFIXES] = {false};
    unsigned used_count = 0;
    for (unsigned slot = 0; slot < row->slot_count; slot++) {
        unsigned i = 0, width = 0, code = 0;
        for (; i < suffixes->count && !width; i++) {
            if (used[i])
                continue;
            if (i + 1 < suffixes->count && !used[i + 1] &&
                slot_has(&row->slots[slot], suffixes->items[i].pair)) {
                width = 2;
                code = suffixes->items[i].pair;
            } else if (slot_has(&row->slots[slot], suffixes->items[i].code)) {
                width = 1;
                code = suffixes->items[i].code;
            }
        }
        if (!width && !row->slots[slot].optional)
            return false;
        if (width)
            fill_slot(inst, slot, code);
        for (unsigned j = 0; j < width; j++)
            used[i - 1 + j] = true;
        used_count += width;
    }
    return used_count == suffixes->count;
}

static void explain_mnemonic(const char *text, size_t length, struct lk_buf *message)
{
    struct lk_guess guess = {.wanted = text, .size = length, .distance = length < 4 ? 2 : 3};
    for (unsigned op = 0; op < PTX_OP_COUNT; op++)
        lk_guess_try(&guess, ptx_op_infos[op].mnemonic);
    lk_buf_printf(message, "unknown instruction '%.*s'", length > 60 ? 60 : (int)length, text);
    if (guess.nearest)
        lk_buf_printf(message, "; did you mean '%s'?", guess.nearest);
}

static void explain_suffix(const char *text, size_t mnemonic, const struct suffixes *suffixes,
                           struct lk_buf *message, size_t *at)
{
    unsigned i = suffixes->farthest;
    int shown = (int)mnemonic;
    if (i < suffixes->count) {
        *at = (size_t)(suffixes->items[i].text - text) - 1;
        size_t length = suffixes->items[i].length;
        lk_buf_printf(message, "%.*s: %s .%.*s%s", shown, text,
                      suffixes->items[i].code ? "suffix" : "unknown suffix",
                      length > 60 ? 60 : (int)length, suffixes->items[i].text,
                      suffixes->items[i].code ? " does not fit here" : "");
    } else {
        lk_buf_printf(message, "%.*s: a suffix is missing", shown, text);
    }
    if (!suffixes->wanted_count) {
        lk_buf_printf(message, "; no more suffixes are taken");
        return;
    }
    lk_buf_printf(message, "; %.*s takes", shown, text);
    for (unsigned k = 0; k < suffixes->wanted_count; k++)
        lk_buf_printf(message, " .%s", suffix_name(suffixes->wanted[k]));
}

static bool split_suffixes(const char *text, size_t length, size_t mnemonic,
                           struct suffixes *suffixes)
{
    for (size_t at = mnemonic; at < length;) {
        if (suffixes->count == PTX_MAX_SUFFIXES)
            return false;
        const char *start = text + at + 1;
        const char *dot = memchr(start, '.', length - at - 1);
        size_t size = dot ? (size_t)(dot - start) : length - at - 1;
        unsigned i = suffixes->count++;
        suffixes->items[i].text = start;
        suffixes->items[i].length = size;
        suffixes->items[i].code = find_suffix(start, size);
        if (i) {
            const char *both = suffixes->items[i - 1].text;
            suffixes->items[i - 1].pair = find_suffix(both, (size_t)(start + size - both));
        }
        at += size + 1;
    }
    return true;
}

static unsigned match_rows(unsigned first, struct suffixes *suffixes, struct ptx_inst *found,
                           unsigned capacity)
{
    unsigned count = 0;
    for (unsigned op = first; op && count < capacity; op = next_row[op - 1]) {
        struct ptx_inst inst = {.op = op - 1, .guard = PTX_NO_REG};
        if (!rows[op - 1].takes_anything && match_ordered(&rows[op - 1], 0, suffixes, 0, &inst))
            found[count++] = inst;
    }
    for (unsigned op = first; op && !count; op = next_row[op - 1]) {
        struct ptx_inst inst = {.op = op - 1, .guard = PTX_NO_REG};
        if (!rows[op - 1].takes_anything && match_unordered(&rows[op - 1], suffixes, &inst))
            found[count++] = inst;
    }
    /* A row that takes anything is there for what no other row knows. */
    for (unsigned op = first; op && !count; op = next_row[op - 1]) {
        struct ptx_inst inst = {.op = op - 1, .guard = PTX_NO_REG};
        if (rows[op - 1].takes_anything && match_ordered(&rows[op - 1], 0, suffixes, 0, &inst))
            found[count++] = inst;
    }
    return count;
}

struct ptx_opcode *ptx_match_opcode(struct lk_arena *arena, const char *text, size_t length,
                                    struct lk_buf *message, size_t *at)
{
    pthread_once(&rows_once, read_rows);
    *at = 0;
    const char *dot = memchr(text, '.', length);
    size_t mnemonic = dot ? (size_t)(dot - text) : length;
    unsigned first = (unsigned)(uintptr_t)lk_map_get(&mnemonic_map, text, mnemonic);
    struct suffixes suffixes = {0};
    struct ptx_inst found[8];
    if (!first) {
        explain_mnemonic(text, mnemonic, message);
        return NULL;
    }
    if (!split_suffixes(text, length, mnemonic, &suffixes)) {
        lk_buf_printf(message, "too many suffixes");
        return NULL;
    }
    unsigned count = match_rows(first, &suffixes, found, 8);
    if (!count) {
        explain_suffix(text, mnemonic, &suffixes, message, at);
        return NULL;
    }
    struct ptx_opcode *opcode =
        lk_arena_alloc(arena, sizeof(*opcode) + count * sizeof(*opcode->templates));
    opcode->text = lk_arena_strndup(arena, text, length);
    opcode->template_count = count;
    for (unsigned i = 0; i < count; i++) {
        opcode->templates[i] = found[i];
        opcode->templates[i].text = opcode->text;
    }
    return opcode;
}
