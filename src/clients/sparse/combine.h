/*
 * combine.h: two sparse matrices into one: their product, or their sum (gemm.c).
 */
#ifndef LOCKSTEP_CLIENTS_SPARSE_COMBINE_H
#define LOCKSTEP_CLIENTS_SPARSE_COMBINE_H

#include "clients/sparse/sparse.h"

struct combine {
    struct sparse_matrix a, b, c;
    enum sparse_op op_a, op_b;
    struct scalar alpha, beta;
    bool is_sum, keeps_c; /* keeps_c: a product is added to beta times what C has */
    bool writes_offsets, writes_entries, writes_values;
    struct entries *result; /* what is to be written; NULL: compute it */
    struct entries **computed;
    void *count; /* csrgeam2: where the number of entries goes on the device */
};

void sparse_combine(void *data); /* a struct combine */
struct sparse_cost sparse_combine_cost(const struct combine *c);

#endif
