// Indirect calls: virtual functions of objects built on the device, multiple inheritance, function
// pointers in tables, in constant memory and as kernel arguments, pointers fetched with
// cudaMemcpyFromSymbol, member-function pointers, calls that diverge between lanes.

#include <cstdio>

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const
    {
        return 0;
    }
    __device__ virtual ~shape()
    {
    }
};

struct named {
    char letter;
    __device__ explicit named(char l) : letter(l)
    {
    }
    __device__ virtual int code() const
    {
        return letter;
    }
};

struct square : shape {
    float side;
    __device__ explicit square(float s) : side(s)
    {
    }
    __device__ float area() const override
    {
        return side * side;
    }
    __device__ int corners() const override
    {
        return 4;
    }
};

struct triangle : shape, named {
    float base, height;
    __device__ triangle(float b, float h) : named('t'), base(b), height(h)
    {
    }
    __device__ float area() const override
    {
        return base * height / 2;
    }
    __device__ int corners() const override
    {
        return 3;
    }
    __device__ int code() const override
    {
        return letter + 1000;
    }
};

struct disc : shape {
    float radius;
    __device__ explicit disc(float r) : radius(r)
    {
    }
    __device__ float area() const override
    {
        return 3 * radius * radius;
    }
};

__global__ void build(shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    switch (i % 3) {
    case 0:
        shapes[i] = new square((float)i);
        break;
    case 1:
        shapes[i] = new triangle((float)i, 2.0f);
        break;
    default:
        shapes[i] = new disc((float)i);
        break;
    }
}

__global__ void measure(shape **shapes, float *areas, int *corners, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        areas[i] = shapes[i]->area(); // three ways within one warp
        corners[i] = shapes[i]->corners();
        if (i % 3 == 1) {
            named *name = static_cast<triangle *>(shapes[i]);
            corners[i] += name->code();
        }
    }
}

__global__ void destroy(shape **shapes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        delete shapes[i];
}

typedef int (*operation)(int, int);
__device__ int add(int a, int b)
{
    return a + b;
}
__device__ int subtract(int a, int b)
{
    return a - b;
}
__device__ int multiply(int a, int b)
{
    return a * b;
}
__device__ __noinline__ int power(int a, int b)
{
    int r = 1;
    for (int i = 0; i < b; i++)
        r *= a;
    return r;
}
__device__ operation operations[] = {add, subtract, multiply, power};
__constant__ operation favourite = multiply;
__device__ operation power_pointer = power;

__global__ void apply(int *out, operation given)
{
    int t = threadIdx.x;
    out[t] = operations[t % 4](t, 3) * 10 + (given != nullptr ? given(2, t % 5) : -1);
    if (t == 31)
        out[32] = favourite(6, 7);
}

struct machine {
    int state;
    __device__ void up(int n)
    {
        state += n;
    }
    __device__ void down(int n)
    {
        state -= 2 * n;
    }
};

__global__ void members(int *out)
{
    void (machine::*step[2])(int) = {&machine::up, &machine::down};
    machine m = {100};
    for (int i = 0; i < 10; i++)
        (m.*step[(i * threadIdx.x) % 2])(i);
    out[threadIdx.x] = m.state;
}

int main()
{
    const int n = 60;
    shape **shapes;
    float *areas;
    int *corners, *out;
    cudaMalloc(&shapes, n * sizeof *shapes);
    cudaMallocManaged(&areas, n * 4);
    cudaMallocManaged(&corners, n * 4);
    cudaMallocManaged(&out, 64 * 4);
    build<<<2, 32>>>(shapes, n);
    measure<<<2, 32>>>(shapes, areas, corners, n);
    destroy<<<2, 32>>>(shapes, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    double sum = 0;
    int count = 0;
    for (int i = 0; i < n; i++)
        sum += areas[i], count += corners[i];
    printf("shapes: %g %g %g corners %d %d %d total %.1f %d\n", areas[3], areas[4], areas[5],
           corners[3], corners[4], corners[5], sum, count);
    operation chosen;
    cudaMemcpyFromSymbol(&chosen, power_pointer, sizeof chosen);
    for (int with = 0; with < 2; with++) {
        apply<<<1, 32>>>(out, with ? chosen : nullptr);
        cudaDeviceSynchronize();
        printf("apply: %d %d %d %d %d, favourite %d\n", out[4], out[5], out[6], out[7], out[31],
               out[32]);
    }
    members<<<1, 4>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("members: %d %d %d %d\n", out[0], out[1], out[2], out[3]);
    return 0;
}
