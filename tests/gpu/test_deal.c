/*
 * test_deal.c: how blocks of different length are dealt out over an H200's SMs, and when the last
 * of them ends.
 */
#include "gpu/deal.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <string.h>

enum { RESIDENT = 16, WAVE = 132 * RESIDENT, LONG = 16000, SHORT = 1000 };

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 0.02 * expected)
        fail_msg("%.0f, not %.0f", value, expected);
}

/* Every so manieth block of one wave is long; busy: of its cycles it keeps its SM busy so long. */
static double every(unsigned period, double busy)
{
    static struct gpu_blocks blocks[WAVE];
    for (unsigned i = 0; i < WAVE; i++) {
        float alone = i % period ? SHORT : LONG;
        blocks[i] = (struct gpu_blocks){1, alone, alone * (float)busy};
    }
    return gpu_deal(gpu_find("h200"), RESIDENT, blocks, WAVE);
}

/* The table's GPCs are those by which clusters fit, as the driver of an H200 counts them. */
static void gpcs_are_those_of_clusters(void **state)
{
    const struct gpu_info *gpu = gpu_find("h200");
    unsigned first[GPU_GPCS + 1], count = gpu_gpcs(gpu, first);
    assert_int_equal(2 * first[count], gpu->sms);
    for (unsigned size = 4; size <= 16; size *= 2) {
        unsigned clusters = 0;
        for (unsigned i = 0; i < count; i++)
            clusters += 2 * (first[i + 1] - first[i]) / size;
        assert_int_equal(clusters, gpu_clusters(gpu, size, 1));
    }
}

static void every_gpu_has_all_its_sms(void **state)
{
    for (unsigned i = 0; i < gpu_info_count; i++) {
        unsigned first[GPU_GPCS + 1], count = gpu_gpcs(&gpu_infos[i], first);
        assert_in_range(count, 1, GPU_GPCS);
        assert_int_equal(first[count], (gpu_infos[i].sms + 1) / 2);
    }
}

/* One wave that keeps no unit busy takes as long as a block, once the last one has been dealt. Of
 * three, those that the launch's start has held up end together, and are dealt one by one again. */
static void equal_blocks(void **state)
{
    struct gpu_blocks wave = {WAVE, SHORT, 0}, three = {3 * WAVE, LONG, 0};
    double all = WAVE * GPU_BLOCK_CYCLES;
    assert_near(gpu_deal(gpu_find("h200"), RESIDENT, &wave, 1), all + SHORT);
    assert_near(gpu_deal(gpu_find("h200"), RESIDENT, &three, 1), GPU_START_CYCLES + all + 3 * LONG);
    wave.busy = SHORT; /* one after the other */
    assert_near(gpu_deal(gpu_find("h200"), RESIDENT, &wave, 1), GPU_START_CYCLES + 16 * SHORT);
    wave.count = 1;
    assert_near(gpu_deal(gpu_find("h200"), RESIDENT, &wave, 1), GPU_START_CYCLES + SHORT);
}

/* Pairs go to TPCs: with every second or fourth block long, some SMs have 16 long ones. */
static void periods_meet_in_sms(void **state)
{
    assert_near(every(2, 1), GPU_START_CYCLES + 16 * LONG);
    assert_near(every(4, 1), GPU_START_CYCLES + 16 * LONG);
    assert_true(every(16, 1) < GPU_START_CYCLES + 11 * LONG);
    assert_true(every(16, 1) > GPU_START_CYCLES + 7 * LONG);
    /* Where nothing is busy, long ones run beside each other. */
    assert_near(every(2, 0), GPU_START_CYCLES + LONG);
}

/* A block waits for the first room there is: a long one that comes last runs alone. */
static void the_last_block_is_long(void **state)
{
    struct gpu_blocks blocks[] = {{WAVE, SHORT, SHORT}, {1, LONG, LONG}};
    double waves = GPU_START_CYCLES + 16 * SHORT;
    assert_near(gpu_deal(gpu_find("h200"), RESIDENT, blocks, 2), waves + LONG);
}

static void short_blocks_fill_the_gaps(void **state)
{
    /* One SM has the long block, the others take the short ones meanwhile. */
    struct gpu_blocks blocks[] = {{1, LONG, 0}, {131 + 131 * 15, SHORT, 0}};
    assert_near(gpu_deal(gpu_find("h200"), 1, blocks, 2), GPU_START_CYCLES + LONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpcs_are_those_of_clusters),
        cmocka_unit_test(every_gpu_has_all_its_sms),
        cmocka_unit_test(equal_blocks),
        cmocka_unit_test(periods_meet_in_sms),
        cmocka_unit_test(the_last_block_is_long),
        cmocka_unit_test(short_blocks_fill_the_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
