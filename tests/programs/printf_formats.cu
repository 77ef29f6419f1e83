// Device printf: every conversion, flags, widths and precisions, star widths, 64-bit and short
// types, strings from several memories, percent signs, long lines, many arguments, return values,
// mixed with host output at synchronisation.

#include <cstdio>

__constant__ char constant_text[] = "constant text";
__device__ char device_text[] = "device text";

__global__ void formats()
{
    printf("plain\n");
    printf("%d %i %u %x %X %o %c %%\n", -42, 42, 4000000000u, 0xbeef, 0xBEEF, 0755, 'A');
    printf("%hd %ld %lu %lld %llu %llx\n", (short)-300, -1234567890123l, 77ul, -9000000000000ll,
           18000000000000000000ull, 0xfedcba9876543210ull);
    printf("[%5d] [%-5d] [%05d] [%+d] [% d] [%#x] [%#o] [%.3d]\n", 42, 42, 42, 42, 42, 255, 8, 7);
    printf("[%8.3f] [%-10.2f] [%+.1f] [%010.4f] [%.0f] [%e] [%E] [%g] [%G]\n", 3.14159, 2.5, 1.0,
           -1.5, 2.5, 12345.678, 0.00012, 1e-5, 1e20);
    printf("[%a] [%.10g] [%g] [%g] [%f]\n", 1.5, 1.0 / 3, 100000.0, 1000000.0, 1e15);
    printf("%f %f %g\n", 1.0 / 0.0, -1.0 / 0.0, -0.0);
    printf("[%s] [%10s] [%-10s] [%.3s] [%s]\n", "literal", "right", "left", "truncated", "");
    printf("[%s] [%s]\n", constant_text, device_text);
    printf("[%*d] [%-*d] [%.*f] [%*.*f]\n", 6, 42, 6, 42, 2, 3.14159, 9, 4, 2.71828);
    printf("float promoted: %f %.9g\n", 0.1f, 0.1f);
    printf("%c%c%c%c\n", 'd', 'o', 'n', 'e');
    printf("many: %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
           11, 12, 13, 14, 15, 16);
    printf("mixed: %d %s %f %c %lld %u %s\n", 1, "two", 3.0, '4', 5ll, 6u, "seven");
    int count = printf("%d and %d\n", 1, 2), none = printf("no arguments\n");
    printf("returned %d %d\n", count, none);
    printf("null pointer is zero: %d\n", (void *)0 == nullptr);
    printf("no newline, ");
    printf("then one\n");
}

__global__ void one_warp()
{
    printf("lane %d of block %d\n", threadIdx.x, blockIdx.x);
}

__global__ void computed(const float *v, int n)
{
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            printf("v[%d] = %6.2f%s", i, v[i], i + 1 < n ? ", " : "\n");
}

template <class T> __global__ void print_type(T value)
{
    printf("%d bytes, as int %d\n", (int)sizeof(T), (int)value);
}

int main()
{
    formats<<<1, 1>>>();
    cudaDeviceSynchronize();
    printf("host line between\n");
    fflush(stdout);
    one_warp<<<1, 8>>>();
    cudaDeviceSynchronize();
    float *v;
    cudaMallocManaged(&v, 16);
    for (int i = 0; i < 4; i++)
        v[i] = i * 1.25f;
    computed<<<1, 32>>>(v, 4);
    print_type<<<1, 1>>>((char)65);
    print_type<<<1, 1>>>(3.9);
    print_type<<<1, 1>>>(123456789012ll);
    cudaDeviceSynchronize();
    size_t size;
    cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize);
    printf("fifo of at least 1 MB: %s\n", size >= 1 << 20 ? "yes" : "no");
    fflush(stdout);
    one_warp<<<1, 2>>>();
    cudaStreamSynchronize(0);
    one_warp<<<1, 1>>>();
    cudaMemcpy(v, v + 1, 4, cudaMemcpyDefault);
    cudaDeviceReset();
    printf("end\n");
    return 0;
}
