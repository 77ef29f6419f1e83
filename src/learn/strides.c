/*
 * strides.c: layouts of tensors, see strides.h.
 *
 * The heart is reshape. Dimensions of the old shape and of the new one are matched in groups of
 * equal products: (4, 2, 3) to (8, 3) has the groups 4, 2 -> 8 and 3 -> 3. Within a group the old
 * dimensions must be one even walk through memory: a step in one is as long as all steps of the
 * next together. Then the new strides follow; otherwise only a copy helps. Dimensions of size 1 are
 * never stepped along, so their strides do not matter.
 */
#include "learn/strides.h"

#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const strides_way_names[STRIDES_WAYS] = {"view", "copy", "refused"};

#define MOST ((int64_t)1 << 40) /* elements: no sum below comes near an overflow */

/* Layouts ---------------------------------------------------------------------------------------*/

static int64_t element_count(const struct strides_tensor *tensor)
{
    int64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
        count *= tensor->shape[i];
    return count;
}

/* The strides that the shape has when it lies row by row. */
static void lay_out(struct strides_tensor *tensor)
{
    int64_t step = 1;
    tensor->offset = 0;
    for (unsigned i = tensor->rank; i-- > 0;) {
        tensor->stride[i] = step;
        step *= tensor->shape[i] > 1 ? tensor->shape[i] : 1;
    }
}

bool strides_is_contiguous(const struct strides_tensor *tensor)
{
    int64_t step = 1;
    if (element_count(tensor) == 0)
        return true;
    for (unsigned i = tensor->rank; i-- > 0; step *= tensor->shape[i])
        if (tensor->shape[i] != 1 && tensor->stride[i] != step)
            return false;
    return true;
}

/* Reading ---------------------------------------------------------------------------------------*/

/* "2,-1,4": whole numbers from least on. */
static bool read_numbers(const char *text, int64_t least, int64_t numbers[STRIDES_RANK],
                         unsigned *count, char **message)
{
    *count = 0;
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        long long number = strtoll(at, &end, 10);
        if (end == at || (*end && *end != ',') || errno) {
            *message = lk_format("'%s': whole numbers with commas are needed, as in 2,3,4", text);
            return false;
        }
        if (number < least || number > MOST || *count == STRIDES_RANK) {
            *message = *count == STRIDES_RANK
                           ? lk_format("'%s': at most %d dimensions", text, STRIDES_RANK)
                           : lk_format("'%s': %lld is too %s", text, number,
                                       number < least ? "small" : "large");
            return false;
        }
        numbers[(*count)++] = number;
        at = end;
        if (!*at)
            return true;
    }
}

/* Products of sizes, ignoring zeros, must stay small: strides are made of them. */
static bool is_too_large(const struct strides_tensor *tensor)
{
    int64_t product = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        int64_t size = tensor->shape[i] > 1 ? tensor->shape[i] : 1;
        if (size > MOST / product)
            return true;
        product *= size;
    }
    return false;
}

bool strides_read_shape(const char *text, struct strides_tensor *tensor, char **message)
{
    *tensor = (struct strides_tensor){0};
    if (!read_numbers(text, 0, tensor->shape, &tensor->rank, message))
        return false;
    if (is_too_large(tensor)) {
        *message = lk_format("'%s' has too many elements", text);
        return false;
    }
    lay_out(tensor);
    return true;
}

/* Views by their nature -------------------------------------------------------------------------*/

/* -1 is the last dimension, as in Python. */
static bool read_dimension(const char *text, unsigned rank, int64_t *dimension, char **message)
{
    int64_t given = *dimension;
    *dimension += *dimension < 0 ? rank : 0;
    if (*dimension >= 0 && *dimension < rank)
        return true;
    *message = lk_format("'%s': there is no dimension %lld; they count from 0 to %d", text,
                         (long long)given, (int)rank - 1);
    return false;
}

