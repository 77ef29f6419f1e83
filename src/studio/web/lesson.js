/*
 * lesson.js: a lesson's page: editor, runs and verdicts, hints, and what happens to the file on
 * disk. The text in the editor is never thrown away: what is not saved is kept in this browser, and where
 * the file and the text have both changed, the learner chooses.
 */
import * as api from "./api.js";
import { element } from "./draw.js";
import { openEditor } from "./editor.js";
import { redrawFrames, showFrames } from "./frames.js";
import { showMath } from "./math.js";
import "./quiz.js";
import { showVerdict } from "./verdict.js";

const byId = (id) => document.getElementById(id);

/* Unsaved text, by exercise, with the version of the file that it began from. */
const drafts = {
    get(exercise) {
        try {
            return JSON.parse(localStorage.getItem(`lockstep:draft:${exercise}`));
        } catch {
            return null;
        }
    },
    set(exercise, draft) {
        try {
            if (draft)
                localStorage.setItem(`lockstep:draft:${exercise}`, JSON.stringify(draft));
            else
                localStorage.removeItem(`lockstep:draft:${exercise}`);
        } catch {
            /* no room: the editor still has it */
        }
    },
};

class Work {
    constructor(section) {
        this.exercise = section.dataset.exercise;
        this.fileName = byId("path").textContent.split("/").pop();
        this.version = "none"; /* of the file, as this page knows it, */
        this.saved = "";       /* and its text */
        this.attempt = 0;
        this.running = 0;      /* number of the last run; 0 when none is under way */
        this.runs = 0;
        this.storing = Promise.resolve(true); /* the last save, done or under way */
        this.editor = openEditor(byId("code"), {
            language: section.dataset.language,
            run: () => this.run(), save: () => this.save(), changed: () => this.changed(),
        });
        for (const hidden of section.querySelectorAll(".buttons, .keys"))
            hidden.hidden = false;
        byId("run").addEventListener("click", () => this.run());
        byId("hint").addEventListener("click", () => this.hint());
        byId("solution").addEventListener("click", () => this.offerSolution());
        byId("reset").addEventListener("click", () => this.offerReset());
    }

    status(words) {
        byId("status").textContent = words;
    }

    /* Shows a notice with buttons: [[label, function]]. */
    notice(words, choices = [], more = null) {
        const buttons = choices.map(([label, act]) => element("button", { type: "button",
            "data-choice": label, onclick: () => { byId("notice").replaceChildren(); act(); } },
        label));
        byId("notice").replaceChildren(element("div", { class: "notice" },
            element("p", {}, words), ...buttons, more ?? ""));
    }

    isDirty() {
        return this.editor.text() !== this.saved;
    }

    changed() {
        clearTimeout(this.keeping);
        this.keeping = setTimeout(() => this.keepDraft(), 300);
        this.status(this.isDirty() ? "not saved yet" : "");
    }

    keepDraft() {
        drafts.set(this.exercise,
            this.isDirty() ? { text: this.editor.text(), version: this.version } : null);
    }

    know(version, text) {
        this.version = version;
        this.saved = text;
        this.keepDraft();
    }

    /* The file's text, in place of what the editor has. */
    take(version, text) {
        this.editor.clear();
        this.editor.setText(text);
        this.know(version, text);
    }

    async open() {
        const file = await api.readFile(this.exercise);
        if (file.status !== 200) {
            this.notice(file.error);
            return;
        }
        const draft = drafts.get(this.exercise);
        const text = file.text ?? this.editor.text();
        this.attempt = file.attempt;
        if (draft && draft.text !== text && draft.version === file.version) {
            this.version = file.version;
            this.saved = text;
            this.editor.setText(draft.text);
            this.status("your unsaved text is back");
        } else if (draft && draft.text !== text) {
            this.editor.setText(draft.text);
            this.conflict(file.version, text);
        } else {
            this.take(file.version, text);
        }
        if (file.last)
            this.show({ ...file.last, next: file.next }, "last time");
        if (file.hints)
            byId("hint").textContent = file.hints < 3 ? "Next hint" : "Last hint again";
        api.listen(this.exercise, file.version, file.attempt, {
            file: (event) => this.fileChanged(event),
            verdict: (event) => this.verdictCame(event),
        });
    }

    show(verdict, when) {
        this.editor.clear();
        showVerdict(byId("verdict"), verdict, { exercise: this.exercise, when,
            goTo: (line) => this.editor.goTo(line) });
        if (!this.isDirty() || !when)
            for (const { line, text } of verdict.messages ?? [])
                if (line)
                    this.editor.mark(line, text);
        if (verdict.stage === "passed")
            document.querySelector(`.tabs [data-exercise="${CSS.escape(this.exercise)}"]`)
                ?.setAttribute("data-state", "solved");
    }

    /* Saving and running --------------------------------------------------------------------- */

    /* What a save or a run answered, if it was refused. */
    refused(answer) {
        if (answer.status === 409 && answer.theirs !== undefined)
            this.conflict(answer.version, answer.theirs);
        else
            this.notice(answer.error);
    }

