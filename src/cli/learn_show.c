/*
 * learn_show.c: what several commands of 'lockstep learn' print: text fitted to the terminal, where
 * the learner is, hints.
 */
#include "cli/learn.h"
#include "learn/learner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *style(enum host_style which)
{
    return host_style(stdout, which);
}

/* How wide and high the terminal is; 0 if there is none. */
static struct winsize terminal(void)
{
    struct winsize size = {0};
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    return size;
}

unsigned cli_learn_rows(void)
{
    return terminal().ws_row;
}

void cli_learn_print_wrapped(const char *text, size_t length, size_t column)
{
    size_t width = terminal().ws_col;
    width = width > column + 20 ? width - column : 0;
    while (width && length > width) {
        size_t cut = width;
        while (cut > 0 && text[cut] != ' ')
            cut--;
        if (cut == 0)
            break;
        host_say("%.*s\n%*s", (int)cut, text, (int)column, "");
        text += cut + 1;
        length -= cut + 1;
    }
    host_say("%.*s\n", (int)length, text);
}

void cli_learn_print_lines(const char *text)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        cli_learn_print_wrapped(text, (size_t)(end - text), 0);
    }
}

void cli_learn_print_bar(struct cli_learn_session *session)
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

void cli_learn_print_place(struct cli_learn_session *session, const struct learn_exercise *exercise)
{
    struct learn_state state = learn_progress_state(session->progress, exercise);
    const char *path = cli_learn_file(session, exercise);
    if (session->json) {
        cli_print_json(json_pack("{ss ss ss ss sb si}", "exercise", learn_key(exercise), "title",
                                 exercise->title, "file", path, "lesson", exercise->lesson->title,
                                 "passed", state.passed, "attempts", (int)state.attempts));
        return;
    }
    cli_learn_print_bar(session);
    printf("%s%s%s  %s\n", style(HOST_BOLD), exercise->lesson->title, style(HOST_PLAIN),
           exercise->lesson->id);
    printf("  read   %s\n",
           cli_learn_shown(session, lk_arena_printf(session->arena, "%s/%s/lesson.md",
                                                    session->folder, exercise->lesson->id)));
    const char *words = lk_arena_printf(session->arena, "%s/python.md", session->folder);
    if (exercise->is_python && access(words, F_OK) == 0)
        printf("  beside %s   what the text's CUDA C is in Python\n",
               cli_learn_shown(session, words));
    printf("  fix    %s   %s\n", cli_learn_shown(session, path), exercise->title);
    if (state.passed)
        printf("  %ssolved%s; next: %s\n", style(HOST_GREEN), style(HOST_PLAIN),
               cli_learn_next(session, exercise) ? cli_learn_next(session, exercise)->name
                                                 : "you are through");
    else
        host_say("  then   lockstep learn check%s%s\n", exercise->is_kata ? " " : "",
                 exercise->is_kata ? exercise->name : "");
}

void cli_learn_print_hint(struct cli_learn_session *session, const struct learn_exercise *exercise)
{
    unsigned seen = learn_progress_look(session->progress, exercise, "hint");
    unsigned rung = seen < LEARN_HINTS ? seen : LEARN_HINTS - 1;
    if (session->json) {
        cli_print_json(json_pack("{ss ss si ss}", "exercise", learn_key(exercise), "kind",
                                 learn_hint_names[rung], "rung", (int)rung + 1, "text",
                                 exercise->hint[rung]));
        return;
    }
    printf("%shint %u of %d, the %s%s\n", style(HOST_YELLOW), rung + 1, LEARN_HINTS,
           learn_hint_names[rung], style(HOST_PLAIN));
    cli_learn_print_lines(exercise->hint[rung]);
    if (rung == LEARN_HINTS - 1)
        host_say("That is all there is; 'lockstep learn solution' shows the whole.\n");
}

int cli_learn_hint(struct cli_learn_session *session)
{
    const struct learn_exercise *exercise;
    if (!cli_learn_choose(session, &exercise))
        return CLI_USAGE;
    cli_learn_print_hint(session, exercise);
    return CLI_OK;
}
