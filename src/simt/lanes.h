/*
 * lanes.h: what the addresses of a warp come to: lines, sectors, wavefronts.
 * Pure functions of 32 addresses and a mask, inlined into what is built per instruction set.
 * The rules are those of the H200, found with tests/counters/access_patterns.cu under ncu
 * (docs/fidelity.md).
 */
#ifndef LOCKSTEP_SIMT_LANES_H
#define LOCKSTEP_SIMT_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Global and local memory: the lines touched, and which bytes of each. */
struct lanes_line {
    uint64_t line;     /* address / 128 */
    uint64_t bytes[2]; /* a bit per byte */
};
enum { LANES_LINES = 160 }; /* rows of tiles may be 128 bytes and start anywhere */

/* Shared memory: 32 banks of 4 bytes; a pass (wavefront) takes one word from each. */
struct lanes_passes {
    unsigned wavefronts, conflicts;
};
enum lanes_shared { LANES_LOAD, LANES_STORE, LANES_ATOMIC, LANES_ROWS /* ldmatrix, stmatrix */ };

/* Lines and sectors ------------------------------------------------------------------------------
 */

static inline void lanes_mark(struct lanes_line *line, unsigned from, unsigned count)
{
    if ((from ^ (from + count - 1)) < 64 && count < 64) { /* within one half */
        line->bytes[from >> 6] |= ((UINT64_C(1) << count) - 1) << (from & 63);
        return;
    }
    for (unsigned half = 0; half < 2; half++) {
        unsigned low = half * 64, high = low + 64;
        unsigned first = from > low ? from : low, last = from + count < high ? from + count : high;
        if (first >= last)
            continue;
        uint64_t bits = last - first == 64 ? UINT64_MAX : (UINT64_C(1) << (last - first)) - 1;
        line->bytes[half] |= bits << (first - low);
    }
}

static inline struct lanes_line *lanes_find_line(struct lanes_line *lines, unsigned *count,
                                                 uint64_t number)
{
    for (unsigned i = *count; i-- > 0;)
        if (lines[i].line == number)
            return &lines[i];
    if (*count == LANES_LINES)
        return NULL;
    lines[*count] = (struct lanes_line){.line = number};
    return &lines[(*count)++];
}

/* Into a list that has some already; returns the new count. */
static inline unsigned lanes_add_stretch(struct lanes_line lines[LANES_LINES], unsigned count,
                                         uint64_t address, uint32_t bytes)
{
    while (bytes) {
        unsigned at = address & 127, room = 128 - at;
        unsigned part = bytes < room ? bytes : room;
        struct lanes_line *line = lanes_find_line(lines, &count, address >> 7);
        if (line)
            lanes_mark(line, at, part);
        address += part;
        bytes -= part;
    }
    return count;
}

static inline unsigned lanes_lines(const uint64_t *addresses, uint32_t mask, uint32_t bytes,
                                   struct lanes_line lines[LANES_LINES])
{
    unsigned count = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        count = lanes_add_stretch(lines, count, addresses[__builtin_ctz(rest)], bytes);
    return count;
}

static inline unsigned lanes_line_sectors(const struct lanes_line *line)
{
    return (unsigned)((line->bytes[0] & 0xffffffff) != 0) |
           (unsigned)(line->bytes[0] >> 32 != 0) << 1 |
           (unsigned)((line->bytes[1] & 0xffffffff) != 0) << 2 |
           (unsigned)(line->bytes[1] >> 32 != 0) << 3;
}

static inline unsigned lanes_line_bytes(const struct lanes_line *line)
{
    return (unsigned)(__builtin_popcountll(line->bytes[0]) + __builtin_popcountll(line->bytes[1]));
}

/* Sectors of which some bytes are touched, but not all. */
static inline unsigned lanes_line_partial(const struct lanes_line *line)
{
    unsigned partial = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t bytes = (uint32_t)(line->bytes[i / 2] >> 32 * (i % 2));
        partial += bytes != 0 && bytes != UINT32_MAX;
    }
    return partial;
}

/* Atomics to one address take turns: sectors over all turns, and the number of turns. */
static inline unsigned lanes_atomic_sectors(const uint64_t *addresses, uint32_t mask,
                                            unsigned *turns)
{
    uint64_t sectors[32];
    uint8_t turn[32];
    unsigned count = 0, most = 0, seen = 0;
    uint64_t earlier[32];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t address = addresses[__builtin_ctz(rest)];
        unsigned mine = 0;
        for (unsigned i = 0; i < seen; i++)
            mine += earlier[i] == address;
        earlier[seen++] = address;
        most = mine + 1 > most ? mine + 1 : most;
        bool known = false;
        for (unsigned i = 0; i < count && !known; i++)
            known = sectors[i] == address >> 5 && turn[i] == mine;
        if (!known) {
            sectors[count] = address >> 5;
            turn[count++] = (uint8_t)mine;
        }
    }
    *turns = most;
    return count;
}

