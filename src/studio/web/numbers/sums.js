/* sums.js: the dot product, and what the order of its additions does in float32. */

/* [{a, b, product, sum}] in doubles, from left to right. */
export function terms(a, b) {
    let sum = 0;
    return a.map((value, i) => {
        const product = value * b[i];
        sum += product;
        return { a: value, b: b[i], product, sum };
    });
}

function roundedProducts(a, b) {
    return a.map((value, i) => Math.fround(Math.fround(value) * Math.fround(b[i])));
}

/* One thread: each addition waits for the one before. */
export function leftToRight(a, b) {
    return roundedProducts(a, b).reduce((total, value) => Math.fround(total + value), 0);
}

/* A tree, as warps add: neighbours first, then the sums of neighbours. An odd one waits. */
export function pairwise(a, b) {
    let level = roundedProducts(a, b);
    while (level.length > 1) {
        const next = [];
        for (let i = 0; i < level.length; i += 2)
            next.push(i + 1 < level.length ? Math.fround(level[i] + level[i + 1]) : level[i]);
        level = next;
    }
    return level[0] ?? 0;
}

export function length(a) {
    return Math.hypot(...a);
}

/* In degrees; null where a vector has no direction. */
export function angle(a, b) {
    const sizes = length(a) * length(b);
    if (sizes === 0)
        return null;
    const cosine = terms(a, b)[a.length - 1].sum / sizes;
    return Math.acos(Math.min(1, Math.max(-1, cosine))) * 180 / Math.PI;
}
