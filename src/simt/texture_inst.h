/*
 * texture_inst.h: operands of texture and surface instructions, for their bodies and for watchers.
 */
#ifndef LOCKSTEP_SIMT_TEXTURE_INST_H
#define LOCKSTEP_SIMT_TEXTURE_INST_H

#include "simt/core.h"
#include "simt/texture.h"

/* What the lane's handle stands for; NULL after raising a fault. */
const struct simt_texture *texture_of(struct simt_warp *w, const struct simt_inst *in, int lane);
/* The same without a fault, for watchers. */
const struct simt_texture *texture_peek(struct simt_warp *w, const struct simt_inst *in, int lane);

/* tex and tld4. */
void texture_request_of(struct simt_warp *w, const struct simt_inst *in, int lane,
                        struct texture_request *request);
const uint8_t *texture_host(void *machine, uint64_t address, uint32_t bytes);

/* An access of suld, sust or sured. */
struct surface_access {
    uint32_t bytes;
    enum { SURFACE_INSIDE, SURFACE_IGNORED, SURFACE_TRAPS, SURFACE_MISALIGNED } where;
    uint64_t address; /* where is SURFACE_INSIDE */
    int32_t at[3];    /* as asked: x in bytes (.b) or elements (.p), y, z or layer */
};
void surface_access_of(struct simt_warp *w, const struct simt_inst *in, int lane,
                       const struct simt_texture *surface, struct surface_access *access);

/* Bodies. */
simt_body texture_run_fetch, texture_run_query, texture_run_is_type;
simt_body surface_run_load, surface_run_store, surface_run_reduce;

#endif
