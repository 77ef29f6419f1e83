/*
 * isa.h: what is compiled once per instruction set of the host (exec_*.c), and which build runs.
 * A room that has such files declares its functions for every build with SIMT_ISAS and indexes its
 * table with simt_isa().
 */
#ifndef LOCKSTEP_SIMT_ISA_H
#define LOCKSTEP_SIMT_ISA_H

/* The Makefile's ISAS, from the oldest to the newest. SIMT_ONLY leaves one of them (2, 3 or 4):
 * with the sanitizers in them they take long to compile. */
#ifdef SIMT_ONLY
#define SIMT_HAS(version) (SIMT_ONLY == (version))
#else
#define SIMT_HAS(version) 1
#endif
#ifndef __x86_64__
#define SIMT_ISAS(each) each(v1)
#elif !defined(SIMT_ONLY)
#define SIMT_ISAS(each) each(v2) each(v3) each(v4)
#elif SIMT_ONLY == 2
#define SIMT_ISAS(each) each(v2)
#elif SIMT_ONLY == 3
#define SIMT_ISAS(each) each(v3)
#else
#define SIMT_ISAS(each) each(v4)
#endif

/* The build that this host runs, as an index into SIMT_ISAS. */
unsigned simt_isa(void);

#endif
