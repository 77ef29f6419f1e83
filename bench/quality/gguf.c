/*
 * gguf.c: a reader for GGUF, version 3 and 2: a header, keys with values, the list of tensors, and
 * their bytes, aligned to 32.
 */
#include "gguf.h"

#include "zoo/zoo.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TYPE_F32 = 0, TYPE_F16 = 1, TYPE_Q4_1 = 3, TYPE_Q8_0 = 8 };
enum { VALUE_STRING = 8, VALUE_ARRAY = 9, VALUES = 13 };
/* Bytes of a value of each type; 0: it has a length of its own. */
static const size_t value_bytes[VALUES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* Where reading is; `short_of` stays true once something lay behind the end. */
struct cursor {
    const uint8_t *at, *end;
    bool short_of;
};

static const uint8_t *take(struct cursor *c, uint64_t count)
{
    static const uint8_t nothing[16];
    if (c->short_of || (uint64_t)(c->end - c->at) < count) {
        c->short_of = true;
        return nothing;
    }
    c->at += count;
    return c->at - count;
}
static uint32_t take_32(struct cursor *c)
{
    uint32_t x;
    memcpy(&x, take(c, sizeof x), sizeof x);
    return x;
}
static uint64_t take_64(struct cursor *c)
{
    uint64_t x;
    memcpy(&x, take(c, sizeof x), sizeof x);
    return x;
}
static struct gguf_text take_text(struct cursor *c)
{
    uint64_t length = take_64(c);
    const uint8_t *at = take(c, length);
    return (struct gguf_text){(const char *)at, c->short_of ? 0 : (size_t)length};
}

static bool is(struct gguf_text text, const char *word)
{
    return text.length == strlen(word) && !memcmp(text.at, word, text.length);
}

/* Numbers of 4 bytes and more; others are passed over. */
static double take_number(struct cursor *c, uint32_t type)
{
    const uint8_t *at = take(c, value_bytes[type]);
    float single;
    uint32_t word;
    memcpy(&single, at, sizeof single);
    memcpy(&word, at, sizeof word);
    return type == 6 ? (double)single : type == 4 ? (double)word : -1;
}

static void take_array(struct gguf *file, struct cursor *c, struct gguf_text key)
{
    uint32_t type = take_32(c);
    uint64_t count = take_64(c);
    bool tokens = is(key, "tokenizer.ggml.tokens") && type == VALUE_STRING;
    if (type >= VALUES || type == VALUE_ARRAY || count > file->length) {
        c->short_of = true;
        return;
    }
    if (type != VALUE_STRING) {
        take(c, count * value_bytes[type]);
        return;
    }
    if (tokens)
        file->tokens = calloc(count + 1, sizeof *file->tokens);
    for (uint64_t i = 0; i < count && !c->short_of; i++) {
        struct gguf_text text = take_text(c);
        if (tokens && file->tokens)
            file->tokens[file->token_count++] = text;
    }
}

static void take_pair(struct gguf *file, struct cursor *c)
{
    struct gguf_text key = take_text(c);
    uint32_t type = take_32(c);
    if (type == VALUE_STRING)
        take_text(c);
    else if (type == VALUE_ARRAY)
        take_array(file, c, key);
    else if (type < VALUES)
        file->numbers[file->number_count++] = (struct gguf_number){key, take_number(c, type)};
    else
        c->short_of = true;
}

static void take_tensor(struct gguf_tensor *tensor, struct cursor *c)
{
    tensor->name = take_text(c);
    uint32_t dimensions = take_32(c);
    for (uint32_t i = 0; i < 4; i++)
        tensor->size[i] = i < dimensions ? take_64(c) : 1;
    tensor->type = take_32(c);
    tensor->offset = take_64(c);
    c->short_of |= dimensions > 4;
}

static bool read_header(struct gguf *file)
{
    struct cursor c = {file->bytes, file->bytes + file->length, false};
    bool known = !memcmp(take(&c, 4), "GGUF", 4);
    uint32_t version = take_32(&c);
    uint64_t tensors = take_64(&c), pairs = take_64(&c);
    if (!known || version < 2 || version > 3 || tensors > file->length || pairs > file->length)
        return false;
    file->tensors = calloc(tensors + 1, sizeof *file->tensors);
    file->numbers = calloc(pairs + 1, sizeof *file->numbers);
    if (!file->tensors || !file->numbers)
        return false;
    for (uint64_t i = 0; i < pairs && !c.short_of; i++)
        take_pair(file, &c);
    for (uint64_t i = 0; i < tensors && !c.short_of; i++)
        take_tensor(&file->tensors[file->tensor_count++], &c);
    size_t used = (size_t)(c.at - file->bytes);
    take(&c, (32 - used % 32) % 32);
    file->weights = c.at;
    return !c.short_of;
}

bool gguf_open(struct gguf *file, const char *path)
{
    struct stat about;
    *file = (struct gguf){0};
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &about) != 0) {
        perror(path);
        if (fd >= 0)
            close(fd);
        return false;
    }
    file->length = (size_t)about.st_size;
    void *at = mmap(NULL, file->length, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        perror(path);
        return false;
    }
    file->bytes = at;
    if (read_header(file))
        return true;
    fprintf(stderr, "%s: not a GGUF file of version 2 or 3, or cut short\n", path);
    gguf_close(file);
    return false;
}

