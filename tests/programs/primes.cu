// Numbers: a sieve of bytes and one of bits with atomicAnd, Collatz lengths, modular powers with
// 64-bit arithmetic (Miller-Rabin), greatest common divisors, perfect numbers.

#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void sieve_bytes(unsigned char *composite, int n)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x + 2;
    if ((long long)p * p > n)
        return;
    for (int m = p * p; m <= n; m += p)
        composite[m] = 1;
}

__global__ void sieve_bits(unsigned *bits, int n, int p)
{
    for (int m = p * (p + blockIdx.x * blockDim.x + threadIdx.x); m <= n;
         m += p * blockDim.x * gridDim.x)
        atomicAnd(&bits[m >> 5], ~(1u << (m & 31)));
}

__global__ void collatz(int first, int count, int *lengths)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned long long x = first + i;
    int steps = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
        steps++;
    }
    lengths[i] = steps;
}

__host__ __device__ uint64_t power_mod(uint64_t base, uint64_t exponent, uint64_t modulus)
{
    uint64_t result = 1;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = result * base % modulus;
        base = base * base % modulus;
    }
    return result;
}

__host__ __device__ bool probably_prime(uint64_t n)
{
    if (n < 2 || n % 2 == 0)
        return n == 2;
    uint64_t d = n - 1;
    int r = 0;
    for (; d % 2 == 0; d /= 2)
        r++;
    const int witnesses[] = {2, 3, 5, 7};
    for (int a : witnesses) {
        if (n == (uint64_t)a)
            return true;
        uint64_t x = power_mod(a, d, n);
        if (x == 1 || x == n - 1)
            continue;
        bool composite = true;
        for (int i = 1; i < r && composite; i++) {
            x = x * x % n;
            composite = x != n - 1;
        }
        if (composite)
            return false;
    }
    return true;
}

__global__ void test_primes(uint64_t first, unsigned char *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = probably_prime(first + i);
}

__global__ void gcds(const long long *a, const long long *b, long long *out, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    long long x = a[i], y = b[i];
    while (y) {
        long long r = x % y;
        x = y;
        y = r;
    }
    out[i] = x < 0 ? -x : x;
}

int main()
{
    const int n = 50000;
    unsigned char *composite;
    cudaMallocManaged(&composite, n + 1);
    cudaMemset(composite, 0, n + 1);
    sieve_bytes<<<1, 256>>>(composite, n);
    unsigned *bits;
    cudaMallocManaged(&bits, (n / 32 + 1) * 4);
    cudaMemset(bits, 0xff, (n / 32 + 1) * 4);
    for (int p = 2; p * p <= n; p++)
        if (p == 2 || p % 2)
            sieve_bits<<<2, 128>>>(bits, n, p);
    cudaDeviceSynchronize();
    int primes = 0, largest = 0, differ = 0;
    for (int i = 2; i <= n; i++) {
        if (!composite[i])
            primes++, largest = i;
        differ += (bits[i / 32] >> i % 32 & 1) == composite[i];
    }
    printf("primes to %d: %d, largest %d, sieves differ in %d\n", n, primes, largest, differ);

    int *lengths, best = 0;
    cudaMallocManaged(&lengths, 4000 * sizeof(int));
    collatz<<<(4000 + 127) / 128, 128>>>(1, 4000, lengths);
    cudaDeviceSynchronize();
    for (int i = 0; i < 4000; i++)
        if (lengths[i] > lengths[best])
            best = i;
    printf("collatz: 27 takes %d, longest below 4001 is %d with %d\n", lengths[26], best + 1,
           lengths[best]);

    const uint64_t first = 4000000000ull;
    unsigned char *prime;
    cudaMallocManaged(&prime, 128);
    test_primes<<<2, 64>>>(first, prime);
    cudaDeviceSynchronize();
    printf("primes after %llu:", (unsigned long long)first);
    for (int i = 0; i < 128; i++) {
        if (prime[i])
            printf(" +%d", i);
        if (prime[i] != probably_prime(first + i))
            printf("(WRONG)");
    }
    printf("\n");

    long long *a, *b, *g;
    cudaMallocManaged(&a, 8 * 8);
    cudaMallocManaged(&b, 8 * 8);
    cudaMallocManaged(&g, 8 * 8);
    const long long as[8] = {12, 1000000007ll * 6, -36, 0, 9223372036854775807ll, 1ll << 40,
                             17, 600851475143ll};
    const long long bs[8] = {18, 1000000007ll * 4, 24, 5, 49, 1ll << 33, 0, 6857};
    for (int i = 0; i < 8; i++)
        a[i] = as[i], b[i] = bs[i];
    gcds<<<1, 32>>>(a, b, g, 8);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++)
        printf("gcd(%lld, %lld) = %lld\n", a[i], b[i], g[i]);
    return 0;
}
