/*
 * formats.js: the binary floating-point formats of GPUs: what bits mean, and exact rounding into
 * them, to the nearest and to even between two. Numbers come as fractions of whole numbers
 * (exact.js), so that a decimal is rounded once and not by way of a double.
 *
 * A code is the bits as a whole number, sign first. `top` says what the largest exponent is for:
 *   "ieee"    infinities and NaNs
 *   "nan"     numbers, and NaN where the mantissa is all ones (E4M3)
 *   "numbers" numbers only (E2M1)
 * `saturates`: what is too large becomes the largest number, as in the GPU's own conversion
 * (cvt.satfinite), and not infinity.
 */
import { exactOf } from "./exact.js";

function format(name, words, exponentBits, mantissaBits, top, saturates) {
    return { name, words, exponentBits, mantissaBits, top, saturates,
        bits: 1 + exponentBits + mantissaBits, bias: 2 ** (exponentBits - 1) - 1 };
}

export const formats = {
    fp32: format("fp32", "FP32", 8, 23, "ieee", false),
    tf32: format("tf32", "TF32", 8, 10, "ieee", false),
    fp16: format("fp16", "FP16", 5, 10, "ieee", false),
    bf16: format("bf16", "BF16", 8, 7, "ieee", false),
    e4m3: format("e4m3", "FP8 E4M3", 4, 3, "nan", true),
    e5m2: format("e5m2", "FP8 E5M2", 5, 2, "ieee", true),
    e2m1: format("e2m1", "FP4 E2M1", 2, 1, "numbers", true),
};

/* Sign, exponent and mantissa as they stand in the code. Codes have up to 32 bits, so division is
 * used: the shifts of JavaScript would make some of them negative. */
export function fields(format, code) {
    const mantissaCount = 2 ** format.mantissaBits, signBit = 2 ** (format.bits - 1);
    const sign = code >= signBit ? 1 : 0;
    const rest = code - sign * signBit;
    const exponent = Math.floor(rest / mantissaCount);
    return { sign, exponent, mantissa: rest - exponent * mantissaCount };
}

/* zero, subnormal, normal, infinity or NaN */
export function kind(format, code) {
    const { exponent, mantissa } = fields(format, code);
    const isTop = exponent === 2 ** format.exponentBits - 1;
    if (isTop && format.top === "ieee")
        return mantissa === 0 ? "infinity" : "NaN";
    if (isTop && format.top === "nan" && mantissa === 2 ** format.mantissaBits - 1)
        return "NaN";
    if (exponent === 0)
        return mantissa === 0 ? "zero" : "subnormal";
    return "normal";
}

/* Every value of these formats is a double, exactly. */
export function decode(format, code) {
    const { sign, exponent, mantissa } = fields(format, code);
    const signed = sign ? -1 : 1;
    const fraction = mantissa / 2 ** format.mantissaBits;
    switch (kind(format, code)) {
    case "NaN":
        return NaN;
    case "infinity":
        return signed * Infinity;
    case "normal":
        return signed * (1 + fraction) * 2 ** (exponent - format.bias);
    default:
        return signed * fraction * 2 ** (1 - format.bias);
    }
}

export function largestCode(format) {
    const positive = 2 ** (format.bits - 1);
    const above = { ieee: 2 ** format.mantissaBits, nan: 1, numbers: 0 };
    return positive - above[format.top] - 1;
}

/* All ones after the sign: the NaN that NVIDIA's GPUs give. E2M1 has none, and its conversion
 * gives the largest number, which has these same bits. */
export function nanCode(format) {
    return 2 ** (format.bits - 1) - 1;
}

function bitLength(whole) {
    return whole.toString(2).length;
}

/* floor(log2(over / under)), both above 0. */
function exponentOf(over, under) {
    const guess = bitLength(over) - bitLength(under);
    const [left, right] = guess >= 0 ? [over, under << BigInt(guess)]
        : [over << BigInt(-guess), under];
    return left >= right ? guess : guess - 1;
}

/* over / under / 2^shift as a whole number, to nearest even. */
function scaledToEven(over, under, shift) {
    const top = shift < 0 ? over << BigInt(-shift) : over;
    const bottom = shift > 0 ? under << BigInt(shift) : under;
    const quotient = top / bottom, twice = 2n * (top % bottom);
    const up = twice > bottom || (twice === bottom && quotient % 2n === 1n);
    return Number(quotient + (up ? 1n : 0n));
}

/* The code nearest to an exact number: {negative, over, under}, "infinity" or "NaN" as its kind. */
export function encode(format, exact) {
    const sign = exact.negative ? 2 ** (format.bits - 1) : 0;
    if (exact.kind === "NaN")
        return nanCode(format);
    const beyond = format.saturates ? largestCode(format) : largestCode(format) + 1;
    if (exact.kind === "infinity")
        return sign + beyond;
    if (exact.over === 0n)
        return sign;
    const least = 1 - format.bias;
    const exponent = Math.max(exponentOf(exact.over, exact.under), least);
    const units = scaledToEven(exact.over, exact.under, exponent - format.mantissaBits);
    /* Adding the mantissa with its leading one carries into the exponent where it must. */
    const code = (exponent - least) * 2 ** format.mantissaBits + units;
    return sign + (code > largestCode(format) ? beyond : code);
}

export function encodeNumber(format, value) {
    return encode(format, exactOf(value));
}

/* A double rounded into a format and back. */
export function round(format, value) {
    return decode(format, encodeNumber(format, value));
}

/* The next number up or down; null at the ends and for NaN. */
export function neighbour(format, code, direction) {
    if (kind(format, code) === "NaN")
        return null;
    const signBit = 2 ** (format.bits - 1);
    const { sign } = fields(format, code);
    const size = code - sign * signBit;
    const away = sign ? -direction : direction;
    if (size === 0)
        return direction > 0 ? 1 : signBit + 1;
    const next = size + away;
    const end = largestCode(format) + (format.top === "ieee" ? 1 : 0);
    return next > end ? null : sign * signBit + next;
}
