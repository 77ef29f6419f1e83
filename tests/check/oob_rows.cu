// oob_rows.cu: rows and columns are swapped, so the index is far past the array's end.
__global__ void clear(float *a, int rows, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns)
#ifdef FIXED
        a[row * columns + column] = 0;
#else
        a[column * columns + row] = 0; // expect: out_of_bounds
#endif
}

int main()
{
    const int rows = 8, columns = 96;
    float *a;
    cudaMalloc(&a, rows * columns * sizeof(float));
    clear<<<dim3(columns / 32, 1), dim3(32, 8)>>>(a, rows, columns);
    cudaDeviceSynchronize();
    cudaFree(a);
}
