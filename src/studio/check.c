/*
 * check.c: saves the learner's text and grades it, as 'lockstep learn check' does:
 * in a child that is that command, so that terminal and studio cannot differ. A newer check of the
 * same exercise ends an older one; no more children run at once than there are cores.
 */
#include "studio/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct studio_job {
    struct studio_job *next;
    const struct learn_exercise *exercise;
    pid_t child; /* 0: not started, or ended */
    bool superseded;
    char *folder, *out, *log; /* what it writes to */
};

/* The child -------------------------------------------------------------------------------------*/

extern char **environ;

/* Our environment with some words in place of others; malloc'd, and so are its first ones. */
static char **make_environment(const struct studio *studio, const struct studio_job *job)
{
    enum { SET = 3 };
    char *set[SET] = {
        lk_say("TMPDIR=%s", job->folder),
        lk_say("LOCKSTEP_COURSE=%s", studio->options.course->folder),
        lk_say("LOCKSTEP_PROGRESS=%s", learn_progress_file(studio->options.progress))};
    size_t count = 0, kept = SET;
    while (environ[count])
        count++;
    char **list = lk_alloc((count + SET + 1) * sizeof *list);
    memcpy(list, set, sizeof set);
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;
        for (unsigned j = 0; j < SET; j++) {
            size_t length = strcspn(set[j], "=") + 1;
            replaced = replaced || strncmp(environ[i], set[j], length) == 0;
        }
        if (!replaced)
            list[kept++] = environ[i];
    }
    list[kept] = NULL;
    return list;
}

static void free_environment(char **list)
{
    for (unsigned i = 0; i < 3; i++)
        free(list[i]);
    free(list);
}

/* Runs in the child, which may only do what a signal's handler may. */
static void become(const char *const *words, char **environment, const struct studio_job *job,
                   const char *folder)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    int in = open("/dev/null", O_RDONLY), out = open(job->out, O_WRONLY | O_CREAT, 0600),
        log = open(job->log, O_WRONLY | O_CREAT, 0600);
    if (in < 0 || out < 0 || log < 0 || chdir(folder) != 0 || dup2(in, STDIN_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    execve(words[0], (char *const *)words, environment);
    _exit(127);
}

/* Its folder is the exercise's, so that the verdict names the file without one. */
static bool start_child(struct studio *studio, struct studio_job *job)
{
    const struct learn_grader *grader = &studio->options.grader;
    const char *const words[] = {grader->self,
                                 "learn",
                                 "check",
                                 job->exercise->key,
                                 "--json",
                                 "--folder",
                                 studio->folder,
                                 "--gpu",
                                 grader->gpu,
                                 "--compiler",
                                 grader->is_nvcc ? "nvcc" : "clang",
                                 NULL};
    char *path = learner_file(studio->folder, job->exercise);
    char **environment = make_environment(studio, job);
    *strrchr(path, '/') = 0;
    job->child = fork();
    if (job->child == 0)
        become(words, environment, job, path);
    if (job->child > 0)
        setpgid(job->child, job->child); /* whoever of the two comes first */
    free_environment(environment);
    free(path);
    bool started = job->child > 0;
    job->child = started ? job->child : 0;
    return started;
}

/* A child that has ended is kept until the lock is held again: its number cannot become another's
 * while somebody may want to end it. */
static void wait_for_child(struct studio *studio, struct studio_job *job)
{
    siginfo_t info;
    pid_t child = job->child;
    pthread_mutex_unlock(&studio->lock);
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&studio->lock);
    waitpid(child, NULL, 0);
    job->child = 0;
}

/* Jobs ------------------------------------------------------------------------------------------*/

static void supersede(struct studio_job *job)
{
    job->superseded = true;
    if (job->child > 0)
        kill(-job->child, SIGKILL);
}

void check_stop(struct studio *studio)
{
    for (struct studio_job *job = studio->jobs; job; job = job->next)
        supersede(job);
    pthread_cond_broadcast(&studio->changed);
}

static void begin_job(struct studio *studio, struct studio_job *job)
{
    for (struct studio_job *other = studio->jobs; other; other = other->next)
        if (other->exercise == job->exercise)
            supersede(other);
    pthread_cond_broadcast(&studio->changed);
    job->folder = lk_say("%s/%u", studio->temporary, studio->serial++);
    job->out = lk_say("%s/out", job->folder);
    job->log = lk_say("%s/log", job->folder);
    job->next = studio->jobs;
    studio->jobs = job;
}

static void end_job(struct studio *studio, struct studio_job *job)
{
    struct studio_job **at = &studio->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    learn_remove_tree(job->folder);
    free(job->folder);
    free(job->out);
    free(job->log);
}

