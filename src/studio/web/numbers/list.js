/* list.js: numbers that a reader typed into one field, with commas or blanks between them. */

/* {values} or {error}: a sentence that names the place. */
export function readList(text, name, most) {
    const words = text.split(/[\s,;]+/).filter((word) => word !== "");
    if (words.length === 0)
        return { values: [], error: `${name} is empty: write numbers with commas between them` };
    if (words.length > most)
        return { values: [],
            error: `${name} has ${words.length} numbers: at most ${most} are drawn` };
    const values = words.map((word) => Number(word.replace("−", "-")));
    const wrong = values.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0)
        return { values: [],
            error: `${name}: "${words[wrong]}" (number ${wrong + 1}) is not a finite number` };
    return { values, error: null };
}
