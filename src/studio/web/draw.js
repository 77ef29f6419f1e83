/*
 * draw.js: what pages and interactives draw with: elements, SVG, colours and numbers as people
 * write them. Attributes only, no markup in strings, so that a learner's source can never become
 * a page.
 */
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (name.startsWith("on"))
            node.addEventListener(name.slice(2), value);
        else if (name === "style") /* as an attribute the pages' policy forbids it */
            node.style.cssText = value;
        else if (value !== null && value !== undefined && value !== false)
            node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
}

/* element("button", {class: "bit", onclick: f}, "1") */
export function element(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

/* A drawing of a width and height in its own units, as wide as its place allows. */
export function drawing(width, height, label, ...children) {
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
        ...children);
}

export function text(x, y, words, attributes) {
    return svg("text", { x, y, ...attributes }, String(words));
}

export function box(x, y, width, height, attributes) {
    return svg("rect", { x, y, width, height, ...attributes });
}

/* As people read it: 4 digits at most, and a multiple from 10 thousand on. */
export function number(value) {
    if (!Number.isFinite(value))
        return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
    const multiples = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
    for (const [unit, name] of multiples)
        if (Math.abs(value) >= Math.max(unit, 1e4))
            return digits(value / unit) + name;
    return digits(value);
}

/* A part of 1: "40 %", "4.1 %", "0.35 %". */
export function percent(part) {
    const value = 100 * part;
    return `${Number(value >= 10 ? value.toFixed(0) : value.toPrecision(2))} %`;
}

/* "256 x 1 x 1" is 256. */
export function shape(size) {
    const last = size.findLastIndex((each) => each !== 1);
    return size.slice(0, Math.max(last, 0) + 1).join(" x ");
}

function digits(value) {
    return String(Number(value.toPrecision(4)));
}

export function bytes(value) {
    for (const [unit, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
        if (value >= unit)
            return `${digits(value / unit)} ${name}`;
    return `${digits(value)} B`;
}

/* The numbers of lanes or banks below a row of cells; only each fourth where they are narrow. */
export function laneNumbers(y, count, cell) {
    return Array.from({ length: count }, (_, lane) => lane)
        .filter((lane) => cell >= 14 || lane % 4 === 0)
        .map((lane) => text((lane + 0.5) * cell, y, lane,
            { class: "soft lane-number", "text-anchor": "middle" }));
}

/* What colours mean: legend(["fill-0", "active"], ["empty", "not"]) */
export function legend(...pairs) {
    return element("ul", { class: "legend" }, ...pairs.map(([name, words]) => element("li", {},
        svg("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" },
            box(0.5, 0.5, 11, 11, { class: name })), words)));
}

/* One of eight colours that stay apart for colour-blind readers; style.css has them for dark and
 * light. Use as class: fill-0 .. fill-7. */
export function colour(index) {
    return `fill-${((index % 8) + 8) % 8}`;
}
