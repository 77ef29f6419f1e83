/*
 * frames.js: shows the interactives that a lesson links in their place, as high as they are; they
 * are drawn again after a run.
 */
import { element } from "./draw.js";

function fit(frame) {
    const inside = frame.contentDocument?.body;
    if (!inside)
        return;
    /* It never scrolls by itself: otherwise a scroll bar from before it was resized would stay. */
    frame.contentDocument.documentElement.style.overflowY = "hidden";
    const resize = () => { frame.style.height = `${inside.offsetHeight + 4}px`; };
    resize();
    new ResizeObserver(resize).observe(inside);
}

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
    block.after(element("figure", { class: "interactive-figure" }, frame, caption));
}

export function showFrames() {
    for (const link of document.querySelectorAll("article a.interactive"))
        place(link);
}

export function redrawFrames() {
    for (const frame of document.querySelectorAll("iframe.interactive-frame"))
        frame.contentWindow?.location.reload();
}
