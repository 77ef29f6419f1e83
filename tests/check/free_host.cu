// free_host.cu: memory from malloc is passed to cudaFree.
#include <cstdlib>

int main()
{
    void *a = malloc(64);
    cudaDeviceSynchronize();
#ifndef FIXED
    cudaFree(a); // expect: invalid_free
#endif
    free(a);
}
