/*
 * bulk.h: what the files of bulk copies share.
 */
#ifndef LOCKSTEP_SIMT_BULK_H
#define LOCKSTEP_SIMT_BULK_H

#include "simt/core.h"

#ifdef SIMT_ISA
/* exec_bulk_map.c: tensormap.*; NULL for others. */
simt_body *SIMT_NAME(bulk_map_select)(enum ptx_op op);
#endif

#endif
