/*
 * doctor_clients.c: the Python packages that bring kernels: which are installed, and, asked with
 * 'lockstep doctor --clients', whether each runs here: a small program of its own, in
 * python/clients/try_NAME.py, is run on a simulated GPU.
 */
#include "cli/client.h"
#include "cli/doctor.h"

#include "host/child.h"

#include <stdlib.h>
#include <string.h>

static const struct client {
    const char *name, *package, *script, *install;
} clients[] = {
    {"Triton", "triton", "try_triton.py", "pip install triton"},
    {"Numba", "numba-cuda", "try_numba.py", "pip install 'numba-cuda[cu13]'"},
    {"cuda.core", "cuda-core", "try_cuda_core.py", "pip install 'cuda-core[cu13]'"},
    {"PyTorch", "torch", "try_torch.py", "pip install torch"},
    {"CuPy", "cupy-cuda13x", "try_cupy.py", "pip install cupy-cuda13x"},
    {"tinygrad", "tinygrad", "try_tinygrad.py", "pip install tinygrad"},
    {"JAX", "jax", "try_jax.py", "pip install 'jax[cuda13]==0.10.2'"},
};
_Static_assert(sizeof clients / sizeof *clients == DOCTOR_CLIENTS, "doctor.h has their number");

/* "VERSION" of each package, one a line, "-" where there is none. */
static const char versions[] = "import importlib.metadata as m, sys\n"
                               "for name in sys.argv[1:]:\n"
                               "    try: print(m.version(name))\n"
                               "    except m.PackageNotFoundError: print('-')\n";

/* The last line that is not empty: an exception's, or "works". */
static char *last_line(struct lk_arena *arena, char *text)
{
    char *found = "", *rest = text;
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        if (*line)
            found = line;
    return lk_arena_strndup(arena, found, strlen(found) < 160 ? strlen(found) : 160);
}

/* Runs the client's program by this same command; "works ...", or what it said last. */
static char *try_client(struct lk_arena *arena, const char *script, bool *works)
{
    const char *folder = client_hooks_folder(arena);
    if (!folder)
        return "its program is not beside lockstep: build with 'make'";
    char *path = lk_arena_printf(arena, "%s/%s", folder, script);
    const char *const words[] = {"lockstep", "run", "--gpu", "sim:h200", path, NULL};
    struct lk_buf output = {0};
    int status = host_capture(&(struct host_command){.path = "/proc/self/exe",
                                                     .words = words,
                                                     .input = "/dev/null",
                                                     .joined = true,
                                                     .seconds = 300},
                              &output);
    char *line = last_line(arena, output.data ? output.data : "");
    *works = status == 0 && strncmp(line, "works", 5) == 0;
    lk_buf_free(&output);
    return line;
}

void doctor_find_clients(struct lk_arena *arena, bool try_each, struct doctor_finding *findings)
{
    char *python = client_python(arena), *rest, *line;
    const char *words[4 + DOCTOR_CLIENTS] = {python, "-c", versions};
    struct lk_buf output = {0};
    for (size_t i = 0; i < DOCTOR_CLIENTS; i++)
        words[3 + i] = clients[i].package;
    if (python)
        host_capture(
            &(struct host_command){.words = words, .input = "/dev/null", .errors = "/dev/null"},
            &output);
    rest = output.data;
    for (size_t i = 0; i < DOCTOR_CLIENTS; i++) {
        findings[i] = (struct doctor_finding){clients[i].name, NULL, false,
                                              "its kernels run by 'lockstep run script.py'",
                                              clients[i].install};
        line = rest ? strsep(&rest, "\n") : NULL;
        if (!line || !*line || strcmp(line, "-") == 0)
            continue;
        bool works = true;
        char *words_of_it = try_each ? try_client(arena, clients[i].script, &works) : "";
        if (works)
            findings[i].found = lk_arena_printf(arena, "%s%s%s (%s)", line,
                                                *words_of_it ? ", " : "", words_of_it, python);
        else
            findings[i].use =
                lk_arena_printf(arena, "%s is installed and fails: %s", line, words_of_it);
    }
    lk_buf_free(&output);
}
