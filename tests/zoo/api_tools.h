/*
 * api_tools.h: for tests of the public calls: the GPU that they run on, device memory by size, the
 * driver that the library has loaded, what must hold of a status; numbers that are random in every
 * run, and matrices of them with gaps, which must stay as they were.
 */
#ifndef LOCKSTEP_TESTS_ZOO_API_TOOLS_H
#define LOCKSTEP_TESTS_ZOO_API_TOOLS_H

#include "lockstep.h"

#include "cuda/driver.h"
#include "zoo/types.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline void must(lk_status status)
{
    if (status != LK_OK)
        fail_msg("%s: %s", lk_status_text(status), lk_last_error());
}

/* Fails with this status and says these words. */
static inline void must_fail(lk_status got, lk_status wanted, const char *words)
{
    if (got != wanted || !strstr(lk_last_error(), words))
        fail_msg("status %d, wanted %d; '%s' does not say '%s'", (int)got, (int)wanted,
                 lk_last_error(), words);
}

static inline void *on_device(const void *data, size_t bytes)
{
    void *memory;
    must(lk_malloc(&memory, bytes ? bytes : 1));
    if (data)
        must(lk_copy_to(memory, data, bytes));
    return memory;
}

/* The driver that the library has loaded. */
static inline const struct lk_driver *driver(void)
{
    char *message;
    const struct lk_driver *loaded = lk_driver_open(NULL, NULL, &message);
    assert_non_null(loaded);
    return loaded;
}

static inline size_t free_memory(void)
{
    size_t left, all;
    assert_int_equal(driver()->cuMemGetInfo_v2(&left, &all), CUDA_SUCCESS);
    return left;
}

/* A simulated GPU, or the one that LOCKSTEP_TEST_GPU names: scripts/gpu-test says cuda:0. */
static inline const char *test_gpu(void)
{
    const char *gpu = getenv("LOCKSTEP_TEST_GPU");
    return gpu && *gpu ? gpu : "sim:h200";
}

/* Of random problems: with the sanitizers in the code a part is enough. */
static inline int test_rounds(int all)
{
    return getenv("LOCKSTEP_SANITIZED") ? (all + 5) / 6 : all;
}

static inline bool is_simulated(void)
{
    return strncmp(test_gpu(), "sim:", 4) == 0;
}

/* Then any address may be valid, and none is known to be wrong. */
static inline bool reaches_host_memory(void)
{
    CUdevice device;
    int value = 0;
    assert_int_equal(driver()->cuCtxGetDevice(&device), CUDA_SUCCESS);
    driver()->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device);
    return value;
}

/* No tables of the user's. */
static inline int open_gpu(void **state)
{
    static char folder[] = "/tmp/lockstep-test-XXXXXX";
    if (!mkdtemp(folder))
        return -1;
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("LOCKSTEP_GPU", test_gpu(), 1);
    return 0;
}

static inline int close_gpu(void **state)
{
    return rmdir(getenv("XDG_DATA_HOME"));
}

/* Random numbers: LOCKSTEP_TEST_SEED=N repeats a run. -------------------------------------------*/

struct chance {
    uint64_t seed, counter;
};
static inline struct chance *chance(void)
{
    static struct chance state;
    return &state;
}

static inline void seed_chance(void)
{
    const char *given = getenv("LOCKSTEP_TEST_SEED");
    chance()->seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("# LOCKSTEP_TEST_SEED=%llu\n", (unsigned long long)chance()->seed);
}

static inline int64_t any(int64_t below)
{
    uint64_t x = chance()->seed + ++chance()->counter * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((x ^ x >> 31) % (uint64_t)below);
}

/* Matrices --------------------------------------------------------------------------------------*/

static inline enum zoo_type zoo_type_of(lk_type type)
{
    static const enum zoo_type types[] = {
        [LK_BF16] = ZOO_BF16, [LK_F16] = ZOO_F16,   [LK_F32] = ZOO_F32,
        [LK_E4M3] = ZOO_E4M3, [LK_E5M2] = ZOO_E5M2, [LK_S8] = ZOO_S8};
    return types[type];
}

