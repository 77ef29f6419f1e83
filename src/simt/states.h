/*
 * states.h: what device memory holds before and after each launch, as hashes in a file that
 * `lockstep run --twice` compares between two schedules. Nothing is recorded, and nothing is spent,
 * unless LOCKSTEP_STATES names a file.
 *
 * The file has a line for each launch, for each allocation and each variable of the kernel's
 * module: launch MACHINE NUMBER FLOAT_ATOMICS GRID BLOCK KERNEL    FLOAT_ATOMICS: "f32", "f64" ..
 * or "-" memory NUMBER BYTES BEFORE AFTER                         hashes; BEFORE of all, then AFTER
 *   variable NAME BYTES BEFORE AFTER
 * LOCKSTEP_STATES_DUMP=MACHINE:LAUNCH:before|after:WHAT:PATH writes the bytes of one of these, WHAT
 * being the allocation's number or the variable's name.
 */
#ifndef LOCKSTEP_SIMT_STATES_H
#define LOCKSTEP_SIMT_STATES_H

#include "simt/core.h"

struct simt_states;
void simt_states_open(struct simt_machine *machine);
void simt_states_close(struct simt_machine *machine);
void simt_states_record(struct simt_launch_state *launch, bool after);

#endif
