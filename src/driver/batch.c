/*
 * batch.c: calls that put several operations into a stream at once: copies of lines and boxes, and
 * waits for values and writes of them. The operations of a batch of copies may run in any order;
 * here they run one after the other.
 */
#include "driver/state.h"

enum { MEM_OPS_MAX = 256 };

/* Batches of copies take no legacy default stream. */
static bool may_take_batch(CUstream stream)
{
    return stream != CU_STREAM_LEGACY && (stream || drv_thread.per_thread_default);
}

static bool is_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* A source that the call must have read when it returns. */
static CUresult settle(CUmemcpySrcAccessOrder order, CUstream stream)
{
    return order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? drv_cuStreamSynchronize(stream)
                                                               : CUDA_SUCCESS;
}

/* attributes[k] holds from copy starts[k] to the next one's start; the first starts at 0. */
static CUresult check_attributes(const CUmemcpyAttributes *attributes, const size_t *starts,
                                 size_t attribute_count, size_t count)
{
    if (!attribute_count)
        return CUDA_SUCCESS;
    if (!attributes || !starts || attribute_count > count || starts[0] != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < attribute_count; k++)
        if (!is_order(attributes[k].srcAccessOrder) || starts[k] >= count ||
            (k && starts[k] <= starts[k - 1]))
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult drv_cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                                CUmemcpyAttributes *attributes, size_t *starts,
                                size_t attribute_count, size_t *failed, CUstream stream)
{
    if (failed)
        *failed = SIZE_MAX;
    if (!to || !from || !sizes || !count || !may_take_batch(stream))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = check_attributes(attributes, starts, attribute_count, count);
    for (size_t i = 0, k = 0; i < count && status == CUDA_SUCCESS; i++) {
        while (k + 1 < attribute_count && starts[k + 1] <= i)
            k++;
        status = drv_cuMemcpyAsync(to[i], from[i], sizes[i], stream);
        if (status == CUDA_SUCCESS && attribute_count)
            status = settle(attributes[k].srcAccessOrder, stream);
        if (status != CUDA_SUCCESS && failed)
            *failed = i;
    }
    return status;
}

CUresult drv_cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                                   CUmemcpyAttributes *attributes, size_t *starts,
                                   size_t attribute_count, CUstream stream)
{
    return drv_cuMemcpyBatchAsync(to, from, sizes, count, attributes, starts, attribute_count, NULL,
                                  stream);
}

/* Between two pointers an element is a byte; lengths of 0 mean a dense box. There are no arrays. */
static CUresult copy_box(const CUDA_MEMCPY3D_BATCH_OP *op, CUstream stream)
{
    const CUmemcpy3DOperand *from = &op->src, *to = &op->dst;
    if (!op->extent.width || !op->extent.height || !op->extent.depth ||
        !is_order(op->srcAccessOrder) || from->type != CU_MEMCPY_OPERAND_TYPE_POINTER ||
        to->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = from->op.ptr.ptr,
        .srcPitch = from->op.ptr.rowLength ? from->op.ptr.rowLength : op->extent.width,
        .srcHeight = from->op.ptr.layerHeight ? from->op.ptr.layerHeight : op->extent.height,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = to->op.ptr.ptr,
        .dstPitch = to->op.ptr.rowLength ? to->op.ptr.rowLength : op->extent.width,
        .dstHeight = to->op.ptr.layerHeight ? to->op.ptr.layerHeight : op->extent.height,
        .WidthInBytes = op->extent.width,
        .Height = op->extent.height,
        .Depth = op->extent.depth};
    CUresult status = drv_cuMemcpy3DAsync_v2(&copy, stream);
    return status == CUDA_SUCCESS ? settle(op->srcAccessOrder, stream) : status;
}

CUresult drv_cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                  unsigned long long flags, CUstream stream)
{
    if (failed)
        *failed = SIZE_MAX;
    if (!count || !ops || flags || !may_take_batch(stream))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = CUDA_SUCCESS;
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++) {
        status = copy_box(&ops[i], stream);
        if (status != CUDA_SUCCESS && failed)
            *failed = i;
    }
    return status;
}

CUresult drv_cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                     unsigned long long flags, CUstream stream)
{
    return drv_cuMemcpy3DBatchAsync(count, ops, NULL, flags, stream);
}

/* Values ----------------------------------------------------------------------------------------
 */

static CUresult value_op(CUstream stream, const CUstreamBatchMemOpParams *op)
{
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return drv_cuStreamWaitValue32_v2(stream, op->waitValue.address, op->waitValue.value,
                                          op->waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return drv_cuStreamWaitValue64_v2(stream, op->waitValue.address, op->waitValue.value64,
                                          op->waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return drv_cuStreamWriteValue32_v2(stream, op->writeValue.address, op->writeValue.value,
                                           op->writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return drv_cuStreamWriteValue64_v2(stream, op->writeValue.address, op->writeValue.value64,
                                           op->writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER: /* a stream's operations are in order already */
        return op->memoryBarrier.flags > 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: /* an attribute says that it cannot */
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult drv_cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops,
                                   unsigned flags)
{
    if (!count || count > MEM_OPS_MAX || !ops || flags)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && status == CUDA_SUCCESS; i++)
        status = value_op(stream, &ops[i]);
    return status;
}

CUresult drv_cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops,
                                unsigned flags)
{
    for (unsigned i = 0; ops && i < count && i < MEM_OPS_MAX; i++)
        if (ops[i].operation == CU_STREAM_MEM_OP_BARRIER) /* of the second version */
            return CUDA_ERROR_INVALID_VALUE;
    return drv_cuStreamBatchMemOp_v2(stream, count, ops, flags);
}

/* The first version of these differs in when a GPU has them. */
CUresult drv_cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags)
{
    return drv_cuStreamWaitValue32_v2(stream, address, value, flags);
}

CUresult drv_cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags)
{
    return drv_cuStreamWaitValue64_v2(stream, address, value, flags);
}

CUresult drv_cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                  unsigned flags)
{
    return drv_cuStreamWriteValue32_v2(stream, address, value, flags);
}

CUresult drv_cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                  unsigned flags)
{
    return drv_cuStreamWriteValue64_v2(stream, address, value, flags);
}
