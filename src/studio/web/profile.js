/*
 * profile.js: a run's profile: what bounds it, advice, and the source with heat on each line; a line
 * opens the pictures of its accesses. <main id="profile" data-run="ADDRESS"> says which run
 * (docs/studio.md); launch, file, line and access are in the page's address.
 */
import { element, number, bytes, percent, shape } from "./draw.js";
import { accessCost } from "./interactives/access.js";
import { accessesOf, accessWords, recordsOf } from "./interactives/records.js";
import { sectorPicture } from "./interactives/coalescing.js";
import { bankPicture } from "./interactives/banks.js";
import { isSplit } from "./interactives/warp.js";
import { timelineSection } from "./timeline.js";

const PART_WORDS = { l1: "L1", l2: "L2", dram: "DRAM", f16: "f16", f32: "f32", f64: "f64" };

function lastName(path) {
    return (path ?? "").split("/").pop();
}

/* A run of one file has it as code; one of several has files. */
function filesOf(run) {
    return run.files ?? [{ name: run.file, code: run.code }];
}

const COSTLIEST = -1; /* of a line's accesses, where the address names none */

/* State ------------------------------------------------------------------------------------------ */

function readPlace(run) {
    const words = new URLSearchParams(location.search);
    const whole = (name) => Number.parseInt(words.get(name) ?? "0", 10) || 0;
    return { launch: Math.min(Math.max(whole("launch"), 0), run.profile.kernels.length - 1),
        file: words.get("file") ?? lastName(run.file), line: whole("line"),
        access: words.has("access") ? whole("access") : COSTLIEST };
}

function writePlace(place, run) {
    const words = new URLSearchParams(location.search);
    const put = (name, value, usual) => value === usual ? words.delete(name)
        : words.set(name, value);
    put("launch", place.launch, 0);
    put("file", place.file, lastName(run.file));
    put("line", place.line, 0);
    put("access", place.access, COSTLIEST);
    const line = words.toString();
    history.replaceState(null, "", location.pathname + (line ? `?${line}` : ""));
}

/* Summary ---------------------------------------------------------------------------------------- */

function fact(name, words, value) {
    return element("div", {}, element("dt", {}, words),
        element("dd", { "data-fact": name }, value));
}

function summary(kernel, gpu) {
    const { occupancy } = kernel;
    return element("dl", { class: "results" },
        fact("name", "kernel", kernel.name),
        fact("shape", "grid, block", `${shape(kernel.grid)}, ${shape(kernel.block)}`),
        fact("time", `modelled on ${gpu}`, `${number(kernel.time_us)} µs`),
        fact("bound", "bound by", PART_WORDS[kernel.bound_by] ?? kernel.bound_by),
        fact("roof", "of the roof", percent(kernel.roof)),
        fact("occupancy", `occupancy (limit: ${occupancy.limiter})`,
            percent(occupancy.occupancy)),
        fact("dram", "DRAM", bytes(kernel.dram_bytes)));
}

/* What each unit alone would take. */
function partBars(kernel) {
    const parts = Object.entries(kernel.parts_us).filter(([, time]) => time > 0)
        .sort((a, b) => b[1] - a[1]).slice(0, 8);
    const most = parts[0]?.[1] ?? 1;
    return element("table", { class: "parts" }, element("caption", {},
        "What each part of the GPU alone would take"),
        ...parts.map(([name, time]) => element("tr", {},
            element("th", { scope: "row" }, PART_WORDS[name] ?? name),
            element("td", {}, element("meter", { min: 0, max: most, value: time,
                "aria-label": `${number(time)} microseconds` })),
            element("td", { class: "number" }, `${number(time)} µs`))));
}

function adviceList(kernel, open) {
    if (!kernel.advice.length)
        return element("p", {}, "No advice: nothing that the rules know stands out.");
    return element("ul", { class: "advice" }, ...kernel.advice.map((each) =>
        element("li", { "data-rule": each.rule },
            each.line ? element("button", { type: "button", class: "place",
                onclick: () => open(lastName(each.file), each.line) },
            `${lastName(each.file)}:${each.line}`) : null,
            ` ${each.text}`,
            each.gain > 1.005 ? element("span", { class: "gain" },
                ` (up to ${number(each.gain)}x by the model)`) : null)));
}

/* The source ------------------------------------------------------------------------------------- */

