/*
 * test_api.c: the public calls through liblockstep.so: results, and every kind of bad input, which
 * must give a clear message and change nothing.
 */
#include "api_tools.h"

#include <math.h>

enum { N = 3000 };

static float numbers[N], more[N];
static float *in, *out;
static void *workspace;
static size_t workspace_bytes;

/* Before anything is opened. */
static void without_a_context(void **state)
{
    size_t bytes = 7;
    float *pointer = (float *)0x1000;
    must_fail(lk_reduce_sum_f32(NULL, pointer, 4, pointer + 100, NULL, 0), LK_NO_GPU,
              "no context is current on this thread; call lk_open(NULL)");
    must_fail(lk_reduce_sum_f32_workspace(4, &bytes), LK_NO_GPU, "lk_open");
    assert_int_equal(bytes, 0);
    must_fail(lk_malloc((void **)&pointer, 4), LK_NO_GPU, "lk_malloc: no context");
    assert_null(pointer);
    must_fail(lk_wait(NULL), LK_NO_GPU, "lk_wait");
    must_fail(lk_open("sim:h20o"), LK_NO_GPU, "did you mean 'sim:h200'?");
    must_fail(lk_open("gpu"), LK_NO_GPU, "sim:NAME or cuda:N");
}

static void opened(void **state)
{
    char name[64], small[8], words[64];
    must(lk_open(NULL));
    must(lk_open(NULL)); /* what is current stays */
    must(lk_gpu_name(name, sizeof name));
    if (strcmp(test_gpu(), "sim:h200") == 0)
        assert_string_equal(name, "NVIDIA H200 (simulated)");
    assert_int_equal(strstr(name, " (simulated)") != NULL, is_simulated());
    must(lk_gpu_name(small, sizeof small));
    assert_memory_equal(small, name, 7);
    assert_int_equal(small[7], 0);
    must_fail(lk_gpu_name(NULL, 4), LK_BAD_ARGUMENT, "text is NULL");
    snprintf(words, sizeof words, "this process uses %s already", test_gpu());
    must_fail(lk_open("sim:rtx4090"), LK_NO_GPU, words);
    assert_string_equal(lk_version(), LK_VERSION);

    for (int i = 0; i < N; i++) {
        numbers[i] = (float)(i * 7919 % 1000) / 8 - 30;
        more[i] = (float)(i % 17);
    }
    in = on_device(numbers, sizeof numbers);
    out = on_device(numbers, sizeof numbers);
    workspace_bytes = 1 << 20;
    workspace = on_device(NULL, workspace_bytes);
}

static float read_out(void)
{
    float value;
    must(lk_copy_from(&value, out, sizeof value));
    return value;
}

static int64_t read_index(void)
{
    int64_t value;
    must(lk_copy_from(&value, out, sizeof value));
    return value;
}

static void reductions(void **state)
{
    const int64_t sizes[] = {0, 1, 2, 33, 257, N};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s], largest = -1;
        float sum = 0, low = INFINITY, high = -INFINITY; /* eighths: every sum is exact */
        for (int64_t i = 0; i < n; i++) {
            sum += numbers[i];
            low = fminf(low, numbers[i]);
            largest = numbers[i] > high ? i : largest;
            high = fmaxf(high, numbers[i]);
        }
        must(lk_reduce_sum_f32(NULL, in, n, out, workspace, workspace_bytes));
        assert_true(read_out() == sum);
        must(lk_reduce_min_f32(NULL, in, n, out, workspace, workspace_bytes));
        assert_true(read_out() == low);
        must(lk_reduce_max_f32(NULL, in, n, out, workspace, workspace_bytes));
        assert_true(read_out() == high);
        must(lk_reduce_argmax_f32(NULL, in, n, (int64_t *)out, workspace, workspace_bytes));
        assert_int_equal(read_index(), largest);
    }
}

/* Any address that an element may have is fine, also for kernels that load 16 bytes at a time. */
static void any_alignment(void **state)
{
    for (int shift = 0; shift < 5; shift++) {
        float sum = 0;
        for (int i = shift; i < 1000; i++)
            sum += numbers[i];
        must(lk_reduce_sum_f32(NULL, in + shift, 1000 - shift, out + shift,
                               (char *)workspace + shift, workspace_bytes - 5));
        float value;
        must(lk_copy_from(&value, out + shift, sizeof value));
        assert_true(value == sum);
    }
}

