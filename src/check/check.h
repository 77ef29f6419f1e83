/*
 * check.h: what the checker's files share. check.c looks at every access; memory.c knows the
 * allocations and what was ever written; bounds.c judges where an access leads; race.c
 * remembers who touched each word last; order.c knows what is ordered before what, lanes.c within
 * a warp;
 * heap.c knows what kernels allocate; unwritten.c keeps reads of undefined values, taint.c and
 * taint_lanes.c follow them; doubt.c keeps races of what warpgroup products read, in case their
 * sums are dropped;
 * async.c knows mbarriers, copies in the background and what blocks of a cluster do to each other;
 * sync.c judges barriers and .sync masks;
 * place.c names places, threads and arrays; write.c writes what was found.
 *
 * How order is kept. What a warp does between two synchronisations is a segment; segments are
 * numbered in the order in which they begin, over all launches, so a number is a time as well. A
 * cell remembers the segment and instruction of the last write and of the last two readers. "Warp
 * w knows warp v up to t" means: what v did in segments up to t is ordered before what w does now.
 * Invariants:
 *   C1  a segment belongs to one warp, and is closed by everything that orders it before others;
 *   C2  a cell's segment below the launch's first (the block's first, in shared memory) is history;
 *   C3  knowledge only grows while a launch runs.
 * Bulk copies run beside the threads: each has a segment of its own, of an engine of the block
 * (bulk.c). Threads know engines as they know warps; they learn of them by waiting.
 */
#ifndef LOCKSTEP_CHECK_CHECK_H
#define LOCKSTEP_CHECK_CHECK_H

#include "simt/watch.h"

#include <stdio.h>

/* Built for newer processors too; the loader picks. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CHECK_HOT __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CHECK_HOT
#endif

enum check_kind {
#define FINDING(name, key, severity) CHECK_##name,
#include "gpu/finding_kinds.def"
#undef FINDING
};

/* Shadow ----------------------------------------------------------------------------------------
 * 32 bytes for every 4 bytes that a kernel touches, and a bit for every byte that was written. */

struct check_cell {
    uint32_t write_segment, write_info;
    uint32_t read_segment[2], read_info[2]; /* of two warps, the latest first */
    uint32_t write_serial;                  /* which warp access it was */
    uint8_t write_bytes, read_bytes[2];     /* a bit for each of the word's bytes */
    uint8_t apart;                          /* the two readers are of different blocks */
};

/* Bits of an info; above them, the number of the instruction. */
#define CHECK_LANE 31u
#define CHECK_STRONG 32u     /* an atomic, or volatile, relaxed, acquire, release */
#define CHECK_MANY 64u       /* more lanes of the segment than this one */
#define CHECK_ASYNC 128u     /* cp.async: done when it was waited for */
#define CHECK_MIXED 256u     /* bytes of the word were written by several lanes */
#define CHECK_SECOND_SHIFT 9 /* with CHECK_MANY: another of those lanes */
#define CHECK_INST_SHIFT 14

#define CHECK_CHUNK_BITS 16
#define CHECK_CHUNK (1u << CHECK_CHUNK_BITS)

struct check_chunk {
    struct check_cell *cells; /* [CHECK_CHUNK / 4]; NULL until a kernel touches it */
    uint8_t written[CHECK_CHUNK / 8];
};

/* Order -----------------------------------------------------------------------------------------
 */

/* What is known about warps of other blocks: ranges of warps of the grid, and up to when. */
struct check_range {
    uint32_t first, last; /* both included */
    uint32_t time;
};

struct check_knowledge {
    uint32_t references, count;
    struct check_range ranges[]; /* sorted, apart */
};

/* Engines of a block: loads by the mbarrier that counts them; of stores, by warp, one that reads
 * shared memory and one that writes global memory. More copies than engines share them: then a
 * little too much is known. */
enum {
    CHECK_LOAD_ENGINES = 32,
    CHECK_STORE_ENGINES = 4,
    CHECK_ENGINES = CHECK_LOAD_ENGINES + 2 * CHECK_STORE_ENGINES
};

