/*
 * replay.js: the page that plays a kernel back (docs/replay.md): source with the line that runs,
 * lanes, shared memory, sectors, time. What is played is in the page's address (launch, block, warp,
 * at), so that a moment can be linked. replay/model.js computes, replay/paint.js draws, and
 * replay/source_view.js shows the source.
 */
import { element, number, svg } from "./draw.js";
import { doing, eventsUntil, play, prepare, stepFrom } from "./replay/model.js";
import { coloursOf, paintLanes, paintSectors, paintShared, paintTime } from "./replay/paint.js";
import { showSource } from "./replay/source_view.js";
import { sentence, STATES } from "./replay/words.js";

const root = document.getElementById("replay");
const SECONDS = 40;   /* that all of it takes at speed 1 */
const LONGEST = 0.8;  /* seconds in which nothing happens */
const FADE = 0.35;    /* seconds that what was touched stays bright */
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

/* Parts of the page ----------------------------------------------------------------------------*/

/* In a square of 16; fonts do not have all of these signs. */
const ICONS = { "to-begin": "M3 3h2v10H3zM13 3v10L6 8z", back: "M12 3v10L5 8z",
    step: "M4 3v10l7-5zM11 3h2v10h-2z", "to-end": "M3 3v10l5-5zM8 3v10l5-5zM13 3h2v10h-2z",
    play: "M4 2v12l9-6z", pause: "M4 2h3v12H4zM9 2h3v12H9z" };

function icon(name) {
    return svg("svg", { viewBox: "0 0 16 16", class: "replay-icon", "aria-hidden": "true" },
        svg("path", { d: ICONS[name] }));
}

function button(id, label, act) {
    return element("button", { type: "button", id, "aria-label": label, title: label,
        onclick: act }, icon(id));
}

function select(id, label, values, words, chosen, act) {
    const list = element("select", { id, onchange: () => act(Number(list.value)) },
        ...values.map((value, i) => element("option", { value, selected: value === chosen },
            words[i])));
    return element("label", { for: id }, `${label} `, list);
}

function key(colours, ...names) {
    return element("ul", { class: "replay-key" }, ...names.map((name) => element("li", {},
        element("i", { style: `background: ${colours[name]}` }), STATES[name])));
}

function warpRow(warp, act) {
    const canvas = element("canvas", { "aria-hidden": "true" });
    const state = element("span", { class: "state" });
    const row = element("button", { type: "button", class: "replay-warp", "data-warp": warp,
        "aria-pressed": "false", onclick: act }, element("span", {}, String(warp)), canvas, state);
    return { row, canvas, state };
}

function panel(title, ...children) {
    return element("section", { "data-panel": title.split(/[ :]/)[0].toLowerCase() },
        element("h2", {}, title), ...children);
}

function pieceTitle(piece) {
    const size = piece.bytes < 1024 ? `${piece.bytes} B` : `${number(piece.bytes / 1024)} KiB`;
    return element("h3", {}, piece.name + piece.shape + " ", element("span", { class: "soft" }, size));
}

function sumsList() {
    const items = { instructions: "instructions", fetched: "sectors fetched", dram: "from DRAM",
        l2: "from the L2", l1: "from the L1", stored: "sectors stored", passes: "shared passes" };
    const shown = {};
    const list = element("dl", { class: "replay-sums" }, ...Object.entries(items).map(
        ([name, words]) => element("div", {}, element("dt", {}, words),
            shown[name] = element("dd", { "data-sum": name }, "0"))));
    return { list, show: (sums) => {
        for (const name of Object.keys(items))
            shown[name].textContent = sums[name].toLocaleString("en");
    } };
}

/* The player -----------------------------------------------------------------------------------*/

