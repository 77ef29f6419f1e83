/*
 * texture_bits.c: texture and surface instructions against what an H200 answered, bit for bit.
 *   texture_bits [--gpu GPU] h200.txt       compares each case's answers with its digest there
 *   texture_bits --gpu cuda:0 --record      prints the digests of a GPU
 */
#include "bits.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct record {
    char name[80];
    uint64_t digest;
    bool seen;
};
static struct record *records;
static size_t record_count;
static FILE *recording; /* NULL: compare */
static unsigned wrong;

static bool read_records(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        struct record one = {0};
        char digest[32];
        if (line[0] == '#' || sscanf(line, "%79s %31s", one.name, digest) != 2)
            continue;
        one.digest = strtoull(digest, NULL, 16);
        records = realloc(records, (record_count + 1) * sizeof *records);
        records[record_count++] = one;
    }
    fclose(file);
    return true;
}

static struct record *find_record(const char *name)
{
    for (size_t i = 0; i < record_count; i++)
        if (!strcmp(records[i].name, name))
            return &records[i];
    return NULL;
}

void texture_case(const struct texcase *c, const char *format, ...)
{
    char name[80], *words = NULL;
    size_t size = 0;
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    struct record *record = recording ? NULL : find_record(name);
    if (!recording && !record)
        return;
    out = open_memstream(&words, &size);
    int code = texture_run(name, c);
    fclose(out);
    uint64_t digest = texture_hash(words);
    if (recording && !code) {
        fprintf(recording, "%s %016llx\n", name, (unsigned long long)digest);
    } else if (code || digest != record->digest) {
        wrong++;
        printf("not ok %s: %s gives other words than the H200: %.60s\n", name, c->op, words);
    }
    if (record)
        record->seen = true;
    free(words);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    char *message = NULL;
    const char *gpu = "sim:h200", *path = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--gpu") && i + 1 < argc)
            gpu = argv[++i];
        else if (!strcmp(argv[i], "--record"))
            recording = stdout;
        else
            path = argv[i];
    }
    driver = lk_driver_open(gpu, &device, &message);
    if (!driver || (!recording && (!path || !read_records(path)))) {
        fprintf(stderr, "texture_bits: %s\n", message ? message : "no recording");
        return 2;
    }
    if (driver->cuDevicePrimaryCtxRetain(&context, device) || driver->cuCtxSetCurrent(context))
        return 2;
    texture_cases();
    for (size_t i = 0; i < record_count; i++)
        if (!records[i].seen && ++wrong)
            printf("not ok %s: there is no such case\n", records[i].name);
    if (!recording && !wrong)
        printf("ok bits: %zu cases as an H200 has them\n", record_count);
    return wrong != 0;
}
