// pack: pixels[i] = red[i], green[i], blue[i]. A pixel is three floats, and pixels lie one behind the other:
// r0 g0 b0 r1 g1 b1 ..
//
// A block has 256 threads, one for each pixel. The result is right. But at every store the lanes of a warp
// stand 12 bytes apart.
__global__ void pack(const float *red, const float *green, const float *blue, float *pixels, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    // TODO: the block's pixels are 768 floats in a row. Put them together in shared memory, then write them
    // as a row, 256 at a time.
    if (i < n) {
        pixels[3 * i] = red[i];
        pixels[3 * i + 1] = green[i];
        pixels[3 * i + 2] = blue[i];
    }
}
