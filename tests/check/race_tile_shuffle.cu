// race_tile_shuffle.cu: a shuffle within tiles of 16 orders those tiles, not the warp; and a table
// that one tile fills is read by the other.
__global__ void broadcast(const int *in, int *out)
{
    __shared__ int table[2];
    int lane = threadIdx.x, tile = lane / 16;
    unsigned mask = tile ? 0xffff0000u : 0xffffu;
    int v = in[lane];
    for (int offset = 8; offset; offset /= 2)
        v += __shfl_xor_sync(mask, v, offset, 16);
    if (lane % 16 == 0)
        table[tile] = v; // expect: race
#ifdef FIXED
    __syncwarp();
#else
    __syncwarp(mask);
#endif
    out[lane] = table[0] + table[1]; // expect: race
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    broadcast<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
