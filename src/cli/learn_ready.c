/*
 * learn_ready.c: lockstep learn ready: can exercises be done on this machine, what else is there
 * that helps, and where should this learner begin. What is looked for is doctor.c's; the machine is
 * tried by grading a solution of the course.
 */
#include "cli/doctor.h"
#include "cli/learn.h"
#include "host/child.h"
#include "learn/ready.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FINDINGS = 10 };

struct report {
    struct cli_learn_session *session;
    struct doctor_finding finding[FINDINGS];
    unsigned count;
};

static void add(struct report *report, struct doctor_finding finding)
{
    report->finding[report->count++] = finding;
}

/* Looking ---------------------------------------------------------------------------------------*/

/* One of the two is needed; only clang compiles the exercises in C. */
static void look_for_compilers(struct report *report)
{
    struct lk_arena *arena = report->session->arena;
    struct doctor_finding clang = doctor_find_clang(arena), nvcc = doctor_find_nvcc(arena);
    clang.needed = !nvcc.found;
    clang.use = nvcc.found ? "exercises in C (nvcc takes those in CUDA)" : "compiles exercises";
    nvcc.needed = false;
    nvcc.use = "whole CUDA programs: lockstep run, check and profile";
    add(report, clang);
    add(report, nvcc);
}

static const struct learn_exercise *first_kernel(const struct learn_course *course)
{
    for (unsigned i = learn_course_begin(course, NULL); i < course->count; i++)
        for (unsigned j = 0; j < course->lesson[i]->exercise_count; j++)
            if (!course->lesson[i]->exercise[j].is_c) {
                const struct learn_exercise *found = &course->lesson[i]->exercise[j];
                if (found->is_python)
                    found = found->twin; /* what that one needs is looked for by itself */
                if (!found->is_c)
                    return found;
            }
    return NULL;
}

/* One complete trial: compile, run on the simulated GPU, compare. */
static void try_machine(struct report *report)
{
    struct cli_learn_session *session = report->session;
    struct lk_arena *arena = session->arena;
    struct doctor_finding finding = {"simulated GPU", NULL, true, "runs exercises", "make"};
    const struct learn_exercise *exercise = first_kernel(&session->course);
    struct learn_verdict verdict = {0};
    if (!exercise) {
        finding.use = "this course has no kernel to try it with";
        finding.needed = false;
    } else if (!session->grader.compiler) {
        finding.use = "cannot be tried without a compiler";
        finding.install = report->finding[0].install;
    } else {
        learn_grade(&session->grader, exercise, learn_path(exercise, "solution.cu"), "solution.cu",
                    &verdict);
        if (verdict.stage == LEARN_PASSED)
            finding.found = lk_arena_printf(arena, "%s: %s compiled, run and graded in %.2f s",
                                            session->grader.gpu, exercise->name, verdict.seconds);
        else
            finding.use = lk_arena_printf(arena, "the solution of %s does not pass: %s",
                                          exercise->name, verdict.text);
        learn_verdict_free(&verdict);
    }
    add(report, finding);
}

/* A package of Python's; name is what it is called here, package what 'pip install' takes. */
static struct doctor_finding find_module(struct report *report, const char *name,
                                         const char *package, const char *use)
{
    struct lk_arena *arena = report->session->arena;
    const char *python = report->session->grader.python; /* the one that exercises use */
    bool chosen = python && (getenv("VIRTUAL_ENV") || getenv("LOCKSTEP_PYTHON"));
    const char *const words[] = {python, "-c",
                                 lk_arena_printf(arena,
                                                 "from importlib.metadata import version; "
                                                 "print('version', version('%s'))",
                                                 package),
                                 NULL};
    char *line = python ? doctor_line_with(arena, words, "version") : NULL;
    return (struct doctor_finding){
        name, line, false, use,
        lk_arena_printf(arena, "%s%s%s",
                        chosen ? python : "python3 -m venv ~/gpu && . ~/gpu/bin/activate && pip",
                        chosen ? " -m pip install " : " install ",
                        strcmp(package, "cupy-cuda13x") == 0 ? "'cupy-cuda13x[ctk]'" : package)};
}

static struct doctor_finding find_editor(struct report *report)
{
    static const char *const names[] = {"code", "codium", "nvim",  "vim",  "emacs", "hx",
                                        "kate", "gedit",  "micro", "nano", "vi"};
    struct lk_arena *arena = report->session->arena;
    const char *found = getenv("VISUAL");
    if (!found || !*found)
        found = getenv("EDITOR");
    for (size_t i = 0; (!found || !*found) && i < sizeof names / sizeof *names; i++)
        found = host_find_program(arena, names[i]);
    return (struct doctor_finding){"editor", found && *found ? found : NULL, false,
                                   "any will do: every save is graded; or 'lockstep studio'",
                                   "apt-get install nano"};
}

