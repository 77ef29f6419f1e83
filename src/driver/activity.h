/*
 * activity.h: what a tool hears of the program's calls and of what they set off, while one listens
 * (lk_driver_listen): the drop-in libcupti (src/clients/cupti.c).
 */
#ifndef LOCKSTEP_DRIVER_ACTIVITY_H
#define LOCKSTEP_DRIVER_ACTIVITY_H

#include "cuda/abi.h"

#include <stdbool.h>
#include <stdint.h>

struct lk_activity_call {
    const char *name;   /* "cuLaunchKernel" */
    bool per_thread;    /* its form for a default stream of each thread */
    const char *symbol; /* of the kernel; NULL: it launches none */
    const void *params; /* the call's, in order, in a struct */
    CUcontext context;
    uint32_t correlation; /* the same as that of what it sets off; never 0 */
    CUresult status;      /* when it ends */
    uint64_t own;         /* the listener's */
};

enum lk_activity_kind { LK_ACTIVITY_KERNEL, LK_ACTIVITY_COPY, LK_ACTIVITY_FILL };

struct lk_activity {
    enum lk_activity_kind kind;
    int device;
    CUcontext context;
    uint32_t stream, correlation;
    uint64_t asked;    /* CLOCK_REALTIME, ns: when the call put it into its stream */
    uint64_t duration; /* modelled, ns */
    const char *name;  /* the kernel's or the library call's, for the duration of the call */
    uint32_t grid[3], block[3], cluster[3], shared, static_shared, registers, local;
    uint64_t bytes;
    bool from_device, to_device; /* of a copy */
    CUgraphExec exec;            /* NULL: not of a graph */
    const void *node;
};

struct lk_activity_listener {
    void (*begins)(struct lk_activity_call *call); /* in the thread that calls, no lock held, */
    void (*ends)(struct lk_activity_call *call);
    void (*asked)(uint32_t correlation); /* and here under the driver's lock */
    void (*ran)(const struct lk_activity *activity);
};

/* While there is a listener, launches are counted, so that their modelled time is known. NULL:
 * there is none any more. */
void lk_driver_listen(const struct lk_activity_listener *listener);

#endif
