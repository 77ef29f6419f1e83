/*
 * run.c: lockstep run: compiles a CUDA program if need be, and becomes it.
 * On a simulated GPU the program loads our libcuda and libcudart in place of NVIDIA's; they read
 * LOCKSTEP_GPU and the other variables set here. Streams, signals and exit status are the
 * program's own, because this process is replaced by it.
 */
#include "cli/build.h"
#include "cli/elf.h"
#include "cli/request.h"
#include "cli/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep run [options] FILE.cu ... [nvcc's options] [-- ARGUMENTS]\n"
    "       lockstep run [options] PROGRAM [-- ARGUMENTS]\n"
    "\n"
    "Compiles with nvcc (or takes the program from its cache) and runs it, with a GPU or without.\n"
    "A PROGRAM must have been built with 'nvcc -cudart shared' and contain PTX.\n"
    "\n"
    "  --gpu sim:NAME         simulate this GPU, as in sim:a100; 'lockstep gpus' lists them\n"
    "  --gpu cuda:N           use this machine's GPU number N\n"
    "                         default: $LOCKSTEP_GPU, else cuda:0 if there is one, else sim:h200\n"
    "  --threads N            host threads; 1 makes a simulated run deterministic (default: all)\n"
    "  --schedule random:SEED shuffle warps and blocks, to shake out races\n"
    "  --limit N              stop a kernel after so many warp instructions\n"
    "  --keep                 keep nvcc's intermediate files (PTX ...) and say where\n"
    "  --verbose              show what is done\n"
    "Every other option is nvcc's: -O3 -std=c++17 -Iinclude -DN=8 -arch=sm_80 -lfoo ...\n"
    "\n"
    "The exit status is the program's; 2 if it does not compile, 3 if it needs what the simulated\n"
    "GPU does not support. Programs are cached in ~/.cache/lockstep/run (LOCKSTEP_CACHE_MIB, "
    "1024).\n"
    "\n"
    "examples:\n"
    "  lockstep run vector_add.cu\n"
    "  lockstep run matmul.cu -O3 -DTILE=32 --gpu sim:t4 -- 512 512\n"
    "  lockstep run main.cu kernels.cu helper.cpp -Iinclude\n";

static void put(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) {
        cli_error("out of host memory");
        exit(CLI_USAGE);
    }
}

/* Ours first, then what was there. */
static void put_first(struct lk_arena *arena, const char *name, const char *value)
{
    const char *old = getenv(name);
    put(name, old && *old ? cli_text(arena, "%s:%s", value, old) : value);
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
        cli_error("%s: %s", path, strerror(errno));
        break;
    case ELF_UNREADABLE:
        cli_error("%s: %s", path, strerror(errno));
        break;
    case ELF_BROKEN:
        cli_error("%s: is damaged: its ELF tables lead out of the file", path);
        break;
    case ELF_OTHER:
        cli_error("%s: is no program for this machine (an object file, or for another one)", path);
        break;
    case ELF_NOT:
        cli_error("%s: is neither a CUDA source file (.cu) nor a program", path);
        break;
    }
    return false;
}

/* Can our libraries take the place of NVIDIA's in it? */
static bool check_simulated(struct lk_arena *arena, const char *path, const char *folder,
                            const struct elf_facts *facts)
{
    static const char *const device_libraries[] = {"libcublas",   "libcudnn", "libcufft",
                                                   "libcurand",   "libnccl",  "libcusolver",
                                                   "libcusparse"};
    const char *runtime = needed_with_prefix(facts, "libcudart.so");
    if (!runtime && facts->fatbin) {
        cli_error("%s: has NVIDIA's CUDA runtime linked into it, which talks to the real driver "
                  "only; rebuild it with 'nvcc -cudart shared ...'",
                  path);
        return false;
    }
    if (runtime && access(cli_text(arena, "%s/%s", folder, runtime), R_OK) != 0) {
        cli_error("%s: needs %s, which is not in %s; lockstep has those of CUDA 12 and 13", path,
                  runtime, folder);
        return false;
    }
    if (!runtime && !needed_with_prefix(facts, "libcuda.so"))
        cli_error("remark: %s does not load the CUDA libraries itself; running it as it is", path);
    for (size_t i = 0; i < sizeof device_libraries / sizeof device_libraries[0]; i++) {
        const char *library = needed_with_prefix(facts, device_libraries[i]);
        if (library)
            cli_error("remark: %s loads %s, whose kernels are machine code for a real GPU; calls "
                      "to it fail on a simulated one",
                      path, library);
    }
    return true;
}

