/*
 * test_stats.c: medians, quartiles, how sure a median is, and when two of them differ. Samples are
 * made up; nothing here is timed.
 */
#include "bench/stats.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <stdlib.h>

static void no_samples(void **state)
{
    struct bench_summary summary = bench_summarise(NULL, 0);
    assert_int_equal(summary.count, 0);
    assert_true(summary.median == 0 && summary.low == 0 && summary.high == 0);
    assert_true(isinf(bench_uncertainty(&summary)));
}

static void one_sample(void **state)
{
    double sample = 3;
    struct bench_summary summary = bench_summarise(&sample, 1);
    assert_true(summary.median == 3 && summary.q1 == 3 && summary.q3 == 3);
    assert_true(summary.low == 3 && summary.high == 3);
    assert_true(isinf(bench_uncertainty(&summary)));
}

static void quartiles(void **state)
{
    double samples[] = {5, 1, 4, 2, 3};
    struct bench_summary summary = bench_summarise(samples, 5);
    assert_true(summary.median == 3 && summary.q1 == 2 && summary.q3 == 4);
    assert_true(samples[0] == 5); /* they stay in their order */
    double even[] = {1, 2, 3, 4};
    summary = bench_summarise(even, 4);
    assert_true(summary.median == 2.5 && summary.q1 == 1.75 && summary.q3 == 3.25);
}

/* Of 100 samples the ranks 40 and 61 enclose the median with 95 %. */
static void interval_of_a_hundred(void **state)
{
    double samples[100];
    for (int i = 0; i < 100; i++)
        samples[99 - i] = i + 1;
    struct bench_summary summary = bench_summarise(samples, 100);
    assert_true(summary.median == 50.5);
    assert_true(summary.low == 40 && summary.high == 61);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* The true median lies in the interval in about 95 % of the cases, for a skewed distribution too.
 */
static void interval_covers(void **state)
{
    uint64_t seed = 7;
    for (size_t count = 10; count <= 160; count *= 2) {
        int covered = 0, trials = 2000;
        for (int trial = 0; trial < trials; trial++) {
            double samples[160];
            for (size_t i = 0; i < count; i++) {
                double uniform = ((double)next_random(&seed) + 0.5) / 2147483648.0;
                samples[i] = 1 - log(uniform); /* a floor and a tail; median 1 + ln 2 */
            }
            struct bench_summary summary = bench_summarise(samples, count);
            covered += summary.low <= 1 + log(2) && summary.high >= 1 + log(2);
        }
        assert_in_range(covered, trials * 94 / 100, trials);
    }
}

static void outliers_do_not_matter(void **state)
{
    double samples[21];
    for (int i = 0; i < 21; i++)
        samples[i] = 10;
    samples[3] = 1e9;
    samples[9] = 1e9;
    struct bench_summary summary = bench_summarise(samples, 21);
    assert_true(summary.median == 10 && summary.low == 10 && summary.high == 10);
    assert_true(bench_uncertainty(&summary) == 0);
}

static struct bench_summary around(double median, double half)
{
    return (struct bench_summary){.count = 50,
                                  .median = median,
                                  .q1 = median,
                                  .q3 = median,
                                  .low = median * (1 - half),
                                  .high = median * (1 + half)};
}

static enum bench_verdict compare(double before, double before_half, double after,
                                  double after_half)
{
    struct bench_summary a = around(before, before_half), b = around(after, after_half);
    return bench_compare(&a, &b, 0.01);
}

static void verdicts(void **state)
{
    assert_int_equal(compare(100, 0.002, 100, 0.002), BENCH_SAME);
    assert_int_equal(compare(100, 0.002, 100.8, 0.002), BENCH_SAME); /* real, but below 1 % */
    assert_int_equal(compare(100, 0.002, 102, 0.002), BENCH_WORSE);
    assert_int_equal(compare(100, 0.002, 98, 0.002), BENCH_BETTER);
    assert_int_equal(compare(100, 0.03, 102, 0.03), BENCH_AMBIGUOUS); /* intervals overlap */
    assert_int_equal(compare(100, 0.05, 100, 0.05), BENCH_AMBIGUOUS); /* nothing is known */
    assert_int_equal(compare(100, 0.05, 200, 0.05), BENCH_WORSE);
    assert_int_equal(compare(100, 0, 100, 0), BENCH_SAME); /* modelled times */
    assert_int_equal(compare(100, 0, 101.5, 0), BENCH_WORSE);
}

/* What is better in one direction is worse in the other. */
static void verdicts_are_symmetric(void **state)
{
    uint64_t seed = 3;
    for (int i = 0; i < 5000; i++) {
        double a = 50 + (double)(next_random(&seed) % 100),
               b = a * (0.9 + 0.2 * (double)(next_random(&seed) % 1000) / 1000);
        double half = (double)(next_random(&seed) % 40) / 1000;
        enum bench_verdict there = compare(a, half, b, half), back = compare(b, half, a, half);
        if (there == BENCH_WORSE && b / a > 1.0102)
            assert_int_equal(back, BENCH_BETTER);
        if (back == BENCH_WORSE)
            assert_int_not_equal(there, BENCH_WORSE);
    }
}

static void without_samples_nothing_is_said(void **state)
{
    struct bench_summary none = {0}, some = around(10, 0.001);
    assert_int_equal(bench_compare(&none, &some, 0.01), BENCH_AMBIGUOUS);
    assert_int_equal(bench_compare(&some, &none, 0.01), BENCH_AMBIGUOUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_samples),
        cmocka_unit_test(one_sample),
        cmocka_unit_test(quartiles),
        cmocka_unit_test(interval_of_a_hundred),
        cmocka_unit_test(interval_covers),
        cmocka_unit_test(outliers_do_not_matter),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(verdicts_are_symmetric),
        cmocka_unit_test(without_samples_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
