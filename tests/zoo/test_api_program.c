/*
 * test_api_program.c: the public calls inside a larger program: streams and contexts of its own,
 * threads, graphs, a context that is reset, a thousand launches; which variant is chosen and why;
 * and what the library shows.
 */
#include "api_tools.h"

#include <dlfcn.h>
#include <pthread.h>

enum { N = 5000 };

static float numbers[N], sum;
static float *in, *out;
static void *workspace;
static const size_t workspace_bytes = 1 << 20;

static int open_all(void **state)
{
    if (open_gpu(state) != 0 || lk_open(NULL) != LK_OK)
        return -1;
    for (int i = 0; i < N; i++)
        sum += numbers[i] = (float)(i % 100);
    in = on_device(numbers, sizeof numbers);
    out = on_device(NULL, sizeof numbers);
    workspace = on_device(NULL, workspace_bytes);
    return 0;
}

static void expect_sum(void)
{
    float value;
    must(lk_copy_from(&value, out, sizeof value));
    assert_true(value == sum);
}

/* A copy may return before it is done; streams that do not wait for others come next. */
static void clear_out(void)
{
    const float zero = 0;
    must(lk_copy_to(out, &zero, sizeof zero));
    must(lk_wait(NULL));
}

/* Streams and contexts of the program */

