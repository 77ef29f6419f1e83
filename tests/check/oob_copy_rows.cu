// oob_copy_rows.cu: a copy of rows that counts one row more than the matrix has
int main()
{
    char *a, host[5 * 64] = {};
    size_t pitch;
    cudaMallocPitch((void **)&a, &pitch, 64, 4);
#ifdef FIXED
    cudaMemcpy2D(a, pitch, host, 64, 64, 4, cudaMemcpyHostToDevice);
#else
    cudaMemcpy2D(a, pitch, host, 64, 64, 5, cudaMemcpyHostToDevice); // expect: out_of_bounds
#endif
    cudaFree(a);
}
