/*
 * learn.c: lockstep learn: the course. Reads the words and calls the command that was asked for.
 */
#include "cli/learn.h"
#include "toolchain/nvrtc.h"

#include "base/text.h"

#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep learn                  go on where you are: grades your file on every save\n"
    "       lockstep learn COMMAND ...\n"
    "\n"
    "  ready              can you begin, and where: looks at this machine, asks eight questions\n"
    "  init DIR           begin: make your own folder for the exercises\n"
    "  language [c|python]  what exercises are in: C and CUDA C, or Python (NumPy, CuPy, then\n"
    "                     Triton); change it any day, what is solved stays solved\n"
    "  list               lessons and exercises, and what is solved\n"
    "  start NAME         go to a lesson or an exercise: day4, add, week1/day4_first_kernel/add\n"
    "  check [NAME]       grade your file now\n"
    "  hint [NAME]        the next of three hints: the concept, the line, the change\n"
    "  solution [NAME]    our solution\n"
    "  reset [NAME]       the exercise as it was given; yours is kept beside it\n"
    "  quiz [NAME]        the lesson's questions; --answer 2,1,3 answers without a terminal,\n"
    "                     --answer 3:2 only the third\n"
    "  progress           what you have done, and what comes next\n"
    "  kata [NAME]        today's small exercise, on an empty page\n"
    "  note [TEXT]        adds to today's page of your notebook, with the last verdict\n"
    "  picture [NAME]     what the first warp of your kernel touched in memory\n"
    "  notebooks DIR      the lessons as Jupyter notebooks, in your language (docs/notebooks.md)\n"
    "  site DIR           lessons and interactives as web pages that need no server\n"
    "  check-course [NAME]  proves the lessons themselves; --mutate puts mistakes into the\n"
    "                     solutions, one at a time, and proves that they are caught;\n"
    "                     --mutate-some takes the first of each kind; --figures writes what\n"
    "                     the solutions cost into figures.json; --python: the exercises in Python\n"
    "  strides SHAPE ...  predicts shape and strides of a reshaped tensor: view or copy, and why\n"
    "\n"
    "  --json             print JSON\n"
    "  --gpu sim:NAME     the simulated GPU (default sim:h200)\n"
    "  --gpu cuda:0       also run correct kernels on this machine's GPU, and time them\n"
    "  --file FILE        check, picture: grade this file in place of yours; it does not count as\n"
    "                     an attempt of yours unless --keep is there too\n"
    "  --seed N           check: draw the hidden sizes and values as that verdict did\n"
    "  --run              with --json: also the trace and the profile of the graded run\n"
    "  --solutions        notebooks: with our solutions, for teachers\n"
    "  --force            notebooks: also write those that you changed; yours are kept beside "
    "them\n"
    "  --folder DIR       a folder of exercises other than that of 'init'\n"
    "  --compiler NAME    clang, nvcc or nvrtc; default: clang if it is there, else nvcc\n"
    "  --seconds N        the most that a compiler (30) or a kernel (20) may take\n"
    "  --memory MIB       the same for memory (2048 and 1024)\n"
    "\n"
    "Exercises are broken on purpose: fixing them is the course. Your files are only ever "
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

static bool read_limit(const char *option, const char *text, unsigned most, unsigned *limit)
{
    unsigned long long number;
    if (!cli_number(option, text, 1, most, &number))
        return false;
    *limit = (unsigned)number;
    return true;
}

