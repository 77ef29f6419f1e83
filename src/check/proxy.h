/*
 * proxy.h: which bytes of a block's shared memory were last written by ordinary stores and not yet
 * made known to the asynchronous units (wgmma, bulk copies) by fence.proxy.async.
 * One time runs per block. A fence of any thread counts for all that was written before it: who
 * must execute it depends on how threads are ordered, and a program that fences somewhere is not
 * accused.
 */
#ifndef LOCKSTEP_CHECK_PROXY_H
#define LOCKSTEP_CHECK_PROXY_H

#include "check/check.h"

#define CHECK_PIECE 16 /* bytes that are told apart */

struct check_proxy {
    uint64_t time, fenced;
    uint32_t count;
    struct check_proxy_piece {
        uint64_t written;           /* by a store, at that time; 0: never, or by a copy */
        const struct simt_inst *by; /* that store */
    } * pieces;                     /* [count] */
};

void check_proxy_open(struct check_proxy *proxy, uint32_t bytes);
void check_proxy_close(struct check_proxy *proxy);
/* An access to shared memory that writes. */
void check_proxy_write(struct check_proxy *proxy, const struct watch_access *access, uint32_t mask);
void check_proxy_fence(struct check_proxy *proxy);
/* The store that a unit may not see yet; NULL if there is none. */
const struct simt_inst *check_proxy_stale(const struct check_proxy *proxy, uint32_t address);

#endif
