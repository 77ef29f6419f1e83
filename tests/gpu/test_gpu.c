/*
 * test_gpu.c: the table of GPUs is consistent, names are found, occupancy is CUDA's.
 * The expected occupancies come from CUDA 13's cuda_occupancy.h, run on the same inputs.
 */
#include "gpu/gpu.h"
#include "gpu/whatif.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    const char *gpu;
    unsigned threads, registers;
    size_t shared;
    unsigned blocks;
    const char *limiter;
} occupancies[] = {
    {"t4", 256, 32, 0, 4, "warps"},
    {"t4", 1024, 64, 0, 1, "warps"},
    {"t4", 128, 40, 12288, 5, "shared memory"},
    {"t4", 96, 33, 65536, 1, "shared memory"},
    {"a10", 256, 64, 16384, 4, "registers"},
    {"a10", 1024, 32, 0, 1, "warps"},
    {"a10", 32, 16, 0, 16, "blocks"},
    {"a100", 256, 64, 16384, 4, "registers"},
    {"a100", 128, 255, 0, 2, "registers"},
    {"a100", 160, 96, 0, 4, "registers"},
    {"a100", 1024, 65, 0, 0, "registers"},
    {"a100", 64, 24, 166912, 1, "shared memory"},
    {"l4", 48, 20, 1000, 24, "warps"},
    {"rtx4090", 192, 80, 30000, 3, "shared memory"},
    {"h100", 384, 168, 0, 1, "registers"},
    {"h200", 128, 168, 231424, 1, "shared memory"},
    {"h200", 128, 168, 232448, 1, "shared memory"},
    {"h200", 128, 168, 232449, 0, "shared memory"},
    {"h200", 256, 0, 0, 8, "warps"},
    {"h200", 1025, 32, 0, 0, "warps"},
    {"b200", 512, 128, 100000, 1, "registers"},
};

static void occupancy_is_cudas(void **state)
{
    for (size_t i = 0; i < sizeof occupancies / sizeof occupancies[0]; i++) {
        const struct gpu_info *gpu = gpu_find(occupancies[i].gpu);
        assert_non_null(gpu);
        struct gpu_occupancy got = gpu_occupancy(gpu, occupancies[i].threads,
                                                 occupancies[i].registers, occupancies[i].shared);
        assert_int_equal(got.blocks_per_sm, occupancies[i].blocks);
        assert_string_equal(got.limiter, occupancies[i].limiter);
    }
}

static void occupancy_counts_warps(void **state)
{
    struct gpu_occupancy got = gpu_occupancy(gpu_find("a100"), 257, 32, 0);
    assert_int_equal(got.blocks_per_sm, 7); /* of 9 warps each */
    assert_int_equal(got.warps_per_sm, 63);
    assert_true(fabs(got.fraction - 63.0 / 64) < 1e-12);
    got = gpu_occupancy(gpu_find("a100"), 0, 32, 0);
    assert_int_equal(got.blocks_per_sm, 0);
    assert_int_equal(got.warps_per_sm, 0);
}

static void names_are_found(void **state)
{
    assert_string_equal(gpu_find("h200")->id, "h200");
    assert_string_equal(gpu_find("H200")->id, "h200");
    assert_string_equal(gpu_find("RTX 4090")->id, "rtx4090");
    assert_string_equal(gpu_find("NVIDIA H100 80GB HBM3")->id, "h100");
    assert_null(gpu_find(""));
    assert_null(gpu_find(NULL));
    assert_null(gpu_find("h201"));
    char longer[1000];
    memset(longer, 'h', sizeof longer);
    longer[sizeof longer - 1] = 0;
    assert_null(gpu_find(longer));
    assert_null(gpu_nearest(longer));
}

static void near_names_are_suggested(void **state)
{
    assert_string_equal(gpu_nearest("h20")->id, "h200");
    assert_string_equal(gpu_nearest("a1000")->id, "a100");
    assert_string_equal(gpu_nearest("4090")->id, "rtx4090");
    assert_string_equal(gpu_nearest("rtx3600")->id, "rtx3060");
    assert_null(gpu_nearest("xyzzy"));
    assert_null(gpu_nearest(""));
}

