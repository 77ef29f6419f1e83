// A small ray tracer: spheres and a checked floor, shadows, reflections by a loop and by
// recursion, classes with operators, drawn in characters. Without fused multiply-add; sqrt and
// division are IEEE, so the CPU draws the same picture with the same code.
// flags: -fmad=false

#include <cmath>
#include <cstdio>
#include <vector>

struct vec {
    float x, y, z;
    vec() = default;
    __host__ __device__ vec(float a, float b, float c) : x(a), y(b), z(c)
    {
    }
    __host__ __device__ vec operator+(vec o) const
    {
        return vec(x + o.x, y + o.y, z + o.z);
    }
    __host__ __device__ vec operator-(vec o) const
    {
        return vec(x - o.x, y - o.y, z - o.z);
    }
    __host__ __device__ vec operator*(float s) const
    {
        return vec(x * s, y * s, z * s);
    }
    __host__ __device__ float dot(vec o) const
    {
        return x * o.x + y * o.y + z * o.z;
    }
    __host__ __device__ vec unit() const
    {
        return *this * (1.0f / sqrtf(dot(*this)));
    }
};

struct sphere {
    vec centre;
    float radius, shade, mirror;
};

struct hit {
    float distance, shade, mirror;
    vec point, normal;
};

__host__ __device__ bool trace(const sphere *spheres, int n, vec from, vec to, hit &h)
{
    h.distance = 1e9f;
    for (int i = 0; i < n; i++) {
        vec m = from - spheres[i].centre;
        float b = m.dot(to), c = m.dot(m) - spheres[i].radius * spheres[i].radius, q = b * b - c;
        if (q < 0)
            continue;
        float t = -b - sqrtf(q);
        if (t > 0.001f && t < h.distance) {
            h.distance = t;
            h.point = from + to * t;
            h.normal = (h.point - spheres[i].centre).unit();
            h.shade = spheres[i].shade;
            h.mirror = spheres[i].mirror;
        }
    }
    if (to.y < 0) {
        float t = -(from.y + 1.0f) / to.y;
        if (t > 0.001f && t < h.distance && t < 40.0f) {
            h.distance = t;
            h.point = from + to * t;
            h.normal = vec(0, 1, 0);
            int square = (int)floorf(h.point.x) + (int)floorf(h.point.z);
            h.shade = square & 1 ? 0.9f : 0.3f;
            h.mirror = 0.1f;
        }
    }
    return h.distance < 1e8f;
}

__host__ __device__ float light(const sphere *spheres, int n, const hit &h)
{
    vec sun = vec(-0.5f, 0.8f, -0.4f).unit();
    float amount = h.normal.dot(sun);
    hit shadow;
    if (amount <= 0 || trace(spheres, n, h.point, sun, shadow))
        amount = 0;
    return h.shade * (0.15f + 0.85f * amount);
}

__host__ __device__ float by_loop(const sphere *spheres, int n, vec from, vec to)
{
    float result = 0, weight = 1;
    for (int bounce = 0; bounce < 4; bounce++) {
        hit h;
        if (!trace(spheres, n, from, to, h))
            return result + weight * (0.4f + 0.3f * to.y);
        result += weight * (1 - h.mirror) * light(spheres, n, h);
        weight *= h.mirror;
        from = h.point;
        to = to - h.normal * (2 * to.dot(h.normal));
    }
    return result;
}

__device__ float by_recursion(const sphere *spheres, int n, vec from, vec to, int depth)
{
    hit h;
    if (depth == 4)
        return 0;
    if (!trace(spheres, n, from, to, h))
        return 0.4f + 0.3f * to.y;
    vec mirrored = to - h.normal * (2 * to.dot(h.normal));
    float own = (1 - h.mirror) * light(spheres, n, h);
    return own + h.mirror * by_recursion(spheres, n, h.point, mirrored, depth + 1);
}

__constant__ sphere scene[5];
const int W = 76, H = 36;

__host__ __device__ vec ray(int x, int y)
{
    return vec((x - W / 2) / (W * 0.5f), (H / 2 - y) / (W * 0.25f), 1.2f).unit();
}

__global__ void render(float *loop, float *recursive)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    loop[y * W + x] = by_loop(scene, 5, vec(0, 0.3f, -4), ray(x, y));
    recursive[y * W + x] = by_recursion(scene, 5, vec(0, 0.3f, -4), ray(x, y), 0);
}

int main()
{
    const sphere spheres[5] = {{vec(0, 0, 0), 1, 0.9f, 0.4f},
                               {vec(-1.8f, -0.4f, 0.5f), 0.6f, 0.5f, 0.2f},
                               {vec(1.9f, -0.3f, -0.3f), 0.7f, 0.7f, 0.6f},
                               {vec(0.6f, -0.75f, -1.3f), 0.25f, 1, 0},
                               {vec(0, 2.2f, 2), 0.8f, 0.6f, 0.8f}};
    cudaMemcpyToSymbol(scene, spheres, sizeof spheres);
    cudaDeviceSetLimit(cudaLimitStackSize, 8192);
    float *loop, *recursive;
    cudaMallocManaged(&loop, W * H * 4);
    cudaMallocManaged(&recursive, W * H * 4);
    render<<<dim3((W + 7) / 8, (H + 3) / 4), dim3(8, 4)>>>(loop, recursive);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    int wrong = 0;
    double far = 0, sum = 0;
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            float value = loop[y * W + x], want = by_loop(spheres, 5, vec(0, 0.3f, -4), ray(x, y));
            wrong += value != want;
            far = fmax(far, fabs(value - recursive[y * W + x]));
            sum += value;
            int shade = (int)(value * 10);
            putchar(" .:-=+*#%@"[shade < 0 ? 0 : shade > 9 ? 9 : shade]);
        }
        putchar('\n');
    }
    printf("sum %.4f, different from the CPU %d, recursion agrees %s\n", sum, wrong,
           far < 1e-5 ? "yes" : "NO");
    return 0;
}
