// unused_pad.cu: rows are padded to 8, nobody writes the pad, and what is read from it is dropped:
// a remark, not an error.
// options: -DN=5
__global__ void sum_rows(const float *in, float *out)
{
    __shared__ float tile[8];
    int column = threadIdx.x;
#ifdef FIXED
    tile[column] = column < N ? in[column] : 0;
#else
    tile[column] = in[column]; // expect: unused_read "decides nothing"
#endif
    __syncthreads();
    float v = tile[7 - column] * 2;
    float w = 7 - column < N ? v : 0;
    if (column == 0)
        for (int i = 1; i < N; i++)
            w += tile[i];
    out[column] = w;
}

int main()
{
    float *in, *out, row[N] = {1, 2, 3, 4, 5};
    cudaMalloc(&in, 8 * sizeof(float));
    cudaMalloc(&out, 8 * sizeof(float));
    cudaMemcpy(in, row, sizeof row, cudaMemcpyHostToDevice);
    sum_rows<<<1, 8>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
