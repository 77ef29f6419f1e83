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
#include <sys/stat.h>
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

/* The function becomes a kernel where it is defined: its name brings the attribute along. */
static void c_command(struct command *command, const struct learn_exercise *exercise,
                      const char *folder)
{
    static const char *const words[] = {"-x",          "c",   "--target=nvptx64-nvidia-cuda",
                                        "-std=c11",    "-O2", "-ffreestanding",
                                        "-nostdlibinc"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(command, words[i]);
    add_made(command, "-march=sm_%s", exercise->arch, NULL);
    add_made(command, "-D%s=__attribute__((nvptx_kernel)) %s", exercise->kernel, exercise->kernel);
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
    *said = NULL;
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
    int status = learn_start(command.words, log, SECONDS);
    if (status == 0)
        return true;
    *said =
        status == 127 ? lk_say("%s did not start", command.words[0]) : read_log(log, path, shown);
    return false;
}
