/*
 * compile.c: variants with other tunables, from the sources that are embedded in the library: their
 * "// tune:" lines are rewritten in a temporary folder, and nvcc or clang makes PTX of them.
 */
#include "tune/tune.h"

#include "base/arena.h"
#include "host/child.h"
#include "host/files.h"
#include "toolchain/nvcc_names.h"
#include "toolchain/ptx.h"
#include "zoo/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tune_workshop {
    struct toolchain_compiler compiler;
    char *folder; /* has include/, and a folder for each job */
    unsigned jobs;
};

struct tune_workshop *tune_workshop_open(const struct toolchain_compiler *compiler, char **message)
{
    struct tune_workshop *workshop = lk_alloc_zeroed(sizeof *workshop);
    *message = NULL;
    workshop->compiler = *compiler;
    workshop->folder = host_temporary_folder("tune", message);
    char *include = workshop->folder ? lk_format("%s/include", workshop->folder) : NULL;
    struct lk_list names = {0};
    if (include)
        lk_list_add(&names, include);
    bool made = include &&
                (!compiler->is_nvcc || nvcc_names_are_plain(&names, workshop->folder, message)) &&
                host_make_folder(include, message) &&
                zoo_write_headers("include", include, message);
    lk_list_free(&names);
    free(include);
    if (made)
        return workshop;
    tune_workshop_close(workshop);
    return NULL;
}

void tune_workshop_close(struct tune_workshop *workshop)
{
    if (!workshop)
        return;
    if (workshop->folder)
        host_remove_tree(workshop->folder);
    free(workshop->folder);
    free(workshop);
}

/* Sources ---------------------------------------------------------------------------------------*/

void tune_rewrite(const struct zoo_source *source, const struct zoo_tuning *tuning,
                  struct lk_buf *text)
{
    for (const char *line = source->text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        const char *mark = memmem(line, length, "// tune:", 8);
        char name[24];
        bool rewritten = false;
        if (mark && sscanf(line, " #define %23s", name) == 1)
            for (unsigned i = 0; i < source->tunable_count && !rewritten; i++)
                if (strcmp(source->tunables[i].name, name) == 0) {
                    lk_buf_printf(text, "#define %s %d %.*s", name, tuning->value[i],
                                  (int)(next - mark), mark);
                    rewritten = true;
                }
        if (!rewritten)
            lk_buf_add(text, line, (size_t)(next - line));
    }
}

/* Jobs ------------------------------------------------------------------------------------------*/

static char *job_folder(const struct tune_workshop *workshop, unsigned number)
{
    return lk_format("%s/%u", workshop->folder, number);
}

/* The source with its headers, in the job's folder; its path, or NULL. */
static char *write_source(const struct tune_job *job, const char *folder)
{
    struct lk_buf text = {0};
    char *path = lk_format("%s/%s.cu", folder, job->variant->name);
    tune_rewrite(zoo_source(job->family, job->variant), &job->tuning, &text);
    bool written = host_make_folder(folder, NULL) &&
                   zoo_write_headers(job->family->name, folder, NULL) &&
                   host_write_file(path, text.data, text.size, NULL);
    lk_buf_free(&text);
    if (written)
        return path;
    free(path);
    return NULL;
}

/* The child that compiles job number; -1 if it could not be started. */
static pid_t start(const struct tune_workshop *workshop, const struct tune_job *job,
                   unsigned number)
{
    struct lk_arena *arena = lk_arena_create();
    struct lk_list words = {0};
    char *folder = job_folder(workshop, number), *source = write_source(job, folder);
    pid_t child = -1;
    if (source) {
        struct toolchain_ptx ptx = {
            .compiler = workshop->compiler,
            .arch = zoo_source(job->family, job->variant)->arch,
            .include = lk_arena_printf(arena, "%s/include", workshop->folder),
            .source = source,
            .output = lk_arena_printf(arena, "%s/out.ptx", folder),
        };
        toolchain_ptx_command(arena, &ptx, &words);
        child = host_start(&(struct host_command){
            .words = words.items,
            .folder = folder, /* nvcc leaves files of its own where it runs */
            .output = lk_arena_printf(arena, "%s/log", folder),
            .joined = true});
    }
    lk_list_free(&words);
    lk_arena_destroy(arena);
    free(source);
    free(folder);
    return child;
}

/* The text of a file in the job's folder, malloc'd. */
static char *read_result(const char *folder, const char *name)
{
    struct lk_buf text = {0};
    char *path = lk_format("%s/%s", folder, name);
    if (!host_read_file(path, &text, NULL))
        lk_buf_free(&text);
    free(path);
    return text.data;
}

static void finish(const struct tune_workshop *workshop, struct tune_job *job, pid_t child,
                   unsigned number)
{
    char *folder = job_folder(workshop, number);
    int status = host_wait(child);
    job->ptx = status == 0 ? read_result(folder, "out.ptx") : NULL;
    if (!job->ptx && status == 127)
        job->message = lk_format("%s did not start", workshop->compiler.path);
    else if (!job->ptx)
        job->message = read_result(folder, "log");
    if (!job->ptx && (!job->message || !*job->message)) {
        free(job->message);
        job->message = lk_format("%s wrote no PTX and no message", workshop->compiler.path);
    }
    host_remove_tree(folder);
    free(folder);
}

void tune_compile(struct tune_workshop *workshop, struct tune_job *jobs, size_t count,
                  unsigned at_a_time)
{
    unsigned first = workshop->jobs;
    pid_t *children = lk_alloc_zeroed((count + 1) * sizeof *children);
    workshop->jobs += (unsigned)count;
    for (size_t begun = 0, ended = 0; ended < count; ended++) {
        for (; begun < count && begun < ended + at_a_time; begun++)
            children[begun] = start(workshop, &jobs[begun], first + (unsigned)begun);
        finish(workshop, &jobs[ended], children[ended], first + (unsigned)ended);
    }
    free(children);
}