/* "18 (4)": sectors of a request, and how many suffice. */
function traffic(line) {
    const { global, shared } = line ?? {};
    const words = [];
    if (global?.requests)
        words.push(`${number(global.sectors / global.requests)} sectors ` +
            `(${number(global.sectors_ideal / global.requests)})`);
    if (shared?.requests && shared.wavefronts)
        words.push(`${number(shared.wavefronts / shared.requests)} passes`);
    return words.join(", ");
}

function sourceRow(code, at, line, place, toggle) {
    const isOpen = place.line === at;
    const heat = line?.heat ?? 0;
    const button = element("button", { type: "button", class: "line", "data-line": at,
        "data-key": `line-${at}`, "aria-expanded": line ? String(isOpen) : null,
        disabled: !line, onclick: () => toggle(at) }, String(at));
    const row = element("tr", { class: isOpen ? "open" : null, "data-heat": heat.toFixed(3) },
        element("td", { class: "number" }, button),
        element("td", { class: "number" }, line ? percent(line.issue) : ""),
        element("td", { class: "traffic" }, traffic(line)),
        element("td", {}, element("code", {}, code)));
    row.style.setProperty("--heat", `${Math.round(100 * heat)}%`);
    return row;
}

const LINE_FACTS = [
    ["warp_instructions", "warp instructions"], ["thread_instructions_on", "thread instructions"],
    ["divergent_branches", "divergent branches"], ["barrier_waits", "waits at barriers"],
];
const SPACE_FACTS = [
    ["requests", "requests"], ["sectors", "sectors"], ["sectors_ideal", "sectors that suffice"],
    ["l1_hits", "L1 hits"], ["l2_sectors", "sectors from the L2"], ["l2_hits", "L2 hits"],
    ["dram_sectors", "sectors from DRAM"], ["wavefronts", "passes"], ["conflicts", "conflicts"],
];

function lineFacts(line) {
    const facts = LINE_FACTS.filter(([name]) => line[name])
        .map(([name, words]) => fact(name, words, number(line[name])));
    for (const space of ["global", "shared", "local"])
        for (const [name, words] of SPACE_FACTS)
            if (line[space]?.[name])
                facts.push(fact(`${space}-${name}`, `${space}: ${words}`,
                    number(line[space][name])));
    return element("dl", { class: "results" }, ...facts);
}

function lanes(mask) {
    return Array.from({ length: 32 }, (_, lane) => element("span",
        { class: mask & (1 << lane) ? "lane on" : "lane", title: `lane ${lane}` }));
}

/* A branch that splits its warp: who goes, who stays. */
function branchPicture(record) {
    return element("div", { class: "lanes", role: "img",
        "aria-label": `lanes that take the branch: ${(record.mask >>> 0).toString(16)}` },
    ...lanes(record.mask));
}

function accessPicture(record, width) {
    if (record.kind === "branch")
        return branchPicture(record);
    return record.space === "shared" ? bankPicture(record, width) : sectorPicture(record, width);
}

function recordWords(record) {
    return record.kind === "branch"
        ? `branch that splits warp ${record.warp} of block ${record.block}`
        : `${record.space} ${accessWords(record)}`;
}

function recordsAt(run, kernel, place) {
    const all = [...accessesOf(run, "global"), ...accessesOf(run, "shared"),
        ...recordsOf(run).filter((record) => record.kind === "branch" && isSplit(record))];
    return all.filter((record) => record.launch === kernel.launch && record.line === place.line &&
        lastName(record.file) === place.file);
}

function cost(record) {
    return record.kind === "branch" ? 0 : accessCost(record);
}

function chosen(records, access) {
    const costs = access === COSTLIEST ? records.map(cost) : [];
    return access === COSTLIEST ? costs.indexOf(Math.max(...costs))
        : Math.min(Math.max(access, 0), records.length - 1);
}

function panel(run, kernel, line, place, choose) {
    const records = recordsAt(run, kernel, place);
    const at = chosen(records, place.access);
    const parts = [lineFacts(line)];
    const width = Math.min(720, document.documentElement.clientWidth - 48);
    if (records.length) {
        const select = element("select", { id: "access", "data-key": "access",
            onchange: () => choose(Number(select.value)) },
        ...records.map((record, i) => element("option", { value: i, selected: i === at },
            `${i + 1}: ${recordWords(record)}`)));
        parts.push(element("p", {}, element("label", { for: "access" },
            `Access (${records.length} traced) `), select),
        element("div", { class: "figure", "data-space": records[at].space ?? "branch" },
            accessPicture(records[at], width)));
    } else {
        parts.push(element("p", { class: "soft-words" },
            "No access or split of this line is in the trace, which has the first warps only."));
    }
    return element("tr", { class: "panel" }, element("td", { colspan: 4 },
        element("div", { class: "access-panel" }, ...parts)));
}

