/*
 * source.js: what a replay's source says about its memory: how wide the arrays in shared memory are,
 * and what the kernel's pointers are called. Sizes that cannot be read from it are guessed from the
 * number of bytes, so a picture is never refused; it is only less well laid out.
 */
const TYPES = { double: 8, "long long": 8, int64_t: 8, uint64_t: 8, float: 4, int: 4, unsigned: 4,
    int32_t: 4, uint32_t: 4, half: 2, __half: 2, __nv_bfloat16: 2, short: 2, char: 1, int8_t: 1,
    uint8_t: 1, float2: 8, float4: 16, int4: 16 };

function constantsOf(text) {
    const found = new Map();
    const patterns = [/#\s*define\s+(\w+)\s+([^\n/]+)/g,
        /\b(?:constexpr|const)\s+(?:static\s+)?(?:unsigned\s+)?\w+\s+(\w+)\s*=\s*([^;,]+)/g,
        /[{,]\s*(\w+)\s*=\s*([^,}]+)/g];
    for (const pattern of patterns)
        for (const [, name, value] of text.matchAll(pattern))
            if (!found.has(name))
                found.set(name, value);
    return found;
}

/* A whole number of + - * / ( ), numbers and constants; NaN if it is anything else. */
export function evaluate(words, constants, depth = 0) {
    const tokens = words.match(/\w+|[-+*/()]|\S/g) ?? [];
    let at = 0;
    function atom() {
        const token = tokens[at++];
        if (token === "(") {
            const value = sum();
            return tokens[at++] === ")" ? value : NaN;
        }
        if (/^\d+[uUlL]*$/.test(token ?? ""))
            return parseInt(token, 10);
        return constants.has(token) && depth < 8
            ? evaluate(constants.get(token), constants, depth + 1) : NaN;
    }
    function product() {
        let value = atom();
        while (tokens[at] === "*" || tokens[at] === "/")
            value = tokens[at++] === "*" ? value * atom() : Math.trunc(value / atom());
        return value;
    }
    function sum() {
        let value = product();
        while (tokens[at] === "+" || tokens[at] === "-")
            value = tokens[at++] === "+" ? value + product() : value - product();
        return value;
    }
    const value = sum();
    return at === tokens.length ? value : NaN;
}

/* Without a word in the source: a square, a padded square, or rows of 32. */
function guessColumns(count) {
    const root = Math.round(Math.sqrt(count));
    if (root * root === count && root > 4)
        return root;
    for (const padded of [33, 17])
        if (count % padded === 0 && count / padded <= 2 * padded && count > padded)
            return padded;
    return count % 32 === 0 || count > 64 ? 32 : count;
}

/* {unit: bytes of an element, columns, shape: "[32][33]"} of a variable in shared memory. */
export function shapeOf(variable, text) {
    const declared = text.match(new RegExp(
        `__shared__([^;={]*?)\\b${variable.name}\\s*((?:\\[[^\\]]*\\]\\s*)+)`));
    const constants = constantsOf(text);
    const sizes = declared ? [...declared[2].matchAll(/\[([^\]]*)\]/g)].map(([, words]) =>
        evaluate(words, constants)) : [];
    const count = sizes.reduce((product, size) => product * size, 1);
    const words = declared?.[1].replace(/\b(?:volatile|alignas\([^)]*\))/g, "").trim();
    if (sizes.length && count > 0 && variable.bytes % count === 0 && variable.bytes / count <= 16)
        return { unit: variable.bytes / count, columns: sizes[sizes.length - 1] > 1
            && sizes.length > 1 ? sizes[sizes.length - 1] : guessColumns(count),
        shape: sizes.map((size) => `[${size}]`).join("") };
    const unit = TYPES[words] ?? 4;
    const cells = Math.max(1, Math.ceil(variable.bytes / unit));
    return { unit, columns: guessColumns(cells), shape: "" };
}

/* Names of the kernel's parameters, in order; none if its head is not found. */
export function parametersOf(kernel, text) {
    const name = kernel.replace(/<.*$/, "").split("::").pop().trim();
    const head = name && text.match(new RegExp(`\\b${name}\\s*\\(([^()]*(?:\\([^()]*\\)[^()]*)*)\\)`));
    if (!head)
        return [];
    return head[1].split(",").map((words) => words.replace(/=.*$/, "").match(/(\w+)\s*(?:\[\s*\])?\s*$/)
        ?.[1] ?? "");
}
