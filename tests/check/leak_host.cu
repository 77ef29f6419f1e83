// leak_host.cu: pinned memory that is never freed
int main()
{
    int *a;
    cudaMallocHost(&a, 1024); // expect: leak
#ifdef FIXED
    cudaFreeHost(a);
#endif
}
