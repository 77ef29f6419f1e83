/*
 * compile.c: an exercise to PTX, with clang or nvcc. clang is preferred: it takes a tenth of nvcc's
 * time, which is most of a verdict. Its messages are the compiler's own, with the file named as the
 * learner knows it.
 */
#include "learn/grade.h"

#include "base/buf.h"
#include "learn/child.h"
#include "zoo/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS = 30, MIB = 2048, SOURCE_BYTES = 1 << 20, MOST_LINES = 60 };

/* What would keep a compiler busy without being a kernel: a device, a pipe, a file without end. */
static char *check_source(const char *path, const char *shown)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return lk_say("%s: %s\n", shown, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return lk_say("%s: this is no file\n", shown);
    if (status.st_size > SOURCE_BYTES)
        return lk_say("%s: it has %lld bytes; an exercise has at most %d\n", shown,
                      (long long)status.st_size, SOURCE_BYTES);
    return NULL;
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

/* The log with every mention of path as shown; malloc'd. What a file that includes itself or a
 * template brings forth is cut: nobody reads a hundred lines. */
static char *read_log(const char *log, const char *path, const char *shown)
{
    static const char included[] = "In file included from";
    struct lk_buf text = {0};
    char *message = NULL, *said = learn_read_file(log, &message);
    size_t length = strlen(path);
    unsigned lines = 0, left_out = 0, depth = 0;
    for (const char *at = said ? said : message, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end == '\n';
        depth = strncmp(at, included, strlen(included)) == 0 ? depth + 1 : 0;
        if (depth > 2 || lines == MOST_LINES) {
            left_out += depth <= 2;
            continue;
        }
        lines++;
        for (const char *next; (next = memmem(at, (size_t)(end - at), path, length));
             at = next + length)
            lk_buf_printf(&text, "%.*s%s", (int)(next - at), at, shown);
        lk_buf_printf(&text, "%.*s", (int)(end - at), at);
    }
    if (left_out)
        lk_buf_printf(&text, "(and %u more line%s)\n", left_out, left_out == 1 ? "" : "s");
    free(message);
    free(said);
    return text.data ? text.data : strdup("");
}

/* Takes said, what the compiler has printed. */
static char *explain(const struct learn_child *child, enum learn_end how, int status, char *said,
                     const char *shown)
{
    char *text = NULL;
    if (how == LEARN_NOT_STARTED)
        text = lk_say("%s did not start\n", child->words[0]);
    else if (how == LEARN_SLOW)
        text = lk_say("%s: the compiler was stopped after %u seconds; it had not come to an end\n",
                      shown, child->seconds);
    else if (how == LEARN_BIG || strstr(said, "out of memory") || strstr(said, "bad_alloc"))
        text = lk_say("%s: the compiler was stopped: it needed more than %u MiB of memory\n", shown,
                      child->mib);
    else if (how == LEARN_LOUD)
        text = lk_say(
            "%s: the compiler was stopped: it complained without end, and began with\n%.2000s\n",
            shown, said);
    else if (how == LEARN_INTERRUPTED)
        text = lk_say("%s: stopped while it was compiled\n", shown);
    else if (status > 128)
        text = lk_say("%s: the compiler itself failed (signal %d)\n%.2000s", shown, status - 128,
                      said);
    else
        return said;
    free(said);
    return text;
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
    *said = check_source(path, shown);
    if (*said)
        return false;
    if (!write_headers(folder)) {
        *said = lk_say("%s: %s; nowhere to compile", folder, strerror(errno));
        return false;
    }
    struct learn_child child = {.words = grader->is_nvcc ? nvcc : clang,
                                .log = log,
                                .seconds = grader->seconds ? grader->seconds : SECONDS,
                                .mib = grader->mib ? grader->mib : MIB,
                                .interrupted = grader->interrupted};
    int status;
    enum learn_end how = learn_child_run(&child, &status);
    if (how == LEARN_ENDED && status == 0)
        return true;
    *said = explain(&child, how, status, read_log(log, path, shown), shown);
    return false;
}
