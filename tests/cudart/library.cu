// library.cu: device code loaded from text, driver entry points, driver handles in the runtime.
// cuda: 13.0
#include "check.h"
#include <cstring>
#include <cuda.h>

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .global .align 4 .u32 seven = 7;\n"
                           ".visible .entry store(.param .u64 p, .param .u32 v)\n{\n"
                           "    .reg .b64 %rd<3>;\n    .reg .b32 %r<4>;\n"
                           "    ld.param.u64 %rd1, [p];\n    ld.param.u32 %r1, [v];\n"
                           "    cvta.to.global.u64 %rd2, %rd1;\n    ld.global.u32 %r2, [seven];\n"
                           "    add.s32 %r3, %r1, %r2;\n    st.global.u32 [%rd2], %r3;\n"
                           "    ret;\n}\n";

int main()
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    unsigned count;
    int *p, value = 35, host;
    MUST(cudaMalloc(&p, 4));
    MUST(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    MUST(cudaLibraryGetKernelCount(&count, library));
    MUST(cudaLibraryGetKernel(&kernel, library, "store"));
    SHOW(cudaLibraryGetKernel(&kernel, library, "absent"));
    MUST(cudaLibraryGetKernel(&kernel, library, "store"));
    void *arguments[] = {&p, &value};
    MUST(cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 0, 0));
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    printf("%u kernel, %d\n", count, host);
    void *address;
    size_t size;
    MUST(cudaLibraryGetGlobal(&address, &size, library, "seven"));
    MUST(cudaMemcpy(&host, address, 4, cudaMemcpyDeviceToHost));
    printf("global %zu bytes %d\n", size, host);
    MUST(cudaLibraryUnload(library));
    void *function;
    cudaDriverEntryPointQueryResult result;
    MUST(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault,
                                          &result));
    printf("entry point %d\n", result);
    CUdeviceptr allocated = 0;
    printf("%d", ((CUresult(*)(CUdeviceptr *, size_t))function)(&allocated, 64));
    printf(" %d\n", allocated != 0);
    SHOW(cudaMemset((void *)allocated, 0, 64));
    SHOW(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, cudaEnableDefault,
                                          &result));
    printf("entry point %d\n", result);
}
