/*
 * learn_session.c: what the commands of 'lockstep learn' need: the course, the learner's
 * progress and folder, a compiler and a GPU, and the exercise that is meant.
 */
#include "cli/client.h"
#include "cli/learn.h"
#include "cli/target.h"
#include "host/files.h"
#include "learn/learner.h"

#include <stdlib.h>
#include <string.h>

/* A real GPU runs what the simulated one, which has the checker and the counters, found right. */
static bool choose_gpu(struct cli_learn_session *session, const char *gpu)
{
    char name[TARGET_NAME];
    if (strcmp(gpu, "cpu") == 0) {
        host_error("a GPU is sim:NAME or cuda:N, as in --gpu sim:h200, not 'cpu'");
        return false;
    }
    if (!target_choose(gpu, name))
        return false;
    bool real = strncmp(name, "cuda:", 5) == 0;
    session->grader.gpu = real ? "sim:h200" : lk_arena_printf(session->arena, "%s", name);
    session->grader.real = real ? lk_arena_printf(session->arena, "%s", name) : NULL;
    return true;
}

static bool choose_compiler(struct cli_learn_session *session, const char *name)
{
    if (name && strcmp(name, "clang") != 0 && strcmp(name, "nvcc") != 0 &&
        strcmp(name, "nvrtc") != 0) {
        host_error("--compiler is clang, nvcc or nvrtc, not '%s'", name);
        return false;
    }
    /* clang takes a tenth of nvcc's time, which is most of a verdict. */
    struct toolchain_compiler found = toolchain_find_compiler(session->arena, name, "clang");
    session->grader.compiler = found.path;
    session->grader.is_nvcc = found.path && found.is_nvcc;
    session->grader.is_nvrtc = found.path && found.is_nvrtc;
    session->grader.headers = found.headers;
    session->grader.c_compiler = found.path && !found.is_nvcc && !found.is_nvrtc
                                     ? found.path
                                     : toolchain_find_clang(session->arena);
    session->grader.python = client_python(session->arena);
    session->grader.python_folder =
        toolchain_find_folder(session->arena, "LOCKSTEP_PACKAGE", "/../python/lockstep",
                              "/../share/lockstep/python/lockstep");
    return true;
}

bool cli_learn_need_compiler(struct cli_learn_session *session)
{
    if (!session->grader.compiler && session->compiler && !strcmp(session->compiler, "nvrtc"))
        host_error(
            "there is no libnvrtc here: 'pip install nvidia-cuda-nvrtc', NVIDIA's CUDA toolkit, or "
            "$NVRTC, which names the library");
    else if (!session->grader.compiler)
        host_error("there is no compiler for kernels here: 'apt install clang-19' gets one; no GPU "
                   "and no NVIDIA software are needed");
    return session->grader.compiler != NULL;
}

static bool open_course(struct cli_learn_session *session)
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

static bool open_progress(struct cli_learn_session *session)
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
    if (session->progress) {
        char *language = learn_progress_get(session->progress, "language");
        learn_course_speak(&session->course, language && strcmp(language, "python") == 0);
        free(language);
    }
    return session->progress != NULL;
}

bool cli_learn_open(struct cli_learn_session *session)
{
    return choose_gpu(session, session->gpu) && choose_compiler(session, session->compiler) &&
           open_course(session) && open_progress(session);
}

void cli_learn_close(struct cli_learn_session *session)
{
    learn_progress_close(session->progress);
    learn_course_free(&session->course);
    lk_arena_destroy(session->arena);
}

bool cli_learn_need_folder(const struct cli_learn_session *session)
{
    if (!session->folder)
        host_error("you have no folder for the exercises yet: 'lockstep learn init DIR' makes one");
    return session->folder != NULL;
}

bool cli_learn_choose(struct cli_learn_session *session, const struct learn_exercise **exercise)
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

const struct learn_exercise *cli_learn_next(struct cli_learn_session *session,
                                            const struct learn_exercise *exercise)
{
    return learner_next(&session->course, session->progress, exercise);
}

void cli_learn_set_current(struct cli_learn_session *session, const struct learn_exercise *exercise)
{
    if (!exercise->is_kata &&
        !learn_progress_set(session->progress, "current", learn_key(exercise)))
        host_error("remark: your place was not saved: %s", learn_progress_error(session->progress));
}
