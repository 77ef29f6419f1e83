/*
 * count.h: the counters' own state, shared by count.c (what an access adds up to), count_sum.c
 * (totals of a launch) and count_write.c (the file that `lockstep profile` reads).
 */
#ifndef LOCKSTEP_WATCH_COUNT_H
#define LOCKSTEP_WATCH_COUNT_H

#include "gpu/counters.h"
#include "simt/watch.h"
#include "watch/cache.h"

#include <stdio.h>

enum count_space { COUNT_GLOBAL, COUNT_SHARED, COUNT_LOCAL, COUNT_SPACES };

/* What an instruction did in one space. Sectors of 32 bytes. */
struct count_memory {
    uint64_t requests; /* warp accesses with a lane in it */
    uint64_t bytes;    /* asked for */
    uint64_t sectors, sectors_ideal;
    uint64_t l1_hits; /* sectors */
    uint64_t l2_sectors, l2_hits;
    uint64_t dram_sectors;
    uint64_t first; /* sectors that nothing had touched before */
    uint64_t lines; /* tags looked up */
    uint64_t wavefronts, wavefronts_ideal, conflicts;
    uint64_t turns;      /* atomics: turns within the warp */
    uint64_t l1_cycles;  /* that its load/store unit is busy */
    uint64_t partial;    /* sectors of which a store writes only a part */
    uint64_t misaligned; /* neighbours that do not start at a multiple of 32 bytes */
    uint64_t strided;    /* requests of full warps with one stride between lanes, */
    int64_t stride;      /* and the last such stride in bytes */
};

struct count_inst {
    struct count_memory memory[COUNT_SPACES];
    uint64_t idle; /* barriers: instructions that the busiest warp ran beyond each that waited */
};

struct counters {
    struct simt_watcher watcher;
    struct simt_machine *machine;
    FILE *file;
    struct count_inst *insts; /* [code->inst_count] */
    struct cache *l1s;        /* [sms]; sets NULL until used */
    struct cache l2;
    size_t l1_bytes;                /* what shared memory leaves of it in this launch */
    struct cache *l1;               /* of the block that runs, */
    const struct simt_block *block; /* which is this */
    uint64_t **touched;             /* [SIMT_ARENA >> COUNT_CHUNK_BITS]: a bit per sector */
    struct count_hot *hot;          /* atomics by piece of memory, */
    struct count_hot *turns;        /* and by address; COUNT_HOT of each */
    uint64_t longest_warp;          /* instructions of the warp that ran most of them */
    uint32_t *chunks;               /* those of touched that are in use */
    size_t chunk_count, chunk_capacity;
    struct trace *trace; /* NULL: none was asked for */
};

enum { COUNT_CHUNK_BITS = 20 };

/* Atomics to one piece of memory meet in one slice of the L2. */
enum { COUNT_HOT_BITS = 12, COUNT_HOT = 4096 };
/* Those to one address take turns there, within a warp and between warps. Of the pieces, or the
 * addresses, that share an entry the one that is met more often than all others together has it in
 * the end. */
struct count_hot {
    uint64_t key, lead;     /* how often it was met, less the others */
    uint64_t count, floats; /* sectors or turns, and those of floats among them */
};

#ifdef SIMT_ISA
uint32_t SIMT_NAME(count_access)(struct simt_watcher *watcher, const struct watch_access *access);
#endif
void count_sum(const struct counters *counters, const struct simt_launch_state *launch,
               struct gpu_counters *sum);
void count_write(struct counters *counters, struct simt_launch_state *launch);

/* trace.c */
struct trace *trace_open(void); /* by LOCKSTEP_TRACE, or NULL */
void trace_close(struct trace *trace);
void trace_launch(struct trace *trace, struct simt_launch_state *launch);
void trace_access(struct trace *trace, const struct watch_access *access);
void trace_branch(struct trace *trace, struct simt_warp *w, const struct simt_inst *in);
void trace_write(struct trace *trace, FILE *file);

#endif
