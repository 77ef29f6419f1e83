/*
 * test_overlap.c: what overlaps in modelled time: kernels of different streams where they fit side
 * by side on the SMs, copies of both directions, copies and kernels; and what a launch costs in a
 * graph. Kernels spin for a known number of cycles; a block with much shared memory has its SM for
 * itself.
 */
#include "driver/common.h"

enum { STREAMS = 4, WHOLE_SM = 160 << 10, BYTES = 4 << 20 };

static CUfunction spin;
static CUstream streams[STREAMS];
static CUevent forked, joined[STREAMS], begin, end;
static unsigned sms;
static double alone; /* what one spinning kernel takes, in microseconds */

static const char spin_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .shared .align 4 .b8 dynamic[];\n"
    ".visible .entry spin(.param .u64 cycles)\n{\n"
    " .reg .b64 %rd<5>; .reg .pred %p;\n"
    " ld.param.u64 %rd1, [cycles]; mov.u64 %rd2, %clock64;\n"
    "AGAIN: mov.u64 %rd3, %clock64; sub.u64 %rd4, %rd3, %rd2; setp.lt.u64 %p, %rd4, %rd1;\n"
    " @%p bra AGAIN;\n ret;\n}\n";

static void spins(CUstream stream, unsigned blocks, unsigned shared)
{
    uint64_t cycles = 1000000;
    void *params[] = {&cycles};
    OK(cu->cuLaunchKernel(spin, blocks, 1, 1, 128, 1, 1, shared, stream, params, NULL));
}

static void fork_streams(void)
{
    OK(cu->cuEventRecord(begin, streams[0]));
    OK(cu->cuEventRecord(forked, streams[0]));
    for (int i = 1; i < STREAMS; i++)
        OK(cu->cuStreamWaitEvent(streams[i], forked, 0));
}

/* Microseconds since fork_streams. */
static double join_streams(void)
{
    float ms;
    for (int i = 1; i < STREAMS; i++) {
        OK(cu->cuEventRecord(joined[i], streams[i]));
        OK(cu->cuStreamWaitEvent(streams[0], joined[i], 0));
    }
    OK(cu->cuEventRecord(end, streams[0]));
    OK(cu->cuEventSynchronize(end));
    OK(cu->cuEventElapsedTime_v2(&ms, begin, end));
    return ms * 1e3;
}

/* Kernels of that many blocks, each in a stream of its own. */
static double side_by_side(int kernels, unsigned blocks, unsigned shared)
{
    fork_streams();
    for (int i = 0; i < kernels; i++)
        spins(streams[i], blocks, shared);
    return join_streams();
}

