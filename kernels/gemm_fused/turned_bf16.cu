/* turned_bf16.cu: tiles.h for bf16, A and B by rows, as the transposed product of B and A. */
// arch: sm_90a
#include "tiles.h"
TILES(turned, bf16_numbers, true, false, 256, 4, 2, true)
TILES(turned, bf16_numbers, true, false, 192, 4, 2, true)
TILES(turned, bf16_numbers, true, false, 128, 6, 2, true)
TILES(turned, bf16_numbers, true, false, 64, 8, 1, true)
