/*
 * count.h: the counters' own state, shared by count.c (what an access adds up to), count_sum.c
 * (totals of a launch) and count_write.c (the file that `lockstep profile` reads).
 */
#ifndef LOCKSTEP_WATCH_COUNT_H
#define LOCKSTEP_WATCH_COUNT_H

#include "gpu/counters.h"
#include "simt/watch.h"
#include "watch/cache.h"
#include "watch/count_blocks.h"
#include "watch/units.h"

#include <stdio.h>

/* What an instruction did in one space; profile_columns.def says what each column is. */
struct count_memory {
#define MEMORY(name) uint64_t name;
#include "gpu/profile_columns.def"
};

struct count_inst {
    struct count_memory memory[GPU_SPACES];
    uint64_t idle; /* barriers: instructions that the busiest warp ran beyond each that waited */
};

/* As ncu tells them apart; COUNT_CLUSTER_RED is red.async. */
enum count_cluster_kind {
    COUNT_CLUSTER_LOAD,
    COUNT_CLUSTER_STORE,
    COUNT_CLUSTER_ATOM,
    COUNT_CLUSTER_RED,
    COUNT_CLUSTER_KINDS
};

struct counters {
    struct simt_watcher watcher;
    struct simt_machine *machine;
    FILE *file;               /* NULL: only the time is wanted, of launches that are timed */
    struct count_inst *insts; /* [code->inst_count]; NULL: this launch is not counted */
    struct cache *l1s;        /* [sms]; sets NULL until used */
    struct cache l2;
    uint64_t fill_sectors;          /* stores of a part of them met nothing of them in the L2, */
    uint64_t partial_lines;         /* and lines with such a store */
    size_t l1_bytes;                /* what shared memory leaves of it in this launch, */
    uint32_t l1_crowd;              /* and blocks that use it side by side */
    struct cache *l1;               /* of the block that runs, */
    const struct simt_block *block; /* which is this */
    uint64_t **touched;             /* [SIMT_ARENA >> COUNT_CHUNK_BITS]: a bit per sector */
    struct count_hot *hot;          /* atomics by piece of memory, */
    struct count_hot *turns;        /* and by address; COUNT_HOT of each */
    uint32_t latency;               /* of the access that is looked at */
    struct count_cluster {          /* accesses to shared memory of other blocks: */
        uint64_t requests[COUNT_CLUSTER_KINDS], sectors[COUNT_CLUSTER_KINDS];
        uint64_t passes;    /* through its banks */
        uint64_t execution; /* the last instruction that was counted, */
        uint32_t number;    /* with its number */
    } cluster;
    struct { /* sectors that bulk copies bring to shared memory */
        uint64_t self, multicast, cluster;
    } bulk;
    uint64_t longest_warp;      /* instructions of the warp that ran most of them */
    uint64_t busiest_requests;  /* to global memory, of the warp that has most */
    struct count_blocks blocks; /* of a launch that is not followed in time */
    uint32_t *chunks;           /* those of touched that are in use */
    size_t chunk_count, chunk_capacity;
    struct trace *trace;   /* NULL: none was asked for */
    struct replay *replay; /* NULL: none was asked for */
    struct units *units;   /* NULL: the launch is not followed in time */
    bool follows_replay;   /* it would not be, and its blocks are not, but for the replay */
};

/* Launches that are followed in time know when their blocks end; for a replay alone counters are as
 * without it. */
static inline bool count_has_blocks(const struct counters *counters)
{
    return !counters->units || counters->follows_replay;
}

enum { COUNT_CHUNK_BITS = 20 };

/* Atomics to one piece of memory meet in one slice of the L2. */
enum { COUNT_HOT_BITS = 10, COUNT_HOT = 4096 };
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
/* count_tensor.c: products of this many warps. */
void count_tensor(struct gpu_counters *sum, const struct gpu_info *gpu, const struct ptx_inst *ptx,
                  uint64_t warps);
/* Cycles of a tensor core for a warp's part of a product at its full rate, and a warp's share of
 * the passes over its warpgroup's matrices in shared memory. */
double count_tensor_cycles(const struct gpu_info *gpu, const struct ptx_inst *ptx);
double count_wide_passes(const struct ptx_inst *ptx);
/* count_bulk.c: the watcher's hook, and instructions of the launch. */
void count_bulk(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                int lane);
void count_bulk_instructions(struct gpu_counters *sum, enum ptx_op op,
                             const struct watch_tally *tally);
/* What the time model makes of the launch, into its watch. */
void count_model(struct simt_launch_state *launch, const struct gpu_counters *sum);
void count_sum(const struct counters *counters, const struct simt_launch_state *launch,
               struct gpu_counters *sum);
/* Those of a whole grid, from the blocks that were run in its place (launch->sampled). */
void count_scale(const struct counters *counters, const struct simt_launch_state *launch,
                 struct gpu_counters *sum);
size_t count_l2_holds(const struct gpu_info *gpu);
void count_write(struct counters *counters, struct simt_launch_state *launch,
                 const struct gpu_counters *sum);

/* trace.c */
struct trace *trace_open(void); /* by LOCKSTEP_TRACE, or NULL */
void trace_close(struct trace *trace);
void trace_launch(struct trace *trace, struct simt_launch_state *launch);
void trace_access(struct trace *trace, const struct watch_access *access);
void trace_branch(struct trace *trace, struct simt_warp *w, const struct simt_inst *in);
void trace_write(struct trace *trace, FILE *file);

#endif
