/*
 * learn_quiz.c: a lesson's questions: asked one by one on a terminal, answered all at once with
 * --answer 2,1,3 (or one of them with --answer 3:2), or listed.
 */
#include "cli/learn.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_question(const struct learn_lesson *lesson, unsigned number)
{
    const struct learn_question *question = &lesson->question[number];
    printf("%s%u. %s%s\n", cli_style(stdout, CLI_BOLD), number + 1, question->question,
           cli_style(stdout, CLI_PLAIN));
    for (unsigned i = 0; i < question->choice_count; i++)
        printf("   %u  %s\n", i + 1, question->choices[i]);
}

static bool judge(struct learn_session *session, const struct learn_lesson *lesson, unsigned number,
                  unsigned choice)
{
    const struct learn_question *question = &lesson->question[number];
    bool right = choice == question->answer;
    if (!learn_progress_answer(session->progress, lesson, number, choice + 1, right))
        cli_error("remark: this answer is not kept: %s", learn_progress_error(session->progress));
    if (!session->json)
        printf("   %s%s%s %s\n", cli_style(stdout, right ? CLI_GREEN : CLI_RED),
               right ? "right." : "no.", cli_style(stdout, CLI_PLAIN), question->why);
    return right;
}

/* A number of a choice, from 0; false after an error was said. */
static bool read_choice(const struct learn_question *question, const char *text, unsigned *choice)
{
    unsigned long long number;
    if (!cli_number("an answer", text, question->choice_count, &number))
        return false;
    *choice = (unsigned)number - 1;
    if (number == 0)
        cli_error("answers count from 1");
    return number > 0;
}

/* "2" is a choice for the next question, "3:2" for the third; false after an error was said. */
static bool read_answer(const struct learn_lesson *lesson, char *word, unsigned *question,
                        unsigned *choice)
{
    char *colon = strchr(word, ':');
    unsigned long long number;
    if (colon) {
        *colon = 0;
        if (!cli_number("a question", word, lesson->question_count, &number))
            return false;
        if (number == 0) {
            cli_error("questions count from 1");
            return false;
        }
        *question = (unsigned)number - 1;
    }
    if (*question >= lesson->question_count) {
        cli_error("there are %u questions, and more answers", lesson->question_count);
        return false;
    }
    return read_choice(&lesson->question[*question], colon ? colon + 1 : word, choice);
}

static json_t *answer_json(const struct learn_lesson *lesson, unsigned question, unsigned choice,
                           bool right)
{
    return json_pack("{si si sb ss}", "question", (int)question + 1, "choice", (int)choice + 1,
                     "right", right, "why", lesson->question[question].why);
}

static int answer_all(struct learn_session *session, const struct learn_lesson *lesson)
{
    char *words = lk_arena_printf(session->arena, "%s", session->answers), *place = NULL;
    unsigned questions[64], choices[64], count = 0, next = 0, right = 0;
    for (char *word = strtok_r(words, ",", &place); word; word = strtok_r(NULL, ",", &place)) {
        if (count == 64) {
            cli_error("at most 64 answers can be given at a time");
            return CLI_USAGE;
        }
        if (!read_answer(lesson, word, &next, &choices[count]))
            return CLI_USAGE;
        questions[count++] = next++;
    }
    json_t *answers = json_array();
    for (unsigned i = 0; i < count; i++) {
        if (!session->json)
            print_question(lesson, questions[i]);
        bool is_right = judge(session, lesson, questions[i], choices[i]);
        json_array_append_new(answers, answer_json(lesson, questions[i], choices[i], is_right));
        right += is_right;
    }
    if (session->json)
        learn_print_json(json_pack("{ss si si si sO}", "lesson", lesson->id, "questions",
                                   (int)lesson->question_count, "answered", (int)count, "right",
                                   (int)right, "answers", answers));
    else
        printf("%u of %u right\n", right, count);
    json_decref(answers);
    return right == count ? CLI_OK : CLI_FINDINGS;
}

static int ask_all(struct learn_session *session, const struct learn_lesson *lesson)
{
    char *line = NULL;
    size_t capacity = 0;
    unsigned right = 0;
    for (unsigned i = 0; i < lesson->question_count; i++) {
        unsigned choice;
        print_question(lesson, i);
        do {
            printf("   > ");
            fflush(stdout);
            if (getline(&line, &capacity, stdin) <= 0)
                goto out;
            line[strcspn(line, "\r\n")] = 0;
        } while (!read_choice(&lesson->question[i], line, &choice));
        right += judge(session, lesson, i, choice);
    }
    printf("%u of %u right\n", right, lesson->question_count);
out:
    free(line);
    return CLI_OK;
}

static int list_all(struct learn_session *session, const struct learn_lesson *lesson)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < lesson->question_count; i++) {
        const struct learn_question *question = &lesson->question[i];
        json_t *choices = json_array();
        for (unsigned j = 0; j < question->choice_count; j++)
            json_array_append_new(choices, json_string(question->choices[j]));
        json_array_append_new(
            list, json_pack("{ss so}", "question", question->question, "choices", choices));
        if (!session->json)
            print_question(lesson, i);
    }
    if (session->json)
        learn_print_json(json_pack("{ss so}", "lesson", lesson->id, "quiz", list));
    else
        json_decref(list);
    return CLI_OK;
}

int learn_quiz(struct learn_session *session)
{
    const struct learn_lesson *lesson = NULL;
    const struct learn_exercise *exercise;
    char *message;
    if (session->word_count > 1 &&
        !learn_course_find(&session->course, session->words[1], &lesson, &exercise, &message)) {
        cli_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    if (!lesson) {
        if (!learn_choose(session, &exercise))
            return CLI_USAGE;
        lesson = exercise->lesson;
    }
    if (session->answers)
        return answer_all(session, lesson);
    if (!session->json && isatty(STDIN_FILENO))
        return ask_all(session, lesson);
    return list_all(session, lesson);
}