static void streams(void **state)
{
    CUstream stream;
    assert_int_equal(driver()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    clear_out();
    must(lk_reduce_sum_f32(stream, in, N, out, workspace, workspace_bytes));
    must(lk_wait(stream));
    expect_sum();
    assert_int_equal(driver()->cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    clear_out();
    if (is_simulated()) { /* NVIDIA's driver follows such a pointer */
        must_fail(lk_reduce_sum_f32(stream, in, N, out, workspace, workspace_bytes),
                  LK_BAD_ARGUMENT, "is not a stream");
        must_fail(lk_reduce_sum_f32((void *)0x1234560, in, N, out, workspace, workspace_bytes),
                  LK_BAD_ARGUMENT, "stream (0x1234560) is not a stream");
        float value;
        must(lk_copy_from(&value, out, sizeof value));
        assert_true(value == 0);
    }
    must(lk_reduce_sum_f32((void *)2, in, N, out, workspace, workspace_bytes)); /* per thread */
    must(lk_wait((void *)2));
    expect_sum();
}

/* What is freed and allocated anew, and a stream that is made anew, may have the old address. */
static void memory_and_streams_anew(void **state)
{
    for (int round = 0; round < 4; round++) {
        float *data = on_device(numbers, sizeof numbers), value;
        CUstream stream;
        assert_int_equal(driver()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        clear_out();
        must(lk_reduce_sum_f32(stream, data, N - round, out, workspace, workspace_bytes));
        must(lk_wait(stream));
        must(lk_copy_from(&value, out, sizeof value));
        float wanted = sum;
        for (int i = N - round; i < N; i++)
            wanted -= numbers[i];
        assert_true(value == wanted);
        assert_int_equal(driver()->cuStreamDestroy_v2(stream), CUDA_SUCCESS);
        if (round % 2)
            assert_int_equal(driver()->cuMemFree_v2((CUdeviceptr)(uintptr_t)data), CUDA_SUCCESS);
        else
            must(lk_free(data));
        if (round % 2 == 0 && is_simulated()) /* after lk_free it is asked again */
            must_fail(lk_reduce_sum_f32(NULL, data, N, out, workspace, workspace_bytes),
                      LK_BAD_ARGUMENT, "is not memory that the GPU can reach");
    }
}

/* In a context with memory of its own. */
static void sum_in_context(CUstream foreign)
{
    float *data = on_device(numbers, sizeof numbers), *result = on_device(NULL, sizeof *result);
    void *space = on_device(NULL, workspace_bytes);
    float value;
    must(lk_reduce_sum_f32(NULL, data, N, result, space, workspace_bytes));
    must(lk_copy_from(&value, result, sizeof value));
    assert_true(value == sum);
    must_fail(lk_reduce_sum_f32(foreign, data, N, result, space, workspace_bytes), LK_BAD_ARGUMENT,
              "belongs to another context");
    must(lk_free(data));
    must(lk_free(result));
    must(lk_free(space));
}

static void contexts(void **state)
{
    CUcontext first, second;
    CUstream stream;
    assert_int_equal(driver()->cuCtxGetCurrent(&first), CUDA_SUCCESS);
    assert_int_equal(driver()->cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    for (int round = 0; round < 3; round++) { /* a new context may get the old one's address */
        assert_int_equal(driver()->cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
        sum_in_context(stream);
        assert_int_equal(driver()->cuCtxDestroy_v2(second), CUDA_SUCCESS);
        assert_int_equal(driver()->cuCtxSetCurrent(first), CUDA_SUCCESS);
    }
    assert_int_equal(driver()->cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    must_fail(lk_reduce_sum_f32(NULL, in, N, out, workspace, workspace_bytes), LK_NO_GPU,
              "no context is current");
    must(lk_open(NULL));
    clear_out();
    must(lk_reduce_sum_f32(stream, in, N, out, workspace, workspace_bytes));
    must(lk_wait(stream));
    expect_sum();
}

/* The kernels of this call are not loaded before the recording begins. */
static void a_graph(void **state)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    must(lk_unload());
    clear_out();
    assert_int_equal(driver()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(driver()->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_SUCCESS);
    must(lk_reduce_sum_f32(stream, in, N, out, workspace, workspace_bytes));
    assert_int_equal(driver()->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver()->cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    float value;
    must(lk_copy_from(&value, out, sizeof value));
    assert_true(value == 0); /* recorded, not run */
    assert_int_equal(driver()->cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    must(lk_wait(stream));
    expect_sum();
}

static void launch_all_sizes(void)
{
    for (int i = 0; i < 1000; i++)
        must(lk_reduce_sum_f32(NULL, in, N - i, out, workspace, workspace_bytes));
    must(lk_wait(NULL));
}

/* The first of each size may load kernels, which take memory of a real GPU. */
static void a_thousand_launches(void **state)
{
    launch_all_sizes();
    size_t before = free_memory();
    launch_all_sizes();
    assert_true(free_memory() >= before);
    must(lk_unload());
    must(lk_reduce_sum_f32(NULL, in, N, out, workspace, workspace_bytes));
    expect_sum();
    assert_true(free_memory() >= before);
}

/* Threads */

static void *work(void *argument)
{
    float *mine, value = -1;
    void *space;
    bool fine = lk_open(NULL) == LK_OK && lk_malloc((void **)&mine, 4) == LK_OK &&
                lk_malloc(&space, workspace_bytes) == LK_OK;
    for (int i = 0; i < 40 && fine; i++) {
        int64_t n = 1 + (i * 37 + *(int *)argument) % N;
        float wanted = 0;
        for (int64_t k = 0; k < n; k++)
            wanted += numbers[k];
        fine = (i % 2 ? lk_reduce_sum_f32 : lk_scan_inclusive_f32)(
                   NULL, in, i % 2 ? n : 1, mine, space, workspace_bytes) == LK_OK &&
               lk_copy_from(&value, mine, sizeof value) == LK_OK &&
               value == (i % 2 ? wanted : numbers[0]);
        /* Errors are each thread's own. */
        fine = fine && lk_reduce_sum_f32(NULL, in, -1 - n, mine, NULL, 0) == LK_BAD_ARGUMENT;
        char words[64];
        snprintf(words, sizeof words, "n is %lld;", (long long)(-1 - n));
        fine = fine && strstr(lk_last_error(), words);
    }
    if (!fine)
        fprintf(stderr, "thread %d: %s\n", *(int *)argument, lk_last_error());
    lk_free(mine);
    lk_free(space);
    *(int *)argument = fine ? 0 : -1;
    return NULL;
}

static void threads(void **state)
{
    pthread_t thread[8];
    int number[8];
    must(lk_unload()); /* all of them find nothing loaded */
    for (int i = 0; i < 8; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &number[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(number[i], 0);
    }
}

/* Choosing */

static void explanations(void **state)
{
    char text[2048], small[10], name[64], words[128];
    must(lk_gpu_name(name, sizeof name));
    must(lk_reduce_explain("sum_f32", 1 << 20, text, sizeof text));
    snprintf(words, sizeof words, "lk_reduce_sum_f32(n=1048576) on %s: ", name);
    assert_non_null(strstr(text, words));
    assert_non_null(strstr(text, "reduction/"));
    assert_non_null(strstr(text, "why: "));
    must(lk_explain("lk_matmul_f32", (int64_t[]){64, 32, 16}, 3, text, sizeof text));
    assert_non_null(strstr(text, "lk_matmul_f32(m=64, n=32, k=16) on"));
    must(lk_explain("select_greater_f32", (int64_t[]){64}, 1, text, sizeof text));
    must(lk_reduce_explain("sum_f32", 1, small, sizeof small));
    assert_string_equal(small, "lk_reduce");
    must_fail(lk_reduce_explain("sum_f16", 1, text, sizeof text), LK_BAD_ARGUMENT,
              "there is no call 'reduce_sum_f16'; did you mean 'reduce_sum_bf16'?");
    must_fail(lk_reduce_explain(NULL, 1, text, sizeof text), LK_BAD_ARGUMENT, "there is no call");
    must_fail(lk_explain(NULL, NULL, 0, text, sizeof text), LK_BAD_ARGUMENT, "call is NULL");
    must_fail(lk_explain("matmul_f32", (int64_t[]){1}, 1, text, sizeof text), LK_BAD_ARGUMENT,
              "lk_matmul_f32 has 3 integer arguments");
    must_fail(lk_explain("matmul_f32", NULL, 3, text, sizeof text), LK_BAD_ARGUMENT, "has 3");
    must_fail(lk_reduce_explain("sum_f32", -1, text, sizeof text), LK_BAD_ARGUMENT, "n is -1");
    must_fail(lk_reduce_explain("sum_f32", 1, text, 0), LK_BAD_ARGUMENT, "no room");
    must_fail(lk_reduce_explain("sum_f32", 1, NULL, 9), LK_BAD_ARGUMENT, "text is NULL");
}

static void determinism(void **state)
{
    static const char *const calls[] = {"reduce_sum_f32", "scan_inclusive_f32"};
    char text[2048];
    lk_set_deterministic(1);
    for (size_t i = 0; i < 2; i++) {
        must(lk_explain(calls[i], (int64_t[]){1 << 20}, 1, text, sizeof text));
        assert_non_null(strstr(text, "the same bits in every run"));
    }
    lk_set_deterministic(0);
}

/* A reset of the context takes its modules and memory away. */
static void a_reset(void **state)
{
    must(lk_reduce_sum_f32(NULL, in, N, out, workspace, workspace_bytes));
    expect_sum();
    assert_int_equal(driver()->cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
    assert_int_equal(driver()->cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    must(lk_open(NULL));
    in = on_device(numbers, sizeof numbers);
    out = on_device(NULL, sizeof numbers);
    workspace = on_device(NULL, workspace_bytes);
    must(lk_reduce_sum_f32(NULL, in, N, out, workspace, workspace_bytes));
    expect_sum();
}

/* Every function of the header is there, and nothing else is. */
static void the_header_is_what_is_shown(void **state)
{
    FILE *file = fopen("include/lockstep.h", "r");
    assert_non_null(file);
    char line[256], name[128];
    unsigned count = 0;
    while (fgets(line, sizeof line, file)) {
        const char *at = strstr(line, " lk_"), *star = strstr(line, "*lk_");
        if (line[0] < 'a' || line[0] > 'z' || (!at && !star) ||
            sscanf(star ? star + 1 : at + 1, "%127[a-z0-9_](", name) != 1 || !strchr(line, '(') ||
            strncmp(line, "typedef", 7) == 0)
            continue;
        count++;
        if (!dlsym(RTLD_DEFAULT, name))
            fail_msg("%s is declared and not there", name);
    }
    fclose(file);
    assert_in_range(count, 40, 10000);
    assert_null(dlsym(RTLD_DEFAULT, "lk_buf_add"));
    assert_null(dlsym(RTLD_DEFAULT, "zoo_families"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams),
        cmocka_unit_test(memory_and_streams_anew),
        cmocka_unit_test(contexts),
        cmocka_unit_test(a_graph),
        cmocka_unit_test(a_thousand_launches),
        cmocka_unit_test(threads),
        cmocka_unit_test(explanations),
        cmocka_unit_test(determinism),
        cmocka_unit_test(the_header_is_what_is_shown),
        cmocka_unit_test(a_reset),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
