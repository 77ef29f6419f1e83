/*
 * watch.h: the interface for watchers: counters and traces (src/watch), checkers (src/check).
 * A watched launch has a run loop of its own (exec_watch.c), which passes every memory access of a
 * warp to each watcher before it happens. Bodies know nothing of it, and an unwatched launch pays
 * nothing. A watched launch runs on one host thread: what watchers report does not depend on cores.
 */
#ifndef LOCKSTEP_SIMT_WATCH_H
#define LOCKSTEP_SIMT_WATCH_H

#include "simt/core.h"
#include "simt/memory_events.h"

enum watch_kind {
#define KIND(name) WATCH_##name,
#include "gpu/access_kinds.def"
#undef KIND
};

/* What is known about an instruction before it runs. */
struct watch_inst {
    uint8_t kind;       /* enum watch_kind */
    uint8_t class;      /* enum gpu_class */
    uint8_t traits;     /* bits of enum gpu_inst_trait */
    uint8_t space;      /* enum ptx_space, as written */
    uint8_t is_write;   /* stores, and the shared side of copies */
    uint8_t is_ordered; /* volatile, relaxed, acquire, release, atomics */
    uint8_t skips_l1;   /* served by the L2 */
    uint8_t is_cas;
    uint8_t is_reduction; /* of a bulk copy */
    uint8_t is_order;     /* barriers, .sync, fences, mbarriers: see the order hook */
    uint8_t is_product;   /* of tensor cores, or waits for them: see the product hook */
    uint32_t bytes;       /* per lane, all elements of a vector */
    /* What the assembler makes of it (watch_fold.c), for counters only: */
    bool folded;           /* part of an earlier load */
    bool one_lane;         /* summed up in the warp first */
    bool counts_lanes;     /* lanes that add 1 to the same address do it at once */
    uint8_t counted_bytes; /* of the load that it stands for; 0: its own */
    int8_t counted_offset; /* where that begins, from its own address */
    /* For the time model (watch_cost.c, watch_phases.c): */
    uint8_t slots;       /* machine instructions that it becomes, */
    uint16_t slots_of_4; /* and of four turns of an unrolled loop, which count once */
    uint8_t load_phases; /* of the basic block that it begins: global loads one after the other, */
    uint8_t shared_phases; /* and shared loads */
    bool waits;            /* a load that begins such a phase */
    uint8_t scoreboard;    /* of a load's phase, from 1 on: what needs the load waits by it */
    uint8_t quarters;      /* of its latency that a turn waits for, if the block is unrolled */
    uint16_t awaits;       /* scoreboards of loads that it needs, a bit each */
    /* Of the block too, for four turns of it: unrolled loops have fewer phases in each. */
    uint16_t load_phases_of_4, shared_phases_of_4;
    uint16_t chain_of_4; /* cycles until its results follow from one another, loads apart */
    uint16_t path_of_4;  /* of four turns: slots, and of a block's first those cycles too */
    uint16_t alone;      /* cycles that a warp by itself needs for it; a block's first has those of
                            its results too */
};

/* How the addresses of a full warp lie; what is not simple is scattered. */
enum watch_pattern {
    WATCH_SCATTERED,
    WATCH_SAME,       /* all the same */
    WATCH_NEIGHBOURS, /* one after the other */
    WATCH_HALVES      /* each half of the warp is the same or neighbours: blocks 16 wide */
};

/* One access of a warp. Generic addresses have been told apart by lane. */
struct watch_access {
    struct simt_warp *w;
    const struct simt_inst *in;
    const struct watch_inst *what;
    uint32_t number;      /* of the instruction in the kernel's code */
    enum ptx_space space; /* GLOBAL, SHARED, LOCAL or CONST */
    uint32_t mask;        /* lanes */
    uint32_t bytes;       /* per lane */
    bool is_write;        /* atomics: true, and is_read too */
    bool is_read;
    enum watch_pattern pattern;
    struct simt_block *block;  /* whose shared memory it is: of a cluster, any */
    const uint64_t *addresses; /* [lane]: device addresses; offsets in shared and local memory */
    const uint64_t *partner;   /* copies: the other side's addresses, or NULL */
    enum { WATCH_FOR_ALL, WATCH_FOR_COUNTERS, WATCH_FOR_CHECKS } audience;
};

/* What a kernel does with the device heap. */
enum watch_heap_event { WATCH_HEAP_ALLOCATED, WATCH_HEAP_FREED, WATCH_HEAP_BAD_FREE };

enum watch_op_event {
    WATCH_OP_BEGINS,
    WATCH_OP_ENDS,
    WATCH_OP_SYNCED,
    WATCH_OP_RETAIN,
    WATCH_OP_RELEASE
};

