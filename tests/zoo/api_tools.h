/*
 * api_tools.h: for tests of the public calls: the GPU that they run on, device memory by size, the
 * driver that the library has loaded, and what must hold of a status.
 */
#ifndef LOCKSTEP_TESTS_ZOO_API_TOOLS_H
#define LOCKSTEP_TESTS_ZOO_API_TOOLS_H

#include "lockstep.h"

#include "cuda/driver.h"

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

#endif
