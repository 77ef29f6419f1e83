/*
 * spmv.h: what the files of this family share on the host.
 */
#ifndef LOCKSTEP_KERNELS_SPMV_H
#define LOCKSTEP_KERNELS_SPMV_H

#include "peer.h"
#include "zoo/sparse.h"

/* Parameters and buffers, in the family's order. */
enum { ROWS, COLS, PER_ROW, MATRIX, NONZEROS };
enum { OFFSETS, COLUMNS, VALUES, X, Y };

/* The matrix that the parameters describe; no seed. */
struct zoo_sparse spmv_matrix(const int64_t *value);

/* peer_cusparse.c: cuSPARSE's default algorithm, and the one that is deterministic. */
size_t spmv_cusparse_workspace(const struct lk_peer_call *call);
int spmv_cusparse(const struct lk_peer_call *call);
int spmv_cusparse_alg2(const struct lk_peer_call *call);
const char *spmv_cusparse_version(void);

#endif
