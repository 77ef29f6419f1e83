/*
 * run.c: lockstep run: compiles a CUDA program if need be, and becomes it.
 * On a simulated GPU the program loads our libcuda and libcudart in place of NVIDIA's; they read
 * LOCKSTEP_GPU and the other variables set here. Streams, signals and exit status are the
 * program's own, because this process is replaced by it.
 */
#include "cli/client.h"
#include "cli/start.h"
#include "cli/twice.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: lockstep run [options] FILE.cu ... [nvcc's options] [-- ARGUMENTS]\n"
    "       lockstep run [options] PROGRAM [ARGUMENTS]\n"
    "       lockstep run [options] SCRIPT.py | -m MODULE | COMMAND [ARGUMENTS]\n"
    "\n"
    "Compiles with nvcc (or takes the program from its cache) and runs it, with a GPU or without.\n"
    "A PROGRAM must contain PTX, and its symbols if the CUDA runtime is linked into it (nvcc's\n"
    "default). Programs, Python scripts and commands on PATH find Lockstep's libraries and tools\n"
    "instead of NVIDIA's: docs/clients.md.\n"
    "\n"
    "  --gpu sim:NAME         simulate this GPU, as in sim:a100; 'lockstep gpus' lists them\n"
    "  --gpu sim:NAMExN       simulate N of them, up to 8, as in sim:h200x2\n"
    "  --gpu cuda:N           use this machine's GPU number N\n"
    "                         default: $LOCKSTEP_GPU, else cuda:0 if there is one, else sim:h200\n"
    "  --threads N            host threads; 1 makes a simulated run deterministic (default: all)\n"
    "  --schedule random:SEED shuffle warps and blocks, to shake out races\n"
    "  --limit N              stop a kernel after this many warp instructions\n"
    "  --poison               fill fresh memory (shared, local, allocated) with bytes 0xff, which\n"
    "                         read as NaN or -1, instead of zeros: shows what relies on zeros\n"
    "  --twice                run with two schedules (in order; then random:1, or that of\n"
    "                         --schedule) and report where they differ: the first launch,\n"
    "                         allocation and byte, and the first line of stdout. Device memory\n"
    "                         is compared after every launch. The exit status is 1 if they do\n"
    "  --json                 with --twice: the same for programs, on stdout\n"
    "  --keep                 keep nvcc's intermediate files (PTX ...) and say where\n"
    "  --verbose              show what is done\n"
    "Every other option is nvcc's: -O3 -std=c++17 -Iinclude -DN=8 -arch=sm_80 -lfoo ...\n"
    "\n"
    "The exit status is the program's; 2 if it does not compile, 3 if it needs what the simulated\n"
    "GPU does not support. Programs are cached in ~/.cache/lockstep/run (LOCKSTEP_CACHE_MIB,\n"
    "1024).\n"
    "Names with $ ` \" \\ or a line break are refused: nvcc would hand them to a shell.\n"
    "\n"
    "examples:\n"
    "  lockstep run vector_add.cu\n"
    "  lockstep run matmul.cu -O3 -DTILE=32 --gpu sim:t4 -- 512 512\n"
    "  lockstep run main.cu kernels.cu helper.cpp -Iinclude\n"
    "  lockstep run --twice histogram.cu\n"
    "  lockstep run --gpu sim:a100 train.py --steps 10\n"
    "  lockstep run -m pytest tests/\n";

/* Takes one of our own flags out; what follows "--" or a script is the program's. */
static bool take_flag(int *count, char **words, const char *name)
{
    int client = client_at(*count, words);
    for (int at = 0; at < client && strcmp(words[at], "--") != 0; at++)
        if (strcmp(words[at], name) == 0) {
            memmove(words + at, words + at + 1, (size_t)(*count - at) * sizeof(*words));
            --*count;
            return true;
        }
    return false;
}

static int run_twice(struct lk_arena *arena, const struct start *start, bool json)
{
    const char *schedule = getenv("LOCKSTEP_SCHEDULE");
    schedule = lk_arena_printf(arena, "%s", schedule && *schedule ? schedule : "random:1");
    return twice_run(arena, start, schedule, json);
}

static int run(int count, char **words)
{
    struct lk_arena *arena = lk_arena_create();
    client_part_arguments(arena, &count, &words);
    bool twice = take_flag(&count, words, "--twice"), json = take_flag(&count, words, "--json");
    struct start start = {.only_simulated = twice ? "run --twice" : NULL};
    int status = CLI_USAGE;
    if (json && !twice)
        host_error("run: --json goes with --twice");
    else if (start_prepare(arena, count, words, &start))
        status = twice ? run_twice(arena, &start, json) : start_become(&start);
    lk_arena_destroy(arena);
    return status;
}

const struct cli_command cli_run = {
    "run", "run a CUDA program or a Python script, with a GPU or without", help, run};
