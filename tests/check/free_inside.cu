// free_inside.cu: a pointer into the middle of an allocation is freed.
int main()
{
    char *a;
    cudaMalloc(&a, 64);
#ifdef FIXED
    cudaFree(a);
#else
    cudaFree(a + 16); // expect: invalid_free
    cudaFree(a);
#endif
}
