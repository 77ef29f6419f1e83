/*
 * softmax.js: softmax in a chosen format, where every operation is rounded as a GPU's would be:
 * naive, with the largest score taken off, and in one pass over blocks (m and l of flash
 * attention).
 */
import { formats, round } from "./formats.js";

/* exp of scores / temperature - shift, its sum from left to right, and the quotients. */
function weigh(scaled, shift, to) {
    const exps = scaled.map((score) => to(Math.exp(to(score - shift))));
    const sum = exps.reduce((total, value) => to(total + value), 0);
    return { shift, exps, sum, probabilities: exps.map((value) => to(value / sum)) };
}

export function softmax(scores, temperature, formatName) {
    const to = (value) => round(formats[formatName], value);
    const scaled = scores.map((score) => to(to(score) / to(temperature)));
    return { scaled, naive: weigh(scaled, 0, to),
        shifted: weigh(scaled, Math.max(...scaled), to) };
}

/* What the true probabilities are: in doubles, with the largest taken off. */
export function trueSoftmax(scores, temperature) {
    const scaled = scores.map((score) => score / temperature);
    return weigh(scaled, Math.max(...scaled), (value) => value).probabilities;
}

/* The state after each block, in float32; the first one is before any block was read. */
export function onlineSteps(scores, blockSize) {
    const to = Math.fround;
    const steps = [{ from: 0, end: 0, m: -Infinity, l: 0 }];
    for (let from = 0; from < scores.length; from += blockSize) {
        const before = steps[steps.length - 1];
        const end = Math.min(from + blockSize, scores.length);
        const block = scores.slice(from, end).map(to);
        const blockMax = Math.max(...block);
        const m = Math.max(before.m, blockMax);
        const factor = to(Math.exp(to(before.m - m)));
        const terms = block.map((score) => to(Math.exp(to(score - m))));
        const blockSum = terms.reduce((total, term) => to(total + term), 0);
        const kept = to(before.l * factor);
        steps.push({ from, end, blockMax, m, factor, terms, l: to(kept + blockSum) });
    }
    return steps;
}

/* exp(score - m) / l of each score, with the m and l that a pass ended with. */
export function probabilities(scores, m, l) {
    const to = Math.fround;
    return scores.map((score) => to(to(Math.exp(to(to(score) - m))) / l));
}

/* One pass for the largest score and one for the sum, in float32. */
export function twoPass(scores) {
    const to = Math.fround, m = Math.max(...scores.map(to));
    return { m, l: scores.reduce((sum, score) => to(sum + to(Math.exp(to(to(score) - m)))), 0) };
}
