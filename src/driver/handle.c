/*
 * handle.c: which handles are alive, and the two containers the driver uses.
 * A program may pass any garbage as a handle; asking here first turns that into
 * CUDA_ERROR_INVALID_HANDLE instead of a crash.
 */
#include "base/arena.h"
#include "driver/state.h"

#include <stdlib.h>
#include <string.h>

pthread_mutex_t drv_lock = PTHREAD_MUTEX_INITIALIZER;
__thread struct drv_thread drv_thread;

static struct drv_table alive;
static pthread_mutex_t alive_lock = PTHREAD_MUTEX_INITIALIZER;

void drv_enter_lock(void)
{
    pthread_mutex_lock(&drv_lock);
}

void drv_leave_lock(void)
{
    pthread_mutex_unlock(&drv_lock);
}

uint64_t drv_thread_id(void)
{
    static uint64_t next;
    if (!drv_thread.id)
        drv_thread.id = __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED);
    return drv_thread.id;
}

static size_t slot_of(const struct drv_table *table, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15ull;
    return (hash ^ hash >> 32) & (table->capacity - 1);
}

static void table_grow(struct drv_table *table)
{
    struct drv_table bigger = {.capacity = table->capacity ? table->capacity * 2 : 64};
    bigger.slots = lk_alloc_zeroed(bigger.capacity * sizeof *bigger.slots);
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].key)
            drv_table_put(&bigger, table->slots[i].key, table->slots[i].value);
    }
    free(table->slots);
    *table = bigger;
}

void drv_table_put(struct drv_table *table, uint64_t key, void *value)
{
    if (table->count * 2 >= table->capacity)
        table_grow(table);
    size_t i = slot_of(table, key);
    while (table->slots[i].key && table->slots[i].key != key)
        i = (i + 1) & (table->capacity - 1);
    table->count += !table->slots[i].key;
    table->slots[i] = (struct drv_slot){key, value};
}

void *drv_table_get(const struct drv_table *table, uint64_t key)
{
    if (!table->capacity || !key)
        return NULL;
    for (size_t i = slot_of(table, key); table->slots[i].key; i = (i + 1) & (table->capacity - 1)) {
        if (table->slots[i].key == key)
            return table->slots[i].value;
    }
    return NULL;
}

void *drv_table_remove(struct drv_table *table, uint64_t key)
{
    if (!table->capacity || !key)
        return NULL;
    size_t mask = table->capacity - 1, i = slot_of(table, key);
    while (table->slots[i].key && table->slots[i].key != key)
        i = (i + 1) & mask;
    if (!table->slots[i].key)
        return NULL;
    void *value = table->slots[i].value;
    /* Close the hole: move back what may stand nearer to its own slot. */
    for (size_t j = (i + 1) & mask; table->slots[j].key; j = (j + 1) & mask) {
        size_t home = slot_of(table, table->slots[j].key);
        if (((j - home) & mask) >= ((j - i) & mask)) {
            table->slots[i] = table->slots[j];
            i = j;
        }
    }
    table->slots[i] = (struct drv_slot){0, NULL};
    table->count--;
    return value;
}

void *drv_new(size_t size, enum drv_type type)
{
    struct drv_object *object = lk_alloc_zeroed(size);
    object->type = type;
    pthread_mutex_lock(&alive_lock);
    drv_table_put(&alive, (uintptr_t)object, object);
    pthread_mutex_unlock(&alive_lock);
    return object;
}

void drv_delete(void *object)
{
    pthread_mutex_lock(&alive_lock);
    drv_table_remove(&alive, (uintptr_t)object);
    pthread_mutex_unlock(&alive_lock);
    free(object);
}

bool drv_alive(const void *object, enum drv_type type)
{
    pthread_mutex_lock(&alive_lock);
    const struct drv_object *found = drv_table_get(&alive, (uintptr_t)object);
    bool yes = found && found->type == type;
    pthread_mutex_unlock(&alive_lock);
    return yes;
}

void drv_list_add(struct drv_list *list, void *item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 4;
        list->items = lk_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = item;
}

bool drv_list_has(const struct drv_list *list, const void *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == item)
            return true;
    }
    return false;
}

void drv_list_remove(struct drv_list *list, const void *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == item) {
            memmove(&list->items[i], &list->items[i + 1],
                    (list->count - i - 1) * sizeof *list->items);
            list->count--;
            return;
        }
    }
}

void drv_list_free(struct drv_list *list)
{
    free(list->items);
    *list = (struct drv_list){0};
}
