/*
 * peer_build.c: nvcc makes a library of a peer's source, kernels/FAMILY/host/peer_NAME.cu, which is
 * kept in the cache of built programs.
 */
#include "bench/contest.h"

#include "host/files.h"
#include "toolchain/build.h"
#include "toolchain/find.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* kernels/ of the source tree that this was built in, or installed. */
static char *find_kernels(struct lk_arena *arena)
{
    static const char *const places[] = {"/../kernels", "/../share/lockstep/kernels",
                                         "/../../kernels"};
    const char *chosen = getenv("LOCKSTEP_KERNELS");
    if (chosen && *chosen)
        return lk_arena_strndup(arena, chosen, strlen(chosen));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *folder = lk_arena_printf(arena, "%s%s", host_program_folder(), places[i]);
        if (access(lk_arena_printf(arena, "%s/host/peer.h", folder), R_OK) == 0)
            return folder;
    }
    return NULL;
}

char *bench_peer_build(const struct zoo_family *family, const struct zoo_peer *peer, int arch,
                       char **message)
{
    struct lk_arena *arena = lk_arena_create();
    struct lk_list command = {0}, inputs = {0};
    struct built built = {0};
    char *nvcc = toolchain_find_nvcc(arena), *kernels = find_kernels(arena), *path = NULL;
    *message = NULL;
    if (!nvcc || !kernels) {
        *message = strdup(!nvcc ? "there is no nvcc here to build it"
                                : "its source is not here; LOCKSTEP_KERNELS names the folder");
        goto out;
    }
    char *source =
        lk_arena_printf(arena, "%s/%s/host/peer_%s.cu", kernels, family->name, peer->name);
    if (access(source, R_OK) != 0) {
        *message = strdup("its source is not there");
        goto out;
    }
    const char *const words[] = {nvcc,
                                 "-shared",
                                 "-Xcompiler",
                                 "-fPIC",
                                 "-O3",
                                 "-std=c++17",
                                 "-cudart",
                                 "static",
                                 lk_arena_printf(arena, "-arch=sm_%d", arch),
                                 lk_arena_printf(arena, "-I%s/host", kernels),
                                 source};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        lk_list_add(&command, words[i]);
    lk_list_add(&inputs, source);
    struct build build = {.command = &command, .inputs = &inputs};
    if (build_program(arena, &build, &built))
        path = strdup(built.path);
    else
        *message = strdup("nvcc does not build it; see above");
out:
    lk_list_free(&command);
    lk_list_free(&inputs);
    lk_arena_destroy(arena);
    return path;
}
