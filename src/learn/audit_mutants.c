/*
 * audit_mutants.c: grades the mutants of each solution; see mutate.h. A mutant that passes is a
 * hole in the lesson, unless the lesson says why it is as good as the solution.
 */
#include "learn/mutate.h"

#include "base/buf.h"
#include "host/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct audit {
    const struct learn_grader *grader;
    bool some;
    learn_audit_note *note;
    void *context;
    struct mutant_counts *counts;
    unsigned bad;
};

/* Takes why, which is malloc'd. */
static void report(struct audit *audit, const struct learn_exercise *exercise, const char *what,
                   char *why)
{
    struct lk_buf text = {0};
    lk_buf_printf(&text, "%s/%s: %s:%s", exercise->lesson->id, exercise->name,
                  learn_solution(exercise), what);
    audit->bad += why != NULL;
    audit->note(audit->context, text.data, why);
    lk_buf_free(&text);
    free(why);
}

/* The verdict on source with the mutant in it; path is overwritten. */
static enum learn_stage grade(const struct audit *audit, const struct learn_exercise *exercise,
                              const char *source, const struct mutant *mutant, const char *path)
{
    struct learn_verdict verdict = {.stage = LEARN_BROKEN};
    char *text = mutant_apply(source, mutant);
    if (host_write_file(path, text, strlen(text), NULL))
        learn_grade(audit->grader, exercise, path, learn_solution(exercise), &verdict);
    enum learn_stage stage = verdict.stage;
    learn_verdict_free(&verdict);
    free(text);
    return stage;
}

static const char *reason_for(const struct learn_exercise *exercise, const char *name)
{
    return json_string_value(json_object_get(exercise->equivalent, name));
}

static void audit_mutant(struct audit *audit, const struct learn_exercise *exercise,
                         const char *source, const struct mutant *mutant, const char *path)
{
    enum learn_stage stage = grade(audit, exercise, source, mutant, path);
    const char *reason = reason_for(exercise, mutant->name);
    char *why = NULL;
    if (stage == LEARN_BROKEN)
        why = lk_format("it could not be graded");
    else if (stage == LEARN_COMPILE)
        audit->counts->not_compiled++;
    else if (stage == LEARN_PASSED && !reason)
        why = lk_format(
            "this mistake passes: let a size or a limit catch it, or say in \"equivalent\" "
            "why it is not a mistake");
    else if (stage != LEARN_PASSED && reason)
        why = lk_format("\"equivalent\" says that this passes, and it does not (%s)",
                        learn_stage_names[stage]);
    audit->counts->survived += stage == LEARN_PASSED && !reason;
    audit->counts->equivalent += stage == LEARN_PASSED && reason;
    audit->counts->caught +=
        stage != LEARN_PASSED && stage != LEARN_BROKEN && stage != LEARN_COMPILE;
    report(audit, exercise, mutant->name, why);
}

/* What "equivalent" names must be there: lines move when a solution is edited. */
static void check_reasons(struct audit *audit, const struct learn_exercise *exercise,
                          const struct mutant *mutants, size_t count)
{
    const char *name;
    json_t *reason;
    json_object_foreach(exercise->equivalent, name, reason)
    {
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(mutants[i].name, name) == 0;
        if (!known)
            report(audit, exercise, name, lk_format("there is no such place any more"));
    }
}

static struct mutant *find_all(const struct learn_exercise *exercise, const char *source,
                               size_t *count)
{
    size_t whole;
    struct mutant *mutants = mutants_find(source, count);
    struct mutant *others = mutants_find_whole(source, exercise->kernel, exercise->is_c, &whole);
    mutants = lk_realloc(mutants, (*count + whole + 1) * sizeof *mutants);
    if (whole)
        memcpy(mutants + *count, others, whole * sizeof *mutants);
    *count += whole;
    free(others);
    return mutants;
}

/* Of the kinds that game the limits a short audit takes one, another for each exercise. */
static void see_others(const struct learn_exercise *exercise, bool seen[MUTANT_KINDS])
{
    unsigned turn = 0;
    for (const char *c = exercise->name; *c; c++)
        turn = turn * 31 + (unsigned char)*c;
    turn %= exercise->is_c ? 2 : MUTANT_KINDS - MUTANT_SLIPS;
    for (unsigned kind = MUTANT_SLIPS; kind < MUTANT_KINDS; kind++)
        seen[kind] = kind != turn + (exercise->is_c ? MUTANT_LAST : MUTANT_SLIPS);
}

static void audit_exercise(struct audit *audit, const struct learn_exercise *exercise,
                           const char *path)
{
    char *message = NULL;
    char *source = host_read_text(learn_path(exercise, learn_solution(exercise)), &message);
    bool seen[MUTANT_KINDS] = {0};
    size_t count = 0;
    if (!source) {
        report(audit, exercise, "mutants", message);
        return;
    }
    struct mutant *mutants = find_all(exercise, source, &count);
    check_reasons(audit, exercise, mutants, count);
    if (audit->some)
        see_others(exercise, seen);
    for (size_t i = 0; i < count; i++) {
        if (audit->some && (seen[mutants[i].kind] || reason_for(exercise, mutants[i].name)))
            continue;
        seen[mutants[i].kind] = true;
        audit_mutant(audit, exercise, source, &mutants[i], path);
    }
    mutants_free(mutants, count);
    free(source);
}

unsigned learn_audit_mutants(const struct learn_grader *grader, const struct learn_lesson *lesson,
                             bool some, learn_audit_note *note, void *context,
                             struct mutant_counts *counts)
{
    struct audit audit = {grader, some, note, context, counts, 0};
    char *message = NULL, *folder = host_temporary_folder("mutants", &message);
    if (!folder) {
        note(context, lesson->id, message);
        free(message);
        return 1;
    }
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        if (lesson->exercise[i].is_aside)
            continue;
        char *path = lk_format("%s/%s", folder, learn_solution(&lesson->exercise[i]));
        audit_exercise(&audit, &lesson->exercise[i], path);
        free(path);
    }
    host_remove_tree(folder);
    free(folder);
    return audit.bad;
}
