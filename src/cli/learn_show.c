/*
 * learn_show.c: what 'lockstep learn' prints: verdicts, places, lists, hints, progress.
 */
#include "cli/learn.h"

#include "host/files.h"
#include "learn/learner.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *style(enum host_style which)
{
    return host_style(stdout, which);
}

void learn_print_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

/* How wide and high the terminal is; 0 if there is none. */
static struct winsize terminal(void)
{
    struct winsize size = {0};
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    return size;
}

void learn_print_wrapped(const char *text, size_t length, size_t column)
{
    size_t width = terminal().ws_col;
    width = width > column + 20 ? width - column : 0;
    while (width && length > width) {
        size_t cut = width;
        while (cut > 0 && text[cut] != ' ')
            cut--;
        if (cut == 0)
            break;
        printf("%.*s\n%*s", (int)cut, text, (int)column, "");
        text += cut + 1;
        length -= cut + 1;
    }
    printf("%.*s\n", (int)length, text);
}

void learn_print_lines(const char *text)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        learn_print_wrapped(text, (size_t)(end - text), 0);
    }
}

/* Verdicts --------------------------------------------------------------------------------------*/

/* "   14 | text" of the file; nothing if there is no such line. */
static void print_line(const char *path, unsigned number)
{
    char *text = host_read_line(path, number);
    if (text)
        printf("  %s%5u |%s %s\n", style(HOST_DIM), number, style(HOST_PLAIN), text);
    free(text);
}

static void print_counters(const struct learn_verdict *verdict)
{
    for (unsigned i = 0; i < verdict->counter_count; i++) {
        const struct learn_counter *counter = &verdict->counter[i];
        printf("  %s%-34s %10.6g%s  at most %.6g\n", style(counter->kept ? HOST_GREEN : HOST_RED),
               counter->name, counter->value, style(HOST_PLAIN), counter->most);
    }
}

/* Compilers show the line themselves, but the first error must not scroll away. */
static void print_compiler(const char *text)
{
    unsigned rows = terminal().ws_row,
             most = !rows       ? UINT_MAX
                    : rows > 24 ? rows - 12
                                : 12,
             left = 0;
    for (const char *end; *text; text = end) {
        end = text + strcspn(text, "\n");
        end += *end == '\n';
        if (most == 0) {
            left++;
            continue;
        }
        most--;
        size_t length = (size_t)(end - text) - (end[-1] == '\n');
        if (memmem(text, length, ": error:", 8) || memmem(text, length, ": warning:", 10))
            learn_print_wrapped(text, length, 0);
        else /* a line of the file, and what points at a place in it */
            printf("%.*s\n", (int)length, text);
    }
    if (left)
        printf("%s(and %u more line%s: the first error is mostly the cause)%s\n", style(HOST_DIM),
               left, left == 1 ? "" : "s", style(HOST_PLAIN));
}

static void print_measured(const struct learn_verdict *verdict)
{
    if (verdict->measured_us > 0)
        printf("right on %s too: %.3g us measured there\n", verdict->gpu_name,
               verdict->measured_us);
}

/* A message on a line of the file is followed by that line. */
static void print_message(const char *path, const char *shown, const struct learn_message *message)
{
    char *text = message->line ? lk_say("%s:%u: %s", shown, message->line, message->text)
                               : lk_say("%s: %s", shown, message->text);
    learn_print_wrapped(text, strlen(text), 0);
    free(text);
    print_line(path, message->line);
    for (const char *row = message->detail, *end; row && *row; row = end + (*end == '\n')) {
        end = row + strcspn(row, "\n");
        printf("    ");
        learn_print_wrapped(row, (size_t)(end - row), 4);
    }
}

static void print_failure(const char *path, const char *shown, const struct learn_verdict *verdict)
{
    static const char *const words[LEARN_STAGES] = {
        [LEARN_COMPILE] = "it does not compile yet",
        [LEARN_WRONG] = "the result is not right yet",
        [LEARN_FAULT] = "the kernel does not run to its end",
        [LEARN_CHECK] = "results are right, but the kernel has an error",
        [LEARN_LIMIT] = "right, and not yet good enough",
        [LEARN_BROKEN] = "nothing could be graded"};
    printf("%s%s%s\n", style(HOST_RED), words[verdict->stage], style(HOST_PLAIN));
    if (verdict->stage == LEARN_COMPILE) {
        print_compiler(verdict->text);
        return;
    }
    for (unsigned i = 0; i < verdict->message_count; i++)
        print_message(path, shown, &verdict->message[i]);
    if (verdict->stage == LEARN_LIMIT) {
        print_measured(verdict);
        print_counters(verdict);
    }
}

