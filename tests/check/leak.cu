// leak.cu: memory is never freed: a remark.
int main()
{
    int *a;
    cudaMalloc(&a, 64); // expect: leak
#ifdef FIXED
    cudaFree(a);
#endif
}
