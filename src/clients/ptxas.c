/*
 * ptxas.c: the ptxas that 'lockstep run' gives to programs that call one, as Triton does: the PTX
 * is checked and passed through. What comes out loads like a cubin, on a simulated GPU only.
 * --version has words of its own, so that what Triton keeps in its cache for a real GPU and what it
 * keeps for a simulated one never meet.
 *
 * Options: -o FILE, --output-file FILE, --input-as-string PTX, -maxrregcount N, -v; every other one
 * tunes code that is not made here. The exit status is 255 where the PTX is not valid, as NVIDIA's
 * has it.
 */
#include "driver/image.h"

#include "host/files.h"
#include "host/terminal.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RELEASE "13.0" /* of the CUDA whose PTX this machine runs */
#define PTX_VERSION "9.0"

enum { INVALID = 255, PTX_MAJOR = 9 };

struct job {
    const char *input, *output, *text; /* text: in place of the input's */
    unsigned max_registers;
};

/* The value of -name VALUE, --name VALUE or --name=VALUE; NULL if the word is another one. */
static const char *value_of(int count, char **words, int *at, const char *name)
{
    const char *word = words[*at] + (words[*at][0] == '-') + (words[*at][1] == '-');
    size_t length = strlen(name);
    if (words[*at][0] != '-' || strncmp(word, name, length) != 0)
        return NULL;
    if (word[length] == '=')
        return word + length + 1;
    return !word[length] && *at + 1 < count ? words[++*at] : NULL;
}

/* Options whose value is a word of its own; the rest have none, or one behind "=". */
static bool skips_value(const char *word)
{
    static const char *const valued[] = {"--opt-level",      "-O",    "--gpu-name",        "-arch",
                                         "--machine",        "-m",    "--entry",           "-e",
                                         "--def-load-cache", "-dlcm", "--def-store-cache", "-dscm"};
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++)
        if (strcmp(word, valued[i]) == 0)
            return true;
    return false;
}

static void read_words(int count, char **words, struct job *job)
{
    for (int at = 1; at < count; at++) {
        const char *value;
        if (words[at][0] != '-')
            job->input = words[at];
        else if ((value = value_of(count, words, &at, "o")) ||
                 (value = value_of(count, words, &at, "output-file")))
            job->output = value;
        else if ((value = value_of(count, words, &at, "input-as-string")) ||
                 (value = value_of(count, words, &at, "ias")))
            job->input = "<input-as-string>", job->text = value;
        else if ((value = value_of(count, words, &at, "maxrregcount")))
            job->max_registers = (unsigned)strtoul(value, NULL, 10);
        else if (skips_value(words[at]))
            at++;
    }
}

/* XLA asks with 99.99, and Mosaic with nothing else in the text, which version there is. */
static bool is_too_new(const char *input, const char *text)
{
    static const char directive[] = ".version";
    const char *version = strstr(text, directive);
    char *dot;
    unsigned long major = version ? strtoul(version + sizeof directive - 1, &dot, 10) : 0;
    if (major <= PTX_MAJOR || *dot != '.')
        return false;
    unsigned long minor = strtoul(dot + 1, NULL, 10);
    fprintf(stderr,
            "ptxas %s, line 1; fatal   : Unsupported .version %lu.%lu; current version is "
            "'" PTX_VERSION "'\nptxas fatal   : Ptx assembly aborted due to errors\n",
            input, major, minor);
    return true;
}

static int assemble(const struct job *job)
{
    struct lk_buf text = {0}, image = {0};
    char *message = NULL;
    int status = INVALID;
    if (job->text) {
        lk_buf_add(&text, job->text, strlen(job->text));
    } else if (!host_read_file(job->input, &text, NULL)) {
        fprintf(stderr, "ptxas fatal   : %s: cannot be read\n", job->input);
        goto out;
    }
    lk_buf_add(&text, "", 1);
    size_t size = strlen(text.data);
    if (is_too_new(job->input, text.data))
        goto out;
    struct ptx_module *module = ptx_parse(job->input, text.data, size, &message);
    if (!module) {
        fprintf(stderr, "%s\nptxas fatal   : Ptx assembly aborted due to errors\n", message);
        goto out;
    }
    ptx_free(module);
    lk_buf_printf(&image, "%s", DRV_LINKED_MAGIC);
    if (job->max_registers)
        lk_buf_printf(&image, "%s%u\n", DRV_LINKED_REGISTERS, job->max_registers);
    lk_buf_add(&image, text.data, size);
    lk_buf_add(&image, "", 1);
    if (!host_write_file(job->output, image.data, image.size, &message))
        fprintf(stderr, "ptxas fatal   : %s\n", message);
    else
        status = 0;
out:
    free(message);
    lk_buf_free(&text);
    lk_buf_free(&image);
    return status;
}

int main(int count, char **words)
{
    struct job job = {.output = "elf.o"};
    for (int at = 1; at < count; at++)
        if (strcmp(words[at], "--version") == 0 || strcmp(words[at], "-V") == 0) {
            printf("ptxas: Lockstep's, which passes PTX through to simulated GPUs\n"
                   "Cuda compilation tools, release " RELEASE ", V" RELEASE ".0\n");
            return 0;
        }
    read_words(count, words, &job);
    if (!job.input) {
        fprintf(stderr, "ptxas fatal   : No input file was given\n");
        return INVALID;
    }
    return assemble(&job);
}
