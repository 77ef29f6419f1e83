/*
 * options.c: the words of a command line: flags, options and numbers; see cli.h.
 */
#include "base/text.h"
#include "cli/cli.h"
#include "zoo/zoo.h"

#include <stdlib.h>
#include <string.h>

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
        host_error("%s needs a value", name);
    return true;
}

bool cli_number(const char *name, const char *text, unsigned long long least,
                unsigned long long most, unsigned long long *number)
{
    if (lk_parse_number(text, most, number) && *number >= least)
        return true;
    host_error("%s takes a whole number from %llu to %llu, not '%s'", name, least, most, text);
    return false;
}

bool cli_find_family(const char *name, const struct zoo_family **family,
                     const struct zoo_variant **variant)
{
    char *message;
    if (zoo_find(name, family, variant, &message))
        return true;
    host_error("%s", message);
    free(message);
    return false;
}
