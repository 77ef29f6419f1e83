/*
 * warp.js: what a warp did, record by record: a row for each memory access and branch of the trace,
 * and in it a cell for each of the 32 lanes. Instructions that are neither are not in a trace.
 */
import { element, svg, box, drawing, laneNumbers, legend, number } from "../draw.js";
import { LANES, lanesOf } from "./access.js";
import { stepButtons, widthOf } from "./parts.js";
import { recordsOf, placeWords, kernelOf } from "./records.js";

const ROWS = 22; /* that are shown at a time */

/* "0.3.1": launch 0, block 3, warp 1. */
function warpKey(record) {
    return `${record.launch}.${record.block}.${record.warp}`;
}

function warpWords(run, key, many) {
    const [launch, block, warp] = key.split(".");
    const name = kernelOf(run, Number(launch))?.name ?? "kernel";
    return `warp ${warp} of block ${block}${many ? `, launch ${launch}: ${name}` : ""}`;
}

export function isSplit(record) {
    return record.kind === "branch" && record.mask !== 0 && record.mask !== record.active;
}

/* Counts over the records of a warp. */
export function warpCounts(records) {
    const lanes = records.reduce((sum, record) => sum + lanesOf(record.active).length, 0);
    return { records: records.length, lanes: records.length ? lanes / records.length : 0,
        splits: records.filter(isSplit).length };
}

function laneClass(record, lane) {
    const has = (mask) => Math.floor(mask / 2 ** lane) % 2 === 1;
    if (!has(record.active))
        return "empty";
    if (has(record.mask))
        return "fill-0";
    return record.kind === "branch" ? "fill-4" : "warp-guarded";
}

const LANE_WORDS = { "empty": "masked off", "fill-0": "does it",
    "fill-4": "does not take the branch", "warp-guarded": "on the path, its guard is false" };

function cells(record) {
    const lanes = Array.from({ length: LANES }, (_, lane) => svg("g", {},
        box(lane * 10 + 0.5, 0.5, 9, 11, { class: laneClass(record, lane) }),
        svg("title", {}, `lane ${lane}: ${LANE_WORDS[laneClass(record, lane)]}`)));
    return svg("svg", { viewBox: "0 0 320 12", preserveAspectRatio: "none", role: "img",
        "aria-label": `${lanesOf(record.active).length} lanes on the path, ` +
            `${lanesOf(record.mask).length} do it` }, ...lanes);
}

function row(view, record, at) {
    const isNow = at === view.state.step;
    const split = isSplit(record) ? element("span", { class: "warp-split" }, "splits") : null;
    return element("li", { class: isNow ? "warp-now" : null, "aria-current": isNow ? "step" : null,
        onclick: () => view.set({ step: at }) },
        element("span", { class: "warp-place" },
            element("span", { class: "warp-kind" }, record.kind),
            element("code", {}, placeWords(view.run, record)), split),
        cells(record));
}

function sentence(record) {
    const active = lanesOf(record.active).length, mask = lanesOf(record.mask).length;
    if (isSplit(record))
        return `${mask} of the ${active} lanes go one way and ${active - mask} the other. ` +
            "The warp runs the two ways one after the other, each with the other's lanes idle.";
    if (record.kind === "branch")
        return `All ${active} lanes on the path go the same way: ${mask ? "they take" :
            "they do not take"} the branch.`;
    const what = { load: "read", store: "write", atomic: "change" }[record.kind];
    return `${mask} of ${LANES} lanes ${what} ${record.space} memory` +
        (active < LANES ? `; ${LANES - active} are masked off and wait.` : ".");
}

/* The step itself, with its lanes' numbers. */
function now(figure, view, record) {
    const width = widthOf(figure), cell = width / LANES;
    const lanes = Array.from({ length: LANES }, (_, lane) =>
        box(lane * cell + 0.5, 0.5, cell - 1, 20, { class: laneClass(record, lane) }));
    return element("div", { class: "warp-step" },
        element("p", {}, element("strong", {}, `Step ${view.state.step}, `),
            element("code", {}, placeWords(view.run, record)), ` (${record.text})`),
        drawing(width, 40, "the 32 lanes at this step", ...lanes,
            ...laneNumbers(34, LANES, cell)),
        element("p", { "aria-live": "polite" }, sentence(record)));
}

/* The kernel's text with the step's line marked; a click goes to the first step of a line. */
function source(view, records) {
    const line = records[view.state.step].line, known = placeWords(view.run, records[view.state.step]);
    if (!view.run.code || !line || !known.includes(":"))
        return null;
    const first = (number) => records.findIndex((record) => record.line === number);
    return element("ol", { class: "warp-source", "aria-label": "the kernel's source" },
        ...view.run.code.trimEnd().split("\n").map((words, at) => element("li", {
            class: at + 1 === line ? "warp-line-now" : first(at + 1) >= 0 ? "warp-line" : null,
            onclick: () => { if (first(at + 1) >= 0) view.set({ step: first(at + 1) }); } },
        element("code", {}, words || " "))));
}

/* A long source scrolls to the line that is marked, and the page stays where it is. */
function showLine(list) {
    const now = list?.querySelector(".warp-line-now");
    if (now && list.scrollHeight > list.clientHeight)
        list.scrollTop = now.offsetTop - (list.clientHeight - now.offsetHeight) / 2;
}

function draw(figure, view) {
    const records = recordsOf(view.run).filter((record) => warpKey(record) === view.state.warp);
    const counts = warpCounts(records);
    figure.classList.add("warp");
    if (records.length) {
        const { step } = view.state;
        const first = Math.max(0, Math.min(step - ROWS / 2, records.length - ROWS));
        const text = source(view, records);
        const right = element("div", { class: "warp-lanes" });
        figure.append(element("div", { class: text ? "warp-both" : null }, text ?? "", right));
        right.append(now(right, view, records[step]),
            stepButtons(view, "step", records.length - 1),
            legend(["fill-0", "does it, or takes the branch"],
                ["fill-4", "does not take the branch"], ["warp-guarded", "guard is false"],
                ["empty", "masked off: waits"]),
            element("ol", { class: "warp-rows", start: first },
                ...records.slice(first, first + ROWS)
                    .map((each, k) => row(view, each, first + k))));
        showLine(text);
    } else {
        figure.append(element("p", {}, "This run has no traced warp: it touched no memory."));
    }
    view.result("records", counts.records, "accesses and branches of this warp");
    view.result("lanes", number(counts.lanes), "lanes on the path, on average (of 32)");
    view.result("splits", counts.splits, "branches that split the warp");
}

export default {
    title: "Warp execution",
    look: "Look for rows with gaps: those lanes are switched off and wait, while the warp spends " +
        "its time on the others.",
    run: "warp",
    showsSource: true,
    parameters(run) {
        const records = recordsOf(run);
        const warps = [...new Set(records.map(warpKey))];
        const many = new Set(records.map((record) => record.launch)).size > 1;
        return {
            warp: { value: warps[0] ?? "0.0.0", choices: warps.length ? warps : ["0.0.0"],
                words: warps.map((key) => warpWords(run, key, many)), label: "warp" },
            step: { value: 0, from: 0, label: "step", to: (state) => Math.max(0,
                records.filter((record) => warpKey(record) === state.warp).length - 1) },
        };
    },
    draw,
};
