/*
 * api.js: what the pages ask the studio for; docs/studio.md lists it. An answer is {status, ...what
 * came}; status is 0 if the studio does not answer at all.
 */
async function ask(method, path, words, body) {
    const address = `/api/${path}?${new URLSearchParams(words)}`;
    try {
        const answer = await fetch(address, { method, body });
        const text = await answer.text();
        return { ...(text ? JSON.parse(text) : {}), status: answer.status };
    } catch (error) {
        return { status: 0, error: "The studio does not answer. Was it ended? " +
            "Your text is kept in this browser: nothing is lost." };
    }
}

export const readFile = (exercise) => ask("GET", "file", { exercise });
export const saveFile = (exercise, version, text) =>
    ask("POST", "file", { exercise, version }, text);
export const check = (exercise, version, text) => ask("POST", "check", { exercise, version }, text);
export const hint = (exercise) => ask("POST", "hint", { exercise });
export const solution = (exercise) => ask("POST", "solution", { exercise });
export const reset = (exercise) => ask("POST", "reset", { exercise });
export const lastRun = (exercise) => ask("GET", "run", { exercise });
export const answerQuestion = (lesson, question, choice) =>
    ask("POST", "answer", {}, JSON.stringify({ lesson, question, choice }));

/* Calls file({version, exists}) and verdict({..}) when either changes; reconnects by itself. */
export function listen(exercise, version, attempt, { file, verdict }) {
    const stream = new EventSource(
        `/api/events?${new URLSearchParams({ exercise, version, attempt })}`);
    stream.addEventListener("file", (event) => file(JSON.parse(event.data)));
    stream.addEventListener("verdict", (event) => verdict(JSON.parse(event.data)));
    addEventListener("pagehide", () => stream.close());
}