struct simt_watcher {
    struct simt_watcher *next;
    /* Any of these may be NULL. */
    void (*launch)(struct simt_watcher *watcher, struct simt_launch_state *launch);
    void (*block)(struct simt_watcher *watcher, struct simt_block *block, bool begins);
    /* Returns the lanes that must not do it (they read zeros, or write nothing). */
    uint32_t (*access)(struct simt_watcher *watcher, const struct watch_access *access);
    /* A lane issues a bulk copy of a tensor or a bulk reduction; its accesses have been shown. */
    void (*bulk)(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                 int lane);
    /* A .sync instruction has brought these lanes together. */
    void (*warp_sync)(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                      uint32_t lanes);
    /* A barrier of the block lets its threads go; barrier->lanes says which have come. */
    void (*barrier)(struct simt_watcher *watcher, struct simt_block *block, uint32_t id);
    /* The barrier of the block's cluster lets its threads go. */
    void (*cluster_barrier)(struct simt_watcher *watcher, struct simt_block *block);
    /* A block of a cluster ends; others may still run. */
    void (*cluster_exit)(struct simt_watcher *watcher, struct simt_block *block);
    /* Any instruction that does not touch memory, before it runs; only with wants_all. */
    void (*step)(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in);
    bool wants_all;
    /* Any instruction, before it runs, guard applied; only once watch->follows is set. */
    void (*follow)(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in);
    /* An instruction that orders others (is_order), before it runs; a .sync whose lanes are not all
     * there comes here again. */
    void (*order)(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in);
    /* A product of tensor cores, a commit of or a wait for such products, after it ran. */
    void (*product)(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in);
    /* A warp waits for lanes of its own that wait for it at a join: they are about to be let go. */
    void (*stuck)(struct simt_watcher *watcher, struct simt_warp *w, bool barrier);
    /* malloc() and free() of a thread. */
    void (*heap)(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                 int lane, enum watch_heap_event event, uint64_t address, uint64_t size);
    /* The program's allocations; frees, copies and memsets that were refused; what the host or a
     * copy wrote (from: the device address it came from, or 0); allocations left at the end. From
     * any host thread. */
    void (*allocated)(struct simt_watcher *watcher, uint64_t address, size_t size);
    void (*freed)(struct simt_watcher *watcher, uint64_t address);
    void (*bad_free)(struct simt_watcher *watcher, uint64_t address);
    void (*bad_range)(struct simt_watcher *watcher, uint64_t address, size_t size);
    void (*written)(struct simt_watcher *watcher, uint64_t to, uint64_t from, size_t size);
    void (*left)(struct simt_watcher *watcher, uint64_t address);
    /* Operations: memory_events.h. */
    void *(*submitted)(struct simt_watcher *watcher, const struct simt_op_info *info);
    void (*op_event)(struct simt_watcher *watcher, void *op, enum watch_op_event event);
    void (*freeing)(struct simt_watcher *watcher, uint64_t address, size_t size);
    void (*done)(struct simt_watcher *watcher, struct simt_launch_state *launch);
    void (*close)(struct simt_watcher *watcher);
};

/* How often an instruction ran. */
struct watch_tally {
    uint64_t warps;     /* executions by a warp */
    uint64_t threads;   /* lanes of those, */
    uint64_t on;        /* and those whose guard was true */
    uint64_t divergent; /* branches that split a warp */
    uint64_t waits;     /* barriers at which the warp had to wait */
};

/* One turn of a path: as run_slice in run.c. */
typedef bool simt_slice(struct simt_warp_state *warp, struct simt_path *path, int32_t fuel);

struct simt_watch {
    struct simt_watcher *first;
    bool wants_all; /* does one of them? */
    bool follows;   /* a watcher has a value to follow in this launch */
    simt_slice *slice;
    /* Of the launch that runs: */
    struct watch_inst *insts;    /* [code->inst_count] */
    struct watch_tally *tallies; /* [code->inst_count] */
    const struct simt_code *code;
    uint32_t latency;        /* cycles that the last access takes, as the counters have it */
    double modelled_seconds; /* of the last launch, from its counters; 0 without counters */
    double modelled_share;   /* of the GPU that it took; see gpu_model */
};

/* Registers a watcher, which the machine closes at its end; nothing happens if it is NULL. */
void simt_watch_add(struct simt_machine *machine, struct simt_watcher *watcher);
void simt_watch_close(struct simt_machine *machine);
/* The watchers of this launch (NULL: none), and their end. launch_lock held. */
struct simt_watch *simt_watch_for(struct simt_machine *machine,
                                  const struct simt_launch_state *state);
void simt_watch_return(struct simt_machine *machine, struct simt_launch_state *state);
void simt_watch_launch(struct simt_launch_state *launch);
void simt_watch_done(struct simt_launch_state *launch);
void simt_watch_block(struct simt_block *block, bool begins);
void simt_watch_warp_sync(struct simt_warp *w, const struct simt_inst *in, uint32_t lanes);
void simt_watch_barrier(struct simt_block *block, uint32_t id);
void simt_watch_cluster_barrier(struct simt_block *block);
void simt_watch_cluster_exit(struct simt_block *block);
void simt_watch_stuck(struct simt_warp *w, bool barrier);
void simt_watch_heap(struct simt_warp *w, const struct simt_inst *in, int lane,
                     enum watch_heap_event event, uint64_t address, uint64_t size);
void simt_watch_allocated(struct simt_machine *machine, uint64_t address, size_t size);
void simt_watch_freed(struct simt_machine *machine, uint64_t address);
struct watch_inst *simt_watch_describe(const struct simt_code *code); /* malloc'd */
/* Of one function; places: where its instructions are in insts. */
void simt_watch_fold(const struct ptx_function *function, const uint32_t *places,
                     struct watch_inst *insts);
unsigned simt_watch_slots(const struct ptx_inst *ptx, const struct watch_inst *what);
/* Sets slots and what blocks wait for, for the whole function. */
void simt_watch_phases(const struct ptx_function *function, const uint32_t *places,
                       struct watch_inst *insts);
/* Shows what the instructions of group BULK touch; returns the lanes that must not do it. */
uint32_t simt_watch_bulk(struct simt_watch *watch, struct watch_access *access);
/* The same for group TEXTURE. */
uint32_t simt_watch_texture(struct simt_watch *watch, struct watch_access *access);
/* The loop of a watched launch (exec_watch.c), for this host. */
simt_slice *simt_watched_slice(void);
#ifdef SIMT_ISA
simt_slice SIMT_NAME(simt_watched_slice);
#endif

#define EACH_WATCHER(watch, hook)                                                                  \
    for (struct simt_watcher *watcher = (watch)->first; watcher; watcher = watcher->next)          \
        if (watcher->hook)

#endif