struct check_warp {
    uint32_t segment;             /* that its accesses belong to; 0: the next one opens it */
    uint32_t fence_block;         /* what it did up to then, a fence orders for its block, */
    uint32_t fence_all;           /* or for all */
    uint32_t fence_init;          /* mbarriers that it made up to then, one orders for all */
    uint32_t (*seen)[SIMT_LANES]; /* [lane][lane]: after .syncs of some lanes only; or NULL */
    struct check_taint *taint;    /* its undefined registers, by frame */
    uint32_t waited_for_grid;     /* griddepcontrol.wait: when; 0: not yet */
    uint32_t waited;              /* cp.async copies up to then are done */
    struct {                      /* its first and its last wait for the cluster's barrier: */
        uint32_t phase, segment;  /* phase, counted from 1, and its first segment after that */
    } cluster_waits[2];
    uint32_t commits[8];      /* when its last groups of copies were closed, the latest first */
    uint32_t bulk_commits[8]; /* the same for bulk groups */
    uint32_t bulk_read;       /* its last bulk copy that read shared memory; 0: none, */
    uint32_t bulk_read_info;  /* and its instruction, as in a cell */
    struct check_knowledge *foreign;
    uint64_t acquired; /* version that was taken last, so that polling costs little */
    /* A .sync or barrier that some lanes have passed is reported if they never reach it. */
    uint32_t last_access; /* number of an instruction, */
    uint32_t barriers;    /* and how many barriers it has been at */
    uint32_t skipped_lanes;
    const struct simt_inst *skipped_at, *skipped_by;
};

/* One side of an error. */
struct check_side {
    const struct simt_inst *in; /* NULL: not known */
    uint64_t block;             /* linear; UINT64_MAX: not known */
    uint32_t thread;            /* linear; UINT32_MAX: not known */
    const char *does;           /* "read", "write" .. */
};

/* How far apart the two sides of a race are. */
enum check_scope { CHECK_IN_WARP, CHECK_IN_BLOCK, CHECK_IN_GRID };

static inline enum check_scope check_scope(const struct check_side *a, const struct check_side *b)
{
    return a->block != b->block                               ? CHECK_IN_GRID
           : a->thread / SIMT_LANES != b->thread / SIMT_LANES ? CHECK_IN_BLOCK
                                                              : CHECK_IN_WARP;
}

/* An mbarrier of a block. */
struct check_mbarrier {
    uint32_t offset;
    struct check_side init, expect, complete, end; /* who did it last; in NULL: nobody */
    uint32_t init_segment, init_info;              /* of the mbarrier.init, as in a cell */
    uint32_t shown_phase; /* of the cluster's barrier: its fence shows it from then on; 0: never */
    bool is_judged;       /* a report has been made about its bytes */
};

/* What a warp of another block of the cluster did last in the block's shared memory. */
struct check_remote {
    uint32_t warp; /* in the grid */
    uint32_t segment, info;
    uint32_t phase; /* of the cluster's barrier: when the next one ends, it is over */
};

/* When a tensor map was last acquired by its block. Of two maps that share a place, one is
 * forgotten, and nothing is said of it. */
enum { CHECK_MAPS = 64 };
struct check_map_fence {
    uint64_t address;
    uint32_t time;
};

struct check_block {
    struct check_block *next; /* unused ones */
    uint32_t warp_count;
    uint32_t first_warp; /* in the grid */
    uint32_t first_segment;
    struct check_warp *warps;
    uint32_t *known; /* [warp][warp, then engine]: the first knows the second up to this segment;
                        of itself: all its lanes know all its lanes */
    uint64_t engine_keys[CHECK_LOAD_ENGINES];    /* address of the mbarrier, plus 1 */
    uint32_t engine_last[CHECK_LOAD_ENGINES][2]; /* its last copy in a phase of each parity */
    uint32_t engine_next;
    struct check_map_fence maps[CHECK_MAPS];
    uint32_t fenced[SIMT_LANES]; /* by warp: its writes up to then are seen by bulk copies */
    uint32_t shared_bytes;       /* with the reserved part */
    struct check_cell *cells;    /* of shared memory */
    uint8_t *written;
    uint32_t arrived[SIMT_BARRIERS][SIMT_LANES]; /* bar.arrive: when, by warp */
    uint32_t cluster_phase;                      /* of the cluster's barrier: those that ended, */
    uint32_t cluster_waited; /* and the last one that a thread of this block waits for */
    struct check_mbarrier *mbarriers;
    uint32_t mbarrier_count, mbarrier_capacity;
    bool has_ended_mbarriers;     /* one was invalidated */
    struct check_remote *remotes; /* by warp */
    uint32_t remote_count, remote_capacity;
    struct check_products *products; /* products.c; NULL: the kernel has none */
};

