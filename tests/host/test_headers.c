/*
 * test_headers.c: headers of a CUDA toolkit are recognised wherever it lies, and a program's own
 * files are not taken for its, whatever their folders are called.
 */
#include "host/headers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char work[] = "/tmp/lockstep-headers-XXXXXX";

static int set_up(void **state)
{
    return mkdtemp(work) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", work);
    return system(command);
}

/* The path below the work folder, in static storage. */
static const char *below(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", work, name);
    return path;
}

/* An empty file, and the folders above it. */
static void add_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s", below(name));
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0777); /* most are there already */
        *slash = '/';
    }
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fclose(stream);
}

static void test_toolkit_anywhere(void **state)
{
    add_file("odd place/tools/include/cuda_runtime_api.h");
    add_file("odd place/tools/include/sm_30_intrinsics.hpp");
    add_file("odd place/tools/include/crt/device_functions.hpp");
    add_file("odd place/tools/bin/nvcc");
    add_file("packages/cccl/include/nv/target");
    add_file("packages/cccl/include/cub/block/block_scan.cuh");
    add_file("packages/curand/include/curand_kernel.h");
    assert_true(
        host_is_toolkit_header(below("odd place/tools/bin/..//include/sm_30_intrinsics.hpp")));
    assert_true(host_is_toolkit_header(below("odd place/tools/include/crt/device_functions.hpp")));
    assert_true(host_is_toolkit_header(below("packages/cccl/include/cub/block/block_scan.cuh")));
    assert_true(host_is_toolkit_header(below("packages/curand/include/curand_kernel.h")));
}

static void test_own_files(void **state)
{
    static const char *const own[] = {"nvidia/project/main.cu",
                                      "targets/x86_64-linux/include/main.cu",
                                      "cuda/include/kernel.cuh", "include/sum.cuh"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        add_file(own[i]);
        assert_false(host_is_toolkit_header(below(own[i])));
        assert_false(host_is_system_header(below(own[i])));
    }
    assert_false(host_is_toolkit_header("main.cu"));
    assert_false(host_is_system_header("/usr/src/app/main.cu"));
}

/* A program that was built on another machine names files that are not here. */
static void test_files_of_another_machine(void **state)
{
    assert_true(host_is_toolkit_header("/gone/cuda-12.6/targets/x86_64-linux/include/cuda_fp16.h"));
    assert_true(host_is_toolkit_header("/gone/cuda/include/crt/device_functions.hpp"));
    assert_true(host_is_toolkit_header("/gone/nvidia/cu13/include/cuda_runtime.h"));
    assert_false(host_is_toolkit_header("/gone/nvidia/main.cu"));
}

static void test_system(void **state)
{
    assert_true(host_is_system_header("/usr/include/stdio.h"));
    assert_true(host_is_system_header("/opt/gcc/include/c++/14/bits/stl_vector.h"));
    assert_true(host_is_system_header("/usr/lib/gcc/x86_64-linux-gnu/12/include/emmintrin.h"));
    assert_true(host_is_system_header("??"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toolkit_anywhere),
        cmocka_unit_test(test_own_files),
        cmocka_unit_test(test_files_of_another_machine),
        cmocka_unit_test(test_system),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
