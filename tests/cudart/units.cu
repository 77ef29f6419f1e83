// units.cu: kernels and variables of several translation units and a library opened at run time.
// with: units_other.cu
// library: units_plugin.cu
#include "check.h"
#include <dlfcn.h>
#include <string>

static __device__ int same_name = 1; // each unit has its own
static __global__ void same_kernel(int *p)
{
    *p = same_name;
}
int other(int *p);

int main(int argc, char **argv)
{
    int *p, host;
    MUST(cudaMalloc(&p, 4));
    same_kernel<<<1, 1>>>(p);
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    printf("main %d\n", host);
    printf("other %d\n", other(p));
    for (int i = 0; i < 2; i++) {
        std::string path = std::string(argv[0]) + ".so";
        void *library = dlopen(path.c_str(), RTLD_NOW);
        if (!library) {
            printf("%s\n", dlerror());
            return 1;
        }
        printf("plugin %d\n", ((int (*)(int *))dlsym(library, "plugin"))(p));
        dlclose(library);
    }
    same_kernel<<<1, 1>>>(p);
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    printf("main %d\n", host);
}
