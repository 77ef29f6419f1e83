/*
 * proxy.c: see proxy.h.
 */
#include "check/proxy.h"

#include <stdlib.h>

void check_proxy_open(struct check_proxy *proxy, uint32_t bytes)
{
    proxy->time = proxy->fenced = 1;
    proxy->count = bytes / CHECK_PIECE + 1;
    proxy->pieces = lk_alloc_zeroed(proxy->count * sizeof(*proxy->pieces));
}

void check_proxy_close(struct check_proxy *proxy)
{
    free(proxy->pieces);
    proxy->pieces = NULL;
    proxy->count = 0;
}

void check_proxy_write(struct check_proxy *proxy, const struct watch_access *access, uint32_t mask)
{
    bool is_copy = access->what->kind == WATCH_BULK;
    proxy->time++;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t first = access->addresses[__builtin_ctz(rest)], last = first + access->bytes - 1;
        for (uint64_t i = first / CHECK_PIECE; i <= last / CHECK_PIECE && i < proxy->count; i++)
            proxy->pieces[i] = (struct check_proxy_piece){is_copy ? 0 : proxy->time, access->in};
    }
}

void check_proxy_fence(struct check_proxy *proxy)
{
    proxy->fenced = proxy->time;
}

const struct simt_inst *check_proxy_stale(const struct check_proxy *proxy, uint32_t address)
{
    uint32_t i = address / CHECK_PIECE;
    return i < proxy->count && proxy->pieces[i].written > proxy->fenced ? proxy->pieces[i].by
                                                                        : NULL;
}
