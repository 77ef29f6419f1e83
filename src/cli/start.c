/*
 * start.c: how run, profile and check get a CUDA program going: compile it if need be, set the
 * environment that our libraries read, then become it, or start it and wait.
 */
#include "cli/start.h"

#include "cli/client.h"
#include "cli/request.h"
#include "cli/target.h"
#include "host/child.h"
#include "toolchain/build.h"
#include "toolchain/elf.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void start_put(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) {
        host_error("out of host memory");
        exit(CLI_USAGE);
    }
}

/* Ours first, then what was there. */
void start_put_first(struct lk_arena *arena, const char *name, const char *value)
{
    const char *old = getenv(name);
    start_put(name, old && *old ? lk_arena_printf(arena, "%s:%s", value, old) : value);
}

static const char *needed_with_prefix(const struct elf_facts *facts, const char *prefix)
{
    for (size_t i = 0; i < facts->needed.count; i++)
        if (strncmp(facts->needed.items[i], prefix, strlen(prefix)) == 0)
            return facts->needed.items[i];
    return NULL;
}

/* Is it a program at all? Says what is wrong if not. */
static bool check_kind(const char *path, const struct elf_facts *facts)
{
    switch (facts->kind) {
    case ELF_PROGRAM:
        if (access(path, X_OK) == 0)
            return true;
        host_error("%s: %s", path, strerror(errno));
        break;
    case ELF_UNREADABLE:
        host_error("%s: %s", path, strerror(errno));
        break;
    case ELF_BROKEN:
        host_error("%s: is damaged: its ELF tables lead out of the file", path);
        break;
    case ELF_OTHER:
        host_error("%s: not a program for this machine (an object file, or for another one)", path);
        break;
    case ELF_NOT:
        host_error("%s: is neither a CUDA source file (.cu) nor a program", path);
        break;
    }
    return false;
}

/* Libraries whose calls the audit library stops: their kernels are machine code. */
static bool needs_machine_code(const struct elf_facts *facts)
{
    static const char *const names[] = {"libcudnn", "libnccl", "libcusparse", "libcutensor"};
    bool needed = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        needed |= needed_with_prefix(facts, names[i]) != NULL;
    return needed;
}

/* Can our libraries take the place of NVIDIA's in it? */
static bool check_simulated(struct lk_arena *arena, const char *path, const char *folder,
                            const struct elf_facts *facts)
{
    const char *runtime = needed_with_prefix(facts, "libcudart.so");
    if (!runtime && facts->fatbin && !facts->symbols) {
        host_error("%s: has NVIDIA's CUDA runtime linked into it and was stripped, so that its "
                   "functions cannot be found; keep the symbols, or link it with 'nvcc -cudart "
                   "shared ...'",
                   path);
        return false;
    }
    if (runtime && access(lk_arena_printf(arena, "%s/%s", folder, runtime), R_OK) != 0) {
        host_error("%s: needs %s, which is not in %s; lockstep has those of CUDA 12 and 13", path,
                   runtime, folder);
        return false;
    }
    if (!runtime && !facts->fatbin && !needed_with_prefix(facts, "libcuda.so"))
        host_error("remark: %s does not load the CUDA libraries itself; running it as it is", path);
    return true;
}

/* What our libraries read. */
static void put_settings(const struct request *request, const struct target *target)
{
    char name[TARGET_NAME];
    target_name(target, name);
    start_put("LOCKSTEP_GPU", name);
    if (request->threads)
        start_put("LOCKSTEP_THREADS", request->threads);
    if (request->schedule)
        start_put("LOCKSTEP_SCHEDULE", request->schedule);
    if (request->limit)
        start_put("LOCKSTEP_LIMIT", request->limit);
    if (request->poison)
        start_put("LOCKSTEP_POISON", START_POISON);
}

