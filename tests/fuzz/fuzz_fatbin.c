/*
 * fuzz_fatbin.c: libFuzzer target: any bytes as a fat binary. Seeds: corpus/fatbin, made by nvcc 13
 * with each kind of compression.
 */
#include "driver/fatbin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fatbin_entry entry;
    struct fatbin_content content;
    const char *message = NULL;
    size_t offset = 0, text_size;
    uint8_t *exact = malloc(size ? size : 1); /* so that a read past the end is seen */
    memcpy(exact, data, size);
    for (int i = 0; i < 64 && fatbin_next(exact, size, &offset, &entry, &message); i++) {
        if (entry.full_size < 1 << 24) /* larger ones only cost time */
            free(fatbin_unpack(&entry, &text_size, &message));
    }
    if (fatbin_best_ptx(exact, size, 9, 0, &entry, &content, &message) && entry.full_size < 1 << 24)
        free(fatbin_unpack(&entry, &text_size, &message));
    free(exact);
    return 0;
}
