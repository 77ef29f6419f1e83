/*
 * source_view.js: the source of a replay: the line of the event that is looked at, and beside every
 * line the warps that are on it. With several files the one of that event is shown.
 */
import { element } from "../draw.js";
import { ranges } from "./words.js";

function tableOf(source) {
    const lines = source.text.replace(/\n$/, "").split("\n");
    const rows = lines.map((line, i) => {
        const warps = element("td", { class: "warps" });
        return { warps, row: element("tr", { "data-line": i + 1 }, warps,
            element("td", { class: "number" }, String(i + 1)), element("td", {},
                element("code", {}, line || " "))), shown: "", state: "" };
    });
    return { rows, table: element("table", { "aria-label": source.file },
        element("tbody", {}, ...rows.map(({ row }) => row))) };
}

/* Shows the row within its box, without moving the page. */
function reveal(box, row) {
    const inside = box.getBoundingClientRect(), where = row.getBoundingClientRect();
    if (where.top < inside.top + 30 || where.bottom > inside.bottom - 30)
        box.scrollTop += where.top - inside.top - inside.height / 3;
}

export function showSource(sources) {
    const tables = sources.map(tableOf);
    const name = element("h2", {}), box = element("div", { class: "replay-source", tabindex: 0 });
    let current = -1, revealed = null;

    function change(source) {
        if (source === current)
            return;
        current = source;
        name.textContent = sources[source].file;
        box.replaceChildren(tables[source].table);
    }

    function mark(each, warps, isNow) {
        const shown = ranges(warps), state = isNow ? "now" : warps.length ? "here" : "";
        if (each.shown !== shown)
            each.warps.textContent = each.shown = shown;
        if (each.state !== state)
            each.row.className = each.state = state;
    }

    return {
        element: element("div", {}, name, box),
        follow: () => { revealed = null; },
        show(model, state, i) {
            const event = i >= 0 ? model.events[i] : null;
            const first = model.events.find((each) => each.line);
            if (!sources.length)
                return;
            change(event?.line ? event.source : current >= 0 ? current : first?.source ?? 0);
            const warps = new Map();
            state.warps.forEach((last, warp) => {
                const each = last >= 0 ? model.events[last] : null;
                if (each && each.kind !== "end" && each.source === current)
                    warps.set(each.line, [...warps.get(each.line) ?? [], warp]);
            });
            const now = event?.source === current ? event.line : 0;
            tables[current].rows.forEach((each, line) =>
                mark(each, warps.get(line + 1) ?? [], line + 1 === now));
            const wanted = now || (first?.source === current ? first.line : 0);
            if (wanted && revealed !== wanted && tables[current].rows[wanted - 1]) {
                reveal(box, tables[current].rows[wanted - 1].row);
                revealed = wanted;
            }
        },
    };
}
