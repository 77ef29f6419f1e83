/*
 * texture.c: the machine's table of textures and surfaces.
 * Kernels look a handle up without a lock: entries are published once and never move. What was
 * destroyed stays for a while, so that a kernel that still runs finds it, and is then reused.
 */
#include "simt/texture.h"

#include "simt/core.h"

#include <stdlib.h>

#define PART 1024
#define PARTS 4096
#define GRAVES 1024

struct simt_textures {
    pthread_mutex_t lock;
    uint64_t count;
    _Atomic(struct simt_texture *) *parts[PARTS]; /* [PART] each */
    struct simt_texture *graves[GRAVES];          /* destroyed, in turn freed */
    uint64_t buried;
    struct simt_texture gone; /* what an entry points to after that */
};

static struct simt_textures *table_of(struct simt_machine *machine)
{
    struct simt_textures *table = atomic_load(&machine->textures);
    if (table)
        return table;
    struct simt_textures *made = lk_alloc_zeroed(sizeof(*made));
    pthread_mutex_init(&made->lock, NULL);
    made->gone.state = TEXTURE_DESTROYED;
    if (atomic_compare_exchange_strong(&machine->textures, &table, made))
        return made;
    free(made);
    return table;
}

static _Atomic(struct simt_texture *) *entry_of(struct simt_textures *table, uint64_t handle)
{
    if (!handle || handle > (uint64_t)PART * PARTS || !table->parts[(handle - 1) / PART])
        return NULL;
    return &table->parts[(handle - 1) / PART][(handle - 1) % PART];
}

uint64_t simt_texture_add(struct simt_machine *machine, const struct simt_texture *what)
{
    struct simt_textures *table = table_of(machine);
    pthread_mutex_lock(&table->lock);
    uint64_t handle = 0;
    if (table->count < (uint64_t)PART * PARTS) {
        handle = ++table->count;
        unsigned part = (unsigned)((handle - 1) / PART);
        if (!table->parts[part])
            table->parts[part] = lk_alloc_zeroed(PART * sizeof(*table->parts[part]));
        struct simt_texture *made = lk_alloc(sizeof(*made));
        memcpy(made, what, sizeof(*made));
        made->state = TEXTURE_LIVE;
        made->handle = handle;
        atomic_store(entry_of(table, handle), made);
    }
    pthread_mutex_unlock(&table->lock);
    return handle;
}

bool simt_texture_remove(struct simt_machine *machine, uint64_t handle)
{
    struct simt_textures *table = table_of(machine);
    pthread_mutex_lock(&table->lock);
    _Atomic(struct simt_texture *) *entry = entry_of(table, handle);
    struct simt_texture *texture = entry ? atomic_load(entry) : NULL;
    bool is_live = texture && texture != &table->gone && texture->state != TEXTURE_DESTROYED;
    if (is_live) {
        texture->state = TEXTURE_DESTROYED;
        struct simt_texture **grave = &table->graves[table->buried++ % GRAVES];
        if (*grave)
            atomic_store(entry_of(table, (*grave)->handle), &table->gone);
        free(*grave);
        *grave = texture;
    }
    pthread_mutex_unlock(&table->lock);
    return is_live;
}

void simt_texture_orphan(struct simt_machine *machine, uint64_t image)
{
    struct simt_textures *table = table_of(machine);
    pthread_mutex_lock(&table->lock);
    for (uint64_t i = 1; i <= table->count; i++) {
        struct simt_texture *texture = atomic_load(entry_of(table, i));
        if (texture != &table->gone && texture->image == image && texture->state == TEXTURE_LIVE)
            texture->state = TEXTURE_WITHOUT_ARRAY;
    }
    pthread_mutex_unlock(&table->lock);
}

const struct simt_texture *simt_texture_find(struct simt_machine *machine, uint64_t handle)
{
    struct simt_textures *table = atomic_load(&machine->textures);
    _Atomic(struct simt_texture *) *entry = table ? entry_of(table, handle) : NULL;
    return entry ? atomic_load(entry) : NULL;
}

void simt_textures_close(struct simt_machine *machine)
{
    struct simt_textures *table = atomic_load(&machine->textures);
    if (!table)
        return;
    for (uint64_t i = 1; i <= table->count; i++) {
        struct simt_texture *texture = atomic_load(entry_of(table, i));
        if (texture != &table->gone)
            free(texture);
    }
    for (unsigned i = 0; i < PARTS; i++)
        free(table->parts[i]);
    pthread_mutex_destroy(&table->lock);
    free(table);
    atomic_store(&machine->textures, NULL);
}

uint64_t texture_lay_out(struct texture_level *level, uint64_t address, uint64_t width_bytes,
                         uint32_t height)
{
    level->address = address;
    level->is_blocked = height > 1;
    level->pitch = (uint32_t)((width_bytes + 63) / 64 * 64);
    level->slice = (uint64_t)level->pitch * (level->is_blocked ? (height + 7) / 8 * 8 : 1);
    return level->slice;
}
