/*
 * embedding.h: the family's parameters, in their order; for lk_embedding.c as well.
 */
#ifndef LOCKSTEP_EMBEDDING_H
#define LOCKSTEP_EMBEDDING_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_embedding;

enum { EMB_TOKENS, EMB_VOCAB, EMB_DIM, EMB_TYPE, EMB_INDEX, EMB_DIRECTION };
enum { EMB_FORWARD, EMB_BACKWARD };

#endif
