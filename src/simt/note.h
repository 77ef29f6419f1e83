/*
 * note.h: what the driver tells the machine for those who look on: how the host used memory.
 * Nothing happens if nobody does (LOCKSTEP_CHECK is not set).
 */
#ifndef LOCKSTEP_SIMT_NOTE_H
#define LOCKSTEP_SIMT_NOTE_H

#include "simt/simt.h"

void simt_note_bad_free(struct simt_machine *machine, uint64_t address);
/* A copy or memset that was refused because it leaves an allocation. */
void simt_note_bad_range(struct simt_machine *machine, uint64_t address, size_t size);
/* from: the device address a copy came from; 0 if the host wrote, or what came is not known. */
void simt_note_written(struct simt_machine *machine, uint64_t to, uint64_t from, size_t size);
/* An allocation that the program has not freed when its context, or the program, ends. */
void simt_note_left(struct simt_machine *machine, uint64_t address);

#endif