/* A word that carries order from one thread to another. */
struct check_carrier {
    uint64_t key, version;
    struct check_knowledge *known;
    uint32_t engines[CHECK_ENGINES]; /* of the block of first_warp */
    uint32_t first_warp;
};

struct check_carriers {
    struct check_carrier *slots;
    size_t count, capacity;
};

/* Host memory events ------------------------------------------------------------------------------
 */

/* The program's own calls that led here, innermost first, as addresses in its file; ends with 0. */
struct check_callers {
    uint64_t at[6];
};

struct check_allocation {
    uint64_t address, size;
    uint32_t number;              /* the program's first allocation is 1 */
    struct check_callers callers; /* who allocated it, or freed it */
};

/* Of the device heap: who allocated it, or freed it. */
struct check_heap_block {
    uint64_t address, size; /* address first: lk_sorted_after looks for it */
    const struct simt_inst *in;
    uint64_t block, launch;
    uint32_t thread;
};

struct check_heap_list {
    struct check_heap_block *items; /* sorted by address */
    size_t count, capacity;
};

struct check_event {
    enum { CHECK_EVENT_WRITE, CHECK_EVENT_COPY, CHECK_EVENT_FREE } kind;
    uint64_t to, from, size;
};

/* Stands in messages for the allocation of their subject. The reader of the file puts a name in its
 * place: "allocation #2 of 4096 bytes", or what a lesson calls that buffer. */
#define CHECK_ALLOCATION "{allocation}"

/* What an error is about. */
struct check_subject {
    enum ptx_space space; /* PTX_SPACE_REG: not about memory */
    uint64_t address;
    struct check_allocation allocation; /* number 0: the message names none */
    uint64_t limit; /* warp instructions that the launch was allowed; 0: it kept to them */
};

/* Where an instruction's addresses led last time: most stay there. */
struct check_cache {
    uint64_t low, high;                   /* of the allocation */
    bool tracks;                          /* whether bytes were written is known */
    const struct simt_shared_var *shared; /* instead: the variable that its addresses are of */
};

struct check {
    struct simt_watcher watcher;
    struct simt_machine *machine;
    FILE *file;

    /* Memory. host_lock: allocations, freed and events; other threads report them. */
    pthread_mutex_t host_lock;
    struct check_allocation *allocations, *freed; /* sorted by address */
    size_t allocation_count, allocation_capacity, freed_count, freed_capacity;
    uint32_t last_number;
    struct check_heap_list heap, heap_freed;
    struct check_event *events;
    size_t event_count, event_capacity;
    _Atomic bool has_events;
    bool is_running;
    struct check_chunk **chunks; /* [SIMT_ARENA >> CHECK_CHUNK_BITS] */

    /* The launch. */
    struct simt_launch_state *launch;
    struct check_cache *caches; /* [inst_count] */
    uint8_t *traits;            /* [inst_count]: CHECK_TRAIT_* */
    bool has_narrow;            /* one of them is CHECK_TRAIT_NARROW */
    bool has_products;          /* warpgroup products: products.c */
    bool owners;                /* owner.c: one writer for each word, */
    uint32_t owners_row;        /* but for some allocations of each row of so many */
    uint64_t owners_free;
    struct check_allocation owners_last;              /* a free one that was asked for last, */
    const struct simt_inst *owners_in, *owners_there; /* and the last pair that is reported */
    uint32_t first_segment;                           /* C2 */
    struct check_op *op;                              /* the operation that launched it, or NULL, */
    const struct check_op *early; /* and a kernel that may not have ended when it begins, or NULL */
    uint32_t history;             /* older segments than the launch's, from this one on, may be of
                                     launches that nothing orders before it (ops.c) */
    uint32_t serial;
    uint32_t passed_on; /* when something was last ordered for other blocks */
    struct check_carriers carriers;
    uint64_t versions;
    struct check_block *spare_blocks;
    const struct simt_function *frame_function; /* whose local memory was asked for last, */
    uint32_t frame_bytes;                       /* and how much it is */

