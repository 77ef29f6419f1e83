/*
 * bulk.h: what bulk copies and mbarriers share.
 */
#ifndef LOCKSTEP_SIMT_BULK_H
#define LOCKSTEP_SIMT_BULK_H

#include "simt/core.h"

#ifdef SIMT_ISA
/* exec_async.c: tells the mbarrier at a shared address that bytes have come; false after a fault.
 */
bool SIMT_NAME(mbarrier_complete)(struct simt_warp *w, const struct simt_inst *in, uint64_t at,
                                  uint32_t bytes, int lane);
/* exec_bulk_map.c: tensormap.*; NULL for others. */
simt_body *SIMT_NAME(bulk_map_select)(enum ptx_op op);
#endif

#endif
