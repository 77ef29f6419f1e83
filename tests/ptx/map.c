/*
 * map.c: the `map:` lines of a PTX test: tensor maps in the input, which the driver encodes once
 * the buffers have addresses. README.md says how one is written.
 */
#include "test.h"

#include "cuda/driver.h"

#include <stdlib.h>
#include <string.h>

static size_t read_list(const char *text, int64_t numbers[5])
{
    size_t count = 0;
    for (char *end; count < 5; text = end + 1) {
        numbers[count++] = strtoll(text, &end, 0);
        if (*end != ',')
            break;
    }
    return count;
}

static bool read_type(const char *word, struct test_map *map)
{
    static const char *const names[] = {"u8",  "u16", "u32",  "s32",    "u64",  "s64",    "f16",
                                        "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(word, names[i])) {
            map->type = i;
            return true;
        }
    return false;
}

bool test_map_word(struct test_map *map, unsigned index, const char *word)
{
    static const struct {
        const char *key;
        size_t offset;
    } lists[] = {{"dim=", offsetof(struct test_map, dim)},
                 {"stride=", offsetof(struct test_map, stride)},
                 {"box=", offsetof(struct test_map, box)},
                 {"step=", offsetof(struct test_map, step)},
                 {"lower=", offsetof(struct test_map, lower)},
                 {"upper=", offsetof(struct test_map, upper)}};
    if (index == 0)
        return read_type(word, map);
    if (index == 1) { /* in+512 or out+0 */
        map->in_output = !strncmp(word, "out+", 4);
        map->offset = strtoull(word + (map->in_output ? 4 : 3), NULL, 0);
        return map->in_output || !strncmp(word, "in+", 3);
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        size_t length = strlen(lists[i].key);
        if (strncmp(word, lists[i].key, length) != 0)
            continue;
        size_t count = read_list(word + length, (int64_t *)(void *)((char *)map + lists[i].offset));
        map->rank = i == 0 ? (unsigned)count : map->rank;
        map->is_im2col |= i >= 4;
        return true;
    }
    if (!strncmp(word, "swizzle=", 8))
        map->swizzle = (unsigned)strtoul(word + 8, NULL, 10);
    else if (!strncmp(word, "interleave=", 11))
        map->interleave = (unsigned)strtoul(word + 11, NULL, 10);
    else if (!strcmp(word, "nan"))
        map->nan = true;
    else
        return false;
    return true;
}

/* Into the bytes of the input. */
int test_map_encode(const struct lk_driver *driver, const struct test_map *map, uint64_t in,
                    uint64_t out, uint8_t *input)
{
    CUtensorMap encoded;
    cuuint64_t dim[5], stride[4];
    cuuint32_t box[5], step[5];
    int lower[3], upper[3];
    for (int i = 0; i < 5; i++) {
        dim[i] = (cuuint64_t)map->dim[i];
        box[i] = (cuuint32_t)map->box[i];
        step[i] = map->step[i] ? (cuuint32_t)map->step[i] : 1;
        if (i < 4)
            stride[i] = (cuuint64_t)map->stride[i];
        if (i < 3) {
            lower[i] = (int)map->lower[i];
            upper[i] = (int)map->upper[i];
        }
    }
    void *address = (void *)(uintptr_t)((map->in_output ? out : in) + map->offset);
    CUtensorMapFloatOOBfill fill = map->nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                            : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    CUresult result =
        map->is_im2col
            ? driver->cuTensorMapEncodeIm2col(
                  &encoded, (CUtensorMapDataType)map->type, map->rank, address, dim, stride, lower,
                  upper, box[0], box[1], step, (CUtensorMapInterleave)map->interleave,
                  (CUtensorMapSwizzle)map->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill)
            : driver->cuTensorMapEncodeTiled(
                  &encoded, (CUtensorMapDataType)map->type, map->rank, address, dim, stride, box,
                  step, (CUtensorMapInterleave)map->interleave, (CUtensorMapSwizzle)map->swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    memcpy(input + map->at, &encoded, sizeof(encoded));
    return (int)result;
}
