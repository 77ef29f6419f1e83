// uninitialized_branch.cu: values that nobody wrote go through shared memory, arithmetic and a
// shuffle, and decide a branch, an address and a sum.
__global__ void branch(const int *in, int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = in[lane] + 1; // expect: uninitialized
    __syncwarp();
    int v = __shfl_xor_sync(~0u, s[31 - lane], 1) * 3;
    if (v == 7) // expect: uninitialized
        out[lane] = 1;
}

__global__ void address(const int *index, const int *in, int *out)
{
    int i = index[threadIdx.x] & 31; // expect: uninitialized
    out[threadIdx.x] = in[i]; // expect: uninitialized
}

__global__ void choose(const int *in, const int *flags, int *out)
{
    int flag = flags[threadIdx.x], v = in[threadIdx.x]; // expect: uninitialized
    out[threadIdx.x] = flag > 2 ? v : 0; // expect: uninitialized
}

int main()
{
    int *in, *out, *zeros;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMalloc(&zeros, 32 * sizeof(int));
    cudaMemset(zeros, 0, 32 * sizeof(int));
#ifdef FIXED
    cudaMemset(in, 0, 32 * sizeof(int));
#endif
    branch<<<1, 32>>>(in, out);
    address<<<1, 32>>>(in, zeros, out);
    choose<<<1, 32>>>(zeros, in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(zeros);
}
