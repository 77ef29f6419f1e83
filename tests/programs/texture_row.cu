// A 2D array of one row, as cudaMallocArray(..., width, 1) makes it, read with tex1D: interpolated,
// in texels, and beyond its ends.
// The lines follow from the texels by hand: i * i, and the means of neighbours.

#include <cstdio>

__global__ void read(cudaTextureObject_t row, bool normalized, float *out)
{
    int i = threadIdx.x;
    float x = (i - 2) * 0.5f + 0.5f; // the middle of a texel, and half way to the next
    out[i] = tex1D<float>(row, normalized ? x / 8 : x);
}

static cudaTextureObject_t bind(cudaArray_t array, bool normalized, cudaTextureAddressMode mode)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = mode;
    how.filterMode = cudaFilterModeLinear;
    how.normalizedCoords = normalized;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    return texture;
}

static void show(const char *name, cudaTextureObject_t texture, bool normalized)
{
    float *out;
    cudaMallocManaged(&out, 20 * sizeof *out);
    read<<<1, 20>>>(texture, normalized, out);
    cudaError_t status = cudaDeviceSynchronize();
    printf("%s: %s", name, cudaGetErrorName(status));
    for (int i = 0; i < 20 && !status; i++)
        printf(" %g", out[i]);
    printf("\n");
}

int main()
{
    float texels[8];
    for (int i = 0; i < 8; i++)
        texels[i] = i * i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t one;
    cudaMallocArray(&one, &format, 8, 1);
    cudaMemcpy2DToArray(one, 0, 0, texels, 32, 32, 1, cudaMemcpyHostToDevice);
    show("clamped", bind(one, false, cudaAddressModeClamp), false);
    show("normalised", bind(one, true, cudaAddressModeClamp), true);
    show("wrapped", bind(one, true, cudaAddressModeWrap), true);
    show("with a border", bind(one, false, cudaAddressModeBorder), false);
}
