/*
 * frames.js: shows the interactives that a lesson links in their place, as high as they are; they
 * are drawn again after a run.
 */
import { element } from "./draw.js";

const MOST = 560;       /* pixels, and no more than four fifths of the window if that is more */
const last = new Map(); /* the last figure behind a paragraph */

function fit(frame) {
    const inside = frame.contentDocument?.body;
    if (!inside)
        return;
    /* It scrolls only where it is taller than most of the window: otherwise a scroll bar from
     * before it was resized would stay. */
    const resize = () => {
        const whole = inside.offsetHeight + 4;
        /* A phone has one column: there a picture that scrolls within the page is a trap. */
        const most = matchMedia("(min-width: 64rem)").matches
            ? Math.max(MOST, 0.8 * window.innerHeight) : Infinity;
        frame.style.height = `${Math.min(whole, most)}px`;
        frame.contentDocument.documentElement.style.overflowY = whole > most ? "auto" : "hidden";
    };
    resize();
    new ResizeObserver(resize).observe(inside);
}

/* Pages of a site that lie on a disk cannot look into each other: the picture says how high it is. */
addEventListener("message", (event) => {
    const high = Number(event.data?.lockstepHeight);
    for (const frame of high > 0 ? document.querySelectorAll("iframe.interactive-frame") : [])
        if (frame.contentWindow === event.source)
            frame.style.height = `${high + 4}px`;
});

function place(link) {
    const address = new URL(link.href);
    const title = link.textContent;
    address.searchParams.set("embed", "1");
    const frame = element("iframe", { title, src: address.pathname + address.search,
        class: "interactive-frame", "data-interactive": link.dataset.interactive,
        loading: "lazy" });
    frame.addEventListener("load", () => fit(frame));
    const block = link.closest("p, li, td") ?? link;
    const caption = element("figcaption", {}, element("a", { href: link.href, class: "soft" },
        "open by itself"));
    /* Several of one paragraph keep their order; the first is open, the others wait for a click. */
    const before = last.get(block);
    const figure = element("figure", { class: "interactive-figure" },
        before ? element("details", {}, element("summary", {}, title), frame) : frame, caption);
    (before ?? block).after(figure);
    last.set(block, figure);
}

export function showFrames() {
    for (const link of document.querySelectorAll("article a.interactive"))
        place(link);
}

export function redrawFrames() {
    for (const frame of document.querySelectorAll("iframe.interactive-frame"))
        frame.contentWindow?.location.reload();
}
