/*
 * watch_texture.c: shows watchers what texture and surface instructions touch. Every texel of a
 * fetch is shown as an access of its own: the first of all lanes, then the second, and so on.
 */
#include "simt/texture_inst.h"
#include "simt/watch.h"

static uint32_t tell(struct simt_watch *watch, struct watch_access *access, uint32_t mask,
                     uint32_t bytes, const uint64_t *addresses)
{
    uint32_t refused = 0;
    access->space = PTX_SPACE_GLOBAL;
    access->mask = mask;
    access->bytes = bytes;
    access->addresses = addresses;
    access->block = access->w->block;
    access->pattern = WATCH_SCATTERED;
    EACH_WATCHER(watch, access) refused |= watcher->access(watcher, access);
    return refused;
}

static uint32_t tell_fetch(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_warp *w = access->w;
    static __thread struct texture_touched touched[SIMT_LANES];
    uint32_t most = 0, refused = 0, all = access->mask;
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_texture *texture = texture_peek(w, access->in, lane);
        struct texture_request request;
        uint32_t result[4];
        uint64_t missing;
        touched[lane].count = 0;
        if (!texture) /* the body says why */
            continue;
        texture_request_of(w, access->in, lane, &request);
        texture_fetch(texture, &request, texture_host, w->block->launch->machine, &touched[lane],
                      result, &missing);
        most = touched[lane].count > most ? touched[lane].count : most;
    }
    for (uint32_t k = 0; k < most; k++) {
        uint64_t addresses[SIMT_LANES] = {0};
        for (uint32_t left = all; left;) { /* lanes of an element size together */
            uint32_t mask = 0, bytes = 0;
            for (uint32_t rest = left; rest; rest &= rest - 1) {
                int lane = __builtin_ctz(rest);
                if (k >= touched[lane].count) {
                    left &= ~(1u << lane);
                    continue;
                }
                bytes = bytes ? bytes : touched[lane].bytes;
                if (touched[lane].bytes != bytes)
                    continue;
                addresses[lane] = touched[lane].addresses[k];
                mask |= 1u << lane;
            }
            left &= ~mask;
            if (mask)
                refused |= tell(watch, access, mask, bytes, addresses);
        }
    }
    return refused;
}

static uint32_t tell_surface(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_warp *w = access->w;
    uint64_t addresses[SIMT_LANES] = {0};
    uint32_t mask = 0, bytes = 0;
    bool reduces = access->in->ptx->op == PTX_OP_SURED || access->in->ptx->op == PTX_OP_SURED_P;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_texture *surface = texture_peek(w, access->in, lane);
        struct surface_access one;
        if (!surface)
            continue;
        surface_access_of(w, access->in, lane, surface, &one);
        if (one.where != SURFACE_INSIDE)
            continue;
        bytes = one.bytes;
        addresses[lane] = one.address;
        mask |= 1u << lane;
    }
    access->is_read = reduces || !access->is_write;
    return mask ? tell(watch, access, mask, bytes, addresses) : 0;
}

uint32_t simt_watch_texture(struct simt_watch *watch, struct watch_access *access)
{
    switch (access->in->ptx->op) {
    case PTX_OP_SULD:
    case PTX_OP_SUST:
    case PTX_OP_SUST_P:
    case PTX_OP_SURED:
    case PTX_OP_SURED_P:
        return tell_surface(watch, access);
    default:
        return tell_fetch(watch, access);
    }
}
