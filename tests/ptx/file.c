/*
 * file.c: reads and rewrites the header of a PTX test file.
 * The header is the block of // lines at the top; `//+` and `// +` continue the line before.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *items, size_t size)
{
    void *more = realloc(items, size ? size : 1);
    if (!more)
        abort();
    return more;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = grow(NULL, length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

static char *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    size_t used = 0, got;
    do {
        text = grow(text, used + 65536);
        got = fread(text + used, 1, 65535, f);
        used += got;
    } while (got);
    fclose(f);
    text[used] = 0;
    *size = used;
    return text;
}

/* Words of the header ------------------------------------------------------------------------- */

struct words {
    const char *at, *end;
    const char *path;
    size_t line;
};

static bool next_word(struct words *w, char *word, size_t size)
{
    while (w->at < w->end && (*w->at == ' ' || *w->at == '\t'))
        w->at++;
    size_t length = 0;
    while (w->at < w->end && *w->at != ' ' && *w->at != '\t') {
        if (length + 1 < size)
            word[length++] = *w->at;
        w->at++;
    }
    word[length] = 0;
    return length > 0;
}

static void put_bytes(uint8_t **bytes, size_t *size, uint64_t low, unsigned count)
{
    *bytes = grow(*bytes, *size + count);
    for (unsigned i = 0; i < count; i++)
        (*bytes)[(*size)++] = (uint8_t)(low >> (8 * i));
}

/* Hex values of bits each, to the end of the line. 128 bits are two halves. */
static bool read_values(struct words *w, unsigned bits, uint8_t **bytes, size_t *size)
{
    char word[64];
    while (next_word(w, word, sizeof(word))) {
        size_t length = strlen(word);
        char *end;
        if (bits == 128) {
            if (length != 32)
                return false;
            put_bytes(bytes, size, strtoull(word + 16, &end, 16), 8);
            word[16] = 0;
            put_bytes(bytes, size, strtoull(word, &end, 16), 8);
        } else {
            put_bytes(bytes, size, strtoull(word, &end, 16), bits / 8);
        }
        if (*end)
            return false;
    }
    return true;
}

static bool read_input(struct test_file *file, struct words *w)
{
    char word[64];
    if (!next_word(w, word, sizeof(word)))
        return false;
    while (file->input_size % 16)
        put_bytes(&file->input, &file->input_size, 0, 1);
    return read_values(w, (unsigned)strtoul(word, NULL, 10), &file->input, &file->input_size);
}

static bool read_map(struct test_file *file, struct words *w)
{
    enum { MAP_BYTES = 128, MAP_ALIGN = 64 };
    file->maps = grow(file->maps, (file->map_count + 1) * sizeof(*file->maps));
    struct test_map *map = &file->maps[file->map_count++];
    *map = (struct test_map){0};
    while (file->input_size % MAP_ALIGN)
        put_bytes(&file->input, &file->input_size, 0, 1);
    map->at = file->input_size;
    for (int i = 0; i < MAP_BYTES; i += 8)
        put_bytes(&file->input, &file->input_size, 0, 8);
    char word[128];
    for (unsigned i = 0; next_word(w, word, sizeof(word)); i++)
        if (!test_map_word(map, i, word))
            return false;
    return map->rank > 0;
}

static bool read_three(struct words *w, unsigned numbers[3])
{
    for (int i = 0; i < 3; i++) {
        while (w->at < w->end && *w->at == ' ')
            w->at++;
        if (w->at == w->end || *w->at < '0' || *w->at > '9')
            return i > 0;
        char *end;
        numbers[i] = (unsigned)strtoul(w->at, &end, 10);
        w->at = end;
    }
    return true;
}

