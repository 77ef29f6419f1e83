/*
 * core.h: the machine from the inside: memory, decoded code, warps, paths and joins.
 * Shared by the files of src/simt; nothing outside the folder includes it.
 *
 * How divergence works. A warp is a set of paths; a path is a set of lanes that run together. A
 * branch that splits a path makes a join at the branch's immediate post-dominator: lanes that get
 * there wait for the others of the same join, then go on as one path. Invariants:
 *   J1  the lanes of a path are a subset of the mask of its join, and of every join above it;
 *   J2  a join's arrived lanes belong to no path; they are a subset of its mask;
 *   J3  a join lives until its mask is empty or all of it has arrived;
 *   J4  a frame is freed with the return join that was made for it.
 * So that every lane makes progress, lanes that wait at a join are let go early when the lanes they
 * wait for spin (path.c, simt_path_expire).
 */
#ifndef LOCKSTEP_SIMT_CORE_H
#define LOCKSTEP_SIMT_CORE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "simt/exec.h"
#include "simt/flow.h"
#include "simt/simt.h"

#include <pthread.h>
#include <stdatomic.h>

/* Device memory ------------------------------------------------------------------------------
 * Device addresses [base, base + SIMT_ARENA) have their bytes at address + SIMT_BACKING on the
 * host. The first half is device memory proper: at the device address itself nothing is mapped, so
 * a host program that follows a device pointer faults as it does with a GPU. The second half is
 * host-visible: both views show the same bytes. A granule map says which 512-byte pieces are
 * allocated; kernels look nowhere else, except for what the list `live` alone has: memory of the
 * host that was registered, and mapped memory that they may only read or that lies in another
 * machine's arena. */
#ifdef __SANITIZE_THREAD__ /* which follows only addresses below 512 GiB and near the stack */
#define SIMT_ARENA (UINT64_C(1) << 34)
#define SIMT_ARENA_BASE UINT64_C(0x1000000000)
#else
#define SIMT_ARENA (UINT64_C(1) << 41)
#define SIMT_ARENA_BASE UINT64_C(0x200000000000)
#endif
#define SIMT_ARENA_HALF (SIMT_ARENA / 2)
#define SIMT_BACKING SIMT_ARENA
#define SIMT_ARENA_STEP (SIMT_ARENA * 2) /* between machines of one process */
#define SIMT_GRANULE_BITS 9
#define SIMT_GRANULE (UINT64_C(1) << SIMT_GRANULE_BITS)

/* Generic addresses of the other spaces lie above any user address of the host. */
#define SIMT_SHARED_WINDOW UINT64_C(0x800000000000)
#define SIMT_SHARED_WINDOW_SIZE (UINT64_C(1) << 24)        /* per block of a cluster, */
#define SIMT_SHARED_WINDOWS (SIMT_SHARED_WINDOW_SIZE * 16) /* and of all its blocks */
#define SIMT_LOCAL_WINDOW UINT64_C(0x900000000000)
#define SIMT_LOCAL_WINDOW_SIZE (UINT64_C(1) << 32)
#define SIMT_CODE_WINDOW UINT64_C(0xa00000000000) /* function pointers */

struct simt_allocation_list {
    struct simt_allocation *items; /* sorted by address */
    size_t count, capacity;
};

struct simt_memory {
    pthread_mutex_t lock;
    uint64_t base;
    uint8_t *granules; /* [SIMT_ARENA / SIMT_GRANULE]: 1 if allocated */
    struct simt_allocation_list live;
    struct simt_allocation_list reserved; /* addresses without memory of their own: virtual.c */
    struct simt_allocation_list dead[2];  /* freed, to be used again; by half, unsorted */
    uint64_t next[2];                     /* first never-used address of each half */
    uint64_t used;                        /* bytes allocated */
    uint64_t total;                       /* bytes the GPU has */
    uint64_t limit;                       /* of these, what the host can back */
    uint32_t last_number;                 /* of the program's allocations */
    int file;                             /* behind the host-visible half, and behind that: */
    uint64_t file_end;                    /* physical memory that virtual.c maps */
    int shared; /* file of what other processes may be given; 0: none yet. See virtual.c */
    _Atomic bool is_shared; /* another process may have some of this memory */
    bool is_mapped;
    _Atomic bool has_registered; /* some memory is in the list alone */
    uint8_t poison;              /* what new memory of programs and kernels is filled with */
};

