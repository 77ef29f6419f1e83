/*
 * words.js: an event in a sentence, and lists of warps as people write them.
 */
import { lanesOf } from "./model.js";

/* [0, 1, 2, 5] as "0-2, 5" */
export function ranges(numbers) {
    const parts = [];
    for (const each of numbers) {
        const last = parts[parts.length - 1];
        if (last && last[1] === each - 1)
            last[1] = each;
        else
            parts.push([each, each]);
    }
    return parts.map(([from, to]) => from === to ? `${from}` : `${from}-${to}`).join(", ");
}

function lanes(event) {
    const on = lanesOf(event.lanes);
    return on.length === 32 ? "all 32 lanes" : on.length === 1 ? `lane ${on[0]} alone`
        : `${on.length} lanes (${ranges(on)})`;
}

function sectors(event) {
    const from = [[event.dram, "DRAM"], [event.l2, "the L2"], [event.l1, "the L1"]]
        .filter(([count]) => count).map(([count, name]) => `${count} from ${name}`);
    const count = `${event.sectors ?? 0} sector${event.sectors === 1 ? "" : "s"}`;
    return from.length && event.kind !== "store" ? `${count} (${from.join(", ")})` : count;
}

function access(model, i) {
    const event = model.events[i], verb = { load: "loads", store: "stores",
        atomic: "updates atomically" }[event.kind];
    const each = `${event.bytes} bytes each`;
    if (event.space === "shared") {
        const names = new Set();
        for (let k = 0; k < (model.cells[i]?.length ?? 0); k += 3)
            names.add(model.pieces[model.cells[i][k]].name);
        return `${verb} ${[...names].join(" and ") || "shared memory"} in shared memory: ` +
            `${lanes(event)}, ${each}` + (event.passes > 1 ? `; ${event.passes} passes` : "");
    }
    if (event.space === "global") {
        const buffer = model.buffers[model.sectors[i]?.buffer]?.name ?? "global memory";
        return `${verb} ${buffer}: ${lanes(event)}, ${each}, ${sectors(event)}`;
    }
    return `${verb} ${event.space} memory: ${lanes(event)}, ${each}`;
}

function place(model, event) {
    const file = model.sources[event.source]?.file;
    return event.line ? `${model.sources.length > 1 ? file?.split("/").pop() + ":" : "line "}` +
        `${event.line}` : "no line of the source";
}

/* Of the event that came last; "" before the first. */
export function sentence(model, i) {
    const event = model.events[i];
    if (!event)
        return "Nothing has run yet: press Play, or step.";
    const who = `Warp ${event.warp}, ${place(model, event)}`;
    switch (event.kind) {
    case "run":
        return `${who}: ${event.count === 1 ? "1 instruction" : `${event.count} instructions`}, ` +
            `${lanes(event)}.`;
    case "barrier":
        return `${who}: comes to the barrier, and is held until the others have come.`;
    case "release":
        return `${who}: all have come; the barrier lets it go.`;
    case "wait":
        return `${who}: waits for copies or products that are under way.`;
    case "end":
        return `Warp ${event.warp} has ended.`;
    default:
        return `${who}: ${access(model, i)}.`;
    }
}

/* What doing() answers, in words. */
export const STATES = { idle: "has not begun", run: "computes", load: "loads", store: "stores",
    reads: "reads shared", writes: "writes shared", atomic: "atomic", held: "held at a barrier",
    wait: "waits", memory: "waits for data", ended: "has ended", off: "lane is off" };
