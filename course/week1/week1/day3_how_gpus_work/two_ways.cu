// two_ways: even elements are weighed, odd ones get their distance from a table.
//   y[i] = sum of w[k] * x[i]                       for even i
//   y[i] = sum of (x[i] - w[k]) * (x[i] - w[k])     for odd i,   k = 0 .. terms - 1
//
// A block has 256 threads and makes 256 elements. The result is right. But neighbouring threads go
// different ways, so that every warp has to walk both.
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    // TODO: deal the block's elements to its threads in another order, so that all lanes of a warp
    // have even ones, or all have odd ones.
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    if (i % 2 == 0) {
        for (int k = 0; k < terms; k++)
            sum += w[k] * x[i];
    } else {
        for (int k = 0; k < terms; k++)
            sum += (x[i] - w[k]) * (x[i] - w[k]);
    }
    y[i] = sum;
}
