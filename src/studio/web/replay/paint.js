/*
 * paint.js: the pictures of a replay, on canvases: lanes of warps, cells of shared memory, sectors,
 * and the whole of it over time. Colours are those of replay.css, asked for anew in each theme.
 */
import { doing } from "./model.js";

const NAMES = ["run", "load", "store", "reads", "writes", "atomic", "held", "wait", "memory", "ended", "idle", "off",
    "cell", "flash", "paper"];

export function coloursOf(root) {
    const style = getComputedStyle(root);
    const colours = Object.fromEntries(NAMES.map((name) =>
        [name, style.getPropertyValue(`--replay-${name}`).trim()]));
    colours.warps = Array.from({ length: 8 }, (_, i) =>
        style.getPropertyValue(`--replay-warp-${i}`).trim());
    return colours;
}

/* Ready to be drawn on in CSS pixels, whatever the screen's. */
function surface(canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    const wide = Math.round(width * scale), high = Math.round(height * scale);
    if (canvas.width !== wide || canvas.height !== high) {
        canvas.width = wide;
        canvas.height = high;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}

function stripes(context, x, y, width, height, colour) {
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.beginPath();
    for (let at = x - height; at < x + width; at += 6) {
        context.moveTo(at, y + height);
        context.lineTo(at + height, y);
    }
    context.stroke();
    context.restore();
}

/* A row of 32 lanes: on in the colour of what the warp does; off, or beyond the block, pale. */
export function paintLanes(canvas, width, height, model, i, lanes, colours) {
    const gap = width > 260 ? 2 : 1, cell = (width - 31 * gap) / 32;
    const context = surface(canvas, width, height), event = i < 0 ? null : model.events[i];
    const state = doing(model, i), still = state === "held" || state === "wait" || state === "memory";
    for (let lane = 0; lane < 32; lane++) {
        const x = lane * (cell + gap), on = event && event.lanes >>> lane & 1;
        if (lane >= lanes || state === "ended" || state === "idle") {
            context.fillStyle = lane >= lanes ? "transparent" : colours[state];
            context.fillRect(x, 0, cell, height);
        } else {
            context.fillStyle = on ? colours[state] : colours.off;
            context.globalAlpha = on && still ? 0.55 : 1;
            context.fillRect(x, 0, cell, height);
            context.globalAlpha = 1;
        }
    }
    if (still && event)
        stripes(context, 0, 0, width, height, colours.paper);
}

/* How wide the cells of a grid can be, and how many columns it has then. */
export function gridOf(width, cells, columns) {
    let wide = columns;
    if (!wide)
        for (wide = 16; wide * 2 <= 128 && wide * 2 * 4 <= width && cells / wide > 24;)
            wide *= 2;
    while (wide > 4 && width / wide < 3)
        wide = Math.ceil(wide / 2);
    const size = Math.max(2, Math.min(16, Math.floor(width / wide)));
    return { columns: wide, size, rows: Math.ceil(cells / wide) };
}

/* flash(event): how bright what it touched is now, 0 to 1. */
export function paintShared(canvas, width, model, state, at, colours, flash) {
    const piece = model.pieces[at], written = state.written[at], read = state.read[at];
    const { columns, size, rows } = gridOf(width, piece.cells, piece.columns);
    const context = surface(canvas, columns * size, rows * size), gap = size > 5 ? 1 : 0;
    for (let cell = 0; cell < piece.cells; cell++) {
        const x = cell % columns * size, y = Math.floor(cell / columns) * size;
        const wrote = written[cell] ? model.events[written[cell] - 1] : null;
        context.fillStyle = wrote ? colours.warps[wrote.warp % 8] : colours.cell;
        context.globalAlpha = wrote ? 0.45 + 0.55 * flash(written[cell] - 1) : 1;
        context.fillRect(x, y, size - gap, size - gap);
        const bright = read[cell] ? flash(read[cell] - 1) : 0;
        context.globalAlpha = bright;
        if (bright > 0) {
            context.fillStyle = colours.flash;
            context.fillRect(x, y, size - gap, size - gap);
        }
        context.globalAlpha = 1;
    }
}

export function paintSectors(canvas, width, model, state, at, colours, flash) {
    const touched = state.touched[at], stored = state.stored[at];
    const size = touched.length > 4 * Math.floor(width / 8) ? touched.length > 6000 ? 3 : 5 : 8;
    const columns = Math.max(1, Math.floor(width / size)), rows = Math.ceil(touched.length / columns);
    const context = surface(canvas, Math.min(columns, touched.length) * size, rows * size);
    for (let i = 0; i < touched.length; i++) {
        const bright = touched[i] ? flash(touched[i] - 1) : 0;
        context.fillStyle = !touched[i] ? colours.cell : stored[i] ? colours.store : colours.load;
        context.globalAlpha = touched[i] ? 0.5 + 0.5 * bright : 1;
        context.fillRect(i % columns * size, Math.floor(i / columns) * size, size - 1, size - 1);
        context.globalAlpha = 1;
    }
}

/* All warps over the whole time: drawn once, and the cursor over it each time. */
export function paintTime(canvas, width, model, colours) {
    const row = Math.max(3, Math.min(9, Math.floor(130 / model.warps))), height = row * model.warps;
    const context = surface(canvas, width, height), span = model.end - model.begin || 1;
    context.fillStyle = colours.cell;
    context.fillRect(0, 0, width, height);
    model.events.forEach((event, i) => {
        const state = doing(model, i), x = (event.time - model.begin) / span * width;
        if (state === "ended")
            return;
        context.fillStyle = colours[state];
        context.fillRect(x, event.warp * row, Math.max(0.6,
            (model.until[i] - event.time) / span * width), row - 1);
    });
    return height;
}
