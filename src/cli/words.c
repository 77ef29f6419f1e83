/*
 * words.c: messages, styles, options and lists of words for the commands; see cli.h.
 */
#include "base/buf.h"
#include "cli/cli.h"
#include "report/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%slockstep:%s ", cli_style(stderr, CLI_BOLD), cli_style(stderr, CLI_PLAIN));
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

const char *cli_style(FILE *stream, enum cli_style style)
{
    static const char *const sequences[] = {
        [CLI_PLAIN] = "\033[0m",  [CLI_BOLD] = "\033[1m", [CLI_DIM] = "\033[2m",
        [CLI_GREEN] = "\033[32m", [CLI_RED] = "\033[31m", [CLI_YELLOW] = "\033[33m",
    };
    const char *no_color = getenv("NO_COLOR");
    if ((no_color && *no_color) || !isatty(fileno(stream)))
        return "";
    return sequences[style];
}

struct report_paint cli_paint(FILE *stream)
{
    return (struct report_paint){cli_style(stream, CLI_PLAIN), cli_style(stream, CLI_BOLD),
                                 cli_style(stream, CLI_DIM),   cli_style(stream, CLI_GREEN),
                                 cli_style(stream, CLI_RED),   cli_style(stream, CLI_YELLOW)};
}

bool cli_flag(char **words, int *at, const char *name)
{
    if (strcmp(words[*at], name) != 0)
        return false;
    ++*at;
    return true;
}

bool cli_option(int count, char **words, int *at, const char *name, const char **value)
{
    const char *word = words[*at];
    size_t length = strlen(name);
    if (strncmp(word, name, length) != 0 || (word[length] && word[length] != '='))
        return false;
    ++*at;
    *value = NULL;
    if (word[length] == '=')
        *value = word + length + 1;
    else if (*at < count)
        *value = words[(*at)++];
    else
        cli_error("%s needs a value", name);
    return true;
}

bool cli_number(const char *name, const char *text, unsigned long long most,
                unsigned long long *number)
{
    char *end = NULL;
    errno = 0;
    *number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (end && !*end && !errno && *number <= most)
        return true;
    cli_error("%s takes a whole number up to %llu, not '%s'", name, most, text);
    return false;
}

void cli_list_add(struct cli_list *list, const char *item)
{
    if (list->count + 2 > list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = lk_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = item;
    list->items[list->count] = NULL;
}

void cli_list_free(struct cli_list *list)
{
    free(list->items);
    *list = (struct cli_list){0};
}