    /* Segments. */
    uint32_t time;         /* the last segment */
    uint32_t segment_base; /* number of segment_warps[0] */
    uint32_t *segment_warps;
    uint8_t *segment_engines; /* 0, or the number of an engine plus 1 */
    /* Of the copy that is being looked at, of what it writes to global memory for a group, and of
     * what it does in other blocks of the cluster; 0: none yet. */
    uint32_t engine_segments[3];
    size_t segment_capacity;

    struct check_error *errors;
    size_t error_count, error_capacity;
    uint64_t dropped;
    struct check_pending {
        enum check_kind kind; /* CHECK_UNINITIALIZED, or CHECK_SYNC_MASK: a shuffle; or
                                 CHECK_RACE: doubt.c */
        struct check_side side, use;
        struct check_side other; /* of a race, */
        char *text;              /* and what is to be said of it */
        struct check_subject subject;
        uint32_t bytes, inst, count;
        uint32_t lanes;                 /* of the warp that read last: which of its lanes, */
        uint64_t addresses[SIMT_LANES]; /* and where */
        uint64_t block;
        uint32_t warp;
        bool is_used;    /* at `use`, or once more */
        bool is_part;    /* of a vector, always: other elements were written */
        int lane;        /* shuffles: what is read, */
        uint32_t mask;   /* with this mask, */
        const char *why; /* and why it is undefined */
    } * pending;         /* where undefined values came from */
    size_t pending_count;
    uint64_t doubtful;                /* of these, races */
    bool tells_doubts;                /* they are reported now */
    uint64_t doubts;                  /* of what a product reads now: added to */
    const struct simt_block *touched; /* whose shared memory is looked at */
    uint32_t stored_lanes;            /* of the instruction that runs: they store such a value, */
    uint64_t stored_origins[SIMT_LANES]; /* and where it came from */
    struct check_tainted_word {
        uint64_t key; /* 0: free */
        uint64_t origins;
        bool is_set;
    } * tainted; /* words of shared and local memory with such a value */
    size_t tainted_count, tainted_capacity;
    pthread_mutex_t report_lock; /* recursive: errors, pairs and the file */
    struct check_pair {
        uint64_t a, b;
    } pairs[256]; /* calls that have been told of together */
    size_t pair_count;
    bool had_fault; /* a program whose context is gone cannot free anything */
};

/* memory.c */
void check_memory_open(struct check *check);
void check_memory_close(struct check *check);
void check_memory_alloc(struct simt_watcher *watcher, uint64_t address, size_t size);
void check_memory_free(struct simt_watcher *watcher, uint64_t address);
void check_memory_bad_free(struct simt_watcher *watcher, uint64_t address);
void check_memory_bad_range(struct simt_watcher *watcher, uint64_t address, size_t size);
void check_memory_written(struct simt_watcher *watcher, uint64_t to, uint64_t from, size_t size);
/* Nothing is known of these bytes any more, and nothing has written them. */
void check_memory_fresh(struct check *check, uint64_t address, uint64_t size);
/* Return addresses in the program itself, not in its libraries. */
struct check_callers check_callers(void);
void check_memory_drain(struct check *check);
size_t check_allocations_near(struct check *check, uint64_t address,
                              struct check_allocation near[2]);

/* heap.c */
void check_heap_event(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                      int lane, enum watch_heap_event event, uint64_t address, uint64_t size);
void check_heap_close(struct check *check);
const struct check_heap_block *check_heap_find(const struct check *check, uint64_t address);
const struct check_heap_block *check_heap_find_freed(const struct check *check, uint64_t address);
size_t check_heap_near(const struct check *check, uint64_t address,
                       const struct check_heap_block *near[2]);
