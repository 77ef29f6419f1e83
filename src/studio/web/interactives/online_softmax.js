/* online_softmax.js: the softmax that reads its scores once, in blocks, step by step: what m and l
 * are after each block, and by how much the old sum is scaled. */
import { box, colour, drawing, element, svg, text } from "../draw.js";
import { readList } from "../numbers/list.js";
import { onlineSteps, probabilities, twoPass } from "../numbers/softmax.js";
import { problem, row, stepButtons, table, value, widthOf } from "./parts.js";

const MOST = 24;

function scoresOf(state) {
    return readList(state.scores, "scores", MOST);
}

function blockCount(state) {
    return Math.ceil(scoresOf(state).values.length / state.block);
}

/* Bars for the scores; those read so far are filled, the block of this step stands out, and the
 * line is m. */
function picture(figure, scores, steps, at) {
    const width = widthOf(figure), height = 190, top = 24, bottom = 150;
    const least = Math.min(0, ...scores), most = Math.max(0, ...scores);
    const y = (score) => bottom - (score - least) / (most - least || 1) * (bottom - top);
    const slot = (width - 20) / scores.length, step = steps[at];
    const bars = scores.map((score, i) => {
        const isNow = i >= step.from && i < step.end, isRead = i < step.end;
        const from = Math.min(y(score), y(0));
        return [box(12 + i * slot, from, slot - 4, Math.max(1, Math.abs(y(score) - y(0))),
            { class: isNow ? colour(1) : isRead ? colour(0) : "empty" }),
        text(10 + (i + 0.5) * slot, bottom + 16, value(score),
            { "text-anchor": "middle", class: isRead ? "" : "soft" })];
    });
    const parts = steps.slice(1).map((each, i) => svg("path", { class: i + 1 === at
        ? "online-block now" : "online-block", d: `M${12 + each.from * slot} ${bottom + 22}` +
        `v6H${8 + each.end * slot}v-6` }));
    const line = Number.isFinite(step.m) ? [svg("line", { x1: 8, x2: width - 8, y1: y(step.m),
        y2: y(step.m), class: "online-max" }), text(width - 8, y(step.m) - 5,
        `m = ${value(step.m)}`, { "text-anchor": "end" })] : [];
    return drawing(width, height, `scores; ${step.end} of ${scores.length} are read`,
        ...bars.flat(), ...parts, ...line);
}

/* The step as a computation with its numbers. */
function words(step, before, at) {
    if (at === 0)
        return ["Before the first block: m = -∞ and l = 0."];
    const sum = step.terms.map((term) => value(term)).join(" + ");
    return [`m = max(${value(before.m)}, ${value(step.blockMax)}) = ${value(step.m)}`,
        `rescale = exp(m_old - m_new) = exp(${value(before.m)} - ${value(step.m)}) = ` +
            value(step.factor),
        `l = l_old × rescale + Σ exp(x - m) = ${value(before.l)} × ${value(step.factor)} + ` +
            `(${sum}) = ${value(step.l)}`];
}

function history(steps, at) {
    const rows = steps.map((step, i) => row({ class: i === at ? "chosen" : i > at ? "later" : null,
        "data-step": i }, String(i), i === 0 ? "" : step.end - step.from === 1 ? `${step.from}`
        : `${step.from}..${step.end - 1}`, ...(i > at ? ["", "", ""] : [value(step.m),
        i === 0 ? "" : value(step.factor), value(step.l)])));
    return table("Steps", ["step", "scores", "m", "rescale", "l"], rows);
}

function compare(view, scores, steps) {
    const { m, l } = steps[steps.length - 1];
    const two = twoPass(scores);
    const once = probabilities(scores, m, l), twice = probabilities(scores, two.m, two.l);
    const most = once.reduce((sum, p, i) => Math.max(sum, Math.abs(p - twice[i])), 0);
    view.result("online", once.map(value).join(", "), "softmax, one pass");
    view.result("two_pass", twice.map(value).join(", "), "softmax, two passes");
    view.result("difference", value(most), "largest difference (float32)");
}

export default {
    title: "Online softmax",
    look: "Look at the rescale factor: it is 1 while the largest score stays the same, and below " +
        "1 only in steps where a block brings a larger one.",
    below: true,
    parameters: {
        scores: { value: "1, 3, 2, 5, 4, 0, 6, 2", label: "scores" },
        block: { value: 2, from: 1, to: (state) => Math.max(1, scoresOf(state).values.length),
            label: "scores in a block" },
        step: { value: 1, from: 0, to: blockCount, label: "step" },
    },
    draw(figure, view) {
        const { values, error } = scoresOf(view.state);
        if (error) {
            problem(figure, error);
            return;
        }
        const at = view.state.step, steps = onlineSteps(values, view.state.block);
        const step = steps[at], last = steps.length - 1;
        figure.append(element("div", { class: "online-softmax" }, stepButtons(view, "step", last),
            picture(figure, values, steps, at),
            ...words(step, steps[at - 1], at).map((line) =>
                element("p", { class: "online-line" }, line)),
            at === last ? element("p", { class: "online-end" }, "All scores are read: each " +
                "probability is exp(x - m) / l, the same as from two passes.") : null,
            history(steps, at)));
        view.result("m", value(step.m), "m");
        view.result("l", value(step.l), "l");
        view.result("factor", at === 0 ? "none" : value(step.factor), "rescale exp(m_old - m_new)");
        view.result("read", step.end, "scores read");
        view.result("steps", last, "steps in all");
        if (at === last)
            compare(view, values, steps);
    },
};