/* How many lanes share an address, at most. */
static inline unsigned lanes_turns(const uint64_t *addresses, uint32_t mask)
{
    unsigned turns;
    lanes_atomic_sectors(addresses, mask, &turns);
    return turns;
}

/* cp.async.cg: lanes that are overwritten drop out; then pairs of line read and sector written. */
static inline unsigned lanes_bypass_sectors(const uint64_t *from, const uint64_t *to, uint32_t mask)
{
    uint64_t lines[32], sectors[32];
    unsigned count = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        bool dropped = false;
        for (uint32_t later = rest & (rest - 1); later && !dropped; later &= later - 1)
            dropped = to[__builtin_ctz(later)] == to[lane];
        bool known = dropped;
        for (unsigned i = 0; i < count && !known; i++)
            known = lines[i] == from[lane] >> 7 && sectors[i] == to[lane] >> 5;
        if (!known) {
            lines[count] = from[lane] >> 7;
            sectors[count++] = to[lane] >> 5;
        }
    }
    return count;
}

/* Banks ------------------------------------------------------------------------------------------
 */

/* The fullest bank of some lanes: different words, or (atomics) lanes. */
static inline unsigned lanes_fullest(const uint64_t *addresses, uint32_t mask, uint32_t bytes,
                                     bool by_lane)
{
    uint32_t words[32][32]; /* [bank][k]; at most 32 lanes have a word in a bank */
    uint8_t counts[32] = {0};
    unsigned most = 0, per_lane = bytes > 4 ? bytes / 4 : 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t word = (uint32_t)(addresses[__builtin_ctz(rest)] >> 2);
        for (unsigned k = 0; k < per_lane; k++, word++) {
            unsigned bank = word % 32, count = counts[bank], i = 0;
            while (!by_lane && i < count && words[bank][i] != word)
                i++;
            if (!by_lane && i < count)
                continue;
            if (count < 32)
                words[bank][count] = word;
            counts[bank] = (uint8_t)(count + 1);
            most = count + 1 > most ? count + 1 : most;
        }
    }
    return most;
}

/* Loads of two halves go together if each lane's neighbour (by 1, or by 2) reads the same. */
static inline bool lanes_goes_together(const uint64_t *addresses, uint32_t mask)
{
    for (int step = 1; step <= 2; step++) {
        bool all = true;
        for (uint32_t rest = mask; rest && all; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            all = !(mask >> (lane ^ step) & 1) || addresses[lane ^ step] == addresses[lane];
        }
        if (all)
            return true;
    }
    return false;
}

static inline void lanes_add_pass(struct lanes_passes *sum, unsigned wavefronts)
{
    sum->wavefronts += wavefronts;
    sum->conflicts += wavefronts ? wavefronts - 1 : 0;
}

/* cp.async.ca writes what four lines gave at a time; a bank takes one lane a pass, read or written.
 */
static inline unsigned lanes_copy_conflicts(const uint64_t *from, const uint64_t *to, uint32_t mask,
                                            uint32_t bytes)
{
    unsigned lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8, conflicts = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        uint32_t left = mask & (lanes == 32 ? UINT32_MAX : ((1u << lanes) - 1) << first);
        while (left) {
            uint64_t lines[4];
            unsigned count = 0;
            uint32_t group = 0;
            for (uint32_t rest = left; rest; rest &= rest - 1) {
                uint64_t line = from[__builtin_ctz(rest)] >> 7;
                unsigned i = 0;
                while (i < count && lines[i] != line)
                    i++;
                if (i == count && count < 4)
                    lines[count++] = line;
                if (i < 4)
                    group |= rest & -rest;
            }
            unsigned read = lanes_fullest(from, group, bytes, true);
            unsigned written = lanes_fullest(to, group, bytes, true);
            conflicts += (read > written ? read : written) - 1;
            left &= ~group;
        }
    }
    return conflicts;
}

static inline struct lanes_passes lanes_shared(enum lanes_shared kind, const uint64_t *addresses,
                                               uint32_t mask, uint32_t bytes)
{
    struct lanes_passes sum = {0, 0};
    unsigned lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8; /* that fit in one pass */
    uint32_t group = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    for (unsigned from = 0; from < 32; from += lanes) {
        uint32_t part = mask & group << from;
        if (kind == LANES_LOAD && lanes < 32 && from % (2 * lanes) == 0) {
            uint32_t pair = mask & (group | group << lanes) << from;
            if (lanes_goes_together(addresses, pair)) {
                lanes_add_pass(&sum, lanes_fullest(addresses, pair, bytes, false));
                from += lanes;
                continue;
            }
        }
        lanes_add_pass(&sum, lanes_fullest(addresses, part, bytes, kind == LANES_ATOMIC));
    }
    return sum;
}

#endif