static bool permute(const struct strides_tensor *from, const char *value, struct strides_step *step,
                    char **message)
{
    int64_t order[STRIDES_RANK];
    unsigned count, seen = 0;
    if (!read_numbers(value, -STRIDES_RANK, order, &count, message))
        return false;
    if (count != from->rank) {
        *message = lk_format("'%s' must name each of the %u dimensions once", value, from->rank);
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!read_dimension(value, from->rank, &order[i], message))
            return false;
        seen |= 1u << order[i];
        step->tensor.shape[i] = from->shape[order[i]];
        step->tensor.stride[i] = from->stride[order[i]];
    }
    if (seen != (1u << count) - 1) {
        *message = lk_format("'%s' must name each of the %u dimensions once", value, from->rank);
        return false;
    }
    step->why = lk_format("Sizes and strides change places together; no number moves.");
    return true;
}

static bool transpose(const struct strides_tensor *from, const char *value,
                      struct strides_step *step, char **message)
{
    int64_t pair[STRIDES_RANK];
    unsigned count;
    if (!read_numbers(value, -STRIDES_RANK, pair, &count, message))
        return false;
    if (count != 2) {
        *message = lk_format("'%s': transpose swaps two dimensions, as in 0,1", value);
        return false;
    }
    if (!read_dimension(value, from->rank, &pair[0], message) ||
        !read_dimension(value, from->rank, &pair[1], message))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        step->tensor.shape[pair[i]] = from->shape[pair[1 - i]];
        step->tensor.stride[pair[i]] = from->stride[pair[1 - i]];
    }
    step->why = lk_format("Two sizes and their strides change places; no number moves.");
    return true;
}

struct range {
    int64_t first, end, step;
    bool has_first, has_end, is_index;
};

