/*
 * doctor.c: lockstep doctor: whether this machine is ready, and what is missing.
 * One row a thing: what was found, what it is for and the command that installs it.
 */
#include "cli/doctor.h"

#include "cli/target.h"
#include "host/child.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep doctor [--clients] [--json]\n"
    "\n"
    "Looks for the compilers, libraries and GPUs that lockstep uses, and names the command that\n"
    "installs each missing one. Exit status 1 if 'lockstep run' cannot work.\n"
    "\n"
    "  --clients   also run a small program with each Python package that brings kernels (Triton,\n"
    "              Numba, cuda.core, PyTorch, CuPy) and is installed: a minute or so\n"
    "  --json      for programs\n"
    "\n"
    "examples:\n"
    "  lockstep doctor\n"
    "  lockstep doctor --json\n";

char *doctor_line_with(struct lk_arena *arena, const char *const *words, const char *word)
{
    struct lk_buf output = {0};
    char *found = NULL;
    struct host_command command = {.words = words, .input = "/dev/null", .errors = "/dev/null"};
    bool ran = host_capture(&command, &output) == 0;
    char *rest = output.data;
    for (char *line; ran && !found && (line = strsep(&rest, "\n"));)
        if (strstr(line, word))
            found = lk_arena_strndup(arena, line, strlen(line));
    lk_buf_free(&output);
    return found;
}

/* "13.0.88 (/usr/local/cuda/bin/nvcc)", or NULL if it does not run. */
static char *version_of(struct lk_arena *arena, const char *path, const char *word)
{
    const char *const words[] = {path, "--version", NULL};
    char *line = path ? doctor_line_with(arena, words, word) : NULL;
    return line ? lk_arena_printf(arena, "%s (%s)", line, path) : NULL;
}

struct doctor_finding doctor_find_nvcc(struct lk_arena *arena)
{
    char *found = version_of(arena, toolchain_find_nvcc(arena), "release");
    return (struct doctor_finding){"nvcc", found, true, "compiles CUDA programs",
                                   "scripts/get-nvcc"};
}

static struct doctor_finding find_host_compiler(struct lk_arena *arena)
{
    char *found = version_of(arena, host_find_program(arena, "g++"), "g++");
    return (struct doctor_finding){"g++", found, true, "nvcc compiles host code with it",
                                   "apt-get install g++"};
}

struct doctor_finding doctor_find_clang(struct lk_arena *arena)
{
    char *found = version_of(arena, toolchain_find_clang(arena), "version");
    return (struct doctor_finding){"clang 16 or newer", found, false,
                                   "fuzzing; kernels without nvcc", "apt-get install clang-19"};
}

static struct doctor_finding find_ptxas(struct lk_arena *arena)
{
    char *found = version_of(arena, toolchain_find_ptxas(arena), "release");
    return (struct doctor_finding){"ptxas", found, false,
                                   "register counts in profiles; estimated without it",
                                   "scripts/get-nvcc"};
}

static struct doctor_finding find_nvrtc(struct lk_arena *arena)
{
    return (struct doctor_finding){"NVRTC", toolchain_find_nvrtc(arena), false,
                                   "programs that compile kernels at run time",
                                   "NVIDIA's CUDA toolkit"};
}

struct doctor_finding doctor_find_python(struct lk_arena *arena)
{
    char *found = version_of(arena, host_find_program(arena, "python3"), "Python");
    return (struct doctor_finding){"python3", found, false, "scripts/get-nvcc and tests",
                                   "apt-get install python3 python3-venv"};
}

static struct doctor_finding find_library(struct lk_arena *arena, const char *name)
{
    const char *folder = toolchain_library_folder();
    char *path = folder ? lk_arena_printf(arena, "%s/%s", folder, name) : NULL;
    bool there = path && access(path, R_OK) == 0;
    return (struct doctor_finding){name, there ? path : NULL, true, "takes the place of NVIDIA's",
                                   "make"};
}

struct doctor_finding doctor_find_gpu(struct lk_arena *arena)
{
    struct target_devices devices;
    char *found = NULL;
    target_find_devices(&devices);
    for (unsigned i = 0; i < devices.count; i++)
        found = lk_arena_printf(arena, "%s%scuda:%u %s (%u.%u)", found ? found : "",
                                found ? ", " : "", i, devices.device[i].name,
                                devices.device[i].cc_major, devices.device[i].cc_minor);
    return (struct doctor_finding){"GPU", found, false, "--gpu cuda:0; simulated GPUs need none",
                                   "NVIDIA's driver, on a machine with an NVIDIA GPU"};
}

bool doctor_is_ready(const struct doctor_finding *findings, size_t count)
{
    bool ready = true;
    for (size_t i = 0; i < count; i++)
        ready = ready && (findings[i].found || !findings[i].needed);
    return ready;
}

void doctor_print(const struct doctor_finding *findings, size_t count, const char *what)
{
    const char *plain = host_style(stdout, HOST_PLAIN);
    for (size_t i = 0; i < count; i++) {
        const struct doctor_finding *each = &findings[i];
        if (each->found) {
            printf("%sok%s       %-18s %s\n", host_style(stdout, HOST_GREEN), plain, each->name,
                   each->found);
            continue;
        }
        printf("%smissing%s  %-18s %s", host_style(stdout, each->needed ? HOST_RED : HOST_YELLOW),
               plain, each->name, each->use);
        if (each->needed)
            printf(" (needed by %s)", what);
        putchar('\n');
        printf("%-28s get it: %s\n", "", each->install);
    }
}

json_t *doctor_json(const struct doctor_finding *findings, size_t count)
{
    json_t *report = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(report,
                              json_pack("{ss sb ss? sb ss ss}", "name", findings[i].name, "ok",
                                        findings[i].found != NULL, "found", findings[i].found,
                                        "needed", findings[i].needed, "use", findings[i].use,
                                        "install", findings[i].install));
    return report;
}

static int run(int count, char **words)
{
    bool json = false, try_clients = false;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--clients")) {
            try_clients = true;
            continue;
        }
        if (!cli_flag(words, &at, "--json")) {
            host_error("'%s' is not understood; see 'lockstep doctor --help'", words[at]);
            return CLI_USAGE;
        }
        json = true;
    }
    struct lk_arena *arena = lk_arena_create();
    struct doctor_finding findings[10 + DOCTOR_CLIENTS] = {
        doctor_find_nvcc(arena),
        find_host_compiler(arena),
        find_library(arena, "libcuda.so.1"),
        find_library(arena, "libcudart.so.13"),
        find_library(arena, "libcudart.so.12"),
        doctor_find_clang(arena),
        find_ptxas(arena),
        find_nvrtc(arena),
        doctor_find_python(arena),
        doctor_find_gpu(arena),
    };
    const size_t total = sizeof findings / sizeof findings[0];
    doctor_find_clients(arena, try_clients, findings + 10);
    bool ready = doctor_is_ready(findings, total);
    if (json) {
        json_t *report =
            json_pack("{sb so}", "ready", ready, "findings", doctor_json(findings, total));
        json_dumpf(report, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(report);
    } else {
        doctor_print(findings, total, "run");
        host_say("%s\n", ready ? "lockstep run is ready." : "lockstep run is not ready.");
    }
    lk_arena_destroy(arena);
    return ready ? CLI_OK : CLI_FINDINGS;
}

const struct cli_command cli_doctor = {"doctor", "check what this machine has and what is missing",
                                       help, run};