static const char *library_folder(void)
{
    const char *folder = toolchain_library_folder();
    if (!folder)
        host_error("lockstep's own libraries (libcuda.so.1, libcudart.so.13) are not beside it; "
                   "build them with 'make'");
    return folder;
}

static bool prepare_simulated(struct lk_arena *arena, const struct request *request,
                              const struct target *target, const char *path)
{
    const char *folder = library_folder();
    if (!folder)
        return false;
    struct elf_facts facts = elf_read(arena, path);
    bool fits = check_kind(path, &facts) && check_simulated(arena, path, folder, &facts);
    if (fits) {
        start_put_first(arena, "LD_LIBRARY_PATH", folder);
        /* An RPATH goes before LD_LIBRARY_PATH; NVRTC, linkers and plugins are loaded later; and
         * our libcurand opens NVIDIA's. */
        if (facts.rpath || needs_machine_code(&facts) ||
            !needed_with_prefix(&facts, "libcudart.so") ||
            needed_with_prefix(&facts, "libnvrtc.so") || needed_with_prefix(&facts, "libcurand.so"))
            fits = client_put_environment(arena, folder);
        put_settings(request, target);
    }
    elf_free(&facts);
    return fits;
}

static void put_real(struct lk_arena *arena, const struct target *target)
{
    start_put("LOCKSTEP_GPU", lk_arena_printf(arena, "cuda:%u", target->index));
    start_put("CUDA_VISIBLE_DEVICES", lk_arena_printf(arena, "%u", target->index));
}

/* A script or a program from PATH: what it will load is not known. */
static bool prepare_client(struct lk_arena *arena, const struct request *request,
                           const struct target *target)
{
    const char *folder = target->simulated ? library_folder() : NULL;
    if (!target->simulated) {
        put_real(arena, target);
        return true;
    }
    if (!folder)
        return false;
    start_put_first(arena, "LD_LIBRARY_PATH", folder);
    put_settings(request, target);
    if (!getenv("TORCH_CUDA_ARCH_LIST")) /* extensions bring their PTX, and not only machine code */
        start_put("TORCH_CUDA_ARCH_LIST",
                  lk_arena_printf(arena, "%u.%u+PTX", target->cc_major, target->cc_minor));
    return client_put_environment(arena, folder);
}

static bool prepare_real(struct lk_arena *arena, const struct target *target, const char *path)
{
    struct elf_facts facts = elf_read(arena, path);
    bool fits = check_kind(path, &facts);
    put_real(arena, target);
    elf_free(&facts);
    return fits;
}

/* Only whole toolkits have a libcuda.so to link with. The linker looks into LIBRARY_PATH after
 * every -L, nvcc's own among them: where there is one, it is taken, and ours elsewhere. */
static void put_link_folder(struct lk_arena *arena)
{
    const char *folder = toolchain_library_folder(), *old = getenv("LIBRARY_PATH");
    if (!folder)
        return;
    char *stubs = lk_arena_printf(arena, "%s/stubs", folder);
    if (access(stubs, X_OK) == 0)
        start_put("LIBRARY_PATH",
                  old && *old ? lk_arena_printf(arena, "%s:%s", old, stubs) : stubs);
}

static bool compile(struct lk_arena *arena, const struct request *request,
                    const struct target *target, struct built *built)
{
    char *nvcc = toolchain_find_nvcc(arena);
    if (!nvcc) {
        host_error("there is no nvcc, NVIDIA's compiler, here; %s", toolchain_nvcc_advice);
        return false;
    }
    struct lk_list command = {0};
    const char *path = getenv("LIBRARY_PATH");
    char *old_path = path ? lk_arena_printf(arena, "%s", path) : NULL;
    char *arch = lk_arena_printf(arena, "%u%u", target->cc_major, target->cc_minor);
    nvcc_command(arena, &request->nvcc, nvcc, arch, target->simulated != NULL, &command);
    put_link_folder(arena);
    struct build build = {.command = &command,
                          .inputs = &request->nvcc.inputs,
                          .keep = request->keep,
                          .verbose = request->verbose};
    bool done = build_program(arena, &build, built);
    lk_list_free(&command);
    if (old_path) /* the program sees what the user set */
        start_put("LIBRARY_PATH", old_path);
    else
        unsetenv("LIBRARY_PATH");
    return done;
}

