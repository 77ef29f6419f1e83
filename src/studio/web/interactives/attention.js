/* attention.js: attention of one query, tile by tile: scores, the running maximum and sum, and the
 * output that is rescaled and added to; with a score that can be made large. */
import { box, colour, drawing, element, svg, text } from "../draw.js";
import { DIM, attentionSteps, exactAttention, makeInputs, naiveAttention } from
    "../numbers/attention.js";
import { row, stepButtons, table, value, widthOf } from "./parts.js";

const PHASES = { begin: "Before the first tile", scores: "step 1 of 3: scores",
    rescale: "step 2 of 3: rescale", add: "step 3 of 3: add" };

function stepCount(state) {
    return 3 * Math.ceil(state.keys / state.tile);
}

const short = (x) => Number.isFinite(x) ? String(Number(x.toPrecision(3))) : value(x);

const fixed = (x) => Number.isFinite(x) ? x.toFixed(2).replace(/^-(0\.00)$/, "$1") : value(x);

/* Keys from left to right: a tile is a bracket, and a score is a bar once it has been made. The
 * line is m. Very large scores would flatten the others: those end in an arrow. */
function scorePicture(figure, inputs, state, step) {
    const width = widthOf(figure), height = 190, top = 30, bottom = 140, { scores } = inputs;
    const usual = scores.filter((score) => Math.abs(score) <= 12);
    const most = Math.max(1, ...usual), least = Math.min(-1, ...usual);
    const y = (score) => bottom - (Math.min(Math.max(score, least), most * 1.15) - least) /
        (most * 1.15 - least) * (bottom - top);
    const slot = (width - 20) / scores.length;
    const bars = scores.flatMap((score, i) => {
        const isNow = i >= step.from && i < step.end, isRead = i < step.read;
        if (!isRead)
            return [box(12 + i * slot, bottom - 8, slot - 4, 8, { class: "empty" })];
        const from = Math.min(y(score), y(0)), high = Math.max(1, Math.abs(y(score) - y(0)));
        const middle = 10 + (i + 0.5) * slot;
        return [box(12 + i * slot, from, slot - 4, high, { class: isNow ? colour(1) : colour(0) }),
            score > most * 1.15 ? svg("path", { class: "attention-beyond",
                d: `M${middle} ${top - 12}l7 10h-14z` }) : null,
            text(middle, bottom + 16, short(score), { "text-anchor": "middle" })];
    });
    const brackets = Array.from({ length: Math.ceil(scores.length / state.tile) }, (_, i) =>
        svg("path", { class: i === step.tile ? "online-block now" : "online-block",
            d: `M${12 + i * state.tile * slot} ${bottom + 24}v7H` +
                `${8 + Math.min(scores.length, (i + 1) * state.tile) * slot}v-7` }));
    const line = Number.isFinite(step.m) ? [svg("line", { x1: 8, x2: width - 8, y1: y(step.m),
        y2: y(step.m), class: "online-max" }), text(width - 8, y(step.m) - 5,
        `m = ${short(step.m)}`, { "text-anchor": "end", class: "attention-label" })] : [];
    return drawing(width, height, `scores; ${step.read} of ${scores.length} keys are read`,
        ...bars.filter(Boolean), ...brackets, ...line);
}

/* O divided by l so far, one bar for each element; the mark is where it must end. */
function outputPicture(figure, step, exact) {
    const width = widthOf(figure), height = 150, slot = (width - 20) / DIM, middle = 62;
    const now = step.output.map((x) => step.l > 0 ? x / step.l : 0);
    const most = Math.max(0.5, ...exact.map(Math.abs), ...now.map((x) => Number.isFinite(x)
        ? Math.min(4, Math.abs(x)) : 0));
    const y = (x) => middle - Math.max(-1, Math.min(1, x / most)) * 52;
    const bars = now.flatMap((x, i) => {
        const left = 14 + i * slot, from = Math.min(y(x), y(0));
        return [box(left, from, slot - 12, Math.max(1, Math.abs(y(x) - y(0))),
            { class: step.phase === "add" ? colour(1) : colour(0) }),
        svg("line", { x1: left - 3, x2: left + slot - 9, y1: y(exact[i]), y2: y(exact[i]),
            class: "attention-exact" }),
        text(left + slot / 2 - 6, height - 20, fixed(x), { "text-anchor": "middle" }),
        text(left + slot / 2 - 6, height - 5, `of ${fixed(exact[i])}`,
            { "text-anchor": "middle", class: "soft" })];
    });
    return drawing(width, height, "output so far, divided by l, and the exact result",
        svg("line", { x1: 8, x2: width - 8, y1: middle, y2: middle, class: "quantisation-axis" }),
        ...bars);
}