void check_heap_name(const struct check *check, const struct check_heap_block *block,
                     struct lk_buf *text);
struct check_side check_heap_side(const struct check *check, const struct check_heap_block *block,
                                  const char *does);

/* bounds.c */
/* Lanes of an access to global or constant memory that must not happen; the error is reported. */
uint32_t check_memory_bounds(struct check *check, const struct watch_access *access, bool *tracks);
uint32_t check_local_bounds(struct check *check, const struct watch_access *access);
uint32_t check_shared_bounds(struct check *check, const struct watch_access *access);
struct check_chunk *check_chunk_at(struct check *check, uint64_t offset);
/* "byte 4 of table", "byte 8 of " CHECK_ALLOCATION ..; "" if nothing is known. Sets the
 * subject's allocation. */
void check_describe_address(struct check *check, struct check_subject *subject,
                            struct lk_buf *text);
/* One writer for each word, where exercises ask for it: owner.c. */
void check_owner_open(struct check *check);
void check_owner_write(struct check *check, const struct watch_access *access, uint64_t address,
                       uint32_t lane, const struct check_cell *cell);
void check_owner_read(struct check *check, const struct watch_access *access, uint64_t address,
                      uint32_t lane, const struct check_cell *cell);
bool check_find_freed(struct check *check, uint64_t address, struct check_allocation *found);
bool check_find_allocation(struct check *check, uint64_t address, struct check_allocation *found);

/* What is known about an instruction before the launch. */
#define CHECK_TRAIT_FEEDS_CAS 1 /* a plain read of what a compare-and-swap then decides upon */
#define CHECK_TRAIT_LIBRARY 2   /* of CUB or Thrust */
#define CHECK_TRAIT_VOLATILE 4  /* a volatile access of an array */
#define CHECK_TRAIT_PRECHECK                                                                       \
    8 /* a plain read, before an atomic of the same function does it properly */
#define CHECK_TRAIT_RACED 16  /* it read what another thread writes, in no order */
#define CHECK_TRAIT_NARROW 32 /* strong, but only for its block */
#define CHECK_TRAIT_PLAIN 64  /* volatile or relaxed, of an array: no flag; in exercises */
/* Which variable's addresses an instruction for shared memory uses, where it can be told. */
void check_shared_variables(struct check *check);
/* An atomic that may be done twice without harm: min, max, and, or, exch. */
bool check_is_idempotent(const struct ptx_inst *ptx);
uint8_t *check_traits(const struct simt_launch_state *launch, bool strict, bool *has_narrow);

/* race.c */
void check_race_access(struct check *check, const struct watch_access *access, uint32_t mask,
                       bool tracks);
/* Bytes of shared memory hold an undefined value. */
void check_race_unwrite(struct check_block *block, uint32_t first, uint32_t bytes);
const char *check_verb(const struct simt_inst *in, bool is_write); /* "atomic", "write", "read" */

/* unwritten.c */
/* The thread that uses the value has read it as well: the report is about that read. */
void check_pending_choose(struct check_pending *pending, const struct check_side *use, int lane);
/* The set that it is the only one of; 0 if there are too many. */
uint64_t check_pending_add(struct check *check, const struct check_pending *pending);
/* Without a look for one like it. */
uint64_t check_pending_append(struct check *check, const struct check_pending *pending);
/* Bytes of what is looked at by itself: an element of a vector, else all that a lane reads. */
uint32_t check_unwritten_element(const struct watch_access *access);
/* These lanes read what nothing has written; parts[lane]: of their elements those, as bits. */
void check_unwritten(struct check *check, const struct watch_access *access, uint32_t lanes,
                     uint32_t mask, const uint8_t *parts);
void check_unwritten_end(struct check *check);

/* taint.c */
void check_taint_step(struct simt_watcher *watcher, struct simt_warp *w,
                      const struct simt_inst *in);
void check_taint_free(struct check_warp *warp);
/* Lanes of a load get an undefined value. */
/* elements: of a vector, as bits. */
void check_taint_loaded(struct check *check, const struct watch_access *access, uint32_t lanes,
                        uint64_t origins, uint32_t elements);