function player(replay) {
    const words = new URLSearchParams(location.search);
    const asked = (name, most) => Math.max(0, Math.min(most, Number(words.get(name)) || 0));
    const view = { launch: asked("launch", replay.launches.length - 1), speed: 1, playing: false,
        time: 0, at: 0, state: null, warp: -1 };
    const place = element("div", { class: "replay" });
    let parts = null, colours = coloursOf(root), frame = 0, last = 0, timer = 0;

    function blocksOf(launch) {
        return [...new Set(launch.events.map((event) => event.block))].sort((a, b) => a - b);
    }

    function load(launch, block) {
        const blocks = blocksOf(replay.launches[launch]);
        view.launch = launch;
        view.block = blocks.includes(block) ? block : blocks[0];
        view.model = prepare(replay, launch, view.block);
        view.state = null;
        view.warp = view.warp < view.model.warps ? view.warp : -1;
        view.rate = Math.max(10, (view.model.end - view.model.begin) / SECONDS);
        if (!place.isConnected)
            return;
        build();
        goTo(0);
    }

    /* Where it is: in events, or in time. */
    function goTo(at) {
        const { events, begin } = view.model;
        view.at = Math.max(0, Math.min(events.length, at));
        view.time = view.at ? events[view.at - 1].time : begin;
        paint();
        remember();
    }

    function goToTime(time) {
        view.time = Math.max(view.model.begin, Math.min(view.model.end, time));
        view.at = eventsUntil(view.model, view.time);
        paint();
        remember();
    }

    function remember() {
        clearTimeout(timer);
        timer = setTimeout(() => {
            const address = new URLSearchParams(location.search);
            const set = (name, value, usual) => value === usual ? address.delete(name)
                : address.set(name, value);
            set("launch", view.launch, 0);
            set("block", view.block, blocksOf(replay.launches[view.launch])[0]);
            set("warp", view.warp, -1);
            set("at", view.at, 0);
            const line = address.toString();
            history.replaceState(null, "", location.pathname + (line ? `?${line}` : ""));
        }, 300);
    }

    function pause() {
        view.playing = false;
        cancelAnimationFrame(frame);
        showPlaying();
        paint();
        remember();
    }

    function tick(now) {
        const { events, end } = view.model, seconds = Math.min(0.1, (now - last) / 1000);
        const rate = view.rate * view.speed;
        const next = view.at < events.length ? events[view.at].time : end;
        const before = view.at ? events[view.at - 1].time : view.model.begin;
        /* While nothing happens time runs as fast as it must for that not to be long. */
        view.time = Math.min(end, view.time + seconds * Math.max(rate, (next - before) / LONGEST));
        last = now;
        view.at = eventsUntil(view.model, view.time);
        paint();
        if (view.time >= end)
            pause();
        else
            frame = requestAnimationFrame(tick);
    }

    function toggle() {
        if (view.playing) {
            pause();
            return;
        }
        if (view.at >= view.model.events.length)
            goTo(0);
        view.playing = true;
        last = performance.now();
        showPlaying();
        frame = requestAnimationFrame(tick);
    }

    function showPlaying() {
        parts.play.replaceChildren(icon(view.playing ? "pause" : "play"),
            view.playing ? " Pause" : " Play");
        parts.sentence.setAttribute("aria-live", view.playing ? "off" : "polite");
        root.dataset.playing = view.playing ? "yes" : "no";
    }

    function step(direction, times = 1) {
        if (view.playing)
            pause();
        let at = view.at;
        for (let i = 0; i < times; i++)
            at = stepFrom(view.model, at, direction, view.warp);
        goTo(at);
    }

    function choose(warp) {
        view.warp = view.warp === warp ? -1 : warp;
        parts.source.follow();
        paint();
        remember();
    }

    /* How bright what an event touched is now: while it plays it fades, at rest it is the last one
     * that shows. */
    function flash(i) {
        if (!view.playing)
            return i === view.at - 1 ? 1 : 0;
        const age = view.time - view.model.events[i].time;
        return Math.max(0, 1 - age / (view.rate * view.speed * FADE));
    }

    function paintWarps() {
        view.model.lanes.forEach((lanes, warp) => {
            const { row, canvas, state } = parts.warps[warp], i = view.state.warps[warp];
            const now = doing(view.model, i), event = view.model.events[i];
            paintLanes(canvas, parts.laneWidth, parts.laneHeight, view.model, i, lanes, colours);
            state.textContent = now === "idle" || now === "ended" || !event.line ? STATES[now]
                : `${event.line}: ${STATES[now]}`;
            row.dataset.doing = now;
            row.setAttribute("aria-pressed", String(view.warp === warp));
        });
    }

    function paint() {
        const { model } = view;
        view.state = play(model, view.state, view.at);
        paintWarps();
        parts.pieces.forEach(({ canvas }, i) =>
            paintShared(canvas, parts.pieceWidth(model.pieces[i]), model, view.state, i, colours,
                flash));
        parts.buffers.forEach(({ canvas, i }) =>
            paintSectors(canvas, parts.memoryWidth, model, view.state, i, colours, flash));
        const chosen = view.warp >= 0 ? view.state.warps[view.warp] : view.at - 1;
        parts.source.show(model, view.state, chosen);
        parts.sums.show(view.state.sums);
        parts.sentence.textContent = sentence(model, view.warp >= 0 ? chosen : view.at - 1);
        const done = (view.time - model.begin) / (model.end - model.begin || 1);
        parts.cursor.style.left = `${100 * done}%`;
        parts.scrub.value = view.time;
        parts.cycles.textContent = Math.round(view.time).toLocaleString("en");
        parts.micros.textContent = ` cycles · ${(view.time / model.mhz).toFixed(2)} µs`;
        root.dataset.at = view.at;
        root.dataset.time = view.time;
    }

    /* What depends on widths or colours but not on time. */
    function layout() {
        colours = coloursOf(root);
        /* Wide enough for warps beside memory? Measured once both are empty. */
        [...parts.warps, ...parts.pieces, ...parts.buffers].forEach(({ canvas }) => {
            canvas.style.width = canvas.style.height = "1px";
            canvas.width = 0;
        });
        parts.width = parts.panels.clientWidth;
        parts.memoryWidth = parts.memory.clientWidth || parts.width; /* 0: one column */
        parts.laneHeight = view.model.warps > 16 ? 8 : 14;
        parts.laneWidth = Math.max(96, parts.warps[0].canvas.parentElement.clientWidth -
            parts.warps[0].state.offsetWidth - (parts.width < 400 ? 42 : 62));
        const beside = view.model.pieces.filter((piece) => piece.columns).length;
        parts.pieceWidth = (piece) => piece.columns && beside > 1 && parts.memoryWidth > 300
            ? (parts.memoryWidth - 24) / 2 : parts.memoryWidth;
        parts.strip.style.height =
            `${paintTime(parts.time, parts.strip.clientWidth, view.model, colours)}px`;
        parts.key.replaceWith(parts.key = key(colours, "run", "load", "store", "reads", "writes",
            "memory", "held", "wait", "off"));
        place.style.setProperty("--bar", `${parts.bar.offsetHeight}px`);
        paint();
    }

    function choosers() {
        const { launches } = replay, blocks = blocksOf(launches[view.launch]);
        const one = launches[view.launch], size = (list) => list.filter((each, i) =>
            i === 0 || list.slice(i).some((more) => more > 1)).join("×");
        return element("p", { class: "replay-about" },
            `${one.name} <<<${size(one.grid)}, ${size(one.block)}>>> on ${replay.gpu}, block ` +
            `${view.block}, in modelled time.`,
            launches.length > 1 ? select("launch", "Launch", launches.map((_, i) => i),
                launches.map((each, i) => `${each.launch}: ${each.name}`), view.launch,
                (chosen) => { pauseQuietly(); load(chosen, view.block); }) : null,
            blocks.length > 1 ? select("block", "Block", blocks, blocks.map(String), view.block,
                (chosen) => { pauseQuietly(); load(view.launch, chosen); }) : null);
    }

    function pauseQuietly() {
        view.playing = false;
        cancelAnimationFrame(frame);
    }

    function bar() {
        const { model } = view;
        parts.play = button("play", "Play or pause (space)", toggle);
        parts.sentence = element("p", { id: "sentence", "aria-live": "polite" });
        parts.cycles = element("strong", { id: "cycles" });
        parts.micros = element("span", {});
        parts.time = element("canvas", { role: "img",
            "aria-label": "All warps over time, in the colours below" });
        parts.cursor = element("div", { class: "replay-cursor" });
        parts.scrub = element("input", { type: "range", id: "scrub", min: model.begin, max: model.end,
            step: "any", "aria-label": "Time in cycles",
            oninput: () => { pauseQuietly(); showPlaying(); goToTime(Number(parts.scrub.value)); } });
        const seek = (event) => {
            const where = parts.strip.getBoundingClientRect();
            pauseQuietly();
            showPlaying();
            goToTime(model.begin + (event.clientX - where.left) / where.width *
                (model.end - model.begin));
        };
        parts.strip = element("div", { class: "replay-scrub", onpointerdown: (event) => {
            parts.strip.setPointerCapture(event.pointerId);
            seek(event);
        }, onpointermove: (event) => { if (event.buttons) seek(event); } }, parts.time, parts.cursor);
        return element("div", { class: "replay-bar" }, element("div", { class: "replay-buttons" },
            button("to-begin", "To the beginning (Home)", () => { pauseQuietly(); showPlaying();
                goTo(0); }),
            button("back", "One event back (left arrow)", () => step(-1)), parts.play,
            button("step", "One event on (right arrow)", () => step(1)),
            button("to-end", "To the end (End)", () => { pauseQuietly(); showPlaying();
                goTo(model.events.length); }),
            select("speed", "Speed", SPEEDS, SPEEDS.map((each) => `${each}×`), view.speed,
                (chosen) => { view.speed = chosen; }),
            select("warp", "Follow", [-1, ...model.lanes.keys()], ["all warps",
                ...[...model.lanes.keys()].map((warp) => `warp ${warp}`)], view.warp,
            (chosen) => { view.warp = -2; choose(chosen); }),
            element("span", { class: "replay-time" }, parts.cycles, parts.micros)),
        parts.strip, parts.scrub, parts.sentence);
    }

    function build() {
        const { model } = view;
        parts = { key: element("ul", {}) };
        parts.bar = bar();
        parts.warps = model.lanes.map((_, warp) => warpRow(warp, () => {
            choose(warp);
            document.getElementById("warp").value = view.warp;
        }));
        parts.pieces = model.pieces.map((piece) => ({ piece, canvas: element("canvas", { role: "img",
            "data-piece": piece.name, "aria-label": `Cells of ${piece.name}` }) }));
        parts.buffers = model.buffers.map((buffer, i) => ({ buffer, i, canvas: element("canvas",
            { role: "img", "data-buffer": buffer.name, "aria-label": `Sectors of ${buffer.name}` }) }))
            .filter(({ buffer }) => buffer.sectors.length);
        parts.sums = sumsList();
        parts.source = showSource(model.sources);
        parts.memory = element("div", { class: "replay-memory" },
            parts.pieces.length ? panel("Shared memory: in the colour of the warp that wrote it; " +
                "it flashes when read", element("div", { class: "replay-pieces" },
                ...parts.pieces.map(({ piece, canvas }) =>
                    element("div", {}, pieceTitle(piece), canvas)))) : null,
            parts.buffers.length ? panel("Global memory: the sectors of 32 bytes that this block " +
                "touches", ...parts.buffers.map(({ buffer, canvas }) => element("div", {},
                element("h3", {}, `${buffer.name} `, element("span", { class: "soft" },
                    `${buffer.sectors.length} ${buffer.sectors.length === 1 ? "sector" : "sectors"}`)),
                canvas))) : null);
        parts.panels = element("div", { class: "replay-panels" },
            element("div", {}, panel("Warps and their 32 lanes", element("div", { id: "warps",
                class: model.warps > 16 ? "many" : "" }, ...parts.warps.map(({ row }) => row)),
            parts.key), panel("So far", parts.sums.list)), parts.memory);
        place.replaceChildren(choosers(), model.dropped ? element("p", { class: "replay-cut" },
            `This is the beginning of the launch: ${model.dropped.toLocaleString("en")} later ` +
            "events are left out.") : "", parts.bar,
        element("div", { class: "replay-columns" }, element("div", { class: "replay-left" },
            parts.source.element), parts.panels));
        showPlaying();
        layout();
    }

    function keys(event) {
        const target = event.target, own = target.closest("select, textarea, input:not(#scrub)");
        if (own || event.ctrlKey || event.metaKey || event.altKey)
            return;
        const times = event.shiftKey ? 10 : 1;
        const acts = { ArrowRight: () => step(1, times), ArrowLeft: () => step(-1, times),
            Home: () => goTo(0), End: () => goTo(view.model.events.length) };
        if (event.key === " " && !target.closest("button, a, summary"))
            acts[" "] = toggle;
        if (acts[event.key]) {
            event.preventDefault();
            acts[event.key]();
        }
    }

    load(view.launch, asked("block", Infinity));
    view.warp = words.has("warp") ? asked("warp", view.model.warps - 1) : -1;
    return { place, start() {
        const at = asked("at", Infinity);
        build();
        goTo(at);
        new ResizeObserver(() => {
            if (parts.panels.clientWidth !== parts.width)
                layout();
        }).observe(place);
        new MutationObserver(layout).observe(document.documentElement,
            { attributes: true, attributeFilter: ["data-shown"] });
        addEventListener("keydown", keys);
        root.dataset.ready = "yes";
    } };
}

