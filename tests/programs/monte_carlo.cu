// Monte Carlo with generators of our own: pi with xorshift and with a counter-based hash, an
// integral with a 64-bit PCG, a random walk with divergent ends. Counts are integers: exact.

#include <cstdint>
#include <cstdio>

struct xorshift32 {
    uint32_t s;
    __host__ __device__ explicit xorshift32(uint32_t seed) : s(seed ? seed : 1)
    {
    }
    __host__ __device__ uint32_t next()
    {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        return s;
    }
};

struct pcg32 {
    uint64_t state, inc;
    __host__ __device__ pcg32(uint64_t seed, uint64_t seq) : state(0), inc(seq << 1 | 1)
    {
        next();
        state += seed;
        next();
    }
    __host__ __device__ uint32_t next()
    {
        uint64_t old = state;
        state = old * 6364136223846793005ull + inc;
        uint32_t xorshifted = (uint32_t)((old >> 18 ^ old) >> 27), rot = (uint32_t)(old >> 59);
        return xorshifted >> rot | xorshifted << (-rot & 31);
    }
};

__host__ __device__ inline uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

template <class Generator> __host__ __device__ unsigned count_inside(Generator g, int samples)
{
    unsigned inside = 0;
    for (int i = 0; i < samples; i++) {
        uint64_t x = g.next() >> 1, y = g.next() >> 1;
        inside += x * x + y * y < 1ull << 62;
    }
    return inside;
}

__global__ void pi_xorshift(unsigned long long *total, int samples)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned inside = count_inside(xorshift32(mix(t + 1)), samples);
    for (int d = 16; d; d >>= 1)
        inside += __shfl_xor_sync(~0u, inside, d);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(total, (unsigned long long)inside);
}

__global__ void pi_pcg(unsigned long long *total, int samples)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, (unsigned long long)count_inside(pcg32(42, t), samples));
}

// How many steps a walker from 0 takes to reach +-limit; each lane ends at another time.
__host__ __device__ inline int walk(uint32_t seed, int limit)
{
    xorshift32 g(mix(seed));
    int at = 0, steps = 0;
    while (at > -limit && at < limit) {
        at += g.next() >> 31 ? 1 : -1;
        if (++steps == 2000)
            break;
    }
    return at < 0 ? -steps : steps;
}

__global__ void walks(int *out, int limit)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = walk(t * 977 + 5, limit);
}

int main()
{
    const int threads = 2048, samples = 100;
    unsigned long long *total;
    cudaMallocManaged(&total, sizeof *total);
    *total = 0;
    pi_xorshift<<<threads / 256, 256>>>(total, samples);
    cudaDeviceSynchronize();
    unsigned long long expected = 0;
    for (unsigned t = 0; t < threads; t++)
        expected += count_inside(xorshift32(mix(t + 1)), samples);
    printf("xorshift: %llu inside, CPU %llu, pi about %.4f\n", *total, expected,
           4.0 * (double)*total / (threads * samples));
    *total = expected = 0;
    pi_pcg<<<threads / 64, 64>>>(total, samples);
    cudaDeviceSynchronize();
    for (unsigned t = 0; t < threads; t++)
        expected += count_inside(pcg32(42, t), samples);
    printf("pcg: %llu inside, CPU %llu, pi about %.4f\n", *total, expected,
           4.0 * (double)*total / (threads * samples));

    int *steps, wrong = 0, longest = 0;
    cudaMallocManaged(&steps, 512 * sizeof(int));
    walks<<<4, 128>>>(steps, 12);
    cudaDeviceSynchronize();
    for (int i = 0; i < 512; i++) {
        wrong += steps[i] != walk(i * 977 + 5, 12);
        longest = longest > abs(steps[i]) ? longest : abs(steps[i]);
    }
    printf("walks: %d %d %d %d longest %d wrong %d\n", steps[0], steps[1], steps[100], steps[511],
           longest, wrong);
    return 0;
}
