/*
 * products.h: warpgroup products that are under way (wgmma.mma_async), and who disturbs them.
 */
#ifndef LOCKSTEP_CHECK_PRODUCTS_H
#define LOCKSTEP_CHECK_PRODUCTS_H

#include "check/check.h"

/* Does the kernel have such products? Then every instruction is followed. */
bool check_products_begin(struct check *check, const struct simt_launch_state *launch);
void check_products_block(struct simt_block *block, bool begins);
void check_products_step(struct check *check, struct simt_warp *w, const struct simt_inst *in);
/* Has the warp read as part of products of this one's group? Who has waited for one of its warps
 * has waited for all, so one of them is enough to remember. */
bool check_products_same_group(const struct check *check, const struct check_block *block,
                               uint32_t grid_warp, uint32_t warp, uint32_t info);
/* A write of check->touched's shared memory comes after a product's read there. Were its sums used
 * since? Then false. Otherwise they can be followed from here on. */
bool check_products_may_doubt(const struct check *check, const struct simt_inst *product,
                              uint64_t address);
void check_products_doubt(struct check *check, uint64_t address, uint64_t doubt);
void check_products_write(struct check *check, const struct watch_access *access, uint32_t mask);

/* doubt.c */
/* A race of what a product reads: false if it is to be reported at once, or is none. */
bool check_doubt(struct check *check, const struct check_subject *subject,
                 const struct check_side *side, const struct check_side *other, const char *format,
                 va_list arguments);
void check_doubt_tell(struct check *check, struct check_pending *pending);

#endif
