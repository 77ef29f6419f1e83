// libcu++'s standard library on the device: cuda::atomic and atomic_ref in several scopes and
// orders, cuda::std::array, tuple, optional, variant, span, complex, chrono-free algorithms,
// limits, bit operations, functional, type traits and mdspan.
// flags: -std=c++17
// takes: long

#include <cstdio>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

namespace cs = cuda::std;

__device__ cuda::atomic<int, cuda::thread_scope_device> device_atomic{5};

__global__ void atomics(int *plain, double *real, unsigned *out)
{
    device_atomic.fetch_add(2, cs::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(plain[0]);
    sum.fetch_add((int)threadIdx.x, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_system> largest(plain[1]);
    largest.fetch_max((int)(threadIdx.x * 37 % 64));
    cuda::atomic_ref<double, cuda::thread_scope_device> total(real[0]);
    total.fetch_add(0.5);
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> bits;
    if (threadIdx.x == 0)
        bits.store(0);
    __syncthreads();
    bits.fetch_or(1u << (threadIdx.x & 31), cuda::memory_order_acq_rel);
    bits.fetch_xor(threadIdx.x << 8);
    __syncthreads();
    // Compare and exchange, the usual loop: saturating at 50.
    cuda::atomic_ref<int, cuda::thread_scope_device> limited(plain[2]);
    int old = limited.load();
    while (old < 50 && !limited.compare_exchange_weak(old, old + 1)) {
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = bits.load(cuda::memory_order_acquire);
}

// One block publishes with release, the other waits with acquire and .wait / notify.
__global__ void message(cuda::atomic<int, cuda::thread_scope_device> *flag, int *payload, int *out)
{
    if (blockIdx.x == 0) {
        payload[threadIdx.x] = threadIdx.x * 3;
        __syncthreads();
        if (threadIdx.x == 0) {
            flag->store(1, cuda::memory_order_release);
            flag->notify_all();
        }
    } else {
        if (threadIdx.x == 0)
            flag->wait(0, cuda::memory_order_acquire);
        __syncthreads();
        out[threadIdx.x] = payload[31 - threadIdx.x];
    }
}

__host__ __device__ cs::optional<int> half_of(int x)
{
    if (x % 2)
        return cs::nullopt;
    return x / 2;
}

struct area {
    __host__ __device__ double operator()(int side) const
    {
        return side * side;
    }
    __host__ __device__ double operator()(double radius) const
    {
        return 3 * radius * radius;
    }
};

__global__ void vocabulary(double *out)
{
    int t = threadIdx.x;
    cs::array<int, 6> a{5, 3, 9, 1, 7, t};
    int sum = 0;
    for (int x : a)
        sum += x;
    out[0] = sum;
    auto tuple = cs::make_tuple(t + 1, 2.5, 'x');
    out[1] = cs::get<0>(tuple) + cs::get<1>(tuple) + cs::get<2>(tuple);
    auto [first, second] = cs::pair<int, float>(3, 0.25f);
    out[2] = first + second;
    out[3] = half_of(10).value_or(-1) * 10 + half_of(7).value_or(-1);
    cs::variant<int, double> shape = 4;
    out[4] = cs::visit(area{}, shape);
    shape = 2.0;
    out[5] = cs::visit(area{}, shape);
    cs::span<int> view(a.data(), 4);
    out[6] = view.subspan(1, 2).front() * 100 + view.back();
    cs::complex<double> z(1, 2), w = z * z + cs::complex<double>(0, 1);
    out[7] = w.real();
    out[8] = w.imag();
    out[9] = cs::norm(z);
    out[10] = cs::numeric_limits<int>::max();
    out[11] =
        cs::popcount(0xf0f0u) * 10000 + cs::countl_zero(1u << 20) * 100 + cs::bit_width(1000u);
    out[12] = cs::bit_cast<unsigned>(1.0f);
    int data[12];
    for (int i = 0; i < 12; i++)
        data[i] = i;
    cs::mdspan<int, cs::extents<int, 3, 4>> matrix(data);
    out[13] = matrix(2, 1) * 10 + matrix.extent(1);
    cs::plus<> plus;
    out[14] = plus(1, 2.5) + cs::min(3, 4) + cs::max(5, 6) + cs::is_same_v<int, long>;
}

int main()
{
    int *plain, *payload, *out;
    double *real;
    unsigned *bits;
    cudaMallocManaged(&plain, 16);
    cudaMallocManaged(&real, 32 * 8);
    cudaMallocManaged(&bits, 32);
    cudaMallocManaged(&payload, 32 * 4);
    cudaMallocManaged(&out, 32 * 4);
    plain[0] = plain[1] = plain[2] = 0;
    real[0] = 0;
    atomics<<<2, 64>>>(plain, real, bits);
    cudaDeviceSynchronize();
    int value;
    cudaMemcpyFromSymbol(&value, device_atomic, sizeof value);
    printf("atomics: %d %d %d %d %g %08x %08x\n", value, plain[0], plain[1], plain[2], real[0],
           bits[0], bits[1]);
    cuda::atomic<int, cuda::thread_scope_device> *flag;
    cudaMallocManaged(&flag, sizeof *flag);
    new (flag) cuda::atomic<int, cuda::thread_scope_device>(0);
    message<<<2, 32>>>(flag, payload, out);
    cudaDeviceSynchronize();
    printf("message: %d %d %d\n", out[0], out[10], out[31]);
    vocabulary<<<1, 1>>>(real);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < 15; i++)
        printf("%.10g%c", real[i], i == 14 ? '\n' : ' ');
    return 0;
}
