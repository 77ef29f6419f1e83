/*
 * model.js: a replay (docs/replay.md) made ready to be played: which cells of shared memory and
 * which sectors each event touches, and the state of warps and memory after any number of events.
 * Draws nothing, so that tests can call it.
 */
import { parametersOf, shapeOf } from "./source.js";

const SECTOR = 32, POINTERS = 2 ** 44; /* device addresses are above this */
const STALL = 60;                      /* cycles from which on a warp is seen to wait */

export function lanesOf(mask) {
    return Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => mask >>> lane & 1);
}

export function addressesOf(event) {
    const lanes = lanesOf(event.lanes);
    return event.addresses ?? lanes.map((lane) => event.first + event.step * (lane - lanes[0]));
}

/* The pieces of shared memory: its variables, and one for what no variable has. */
function piecesOf(launch, text) {
    const pieces = launch.shared.filter((each) => each.bytes > 0).map((each) =>
        ({ ...each, ...shapeOf(each, text) })).sort((a, b) => a.offset - b.offset);
    const end = pieces.reduce((most, each) => Math.max(most, each.offset + each.bytes), 0);
    if (launch.shared_bytes > end)
        pieces.push({ name: pieces.length ? "dynamic shared memory" : "shared memory", offset: end,
            bytes: launch.shared_bytes - end, unit: 4, columns: 0, shape: "" });
    for (const piece of pieces)
        piece.cells = Math.ceil(piece.bytes / piece.unit);
    return pieces;
}

/* [piece, from, to, piece, from, to ..] of a shared access. */
function touchedCells(event, pieces) {
    const list = [];
    for (const address of addressesOf(event)) {
        const at = pieces.findIndex((each) => address >= each.offset &&
            address < each.offset + each.bytes);
        if (at >= 0) {
            const { offset, unit, cells } = pieces[at];
            list.push(at, Math.floor((address - offset) / unit),
                Math.min(cells, Math.ceil((address - offset + event.bytes) / unit)));
        }
    }
    return list;
}

function buffersOf(launch, text) {
    const names = parametersOf(launch.name, text);
    const known = names.length === launch.parameters.length;
    const pointers = launch.parameters.map((address, i) => ({ address,
        name: known && names[i] ? names[i] : `parameter ${i + 1}` }))
        .filter((each) => each.address > POINTERS).sort((a, b) => a.address - b.address);
    return [{ address: 0, name: "global memory" }, ...pointers]; /* first: what no pointer leads to */
}

function bufferAt(buffers, address) {
    let i = buffers.length - 1;
    while (i > 0 && address < buffers[i].address)
        i--;
    return i;
}

/* Its sectors as numbers, ascending and each once. */
function sectorsOf(event) {
    const sectors = new Set();
    for (const address of addressesOf(event))
        for (let at = Math.floor(address / SECTOR); at * SECTOR < address + event.bytes; at++)
            sectors.add(at);
    return [...sectors].sort((a, b) => a - b);
}

/* Which sectors of which buffer are ever touched; an event then has their places in that list. */
function placeSectors(events, buffers) {
    const sets = buffers.map(() => new Set());
    const touched = events.map((event) => {
        if (event.space !== "global" || !event.lanes)
            return null;
        const buffer = bufferAt(buffers, addressesOf(event)[0]), sectors = sectorsOf(event);
        sectors.forEach((sector) => sets[buffer].add(sector));
        return { buffer, sectors };
    });
    const places = buffers.map((each, i) => {
        each.sectors = [...sets[i]].sort((a, b) => a - b);
        return new Map(each.sectors.map((sector, at) => [sector, at]));
    });
    return touched.map((each) => each && { buffer: each.buffer,
        places: each.sectors.map((sector) => places[each.buffer].get(sector)) });
}