static void print_passed(const struct learn_exercise *exercise, const struct learn_verdict *verdict)
{
    char *text = lk_say("right on all %u sizes; no races, no stray accesses; %.3g us for %s "
                        "(modelled)",
                        verdict->sizes, verdict->modelled_us,
                        exercise->problem.size[exercise->problem.measured]);
    printf("%spassed%s: ", style(HOST_GREEN), style(HOST_PLAIN));
    learn_print_wrapped(text, strlen(text), strlen("passed: "));
    free(text);
}

void learn_print_verdict(struct learn_session *session, const struct learn_exercise *exercise,
                         const char *path, const struct learn_verdict *verdict)
{
    if (session->json) {
        json_t *object = learn_verdict_json(verdict);
        json_object_set_new(object, "exercise", json_string(learn_key(exercise)));
        json_object_set_new(object, "file", json_string(path));
        if (session->with_run && verdict->run)
            json_object_set(object, "run", verdict->run);
        learn_print_json(object);
        return;
    }
    if (verdict->stage != LEARN_PASSED) {
        print_failure(path, learn_shown(session, path), verdict);
    } else {
        print_passed(exercise, verdict);
        print_measured(verdict);
        print_counters(verdict);
    }
    fflush(stdout);
}

/* Places ----------------------------------------------------------------------------------------*/

void learn_print_bar(struct learn_session *session)
{
    enum { WIDTH = 30 };
    unsigned solved, all;
    learner_count(&session->course, session->progress, &solved, &all);
    unsigned full = all ? solved * WIDTH / all : 0;
    printf("[");
    for (unsigned i = 0; i < WIDTH; i++)
        putchar(i < full ? '#' : '-');
    printf("] %u of %u exercises\n", solved, all);
}

void learn_print_place(struct learn_session *session, const struct learn_exercise *exercise)
{
    struct learn_state state = learn_progress_state(session->progress, exercise);
    const char *path = learn_file(session, exercise);
    if (session->json) {
        learn_print_json(json_pack("{ss ss ss ss sb si}", "exercise", learn_key(exercise), "title",
                                   exercise->title, "file", path, "lesson", exercise->lesson->title,
                                   "passed", state.passed, "attempts", (int)state.attempts));
        return;
    }
    learn_print_bar(session);
    printf("%s%s%s  %s\n", style(HOST_BOLD), exercise->lesson->title, style(HOST_PLAIN),
           exercise->lesson->id);
    printf("  read   %s\n",
           learn_shown(session, lk_arena_printf(session->arena, "%s/%s/lesson.md", session->folder,
                                                exercise->lesson->id)));
    printf("  mend   %s   %s\n", learn_shown(session, path), exercise->title);
    if (state.passed)
        printf("  %ssolved%s; next: %s\n", style(HOST_GREEN), style(HOST_PLAIN),
               learn_next(session, exercise) ? learn_next(session, exercise)->name
                                             : "you are through");
    else
        printf("  then   lockstep learn check%s%s\n", exercise->is_kata ? " " : "",
               exercise->is_kata ? exercise->name : "");
}

static void print_lesson(const struct learn_lesson *lesson, unsigned right)
{
    char *text = lk_say("%s, about %u minutes; quiz %u of %u", lesson->title, lesson->minutes,
                        right, lesson->question_count);
    printf("%s%s%s  ", style(HOST_BOLD), lesson->id, style(HOST_PLAIN));
    learn_print_wrapped(text, strlen(text), strlen(lesson->id) + 2);
    free(text);
}

static void print_exercise(const struct learn_exercise *exercise, const struct learn_state *state)
{
    enum { COLUMN = 26 };
    printf("  %s%s%s %-16s ", style(state->passed ? HOST_GREEN : HOST_DIM),
           state->passed     ? "solved"
           : state->attempts ? "tried "
                             : "      ",
           style(HOST_PLAIN), exercise->name);
    learn_print_wrapped(exercise->title, strlen(exercise->title), COLUMN);
}