/* false with a message if the address space cannot be reserved. */
bool simt_memory_open(struct simt_memory *memory, unsigned index, uint64_t limit);
void simt_memory_close(struct simt_memory *memory);
uint64_t simt_memory_alloc(struct simt_memory *memory, size_t size, enum simt_memory_kind kind,
                           enum simt_owner owner);
bool simt_memory_free(struct simt_memory *memory, uint64_t address, enum simt_owner owner);
bool simt_memory_find(struct simt_memory *memory, uint64_t address, struct simt_allocation *found);
/* Bytes from address on that are allocated, through adjacent mappings; 0 if none. */
uint64_t simt_memory_reach(struct simt_memory *memory, uint64_t address, bool is_write,
                           struct simt_allocation *found);
/* Memory that the map of granules does not have, only the list. */
uint8_t *simt_memory_listed(struct simt_memory *memory, uint64_t address, uint64_t size,
                            bool is_write);
/* Addresses without memory, multiples of 2 MB; those wanted (0: any) if they are free. 0: none. */
uint64_t simt_memory_reserve(struct simt_memory *memory, size_t size, uint64_t align,
                             uint64_t wanted);
void simt_memory_unreserve(struct simt_memory *memory, uint64_t address);
void simt_memory_show(struct simt_memory *memory, struct simt_allocation item);
/* The allocation's bytes are in the file `shared` from now on. */
void simt_memory_exported(struct simt_memory *memory, uint64_t address);
bool simt_memory_hide(struct simt_memory *memory, uint64_t address);

/* Host bytes of an address range of the arena; NULL if some of it is not allocated. */
static inline uint8_t *simt_memory_host(const struct simt_memory *memory, uint64_t address,
                                        uint64_t size)
{
    uint64_t first = address - memory->base, last = first + size - 1;
    if (last >= SIMT_ARENA || last < first)
        return NULL;
    for (uint64_t g = first >> SIMT_GRANULE_BITS; g <= last >> SIMT_GRANULE_BITS; g++)
        if (!memory->granules[g])
            return NULL;
    return (uint8_t *)(uintptr_t)(address + SIMT_BACKING);
}

/* Decoded code ----------------------------------------------------------------------------------
 */

/* Where an argument or return value lies: in a register slot, or in the frame's local memory. */
struct simt_place {
    bool in_register;
    uint32_t offset; /* of the slot, or in the frame's local memory */
    uint32_t bytes;  /* a predicate: 0 */
};

struct simt_literal {
    uint32_t slot, bytes; /* bytes per lane: 2, 4, 8, 16; 0: a predicate */
    uint64_t low, high;
    bool is_shared; /* an address of shared memory: a block of a cluster adds its window */
};

struct simt_sreg_slot {
    uint32_t slot;
    enum ptx_sreg sreg;
    uint32_t number; /* of %envregN */
};

struct simt_unwritten {
    uint32_t slot, size;
};

struct simt_function {
    const struct ptx_function *ptx;
    const struct simt_inst *entry;
    uint32_t frame_bytes; /* register slots, literals and special registers */
    uint32_t local_bytes; /* .local variables, parameters of calls */
    struct simt_literal *literals;
    uint32_t literal_count;
    struct simt_sreg_slot *sregs;
    uint32_t sreg_count;
    struct simt_unwritten *unwritten; /* registers that may be read before they are written */
    uint32_t unwritten_count;
    struct simt_place *params, *returns;
    uint32_t param_count, return_count;
};

/* What a call takes of the stack at least, so that endless recursion comes to its end. */
enum { SIMT_CALL_BYTES = 16 };
/* Local memory that a thread may have. */
enum { SIMT_LOCAL_MOST = 512 << 10 };

