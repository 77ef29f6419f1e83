/*
 * quantise.js: numbers through few bits and back: a scale for each group, whole numbers or a small
 * floating-point format, rounding to the nearest or by chance.
 */
import { formats, round, encodeNumber, decode, largestCode, neighbour } from "./formats.js";
import { generator, normal } from "./random.js";

export const kinds = { int8: 8, int4: 4, int2: 2, e4m3: 8, e5m2: 8, e2m1: 4 };

/* Normal numbers in float32. Where `outlier` is above 0, every 64th is as large as that. */
export function makeValues(count, seed, outlier) {
    const uniform = generator(seed);
    return Array.from({ length: count }, (_, i) => {
        const value = normal(uniform);
        return outlier > 0 && i % 64 === 5 ? Math.sign(value) * outlier : Math.fround(value);
    });
}

function evenRound(value) {
    const below = Math.floor(value), rest = value - below;
    return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}

/* Down or up, with the chance that makes the mean right. */
function byChance(value, below, above, chance) {
    return above > below && chance < (value - below) / (above - below) ? above : below;
}

/* The grid that codes stand on before the scale: whole numbers from least to most, or a format. */
function wholeGrid(least, most) {
    const clamp = (value) => Math.min(most, Math.max(least, value));
    return { levels: Array.from({ length: most - least + 1 }, (_, i) => least + i),
        nearest: (value) => clamp(evenRound(value)),
        stochastic: (value, chance) => {
            const below = Math.floor(value);
            return clamp(byChance(value, below, below + 1, chance));
        } };
}

function formatGrid(format) {
    const levels = [];
    const largest = largestCode(format), signBit = 2 ** (format.bits - 1);
    for (let code = largest; code > 0; code--)
        levels.push(decode(format, signBit + code));
    for (let code = 0; code <= largest; code++)
        levels.push(decode(format, code));
    return { levels,
        nearest: (value) => round(format, value),
        stochastic: (value, chance) => {
            const code = encodeNumber(format, value), near = decode(format, code);
            if (near === value)
                return near;
            const other = neighbour(format, code, near < value ? 1 : -1);
            if (other === null || !Number.isFinite(decode(format, other)))
                return near;
            const far = decode(format, other);
            return byChance(value, Math.min(near, far), Math.max(near, far), chance);
        } };
}

/* Scale and zero point of a group. The scale is kept in float32. */
function symmetricScale(values, largest) {
    const size = Math.max(...values.map(Math.abs));
    return { scale: size === 0 ? 1 : Math.fround(size / largest), zero: 0 };
}

function affineScale(values, steps) {
    const least = Math.min(0, ...values), most = Math.max(0, ...values);
    if (most === least)
        return { scale: 1, zero: 0 };
    const scale = Math.fround((most - least) / steps);
    return { scale, zero: Math.min(steps, Math.max(0, evenRound(-least / scale))) };
}

function gridOf(kind, affine) {
    if (!kind.startsWith("int")) {
        const format = formats[kind];
        return { grid: formatGrid(format), fit: (values) =>
            symmetricScale(values, decode(format, largestCode(format))) };
    }
    const bits = kinds[kind];
    if (affine)
        return { grid: wholeGrid(0, 2 ** bits - 1),
            fit: (values) => affineScale(values, 2 ** bits - 1) };
    const largest = 2 ** (bits - 1) - 1;
    return { grid: wholeGrid(-largest, largest), fit: (values) => symmetricScale(values, largest) };
}

/* {kind, affine, group, stochastic, seed}: group 0 is all values together. Gives the groups, each
 * with its levels, and for each value what came back. */
export function quantise(values, options) {
    const { grid, fit } = gridOf(options.kind, options.affine);
    const size = options.group || values.length;
    const chance = generator(options.seed + 1000);
    const groups = [], back = [];
    for (let from = 0; from < values.length; from += size) {
        const some = values.slice(from, from + size);
        const { scale, zero } = fit(some);
        groups.push({ from, end: from + some.length, scale, zero,
            levels: grid.levels.map((level) => (level - zero) * scale) });
        for (const value of some) {
            const at = value / scale + zero;
            const code = options.stochastic ? grid.stochastic(at, chance()) : grid.nearest(at);
            back.push((code - zero) * scale);
        }
    }
    return { groups, back };
}

/* Bits that a value costs with its share of the scale (32) and of a zero point. */
export function bitsPerValue(options, count) {
    const zeroBits = options.affine && options.kind.startsWith("int") ? kinds[options.kind] : 0;
    const groups = options.group ? Math.ceil(count / options.group) : 1;
    return kinds[options.kind] + groups * (32 + zeroBits) / count;
}

export function errors(values, back) {
    const each = values.map((value, i) => back[i] - value);
    const squares = (list) => list.reduce((total, value) => total + value * value, 0);
    const noise = squares(each), signal = squares(values);
    return { each, rms: Math.sqrt(noise / values.length),
        snr: noise === 0 ? Infinity : 10 * Math.log10(signal / noise) };
}
