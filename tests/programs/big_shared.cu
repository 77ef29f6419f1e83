// Shared memory in all forms: static, dynamic split into parts by hand, more than 48 KB after
// opting in, the carve-out preference, alignment of mixed types, and a tile too large without
// opting in.

#include <cstdio>

__global__ void parts(int n, double *out)
{
    extern __shared__ __align__(16) unsigned char raw[];
    double *d = (double *)raw;
    float *f = (float *)(d + n);
    short *s = (short *)(f + n);
    char *c = (char *)(s + n);
    int t = threadIdx.x;
    if (t < n) {
        d[t] = t * 0.5;
        f[t] = t * 0.25f;
        s[t] = (short)(t * 3);
        c[t] = (char)t;
    }
    __syncthreads();
    if (t < n)
        out[t] = d[n - 1 - t] + f[t] * 100 + s[(t + 1) % n] + c[(t + 2) % n];
}

__global__ void fill_all(unsigned words, unsigned *out)
{
    extern __shared__ unsigned big[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        big[i] = i * 2654435761u;
    __syncthreads();
    unsigned hash = 0;
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        hash ^= big[words - 1 - i] + i;
    atomicXor(out, hash);
}

struct __align__(32) wide
{
    double a, b, c, d;
};

__global__ void static_mix(double *out)
{
    __shared__ char one;
    __shared__ wide w[8];
    __shared__ short odd[3];
    __shared__ long long big;
    if (threadIdx.x == 0) {
        one = 'q';
        big = 1ll << 40;
        odd[2] = -7;
    }
    if (threadIdx.x < 8)
        w[threadIdx.x] = {1.0 * threadIdx.x, 2.0, 3.0, 4.0 * threadIdx.x};
    __syncthreads();
    if (threadIdx.x == 5)
        *out = one + w[3].a + w[7].d + odd[2] + (double)(big >> 30);
}

template <int DEPTH> __global__ void nested(int *out)
{
    __shared__ int level[32 * DEPTH]; // each instance has its own
    for (int i = threadIdx.x; i < 32 * DEPTH; i += 32)
        level[i] = i * DEPTH;
    __syncwarp();
    out[threadIdx.x] = level[31 * DEPTH - threadIdx.x];
}

int main()
{
    double *out;
    unsigned *hash;
    int *ints;
    cudaMallocManaged(&out, 100 * 8);
    cudaMallocManaged(&hash, 4);
    cudaMallocManaged(&ints, 32 * 4);
    parts<<<1, 128, 100 * (8 + 4 + 2 + 1)>>>(100, out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    double sum = 0;
    for (int i = 0; i < 100; i++)
        sum += out[i];
    printf("parts: %g %g %g sum %g\n", out[0], out[50], out[99], sum);

    int optin = 0, plain = 0;
    cudaDeviceGetAttribute(&plain, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    printf("48 K: %s, opt-in above: %s\n", plain == 49152 ? "yes" : "no",
           optin > plain ? "yes" : "no");
    const unsigned sizes[] = {48 * 1024, 64 * 1024, 99 * 1024};
    for (unsigned bytes : sizes) {
        *hash = 0;
        fill_all<<<1, 256, bytes>>>(bytes / 4, hash);
        cudaError_t without = cudaGetLastError();
        cudaError_t set =
            cudaFuncSetAttribute(fill_all, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        cudaDeviceSynchronize();
        *hash = 0;
        fill_all<<<1, 256, bytes>>>(bytes / 4, hash);
        cudaError_t with = cudaGetLastError();
        cudaDeviceSynchronize();
        printf("%u bytes: without %s, set %s, with %s, hash %08x\n", bytes,
               cudaGetErrorName(without), cudaGetErrorName(set), cudaGetErrorName(with), *hash);
    }
    cudaError_t carve =
        cudaFuncSetAttribute(fill_all, cudaFuncAttributePreferredSharedMemoryCarveout, 50);
    printf("carve-out: %s, cache config: %s\n", cudaGetErrorName(carve),
           cudaGetErrorName(cudaFuncSetCacheConfig(fill_all, cudaFuncCachePreferShared)));
    static_mix<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    printf("static mix: %g\n", out[0]);
    nested<1><<<1, 32>>>(ints);
    cudaDeviceSynchronize();
    printf("nested: %d", ints[5]);
    nested<4><<<1, 32>>>(ints);
    cudaDeviceSynchronize();
    printf(" %d %s\n", ints[5], cudaGetErrorName(cudaGetLastError()));
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, static_mix);
    printf("static shared at least 256: %s, max threads %d\n",
           attributes.sharedSizeBytes >= 256 ? "yes" : "no", attributes.maxThreadsPerBlock);
    return 0;
}
