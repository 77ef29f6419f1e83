// The device heap: malloc and free per thread, allocations that outlive their kernel, new and
// delete with constructors, a block that shares one allocation, lists and a binary tree built on
// the device, exhaustion that gives NULL, memcpy and memset on the device.

#include <cstdio>

__global__ void per_thread(int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = t % 13 + 1;
    int *p = (int *)malloc(n * sizeof(int));
    if (!p) {
        out[t] = -1;
        return;
    }
    for (int i = 0; i < n; i++)
        p[i] = t + i;
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i];
    free(p);
    out[t] = sum;
}

__device__ int *kept[8];

__global__ void keep(int n)
{
    if (threadIdx.x == 0)
        kept[blockIdx.x] = (int *)malloc(n * sizeof(int));
    __syncthreads();
    int *p = kept[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = blockIdx.x * 1000 + i;
}

__global__ void use_kept(int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += kept[blockIdx.x][i];
    out[blockIdx.x] = sum;
    free(kept[blockIdx.x]);
}

struct counted {
    static const int MAGIC = 77;
    int magic;
    double values[3];
    __device__ counted(int seed) : magic(MAGIC)
    {
        for (int i = 0; i < 3; i++)
            values[i] = seed * 0.5 + i;
    }
    __device__ ~counted()
    {
        magic = 0;
    }
};

__global__ void objects(double *out)
{
    counted *one = new counted(threadIdx.x);
    float *array = new float[10];
    for (int i = 0; i < 10; i++)
        array[i] = i * 0.25f;
    out[threadIdx.x] = one->magic == counted::MAGIC ? one->values[2] + array[9] : -1;
    delete one;
    delete[] array;
}

struct tree {
    int key;
    tree *left, *right;
};

__device__ void insert(tree **root, int key)
{
    while (*root)
        root = key < (*root)->key ? &(*root)->left : &(*root)->right;
    tree *t = (tree *)malloc(sizeof(tree));
    t->key = key;
    t->left = t->right = nullptr;
    *root = t;
}

__device__ int flatten(tree *t, int *out, int at)
{
    if (!t)
        return at;
    at = flatten(t->left, out, at);
    out[at++] = t->key;
    at = flatten(t->right, out, at);
    free(t);
    return at;
}

__global__ void tree_sort(int *data, int n)
{
    tree *root = nullptr;
    for (int i = 0; i < n; i++)
        insert(&root, data[i]);
    flatten(root, data, 0);
}

__global__ void exhaust(int *out)
{
    void *p = malloc((size_t)1 << 40);
    out[0] = p == nullptr;
    void *many[64];
    int got = 0;
    for (; got < 64; got++) {
        many[got] = malloc(1 << 20);
        if (!many[got])
            break;
    }
    out[1] = got >= 8 && got < 64; // the heap has 16 MB
    for (int i = 0; i < got; i++)
        free(many[i]);
    void *again = malloc(4 << 20);
    out[2] = again != nullptr;
    free(again);
    free(nullptr);
    out[3] = ((size_t)again & 15) == 0;
}

__global__ void bytes(unsigned char *out)
{
    unsigned char a[40], b[40];
    memset(a, 0x11 * (threadIdx.x + 1), sizeof a);
    for (int i = 0; i < 40; i += 3)
        a[i] = (unsigned char)i;
    memcpy(b + 1, a, 33);
    b[0] = 255;
    memcpy(out + threadIdx.x * 40, b, 34);
}

int main()
{
    printf("heap 16 MB: %s\n",
           cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20)));
    int *out;
    cudaMallocManaged(&out, 1024 * 4);
    per_thread<<<4, 64>>>(out);
    cudaError_t status = cudaDeviceSynchronize();
    int wrong = 0;
    for (int t = 0; t < 256; t++) {
        int n = t % 13 + 1;
        wrong += out[t] != n * t + n * (n - 1) / 2;
    }
    printf("per thread: %d %d wrong %d %s\n", out[0], out[255], wrong, cudaGetErrorName(status));
    keep<<<8, 32>>>(100);
    use_kept<<<8, 1>>>(out, 100);
    cudaDeviceSynchronize();
    printf("kept: %d %d\n", out[0], out[7]);
    double *real;
    cudaMallocManaged(&real, 64 * 8);
    objects<<<1, 64>>>(real);
    cudaDeviceSynchronize();
    printf("objects: %g %g\n", real[0], real[63]);
    for (int i = 0; i < 60; i++)
        out[i] = i * 37 % 61;
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
    tree_sort<<<1, 1>>>(out, 60);
    status = cudaDeviceSynchronize();
    wrong = 0;
    for (int i = 1; i < 60; i++)
        wrong += out[i - 1] > out[i];
    printf("tree sort: %d %d %d wrong %d %s\n", out[0], out[30], out[59], wrong,
           cudaGetErrorName(status));
    exhaust<<<1, 1>>>(out);
    status = cudaDeviceSynchronize();
    printf("exhaustion: %d %d %d %d %s\n", out[0], out[1], out[2], out[3],
           cudaGetErrorName(status));
    unsigned char *raw;
    cudaMallocManaged(&raw, 160);
    cudaMemset(raw, 0, 160);
    bytes<<<1, 4>>>(raw);
    cudaDeviceSynchronize();
    unsigned hash = 0;
    for (int i = 0; i < 160; i++)
        hash = hash * 31 + raw[i];
    printf("bytes: %02x %02x %02x %02x hash %08x\n", raw[0], raw[1], raw[2], raw[80 + 33], hash);
    return 0;
}
