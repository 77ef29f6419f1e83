/*
 * picture.c: what warp 0 of block 0 touched, line by line, as text: the sectors of global memory
 * with the lanes that use each, and the banks of shared memory with how many lanes meet there.
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

static void draw_sectors(struct lk_buf *text, const struct profile_record *record)
{
    int64_t sector[64];
    uint32_t lanes[64];
    unsigned count = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(record->mask >> lane & 1))
            continue;
        int64_t first = record->addresses[lane] >> 5;
        int64_t last = (record->addresses[lane] + record->bytes - 1) >> 5;
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
        lk_buf_printf(text, "      sector at %+6lld B: %s", (long long)(sector[i] - sector[0]) * 32,
                      lanes[i] & (lanes[i] - 1) ? "lanes" : "lane");
        print_lanes(text, lanes[i]);
        lk_buf_printf(text, "\n");
    }
    if (count > SECTOR_ROWS)
        lk_buf_printf(text, "      and %u sectors more\n", count - SECTOR_ROWS);
}

/* One column for each bank, as high as the distinct words that lanes want from it. */
static void draw_banks(struct lk_buf *text, const struct profile_record *record)
{
    unsigned height[32] = {0}, most = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        bool seen = false;
        if (!(record->mask >> lane & 1))
            continue;
        for (unsigned before = 0; before < lane; before++)
            seen = seen || (record->mask >> before & 1 &&
                            record->addresses[before] >> 2 == record->addresses[lane] >> 2);
        unsigned bank = (unsigned)(record->addresses[lane] >> 2) & 31;
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

/* An access of the first warp, in a line that is known. */
static bool can_be_drawn(const struct profile_record *record)
{
    return record->warp == 0 && record->mask && record->code->line &&
           (profile_is_in(record, GPU_SPACE_GLOBAL) || profile_is_in(record, GPU_SPACE_SHARED));
}

/* The same pattern at the same line: an unrolled loop, or two arrays alike. */
static bool is_alike(const struct profile_record *a, const struct profile_record *b)
{
    bool alike = a->code->line == b->code->line && a->mask == b->mask && a->bytes == b->bytes &&
                 strcmp(a->space, b->space) == 0 && strcmp(a->kind, b->kind) == 0;
    unsigned first = a->mask ? (unsigned)__builtin_ctz(a->mask) : 0;
    for (unsigned lane = 0; lane < 32 && alike; lane++)
        alike = !(a->mask >> lane & 1) || a->addresses[lane] - a->addresses[first] ==
                                              b->addresses[lane] - b->addresses[first];
    return alike;
}

char *learn_picture(const struct profile_launch *launch)
{
    const struct profile_record *shown[MOST_ACCESSES];
    unsigned count = 0;
    struct lk_buf text = {0};
    for (size_t i = 0; i < launch->trace_count && count < MOST_ACCESSES; i++) {
        const struct profile_record *record = &launch->trace[i];
        bool seen = !can_be_drawn(record);
        for (unsigned j = 0; j < count && !seen; j++)
            seen = is_alike(shown[j], record);
        if (seen)
            continue;
        shown[count++] = record;
        const char *line = record->code->source
                               ? profile_source_line(record->code->source, record->code->line)
                               : NULL;
        line = line ? line + strspn(line, " \t") : "";
        lk_buf_printf(&text, "  line %u: %s\n    %s of %s memory: ", record->code->line, line,
                      record->kind, record->space);
        if (profile_is_in(record, GPU_SPACE_GLOBAL))
            draw_sectors(&text, record);
        else
            draw_banks(&text, record);
    }
    return text.data;
}
