/*
 * builtin.h: how a function that the machine provides reads its arguments, as the caller laid them
 * out, and returns its result. Such a function runs lane after lane.
 */
#ifndef LOCKSTEP_SIMT_BUILTIN_H
#define LOCKSTEP_SIMT_BUILTIN_H

#include "simt/core.h"

#include <string.h>

static inline const struct simt_call *builtin_call(const struct simt_inst *in)
{
    return (const struct simt_call *)(const void *)in->list;
}

static inline uint8_t *builtin_place(struct simt_warp *w, const struct simt_place *place,
                                     uint32_t lane)
{
    if (place->in_register)
        return w->regs + place->offset + lane * place->bytes;
    return simt_state(w)->local + (size_t)lane * w->block->launch->local_stride +
           w->path->frame->local_base + place->offset;
}

/* The first bytes of an argument; zeros where the caller gave less. */
static inline void builtin_argument_bytes(struct simt_warp *w, const struct simt_call *call,
                                          uint32_t index, uint32_t lane, void *value, size_t size)
{
    memset(value, 0, size);
    if (index >= call->argument_count)
        return;
    const struct simt_place *place = &call->arguments[index];
    memcpy(value, builtin_place(w, place, lane), place->bytes < size ? place->bytes : size);
}

static inline uint64_t builtin_argument(struct simt_warp *w, const struct simt_call *call,
                                        uint32_t index, uint32_t lane)
{
    uint64_t value;
    builtin_argument_bytes(w, call, index, lane, &value, sizeof value);
    return value;
}

static inline void builtin_return(struct simt_warp *w, const struct simt_call *call, uint32_t lane,
                                  uint64_t value)
{
    if (!call->return_count)
        return;
    const struct simt_place *place = &call->returns[0];
    memcpy(builtin_place(w, place, lane), &value, place->bytes < 8 ? place->bytes : 8);
}

/* builtin.c: device malloc and free, for one lane. 0: no memory; false: a fault was raised. */
uint64_t builtin_heap_malloc(struct simt_warp *w, const struct simt_inst *in, int lane,
                             uint64_t size);
bool builtin_heap_free(struct simt_warp *w, const struct simt_inst *in, int lane, uint64_t address);

/* device_runtime.c: calls of CUDA's device runtime. */
simt_body *simt_builtin_runtime(const char *name);

#endif
