/*
 * peer.h: how a benchmark calls someone else's solution of a family's problem. Host code.
 * A file kernels/FAMILY/peer_NAME.cu defines the three functions; nvcc makes a library of it where
 * a benchmark runs. kernels/FAMILY/peer_NAME.c does the same for a library that is opened at run
 * time.
 */
#ifndef LOCKSTEP_KERNELS_PEER_H
#define LOCKSTEP_KERNELS_PEER_H

#include <stddef.h>

struct lk_peer_call {
    long long value[8]; /* the problem's parameters, in the family's order */
    void *buffer[8];    /* device pointers, in the family's order */
    void *workspace;    /* as many bytes as peer_workspace asked for */
    size_t workspace_bytes;
    void *stream; /* a CUstream */
};

#ifdef __cplusplus
#define LK_PEER extern "C" __attribute__((visibility("default")))
LK_PEER size_t peer_workspace(const struct lk_peer_call *call);
LK_PEER int peer_run(const struct lk_peer_call *call); /* puts work into the stream; 0 is fine */
LK_PEER const char *peer_version(void);                /* "CUB 3.0.1" */
#endif

#endif
