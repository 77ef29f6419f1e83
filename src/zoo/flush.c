/*
 * flush.c: evicts the L2 between two samples. By reading: lines
 * that were written would be written back while the next sample is timed.
 */
#include "zoo/flush.h"

/* Every thread reads 16 bytes at a time; a result that cannot occur is stored, so
 * that the reads are needed. */
static const char reader[] = ".version 6.4\n"
                             ".target sm_75\n"
                             ".address_size 64\n"
                             ".visible .entry read_all(.param .u64 at, .param .u64 bytes)\n"
                             "{\n"
                             "    .reg .pred %p;\n"
                             "    .reg .u32 %r<8>, %s;\n"
                             "    .reg .u64 %at, %end, %step, %d<4>;\n"
                             "    ld.param.u64 %at, [at];\n"
                             "    ld.param.u64 %end, [bytes];\n"
                             "    cvta.to.global.u64 %at, %at;\n"
                             "    add.u64 %end, %at, %end;\n"
                             "    mov.u32 %r0, %ctaid.x;\n"
                             "    mov.u32 %r1, %ntid.x;\n"
                             "    mov.u32 %r2, %tid.x;\n"
                             "    mad.lo.u32 %r2, %r0, %r1, %r2;\n"
                             "    mul.wide.u32 %d0, %r2, 16;\n"
                             "    mov.u64 %d1, %at;\n"
                             "    add.u64 %at, %at, %d0;\n"
                             "    mov.u32 %r3, %nctaid.x;\n"
                             "    mul.lo.u32 %r3, %r3, %r1;\n"
                             "    mul.wide.u32 %step, %r3, 16;\n"
                             "    mov.u32 %s, 0;\n"
                             "next:\n"
                             "    setp.ge.u64 %p, %at, %end;\n"
                             "    @%p bra done;\n"
                             "    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%at];\n"
                             "    or.b32 %r4, %r4, %r5;\n"
                             "    or.b32 %r6, %r6, %r7;\n"
                             "    or.b32 %s, %s, %r4;\n"
                             "    or.b32 %s, %s, %r6;\n"
                             "    add.u64 %at, %at, %step;\n"
                             "    bra next;\n"
                             "done:\n"
                             "    setp.ne.u32 %p, %s, 0x5eed;\n"
                             "    @%p ret;\n"
                             "    st.global.u32 [%d1], %s;\n"
                             "    ret;\n"
                             "}\n";

CUresult zoo_flush_open(struct zoo_flush *flush, const struct zoo_device *device, size_t bytes)
{
    const struct lk_driver *cuda = device->cuda;
    *flush = (struct zoo_flush){.bytes = bytes / 16 * 16, .blocks = 4 * (unsigned)device->sm_count};
    CUresult status = cuda->cuMemAlloc_v2(&flush->at, bytes);
    if (status == CUDA_SUCCESS)
        status = cuda->cuMemsetD8_v2(flush->at, 0, bytes);
    if (status == CUDA_SUCCESS)
        status = cuda->cuModuleLoadData(&flush->module, reader);
    if (status == CUDA_SUCCESS)
        status = cuda->cuModuleGetFunction(&flush->read_all, flush->module, "read_all");
    return status == CUDA_SUCCESS ? cuda->cuCtxSynchronize() : status;
}

void zoo_flush_close(struct zoo_flush *flush, const struct zoo_device *device)
{
    if (flush->module)
        device->cuda->cuModuleUnload(flush->module);
    if (flush->at)
        device->cuda->cuMemFree_v2(flush->at);
    *flush = (struct zoo_flush){0};
}

CUresult zoo_flush(const struct zoo_flush *flush, const struct zoo_device *device, CUstream stream)
{
    CUdeviceptr at = flush->at;
    unsigned long long bytes = flush->bytes;
    return device->cuda->cuLaunchKernel(flush->read_all, flush->blocks, 1, 1, 256, 1, 1, 0, stream,
                                        (void *[]){&at, &bytes}, NULL);
}
