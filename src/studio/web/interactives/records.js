/*
 * records.js: what the pictures read from a run (docs/trace.md): its launches, the warps that were
 * traced, the accesses of a line, the text of a line. Nothing is drawn here.
 */
import { accessCost } from "./access.js";

export function recordsOf(run) {
    return (run?.trace?.launches ?? []).flatMap((launch) =>
        launch.records.map((record) => ({ ...record, launch: launch.launch })));
}

/* Accesses of a space ("global", "shared") by at least one lane. A copy (cp.async) has a read and
 * then a write; each gets the other as partner. */
export function accessesOf(run, space) {
    const records = recordsOf(run);
    return records.flatMap((record, at) => {
        if (record.space !== space || !record.mask)
            return [];
        const other = records[record.kind === "load" ? at + 1 : at - 1];
        const isCopy = /^cp\.async/.test(record.text) && other?.ptx_line === record.ptx_line &&
            other.kind !== record.kind;
        return [isCopy ? { ...record, partner: other } : record];
    });
}

/* Has the same lines, whatever folder a file's name came with. */
function isOwnFile(run, file) {
    const last = (path) => (path ?? "").split("/").pop();
    return last(file) === last(run.file);
}

/* The source line of a record, or "" if it is of another file. A run none of whose records are of
 * its own file was compiled under another name. */
export function sourceText(run, record) {
    if (!record.line || (!isOwnFile(run, record.file) &&
        recordsOf(run).some((each) => isOwnFile(run, each.file))))
        return "";
    return (run.code.split("\n")[record.line - 1] ?? "").trim();
}

/* "line 13: out[i] = in[i];" */
export function placeWords(run, record) {
    const words = sourceText(run, record);
    return record.line ? `line ${record.line}${words ? `: ${words}` : ""}` : record.text;
}

/* The lines of some records, in order of the source, without repetition. */
export function linesWith(records) {
    return [...new Set(records.map((record) => record.line))].sort((a, b) => a - b);
}

/* A parameter that says where the picture comes from: the run, if it has something for it, or a
 * formula. */
export function fromParameter(hasRun, runWords, formulaWords, label) {
    return hasRun
        ? { value: "run", choices: ["run", "formula"], words: [runWords, formulaWords], label }
        : { value: "formula", choices: ["formula"], words: [formulaWords], label };
}

/* Words for a run that has nothing for the picture, which then shows a formula; or "". */
export function standIn(view, space) {
    const own = view.run?.source === "yours" ? "Your last run" : "This run";
    return accessesOf(view.run, space).length ? ""
        : `${own} has no traced access of ${space} memory: a formula stands in.`;
}

/* A parameter that chooses one of the lines; 0 stands for all of them. */
export function lineParameter(run, records, value) {
    const lines = linesWith(records);
    const words = lines.map((line) =>
        placeWords(run, records.find((record) => record.line === line)));
    return { value: value ?? 0, choices: [0, ...lines], words: ["every line", ...words],
        label: "line" };
}

export function ofLine(records, line) {
    return line ? records.filter((record) => record.line === line) : records;
}

/* The record that costs most, as its line and its number among that line's; of equals the first. */
export function worstRecord(records, cost) {
    let worst = null, most = -1;
    for (const record of records) {
        const value = cost(record);
        if (value > most)
            [worst, most] = [record, value];
    }
    return { line: worst?.line, record: Math.max(0, ofLine(records, worst?.line).indexOf(worst)) };
}

export const isRun = (state) => state.from === "run";
export const isFormula = (state) => state.from === "formula";

/* The parameters of a picture of one access to a memory space: of the run, where it has some and
 * beginning with the worst, or by a formula. */
export function accessParameters(run, space) {
    const records = accessesOf(run, space), worst = worstRecord(records, accessCost);
    return {
        from: fromParameter(records.length, "an access of the run", "a formula", "addresses from"),
        line: { ...lineParameter(run, records, worst.line), when: isRun },
        record: { value: worst.record, from: 0, label: "access", when: isRun,
            to: (state) => Math.max(0, ofLine(records, state.line).length - 1) },
    };
}

/* "load of 4 bytes a lane: warp 0 of block 0" */
export function accessWords(record) {
    return `${record.kind} of ${record.bytes} byte${record.bytes === 1 ? "" : "s"} a lane: ` +
        `warp ${record.warp} of block ${record.block}`;
}

/* The launch's part of the profile, or the first, or null. */
export function kernelOf(run, launch) {
    const kernels = run?.profile?.kernels ?? [];
    return kernels.find((kernel) => kernel.launch === launch) ?? kernels[0] ?? null;
}
