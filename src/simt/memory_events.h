/*
 * memory_events.h: what the driver reports to watchers about the host's use of device memory.
 * These do nothing where there is no watcher.
 */
#ifndef LOCKSTEP_SIMT_MEMORY_EVENTS_H
#define LOCKSTEP_SIMT_MEMORY_EVENTS_H

#include "simt/simt.h"

void simt_event_bad_free(struct simt_machine *machine, uint64_t address);
/* A copy or memset that was refused because it leaves an allocation. */
void simt_event_bad_range(struct simt_machine *machine, uint64_t address, size_t size);
/* from: the device address a copy came from; 0 if the host wrote, or what came is not known. */
void simt_event_written(struct simt_machine *machine, uint64_t to, uint64_t from, size_t size);
/* An allocation that the program has not freed when its context, or the program, ends. */
void simt_event_left(struct simt_machine *machine, uint64_t address);

#endif