/* Registers decide about occupancy, and so about modelled time. */
static void put_most_registers(struct lk_arena *arena, int count, char **words)
{
    const struct lk_list list = {.items = (const char **)words, .count = (size_t)count};
    unsigned most = nvcc_most_registers(&list);
    if (most < 255)
        start_put("LOCKSTEP_REGISTERS", lk_arena_printf(arena, "%u", most));
}

static bool choose_gpu(const struct request *request, const struct start *start,
                       struct target *target)
{
    if (!target_parse(request->gpu ? request->gpu : getenv("LOCKSTEP_GPU"), target))
        return false;
    if (!start->only_simulated || target->simulated)
        return true;
    if (request->gpu || getenv("LOCKSTEP_GPU")) {
        host_error("a simulated GPU is needed, as in --gpu sim:h200");
        return false;
    }
    return target_parse("sim:h200", target);
}

/* parse -> choose the GPU -> compile -> set the environment */
bool start_prepare(struct lk_arena *arena, int count, char **words, struct start *start)
{
    const char *command = start->only_simulated ? start->only_simulated : "run";
    struct request request;
    struct target target;
    bool ready = false;
    int client = client_at(count, words);
    if (client == count && start->family_verb && start_is_family(count, words))
        return start_prepare_family(arena, count, words, start);
    if (client < count ? !request_parse_options(command, client, words, &request)
                       : !request_parse(arena, command, count, words, &request))
        goto out;
    if (!choose_gpu(&request, start, &target))
        goto out;
    struct built built = {.path = request.program, .name = request.program};
    if (client < count) {
        if (!client_find(arena, count - client, words + client, start) ||
            !prepare_client(arena, &request, &target))
            goto out;
    } else {
        if (!request.program && !compile(arena, &request, &target, &built))
            goto out;
        if (target.simulated ? !prepare_simulated(arena, &request, &target, built.path)
                             : !prepare_real(arena, &target, built.path))
            goto out;
        put_most_registers(arena, count, words);
        start->path = built.path;
        start->name = built.path; /* argv[0]: programs start themselves again by it */
        start->title = built.name;
        start->arguments = request.arguments;
    }
    if (request.verbose)
        fprintf(stderr, "+ %s # on %s\n", start->path, getenv("LOCKSTEP_GPU"));
    start->gpu = target.simulated;
    ready = true;
out:
    request_free(&request);
    return ready;
}

/* Its command line; free the list. */
static struct lk_list words_of(const struct start *start)
{
    struct lk_list words = {0};
    lk_list_add(&words, start->name);
    for (char **argument = start->arguments; *argument; argument++)
        lk_list_add(&words, *argument);
    return words;
}

int start_become(const struct start *start)
{
    struct lk_list words = words_of(start);
    fflush(NULL);
    execv(start->path, (char *const *)words.items);
    host_error("%s: %s", start->path, strerror(errno));
    lk_list_free(&words);
    return CLI_USAGE;
}

/* Interrupts are for the program; what it left behind is still reported. */
int start_wait(const struct start *start, bool aside)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupted, quit;
    struct lk_list words = words_of(start);
    pid_t child = host_start(&(struct host_command){
        .path = start->path, .words = words.items, .output_fd = aside ? STDERR_FILENO : 0});
    lk_list_free(&words);
    if (child < 0) {
        host_error("%s: %s", start->path, strerror(errno));
        return CLI_USAGE;
    }
    sigaction(SIGINT, &ignore, &interrupted);
    sigaction(SIGQUIT, &ignore, &quit);
    int status = host_wait(child);
    sigaction(SIGINT, &interrupted, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return status;
}
