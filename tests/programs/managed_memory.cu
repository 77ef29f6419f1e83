// Managed memory: arrays and linked structures shared by host and device, a class that allocates
// itself in managed memory, __managed__ variables, prefetch and advice, atomics seen by both sides,
// pointer attributes.

#include <cstdio>
#include <cstring>
#include <new>

class managed_object
{
  public:
    void *operator new(size_t size)
    {
        void *p;
        cudaMallocManaged(&p, size);
        cudaDeviceSynchronize();
        return p;
    }
    void operator delete(void *p)
    {
        cudaDeviceSynchronize();
        cudaFree(p);
    }
};

struct text : managed_object {
    int length;
    char *data;
    explicit text(const char *from)
    {
        length = (int)strlen(from);
        cudaMallocManaged(&data, length + 1);
        memcpy(data, from, length + 1);
    }
    ~text()
    {
        cudaFree(data);
    }
};

__managed__ int shared_counter = 40;
__managed__ float table[4] = {1, 2, 4, 8};

struct list_node {
    int value;
    list_node *next;
};

__global__ void upper(text *t)
{
    int i = threadIdx.x;
    if (i < t->length && t->data[i] >= 'a' && t->data[i] <= 'z')
        t->data[i] -= 32;
    if (i == 0)
        atomicAdd(&shared_counter, 2);
}

__global__ void sum_list(const list_node *head, int *sum)
{
    *sum = 0;
    for (; head; head = head->next)
        *sum += head->value;
}

__global__ void build_list(list_node *nodes, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        nodes[i].value = (i + 1) * (i + 1);
        nodes[i].next = i + 1 < n ? &nodes[i + 1] : nullptr;
    }
}

__global__ void use_table(float *out)
{
    out[threadIdx.x] = table[threadIdx.x] * 10;
    table[threadIdx.x] += 0.5f;
}

int main()
{
    text *t = new text("hello, Unified World");
    upper<<<1, 32>>>(t);
    cudaDeviceSynchronize();
    printf("%s (%d), counter %d\n", t->data, t->length, shared_counter);
    shared_counter = 100;
    upper<<<3, 32>>>(t);
    cudaDeviceSynchronize();
    printf("counter %d\n", shared_counter);
    delete t;

    list_node *head = nullptr;
    for (int i = 1; i <= 50; i++) {
        list_node *node;
        cudaMallocManaged(&node, sizeof *node);
        node->value = i;
        node->next = head;
        head = node;
    }
    int *sum;
    cudaMallocManaged(&sum, sizeof *sum);
    sum_list<<<1, 1>>>(head, sum);
    cudaDeviceSynchronize();
    printf("list from the host: %d\n", *sum);
    list_node *nodes;
    cudaMallocManaged(&nodes, 20 * sizeof *nodes);
    build_list<<<1, 32>>>(nodes, 20);
    cudaDeviceSynchronize();
    int total = 0, length = 0;
    for (list_node *n = nodes; n; n = n->next)
        total += n->value, length++;
    printf("list from the device: %d in %d nodes\n", total, length);

    float *out;
    cudaMallocManaged(&out, 16);
    use_table<<<1, 4>>>(out);
    cudaDeviceSynchronize();
    printf("table: %g %g %g %g now %g %g\n", out[0], out[1], out[2], out[3], table[0], table[3]);

    int *data, device;
    cudaGetDevice(&device);
    cudaMallocManaged(&data, 1 << 16);
    cudaMemLocation location = {};
    location.type = cudaMemLocationTypeDevice;
    location.id = device;
    cudaError_t advice = cudaMemAdvise(data, 1 << 16, cudaMemAdviseSetReadMostly, location);
    cudaError_t prefetch = cudaMemPrefetchAsync(data, 1 << 16, location, 0);
    printf("advise %s, prefetch %s\n", cudaGetErrorName(advice), cudaGetErrorName(prefetch));

    cudaPointerAttributes attributes;
    int *plain = new int, *on_device, *pinned;
    cudaMalloc(&on_device, 4);
    cudaMallocHost(&pinned, 4);
    const void *pointers[] = {data, on_device, pinned, plain};
    const char *names[] = {"managed", "device", "pinned", "plain"};
    for (int i = 0; i < 4; i++) {
        cudaError_t status = cudaPointerGetAttributes(&attributes, pointers[i]);
        printf("%s: %s type %d\n", names[i], cudaGetErrorName(status), (int)attributes.type);
    }
    return 0;
}
