// timeout_flag.cu: a thread waits for a flag that is never set.
// options: --limit 3000000
__global__ void wait(volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        while (*flag == 0) // expect: timeout
            continue;
        *out = 1;
    } else {
#ifdef FIXED
        *flag = 1;
#endif
    }
}

int main()
{
    int *flag, *out;
    cudaMalloc(&flag, sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    wait<<<2, 1>>>(flag, out);
    cudaDeviceSynchronize();
    cudaFree(flag);
    cudaFree(out);
}
