/*
 * api_arrays.h: for tests of public calls on plain arrays: random inputs on the host and on the
 * device, and outputs with something known around them.
 */
#ifndef LOCKSTEP_TESTS_ZOO_API_ARRAYS_H
#define LOCKSTEP_TESTS_ZOO_API_ARRAYS_H

#include "api_tools.h"

#include "zoo/types.h"

struct numbers {
    enum zoo_type type;
    size_t count;
    void *host, *device;
};

static inline struct numbers make_numbers(enum zoo_type type, int64_t count, double least,
                                          double most)
{
    struct numbers x = {.type = type, .count = (size_t)count};
    x.host = malloc(x.count * zoo_type_bytes[type] + 1);
    for (size_t i = 0; i < x.count; i++)
        zoo_put(type, x.host, i, least + (most - least) * (double)any(1 << 20) * 0x1p-20);
    x.device = on_device(x.host, x.count * zoo_type_bytes[type]);
    return x;
}

static inline void free_numbers(struct numbers *x)
{
    free(x->host);
    must(lk_free(x->device));
}

static inline double number_of(const struct numbers *x, int64_t i)
{
    return zoo_get(x->type, x->host, (size_t)i);
}

enum { AROUND = 64 }; /* bytes before and after an output */
struct output {
    enum zoo_type type;
    size_t bytes;
    char *host, *device; /* the output begins AROUND bytes later */
};

static inline struct output make_output(enum zoo_type type, int64_t count)
{
    struct output out = {.type = type, .bytes = (size_t)count * zoo_type_bytes[type]};
    out.host = malloc(out.bytes + 2 * AROUND);
    memset(out.host, POISON, out.bytes + 2 * AROUND);
    out.device = on_device(out.host, out.bytes + 2 * AROUND);
    return out;
}

/* Takes it from the device, and looks whether what lies around it is as it was. */
static inline void fetch_output(struct output *out)
{
    must(lk_copy_from(out->host, out->device, out->bytes + 2 * AROUND));
    for (size_t i = 0; i < AROUND; i++) {
        assert_int_equal(out->host[i], POISON);
        assert_int_equal(out->host[AROUND + out->bytes + i], POISON);
    }
}

static inline double output_of(const struct output *out, int64_t i)
{
    return zoo_get(out->type, out->host + AROUND, (size_t)i);
}

static inline void free_output(struct output *out)
{
    free(out->host);
    must(lk_free(out->device));
}

#endif