void gguf_close(struct gguf *file)
{
    if (file->bytes)
        munmap((void *)(uintptr_t)file->bytes, file->length);
    free(file->tensors);
    free(file->tokens);
    free(file->numbers);
    *file = (struct gguf){0};
}

bool gguf_number(const struct gguf *file, const char *key, double *value)
{
    for (size_t i = 0; i < file->number_count; i++)
        if (is(file->numbers[i].key, key)) {
            *value = file->numbers[i].value;
            return true;
        }
    fprintf(stderr, "the model does not say what %s is\n", key);
    return false;
}

static float half_at(const uint8_t *at)
{
    return zoo_from_f16((uint16_t)(at[0] | at[1] << 8));
}

static void decode(uint32_t type, const uint8_t *at, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *block = at + i / 32 * (type == TYPE_Q4_1 ? 20 : 34);
        if (type == TYPE_F32)
            memcpy(&to[i], at + 4 * i, 4);
        else if (type == TYPE_F16)
            to[i] = half_at(at + 2 * i);
        else if (type == TYPE_Q8_0)
            to[i] = half_at(block) * (float)(int8_t)block[2 + i % 32];
        else
            to[i] = half_at(block) * (float)(block[4 + i % 16] >> i / 16 % 2 * 4 & 15) +
                    half_at(block + 2);
    }
}

float *gguf_weights(const struct gguf *file, const char *name, size_t rows, size_t cols)
{
    for (size_t i = 0; i < file->tensor_count; i++) {
        const struct gguf_tensor *t = &file->tensors[i];
        size_t count = rows * cols, bytes,
               room = (size_t)(file->bytes + file->length - file->weights);
        if (!is(t->name, name))
            continue;
        if (t->size[0] != cols || t->size[1] != rows || t->size[2] * t->size[3] != 1) {
            fprintf(stderr, "%s is not %zu x %zu\n", name, rows, cols);
            return NULL;
        }
        switch (t->type) {
        case TYPE_F32:
            bytes = count * 4;
            break;
        case TYPE_F16:
            bytes = count * 2;
            break;
        case TYPE_Q4_1:
            bytes = count / 32 * 20;
            break;
        case TYPE_Q8_0:
            bytes = count / 32 * 34;
            break;
        default:
            fprintf(stderr, "%s is of type %u; F32, F16, Q4_1 and Q8_0 can be read\n", name,
                    t->type);
            return NULL;
        }
        float *to =
            t->offset <= room && bytes <= room - t->offset ? malloc(count * sizeof *to) : NULL;
        if (to)
            decode(t->type, file->weights + t->offset, to, count);
        else
            fprintf(stderr, "%s lies behind the end of the file, or there is no memory for it\n",
                    name);
        return to;
    }
    fprintf(stderr, "the model has no %s\n", name);
    return NULL;
}
