/*
 * simt.h: the machine, as src/driver sees it: device memory, modules, launches.
 * A machine is one GPU of src/gpu in this process. It knows no streams, contexts or graphs: a
 * launch runs to its end in the calling thread (helped by the machine's workers).
 */
#ifndef LOCKSTEP_SIMT_SIMT_H
#define LOCKSTEP_SIMT_SIMT_H

#include "gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simt_machine;
struct simt_module;
struct simt_kernel;
struct simt_children;

/* What went wrong; the driver turns it into the error that a GPU gives. */
enum simt_fault_kind {
    SIMT_OK,
    SIMT_FAULT_ILLEGAL_ADDRESS,     /* 700 */
    SIMT_FAULT_MISALIGNED,          /* 716 */
    SIMT_FAULT_INVALID_SPACE,       /* 717 */
    SIMT_FAULT_INVALID_PC,          /* 718 */
    SIMT_FAULT_ILLEGAL_INSTRUCTION, /* 715 */
    SIMT_FAULT_HARDWARE_STACK,      /* 714 */
    SIMT_FAULT_ASSERT,              /* 710 */
    SIMT_FAULT_TRAP,                /* 719 */
    SIMT_FAULT_LAUNCH_FAILED,       /* 719 */
    SIMT_FAULT_CLUSTER_EXIT,        /* 719: shared memory of a block that has exited */
    SIMT_FAULT_BARRIER,             /* 715: a barrier used wrongly */
    SIMT_FAULT_TIMEOUT,             /* 702: more warp instructions than the limit */
    SIMT_FAULT_LIVELOCK,            /* 702: every thread polls, and nothing changes */
    SIMT_FAULT_DEADLOCK,            /* 702: every thread waits, this one at a barrier */
    SIMT_FAULT_SYNC_DEADLOCK,       /* 702: the same, at a .sync */
    SIMT_FAULT_UNSUPPORTED          /* ends the program with status 3 */
};

struct simt_fault {
    enum simt_fault_kind kind;
    size_t what_length; /* of text: its first part, which says what went wrong */
    char text[4096];    /* whole message: what, kernel, block, thread, PTX line, source line */
};

struct simt_options {
    unsigned threads; /* 0: all host cores */
    bool random_schedule;
    uint64_t seed;
    uint64_t instruction_limit; /* warp instructions a launch may take; 0: the default */
    uint8_t poison;             /* the byte that fresh memory is filled with */
    unsigned patience;          /* seconds that a launch may do nothing but poll; 0: the default */
    /* Watched launches run so many blocks, spread over the grid, and stand for the rest; fewer
     * after sample_instructions. Results are incomplete: for modelled times only. 0: all. */
    uint64_t sample_blocks, sample_instructions;
};

/* Options from LOCKSTEP_THREADS, LOCKSTEP_SCHEDULE (random:SEED), LOCKSTEP_LIMIT, LOCKSTEP_POISON
 * (a byte), LOCKSTEP_PATIENCE (seconds) and LOCKSTEP_SAMPLE (BLOCKS:INSTRUCTIONS). */
struct simt_options simt_options_from_environment(void);

struct simt_machine *simt_create(const struct gpu_info *gpu, const struct simt_options *options);
void simt_destroy(struct simt_machine *machine);

/* How the machine gets a watcher that counts, for launches whose time is asked for. */
struct simt_watcher;
typedef struct simt_watcher *simt_timer_open(struct simt_machine *machine);
void simt_set_timer(struct simt_machine *machine, simt_timer_open *open);

/* Called when a launch does nothing but poll memory: another may begin beside it, and write what it
 * waits for. */
typedef void simt_yield(void *context);
void simt_set_yield(struct simt_machine *machine, simt_yield *yield, void *context);

/* Device memory -------------------------------------------------------------------------------
 * A device address is not a host address: simt_host turns one into the other. Device memory that
 * the host may touch at the same address (managed, pinned) is asked for with host_visible.
 * All thread-safe. */
enum simt_memory_kind { SIMT_MEMORY_DEVICE, SIMT_MEMORY_MANAGED, SIMT_MEMORY_PINNED };

uint64_t simt_alloc(struct simt_machine *machine, size_t size, enum simt_memory_kind kind); /* 0 */
bool simt_free(struct simt_machine *machine, uint64_t address); /* false: no such allocation */

/* Who asked for memory, and may free it: the host program, the machine (module variables, kernel
 * parameters), or a kernel that called malloc. */
enum simt_owner { SIMT_OWNER_USER, SIMT_OWNER_MACHINE, SIMT_OWNER_HEAP };

struct simt_allocation {
    uint64_t address; /* first: lk_sorted_after looks for it */
    size_t size;
    enum simt_memory_kind kind;
    bool registered; /* by simt_register */
    bool mapped;     /* by simt_show (virtual.h), */
    bool read_only;  /* which may refuse writes */
    bool exported;   /* by simt_export (virtual.h) */
    enum simt_owner owner;
    uint32_t number; /* of the program's own: the first is 1 */
};
/* The allocation that contains address; false if there is none. */
bool simt_find(struct simt_machine *machine, uint64_t address, struct simt_allocation *found);

/* Host memory that kernels may touch from now on, at the same address (cuMemHostRegister). */
bool simt_register(struct simt_machine *machine, void *host, size_t size);
bool simt_unregister(struct simt_machine *machine, void *host);

/* The host bytes behind [address, address + size); NULL if not all of it is device memory.
 * Works for all kinds, registered memory too. */
