/*
 * utf8.c: checks characters one at a time; see utf8.h.
 */
#include "base/utf8.h"

#include <stdint.h>

unsigned lk_utf8_length(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned length = bytes[0] < 0x80             ? 1
                      : (bytes[0] & 0xe0) == 0xc0 ? 2
                      : (bytes[0] & 0xf0) == 0xe0 ? 3
                      : (bytes[0] & 0xf8) == 0xf0 ? 4
                                                  : 0;
    uint32_t code = length > 1 ? bytes[0] & (0xffu >> (length + 1)) : bytes[0];
    for (unsigned i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0; /* also where the text ends */
        code = code << 6 | (bytes[i] & 0x3f);
    }
    if (length && (code < least[length] || code > 0x10ffff || (code & ~0x7ffu) == 0xd800))
        return 0;
    return length;
}

void lk_replace_bad_utf8(char *text)
{
    while (text && *text) {
        unsigned length = lk_utf8_length(text);
        if (!length)
            *text = '?';
        text += length ? length : 1;
    }
}
