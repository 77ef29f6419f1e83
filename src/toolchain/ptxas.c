/*
 * ptxas.c: runs `ptxas -v` and reads what it prints; see ptxas.h.
 */
#include "toolchain/ptxas.h"

#include "base/buf.h"
#include "base/hash.h"
#include "host/child.h"
#include "host/files.h"
#include "toolchain/cache.h"
#include "toolchain/find.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS = 20 };

/* Where the answer to this question is kept; NULL if there is no cache. */
static char *kept_path(struct lk_arena *arena, const char *ptxas, const char *text,
                       const char *arch, unsigned most)
{
    struct lk_hash128 hash = lk_hash128_start();
    struct stat program = {0};
    char *cache = cache_folder(arena);
    (void)stat(ptxas, &program);
    lk_hash128_add(&hash, &program.st_size, sizeof program.st_size);
    lk_hash128_add(&hash, &program.st_mtim, sizeof program.st_mtim);
    lk_hash128_add_text(&hash, arch);
    lk_hash128_add(&hash, &most, sizeof most);
    lk_hash128_add(&hash, text, strlen(text));
    return cache ? lk_arena_printf(arena, "%s/ptxas.%016llx%016llx", cache,
                                   (unsigned long long)hash.high, (unsigned long long)hash.low)
                 : NULL;
}

static bool run(struct lk_arena *arena, const char *ptxas, const char *text, const char *arch,
                unsigned most, struct lk_buf *answer)
{
    char *folder = host_temporary_folder("ptxas", NULL);
    if (!folder)
        return false;
    const char *path = lk_arena_printf(arena, "%s/kernels.ptx", folder);
    const char *const words[] = {ptxas,
                                 "-v",
                                 lk_arena_printf(arena, "-arch=sm_%s", arch),
                                 lk_arena_printf(arena, "-maxrregcount=%u", most),
                                 path,
                                 "-o",
                                 "/dev/null",
                                 NULL};
    bool done =
        host_write_file(path, text, strlen(text), NULL) && host_ask(words, SECONDS, answer) == 0;
    host_remove_tree(folder);
    free(folder);
    return done;
}

/* The number that ends before at, which lies in line. */
static unsigned number_before(const char *line, const char *at)
{
    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return (unsigned)strtoul(at, NULL, 10);
}

/* "ptxas info : Compiling entry function 'NAME' for 'sm_90'", then "N bytes spill stores" and
 * "Used N registers". */
static const struct ptxas_kernel *parse(struct lk_arena *arena, char *answer, size_t *count)
{
    static const char entry[] = "Compiling entry function '";
    struct lk_buf kernels = {0};
    struct ptxas_kernel *kernel = NULL;
    for (char *line; (line = strsep(&answer, "\n"));) {
        const char *name = strstr(line, entry), *at;
        if (name) {
            name += strlen(entry);
            name = lk_arena_strndup(arena, name, strcspn(name, "'"));
            lk_buf_add(&kernels, &(struct ptxas_kernel){.name = name}, sizeof *kernel);
            kernel = (struct ptxas_kernel *)(kernels.data + kernels.size) - 1;
        }
        if (kernel && (at = strstr(line, " bytes spill stores")))
            kernel->spill_bytes = number_before(line, at);
        if (kernel && (at = strstr(line, "Used ")))
            kernel->registers = (unsigned)strtoul(at + strlen("Used "), NULL, 10);
    }
    *count = kernels.size / sizeof *kernel;
    const struct ptxas_kernel *found = lk_arena_dup(arena, kernels.data, kernels.size);
    lk_buf_free(&kernels);
    return found;
}

const struct ptxas_kernel *ptxas_ask(struct lk_arena *arena, const char *text, const char *arch,
                                     unsigned most_registers, size_t *count)
{
    const struct ptxas_kernel *kernels = NULL;
    struct lk_buf answer = {0};
    char *ptxas = toolchain_find_ptxas(arena);
    *count = 0;
    if (!ptxas)
        return NULL;
    char *kept = kept_path(arena, ptxas, text, arch, most_registers);
    bool known = kept && cache_find_text(kept, &answer);
    if (!known && run(arena, ptxas, text, arch, most_registers, &answer)) {
        known = true;
        if (kept)
            cache_keep_text(kept, &answer);
    }
    if (known && answer.data)
        kernels = parse(arena, answer.data, count);
    lk_buf_free(&answer);
    return kernels;
}
