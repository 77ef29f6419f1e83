/*
 * math.js: formulas of a lesson, by KaTeX where it is installed; else they stay as they are
 * written.
 */
export function showMath() {
    if (typeof katex === "undefined")
        return;
    for (const formula of document.querySelectorAll("x-equation"))
        katex.render(formula.textContent, formula,
            { displayMode: formula.getAttribute("type") === "display", throwOnError: false });
}
