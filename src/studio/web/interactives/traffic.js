/*
 * traffic.js: bytes at each level of the memory hierarchy: of a kernel, from its profile's
 * counters, and of a tiled matmul, by formula. Nothing is drawn here.
 */
const SECTOR = 32, FLOAT = 4;

/* The counters by which the levels are known, as `lockstep profile --json` names them. */
const GLOBAL_SECTORS = ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st", "l1tex__t_sectors_pipe_lsu_mem_global_op_red",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld", "l1tex__t_sectors_pipe_lsu_mem_local_op_st"];
const L2_SECTORS = ["read", "write", "red", "atom"].map((op) =>
    `lts__t_sectors_srcunit_tex_op_${op}`);

function sum(counters, names) {
    return names.reduce((total, name) => total + (counters[name] ?? 0), 0);
}

function ratio(part, whole) {
    return whole ? part / whole : null;
}

/* From the registers down. bytes; hits: part of its sectors that were found there, or null; part:
 * its name in the modelled times (parts_us). DRAM's bytes are the model's: with those that were
 * written and still lie in the L2. */
export function levels(kernel) {
    const c = kernel.counters;
    const loads = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld";
    const hit = c.lts__t_sectors_srcunit_tex_lookup_hit ?? 0;
    const miss = c.lts__t_sectors_srcunit_tex_lookup_miss ?? 0;
    const shared = sum(c, ["smsp__sass_data_bytes_mem_shared_op_ld",
        "smsp__sass_data_bytes_mem_shared_op_st"]);
    const asked = sum(c, ["smsp__sass_data_bytes_mem_global_op_ld",
        "smsp__sass_data_bytes_mem_global_op_st"]);
    return [
        { key: "threads", words: "asked for by threads", bytes: shared + asked, hits: null,
            part: "issue" },
        { key: "shared", words: "shared memory", bytes: shared, hits: null, part: "shared" },
        { key: "l1", words: "L1", bytes: SECTOR * sum(c, GLOBAL_SECTORS),
            hits: ratio(c[`${loads}_lookup_hit`] ?? 0, c[loads]), part: "l1" },
        { key: "l2", words: "L2", bytes: SECTOR * sum(c, L2_SECTORS), hits: ratio(hit, hit + miss),
            part: "l2" },
        { key: "dram", words: "DRAM", bytes: kernel.dram_bytes, hits: null, part: "dram" },
    ];
}

/* c = a * b of n x n floats, a thread for each element of c, through tiles of tile x tile in shared
 * memory; a tile of 1 means no tiling. Caches are ignored: what a tile does not keep is fetched
 * again. */
export function matmulTraffic(n, tile) {
    const read = 2 * n ** 3 * FLOAT, written = n ** 2 * FLOAT, fetched = read / tile;
    return { flops: 2 * n ** 3, operands: read, shared: tile > 1 ? read + fetched : 0,
        dram: fetched + written, least: 3 * n ** 2 * FLOAT };
}

/* Seconds that the bytes and the operations need at the GPU's peaks. */
export function roofTimes(gpu, traffic) {
    return { dram: traffic.dram / (gpu.memory_gb_s * 1e9),
        compute: traffic.flops / (gpu.f32_tflops * 1e12) };
}
