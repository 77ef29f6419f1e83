// Heat in a box: a 7-point stencil, naive, with shared-memory planes, and with registers that slide
// along z; ping-pong for a few steps. Compiled without fused multiply-add, so the CPU must agree
// to the last bit.
// flags: -fmad=false

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

const int NX = 40, NY = 24, NZ = 20;
#define AT(x, y, z) (((z)*NY + (y)) * NX + (x))

__global__ void naive(const float *in, float *out, float a, float b)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= NX - 1 || y >= NY - 1 || z >= NZ - 1)
        return;
    float sum = in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)];
    sum += in[AT(x, y - 1, z)] + in[AT(x, y + 1, z)];
    sum += in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)];
    out[AT(x, y, z)] = a * in[AT(x, y, z)] + b * sum;
}

template <int TX, int TY> __global__ void sliding(const float *in, float *out, float a, float b)
{
    __shared__ float plane[TY + 2][TX + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * TX + tx, y = blockIdx.y * TY + ty;
    bool inside = x < NX - 1 && y < NY - 1;
    float below = inside ? in[AT(x, y, 0)] : 0, here = inside ? in[AT(x, y, 1)] : 0;
    for (int z = 1; z < NZ - 1; z++) {
        float above = inside ? in[AT(x, y, z + 1)] : 0;
        __syncthreads();
        if (inside) {
            plane[ty][tx] = here;
            if (tx == 1)
                plane[ty][0] = in[AT(x - 1, y, z)];
            if (tx == TX || x == NX - 2)
                plane[ty][tx + 1] = in[AT(x + 1, y, z)];
            if (ty == 1)
                plane[0][tx] = in[AT(x, y - 1, z)];
            if (ty == TY || y == NY - 2)
                plane[ty + 1][tx] = in[AT(x, y + 1, z)];
        }
        __syncthreads();
        if (inside) {
            float sum = plane[ty][tx - 1] + plane[ty][tx + 1];
            sum += plane[ty - 1][tx] + plane[ty + 1][tx];
            sum += below + above;
            out[AT(x, y, z)] = a * here + b * sum;
        }
        below = here;
        here = above;
    }
}

int main()
{
    const int n = NX * NY * NZ, steps = 10;
    const float a = 0.4f, b = 0.1f;
    std::vector<float> start(n), cpu[2], got(n);
    for (int i = 0; i < n; i++)
        start[i] = (float)(i * 7919 % 1000) / 10.0f;
    cpu[0] = cpu[1] = start;
    for (int s = 0; s < steps; s++) {
        const float *in = cpu[s % 2].data();
        float *out = cpu[1 - s % 2].data();
        for (int z = 1; z < NZ - 1; z++)
            for (int y = 1; y < NY - 1; y++)
                for (int x = 1; x < NX - 1; x++) {
                    float sum = in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)];
                    sum += in[AT(x, y - 1, z)] + in[AT(x, y + 1, z)];
                    sum += in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)];
                    out[AT(x, y, z)] = a * in[AT(x, y, z)] + b * sum;
                }
    }
    float *from, *to;
    cudaMalloc(&from, n * 4);
    cudaMalloc(&to, n * 4);
    for (int which = 0; which < 2; which++) {
        cudaMemcpy(from, start.data(), n * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(to, from, n * 4, cudaMemcpyDeviceToDevice);
        for (int s = 0; s < steps; s++) {
            if (which == 0)
                naive<<<dim3(5, 6, 5), dim3(8, 4, 4)>>>(from, to, a, b);
            else
                sliding<16, 8><<<dim3((NX + 13) / 16, (NY + 5) / 8), dim3(16, 8)>>>(from, to, a, b);
            std::swap(from, to);
        }
        cudaMemcpy(got.data(), from, n * 4, cudaMemcpyDeviceToHost);
        double sum = 0;
        for (float v : got)
            sum += v;
        bool same = memcmp(got.data(), cpu[steps % 2].data(), n * 4) == 0;
        printf("%s: centre %.7g corner %.7g sum %.6f %s\n", which ? "sliding" : "naive",
               got[AT(NX / 2, NY / 2, NZ / 2)], got[AT(1, 1, 1)], sum,
               same ? "bit for bit" : "DIFFERS");
    }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
