/*
 * peer_of_one.c: a made-up peer of the reduction for run.sh: it copies the first number, which is
 * right for n=1 and wrong for more. n=7 is an error, n=8 a library that is not there; with
 * PEER_WAITS it waits for the stream, which cannot be captured. It finds the driver that is loaded
 * already, as the CUDA runtime does.
 */
#define _GNU_SOURCE
#include "peer.h"

#include <dlfcn.h>
#include <stdlib.h>

size_t peer_workspace(const struct lk_peer_call *call)
{
    return 512;
}

int peer_run(const struct lk_peer_call *call)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*copy)(unsigned long long, unsigned long long, size_t, void *) =
        driver ? (int (*)(unsigned long long, unsigned long long, size_t, void *))dlsym(
                     driver, "cuMemcpyDtoDAsync_v2")
               : NULL;
    if (!copy || !call->workspace || call->workspace_bytes != 512)
        return 99;
    if (call->value[0] == 7)
        return 7;
    if (call->value[0] == 8)
        return -1;
    int (*wait)(void *) = (int (*)(void *))dlsym(driver, "cuStreamSynchronize");
    int status = getenv("PEER_WAITS") ? wait(call->stream) : 0;
    return status ? status
                  : copy((unsigned long long)call->buffer[1], (unsigned long long)call->buffer[0],
                         4, call->stream);
}

const char *peer_version(void)
{
    return "Copy 1.0";
}
