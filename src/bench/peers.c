/*
 * peers.c: other libraries' solutions in our process: libraries that nvcc makes of
 * kernels/FAMILY/host/peer_NAME.cu, and those whose functions the family has itself. They share our
 * primary context, as the CUDA runtime uses it too.
 */
#include "bench/contest.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static bool open_library(struct bench_session *session, const struct zoo_family *family,
                         const struct zoo_peer *peer, struct bench_peer_code *code, char **message)
{
    const struct bench_host *host = &session->host;
    if (host->progress)
        host->progress(host->context, "building a peer", 0);
    char *path = bench_peer_build(family, peer, session->device.arch, message);
    if (!path)
        return false;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    if (!library) {
        *message = lk_format("it does not load: %s", dlerror());
        return false;
    }
    *(void **)&code->workspace = dlsym(library, "peer_workspace");
    *(void **)&code->run = dlsym(library, "peer_run");
    *(void **)&code->version = dlsym(library, "peer_version");
    if (code->workspace && code->run && code->version)
        return true;
    *message = lk_format("it lacks peer_workspace, peer_run or peer_version");
    return false;
}

static bool use_library(const struct zoo_peer *peer, struct bench_peer_code *code, char **message)
{
    *code = (struct bench_peer_code){peer->workspace, peer->run, peer->version};
    if (peer->run && (!peer->version || peer->version()))
        return true;
    *message = lk_format("its library is not here");
    return false;
}

bool bench_peer_load(struct bench_session *session, const struct zoo_family *family,
                     const struct zoo_peer *peer, struct bench_peer_code *code, char **message)
{
    *message = NULL;
    for (unsigned i = 0; i < session->loaded_count; i++)
        if (session->loaded[i].peer == peer) {
            *code = session->loaded[i].code;
            *message = session->loaded[i].message ? strdup(session->loaded[i].message) : NULL;
            return !*message;
        }
    *code = (struct bench_peer_code){0};
    bool loaded = peer->kind == ZOO_PEER_NVCC ? open_library(session, family, peer, code, message)
                                              : use_library(peer, code, message);
    if (!loaded && !*message)
        *message = lk_format("it cannot be built here");
    if (session->loaded_count < sizeof session->loaded / sizeof session->loaded[0])
        session->loaded[session->loaded_count++] =
            (struct bench_loaded){peer, *code, loaded ? NULL : strdup(*message)};
    return loaded;
}
