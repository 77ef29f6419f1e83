// race_tile_sync.cu: every lane syncs with its tile of 8, then reads what another tile wrote. The
// masks differ within one __syncwarp, and each orders only the lanes that it names.
__global__ void swap_tiles(const int *in, int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = in[lane]; // expect: race
#ifdef FIXED
    __syncwarp();
#else
    __syncwarp(0xffu << (lane & 24));
#endif
    out[lane] = s[lane ^ 8]; // expect: race "between threads of a warp"
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    swap_tiles<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