struct simt_call {
    const struct simt_function *callee; /* NULL: indirect, address in slot a */
    struct simt_place *arguments, *returns;
    uint32_t argument_count, return_count;
};

/* A kernel with every function it can reach, decoded together. */
struct simt_code {
    struct lk_arena *arena;
    struct simt_inst *insts;
    uint32_t inst_count;
    struct simt_function *functions; /* [0] is the entry */
    uint32_t function_count;
    uint32_t static_shared;
    uint32_t local_bytes; /* per lane, for the deepest chain of calls */
    bool unbounded_stack; /* recursion or indirect calls */
    bool uses_cluster;    /* barrier.cluster */
    bool uses_reserved;   /* asks where the reserved shared memory lies */
    uint32_t registers;   /* estimate, for occupancy */
    uint32_t increase;    /* the most that a setmaxnreg.inc asks for; 0: there is none */
    bool reads_clock;
    bool counts_cycles; /* reads %clock, not just %globaltimer */
    bool meets_blocks;  /* atomics or ordered accesses outside shared memory: blocks may wait for
                           others */
    bool fixed_params;  /* an address of the machine's buffer for parameters is in it */
    struct watch_inst *watched;   /* [inst_count]; NULL until it is first watched */
    struct simt_outputs *outputs; /* NULL until they are asked for */
    struct simt_shared_var {
        const struct ptx_var *var;
        uint32_t offset;
    } * shared_vars; /* static ones */
    uint32_t shared_var_count;
};

struct simt_kernel {
    struct simt_module *module;
    const struct ptx_function *ptx;
    struct simt_kernel_info info;
    struct simt_code *code; /* NULL until first needed */
    pthread_mutex_t lock;
    uint32_t profile_number;                   /* in the counters' file; 0: not in it yet */
    unsigned assembled_registers, spill_bytes; /* by NVIDIA's assembler; 0: it was not asked */
};

struct simt_module {
    struct simt_machine *machine;
    struct ptx_module *ptx;
    uint64_t *var_addresses; /* [ptx->var_count]; 0 for shared variables */
    struct simt_kernel *kernels;
    unsigned kernel_count;
    unsigned max_registers; /* 0: as the kernels say */
};

const struct simt_code *simt_kernel_code(struct simt_kernel *kernel);

/* Per thread, for occupancy: the assembler's if it was asked. */
static inline unsigned simt_kernel_registers(const struct simt_kernel *kernel)
{
    return kernel->assembled_registers ? kernel->assembled_registers : kernel->info.registers;
}

/* Value of &function: the kernel-independent number of a function of the module. */
static inline uint64_t simt_function_address(const struct ptx_function *function)
{
    return SIMT_CODE_WINDOW + 16 + (uint64_t)function->index * 16;
}

struct simt_code *simt_decode(struct simt_module *module, const struct ptx_function *entry);
void simt_code_free(struct simt_code *code);

/* Warps ------------------------------------------------------------------------------------------
 */

struct simt_frame {
    struct simt_frame *parent; /* the caller's; in the pool, the next */
    struct simt_frame *older;  /* all of a warp, for their end */
    const struct simt_function *function;
    const struct simt_call *call;
    const struct simt_inst *return_to;
    uint32_t local_base, local_top; /* in the lane's local memory */
    uint32_t capacity;              /* bytes behind regs */
    uint8_t *regs;
};

struct simt_join {
    struct simt_join *parent, *older;
    const struct simt_inst *at; /* NULL: the return of frame */
    struct simt_frame *frame;
    uint32_t mask, arrived;
};

enum simt_path_state { SIMT_PATH_FREE, SIMT_PATH_READY, SIMT_PATH_SYNC, SIMT_PATH_BARRIER };

