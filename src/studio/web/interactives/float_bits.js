/* float_bits.js: the bits of a number in seven formats, as switches; a decimal rounded to each. */
import { element, drawing, svg, text } from "../draw.js";
import { formats, fields, kind, decode, encode, neighbour, largestCode }
    from "../numbers/formats.js";
import { exactOfText, errorOf, sizeOf } from "../numbers/exact.js";
import { allDigits, problem, row, table, value, widthOf } from "./parts.js";

const FACTS = {
    fp32: "FP32 is C's float: 24 significant bits, about 7 decimal digits.",
    tf32: "TF32 has FP32's range and FP16's precision. Tensor cores read FP32 numbers as TF32; " +
        "in memory it takes 32 bits, of which these 19 count.",
    fp16: "FP16 ends at 65504. Below 0.000061 it loses digits, and below 0.00000003 all of them.",
    bf16: "BF16 is the upper half of FP32: the same range, with 2 to 3 decimal digits.",
    e4m3: "E4M3 has no infinity, and only one NaN for each sign: S.1111.111. So its largest " +
        "number is 448. Conversion on the GPU saturates: what is larger becomes 448.",
    e5m2: "E5M2 is FP16 without its last eight bits: infinities, NaNs, and 57344 as the largest. " +
        "Conversion on the GPU saturates: what is larger becomes 57344.",
    e2m1: "All of E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. No infinity, no NaN: " +
        "what is larger than 6 becomes 6.",
};

function hex(format, code) {
    return code.toString(16).padStart(Math.ceil(format.bits / 4), "0");
}

function codeOf(state) {
    return parseInt(state.bits, 16);
}

/* The bits follow the number that was typed and the format; where bits were set, the number follows
 * them. A code that has no place in the format is not taken. */
function settle(state, changed) {
    const format = formats[state.format];
    const given = /^[0-9a-f]{1,8}$/i.test(state.bits) ? codeOf(state) : null;
    const fits = given !== null && given < 2 ** format.bits;
    const exact = exactOfText(state.number);
    const nearest = exact ? encode(format, exact) : null;
    if (changed.includes("bits") && fits) {
        state.bits = hex(format, given);
        if (!changed.includes("number") && nearest !== given)
            state.number = allDigits(decode(format, given));
        return;
    }
    if (exact)
        state.bits = hex(format, nearest);
    else if (!fits || changed.includes("format"))
        state.bits = hex(format, 0);
}

function part(format, index) {
    if (index === format.bits - 1)
        return { name: "sign", worth: "the sign" };
    if (index >= format.mantissaBits)
        return { name: "exponent", worth: `exponent, worth ${2 ** (index - format.mantissaBits)}` };
    return { name: "mantissa", worth: `mantissa, worth 2^${index - format.mantissaBits}` };
}

function bitButton(view, format, code, index) {
    const is = Math.floor(code / 2 ** index) % 2;
    const { name, worth } = part(format, index);
    return element("button", { type: "button", class: `bit ${name}`, "data-key": `bit-${index}`,
        "aria-pressed": is ? "true" : "false", "aria-label": `bit ${index}: ${worth}`,
        title: worth, onclick: () => {
            const next = is ? code - 2 ** index : code + 2 ** index;
            view.set({ bits: hex(format, next), number: allDigits(decode(format, next)) });
        } }, String(is));
}

function bitRow(view, format, code) {
    const { sign, exponent, mantissa } = fields(format, code);
    const group = (name, from, count, words) => element("div", { class: `bits-group ${name}` },
        element("div", { class: "bits-row", role: "group", "aria-label": name },
            ...Array.from({ length: count }, (_, i) => bitButton(view, format, code, from - i))),
        element("div", { class: "bits-words" }, words));
    return element("div", { class: "bits-all" },
        group("sign", format.bits - 1, 1, `sign ${sign ? "-" : "+"}`),
        group("exponent", format.bits - 2, format.exponentBits, `exponent ${exponent}`),
        group("mantissa", format.mantissaBits - 1, format.mantissaBits, `mantissa ${mantissa}`));
}

/* (-1)^s x 2^(e - bias) x (1 + m / 2^M), with the numbers put in. */
function formula(format, code) {
    const { sign, exponent, mantissa } = fields(format, code);
    const what = kind(format, code);
    if (what === "infinity")
        return `exponent all ones, mantissa 0: ${allDigits(decode(format, code))}`;
    if (what === "NaN")
        return "exponent all ones, mantissa " +
            `${format.top === "nan" ? "too" : "not 0"}: not a number`;
    const isSmall = exponent === 0;
    const power = isSmall ? `1 - ${format.bias}` : `${exponent} - ${format.bias}`;
    return `${sign ? "-" : "+"} 2^(${power}) × (${isSmall ? 0 : 1} + ` +
        `${mantissa}/${2 ** format.mantissaBits}) = ${allDigits(decode(format, code))}`;
}

