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
                       const char *kernel, const char *arch, unsigned most)
{
    struct lk_hash128 hash = lk_hash128_start();
    struct stat program = {0};
    char *cache = cache_folder(arena);
    (void)stat(ptxas, &program);
    lk_hash128_add(&hash, &program.st_size, sizeof program.st_size);
    lk_hash128_add(&hash, &program.st_mtim, sizeof program.st_mtim);
    lk_hash128_add_text(&hash, arch);
    lk_hash128_add_text(&hash, kernel);
    lk_hash128_add(&hash, &most, sizeof most);
    lk_hash128_add(&hash, text, strlen(text));
    return cache ? lk_arena_printf(arena, "%s/ptxas.%016llx%016llx", cache,
                                   (unsigned long long)hash.high, (unsigned long long)hash.low)
                 : NULL;
}

static bool run(struct lk_arena *arena, const char *ptxas, const char *text, const char *kernel,
                const char *arch, unsigned most, struct lk_buf *answer)
{
    char *folder = host_temporary_folder("ptxas", NULL);
    if (!folder)
        return false;
    const char *path = lk_arena_printf(arena, "%s/kernels.ptx", folder);
    const char *const words[] = {ptxas,
                                 "-v",
                                 "-e",
                                 kernel,
                                 lk_arena_printf(arena, "-arch=sm_%s", arch),
                                 path,
                                 "-o",
                                 "/dev/null",
                                 most ? lk_arena_printf(arena, "-maxrregcount=%u", most) : NULL,
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

/* "N bytes stack frame, N bytes spill stores .." and "ptxas info : Used N registers, ..". A
 * function that the kernel calls has a stack frame of its own, but no registers: the kernel's line
 * is the one before "Used". */
static bool parse(const char *text, struct ptxas_answer *answer)
{
    const char *used = strstr(text, "Used "), *spills = NULL;
    for (const char *at = text; used && (at = strstr(at, " bytes spill stores")) && at < used; at++)
        spills = at;
    if (!used)
        return false;
    answer->registers = (unsigned)strtoul(used + strlen("Used "), NULL, 10);
    answer->spill_bytes = spills ? number_before(text, spills) : 0;
    return true;
}

bool ptxas_ask(struct lk_arena *arena, const char *text, const char *kernel, const char *arch,
               unsigned most_registers, struct ptxas_answer *answer)
{
    struct lk_buf printed = {0};
    char *ptxas = toolchain_find_ptxas(arena);
    if (!ptxas)
        return false;
    char *kept = kept_path(arena, ptxas, text, kernel, arch, most_registers);
    bool known = kept && cache_find_text(kept, &printed);
    if (!known && run(arena, ptxas, text, kernel, arch, most_registers, &printed)) {
        known = true;
        if (kept)
            cache_keep_text(kept, &printed);
    }
    known = known && printed.data && parse(printed.data, answer);
    lk_buf_free(&printed);
    return known;
}
