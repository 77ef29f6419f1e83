// setmaxnreg_starved.cu: a warpgroup waits for registers that the others give back only after it.
// options: -arch=sm_90a
__global__ void __launch_bounds__(384, 1) roles(int *out)
{
    bool worker = threadIdx.x < 128;
#ifdef FIXED
    if (!worker)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
    if (worker) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); // expect: barrier "no other warp gives back"
        out[threadIdx.x] = 1;
        asm volatile("bar.sync 1, 384;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 384;" ::: "memory");
        out[threadIdx.x] = 2;
#ifndef FIXED
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
    }
}

int main()
{
    int *out;
    cudaMalloc(&out, 384 * sizeof(int));
    roles<<<1, 384>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