/* A few numbers of the format on either side, where they lie, and the decimal that was typed. */
function neighbours(figure, format, code, exact) {
    const around = [code];
    for (let i = 0; i < 4; i++) {
        around.unshift(around[0] === null ? null : neighbour(format, around[0], -1));
        const last = around[around.length - 1];
        around.push(last === null ? null : neighbour(format, last, 1));
    }
    const values = around.filter((each) => each !== null).map((each) => decode(format, each))
        .filter(Number.isFinite);
    if (values.length < 2)
        return;
    const width = widthOf(figure), least = Math.min(...values), most = Math.max(...values);
    const x = (at) => 40 + (at - least) / (most - least) * (width - 80);
    if (!Number.isFinite(decode(format, code)))
        return;
    const here = decode(format, code), far = (at) => Math.abs(x(at) - x(here)) > 110;
    const label = (at, anchor, kind) => text(anchor === "start" ? 4 : anchor === "end" ? width - 4
        : x(at), 58, Number(at.toPrecision(9)), { "text-anchor": anchor, class: kind });
    const marks = [...new Set(values)].map((at) => svg("line", { x1: x(at), x2: x(at), y1: 18,
        y2: at === here ? 44 : 34, class: at === here ? "bits-here" : "bits-tick" }));
    const typed = exact.kind === "finite" ? (exact.negative ? -1 : 1) * sizeOf(exact) : NaN;
    if (typed >= least && typed <= most)
        marks.push(svg("circle", { cx: x(typed), cy: 26, r: 4.5, class: "bits-typed" }));
    figure.append(drawing(width, 64, `the numbers of ${format.words} next to ${allDigits(here)}`,
        svg("line", { x1: 10, x2: width - 10, y1: 26, y2: 26, class: "bits-tick" }), ...marks,
        far(least) ? label(least, "start", "soft") : null, label(here, "middle", ""),
        far(most) ? label(most, "end", "soft") : null,
        text(4, 12, "its neighbours; the dot is the number you typed", { class: "soft" })));
}

function short(x) {
    return value(Number(x.toPrecision(3)));
}

function everyFormat(exact, chosen) {
    const size = sizeOf(exact);
    const rows = Object.values(formats).map((format) => {
        const code = encode(format, exact), got = decode(format, code), error = errorOf(got, exact);
        const relative = error === 0 ? 0 : Math.abs(error) / size;
        return row({ "data-format": format.name, class: format.name === chosen ? "chosen" : null },
            format.words, `0x${hex(format, code)}`, allDigits(got), short(error),
            exact.over === 0n || !Number.isFinite(relative) ? "" : short(relative));
    });
    return table("The number you typed, in every format",
        ["format", "bits", "value", "error", "relative"], rows);
}

function results(view, format, code, exact) {
    const here = decode(format, code);
    const next = neighbour(format, code, 1), before = neighbour(format, code, -1);
    const shown = (each) => each === null ? "none" : allDigits(decode(format, each));
    /* Away from 0 the numbers get no closer; so the step is the one to the larger size. */
    const away = neighbour(format, code, here < 0 ? -1 : 1);
    const spacing = away === null ? NaN : Math.abs(decode(format, away) - here);
    view.result("value", allDigits(here), "value");
    view.result("kind", kind(format, code), "kind");
    view.result("bits", `0x${hex(format, code)}`, "bits");
    view.result("bias", format.bias, "bias of the exponent");
    view.result("previous", shown(before), "next below");
    view.result("next", shown(next), "next above");
    view.result("spacing", Number.isFinite(spacing) ? value(spacing) : "none", "step to the next");
    view.result("relative", Number.isFinite(spacing) && here !== 0
        ? value(spacing / Math.abs(here)) : "none", "step relative to it");
    view.result("largest", allDigits(decode(format, largestCode(format))), "largest of the format");
    view.result("error", value(errorOf(here, exact)), "value - what you typed");
}

export default {
    title: "Floating-point bits",
    look: "Look at the step to the next number as you flip bits: one more in the exponent " +
        "doubles it, a bit of the mantissa leaves it as it is.",
    below: true,
    parameters: {
        format: { value: "fp16", choices: Object.keys(formats), label: "format" },
        number: { value: "0.1", label: "a number" },
        bits: { value: "", hidden: true },
    },
    settle,
    draw(figure, view) {
        const format = formats[view.state.format], code = codeOf(view.state);
        const exact = exactOfText(view.state.number);
        const place = element("div", { class: "float-bits" });
        figure.append(place);
        if (!exact)
            problem(place, `"${view.state.number}" is not a number: ` +
                "write one like 0.1, -3e-5 or inf");
        place.append(bitRow(view, format, code),
            element("p", { class: "bits-formula" }, formula(format, code)),
            element("p", { class: "bits-fact" }, FACTS[format.name]));
        const shown = exact ?? exactOfText("0");
        neighbours(place, format, code, shown);
        if (exact)
            place.append(everyFormat(exact, format.name));
        results(view, format, code, shown);
    },
};
