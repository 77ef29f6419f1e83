/*
 * attention.js: attention of one query over tiles of keys and values, as a fused kernel does it: in
 * float32, with m, l and the output rescaled whenever a larger score comes.
 */
import { generator } from "./random.js";

export const DIM = 4;
const to = Math.fround;

function dot(a, b) {
    return a.reduce((sum, x, i) => to(sum + to(x * b[i])), 0);
}

/* Halves from -2 to 2, so that they can be read. */
function halves(uniform, count) {
    return Array.from({ length: count }, () => Math.round(uniform() * 8 - 4) / 2);
}

/* One query, keys and values. The key at `at` is made so that its score is large; 0: it is not. */
export function makeInputs({ keys, seed, large, at }) {
    const uniform = generator(seed);
    const query = halves(uniform, DIM).map((x, i) => i === 0 && x === 0 ? 1 : x);
    const k = Array.from({ length: keys }, () => halves(uniform, DIM));
    const v = Array.from({ length: keys }, () => halves(uniform, DIM));
    if (large)
        k[Math.min(at, keys - 1)] = query.map((x) =>
            to(x * large * Math.sqrt(DIM) / dot(query, query)));
    const scores = k.map((row) => to(dot(query, row) / to(Math.sqrt(DIM))));
    return { query, k, v, scores };
}

/* Every tile has three steps: "scores" are made, m and l are brought up to date and what was added
 * up so far is scaled ("rescale"), and the tile's values come to the output ("add"). The first state
 * is before all. rescales: false: the output is left as it is when m grows. */
export function attentionSteps({ scores, v }, tile, rescales) {
    const steps = [{ phase: "begin", tile: -1, from: 0, end: 0, read: 0, m: -Infinity, l: 0,
        factor: 1, weights: [], output: new Array(DIM).fill(0) }];
    for (let from = 0, number = 0; from < scores.length; from += tile, number++) {
        const before = steps[steps.length - 1], end = Math.min(from + tile, scores.length);
        const place = { tile: number, from, end, read: end };
        steps.push({ ...before, ...place, phase: "scores", factor: 1, weights: [] });
        const m = Math.max(before.m, ...scores.slice(from, end));
        const factor = before.m === -Infinity ? 0 : to(Math.exp(to(before.m - m)));
        const weights = scores.slice(from, end).map((score) => to(Math.exp(to(score - m))));
        const l = to(to(before.l * factor) + weights.reduce((sum, w) => to(sum + w), 0));
        const kept = before.output.map((x) => rescales ? to(x * factor) : x);
        steps.push({ ...place, phase: "rescale", m, l, factor, weights, output: kept });
        const output = kept.map((x, i) => weights.reduce((sum, w, key) =>
            to(sum + to(w * v[from + key][i])), x));
        steps.push({ ...place, phase: "add", m, l, factor, weights, kept, output });
    }
    return steps;
}

/* In doubles, with the largest score taken off first. */
export function exactAttention({ scores, v }) {
    const m = Math.max(...scores), weights = scores.map((score) => Math.exp(score - m));
    const l = weights.reduce((sum, w) => sum + w, 0);
    return Array.from({ length: DIM }, (_, i) =>
        weights.reduce((sum, w, key) => sum + w * v[key][i], 0) / l);
}

/* In float32 and without m: what large scores do to it. */
export function naiveAttention({ scores, v }) {
    const weights = scores.map((score) => to(Math.exp(score)));
    const l = weights.reduce((sum, w) => to(sum + w), 0);
    return Array.from({ length: DIM }, (_, i) =>
        to(weights.reduce((sum, w, key) => to(sum + to(w * v[key][i])), 0) / l));
}
