/*
 * audit.c: proves a lesson; see audit.h.
 */
#include "learn/audit.h"

#include "base/buf.h"
#include "host/files.h"

#include <dirent.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct audit {
    const struct learn_grader *grader;
    learn_audit_note *note;
    void *context;
    unsigned bad;
};

/* Takes why, which is malloc'd. */
static void report(struct audit *audit, const char *what, char *why)
{
    audit->bad += why != NULL;
    audit->note(audit->context, what, why);
    free(why);
}

/* The text --------------------------------------------------------------------------------------*/

static char *check_sections(const char *text)
{
    static const char *const sections[] = {"Challenge", "Explore", "Concept", "Code", "Verify"};
    const char *at = text;
    if (strncmp(text, "# ", 2) != 0)
        return lk_format("lesson.md does not begin with '# TITLE'");
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        char heading[32];
        snprintf(heading, sizeof heading, "\n## %s\n", sections[i]);
        at = strstr(at, heading);
        if (!at)
            return lk_format("lesson.md has no section '## %s', or not in its place", sections[i]);
    }
    if (strstr(text, "Press `"))
        return lk_format(
            "lesson.md names a key to press, which only the terminal has; name what it "
            "shows");
    return NULL;
}

static bool is_interactive(const char *name, size_t length)
{
    static const char *const names[] = {
#define X(name, title) #name,
#include "learn/interactives.def"
#undef X
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return true;
    return false;
}

/* [words](target): interactive:NAME?STATE, an address, or a file beside the lesson. */
static char *check_links(const struct learn_lesson *lesson, const char *text)
{
    char path[4096];
    for (const char *at = text; (at = strstr(at, "]("));) {
        at += 2;
        size_t length = strcspn(at, ")\n"), file = strcspn(at, "#)\n");
        if (at[length] != ')')
            return lk_format("lesson.md: the link '%.40s' does not end", at);
        if (strncmp(at, "https://", 8) == 0 || strncmp(at, "http://", 7) == 0 || file == 0)
            continue;
        if (strncmp(at, "interactive:", 12) == 0) {
            size_t name = strcspn(at + 12, "?)\n");
            if (!is_interactive(at + 12, name))
                return lk_format("lesson.md: there is no interactive '%.*s'; the names are in "
                                 "src/learn/interactives.def",
                                 (int)name, at + 12);
            continue;
        }
        snprintf(path, sizeof path, "%s/%.*s", lesson->folder, (int)file, at);
        if (access(path, F_OK) != 0)
            return lk_format("lesson.md: the link '%.*s' leads nowhere", (int)length, at);
    }
    return NULL;
}

static void audit_text(struct audit *audit, const struct learn_lesson *lesson)
{
    char *message = NULL;
    const char *path = lk_arena_printf(lesson->arena, "%s/lesson.md", lesson->folder);
    char *text = host_read_text(path, &message);
    char *sections = text ? check_sections(text) : message;
    report(audit, lk_arena_printf(lesson->arena, "%s: text", lesson->id), sections);
    if (text)
        report(audit, lk_arena_printf(lesson->arena, "%s: links", lesson->id),
               check_links(lesson, text));
    report(audit, lk_arena_printf(lesson->arena, "%s: quiz", lesson->id),
           lesson->question_count >= 3 ? NULL : lk_format("a quiz has at least three questions"));
    free(text);
}

/* Hints: the lines that the diff adds are lines of the solution.
 * ---------------------------------*/

static bool has_line(const char *text, const char *line, size_t length)
{
    while (length && (*line == ' ' || *line == '\t')) {
        line++;
        length--;
    }
    return length == 0 || memmem(text, strlen(text), line, length) != NULL;
}

static char *check_diff(const struct learn_exercise *exercise, const char *solution)
{
    const char *diff = exercise->hint[LEARN_HINTS - 1];
    unsigned added = 0;
    for (const char *at = diff; *at;) {
        size_t length = strcspn(at, "\n");
        if (*at == '+' && ++added && !has_line(solution, at + 1, length - 1))
            return lk_format("hints.diff adds '%.*s', which the solution does not have",
                             (int)length - 1, at + 1);
        at += length + (at[length] == '\n');
    }
    return added ? NULL : lk_format("hints.diff adds no line");
}

/* Kernels ---------------------------------------------------------------------------------------*/

/* wanted NULL: it must pass. */
static char *judge(struct audit *audit, const struct learn_exercise *exercise, const char *file,
                   const char *wanted)
{
    struct learn_verdict verdict;
    const char *slash = strrchr(file, '/');
    char *why = NULL;
    learn_grade(audit->grader, exercise, learn_path(exercise, file), slash ? slash + 1 : file,
                &verdict);
    regex_t expression;
    if (!wanted) {
        if (verdict.stage != LEARN_PASSED)
            why = lk_format("must pass, and got: %s", verdict.text);
        else
            why = learn_check_figures(exercise, &verdict);
    } else if (regcomp(&expression, wanted, REG_EXTENDED | REG_NOSUB) != 0) {
        why = lk_format("'%s' is not a regular expression", wanted);
    } else {
        if (verdict.stage == LEARN_PASSED)
            why = lk_format("must fail with '%s', and passes", wanted);
        else if (regexec(&expression, verdict.text, 0, NULL, 0) != 0)
            why = lk_format("must fail with '%s', and got: %s", wanted, verdict.text);
        regfree(&expression);
    }
    learn_verdict_free(&verdict);
    return why;
}

static void audit_kernel(struct audit *audit, const struct learn_exercise *exercise,
                         const char *file, const char *wanted)
{
    report(audit,
           lk_arena_printf(exercise->lesson->arena, "%s/%s: %s", exercise->lesson->id,
                           exercise->name, file),
           judge(audit, exercise, file, wanted));
}

/* Every file of wrong/ must be in lesson.json; grading finds those that are named but missing. */
static char *check_wrong_files(const struct learn_exercise *exercise)
{
    DIR *folder = opendir(learn_path(exercise, "wrong"));
    char *why = folder ? NULL : lk_format("there is no folder wrong");
    for (struct dirent *entry; folder && !why && (entry = readdir(folder));) {
        const char *dot = strrchr(entry->d_name, '.');
        bool python = dot && strcmp(dot, ".py") == 0;
        /* those of the other language are its twin's */
        bool known = entry->d_name[0] == '.' || (exercise->twin && python != exercise->is_python);
        for (unsigned i = 0; i < exercise->wrong_count; i++)
            known = known || strcmp(exercise->wrong[i].file, entry->d_name) == 0;
        if (!known)
            why = lk_format("wrong/%s has no verdict in lesson.json", entry->d_name);
    }
    if (folder)
        closedir(folder);
    return why;
}

static void audit_exercise(struct audit *audit, const struct learn_exercise *exercise)
{
    struct lk_arena *arena = exercise->lesson->arena;
    const char *name = lk_arena_printf(arena, "%s/%s", exercise->lesson->id, exercise->name);
    char *message = NULL,
         *given = host_read_text(learn_path(exercise, learn_given(exercise)), &message);
    if (given)
        message = strstr(given, "TODO") ? NULL : lk_format("%s has no TODO", learn_given(exercise));
    report(audit, lk_arena_printf(arena, "%s: TODO", name), message);
    free(given);
    char *solution = host_read_text(learn_path(exercise, learn_solution(exercise)), &message);
    report(audit, lk_arena_printf(arena, "%s: hints", name),
           solution ? check_diff(exercise, solution) : message);
    free(solution);
    report(audit, lk_arena_printf(arena, "%s: wrong kernels", name), check_wrong_files(exercise));
    audit_kernel(audit, exercise, learn_given(exercise), exercise->shipped);
    audit_kernel(audit, exercise, learn_solution(exercise), NULL);
    for (unsigned i = 0; i < exercise->wrong_count; i++)
        audit_kernel(audit, exercise, lk_arena_printf(arena, "wrong/%s", exercise->wrong[i].file),
                     exercise->wrong[i].verdict);
}

unsigned learn_audit(const struct learn_grader *grader, const struct learn_lesson *lesson,
                     learn_audit_note *note, void *context)
{
    struct audit audit = {grader, note, context, 0};
    audit_text(&audit, lesson);
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        if (!lesson->exercise[i].is_aside)
            audit_exercise(&audit, &lesson->exercise[i]);
    }
    return audit.bad;
}
