/* tiles.js: which block and thread of a tiled matrix product has which elements: what it owns of C,
 * and what it carries from A and B in each step along k. */
import { box, drawing, element, svg, text } from "../draw.js";
import { coordinates, guarded, rowFromTrace, tileCount, tileOf } from "../numbers/tiles.js";
import { stepButtons, widthOf } from "./parts.js";

const MOST = 96;

/* Grid and block of the first launch; a run has them in its trace and in its profile. */
function launchOf(run) {
    return run?.trace?.launches?.[0] ?? run?.profile?.kernels?.[0] ?? null;
}

function squareTile(launch) {
    const [x, y] = launch.block;
    return x === y && x >= 2 && x <= 32;
}

/* The run's own tile and size; of a large one, as many blocks as can be drawn. */
function sizes(run) {
    const launch = launchOf(run);
    if (!launch || !squareTile(launch))
        return { tile: 8, n: 20 };
    const tile = launch.block[0];
    const blocks = Math.max(1, Math.min(Math.max(launch.grid[0], launch.grid[1]),
        Math.floor(MOST / tile)));
    return { tile, n: Math.min(rowFromTrace(launch) ?? MOST, blocks * tile) };
}

function launchLine(run) {
    const launch = launchOf(run);
    if (!launch)
        return null;
    const shape = (sizes) => sizes.slice(0, 2).join(" x ");
    const words = `${run.source === "yours" ? "Your kernel" : "The example"} was launched with a ` +
        `grid of ${shape(launch.grid)} blocks of ${shape(launch.block)} threads`;
    return element("p", { class: "tiles-launch" }, squareTile(launch)
        ? `${words}: the picture begins with that tile.`
        : `${words}. Those tiles are not square, so the picture uses its own.`);
}

const lastBlock = (state) => tileCount(state.n, state.tile) - 1;
const lastThread = (state) => state.tile - 1;

/* A matrix: its tiles, what hangs over the edge, the tile in use and the element of the thread. */
function matrix(name, x, y, cell, { n, tile, step }, chosen, own, extra) {
    const done = name === "c" ? (step + 1) / tileCount(n, tile) : 1; /* of the products of a sum */
    const side = tileCount(n, tile) * tile, at = (elements) => elements * cell;
    const mark = Math.max(cell, 7); /* seen even where cells are small */
    const lines = [];
    for (let i = 0; i <= side; i += cell >= 5 ? 1 : tile) {
        const kind = i % tile === 0 ? "tiles-edge" : "tiles-line";
        lines.push(svg("path", { class: kind,
            d: `M${x + at(i)} ${y}v${at(side)}M${x} ${y + at(i)}h${at(side)}` }));
    }
    return [box(x, y, at(side), at(side), { class: "tiles-over" }),
        box(x, y, at(n), at(n), { class: "tiles-matrix" }),
        box(x + at(chosen.col), y + at(chosen.row), at(tile), at(tile),
            { class: "tiles-hanging" }),
        box(x + at(chosen.col), y + at(chosen.row), at(chosen.cols), at(chosen.rows),
            { class: `tiles-chosen tiles-${name}`, "data-tile": name,
                "fill-opacity": 0.25 + 0.75 * done }),
        ...(extra ?? []), ...lines,
        box(x + at(own.col + 0.5) - mark / 2, y + at(own.row + 0.5) - mark / 2, mark, mark,
            { class: own.inside ? "tiles-element" : "tiles-element outside",
                "data-element": name }),
        text(x, y - 6, name.toUpperCase())];
}

/* A click on C chooses the block and the thread that own the element. */
function choose(view, event) {
    const { n, tile } = view.state, side = tileCount(n, tile) * tile;
    const place = event.currentTarget.getBoundingClientRect();
    const at = (where, from, size) =>
        Math.max(0, Math.min(side - 1, Math.floor((where - from) / size * side)));
    const col = at(event.clientX, place.left, place.width);
    const row = at(event.clientY, place.top, place.height);
    view.set({ bx: Math.floor(col / tile), by: Math.floor(row / tile), tx: col % tile,
        ty: row % tile });
}

