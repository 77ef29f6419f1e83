/* parts.js: what several interactives about numbers show in the same way. */
import { element } from "../draw.js";

/* Units of a drawing are pixels where it is drawn, so that text is as large on a phone. */
export function widthOf(figure) {
    return Math.max(320, Math.min(960, figure.clientWidth || 640));
}

export function problem(figure, words) {
    figure.append(element("p", { class: "number-problem", role: "alert" }, words));
}

/* Six digits, and the words that are used for what is not a number. */
export function value(x) {
    if (Number.isNaN(x))
        return "NaN";
    if (!Number.isFinite(x))
        return x > 0 ? "∞" : "-∞";
    return Object.is(x, -0) ? "-0" : String(Number(x.toPrecision(6)));
}

/* All digits that it takes to tell it from its neighbours. */
export function allDigits(x) {
    return Number.isFinite(x) && !Object.is(x, -0) ? String(x) : value(x);
}

/* Buttons for one step back and forth, beside the slider. */
export function stepButtons(view, name, last) {
    const at = view.state[name];
    const button = (key, words, to) => element("button", { type: "button", "data-key": key,
        class: "number-step", "aria-disabled": to < 0 || to > last ? "true" : null,
        onclick: () => { if (to >= 0 && to <= last) view.set({ [name]: to }); } }, words);
    return element("div", { class: "number-steps" }, button(`${name}-back`, "◀ Back", at - 1),
        button(`${name}-next`, "Next ▶", at + 1));
}

/* rows of cells; a cell is a string or an element. */
export function table(caption, heads, rows) {
    return element("table", { class: "number-table" }, element("caption", {}, caption),
        element("thead", {}, element("tr", {},
            ...heads.map((head) => element("th", { scope: "col" }, head)))),
        element("tbody", {}, ...rows));
}

export function row(attributes, ...cells) {
    return element("tr", attributes, ...cells.map((cell) => element("td", {}, cell)));
}
