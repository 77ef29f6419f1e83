/*
 * gguf.h: reads what a GGUF file says about its model: numbers, tokens, and weights in F32, F16,
 * Q4_1 and Q8_0, as f32. Any other type of weight is an error. Every length is checked against the
 * file's end.
 */
#ifndef LOCKSTEP_QUALITY_GGUF_H
#define LOCKSTEP_QUALITY_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gguf_text {
    const char *at; /* not terminated */
    size_t length;
};
struct gguf_tensor {
    struct gguf_text name;
    uint64_t size[4]; /* the fastest first */
    uint32_t type;
    uint64_t offset;
};
struct gguf {
    const uint8_t *bytes, *weights; /* the file, mapped */
    size_t length;
    struct gguf_tensor *tensors;
    size_t tensor_count;
    struct gguf_text *tokens;
    size_t token_count;
    struct gguf_number {
        struct gguf_text key;
        double value;
    } * numbers;
    size_t number_count;
};

/* False after printing what is wrong. */
bool gguf_open(struct gguf *file, const char *path);
void gguf_close(struct gguf *file);
bool gguf_number(const struct gguf *file, const char *key, double *value);
/* rows * cols numbers, to be freed; NULL after printing an error. */
float *gguf_weights(const struct gguf *file, const char *name, size_t rows, size_t cols);

#endif
