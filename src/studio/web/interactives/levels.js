/*
 * levels.js: the picture of the memory hierarchy: registers at the top, DRAM at the bottom, each
 * level wider than the one above it, with its size, its latency and the bytes that must be under way
 * to keep it busy (Little's law). The pipes between levels are as thick as the bytes that moved.
 */
import { box, text, svg, drawing, bytes, number } from "../draw.js";
import { latencies } from "../gpus.js";

const HIGH = 62, GAP = 50, PIPE = 64; /* pixels: a level, what is between two, the thickest pipe */
const SM_BYTES = 128, L2_BYTES = 64;  /* a cycle and SM, from shared memory and L1, and from L2 */

/* What is known of each level of a GPU; inFlight: bytes an SM needs under way. */
export function levelFacts(gpu) {
    const dram = gpu.memory_gb_s * 1e3 / gpu.boost_mhz / gpu.sms; /* bytes a cycle, for an SM */
    return {
        registers: { words: "Registers", size: `${bytes(4 * gpu.registers_per_sm)} an SM`,
            cycles: 0, inFlight: 0 },
        shared: { words: "Shared memory", size: `${bytes(gpu.shared_per_sm)} an SM`,
            cycles: latencies.shared, inFlight: SM_BYTES * latencies.shared },
        l1: { words: "L1", size: `${bytes(gpu.l1_bytes_per_sm)} an SM, with shared`,
            cycles: latencies.l1, inFlight: SM_BYTES * latencies.l1 },
        l2: { words: "L2", size: `${bytes(gpu.l2_bytes)} for all`, cycles: latencies.l2,
            inFlight: L2_BYTES * latencies.l2 },
        dram: { words: "DRAM", size: `${bytes(gpu.memory_bytes)} for all`, cycles: latencies.dram,
            inFlight: dram * latencies.dram },
    };
}

function level(key, facts, place, hits, bound) {
    const { x, y, width } = place, narrow = width < 260;
    const lines = [narrow ? facts.size.split(",")[0] : facts.size, facts.cycles
        ? `${facts.cycles} cycles${narrow ? "" : ` · ${bytes(facts.inFlight)} in flight an SM`}`
        : "no wait"];
    return svg("g", { "data-level": key },
        box(x, y, width, HIGH, { rx: 6, class: bound ? "level level-bound" : "level" }),
        text(x + 10, y + 18, facts.words, { class: "strong" }),
        hits === null || hits === undefined ? null : text(x + width - 10, y + 18,
            `${number(Math.round(1000 * hits) / 10)} % hit`, { "text-anchor": "end",
                class: "strong" }),
        ...lines.map((line, at) => text(x + 10, y + 35 + 16 * at, line, { class: "soft" })),
        svg("title", {}, `${facts.words}: ${lines.join(", ")}; ${bytes(facts.inFlight)} must be ` +
            "under way in each SM to keep it busy"));
}

/* From one level down to the next: as thick as its bytes. */
function pipe(x, y, moved, most, bound) {
    const thick = moved ? Math.max(PIPE * moved / most, 2) : 0;
    return svg("g", {}, thick ? box(x - thick / 2, y, thick, GAP,
        { class: bound ? "fill-5" : "level-pipe" }) : null,
    text(x + thick / 2 + 8, y + GAP / 2 + 4, moved ? bytes(moved) : "nothing",
        { class: moved ? "strong" : "soft" }));
}

/* found: levels of traffic.js. */
export function drawLevels(width, gpu, found, boundBy) {
    const facts = levelFacts(gpu), of = (key) => found.find((each) => each.key === key);
    const most = Math.max(of("threads").bytes, 1), step = HIGH + GAP;
    const middle = width / 2, half = (width - 12) / 2 - width * 0.09;
    const row = (part, at) => ({ x: middle - width * part / 2, y: at * step, width: width * part });
    const left = { x: width * 0.09, y: step, width: half };
    const right = { x: middle + 6, y: step, width: half };
    const isBound = (key) => boundBy === of(key).part;
    const global = of("threads").bytes - of("shared").bytes;
    return drawing(width, 3 * step + HIGH, "the levels of memory, and the bytes between them",
        pipe(left.x + half / 2, HIGH, of("shared").bytes, most, isBound("shared")),
        pipe(right.x + half / 2, HIGH, global, most, false),
        pipe(right.x + half / 2, step + HIGH, of("l2").bytes, most, isBound("l2")),
        pipe(middle, 2 * step + HIGH, of("dram").bytes, most, isBound("dram")),
        level("registers", facts.registers, row(0.64, 0), null, false),
        level("shared", facts.shared, left, null, isBound("shared")),
        level("l1", facts.l1, right, of("l1").hits, isBound("l1")),
        level("l2", facts.l2, row(0.91, 2), of("l2").hits, isBound("l2")),
        level("dram", facts.dram, row(1, 3), null, isBound("dram")));
}
