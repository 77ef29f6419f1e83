/*
 * children.c: what a launch collects for the driver: see children.h. The threads that run blocks
 * share it, so everything here takes its lock.
 */
#include "simt/children.h"
#include "simt/core.h"

#include <stdlib.h>
#include <string.h>

enum { NO_MEMORY = 2, INVALID_VALUE = 1 }; /* cudaError_t */

void simt_children_open(struct simt_children *children, struct simt_machine *machine,
                        const struct simt_runtime_calls *calls)
{
    *children = (struct simt_children){.machine = machine, .calls = calls};
    pthread_mutex_init(&children->lock, NULL);
}

static void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    return lk_realloc(items, *capacity * size);
}

void simt_child_free(struct simt_child *child)
{
    free(child->params);
    free(child);
}

static void free_buffer(struct simt_children *children, struct simt_child *child)
{
    if (child->buffer)
        simt_memory_free(&children->machine->memory, child->buffer, SIMT_OWNER_MACHINE);
    child->buffer = 0;
}

static int by_block(const void *a, const void *b)
{
    const struct simt_child *x = *(struct simt_child *const *)a;
    const struct simt_child *y = *(struct simt_child *const *)b;
    if (x->from_block != y->from_block)
        return x->from_block < y->from_block ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_ready(const struct simt_child *child)
{
    return child->stream != SIMT_STREAM_TAIL &&
           (child->kind != SIMT_CHILD_KERNEL || simt_kernel_runs_beside(child->kernel));
}

bool simt_children_any_ready(struct simt_children *children)
{
    bool any = false;
    pthread_mutex_lock(&children->lock);
    for (size_t i = 0; i < children->count && !any; i++)
        any = is_ready(children->items[i]);
    pthread_mutex_unlock(&children->lock);
    return any;
}

struct simt_child **simt_children_take_ready(struct simt_children *children, size_t *count)
{
    pthread_mutex_lock(&children->lock);
    struct simt_child **ready = lk_alloc((children->count + 1) * sizeof *ready);
    size_t left = 0;
    *count = 0;
    for (size_t i = 0; i < children->count; i++)
        if (is_ready(children->items[i]))
            ready[(*count)++] = children->items[i];
        else
            children->items[left++] = children->items[i];
    children->count = left;
    pthread_mutex_unlock(&children->lock);
    if (*count)
        qsort(ready, *count, sizeof *ready, by_block);
    return ready;
}

void simt_children_close(struct simt_children *children)
{
    if (children->count)
        qsort(children->items, children->count, sizeof *children->items, by_block);
    for (size_t i = 0; i < children->buffer_count; i++) {
        free_buffer(children, children->buffers[i]);
        simt_child_free(children->buffers[i]);
    }
    for (size_t i = 0; i < children->text_count; i++)
        simt_memory_free(&children->machine->memory, children->texts[i], SIMT_OWNER_MACHINE);
    free(children->buffers);
    free(children->texts);
    free(children->objects);
    lk_map_free(&children->threads);
    if (children->arena)
        lk_arena_destroy(children->arena);
    pthread_mutex_destroy(&children->lock);
}

struct simt_child *simt_children_prepare(struct simt_children *children, uint32_t bytes, int *error)
{
    uint64_t buffer = simt_memory_alloc(&children->machine->memory, bytes ? bytes : 1,
                                        SIMT_MEMORY_DEVICE, SIMT_OWNER_MACHINE);
    if (!buffer) {
        *error = NO_MEMORY;
        return NULL;
    }
    struct simt_child *child = lk_alloc_zeroed(sizeof *child);
    child->buffer = buffer;
    child->buffer_bytes = bytes;
    simt_children_put_back(children, child);
    return child;
}

void simt_children_put_back(struct simt_children *children, struct simt_child *child)
{
    pthread_mutex_lock(&children->lock);
    children->buffers = grown(children->buffers, children->buffer_count, &children->buffer_capacity,
                              sizeof *children->buffers);
    children->buffers[children->buffer_count++] = child;
    pthread_mutex_unlock(&children->lock);
}

struct simt_child *simt_children_take(struct simt_children *children, uint64_t buffer)
{
    struct simt_child *found = NULL;
    pthread_mutex_lock(&children->lock);
    for (size_t i = children->buffer_count; i-- > 0 && !found;) {
        if (children->buffers[i]->buffer != buffer)
            continue;
        found = children->buffers[i];
        children->buffers[i] = children->buffers[--children->buffer_count];
    }
    pthread_mutex_unlock(&children->lock);
    return found;
}

int simt_children_add(struct simt_children *children, struct simt_child *child)
{
    if (child->kind == SIMT_CHILD_KERNEL) {
        uint32_t bytes = child->kernel->info.param_bytes;
        if (bytes > child->buffer_bytes) {
            free_buffer(children, child);
            simt_child_free(child);
            return INVALID_VALUE;
        }
        child->params = lk_alloc_zeroed(bytes + 1);
        if (bytes)
            memcpy(child->params, (void *)(uintptr_t)(child->buffer + SIMT_BACKING), bytes);
        free_buffer(children, child);
    }
    pthread_mutex_lock(&children->lock);
    children->items =
        grown(children->items, children->count, &children->capacity, sizeof *children->items);
    child->order = children->next_order++;
    children->items[children->count++] = child;
    pthread_mutex_unlock(&children->lock);
    return 0;
}

struct simt_thread *simt_children_thread(struct simt_children *children, uint64_t block,
                                         uint32_t thread)
{
    struct simt_thread wanted = {.key = {block, thread}};
    pthread_mutex_lock(&children->lock);
    struct simt_thread *known =
        lk_map_get(&children->threads, (char *)wanted.key, sizeof wanted.key);
    if (!known) {
        if (!children->arena)
            children->arena = lk_arena_create();
        known = lk_arena_dup(children->arena, &wanted, sizeof wanted);
        lk_map_put(&children->threads, (char *)known->key, sizeof known->key, known);
    }
    pthread_mutex_unlock(&children->lock);
    return known;
}

bool simt_children_fits(struct simt_children *children, struct simt_thread *thread, bool is_tail)
{
    pthread_mutex_lock(&children->lock);
    bool takes = is_tail || !thread->has_slot;
    bool fits = !takes || children->slots < children->most;
    if (takes && fits) {
        children->slots++;
        thread->has_slot |= !is_tail;
    }
    pthread_mutex_unlock(&children->lock);
    return fits;
}

uint64_t simt_children_text(struct simt_children *children, const char *text)
{
    size_t size = strlen(text) + 1;
    uint64_t address =
        simt_memory_alloc(&children->machine->memory, size, SIMT_MEMORY_DEVICE, SIMT_OWNER_MACHINE);
    if (!address)
        return 0;
    memcpy((void *)(uintptr_t)(address + SIMT_BACKING), text, size);
    pthread_mutex_lock(&children->lock);
    children->texts = grown(children->texts, children->text_count, &children->text_capacity,
                            sizeof *children->texts);
    children->texts[children->text_count++] = address;
    pthread_mutex_unlock(&children->lock);
    return address;
}

/* Streams and events: a handle is a number that is no address. --------------------------------- */

#define FIRST_HANDLE 0x10000u

uint64_t simt_children_object(struct simt_children *children, enum simt_object kind)
{
    pthread_mutex_lock(&children->lock);
    children->objects =
        grown(children->objects, children->object_count, &children->object_capacity, 1);
    children->objects[children->object_count] = (uint8_t)kind;
    uint64_t handle = FIRST_HANDLE + 16 * children->object_count++;
    pthread_mutex_unlock(&children->lock);
    return handle;
}

bool simt_children_has(struct simt_children *children, uint64_t handle, enum simt_object kind)
{
    uint64_t index = (handle - FIRST_HANDLE) / 16;
    pthread_mutex_lock(&children->lock);
    bool found = handle >= FIRST_HANDLE && handle % 16 == 0 && index < children->object_count &&
                 children->objects[index] == kind;
    pthread_mutex_unlock(&children->lock);
    return found;
}
