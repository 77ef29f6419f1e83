// Local memory: large arrays indexed at run time, arrays of structs, arrays passed by pointer
// between functions, big structs by value, alloca, spills under __launch_bounds__ and
// maxrregcount-like pressure, unions, bit fields, and pointers to locals seen as generic addresses.

#include <cstdio>

__global__ void sieve_locally(int *out)
{
    bool composite[500];
    int limit = 100 + threadIdx.x * 10;
    for (int i = 0; i < limit; i++)
        composite[i] = i < 2;
    for (int p = 2; p * p < limit; p++)
        if (!composite[p])
            for (int m = p * p; m < limit; m += p)
                composite[m] = true;
    int count = 0;
    for (int i = 0; i < limit; i++)
        count += !composite[i];
    out[threadIdx.x] = count;
}

struct point {
    double x, y;
    short tag;
    char pad[5];
};

__device__ __noinline__ point farthest(const point *points, int n, point from)
{
    point best = from;
    double distance = -1;
    for (int i = 0; i < n; i++) {
        double dx = points[i].x - from.x, dy = points[i].y - from.y, d = dx * dx + dy * dy;
        if (d > distance)
            distance = d, best = points[i];
    }
    best.tag++;
    return best;
}

__global__ void structs(double *out)
{
    point cloud[20];
    int t = threadIdx.x;
    for (int i = 0; i < 20; i++) {
        cloud[i].x = (i * 7 + t) % 20;
        cloud[i].y = (i * 3 + t * t) % 20;
        cloud[i].tag = (short)i;
    }
    point p = farthest(cloud, 20, cloud[t % 20]);
    out[t] = p.x * 10000 + p.y * 100 + p.tag;
}

__global__ void with_alloca(const int *sizes, int *out)
{
    int n = sizes[threadIdx.x];
    int *scratch = (int *)alloca(n * sizeof(int));
    for (int i = 0; i < n; i++)
        scratch[i] = i * (int)threadIdx.x;
    int sum = 0;
    for (int i = n - 1; i >= 0; i -= 2)
        sum += scratch[i];
    out[threadIdx.x] = sum;
}

union pun {
    float f;
    unsigned u;
    unsigned char bytes[4];
    struct {
        unsigned mantissa : 23, exponent : 8, sign : 1;
    } parts;
};

__global__ void unions(unsigned *out)
{
    pun p;
    p.f = -1.5f * (threadIdx.x + 1);
    out[threadIdx.x * 4] = p.u;
    out[threadIdx.x * 4 + 1] = p.parts.exponent;
    p.parts.sign = 0;
    p.bytes[0] = 0x11;
    out[threadIdx.x * 4 + 2] = p.u;
    struct {
        int a : 3;
        unsigned b : 7;
        long long c : 40;
    } bits = {-2, 100, -5000000000ll};
    bits.c += threadIdx.x;
    bits.a += 1;
    out[threadIdx.x * 4 + 3] = (unsigned)(bits.c >> 4) ^ bits.b ^ (unsigned)bits.a;
}

__global__ void __launch_bounds__(1024, 1) many_live(const float *in, float *out)
{
    float v[96];
    for (int i = 0; i < 96; i++)
        v[i] = in[(i * 5 + threadIdx.x) % 96];
#pragma unroll
    for (int round = 0; round < 4; round++)
#pragma unroll
        for (int i = 0; i < 96; i++)
            v[i] += v[(i * 7 + 11) % 96];
    float sum = 0;
    for (int i = 0; i < 96; i++)
        sum += v[i];
    out[threadIdx.x] = sum;
}

__device__ int sum_generic(const int *p, int n) // local, shared or global: the caller knows
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i];
    return sum;
}

__global__ void spaces(const int *global, int *out)
{
    __shared__ int shared[8];
    int local[8];
    for (int i = 0; i < 8; i++)
        local[i] = i + threadIdx.x;
    if (threadIdx.x < 8)
        shared[threadIdx.x] = 100;
    __syncthreads();
    const int *choices[3] = {global, shared, local};
    const int *mine = choices[threadIdx.x % 3];
    out[threadIdx.x] = sum_generic(mine, 8) * 10 + (__isGlobal(mine) ? 1 : 0) +
                       (__isShared(mine) ? 2 : 0) + (__isLocal(mine) ? 4 : 0);
}

int main()
{
    int *out, *sizes;
    double *real;
    float *in, *sums;
    cudaMallocManaged(&out, 1024 * 4);
    cudaMallocManaged(&sizes, 32 * 4);
    cudaMallocManaged(&real, 32 * 8);
    cudaMallocManaged(&in, 96 * 4);
    cudaMallocManaged(&sums, 256 * 4);
    sieve_locally<<<1, 40>>>(out);
    cudaDeviceSynchronize();
    printf("sieve: %d %d %d\n", out[0], out[20], out[39]);
    structs<<<1, 32>>>(real);
    cudaDeviceSynchronize();
    printf("structs: %g %g %g\n", real[0], real[9], real[31]);
    for (int i = 0; i < 32; i++)
        sizes[i] = i * 3 + 1;
    with_alloca<<<1, 32>>>(sizes, out);
    cudaDeviceSynchronize();
    printf("alloca: %d %d %d\n", out[1], out[10], out[31]);
    unions<<<1, 32>>>((unsigned *)out);
    cudaDeviceSynchronize();
    for (int t : {0, 5, 31})
        printf("unions %d: %08x %d %08x %08x\n", t, out[t * 4], out[t * 4 + 1], out[t * 4 + 2],
               out[t * 4 + 3]);
    for (int i = 0; i < 96; i++)
        in[i] = (float)(i % 10);
    many_live<<<1, 256>>>(in, sums);
    cudaDeviceSynchronize();
    printf("many live: %g %g %g\n", sums[0], sums[1], sums[255]);
    for (int i = 0; i < 8; i++)
        sizes[i] = i * i;
    spaces<<<1, 32>>>(sizes, out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("spaces: %d %d %d %d\n", out[0], out[1], out[2], out[31]);
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, sieve_locally);
    printf("sieve's local memory is at least 500 bytes: %s\n",
           attributes.localSizeBytes >= 500 ? "yes" : "no");
    return 0;
}
