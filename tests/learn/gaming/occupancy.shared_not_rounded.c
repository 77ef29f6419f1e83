// expect: wrong result for threads=64 registers=20 shared=24917: warps
// occupancy: the least of what warps, blocks, registers and shared memory allow.
void occupancy(int threads, int registers, int shared, int *warps)
{
    int warps_of_block = (threads + 31) / 32;
    int blocks = 64 / warps_of_block;
    int per_warp = (32 * registers + 255) / 256 * 256;
    int by_registers = 16384 / per_warp * 4 / warps_of_block;
    int by_shared = 233472 / ((shared + 1024));
    if (blocks > 32)
        blocks = 32;
    if (blocks > by_registers)
        blocks = by_registers;
    if (blocks > by_shared)
        blocks = by_shared;
    warps[0] = blocks * warps_of_block;
}
