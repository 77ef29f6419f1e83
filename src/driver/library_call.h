/*
 * library_call.h: calls of our drop-ins for cuBLAS, cuFFT and cuRAND: host code in a stream, on the
 * memory of a simulated GPU, with the time that the GPU would take by its roofline.
 */
#ifndef LOCKSTEP_DRIVER_LIBRARY_CALL_H
#define LOCKSTEP_DRIVER_LIBRARY_CALL_H

#include "cuda/abi.h"

#include <stdbool.h>
#include <stddef.h>

/* Which peak of the GPU the operations count against. */
enum lk_library_unit {
    LK_UNIT_F32,
    LK_UNIT_F64,
    LK_UNIT_TENSOR_F64,
    LK_UNIT_TENSOR_TF32,
    LK_UNIT_TENSOR_F16,
    LK_UNIT_TENSOR_F8,
    LK_UNIT_TENSOR_INT8,
    LK_UNIT_TO_DEVICE, /* a copy: the link to the host in place of memory and arithmetic */
    LK_UNIT_FROM_DEVICE
};

struct lk_library_call {
    const char *name; /* as the program knows it: "cublasSgemm"; a constant */
    void (*function)(void *data);
    const void *data; /* copied: a graph may run it again */
    size_t size;
    double operations, bytes;
    enum lk_library_unit unit;
};

/* Puts the call into the stream. CUDA_ERROR_NOT_INITIALIZED if there is no context. */
CUresult lk_library_call(CUstream stream, const struct lk_library_call *call);
/* For work that the client has done by itself, in order with the stream: the time that the GPU
 * would take for it, in the model and in profiles. name: a constant. In a capture it becomes a
 * node. */
CUresult lk_library_time(CUstream stream, const char *name, double operations, double bytes,
                         enum lk_library_unit unit);
/* Before such work: waits for all work of the current context as cuCtxSynchronize does, but in
 * modelled time the host does not wait, because a GPU would do the work in its stream. */
CUresult lk_library_settle(void);
/* A destructor for cuUserObjectCreate where the owner's own code may be gone by the time a graph
 * ends, as an interpreter that shuts down: it keeps the pointer until lk_library_ended takes it;
 * NULL: no more. */
void lk_library_end(void *pointer);
void *lk_library_ended(void);
/* For the function: where `size` bytes at a device address are, so that it can touch them; memory
 * of the host is where it is. NULL if they leave an allocation: the call fails then, as a kernel
 * that touches them would. */
void *lk_library_bytes(const void *address, size_t size);
/* For the function: these bytes of device memory are written now. */
void lk_library_wrote(const void *address, size_t size);
/* For the function: sums of products of f16 or bf16 as the tensor cores of the call's GPU add them
 * up. False if there is not enough memory. */
struct tensor_product;
bool lk_library_tensor_product(const struct tensor_product *product);
/* For the function: it fails, as a kernel that leaves its memory does; why: what is printed. */
void lk_library_fail(const char *why);
/* Makes the first device's primary context current if there is no context. */
CUresult lk_library_context(void);

#endif
