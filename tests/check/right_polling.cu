// right_polling.cu: waits that are long and end, over many words, by the clock, for another lane: nothing to find, fixed or not.
#define WORDS 5000

__device__ unsigned flags[WORDS], flag[3];

__device__ unsigned compute(unsigned x, int rounds)
{
    for (int i = 0; i < rounds; i++)
        x = (x ^ x >> 15) * 0x2c1b3c6du;
    return x | 1;
}

// All warps but the last walk round and round over words that stay as they are for long.
__global__ void search()
{
    volatile unsigned *words = flags;
    int me = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
    if (me >= count - 32)
        words[me * 31 % WORDS] = compute(me, 100000);
    else
        for (int i = me * 20; words[i % WORDS] == 0; i++)
            continue;
}

// The same, and each warp has one word of its own.
__global__ void wait()
{
    volatile unsigned *words = flags;
    int me = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
    if (me >= count - 32) {
        unsigned x = compute(me, 100000);
        for (int i = 0; i < count; i += 32)
            words[i] = x;
    } else {
        while (words[me / 32 * 32] == 0)
            continue;
    }
}

// The same word again and again, and nothing writes to it.
__global__ void reread(unsigned *sum)
{
    volatile unsigned *word = flag;
    unsigned s = 0;
    for (int i = 0; i < 100000; i++)
        s += *word + i;
    sum[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

// The clock in one block, a wait for it in the others; some with pauses, which give turns away.
__global__ void delay()
{
    volatile unsigned *set = flag;
    if (blockIdx.x == 0) {
        long long start = clock64();
        while (clock64() - start < 2000000)
            continue;
        if (threadIdx.x == 0)
            set[1] = 1;
    } else {
        while (set[1] == 0)
            if (blockIdx.x == 1)
                __nanosleep(100);
    }
}

// A lane works while the rest of its warp waits for it.
__global__ void lanes()
{
    volatile unsigned *set = flag;
    if (threadIdx.x == 7)
        set[2] = compute(7, 100000);
    else
        while (set[2] == 0)
            continue;
}

int main()
{
    unsigned *sum;
    void *words;
    cudaGetSymbolAddress(&words, flags);
    cudaMalloc(&sum, 128 * sizeof *sum);
    search<<<4, 96>>>();
    cudaMemset(words, 0, sizeof flags);
    wait<<<4, 96>>>();
    reread<<<2, 64>>>(sum);
    delay<<<6, 64>>>();
    lanes<<<1, 32>>>();
    cudaDeviceSynchronize();
    cudaFree(sum);
}
