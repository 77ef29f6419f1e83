/*
 * lanes.h: what the addresses of a warp come to: lines, sectors, wavefronts.
 * The rules are those of the H200, found with tests/counters/access_patterns.cu under ncu
 * (docs/fidelity.md).
 */
#ifndef LOCKSTEP_SIMT_LANES_H
#define LOCKSTEP_SIMT_LANES_H

#include <stdbool.h>
#include <stdint.h>

/* Global and local memory: the lines touched, and which bytes of each. */
struct lanes_line {
    uint64_t line;     /* address / 128 */
    uint64_t bytes[2]; /* a bit per byte */
};
enum { LANES_LINES = 160 }; /* rows of tiles may be 128 bytes and start anywhere */

unsigned lanes_lines(const uint64_t *addresses, uint32_t mask, uint32_t bytes,
                     struct lanes_line lines[LANES_LINES]);
unsigned lanes_line_sectors(const struct lanes_line *line); /* a bit per sector */
unsigned lanes_line_bytes(const struct lanes_line *line);   /* how many */

/* Atomics to one address take turns: sectors over all turns, and the number of turns. */
unsigned lanes_atomic_sectors(const uint64_t *addresses, uint32_t mask, unsigned *turns);

/* cp.async.cg: lanes that are overwritten drop out; then pairs of line read and sector written. */
unsigned lanes_bypass_sectors(const uint64_t *from, const uint64_t *to, uint32_t mask);

/* Shared memory: 32 banks of 4 bytes; a pass (wavefront) takes one word from each. */
struct lanes_passes {
    unsigned wavefronts, conflicts;
};
enum lanes_shared { LANES_LOAD, LANES_STORE, LANES_ATOMIC, LANES_ROWS /* ldmatrix, stmatrix */ };
struct lanes_passes lanes_shared(enum lanes_shared kind, const uint64_t *addresses, uint32_t mask,
                                 uint32_t bytes);

#endif
