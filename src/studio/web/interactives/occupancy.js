/*
 * occupancy.js: the occupancy calculator: how many warps an SM holds, over the block's size,
 * registers and shared memory, with the run's kernel as a dot. The arithmetic is in
 * ../occupancy.js.
 */
import { element, svg, box, text, drawing, legend, number, bytes } from "../draw.js";
import { gpus } from "../gpus.js";
import { occupancy } from "../occupancy.js";
import { widthOf } from "./parts.js";
import { kernelOf } from "./records.js";

const HEIGHT = 190, TOP = 22, LEFT = 34, BOTTOM = 34;

function gpuOf(id) {
    return gpus.find((gpu) => gpu.id === id);
}

/* Blocks take whole warps; the axis begins with one. */
function warps(threads) {
    return Math.max(32, 32 * Math.ceil(threads / 32));
}

/* What the run's kernel is: block, registers, shared, gpu; null if it has no profile. */
function kernelShape(run) {
    const kernel = kernelOf(run);
    const id = (run?.profile?.gpu ?? "").replace(/^sim:/, "");
    return kernel && { name: kernel.name, block: warps(kernel.occupancy.threads),
        registers: kernel.occupancy.registers, shared: kernel.occupancy.shared_bytes,
        gpu: gpuOf(id) ? id : "h200" };
}

function occupancyOf(shape) {
    return occupancy(gpuOf(shape.gpu), shape.block, shape.registers, shape.shared);
}

/* The three curves: which number changes, over what. */
function curves(gpu) {
    return [
        { key: "block", words: "threads of a block", from: 32, to: gpu.threads_per_block, step: 32,
            tick: String },
        { key: "registers", words: "registers of a thread", from: 1, to: gpu.registers_per_thread,
            step: 1, tick: String },
        { key: "shared", words: "shared memory of a block", from: 0, to: gpu.shared_per_block_optin,
            step: 512, tick: bytes },
    ];
}

/* The GPU shown may have less than the one that the kernel ran on; its mark stays on the axis. */
function within(curve, value) {
    return Math.min(Math.max(value, curve.from), curve.to);
}

function isBeyond(gpu, kernel) {
    return curves(gpu).some((curve) => kernel[curve.key] > curve.to);
}

function curvePath(curve, state, place) {
    let path = "", before = null;
    for (let value = curve.from; value <= curve.to; value += curve.step) {
        const { warps } = occupancyOf({ ...state, [curve.key]: value });
        const [x, y] = place(value, warps);
        path += before === null ? `M${x} ${y}` : `H${x}` + (warps === before ? "" : `V${y}`);
        before = warps;
    }
    return path;
}

function chart(curve, state, kernel, width) {
    const gpu = gpuOf(state.gpu), right = width - 10, bottom = HEIGHT - BOTTOM;
    const place = (value, warps) => [
        LEFT + (value - curve.from) / (curve.to - curve.from) * (right - LEFT),
        bottom - warps / gpu.warps_per_sm * (bottom - TOP)].map((at) => Number(at.toFixed(1)));
    const parts = [text(LEFT, 13, curve.words, {})];
    for (const part of [0, 0.5, 1]) {
        const y = place(curve.from, part * gpu.warps_per_sm)[1];
        parts.push(svg("line", { x1: LEFT, x2: right, y1: y, y2: y, class: "occupancy-grid" }),
            text(LEFT - 4, y + 4, part * gpu.warps_per_sm,
                { class: "soft", "text-anchor": "end" }));
    }
    parts.push(text(LEFT, HEIGHT - 16, curve.tick(curve.from), { class: "soft" }),
        text(right, HEIGHT - 16, curve.tick(curve.to), { class: "soft", "text-anchor": "end" }),
        svg("path", { d: curvePath(curve, state, place), class: "occupancy-curve" }));
    const [x, y] = place(state[curve.key], occupancyOf(state).warps);
    parts.push(svg("line", { x1: x, x2: x, y1: y, y2: bottom, class: "occupancy-here" }),
        svg("circle", { cx: x, cy: y, r: 5, class: "occupancy-set" }),
        text(Math.min(Math.max(x, LEFT + 20), right - 20), HEIGHT - 2,
            curve.tick(state[curve.key]), { "text-anchor": "middle" }));
    if (kernel) {
        const [kx, ky] = place(within(curve, kernel[curve.key]),
            occupancyOf({ ...kernel, gpu: state.gpu }).warps);
        const beyond = kernel[curve.key] > curve.to ? ", more than this GPU has" : "";
        parts.push(svg("circle", { cx: kx, cy: ky, r: 8, class: "occupancy-kernel" },
            svg("title", {}, `${kernel.name}: ${curve.tick(kernel[curve.key])}${beyond}`)));
    }
    return drawing(width, HEIGHT, `warps of an SM over ${curve.words}`, ...parts);
}

