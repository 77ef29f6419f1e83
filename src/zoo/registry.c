/*
 * registry.c: the families by name, and what their sources declare: the architecture, the
 * tunables and how long they are. Sources and PTX are embedded; the build makes the list.
 */
#include "zoo/zoo.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/text.h"
#include "gpu/gpu.h"
#include "zoo/embedded.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define FAMILY(name) extern const struct zoo_family zoo_##name;
#include "zoo/families.def"

const struct zoo_family *const zoo_families[] = {
#define FAMILY(name) &zoo_##name,
#include "zoo/families.def"
    NULL};

/* Finding ---------------------------------------------------------------------------------------*/

const struct zoo_variant *zoo_find_variant(const struct zoo_family *family, const char *name)
{
    for (const struct zoo_variant *variant = family->variants; variant->name; variant++)
        if (strcmp(variant->name, name) == 0)
            return variant;
    return NULL;
}

static char *no_family(const char *name)
{
    struct lk_buf text = {0};
    struct lk_guess guess = {.wanted = name, .distance = 4, .parts = true};
    for (size_t i = 0; zoo_families[i]; i++)
        lk_guess_try(&guess, zoo_families[i]->name);
    lk_buf_printf(&text, "there is no family '%s'", name);
    if (guess.nearest)
        lk_buf_printf(&text, "; did you mean '%s'?", guess.nearest);
    else
        lk_buf_printf(&text, "; 'lockstep zoo list' names them");
    return text.data;
}

static char *no_variant(const struct zoo_family *family, const char *name)
{
    struct lk_buf text = {0};
    struct lk_guess guess = {.wanted = name, .distance = 4, .parts = true};
    for (const struct zoo_variant *variant = family->variants; variant->name; variant++)
        lk_guess_try(&guess, variant->name);
    lk_buf_printf(&text, "%s has no variant '%s'", family->name, name);
    if (guess.nearest)
        lk_buf_printf(&text, "; did you mean '%s/%s'?", family->name, guess.nearest);
    else
        lk_buf_printf(&text, "; 'lockstep zoo show %s' names them", family->name);
    return text.data;
}

bool zoo_find(const char *name, const struct zoo_family **family,
              const struct zoo_variant **variant, char **message)
{
    const char *slash = strchr(name, '/');
    size_t length = slash ? (size_t)(slash - name) : strlen(name);
    *variant = NULL;
    *message = NULL;
    for (size_t i = 0; zoo_families[i]; i++) {
        *family = zoo_families[i];
        if (strlen((*family)->name) != length || strncmp((*family)->name, name, length) != 0)
            continue;
        if (slash && !(*variant = zoo_find_variant(*family, slash + 1)))
            *message = no_variant(*family, slash + 1);
        return !*message;
    }
    char *wanted = strndup(name, length);
    *message = no_family(wanted);
    free(wanted);
    return false;
}

bool zoo_takes(const struct zoo_variant *variant, const struct zoo_problem *problem)
{
    return !variant->takes || variant->takes(problem);
}

/* Sources ---------------------------------------------------------------------------------------*/

/* "#define BLOCK 256 // tune: 128 256 512" */
static void read_tunable(struct zoo_source *source, const char *line, size_t length)
{
    char text[256], normal[24];
    snprintf(text, sizeof text, "%.*s", (int)length, line);
    char *choices = strstr(text, "// tune:"), *rest;
    struct zoo_tunable tunable = {0};
    if (!choices || source->tunable_count == ZOO_TUNABLES ||
        sscanf(text, " #define %23s %23s", tunable.name, normal) != 2)
        return;
    tunable.normal = (int)strtol(normal, &rest, 10);
    if (rest == normal)
        return;
    choices += strlen("// tune:");
    for (char *end; tunable.choice_count < 12; choices = end) {
        int choice = (int)strtol(choices, &end, 10);
        if (end == choices)
            break;
        tunable.choices[tunable.choice_count++] = choice;
    }
    source->tunables[source->tunable_count++] = tunable;
    source->written_count = source->tunable_count;
}

