// cluster_async_alone.cu: st.async in a block that is alone: fine in a cluster of one block, an
// illegal instruction in a launch without a cluster. The barrier of the cluster runs in both.
// flags: -arch=sm_90

#include <cstdio>

__global__ void store(bool async, float *out)
{
    __shared__ float slot[2];
    __shared__ unsigned long long counter;
    unsigned to = (unsigned)__cvta_generic_to_shared(slot);
    unsigned bytes = (unsigned)__cvta_generic_to_shared(&counter);
    if (threadIdx.x == 0) {
        slot[0] = slot[1] = 0;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bytes) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile(
            "{ .reg .b64 x; mbarrier.arrive.expect_tx.shared::cta.b64 x, [%0], 8; }" ::"r"(bytes)
            : "memory");
    }
    asm volatile(
        "barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
            : "memory");
    if (threadIdx.x == 0 && async) {
        asm volatile(
            "{ .reg .b32 there, at; mapa.shared::cluster.u32 there, %0, 0; "
            "mapa.shared::cluster.u32 at, %1, 0; "
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [there], {%2, %2}, "
            "[at]; }" ::"r"(to),
            "r"(bytes), "f"(7.0f)
            : "memory");
        for (unsigned done = 0; !done;)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; "
                         "selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(bytes)
                         : "memory");
    }
    if (threadIdx.x == 0)
        *out = slot[1];
}

static void run(const char *name, bool cluster, bool async, float *out)
{
    cudaLaunchAttribute attribute[1];
    cudaLaunchConfig_t config = {};
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim = {1, 1, 1};
    config.gridDim = 1;
    config.blockDim = 32;
    config.attrs = attribute;
    config.numAttrs = cluster;
    cudaError_t launch = cudaLaunchKernelEx(&config, store, async, out);
    cudaError_t end = cudaDeviceSynchronize();
    printf("%s: %s, %s\n", name, cudaGetErrorName(launch), cudaGetErrorName(end));
}

int main()
{
    float *out;
    cudaMallocManaged(&out, sizeof *out);
    run("barrier, no cluster", false, false, out);
    run("st.async, cluster of one", true, true, out);
    printf("stored %g\n", *out);
    run("st.async, no cluster", false, true, out);
    return 0;
}
