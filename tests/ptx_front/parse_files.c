/*
 * parse_files.c: parses the PTX files named on the command line and prints the result of each.
 * For mass tests over compiler output, and to look at one message by hand:
 *   parse_files [-q] [-t] FILE.ptx ...     -q: only failures; -t: with times
 * Exit status 0 if every file parsed.
 */
#include "base/arena.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t capacity = 1 << 16;
    char *data = lk_alloc(capacity);
    *size = 0;
    for (size_t got; (got = fread(data + *size, 1, capacity - *size, file)) > 0;) {
        *size += got;
        if (*size == capacity)
            data = lk_realloc(data, capacity *= 2);
    }
    fclose(file);
    return data;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool parse_one(const char *path, bool quiet, bool times)
{
    size_t size;
    char *text = read_file(path, &size), *message = NULL;
    if (!text) {
        printf("%s: cannot be read\n", path);
        return false;
    }
    double start = now();
    struct ptx_module *module = ptx_parse(path, text, size, &message);
    double seconds = now() - start;
    bool is_fine = module != NULL;
    if (!module) {
        printf("FAIL %s", message);
    } else if (!quiet) {
        unsigned long instructions = 0;
        for (uint32_t i = 0; i < module->function_count; i++)
            instructions += module->functions[i]->inst_count;
        printf("ok   %s: %u functions, %lu instructions, %u variables", path,
               module->function_count, instructions, module->var_count);
        if (times)
            printf(", %.1f MB in %.3f s", (double)size * 1e-6, seconds);
        printf("\n");
    }
    ptx_free(module);
    free(message);
    free(text);
    return is_fine;
}

int main(int argc, char **argv)
{
    bool quiet = false, times = false;
    int failed = 0, count = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-q") == 0)
            quiet = true;
        else if (strcmp(argv[i], "-t") == 0)
            times = true;
        else {
            count++;
            failed += !parse_one(argv[i], quiet, times);
        }
    }
    printf("%d parsed, %d failed\n", count - failed, failed);
    return failed ? 1 : 0;
}
