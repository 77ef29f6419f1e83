/*
 * texture_filter.h: the linear filter between texels, as an H200 does it.
 */
#ifndef LOCKSTEP_SIMT_TEXTURE_FILTER_H
#define LOCKSTEP_SIMT_TEXTURE_FILTER_H

#include "simt/texture.h"

#define FILTER_BITS 8
#define FILTER_ONE (1 << FILTER_BITS)

/* Weights of the texels around a point, of share altogether: x varies fastest, then y, then z.
 * part: how far it is towards the second texel of each axis, of 256. share: 256, or less where
 * mipmap levels are mixed. */
void filter_weights(unsigned axes, const int32_t part[3], int32_t share, int32_t weights[8]);

/* One channel of count texels as they are stored (integers extended to 32 bits); quads of four are
 * summed up by themselves. counts: the texel has a part, though its weight may be rounded to 0. */
uint32_t filter_channel(const struct simt_texture *texture, unsigned channel,
                        const uint32_t *texels, const int32_t *weights, const bool *counts,
                        unsigned count);

#endif