static bool parse(struct cli_learn_session *session, int count, char **words)
{
    const char *seconds = NULL, *mib = NULL, *seed = NULL;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json")) {
            session->json = true;
        } else if (cli_flag(words, &at, "--mutate")) {
            session->mutate = CLI_LEARN_ALL_MUTANTS;
        } else if (cli_flag(words, &at, "--mutate-some")) {
            session->mutate = CLI_LEARN_SOME_MUTANTS;
        } else if (cli_option(count, words, &at, "--gpu", &session->gpu)) {
            if (!session->gpu)
                return false;
        } else if (cli_option(count, words, &at, "--compiler", &session->compiler)) {
            if (!session->compiler)
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
        } else if (cli_option(count, words, &at, "--seed", &seed)) {
            unsigned number;
            if (!seed || !read_limit("--seed", seed, UINT32_MAX, &number))
                return false;
            session->grader.seed = number;
        } else if (cli_option(count, words, &at, "--answer", &session->answers)) {
            if (!session->answers)
                return false;
        } else if (cli_option(count, words, &at, "--file", &session->file)) {
            if (!session->file)
                return false;
        } else if (cli_flag(words, &at, "--keep")) {
            session->keep = true;
        } else if (cli_flag(words, &at, "--figures")) {
            session->figures = true;
        } else if (cli_flag(words, &at, "--python")) {
            session->python = true;
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
    return true;
}

/* Which command ---------------------------------------------------------------------------------*/

static int go_on(struct cli_learn_session *session)
{
    const struct learn_exercise *exercise;
    if (!session->folder && !session->json) {
        host_say("Welcome. Here you learn to write GPU kernels by writing them; no GPU is needed.\n"
                 "Exercises are broken on purpose: you fix them, and every save is graded.\n\n"
                 "Begin with:  lockstep learn init ~/gpu-course\n");
        return CLI_OK;
    }
    if (!cli_learn_need_folder(session) || !cli_learn_choose(session, &exercise) ||
        !cli_learn_lay_out(session, exercise))
        return CLI_USAGE;
    cli_learn_set_current(session, exercise);
    if (!session->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return exercise->is_python || cli_learn_need_compiler(session) ? cli_learn_watch(session)
                                                                       : CLI_USAGE;
    cli_learn_print_place(session, exercise);
    return CLI_OK;
}

static const struct command {
    const char *name;
    int (*run)(struct cli_learn_session *session);
} commands[] = {{"init", cli_learn_init},
                {"list", cli_learn_list},
                {"start", cli_learn_start},
                {"check", cli_learn_check},
                {"hint", cli_learn_hint},
                {"solution", cli_learn_solution},
                {"reset", cli_learn_reset},
                {"quiz", cli_learn_quiz},
                {"note", cli_learn_note},
                {"progress", cli_learn_show_progress},
                {"picture", cli_learn_picture},
                {"kata", cli_learn_kata},
                {"language", cli_learn_language},
                {"ready", cli_learn_ready},
                {"check-course", cli_learn_check_course},
                {"notebooks", cli_learn_notebooks},
                {"site", cli_learn_site}};
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
static bool options_fit(const struct cli_learn_session *session, const struct command *command)
{
    bool grades = command && (command->run == cli_learn_check || command->run == cli_learn_picture);
    bool writes = command && command->run == cli_learn_notebooks;
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
    struct cli_learn_session session = {.gpu = "sim:h200"};
    const struct command *command = NULL;
    int status = CLI_USAGE;
    if (count > 0 && strcmp(words[0], "grade-worker") == 0)
        return cli_learn_grade_worker(count - 1, words + 1);
    if (count > 0 && strcmp(words[0], "nvrtc-worker") == 0)
        return toolchain_nvrtc_worker(count - 1, words + 1);
    if (count > 0 && strcmp(words[0], "strides") == 0)
        return cli_learn_strides(count - 1, words + 1);
    session.arena = lk_arena_create();
    bool fine = parse(&session, count, words);
    if (fine && session.word_count > 0)
        fine = (command = find_command(session.words[0])) != NULL;
    fine = fine && options_fit(&session, command) && cli_learn_open(&session);
    if (fine)
        status = command ? command->run(&session) : go_on(&session);
    cli_learn_close(&session);
    return status;
}

const struct cli_command cli_learn = {"learn", "the course: learn to write GPU kernels", help, run};
