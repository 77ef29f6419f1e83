/*
 * editor.js: the editor: CodeMirror 5 where it is installed, else the page's own text field. Both
 * have the same few functions; marks at lines need CodeMirror, and the verdict says the same.
 */
import { element } from "./draw.js";

function plain(field, { run, save, changed }) {
    field.readOnly = false;
    field.addEventListener("input", changed);
    field.addEventListener("keydown", (event) => {
        const control = event.ctrlKey || event.metaKey;
        if (control && (event.key === "Enter" || event.key === "s")) {
            event.preventDefault();
            (event.key === "Enter" ? run : save)();
        }
    });
    return {
        text: () => field.value,
        setText: (text) => { field.value = text; },
        goTo: (line) => {
            const at = field.value.split("\n").slice(0, line - 1).join("\n").length;
            field.focus();
            field.setSelectionRange(at, at);
        },
        mark: () => {},
        clear: () => {},
    };
}

/* A line that is wrapped goes on two columns further in than it begins, not at the margin. */
function hangWrapped(mirror) {
    const more = 2;
    mirror.on("renderLine", (_, line, shown) => {
        const columns = CodeMirror.countColumn(line.text, null, mirror.getOption("tabSize"));
        const indent = `${columns + more}ch`;
        shown.style.textIndent = `-${indent}`;
        shown.style.paddingLeft = `calc(${indent} + 4px)`; /* 4: CodeMirror's own */
    });
    mirror.refresh();
}

/* CodeMirror measures again when the window changes, but not when only its column does. */
function measureAgain(mirror) {
    let width = 0;
    new ResizeObserver(([entry]) => {
        if (entry.contentRect.width !== width) {
            width = entry.contentRect.width;
            mirror.refresh();
        }
    }).observe(mirror.getWrapperElement());
}

function rich(field, { language, run, save, changed }) {
    field.readOnly = false;
    const mirror = CodeMirror.fromTextArea(field, {
        mode: { c: "text/x-csrc", python: "text/x-python" }[language] ?? "text/x-c++src",
        lineNumbers: true, lineWrapping: true, indentUnit: 4, matchBrackets: true,
        styleActiveLine: true,
        gutters: ["CodeMirror-linenumbers", "marks"],
        extraKeys: {
            "Ctrl-Enter": run, "Cmd-Enter": run, "Ctrl-S": save, "Cmd-S": save,
            Tab: (editor) => editor.execCommand(
                editor.somethingSelected() ? "indentMore" : "insertSoftTab"),
            "Shift-Tab": "indentLess",
            Esc: () => document.getElementById("run").focus(),
        },
    });
    let widgets = [];
    hangWrapped(mirror);
    measureAgain(mirror);
    mirror.getInputField().setAttribute("aria-label",
        field.labels[0]?.textContent ?? "Your kernel");
    mirror.on("change", (_, change) => { if (change.origin !== "setValue") changed(); });
    return {
        text: () => mirror.getValue(),
        setText: (text) => {
            const place = mirror.getCursor();
            mirror.setValue(text);
            mirror.setCursor(place, null, { scroll: false }); /* keep the scroll position */
        },
        goTo: (line) => {
            mirror.focus();
            mirror.setCursor(line - 1, 0);
            mirror.scrollIntoView({ line: line - 1, ch: 0 }, 80);
        },
        mark: (line, words) => {
            if (line < 1 || line > mirror.lineCount())
                return;
            mirror.setGutterMarker(line - 1, "marks",
                element("span", { class: "mark-line", title: words }, "●"));
            mirror.addLineClass(line - 1, "background", "marked-line");
            widgets.push(mirror.addLineWidget(line - 1,
                element("div", { class: "line-words", "data-line": line }, words),
                { noHScroll: true }));
        },
        clear: () => {
            mirror.clearGutter("marks");
            for (const widget of widgets) {
                mirror.removeLineClass(widget.line, "background", "marked-line");
                widget.clear();
            }
            widgets = [];
        },
    };
}

export function openEditor(field, options) {
    return typeof CodeMirror === "undefined" ? plain(field, options) : rich(field, options);
}
