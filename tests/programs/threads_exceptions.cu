// A C++ program around CUDA: RAII buffers, exceptions made from error codes, std::thread workers
// that each launch kernels in a stream of their own, a shared queue, per-thread last errors, the
// current device per thread, futures, and kernels launched before main by a static constructor.
// flags: -std=c++17
// cuda: 13.0

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct cuda_error : std::runtime_error {
    cudaError_t code;
    cuda_error(cudaError_t c, const std::string &what)
        : std::runtime_error(what + ": " + cudaGetErrorString(c)), code(c)
    {
    }
};

static void check(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        throw cuda_error(status, what);
}

template <class T> class buffer
{
    T *data_ = nullptr;
    size_t size_ = 0;

  public:
    explicit buffer(size_t size) : size_(size)
    {
        check(cudaMalloc(&data_, size * sizeof(T)), "cudaMalloc");
    }
    explicit buffer(const std::vector<T> &from) : buffer(from.size())
    {
        check(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "copy in");
    }
    buffer(const buffer &) = delete;
    buffer(buffer &&other) noexcept : data_(other.data_), size_(other.size_)
    {
        other.data_ = nullptr;
    }
    ~buffer()
    {
        cudaFree(data_);
    }
    T *get()
    {
        return data_;
    }
    std::vector<T> read() const
    {
        std::vector<T> out(size_);
        check(cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "copy out");
        return out;
    }
};

__global__ void collatz_max(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int steps = 0;
    for (long long x = in[i]; x != 1; steps++)
        x = x % 2 ? 3 * x + 1 : x / 2;
    out[i] = steps;
}

__global__ void bump(int *p, int n)
{
    for (int i = 0; i < n; i++)
        atomicAdd(p, 1);
}

__device__ int before_main = 1;
__global__ void early()
{
    before_main += 10;
}

struct starter {
    starter()
    {
        early<<<1, 1>>>();
        cudaDeviceSynchronize();
    }
} static_starter;

static int worker(int id)
{
    cudaStream_t stream;
    check(cudaStreamCreate(&stream), "stream");
    const int n = 100;
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), id * n + 1);
    buffer<int> in(numbers), out(n);
    for (int round = 0; round < 3; round++)
        collatz_max<<<2, 64, 0, stream>>>(in.get(), out.get(), n);
    check(cudaStreamSynchronize(stream), "synchronise");
    std::vector<int> steps = out.read();
    check(cudaStreamDestroy(stream), "destroy");
    return *std::max_element(steps.begin(), steps.end());
}

static void one_counter()
{
    // One counter, many threads.
    int *counter;
    check(cudaMallocManaged(&counter, sizeof *counter), "managed");
    *counter = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; t++)
        threads.emplace_back([=] {
            for (int i = 0; i < 5; i++)
                bump<<<2, 32, 0, cudaStreamPerThread>>>(counter, 3);
            cudaStreamSynchronize(cudaStreamPerThread);
        });
    for (auto &thread : threads)
        thread.join();
    check(cudaDeviceSynchronize(), "all");
    printf("counter %d of %d\n", *counter, 6 * 5 * 64 * 3);

    // The last error belongs to a thread.
    bump<<<1, 2000>>>(counter, 1);
    cudaError_t elsewhere = cudaSuccess;
    std::thread([&] { elsewhere = cudaGetLastError(); }).join();
    printf("another thread sees %s, this one %s\n", cudaGetErrorName(elsewhere),
           cudaGetErrorName(cudaGetLastError()));
}

static void exceptions()
{
    // Errors as exceptions, through a destructor.
    try {
        buffer<double> fine(10);
        buffer<char> huge((size_t)1 << 52);
        printf("not reached\n");
    } catch (const cuda_error &error) {
        printf("caught %d: %s\n", error.code, error.what());
    }
    cudaGetLastError();
    try {
        std::vector<int> empty;
        empty.at(3) = 1;
    } catch (const std::out_of_range &) {
        printf("caught out_of_range\n");
    }
}

static void producer_and_consumer()
{
    // A queue between a producing thread and a consuming one.
    std::queue<int> jobs;
    std::mutex mutex;
    std::condition_variable ready;
    bool done = false;
    long long total = 0;
    std::thread consumer([&] {
        for (;;) {
            std::unique_lock<std::mutex> lock(mutex);
            ready.wait(lock, [&] { return done || !jobs.empty(); });
            if (jobs.empty())
                return;
            int n = jobs.front();
            jobs.pop();
            lock.unlock();
            buffer<int> sum(std::vector<int>(1, 0));
            bump<<<1, 32>>>(sum.get(), n);
            total += sum.read()[0];
        }
    });
    for (int n = 1; n <= 10; n++) {
        std::lock_guard<std::mutex> lock(mutex);
        jobs.push(n);
        ready.notify_one();
    }
    {
        std::lock_guard<std::mutex> lock(mutex);
        done = true;
    }
    ready.notify_one();
    consumer.join();
    printf("queue total %lld\n", total);
}

int main()
{
    int value;
    cudaMemcpyFromSymbol(&value, before_main, sizeof value);
    printf("before main: %d\n", value);

    std::vector<std::future<int>> futures;
    for (int id = 0; id < 4; id++)
        futures.push_back(std::async(std::launch::async, worker, id));
    for (int id = 0; id < 4; id++)
        printf("worker %d: longest %d\n", id, futures[id].get());
    one_counter();
    exceptions();
    producer_and_consumer();
    return 0;
}
