/*
 * coalescing.js: the addresses of 32 lanes over the sectors of global memory: what is fetched, what
 * of it was asked for. The access is one of the run's, or made by a formula: lane i has element
 * offset + stride * i.
 */
import { element, svg, box, text, drawing, legend, number, colour } from "../draw.js";
import { LANES, SECTOR, LINE, lanesOf, formulaAccess, sectors } from "./access.js";
import { widthOf } from "./parts.js";
import { accessesOf, accessParameters, accessWords, isFormula, isRun, ofLine, placeWords, standIn }
    from "./records.js";

const ROW = 17, MOST_LINES = 40;

function lanesWords(lanes) {
    return lanes.length > 4 ? `${lanes.length} lanes, ${lanes[0]} to ${lanes[lanes.length - 1]}`
        : `lane${lanes.length > 1 ? "s" : ""} ${lanes.join(", ")}`;
}

/* Bytes of a sector that the same lanes want, side by side: [{from, to, lanes}] */
function stretches(sector) {
    const found = [];
    sector.forEach((lanes, at) => {
        const last = found[found.length - 1];
        if (last && last.lanes.join() === lanes.join())
            last.to = at + 1;
        else
            found.push({ from: at, to: at + 1, lanes });
    });
    return found;
}

function drawSector(sector, x, y, unit) {
    if (!sector)
        return box(x, y, SECTOR * unit - 2, ROW - 4, { class: "empty" });
    const parts = stretches(sector).map(({ from, to, lanes }) => {
        const wide = (to - from) * unit - (to === SECTOR ? 2 : 0);
        const name = lanes.length ? `${colour(lanes[0])} coalescing-used` : "coalescing-waste";
        const words = lanes.length ? lanesWords(lanes) : "fetched, not used";
        const shown = lanes.length === 1 ? lanes[0] : lanes.length ? `${lanes.length} lanes` : "";
        return svg("g", {}, box(x + from * unit, y, wide, ROW - 4, { class: name }),
            wide > String(shown).length * 8 ? text(x + from * unit + wide / 2, y + ROW - 7, shown,
                { class: "on-fill", "text-anchor": "middle" }) : null,
            svg("title", {}, `${words}: ${to - from} bytes`));
    });
    return svg("g", {}, ...parts, box(x, y, SECTOR * unit - 2, ROW - 4,
        { class: "coalescing-sector" }));
}

function laneRow(access, width) {
    const cell = width / LANES, active = lanesOf(access.mask);
    return Array.from({ length: LANES }, (_, lane) => svg("g", {},
        box(lane * cell + 0.5, 0.5, cell - 1, 18,
            { class: active.includes(lane) ? colour(lane) : "empty" }),
        text((lane + 0.5) * cell, 14, lane, { "text-anchor": "middle",
            class: active.includes(lane) ? "on-fill lane-number" : "soft lane-number" }),
        svg("title", {}, active.includes(lane) ? `lane ${lane}` : `lane ${lane}: masked off`)));
}

function picture(access, sum, width) {
    const first = sum.lines[0]?.number ?? 0;
    const last = sum.lines[Math.min(sum.lines.length, MOST_LINES) - 1]?.number ?? first;
    const label = Math.max(66, 8 * `+${(last - first) * LINE} B`.length); /* wide enough for all */
    const unit = (width - label) / LINE;
    const parts = laneRow(access, width);
    let y = 52;
    for (let sector = 0; sector < LINE / SECTOR; sector++)
        parts.push(text(label + sector * SECTOR * unit, 44, `sector ${sector}`, { class: "soft" }));
    sum.lines.slice(0, MOST_LINES).forEach((line, at) => {
        if (at > 0 && line.number !== sum.lines[at - 1].number + 1)
            y += 3; /* lines between them are not touched */
        parts.push(text(0, y + ROW - 7, `+${(line.number - first) * LINE} B`, { class: "soft" }));
        line.sectors.forEach((sector, k) =>
            parts.push(drawSector(sector, label + k * SECTOR * unit, y, unit)));
        y += ROW;
    });
    if (sum.lines.length > MOST_LINES)
        parts.push(text(0, y += 14, `and ${sum.lines.length - MOST_LINES} lines more`));
    return drawing(width, y + 4, `${sum.fetched} sectors in ${sum.lines.length} lines of ` +
        `128 bytes, ${sum.needed} would do`, ...parts);
}

/* For other pages: the picture of one access to global memory. */
export function sectorPicture(access, width) {
    return picture(access, sectors(access), width);
}

function accessOf(view) {
    const { from, stride, offset, bytes, line, record } = view.state;
    if (from === "formula")
        return formulaAccess(bytes, (lane) => (offset + stride * lane) * bytes);
    return ofLine(accessesOf(view.run, "global"), line)[record];
}

function draw(figure, view) {
    const access = accessOf(view), sum = sectors(access);
    const { from, stride, offset } = view.state;
    const words = from === "formula"
        ? `Lane i reads element ${offset ? `${offset} + ` : ""}${stride} * i`
        : `${placeWords(view.run, access)} (${accessWords(access)})`;
    figure.classList.add("coalescing");
    figure.append(standIn(view, "global"), element("p", {}, element("code", {}, words)),
        picture(access, sum, widthOf(figure)),
        legend(["fill-0", "bytes a lane asked for"], ["coalescing-waste", "fetched for nothing"],
            ["empty", "not fetched"]),
        element("p", { class: "soft-words" },
            "A row is a line of 128 bytes; memory comes in sectors of 32 bytes."));
    view.result("fetched", sum.fetched, access.kind === "store" ? "sectors written"
        : "sectors fetched");
    view.result("needed", sum.needed, "sectors that would do");
    view.result("lines", sum.lines.length, "lines of 128 bytes");
    view.result("efficiency", `${number(100 * sum.efficiency)} %`,
        "of the bytes that move are used");
}

export default {
    title: "Coalescing",
    look: "Look at how much of each sector is coloured: a sector of 32 bytes always comes whole, " +
        "even if the lanes use only 4 bytes of it.",
    run: "coalescing",
    drawsRun: isRun,
    parameters: (run) => ({
        ...accessParameters(run, "global"),
        stride: { value: 1, from: 0, to: 40, label: "stride (elements)", when: isFormula },
        offset: { value: 0, from: 0, to: 32, label: "offset (elements)", when: isFormula },
        bytes: { value: 4, choices: [1, 2, 4, 8, 16], label: "bytes of an element",
            when: isFormula },
    }),
    draw,
};
