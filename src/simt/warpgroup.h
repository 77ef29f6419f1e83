/*
 * warpgroup.h: warpgroup products (wgmma): where the matrices of a descriptor lie, and how the four
 * warps of a warpgroup keep together.
 * Each warp multiplies its own 16 rows when it comes to the instruction, and reads B then. That is
 * exact as long as nobody changes A or B in shared memory, nor the registers, before the group of
 * products is waited for, which PTX forbids; the checker looks for programs that do it. So that a
 * warp which goes on from wgmma.wait_group may hand the memory to others, the wait lasts until all
 * four warps have come to the products that it waits for.
 */
#ifndef LOCKSTEP_SIMT_WARPGROUP_H
#define LOCKSTEP_SIMT_WARPGROUP_H

#include "simt/exec.h"

#define SIMT_WARPGROUP 4 /* warps */

/* A matrix in shared memory, from its descriptor. Lines are rows of A, or columns of B. A chunk is
 * 16 bytes. */
struct wgmma_matrix {
    uint32_t start, leading, stride; /* bytes */
    uint32_t base_offset;
    unsigned swizzle; /* 0 none, 1, 2, 3: 32, 64, 128 bytes */
    bool by_line;     /* chunks lie along a line (along k); else across lines, one k each */
};

static inline struct wgmma_matrix wgmma_matrix_of(uint64_t descriptor, bool by_line)
{
    static const uint8_t widths[4] = {0, 3, 2, 1};
    return (struct wgmma_matrix){.start = (uint32_t)(descriptor & 0x3fff) << 4,
                                 .leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                                 .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                                 .base_offset = (uint32_t)(descriptor >> 49 & 7),
                                 .swizzle = widths[descriptor >> 62],
                                 .by_line = by_line};
}

/* Where a chunk of 16 bytes is. by_line: bytes 16 * at .. of a line; else 8 lines from `line` on,
 * of k = at. */
static inline uint32_t wgmma_address(const struct wgmma_matrix *m, unsigned line, unsigned at)
{
    unsigned width = 16u << m->swizzle, last = (1u << m->swizzle) - 1; /* chunk of a row */
    uint32_t address = m->start;
    if (m->by_line)
        address += line / 8 * m->stride + line % 8 * width + (at & last) * 16 +
                   (at >> m->swizzle) * m->leading;
    else if (m->swizzle)
        address += (line / 8 & last) * 16 + (line / 8 >> m->swizzle) * m->leading + at % 8 * width +
                   at / 8 * m->stride;
    else
        address += line / 8 * m->stride + at % 8 * 16 + at / 8 * m->leading;
    address ^= (((address >> 7) - m->base_offset) & last) << 4;
    return address & 0x3ffff; /* a descriptor says 18 bits */
}

/* warpgroup.c: true when the warp may run a warpgroup product; false after raising a fault, or when
 * lanes are still missing. */
bool simt_warpgroup_enter(struct simt_warp *w, const struct simt_inst *in);
simt_body simt_wgmma_fence, simt_wgmma_commit, simt_wgmma_wait, simt_setmaxnreg;

#endif
