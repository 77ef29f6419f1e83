/*
 * ptxas.c: runs `ptxas -v` on the PTX that a profiled program loaded and reads from what it says
 * how many registers each kernel takes; see ptxas.h.
 */
#include "cli/ptxas.h"

#include "base/buf.h"
#include "toolchain/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PTXAS_SECONDS = 20 };

/* On PATH, or where nvcc is. */
static char *find_ptxas(struct lk_arena *arena)
{
    char *found = toolchain_find_program(arena, "ptxas");
    char *nvcc = found ? NULL : toolchain_find_nvcc(arena);
    char *slash = nvcc ? strrchr(nvcc, '/') : NULL;
    if (slash)
        found = toolchain_find_program(arena,
                                 lk_arena_printf(arena, "%.*s/ptxas", (int)(slash - nvcc), nvcc));
    return found;
}

static bool run(const char *const *command, const char *output)
{
    pid_t child = fork();
    if (child == 0) {
        int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (fd < 0)
            _exit(127);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        alarm(PTXAS_SECONDS); /* outlives exec */
        execv(command[0], (char *const *)command);
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What ptxas says of a file, from the cache if it was asked before; NULL if it does not take it. */
static char *ask(struct lk_arena *arena, const char *ptxas, const char *folder, const char *ptx,
                 const char *arch, unsigned most)
{
    struct stat program = {0};
    (void)stat(ptxas, &program);
    char *cache = cache_folder(arena);
    char *kept = lk_arena_printf(arena, "%s/ptxas.%.16s.%s.%u.%llx", cache ? cache : folder, ptx,
                                 arch, most, (unsigned long long)program.st_mtim.tv_sec);
    if (access(kept, R_OK) == 0)
        return kept;
    char *new = lk_arena_printf(arena, "%s.%ld", kept, (long)getpid());
    const char *command[] = {ptxas,
                             "-v",
                             lk_arena_printf(arena, "-arch=sm_%s", arch),
                             lk_arena_printf(arena, "-maxrregcount=%u", most),
                             lk_arena_printf(arena, "%s/%s", folder, ptx),
                             "-o",
                             "/dev/null",
                             NULL};
    if (run(command, new) && rename(new, kept) == 0)
        return kept;
    unlink(new);
    return NULL;
}

/* "ptxas info : Compiling entry function 'NAME' for 'sm_90'", then "N bytes spill stores" and
 * "Used N registers". */
static void read_answer(const char *path, const char *ptx, struct profile *profile)
{
    FILE *stream = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    struct profile_kernel *kernel = NULL;
    while (stream && getline(&line, &capacity, stream) >= 0) {
        char *name = strstr(line, "Compiling entry function '"), *at;
        if (name) {
            name += strlen("Compiling entry function '");
            name[strcspn(name, "'")] = 0;
            kernel = NULL;
            for (unsigned i = 0; i < profile->kernel_count; i++)
                if (profile->kernels[i]->ptx && strcmp(profile->kernels[i]->ptx, ptx) == 0 &&
                    strcmp(profile->kernels[i]->mangled, name) == 0)
                    kernel = profile->kernels[i];
        }
        if (kernel && (at = strstr(line, " bytes spill stores"))) {
            while (at > line && at[-1] >= '0' && at[-1] <= '9')
                at--;
            kernel->spill_bytes = (unsigned)strtoul(at, NULL, 10);
        }
        if (kernel && (at = strstr(line, "Used "))) {
            kernel->registers = (unsigned)strtoul(at + 5, NULL, 10);
            kernel->registers_from = "ptxas";
        }
    }
    free(line);
    if (stream)
        fclose(stream);
}

/* -maxrregcount N of nvcc's, in any of its forms; 255, which is no limit, without. */
static unsigned most_registers(const struct lk_list *words)
{
    unsigned most = 255;
    for (const char **word = words->items; word && *word && strcmp(*word, "--") != 0; word++) {
        const char *name = *word + strspn(*word, "-");
        if (**word != '-' || strncmp(name, "maxrregcount", 12) != 0)
            continue;
        const char *value = name[12] == '=' ? name + 13 : word[1];
        unsigned long number = value ? strtoul(value, NULL, 10) : 0;
        most = number >= 16 && number < 255 ? (unsigned)number : most;
    }
    return most;
}

void ptxas_registers(struct lk_arena *arena, const char *folder, const struct lk_list *words,
                     struct profile *profile)
{
    char *ptxas = find_ptxas(arena);
    if (!ptxas || profile->launch_count == 0)
        return;
    const struct gpu_info *gpu = profile->launches[0]->gpu;
    unsigned most = most_registers(words);
    for (unsigned i = 0; i < profile->kernel_count; i++) {
        const struct profile_kernel *kernel = profile->kernels[i];
        bool asked = !kernel->ptx;
        for (unsigned k = 0; k < i && !asked; k++)
            asked = profile->kernels[k]->ptx && strcmp(profile->kernels[k]->ptx, kernel->ptx) == 0;
        if (asked)
            continue;
        unsigned own = gpu->cc_major * 10 + gpu->cc_minor;
        char suffix[2] = {own == kernel->target ? kernel->target_suffix : 0, 0};
        char *arch =
            lk_arena_printf(arena, "%u%s", own > kernel->target ? own : kernel->target, suffix);
        char *answer = ask(arena, ptxas, folder, kernel->ptx, arch, most);
        if (answer)
            read_answer(answer, kernel->ptx, profile);
    }
}
