/*
 * access.js: what the addresses of a warp come to: sectors of global memory, passes over the banks
 * of shared memory. The rules are those of src/simt/lanes.h and exec_count.c; tests/studio compares
 * sums over whole traces with the machine's counters. Accesses that NVIDIA's assembler would merge
 * (src/simt/watch_fold.c) are seen one by one here. Nothing is drawn.
 *
 * An access is a record of a trace (docs/trace.md), or something with the same kind, text, bytes,
 * mask and addresses; of a copy with its partner (records.js). Addresses have more than 32 bits, so
 * they are divided, never shifted.
 */
export const LANES = 32, SECTOR = 32, LINE = 128, BANKS = 32, WORD = 4;

/* The lanes of a mask, as numbers. */
export function lanesOf(mask) {
    return Array.from({ length: LANES }, (_, lane) => lane)
        .filter((lane) => Math.floor(mask / 2 ** lane) % 2 === 1);
}

/* A full warp's load; lanes that read every other float: formulaAccess(4, (lane) => 8 * lane) */
export function formulaAccess(bytes, address) {
    return { kind: "load", space: "global", text: "", bytes, mask: 2 ** LANES - 1,
        addresses: Array.from({ length: LANES }, (_, lane) => address(lane)) };
}

/* Sectors -------------------------------------------------------------------------------------- */

/* How many lanes came to each lane's address before it: atomics to one address take turns. */
function turnsOf(access) {
    const before = new Map();
    return new Map(lanesOf(access.mask).map((lane) => {
        const address = access.addresses[lane], turn = before.get(address) ?? 0;
        before.set(address, turn + 1);
        return [lane, turn];
    }));
}

function atomicSectors(access) {
    const seen = new Set();
    for (const [lane, turn] of turnsOf(access))
        seen.add(`${Math.floor(access.addresses[lane] / SECTOR)} ${turn}`);
    return seen.size;
}

/* The 128-byte lines that are touched, in order of their addresses: for each its number and its
 * four sectors; a touched sector has the lanes of each of its 32 bytes. */
export function linesOf(access) {
    const lines = new Map();
    for (const lane of lanesOf(access.mask)) {
        for (let k = 0; k < access.bytes; k++) {
            const address = access.addresses[lane] + k;
            const number = Math.floor(address / LINE), at = address - number * LINE;
            if (!lines.has(number))
                lines.set(number, { number, sectors: [null, null, null, null] });
            const sectors = lines.get(number).sectors, which = Math.floor(at / SECTOR);
            sectors[which] ??= Array.from({ length: SECTOR }, () => []);
            sectors[which][at % SECTOR].push(lane);
        }
    }
    return [...lines.values()].sort((a, b) => a.number - b.number);
}

/* cp.async.cg: lanes that are overwritten drop out; then pairs of line read and sector written. */
function bypassSectors(access) {
    const to = access.partner.addresses, lanes = lanesOf(access.mask);
    const kept = lanes.filter((lane) =>
        !lanes.some((later) => later > lane && to[later] === to[lane]));
    return new Set(kept.map((lane) => `${Math.floor(access.addresses[lane] / LINE)} ` +
        Math.floor(to[lane] / SECTOR))).size;
}

/* fetched: 32-byte sectors that move; needed: those that would hold all bytes side by side;
 * efficiency: of the bytes that move, the part that a lane asked for. */
export function sectors(access) {
    const lines = linesOf(access);
    const touched = lines.flatMap((line) => line.sectors).filter((sector) => sector);
    const used = touched.flat().filter((lanes) => lanes.length).length;
    const fetched = access.kind === "atomic" ? atomicSectors(access)
        : access.partner && /^cp\.async\.cg/.test(access.text) ? bypassSectors(access)
        : touched.length;
    return { lines, fetched, used, needed: Math.ceil(used / SECTOR),
        efficiency: fetched ? used / (fetched * SECTOR) : 0 };
}

/* Banks ---------------------------------------------------------------------------------------- */

/* What some lanes want from each of the 32 banks: a list of words with the lanes of each. Lanes
 * that want the same word share it, but atomics take a turn for each lane. */