    /* True if the text is on disk now. One save at a time: each names the version before it. */
    store(text) {
        this.storing = this.storing.then(async () => {
            const answer = await api.saveFile(this.exercise, this.version, text);
            if (answer.status === 200)
                this.know(answer.version, text);
            else
                this.refused(answer);
            return answer.status === 200;
        });
        return this.storing;
    }

    async save() {
        const saved = await this.store(this.editor.text());
        this.status(saved ? "saved" : "not saved");
        return saved;
    }

    async run() {
        const text = this.editor.text();
        const mine = this.running = ++this.runs;
        this.keepDraft();
        this.status("running …");
        byId("notice").replaceChildren();
        byId("verdict").setAttribute("aria-busy", "true");
        /* Saved by itself first: a newer run must know that version while this one still runs. */
        const verdict = await this.store(text)
            ? await api.check(this.exercise, this.version, text) : null;
        if (mine !== this.running || verdict?.superseded)
            return; /* a newer run speaks */
        this.running = 0;
        byId("verdict").removeAttribute("aria-busy");
        this.status(verdict?.status === 200 ? "" : "not saved");
        if (verdict && verdict.status !== 200)
            this.refused(verdict);
        if (verdict?.status !== 200)
            return;
        this.attempt = verdict.attempt;
        this.show(verdict, "");
        redrawFrames();
    }

    /* The file on disk ------------------------------------------------------------------------ */

    conflict(version, theirs) {
        this.status("not saved");
        this.notice("The file has changed on disk, and so has the text here. Nothing was " +
            "written. Which one do you want?", [
            ["Keep the text here", () => { this.know(version, theirs); this.changed(); }],
            ["Take the file's text", () => { this.take(version, theirs); this.status(""); }]],
        element("details", {}, element("summary", {}, "The file's text"),
            element("pre", {}, theirs)));
    }

    /* An event may be outdated by now, so the file itself is fetched. */
    async fileChanged({ version }) {
        await this.storing; /* it may be the one that changed it */
        if (version === this.version)
            return;
        const dirty = this.saved !== null && this.isDirty();
        const file = await api.readFile(this.exercise);
        if (file.status !== 200) {
            this.notice(file.error);
        } else if (file.version === this.version) {
            return;
        } else if (file.text === null) {
            this.wasDeleted();
        } else if (dirty && file.text !== this.editor.text()) {
            this.conflict(file.version, file.text);
        } else {
            byId("notice").replaceChildren();
            this.take(file.version, file.text);
            this.status("the file changed on disk; this is its new text");
        }
    }

    wasDeleted() {
        this.version = "none";
        this.saved = null;
        this.keepDraft();
        this.notice("Your file was deleted on disk. Its text is still here.",
            [["Write it again", () => this.save()]]);
    }

    verdictCame(verdict) {
        if (this.running || verdict.attempt <= this.attempt)
            return;
        this.attempt = verdict.attempt;
        this.show(verdict, "from the terminal");
        redrawFrames();
    }

    /* Help ------------------------------------------------------------------------------------ */

    addHelp(id, title, content) {
        byId(id)?.remove();
        byId("help").append(element("section", { id, class: "hint" }, element("h3", {}, title),
            content));
    }

    async hint() {
        const hint = await api.hint(this.exercise);
        if (hint.status !== 200) {
            this.notice(hint.error);
            return;
        }
        const text = element(hint.kind === "diff" ? "pre" : "p", {}, hint.text);
        this.addHelp(`hint-${hint.rung}`, `Hint ${hint.rung} of ${hint.rungs}, the ${hint.kind}`,
            text);
        byId("hint").textContent = hint.rung < hint.rungs ? "Next hint" : "Last hint again";
    }

    offerSolution() {
        this.notice("Our solution is shown below, and your progress says that you saw it. " +
            "Your own text stays.", [["Show it", () => this.solution()], ["Not yet", () => {}]]);
    }

    async solution() {
        const solution = await api.solution(this.exercise);
        if (solution.status === 200)
            this.addHelp("solution-text", "Our solution", element("pre", {}, solution.solution));
        else
            this.notice(solution.error);
    }

    offerReset() {
        this.notice(`${this.fileName} becomes what it was in the beginning. What you have is ` +
            `kept beside it, as ${this.fileName}.1, .2 and so on.`,
        [["Reset it", () => this.reset()], ["Leave it", () => {}]]);
    }

    async reset() {
        if (this.isDirty() && !(await this.save()))
            return; /* what is not on disk would be lost */
        const given = await api.reset(this.exercise);
        if (given.status !== 200) {
            this.notice(given.error);
            return;
        }
        this.take(given.version, given.text);
        byId("verdict").replaceChildren();
        this.status(given.kept ? `yours is ${given.kept.split("/").pop()}` : "as it was given");
    }
}

showMath();
showFrames();
const section = document.querySelector("#work[data-exercise]");
if (section) {
    const work = new Work(section);
    work.open().then(() => { section.dataset.ready = "yes"; });
}
