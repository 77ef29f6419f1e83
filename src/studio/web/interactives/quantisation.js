/* quantisation.js: normal numbers through few bits and back; where the levels lie, what the error
 * of each value is, and what outliers and block scales do to it. */
import { box, colour, drawing, element, svg, text } from "../draw.js";
import { bitsPerValue, errors, kinds, makeValues, quantise } from "../numbers/quantise.js";
import { value, widthOf } from "./parts.js";

const COUNT = 128, BINS = 64;
const NAMES = { int8: "INT8", int4: "INT4", int2: "INT2", e4m3: "FP8 E4M3", e5m2: "FP8 E5M2",
    e2m1: "FP4 E2M1" };

function optionsOf(state) {
    return { kind: state.kind, affine: state.zero === "affine",
        group: state.scale === "tensor" ? 0 : Number(state.scale.slice("block ".length)),
        stochastic: state.rounding === "stochastic", seed: state.seed };
}

function groupCount(state) {
    const { group } = optionsOf(state);
    return group ? Math.ceil(COUNT / group) : 1;
}

/* Above the line the values of the group, below it the levels that they can become. */
function levels(figure, values, group) {
    const width = widthOf(figure), reach = Math.max(...values.map(Math.abs)) * 1.05, line = 96;
    const x = (at) => width / 2 + at / reach * (width / 2 - 12);
    const some = values.slice(group.from, group.end), counts = new Array(BINS).fill(0);
    for (const each of some)
        counts[Math.min(BINS - 1, Math.floor((each / reach + 1) / 2 * BINS))]++;
    const most = Math.max(...counts), wide = (x(reach) - x(-reach)) / BINS;
    const bars = counts.map((count, i) => count === 0 ? null : box(x(-reach) + i * wide,
        line - count / most * 76, wide - 1, count / most * 76, { class: colour(0) }));
    const ticks = group.levels.filter((level) => Math.abs(level) <= reach).map((level) =>
        svg("line", { x1: x(level), x2: x(level), y1: line + 2, y2: line + 20,
            class: "quantisation-level" }));
    const label = `${some.length} values of the group and its ${group.levels.length} levels`;
    return drawing(width, 138, label, ...bars, svg("line", { x1: 0, x2: width, y1: line, y2: line,
        class: "quantisation-axis" }), ...ticks,
    ...[-reach, 0, reach].map((at) => text(x(at), 134, value(Number(at.toPrecision(2))),
        { "text-anchor": at < 0 ? "start" : at > 0 ? "end" : "middle", class: "soft" })),
    text(2, 12, "values of the group shown; below the line its levels", { class: "soft" }));
}

/* The size of each value's error; a click on a group shows its levels above. */
function errorBars(figure, view, each, groups) {
    const width = widthOf(figure), height = 130, line = 108, slot = width / each.length;
    const most = Math.max(...each.map(Math.abs)) || 1;
    const bars = each.map((error, i) => {
        const high = Math.abs(error) / most * 86;
        const now = i >= groups[view.state.shown].from && i < groups[view.state.shown].end;
        return box(i * slot, line - high, Math.max(1, slot - 1), high,
            { class: now ? colour(5) : colour(7) });
    });
    const edges = groups.map((group, i) => box(group.from * slot, 20,
        (group.end - group.from) * slot, line - 20, { class: "quantisation-group",
            "data-group": i, onclick: () => view.set({ shown: i }) }));
    return drawing(width, height, "error of each value", ...bars, ...edges,
        svg("line", { x1: 0, x2: width, y1: line, y2: line, class: "quantisation-axis" }),
        text(2, 12, `size of each value's error (highest: ${value(Number(most.toPrecision(3)))})`,
            { class: "soft" }),
        text(2, height - 6, "value 0", { class: "soft" }),
        text(width - 2, height - 6, `value ${each.length - 1}`,
            { "text-anchor": "end", class: "soft" }));
}

function results(view, options, outcome, group) {
    const { rms, snr } = outcome;
    view.result("rms", value(rms), "RMS error");
    view.result("snr", Number.isFinite(snr) ? snr.toFixed(2) : "∞", "signal to noise in dB");
    view.result("largest_error", value(Math.max(...outcome.each.map(Math.abs))), "largest error");
    view.result("bits_per_value", value(bitsPerValue(options, COUNT)),
        "bits for a value, with its share of the scales");
    view.result("levels", group.levels.length, "levels");
    view.result("scale", value(group.scale), "scale of the group shown");
    view.result("zero", group.zero, "its zero point");
}

export default {
    title: "Quantisation",
    look: "Look at the levels while you raise the outlier: with one scale for the tensor they " +
        "move apart until nearly all values fall on 0; with blocks only the outlier's own block " +
        "pays.",
    below: true,
    parameters: {
        kind: { value: "int4", choices: Object.keys(kinds), label: "format" },
        scale: { value: "tensor", label: "a scale for each",
            choices: ["tensor", "block 64", "block 32", "block 16", "block 8"] },
        zero: { value: "symmetric", choices: ["symmetric", "affine"], label: "range" },
        rounding: { value: "nearest", choices: ["nearest", "stochastic"], label: "rounding" },
        outlier: { value: 0, from: 0, to: 40, label: "outlier" },
        seed: { value: 1, from: 1, to: 99, label: "seed" },
        shown: { value: 0, from: 0, to: (state) => groupCount(state) - 1, label: "group shown" },
    },
    draw(figure, view) {
        const options = optionsOf(view.state);
        const values = makeValues(COUNT, view.state.seed, view.state.outlier);
        const { groups, back } = quantise(values, options);
        const outcome = errors(values, back), group = groups[view.state.shown];
        const isWhole = view.state.kind.startsWith("int");
        figure.append(element("div", { class: "quantisation" },
            levels(figure, values, group), errorBars(figure, view, outcome.each, groups),
            element("p", { class: "quantisation-note" }, `${COUNT} normal numbers in ` +
                `${NAMES[view.state.kind]}` + (view.state.outlier > 0
                ? `; numbers 5 and 69 are outliers of size ${view.state.outlier}.` : ".") +
                (options.affine && !isWhole ? " A floating-point format has its own sign and " +
                    "zero: here the affine range changes nothing." : ""))));
        results(view, options, outcome, group);
    },
};
