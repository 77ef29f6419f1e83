/*
 * learn_quiz.c: a lesson's questions: asked one by one on a terminal, answered all at once with
 * --answer 2,1,3, one of them with --answer 3:2, or listed.
 */
#include "cli/learn.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_question(const struct learn_lesson *lesson, unsigned number)
{
    const struct learn_question *question = &lesson->question[number];
    printf("%s%u. ", host_style(stdout, HOST_BOLD), number + 1);
    cli_learn_print_wrapped(question->question, strlen(question->question), 3);
    printf("%s", host_style(stdout, HOST_PLAIN));
    for (unsigned i = 0; i < question->choice_count; i++) {
        printf("   %u  ", i + 1);
        cli_learn_print_wrapped(question->choices[i], strlen(question->choices[i]), 6);
    }
}

static bool judge(struct cli_learn_session *session, const struct learn_lesson *lesson,
                  unsigned number, unsigned choice)
{
    const struct learn_question *question = &lesson->question[number];
    bool right = choice == question->answer;
    if (!learn_progress_answer(session->progress, lesson, number, choice + 1, right))
        host_error("remark: this answer was not saved: %s",
                   learn_progress_error(session->progress));
    if (session->json)
        return right;
    printf("   %s%s%s ", host_style(stdout, right ? HOST_GREEN : HOST_RED),
           right ? "right." : "no.", host_style(stdout, HOST_PLAIN));
    cli_learn_print_wrapped(question->why, strlen(question->why), right ? 10 : 7);
    return right;
}

/* A number of a choice, from 0; false after printing an error. */
static bool read_choice(const struct learn_question *question, const char *text, unsigned *choice)
{
    unsigned long long number;
    if (!cli_number("an answer", text, 1, question->choice_count, &number))
        return false;
    *choice = (unsigned)number - 1;
    return true;
}

/* "2" is a choice for the next question, "3:2" for the third; false after printing an error. */
static bool read_answer(const struct learn_lesson *lesson, char *word, unsigned *question,
                        unsigned *choice)
{
    char *colon = strchr(word, ':');
    unsigned long long number;
    if (colon) {
        *colon = 0;
        if (!cli_number("a question", word, 1, lesson->question_count, &number))
            return false;
        *question = (unsigned)number - 1;
    }
    if (*question >= lesson->question_count) {
        host_error("there are %u questions, and more answers", lesson->question_count);
        return false;
    }
    return read_choice(&lesson->question[*question], colon ? colon + 1 : word, choice);
}

/* All are read before the first is judged. */
static int take_words(struct cli_learn_session *session, const struct learn_lesson *lesson,
                      struct cli_learn_answer *answers)
{
    char *words = lk_arena_printf(session->arena, "%s", session->answers), *place = NULL;
    unsigned count = 0, next = 0;
    for (char *word = strtok_r(words, ",", &place); word; word = strtok_r(NULL, ",", &place)) {
        if (count == CLI_LEARN_ANSWERS) {
            host_error("at most %d answers can be given at a time", CLI_LEARN_ANSWERS);
            return -1;
        }
        if (!read_answer(lesson, word, &next, &answers[count].choice))
            return -1;
        answers[count++].question = next++;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!session->json)
            print_question(lesson, answers[i].question);
        answers[i].right = judge(session, lesson, answers[i].question, answers[i].choice);
    }
    return (int)count;
}

static int take_typed(struct cli_learn_session *session, const struct learn_lesson *lesson,
                      struct cli_learn_answer *answers)
{
    char *line = NULL;
    size_t capacity = 0;
    unsigned count = 0;
    for (; count < lesson->question_count && count < CLI_LEARN_ANSWERS; count++) {
        struct cli_learn_answer *answer = &answers[count];
        answer->question = count;
        print_question(lesson, count);
        do {
            printf("   > ");
            fflush(stdout);
            if (getline(&line, &capacity, stdin) <= 0)
                goto out;
            line[strcspn(line, "\r\n")] = 0;
        } while (!read_choice(&lesson->question[count], line, &answer->choice));
        answer->right = judge(session, lesson, count, answer->choice);
    }
out:
    free(line);
    return (int)count;
}

int cli_learn_quiz_take(struct cli_learn_session *session, const struct learn_lesson *lesson,
                        struct cli_learn_answer answers[CLI_LEARN_ANSWERS])
{
    return session->answers ? take_words(session, lesson, answers)
                            : take_typed(session, lesson, answers);
}

static json_t *answer_json(const struct learn_lesson *lesson, const struct cli_learn_answer *answer)
{
    return json_pack("{si si sb ss}", "question", (int)answer->question + 1, "choice",
                     (int)answer->choice + 1, "right", answer->right, "why",
                     lesson->question[answer->question].why);
}

static int take(struct cli_learn_session *session, const struct learn_lesson *lesson)
{
    struct cli_learn_answer answers[CLI_LEARN_ANSWERS];
    int count = cli_learn_quiz_take(session, lesson, answers), sum = 0;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        sum += answers[i].right;
        json_array_append_new(list, answer_json(lesson, &answers[i]));
    }
    if (count >= 0 && session->json)
        cli_print_json(json_pack("{ss si si si sO}", "lesson", lesson->id, "questions",
                                 (int)lesson->question_count, "answered", count, "right", sum,
                                 "answers", list));
    else if (count >= 0)
        printf("%d of %d right\n", sum, count);
    json_decref(list);
    if (count < 0)
        return CLI_USAGE;
    return sum == count || !session->answers ? CLI_OK : CLI_FINDINGS;
}

static int list_all(struct cli_learn_session *session, const struct learn_lesson *lesson)
{
    if (session->json)
        cli_print_json(json_pack("{ss so}", "lesson", lesson->id, "quiz", learn_quiz_json(lesson)));
    for (unsigned i = 0; i < lesson->question_count && !session->json; i++)
        print_question(lesson, i);
    return CLI_OK;
}

int cli_learn_quiz(struct cli_learn_session *session)
{
    const struct learn_lesson *lesson = NULL;
    const struct learn_exercise *exercise;
    char *message;
    if (session->word_count > 1 &&
        !learn_course_find(&session->course, session->words[1], &lesson, &exercise, &message)) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    if (!lesson) {
        if (!cli_learn_choose(session, &exercise))
            return CLI_USAGE;
        lesson = exercise->lesson;
    }
    if (session->answers || (!session->json && isatty(STDIN_FILENO)))
        return take(session, lesson);
    return list_all(session, lesson);
}
