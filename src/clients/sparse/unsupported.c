/*
 * unsupported.c: the rest of cuSPARSE's symbols, so that everything that links it starts: each
 * prints its name and fails.
 */
#include "clients/sparse/sparse.h"

#define NO(name)                                                                                   \
    API(name, void)                                                                                \
    {                                                                                              \
        return sparse_refuse(#name, "");                                                           \
    }
#include "clients/sparse/unsupported.def"

#define IGNORED(name)                                                                              \
    API(name, void)                                                                                \
    {                                                                                              \
        return SPARSE_SUCCESS;                                                                     \
    }
IGNORED(cusparseLoggerForceDisable)
IGNORED(cusparseLoggerOpenFile)
IGNORED(cusparseLoggerSetCallback)
IGNORED(cusparseLoggerSetFile)
IGNORED(cusparseLoggerSetLevel)
IGNORED(cusparseLoggerSetMask)
