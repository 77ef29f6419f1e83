/* softmax.js: the naive softmax beside the one that takes the largest score off, rounded as a GPU
 * would in the chosen format. */
import { element } from "../draw.js";
import { readList } from "../numbers/list.js";
import { softmax, trueSoftmax } from "../numbers/softmax.js";
import { problem, row, table, value } from "./parts.js";

const MOST = 16;

/* NaN, and numbers too large for the format, in the colour of errors. */
function marked(x) {
    return Number.isFinite(x) ? value(x) : element("span", { class: "softmax-bad" }, value(x));
}

function bar(probability) {
    const width = Number.isFinite(probability) ? Math.min(1, Math.max(0, probability)) * 100 : 0;
    const isBad = !Number.isFinite(probability);
    return element("div", { class: "softmax-bar" },
        element("div", { class: isBad ? "softmax-track bad" : "softmax-track" },
            element("div", { class: "softmax-fill", style: `width: ${width.toFixed(2)}%` })),
        element("span", {}, marked(isBad ? probability : Number(probability.toPrecision(4)))));
}

function panel(name, title, scaled, way) {
    const rows = scaled.map((score, i) => row({}, value(score), marked(way.exps[i]),
        bar(way.probabilities[i])));
    const power = way.shift === 0 ? "exp(x)" : `exp(x - ${value(way.shift)})`;
    return element("section", { class: "softmax-panel", "data-way": name },
        table(title, ["x", name === "naive" ? "exp(x)" : power, "probability"], rows),
        element("p", {}, "sum of the exponentials: ", marked(way.sum)));
}

function largestError(probabilities, exact) {
    return probabilities.reduce((most, p, i) => Math.max(most, Math.abs(p - exact[i])), 0);
}

const list = (values) => values.map((x) => value(x)).join(", ");

export default {
    title: "Softmax",
    look: "Look at the naive softmax when a score passes 11.09 in FP16, or 88.7 in FP32 and " +
        "BF16: exp overflows and gives ∞ and NaN, while the stable one is not affected.",
    below: true,
    parameters: {
        scores: { value: "2, 9, 11, 12", label: "scores" },
        temperature: { value: 1, from: 0.1, to: 5, step: 0.1, label: "temperature" },
        format: { value: "fp16", choices: ["fp32", "fp16", "bf16"], label: "format" },
    },
    draw(figure, view) {
        const { state } = view;
        const { values, error } = readList(state.scores, "scores", MOST);
        if (error) {
            problem(figure, error);
            return;
        }
        const { scaled, naive, shifted } = softmax(values, state.temperature, state.format);
        const title = state.temperature === 1 ? "" : ` (x is score / ${state.temperature})`;
        figure.append(element("div", { class: "softmax" },
            panel("naive", `Naive${title}`, scaled, naive),
            panel("shifted", `Largest score taken off first${title}`, scaled, shifted)));
        const exact = trueSoftmax(values, state.temperature);
        view.result("naive", list(naive.probabilities), "naive");
        view.result("naive_sum", value(naive.sum), "sum of naive exponentials");
        view.result("shifted", list(shifted.probabilities), "with the largest taken off");
        view.result("max", value(shifted.shift), "largest score");
        view.result("shifted_sum", value(shifted.sum), "sum of its exponentials");
        view.result("naive_error", value(largestError(naive.probabilities, exact)),
            "largest error, naive");
        view.result("shifted_error", value(largestError(shifted.probabilities, exact)),
            "largest error, largest taken off");
    },
};
