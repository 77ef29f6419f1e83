/*
 * compress.c: compress IN OUT writes IN as a zstd frame that says how long IN is. The kernels' PTX
 * goes into the library in this form: it is a tenth of the size.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

/* Fast, and close to what the slow levels reach on PTX. */
enum { LEVEL = 9 };

static char *read_all(FILE *in, size_t *size)
{
    if (!in || fseek(in, 0, SEEK_END) != 0)
        return NULL;
    long length = ftell(in);
    rewind(in);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    *size = text ? fread(text, 1, (size_t)length, in) : 0;
    return *size == (size_t)length ? text : NULL;
}

int main(int count, char **words)
{
    if (count != 3) {
        fprintf(stderr, "usage: compress IN OUT\n");
        return 2;
    }
    size_t size = 0;
    FILE *in = fopen(words[1], "rb"), *out = NULL;
    char *text = read_all(in, &size);
    size_t room = ZSTD_compressBound(size);
    char *frame = malloc(room);
    size_t length = text && frame ? ZSTD_compress(frame, room, text, size, LEVEL) : 0;
    bool fine = length && !ZSTD_isError(length) && (out = fopen(words[2], "wb")) &&
                fwrite(frame, 1, length, out) == length && fclose(out) == 0;
    if (!fine)
        fprintf(stderr, "compress: %s could not be written from %s\n", words[2], words[1]);
    free(text);
    free(frame);
    if (in)
        fclose(in);
    return fine ? 0 : 1;
}