static bool prepare_simulated(struct lk_arena *arena, const struct request *request,
                              const struct target *target, const char *path)
{
    const char *folder = cli_library_folder();
    if (!folder) {
        cli_error("lockstep's own libraries (libcuda.so.1, libcudart.so.13) are not beside it; "
                  "build them with 'make'");
        return false;
    }
    struct elf_facts facts = elf_read(arena, path);
    bool fits = check_kind(path, &facts) && check_simulated(arena, path, folder, &facts);
    if (fits) {
        put_first(arena, "LD_LIBRARY_PATH", folder);
        const char *runtime = needed_with_prefix(&facts, "libcudart.so");
        if (facts.rpath && runtime) /* it goes before LD_LIBRARY_PATH, but not before this */
            put_first(arena, "LD_PRELOAD", cli_text(arena, "%s/%s", folder, runtime));
        if (needed_with_prefix(&facts, "libnvrtc.so")) /* see driver/nvrtc.c */
            put_first(arena, "LD_PRELOAD", cli_text(arena, "%s/libcuda.so.1", folder));
        put("LOCKSTEP_GPU", cli_text(arena, "sim:%s", target->simulated->id));
        if (request->threads)
            put("LOCKSTEP_THREADS", request->threads);
        if (request->schedule)
            put("LOCKSTEP_SCHEDULE", request->schedule);
        if (request->limit)
            put("LOCKSTEP_LIMIT", request->limit);
    }
    elf_free(&facts);
    return fits;
}

static bool prepare_real(struct lk_arena *arena, const struct target *target, const char *path)
{
    struct elf_facts facts = elf_read(arena, path);
    bool fits = check_kind(path, &facts);
    put("LOCKSTEP_GPU", cli_text(arena, "cuda:%u", target->index));
    put("CUDA_VISIBLE_DEVICES", cli_text(arena, "%u", target->index));
    elf_free(&facts);
    return fits;
}

static int become(const char *path, const char *name, char **arguments)
{
    struct cli_list words = {0};
    cli_list_add(&words, name);
    for (; *arguments; arguments++)
        cli_list_add(&words, *arguments);
    fflush(NULL);
    execv(path, (char *const *)words.items);
    cli_error("%s: %s", path, strerror(errno));
    cli_list_free(&words);
    return CLI_USAGE;
}

static bool compile(struct lk_arena *arena, const struct request *request,
                    const struct target *target, struct built *built)
{
    char *nvcc = cli_find_nvcc(arena);
    if (!nvcc) {
        cli_error("there is no nvcc, NVIDIA's compiler, here; %s", cli_nvcc_advice);
        return false;
    }
    struct cli_list command = {0};
    request_command(arena, request, nvcc, target, &command);
    struct build build = {.command = &command,
                          .inputs = &request->inputs,
                          .keep = request->keep,
                          .verbose = request->verbose};
    bool done = build_program(arena, &build, built);
    cli_list_free(&command);
    return done;
}

/* parse -> choose the GPU -> compile -> set the environment -> become the program */
static int run(int count, char **words)
{
    struct lk_arena *arena = lk_arena_create();
    struct request request;
    struct target target;
    int status = CLI_USAGE;
    if (!request_parse(arena, count, words, &request))
        goto out;
    if (!target_parse(request.gpu ? request.gpu : getenv("LOCKSTEP_GPU"), &target))
        goto out;
    struct built built = {.path = request.program, .name = request.program};
    if (!request.program && !compile(arena, &request, &target, &built))
        goto out;
    if (target.simulated ? !prepare_simulated(arena, &request, &target, built.path)
                         : !prepare_real(arena, &target, built.path))
        goto out;
    if (request.verbose)
        fprintf(stderr, "+ %s # on %s\n", built.path, getenv("LOCKSTEP_GPU"));
    status = become(built.path, built.name, request.arguments);
out:
    request_free(&request);
    lk_arena_destroy(arena);
    return status;
}

const struct cli_command cli_run = {"run", "compile and run a CUDA program, with a GPU or without",
                                    help, run};
