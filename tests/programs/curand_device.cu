// cuRAND's device API, which is header-only: XORWOW, Philox, MRG32k3a; integers print exactly,
// uniforms exactly (they are scaled integers), normals with few digits.
// flags: -std=c++17
// needs: curand_kernel.h

#include <cstdio>
#include <curand_kernel.h>

__global__ void integers(unsigned *out)
{
    int t = threadIdx.x;
    curandState xorwow;
    curand_init(1234, t, 0, &xorwow);
    out[t * 4] = curand(&xorwow);
    out[t * 4 + 1] = curand(&xorwow);
    skipahead(10ull, &xorwow);
    out[t * 4 + 2] = curand(&xorwow);
    curandStatePhilox4_32_10_t philox;
    curand_init(1234, t, 7, &philox);
    out[t * 4 + 3] = curand(&philox);
}

__global__ void philox_four(uint4 *out)
{
    curandStatePhilox4_32_10_t state;
    curand_init(99, threadIdx.x, 0, &state);
    curand4(&state);
    out[threadIdx.x] = curand4(&state);
}

__global__ void floats(float *uniforms, double *doubles, float *normals)
{
    int t = threadIdx.x;
    curandStateMRG32k3a_t mrg;
    curand_init(7, t, 0, &mrg);
    doubles[t] = curand_uniform_double(&mrg);
    curandStateXORWOW_t state;
    curand_init(7, t, 0, &state);
    uniforms[t] = curand_uniform(&state);
    float2 pair = curand_normal2(&state);
    normals[2 * t] = pair.x;
    normals[2 * t + 1] = pair.y;
}

__global__ void setup(curandState *states)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(2024, t, 0, &states[t]);
}

__global__ void estimate_pi(curandState *states, unsigned *inside, int samples)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    curandState local = states[t];
    unsigned count = 0;
    for (int i = 0; i < samples; i++) {
        float x = curand_uniform(&local), y = curand_uniform(&local);
        count += __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 1.0f;
    }
    states[t] = local;
    atomicAdd(inside, count);
}

int main()
{
    unsigned *ints;
    uint4 *fours;
    float *uniforms, *normals;
    double *doubles;
    cudaMallocManaged(&ints, 32 * 4 * 4);
    cudaMallocManaged(&fours, 32 * sizeof(uint4));
    cudaMallocManaged(&uniforms, 32 * 4);
    cudaMallocManaged(&normals, 64 * 4);
    cudaMallocManaged(&doubles, 32 * 8);
    integers<<<1, 32>>>(ints);
    philox_four<<<1, 32>>>(fours);
    floats<<<1, 32>>>(uniforms, doubles, normals);
    cudaDeviceSynchronize();
    for (int t = 0; t < 32; t += 10)
        printf("sequence %2d: xorwow %u %u skip 10: %u philox %u | %u %u %u %u\n", t, ints[t * 4],
               ints[t * 4 + 1], ints[t * 4 + 2], ints[t * 4 + 3], fours[t].x, fours[t].y,
               fours[t].z, fours[t].w);
    for (int t = 0; t < 32; t += 10)
        printf("uniform %.9g mrg %.17g normal %.3f %.3f\n", uniforms[t], doubles[t], normals[2 * t],
               normals[2 * t + 1]);

    curandState *states;
    unsigned *inside;
    cudaMalloc(&states, 512 * sizeof(curandState));
    cudaMallocManaged(&inside, 4);
    *inside = 0;
    setup<<<4, 128>>>(states);
    estimate_pi<<<4, 128>>>(states, inside, 50);
    estimate_pi<<<4, 128>>>(states, inside, 50);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("inside %u, pi about %.3f\n", *inside, 4.0 * *inside / (512 * 100));
    return 0;
}