function stack(access, lanes, byLane) {
    const banks = Array.from({ length: BANKS }, () => []);
    for (const lane of lanes) {
        const first = Math.floor(access.addresses[lane] / WORD);
        for (let k = 0; k < Math.max(access.bytes / WORD, 1); k++) {
            const bank = banks[(first + k) % BANKS];
            const same = byLane ? null : bank.find((each) => each.word === first + k);
            if (same)
                same.lanes.push(lane);
            else
                bank.push({ word: first + k, lanes: [lane] });
        }
    }
    const passes = Math.max(...banks.map((bank) => bank.length));
    return { lanes, banks, passes };
}

/* Two halves of a load go together if each lane's neighbour (by 1, or by 2) reads the same. */
function goTogether(access, lanes) {
    return [1, 2].some((step) => lanes.every((lane) => !lanes.includes(lane ^ step) ||
        access.addresses[lane ^ step] === access.addresses[lane]));
}

function isRows(access) {
    return /^(ld|st)matrix/.test(access.text);
}

/* The groups of lanes that are served one after the other: all 32 for words of up to 4 bytes, 16
 * for 8 bytes, 8 for 16 bytes; each with its stacks. */
function groupsOf(access) {
    const size = access.bytes <= WORD ? 32 : access.bytes === 8 ? 16 : 8;
    const lanes = lanesOf(access.mask), groups = [];
    const within = (from, count) => lanes.filter((lane) => lane >= from && lane < from + count);
    for (let from = 0; from < LANES; from += size) {
        const pair = within(from, 2 * size);
        const joins = access.kind === "load" && !isRows(access) && size < LANES &&
            from % (2 * size) === 0 && goTogether(access, pair);
        const group = joins ? pair : within(from, size);
        if (group.length)
            groups.push(stack(access, group, access.kind === "atomic"));
        if (joins)
            from += size;
    }
    return groups;
}

/* cp.async.ca writes what four lines gave at a time; a bank takes one lane a pass, read or
 * written. */
function copyConflicts(access) {
    const from = access.partner;
    const size = access.bytes <= WORD ? 32 : access.bytes === 8 ? 16 : 8;
    let conflicts = 0;
    for (let first = 0; first < LANES; first += size) {
        let left = lanesOf(access.mask).filter((lane) => lane >= first && lane < first + size);
        while (left.length) {
            const lineOf = (lane) => Math.floor(from.addresses[lane] / LINE);
            const lines = [...new Set(left.map(lineOf))].slice(0, 4);
            const group = left.filter((lane) => lines.includes(lineOf(lane)));
            const read = stack({ ...from, bytes: access.bytes }, group, true).passes;
            conflicts += Math.max(read, stack(access, group, true).passes) - 1;
            left = left.filter((lane) => !group.includes(lane));
        }
    }
    return conflicts;
}

/* passes: how often the 32 banks are visited for this access; conflicts: passes beyond those
 * that its bytes need anyway; groups: how its lanes stack up. */
export function bankPasses(access) {
    const groups = groupsOf(access);
    let conflicts = groups.reduce((sum, group) => sum + group.passes - 1, 0);
    let passes = groups.reduce((sum, group) => sum + group.passes, 0);
    if (/^cp\.async/.test(access.text)) {
        conflicts = access.partner && /\.ca\./.test(access.text) ? copyConflicts(access) : 0;
        passes = Math.max(access.bytes / WORD, 1) + conflicts;
    } else if (/^wmma/.test(access.text)) {
        conflicts = 0;
        passes = Math.ceil(lanesOf(access.mask).length * access.bytes / (BANKS * WORD));
    } else if (access.kind === "atomic" && /\.b?f(16|32|64)/.test(access.text)) {
        conflicts = 0; /* shared memory adds no floats: a loop, with a turn for each lane */
        passes = 2 * (Math.max(...turnsOf(access).values()) + 1);
    }
    if (/\.cas/.test(access.text))
        passes *= 2;
    return { passes, conflicts, groups };
}

/* The same access if the rows of its array, `row` elements long, were `padding` elements longer. */
export function padded(access, row, padding) {
    return { ...access, addresses: access.addresses.map((address) =>
        address + Math.floor(address / (row * access.bytes)) * padding * access.bytes) };
}

/* To compare accesses by: what is wasted first; without any waste, what is moved. */
export function accessCost(access) {
    if (access.space === "shared") {
        const { conflicts, passes } = bankPasses(access);
        return 1000 * conflicts + passes;
    }
    const { fetched, needed } = sectors(access);
    return 1000 * (fetched - needed) + fetched;
}
