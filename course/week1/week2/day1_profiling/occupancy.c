// occupancy: how many warps of a kernel an SM of an H200 can hold at a time. The launch has `threads` in a
// block; a thread needs `registers` registers, a block `shared` bytes of shared memory.
//
// An SM has room for 64 warps, 32 blocks, 65536 registers (a quarter for each of its 4 schedulers) and
// 233472 bytes of shared memory. Registers are given to a warp in steps of 256; a block gets 1024 bytes of
// shared memory on top, in steps of 128.
void occupancy(int threads, int registers, int shared, int *warps)
{
    int warps_of_block = (threads + 31) / 32;
    int blocks = 64 / warps_of_block;
    // TODO: three more limits: blocks, registers, shared memory. The least of all four counts.
    warps[0] = blocks * warps_of_block;
}