/* B above C and A to its left, so that rows of A and columns of B lead to the element. */
function picture(figure, view) {
    const { state } = view, { n, tile, bx, by, step } = state;
    const side = tileCount(n, tile) * tile, gap = 26, width = Math.min(520, widthOf(figure));
    const cell = (width - gap - 4) / (2 * side), size = side * cell;
    const own = coordinates(state), right = size + gap, below = size + 2 * gap;
    const pattern = svg("pattern", { id: "tiles-hatch", width: 6, height: 6,
        patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("line", { x1: 0, x2: 0, y1: 0, y2: 6, class: "tiles-hatch" }));
    const hints = ["Click in C", "to choose a thread.",
        ...(n < side ? ["", "Hatched: outside", `of n = ${n}.`] : [])];
    const band = (x, y, w, h) => box(x, y, w, h, { class: "tiles-band" });
    return drawing(width, below + size + 4,
        `block (${bx}, ${by}) in step ${step}: its tiles of A, B and C`,
        svg("defs", {}, pattern),
        ...matrix("b", right, gap, cell, state, tileOf(n, tile, step, bx), own.b,
            [band(right + own.c.col * cell, gap, cell, size)]),
        ...matrix("a", 2, below, cell, state, tileOf(n, tile, by, step), own.a,
            [band(2, below + own.c.row * cell, size, cell)]),
        ...matrix("c", right, below, cell, state, tileOf(n, tile, by, bx), own.c),
        box(right, below, size, size, { class: "tiles-click",
            onclick: (event) => choose(view, event) }),
        ...hints.map((words, i) => text(2, gap + 14 + 16 * i, words, { class: "soft" })));
}

/* The index arithmetic of the kernel with this thread's numbers. */
function lines(state) {
    const { n, tile, bx, by, tx, ty } = state, { a, b, c, first } = coordinates(state);
    const load = (name, at) => at.inside
        ? `${name}[${at.row} * ${n} + ${at.col}]  // ${name}[${at.index}]`
        : `0;  // (${at.row}, ${at.col}) lies outside`;
    const guard = c.inside
        ? `if (${c.row} < ${n} && ${c.col} < ${n})  // true: stores c[${c.index}]`
        : `if (${c.row} < ${n} && ${c.col} < ${n})  // false: stores nothing`;
    return [`blockIdx = (${bx}, ${by})   threadIdx = (${tx}, ${ty})`,
        `row = blockIdx.y * ${tile} + threadIdx.y = ${by} * ${tile} + ${ty} = ${c.row}`,
        `col = blockIdx.x * ${tile} + threadIdx.x = ${bx} * ${tile} + ${tx} = ${c.col}`,
        `// step ${state.step}: first = ${state.step} * ${tile} = ${first}`,
        `tile_a[${ty}][${tx}] = ${load("a", a)}`,
        `tile_b[${ty}][${tx}] = ${load("b", b)}`, guard];
}

function results(view) {
    const { state } = view, { a, b, c } = coordinates(state);
    const place = (at) => at.inside ? `${at.row}, ${at.col}` : "outside: 0";
    view.result("row", c.row, "row");
    view.result("col", c.col, "column");
    view.result("index", c.inside ? c.index : "none", "row * n + col");
    view.result("guard", c.inside ? "true" : "false", "row < n && col < n");
    view.result("reads_a", place(a), "carries from A (row, column)");
    view.result("reads_b", place(b), "carries from B (row, column)");
    view.result("blocks", tileCount(state.n, state.tile) ** 2, "blocks");
    view.result("steps", tileCount(state.n, state.tile), "steps along k");
    view.result("summed", `${Math.min(state.n, (state.step + 1) * state.tile)} of ${state.n}`,
        "products in the sum so far");
    view.result("guarded", guarded(state.n, state.tile), "threads that own no element");
}

export default {
    title: "Tile coordinates",
    look: "Look at the block's tiles as it plays: right in A, down in B, while the tile of C fills " +
        "up; then choose an n that is not a multiple of the tile, and look at what hangs over " +
        "the edge.",
    run: "tiles",
    below: true,
    parameters: (run) => ({
        n: { value: sizes(run).n, from: 1, to: MOST, label: "n" },
        tile: { value: sizes(run).tile, from: 2, to: 32, label: "tile" },
        bx: { value: 1, from: 0, to: lastBlock, label: "blockIdx.x" },
        by: { value: 0, from: 0, to: lastBlock, label: "blockIdx.y" },
        tx: { value: 2, from: 0, to: lastThread, label: "threadIdx.x" },
        ty: { value: 1, from: 0, to: lastThread, label: "threadIdx.y" },
        step: { value: 0, from: 0, to: lastBlock, label: "step" },
    }),
    draw(figure, view) {
        figure.append(element("div", { class: "tiles" }, launchLine(view.run),
            stepButtons(view, "step", lastBlock(view.state)),
            element("div", { class: "tiles-both" }, picture(figure, view),
                element("pre", { class: "tiles-code", tabindex: 0, "data-key": "code",
                    "aria-label": "the index arithmetic of the thread" },
                lines(view.state).join("\n")))));
        results(view);
    },
};
