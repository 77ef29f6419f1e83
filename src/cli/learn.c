/*
 * learn.c: lockstep learn: the course. Finds the lessons, the learner's folder and progress, and
 * calls the command that was asked for.
 */
#include "cli/learn.h"

#include "base/text.h"
#include "cli/families.h"
#include "gpu/gpu.h"
#include "host/files.h"
#include "learn/learner.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep learn                  go on where you are: grades your file on every save\n"
    "       lockstep learn COMMAND ...\n"
    "\n"
    "  ready              can you begin, and where: looks at this machine, asks eight questions\n"
    "  init DIR           begin: makes a folder of yours for the exercises\n"
    "  list               lessons and exercises, and what is solved\n"
    "  start NAME         go to a lesson or an exercise: day4, add, week1/day4_first_kernel/add\n"
    "  check [NAME]       grade your file now\n"
    "  hint [NAME]        the next of three hints: the concept, the line, the change\n"
    "  solution [NAME]    ours\n"
    "  reset [NAME]       the exercise as it was given; yours is kept beside it\n"
    "  quiz [NAME]        the lesson's questions; --answer 2,1,3 answers without a terminal,\n"
    "                     --answer 3:2 only the third\n"
    "  progress           what you have done, and what comes next\n"
    "  kata [NAME]        today's small exercise, on an empty page\n"
    "  note [TEXT]        adds to today's page of your notebook, with the last verdict\n"
    "  picture [NAME]     what the first warp of your kernel touched in memory\n"
    "  notebooks DIR      the lessons as Jupyter notebooks (docs/notebooks.md)\n"
    "  check-course [NAME]  proves the lessons themselves; --mutate puts mistakes into the\n"
    "                     solutions, one at a time, and proves that they are caught;\n"
    "                     --mutate-some takes the first of each kind\n"
    "  strides SHAPE ...  predicts shape and strides of a reshaped tensor: view or copy, and why\n"
    "\n"
    "  --json             the same for programs\n"
    "  --gpu sim:NAME     the simulated GPU (default sim:h200)\n"
    "  --gpu cuda:0       what is right there runs on this machine's GPU too, and is timed\n"
    "  --file FILE        check, picture: grade this file in place of yours\n"
    "  --run              with --json: also the trace and the profile of the graded run\n"
    "  --solutions        notebooks: with our solutions, for teachers\n"
    "  --force            notebooks: write those anew that you changed; yours are kept beside "
    "them\n"
    "  --folder DIR       another folder of exercises than that of 'init'\n"
    "  --compiler NAME    clang or nvcc; default: clang if it is there, which is faster\n"
    "  --seconds N        the most that a compiler (30) or a kernel (20) may take\n"
    "  --memory MIB       the same for memory (2048 and 1024)\n"
    "\n"
    "Exercises are broken on purpose: mending them is the course. Your files are only ever "
    "written\n"
    "by you, by 'init' and by 'reset'. Progress is kept in $LOCKSTEP_PROGRESS, by default\n"
    "~/.local/share/lockstep/progress.db. docs/learn.md says how lessons are made and graded.\n"
    "\n"
    "The exit status of 'check' and 'check-course' is 1 if something fails.\n"
    "\n"
    "examples:\n"
    "  lockstep learn init ~/gpu-course\n"
    "  lockstep learn\n"
    "  lockstep learn check add --json\n";

/* Words -----------------------------------------------------------------------------------------*/

/* A real GPU runs what the simulated one, which has the checker and the counters, found right. */
static bool choose_gpu(struct learn_session *session, const char *gpu)
{
    char name[FAMILIES_GPU];
    if (strcmp(gpu, "cpu") == 0) {
        host_error("a GPU is sim:NAME or cuda:N, as in --gpu sim:h200, not 'cpu'");
        return false;
    }
    if (!families_gpu(gpu, name))
        return false;
    bool real = strncmp(name, "cuda:", 5) == 0;
    session->grader.gpu = real ? "sim:h200" : lk_arena_printf(session->arena, "%s", name);
    session->grader.real = real ? lk_arena_printf(session->arena, "%s", name) : NULL;
    return true;
}