struct simt_path {
    enum simt_path_state state;
    uint32_t mask;
    const struct simt_inst *ip;
    struct simt_frame *frame;
    struct simt_join *join; /* innermost */
    uint32_t sync_lanes;    /* state SYNC: lanes that wait at ip, */
    uint32_t sync_members;  /* and the lanes they name */
    uint32_t barrier;       /* state BARRIER: which */
    uint32_t ran;           /* instructions, without waiting */
    struct {                /* its last wait that failed: at an mbarrier, or warpgroup.c's */
        const struct simt_inst *in;
        uint64_t address, phase;
    } vain;
};

struct simt_barrier {
    uint32_t expected;          /* threads; 0: all of the block */
    uint32_t waiting;           /* lanes arrived, over all warps */
    uint32_t lanes[SIMT_LANES]; /* [warp]: which have arrived */
    uint32_t extra;             /* counted by arrivals of warps that came again */
    uint32_t count_true;        /* bar.red */
    bool in_use;
};

#define SIMT_BARRIERS 16

/* Warpgroup products of a warp (warpgroup.h), counted since its block began. */
#define SIMT_WGMMA_GROUPS 16
struct simt_wgmma {
    uint32_t issued;
    uint32_t groups;                       /* committed */
    uint32_t issued_at[SIMT_WGMMA_GROUPS]; /* [group % 16]: when it was committed */
};

/* Lanes that asked an mbarrier for a phase that had not ended, and came to no other barrier since.
 * The end of a phase lets them go, even if the mbarrier is initialised again before
 * their turn comes: on a GPU they sleep, and it wakes them. */
struct simt_waiting {
    uint32_t lanes, phases; /* phases: which each waits for, 0 or 1 */
    uint32_t let_go;
    const struct simt_mbarrier *at[SIMT_LANES];
};

/* Copies of cp.async that no wait has shown yet (late.c), oldest first. */
struct simt_late {
    struct simt_late_copy {
        uint8_t *to;
        uint32_t group; /* groups that were committed before it */
        uint8_t size, bytes[16];
    } * copies;
    uint32_t count, capacity, groups;
    bool gave_way; /* the warp has waited a turn for those that it now waits for */
};

/* What a warp or block has done since it last gave way to others. */
struct simt_turn {
    uint64_t polled;   /* instructions of slices with polls; waiting loops pay more */
    uint64_t executed; /* instructions */
};

/* Watched: how far a warp would have got by itself since its block began, waiting for a load where
 * something first needs it, and at barriers for its block; in quarters of a cycle. All loads take
 * equally long here: which warp finds its data in a cache is chance. */
enum { SIMT_SCOREBOARDS = 16 };
struct simt_path_time {
    uint64_t now, loads, hidden; /* what all loads took, and what the warp did meanwhile */
    /* Of loads under way: since when, when they have come (0: none is), what the caches say. */
    uint64_t begins[SIMT_SCOREBOARDS], arrives[SIMT_SCOREBOARDS];
    uint32_t takes[SIMT_SCOREBOARDS];
};

/* What a warp has beside what bodies see (struct simt_warp comes first). */
struct simt_warp_state {
    struct simt_warp w;
    struct simt_path paths[SIMT_LANES];
    struct simt_frame *entry_frame;
    struct simt_frame *free_frames, *all_frames;
    struct simt_join *free_joins, *all_joins;
    uint8_t *local;           /* [lane][local_stride] */
    uint32_t local_used;      /* bytes of a lane that may not be as a block begins with them */
    int32_t fuel, slice_fuel; /* instructions left in this slice, and at its start; waiting loops
                                 pay more */
    uint32_t sync_ops;        /* atomics and volatile reads in this slice, */
    uint32_t vain_waits;      /* and of them, failed waits that only the block can end, */
    uint32_t blind_ops;       /* and what sees no memory: clocks, atomics that give nothing back */
    uint64_t executed;        /* instructions of its last slice */
    uint64_t held;            /* what its clock shows while simt_holds_clock; 0: it has not begun */
    struct simt_turn turn;
    uint32_t cluster_arrived;       /* lanes that have come to the cluster's barrier, */
    uint32_t cluster_waits;         /* and that have not waited there since */
    uint32_t next_path, path_count; /* where to look first; how many are not free */
    bool gathered;   /* a .sync instruction runs for lanes that are known to be here */
    uint64_t hidden; /* instructions run that the program does not have */
    /* Time, in sixteenths of a cycle since the launch began (clock.h). */
    uint64_t clock;
    uint64_t wait_from, wait_seen;  /* when it came to the loop that waits for a clock, */
    uint64_t wait_loop;             /* which is this one, and when it last read the clock there */
    bool waits_for_clock;           /* in this slice */
    int32_t ran;                    /* fuel of its last slice */
    uint64_t steps, steps_released; /* watched: instructions run in this block, and when the last
                                       barrier let the warp go */
    uint64_t requests;              /* watched: to global memory, in this block */
    uint64_t alone_cycles;          /* watched: cycles it would need alone since its block began, */
    uint64_t quarter_slots, passes; /* quarters of instructions; cycles of L1 and shared memory */
    struct simt_path_time path;
    struct simt_wgmma wgmma;
    struct simt_waiting waiting;
    struct simt_late late;
    uint32_t registers; /* that setmaxnreg gave each of its threads; 0: as launched */
};

