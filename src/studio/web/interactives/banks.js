/*
 * banks.js: the lanes of a shared-memory access stacked over the 32 banks; a pass takes one word
 * from each bank, so the highest stack is the number of passes. The access is one of the run's, or
 * made by a formula: lane i has the first element of row i of an array. Padding makes rows
 * longer in both.
 */
import { element, svg, box, text, drawing, laneNumbers, legend, colour } from "../draw.js";
import { BANKS, formulaAccess, bankPasses, padded } from "./access.js";
import { widthOf } from "./parts.js";
import { accessesOf, accessParameters, accessWords, isFormula, isRun, ofLine, placeWords, standIn }
    from "./records.js";

const ROW = 16, HEAD = 20;

function lanesWords(lanes) {
    return lanes.length > 4 ? `${lanes.length} lanes` : `lane${lanes.length > 1 ? "s" : ""} ` +
        lanes.join(", ");
}

function word({ word: number, lanes }, bank, x, y, cell) {
    return svg("g", {}, box(x + 0.5, y + 0.5, cell - 1, ROW - 2, { class: colour(lanes[0]) }),
        lanes.length > 1 ? box(x + 2, y + 2, cell - 4, ROW - 5, { class: "banks-shared" }) : null,
        text(x + cell / 2, y + ROW - 4, lanes[0], { class: "on-fill lane-number",
            "text-anchor": "middle" }),
        svg("title", {}, `bank ${bank}: word ${number} for ${lanesWords(lanes)}`));
}

/* A group of lanes that is served on its own: pass 1 at the bottom. */
function group({ banks, passes, lanes }, top, cell, isAlone) {
    const parts = [];
    if (!isAlone)
        parts.push(text(0, top + 12, `lanes ${lanes[0]} to ${lanes[lanes.length - 1]}: ` +
            `${passes} pass${passes > 1 ? "es" : ""}`, { class: "soft" }));
    const base = top + (isAlone ? 0 : HEAD) + passes * ROW;
    banks.forEach((words, bank) => {
        for (let level = 0; level < passes; level++) {
            const y = base - (level + 1) * ROW;
            parts.push(level < words.length ? word(words[level], bank, bank * cell, y, cell)
                : box(bank * cell + 0.5, y + 0.5, cell - 1, ROW - 2, { class: "empty" }));
        }
    });
    return { parts, bottom: base };
}

function picture(sum, width) {
    const cell = width / BANKS, parts = [];
    let y = 0;
    for (const each of sum.groups) {
        const drawn = group(each, y, cell, sum.groups.length === 1);
        parts.push(...drawn.parts);
        y = drawn.bottom + 4;
    }
    parts.push(...laneNumbers(y + 11, BANKS, cell), text(0, y + 27, "bank", { class: "soft" }));
    return drawing(width, y + 32, `32 banks, ${sum.passes} passes`, ...parts);
}

/* For other pages: the picture of one access to shared memory. */
export function bankPicture(access, width) {
    return picture(bankPasses(access), width);
}

/* The access as it is, and with the padding. */
function accessOf(view) {
    const { from, row, padding, bytes, line, record } = view.state;
    if (from === "formula") {
        const access = formulaAccess(bytes, (lane) => lane * (row + padding) * bytes);
        return { ...access, space: "shared" };
    }
    const access = ofLine(accessesOf(view.run, "shared"), line)[record];
    return padding ? padded(access, row, padding) : access;
}

function words(view, access) {
    const { from, row, padding } = view.state;
    if (from === "formula")
        return `Lane i reads tile[i][0] of an array with rows of ${row + padding} elements`;
    return `${placeWords(view.run, access)} (${accessWords(access)}` +
        (padding ? `; as if its rows of ${row} elements were ${padding} longer)` : ")");
}

function draw(figure, view) {
    const access = accessOf(view), sum = bankPasses(access);
    figure.classList.add("banks");
    figure.append(standIn(view, "shared"),
        element("p", {}, element("code", {}, words(view, access))),
        picture(sum, widthOf(figure)),
        legend(["fill-0", "a word, with the lane that wants it"],
            ["banks-legend-shared", "one word for several lanes: no extra pass"],
            ["empty", "bank idle in this pass"]));
    view.result("passes", sum.passes, "passes");
    view.result("conflicts", sum.conflicts, "of those, by bank conflicts");
    view.result("lanes", access.bytes > 4 ? 128 / access.bytes : BANKS, "lanes served at a time");
}

export default {
    title: "Bank conflicts",
    look: "Look at the highest stack: a bank gives one word a pass, so lanes that want different " +
        "words of the same bank take turns.",
    run: "banks",
    drawsRun: isRun,
    parameters: (run) => ({
        ...accessParameters(run, "shared"),
        row: { value: 32, from: 1, to: 64, label: "row (elements)" },
        padding: { value: 0, from: 0, to: 8, label: "padding" },
        bytes: { value: 4, choices: [4, 8, 16], label: "bytes of an element", when: isFormula },
    }),
    draw,
};
