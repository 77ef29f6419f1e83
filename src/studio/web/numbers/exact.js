/*
 * exact.js: numbers as fractions of whole numbers, from doubles and from the decimals that people
 * type. {kind: "finite" | "infinity" | "NaN", negative, over, under}
 */
const LARGEST_EXPONENT = 400; /* keeps 1e999999999 from filling the memory; no format needs more */

function special(kind, negative) {
    return { kind, negative, over: 0n, under: 1n };
}

export function exactOf(value) {
    if (Number.isNaN(value))
        return special("NaN", false);
    const negative = value < 0 || Object.is(value, -0);
    if (!Number.isFinite(value))
        return special("infinity", negative);
    let over = Math.abs(value), shift = 0;
    /* Doubling is exact, and ends: a double has at most 1074 bits after its point. */
    while (!Number.isInteger(over)) {
        over *= 2;
        shift++;
    }
    return { kind: "finite", negative, over: BigInt(over), under: 1n << BigInt(shift) };
}

/* "-1.5e3", "inf", "nan"; null for what is not a number. */
export function exactOfText(text) {
    const word = text.trim().toLowerCase().replace("−", "-");
    const named = /^([+-]?)(inf|infinity|∞|nan)$/.exec(word);
    if (named)
        return special(named[2] === "nan" ? "NaN" : "infinity", named[1] === "-");
    const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/.exec(word);
    if (!parts || !(parts[2] || parts[3]) || word.length > 400)
        return null;
    const [, sign, whole = "", behind = "", power = "0"] = parts;
    const exponent = Math.max(-2 * LARGEST_EXPONENT,
        Math.min(2 * LARGEST_EXPONENT, Number(power) - behind.length));
    const digits = BigInt(whole + behind);
    return { kind: "finite", negative: sign === "-",
        over: exponent > 0 ? digits * 10n ** BigInt(exponent) : digits,
        under: exponent < 0 ? 10n ** BigInt(-exponent) : 1n };
}

/* The nearest double, good enough to show an error by. */
function approximate(over, under) {
    if (over === 0n)
        return 0;
    const shift = over.toString(2).length - under.toString(2).length - 64;
    const quotient = shift > 0 ? over / (under << BigInt(shift)) : (over << BigInt(-shift)) / under;
    /* In two steps: a quotient of 65 bits times 2^-1074 is a double, but 2^-1100 is not. */
    return Number(quotient) * 2 ** Math.trunc(shift / 2) * 2 ** (shift - Math.trunc(shift / 2));
}

/* value - exact, rounded only at the end. */
export function errorOf(value, exact) {
    if (exact.kind === "NaN" || Number.isNaN(value))
        return NaN;
    if (exact.kind === "infinity" || !Number.isFinite(value)) {
        const wanted = exact.kind === "infinity" ? (exact.negative ? -Infinity : Infinity) : 0;
        return value === wanted ? 0 : value - wanted;
    }
    const given = exactOf(value);
    const left = (given.negative ? -given.over : given.over) * exact.under;
    const right = (exact.negative ? -exact.over : exact.over) * given.under;
    const difference = left - right;
    const size = approximate(difference < 0n ? -difference : difference,
        given.under * exact.under);
    return difference < 0n ? -size : size;
}

/* The size of an exact number as a double. */
export function sizeOf(exact) {
    return exact.kind === "finite" ? approximate(exact.over, exact.under) : Infinity;
}
