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

/* Pictures that play, with their timers: a picture is drawn anew in every step. */
const playing = new WeakMap();

function pause(view) {
    clearInterval(playing.get(view));
    playing.delete(view);
}

/* Step by step to the last; from the beginning if that is where it stands. */
function play(view, name, last) {
    pause(view);
    playing.set(view, setInterval(() => {
        if (view.state[name] + 1 >= last)
            pause(view);
        view.set({ [name]: view.state[name] + 1 });
    }, 900));
    view.set({ [name]: view.state[name] >= last ? 0 : view.state[name] + 1 });
}

/* Buttons for one step back and forth, and for all of them one after the other. */
export function stepButtons(view, name, last) {
    const at = view.state[name];
    if (at >= last)
        pause(view);
    const isPlaying = playing.has(view);
    const button = (key, words, to) => element("button", { type: "button", "data-key": key,
        class: "number-step", "aria-disabled": to < 0 || to > last ? "true" : null,
        onclick: () => { if (to >= 0 && to <= last) view.set({ [name]: to }); } }, words);
    return element("div", { class: "number-steps" },
        element("button", { type: "button", "data-key": `${name}-play`, class: "number-step",
            "aria-disabled": last < 1 ? "true" : null, onclick: () => {
                if (isPlaying) {
                    pause(view);
                    view.set({});
                } else if (last > 0)
                    play(view, name, last);
            } }, isPlaying ? "Pause" : "▶ Play"),
        button(`${name}-back`, "◀ Back", at - 1), button(`${name}-next`, "Next ▶", at + 1));
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