static void other_types(void **state)
{
    double wide[100], wide_out;
    int32_t whole[100], whole_out;
    lk_bf16 half[100];
    for (int i = 0; i < 100; i++) {
        wide[i] = 1.0 / (i + 1);
        whole[i] = i * i - 500;
        half[i] = (lk_bf16)(0x3f80 + (i == 40)); /* 1, and once the number after it */
    }
    double *d = on_device(wide, sizeof wide);
    int32_t *w = on_device(whole, sizeof whole);
    lk_bf16 *h = on_device(half, sizeof half);
    must(lk_reduce_min_f64(NULL, d, 100, (double *)out, workspace, workspace_bytes));
    must(lk_copy_from(&wide_out, out, sizeof wide_out));
    assert_true(wide_out == 0.01);
    must(lk_reduce_sum_i32(NULL, w, 100, (int32_t *)out, workspace, workspace_bytes));
    must(lk_copy_from(&whole_out, out, sizeof whole_out));
    assert_int_equal(whole_out, 328350 - 50000);
    must(lk_reduce_min_i32(NULL, w, 0, (int32_t *)out, workspace, workspace_bytes));
    must(lk_copy_from(&whole_out, out, sizeof whole_out));
    assert_int_equal(whole_out, INT32_MAX);
    must(lk_reduce_argmax_bf16(NULL, h, 100, (int64_t *)out, workspace, workspace_bytes));
    assert_int_equal(read_index(), 40);
    must(lk_reduce_sum_bf16(NULL, h, 100, out, workspace, workspace_bytes));
    assert_true(read_out() == 100 + 0x1p-7f);
    must(lk_free(d));
    must(lk_free(w));
    must(lk_free(h));
}

static void expect_numbers(const float *device, const float *wanted, size_t count)
{
    float *got = malloc(count * sizeof *got);
    must(lk_copy_from(got, device, count * sizeof *got));
    for (size_t i = 0; i < count; i++)
        if (got[i] != wanted[i])
            fail_msg("element %zu is %g, must be %g", i, (double)got[i], (double)wanted[i]);
    free(got);
}

static void elementwise(void **state)
{
    float *y = on_device(more, sizeof more), wanted[N];
    for (int i = 0; i < N; i++)
        wanted[i] = numbers[i] + more[i];
    must(lk_add_f32(NULL, in, y, N, out));
    expect_numbers(out, wanted, N);
    must(lk_add_f32(NULL, in, y, N, y)); /* in place */
    expect_numbers(y, wanted, N);
    for (int i = 0; i < N; i++)
        wanted[i] = -0.25f * numbers[i];
    must(lk_scale_f32(NULL, in, -0.25f, N, out));
    expect_numbers(out, wanted, N);
    must(lk_copy_to(y, more, sizeof more));
    for (int i = 0; i < N; i++)
        wanted[i] = 0.5f * numbers[i] + more[i];
    must(lk_saxpy_f32(NULL, 0.5f, in, N, y));
    expect_numbers(y, wanted, N);
    for (int i = 0; i < N; i++)
        wanted[i] = fmaxf(numbers[i], 0);
    must(lk_relu_f32(NULL, in, N, out));
    expect_numbers(out, wanted, N);
    must(lk_relu_f32(NULL, NULL, 0, NULL)); /* nothing to do */
    must_fail(lk_add_f32(NULL, in, in, N - 1, in + 1), LK_BAD_ARGUMENT, "overlap in part");
    must(lk_free(y));
}

