/*
 * ops.h: operations of streams and graphs, and their order; private to src/check. One list for all
 * machines of the process: streams of different GPUs wait for each other, too.
 *
 * How order is kept. Each stream counts its operations. An operation's clock has, for each stream,
 * the last operation of it that is ordered before this one: it takes those of what it waits for,
 * and of what the host had waited for when it asked for it. A graph's nodes have the clock of the
 * graph's launch, and a set of the nodes before them.
 * Host threads are one: what one of them has waited for, all are taken to know. That can hide an
 * error, and never invents one.
 */
#ifndef LOCKSTEP_CHECK_OPS_H
#define LOCKSTEP_CHECK_OPS_H

#include "check/check.h"

struct check_op {
    struct check_op *next; /* in order of submission */
    unsigned references;
    bool is_listed;
    enum simt_op_kind kind;
    uint32_t number;        /* from 1, of kernels, copies, memsets and frees */
    uint32_t stream, count; /* place in its stream */
    uint64_t stream_id;
    uint32_t *clock, clock_count;
    struct check_op *graph; /* of a node: the graph's launch */
    uint32_t node, nodes;   /* its number in the launch; of a launch: how many there are */
    uint64_t *before;       /* [node / 64]: nodes before it */
    char *name;             /* of a kernel, */
    bool may_begin_early;   /* before the kernel before it in the stream has ended, */
    bool lets_begin;        /* and one that lets the next one do so: griddepcontrol */
    struct check_callers callers;
    struct simt_box boxes[2];
    unsigned box_count;
    struct check *check;                  /* whose machine runs it */
    uint32_t first_segment, last_segment; /* of a kernel that has run; 0: not yet */
    _Atomic bool talks; /* a kernel that has used strong accesses of memory that the host sees */
};

extern pthread_mutex_t check_ops_lock;
struct check_op *check_ops_first(void);         /* lock held */
const struct check_op *check_ops_current(void); /* that runs in this thread, or NULL */
bool check_op_is_before(const struct check_op *a, const struct check_op *b);
bool check_op_is_synced(const struct check_op *op); /* the host has waited for it; lock held */
/* "kernel fill (operation #3, stream 2)"; with its host line if it has one. */
void check_op_name(const struct check_op *op, struct lk_buf *text);
/* Tells operations apart in reports: its call, or its place in a graph. */
uint64_t check_op_key(const struct check_op *op);
void check_op_drop(struct check_op *op); /* a reference; lock held */
bool check_box_has(const struct simt_box *box, uint64_t address, uint64_t size);

/* Of the launch that runs. */
void check_ops_launch_begins(struct check *check);
void check_ops_launch_ends(struct check *check);

void *check_op_submitted(struct simt_watcher *watcher, const struct simt_op_info *info);
void check_op_event(struct simt_watcher *watcher, void *op, enum watch_op_event event);
/* Who asked for the operation that runs in this thread; without one, who called. */
struct check_callers check_askers(void);
/* A word that another launch has touched: is that launch unordered? Reports it if so. */
void check_ops_conflict(struct check *check, const struct watch_access *access, int lane,
                        uint64_t address, bool is_write, uint32_t segment, bool was_write);

/* hosttouch.c */
void check_host_protect(struct check_op *op, const struct simt_op_info *info); /* lock held */
void check_host_release(void);              /* what no operation needs any more; lock held */
void check_host_judge(struct check_op *op); /* a launch has ended; lock held */
void check_host_freeing(struct simt_watcher *watcher, uint64_t address, size_t size);

#endif
