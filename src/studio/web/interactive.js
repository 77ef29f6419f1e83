/*
 * interactive.js: the frame around an interactive. Its state is the page's address, so that it can
 * be bookmarked; controls come from its table of parameters; what it draws comes from the learner's
 * own run where there is one and from a shipped run otherwise.
 *
 * interactives/NAME.js exports as default:
 *   title       a few words
 *   look        one sentence: what to look at
 *   parameters  {stride: {value: 1, from: 1, to: 64, step: 1, label: "stride"},
 *                format: {value: "fp16", choices: ["fp32", "fp16"], label: "format"},
 *                text: {value: "1, 2, 3", label: "scores"},
 *                bits: {value: 0, hidden: true}}      state that is set in the figure
 *               or a function of the run that gives such a table. Besides: words (what choices are
 *               called), when(state) (is the control shown?), and to may be a function of the state
 *   run         name of the shipped run runs/NAME.json that it draws without a learner's; or none
 *   drawsRun(state)   optional: false while a formula stands in for the run
 *   showsSource true: the figure has the kernel's text, so that it is not offered below
 *   below       true: results stand below the figure however wide the page is
 *   settle(state, changed)   optional: brings the state into line with the parameters that changed,
 *               by name; at the start with those that the address has
 *   draw(figure, view)   draws all of it into an empty element; called after each change
 *
 * view has state (a value for each parameter), set({name: value}), run (docs/studio.md; null if
 * it needs none) and result(name, value, words): a number that is shown beside the figure as words
 * and that a test can read in [data-result=name].
 */
import { element } from "./draw.js";

/* A site (lockstep learn site) has its modules and runs in one script: a disk serves neither. */
const site = globalThis.lockstepSite;
/* Settings: those of the address, or those that a notebook gives a page that has none. */
const settings = () => globalThis.lockstepSettings ?? location.search;

function within(parameter, word) {
    if (parameter.choices)
        return parameter.choices.map(String).includes(word) ? sameKind(parameter, word) : null;
    if (typeof parameter.value !== "number")
        return word;
    const value = Number(word);
    return word.trim() === "" || !Number.isFinite(value) ? null : value;
}

function most(parameter, state) {
    return typeof parameter.to === "function" ? parameter.to(state) : parameter.to;
}

/* Numbers are clamped to their range, and rounded where the slider has whole numbers only; a
 * parameter whose range depends on others comes after them in the table. */
function clamp(parameters, state) {
    for (const [name, parameter] of Object.entries(parameters)) {
        if (typeof parameter.value !== "number" || parameter.choices)
            continue;
        const isWhole = !parameter.hidden && Number.isInteger(parameter.step ?? 1);
        const value = isWhole ? Math.round(state[name]) : state[name];
        state[name] = Math.max(Math.min(value, most(parameter, state) ?? Infinity),
            parameter.from ?? -Infinity);
    }
    return state;
}

function sameKind(parameter, word) {
    return typeof parameter.value === "number" ? Number(word) : word;
}

/* What the address omits, or has wrong, takes its value from the table. */
export function readState(parameters, search) {
    const words = new URLSearchParams(search);
    const state = {};
    for (const [name, parameter] of Object.entries(parameters)) {
        const word = words.get(name);
        const value = word === null ? null : within(parameter, word);
        state[name] = value === null ? parameter.value : value;
    }
    return clamp(parameters, state);
}

/* Only what differs from the table, and what is not ours (the exercise, the frame). */
export function writeState(parameters, state, search) {
    const words = new URLSearchParams(search);
    for (const [name, parameter] of Object.entries(parameters)) {
        if (state[name] === parameter.value)
            words.delete(name);
        else
            words.set(name, String(state[name]));
    }
    const line = words.toString();
    return line ? `?${line}` : "";
}

/* Browsers take only so many changes of the address (100 in 30 s is the least of them) and drop the
 * rest: a slider that is dragged for long has its last one written a little later. */
function addressWriter(root, address) {
    let times = [], timer = null;
    return function write() {
        const now = performance.now();
        times = times.filter((time) => now - time < 30000);
        clearTimeout(timer);
        if (times.length < 90) {
            times.push(now);
            history.replaceState(null, "", address());
            delete root.dataset.address;
        } else {
            root.dataset.address = "late";
            timer = setTimeout(write, 500);
        }
    };
}

async function fetchJson(address) {
    const answer = await fetch(address);
    if (!answer.ok)
        throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
    return answer.status === 204 ? null : answer.json();
}

/* The learner's run of the exercise that the address names, or of the current one. Where there is
 * none the answer is null, or 204 without a body: an error would appear in the browser's console.
 * */
async function fetchRun(shipped, search) {
    if (site)
        return site.runs[shipped];
    const exercise = new URLSearchParams(search).get("exercise");
    if (exercise !== "none") {
        try {
            const run = await fetchJson("/api/run" +
                (exercise ? `?exercise=${encodeURIComponent(exercise)}` : ""));
            /* One thread runs an exercise in C: no picture of warps, unless it was asked for. */
            if (run && (exercise || !run.file?.endsWith(".c")))
                return run;
        } catch {
            /* pages without a studio have shipped runs only */
        }
    }
    return fetchJson(`/web/runs/${shipped}.json`);
}

