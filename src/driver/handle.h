/*
 * handle.h: what is behind CUDA's opaque handles, and the tables and lists that keep them.
 * Private to src/driver; state.h has the structs themselves.
 */
#ifndef LOCKSTEP_DRIVER_HANDLE_H
#define LOCKSTEP_DRIVER_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum drv_type {
    DRV_CONTEXT = 0x4c4b0001,
    DRV_MODULE,
    DRV_FUNCTION,
    DRV_LIBRARY,
    DRV_KERNEL,
    DRV_STREAM,
    DRV_EVENT,
    DRV_GRAPH,
    DRV_NODE,
    DRV_EXEC,
    DRV_POOL,
    DRV_LINK,
    DRV_USER,
    DRV_PHYSICAL,
    DRV_ARRAY,
    DRV_MIPMAPPED,
    DRV_TEXREF
};

struct drv_object {
    enum drv_type type;
};

struct drv_table { /* 64-bit keys (not 0) to pointers */
    struct drv_slot {
        uint64_t key;
        void *value;
    } * slots;
    size_t count, capacity;
};
void drv_table_put(struct drv_table *table, uint64_t key, void *value);
void *drv_table_get(const struct drv_table *table, uint64_t key);
void *drv_table_remove(struct drv_table *table, uint64_t key);

void *drv_new(size_t size, enum drv_type type);         /* zeroed, alive */
void drv_delete(void *object);                          /* no longer alive, freed */
bool drv_alive(const void *object, enum drv_type type); /* is this such an object? */

/* Lists of pointers that grow; used for nodes, edges, dependents. */
struct drv_list {
    void **items;
    size_t count, capacity;
};
void drv_list_add(struct drv_list *list, void *item);
bool drv_list_has(const struct drv_list *list, const void *item);
void drv_list_remove(struct drv_list *list, const void *item);
void drv_list_free(struct drv_list *list);

#endif