/* Getting it -----------------------------------------------------------------------------------*/

function fail(words, ...more) {
    document.getElementById("making")?.remove();
    root.append(element("p", { class: "error", role: "alert" }, words, ...more));
}

function begin(replay) {
    if (replay?.replay !== 1 || !replay.launches?.length || !replay.launches[0].events.length)
        throw new Error("this is not a replay, or nothing ran: 'lockstep profile FILE.cu --replay " +
            "FILE' writes one");
    document.getElementById("making")?.remove();
    root.querySelector(".replay")?.remove();
    const one = player(replay);
    root.append(one.place);
    one.start();
}

async function fetchReplay(address) {
    const making = document.getElementById("making");
    const timer = setTimeout(() => { if (making) making.hidden = false; }, 300);
    const answer = await fetch(address);
    clearTimeout(timer);
    if (answer.status === 204)
        return null;
    const found = await answer.json();
    if (!answer.ok)
        throw new Error(found.error);
    return found;
}

async function start() {
    const address = root.dataset.replay;
    const file = document.getElementById("replay-file");
    file?.addEventListener("change", async () => {
        root.querySelector(".error")?.remove();
        try {
            begin(JSON.parse(await file.files[0].text()));
        } catch (error) {
            fail(`This file cannot be played: ${error.message}`);
        }
    });
    if (!address)
        return;
    try {
        const replay = await fetchReplay(address);
        if (replay)
            begin(replay);
        else
            fail("There is no replay yet: ", element("a",
                { href: root.querySelector(".back a").getAttribute("href") },
                "go to the exercise and run it"), ".");
    } catch (error) {
        fail(`This replay could not be shown: ${error.message}`);
    }
}

start();
