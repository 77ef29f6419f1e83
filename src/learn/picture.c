/*
 * picture.c: what warp 0 of block 0 touched, line by line, as text: the sectors of global memory with
 * the lanes that use each, and the banks of shared memory with how many lanes meet there.
 */
#include "learn/grade.h"

#include "base/buf.h"
#include "report/profile.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR_ROWS = 6, MOST_ACCESSES = 8 };

/* "0-7" or "0 2 4": the lanes of mask. */
static void print_lanes(struct lk_buf *text, uint32_t mask)
{
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1))
            continue;
        unsigned last = lane;
        while (last < 31 && mask >> (last + 1) & 1)
            last++;
        lk_buf_printf(text, last > lane ? " %u-%u" : " %u", lane, last);
        lane = last;
    }
}

struct access {
    const struct profile_code *code;
    const char *space, *kind;
    uint32_t mask;
    int64_t address[32], bytes;
};

static void draw_sectors(struct lk_buf *text, const struct access *access)
{
    int64_t sector[64];
    uint32_t lanes[64];
    unsigned count = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(access->mask >> lane & 1))
            continue;
        int64_t first = access->address[lane] >> 5;
        int64_t last = (access->address[lane] + access->bytes - 1) >> 5;
        for (int64_t each = first; each <= last && count < 64; each++) {
            unsigned i = 0;
            while (i < count && sector[i] != each)
                i++;
            if (i == count) {
                sector[count] = each;
                lanes[count++] = 0;
            }
            lanes[i] |= 1u << lane;
        }
    }
    lk_buf_printf(text, "%u sector%s of 32 bytes\n", count, count == 1 ? "" : "s");
    for (unsigned i = 0; i < count && i < SECTOR_ROWS; i++) {
        lk_buf_printf(text, "      sector at %+6lld B: %s",
                      (long long)(sector[i] - sector[0]) * 32,
                      lanes[i] & (lanes[i] - 1) ? "lanes" : "lane");
        print_lanes(text, lanes[i]);
        lk_buf_printf(text, "\n");
    }
    if (count > SECTOR_ROWS)
        lk_buf_printf(text, "      and %u sectors more\n", count - SECTOR_ROWS);
}

/* One column for each bank, as high as the distinct words that lanes want from it. */
static void draw_banks(struct lk_buf *text, const struct access *access)
{
    unsigned height[32] = {0}, most = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        bool seen = false;
        if (!(access->mask >> lane & 1))
            continue;
        for (unsigned before = 0; before < lane; before++)
            seen = seen || (access->mask >> before & 1 &&
                            access->address[before] >> 2 == access->address[lane] >> 2);
        unsigned bank = (unsigned)(access->address[lane] >> 2) & 31;
        height[bank] += !seen;
        most = height[bank] > most ? height[bank] : most;
    }
    lk_buf_printf(text, "%u pass%s; words in each bank", most, most == 1 ? "" : "es");
    for (unsigned bank = 0; bank < 32; bank++) {
        if (bank % 16 == 0) /* a narrow terminal has room for half of them */
            lk_buf_printf(text, "\n      ");
        lk_buf_printf(text, height[bank] ? " %2u" : "  .", height[bank]);
    }
    lk_buf_printf(text, "\n");
}

static bool read_access(const struct profile_launch *launch, json_t *record, struct access *access)
{
    json_int_t number = json_integer_value(json_array_get(record, 2));
    json_t *addresses = json_array_get(record, 8);
    if (json_array_size(addresses) != 32 || number < 0 ||
        number >= (json_int_t)launch->kernel->code_count)
        return false;
    access->code = &launch->kernel->code[number];
    access->mask = (uint32_t)json_integer_value(json_array_get(record, 4));
    access->space = json_string_value(json_array_get(record, 5));
    access->kind = json_string_value(json_array_get(record, 6));
    access->bytes = json_integer_value(json_array_get(record, 7));
    for (unsigned lane = 0; lane < 32; lane++)
        access->address[lane] = json_integer_value(json_array_get(addresses, lane));
    return access->space && access->kind && access->mask && access->code->line &&
           json_integer_value(json_array_get(record, 1)) == 0; /* of the warps, the first */
}

/* The same pattern at the same line: an unrolled loop, or two arrays alike. */
static bool is_alike(const struct access *a, const struct access *b)
{
    bool alike = a->code->line == b->code->line && a->mask == b->mask && a->bytes == b->bytes &&
                 strcmp(a->space, b->space) == 0 && strcmp(a->kind, b->kind) == 0;
    unsigned first = a->mask ? (unsigned)__builtin_ctz(a->mask) : 0;
    for (unsigned lane = 0; lane < 32 && alike; lane++)
        alike = !(a->mask >> lane & 1) || a->address[lane] - a->address[first] ==
                                              b->address[lane] - b->address[first];
    return alike;
}

char *learn_picture(const struct profile_launch *launch)
{
    struct access shown[MOST_ACCESSES];
    unsigned count = 0;
    struct lk_buf text = {0};
    struct access access;
    json_t *record;
    size_t i;
    json_array_foreach(launch->trace, i, record)
    {
        bool seen = count == MOST_ACCESSES || !read_access(launch, record, &access);
        for (unsigned j = 0; j < count && !seen; j++)
            seen = is_alike(&shown[j], &access);
        bool global = !seen && strcmp(access.space, "global") == 0;
        if (seen || (!global && strcmp(access.space, "shared") != 0))
            continue;
        shown[count++] = access;
        const char *line = access.code->source
                               ? profile_source_line(access.code->source, access.code->line)
                               : NULL;
        line = line ? line + strspn(line, " \t") : "";
        lk_buf_printf(&text, "  line %u: %s\n    %s of %s memory: ", access.code->line, line,
                      access.kind, access.space);
        if (global)
            draw_sectors(&text, &access);
        else
            draw_banks(&text, &access);
    }
    return text.data;
}
