/*
 * theme.js: dark or light: as the system has it, or as the switch was set, which is kept in this
 * browser. It runs before the page is drawn, so that nothing flashes.
 */
"use strict";
(() => {
    const root = document.documentElement;
    const prefersDark = matchMedia("(prefers-color-scheme: dark)");

    function chosen() {
        try {
            return localStorage.getItem("lockstep:theme");
        } catch {
            return null;
        }
    }

    function apply() {
        const theme = chosen();
        if (theme === "dark" || theme === "light")
            root.dataset.theme = theme;
        else
            delete root.dataset.theme;
        const dark = theme ? theme === "dark" : prefersDark.matches;
        root.dataset.shown = dark ? "dark" : "light";
        const button = document.getElementById("theme");
        if (button) {
            button.hidden = false;
            button.textContent = dark ? "Light" : "Dark";
            button.setAttribute("aria-label", dark ? "Change to light" : "Change to dark");
        }
        return dark;
    }

    apply();
    prefersDark.addEventListener("change", apply);
    addEventListener("storage", apply); /* other tabs, and pictures inside a lesson */
    addEventListener("DOMContentLoaded", () => {
        apply();
        document.getElementById("theme")?.addEventListener("click", () => {
            try {
                localStorage.setItem("lockstep:theme", apply() ? "light" : "dark");
            } catch {
                root.dataset.theme = apply() ? "light" : "dark";
            }
            apply();
        });
    });
})();
