/*
 * occupancy.cu: the run that the occupancy calculator starts from for a learner who has none.
 */
#include "tiled_matmul.h"

int main(void)
{
    return tiled_matmul(128);
}
