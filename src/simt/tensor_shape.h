/*
 * tensor_shape.h: m, n and k of a tensor product, from the .m16n8k16 in its name. The instruction
 * bodies and the counters both ask.
 */
#ifndef LOCKSTEP_SIMT_TENSOR_SHAPE_H
#define LOCKSTEP_SIMT_TENSOR_SHAPE_H

#include "ptx/ptx.h"
#include "ptx/shape.h"

struct tensor_shape {
    unsigned m, n, k;
};

static inline struct tensor_shape tensor_shape_of(const struct ptx_inst *ptx)
{
    static const struct {
        uint16_t mod;
        uint16_t m, n, k;
    } shapes[] = {
        /* wmma asks at run time: its shapes come first */
        {PTX_MOD_M16N16K16, 16, 16, 16}, {PTX_MOD_M8N32K16, 8, 32, 16},
        {PTX_MOD_M32N8K16, 32, 8, 16},   {PTX_MOD_M16N16K8, 16, 16, 8},
        {PTX_MOD_M8N8K4, 8, 8, 4},       {PTX_MOD_M8N8K16, 8, 8, 16},
        {PTX_MOD_M8N8K32, 8, 8, 32},     {PTX_MOD_M8N8K128, 8, 8, 128},
        {PTX_MOD_M16N8K4, 16, 8, 4},     {PTX_MOD_M16N8K8, 16, 8, 8},
        {PTX_MOD_M16N8K16, 16, 8, 16},   {PTX_MOD_M16N8K32, 16, 8, 32},
        {PTX_MOD_M16N8K64, 16, 8, 64},   {PTX_MOD_M16N8K128, 16, 8, 128},
        {PTX_MOD_M16N8K256, 16, 8, 256},
    };
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (ptx_has(ptx, shapes[i].mod))
            return (struct tensor_shape){shapes[i].m, shapes[i].n, shapes[i].k};
    }
    unsigned n, k;
    if (ptx_wide_shape(ptx->text, &n, &k))
        return (struct tensor_shape){64, n, k};
    return (struct tensor_shape){0, 0, 0};
}

#endif