static bool read_run(struct test_file *file, struct words *w)
{
    file->runs = grow(file->runs, (file->run_count + 1) * sizeof(*file->runs));
    struct test_run *run = &file->runs[file->run_count++];
    *run = (struct test_run){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    char word[256];
    if (!next_word(w, word, sizeof(word)))
        return false;
    run->kernel = copy_text(word, strlen(word));
    while (next_word(w, word, sizeof(word))) {
        unsigned one[3] = {0};
        if (!strcmp(word, "grid")) {
            if (!read_three(w, run->grid))
                return false;
        } else if (!strcmp(word, "block")) {
            if (!read_three(w, run->block))
                return false;
        } else if (!strcmp(word, "cluster")) {
            run->cluster[1] = run->cluster[2] = 1;
            if (!read_three(w, run->cluster))
                return false;
        } else if (!strcmp(word, "shared")) {
            if (!read_three(w, one))
                return false;
            run->shared = one[0];
        } else if (!strcmp(word, "cooperative")) {
            run->cooperative = true;
        } else if (!strcmp(word, "fails")) {
            if (!read_three(w, one))
                return false;
            run->fails = (int)one[0];
        } else if (!strcmp(word, "stops")) {
            if (!next_word(w, word, sizeof(word)))
                return false;
            run->stops = copy_text(word, strlen(word));
        } else {
            return false;
        }
    }
    return true;
}

static bool read_section(struct test_file *file, struct words *w)
{
    if (!file->run_count)
        return false;
    struct test_run *run = &file->runs[file->run_count - 1];
    run->sections = grow(run->sections, (run->section_count + 1) * sizeof(*run->sections));
    struct test_section *s = &run->sections[run->section_count++];
    *s = (struct test_section){.mask = UINT32_MAX, .first_line = w->line, .line_count = 1};
    const char *bar = memchr(w->at, '|', (size_t)(w->end - w->at));
    if (bar) {
        s->label =
            copy_text(bar + 1 + (bar[1] == ' '), (size_t)(w->end - bar - 1 - (bar[1] == ' ')));
        w->end = bar;
    }
    char word[64];
    if (!next_word(w, word, sizeof(word)))
        return false;
    s->size = strtoul(word, NULL, 10);
    run->out_size += s->size;
    while (next_word(w, word, sizeof(word))) {
        if (!strcmp(word, "pending")) {
            s->form = TEST_PENDING;
        } else if (!strcmp(word, "hex")) {
            s->form = TEST_HEX;
            return read_values(w, 32, &s->bytes, &s->known_size);
        } else if (!strcmp(word, "fnv")) {
            s->form = TEST_FNV;
            if (!next_word(w, word, sizeof(word)))
                return false;
            s->digest = strtoull(word, NULL, 16);
            return read_values(w, 32, &s->bytes, &s->known_size);
        } else if (!strcmp(word, "mask")) {
            if (!next_word(w, word, sizeof(word)))
                return false;
            s->mask = (uint32_t)strtoul(word, NULL, 16);
        } else if (!strcmp(word, "nan")) {
            next_word(w, s->nan_type, sizeof(s->nan_type));
        } else if (!strcmp(word, "float")) {
            next_word(w, s->float_type, sizeof(s->float_type));
        } else if (!strcmp(word, "ulp") || !strcmp(word, "abs") || !strcmp(word, "rel")) {
            double *to = word[0] == 'u' ? &s->ulp : word[0] == 'a' ? &s->abs : &s->rel;
            if (!next_word(w, word, sizeof(word)))
                return false;
            *to = strtod(word, NULL);
        } else {
            return false;
        }
    }
    return s->form == TEST_PENDING;
}

/* A continuation belongs to the last in: or out: line. */
static bool read_more(struct test_file *file, struct words *w, unsigned input_bits, bool after_out)
{
    if (!after_out)
        return read_values(w, input_bits, &file->input, &file->input_size);
    struct test_run *run = &file->runs[file->run_count - 1];
    struct test_section *s = &run->sections[run->section_count - 1];
    s->line_count++;
    return read_values(w, 32, &s->bytes, &s->known_size);
}

static bool read_line(struct test_file *file, struct words *w, unsigned *input_bits,
                      bool *after_out)
{
    struct words all = *w;
    char word[64];
    if (!next_word(w, word, sizeof(word)))
        return true;
    if (!strcmp(word, "in:")) {
        struct words peek = *w;
        char bits[16];
        next_word(&peek, bits, sizeof(bits));
        *input_bits = (unsigned)strtoul(bits, NULL, 10);
        *after_out = false;
        return *input_bits >= 8 && read_input(file, w);
    }
    if (!strcmp(word, "map:"))
        return read_map(file, w);
    if (!strcmp(word, "out:")) {
        *after_out = true;
        return read_section(file, w);
    }
    if (!strcmp(word, "run:"))
        return read_run(file, w);
    if (!strcmp(word, "needs:")) {
        next_word(w, word, sizeof(word));
        file->needs = (unsigned)strtoul(word + 3, NULL, 10);
        return !strncmp(word, "sm_", 3);
    }
    if (word[0] == '+') {
        w->at = all.at;
        while (*w->at != '+')
            w->at++;
        w->at++;
        return (*after_out || *input_bits) && read_more(file, w, *input_bits, *after_out);
    }
    return true; /* a remark */
}

static bool sizes_fit(const struct test_file *file)
{
    for (size_t r = 0; r < file->run_count; r++)
        for (size_t k = 0; k < file->runs[r].section_count; k++) {
            const struct test_section *s = &file->runs[r].sections[k];
            if ((s->form == TEST_HEX && s->known_size != s->size) || s->known_size > s->size) {
                fprintf(stderr, "%s:%zu: %zu bytes are given, %zu are expected\n", file->path,
                        s->first_line + 1, s->known_size, s->size);
                return false;
            }
        }
    return true;
}

struct test_file *test_read(const char *path)
{
    struct test_file *file = grow(NULL, sizeof(*file));
    *file = (struct test_file){.needs = 80};
    file->path = copy_text(path, strlen(path));
    const char *slash = strrchr(path, '/');
    snprintf(file->name, sizeof(file->name), "%s", slash ? slash + 1 : path);
    char *dot = strrchr(file->name, '.');
    if (dot)
        *dot = 0;
    file->text = read_all(path, &file->size);
    bool good = file->text != NULL, after_out = false;
    unsigned input_bits = 0;
    size_t line = 0;
    const char *at = file->text;
    while (good && at && !strncmp(at, "//", 2)) {
        const char *end = strchr(at, '\n');
        if (!end)
            end = at + strlen(at);
        struct words w = {at + 2, end, path, line};
        good = read_line(file, &w, &input_bits, &after_out);
        if (!good)
            fprintf(stderr, "%s:%zu: this header line is not understood:\n%.*s\n", path, line + 1,
                    (int)(end - at), at);
        at = *end ? end + 1 : NULL;
        line++;
    }
    if (good && !sizes_fit(file))
        good = false;
    if (!good) {
        test_free(file);
        return NULL;
    }
    return file;
}

void test_free(struct test_file *file)
{
    for (size_t r = 0; r < file->run_count; r++) {
        struct test_run *run = &file->runs[r];
        for (size_t k = 0; k < run->section_count; k++) {
            free(run->sections[k].bytes);
            free(run->sections[k].label);
        }
        free(run->sections);
        free(run->kernel);
        free(run->stops);
    }
    free(file->maps);
    free(file->runs);
    free(file->input);
    free(file->text);
    free(file->path);
    free(file);
}
