/*
 * verdict.js: draws a verdict: what it is in a few words, the grader's lines, counters against
 * their limits, the picture of the first warp, and what comes next.
 */
import { drawAccesses } from "./accesses.js";
import { lastRun } from "./api.js";
import { element, number } from "./draw.js";

const HEADLINES = {
    passed: "Passed",
    compile: "It does not compile yet",
    wrong: "The result is not right yet",
    fault: "It does not run to its end",
    check: "Results are right, but the kernel has an error",
    limit: "Right, and not yet good enough",
    broken: "Nothing could be graded",
};

/* messages: [{line, text, detail}]; line 0 is of none. */
function grader(messages, goTo) {
    const rows = messages.map(({ line, text, detail }) => [
        line ? element("button", { type: "button", class: "to-line", "data-line": line,
            onclick: () => goTo(line) }, `line ${line}`) : "",
        `${line ? " " : ""}${text}\n${detail ? `${detail}\n` : ""}`]);
    return element("pre", { class: "lines" }, ...rows.flat());
}

/* As full as the value is of its limit; beyond it, the limit's place is marked. */
function bar(counter) {
    const full = Math.max(counter.value, counter.most, 1e-9);
    const fill = element("span", { class: "fill" });
    const limit = element("span", { class: "limit" });
    fill.style.width = `${(100 * counter.value) / full}%`;
    limit.style.left = `${(100 * counter.most) / full}%`;
    return element("span", { class: "meter", "aria-hidden": "true" }, fill, limit);
}

function counters(list) {
    const rows = list.map((counter) => element("tr", {
        "data-counter": counter.name, "data-kept": String(counter.kept ?? ""),
        class: counter.kept === undefined ? "" : counter.kept ? "good" : "bad" },
    element("th", { scope: "row" }, element("code", {}, counter.name)),
    element("td", {}, number(counter.value)),
    element("td", {}, counter.most === undefined ? "" :
        `${counter.kept ? "within" : "over"} the limit of ${number(counter.most)}`),
    element("td", { class: "bar-cell" }, counter.most === undefined ? "" : bar(counter))));
    return element("div", { class: "scroll" }, element("table", { class: "counters" },
        element("caption", {}, "Counters of the measured size"), element("tbody", {}, ...rows)));
}

/* What was won: modelled times of the large size, as bars of one measure. */
function gain(won, gpu) {
    const rows = [["before", won.is_given ? "as given" : "before"], ["yours", "yours"], ["best", "best"]]
        .filter(([key]) => won[key]);
    const longest = Math.max(...rows.map(([key]) => won[key].us));
    return element("figure", { id: "gain", class: "gain" },
        element("figcaption", {}, `For ${won.size} on an ${gpu}, modelled`),
        ...rows.map(([key, name]) => {
            const fill = element("span", { class: "fill" });
            fill.style.width = `${(100 * won[key].us) / longest}%`;
            return element("div", { class: `gain-row ${key}`, "data-row": key },
                element("span", {}, name),
                element("span", { class: "rung", "aria-hidden": "true" }, fill),
                element("span", { class: "rate" },
                    won[key].text.replace(" us", " µs") + (won[key].rate ? ` · ${won[key].rate}` : "")));
        }));
}

function printed(text) {
    return element("details", { id: "printed", open: true },
        element("summary", {}, "What the kernel printed"), element("pre", {}, text));
}

/* Drawn from the run, which is asked for; the grader's own words are below it. */
function picture(verdict, exercise, goTo) {
    const drawn = element("div", { class: "accesses" });
    const words = verdict.picture ? element("pre", {}, verdict.picture) : null;
    const asText = words ? element("details", { open: true }, element("summary", {}, "As text"),
        words) : "";
    const whole = element("details", { id: "picture", open: true, hidden: !words },
        element("summary", {}, "What warp 0 touched"), drawn, asText);
    lastRun(exercise).then((run) => {
        if (run.status !== 200 || !run.trace || run.file?.endsWith(".c") ||
            !drawAccesses(drawn, run, goTo))
            return;
        whole.hidden = false;
        whole.dataset.drawn = "yes";
        if (words)
            asText.open = false;
    });
    return whole;
}

/* Where the run, which is kept, can be looked at. */
function closer(exercise) {
    const words = `exercise=${encodeURIComponent(exercise)}`;
    const link = (name, text) => element("a", { href: `/interactive/${name}?${words}` }, text);
    return element("p", { class: "soft" },
        element("a", { id: "replay-link", class: "button", href: `/replay?${words}` },
            "▶ Play it back"), " To move and look closer: ",
        link("coalescing", "coalescing"), ", ", link("banks", "banks"), ", ",
        link("warp", "warp execution"), ", ",
        element("a", { id: "profile-link", href: `/profile?${words}` }, "profile line by line"));
}

function next(verdict) {
    if (!verdict.next)
        return element("p", {}, "This was the last exercise of the course.");
    return element("p", {}, element("a", { id: "next", class: "button primary",
        href: verdict.next.url }, `Next: ${verdict.next.exercise.split("/").pop()}`),
        element("span", { class: "soft" }, ` ${verdict.next.title}`));
}

/* What the progress file keeps has its counters by name, and no limits. */
function counterList(given) {
    if (Array.isArray(given))
        return given;
    return Object.entries(given ?? {}).map(([name, value]) => ({ name, value }));
}

/* Never 7.6e+03 µs. */
function duration(us) {
    const [value, unit] = us < 1000 ? [us, "µs"] : us < 1e6 ? [us / 1e3, "ms"] : [us / 1e6, "s"];
    return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ` +
        unit;
}

/* when: "", "last time", "from the terminal" */
export function showVerdict(place, verdict, { exercise, when, goTo }) {
    const passed = verdict.stage === "passed";
    const list = counterList(verdict.counters);
    const time = verdict.time_us ? `; ${duration(verdict.time_us)} (modelled)` : "";
    place.dataset.stage = verdict.stage;
    place.replaceChildren(...[
        element("h3", { id: "headline", class: passed ? "good" : "bad" },
            HEADLINES[verdict.stage] ?? verdict.stage,
            when ? element("span", { class: "soft" }, ` (${when})`) : null),
        passed ? element("p", {}, (verdict.sizes ? `Right on all ${verdict.sizes} sizes` +
            (time ? "; no races, no stray accesses" : "") : "Right and clean") + time + ".") : null,
        verdict.messages?.length ? grader(verdict.messages, goTo) : null,
        verdict.gain?.yours || verdict.gain?.before ? gain(verdict.gain, "H200") : null,
        list.length ? counters(list) : null,
        verdict.printed ? printed(verdict.printed) : null,
        !passed && verdict.seed && verdict.stage !== "compile" ? element("p", { class: "soft" },
            `Hidden sizes and values of this check: seed ${verdict.seed}.`) : null,
        verdict.remark ? element("p", { class: "remark" }, verdict.remark) : null,
        passed && verdict.next !== undefined ? next(verdict) : null,
        verdict.picture || verdict.time_us ? picture(verdict, exercise, goTo) : null,
        verdict.time_us ? closer(exercise) : null].filter(Boolean));
}