const struct check_tainted_word *check_taint_word(struct check *check,
                                                  const struct watch_access *access, int lane);
void check_taint_load_local(struct check *check, const struct watch_access *access, uint32_t mask);
void check_taint_store(struct check *check, const struct watch_access *access, uint32_t mask);
void check_taint_sync(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                      uint32_t lanes);
/* Sums of a product: of the registers whose halves[] is not 0 (1: row lane / 4 of the warp's 16, 2:
 * eight rows further on) those whose row has origins. */
void check_taint_rows(struct check *check, struct simt_warp *w, const struct simt_frame *frame,
                      const uint8_t *halves, uint32_t count, const uint64_t origins[16]);
void check_taint_end(struct check *check);

/* order.c */
void check_order_begin(struct check *check);
void check_order_end(struct check *check);
void check_order_block(struct check *check, struct simt_block *block, bool begins);
void check_order_open_segment(struct check *check, struct check_block *block, uint32_t warp);
bool check_order_is_before(const struct check *check, const struct check_block *block,
                           uint32_t warp, uint32_t lane, uint32_t segment, uint32_t info);
/* Does the warp know of anything that the other block has done? */
bool check_order_knows_block(const struct check_block *block, uint32_t warp,
                             const struct check_block *other);
void check_order_barrier(struct check *check, struct simt_block *block, uint32_t id);
void check_order_fence(struct check *check, struct simt_warp *w, const struct ptx_inst *ptx);
/* Atomics and ordered accesses: joins what the word carries, leaves what the warp may pass on. */
void check_order_access(struct check *check, const struct watch_access *access, uint32_t mask);
/* Words, mbarriers and the cluster's barrier by their key: a warp of the block passes on what it
 * did up to `until`, and what it knows; or takes what was passed on. */
uint64_t check_order_key(const struct check_block *block, uint64_t address, bool for_all);
void check_order_pass_on(struct check *check, struct check_block *block, uint32_t warp,
                         uint64_t key, uint32_t until);
void check_order_take(struct check *check, struct check_block *block, uint32_t warp, uint64_t key,
                      bool own_block);
/* The thread whose access a cell remembers. */
struct check_side check_side_of_segment(const struct check *check, uint32_t segment, uint32_t info,
                                        const char *does);
/* A new segment; of the warp, or of an engine. */
uint32_t check_order_new_segment(struct check *check, struct check_block *block, uint32_t warp,
                                 uint32_t engine);
/* The warp learns what the warps of its block know of engines. */
void check_order_take_engines(struct check_block *block, uint32_t warp);

/* async.c */
/* mbarriers and the waits of cp.async. */
void check_async_order(struct check *check, struct simt_warp *w, const struct simt_inst *in);
/* What tells an mbarrier when it is done has written shared memory. */
void check_async_wrote(struct check *check, const struct watch_access *access);
/* The mbarrier of a block at this offset; NULL if none was initialised there. */
struct check_mbarrier *check_mbarrier_at(struct check_block *block, uint32_t offset);
/* A thread uses an mbarrier: is it ordered after its initialisation? */
void check_mbarrier_used(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                         int lane, const struct check_mbarrier *mbarrier);
/* barrier.cluster; the barrier of the block's cluster lets its threads go. */
void check_cluster_order(struct check *check, struct simt_warp *w, const struct simt_inst *in);
void check_cluster_barrier(struct simt_watcher *watcher, struct simt_block *block);
/* An access to the shared memory of another block; a block of a cluster ends. */
void check_cluster_access(struct check *check, const struct watch_access *access, uint32_t mask);
void check_cluster_exit(struct simt_watcher *watcher, struct simt_block *block);
/* The block is over: did its mbarriers get the bytes that they expected? */
void check_async_end(struct check *check, struct simt_block *block);

