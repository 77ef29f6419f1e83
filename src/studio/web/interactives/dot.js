/* dot.js: the dot product as terms and as an angle, and what float32 makes of the order. */
import { box, colour, drawing, element, svg, text } from "../draw.js";
import { readList } from "../numbers/list.js";
import { angle, leftToRight, length, pairwise, terms } from "../numbers/sums.js";
import { allDigits, problem, row, table, value, widthOf } from "./parts.js";

const MOST = 32, REACH = 5; /* the plane shows -5..5, or so many steps */
const EXAMPLES = [
    ["two arrows", "3, 1", "1, 4"],
    ["a right angle", "4, 2", "-1, 2"],
    ["four numbers", "1, 2, 3, 4", "2, -1, 0.5, 1"],
    ["order matters", "16777216, 1, 1, 1, 1, 1, 1, 1", "1, 1, 1, 1, 1, 1, 1, 1"],
];

/* What a square of the plane stands for: 1, or 2, 5, 10, 20 .. where an arrow would leave it. */
function stepOf(...vectors) {
    const longest = Math.max(...vectors.flat().map(Math.abs)) / REACH;
    const power = longest > 1 ? 10 ** Math.floor(Math.log10(longest)) : 1;
    return [1, 2, 5, 10, 20].map((each) => each * power).find((each) => each >= longest) ?? longest;
}

/* An arrow's tip follows the pointer, in quarters; the listeners are on the window because the
 * picture is redrawn at each move. */
