/*
 * children.h: kernels that launch kernels, and the other calls of CUDA's device runtime
 * (cudadevrt), as the driver sees them. A launch only collects what its threads launch: the driver
 * runs it when the grid has ended (src/driver/children.c), which CUDA allows: nothing promises that
 * a child begins before its parent ends. On a GPU it mostly does, so where a grid does nothing but
 * poll, what it has launched runs beside it. The order of what was collected does not depend on how
 * blocks were scheduled: block after block, and within a block as it was launched.
 */
#ifndef LOCKSTEP_SIMT_CHILDREN_H
#define LOCKSTEP_SIMT_CHILDREN_H

#include "base/arena.h"
#include "base/map.h"
#include "simt/simt.h"

#include <pthread.h>

/* Streams that every grid has; 0 is the block's own. */
enum { SIMT_STREAM_PER_THREAD = 2, SIMT_STREAM_TAIL = 3, SIMT_STREAM_FORGET = 4 };

enum simt_child_kind { SIMT_CHILD_KERNEL, SIMT_CHILD_COPY, SIMT_CHILD_FILL };

struct simt_child {
    enum simt_child_kind kind;
    uint64_t from_block; /* linear index of the block that launched it */
    uint64_t order;      /* its place among all that was launched */
    uint64_t stream;
    struct simt_kernel *kernel;
    uint32_t grid[3], block[3], shared;
    uint8_t *params;       /* [param_bytes], owned */
    uint64_t buffer;       /* device memory that its parameters are written into, until then, */
    uint32_t buffer_bytes; /* and how much of it there is */
    /* Copies and fills: rows of width bytes. */
    uint64_t to, from;
    size_t to_pitch, from_pitch, width, height;
    uint8_t value;
};

/* What the driver answers; results are cudaError_t. Called by the threads that run blocks. */
struct simt_runtime_calls {
    int (*check)(struct simt_children *children, const struct simt_child *child);
    const char *(*error_text)(int error, bool is_name);
    int (*device_count)(void);
    int (*device)(struct simt_children *children);
    int (*version)(void);
    int (*device_attribute)(int attribute, int device, int *value);
    int (*limit)(struct simt_children *children, int which, uint64_t *value);
    int (*occupancy)(struct simt_children *children, struct simt_kernel *kernel, int block,
                     uint64_t shared, int *blocks);
    /* Runs what was launched so far, but for tail launches, on the calling thread. */
    void (*run_now)(struct simt_children *children);
    /* False: there is no such conditional node. */
    bool (*set_condition)(struct simt_children *children, uint64_t handle, unsigned value);
};

struct simt_children {
    /* The driver's: */
    const struct simt_runtime_calls *calls;
    void *context;
    size_t most;         /* launches that may wait */
    double began, ended; /* modelled: the grid, and the latest of those that ran beside it */
    int status;          /* CUresult of these */
    /* What the launch leaves: */
    struct simt_child **items;
    size_t count, capacity;
    /* The machine's own, until simt_children_close: */
    struct simt_machine *machine;
    pthread_mutex_t lock;
    uint64_t next_order;
    struct simt_child **buffers; /* handed out, and not launched yet */
    size_t buffer_count, buffer_capacity;
    struct lk_arena *arena; /* NULL until it is needed */
    struct lk_map threads;  /* that called the runtime */
    size_t slots;           /* taken, of `most` */
    uint64_t *texts;        /* device memory with texts of errors */
    size_t text_count, text_capacity;
    uint8_t *objects; /* what threads made: streams and events */
    size_t object_count, object_capacity;
};

/* context and most are the driver's to set. */
void simt_children_open(struct simt_children *children, struct simt_machine *machine,
                        const struct simt_runtime_calls *calls);
/* Frees all but the items, which are left in order. */
void simt_children_close(struct simt_children *children);
void simt_child_free(struct simt_child *child);
/* Those that may run beside their parent, in order: they are the caller's. */
struct simt_child **simt_children_take_ready(struct simt_children *children, size_t *count);
bool simt_children_any_ready(struct simt_children *children);

/* For device_runtime.c; error: cudaError_t. ------------------------------------------------------
 */

/* A child that waits for its parameters, in device memory at child->buffer; NULL after an error. */
struct simt_child *simt_children_prepare(struct simt_children *children, uint32_t bytes,
                                         int *error);
/* The one whose parameters lie there, which is taken out; NULL: there is none. */
struct simt_child *simt_children_take(struct simt_children *children, uint64_t buffer);
void simt_children_put_back(struct simt_children *children, struct simt_child *child);
/* Takes child over: its parameters are read from its buffer. */
int simt_children_add(struct simt_children *children, struct simt_child *child);
/* What is known of a thread. */
struct simt_thread {
    uint64_t key[2]; /* its block, and its place there */
    int error;       /* its last */
    bool has_slot;
};
struct simt_thread *simt_children_thread(struct simt_children *children, uint64_t block,
                                         uint32_t thread);
/* May it launch one more? As measured on an H200: what a thread launches runs before it launches
 * again, so that each thread takes one of the slots, and each tail launch. */
bool simt_children_fits(struct simt_children *children, struct simt_thread *thread, bool is_tail);
uint64_t simt_children_text(struct simt_children *children, const char *text); /* 0: no memory */
enum simt_object { SIMT_OBJECT_STREAM, SIMT_OBJECT_EVENT };
uint64_t simt_children_object(struct simt_children *children, enum simt_object kind);
bool simt_children_has(struct simt_children *children, uint64_t handle, enum simt_object kind);

#endif
