/*
 * compile.c: variants with other tunables, from the sources that are embedded in the library: their
 * "// tune:" lines are rewritten in a folder of its own, and nvcc or clang makes PTX of them.
 */
#include "tune/tune.h"

#include "base/arena.h"
#include "zoo/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct tune_workshop {
    struct tune_compiler compiler;
    char folder[256]; /* has include/, and a folder for each job */
    unsigned jobs;
};

/* Files -----------------------------------------------------------------------------------------*/

static bool write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool fine = fwrite(text, 1, size, file) == size;
    return fclose(file) == 0 && fine;
}

static char *read_file(const char *path)
{
    struct lk_buf text = {0};
    char part[65536];
    FILE *file = fopen(path, "r");
    for (size_t size; file && (size = fread(part, 1, sizeof part, file));)
        lk_buf_add(&text, part, size);
    if (file)
        fclose(file);
    return text.data;
}

/* The headers of "include" or of a family, into folder. */
static bool write_headers(const char *of, const char *folder)
{
    size_t length = strlen(of);
    char path[512];
    for (size_t i = 0; i < zoo_embedded_file_count; i++) {
        const struct zoo_embedded_file *file = &zoo_embedded_files[i];
        if (strncmp(file->path, of, length) != 0 || file->path[length] != '/')
            continue;
        snprintf(path, sizeof path, "%s%s", folder, file->path + length);
        if (!write_file(path, file->text, (size_t)(file->text_end - file->text)))
            return false;
    }
    return true;
}

struct tune_workshop *tune_workshop_open(const struct tune_compiler *compiler, char **message)
{
    struct tune_workshop *workshop = lk_alloc_zeroed(sizeof *workshop);
    const char *temporary = getenv("TMPDIR");
    char include[300];
    *message = NULL;
    workshop->compiler = *compiler;
    snprintf(workshop->folder, sizeof workshop->folder, "%.200s/lockstep-tune-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    bool made = mkdtemp(workshop->folder) != NULL;
    snprintf(include, sizeof include, "%s/include", workshop->folder);
    if (made && mkdir(include, 0700) == 0 && write_headers("include", include))
        return workshop;
    struct lk_buf text = {0};
    lk_buf_printf(&text, "%s: %s; nowhere to compile", workshop->folder, strerror(errno));
    *message = text.data;
    if (made)
        tune_workshop_close(workshop);
    else
        free(workshop);
    return NULL;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    return remove(path);
}

void tune_workshop_close(struct tune_workshop *workshop)
{
    if (!workshop)
        return;
    nftw(workshop->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
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

/* Runs in the child: in the job's folder, what the compiler says goes to a file there. */
static void run_compiler(const struct tune_compiler *compiler, const char *folder, const char *file,
                         const char *arch)
{
    char target[64];
    snprintf(target, sizeof target,
             compiler->is_nvcc ? "-arch=compute_%s" : "--cuda-gpu-arch=sm_%s", arch);
    const char *const nvcc[] = {compiler->path, "-ptx",    "-O3",  "-std=c++17", "-I../include",
                                "-o",           "out.ptx", target, file,         NULL};
    const char *const clang[] = {compiler->path, "-x",
                                 "cuda",         "--cuda-device-only",
                                 "-nocudainc",   "-nocudalib",
                                 "-S",           "-O3",
                                 "-std=c++17",   "-Wno-unknown-cuda-version",
                                 "-I../include", "-include",
                                 "cuda_names.h", "-o",
                                 "out.ptx",      target,
                                 file,           NULL};
    if (chdir(folder) != 0)
        _exit(127);
    int log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    execv(compiler->path, (char *const *)(compiler->is_nvcc ? nvcc : clang));
    _exit(127);
}

static void job_folder(const struct tune_workshop *workshop, unsigned number, char *folder,
                       size_t size)
{
    snprintf(folder, size, "%s/%u", workshop->folder, number);
}

/* The child that compiles job number; -1 if it could not be started. */
static pid_t start(const struct tune_workshop *workshop, const struct tune_job *job,
                   unsigned number)
{
    const struct zoo_source *source = zoo_source(job->family, job->variant);
    struct lk_buf text = {0};
    char folder[300], path[400], file[64];
    job_folder(workshop, number, folder, sizeof folder);
    snprintf(file, sizeof file, "%.50s.cu", job->variant->name);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    tune_rewrite(source, &job->tuning, &text);
    bool written = mkdir(folder, 0700) == 0 && write_headers(job->family->name, folder) &&
                   write_file(path, text.data, text.size);
    lk_buf_free(&text);
    if (!written)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_compiler(&workshop->compiler, folder, file, source->arch);
    return child;
}

static void finish(const struct tune_workshop *workshop, struct tune_job *job, pid_t child,
                   unsigned number)
{
    char folder[300], path[400];
    int status = -1;
    job_folder(workshop, number, folder, sizeof folder);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && status == 0) {
        snprintf(path, sizeof path, "%s/out.ptx", folder);
        job->ptx = read_file(path);
    }
    if (!job->ptx) {
        snprintf(path, sizeof path, "%s/log", folder);
        char *log = read_file(path);
        job->message = log ? log : strdup("the compiler did not start");
    }
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
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
