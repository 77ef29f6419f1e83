// shuffle_mask.cu: half a warp shuffles among itself, but with the wrong lane.
__global__ void rotate(const int *in, int *out)
{
    int lane = threadIdx.x;
    if (lane < 16) {
        int v = in[lane];
#ifdef FIXED
        v = __shfl_sync(0xffff, v, (lane + 1) % 16);
#else
        v = __shfl_sync(0xffff, v, lane + 1); // expect: sync_mask "lane 16, which the mask does not name"
#endif
        if (v > 3) // expect-one: sync_mask
            out[lane] = v;
    }
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    rotate<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
