/*
 * learn_watch.c: the terminal: grades the current exercise when its file is saved, and takes keys.
 * Editors save in two ways: they write the file, or they write another and rename it. The folder is
 * watched, so that both are seen.
 */
#include "cli/learn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <termios.h>
#include <unistd.h>

struct watch {
    struct cli_learn_session *session;
    const struct learn_exercise *exercise;
    int notify, folder; /* inotify, and its watch */
    char *picture;
    struct termios keys; /* how the terminal is while keys are taken */
};

/* Set by signals; the first also ends a verdict under way. */
static volatile sig_atomic_t interrupted, continued;

static void interrupt(int signal)
{
    if (signal == SIGCONT)
        continued = 1;
    else
        interrupted = 1;
}

void cli_learn_catch_interrupts(struct cli_learn_session *session)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCONT};
    struct sigaction action = {.sa_handler = interrupt};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    session->grader.interrupted = &interrupted;
}

/* Keys come one by one and are not shown. */
static bool set_keys(struct watch *watch, struct termios *before)
{
    if (tcgetattr(STDIN_FILENO, before) != 0)
        return false;
    watch->keys = *before;
    watch->keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    watch->keys.c_cc[VMIN] = 1;
    watch->keys.c_cc[VTIME] = 0;
    cli_learn_catch_interrupts(watch->session);
    return tcsetattr(STDIN_FILENO, TCSANOW, &watch->keys) == 0;
}

static void print_keys(void)
{
    printf("%sn next  h hint  l list  p picture  q quit  or save the file%s\n",
           host_style(stdout, HOST_DIM), host_style(stdout, HOST_PLAIN));
    fflush(stdout);
}

static void grade(struct watch *watch)
{
    const char *terminal = getenv("TERM");
    if (terminal && strcmp(terminal, "dumb") != 0)
        printf("\033[2J\033[H");
    printf("%s%s%s  %s\n", host_style(stdout, HOST_BOLD), watch->exercise->lesson->title,
           host_style(stdout, HOST_PLAIN), watch->exercise->lesson->id);
    cli_learn_print_lines(lk_arena_printf(
        watch->session->arena, "%s: %s",
        cli_learn_shown(watch->session, cli_learn_file(watch->session, watch->exercise)),
        watch->exercise->title));
    putchar('\n');
    if (!watch->exercise->is_kata &&
        learn_progress_state(watch->session->progress, watch->exercise).attempts == 0)
        cli_learn_print_lines(
            "Exercises are broken on purpose. Open the file in your editor, read its "
            "TODO, fix it and save; the text is in lesson.md beside it.\n\n");
    fflush(stdout);
    free(watch->picture);
    watch->picture = NULL;
    if (cli_learn_check_one(watch->session, watch->exercise, &watch->picture) == CLI_OK)
        printf("%sSolved.%s Press n when you want to go on.\n", host_style(stdout, HOST_GREEN),
               host_style(stdout, HOST_PLAIN));
    putchar('\n');
    cli_learn_print_bar(watch->session);
    print_keys();
}

/* Looks at another exercise from now on. */
static bool turn_to(struct watch *watch, const struct learn_exercise *exercise)
{
    if (!cli_learn_lay_out(watch->session, exercise))
        return false;
    char *folder = strdup(cli_learn_file(watch->session, exercise));
    *strrchr(folder, '/') = 0;
    if (watch->folder >= 0)
        inotify_rm_watch(watch->notify, watch->folder);
    watch->folder = inotify_add_watch(watch->notify, folder,
                                      IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM |
                                          IN_DELETE_SELF | IN_MOVE_SELF);
    if (watch->folder < 0)
        host_error("%s: %s", folder, strerror(errno));
    free(folder);
    watch->exercise = exercise;
    cli_learn_set_current(watch->session, exercise);
    return watch->folder >= 0;
}

struct changes {
    bool saved, gone, folder_gone;
};