function source(run, kernel, place, act) {
    const file = filesOf(run).find((each) => lastName(each.name) === place.file) ?? filesOf(run)[0];
    const lines = new Map(kernel.lines.filter((line) => lastName(line.file) === place.file)
        .map((line) => [line.line, line]));
    const rows = [];
    file.code.replace(/\n$/, "").split("\n").forEach((code, i) => {
        rows.push(sourceRow(code, i + 1, lines.get(i + 1), place, act.toggle));
        if (place.line === i + 1 && lines.has(i + 1))
            rows.push(panel(run, kernel, lines.get(i + 1), place, act.choose));
    });
    return element("table", { class: "source" }, element("thead", {}, element("tr", {},
        element("th", {}, "line"), element("th", {}, "issue"),
        element("th", {}, "a request (enough)"), element("th", {}, lastName(file.name)))),
    element("tbody", {}, ...rows));
}

function tabs(run, kernel, place, go) {
    const files = filesOf(run).filter((file) =>
        kernel.lines.some((line) => lastName(line.file) === lastName(file.name)));
    return files.length < 2 ? null : element("p", { class: "tabs" }, ...files.map((file) =>
        element("button", { type: "button", "data-key": `file-${lastName(file.name)}`,
            "aria-pressed": String(lastName(file.name) === place.file),
            onclick: () => go({ file: lastName(file.name), line: 0, access: COSTLIEST }) },
        lastName(file.name))));
}

function launches(run, place, go) {
    const { kernels } = run.profile;
    if (kernels.length < 2)
        return null;
    const select = element("select", { id: "launch", "data-key": "launch",
        onchange: () => go({ launch: Number(select.value), line: 0, access: COSTLIEST }) },
    ...kernels.map((kernel, i) => element("option", { value: i, selected: i === place.launch },
        `${i + 1}: ${kernel.name}, ${number(kernel.time_us)} µs`)));
    return element("p", {}, element("label", { for: "launch" }, "Launch "), select);
}

export function show(root, run) {
    const place = readPlace(run);
    const go = (changes) => {
        Object.assign(place, changes);
        writePlace(place, run);
        paint();
    };
    const act = { toggle: (line) => go({ line: place.line === line ? 0 : line, access: COSTLIEST }),
        choose: (access) => go({ access }) };
    const back = root.querySelector(".back");
    function paint() {
        const kernel = run.profile.kernels[place.launch];
        const key = root.contains(document.activeElement) ? document.activeElement.dataset.key
            : null;
        root.replaceChildren(back ?? "",
            element("h1", {}, `Profile of ${run.title ?? lastName(run.file)}`),
            ...[launches(run, place, go), summary(kernel, run.profile.gpu),
                element("h2", {}, "Advice"),
                adviceList(kernel, (file, line) => go({ file, line, access: COSTLIEST })),
                element("h2", {}, "Where the time goes"),
                element("p", {}, "The warmer a line, the more of the time it accounts for. " +
                    "Choose a line's number to see its accesses."),
                tabs(run, kernel, place, go), source(run, kernel, place, act),
                partBars(kernel), timelineSection(run.profile)]
                .filter((part) => part));
        if (key)
            root.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
        root.dataset.ready = "yes";
    }
    paint();
}

const root = document.getElementById("profile");
if (root) {
    const making = document.getElementById("making");
    making.hidden = false;
    fetch(root.dataset.run).then(async (answer) => {
        if (answer.status === 204)
            throw new Error("the exercise has no run yet. One is kept as soon as the kernel " +
                "compiles and runs to its end: go to the exercise and run it.");
        const run = await answer.json();
        if (!answer.ok)
            throw new Error(run.error ?? answer.statusText);
        show(root, run);
    }).catch((error) => {
        making.replaceWith(element("p", { class: "error", role: "alert" },
            `This profile could not be made: ${error.message}`));
    });
}
