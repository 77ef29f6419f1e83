/*
 * hierarchy.js: bytes at each level of the memory, from the threads down to DRAM: of the run's
 * kernel, drawn as a hierarchy, or of a matmul by formula, whose tile can be changed. What a level
 * keeps, the one below need not bring.
 */
import { element, box, text, svg, drawing, legend, number, bytes } from "../draw.js";
import { gpus } from "../gpus.js";
import { drawLevels } from "./levels.js";
import { levels, matmulTraffic, roofTimes } from "./traffic.js";
import { widthOf } from "./parts.js";
import { fromParameter, isFormula, isRun, kernelOf } from "./records.js";

const BAR = 16, THIN = 6, TILES = [1, 2, 4, 8, 16, 32, 64, 128];

/* Bars with words above each: [{words, value, note, class}] */
function bars(rows, width, label, bar) {
    const most = Math.max(...rows.map((row) => row.value)) || 1, high = bar + 26;
    return drawing(width, rows.length * high, label, ...rows.map((row, at) => svg("g", {},
        text(0, at * high + 14, row.words, { class: "strong" }),
        text(width, at * high + 14, row.note, { class: "soft", "text-anchor": "end" }),
        box(0, at * high + 19, width, bar, { class: "empty" }),
        box(0, at * high + 19, row.value ? Math.max(row.value / most * width, 1.5) : 0, bar,
            { class: row.class ?? "fill-0" }),
        svg("title", {}, `${row.words}: ${row.note}`))));
}

/* Words of what is bound by, and of each modelled part. */
const BOUNDS = { launch: "launch overhead", dram: "DRAM", l2: "L2", l1: "L1 and load/store units",
    shared: "shared memory", issue: "instruction issue", integer: "integer units", f32: "f32 units",
    f64: "f64 units", f16: "f16 units", special: "special functions", tensor: "tensor cores",
    atomics: "atomics to one address", latency: "latency: too few warps in flight" };

function timeRows(kernel) {
    return Object.entries(kernel.parts_us).filter(([, time]) => time > 0)
        .sort((a, b) => b[1] - a[1])
        .map(([key, time]) => ({ words: BOUNDS[key] ?? key, value: time,
            note: `${number(time)} µs`, class: key === kernel.bound_by ? "fill-5" : "fill-7" }));
}

function drawRun(figure, view, kernel) {
    const found = levels(kernel), width = widthOf(figure);
    const of = (key) => found.find((level) => level.key === key);
    const reuse = of("dram").bytes ? of("threads").bytes / of("dram").bytes : 0;
    const gpu = gpus.find((each) => `sim:${each.id}` === view.run.profile.gpu) ??
        gpus.find((each) => each.id === "h200");
    figure.append(
        element("h2", {}, `What ${kernel.name} moved, on an ${gpu.name}`),
        drawLevels(width, gpu, found, kernel.bound_by),
        legend(["level-pipe", "bytes that moved"], ["fill-5", "what bounds the kernel"]),
        element("h2", {},
            `Modelled time that each part alone would need (${view.run.profile.gpu})`),
        bars(timeRows(kernel), width, "modelled times of the parts", THIN));
    for (const level of found)
        view.result(level.key, bytes(level.bytes), level.words);
    view.result("reuse", `${number(reuse)} ×`, "bytes asked for, per byte of DRAM");
    view.result("bound", BOUNDS[kernel.bound_by] ?? kernel.bound_by, "bound by");
}

/* DRAM bytes over tiles, with the chosen one. */
function tileBars(n, tile, width) {
    const most = matmulTraffic(n, 1).dram, cell = width / TILES.length, high = 120;
    return drawing(width, high + 22, "DRAM bytes over the tile's size", ...TILES.map((each, at) => {
        const long = Math.max(matmulTraffic(n, each).dram / most * high, 1.5);
        return svg("g", {}, box(at * cell + 2, high - long, cell - 4, long,
            { class: each === tile ? "fill-5" : "fill-7" }),
        text((at + 0.5) * cell, high + 15, each, { "text-anchor": "middle",
            class: each === tile ? "strong" : "soft" }),
        svg("title", {}, `tile ${each}: ${bytes(matmulTraffic(n, each).dram)}`));
    }));
}

function drawFormula(figure, view) {
    const { n, tile, gpu: id } = view.state, gpu = gpus.find((each) => each.id === id);
    const traffic = matmulTraffic(n, tile), times = roofTimes(gpu, traffic);
    const width = widthOf(figure), isDram = times.dram > times.compute;
    figure.append(
        element("h2", {}, `A matmul of ${n} × ${n} floats, tiles of ${tile} × ${tile}`),
        bars([
            { words: "operands of the multiply-adds", value: traffic.operands,
                note: bytes(traffic.operands) },
            { words: "shared memory", value: traffic.shared, note: bytes(traffic.shared) },
            { words: "DRAM, if caches keep nothing", value: traffic.dram,
                note: bytes(traffic.dram), class: "fill-5" },
            { words: "least: each matrix once", value: traffic.least, note: bytes(traffic.least),
                class: "fill-2" },
        ], width, "bytes at each level", BAR),
        element("h2", {}, "DRAM bytes over the tile's size"), tileBars(n, tile, width),
        element("p", { class: "soft-words" }, "A tile of T × T in shared memory uses each value " +
            "T times. A tile of 1 is no tiling at all. Real caches keep some of it too."));
    view.result("operands", bytes(traffic.operands), "bytes of operands");
    view.result("dram", bytes(traffic.dram), "DRAM bytes");
    view.result("reuse", `${number(traffic.operands / traffic.dram)} ×`,
        "bytes of operands, per byte of DRAM");
    view.result("intensity", number(traffic.flops / traffic.dram), "operations per byte of DRAM");
    view.result("dram-time", `${number(times.dram * 1e6)} µs`, "DRAM at its peak");
    view.result("compute-time", `${number(times.compute * 1e6)} µs`, "f32 units at their peak");
    view.result("bound", isDram ? "DRAM" : "f32 units", "bound by");
}

function draw(figure, view) {
    const kernel = kernelOf(view.run, view.state.launch);
    figure.classList.add("hierarchy");
    if (isRun(view.state))
        drawRun(figure, view, kernel);
    else
        drawFormula(figure, view);
}

export default {
    title: "Memory hierarchy",
    look: "Look at how the pipes get thinner towards the bottom: what one level keeps and serves " +
        "again, the level below does not have to deliver.",
    run: "hierarchy",
    drawsRun: isRun,
    parameters(run) {
        const kernels = run?.profile?.kernels ?? [];
        return {
            from: fromParameter(kernels.length, "the run", "a matmul by formula", "bytes of"),
            launch: { value: kernels[0]?.launch ?? 0, choices: kernels.map((each) => each.launch),
                words: kernels.map((each) => `${each.launch}: ${each.name}`), label: "launch",
                when: (state) => isRun(state) && kernels.length > 1 },
            n: { value: 1024, from: 128, to: 8192, step: 128, label: "N", when: isFormula },
            tile: { value: 16, choices: TILES, label: "tile", when: isFormula },
            gpu: { value: "h200", choices: gpus.map((each) => each.id),
                words: gpus.map((each) => each.name), label: "GPU", when: isFormula },
        };
    },
    draw,
};
