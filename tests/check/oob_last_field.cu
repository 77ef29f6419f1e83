// oob_last_field.cu: the loop over structures goes one too far, and touches only their last field
struct body { float x, y, z, mass; };
__global__ void go(body *bodies, int n)
{
#ifdef FIXED
    for (int i = threadIdx.x; i < n; i += 32)
#else
    for (int i = threadIdx.x; i <= n; i += 32)
#endif
        bodies[i].mass = 1; // expect: out_of_bounds
}

int main()
{
    body *a;
    cudaMalloc(&a, 100 * sizeof(body));
    go<<<1, 32>>>(a, 100);
    cudaDeviceSynchronize();
    cudaFree(a);
}