/* bulk.c */
bool check_bulk_is(const struct ptx_inst *ptx);
/* Which engine's segment an access of a bulk copy belongs to. */
void check_bulk_end(struct check *check, struct simt_block *simt);
uint32_t check_bulk_segment(struct check *check, const struct watch_access *access);
/* A lane waits for an mbarrier of its block: it learns of the copies of that phase. */
void check_bulk_waited(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                       int lane, uint64_t at);
/* All accesses of a lane's copy have been looked at. */
void check_bulk_hook(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                     int lane);
/* Groups and fences of bulk copies; false if the instruction is neither. */
bool check_bulk_order(struct check *check, struct simt_warp *w, const struct simt_inst *in);
/* A bulk copy reads shared memory that was written in this segment: is there a fence between? */
void check_bulk_fence(struct check *check, const struct watch_access *access, uint64_t address,
                      int lane, uint32_t segment, uint32_t info);

/* lanes.c */
/* Where the mask of a .sync instruction lies; false if it has none. */
bool check_mask_slot(const struct simt_inst *in, uint32_t *slot);
void check_order_warp_sync(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                           uint32_t lanes);
bool check_lane_knows(const struct check_warp *warp, uint32_t lane, uint32_t segment,
                      uint32_t info);

/* sync.c */
void check_sync_before(struct check *check, struct simt_warp *w, const struct simt_inst *in);
void check_sync_stuck(struct simt_watcher *watcher, struct simt_warp *w, bool barrier);
void check_sync_barrier(struct check *check, struct simt_block *block, uint32_t id);
void check_sync_gathered(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                         uint32_t lanes);
void check_sync_fault(struct check *check, struct simt_launch_state *launch);

/* place.c */
void check_name(const char *mangled, struct lk_buf *text);
/* The line of an instruction, then the calls that it was inlined at, outwards. */
enum { CHECK_DEPTH = 24 };
struct check_at {
    const char *file;
    uint32_t line;
};
struct check_chain {
    size_t count;
    struct check_at at[CHECK_DEPTH];
};
/* apart: the other of two sides, or NULL: where a function that both call has been inlined, the
 * chain begins with the call. */
void check_chain(const struct ptx_module *module, const struct simt_inst *in,
                 const struct simt_inst *apart, struct check_chain *chain);
/* Was it inlined from a toolkit's header with this in its name? */
bool check_is_from_header(const struct ptx_module *module, const struct simt_inst *in,
                          const char *part);
/* Says how an address came to be out of bounds, if an index of 32 bits overflowed. */
void check_explain_index(struct check *check, const struct watch_access *access, int lane,
                         struct lk_buf *text);

/* write.c */
struct check_side check_side_of(const struct simt_warp *w, const struct simt_inst *in, int lane,
                                const char *does);
/* format: what is wrong, without the place. */
void check_report(struct check *check, enum check_kind kind, const struct check_subject *subject,
                  const struct check_side *side, const struct check_side *other, const char *format,
                  ...) __attribute__((format(printf, 6, 7)));
void check_report_host(struct check *check, enum check_kind kind,
                       const struct check_subject *subject, const struct check_callers *callers,
                       const struct check_callers *other, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Two operations of streams. side: an instruction of the first, or NULL; name: of a kernel. */
void check_report_ops(struct check *check, const struct check_subject *subject,
                      const struct check_side *side, const struct check_callers *callers,
                      const struct check_callers *other, const char *name, const char *does,
                      const char *format, ...) __attribute__((format(printf, 8, 9)));
/* Was this pair of calls already reported? Remembers it if not. */
bool check_is_known_pair(struct check *check, uint64_t a, uint64_t b);
/* Quick: was this pair already reported? Counts it if so. */
bool check_is_known(struct check *check, enum check_kind kind, const struct simt_inst *in,
                    const struct simt_inst *other);
/* A known race, seen again between these two. */
void check_widen(struct check *check, const struct check_side *side,
                 const struct check_side *other);
/* Is the instruction one side of an error of this kind? */
bool check_is_told(const struct check *check, enum check_kind kind, const struct simt_inst *in);
void check_write_counts(struct check *check);

static inline uint32_t *check_known_by(const struct check_block *block, uint32_t warp)
{
    return block->known + (size_t)warp * (block->warp_count + CHECK_ENGINES);
}

static inline void check_close_segment(struct check_warp *warp)
{
    warp->segment = 0;
}

static inline struct check_warp *check_warp_of(const struct simt_warp *w)
{
    return &w->block->check->warps[w->index];
}

#endif
