/*
 * learn_quiz.c: a lesson's questions: asked one by one on a terminal, answered all at once with
 * --answer 2,1,3, or listed.
 */
#include "cli/learn.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_question(const struct learn_lesson *lesson, unsigned number)
{
    const struct learn_question *question = &lesson->question[number];
    printf("%s%u. ", cli_style(stdout, CLI_BOLD), number + 1);
    learn_print_wrapped(question->question, strlen(question->question), 3);
    printf("%s", cli_style(stdout, CLI_PLAIN));
    for (unsigned i = 0; i < question->choice_count; i++) {
        printf("   %u  ", i + 1);
        learn_print_wrapped(question->choices[i], strlen(question->choices[i]), 6);
    }
}

static bool judge(struct learn_session *session, const struct learn_lesson *lesson, unsigned number,
                  unsigned choice)
{
    const struct learn_question *question = &lesson->question[number];
    bool right = choice == question->answer;
    if (!learn_progress_answer(session->progress, lesson, number, choice + 1, right))
        cli_error("remark: this answer is not kept: %s", learn_progress_error(session->progress));
    if (session->json)
        return right;
    printf("   %s%s%s ", cli_style(stdout, right ? CLI_GREEN : CLI_RED), right ? "right." : "no.",
           cli_style(stdout, CLI_PLAIN));
    learn_print_wrapped(question->why, strlen(question->why), right ? 10 : 7);
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

/* --answer 2,1,3: all are read before the first is judged. */
static int take_words(struct learn_session *session, const struct learn_lesson *lesson, bool *right)
{
    char *words = lk_arena_printf(session->arena, "%s", session->answers), *place = NULL;
    unsigned choices[LEARN_QUIZ_MOST], count = 0;
    for (char *word = strtok_r(words, ",", &place); word; word = strtok_r(NULL, ",", &place)) {
        if (count == lesson->question_count || count == LEARN_QUIZ_MOST) {
            cli_error("there are %u questions, and more answers", lesson->question_count);
            return -1;
        }
        if (!read_choice(&lesson->question[count], word, &choices[count]))
            return -1;
        count++;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!session->json)
            print_question(lesson, i);
        right[i] = judge(session, lesson, i, choices[i]);
    }
    return (int)count;
}

static int take_typed(struct learn_session *session, const struct learn_lesson *lesson, bool *right)
{
    char *line = NULL;
    size_t capacity = 0;
    unsigned count = 0;
    for (; count < lesson->question_count && count < LEARN_QUIZ_MOST; count++) {
        unsigned choice;
        print_question(lesson, count);
        do {
            printf("   > ");
            fflush(stdout);
            if (getline(&line, &capacity, stdin) <= 0)
                goto out;
            line[strcspn(line, "\r\n")] = 0;
        } while (!read_choice(&lesson->question[count], line, &choice));
        right[count] = judge(session, lesson, count, choice);
    }
out:
    free(line);
    return (int)count;
}

int learn_quiz_take(struct learn_session *session, const struct learn_lesson *lesson,
                    bool right[LEARN_QUIZ_MOST])
{
    memset(right, 0, LEARN_QUIZ_MOST * sizeof *right);
    return session->answers ? take_words(session, lesson, right)
                            : take_typed(session, lesson, right);
}

static int take(struct learn_session *session, const struct learn_lesson *lesson)
{
    bool right[LEARN_QUIZ_MOST];
    int count = learn_quiz_take(session, lesson, right), sum = 0;
    if (count < 0)
        return CLI_USAGE;
    for (int i = 0; i < count; i++)
        sum += right[i];
    if (session->json)
        learn_print_json(json_pack("{ss si si si}", "lesson", lesson->id, "questions",
                                   (int)lesson->question_count, "answered", count, "right", sum));
    else
        printf("%d of %d right\n", sum, count);
    return sum == count || !session->answers ? CLI_OK : CLI_FINDINGS;
}

/* Questions and choices without the answers. */
json_t *learn_quiz_json(const struct learn_lesson *lesson)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < lesson->question_count; i++) {
        const struct learn_question *question = &lesson->question[i];
        json_t *choices = json_array();
        for (unsigned j = 0; j < question->choice_count; j++)
            json_array_append_new(choices, json_string(question->choices[j]));
        json_array_append_new(
            list, json_pack("{ss so}", "question", question->question, "choices", choices));
    }
    return list;
}

static int list_all(struct learn_session *session, const struct learn_lesson *lesson)
{
    if (session->json)
        learn_print_json(
            json_pack("{ss so}", "lesson", lesson->id, "quiz", learn_quiz_json(lesson)));
    for (unsigned i = 0; i < lesson->question_count && !session->json; i++)
        print_question(lesson, i);
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
    if (session->answers || (!session->json && isatty(STDIN_FILENO)))
        return take(session, lesson);
    return list_all(session, lesson);
}