/* All of one block of one launch. */
export function prepare(replay, number, block) {
    const launch = replay.launches[number];
    const text = replay.sources.map((source) => source.text).join("\n");
    const events = launch.events.filter((event) => event.block === block);
    const warps = Math.ceil(launch.block.reduce((a, b) => a * b, 1) / 32);
    const pieces = piecesOf(launch, text), buffers = buffersOf(launch, text);
    const sectors = placeSectors(events, buffers);
    const begin = events.length ? events[0].time : 0;
    const end = events.length ? events[events.length - 1].time : 0;
    const until = new Float64Array(events.length), next = new Array(warps).fill(end);
    for (let i = events.length - 1; i >= 0; i--) {
        until[i] = next[events[i].warp];
        next[events[i].warp] = events[i].time;
    }
    const cells = events.map((event) =>
        event.space === "shared" ? touchedCells(event, pieces) : null);
    return { launch, events, warps, pieces, cells, sectors, until, begin, end, mhz: replay.mhz,
        buffers, sources: replay.sources, dropped: launch.dropped,
        lanes: Array.from({ length: warps }, (_, warp) => Math.min(32,
            launch.block.reduce((a, b) => a * b, 1) - 32 * warp)) };
}

/* Nothing has happened yet. Numbers in written, read and touched are those of the last event, from
 * 1; 0 is none. */
export function stateOf(model) {
    return { at: 0, warps: new Int32Array(model.warps).fill(-1),
        written: model.pieces.map((piece) => new Int32Array(piece.cells)),
        read: model.pieces.map((piece) => new Int32Array(piece.cells)),
        touched: model.buffers.map((each) => new Int32Array(each.sectors.length)),
        stored: model.buffers.map((each) => new Uint8Array(each.sectors.length)),
        sums: { instructions: 0, fetched: 0, l1: 0, l2: 0, dram: 0, stored: 0, passes: 0,
            barriers: 0 } };
}

function count(sums, event) {
    sums.instructions += event.kind === "release" || event.kind === "end" ? 0 : event.count;
    sums.barriers += event.kind === "release" ? 1 : 0;
    if (event.space === "shared")
        sums.passes += event.passes ?? 0;
    if (event.space !== "global")
        return;
    if (event.kind === "store") {
        sums.stored += event.sectors ?? 0;
        return;
    }
    for (const key of ["l1", "l2", "dram"])
        sums[key] += event[key] ?? 0;
    sums.fetched += event.sectors ?? 0;
}

function apply(model, state, i) {
    const event = model.events[i], cells = model.cells[i], sectors = model.sectors[i];
    state.warps[event.warp] = i;
    count(state.sums, event);
    for (let k = 0; cells && k < cells.length; k += 3)
        for (let cell = cells[k + 1]; cell < cells[k + 2]; cell++) {
            if (event.kind !== "load")
                state.written[cells[k]][cell] = i + 1;
            if (event.kind !== "store")
                state.read[cells[k]][cell] = i + 1;
        }
    for (const place of sectors?.places ?? []) {
        state.touched[sectors.buffer][place] = i + 1;
        if (event.kind !== "load")
            state.stored[sectors.buffer][place] = 1;
    }
}

/* The state after the first `to` events: what is before it goes on from there, else it begins
 * anew. */
export function play(model, state, to) {
    const next = state && state.at <= to ? state : stateOf(model);
    for (; next.at < to; next.at++)
        apply(model, next, next.at);
    return next;
}

/* How many events there are up to this time. */
export function eventsUntil(model, time) {
    let low = 0, high = model.events.length;
    while (low < high) {
        const middle = low + high >> 1;
        if (model.events[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a warp is doing after an event: "idle" before its first one, "run", "load", "store",
 * "atomic", "reads" and "writes" of shared memory, "held" at a barrier, "memory" while it waits for
 * data, "wait" for anything else, "ended". */
export function doing(model, i) {
    const event = i < 0 ? null : model.events[i];
    if (!event)
        return "idle";
    const names = { barrier: "held", wait: "wait", end: "ended", release: "run" };
    if (event.kind === "barrier" || event.kind === "wait" || event.kind === "end")
        return names[event.kind];
    const isShared = event.space === "shared";
    if (model.until[i] - event.time > STALL && !isShared)
        return event.kind === "load" || event.kind === "atomic" ? "memory" : "wait";
    if (isShared && event.kind !== "atomic")
        return event.kind === "load" ? "reads" : "writes";
    return names[event.kind] ?? event.kind;
}

/* The next event in a direction, of a warp or of all (warp < 0), as a count of events. */
export function stepFrom(model, at, direction, warp) {
    for (let i = at + direction; i >= 1 && i <= model.events.length; i += direction)
        if (warp < 0 || model.events[i - 1].warp === warp)
            return i;
    return direction > 0 ? model.events.length : 0;
}
