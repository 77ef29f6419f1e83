/*
 * isa.h: what is compiled once per instruction set of the host (exec_*.c), and which build runs.
 * A room that has such files declares its functions for every build with SIMT_ISAS and indexes its
 * table with simt_isa().
 */
#ifndef LOCKSTEP_SIMT_ISA_H
#define LOCKSTEP_SIMT_ISA_H

/* The Makefile's ISAS, from the oldest to the newest. The sanitizers' build leaves v4 out: it takes
 * long to compile, and few hosts run it. */
#ifndef __x86_64__
#define SIMT_ISAS(each) each(v1)
#elif defined(SIMT_WITHOUT_V4)
#define SIMT_ISAS(each) each(v2) each(v3)
#else
#define SIMT_ISAS(each) each(v2) each(v3) each(v4)
#endif

/* The build that this host runs, as an index into SIMT_ISAS. */
unsigned simt_isa(void);

#endif