const list = (numbers) => `(${numbers.map(short).join(", ")})`;

/* What this step computes, with its numbers. */
function words(step, before, inputs, rescales) {
    const keys = step.end - step.from === 1 ? `key ${step.from}`
        : `keys ${step.from} to ${step.end - 1}`;
    switch (step.phase) {
    case "begin":
        return ["m = -∞, l = 0, O = 0. One query waits in registers; keys and values come in tiles."];
    case "scores":
        return [`The tile with ${keys} comes to shared memory.`,
            `s = q · k / √${DIM}: ${inputs.scores.slice(step.from, step.end).map(short).join(", ")}`];
    case "rescale":
        return [`m = max(${short(before.m)}, the tile's scores) = ${short(step.m)}`,
            `rescale = exp(m_old - m_new) = ${short(step.factor)}`,
            `l = ${short(before.l)} × ${short(step.factor)} + Σ exp(s - m) = ${short(step.l)}`,
            rescales ? `O = O × ${short(step.factor)} = ${list(step.output)}`
                : `O stays as it is, which is wrong: its weights were made with the old m.`];
    default:
        return [`p = exp(s - m): ${step.weights.map(short).join(", ")}`,
            `O = O + Σ p v = ${list(step.output)}`];
    }
}

function keyTable(inputs, step) {
    const rows = inputs.k.map((k, i) => row({ "data-row": i, class: i >= step.read ? "later"
        : i >= step.from ? "chosen" : null }, String(i), k.map(short).join(" "),
    inputs.v[i].map(short).join(" "), i < step.read ? short(inputs.scores[i]) : ""));
    return element("details", {}, element("summary", {}, `q = ${list(inputs.query)}; keys and ` +
        "values"), table("", ["key", "k", "v", "score"], rows));
}

function compare(view, inputs, step, exact) {
    const output = step.output.map((x) => Math.fround(x / step.l));
    const most = output.reduce((sum, x, i) => Math.max(sum, Math.abs(x - exact[i])), 0);
    view.result("output", output.map(value).join(", "), "O / l");
    view.result("exact", exact.map(value).join(", "), "exact");
    view.result("difference", value(most), "largest difference");
}

export default {
    title: "Attention step by step",
    look: "Look at O when a tile brings a larger score: what was added up so far shrinks by the " +
        "same factor as l, so that all weights refer to the same m.",
    below: true,
    parameters: {
        keys: { value: 8, from: 2, to: 24, label: "keys" },
        tile: { value: 4, from: 1, to: (state) => state.keys, label: "keys in a tile" },
        large: { value: 0, from: 0, to: 120, label: "large score (0: none)" },
        at: { value: 5, from: 0, to: (state) => state.keys - 1, label: "of key",
            when: (state) => state.large > 0 },
        rescale: { value: "yes", choices: ["yes", "no"], label: "rescale O" },
        seed: { value: 1, from: 1, to: 99, label: "other numbers" },
        step: { value: 5, from: 0, to: stepCount, label: "step" },
    },
    draw(figure, view) {
        const { state } = view, rescales = state.rescale === "yes", inputs = makeInputs(state);
        const steps = attentionSteps(inputs, state.tile, rescales), step = steps[state.step];
        const exact = exactAttention(inputs), last = steps.length - 1, naive = naiveAttention(inputs);
        figure.append(element("div", { class: "attention" }, stepButtons(view, "step", last),
            element("p", { class: "attention-phase", "data-phase": step.phase }, step.tile < 0
                ? PHASES[step.phase] : `Tile ${step.tile + 1} of ${last / 3}, ${PHASES[step.phase]}`),
            scorePicture(figure, inputs, state, step),
            ...words(step, steps[state.step - 1], inputs, rescales).map((line) =>
                element("p", { class: "online-line" }, line)),
            element("h3", {}, "O / l so far, and where it must end (dashed)"),
            outputPicture(figure, step, exact),
            state.step === last ? element("p", { class: rescales ? "online-end" : "softmax-bad" },
                rescales ? "All keys are read: O / l is attention, and no row of scores was ever " +
                    "in memory." : "All keys are read, and the result is wrong wherever m has grown.")
                : null, keyTable(inputs, step)));
        view.result("m", value(step.m), "m");
        view.result("l", value(step.l), "l");
        view.result("factor", value(step.factor), "rescale");
        view.result("read", step.read, "keys read");
        view.result("naive", naive.map(value).join(", "), "without m, in float32");
        if (state.step === last)
            compare(view, inputs, step, exact);
    },
};
