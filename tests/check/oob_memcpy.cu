// oob_memcpy.cu: a copy of more bytes than the allocation has.
int main()
{
    static int host[101];
    int *a;
    cudaMalloc(&a, 100 * sizeof(int));
#ifdef FIXED
    cudaMemcpy(a, host, 100 * sizeof(int), cudaMemcpyHostToDevice);
#else
    cudaMemcpy(a, host, 101 * sizeof(int), cudaMemcpyHostToDevice); // expect: out_of_bounds
#endif
    cudaFree(a);
}
