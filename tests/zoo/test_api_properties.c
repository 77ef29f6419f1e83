/*
 * test_api_properties.c: properties of the calls' results that hold for all data: random sizes,
 * seeds and alignments. The numbers are small whole ones, so that sums are exact in any order and
 * nothing hides behind a tolerance. LOCKSTEP_TEST_SEED=N repeats a run; each prints its seed.
 */
#include "api_tools.h"

enum { ROUNDS = 30, MOST = 40000, ROOM = MOST + 16 };

/* All magnitudes alike. */
static int64_t any_size(int64_t most)
{
    int64_t n = any((int64_t)2 << any(16));
    return n < most ? n : most;
}

/* Buffers that all tests use; each use begins at another element of them. */
static float *host[3], *device[3];
static void *workspace;
static const size_t workspace_bytes = 4 << 20;

static int open_all(void **state)
{
    seed_chance();
    if (open_gpu(state) != 0 || lk_open(NULL) != LK_OK)
        return -1;
    for (int i = 0; i < 3; i++) {
        host[i] = malloc(ROOM * sizeof(float));
        device[i] = on_device(NULL, ROOM * sizeof(float));
    }
    workspace = on_device(NULL, workspace_bytes);
    return 0;
}

static int close_all(void **state)
{
    for (int i = 0; i < 3; i++) {
        free(host[i]);
        must(lk_free(device[i]));
    }
    must(lk_free(workspace));
    return close_gpu(state);
}

/* -8 .. 8 */
static void fill(float *data, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)any(17) - 8;
}

static void shuffle(float *data, int64_t n)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t other = any(i + 1);
        float x = data[i];
        data[i] = data[other];
        data[other] = x;
    }
}

/* The data on the device, from an element that 16-byte loads do not like. */
static float *put(int buffer, int64_t n)
{
    float *at = device[buffer] + any(8);
    must(lk_copy_to(at, host[buffer], (size_t)n * sizeof(float)));
    return at;
}

static void get(int buffer, const float *from, int64_t n)
{
    must(lk_copy_from(host[buffer], from, (size_t)n * sizeof(float)));
}

static float sum_of(const float *data, int64_t n)
{
    float result;
    must(lk_reduce_sum_f32(NULL, data, n, device[2], workspace, workspace_bytes));
    must(lk_copy_from(&result, device[2], sizeof result));
    return result;
}

static float max_of(const float *data, int64_t n)
{
    float result;
    must(lk_reduce_max_f32(NULL, data, n, device[2], workspace, workspace_bytes));
    must(lk_copy_from(&result, device[2], sizeof result));
    return result;
}

static int64_t argmax_of(const float *data, int64_t n)
{
    int64_t result;
    must(lk_reduce_argmax_f32(NULL, data, n, (int64_t *)device[2], workspace, workspace_bytes));
    must(lk_copy_from(&result, device[2], sizeof result));
    return result;
}

/* The order of the numbers does not matter. */
static void reduction_of_a_permutation(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t n = any_size(MOST);
        fill(host[0], n);
        float *data = put(0, n);
        float sum = sum_of(data, n), max = max_of(data, n);
        shuffle(host[0], n);
        data = put(0, n);
        assert_true(sum_of(data, n) == sum);
        assert_true(max_of(data, n) == max);
        int64_t place = argmax_of(data, n);
        assert_true(n == 0 ? place == -1 : host[0][place] == max);
        for (int64_t i = 0; i < place; i++)
            assert_true(host[0][i] < max);
    }
}

/* The sum of a x + y is a times that of x and that of y; of two parts it is the sum of theirs. */
static void reduction_is_linear(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t n = any_size(MOST), part = any(n + 1);
        float scalar = (float)any(9) - 4;
        fill(host[0], n);
        fill(host[1], n);
        float *x = put(0, n), *y = put(1, n);
        float of_x = sum_of(x, n), of_y = sum_of(y, n);
        assert_true(sum_of(x, part) + sum_of(x + part, n - part) == of_x);
        must(lk_saxpy_f32(NULL, scalar, x, n, y));
        assert_true(sum_of(y, n) == scalar * of_x + of_y);
        must(lk_scale_f32(NULL, x, scalar, n, x));
        assert_true(sum_of(x, n) == scalar * of_x);
    }
}

static void scan_of_ones(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t n = any_size(MOST);
        for (int64_t i = 0; i < n; i++)
            host[0][i] = 1;
        float *data = put(0, n), *result = device[1] + any(8);
        must(lk_scan_inclusive_f32(NULL, data, n, result, workspace, workspace_bytes));
        get(1, result, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(host[1][i] == (float)(i + 1));
    }
}