#define ABOUT(wanted, got)                                                                         \
    do {                                                                                           \
        double w = (wanted), g = (got);                                                            \
        if (g < 0.97 * w || g > 1.03 * w + 10)                                                     \
            fail_msg("%s: wanted about %.1f us, got %.1f", #got, w, g);                            \
    } while (0)

static void halves_fit_in_pairs(void **state)
{
    unsigned half = sms / 2;
    ABOUT(alone, side_by_side(1, half, WHOLE_SM));
    ABOUT(alone, side_by_side(2, half, WHOLE_SM));
    ABOUT(2 * alone, side_by_side(3, half, WHOLE_SM));
    ABOUT(2 * alone, side_by_side(4, half, WHOLE_SM));
}

static void a_full_gpu_keeps_others_waiting(void **state)
{
    ABOUT(2 * alone, side_by_side(2, sms, WHOLE_SM));
    ABOUT(3 * alone, side_by_side(3, sms, WHOLE_SM));
}

/* Blocks of 128 threads: an SM holds 16 of them. */
static void small_blocks_share_an_sm(void **state)
{
    ABOUT(alone, side_by_side(3, sms / 2, 0));
    ABOUT(alone, side_by_side(4, sms, 0));
}

/* The later one has the SMs that are left, then all that it wants. Both are ready at once, so
 * either may be first. */
static void the_next_takes_what_is_left(void **state)
{
    unsigned first = sms * 3 / 4, second = sms / 2;
    double longer = alone * (2 - (double)(sms - first) / second);
    double shorter = alone * (2 - (double)(sms - second) / first);
    fork_streams();
    spins(streams[0], first, WHOLE_SM);
    spins(streams[1], second, WHOLE_SM);
    double both = join_streams();
    ABOUT(both > (longer + shorter) / 2 ? longer : shorter, both);
}

static void one_stream_is_serial(void **state)
{
    fork_streams();
    spins(streams[1], 1, 0);
    spins(streams[1], 1, 0);
    ABOUT(2 * alone, join_streams());
}

static void copies_overlap(void **state)
{
    CUdeviceptr device[2];
    void *host[2];
    for (int i = 0; i < 2; i++) {
        OK(cu->cuMemAlloc_v2(&device[i], BYTES));
        OK(cu->cuMemHostAlloc(&host[i], BYTES, 0));
        memset(host[i], 0, BYTES);
    }
    OK(cu->cuMemsetD8_v2(device[0], 0, BYTES));
    OK(cu->cuCtxSynchronize());
    fork_streams();
    OK(cu->cuMemcpyHtoDAsync_v2(device[0], host[0], BYTES, streams[0]));
    double one = join_streams();
    fork_streams();
    OK(cu->cuMemcpyHtoDAsync_v2(device[0], host[0], BYTES, streams[0]));
    OK(cu->cuMemcpyHtoDAsync_v2(device[1], host[1], BYTES, streams[1]));
    ABOUT(2 * one, join_streams());
    fork_streams();
    OK(cu->cuMemcpyHtoDAsync_v2(device[1], host[0], BYTES, streams[0]));
    OK(cu->cuMemcpyDtoHAsync_v2(host[1], device[0], BYTES, streams[1]));
    spins(streams[2], sms, WHOLE_SM);
    ABOUT(alone > one ? alone : one, join_streams());
    for (int i = 0; i < 2; i++) {
        OK(cu->cuMemFree_v2(device[i]));
        OK(cu->cuMemFreeHost(host[i]));
    }
}

/* A graph's kernels follow each other faster than those of a stream, by host and by GPU. */
static void graphs_launch_faster(void **state)
{
    enum { KERNELS = 20 };
    CUfunction empty;
    CUgraph graph;
    CUgraphExec exec;
    OK(cu->cuModuleGetFunction(&empty, module, "bounded"));
    fork_streams();
    for (int i = 0; i < KERNELS; i++)
        OK(cu->cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, streams[0], NULL, NULL));
    double single = join_streams();
    OK(cu->cuStreamBeginCapture_v2(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < KERNELS; i++)
        OK(cu->cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, streams[0], NULL, NULL));
    OK(cu->cuStreamEndCapture(streams[0], &graph));
    OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    fork_streams();
    OK(cu->cuGraphLaunch(exec, streams[0]));
    double together = join_streams();
    if (together > 0.8 * single)
        fail_msg("a graph of %d kernels takes %.1f us, a stream %.1f", KERNELS, together, single);
    OK(cu->cuGraphExecDestroy(exec));
    OK(cu->cuGraphDestroy(graph));
}

static int prepare(void **state)
{
    CUmodule loaded;
    int count;
    if (start(state))
        return 1;
    OK(cu->cuModuleLoadData(&loaded, spin_ptx));
    OK(cu->cuModuleGetFunction(&spin, loaded, "spin"));
    OK(cu->cuFuncSetAttribute(spin, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, WHOLE_SM));
    OK(cu->cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    sms = (unsigned)count;
    OK(cu->cuEventCreate(&begin, 0));
    OK(cu->cuEventCreate(&end, 0));
    OK(cu->cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < STREAMS; i++) {
        OK(cu->cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        OK(cu->cuEventCreate(&joined[i], CU_EVENT_DISABLE_TIMING));
    }
    side_by_side(1, 1, 0); /* everything is loaded */
    alone = side_by_side(1, 1, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_fit_in_pairs),
        cmocka_unit_test(a_full_gpu_keeps_others_waiting),
        cmocka_unit_test(small_blocks_share_an_sm),
        cmocka_unit_test(the_next_takes_what_is_left),
        cmocka_unit_test(one_stream_is_serial),
        cmocka_unit_test(copies_overlap),
        cmocka_unit_test(graphs_launch_faster),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
