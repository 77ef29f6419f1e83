/*
 * svg.c: pictures of accesses; see svg.h.
 */
#include "report/svg.h"

#include <stdlib.h>
#include <string.h>

/* Accesses ----------------------------------------------------------------------------------------
 */

enum { CELL = 13, ROWS = 12 };

static int lane_hue(unsigned lane)
{
    return (int)(lane * 300 / 32);
}

static void put_cell(struct lk_buf *out, double x, double y, unsigned lane, unsigned others)
{
    lk_buf_printf(out,
                  "<rect class=\"cell\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
                  "style=\"fill:hsl(%d 65%% 55%%)\"/><text class=\"lane\" x=\"%.1f\" y=\"%.1f\">"
                  "%u%s</text>",
                  x + 0.5, y + 0.5, CELL - 1, CELL - 1, lane_hue(lane), x + CELL / 2.0,
                  y + CELL - 3.5, lane, others ? "+" : "");
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* The different values of (address + 0, 4 .. bytes - 1) >> shift. */
static unsigned distinct(const struct svg_access *access, unsigned shift, uint64_t *values)
{
    unsigned count = 0, kept = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned k = 0; access->mask >> lane & 1 && k < access->bytes && k < 16; k += 4)
            values[count++] = (access->addresses[lane] + k) >> shift;
    qsort(values, count, sizeof(*values), by_value);
    for (unsigned i = 0; i < count; i++)
        if (i == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}

/* The first lane at a word, and how many more; 32 if none. */
static unsigned lane_at(const struct svg_access *access, uint64_t word, unsigned *others)
{
    unsigned first = 32;
    *others = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(access->mask >> lane & 1))
            continue;
        uint64_t from = access->addresses[lane] >> 2;
        uint64_t to = (access->addresses[lane] + (access->bytes ? access->bytes : 1) - 1) >> 2;
        if (word < from || word > to)
            continue;
        *others += first < 32;
        first = first < 32 ? first : lane;
    }
    return first;
}

void svg_global(struct lk_buf *out, const struct svg_access *access)
{
    uint64_t lines[128], sectors[128];
    unsigned count = distinct(access, 7, lines), touched = distinct(access, 5, sectors);
    unsigned shown = count < ROWS ? count : ROWS;
    const int left = 96;
    lk_buf_printf(out,
                  "<svg class=\"access\" viewBox=\"0 0 %d %d\" style=\"max-width:%dpx\" "
                  "role=\"img\" aria-label=\"sectors touched\">\n",
                  left + 32 * CELL + 24, (int)shown * (CELL + 4) + 22, left + 32 * CELL + 24);
    for (unsigned row = 0; row < shown; row++) {
        double y = row * (CELL + 4);
        lk_buf_printf(out, "<text class=\"address\" x=\"%d\" y=\"%.1f\">..%05llx</text>", left - 8,
                      y + CELL - 3, (unsigned long long)(lines[row] << 7) & 0xfffff);
        for (unsigned sector = 0; sector < 4; sector++) {
            uint64_t number = lines[row] * 4 + sector;
            bool hit = bsearch(&number, sectors, touched, sizeof(*sectors), by_value) != NULL;
            lk_buf_printf(out,
                          "<rect class=\"%s\" fill=\"none\" stroke=\"#999\" x=\"%d\" y=\"%.1f\" "
                          "width=\"%d\" height=\"%d\"/>",
                          hit ? "sector hit" : "sector", left + (int)sector * (8 * CELL + 6), y,
                          8 * CELL, CELL);
        }
        for (unsigned word = 0; word < 32; word++) {
            unsigned others, lane = lane_at(access, lines[row] * 32 + word, &others);
            if (lane < 32)
                put_cell(out, left + (int)(word * CELL + word / 8 * 6), y, lane, others);
        }
        lk_buf_printf(out, "\n");
    }
    lk_buf_printf(out, "<text x=\"%d\" y=\"%d\">%u sector%s in %u line%s of 128 B%s</text></svg>\n",
                  left, (int)shown * (CELL + 4) + 14, touched, touched == 1 ? "" : "s", count,
                  count == 1 ? "" : "s", count > shown ? "; the first are shown" : "");
}

void svg_shared(struct lk_buf *out, const struct svg_access *access)
{
    uint64_t words[128];
    unsigned count = distinct(access, 2, words), deep[32] = {0}, deepest = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned bank = (unsigned)(words[i] & 31);
        deepest = ++deep[bank] > deepest ? deep[bank] : deepest;
    }
    unsigned shown = deepest < ROWS ? deepest : ROWS;
    lk_buf_printf(out,
                  "<svg class=\"access\" viewBox=\"0 0 %d %d\" style=\"max-width:%dpx\" "
                  "role=\"img\" aria-label=\"banks\">\n",
                  32 * CELL + 4, (int)(shown + 1) * (CELL + 2) + 22, 32 * CELL + 4);
    for (unsigned bank = 0; bank < 32; bank++)
        lk_buf_printf(out,
                      "<rect class=\"sector%s\" fill=\"none\" stroke=\"#999\" x=\"%u\" y=\"0\" "
                      "width=\"%d\" height=\"%u\"/>",
                      deep[bank] ? " hit" : "", bank * CELL, CELL - 1, shown * (CELL + 2));
    memset(deep, 0, sizeof deep);
    for (unsigned i = 0; i < count; i++) {
        unsigned bank = (unsigned)(words[i] & 31), others,
                 lane = lane_at(access, words[i], &others);
        if (deep[bank]++ < shown && lane < 32)
            put_cell(out, bank * CELL, (deep[bank] - 1) * (CELL + 2), lane, others);
    }
    for (unsigned bank = 0; bank < 32; bank += 4)
        lk_buf_printf(out, "<text class=\"lane dim\" x=\"%.1f\" y=\"%u\">%u</text>",
                      bank * CELL + CELL / 2.0, shown * (CELL + 2) + 11, bank);
    lk_buf_printf(out,
                  "<text x=\"0\" y=\"%u\">bank; the busiest is asked for %u word%s%s</text>"
                  "</svg>\n",
                  shown * (CELL + 2) + 26, deepest, deepest == 1 ? "" : "s",
                  deepest > shown ? "; the first are shown" : "");
}