struct simt_block {
    struct simt_launch_state *launch;
    struct simt_worker *worker;
    uint32_t index[3];
    uint64_t linear;
    uint32_t warp_count;
    struct simt_warp_state *warps;
    uint8_t *shared;
    struct simt_cluster *cluster; /* NULL: no cluster, or one of one block */
    uint32_t window;              /* of its shared addresses (cluster.h) */
    bool has_ended;               /* others of the cluster may still run */
    struct simt_turn turn;
    uint32_t vain;         /* rounds in a row with nothing but vain waits, and no news */
    uint32_t still, skips; /* the same with news, and how often its clocks were put forward */
    uint32_t shared_bytes; /* the kernel's own */
    uint32_t reserved_at, shared_end; /* of the reserved part, behind it; see simt_reserved */
    struct simt_barrier barriers[SIMT_BARRIERS];
    struct simt_block *next; /* in the worker's list */
    uint32_t slot;           /* of its worker's slots */
    uint64_t random;
    struct check_block *check; /* the checker's state, while there is a checker */
    struct watch_units *units; /* the counters', of a launch that they follow in time */
    /* The counters': alone_cycles at the last barrier, and what its warps had issued and passed
     * through the SM's memory by then. */
    uint64_t released, released_slots, released_passes;
};

/* States that warps were seen in (stall.c): a set of hashes, 0 where there is none. */
struct simt_seen {
    uint64_t *states;
    uint32_t count, capacity;
};

struct simt_worker {
    struct simt_launch_state *launch;
    unsigned index;
    struct simt_block *parked_first, *parked_last;
    uint32_t parked_count, waits;
    uint32_t vain; /* turns in a row in which its blocks only polled */
    bool is_vain;  /* and it is one of the launch's vain */
    struct simt_seen seen;
    /* stall.c: what the launch's news were when this worker last looked, and since when they are;
     * where it is in its cycle of looks. */
    uint64_t news;
    double still_since;
    uint32_t looks, turns, skips;
    bool holds_clock; /* its warps' clocks stand still */
    bool is_settled;  /* it is one of the launch's settled */
    struct simt_block *free_blocks;
    uint64_t instructions, hidden;
    uint64_t check_after; /* instructions after which the limit is looked at */
    uint64_t *slots;      /* [slot_count]: when the block that is resident there ended */
    uint32_t slot_count;
    uint64_t started; /* blocks */
    uint64_t latest;  /* where the block that ran last has got to */
};

