// free_heap_kernel.cu: a linked list whose node is freed by the kernel before it is followed
struct node { int value; node *next; };
__global__ void go(int *b)
{
    node *first = (node *)malloc(sizeof(node));
    first->value = threadIdx.x;
    first->next = NULL;
    node *last = first;
#ifdef FIXED
    b[threadIdx.x] = last->value;
    free(first);
#else
    free(first);
    b[threadIdx.x] = ((volatile node *)last)->value; // expect: use_after_free
#endif
}

int main()
{
    int *b;
    cudaMalloc(&b, 128);
    go<<<1, 32>>>(b);
    cudaDeviceSynchronize();
    cudaFree(b);
}
