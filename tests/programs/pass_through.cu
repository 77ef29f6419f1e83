// A filter as people write them: takes options and words as arguments, reads numbers from standard
// input, uses the GPU, writes to stdout and stderr, and leaves with a status of its own.
// args: -k 3 "two words" "last*"
// stdin: 10 20 30\n-5 7\nend\n
// status: 42

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void times(long long *values, int n, long long k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] *= k;
}

static void at_exit()
{
    printf("at exit\n");
}

int main(int argc, char **argv)
{
    atexit(at_exit);
    long long k = 1;
    printf("%d arguments\n", argc - 1);
    for (int i = 1; i < argc; i++) {
        printf("[%s]\n", argv[i]);
        if (!strcmp(argv[i], "-k") && i + 1 < argc)
            k = atoll(argv[i + 1]);
    }
    const char *variable = getenv("LOCKSTEP_TEST_VARIABLE_THAT_IS_NOT_SET");
    printf("variable: %s\n", variable ? variable : "not set");
    std::vector<long long> numbers;
    long long value;
    while (scanf("%lld", &value) == 1)
        numbers.push_back(value);
    char rest[16] = "";
    if (scanf("%15s", rest) == 1)
        printf("stopped at %s\n", rest);
    long long *device;
    size_t bytes = numbers.size() * sizeof value;
    cudaMalloc(&device, bytes);
    cudaMemcpy(device, numbers.data(), bytes, cudaMemcpyHostToDevice);
    times<<<1, 32>>>(device, (int)numbers.size(), k);
    cudaMemcpy(numbers.data(), device, bytes, cudaMemcpyDeviceToHost);
    for (long long n : numbers)
        printf("%lld ", n);
    printf("\n");
    fprintf(stderr, "this goes to stderr\n");
    return 42;
}
