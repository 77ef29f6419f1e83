/*
 * compare.c: is an output what its section expects, and the new lines when it shall become so.
 */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct format {
    const char *name;
    unsigned bits, fraction;
};
static const struct format formats[] = {
    {"f16", 16, 10}, {"bf16", 16, 7}, {"f32", 32, 23}, {"f64", 64, 52}};

static const struct format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

static uint64_t load(const uint8_t *bytes, unsigned bits)
{
    uint64_t value = 0;
    memcpy(&value, bytes, bits / 8);
    return value;
}

static uint64_t magnitude(const struct format *f, uint64_t bits)
{
    return bits & ~(UINT64_C(1) << (f->bits - 1));
}

static uint64_t infinity(const struct format *f)
{
    return ((UINT64_C(1) << (f->bits - 1 - f->fraction)) - 1) << f->fraction;
}

static double value_of(const struct format *f, uint64_t bits)
{
    int bias = (1 << (f->bits - 2 - f->fraction)) - 1;
    uint64_t m = magnitude(f, bits);
    int exponent = (int)(m >> f->fraction);
    double fraction = (double)(m & ((UINT64_C(1) << f->fraction) - 1));
    double unit = ldexp(1.0, -(int)f->fraction);
    double value =
        exponent ? ldexp(1 + fraction * unit, exponent - bias) : ldexp(fraction * unit, 1 - bias);
    if (m == infinity(f))
        value = INFINITY;
    return bits >> (f->bits - 1) ? -value : value;
}

/* Steps between two numbers, counted over the zero. */
static double steps(const struct format *f, uint64_t a, uint64_t b)
{
    double x = (double)magnitude(f, a), y = (double)magnitude(f, b);
    x = a >> (f->bits - 1) ? -x : x;
    y = b >> (f->bits - 1) ? -y : y;
    return fabs(x - y);
}

static bool is_near(const struct test_section *s, const struct format *f, uint64_t want,
                    uint64_t got)
{
    bool want_nan = magnitude(f, want) > infinity(f), got_nan = magnitude(f, got) > infinity(f);
    if (want_nan || got_nan)
        return want_nan == got_nan;
    if (want == got || (s->ulp > 0 && steps(f, want, got) <= s->ulp))
        return true;
    double x = value_of(f, want), y = value_of(f, got);
    return fabs(x - y) <= s->abs || fabs(x - y) <= s->rel * fabs(x);
}

/* The bytes that count: masked, NaNs made one. */
static uint8_t *canonical(const struct test_section *s, const uint8_t *data, size_t size)
{
    uint8_t *out = malloc(size + 8);
    memcpy(out, data, size);
    for (size_t i = 0; i < size; i++)
        out[i] &= (uint8_t)(s->mask >> (8 * (i % 4)));
    const struct format *f = find_format(s->nan_type);
    for (size_t i = 0; f && i + f->bits / 8 <= size; i += f->bits / 8)
        if (magnitude(f, load(out + i, f->bits)) > infinity(f)) {
            uint64_t nan =
                f->bits == 64 ? UINT64_C(0x7ff8000000000000) : (UINT64_C(1) << (f->bits - 1)) - 1;
            memcpy(out + i, &nan, f->bits / 8);
        }
    return out;
}

static uint64_t fnv(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* First byte that differs of two canonical outputs; size if none. */
static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return i;
    return size;
}

static bool compare_near(const struct test_section *s, const struct format *f, const uint8_t *data,
                         char *why, size_t size)
{
    for (size_t i = 0; i + f->bits / 8 <= s->size; i += f->bits / 8) {
        uint64_t want = load(s->bytes + i, f->bits), got = load(data + i, f->bits);
        if (!is_near(s, f, want, got)) {
            snprintf(why, size, "element %zu: expected %g (%0*llx), got %g (%0*llx)",
                     i / (f->bits / 8), value_of(f, want), (int)f->bits / 4,
                     (unsigned long long)want, value_of(f, got), (int)f->bits / 4,
                     (unsigned long long)got);
            return false;
        }
    }
    return true;
}