/* Blocks that each limit alone would allow. */
function limitBars(gpu, got, width) {
    const most = Math.max(...Object.values(got.limits).filter(Number.isFinite), 1);
    const from = 110, to = width - 90, parts = [];
    Object.entries(got.limits).forEach(([name, blocks], at) => {
        const y = at * 22, isLimit = name === got.limiter;
        const long = Math.min(blocks, most) / most * (to - from);
        parts.push(text(0, y + 14, name, isLimit ? { class: "strong" } : {}),
            box(from, y + 3, Math.max(long, 1), 14, { class: isLimit ? "fill-5" : "fill-7" }),
            text(from + long + 6, y + 14, Number.isFinite(blocks)
                ? `${blocks} block${blocks === 1 ? "" : "s"}${isLimit ? " ← limit" : ""}`
                : "no limit", isLimit ? { class: "strong" } : {}));
    });
    return drawing(width, 90, "blocks of an SM that each limit alone would allow", ...parts);
}

function draw(figure, view) {
    const { state } = view, gpu = gpuOf(state.gpu), got = occupancyOf(state);
    const kernel = kernelShape(view.run), width = widthOf(figure);
    const each = width > 680 ? (width - 32) / 3 : width;
    figure.classList.add("occupancy");
    figure.append(
        element("div", { class: "occupancy-charts" },
            ...curves(gpu).map((curve) => chart(curve, state, kernel, each))),
        legend(["occupancy-set", "as set above"], ["occupancy-kernel", kernel
            ? `${kernel.name}: ${kernel.block} threads, ${kernel.registers} registers, ` +
                `${bytes(kernel.shared)} of shared memory` +
                (isBeyond(gpu, kernel) ? `; a block of it does not fit ${gpu.name}` : "")
            : "no kernel has run"]),
        element("h2", {}, "Blocks of an SM by each limit"), limitBars(gpu, got, width));
    if (kernel)
        figure.append(element("button", { type: "button", "data-key": "kernel",
            onclick: () => view.set({ gpu: kernel.gpu, block: kernel.block,
                registers: kernel.registers, shared: kernel.shared }) },
        `Back to ${kernel.name} as it ran`));
    view.result("occupancy", `${number(100 * got.fraction)} %`, "occupancy");
    view.result("warps", `${got.warps} of ${gpu.warps_per_sm}`, "warps on an SM");
    view.result("blocks", got.blocks, "blocks on an SM");
    view.result("limiter", got.blocks ? got.limiter : `does not run: ${got.limiter}`, "limited by");
}

export default {
    title: "Occupancy",
    look: "Look for the cliffs: occupancy falls in steps, because an SM takes whole blocks, and " +
        "one register too many can cost a whole block.",
    run: "occupancy",
    parameters(run) {
        const kernel = kernelShape(run) ?? { gpu: "h200", block: 256, registers: 32, shared: 0 };
        return {
            gpu: { value: kernel.gpu, choices: gpus.map((gpu) => gpu.id),
                words: gpus.map((gpu) => gpu.name), label: "GPU" },
            block: { value: kernel.block, from: 32, step: 32, label: "threads of a block",
                to: (state) => gpuOf(state.gpu).threads_per_block },
            registers: { value: kernel.registers, from: 1, label: "registers of a thread",
                to: (state) => gpuOf(state.gpu).registers_per_thread },
            shared: { value: kernel.shared, from: 0, step: 256, label: "shared bytes of a block",
                to: (state) => gpuOf(state.gpu).shared_per_block_optin },
        };
    },
    draw,
};