/* On the host and on the device; `count` elements with all gaps. */
struct matrix {
    enum zoo_type type;
    lk_order order;
    int64_t rows, columns, pitch, stride, batch;
    size_t count;
    void *host, *device;
};

static inline size_t place(const struct matrix *x, int64_t number, int64_t row, int64_t column)
{
    return (size_t)(number * x->stride +
                    (x->order == LK_ROWS ? row * x->pitch + column : column * x->pitch + row));
}

static inline double number_at(const struct matrix *x, int64_t matrix, int64_t row, int64_t column)
{
    return zoo_get(x->type, x->host, place(x, matrix, row, column));
}

/* Of small whole numbers, whose sums are exact. wide: rows at multiples of 16 bytes, as most
 * programs have them; same: one matrix for the whole batch. */
static inline struct matrix make_matrix(enum zoo_type type, lk_order order, int64_t rows,
                                        int64_t columns, int64_t batch, bool wide, bool same)
{
    int64_t along = order == LK_ROWS ? columns : rows, lines = order == LK_ROWS ? rows : columns;
    int64_t piece = wide ? 16 / (int64_t)zoo_type_bytes[type] : 1;
    struct matrix x = {
        .type = type, .order = order, .rows = rows, .columns = columns, .batch = batch};
    x.pitch = (along + piece - 1) / piece * piece + any(4) * piece;
    x.stride = same ? 0 : lines * x.pitch + any(3) * piece;
    x.count = (size_t)((batch - 1) * x.stride + lines * x.pitch + 16);
    x.host = malloc(x.count * zoo_type_bytes[type]);
    for (size_t i = 0; i < x.count; i++)
        zoo_put(type, x.host, i, (double)(any(5) - 2));
    x.device = on_device(x.host, x.count * zoo_type_bytes[type]);
    return x;
}

static inline void free_matrix(struct matrix *x)
{
    free(x->host);
    if (x->device)
        must(lk_free(x->device));
}

enum { POISON = 0x5a };
static inline void poison(struct matrix *x)
{
    memset(x->host, POISON, x->count * zoo_type_bytes[x->type]);
    must(lk_copy_to(x->device, x->host, x->count * zoo_type_bytes[x->type]));
}

/* Takes a poisoned matrix from the device, and looks whether its gaps are as they were. */
static inline void fetch_matrix(struct matrix *x)
{
    size_t each = zoo_type_bytes[x->type];
    bool *belongs = calloc(x->count, 1);
    must(lk_copy_from(x->host, x->device, x->count * each));
    for (int64_t matrix = 0; matrix < x->batch; matrix++)
        for (int64_t row = 0; row < x->rows; row++)
            for (int64_t column = 0; column < x->columns; column++)
                belongs[place(x, matrix, row, column)] = true;
    for (size_t i = 0; i < x->count; i++)
        for (size_t j = 0; !belongs[i] && j < each; j++)
            if (((unsigned char *)x->host)[i * each + j] != POISON)
                fail_msg("element %zu is not of the matrix, and was written", i);
    free(belongs);
}

/* A number of a fetched matrix against what it must be: exactly, if `relative` is 0, but for its
 * rounding to the matrix's type. */
static inline void must_be(const struct matrix *x, int64_t matrix, int64_t row, int64_t column,
                           double want, double relative)
{
    unsigned char bits[8];
    zoo_put(x->type, bits, 0, want);
    double rounded = zoo_get(x->type, bits, 0), is = number_at(x, matrix, row, column);
    double error = is > rounded ? is - rounded : rounded - is, size = want < 0 ? -want : want;
    bool agrees = is == rounded || error <= relative * size + (relative > 0 ? 1e-5 : 0);
    if (!agrees) /* infinities have no difference */
        fail_msg("[%lld][%lld][%lld] is %g, not %g", (long long)matrix, (long long)row,
                 (long long)column, is, rounded);
}

#endif