static void look(struct report *report)
{
    struct lk_arena *arena = report->session->arena;
    look_for_compilers(report);
    try_machine(report);
    struct doctor_finding gpu = doctor_find_gpu(arena);
    gpu.use = "not needed: exercises run on a simulated one";
    add(report, gpu);
    struct doctor_finding python = doctor_find_python(arena);
    python.use = "exercises in Python, notebooks";
    add(report, python);
    add(report, find_module(report, "numpy", "numpy", "Python, week 1 day 1 (20 MB)"));
    add(report,
        find_module(report, "cupy", "cupy-cuda13x", "Python, week 1 days 2 and 3 (700 MB)"));
    add(report, find_module(report, "triton", "triton", "Python, from week 1 day 4 on (280 MB)"));
    add(report, find_module(report, "jupyter", "notebook", "the lessons as notebooks"));
    add(report, find_editor(report));
}

/* The quiz and what follows from it -------------------------------------------------------------*/

/* Topics of questions that were not answered rightly, each once. */
static json_t *missed_topics(const struct learn_ready *ready, const bool *right)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < ready->quiz->question_count; i++) {
        bool again = right[i];
        for (unsigned j = 0; j < i; j++)
            again = again || (!right[j] && strcmp(ready->topic[i], ready->topic[j]) == 0);
        if (!again)
            json_array_append_new(list, json_string(ready->topic[i]));
    }
    return list;
}

static void print_start(struct cli_learn_session *session, const struct learn_lesson *lesson,
                        json_t *missed)
{
    size_t i;
    json_t *each;
    if (json_array_size(missed) == 0)
        printf("All right: you know what the course builds on.\n");
    else
        printf("Worth a look first:");
    json_array_foreach(missed, i, each) printf("%s %s", i ? "," : "", json_string_value(each));
    if (json_array_size(missed))
        printf(".\n");
    printf("%sBegin with %s%s, %s\n", host_style(stdout, HOST_BOLD), lesson->id,
           host_style(stdout, HOST_PLAIN), lesson->title);
    if (!session->folder)
        host_say("  lockstep learn init ~/gpu-course\n");
    host_say("  lockstep learn start %s\n", lesson->id);
}

/* {"quiz": .., "start": ..}, or the questions if they have not been answered; NULL after an error.
 * */
static json_t *ask(struct cli_learn_session *session, const struct learn_ready *ready)
{
    struct cli_learn_answer answers[CLI_LEARN_ANSWERS];
    bool right[CLI_LEARN_ANSWERS] = {0}; /* by question */
    if (!session->answers && (session->json || !isatty(STDIN_FILENO))) {
        if (!session->json)
            host_say("%u questions say where to begin: ask for them on a terminal, or see "
                     "'lockstep learn ready --json' and answer with --answer 2,1,..\n",
                     ready->quiz->question_count);
        return json_pack("{so}", "quiz", learn_quiz_json(ready->quiz));
    }
    if (!session->json)
        printf("\n%u questions, to find out where to begin; Ctrl-D ends them.\n\n",
               ready->quiz->question_count);
    int count = cli_learn_quiz_take(session, ready->quiz, answers), sum = 0;
    if (count < 0)
        return NULL;
    if (count == 0)
        return json_object();
    for (int i = 0; i < count; i++) {
        right[answers[i].question] = answers[i].right;
        sum += answers[i].right;
    }
    json_t *missed = missed_topics(ready, right);
    const struct learn_lesson *lesson =
        session->course.lesson[learn_ready_start(ready, &session->course, right)];
    if (!learn_progress_set(session->progress, "start", lesson->id))
        host_error("remark: this start was not saved: %s", learn_progress_error(session->progress));
    if (!session->json) {
        printf("\n%d of %u right\n", sum, ready->quiz->question_count);
        print_start(session, lesson, missed);
    }
    return json_pack("{s{si si si so} ss}", "quiz", "questions", (int)ready->quiz->question_count,
                     "answered", count, "right", sum, "missed", missed, "start", lesson->id);
}

int cli_learn_ready(struct cli_learn_session *session)
{
    struct report report = {.session = session};
    char *message = NULL;
    struct learn_ready *ready = learn_ready_read(&session->course, &message);
    if (!ready) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    look(&report);
    bool can = doctor_is_ready(report.finding, report.count);
    if (!session->json) {
        doctor_print(report.finding, report.count, "exercises");
        printf("%s\n", can ? "Exercises can be done here." : "Exercises cannot be done here yet.");
        fflush(stdout);
    }
    json_t *answers = ask(session, ready);
    bool fine = answers != NULL;
    if (fine && session->json) {
        json_object_set_new(answers, "ready", json_boolean(can));
        json_object_set_new(answers, "findings", doctor_json(report.finding, report.count));
        cli_print_json(answers);
    } else {
        json_decref(answers);
    }
    learn_ready_free(ready);
    return !fine ? CLI_USAGE : can ? CLI_OK : CLI_FINDINGS;
}
