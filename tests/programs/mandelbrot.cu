// Mandelbrot and Julia sets, drawn in characters: long divergent loops with early exit. Without
// fused multiply-add, so that the escape counts equal the CPU's.
// flags: -fmad=false

#include <cstdio>
#include <vector>

__host__ __device__ inline int escape(float zx, float zy, float cx, float cy, int limit)
{
    int i = 0;
    while (i < limit && zx * zx + zy * zy <= 4.0f) {
        float next = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = next;
        i++;
    }
    return i;
}

__global__ void mandelbrot(int *out, int w, int h, float x0, float y0, float step, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = escape(0, 0, x0 + x * step, y0 + y * step, limit);
}

template <typename T> struct complex_number {
    T re, im;
    __device__ complex_number(T r, T i) : re(r), im(i)
    {
    }
    __device__ T norm() const
    {
        return re * re + im * im;
    }
    __device__ complex_number operator*(const complex_number &o) const
    {
        return complex_number(re * o.re - im * o.im, im * o.re + re * o.im);
    }
    __device__ complex_number operator+(const complex_number &o) const
    {
        return complex_number(re + o.re, im + o.im);
    }
};

__global__ void julia(unsigned char *out, int w, int h)
{
    int x = blockIdx.x, y = threadIdx.x;
    complex_number<double> z(1.5 * (w / 2 - x) / (w / 2), 1.0 * (h / 2 - y) / (h / 2));
    const complex_number<double> c(-0.8, 0.156);
    int i = 0;
    for (; i < 200; i++) {
        z = z * z + c;
        if (z.norm() > 1000)
            break;
    }
    out[y * w + x] = (unsigned char)i;
}

int main()
{
    const int w = 78, h = 32, limit = 256;
    int *out;
    cudaMallocManaged(&out, w * h * sizeof(int));
    mandelbrot<<<dim3((w + 7) / 8, (h + 7) / 8), dim3(8, 8)>>>(out, w, h, -2.1f, -1.2f, 0.0375f,
                                                               limit);
    cudaDeviceSynchronize();
    const char *shades = " .:-=+*%@#";
    long long total = 0;
    int wrong = 0;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            int count = out[y * w + x];
            total += count;
            wrong += count != escape(0, 0, -2.1f + x * 0.0375f, -1.2f + y * 0.0375f, limit);
            putchar(count == limit ? '#' : shades[count < 9 ? count : 9 - 1]);
        }
        putchar('\n');
    }
    printf("iterations %lld, different from the CPU %d\n", total, wrong);

    unsigned char *image;
    cudaMalloc(&image, 64 * 48);
    julia<<<64, 48>>>(image, 64, 48);
    std::vector<unsigned char> host(64 * 48);
    cudaMemcpy(host.data(), image, host.size(), cudaMemcpyDeviceToHost);
    unsigned hash = 0;
    for (unsigned char v : host)
        hash = hash * 31 + v;
    printf("julia: %d %d %d hash %08x\n", host[0], host[24 * 64 + 32], host[10 * 64 + 40], hash);
    return 0;
}