static bool choose_compiler(struct learn_session *session, const char *name)
{
    if (name && strcmp(name, "clang") != 0 && strcmp(name, "nvcc") != 0) {
        host_error("--compiler is clang or nvcc, not '%s'", name);
        return false;
    }
    /* clang takes a tenth of nvcc's time, which is most of a verdict. */
    struct toolchain_compiler found = toolchain_find_compiler(session->arena, name, "clang");
    session->grader.compiler = found.path;
    session->grader.is_nvcc = found.path && found.is_nvcc;
    session->grader.c_compiler =
        found.path && !found.is_nvcc ? found.path : toolchain_find_clang(session->arena);
    return true;
}

bool learn_need_compiler(struct learn_session *session)
{
    if (!session->grader.compiler)
        host_error("there is no compiler for kernels here: 'apt install clang-19' gets one; no GPU "
                   "and no NVIDIA software are needed");
    return session->grader.compiler != NULL;
}

static bool read_limit(const char *option, const char *text, unsigned most, unsigned *limit)
{
    unsigned long long number;
    if (!cli_number(option, text, most, &number))
        return false;
    if (number == 0)
        host_error("%s counts from 1", option);
    *limit = (unsigned)number;
    return number > 0;
}

static bool parse(struct learn_session *session, int count, char **words)
{
    const char *gpu = "sim:h200", *compiler = NULL, *seconds = NULL, *mib = NULL;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json")) {
            session->json = true;
        } else if (cli_flag(words, &at, "--mutate")) {
            session->mutate = LEARN_ALL_MUTANTS;
        } else if (cli_flag(words, &at, "--mutate-some")) {
            session->mutate = LEARN_SOME_MUTANTS;
        } else if (cli_option(count, words, &at, "--gpu", &gpu)) {
            if (!gpu)
                return false;
        } else if (cli_option(count, words, &at, "--compiler", &compiler)) {
            if (!compiler)
                return false;
        } else if (cli_option(count, words, &at, "--folder", &session->folder)) {
            if (!session->folder)
                return false;
        } else if (cli_option(count, words, &at, "--seconds", &seconds)) {
            if (!seconds || !read_limit("--seconds", seconds, 3600, &session->grader.seconds))
                return false;
        } else if (cli_option(count, words, &at, "--memory", &mib)) {
            if (!mib || !read_limit("--memory", mib, 1 << 20, &session->grader.mib))
                return false;
        } else if (cli_option(count, words, &at, "--answer", &session->answers)) {
            if (!session->answers)
                return false;
        } else if (cli_option(count, words, &at, "--file", &session->file)) {
            if (!session->file)
                return false;
        } else if (cli_flag(words, &at, "--run")) {
            session->with_run = true;
        } else if (cli_flag(words, &at, "--force")) {
            session->force = true;
        } else if (cli_flag(words, &at, "--solutions")) {
            session->solutions = true;
        } else if (words[at][0] == '-') {
            host_error("there is no option '%s' here; see 'lockstep learn --help'", words[at]);
            return false;
        } else if (session->word_count == 2) {
            host_error("'%s' is one word too many", words[at]);
            return false;
        } else {
            session->words[session->word_count++] = words[at++];
        }
    }
    return choose_gpu(session, gpu) && choose_compiler(session, compiler);
}

/* Opening ---------------------------------------------------------------------------------------*/

static bool open_course(struct learn_session *session)
{
    char *message;
    const char *folder = toolchain_find_folder(session->arena, "LOCKSTEP_COURSE", "/../course",
                                               "/../share/lockstep/course");
    session->grader.self = host_program();
    if (!folder) {
        host_error("the course is not beside lockstep; LOCKSTEP_COURSE says where it is");
        return false;
    }
    if (learn_course_open(folder, &session->course, &message))
        return true;
    host_error("%s", message);
    free(message);
    return false;
}

static bool open_progress(struct learn_session *session)
{
    char *message = NULL, *path = learn_progress_path();
    if (!path) {
        host_error("there is no home folder for the progress; set LOCKSTEP_PROGRESS to a file");
        return false;
    }
    session->progress = learn_progress_open(path, &message);
    if (!session->progress)
        host_error("%s: progress cannot be kept there; LOCKSTEP_PROGRESS names another file",
                   message);
    free(message);
    free(path);
    if (session->progress && !session->folder) {
        char *folder = learn_progress_get(session->progress, "folder");
        session->folder = folder ? lk_arena_printf(session->arena, "%s", folder) : NULL;
        free(folder);
    }
    return session->progress != NULL;
}

bool learn_open(struct learn_session *session, const char *gpu, const char *compiler)
{
    return choose_gpu(session, gpu) && choose_compiler(session, compiler) && open_course(session) &&
           open_progress(session);
}

