/*
 * ragged.h: boxes of sequences of any length that lie one after the other, by TMA, with zeros
 * behind a sequence's end. kernels/attention/host/plan.c makes the tensor maps
 * (attention_ragged_map).
 */
#ifndef LOCKSTEP_KERNELS_RAGGED_H
#define LOCKSTEP_KERNELS_RAGGED_H

#include "tma.h"

/* Of sequences [row][head][column]: rows from `row` on of a sequence that has
 * `rows`, the first of them at `first`. TMA knows no end but a tensor's. So coordinate 1 counts
 * rows of a tensor of RAGGED_ROWS that ends where the sequence does, and its box reads zeros from
 * there on; coordinate 3 says where that is, by rows; and coordinate 4 takes RAGGED_ROWS off again,
 * by a step that goes around the end of 64-bit addresses. */
#define RAGGED_ROWS (1 << 30)
static __device__ __forceinline__ void load_ragged_box(void *shared, const tensor_map *map,
                                                       int column, int row, int head, int first,
                                                       int rows, barrier *b)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(shared_address(shared)),
                 "l"(map), "r"(column), "r"(RAGGED_ROWS - rows + row), "r"(head), "r"(first + rows),
                 "r"(RAGGED_ROWS), "r"(shared_address(b))
                 : "memory");
}

#endif