function drag(view, figure, name, step) {
    const move = (event) => {
        const place = figure.querySelector(".dot-plane").getBoundingClientRect();
        const at = (from, size, where) => ((where - from) / size * 2 - 1) * (REACH + 0.5);
        const quarter = (x) => Math.max(-REACH, Math.min(REACH, Math.round(x * 4) / 4)) * step;
        view.set({ [name]: `${quarter(at(place.left, place.width, event.clientX))}, ` +
            `${quarter(-at(place.top, place.height, event.clientY))}` });
    };
    const end = () => {
        window.removeEventListener("pointermove", move);
        window.removeEventListener("pointerup", end);
        window.removeEventListener("pointercancel", end);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
}

function moveByKey(view, name, [x, y], size, event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = steps[event.key];
    if (!step)
        return;
    event.preventDefault();
    const near = (at) => Math.max(-REACH * size, Math.min(REACH * size, at));
    view.set({ [name]: `${near(x + step[0] / 4 * size)}, ${near(y + step[1] / 4 * size)}` });
}

function arrow(view, figure, name, vector, step, unit, centre, index) {
    const x = centre + vector[0] / step * unit, y = centre - vector[1] / step * unit;
    const isRight = x > 2 * centre - 24; /* the name stays in the picture */
    const tip = svg("circle", { cx: x, cy: y, r: 9, class: `dot-tip ${colour(index)}`, tabindex: 0,
        role: "slider", "data-key": `tip-${name}`,
        "aria-label": `tip of ${name}; arrow keys move it`,
        "aria-valuenow": vector[0], "aria-valuetext": `${vector[0]}, ${vector[1]}`,
        onpointerdown: (event) => { event.preventDefault(); drag(view, figure, name, step); },
        onkeydown: (event) => moveByKey(view, name, vector, step, event) });
    const shaft = { x1: centre, y1: centre, x2: x, y2: y, class: `dot-arrow dot-${name}` };
    return [svg("line", shaft), tip, text(isRight ? x - 12 : x + 12, y < 24 ? y + 18 : y - 8, name,
        { "text-anchor": isRight ? "end" : "start" })];
}

/* The plane with both arrows, and the part of a that lies along b. */
function plane(view, figure, a, b) {
    const size = Math.min(340, widthOf(figure)), centre = size / 2, unit = size / (2 * REACH + 1);
    const grid = Array.from({ length: 2 * REACH + 1 }, (_, i) => {
        const at = centre + (i - REACH) * unit, kind = i === REACH ? "dot-axis" : "dot-grid";
        return [svg("line", { x1: at, x2: at, y1: 0, y2: size, class: kind }),
            svg("line", { x1: 0, x2: size, y1: at, y2: at, class: kind })];
    });
    /* In steps, and b as long as its larger number, so that no square overflows. */
    const step = stepOf(a, b), from = a.map((x) => x / step), long = Math.max(...b.map(Math.abs)) || 1;
    const way = b.map((x) => x / long);
    const along = terms(from, way)[1].sum / (length(way) ** 2 || 1);
    const foot = [centre + along * way[0] * unit, centre - along * way[1] * unit];
    const picture = drawing(size, size, `arrows a (${a.join(", ")}) and b (${b.join(", ")})`,
        ...grid.flat(),
        svg("line", { x1: centre, y1: centre, x2: foot[0], y2: foot[1], class: "dot-along" }),
        svg("line", { x1: centre + from[0] * unit, y1: centre - from[1] * unit, x2: foot[0], y2: foot[1],
            class: "dot-drop" }),
        step === 1 ? null : text(4, size - 6, `a square is ${value(step)}`, { class: "soft" }),
        ...arrow(view, figure, "a", a, step, unit, centre, 0),
        ...arrow(view, figure, "b", b, step, unit, centre, 5));
    picture.setAttribute("class", "dot-plane");
    picture.setAttribute("role", "group");
    picture.style.width = `${size}px`;
    return picture;
}

/* A number that fits beside its bar. */
function short(x) {
    return Math.abs(x) >= 1e9 ? x.toExponential(3).replace("e+", "e") : value(x);
}

/* Each product as a bar from the sum before it to the sum after it. */
function waterfall(width, parts) {
    const high = 22, height = parts.length * high + 26;
    const sums = [0, ...parts.map((part) => part.sum)];
    if (!sums.every(Number.isFinite))
        return element("p", { class: "dot-note" }, "A sum is beyond the largest number of a double.");
    const least = Math.min(...sums), most = Math.max(...sums), room = width - 130;
    const x = (at) => 60 + (at - least) / (most - least || 1) * room;
    const bars = parts.map((part, i) => [
        box(Math.min(x(sums[i]), x(sums[i + 1])), i * high + 4,
            Math.max(1, Math.abs(x(sums[i + 1]) - x(sums[i]))), high - 8,
            { class: colour(part.product < 0 ? 5 : 2) }),
        text(Math.max(x(sums[i]), x(sums[i + 1])) + 5, i * high + 16, short(part.sum)),
        text(4, i * high + 16, `term ${i}`, { class: "soft" })]);
    return drawing(width, height, "running sum, term by term", ...bars.flat(),
        svg("line", { x1: x(0), x2: x(0), y1: 0, y2: height - 20, class: "dot-axis" }),
        text(x(0), height - 6, "0", { "text-anchor": "middle", class: "soft" }));
}

function examples(view) {
    return element("div", { class: "number-steps" }, ...EXAMPLES.map(([name, a, b], i) =>
        element("button", { type: "button", class: "number-step", "data-key": `example-${i}`,
            onclick: () => view.set({ a, b }) }, name)));
}

function float32(view, a, b, exact) {
    const left = leftToRight(a, b), tree = pairwise(a, b);
    view.result("left_to_right", allDigits(left), "float32, left to right");
    view.result("pairwise", allDigits(tree), "float32, in pairs");
    const note = left === tree
        ? "In float32 both orders of adding give the same here."
        : `In float32 the order matters here: left to right is off by ${value(left - exact)}, ` +
            `in pairs by ${value(tree - exact)}.`;
    return element("p", { class: "dot-note" }, note);
}

export default {
    title: "Dot product",
    look: "Look at the terms while you turn an arrow: they cancel exactly when the arrows are at " +
        "a right angle.",
    below: true,
    parameters: {
        a: { value: EXAMPLES[0][1], label: "a" },
        b: { value: EXAMPLES[0][2], label: "b" },
    },
    draw(figure, view) {
        const a = readList(view.state.a, "a", MOST), b = readList(view.state.b, "b", MOST);
        const place = element("div", { class: "dot" }, examples(view));
        figure.append(place);
        const wrong = a.error ?? b.error ?? (a.values.length === b.values.length ? null
            : `a has ${a.values.length} numbers and b has ${b.values.length}: both need as many`);
        if (wrong) {
            problem(place, wrong);
            return;
        }
        const parts = terms(a.values, b.values), sum = parts[parts.length - 1].sum;
        const degrees = angle(a.values, b.values);
        const isPlane = a.values.length === 2, room = widthOf(figure);
        place.append(element("div", { class: "dot-both" },
            isPlane ? plane(view, figure, a.values, b.values) : null,
            element("div", { class: "dot-terms" },
                waterfall(isPlane && room > 700 ? room - 356 : room, parts))),
        table("Terms", ["i", "a", "b", "a × b", "sum so far"],
            parts.map((part, i) => row({}, String(i), value(part.a), value(part.b),
                value(part.product), value(part.sum)))), float32(view, a.values, b.values, sum));
        view.result("dot", allDigits(sum), "a · b");
        view.result("length_a", value(length(a.values)), "|a|");
        view.result("length_b", value(length(b.values)), "|b|");
        view.result("angle", degrees === null ? "none" : value(degrees), "angle in degrees");
        view.result("cosine", degrees === null ? "none"
            : value(length(a.values) * length(b.values) * Math.cos(degrees * Math.PI / 180)),
        "|a| |b| cos(angle)");
    },
};
