/*
 * learn.c: lockstep learn: the course. Finds the lessons, the learner's folder and progress, and
 * calls the command that was asked for.
 */
#include "cli/learn.h"

#include "cli/families.h"
#include "gpu/gpu.h"
#include "learn/learner.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep learn                  go on where you are: grades your file on every save\n"
    "       lockstep learn COMMAND ...\n"
    "\n"
    "  init DIR           begin: makes a folder of yours for the exercises\n"
    "  list               lessons and exercises, and what is solved\n"
    "  start NAME         go to a lesson or an exercise: day4, add, week1/day4_first_kernel/add\n"
    "  check [NAME]       grade your file now\n"
    "  hint [NAME]        the next of three hints: the concept, the line, the change\n"
    "  solution [NAME]    ours\n"
    "  reset [NAME]       the exercise as it was given; yours is kept beside it\n"
    "  quiz [NAME]        the lesson's questions; --answer 2,1,3 answers without a terminal\n"
    "  progress           what you have done, and what comes next\n"
    "  note [TEXT]        adds to today's page of your notebook, with the last verdict\n"
    "  picture [NAME]     what the first warp of your kernel touched in memory\n"
    "  check-course [NAME]  proves the lessons themselves\n"
    "\n"
    "  --json             the same for programs\n"
    "  --gpu sim:NAME     the simulated GPU (default sim:h200)\n"
    "  --folder DIR       another folder of exercises than that of 'init'\n"
    "  --compiler NAME    clang or nvcc; default: clang if it is there, which is faster\n"
    "\n"
    "Exercises are broken on purpose: mending them is the course. Your files are only ever written\n"
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

static bool choose_gpu(struct learn_session *session, const char *gpu)
{
    char name[FAMILIES_GPU];
    if (!gpu || strncmp(gpu, "sim:", 4) != 0) {
        cli_error("the course runs on a simulated GPU, as in --gpu sim:h200");
        return false;
    }
    if (!families_gpu(gpu, name))
        return false;
    session->grader.gpu = lk_arena_printf(session->arena, "%s", name);
    return true;
}

static bool choose_compiler(struct learn_session *session, const char *name)
{
    static const char *const clangs[] = {"clang-19", "clang-21", "clang-20", "clang-18",
                                         "clang-17", "clang-16", "clang"};
    if (name && strcmp(name, "clang") != 0 && strcmp(name, "nvcc") != 0) {
        cli_error("--compiler is clang or nvcc, not '%s'", name);
        return false;
    }
    bool clang = !name || strcmp(name, "clang") == 0;
    for (size_t i = 0; i < sizeof clangs / sizeof *clangs; i++)
        if (!session->grader.c_compiler)
            session->grader.c_compiler = cli_find_program(session->arena, clangs[i]);
    session->grader.compiler = clang ? session->grader.c_compiler : NULL;
    if (session->grader.compiler || (name && clang))
        return true;
    session->grader.compiler = cli_find_nvcc(session->arena);
    session->grader.is_nvcc = session->grader.compiler != NULL;
    return true;
}

bool learn_need_compiler(struct learn_session *session)
{
    if (!session->grader.compiler)
        cli_error("there is no compiler for kernels here: 'apt install clang-19' gets one; no GPU "
                  "and no NVIDIA software are needed");
    return session->grader.compiler != NULL;
}

static bool parse(struct learn_session *session, int count, char **words)
{
    const char *gpu = "sim:h200", *compiler = NULL;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json")) {
            session->json = true;
        } else if (cli_option(count, words, &at, "--gpu", &gpu)) {
            if (!gpu)
                return false;
        } else if (cli_option(count, words, &at, "--compiler", &compiler)) {
            if (!compiler)
                return false;
        } else if (cli_option(count, words, &at, "--folder", &session->folder)) {
            if (!session->folder)
                return false;
        } else if (cli_option(count, words, &at, "--answer", &session->answers)) {
            if (!session->answers)
                return false;
        } else if (words[at][0] == '-') {
            cli_error("there is no option '%s' here; see 'lockstep learn --help'", words[at]);
            return false;
        } else if (session->word_count == 2) {
            cli_error("'%s' is one word too many", words[at]);
            return false;
        } else {
            session->words[session->word_count++] = words[at++];
        }
    }
    return choose_gpu(session, gpu) && choose_compiler(session, compiler);
}

/* Opening ---------------------------------------------------------------------------------------*/

static const char *self_path(void)
{
    static char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    return self;
}

static bool open_course(struct learn_session *session)
{
    char *message;
    const char *folder = cli_find_folder(session->arena, "LOCKSTEP_COURSE", "/../course",
                                         "/../share/lockstep/course");
    session->grader.self = self_path();
    if (!folder) {
        cli_error("the course is not beside lockstep; LOCKSTEP_COURSE says where it is");
        return false;
    }
    if (learn_course_open(folder, &session->course, &message))
        return true;
    cli_error("%s", message);
    free(message);
    return false;
}

static bool open_progress(struct learn_session *session)
{
    char *message = NULL, *path = learn_progress_path();
    if (!path) {
        cli_error("there is no home folder for the progress; set LOCKSTEP_PROGRESS to a file");
        return false;
    }
    session->progress = learn_progress_open(path, &message);
    if (!session->progress)
        cli_error("%s: progress cannot be kept there; LOCKSTEP_PROGRESS names another file",
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
    return choose_gpu(session, gpu) && choose_compiler(session, compiler) &&
           open_course(session) && open_progress(session);
}

bool learn_need_folder(const struct learn_session *session)
{
    if (!session->folder)
        cli_error("you have no folder for the exercises yet: 'lockstep learn init DIR' makes one");
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
            cli_error("this course has no exercises");
        return *exercise != NULL;
    }
    if (!learn_course_find(&session->course, session->words[1], &lesson, exercise, &message)) {
        cli_error("%s", message);
        free(message);
        return false;
    }
    if (!*exercise)
        *exercise = learner_first_open(lesson, session->progress);
    if (!*exercise)
        cli_error("%s has no exercises; 'lockstep learn quiz %s' has questions", lesson->id,
                  session->words[1]);
    return *exercise != NULL;
}

