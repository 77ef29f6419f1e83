// double_free.cu: the same pointer is freed twice.
int main()
{
    int *a;
    cudaMalloc(&a, 64);
    cudaFree(a);
#ifndef FIXED
    cudaFree(a); // expect: invalid_free
#endif
}
