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
    struct learn_session *session;
    const struct learn_exercise *exercise;
    int notify, folder; /* inotify, and its watch */
    char *picture;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    interrupted = 1;
}

/* Keys come one by one and are not shown. */
static bool set_keys(struct termios *before)
{
    struct termios keys;
    struct sigaction action = {.sa_handler = interrupt};
    if (tcgetattr(STDIN_FILENO, before) != 0)
        return false;
    keys = *before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    return tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

static void print_keys(void)
{
    printf("%sn next   h hint   l list   p picture   q quit   (or save the file)%s\n",
           cli_style(stdout, CLI_DIM), cli_style(stdout, CLI_PLAIN));
    fflush(stdout);
}

static void grade(struct watch *watch)
{
    printf("\033[2J\033[H");
    printf("%s%s%s  %s\n", cli_style(stdout, CLI_BOLD), watch->exercise->lesson->title,
           cli_style(stdout, CLI_PLAIN), watch->exercise->lesson->id);
    printf("%s: %s\n\n",
           learn_shown(watch->session, learn_file(watch->session, watch->exercise)),
           watch->exercise->title);
    if (!watch->exercise->is_kata &&
        learn_progress_state(watch->session->progress, watch->exercise).attempts == 0)
        printf("Exercises are broken on purpose. Open the file, read its TODO, mend it and save; "
               "the text is\nin lesson.md beside it.\n\n");
    fflush(stdout);
    free(watch->picture);
    watch->picture = NULL;
    if (learn_check_one(watch->session, watch->exercise, &watch->picture) == CLI_OK)
        printf("%sSolved.%s Press n when you want to go on.\n", cli_style(stdout, CLI_GREEN),
               cli_style(stdout, CLI_PLAIN));
    putchar('\n');
    learn_print_bar(watch->session);
    print_keys();
}

/* Looks at another exercise from now on. */
static bool turn_to(struct watch *watch, const struct learn_exercise *exercise)
{
    if (!learn_lay_out(watch->session, exercise))
        return false;
    char *folder = strdup(learn_file(watch->session, exercise));
    *strrchr(folder, '/') = 0;
    if (watch->folder >= 0)
        inotify_rm_watch(watch->notify, watch->folder);
    watch->folder = inotify_add_watch(watch->notify, folder, IN_CLOSE_WRITE | IN_MOVED_TO);
    if (watch->folder < 0)
        cli_error("%s: %s", folder, strerror(errno));
    free(folder);
    watch->exercise = exercise;
    learn_set_current(watch->session, exercise);
    return watch->folder >= 0;
}

/* Was the exercise's own file saved? Takes all that is waiting, so that one save is graded once. */
static bool was_saved(struct watch *watch)
{
    char events[4096] __attribute__((aligned(8)));
    const char *path = learn_file(watch->session, watch->exercise), *name = strrchr(path, '/') + 1;
    ssize_t size = read(watch->notify, events, sizeof events);
    bool saved = false;
    for (ssize_t at = 0; at < size;) {
        const struct inotify_event *event = (const void *)(events + at);
        saved = saved || (event->len && strcmp(event->name, name) == 0);
        at += (ssize_t)(sizeof *event + event->len);
    }
    return saved;
}

/* False to quit. */
static bool take_key(struct watch *watch)
{
    char key;
    if (read(STDIN_FILENO, &key, 1) != 1)
        return false;
    const struct learn_exercise *next = learn_next(watch->session, watch->exercise);
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
        learn_say_hint(watch->session, watch->exercise);
        break;
    case 'l':
        learn_list(watch->session);
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

static void watch_and_wait(struct watch *watch)
{
    struct pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = watch->notify, .events = POLLIN}};
    while (!interrupted) {
        if (poll(waits, 2, -1) < 0)
            continue;
        if (waits[1].revents && was_saved(watch))
            grade(watch);
        if (waits[0].revents && !take_key(watch))
            break;
    }
}

int learn_watch(struct learn_session *session)
{
    struct watch watch = {.session = session, .folder = -1};
    struct termios before;
    const struct learn_exercise *exercise;
    if (!learn_choose(session, &exercise))
        return CLI_USAGE;
    watch.notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch.notify < 0) {
        cli_error("files cannot be watched: %s", strerror(errno));
        return CLI_USAGE;
    }
    bool keys = turn_to(&watch, exercise) && set_keys(&before);
    if (keys) {
        grade(&watch);
        watch_and_wait(&watch);
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
        printf("\nUntil next time: 'lockstep learn' goes on here.\n");
    }
    close(watch.notify);
    free(watch.picture);
    return keys ? CLI_OK : CLI_USAGE;
}