struct simt_launch_state {
    struct simt_machine *machine;
    struct simt_watch *watch; /* NULL: no watchers */
    struct simt_kernel *kernel;
    const struct simt_code *code;
    const struct simt_launch *launch;
    const struct simt_function *entry;
    uint8_t *params;         /* host view */
    uint64_t params_address; /* device address */
    uint64_t grid_workspace; /* the barrier of cooperative launches: size, then state */
    uint64_t grid_number;
    bool beside; /* it runs beside another launch, which waits for it (beside.c) */
    uint32_t threads_per_block, warps_per_block;
    uint64_t block_count;
    uint64_t sampled;                  /* of these so many run, and stand for all; 0: all run */
    uint64_t sample_instructions;      /* after which no further one begins */
    struct simt_sample *sample;        /* NULL: the machine's options choose them, or nobody */
    uint32_t cluster[3], cluster_size; /* blocks; 1 without clusters */
    uint32_t shared_bytes, shared_readable, reserved_at, shared_end;
    uint32_t local_stride;
    uint32_t resident_limit; /* blocks a worker keeps half-done */
    _Atomic bool single;     /* one worker, and no other launch: atomics need no lock */
    uint64_t random;         /* what the blocks' random numbers begin with */
    double started;          /* seconds of the machine's time when the launch began */
    uint32_t pace;           /* sixteenths of a cycle that an instruction of a warp takes */
    uint32_t wait_part;      /* clock.h */
    _Atomic uint64_t next_block;
    _Atomic uint64_t instructions;
    _Atomic uint64_t ended;  /* when its last warp ended, as warps' clocks have it */
    _Atomic bool keeps_time; /* a warp read a clock, or slept */
    uint64_t progress; /* instructions that do not count for the limit: set by the checker, which
                          takes a launch that ends blocks for one that comes to its end */
    _Atomic int stop;  /* a fault was raised */
    _Atomic unsigned workers, vain; /* that run, and those of them that only poll */
    _Atomic bool yielded, runs_children;
    /* stall.c: states of its warps that were not seen before, and changes of memory; all that its
     * workers do is poll, so each step is looked at; workers that can only repeat themselves; one
     * of them reads what the host or another launch may write. */
    _Atomic uint64_t news;
    _Atomic bool suspect;
    _Atomic unsigned settled;
    _Atomic bool asks_outside;
    pthread_mutex_t fault_lock;
    struct simt_fault *fault;
    struct { /* where it was raised; valid once fault->kind is set */
        const struct simt_inst *in;
        uint64_t block;  /* linear */
        uint32_t thread; /* linear; UINT32_MAX: of no single thread */
    } fault_at;
};

struct simt_machine {
    const struct gpu_info *gpu;
    struct simt_options options;
    struct simt_memory memory;
    pthread_mutex_t launch_lock; /* of what follows, and of grid_count, elapsed and timer */
    pthread_cond_t launch_changed;
    unsigned launches, working; /* that run, and those of them that do not wait for another */
    bool timer_busy;
    simt_yield *yield; /* NULL, or tells the driver that another launch may begin */
    void *yield_context;
    struct lk_pool *pool;
    uint64_t params_address; /* a buffer for kernel parameters, */
    uint32_t params_used;    /* and how much of it the last launch had */
    uint64_t grid_workspace; /* as in a launch: the first one's */
    size_t heap_bytes, stack_bytes;
    struct simt_heap *heap;
    pthread_mutex_t print_lock;
    struct lk_buf print;
    uint64_t grid_count;
    double elapsed;           /* seconds of earlier launches, for %globaltimer */
    struct simt_watch *watch; /* watches every launch; NULL: no watchers */
    struct simt_watch *timer; /* counts launches whose time is asked for; NULL until then */
    simt_timer_open *open_timer;
    struct simt_states *states;               /* NULL: they are not recorded */
    _Atomic(struct simt_textures *) textures; /* NULL: none was made yet */
    unsigned index;
};

/* From sm_80 on a block has some shared memory that is the system's; cooperative groups keep the
 * state of large tiles there. It lies behind the kernel's own, so far that running off the end of
 * that does not reach it, and only for kernels that ask where it is. */
enum { SIMT_RESERVED_GAP = 4096 };

/* May a read begin in the block's own shared memory and end behind it? A GPU gives whole units, and
 * NVVM counts on that: it reads four words where a program wants the last three. */
static inline bool simt_reads_on(const struct simt_block *block, uint64_t address, uint64_t size)
{
    return address < block->shared_bytes && size <= 16 &&
           address + size <= block->launch->shared_readable;
}

