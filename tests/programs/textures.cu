// Textures and surfaces of the runtime API: a Sobel filter by texture, a box blur by surface, a
// volume sampled in between, layers, a mipmap, and linear memory; compared with loops on the host.
#include <cstdio>
#include <cmath>
#include <vector>

#define W 64
#define H 48

__global__ void sobel(cudaTextureObject_t image, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    float p[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            p[j][i] = tex2D<float>(image, x + i - 0.5f, y + j - 0.5f);
    float gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    float gy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    out[y * W + x] = fabsf(gx) + fabsf(gy);
}

__global__ void blur(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    float sum = 0;
    for (int i = -2; i <= 2; i++) {
        float v;
        surf2Dread(&v, from, (x + i) * (int)sizeof(float), y, cudaBoundaryModeClamp);
        sum += v;
    }
    surf2Dwrite(sum / 5, to, x * (int)sizeof(float), y);
}

__global__ void sample(cudaTextureObject_t volume, cudaTextureObject_t layers,
                       cudaTextureObject_t mipmap, cudaTextureObject_t line, float *out)
{
    int i = threadIdx.x;
    out[i] = tex3D<float>(volume, i / 8.0f + 0.25f, 1.5f, 1.0f);
    out[32 + i] = tex2DLayered<float>(layers, i % 4 + 0.5f, 0.5f, i / 8);
    out[64 + i] = tex2DLod<float>(mipmap, 0.5f, 0.5f, (float)(i % 4));
    out[96 + i] = tex1Dfetch<float>(line, i * 2);
}

static int failed;
static void same(const char *what, float got, float want, float bound)
{
    if (!(fabsf(got - want) <= bound) && !failed++)
        printf("%s: %g instead of %g\n", what, got, want);
}

static cudaTextureObject_t texture(cudaResourceDesc r, cudaTextureFilterMode filter, bool normalised)
{
    cudaTextureDesc t = {};
    for (int k = 0; k < 3; k++)
        t.addressMode[k] = cudaAddressModeClamp;
    t.filterMode = filter;
    t.mipmapFilterMode = cudaFilterModePoint;
    t.maxMipmapLevelClamp = 10;
    t.normalizedCoords = normalised;
    cudaTextureObject_t object = 0;
    if (cudaCreateTextureObject(&object, &r, &t, NULL) != cudaSuccess)
        failed++;
    return object;
}

static cudaResourceDesc of(cudaArray_t array)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    return r;
}