bool learn_need_folder(const struct learn_session *session)
{
    if (!session->folder)
        host_error("you have no folder for the exercises yet: 'lockstep learn init DIR' makes one");
    return session->folder != NULL;
}

/* Exercises -------------------------------------------------------------------------------------*/

bool learn_choose(struct learn_session *session, const struct learn_exercise **exercise)
{
    const struct learn_lesson *lesson;
    char *message;
    if (session->word_count < 2) {
        *exercise = learner_current(&session->course, session->progress);
        if (!*exercise)
            host_error("this course has no exercises");
        return *exercise != NULL;
    }
    if (!learn_course_find(&session->course, session->words[1], &lesson, exercise, &message)) {
        host_error("%s", message);
        free(message);
        return false;
    }
    if (!*exercise)
        *exercise = learner_first_open(lesson, session->progress);
    if (!*exercise)
        host_error("%s has no exercises; 'lockstep learn quiz %s' has questions", lesson->id,
                   session->words[1]);
    return *exercise != NULL;
}

const struct learn_exercise *learn_next(struct learn_session *session,
                                        const struct learn_exercise *exercise)
{
    return learner_next(&session->course, session->progress, exercise);
}

void learn_set_current(struct learn_session *session, const struct learn_exercise *exercise)
{
    if (!exercise->is_kata &&
        !learn_progress_set(session->progress, "current", learn_key(exercise)))
        host_error("remark: your place is not kept: %s", learn_progress_error(session->progress));
}

/* Commands --------------------------------------------------------------------------------------*/

static const char *graded_file(const struct learn_session *session,
                               const struct learn_exercise *exercise)
{
    return session->file ? session->file : learn_file(session, exercise);
}

/* A file or a folder to grade from, an exercise, a compiler. */
static bool ready_to_grade(struct learn_session *session, const struct learn_exercise **exercise)
{
    if (session->file && access(session->file, R_OK) != 0) {
        host_error("%s: %s", session->file, strerror(errno));
        return false;
    }
    return (session->file || learn_need_folder(session)) && learn_choose(session, exercise) &&
           learn_need_compiler(session);
}

int learn_check_one(struct learn_session *session, const struct learn_exercise *exercise,
                    char **picture)
{
    struct learn_verdict verdict;
    const char *path = graded_file(session, exercise);
    char *remark;
    learner_check(&session->grader, session->progress, exercise, path, learn_shown(session, path),
                  &verdict, &remark);
    if (remark)
        host_error("remark: %s", remark);
    free(remark);
    if (picture) {
        *picture = verdict.picture;
        verdict.picture = NULL;
    }
    learn_print_verdict(session, exercise, path, &verdict);
    int status = verdict.stage == LEARN_PASSED ? CLI_OK : CLI_FINDINGS;
    learn_verdict_free(&verdict);
    return status;
}

static int check(struct learn_session *session)
{
    const struct learn_exercise *exercise;
    if (!ready_to_grade(session, &exercise))
        return CLI_USAGE;
    if (!session->file)
        learn_set_current(session, exercise);
    learn_catch_interrupts(session);
    return learn_check_one(session, exercise, NULL);
}

static int start(struct learn_session *session)
{
    const struct learn_exercise *exercise;
    if (!learn_need_folder(session) || !learn_choose(session, &exercise) ||
        !learn_lay_out(session, exercise))
        return CLI_USAGE;
    learn_set_current(session, exercise);
    learn_print_place(session, exercise);
    return CLI_OK;
}

static int picture(struct learn_session *session)
{
    const struct learn_exercise *exercise;
    struct learn_verdict verdict;
    if (!ready_to_grade(session, &exercise))
        return CLI_USAGE;
    const char *path = graded_file(session, exercise);
    learn_grade(&session->grader, exercise, path, learn_shown(session, path), &verdict);
    if (session->json)
        learn_print_verdict(session, exercise, path, &verdict);
    else
        fputs(verdict.picture ? verdict.picture : verdict.text, stdout);
    int status = verdict.picture ? CLI_OK : CLI_FINDINGS;
    learn_verdict_free(&verdict);
    return status;
}