static json_t *broken(const char *format, const char *text)
{
    char *words = lk_say(format, text);
    lk_mend_utf8(words);
    json_t *verdict = json_pack("{sb ss ss si si si s[]}", "passed", 0, "stage", "broken", "text",
                                words, "line", 0, "sizes", 0, "right", 0, "counters");
    free(words);
    return verdict;
}

/* What the child printed, with what it said beside as a remark. */
static json_t *read_verdict(const struct studio_job *job)
{
    char *message = NULL, *log = learn_read_file(job->log, &message);
    json_t *verdict = json_load_file(job->out, 0, NULL);
    if (log)
        lk_mend_utf8(log);
    if (!verdict)
        verdict =
            broken("nothing could be graded: %s", log && *log ? log : "the grader did not run");
    else if (log && *log)
        json_object_set_new(verdict, "remark", json_string(log));
    free(message);
    free(log);
    return verdict;
}

/* The lock is held, and let go while it waits. NULL if a newer check has taken its place. */
static json_t *grade(struct studio *studio, const struct learn_exercise *exercise)
{
    struct studio_job job = {.exercise = exercise};
    unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    json_t *verdict = NULL;
    begin_job(studio, &job);
    while (studio->running >= (cores ? cores : 1) && !job.superseded)
        pthread_cond_wait(&studio->changed, &studio->lock);
    if (!job.superseded && mkdir(job.folder, 0700) != 0) {
        verdict =
            broken("nothing could be graded: no room for temporary files: %s", strerror(errno));
    } else if (!job.superseded && !start_child(studio, &job)) {
        verdict = broken("nothing could be graded: %s", strerror(errno));
    } else if (!job.superseded) {
        studio->running++;
        wait_for_child(studio, &job);
        studio->running--;
        if (!job.superseded)
            verdict = read_verdict(&job);
        pthread_cond_broadcast(&studio->changed);
    }
    end_job(studio, &job);
    return verdict;
}

/* The request -----------------------------------------------------------------------------------*/

static bool is_text(const struct studio_request *request)
{
    char *copy = lk_alloc(request->body_size + 1);
    memcpy(copy, request->body, request->body_size);
    copy[request->body_size] = 0;
    lk_mend_utf8(copy);
    bool same =
        memcmp(copy, request->body, request->body_size) == 0 && strlen(copy) == request->body_size;
    free(copy);
    return same;
}

/* Saves the body over what ?version names. False after a reply was made. */
static bool save(struct studio_request *request, struct studio_reply *reply)
{
    char *there = NULL, *message = NULL, version[LEARNER_VERSION];
    enum learner_saved saved =
        learner_save(request->studio->folder, request->exercise, studio_query(request, "version"),
                     request->body, &there, &message);
    learner_version(there, version);
    if (there)
        lk_mend_utf8(there);
    if (saved == LEARNER_CHANGED)
        reply_json(reply, 409,
                   json_pack("{ss ss ss ss}", "error",
                             "the file has changed on disk since this page read it; nothing was "
                             "written",
                             "version", version, "theirs", there, "yours", request->body));
    else if (saved == LEARNER_FAILED)
        reply_error(reply, 507, "your text is not saved: %s", message);
    free(there);
    free(message);
    return saved == LEARNER_SAVED;
}

/* All that can be wrong with the text itself; false after a reply was made. */
static bool take_text(struct studio_request *request, struct studio_reply *reply)
{
    if (!request->studio->folder)
        reply_error(reply, 409,
                    "you have no folder for the exercises yet; the first page makes one");
    else if (!is_text(request))
        reply_error(reply, 400, "this is no text in UTF-8; nothing was saved");
    else
        return save(request, reply);
    return false;
}

void studio_api_save(struct studio_request *request, struct studio_reply *reply)
{
    char version[LEARNER_VERSION];
    if (!take_text(request, reply))
        return;
    learner_version(request->body, version);
    reply_json(reply, 200,
               json_pack("{ss ss}", "exercise", request->exercise->key, "version", version));
}

void studio_api_check(struct studio_request *request, struct studio_reply *reply)
{
    struct studio *studio = request->studio;
    const struct learn_exercise *exercise = request->exercise;
    char version[LEARNER_VERSION];
    if (!take_text(request, reply))
        return;
    learner_version(request->body, version);
    json_t *verdict =
        studio->options.grader.compiler
            ? grade(studio, exercise)
            : broken("your text is saved, but there is no compiler for kernels here: %s",
                     "'apt install clang-19' gets one; no GPU and no NVIDIA software are needed. "
                     "Then start the studio again.");
    if (!verdict)
        verdict = json_pack("{sb}", "superseded", 1);
    json_object_set_new(verdict, "exercise", json_string(exercise->key));
    json_object_set_new(verdict, "version", json_string(version));
    json_object_set_new(verdict, "attempt",
                        json_integer(learn_progress_attempts(studio->options.progress, exercise)));
    json_object_set_new(verdict, "next", studio_api_next(studio, exercise));
    reply_json(reply, 200, verdict);
}
