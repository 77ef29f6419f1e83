// race_programmatic.cu: a kernel that may begin before the one before it has ended
// (programmatic stream serialization) reads what that one writes, and does not wait for it.
// options: -arch=sm_90

__global__ void write(int *data)
{
    cudaTriggerProgrammaticLaunchCompletion();
    data[blockIdx.x * 64 + threadIdx.x] = 7;
}

__global__ void write_late(int *data) // lets nothing begin early
{
    data[blockIdx.x * 64 + threadIdx.x] = 7;
}

__global__ void read(const int *data, const int *weights, int *out)
{
    int at = blockIdx.x * 64 + threadIdx.x;
    int weight = weights[at]; // nobody writes these
#ifdef FIXED
    cudaGridDependencySynchronize();
#endif
    out[at] = data[at] + weight; // expect: race "programmatic stream serialization"
}

// One warp waits, and the block waits for it.
__global__ void read_by_one(const int *data, int *out)
{
    int at = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x < 32)
        cudaGridDependencySynchronize();
    __syncthreads();
    out[at] = data[at];
}

__global__ void read_plainly(const int *data, int *out)
{
    int at = blockIdx.x * 64 + threadIdx.x;
    out[at] = data[at];
}

template <class... Formal, class... Actual>
static void launch(bool early, void (*kernel)(Formal...), Actual... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = early;
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = 64;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, (Formal)arguments...);
}

int main()
{
    int *data, *out;
    cudaMalloc(&data, 512 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMemset(data, 0, 512 * sizeof(int));
    write<<<4, 64>>>(data);
    launch(true, read, data, data + 256, out);
    write<<<4, 64>>>(data);
    launch(true, read_by_one, data, out);
    write<<<4, 64>>>(data);
    launch(false, read_plainly, data, out);
    write_late<<<4, 64>>>(data);
    launch(true, read_plainly, data, out);
    write<<<4, 64>>>(data);
    cudaDeviceSynchronize();
    launch(true, read_plainly, data, out);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(out);
}
