// right_lock_free.cu: a stack, a ticket lock, a flag and an mbarrier-free hand-over: nothing to find, fixed or not.
__device__ int head = -1, next_ticket, now_serving, counter, flag;
__device__ int links[256], payload[32];

__global__ void push(int *nodes)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    nodes[me] = me * me;
    int seen = *(volatile int *)&head, old;
    do {
        old = seen;
        links[me] = old;
        __threadfence();
        seen = atomicCAS(&head, old, me);
    } while (seen != old);
}

__global__ void tickets()
{
    if (threadIdx.x == 0) {
        int mine = atomicAdd(&next_ticket, 1);
        while (atomicAdd(&now_serving, 0) != mine)
            continue;
        __threadfence();
        counter += blockIdx.x;
        __threadfence();
        atomicAdd(&now_serving, 1);
    }
}

__global__ void hand_over(int *out)
{
    if (blockIdx.x == 1) {
        payload[threadIdx.x] = threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            *(volatile int *)&flag = 1;
    } else {
        while (*(volatile int *)&flag == 0)
            continue;
        __threadfence();
        out[threadIdx.x] = payload[31 - threadIdx.x];
    }
}

int main()
{
    int *nodes;
    cudaMalloc(&nodes, 256 * sizeof(int));
    push<<<4, 64>>>(nodes);
    tickets<<<8, 32>>>();
    hand_over<<<2, 32>>>(nodes);
    cudaDeviceSynchronize();
    cudaFree(nodes);
}
