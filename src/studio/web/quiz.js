/*
 * quiz.js: answers the quiz without leaving the page. Without it the form is sent as it is.
 */
import { answerQuestion } from "./api.js";
import { element } from "./draw.js";

async function answerOne(lesson, set) {
    const chosen = set.querySelector("input:checked");
    if (!chosen)
        return null;
    const result = await answerQuestion(lesson, Number(set.dataset.question), Number(chosen.value));
    const why = set.querySelector(".why");
    if (result.status !== 200) {
        why.replaceChildren(result.error);
        return null;
    }
    why.className = `why ${result.right ? "good" : "bad"}`;
    why.replaceChildren(element("strong", {}, result.right ? "Right. " : "No. "), result.why,
        result.kept ? "" : " (This answer could not be kept.)");
    return result;
}

const form = document.querySelector("#quiz form");
form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    for (const set of form.querySelectorAll("fieldset")) {
        const result = await answerOne(form.dataset.lesson, set);
        if (result)
            document.getElementById("quiz-score").textContent =
                `${result.answered_right} of ${result.questions} right`;
    }
});
