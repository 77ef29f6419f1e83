/*
 * memory_events.h: what the driver reports to watchers about the host's use of device memory.
 * These do nothing where there is no watcher.
 */
#ifndef LOCKSTEP_SIMT_MEMORY_EVENTS_H
#define LOCKSTEP_SIMT_MEMORY_EVENTS_H

#include "simt/simt.h"

void simt_event_bad_free(struct simt_machine *machine, uint64_t address);
/* A copy or memset that was refused because it leaves an allocation. */
void simt_event_bad_range(struct simt_machine *machine, uint64_t address, size_t size);
/* from: the device address a copy came from; 0 if the host wrote, or what came is not known. */
void simt_event_written(struct simt_machine *machine, uint64_t to, uint64_t from, size_t size);
/* An allocation that the program has not freed when its context, or the program, ends. */
void simt_event_left(struct simt_machine *machine, uint64_t address);

/* Operations of streams and graphs, so that a watcher knows their order: each is told of when the
 * program asks for it, with those that it comes after, and again when it runs. */
enum simt_op_kind {
    SIMT_OP_OTHER, /* touches no memory: markers, events, host functions */
    SIMT_OP_KERNEL,
    SIMT_OP_COPY,
    SIMT_OP_FILL,
    SIMT_OP_FREE,
    SIMT_OP_GRAPH
};

/* Rows of bytes that a copy, memset or free touches. */
struct simt_box {
    uint64_t address;
    size_t width, pitch, rows;
    bool is_write;
};

struct simt_op_info {
    enum simt_op_kind kind;
    uint64_t stream;      /* its id */
    const char *name;     /* of a kernel, */
    bool may_begin_early; /* which may begin before the kernel before it in the stream has ended */
    void *const *after;
    size_t after_count;
    void *graph; /* the operation that launches the graph whose node this is; or NULL */
    struct simt_box boxes[2];
    unsigned box_count;
    const void *params; /* of a kernel */
    size_t params_size;
};

/* What the functions below take; NULL, which they accept, if nobody wants to know. */
void *simt_event_submitted(struct simt_machine *machine, const struct simt_op_info *info);
void simt_event_op_begins(struct simt_machine *machine, void *op); /* in the thread that runs it */
void simt_event_op_ends(struct simt_machine *machine, void *op);
void simt_event_op_synced(struct simt_machine *machine, void *op); /* the host knows it is done */
void *simt_event_op_retain(struct simt_machine *machine, void *op);
void simt_event_op_release(struct simt_machine *machine, void *op);
/* The program is about to free host-visible memory. */
void simt_event_freeing(struct simt_machine *machine, uint64_t address, size_t size);

#endif
