/*
 * match.cu: __match_any_sync gives the lanes with the same value in one instruction, whatever the
 * number of bits. Groups only: for a flag it is a vote that takes longer. UNROLL rows are loaded at
 * a time.
 */
// arch: sm_75
#include "device.h"
#include "row.h"

#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 1 2 4 8

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    group(const unsigned *in, long long rows, unsigned, int *out, int *sizes)
{
    int lane = threadIdx.x % 32;
    for (long long row = first_row(); row < rows; row += UNROLL * row_step()) {
        unsigned value[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            long long at = row + k * row_step();
            value[k] = at < rows ? load_stream(in + at * 32 + lane) : 0;
        }
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            long long at = row + k * row_step();
            unsigned same = __match_any_sync(0xffffffff, value[k]);
            int before = __popc(same & lanes_below());
            int distinct = __popc(__ballot_sync(0xffffffff, before == 0));
            if (at < rows)
                out[at * 32 + lane] = before;
            if (at < rows && lane == 0)
                sizes[at] = distinct;
        }
    }
}
