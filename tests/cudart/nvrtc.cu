// nvrtc.cu: machine code asked of NVRTC is PTX here, so a program that loads it runs.
// needs: nvrtc.h
// nvcc: -lcuda -lnvrtc
#include "check.h"
#include <cuda.h>
#include <nvrtc.h>
#include <vector>

static const char source[] = "extern \"C\" __global__ void triple(int *data)"
                             "{ data[threadIdx.x] = 3 * threadIdx.x; }";

int main()
{
    MUST(cudaFree(nullptr));
    nvrtcProgram program;
    const char *options[] = {"--gpu-architecture=sm_90"};
    size_t size = 0;
    printf("create %d\n", nvrtcCreateProgram(&program, source, "triple.cu", 0, nullptr, nullptr));
    printf("compile %d\n", nvrtcCompileProgram(program, 1, options));
    printf("size %d\n", nvrtcGetCUBINSize(program, &size));
    std::vector<char> image(size);
    printf("image %d\n", nvrtcGetCUBIN(program, image.data()));
    CUmodule module;
    CUfunction triple;
    printf("load %d\n", cuModuleLoadData(&module, image.data()));
    printf("find %d\n", cuModuleGetFunction(&triple, module, "triple"));
    int *data, got[4];
    MUST(cudaMalloc(&data, sizeof got));
    void *parameters[] = {&data};
    printf("launch %d\n",
           cuLaunchKernel(triple, 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr));
    MUST(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", got[0], got[1], got[2], got[3]);
}