void *simt_host(struct simt_machine *machine, uint64_t address, size_t size);
void simt_memory_info(struct simt_machine *machine, size_t *free_bytes, size_t *total_bytes);
/* Was an allocation of so many bytes refused though the GPU has them, because the host does not? */
bool simt_memory_host_limits(struct simt_machine *machine, size_t size);

/* Modules -------------------------------------------------------------------------------------- */

/* PTX text. On failure NULL, with a malloc'd message, and errno ENOMEM if its variables do not fit
 * the GPU's memory. */
struct simt_module *simt_module_load(struct simt_machine *machine, const char *name,
                                     const char *text, size_t size, char **message);
void simt_module_unload(struct simt_module *module);
/* Registers per thread that its kernels may have at most; before the first of them is asked for. */
void simt_module_limit_registers(struct simt_module *module, unsigned most);
bool simt_module_global(struct simt_module *module, const char *name, uint64_t *address,
                        size_t *size);
/* Is this variable a .texref or .surfref? */
bool simt_module_reference(struct simt_module *module, const char *name, bool *is_surface);
struct simt_kernel *simt_module_kernel(struct simt_module *module, const char *name); /* NULL */
unsigned simt_module_kernel_count(const struct simt_module *module);
struct simt_kernel *simt_module_kernel_at(struct simt_module *module, unsigned index);

struct simt_kernel_info {
    const char *name;
    struct simt_module *module;
    unsigned registers;                   /* per thread, estimated by liveness */
    unsigned static_shared;               /* bytes */
    unsigned local_bytes;                 /* per thread */
    unsigned const_bytes;                 /* of the module */
    unsigned max_threads;                 /* per block */
    unsigned ptx_version, binary_version; /* 80 for sm_80 */
    unsigned param_count, param_bytes, param_align;
    unsigned required_cluster[3];
    unsigned max_cluster; /* blocks of a cluster, .maxclusterrank; 0: no limit */
};
const struct simt_kernel_info *simt_kernel_info(struct simt_kernel *kernel);
bool simt_kernel_reads_clock(struct simt_kernel *kernel);
bool simt_kernel_counts_cycles(struct simt_kernel *kernel); /* by %clock */
/* May it begin beside a launch that only polls? Not if it takes the address of a parameter. */
bool simt_kernel_runs_beside(struct simt_kernel *kernel);
/* Visits an address in each piece of memory that a launch with these parameters may write to;
 * also_read: it may read it, too. False: it cannot be told where else it writes. */
typedef void simt_output(void *context, uint64_t address, bool also_read);
bool simt_kernel_outputs(struct simt_kernel *kernel, const void *params, simt_output *visit,
                         void *context);
/* Registers as NVIDIA's assembler assigns them, in place of the estimate in models of occupancy. */
void simt_kernel_set_registers(struct simt_kernel *kernel, unsigned registers, unsigned spilled);
/* The PTX that a module was loaded from, and what it is for: 90 and 'a' for sm_90a. */
const char *simt_module_source(const struct simt_module *module, unsigned *target, char *suffix);
bool simt_kernel_param(struct simt_kernel *kernel, unsigned index, size_t *offset, size_t *size);

/* Launches --------------------------------------------------------------------------------------
 */

/* What the same launch took before. */
struct simt_known {
    uint64_t instructions; /* of warps */
    double seconds, share; /* modelled; 0: not known */
};

struct simt_launch {
    struct simt_kernel *kernel;
    uint32_t grid[3], block[3], cluster[3]; /* cluster {0,0,0} or {1,1,1}: none */
    uint32_t dynamic_shared;
    const void *params;      /* param_bytes, already packed */
    bool cooperative;        /* every block is resident */
    bool timed;              /* its time is wanted: what it does is counted */
    struct simt_known known; /* its time is wanted, too, and this is what to expect */
    /* Timed launches whose blocks cannot wait for each other end after so many instructions of
     * warps, and what ran stands for the rest. Results are incomplete then. 0: all blocks run. */
    uint64_t sample_instructions;
    uint64_t *ran; /* a bit per block: those of the sample, */
    bool goes_on;  /* which do not run once more */
    double starts; /* when, in modelled seconds; earlier than what ran before: right after it */
    struct simt_children *children; /* what its threads launch (children.h); NULL: they may not */
};

struct simt_stats { /* of one launch; cheap, always on */
    uint64_t warp_instructions;
    uint64_t blocks, warps;
    bool is_sampled; /* some blocks did not run, */
    double rest;     /* which would take about so many instructions of warps */
    double host_seconds;
    bool yielded;            /* another launch was let begin beside it */
    double modelled_seconds; /* on the machine's GPU; rough unless the launch was counted */
    double modelled_share;   /* of the GPU that it takes meanwhile; 0: not known */
};

/* Runs the whole grid; returns SIMT_OK or the first fault. stats may be NULL. */
enum simt_fault_kind simt_run(struct simt_machine *machine, const struct simt_launch *launch,
                              struct simt_stats *stats, struct simt_fault *fault);

/* Where device printf goes: the FIFO is written to stdout by simt_flush_printf (at
 * synchronisation), as a GPU does. */
void simt_flush_printf(struct simt_machine *machine);
void simt_set_heap_size(struct simt_machine *machine, size_t bytes); /* device malloc */
size_t simt_heap_size(const struct simt_machine *machine);
void simt_set_stack_size(struct simt_machine *machine, size_t bytes); /* per thread */
size_t simt_stack_size(const struct simt_machine *machine);

#endif
