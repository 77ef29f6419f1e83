/*
 * accesses.js: the picture below a verdict: what warp 0 touched, drawn from the run. For each line
 * of the kernel its lanes above, and below them the sectors of global memory that they fetched, or
 * the banks of shared memory where they meet.
 */
import { element, svg, box, text, drawing } from "./draw.js";
import { LANES, SECTOR, BANKS, WORD, lanesOf, sectors, bankPasses } from "./interactives/access.js";
import { recordsOf, placeWords } from "./interactives/records.js";

const WIDTH = 640, TOP = 14, BOTTOM = 74, MOST = 8;

/* The first access of each line and kind by warp 0 of block 0. */
export function firstAccesses(run) {
    const seen = new Map();
    for (const record of recordsOf(run))
        if (record.addresses && record.mask && record.block === 0 && record.warp === 0 &&
            (record.space === "global" || record.space === "shared")) {
            const key = [record.launch, record.line, record.kind, record.space].join(" ");
            if (!seen.has(key))
                seen.set(key, record);
        }
    return [...seen.values()].slice(0, MOST);
}

function lanes(access) {
    const cell = WIDTH / LANES, active = new Set(lanesOf(access.mask));
    return Array.from({ length: LANES }, (_, lane) => box(lane * cell + 1, 0, cell - 2, TOP,
        { rx: 2, class: active.has(lane) ? "lane-on" : "lane-off" }));
}

/* Sectors side by side, with a gap where memory between them is not touched. */
function places(numbers) {
    const gaps = numbers.filter((each, at) => at && each !== numbers[at - 1] + 1).length;
    const wide = Math.min(WIDTH / (numbers.length + 0.35 * gaps), 56), left = new Map();
    let x = (WIDTH - wide * (numbers.length + 0.35 * gaps)) / 2;
    numbers.forEach((each, at) => {
        if (at && each !== numbers[at - 1] + 1)
            x += 0.35 * wide;
        left.set(each, x);
        x += wide;
    });
    return { wide, left };
}

function global(access) {
    const active = lanesOf(access.mask), cell = WIDTH / LANES;
    const sectorOf = (lane) => Math.floor(access.addresses[lane] / SECTOR);
    const last = (lane) => Math.floor((access.addresses[lane] + access.bytes - 1) / SECTOR);
    const numbers = [...new Set(active.flatMap((lane) => [sectorOf(lane), last(lane)]))]
        .sort((a, b) => a - b);
    const { wide, left } = places(numbers);
    const byte = (lane) => access.addresses[lane] - sectorOf(lane) * SECTOR;
    const x = (lane) => left.get(sectorOf(lane)) + byte(lane) / SECTOR * wide;
    const used = access.bytes / SECTOR * wide;
    return [...numbers.map((each) => box(left.get(each) + 0.5, BOTTOM, wide - 1, TOP,
        { class: "sector-waste" })),
    ...active.map((lane) => box(x(lane), BOTTOM, Math.min(used,
        left.get(sectorOf(lane)) + wide - x(lane)), TOP, { class: "lane-on" })),
    ...active.map((lane) => svg("path", { class: "reach-line",
        d: `M${(lane + 0.5) * cell} ${TOP}L${x(lane) + used / 2} ${BOTTOM}` }))];
}

function shared(access) {
    const cell = WIDTH / BANKS, active = lanesOf(access.mask);
    const words = Array.from({ length: BANKS }, () => new Set());
    const bankOf = (lane) => Math.floor(access.addresses[lane] / WORD) % BANKS;
    for (const lane of active)
        for (let k = 0; k < Math.max(access.bytes / WORD, 1); k++) {
            const word = Math.floor(access.addresses[lane] / WORD) + k;
            words[word % BANKS].add(word);
        }
    const most = Math.max(...words.map((each) => each.size), 1), high = Math.min(TOP, 40 / most);
    return [...words.flatMap((each, bank) => each.size
        ? [...each].map((_, at) => box(bank * cell + 1, BOTTOM + at * high, cell - 2, high - 0.5,
            { class: at ? "bank-again" : "lane-on" }))
        : [box(bank * cell + 1, BOTTOM, cell - 2, high - 0.5, { class: "lane-off" })]),
    ...active.map((lane) => svg("path", { class: "reach-line",
        d: `M${(lane + 0.5) * cell} ${TOP}L${(bankOf(lane) + 0.5) * cell} ${BOTTOM}` }))];
}

function costOf(access) {
    if (access.space === "shared") {
        const { passes, conflicts } = bankPasses(access);
        return { bad: conflicts > 0, words: conflicts
            ? `${passes} passes over the banks, ${passes - conflicts} would do`
            : "no bank conflict" };
    }
    const { fetched, needed } = sectors(access);
    return { bad: fetched > needed, words: fetched > needed
        ? `${fetched} sectors, ${needed} would do` : `${fetched} sectors, none wasted` };
}

function one(run, access, goTo) {
    const cost = costOf(access), isShared = access.space === "shared";
    return element("figure", { class: "access", "data-line": access.line },
        element("figcaption", {},
            access.line ? element("button", { type: "button", class: "to-line",
                onclick: () => goTo(access.line) }, `line ${access.line}`) : "",
            ` ${access.kind} of ${access.space} memory: `,
            element("strong", { class: cost.bad ? "bad" : "good" }, cost.words)),
        drawing(WIDTH, BOTTOM + (isShared ? 42 : TOP + 16),
            `${placeWords(run, access)}: ${cost.words}`,
            ...(isShared ? shared(access) : global(access)), ...lanes(access),
            isShared ? null : text(WIDTH / 2, BOTTOM + TOP + 13,
                "sectors of 32 bytes, as they lie in memory",
                { "text-anchor": "middle", class: "soft" })));
}

/* Fills place; leaves it empty where the run has nothing to draw. */
export function drawAccesses(place, run, goTo) {
    const found = firstAccesses(run);
    place.replaceChildren(...found.map((access) => one(run, access, goTo)));
    return found.length > 0;
}
