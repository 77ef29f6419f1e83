// libcudacxx_calls.cu: libcu++: atomics of every order and scope, barriers, latches, semaphores,
// pipelines and asynchronous copies, used as they are meant to be.
#include "calls.h"

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/barrier>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

enum { THREADS = 64, BLOCKS = 4 };
template <class T> using device_atomic = cuda::atomic<T, cuda::thread_scope_device>;

struct words {
    device_atomic<int> add, sub, both, either, one, least, most, swapped, cas, weak;
    cuda::atomic<long long, cuda::thread_scope_system> wide;
    device_atomic<float> real;
    cuda::std::atomic<unsigned> plain;
    device_atomic<int> flag, data_flag;
    int data, seen;
    int parts[BLOCKS];
    device_atomic<int> arrived, turn;
    int total, locked;
};

__global__ void atomics(words *w)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    w->add.fetch_add(1);
    w->sub.fetch_sub(2, cuda::memory_order_relaxed);
    w->both.fetch_and(~(1 << i % 8), cuda::memory_order_acq_rel);
    w->either.fetch_or(1 << i % 8, cuda::memory_order_release);
    w->one.fetch_xor(1, cuda::memory_order_acquire);
    w->least.fetch_min(i);
    w->most.fetch_max(i, cuda::memory_order_relaxed);
    w->swapped.exchange(i);
    int old = w->cas.load(cuda::memory_order_relaxed);
    while (!w->cas.compare_exchange_strong(old, old + 1))
        ;
    old = w->weak.load();
    while (!w->weak.compare_exchange_weak(old, old + 3, cuda::memory_order_acq_rel,
                                          cuda::memory_order_relaxed))
        ;
    w->wide += 5;
    w->real.fetch_add(1.0f);
    w->plain++;
}

/* One block publishes, the others wait. */
__global__ void publish(words *w)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        w->data = 42;
        w->flag.store(1, cuda::memory_order_release);
        w->flag.notify_all();
    } else if (threadIdx.x == 0) {
        w->flag.wait(0, cuda::memory_order_acquire);
        if (w->data == 42)
            w->arrived.fetch_add(1, cuda::memory_order_relaxed);
    }
}

/* The same with fences beside relaxed accesses. */
__global__ void fences(words *w)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        w->seen = 7;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        w->data_flag.store(1, cuda::memory_order_relaxed);
    } else {
        while (w->data_flag.load(cuda::memory_order_relaxed) == 0)
            ;
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        cuda::atomic_ref<int, cuda::thread_scope_device>(w->total).fetch_add(w->seen);
    }
}

__global__ void spin_lock(words *w)
{
    if (threadIdx.x != 0)
        return;
    while (w->turn.exchange(1, cuda::memory_order_acquire))
        ;
    w->locked += 1;
    w->turn.store(0, cuda::memory_order_release);
}

__global__ void barriers(const int *in, int *out)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier bar;
    __shared__ int s[THREADS];
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    __syncthreads();
    s[threadIdx.x] = in[threadIdx.x];
    bar.arrive_and_wait();
    int v = s[THREADS - 1 - threadIdx.x];
    auto token = bar.arrive();
    bar.wait(std::move(token));
    s[threadIdx.x] = v;
    bar.arrive_and_wait();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
    bar.arrive_and_drop();
}

__global__ void async_copy(const int *in, int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) int s[THREADS];
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0)
        init(&bar, THREADS);
    block.sync();
    cuda::memcpy_async(block, s, in, cuda::aligned_size_t<16>(sizeof s), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = s[THREADS - 1 - threadIdx.x];
}

