// dynamic_quicksort.cu: a quicksort whose parts are sorted by kernels that the kernel launches,
// each in a stream of its own; small or deep parts by selection.
// flags: -rdc=true

#include <cstdio>
#include <vector>

#define DEEPEST 16
#define SMALL 32

__device__ void selection(unsigned *data, int left, int right)
{
    for (int i = left; i <= right; i++) {
        int least = i;
        for (int k = i + 1; k <= right; k++)
            if (data[k] < data[least])
                least = k;
        unsigned value = data[least];
        data[least] = data[i];
        data[i] = value;
    }
}

__global__ void quicksort(unsigned *data, int left, int right, int depth)
{
    if (depth >= DEEPEST || right - left <= SMALL) {
        selection(data, left, right);
        return;
    }
    unsigned pivot = data[(left + right) / 2];
    int low = left, high = right;
    while (low <= high) {
        while (data[low] < pivot)
            low++;
        while (data[high] > pivot)
            high--;
        if (low <= high) {
            unsigned value = data[low];
            data[low++] = data[high];
            data[high--] = value;
        }
    }
    cudaStream_t stream;
    if (left < high) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, left, high, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (low < right) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, low, right, depth + 1);
        cudaStreamDestroy(stream);
    }
}

int main()
{
    const int n = 3000;
    std::vector<unsigned> data(n);
    unsigned state = 12345;
    unsigned long long before = 0, after = 0;
    for (unsigned &value : data)
        before += value = (state = state * 1664525 + 1013904223) >> 8;
    unsigned *device;
    cudaMalloc(&device, n * sizeof *device);
    cudaMemcpy(device, data.data(), n * sizeof *device, cudaMemcpyHostToDevice);
    quicksort<<<1, 1>>>(device, 0, n - 1, 0);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaMemcpy(data.data(), device, n * sizeof *device, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        after += data[i];
        wrong += i && data[i - 1] > data[i];
    }
    printf("%d of %d out of order, sums %s\n", wrong, n, before == after ? "agree" : "differ");
    printf("%u %u %u\n", data[0], data[n / 2], data[n - 1]);
    cudaFree(device);
    return 0;
}
