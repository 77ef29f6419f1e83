// The driver API by hand: cuInit, a context, a module from PTX text, functions and globals by name,
// launches with kernelParams and with extra, events and streams, occupancy, function attributes,
// errors with their names, JIT options with a log, a broken PTX text.
// flags: -lcuda

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>

static const char *ptx_text = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .global .align 4 .u32 calls = 5;
.const .align 4 .b8 weights[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0};

.visible .entry scale(
    .param .u64 data,
    .param .u32 n,
    .param .f32 factor
)
.maxntid 256, 1, 1
{
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [factor];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.rn.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra DONE;
    atom.global.add.u32 %r6, [calls], 1;
DONE:
    ret;
}

.visible .entry weigh(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    .shared .align 4 .b8 tile[128];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    mul.wide.u32 %rd2, %r2, 4;
    mov.u64 %rd3, weights;
    add.s64 %rd3, %rd3, %rd2;
    ld.const.u32 %r3, [%rd3];
    mul.lo.u32 %r3, %r3, %r1;
    mul.wide.u32 %rd4, %r1, 4;
    mov.u64 %rd5, tile;
    add.s64 %rd5, %rd5, %rd4;
    st.shared.u32 [%rd5], %r3;
    bar.sync 0;
    ld.shared.u32 %r3, [%rd5];
    add.s64 %rd4, %rd1, %rd4;
    st.global.u32 [%rd4], %r3;
    ret;
}
)";

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            const char *name_ = "?";                                                               \
            cuGetErrorName(result_, &name_);                                                       \
            printf("line %d: %s\n", __LINE__, name_);                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void show(const char *what, CUresult result)
{
    const char *name = "unknown", *text = "unknown";
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &text);
    printf("%s: %d %s: %s\n", what, (int)result, name, text);
}

static CUmodule module;
static CUfunction scale, weigh;
static CUdeviceptr calls, data;
static CUstream stream;
static char log_text[4096], info_text[4096];
static CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                 CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
static void *values[] = {log_text, (void *)(size_t)sizeof log_text, info_text,
                         (void *)(size_t)sizeof info_text};

static void load_module()
{
    CHECK(cuModuleLoadDataEx(&module, ptx_text, 4, options, values));
    printf("error log is empty: %s\n", log_text[0] ? "no" : "yes");
    CUfunction missing;
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    CHECK(cuModuleGetFunction(&weigh, module, "weigh"));
    show("missing function", cuModuleGetFunction(&missing, module, "no_such_kernel"));
    CUdeviceptr nothing;
    size_t size;
    CHECK(cuModuleGetGlobal(&calls, &size, module, "calls"));
    printf("global of %zu bytes\n", size);
    show("missing global", cuModuleGetGlobal(&nothing, &size, module, "no_such_global"));
}

static void run_scale()
{
    const int n = 1000;
    float host[n];
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    CHECK(cuMemAlloc(&data, sizeof host));
    CHECK(cuMemcpyHtoD(data, host, sizeof host));
    unsigned length = n;
    float factor = 1.5f;
    void *arguments[] = {&data, &length, &factor};
    CUevent start, stop;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(start, stream));
    CHECK(cuLaunchKernel(scale, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
    CHECK(cuEventRecord(stop, stream));
    CHECK(cuStreamSynchronize(stream));
    float ms = -1;
    CHECK(cuEventElapsedTime(&ms, start, stop));

    // The same through a packed buffer.
    struct {
        CUdeviceptr data;
        unsigned n;
        float factor;
    } packed = {data, 500, 2.0f};
    size_t packed_size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &packed_size, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(scale, 4, 1, 1, 128, 1, 1, 0, stream, nullptr, extra));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(host, data, sizeof host));
    int calls_now;
    CHECK(cuMemcpyDtoH(&calls_now, calls, 4));
    printf("scaled: %g %g %g %g, calls %d, elapsed positive %s\n", host[1], host[499], host[500],
           host[999], calls_now, ms >= 0 ? "yes" : "no");
    CHECK(cuEventDestroy(start));
    CHECK(cuEventDestroy(stop));
}

static void run_weigh()
{
    CHECK(cuMemsetD32(data, 0, 32));
    void *weigh_arguments[] = {&data};
    CHECK(cuLaunchKernel(weigh, 1, 1, 1, 32, 1, 1, 0, 0, weigh_arguments, nullptr));
    int weighed[32];
    CHECK(cuMemcpyDtoH(weighed, data, sizeof weighed));
    printf("weighed: %d %d %d %d\n", weighed[1], weighed[2], weighed[30], weighed[31]);
}

static void attributes_and_limits()
{
    int attribute;
    CHECK(cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
    printf("max threads of scale %d", attribute);
    CHECK(cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, weigh));
    printf(", shared of weigh %d", attribute);
    CHECK(cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_PTX_VERSION, weigh));
    printf(", ptx version %d\n", attribute);
    unsigned length = 1000;
    float factor = 1.5f;
    void *arguments[] = {&data, &length, &factor};
    show("too many threads",
         cuLaunchKernel(scale, 1, 1, 1, 512, 1, 1, 0, stream, arguments, nullptr));
    show("no blocks", cuLaunchKernel(scale, 0, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
    int blocks;
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
    printf("occupancy positive: %s\n", blocks > 0 ? "yes" : "no");
}

static void broken_text()
{
    CUmodule broken;
    log_text[0] = 0;
    values[1] = (void *)(size_t)sizeof log_text;
    CUresult result = cuModuleLoadDataEx(&broken,
                                         ".version 7.0\n.target sm_75\n.address_size 64\n"
                                         ".visible .entry k() { frobnicate.u32 %r1, 2; ret; }\n",
                                         4, options, values);
    show("broken text", result);
    printf("the log says something: %s\n", log_text[0] ? "yes" : "no");
}

int main()
{
    int count = -1;
    show("before cuInit", cuDeviceGetCount(&count));
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    char name[100];
    CHECK(cuDeviceGetName(name, sizeof name, device));
    size_t memory;
    CHECK(cuDeviceTotalMem(&memory, device));
    int warp, major;
    CHECK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    printf("device: named %s, memory over 1 GB %s, warp %d, major at least 7 %s\n",
           strlen(name) ? "yes" : "no", memory > 1u << 30 ? "yes" : "no", warp,
           major >= 7 ? "yes" : "no");
    CUcontext context, current;
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
    CHECK(cuCtxCreate(&context, 0, device));
#endif
    CHECK(cuCtxGetCurrent(&current));
    printf("current is the new one: %s\n", current == context ? "yes" : "no");

    load_module();
    run_scale();
    run_weigh();
    attributes_and_limits();
    broken_text();
    show("free of nonsense", cuMemFree(12345));
    show("unload", cuModuleUnload(module));
    CHECK(cuMemFree(data));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuCtxDestroy(context));
    CHECK(cuCtxGetCurrent(&current));
    printf("no context: %s\n", current ? "no" : "yes");
    show("alloc without a context", cuMemAlloc(&data, 4));
    return 0;
}
