/*
 * hierarchy.cu: the run that the picture of the memory hierarchy draws for a learner who has none: a
 * matmul whose tiles in shared memory use each value 16 times.
 */
#include "tiled_matmul.h"

int main(void)
{
    return tiled_matmul(512);
}