static void transposes(void **state)
{
    float wanted[600];
    for (int row = 0; row < 20; row++)
        for (int col = 0; col < 30; col++)
            wanted[col * 20 + row] = numbers[row * 30 + col];
    must(lk_transpose_f32(NULL, in, 20, 30, out));
    expect_numbers(out, wanted, 600);
    must(lk_copy_to(out, numbers, 400 * sizeof *numbers));
    for (int row = 0; row < 20; row++)
        for (int col = 0; col < 20; col++)
            wanted[col * 20 + row] = numbers[row * 20 + col];
    must(lk_transpose_in_place_f32(NULL, out, 20, 20));
    expect_numbers(out, wanted, 400);
    must_fail(lk_transpose_in_place_f32(NULL, out, 20, 30), LK_UNSUPPORTED, "rows=20 cols=30");
    must_fail(lk_transpose_f32(NULL, in, 1 << 28, 1 << 28, out), LK_BAD_ARGUMENT,
              "no GPU has such a memory");
}

static void scans_and_selections(void **state)
{
    float wanted[N], sum = 0;
    int64_t kept = 0, total, *count = on_device(NULL, sizeof *count);
    for (int i = 0; i < N; i++)
        wanted[i] = sum += numbers[i];
    must(lk_scan_inclusive_f32(NULL, in, N, out, workspace, workspace_bytes));
    expect_numbers(out, wanted, N);
    memmove(wanted + 1, wanted, sizeof wanted - sizeof *wanted);
    wanted[0] = 0;
    must(lk_scan_exclusive_f32(NULL, in, N, out, workspace, workspace_bytes));
    expect_numbers(out, wanted, N);
    for (int i = 0; i < N; i++)
        if (numbers[i] > 11.5f)
            wanted[kept++] = numbers[i];
    must(lk_select_greater_f32(NULL, in, N, 11.5f, out, count, workspace, workspace_bytes));
    must(lk_copy_from(&total, count, sizeof total));
    assert_int_equal(total, kept);
    expect_numbers(out, wanted, (size_t)kept);
    must_fail(lk_scan_inclusive_f32(NULL, in, N, in, workspace, workspace_bytes), LK_BAD_ARGUMENT,
              "in and out overlap");
    must(lk_free(count));
}

static void histograms_and_products(void **state)
{
    uint8_t bytes[1000];
    uint32_t wanted[256] = {0}, counts[256];
    for (int i = 0; i < 1000; i++)
        wanted[bytes[i] = (uint8_t)(i * i)]++;
    uint8_t *data = on_device(bytes, sizeof bytes);
    uint32_t *device_counts = on_device(NULL, sizeof counts);
    must(lk_histogram_u8(NULL, data, 1000, 256, device_counts, workspace, workspace_bytes));
    must(lk_copy_from(counts, device_counts, sizeof counts));
    assert_memory_equal(counts, wanted, sizeof wanted);
    must_fail(lk_histogram_u8(NULL, data, 1000, 0, device_counts, workspace, workspace_bytes),
              LK_BAD_ARGUMENT, "bins is 0; it goes from 1");
    float product[6 * 5] = {0}; /* in as 6 x 7 and 7 x 5 */
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 7; k++)
                product[i * 5 + j] += numbers[i * 7 + k] * numbers[k * 5 + j];
    must(lk_matmul_f32(NULL, in, in, 6, 5, 7, out, workspace, workspace_bytes));
    expect_numbers(out, product, 30);
    must(lk_free(data));
    must(lk_free(device_counts));
}

static void rows_and_columns(void **state)
{
    float rows[20] = {0}, columns[30] = {0};
    for (int i = 0; i < 600; i++) {
        rows[i / 30] += numbers[i];
        columns[i % 30] += numbers[i];
    }
    must(lk_reduce_axis_sum_f32(NULL, in, 20, 30, 1, out, workspace, workspace_bytes));
    expect_numbers(out, rows, 20);
    must(lk_reduce_axis_sum_f32(NULL, in, 1, 20, 30, out, workspace, workspace_bytes));
    expect_numbers(out, columns, 30);
    must_fail(lk_reduce_axis_sum_f32(NULL, in, 1 << 30, 1 << 30, 1 << 30, out, workspace,
                                     workspace_bytes),
              LK_BAD_ARGUMENT, "no GPU has such a memory");
}

