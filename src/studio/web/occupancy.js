/*
 * occupancy.js: how many blocks of a kernel an SM holds at a time: the rules of
 * src/gpu/occupancy.c, for the occupancy calculator. tests/studio compares the two.
 * Facts of GPUs are in gpus.js.
 */
const WARP = 32;

function roundUp(value, step) {
    return Math.ceil(value / step) * step;
}

/* Registers lie in one file per scheduler, so warps are fitted file by file. A launch is checked as
 * if every file held the same number of the block's warps. */
function blocksByRegisters(gpu, warps, registers) {
    if (registers > gpu.registers_per_thread)
        return 0;
    if (registers === 0)
        return Infinity;
    const files = gpu.schedulers_per_sm;
    const perWarp = roundUp(registers * WARP, gpu.register_granularity);
    if (perWarp * roundUp(warps, files) > gpu.registers_per_block)
        return 0;
    const warpsPerFile = Math.floor(gpu.registers_per_sm / files / perWarp);
    return Math.floor(warpsPerFile * files / warps);
}

function blocksByShared(gpu, bytes) {
    if (bytes > gpu.shared_per_block_optin)
        return 0;
    const perBlock = roundUp(bytes + gpu.shared_reserved_per_block, gpu.shared_granularity);
    return perBlock ? Math.floor(gpu.shared_per_sm / perBlock) : Infinity;
}

/* threads and shared bytes are of a block, registers of a thread. limits has the blocks that each
 * alone would allow, Infinity where it does not limit; blocks is 0 if the kernel cannot run. */
export function occupancy(gpu, threads, registers, sharedBytes) {
    const warpsPerBlock = Math.ceil(threads / WARP);
    const runs = threads > 0 && threads <= gpu.threads_per_block;
    const limits = {
        "warps": runs ? Math.floor(gpu.warps_per_sm / warpsPerBlock) : 0,
        "registers": runs ? blocksByRegisters(gpu, warpsPerBlock, registers) : 0,
        "shared memory": blocksByShared(gpu, sharedBytes),
        "blocks": gpu.blocks_per_sm,
    };
    let blocks = Infinity, limiter = "";
    for (const [name, most] of Object.entries(limits)) /* of equal limits the first is named */
        if (most < blocks)
            [blocks, limiter] = [most, name];
    const warps = blocks * warpsPerBlock;
    return { blocks, warps, fraction: warps / gpu.warps_per_sm, limiter, limits };
}