static bool near(double value, double expected, double part)
{
    return fabs(value - expected) <= part * expected;
}

/* What one fact says of another: a slip of the pen in the table shows here. */
static void table_is_consistent(void **state)
{
    for (unsigned i = 0; i < gpu_info_count; i++) {
        const struct gpu_info *gpu = &gpu_infos[i];
        assert_ptr_equal(gpu_find(gpu->id), gpu);
        assert_ptr_equal(gpu_find(gpu->name), gpu);
        assert_true(strlen(gpu->source) > 0);
        double bytes_per_second = 2e6 * gpu->memory_mhz * gpu->memory_bus_bits / 8;
        assert_true(near(gpu->memory_gb_s * 1e9, bytes_per_second, 0.03));
        double lanes = gpu->cc_major == 7 || (gpu->cc_major == 8 && gpu->cc_minor == 0) ? 64 : 128;
        assert_true(near(gpu->f32_tflops * 1e6, 2 * lanes * gpu->sms * gpu->boost_mhz, 0.02));
        assert_int_equal(gpu->threads_per_sm, 32 * gpu->warps_per_sm);
        assert_true(gpu->shared_per_block_optin + gpu->shared_reserved_per_block ==
                    gpu->shared_per_sm);
        assert_true(gpu->shared_per_sm < gpu->l1_bytes_per_sm);
        assert_true(gpu->memory_bytes > gpu->l2_bytes);
        assert_true(gpu->tensor_f16 > gpu->f16_tflops);
    }
}

/* Each kind has the value asked about once, values rise, and each row is the calculator's. */
static void what_ifs_include_now(void **state)
{
    static const size_t asked[][3] = {
        {256, 64, 16384}, {33, 1, 1}, {1024, 255, 0}, {2000, 300, 1 << 20}, {0, 0, 0}};
    for (unsigned g = 0; g < gpu_info_count; g++)
        for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
            struct gpu_whatif rows[GPU_WHATIFS];
            unsigned now[GPU_WHATIF_KINDS] = {0};
            unsigned count = gpu_whatifs(&gpu_infos[g], (unsigned)asked[i][0],
                                         (unsigned)asked[i][1], asked[i][2], rows);
            assert_in_range(count, 3, GPU_WHATIFS);
            for (unsigned k = 0; k < count; k++) {
                now[rows[k].kind] += rows[k].is_now;
                assert_true(!rows[k].is_now || rows[k].value == asked[i][rows[k].kind]);
                assert_true(k == 0 || rows[k].kind != rows[k - 1].kind ||
                            rows[k].value > rows[k - 1].value);
                size_t inputs[3] = {asked[i][0], asked[i][1], asked[i][2]};
                inputs[rows[k].kind] = rows[k].value;
                struct gpu_occupancy got = gpu_occupancy(&gpu_infos[g], (unsigned)inputs[0],
                                                         (unsigned)inputs[1], inputs[2]);
                assert_int_equal(rows[k].occupancy.blocks_per_sm, got.blocks_per_sm);
            }
            for (int kind = 0; kind < GPU_WHATIF_KINDS; kind++)
                assert_int_equal(now[kind], 1);
        }
}

/* As cudaOccupancyMaxActiveClusters answers on an H200, for blocks that take an SM each. */
static void clusters_at_a_time(void **state)
{
    const struct gpu_info *gpu = gpu_find("h200");
    assert_int_equal(gpu_clusters(gpu, 1, 1), 132);
    assert_int_equal(gpu_clusters(gpu, 2, 1), 66);
    assert_int_equal(gpu_clusters(gpu, 4, 1), 30);
    assert_int_equal(gpu_clusters(gpu, 8, 1), 15);
    assert_int_equal(gpu_clusters(gpu, 16, 1), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_at_a_time),       cmocka_unit_test(occupancy_is_cudas),
        cmocka_unit_test(occupancy_counts_warps),   cmocka_unit_test(names_are_found),
        cmocka_unit_test(near_names_are_suggested), cmocka_unit_test(table_is_consistent),
        cmocka_unit_test(what_ifs_include_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