static void segments_and_distances(void **state)
{
    int32_t ends[5] = {0, 7, 7, 100, 1000};
    float sums[4] = {0}, distances[3 * 4] = {0};
    for (int s = 0; s < 4; s++)
        for (int i = ends[s]; i < ends[s + 1]; i++)
            sums[s] += numbers[i];
    int32_t *offsets = on_device(ends, sizeof ends);
    must(lk_reduce_segments_sum_f32(NULL, in, offsets, 1000, 4, out, workspace, workspace_bytes));
    expect_numbers(out, sums, 4);
    must_fail(lk_reduce_segments_sum_f32(NULL, in, NULL, 1000, 4, out, workspace, workspace_bytes),
              LK_BAD_ARGUMENT, "offsets is NULL; it must be device memory for 5 i32");
    for (int i = 0; i < 3; i++) /* x and y begin alike: [3][5] and [4][5] of the same numbers */
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 5; k++) {
                float difference = numbers[i * 5 + k] - numbers[j * 5 + k];
                distances[i * 4 + j] += difference * difference;
            }
    must(lk_pairwise_l2_f32(NULL, in, in, 3, 4, 5, out, workspace, workspace_bytes));
    float got[12];
    must(lk_copy_from(got, out, sizeof got));
    for (int i = 0; i < 12; i++) /* lengths up to 5 * 95^2 */
        assert_true(fabsf(got[i] - distances[i]) <= 0.05f);
    must(lk_free(offsets));
}

/* Row r has the columns r and r + 1, but for every third, which is empty. */
static void a_sparse_matrix(void **state)
{
    enum { ROWS = 100 };
    int32_t offsets[ROWS + 1] = {0}, columns[2 * ROWS], count = 0;
    float values[2 * ROWS], wanted[ROWS] = {0};
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < 2 && row % 3; k++) {
            columns[count] = row + k;
            values[count] = (float)(row % 5 + k);
            wanted[row] += values[count++] * numbers[row + k];
        }
        offsets[row + 1] = count;
    }
    int32_t *o = on_device(offsets, sizeof offsets), *c = on_device(columns, sizeof columns);
    float *v = on_device(values, sizeof values);
    must(
        lk_spmv_csr_f32(NULL, o, c, v, in, ROWS, ROWS + 1, count, out, workspace, workspace_bytes));
    expect_numbers(out, wanted, ROWS);
    memset(offsets, 0, sizeof offsets);
    memset(wanted, 0, sizeof wanted);
    must(lk_copy_to(o, offsets, sizeof offsets));
    must(lk_spmv_csr_f32(NULL, o, NULL, NULL, in, ROWS, ROWS + 1, 0, out, workspace,
                         workspace_bytes));
    expect_numbers(out, wanted, ROWS);
    must_fail(
        lk_spmv_csr_f32(NULL, o, NULL, v, in, ROWS, ROWS + 1, 5, out, workspace, workspace_bytes),
        LK_BAD_ARGUMENT, "columns is NULL; it must be device memory for 5 i32");
    must(lk_free(o));
    must(lk_free(c));
    must(lk_free(v));
}

/* Bad input -------------------------------------------------------------------------------------*/

