/*
 * common.h: what the driver tests share: a context on the GPU that LOCKSTEP_GPU names (so that the
 * same tests run on a real GPU: LOCKSTEP_GPU=cuda:0), a module of small kernels, and checks.
 */
#ifndef LOCKSTEP_TESTS_DRIVER_COMMON_H
#define LOCKSTEP_TESTS_DRIVER_COMMON_H

#include "cuda/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct lk_driver *cu;
static CUcontext context;
static CUmodule module;

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(error, call) assert_int_equal(call, error)

static const char kernels_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .b8 table[16];\n"
    /* add(int *data, int n, int value): data[i] += value */
    ".visible .entry add(.param .u64 data, .param .u32 n, .param .u32 value)\n{\n"
    " .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;\n"
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    " mad.lo.u32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n]; ld.param.u32 %r6, [value];\n"
    " setp.ge.u32 %p, %r4, %r5; @%p bra DONE;\n"
    " ld.param.u64 %rd1, [data]; cvta.to.global.u64 %rd1, %rd1; mul.wide.u32 %rd2, %r4, 4;\n"
    " add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r7, [%rd3]; add.u32 %r7, %r7, %r6;\n"
    " st.global.u32 [%rd3], %r7;\nDONE: ret;\n}\n"
    /* wait(int *flag): until *flag is not 0 */
    ".visible .entry wait(.param .u64 flag)\n{\n"
    " .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p;\n"
    " ld.param.u64 %rd1, [flag]; cvta.to.global.u64 %rd1, %rd1;\n"
    "AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra AGAIN;\n ret;\n}\n"
    /* bad(): writes to address 64 */
    ".visible .entry bad()\n{\n .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    " mov.u64 %rd1, 64; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry bounded() .maxntid 64, 1, 1\n{\n ret;\n}\n"
    /* shared(int *out): as many bytes of dynamic shared memory as there are */
    ".extern .shared .align 4 .b8 dynamic[];\n"
    ".visible .entry shared(.param .u64 out)\n{\n"
    " .reg .b32 %r<4>; .reg .b64 %rd<2>; .shared .align 4 .b8 fixed[1024];\n"
    " mov.u32 %r1, %dynamic_smem_size; mov.u32 %r2, dynamic; st.shared.u32 [%r2], %r1;\n"
    " mov.u32 %r2, fixed; st.shared.u32 [%r2], %r1;\n"
    " ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; st.global.u32 [%rd1], %r1; "
    "ret;\n}\n";

static int start(void **state)
{
    char *message;
    CUdevice device;
    const char *gpu = getenv("LOCKSTEP_GPU");
    cu = lk_driver_open(gpu && *gpu ? gpu : "sim:h200", NULL, &message);
    if (!cu) {
        fprintf(stderr, "%s\n", message);
        return -1;
    }
    if (cu->cuInit(0) || cu->cuDeviceGet(&device, 0) ||
        cu->cuDevicePrimaryCtxRetain(&context, device) || cu->cuCtxSetCurrent(context) ||
        cu->cuModuleLoadData(&module, kernels_ptx))
        return -1;
    return 0;
}

static inline CUfunction function(const char *name)
{
    CUfunction found;
    OK(cu->cuModuleGetFunction(&found, module, name));
    return found;
}

/* add(data, n, value) in a stream. */
static inline CUresult launch_add(CUdeviceptr data, int n, int value, CUstream stream)
{
    void *params[] = {&data, &n, &value};
    return cu->cuLaunchKernel(function("add"), (unsigned)(n + 127) / 128, 1, 1, 128, 1, 1, 0,
                              stream, params, NULL);
}

static inline CUdeviceptr zeros(int n)
{
    CUdeviceptr data;
    OK(cu->cuMemAlloc_v2(&data, (size_t)n * 4));
    OK(cu->cuMemsetD32_v2(data, 0, (size_t)n));
    OK(cu->cuStreamSynchronize(NULL)); /* streams that do not block would not wait for it */
    return data;
}

static inline void expect_all(CUdeviceptr data, int n, int value)
{
    int *host = malloc((size_t)n * 4);
    OK(cu->cuMemcpyDtoH_v2(host, data, (size_t)n * 4));
    for (int i = 0; i < n; i++)
        assert_int_equal(host[i], value);
    free(host);
}

#endif
