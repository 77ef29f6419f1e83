/*
 * taint.h: which registers hold undefined values, for the files that follow them: taint.c, and
 * taint_lanes.c for what goes from lane to lane.
 */
#ifndef LOCKSTEP_CHECK_TAINT_H
#define LOCKSTEP_CHECK_TAINT_H

#include "check/check.h"

/* Lanes that are undefined, and for each of them, what it came from: a bit of check->pending. */
struct taint {
    uint32_t lanes;
    uint64_t origins[SIMT_LANES]; /* of the others: not set */
};

struct check_taint { /* of a frame */
    struct check_taint *next;
    const struct simt_frame *frame;
    uint32_t count;
    struct taint registers[]; /* [count] */
};

/* Of a frame; NULL: all of its registers are defined. */
struct check_taint *taint_find(const struct check_warp *warp, const struct simt_frame *frame);
void taint_set(struct check *check, struct check_warp *warp, const struct simt_frame *frame,
               uint32_t reg, const struct taint *value, uint32_t mask);
void taint_set_results(struct check *check, struct check_warp *warp, const struct simt_frame *frame,
                       const struct ptx_inst *ptx, const struct taint *value, uint32_t mask);
void taint_join(struct taint *to, const struct taint *from, uint32_t mask);
/* What any of the lanes brings, for all of them. */
struct taint taint_spread(const struct taint *taint, uint32_t mask);
struct taint taint_of(const struct check_taint *taint, const struct ptx_operand *operand);
/* What all the operands bring that are read, without addresses. */
struct taint taint_sources(const struct check_taint *taint, const struct ptx_inst *ptx);

#endif
