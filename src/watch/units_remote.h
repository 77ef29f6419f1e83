/*
 * units_remote.h: what accesses to another block's shared memory take of the way there, as
 * tests/timing/units.cu measures it on an H200.
 */
#ifndef LOCKSTEP_WATCH_UNITS_REMOTE_H
#define LOCKSTEP_WATCH_UNITS_REMOTE_H

#include "simt/lanes.h"
#include "simt/watch.h"

#define REMOTE_BYTES 17.0 /* a cycle, of whole sectors, */
#define REMOTE_STORE_BYTES 20.0
#define REMOTE_LOAD_SECTOR 2.87  /* cycles for a sector of which only a part is read, */
#define REMOTE_STORE_SECTOR 1.64 /* or written, */
#define REMOTE_ATOMIC_SECTOR 3.4 /* and for each of atomics, in every turn */

/* In cycles of the SM that asks. */
static inline double units_remote_cycles(const struct watch_access *access)
{
    struct lanes_line lines[LANES_LINES];
    unsigned turns, sectors = 0, partial = 0;
    if (access->what->kind == WATCH_RED || access->what->kind == WATCH_ATOM)
        return lanes_atomic_sectors(access->addresses, access->mask, &turns) * REMOTE_ATOMIC_SECTOR;
    unsigned count = lanes_lines(access->addresses, access->mask, access->bytes, lines);
    for (unsigned i = 0; i < count; i++) {
        sectors += (unsigned)__builtin_popcount(lanes_line_sectors(&lines[i]));
        partial += lanes_line_partial(&lines[i]);
    }
    double whole = (sectors - partial) * 32.0;
    return access->is_write ? whole / REMOTE_STORE_BYTES + partial * REMOTE_STORE_SECTOR
                            : whole / REMOTE_BYTES + partial * REMOTE_LOAD_SECTOR;
}

#endif