/* Takes all that is waiting, so that one save is graded once. */
static void read_changes(struct watch *watch, struct changes *changes)
{
    char events[4096] __attribute__((aligned(8)));
    const char *path = cli_learn_file(watch->session, watch->exercise),
               *name = strrchr(path, '/') + 1;
    ssize_t size = read(watch->notify, events, sizeof events);
    for (ssize_t at = 0; at < size;) {
        const struct inotify_event *event = (const void *)(events + at);
        bool ours = event->len && strcmp(event->name, name) == 0;
        if (event->wd == watch->folder && event->mask & (IN_DELETE_SELF | IN_MOVE_SELF))
            changes->folder_gone = true;
        if (ours && event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO))
            changes->saved = true;
        if (ours && event->mask & (IN_DELETE | IN_MOVED_FROM))
            changes->gone = true;
        at += (ssize_t)(sizeof *event + event->len);
    }
}

/* Something happened in the folder. Editors that put the old file aside write the new one a moment
 * later, so what is gone is waited for. False to quit. */
static bool take_changes(struct watch *watch)
{
    enum { MOMENT_MS = 300 };
    struct changes changes = {0};
    struct pollfd wait = {.fd = watch->notify, .events = POLLIN};
    const char *path = cli_learn_file(watch->session, watch->exercise);
    do
        read_changes(watch, &changes);
    while (changes.gone && !changes.folder_gone && access(path, F_OK) != 0 &&
           poll(&wait, 1, MOMENT_MS) > 0);
    if (changes.folder_gone) {
        host_error("the folder of %s is gone; 'lockstep learn' lays the exercise out again", path);
        return false;
    }
    if (changes.gone && access(path, F_OK) != 0) {
        host_say(
            "\n%s%s is gone.%s Save it again, or 'lockstep learn reset %s' puts it back as it was "
            "given.\n",
            host_style(stdout, HOST_YELLOW), cli_learn_shown(watch->session, path),
            host_style(stdout, HOST_PLAIN), watch->exercise->name);
        print_keys();
    } else if (changes.saved) {
        grade(watch);
    }
    return true;
}

/* False to quit. */
static bool take_key(struct watch *watch)
{
    char key;
    if (read(STDIN_FILENO, &key, 1) != 1)
        return false;
    const struct learn_exercise *next = cli_learn_next(watch->session, watch->exercise);
    switch (key) {
    case 'q':
        return false;
    case 'n':
        if (!next) {
            printf("This is the last exercise.\n");
        } else if (turn_to(watch, next)) {
            grade(watch);
            return true;
        }
        break;
    case 'h':
        cli_learn_print_hint(watch->session, watch->exercise);
        break;
    case 'l':
        cli_learn_list(watch->session);
        break;
    case 'p':
        fputs(watch->picture ? watch->picture : "There is no picture before it runs.\n", stdout);
        break;
    default:
        return true;
    }
    print_keys();
    return true;
}

/* Until the learner quits: true; false if there is nothing left to watch. */
static bool watch_and_wait(struct watch *watch)
{
    struct pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = watch->notify, .events = POLLIN}};
    while (!interrupted) {
        if (continued) { /* the shell had the terminal in the meantime */
            continued = 0;
            tcsetattr(STDIN_FILENO, TCSANOW, &watch->keys);
            print_keys();
        }
        if (poll(waits, 2, -1) < 0)
            continue;
        if (waits[1].revents && !take_changes(watch))
            return false;
        if (waits[0].revents && !take_key(watch))
            break;
    }
    return true;
}

int cli_learn_watch(struct cli_learn_session *session)
{
    struct watch watch = {.session = session, .folder = -1};
    struct termios before;
    const struct learn_exercise *exercise;
    if (!cli_learn_choose(session, &exercise))
        return CLI_USAGE;
    watch.notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch.notify < 0) {
        host_error("files cannot be watched: %s", strerror(errno));
        return CLI_USAGE;
    }
    bool fine = turn_to(&watch, exercise) && set_keys(&watch, &before);
    if (fine) {
        grade(&watch);
        fine = watch_and_wait(&watch);
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
        if (fine)
            host_say("\nUntil next time: 'lockstep learn' goes on here.\n");
    }
    close(watch.notify);
    free(watch.picture);
    return fine ? CLI_OK : CLI_USAGE;
}
