// All-pairs n-body after the well-known chapter: float4 bodies, shared-memory tiles, rsqrtf, then
// leapfrog steps. rsqrtf is an approximation, so energies and positions print with few digits, and
// a version with 1/sqrt in IEEE arithmetic is compared with the CPU bit for bit.
// flags: -fmad=false

#include <cmath>
#include <cstdio>
#include <vector>

const int N = 256, TILE = 64;

template <bool EXACT> __host__ __device__ inline float inverse_root(float x)
{
#ifdef __CUDA_ARCH__
    if (!EXACT)
        return rsqrtf(x);
#endif
    return 1.0f / sqrtf(x);
}

template <bool EXACT> __host__ __device__ inline float3 interact(float4 i, float4 j, float3 a)
{
    float dx = j.x - i.x, dy = j.y - i.y, dz = j.z - i.z;
    float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
    float inv = inverse_root<EXACT>(d2);
    float s = j.w * (inv * inv * inv);
    a.x += dx * s;
    a.y += dy * s;
    a.z += dz * s;
    return a;
}

template <bool EXACT> __global__ void accelerate(const float4 *bodies, float3 *acceleration)
{
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 me = bodies[i];
    float3 a = {0, 0, 0};
    for (int t = 0; t < N / TILE; t++) {
        tile[threadIdx.x] = bodies[t * TILE + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < TILE; j++)
            a = interact<EXACT>(me, tile[j], a);
        __syncthreads();
    }
    acceleration[i] = a;
}

__global__ void integrate(float4 *bodies, float3 *velocity, const float3 *a, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float3 v = velocity[i];
    v.x += a[i].x * dt, v.y += a[i].y * dt, v.z += a[i].z * dt;
    velocity[i] = v;
    bodies[i].x += v.x * dt;
    bodies[i].y += v.y * dt;
    bodies[i].z += v.z * dt;
}

static float uniform(unsigned &state)
{
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 16777216.0f * 2.0f - 1.0f;
}

int main()
{
    std::vector<float4> start(N), bodies(N);
    unsigned state = 42;
    for (auto &b : start) {
        b.x = uniform(state), b.y = uniform(state), b.z = uniform(state);
        b.w = 1.0f / N;
    }
    float4 *db;
    float3 *dv, *da;
    cudaMalloc(&db, N * sizeof(float4));
    cudaMalloc(&dv, N * sizeof(float3));
    cudaMalloc(&da, N * sizeof(float3));
    cudaMemcpy(db, start.data(), N * sizeof(float4), cudaMemcpyHostToDevice);

    std::vector<float3> a(N);
    accelerate<true><<<N / TILE, TILE>>>(db, da);
    cudaMemcpy(a.data(), da, N * sizeof(float3), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        float3 r = {0, 0, 0};
        for (int j = 0; j < N; j++)
            r = interact<true>(start[i], start[j], r);
        wrong += r.x != a[i].x || r.y != a[i].y || r.z != a[i].z;
    }
    printf("IEEE: a[0] = %.9g %.9g %.9g, different from the CPU: %d\n", a[0].x, a[0].y, a[0].z,
           wrong);

    cudaMemset(dv, 0, N * sizeof(float3));
    for (int step = 0; step < 10; step++) {
        accelerate<false><<<N / TILE, TILE>>>(db, da);
        integrate<<<N / 128, 128>>>(db, dv, da, 0.01f);
    }
    std::vector<float3> v(N);
    cudaMemcpy(bodies.data(), db, N * sizeof(float4), cudaMemcpyDeviceToHost);
    cudaMemcpy(v.data(), dv, N * sizeof(float3), cudaMemcpyDeviceToHost);
    double kinetic = 0, moment = 0;
    for (int i = 0; i < N; i++) {
        kinetic += 0.5 * bodies[i].w * (v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
        moment += bodies[i].w * v[i].x;
    }
    printf("rsqrt: body 17 at %.3f %.3f %.3f, kinetic energy %.4f, momentum below 1e-6: %s\n",
           bodies[17].x, bodies[17].y, bodies[17].z, kinetic, fabs(moment) < 1e-6 ? "yes" : "no");
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