static void add_at_launch(struct zoo_source *source, const struct zoo_embedded *row)
{
    const struct zoo_variant *variant = NULL;
    for (size_t i = 0; zoo_families[i]; i++)
        if (strcmp(zoo_families[i]->name, row->family) == 0)
            variant = zoo_find_variant(zoo_families[i], row->variant);
    const struct zoo_tunable *next = variant ? variant->at_launch : NULL;
    for (; next && *next->name && source->tunable_count < ZOO_TUNABLES; next++)
        source->tunables[source->tunable_count++] = *next;
}

/* Comments of the kernels are whole lines or follow code, so a line counts as code if something
 * stands before them. */
static bool is_code(const char *line, size_t length, bool *comment)
{
    while (length && isspace((unsigned char)*line)) {
        line++;
        length--;
    }
    if (*comment || (length >= 2 && strncmp(line, "/*", 2) == 0)) {
        *comment = !memmem(line, length, "*/", 2);
        return false;
    }
    return length && strncmp(line, "//", length < 2 ? length : 2) != 0;
}

static void read_source(struct zoo_source *source)
{
    bool comment = false;
    for (const char *line = source->text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        source->lines += is_code(line, length, &comment);
        sscanf(line, "// arch: sm_%7[0-9a]", source->arch);
        read_tunable(source, line, length);
    }
}

static struct zoo_source *sources; /* one for each row of zoo_embedded */

static void read_sources(void)
{
    sources = calloc(zoo_embedded_count, sizeof *sources);
    if (!sources)
        abort();
    for (size_t i = 0; i < zoo_embedded_count; i++) {
        const struct zoo_embedded *row = &zoo_embedded[i];
        sources[i] = (struct zoo_source){.text = row->text,
                                         .text_size = (size_t)(row->text_end - row->text),
                                         .ptx = row->ptx,
                                         .ptx_end = row->ptx_end,
                                         .arch = "80"};
        read_source(&sources[i]);
        add_at_launch(&sources[i], row);
    }
}

const struct zoo_source *zoo_source(const struct zoo_family *family,
                                    const struct zoo_variant *variant)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_sources);
    for (size_t i = 0; i < zoo_embedded_count; i++)
        if (strcmp(zoo_embedded[i].family, family->name) == 0 &&
            strcmp(zoo_embedded[i].variant, variant->name) == 0)
            return &sources[i];
    return NULL;
}

char *zoo_ptx(const struct zoo_source *source, size_t *size, char **message)
{
    size_t length = (size_t)(source->ptx_end - source->ptx);
    unsigned long long whole = ZSTD_getFrameContentSize(source->ptx, length);
    char *text = malloc(whole + 1);
    if (!text || ZSTD_decompress(text, whole, source->ptx, length) != whole) {
        *message = lk_format("no memory for %llu bytes of PTX", whole);
        free(text);
        return NULL;
    }
    text[whole] = 0;
    *size = whole;
    return text;
}

static bool is_header_of(const char *path, const char *family)
{
    size_t length = strlen(family);
    return strstr(path, ".h") && (strncmp(path, "include/", 8) == 0 ||
                                  (strncmp(path, family, length) == 0 && path[length] == '/'));
}

uint64_t zoo_source_hash(const struct zoo_family *family, const struct zoo_variant *variant)
{
    const struct zoo_source *source = zoo_source(family, variant);
    uint64_t hash = LK_HASH64;
    if (source)
        hash = lk_hash64(hash, source->text, source->text_size);
    for (size_t i = 0; i < zoo_embedded_file_count; i++)
        if (is_header_of(zoo_embedded_files[i].path, family->name))
            hash = lk_hash64(hash, zoo_embedded_files[i].text,
                             (size_t)(zoo_embedded_files[i].text_end - zoo_embedded_files[i].text));
    return hash;
}