int learn_list(struct learn_session *session)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < session->course.count; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        unsigned right = learn_progress_right(session->progress, lesson);
        json_t *exercises = json_array();
        if (!session->json)
            print_lesson(lesson, right);
        for (unsigned j = 0; j < lesson->exercise_count; j++) {
            const struct learn_exercise *exercise = &lesson->exercise[j];
            struct learn_state state = learn_progress_state(session->progress, exercise);
            json_array_append_new(
                exercises,
                json_pack("{ss ss ss sb si sb}", "name", exercise->name, "title", exercise->title,
                          "language", exercise->is_c ? "c" : "cuda", "passed", state.passed,
                          "attempts", (int)state.attempts, "kata", exercise->is_kata));
            if (!session->json && !exercise->is_kata)
                print_exercise(exercise, &state);
        }
        json_array_append_new(list,
                              json_pack("{ss ss si si si so}", "id", lesson->id, "title",
                                        lesson->title, "minutes", (int)lesson->minutes, "questions",
                                        (int)lesson->question_count, "answered_right", (int)right,
                                        "exercises", exercises));
    }
    if (session->json) {
        learn_print_json(list);
        return CLI_OK;
    }
    learn_print_katas(session);
    json_decref(list);
    return CLI_OK;
}

/* Hints -----------------------------------------------------------------------------------------*/

void learn_say_hint(struct learn_session *session, const struct learn_exercise *exercise)
{
    unsigned seen = learn_progress_look(session->progress, exercise, "hint");
    unsigned rung = seen < LEARN_HINTS ? seen : LEARN_HINTS - 1;
    if (session->json) {
        learn_print_json(json_pack("{ss ss si ss}", "exercise", learn_key(exercise), "kind",
                                   learn_hint_names[rung], "rung", (int)rung + 1, "text",
                                   exercise->hint[rung]));
        return;
    }
    printf("%shint %u of %d, the %s%s\n", style(HOST_YELLOW), rung + 1, LEARN_HINTS,
           learn_hint_names[rung], style(HOST_PLAIN));
    learn_print_lines(exercise->hint[rung]);
    if (rung == LEARN_HINTS - 1)
        printf("That is all there is; 'lockstep learn solution' shows the whole.\n");
}

int learn_hint(struct learn_session *session)
{
    const struct learn_exercise *exercise;
    if (!learn_choose(session, &exercise))
        return CLI_USAGE;
    learn_say_hint(session, exercise);
    return CLI_OK;
}

/* Progress --------------------------------------------------------------------------------------*/

/* The counters that have limits, as low as they were in a verdict that passed. */
static void print_best(struct learn_session *session, const struct learn_exercise *exercise)
{
    json_t *best = learn_progress_best(session->progress, exercise), *value;
    const char *name;
    json_object_foreach(best, name, value) printf("    %sbest %s %.6g%s\n", style(HOST_DIM), name,
                                                  json_number_value(value), style(HOST_PLAIN));
    json_decref(best);
}

static void print_progress(struct learn_session *session)
{
    learn_print_bar(session);
    unsigned streak = learn_progress_streak(session->progress);
    printf("days in a row: %u, of %u in all\n", streak, learn_progress_days(session->progress));
    for (unsigned i = 0; i < session->course.count; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        printf("%s%s%s  quiz %u of %u\n", style(HOST_BOLD), lesson->id, style(HOST_PLAIN),
               learn_progress_right(session->progress, lesson), lesson->question_count);
        for (unsigned j = 0; j < lesson->exercise_count; j++) {
            if (lesson->exercise[j].is_kata)
                continue;
            struct learn_state state =
                learn_progress_state(session->progress, &lesson->exercise[j]);
            printf("  %-16s %s, %u attempt%s, %u hint%s%s\n", lesson->exercise[j].name,
                   state.passed ? "solved" : "open", state.attempts, state.attempts == 1 ? "" : "s",
                   state.hints, state.hints == 1 ? "" : "s",
                   state.saw_solution ? ", solution seen" : "");
            print_best(session, &lesson->exercise[j]);
        }
    }
    learn_print_katas(session);
}

int learn_show_progress(struct learn_session *session)
{
    const struct learn_exercise *next = learner_first_unsolved(&session->course, session->progress);
    if (session->json) {
        learn_print_json(learner_progress_json(&session->course, session->progress));
        return CLI_OK;
    }
    print_progress(session);
    if (next)
        printf("next: lockstep learn start %s\n", next->name);
    else
        printf("All exercises are solved.\n");
    const struct learn_lesson *quiz = learner_open_quiz(&session->course, session->progress);
    if (quiz)
        printf("open: lockstep learn quiz %s\n", strrchr(quiz->id, '/') + 1);
    return CLI_OK;
}