/* Differences of a scan are its input, its last is the sum, and exclusive lags by one. */
static void scan_and_reduction_agree(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t n = 1 + any_size(MOST - 1);
        fill(host[0], n);
        float *data = put(0, n), *result = device[1] + any(8);
        must(lk_scan_inclusive_f32(NULL, data, n, result, workspace, workspace_bytes));
        get(1, result, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(host[1][i] - (i ? host[1][i - 1] : 0) == host[0][i]);
        assert_true(sum_of(data, n) == host[1][n - 1]);
        must(lk_scan_exclusive_f32(NULL, data, n, result, workspace, workspace_bytes));
        get(2, result, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(host[2][i] == (i ? host[1][i - 1] : 0));
    }
}

/* What is selected is greater, in order, and nothing greater is missing. */
static void selection_is_exact(void **state)
{
    int64_t *count = on_device(NULL, sizeof *count), total;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t n = any_size(MOST), next = 0;
        float threshold = (float)any(19) - 9.5f;
        fill(host[0], n);
        float *data = put(0, n), *result = device[1] + any(8);
        must(lk_select_greater_f32(NULL, data, n, threshold, result, count, workspace,
                                   workspace_bytes));
        must(lk_copy_from(&total, count, sizeof total));
        get(1, result, total);
        for (int64_t i = 0; i < n; i++)
            if (host[0][i] > threshold)
                assert_true(next < total && host[1][next++] == host[0][i]);
        assert_int_equal(next, total);
    }
    must(lk_free(count));
}

/* Counts add up, and those of a permutation are the same. */
static void histogram_of_a_permutation(void **state)
{
    enum { BINS = 64 };
    uint32_t *counts = on_device(NULL, BINS * sizeof *counts), before[BINS], after[BINS];
    for (int round = 0; round < ROUNDS; round++) {
        int64_t n = any_size(MOST), all = 0;
        for (int64_t i = 0; i < n; i++)
            host[0][i] = (float)any(1000) / 1000;
        must(lk_histogram_f32(NULL, put(0, n), n, BINS, counts, workspace, workspace_bytes));
        must(lk_copy_from(before, counts, sizeof before));
        shuffle(host[0], n);
        must(lk_histogram_f32(NULL, put(0, n), n, BINS, counts, workspace, workspace_bytes));
        must(lk_copy_from(after, counts, sizeof after));
        assert_memory_equal(before, after, sizeof before);
        for (int i = 0; i < BINS; i++)
            all += after[i];
        assert_int_equal(all, n);
    }
    must(lk_free(counts));
}

static void transposed_twice(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t rows = any_size(MOST), cols = MOST / (rows + 1);
        cols = cols < 2 ? cols : 1 + any(cols);
        fill(host[0], rows * cols);
        float *data = put(0, rows * cols), *result = device[1] + any(8);
        must(lk_transpose_f32(NULL, data, rows, cols, result));
        must(lk_transpose_f32(NULL, result, cols, rows, device[2]));
        get(1, device[2], rows * cols);
        assert_memory_equal(host[0], host[1], (size_t)(rows * cols) * sizeof(float));
    }
}

/* (A B) transposed is B transposed times A transposed. */
static void products_and_transposes(void **state)
{
    float *turned[3];
    for (int i = 0; i < 3; i++)
        turned[i] = on_device(NULL, ROOM * sizeof(float));
    for (int round = 0; round < ROUNDS; round++) {
        int64_t m = 1 + any_size(90), n = 1 + any_size(90), k = 1 + any_size(90);
        fill(host[0], m * k);
        fill(host[1], k * n);
        float *a = put(0, m * k), *b = put(1, k * n), *c = device[2];
        must(lk_matmul_f32(NULL, a, b, m, n, k, c, workspace, workspace_bytes));
        must(lk_transpose_f32(NULL, c, m, n, turned[2]));
        get(2, turned[2], m * n);
        must(lk_transpose_f32(NULL, a, m, k, turned[0]));
        must(lk_transpose_f32(NULL, b, k, n, turned[1]));
        must(lk_matmul_f32(NULL, turned[1], turned[0], n, m, k, c, workspace, workspace_bytes));
        get(0, c, m * n);
        assert_memory_equal(host[0], host[2], (size_t)(m * n) * sizeof(float));
    }
    for (int i = 0; i < 3; i++)
        must(lk_free(turned[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduction_of_a_permutation),
        cmocka_unit_test(reduction_is_linear),
        cmocka_unit_test(scan_of_ones),
        cmocka_unit_test(scan_and_reduction_agree),
        cmocka_unit_test(selection_is_exact),
        cmocka_unit_test(histogram_of_a_permutation),
        cmocka_unit_test(transposed_twice),
        cmocka_unit_test(products_and_transposes),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