const struct learn_exercise *learn_next(const struct learn_session *session,
                                        const struct learn_exercise *exercise)
{
    return learner_next(&session->course, exercise);
}

void learn_set_current(struct learn_session *session, const struct learn_exercise *exercise)
{
    if (!learn_progress_set(session->progress, "current", learn_key(exercise)))
        cli_error("remark: your place is not kept: %s", learn_progress_error(session->progress));
}

/* Commands --------------------------------------------------------------------------------------*/

int learn_check_one(struct learn_session *session, const struct learn_exercise *exercise,
                    char **picture)
{
    struct learn_verdict verdict;
    const char *path = learn_file(session, exercise);
    char *remark;
    learner_check(&session->grader, session->progress, exercise, path, learn_shown(session, path),
                  &verdict, &remark);
    if (remark)
        cli_error("remark: %s", remark);
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
    if (!learn_need_folder(session) || !learn_choose(session, &exercise) ||
        !learn_need_compiler(session))
        return CLI_USAGE;
    learn_set_current(session, exercise);
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
    if (!learn_need_folder(session) || !learn_choose(session, &exercise) ||
        !learn_need_compiler(session))
        return CLI_USAGE;
    const char *path = learn_file(session, exercise);
    learn_grade(&session->grader, exercise, path, learn_shown(session, path), &verdict);
    if (session->json)
        learn_print_json(learn_verdict_json(&verdict));
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
    char *text = learn_read_file(learn_path(exercise, learn_solution(exercise)), &message);
    if (!text) {
        cli_error("%s", message);
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

/* The course itself -----------------------------------------------------------------------------*/

static void note_audit(void *context, const char *what, const char *why)
{
    struct learn_session *session = context;
    if (session->json)
        return;
    printf("%s%s%s %s\n", cli_style(stdout, why ? CLI_RED : CLI_GREEN), why ? "not ok" : "ok",
           cli_style(stdout, CLI_PLAIN), what);
    if (why)
        printf("    %s%s", why, *why && why[strlen(why) - 1] == '\n' ? "" : "\n");
    fflush(stdout);
}

static int check_course(struct learn_session *session)
{
    const struct learn_lesson *only = NULL;
    const struct learn_exercise *exercise;
    unsigned bad = 0;
    char *message;
    if (!learn_need_compiler(session))
        return CLI_USAGE;
    if (session->word_count > 1 &&
        !learn_course_find(&session->course, session->words[1], &only, &exercise, &message)) {
        cli_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    for (unsigned i = 0; i < session->course.count; i++)
        if (!only || only == session->course.lesson[i])
            bad += learn_audit(&session->grader, session->course.lesson[i], note_audit, session);
    if (session->json)
        learn_print_json(json_pack("{sb si}", "sound", bad == 0, "failed", (int)bad));
    else
        printf("%u lesson%s, %u thing%s to mend\n", only ? 1 : session->course.count,
               only || session->course.count == 1 ? "" : "s", bad, bad == 1 ? "" : "s");
    return bad ? CLI_FINDINGS : CLI_OK;
}

/* learn grade-worker LESSON_FOLDER EXERCISE PTX GPU RESULT: the grader's own, see learn/worker.c. */
static int worker(int count, char **words)
{
    char *message = NULL;
    int status = CLI_USAGE;
    if (count != 5)
        return CLI_USAGE;
    struct learn_lesson *lesson = learn_lesson_read(words[0], "lesson", &message);
    if (!lesson) {
        cli_error("%s", message);
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
} commands[] = {{"init", learn_init},     {"list", learn_list},
                {"start", start},         {"check", check},
                {"hint", learn_hint},     {"solution", solution},
                {"reset", learn_reset},   {"quiz", learn_quiz},
                {"note", learn_note},     {"progress", learn_show_progress},
                {"picture", picture},     {"check-course", check_course}};
#define COMMANDS (sizeof commands / sizeof commands[0])

static const struct command *find_command(const char *name)
{
    const struct command *nearest = NULL;
    unsigned least = 3;
    for (size_t i = 0; i < COMMANDS; i++) {
        unsigned distance = gpu_edit_distance(name, commands[i].name);
        if (distance == 0)
            return &commands[i];
        if (distance < least) {
            least = distance;
            nearest = &commands[i];
        }
    }
    if (nearest)
        cli_error("'learn' has no command '%s'; did you mean '%s'?", name, nearest->name);
    else
        cli_error("'learn' has no command '%s'; 'lockstep learn --help' lists them", name);
    return NULL;
}

static int run(int count, char **words)
{
    struct learn_session session = {0};
    const struct command *command = NULL;
    int status = CLI_USAGE;
    if (count > 0 && strcmp(words[0], "grade-worker") == 0)
        return worker(count - 1, words + 1);
    session.arena = lk_arena_create();
    bool fine = parse(&session, count, words);
    if (fine && session.word_count > 0)
        fine = (command = find_command(session.words[0])) != NULL;
    fine = fine && open_course(&session) && open_progress(&session);
    if (fine)
        status = command ? command->run(&session) : go_on(&session);
    learn_progress_close(session.progress);
    learn_course_free(&session.course);
    lk_arena_destroy(session.arena);
    return status;
}

const struct cli_command cli_learn = {"learn", "the course: learn to write GPU kernels", help, run};