static void bad_arguments(void **state)
{
    float poison[8], host[8] = {0};
    memset(poison, 0x5a, sizeof poison);
    must(lk_copy_to(out, poison, sizeof poison));
    const struct {
        const void *in;
        int64_t n;
        void *out;
        bool unreachable; /* wrong only where the GPU cannot reach it */
        const char *words;
    } rows[] = {
        {NULL, 10, out, false,
         "lk_reduce_sum_f32: in is NULL; it must be device memory for 10 f32"},
        {in, 10, NULL, false, "out is NULL; it must be device memory for 1 f32"},
        {(char *)in + 2, 10, out, false, "is not aligned to 4 bytes, as f32 must be"},
        {in, 10, (char *)out + 1, false, "out (0x"},
        {in, -1, out, false, "n is -1; it goes from 0 to 17179869184"},
        {in, INT64_MIN, out, false, "n is -9223372036854775808"},
        {in, INT64_MAX, out, false, "n is 9223372036854775807"},
        {in, (int64_t)1 << 33, out, true, "fewer than the 34359738368 bytes"},
        {(void *)-64, 1000, out, false, "over the end of all addresses"},
        {host, 8, out, true, "is not memory that the GPU can reach"},
        {in, 10, host, true, "out (0x"},
        {in, 10, in + 4, false, "in and out overlap; give them memory of their own"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!rows[i].unreachable || !reaches_host_memory())
            must_fail(lk_reduce_sum_f32(NULL, rows[i].in, rows[i].n, rows[i].out, workspace,
                                        workspace_bytes),
                      LK_BAD_ARGUMENT, rows[i].words);
    float after[8];
    must(lk_wait(NULL));
    must(lk_copy_from(after, out, sizeof after));
    assert_memory_equal(after, poison, sizeof poison);
    expect_numbers(in, numbers, N);
}

static void bad_workspaces(void **state)
{
    size_t bytes;
    must(lk_reduce_sum_f32_workspace(1000000, &bytes));
    assert_in_range(bytes, 0, workspace_bytes);
    must_fail(lk_reduce_sum_f32_workspace(1000000, NULL), LK_BAD_ARGUMENT, "bytes is NULL");
    must_fail(lk_reduce_sum_f32_workspace(-2, &bytes), LK_BAD_ARGUMENT, "n is -2");
    assert_int_equal(bytes, 0);
    must(lk_reduce_sum_f32_workspace(N, &bytes));
    if (bytes == 0)
        skip(); /* on this GPU the best variant needs none */
    must_fail(lk_reduce_sum_f32(NULL, in, N, out, workspace, bytes - 1), LK_SMALL_WORKSPACE,
              "lk_reduce_sum_f32_workspace says how many");
    must_fail(lk_reduce_sum_f32(NULL, in, N, out, NULL, 0), LK_SMALL_WORKSPACE,
              "workspace_bytes is 0");
    must_fail(lk_reduce_sum_f32(NULL, in, N, out, NULL, bytes), LK_BAD_ARGUMENT,
              "workspace is NULL");
    must_fail(lk_reduce_sum_f32(NULL, workspace, 64, out, workspace, workspace_bytes),
              LK_BAD_ARGUMENT, "workspace and in overlap");
    must_fail(lk_reduce_sum_f32(NULL, in, N, workspace, workspace, workspace_bytes),
              LK_BAD_ARGUMENT, "workspace and out overlap");
    if (!reaches_host_memory())
        must_fail(lk_reduce_sum_f32(NULL, in, N, out, &bytes, workspace_bytes), LK_BAD_ARGUMENT,
                  "workspace (0x");
    must(lk_reduce_sum_f32(NULL, in, N, out, workspace, bytes));
}

static void bad_copies(void **state)
{
    float value;
    must_fail(lk_malloc(NULL, 4), LK_BAD_ARGUMENT, "pointer is NULL");
    void *memory = &value;
    must_fail(lk_malloc(&memory, (size_t)1 << 60), LK_NO_MEMORY, "out of memory");
    assert_null(memory);
    must(lk_malloc(&memory, 0));
    assert_null(memory);
    must(lk_free(NULL));
    must_fail(lk_free(&value), LK_DRIVER_ERROR, "lk_free: freeing failed");
    must_fail(lk_copy_to(NULL, &value, 4), LK_BAD_ARGUMENT, "the device's pointer is NULL");
    must_fail(lk_copy_from(NULL, in, 4), LK_BAD_ARGUMENT, "the host's pointer is NULL");
    must(lk_copy_from(NULL, NULL, 0));
    assert_string_equal(lk_status_text(LK_OK), "fine");
    assert_string_equal(lk_status_text((lk_status)99), "no status of lockstep");
}

static void closed(void **state)
{
    must(lk_free(in));
    must(lk_free(out));
    must(lk_free(workspace));
    must(lk_unload());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_context),
        cmocka_unit_test(opened),
        cmocka_unit_test(reductions),
        cmocka_unit_test(any_alignment),
        cmocka_unit_test(other_types),
        cmocka_unit_test(elementwise),
        cmocka_unit_test(transposes),
        cmocka_unit_test(scans_and_selections),
        cmocka_unit_test(histograms_and_products),
        cmocka_unit_test(rows_and_columns),
        cmocka_unit_test(segments_and_distances),
        cmocka_unit_test(a_sparse_matrix),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(bad_workspaces),
        cmocka_unit_test(bad_copies),
        cmocka_unit_test(closed),
    };
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
