/*
 * timeline.js: the timeline of a profile: what the host, each stream and each engine did in modelled
 * time, from report/timeline_json.c's "timelines". A profile without one (an older run) draws nothing.
 */
import { drawing, text, box, svg, element, legend, number, bytes } from "./draw.js";

const WIDTH = 1000, LEFT = 150, ROW = 22, BAR = 15, TOP = 22;
const FILLS = { "kernel": "fill-0", "copy to the device": "fill-1", "copy from the device": "fill-2",
    "copy inside the device": "fill-3", "memset": "fill-4", "host function": "fill-5" };
const ENGINES = [["compute", "compute", ["kernel"]],
    ["copy_to", "copies to the device", ["copy to the device"]],
    ["copy_from", "copies from the device", ["copy from the device"]]];

function shape([x, y, z]) {
    return [x, y, z].slice(0, z > 1 ? 3 : y > 1 ? 2 : 1).join(" x ");
}

function words(op) {
    const what = op.name ? `${op.name} <<<${shape(op.grid)}, ${shape(op.block)}>>>` : op.kind;
    const size = op.bytes ? `, ${bytes(op.bytes)}` : "";
    const rate = op.gb_s ? `, ${number(op.gb_s)} GB/s` : "";
    return `${what}${size}: ${number(op.end_us - op.begin_us)} µs from ` +
        `${number(op.begin_us)} µs${rate}, by ${op.call}`;
}

function bar(place, row, begin, end, fill, title) {
    const x = place(begin);
    const rect = box(x.toFixed(2), TOP + row * ROW, Math.max(place(end) - x, 0.6).toFixed(2), BAR,
        { class: fill });
    rect.append(svg("title", {}, title));
    return rect;
}

function hostBars(timeline, place) {
    return timeline.operations.flatMap((op) => {
        if (op.kind === "wait")
            return [bar(place, 0, op.begin_us, op.end_us, "empty",
                `${op.call} waits ${number(op.end_us - op.begin_us)} µs`)];
        if ((op.graph && op.kind !== "graph launch") || op.issued_us <= op.asked_us)
            return [];
        return [bar(place, 0, op.asked_us, op.issued_us, "fill-7",
            `${op.call}: ${number(op.issued_us - op.asked_us)} µs`)];
    });
}

function picture(timeline) {
    const place = (at) => LEFT + (WIDTH - LEFT - 10) * at / timeline.time_us;
    const rows = ["host", ...timeline.rows.map((row) =>
        row.lane ? "beside it" : `stream ${row.stream}`), ...ENGINES.map(([, name]) => name)];
    const height = TOP + rows.length * ROW + 4;
    const scale = [0, 1, 2, 3, 4].map((i) => text(place(timeline.time_us * i / 4), 12,
        i ? `${number(timeline.time_us * i / 4)} µs` : "0",
        { class: "soft", "text-anchor": ["start", "middle", "middle", "middle", "end"][i] }));
    const drawn = timeline.operations.filter((op) => FILLS[op.kind] && op.end_us > op.begin_us);
    const first = 1 + timeline.rows.length;
    return drawing(WIDTH, height, "timeline", ...scale,
        ...rows.map((name, row) => text(0, TOP + row * ROW + 12, name)),
        ...hostBars(timeline, place),
        ...drawn.map((op) => bar(place, 1 + op.row, op.begin_us, op.end_us, FILLS[op.kind],
            words(op))),
        ...ENGINES.flatMap(([, , kinds], i) => drawn.filter((op) => kinds.includes(op.kind))
            .map((op) => bar(place, first + i, op.begin_us, op.end_us, FILLS[op.kind],
                words(op)))));
}

function fact(name, title, value) {
    return element("div", {}, element("dt", {}, title),
        element("dd", { "data-fact": name }, value));
}

function facts(timeline) {
    const percent = (part) => `${Math.round(100 * part)} %`;
    return element("dl", { class: "results" },
        fact("timeline-time", "the whole program", `${number(timeline.time_us)} µs`),
        fact("timeline-overlap", "copies and kernels overlap", percent(timeline.overlap)),
        ...ENGINES.filter(([key]) => timeline.engines[key].operations).map(([key, name]) =>
            fact(`timeline-${key}`, `${name}: busy`, percent(timeline.engines[key].busy))),
        fact("timeline-waiting", "the host waits", `${number(timeline.host.waiting_us)} µs`));
}

/* The section, or null. */
export function timelineSection(profile) {
    const timeline = (profile.timelines ?? []).find((each) => each.time_us > 0);
    if (!timeline)
        return null;
    const gaps = timeline.gaps.slice(0, 3).map((gap) => element("li", {},
        `${number(gap.end_us - gap.begin_us)} µs from ${number(gap.begin_us)} µs: ` +
        gap.waits_for));
    return element("section", { id: "timeline" }, element("h2", {}, "Timeline"),
        element("p", {}, "What the program did in modelled time. Point at a bar to see what it is."),
        facts(timeline), element("div", { class: "figure" }, picture(timeline),
            legend(["fill-0", "kernel"], ["fill-1", "copy to the device"],
                ["fill-2", "copy from it"], ["fill-4", "memset"], ["fill-7", "call of the API"],
                ["empty", "the host waits"])),
        gaps.length ? element("div", {}, element("h3", {}, "No kernel runs, and what it waits for"),
            element("ul", {}, ...gaps)) : null);
}
