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
void check_products_write(struct check *check, const struct watch_access *access, uint32_t mask);

#endif