/* Is [address, address + size) in the block's reserved shared memory? */
static inline bool simt_reserved(const struct simt_block *block, uint64_t address, uint64_t size)
{
    return address >= block->reserved_at && address < block->shared_end &&
           size <= block->shared_end - address;
}

/* path.c */
void simt_warp_start(struct simt_warp_state *warp, struct simt_block *block, uint32_t index);
struct simt_path *simt_path_ready(struct simt_warp_state *warp);
void simt_path_enter(struct simt_warp_state *warp, struct simt_path *path);
void simt_path_expire(struct simt_warp_state *warp, struct simt_path *path);
struct simt_path *simt_path_part(struct simt_warp_state *warp, struct simt_path *path,
                                 uint32_t lanes, const struct simt_inst *ip);
void simt_paths_let_go(struct simt_warp_state *warp);
bool simt_path_unblock(struct simt_warp_state *warp, enum simt_path_state state);
const struct simt_inst *simt_split(struct simt_warp *w, const struct simt_inst *target,
                                   uint32_t taken, const struct simt_inst *rest_ip,
                                   const struct simt_inst *at);
const struct simt_inst *simt_reconverge(struct simt_warp *w, const struct simt_inst *in);
const struct simt_inst *simt_exit(struct simt_warp *w, const struct simt_inst *in);
const struct simt_inst *simt_enter_call(struct simt_warp *w, const struct simt_inst *in,
                                        const struct simt_call *call,
                                        const struct simt_function *callee, uint32_t lanes);
const struct simt_inst *simt_return(struct simt_warp *w, const struct simt_inst *in);
void simt_paths_merge(struct simt_warp_state *warp, struct simt_path *into);

/* frame.c */
void simt_frame_fill(struct simt_warp_state *warp, struct simt_frame *frame,
                     const struct simt_function *function);
/* Fresh local memory: zeros, or poison. */
void simt_local_clear(struct simt_warp_state *warp, uint32_t lanes, uint32_t from, uint32_t bytes);

/* barrier.c */
enum simt_barrier_kind {
    SIMT_BARRIER_SYNC,
    SIMT_BARRIER_ARRIVE,
    SIMT_BARRIER_POPC,
    SIMT_BARRIER_AND,
    SIMT_BARRIER_OR
};
const struct simt_inst *simt_barrier_arrive(struct simt_warp *w, const struct simt_inst *in,
                                            enum simt_barrier_kind kind, uint32_t id,
                                            uint32_t expected, uint32_t predicate);
void simt_barrier_check_all(struct simt_block *block);

/* Lanes of the path that do not take part (their guard is false) go on by themselves. */
void simt_part_from_rest(struct simt_warp_state *warp, const struct simt_inst *in);

/* builtin.c: functions that the program calls and the machine provides (vprintf, malloc ..). */
simt_body *simt_builtin(const char *name);
void simt_heap_close(struct simt_machine *machine);

/* hostfault.c */
void simt_watch_host_faults(void);
struct sigaction;
bool simt_is_host_fault_handler(const struct sigaction *action);

/* isa.c */
simt_body *simt_select(const struct simt_operands *operands);

static inline struct simt_warp_state *simt_state(struct simt_warp *w)
{
    return (struct simt_warp_state *)(void *)w;
}

/* late.c: where to put the bytes of a copy of cp.async; commit and wait. False: the warp is to come
 * again. */
uint8_t *simt_late_copy(struct simt_warp *w, uint8_t *to, uint32_t size);
void simt_late_commit(struct simt_warp *w);
bool simt_late_wait(struct simt_warp *w, uint32_t pending, bool all);
void simt_late_see_all(struct simt_warp *w);

/* Waiting loops pay for what they do while they wait, so that others get their turn sooner. */
static inline void simt_charge(struct simt_warp *w, int fuel)
{
    struct simt_warp_state *warp = simt_state(w);
    warp->fuel -= fuel;
    warp->sync_ops++;
}

#endif