__global__ void pipelines(const int *in, int *out)
{
    __shared__ alignas(16) int s[2][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int fetch = 0, step = 0; step < 4; step++) {
        for (; fetch < 4 && fetch < step + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetch % 2], in + fetch * THREADS, sizeof s[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[step % 2][THREADS - 1 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
    auto own = cuda::make_pipeline();
    __shared__ int t[THREADS];
    own.producer_acquire();
    cuda::memcpy_async(&t[threadIdx.x], &in[threadIdx.x], sizeof(int), own);
    own.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(own);
    out[THREADS + threadIdx.x] = t[threadIdx.x];
    own.consumer_release();
}

__device__ cuda::latch<cuda::thread_scope_device> *latch_of(void *p)
{
    return (cuda::latch<cuda::thread_scope_device> *)p;
}

__global__ void latches(void *latch, words *w, int *out)
{
    if (threadIdx.x != 0)
        return;
    w->parts[blockIdx.x] = blockIdx.x + 1;
    latch_of(latch)->arrive_and_wait();
    int sum = 0;
    for (int i = 0; i < BLOCKS; i++)
        sum += w->parts[i];
    out[blockIdx.x] = sum;
}

__global__ void semaphores(cuda::counting_semaphore<cuda::thread_scope_device> *semaphore,
                           cuda::binary_semaphore<cuda::thread_scope_device> *binary, int *out)
{
    if (threadIdx.x != 0)
        return;
    semaphore->acquire();
    semaphore->release();
    binary->acquire();
    out[0] += 1;
    binary->release();
}

__global__ void values(int *out)
{
    cuda::std::array<int, 4> a = {1, 2, 3, 4};
    cuda::std::complex<float> z(0, 1);
    auto pair = cuda::std::make_pair(a[1], a[2]);
    auto three = cuda::std::make_tuple(a[0], pair.first, pair.second);
    z = z * z;
    out[threadIdx.x] = cuda::std::get<2>(three) + (int)z.real();
}

static void try_atomics(words *w)
{
    const int all = BLOCKS * THREADS;
    w->least = all;
    w->both = 255;
    atomics<<<BLOCKS, THREADS>>>(w);
    cudaDeviceSynchronize();
    called("cuda::atomic::fetch_add", w->add == all);
    called("cuda::atomic::fetch_sub", w->sub == -2 * all);
    called("cuda::atomic::fetch_and", w->both == 0);
    called("cuda::atomic::fetch_or", w->either == 255);
    called("cuda::atomic::fetch_xor", w->one == 0);
    called("cuda::atomic::fetch_min", w->least == 0);
    called("cuda::atomic::fetch_max", w->most == all - 1);
    called("cuda::atomic::exchange", w->swapped >= 0 && w->swapped < all);
    called("cuda::atomic::compare_exchange_strong", w->cas == all);
    called("cuda::atomic::compare_exchange_weak", w->weak == 3 * all);
    called("cuda::atomic of long long, system scope", w->wide == 5 * all);
    called("cuda::atomic of float", w->real == (float)all);
    called("cuda::std::atomic", w->plain == (unsigned)all);
    w->flag = 0;
    w->arrived = 0;
    publish<<<BLOCKS, THREADS>>>(w);
    cudaDeviceSynchronize();
    called("cuda::atomic::store release and wait acquire", w->arrived == BLOCKS - 1);
    called("cuda::atomic::notify_all", w->flag == 1);
    w->total = 0;
    w->data_flag = 0;
    fences<<<BLOCKS, THREADS>>>(w);
    cudaDeviceSynchronize();
    called("cuda::atomic_thread_fence", w->total == 7 * (BLOCKS - 1));
    called("cuda::atomic_ref::fetch_add", w->total == 7 * (BLOCKS - 1));
    w->turn = 0;
    w->locked = 0;
    spin_lock<<<BLOCKS, THREADS>>>(w);
    cudaDeviceSynchronize();
    called("cuda::atomic as a lock", w->locked == BLOCKS);
}

static void try_barriers(const int *in, int *out)
{
    barriers<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called("cuda::barrier::arrive_and_wait", out[0] == in[THREADS - 2]);
    called("cuda::barrier::arrive and wait", out[1] == in[THREADS - 1]);
    called("cuda::barrier::arrive_and_drop", out[2] == in[THREADS - 4]);
    async_copy<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    called("cuda::memcpy_async with a barrier", out[0] == in[THREADS - 1]);
    pipelines<<<1, THREADS>>>(in, out);
    cudaDeviceSynchronize();
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += in[i * THREADS + THREADS - 1];
    called("cuda::pipeline of a block", out[0] == sum);
    called("cuda::memcpy_async with a pipeline", out[0] == sum);
    called("cuda::pipeline of a thread", out[THREADS + 5] == in[5]);
    called("cuda::pipeline_consumer_wait_prior", out[THREADS + 6] == in[6]);
}

int main()
{
    words *w;
    int *in, *out;
    cudaMallocManaged(&w, sizeof *w);
    cudaMallocManaged(&in, 4 * THREADS * sizeof(int));
    cudaMallocManaged(&out, 4 * THREADS * sizeof(int));
    new (w) words();
    for (int i = 0; i < 4 * THREADS; i++)
        in[i] = number(i);
    try_atomics(w);
    try_barriers(in, out);
    cuda::latch<cuda::thread_scope_device> *latch;
    cudaMallocManaged(&latch, sizeof *latch);
    new (latch) cuda::latch<cuda::thread_scope_device>(BLOCKS);
    latches<<<BLOCKS, 32>>>(latch, w, out);
    cudaDeviceSynchronize();
    called("cuda::latch::arrive_and_wait", out[0] == 10 && out[BLOCKS - 1] == 10);
    cuda::counting_semaphore<cuda::thread_scope_device> *semaphore;
    cuda::binary_semaphore<cuda::thread_scope_device> *binary;
    cudaMallocManaged(&semaphore, sizeof *semaphore);
    cudaMallocManaged(&binary, sizeof *binary);
    new (semaphore) cuda::counting_semaphore<cuda::thread_scope_device>(2);
    new (binary) cuda::binary_semaphore<cuda::thread_scope_device>(1);
    out[0] = 0;
    semaphores<<<BLOCKS, 32>>>(semaphore, binary, out);
    cudaDeviceSynchronize();
    called("cuda::counting_semaphore::acquire and release", out[0] == BLOCKS);
    called("cuda::binary_semaphore::acquire and release", out[0] == BLOCKS);
    values<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    called("cuda::std::tuple, pair and array", out[0] == 2);
    called("cuda::std::complex", out[31] == 2);
    cudaFree(latch);
    cudaFree(semaphore);
    cudaFree(binary);
    cudaFree(w);
    cudaFree(in);
    cudaFree(out);
    return wrong_calls != 0;
}