bool test_compare(const struct test_section *s, const uint8_t *data, char *why, size_t size)
{
    if (s->form == TEST_PENDING) {
        snprintf(why, size, "pending");
        return false;
    }
    const struct format *f = find_format(s->float_type);
    if (f && s->form == TEST_HEX)
        return compare_near(s, f, data, why, size);
    uint8_t *got = canonical(s, data, s->size);
    uint8_t *want = canonical(s, s->bytes ? s->bytes : data, s->known_size);
    size_t at = first_difference(got, want, s->known_size);
    bool same = at == s->known_size && (s->form == TEST_HEX || fnv(got, s->size) == s->digest);
    if (at < s->known_size) {
        at &= ~(size_t)3;
        snprintf(why, size, "word %zu: expected %08x, got %08x", at / 4,
                 (unsigned)load(want + at, 32), (unsigned)load(got + at, 32));
    } else if (!same) {
        snprintf(why, size, "digest: expected %016llx, got %016llx", (unsigned long long)s->digest,
                 (unsigned long long)fnv(got, s->size));
    }
    free(got);
    free(want);
    return same;
}

/* Update ----------------------------------------------------------------------------------------
 */

static void write_section(FILE *out, const struct test_section *s, const uint8_t *data)
{
    uint8_t *bytes = canonical(s, data, s->size);
    bool whole = s->float_type[0] || s->form == TEST_HEX || s->size <= 128;
    fprintf(out, "// out: %zu", s->size);
    if (s->mask != UINT32_MAX)
        fprintf(out, " mask %08x", s->mask);
    if (s->nan_type[0])
        fprintf(out, " nan %s", s->nan_type);
    if (s->float_type[0])
        fprintf(out, " float %s", s->float_type);
    if (s->ulp > 0)
        fprintf(out, " ulp %g", s->ulp);
    if (s->abs > 0)
        fprintf(out, " abs %g", s->abs);
    if (s->rel > 0)
        fprintf(out, " rel %g", s->rel);
    if (whole)
        fprintf(out, " hex");
    else
        fprintf(out, " fnv %016llx", (unsigned long long)fnv(bytes, s->size));
    for (size_t i = 0; !whole && i < 16 && i + 4 <= s->size; i += 4)
        fprintf(out, " %08x", (unsigned)load(bytes + i, 32));
    if (s->label)
        fprintf(out, " | %s", s->label);
    fputc('\n', out);
    for (size_t i = 0; whole && i < s->size; i += 4) {
        uint8_t word[4] = {0};
        memcpy(word, bytes + i, s->size - i < 4 ? s->size - i : 4);
        fprintf(out, "%s%08x%s", i % 40 ? " " : "// + ", (unsigned)load(word, 32),
                i % 40 == 36 || i + 4 >= s->size ? "\n" : "");
    }
    free(bytes);
}

/* The section that starts at a line, with its output; NULL if there is none. */
static const struct test_section *section_at(const struct test_file *file, uint8_t *const *outputs,
                                             size_t line, const uint8_t **data)
{
    for (size_t r = 0; r < file->run_count; r++) {
        size_t offset = 0;
        for (size_t k = 0; k < file->runs[r].section_count; k++) {
            const struct test_section *s = &file->runs[r].sections[k];
            *data = outputs[r] ? outputs[r] + offset : NULL;
            if (s->first_line == line)
                return *data ? s : NULL;
            offset += s->size;
        }
    }
    return NULL;
}

bool test_update(const struct test_file *file, uint8_t *const *outputs)
{
    FILE *out = fopen(file->path, "wb");
    if (!out) {
        perror(file->path);
        return false;
    }
    const char *at = file->text;
    for (size_t line = 0, skip = 0; at && *at; line++) {
        const char *end = strchr(at, '\n');
        const uint8_t *data;
        const struct test_section *s = section_at(file, outputs, line, &data);
        if (s) {
            write_section(out, s, data);
            skip = s->line_count;
        }
        if (skip)
            skip--;
        else
            fprintf(out, "%.*s\n", end ? (int)(end - at) : (int)strlen(at), at);
        at = end ? end + 1 : NULL;
    }
    return fclose(out) == 0;
}