function control(name, parameter, state, set) {
    const id = `control-${name}`;
    const label = element("label", { for: id }, parameter.label ?? name);
    if (parameter.choices) {
        const options = parameter.choices.map((choice, at) =>
            element("option", { value: choice, selected: choice === state[name] },
                parameter.words?.[at] ?? String(choice)));
        const select = element("select", { id, onchange: () =>
            set({ [name]: sameKind(parameter, select.value) }) }, ...options);
        return { row: element("div", { class: "control" }, label, select),
            show: (value) => { select.value = String(value); } };
    }
    if (typeof parameter.value !== "number") {
        const input = element("input", { id, type: "text", value: state[name],
            oninput: () => set({ [name]: input.value }) });
        return { row: element("div", { class: "control" }, label, input),
            show: (value) => { if (input.value !== value) input.value = value; } };
    }
    const shown = element("output", { for: id }, String(state[name]));
    const input = element("input", { id, type: "range", min: parameter.from,
        max: most(parameter, state), step: parameter.step ?? 1, value: state[name],
        oninput: () => set({ [name]: Number(input.value) }) });
    return { row: element("div", { class: "control" }, label, input, shown),
        show: (value) => {
            input.max = most(parameter, state);
            input.value = value;
            shown.textContent = String(value);
        } };
}

function sourceLine(run, isShown) {
    if (!run)
        return null;
    const yours = run.source === "yours";
    const example = new URL(location.href);
    example.searchParams.set("exercise", "none");
    return element("div", { class: "run-source", "data-source": run.source }, element("p", {}, yours
        ? `Drawn from your own kernel: ${run.exercise} (${run.file}), its last run. `
        : `Drawn from a shipped example (${run.file}).${site ? ""
            : " Run a kernel of yours, and it is drawn here."}`,
    yours ? element("a", { href: example.pathname + example.search, class: "to-example" },
        "Show the example instead") : null),
    !yours && run.code && !isShown ? element("details", { class: "run-code" },
        element("summary", {}, `Source of ${run.file}`), element("pre", {}, run.code)) : null);
}

/* Draws again, and leaves the keyboard's focus where it was: at the same [data-key]. */
function redraw(figure, paint) {
    const key = figure.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    figure.replaceChildren();
    paint();
    if (key)
        figure.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

export async function show(root, name) {
    const path = `interactives/${name}.js`;
    const interactive = (site ? site.load(path) : await import(`./${path}`)).default;
    const run = interactive.run ? await fetchRun(interactive.run, settings()) : null;
    const parameters = typeof interactive.parameters === "function"
        ? interactive.parameters(run) : interactive.parameters;
    const view = { state: readState(parameters, settings()), run };
    interactive.settle?.(view.state, [...new URLSearchParams(settings()).keys()]);
    /* A page from a disk, or in a notebook, may not change its address. */
    const remember = /^(file|about):/.test(location.protocol) ? () => {} : addressWriter(root, () =>
        location.pathname + writeState(parameters, view.state, settings()));
    const figure = element("div", { class: "figure" });
    const results = element("dl", { class: "results", "aria-live": "polite" });
    const controls = {}, source = sourceLine(run, interactive.showsSource);
    let width = 0; /* that it was drawn for */

    view.set = (changes) => {
        clamp(parameters, Object.assign(view.state, changes));
        interactive.settle?.(view.state, Object.keys(changes));
        remember();
        paint();
    };
    view.result = (key, value, words) => results.append(element("div", {},
        element("dt", {}, words ?? key), element("dd", { "data-result": key }, String(value))));
    function paint() {
        for (const [key, part] of Object.entries(controls)) {
            part.show(view.state[key]);
            part.row.hidden = parameters[key].when ? !parameters[key].when(view.state) : false;
        }
        if (source)
            source.hidden = interactive.drawsRun ? !interactive.drawsRun(view.state) : false;
        width = figure.clientWidth;
        results.replaceChildren();
        redraw(figure, () => interactive.draw(figure, view));
    }

    for (const [key, parameter] of Object.entries(parameters))
        if (!parameter.hidden)
            controls[key] = control(key, parameter, view.state, view.set);
    /* The picture comes first, with its controls on it; then what was counted, and where from. */
    const rows = Object.values(controls).map((part) => part.row);
    root.replaceChildren(element("h1", {}, interactive.title),
        element("p", { class: "look" }, interactive.look),
        element("div", { class: interactive.below ? "board" : "board board-beside" },
            element("div", { class: "stage" },
                rows.length ? element("div", { class: "controls" }, ...rows) : null, figure),
            results),
        source ?? "");
    paint();
    new ResizeObserver(() => {
        if (figure.clientWidth !== width)
            paint();
    }).observe(figure);
    root.dataset.ready = "yes";
}

const root = document.getElementById("interactive");
/* In a lesson of a site: no frame around it, and the page that it is in learns its height. */
if (site && new URLSearchParams(settings()).has("embed")) {
    document.body.classList.add("embed");
    new ResizeObserver(() => parent.postMessage({ lockstepHeight: document.body.offsetHeight },
        "*")).observe(document.body);
}
if (root)
    show(root, root.dataset.name).catch((error) => {
        root.append(element("p", { class: "error", role: "alert" },
            `This interactive could not be shown: ${error.message}`));
    });
