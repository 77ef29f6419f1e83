/*
 * exec_texture.c: textures and surfaces. Their bodies work lane by lane and gain nothing from wide
 * vectors: they are in texture_run.c and surface_run.c, built once.
 */
#include "simt/texture_inst.h"

simt_body *SIMT_NAME(texture_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_TEX:
    case PTX_OP_TEX_LEVEL:
    case PTX_OP_TEX_GRAD:
    case PTX_OP_TEX_F16:
    case PTX_OP_TEX_F16X2:
    case PTX_OP_TLD4:
        return texture_run_fetch;
    case PTX_OP_TXQ:
    case PTX_OP_TXQ_LEVEL:
    case PTX_OP_SUQ:
        return texture_run_query;
    case PTX_OP_ISTYPEP:
        return texture_run_is_type;
    case PTX_OP_SULD:
        return surface_run_load;
    case PTX_OP_SUST:
    case PTX_OP_SUST_P:
        return surface_run_store;
    case PTX_OP_SURED:
    case PTX_OP_SURED_P:
        return surface_run_reduce;
    default:
        return NULL;
    }
}