static int solution(struct learn_session *session)
{
    const struct learn_exercise *exercise;
    char *message;
    if (!learn_choose(session, &exercise))
        return CLI_USAGE;
    char *text = host_read_text(learn_path(exercise, learn_solution(exercise)), &message);
    if (!text) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    learn_progress_look(session->progress, exercise, "solution");
    if (session->json)
        learn_print_json(json_pack("{ss ss}", "exercise", learn_key(exercise), "solution", text));
    else
        fputs(text, stdout);
    free(text);
    return CLI_OK;
}

static int go_on(struct learn_session *session)
{
    const struct learn_exercise *exercise;
    if (!session->folder && !session->json) {
        printf("Welcome. Here you learn to write GPU kernels by writing them; no GPU is needed.\n"
               "Exercises are broken on purpose: you mend them, and every save is graded.\n\n"
               "Begin with:  lockstep learn init ~/gpu-course\n");
        return CLI_OK;
    }
    if (!learn_need_folder(session) || !learn_choose(session, &exercise) ||
        !learn_lay_out(session, exercise))
        return CLI_USAGE;
    learn_set_current(session, exercise);
    if (!session->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return learn_need_compiler(session) ? learn_watch(session) : CLI_USAGE;
    learn_print_place(session, exercise);
    return CLI_OK;
}

/* The worker ------------------------------------------------------------------------------------*/

/* learn grade-worker LESSON_FOLDER EXERCISE PTX GPU RESULT: the grader's own, see learn/worker.c.
 */
static int worker(int count, char **words)
{
    char *message = NULL;
    int status = CLI_USAGE;
    if (count != 5)
        return CLI_USAGE;
    struct learn_lesson *lesson = learn_lesson_read(words[0], "lesson", &message);
    if (!lesson) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        if (strcmp(lesson->exercise[i].name, words[1]) == 0 &&
            learn_worker(&lesson->exercise[i], words[2], words[3], words[4]))
            status = CLI_OK;
    learn_lesson_free(lesson);
    return status;
}

/* Which command ---------------------------------------------------------------------------------*/

static const struct command {
    const char *name;
    int (*run)(struct learn_session *session);
} commands[] = {{"init", learn_init},
                {"list", learn_list},
                {"start", start},
                {"check", check},
                {"hint", learn_hint},
                {"solution", solution},
                {"reset", learn_reset},
                {"quiz", learn_quiz},
                {"note", learn_note},
                {"progress", learn_show_progress},
                {"picture", picture},
                {"kata", learn_kata},
                {"ready", learn_ready},
                {"check-course", learn_check_course},
                {"notebooks", learn_notebooks}};
#define COMMANDS (sizeof commands / sizeof commands[0])

static const struct command *find_command(const char *name)
{
    struct lk_guess guess = {.wanted = name, .distance = 3};
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        lk_guess_try(&guess, commands[i].name);
    }
    if (guess.nearest)
        host_error("'learn' has no command '%s'; did you mean '%s'?", name, guess.nearest);
    else
        host_error("'learn' has no command '%s'; 'lockstep learn --help' lists them", name);
    return NULL;
}

/* Options that only some commands take. */
static bool options_fit(const struct learn_session *session, const struct command *command)
{
    bool grades = command && (command->run == check || command->run == picture);
    bool writes = command && command->run == learn_notebooks;
    if (session->file && !grades)
        host_error("--file goes with 'check' and 'picture'");
    else if (session->with_run && !(grades && session->json))
        host_error("--run goes with 'check --json' and 'picture --json'");
    else if ((session->force || session->solutions) && !writes)
        host_error("%s goes with 'notebooks'", session->force ? "--force" : "--solutions");
    else
        return true;
    return false;
}

static int run(int count, char **words)
{
    struct learn_session session = {0};
    const struct command *command = NULL;
    int status = CLI_USAGE;
    if (count > 0 && strcmp(words[0], "grade-worker") == 0)
        return worker(count - 1, words + 1);
    if (count > 0 && strcmp(words[0], "strides") == 0)
        return learn_strides(count - 1, words + 1);
    session.arena = lk_arena_create();
    bool fine = parse(&session, count, words);
    if (fine && session.word_count > 0)
        fine = (command = find_command(session.words[0])) != NULL;
    fine =
        fine && options_fit(&session, command) && open_course(&session) && open_progress(&session);
    if (fine)
        status = command ? command->run(&session) : go_on(&session);
    learn_progress_close(session.progress);
    learn_course_free(&session.course);
    lk_arena_destroy(session.arena);
    return status;
}

const struct cli_command cli_learn = {"learn", "the course: learn to write GPU kernels", help, run};
