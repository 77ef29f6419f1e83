/*
 * text.c: small questions about text; see text.h.
 */
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>

bool lk_parse_number(const char *text, unsigned long long most, unsigned long long *number)
{
    char *end = NULL;
    errno = 0;
    *number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return end && !*end && !errno && *number <= most;
}
