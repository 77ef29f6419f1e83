/*
 * learn_verdict.c: a verdict of 'lockstep learn' on the terminal, or as JSON.
 */
#include "cli/learn.h"
#include "host/files.h"
#include "learn/progress.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *style(enum host_style which)
{
    return host_style(stdout, which);
}

/* "   14 | text" of the file; nothing if there is no such line. */
static void print_line(const char *path, unsigned number)
{
    char *text = host_read_line(path, number);
    if (text)
        printf("  %s%5u |%s %s\n", style(HOST_DIM), number, style(HOST_PLAIN), text);
    free(text);
}

/* Never 1.34782e+07. */
static const char *number(char text[32], double value)
{
    snprintf(text, 32, value < 1000 ? "%.4g" : "%.0f", value);
    return text;
}

static void print_counters(const struct learn_verdict *verdict)
{
    char value[32], most[32];
    for (unsigned i = 0; i < verdict->counter_count; i++) {
        const struct learn_counter *counter = &verdict->counter[i];
        printf("  %s%-34s %10s%s  at most %s\n", style(counter->kept ? HOST_GREEN : HOST_RED),
               counter->name, number(value, counter->value), style(HOST_PLAIN),
               number(most, counter->most));
    }
}

/* Compilers show the line themselves, but the first error must not scroll away. */
static void print_compiler(const char *text)
{
    unsigned rows = cli_learn_rows(),
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
            cli_learn_print_wrapped(text, length, 0);
        else /* a line of the file, and what points at a place in it */
            printf("%.*s\n", (int)length, text);
    }
    if (left)
        printf("%s(and %u more line%s: the first error is mostly the cause)%s\n", style(HOST_DIM),
               left, left == 1 ? "" : "s", style(HOST_PLAIN));
}

static void print_measured(const struct learn_verdict *verdict)
{
    char time[32];
    if (verdict->measured_us > 0)
        printf("right on %s too: %s measured there\n", verdict->gpu_name,
               learn_duration(time, verdict->measured_us));
}

/* "as given", "yours", "best": bars as long as the modelled times of the large size. */
static void print_gain(const struct cli_learn_session *session, const struct learn_gain *gain)
{
    const struct {
        const char *name;
        double us;
    } rows[] = {{gain->is_given ? "as given" : "before", gain->before_us},
                {"yours", gain->yours_us},
                {"best", gain->best_us}};
    const char *name = strchr(session->grader.gpu, ':');
    double longest = fmax(gain->before_us, fmax(gain->yours_us, gain->best_us));
    char time[32], rate[32];
    if (!gain->size || longest <= 0)
        return;
    printf("  %sfor %s on %s (modelled)%s\n", style(HOST_DIM), gain->size,
           name ? name + 1 : session->grader.gpu, style(HOST_PLAIN));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].us <= 0)
            continue;
        unsigned length = (unsigned)(30 * rows[i].us / longest + 0.5);
        printf("  %-9s%s", rows[i].name, style(i == 1 ? HOST_GREEN : HOST_DIM));
        for (unsigned k = 0; k < 30; k++)
            fputs(k < (length ? length : 1) ? "\u2588" : " ", stdout);
        printf("%s %9s  %s\n", style(HOST_PLAIN), learn_duration(time, rows[i].us),
               learn_rate(rate, gain->work, gain->is_flops, rows[i].us));
    }
}

/* What the kernel printed, and how this check can be repeated. */
static void print_rest(const struct learn_verdict *verdict)
{
    if (verdict->printed)
        printf("%sprinted:%s\n%s", style(HOST_DIM), style(HOST_PLAIN), verdict->printed);
    if (verdict->stage != LEARN_PASSED && verdict->stage != LEARN_COMPILE && verdict->seed)
        printf("%sHidden sizes and values: --seed %llu draws them again.%s\n", style(HOST_DIM),
               (unsigned long long)verdict->seed, style(HOST_PLAIN));
}

/* A message on a line of the file is followed by that line. */
static void print_message(const char *path, const char *shown, const struct learn_message *message)
{
    char *text = message->line ? lk_format("%s:%u: %s", shown, message->line, message->text)
                               : lk_format("%s: %s", shown, message->text);
    cli_learn_print_wrapped(text, strlen(text), 0);
    free(text);
    print_line(path, message->line);
    for (const char *row = message->detail, *end; row && *row; row = end + (*end == '\n')) {
        end = row + strcspn(row, "\n");
        printf("    ");
        cli_learn_print_wrapped(row, (size_t)(end - row), 4);
    }
}

static void print_failure(const char *path, const char *shown, const struct learn_verdict *verdict)
{
    static const char *const words[LEARN_STAGES] = {
        [LEARN_COMPILE] = "it does not compile yet",
        [LEARN_WRONG] = "the result is not right yet",
        [LEARN_FAULT] = "it does not run to its end",
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
    char time[32];
    char *text = exercise->package
                     ? lk_format("right on all %u sizes", verdict->sizes)
                     : lk_format("right on all %u sizes; no races, no stray accesses; %s for %s "
                                 "(modelled)",
                                 verdict->sizes, learn_duration(time, verdict->modelled_us),
                                 exercise->problem.size[exercise->problem.measured]);
    printf("%spassed%s: ", style(HOST_GREEN), style(HOST_PLAIN));
    cli_learn_print_wrapped(text, strlen(text), strlen("passed: "));
    free(text);
}

void cli_learn_print_verdict(struct cli_learn_session *session,
                             const struct learn_exercise *exercise, const char *path,
                             const struct learn_verdict *verdict)
{
    if (session->json) {
        json_t *object = learn_verdict_json(verdict);
        json_object_set_new(object, "exercise", json_string(learn_key(exercise)));
        json_object_set_new(object, "file", json_string(path));
        if (session->with_run && verdict->run)
            json_object_set(object, "run", verdict->run);
        cli_print_json(object);
        return;
    }
    if (verdict->stage != LEARN_PASSED) {
        print_failure(path, cli_learn_shown(session, path), verdict);
    } else {
        print_passed(exercise, verdict);
        print_measured(verdict);
        print_counters(verdict);
    }
    print_gain(session, &verdict->gain);
    print_rest(verdict);
    fflush(stdout);
}
