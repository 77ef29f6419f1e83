/*
 * tiles.cu: the run that the picture of tile coordinates draws for a learner who has none: a matmul
 * whose size is no multiple of its tiles.
 */
#include "tiled_matmul.h"

int main(void)
{
    return tiled_matmul(40);
}
