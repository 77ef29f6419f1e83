/*
 * compile.c: an exercise to PTX, with clang or nvcc. clang is preferred: it takes a tenth of nvcc's
 * time, which is most of a verdict. Its messages are the compiler's own, with the file named as the
 * learner knows it.
 */
#include "learn/grade.h"

#include "base/buf.h"
#include "zoo/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60 }; /* for a compiler that does not end */

/* Runs in the child. An alarm outlives exec, and ends what does not end by itself. */
static void become(const char *const *words, const char *log, unsigned seconds)
{
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0)
        _exit(127);
    alarm(seconds);
    execv(words[0], (char *const *)words);
    _exit(127);
}

int learn_start(const char *const *words, const char *log, unsigned seconds)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        become(words, log, seconds);
    if (child < 0)
        return 127;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool write_headers(const char *folder)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < zoo_embedded_file_count; i++) {
        const struct zoo_embedded_file *file = &zoo_embedded_files[i];
        if (strncmp(file->path, "include/", 8) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, file->path + 8);
        FILE *stream = fopen(path, "we");
        size_t size = (size_t)(file->text_end - file->text);
        bool fine = stream && fwrite(file->text, 1, size, stream) == size;
        if (!stream || fclose(stream) != 0 || !fine)
            return false;
    }
    return true;
}

/* The log with every mention of path as shown; malloc'd. */
static char *read_log(const char *log, const char *path, const char *shown)
{
    struct lk_buf text = {0};
    char *message = NULL, *said = learn_read_file(log, &message);
    size_t length = strlen(path);
    const char *at = said ? said : message;
    for (const char *next; (next = strstr(at, path)); at = next + length)
        lk_buf_printf(&text, "%.*s%s", (int)(next - at), at, shown);
    lk_buf_printf(&text, "%s", at);
    free(message);
    free(said);
    return text.data;
}

bool learn_compile(const struct learn_grader *grader, const char *arch, const char *path,
                   const char *shown, const char *folder, char **said)
{
    char target[40], out[PATH_MAX], log[PATH_MAX], include[PATH_MAX], names[PATH_MAX];
    snprintf(target, sizeof target, grader->is_nvcc ? "-arch=compute_%s" : "--cuda-gpu-arch=sm_%s",
             arch);
    snprintf(out, sizeof out, "%s/kernel.ptx", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(include, sizeof include, "-I%s", folder);
    snprintf(names, sizeof names, "%s/cuda_names.h", folder);
    const char *const nvcc[] = {grader->compiler, "-ptx", "-O3", "-lineinfo", "-std=c++17", include,
                                target,           "-o",   out,   path,        NULL};
    const char *const clang[] = {grader->compiler,
                                 "-x",
                                 "cuda",
                                 "--cuda-device-only",
                                 target,
                                 "-nocudainc",
                                 "-nocudalib",
                                 "-S",
                                 "-O3",
                                 "-gline-tables-only",
                                 "-std=c++17",
                                 "-Wno-unknown-cuda-version",
                                 "-fno-color-diagnostics",
                                 "-include",
                                 names,
                                 include,
                                 "-o",
                                 out,
                                 path,
                                 NULL};
    *said = NULL;
    if (!write_headers(folder)) {
        *said = lk_say("%s: %s; nowhere to compile", folder, strerror(errno));
        return false;
    }
    int status = learn_start(grader->is_nvcc ? nvcc : clang, log, SECONDS);
    if (status == 0)
        return true;
    *said =
        status == 127 ? lk_say("%s did not start", grader->compiler) : read_log(log, path, shown);
    return false;
}