/* "3", "1:4", "::2", "4:1:-1"; at is moved past it. */
static bool read_range(const char **at, struct range *range)
{
    int64_t *const parts[] = {&range->first, &range->end, &range->step};
    bool given[3] = {false};
    unsigned part = 0;
    *range = (struct range){.step = 1};
    for (;; part++) {
        char *end;
        errno = 0;
        long long number = strtoll(*at, &end, 10);
        if (end != *at) {
            if (errno || number > MOST || number < -MOST)
                return false;
            *parts[part] = number;
            given[part] = true;
        }
        *at = end;
        if (**at != ':')
            break;
        ++*at;
        if (part == 2)
            return false;
    }
    range->has_first = given[0];
    range->has_end = given[1];
    range->is_index = part == 0;
    return (**at == 0 || **at == ',') && range->step != 0 && (part > 0 || given[0]);
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* How many elements a range takes of size; first becomes the one that it begins with. */
static int64_t resolve(struct range *range, int64_t size)
{
    bool down = range->step < 0;
    int64_t least = down ? -1 : 0, most = down ? size - 1 : size;
    int64_t first = range->first + (range->first < 0 ? size : 0);
    int64_t end = range->end + (range->end < 0 ? size : 0);
    first = range->has_first ? clamp(first, least, most) : down ? size - 1 : 0;
    end = range->has_end ? clamp(end, least, most) : down ? -1 : size;
    int64_t length = down ? first - end : end - first, step = down ? -range->step : range->step;
    range->first = first;
    return length > 0 ? (length + step - 1) / step : 0;
}

static bool slice(const struct strides_tensor *from, const char *value, struct strides_step *step,
                  char **message)
{
    struct strides_tensor *to = &step->tensor;
    const char *at = value;
    unsigned used = 0;
    to->rank = 0;
    for (bool more = true; more; used++) {
        struct range range;
        if (used == from->rank) {
            *message = lk_format("'%s' has more parts than the %u dimensions", value, from->rank);
            return false;
        }
        if (!read_range(&at, &range)) {
            *message =
                lk_format("'%s': a part is FIRST:END:STEP or one index, as in ::2,1:3,0", value);
            return false;
        }
        int64_t size = from->shape[used];
        if (range.is_index) {
            if (range.first < -size || range.first >= size) {
                *message = lk_format("'%s': dimension %u has %lld elements, and no element %lld",
                                     value, used, (long long)size, (long long)range.first);
                return false;
            }
            to->offset += (range.first + (range.first < 0 ? size : 0)) * from->stride[used];
        } else {
            int64_t count = resolve(&range, size), stride;
            if (__builtin_mul_overflow(from->stride[used], range.step, &stride) || stride > MOST ||
                stride < -MOST) {
                *message = lk_format("'%s': this step is too long", value);
                return false;
            }
            to->offset += count ? range.first * from->stride[used] : 0;
            to->shape[to->rank] = count;
            to->stride[to->rank++] = stride;
        }
        more = *at == ',';
        at += more;
    }
    for (; used < from->rank; used++) {
        to->shape[to->rank] = from->shape[used];
        to->stride[to->rank++] = from->stride[used];
    }
    step->why = lk_format("Only beginning, end and steps change; no number moves.");
    return true;
}

/* Reshape ---------------------------------------------------------------------------------------*/

/* The one -1 becomes what is left over. */
static bool read_new_shape(const struct strides_tensor *from, const char *value,
                           struct strides_tensor *to, char **message)
{
    int64_t known = 1, count = element_count(from);
    int open = -1;
    *to = (struct strides_tensor){0};
    if (!read_numbers(value, -1, to->shape, &to->rank, message))
        return false;
    for (unsigned i = 0; i < to->rank; i++)
        if (to->shape[i] == -1 && open >= 0) {
            *message = lk_format("'%s': only one -1 can be worked out", value);
            return false;
        } else if (to->shape[i] == -1) {
            to->shape[open = (int)i] = 1;
        }
    if (is_too_large(to)) {
        *message = lk_format("'%s' has too many elements", value);
        return false;
    }
    known = element_count(to);
    if (open >= 0 && known > 0 && count % known == 0)
        known *= to->shape[open] = count / known;
    else if (open >= 0 && known == 0) {
        *message = lk_format("'%s': beside a 0 the -1 could be any number", value);
        return false;
    }
    if (known == count)
        return true;
    *message = lk_format("'%s' does not fit: there are %lld elements", value, (long long)count);
    return false;
}

/* Sizes and strides as "3 x 4 (strides 4, 1)" for dimensions first .. end - 1. */
static void print_part(struct lk_buf *text, const struct strides_tensor *tensor, unsigned first,
                       unsigned end)
{
    for (unsigned i = first; i < end; i++)
        lk_buf_printf(text, "%s%lld", i > first ? " x " : "", (long long)tensor->shape[i]);
    lk_buf_printf(text, " (strides ");
    for (unsigned i = first; i < end; i++)
        lk_buf_printf(text, "%s%lld", i > first ? ", " : "", (long long)tensor->stride[i]);
    lk_buf_printf(text, ")");
}

/* old has no dimensions of size 1, and elements. NULL and strides in to, or why there are none. */
static char *match_groups(const struct strides_tensor *old, struct strides_tensor *to)
{
    unsigned i = 0, j = 0;
    while (i < old->rank && j < to->rank) {
        unsigned old_first = i, new_first = j;
        int64_t old_count = old->shape[i++], new_count = to->shape[j++];
        while (old_count != new_count)
            if (new_count < old_count)
                new_count *= to->shape[j++];
            else
                old_count *= old->shape[i++];
        for (unsigned k = old_first; k + 1 < i; k++) {
            int64_t even = old->shape[k + 1] * old->stride[k + 1];
            if (old->stride[k] == even)
                continue;
            struct lk_buf text = {0};
            lk_buf_printf(&text, "One new dimension would have to run through ");
            print_part(&text, old, k, k + 2);
            lk_buf_printf(&text,
                          " in even steps: %lld x %lld = %lld is needed, and the stride is "
                          "%lld.",
                          (long long)old->shape[k + 1], (long long)old->stride[k + 1],
                          (long long)even, (long long)old->stride[k]);
            return text.data;
        }
        int64_t stride = old->stride[i - 1];
        for (unsigned k = j; k-- > new_first; stride *= to->shape[k])
            to->stride[k] = stride;
    }
    for (; j < to->rank; j++) /* what is left has size 1 */
        to->stride[j] = j ? to->stride[j - 1] : 1;
    return NULL;
}

static bool reshape(const struct strides_tensor *from, const char *value, struct strides_step *step,
                    char **message)
{
    struct strides_tensor to, old = {0};
    if (!read_new_shape(from, value, &to, message))
        return false;
    if (strides_is_contiguous(from)) {
        lay_out(&to);
        to.offset = from->offset;
        step->why =
            lk_format("It lies row by row without gaps, so any shape of as many elements fits.");
    } else {
        for (unsigned i = 0; i < from->rank; i++)
            if (from->shape[i] != 1) {
                old.shape[old.rank] = from->shape[i];
                old.stride[old.rank++] = from->stride[i];
            }
        step->why = match_groups(&old, &to);
        to.offset = from->offset;
        if (step->why) {
            step->way = STRIDES_COPY;
            lay_out(&to);
        } else {
            step->why =
                lk_format("Every dimension that is split or joined is walked in even steps.");
        }
    }
    step->tensor = to;
    return true;
}

static bool view(const struct strides_tensor *from, const char *value, struct strides_step *step,
                 char **message)
{
    if (!reshape(from, value, step, message))
        return false;
    if (step->way == STRIDES_COPY) {
        char *why =
            lk_format("%s PyTorch's view() is an error here; reshape() would copy.", step->why);
        free(step->why);
        step->why = why;
        step->way = STRIDES_REFUSED;
        step->tensor = *from;
    }
    return true;
}

static bool contiguous(const struct strides_tensor *from, const char *value,
                       struct strides_step *step, char **message)
{
    if (strides_is_contiguous(from)) {
        step->why = lk_format("It lies row by row already.");
        return true;
    }
    lay_out(&step->tensor);
    step->way = STRIDES_COPY;
    step->why = lk_format("All elements are written again, row by row.");
    return true;
}

/* Operations ------------------------------------------------------------------------------------*/

static const struct operation {
    const char *name;
    bool takes_value;
    bool (*apply)(const struct strides_tensor *from, const char *value, struct strides_step *step,
                  char **message);
} operations[] = {{"permute", true, permute}, {"transpose", true, transpose},
                  {"slice", true, slice},     {"reshape", true, reshape},
                  {"view", true, view},       {"contiguous", false, contiguous}};
#define OPERATIONS (sizeof operations / sizeof operations[0])

static const struct operation *find(const char *word)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (strcmp(operations[i].name, word) == 0)
            return &operations[i];
    return NULL;
}

bool strides_is_operation(const char *word, bool *takes_value)
{
    const struct operation *operation = find(word);
    if (operation)
        *takes_value = operation->takes_value;
    return operation != NULL;
}

bool strides_apply(const struct strides_tensor *from, const char *word, const char *value,
                   struct strides_step *step, char **message)
{
    const struct operation *operation = find(word);
    *step = (struct strides_step){.tensor = *from, .way = STRIDES_VIEW};
    *message = NULL;
    if (!operation) {
        *message = lk_format("there is no operation '%s'; there are permute, transpose, slice, "
                             "reshape, view and contiguous",
                             word);
        return false;
    }
    if (operation->takes_value && !value) {
        *message = lk_format("%s needs a value, as in 'reshape 6,4' or 'permute 2,0,1'", word);
        return false;
    }
    return operation->apply(from, value, step, message);
}
