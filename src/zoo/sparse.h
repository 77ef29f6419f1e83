/*
 * sparse.h: sparse matrices and graphs for the families that work on them, as compressed rows
 * (CSR). The number of nonzeros is given, so that buffers can be sized before anything is
 * generated; each row's columns are distinct and ascend. The same seed gives the same matrix on any
 * machine.
 */
#ifndef LOCKSTEP_ZOO_SPARSE_H
#define LOCKSTEP_ZOO_SPARSE_H

#include <stdint.h>

enum zoo_pattern {
    ZOO_BANDED,    /* rows of one length, columns in a band twice as wide around the diagonal */
    ZOO_SCATTERED, /* lengths from 0 to twice the mean, columns anywhere */
    ZOO_POWER_LAW, /* a tenth of the rows empty, a few huge; half of a row's columns near the row */
};

struct zoo_sparse {
    enum zoo_pattern pattern;
    int64_t rows, cols, nonzeros; /* nonzeros <= rows * cols and < 2^31 */
    uint64_t seed;
};

void zoo_sparse_offsets(const struct zoo_sparse *matrix, int32_t *offsets); /* [rows + 1] */
void zoo_sparse_columns(const struct zoo_sparse *matrix, const int32_t *offsets,
                        int32_t *columns); /* [nonzeros] */

#endif
