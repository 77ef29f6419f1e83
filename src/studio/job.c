/*
 * job.c: children of the studio: 'lockstep learn check', 'lockstep profile' .., each in a folder of
 * its own that goes with it. No more of them run at once than there are cores.
 */
#include "studio/job.h"
#include "host/child.h"
#include "host/files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 300 }; /* no job takes that long; a child that hangs is killed */

static bool start_child(struct studio *studio, struct studio_job *job, const char *const *words,
                        const char *folder)
{
    char *set[] = {lk_format("TMPDIR=%s", job->folder),
                   lk_format("LOCKSTEP_COURSE=%s", studio->options.course->folder),
                   lk_format("LOCKSTEP_PROGRESS=%s", learn_progress_file(studio->options.progress)),
                   NULL};
    pid_t child = host_start(&(struct host_command){.words = words,
                                                    .environment = (const char *const *)set,
                                                    .folder = folder,
                                                    .input = "/dev/null",
                                                    .output = job->out,
                                                    .errors = job->log,
                                                    .seconds = SECONDS,
                                                    .own_group = true});
    for (char **word = set; *word; word++)
        free(*word);
    job->child = child > 0 ? child : 0;
    return child > 0;
}

/* A child that has ended is kept until the lock is held again: its process id cannot be reused
 * while it may still have to be killed. */
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

static void supersede(struct studio_job *job)
{
    job->superseded = true;
    if (job->child > 0)
        kill(-job->child, SIGKILL);
}

void job_stop_all(struct studio *studio)
{
    for (struct studio_job *job = studio->jobs; job; job = job->next)
        supersede(job);
    pthread_cond_broadcast(&studio->changed);
}

static void begin_job(struct studio *studio, struct studio_job *job)
{
    for (struct studio_job *other = studio->jobs; other; other = other->next)
        if (job->subject && other->subject == job->subject)
            supersede(other);
    pthread_cond_broadcast(&studio->changed);
    job->folder = lk_format("%s/%u", studio->temporary, studio->serial++);
    job->out = lk_format("%s/out", job->folder);
    job->log = lk_format("%s/log", job->folder);
    job->next = studio->jobs;
    studio->jobs = job;
}

enum job_end job_run(struct studio *studio, struct studio_job *job, job_words *words,
                     const void *context, const char *folder, char **message)
{
    unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    const char *list[JOB_WORDS + 1] = {0};
    enum job_end end = JOB_FAILED;
    *message = NULL;
    begin_job(studio, job);
    while (studio->running >= (cores ? cores : 1) && !job->superseded)
        pthread_cond_wait(&studio->changed, &studio->lock);
    if (job->superseded)
        return JOB_SUPERSEDED;
    words(context, job, list);
    if (mkdir(job->folder, 0700) != 0) {
        *message = lk_format("no room for temporary files: %s", strerror(errno));
    } else if (!start_child(studio, job, list, folder ? folder : job->folder)) {
        *message = lk_format("%s", strerror(errno));
    } else {
        studio->running++;
        wait_for_child(studio, job);
        studio->running--;
        end = job->superseded ? JOB_SUPERSEDED : JOB_ENDED;
        pthread_cond_broadcast(&studio->changed);
    }
    return end;
}

void job_end(struct studio *studio, struct studio_job *job)
{
    struct studio_job **at = &studio->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    host_remove_tree(job->folder);
    free(job->folder);
    free(job->out);
    free(job->log);
}
