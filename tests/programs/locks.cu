// Locks that need every lane to make progress: a spin lock taken lane by lane in the obvious way
// (which hangs without independent thread scheduling), a ticket lock, a read-write counter, a lock
// per bucket, a try-lock with a back-off, and a linked list pushed with compare and swap.

#include <cstdio>

__device__ int mutex_word;
__device__ int guarded, most_inside, inside_now;

__global__ void naive_spin_lock(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        while (atomicCAS(&mutex_word, 0, 1) != 0) {
        }
        __threadfence();
        int inside = atomicAdd(&inside_now, 1) + 1;
        atomicMax(&most_inside, inside);
        guarded = guarded + 1; // not atomic: the lock guards it
        atomicSub(&inside_now, 1);
        __threadfence();
        atomicExch(&mutex_word, 0);
    }
}

struct ticket_lock {
    unsigned next, serving;
    __device__ void lock()
    {
        unsigned mine = atomicAdd(&next, 1);
        while (*(volatile unsigned *)&serving != mine)
            __nanosleep(20);
        __threadfence();
    }
    __device__ void unlock()
    {
        __threadfence();
        *(volatile unsigned *)&serving = *(volatile unsigned *)&serving + 1;
    }
};

__device__ ticket_lock tickets;
__device__ volatile long long ticket_total;

__global__ void with_tickets()
{
    bool done = false;
    // One lane at a time enters, as older books teach.
    for (int lane = 0; lane < 32; lane++)
        if ((threadIdx.x & 31) == lane && !done) {
            tickets.lock();
            ticket_total = ticket_total * 1 + blockIdx.x * blockDim.x + threadIdx.x;
            tickets.unlock();
            done = true;
        }
}

__global__ void tickets_by_lane()
{
    tickets.lock(); // every lane of the warp waits for its own ticket
    ticket_total = ticket_total + 1000;
    tickets.unlock();
}

const int BUCKETS = 16;
__device__ int bucket_lock[BUCKETS];
__device__ volatile int bucket_count[BUCKETS], bucket_sum[BUCKETS];

__global__ void hash_table(int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int bucket = i * 7 % BUCKETS;
    bool left = true;
    while (left) {
        if (atomicCAS(&bucket_lock[bucket], 0, 1) == 0) {
            __threadfence();
            bucket_count[bucket] = bucket_count[bucket] + 1;
            bucket_sum[bucket] = bucket_sum[bucket] + i;
            __threadfence();
            atomicExch(&bucket_lock[bucket], 0);
            left = false;
        }
    }
}

struct node {
    int value;
    node *next;
};
__device__ node nodes[512];
__device__ node *head;

__global__ void push()
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    node *mine = &nodes[i];
    mine->value = i * i;
    node *old = head, *seen;
    do {
        seen = old;
        mine->next = seen;
        __threadfence();
        old = (node *)atomicCAS((unsigned long long *)&head, (unsigned long long)seen,
                                (unsigned long long)mine);
    } while (old != seen);
}

__global__ void walk(int *length, long long *sum)
{
    *length = 0;
    *sum = 0;
    for (node *n = head; n; n = n->next)
        ++*length, *sum += n->value;
}

// Lane 0 waits for lane 31 of its own warp, in shared memory.
__global__ void handshake(int *out)
{
    __shared__ volatile int flag, reply;
    if (threadIdx.x == 0)
        flag = reply = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (flag != 31) {
        }
        reply = 77;
    } else if (threadIdx.x == 31) {
        flag = 31;
        while (reply != 77) {
        }
        *out = reply + flag;
    }
}

int main()
{
    naive_spin_lock<<<4, 64>>>(3);
    cudaError_t status = cudaDeviceSynchronize();
    int count, most;
    cudaMemcpyFromSymbol(&count, guarded, sizeof count);
    cudaMemcpyFromSymbol(&most, most_inside, sizeof most);
    printf("spin lock: %d of %d, most inside at once %d, %s\n", count, 4 * 64 * 3, most,
           cudaGetErrorName(status));

    long long total;
    with_tickets<<<2, 64>>>();
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&total, ticket_total, sizeof total);
    printf("tickets: %lld, expected %d\n", total, 127 * 128 / 2);
    tickets_by_lane<<<2, 64>>>();
    status = cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&total, ticket_total, sizeof total);
    printf("tickets by lane: %lld, expected %d, %s\n", total, 127 * 128 / 2 + 128000,
           cudaGetErrorName(status));

    hash_table<<<4, 128>>>(500);
    int counts[BUCKETS], sums[BUCKETS];
    cudaMemcpyFromSymbol(counts, bucket_count, sizeof counts);
    cudaMemcpyFromSymbol(sums, bucket_sum, sizeof sums);
    for (int i = 0; i < BUCKETS; i += 5)
        printf("bucket %d: %d entries, sum %d\n", i, counts[i], sums[i]);

    int *length, *out;
    long long *sum;
    cudaMallocManaged(&length, sizeof *length);
    cudaMallocManaged(&sum, sizeof *sum);
    cudaMallocManaged(&out, sizeof *out);
    push<<<4, 128>>>();
    walk<<<1, 1>>>(length, sum);
    handshake<<<1, 32>>>(out);
    status = cudaDeviceSynchronize();
    printf("list: %d nodes, sum %lld; handshake %d; %s\n", *length, *sum, *out,
           cudaGetErrorName(status));
    return 0;
}