int main()
{
    std::vector<float> image(W * H), got(W * H), back(W * H);
    for (int i = 0; i < W * H; i++)
        image[i] = (float)((i * 7919) % 1000) / 8;
    auto at = [&](int x, int y) {
        x = x < 0 ? 0 : x >= W ? W - 1 : x;
        y = y < 0 ? 0 : y >= H ? H - 1 : y;
        return image[y * W + x];
    };
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaArray_t a, b;
    cudaMallocArray(&a, &f, W, H, cudaArraySurfaceLoadStore);
    cudaMallocArray(&b, &f, W, H, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(a, 0, 0, image.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice);
    float *out;
    cudaMalloc(&out, W * H * 4);
    dim3 block(16, 8), grid((W + 15) / 16, (H + 7) / 8);
    cudaTextureObject_t t = texture(of(a), cudaFilterModePoint, false);
    sobel<<<grid, block>>>(t, out);
    cudaMemcpy(got.data(), out, W * H * 4, cudaMemcpyDeviceToHost);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float gx = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) -
                       2 * at(x - 1, y) - at(x - 1, y + 1);
            float gy = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) -
                       2 * at(x, y - 1) - at(x + 1, y - 1);
            same("sobel", got[y * W + x], fabsf(gx) + fabsf(gy), 0);
        }
    cudaSurfaceObject_t sa, sb;
    cudaResourceDesc ra = of(a), rb = of(b);
    cudaCreateSurfaceObject(&sa, &ra);
    cudaCreateSurfaceObject(&sb, &rb);
    blur<<<grid, block>>>(sa, sb);
    cudaMemcpy2DFromArray(back.data(), W * 4, b, 0, 0, W * 4, H, cudaMemcpyDeviceToHost);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float sum = 0;
            for (int i = -2; i <= 2; i++)
                sum += at(x + i, y);
            same("blur", back[y * W + x], sum / 5, 1e-4f);
        }

    std::vector<float> v(8 * 4 * 4), l(4 * 2 * 4), line(128);
    for (size_t i = 0; i < v.size(); i++)
        v[i] = (float)i;
    for (size_t i = 0; i < l.size(); i++)
        l[i] = (float)i * 3;
    for (size_t i = 0; i < line.size(); i++)
        line[i] = (float)i * 5;
    cudaArray_t volume, layers;
    cudaMalloc3DArray(&volume, &f, make_cudaExtent(8, 4, 4), 0);
    cudaMalloc3DArray(&layers, &f, make_cudaExtent(4, 2, 4), cudaArrayLayered);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(v.data(), 32, 8, 4);
    p.dstArray = volume;
    p.extent = make_cudaExtent(8, 4, 4);
    p.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&p);
    p.srcPtr = make_cudaPitchedPtr(l.data(), 16, 4, 2);
    p.dstArray = layers;
    p.extent = make_cudaExtent(4, 2, 4);
    cudaMemcpy3D(&p);
    cudaMipmappedArray_t mipmap;
    cudaMallocMipmappedArray(&mipmap, &f, make_cudaExtent(8, 8, 0), 4, 0);
    for (int level = 0; level < 4; level++) {
        cudaArray_t part;
        cudaGetMipmappedArrayLevel(&part, mipmap, level);
        std::vector<float> fill((8 >> level) * (8 >> level), (float)(100 + level));
        size_t row = (size_t)(8 >> level) * 4;
        cudaMemcpy2DToArray(part, 0, 0, fill.data(), row, row, 8 >> level, cudaMemcpyHostToDevice);
    }
    float *memory;
    cudaMalloc(&memory, line.size() * 4);
    cudaMemcpy(memory, line.data(), line.size() * 4, cudaMemcpyHostToDevice);
    cudaResourceDesc rm = {}, rl = {};
    rm.resType = cudaResourceTypeMipmappedArray;
    rm.res.mipmap.mipmap = mipmap;
    rl.resType = cudaResourceTypeLinear;
    rl.res.linear.devPtr = memory;
    rl.res.linear.desc = f;
    rl.res.linear.sizeInBytes = line.size() * 4;
    cudaTextureObject_t tv = texture(of(volume), cudaFilterModeLinear, false);
    cudaTextureObject_t tl = texture(of(layers), cudaFilterModePoint, false);
    cudaTextureObject_t tm = texture(rm, cudaFilterModePoint, true);
    cudaTextureObject_t tt = texture(rl, cudaFilterModePoint, false);
    sample<<<1, 32>>>(tv, tl, tm, tt, out);
    cudaMemcpy(got.data(), out, 128 * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) {
        float x = i / 8.0f + 0.25f - 0.5f;
        x = x < 0 ? 0 : x;
        same("volume", got[i], x + 8 * 1 + 32 * 0.5f, 0);
        same("layers", got[32 + i], (float)((i / 8) * 8 + i % 4) * 3, 0);
        same("mipmap", got[64 + i], (float)(100 + i % 4), 0);
        same("line", got[96 + i], (float)(i * 2 * 5), 0);
    }
    cudaExtent extent;
    unsigned flags;
    cudaChannelFormatDesc desc;
    cudaArrayGetInfo(&desc, &extent, &flags, layers);
    if (extent.width != 4 || extent.height != 2 || extent.depth != 4 || flags != cudaArrayLayered ||
        desc.x != 32 || desc.f != cudaChannelFormatKindFloat)
        failed++;
    cudaTextureObject_t all[] = {t, tv, tl, tm, tt};
    for (cudaTextureObject_t object : all)
        cudaDestroyTextureObject(object);
    cudaDestroySurfaceObject(sa);
    cudaDestroySurfaceObject(sb);
    cudaArray_t arrays[] = {a, b, volume, layers};
    for (cudaArray_t array : arrays)
        cudaFreeArray(array);
    cudaFreeMipmappedArray(mipmap);
    cudaFree(out);
    cudaFree(memory);
    cudaError_t error = cudaGetLastError();
    printf("%s\n", failed || error ? cudaGetErrorString(error) : "ok");
    return failed != 0;
}
