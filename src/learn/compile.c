/*
 * compile.c: an exercise to PTX, with clang or nvcc. clang is preferred: it takes a tenth of nvcc's
 * time, which is most of a verdict. Its messages are the compiler's own, with the file named as the
 * learner knows it.
 */
#include "learn/grade.h"

#include "base/buf.h"
#include "host/child.h"
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
 * template brings forth is cut: nobody reads a hundred lines. Notes on our own macro, which stands
 * in no file, are left out with the lines that they show. */
static char *read_log(const char *log, const char *path, const char *shown)
{
    static const char included[] = "In file included from", ours[] = "<command line>:";
    struct lk_buf text = {0};
    char *message = NULL, *said = learn_read_file(log, &message);
    size_t length = strlen(path);
    unsigned lines = 0, left_out = 0, depth = 0;
    bool is_ours = false;
    for (const char *at = said ? said : message, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end == '\n';
        is_ours = strncmp(at, ours, strlen(ours)) == 0 || (is_ours && *at == ' ');
        if (is_ours)
            continue;
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

/* What exercises in C may include beside the compiler's own headers; c_names.h has it all. */
static bool write_c_headers(const char *folder)
{
    static const char *const names[] = {"math.h", "string.h"};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/c", folder);
    bool fine = mkdir(path, 0700) == 0;
    for (size_t i = 0; fine && i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/c/%s", folder, names[i]);
        FILE *stream = fopen(path, "we");
        fine = stream && fclose(stream) == 0;
    }
    return fine;
}

enum { WORDS = 24, WORD = PATH_MAX + 16 };
struct command {
    const char *words[WORDS];
    char text[6][WORD]; /* of the words that are made here */
    unsigned count, texts;
};

static void add(struct command *command, const char *word)
{
    command->words[command->count++] = word;
}

static void add_made(struct command *command, const char *form, const char *a, const char *b)
{
    char *text = command->text[command->texts++];
    snprintf(text, WORD, form, a, b);
    add(command, text);
}

static void nvcc_command(struct command *command, const struct learn_exercise *exercise,
                         const char *folder)
{
    static const char *const words[] = {"-ptx", "-O3", "-lineinfo", "-std=c++17"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(command, words[i]);
    add_made(command, "-arch=compute_%s", exercise->arch, NULL);
    add_made(command, "-I%s", folder, NULL);
}

static void clang_command(struct command *command, const struct learn_exercise *exercise,
                          const char *folder)
{
    static const char *const words[] = {
        "-x",         "cuda", "--cuda-device-only",       "-nocudainc", "-nocudalib",
        "-std=c++17", "-O3",  "-Wno-unknown-cuda-version"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(command, words[i]);
    add_made(command, "--cuda-gpu-arch=sm_%s", exercise->arch, NULL);
    add_made(command, "-I%s", folder, NULL);
    add(command, "-include");
    add_made(command, "%s/cuda_names.h", folder, NULL);
}

/* The function becomes a kernel where it is defined: its name and a '(' bring the attribute along.
 * A parameter or a variable of that name, without a '(', stays what it is. */
static void c_command(struct command *command, const struct learn_exercise *exercise,
                      const char *folder)
{
    static const char *const words[] = {"-x",          "c",   "--target=nvptx64-nvidia-cuda",
                                        "-std=c11",    "-O2", "-ffreestanding",
                                        "-nostdlibinc"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(command, words[i]);
    add_made(command, "-march=sm_%s", exercise->arch, NULL);
    add_made(command, "-D%s(...)=__attribute__((nvptx_kernel)) %s(__VA_ARGS__)", exercise->kernel,
             exercise->kernel);
    add_made(command, "-I%s/c", folder, NULL);
    add(command, "-include");
    add_made(command, "%s/c_names.h", folder, NULL);
}

bool learn_compile(const struct learn_grader *grader, const struct learn_exercise *exercise,
                   const char *path, const char *shown, const char *folder, char **said)
{
    char log[PATH_MAX];
    bool is_nvcc = grader->is_nvcc && !exercise->is_c;
    struct command command = {0};
    *said = check_source(path, shown);
    if (*said)
        return false;
    if (exercise->is_c && !grader->c_compiler) {
        *said = lk_say("%s is in C, which needs clang 16 or newer: 'apt install clang-19'", shown);
        return false;
    }
    if (!write_headers(folder) || (exercise->is_c && !write_c_headers(folder))) {
        *said = lk_say("%s: %s; nowhere to compile", folder, strerror(errno));
        return false;
    }
    add(&command, exercise->is_c ? grader->c_compiler : grader->compiler);
    if (is_nvcc)
        nvcc_command(&command, exercise, folder);
    else if (exercise->is_c)
        c_command(&command, exercise, folder);
    else
        clang_command(&command, exercise, folder);
    if (!is_nvcc) {
        add(&command, "-S");
        add(&command, "-gline-tables-only");
        add(&command, "-fno-color-diagnostics");
    }
    add(&command, "-o");
    add_made(&command, "%s/kernel.ptx", folder, NULL);
    add(&command, path);
    snprintf(log, sizeof log, "%s/log", folder);
    struct learn_child child = {.words = command.words,
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
