// Conway's game of life on a torus: one thread a cell, then 32 cells a thread in the bits of a
// word with warp ballots to pack. Prints a glider after some generations.

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

const int W = 96, H = 64;

__global__ void step_bytes(const unsigned char *in, unsigned char *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                alive += in[(y + dy + H) % H * W + (x + dx + W) % W];
    out[y * W + x] = alive == 3 || (alive == 2 && in[y * W + x]);
}

__global__ void pack(const unsigned char *cells, unsigned *words)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y;
    unsigned word = __ballot_sync(~0u, cells[y * W + x]);
    if (threadIdx.x == 0)
        words[y * (W / 32) + blockIdx.x] = word;
}

__device__ void full_add(unsigned a, unsigned b, unsigned c, unsigned &sum, unsigned &carry)
{
    sum = a ^ b ^ c;
    carry = (a & b) | (c & (a ^ b));
}

__global__ void step_bits(const unsigned *in, unsigned *out)
{
    const int words = W / 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words * H)
        return;
    int x = i % words, y = i / words;
    unsigned row[3][3];
    for (int dy = 0; dy < 3; dy++) {
        const unsigned *line = in + (y + dy - 1 + H) % H * words;
        unsigned left = line[(x + words - 1) % words], mid = line[x], right = line[(x + 1) % words];
        row[dy][0] = __funnelshift_l(left, mid, 1);
        row[dy][1] = mid;
        row[dy][2] = __funnelshift_r(mid, right, 1);
    }
    unsigned s0, c0, s1, c1, s2, c2, s3, c3, s4, c4;
    full_add(row[0][0], row[0][1], row[0][2], s0, c0);
    full_add(row[2][0], row[2][1], row[2][2], s1, c1);
    s2 = row[1][0] ^ row[1][2];
    c2 = row[1][0] & row[1][2];
    full_add(s0, s1, s2, s3, c3); // ones
    full_add(c0, c1, c2, s4, c4); // twos, part
    unsigned twos = s4 ^ c3, fours = c4 | (s4 & c3);
    out[i] = twos & ~fours & (s3 | row[1][1]);
}

int main()
{
    std::vector<unsigned char> cells(W * H, 0);
    const char *glider[] = {".#.", "..#", "###"};
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            cells[(y + 2) * W + x + 2] = glider[y][x] == '#';
    unsigned state = 7;
    for (int y = 30; y < 60; y++)
        for (int x = 20; x < 90; x++) {
            state = state * 1103515245u + 12345u;
            cells[y * W + x] = (state >> 16 & 3) == 0;
        }
    unsigned char *a, *b;
    unsigned *wa, *wb;
    cudaMalloc(&a, W * H);
    cudaMalloc(&b, W * H);
    cudaMalloc(&wa, W * H / 8);
    cudaMalloc(&wb, W * H / 8);
    cudaMemcpy(a, cells.data(), W * H, cudaMemcpyHostToDevice);
    pack<<<dim3(W / 32, H), 32>>>(a, wa);

    const int generations = 40;
    for (int g = 0; g < generations; g++) {
        step_bytes<<<dim3(6, 8), dim3(16, 8)>>>(a, b);
        std::swap(a, b);
        step_bits<<<3, 64>>>(wa, wb);
        std::swap(wa, wb);
    }
    std::vector<unsigned> bits(W * H / 32), packed(W * H / 32);
    cudaMemcpy(cells.data(), a, W * H, cudaMemcpyDeviceToHost);
    cudaMemcpy(bits.data(), wa, W * H / 8, cudaMemcpyDeviceToHost);
    pack<<<dim3(W / 32, H), 32>>>(a, wb);
    cudaMemcpy(packed.data(), wb, W * H / 8, cudaMemcpyDeviceToHost);
    int population = 0;
    unsigned hash = 0;
    for (int i = 0; i < W * H; i++)
        population += cells[i];
    for (unsigned word : bits)
        hash = hash * 1000003u ^ word;
    printf("generation %d: population %d hash %08x both ways %s\n", generations, population, hash,
           bits == packed ? "equal" : "DIFFER");
    for (int y = 10; y < 20; y++) {
        for (int x = 8; x < 24; x++)
            putchar(cells[y * W + x] ? '#' : '.');
        putchar('\n');
    }
    return cudaGetLastError() != cudaSuccess;
}
