/*
 * array.h: CUDA arrays and mipmapped arrays of the simulated driver.
 */
#ifndef LOCKSTEP_DRIVER_ARRAY_H
#define LOCKSTEP_DRIVER_ARRAY_H

#include "driver/state.h"
#include "simt/texture.h"

struct CUmipmappedArray_st {
    struct drv_object object;
    CUcontext context;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    uint64_t memory; /* of all levels */
    unsigned level_count;
    struct texture_level levels[TEXTURE_LEVELS];
    CUarray arrays[TEXTURE_LEVELS]; /* made when asked for */
    bool is_array; /* made by cuArrayCreate: its one level is what the program has */
};

/* One level of it; what a program calls an array has one that nobody else knows. */
struct CUarray_st {
    struct drv_object object;
    CUmipmappedArray whole;
    unsigned level;
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* of the level */
};

/* Bytes of a channel and what it holds; false: no such format, or not with so many channels. */
bool drv_array_format(CUarray_format format, unsigned channels, unsigned *element,
                      enum texture_format *kind);
void drv_arrays_forget(CUcontext context);
/* Does the box lie in the array? In bytes, rows and slices or layers. */
bool drv_array_has(CUarray array, size_t x, size_t y, size_t z, size_t width, size_t height,
                   size_t depth);
/* Moves a box between an array and rows of bytes. */
void drv_array_move(CUarray array, const struct drv_copy_side *side,
                    const struct drv_copy_work *copy, char *bytes, size_t pitch, size_t slice,
                    bool to_array);

/* For watchers: the box was written. */
void drv_array_note_written(CUarray array, const struct drv_copy_side *side,
                            const struct drv_copy_work *copy);

/* Textures and surfaces: texture.c. NULL: not a handle of the context's device. */
CUresult drv_texture_make(CUcontext context, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *sampler, const CUDA_RESOURCE_VIEW_DESC *view,
                          bool is_surface, uint64_t *handle);
size_t drv_texture_linear_most(unsigned element);
/* Work that is under way may still use it, as on a GPU. */
bool drv_texture_drop(CUcontext context, uint64_t handle, bool is_surface);
/* Lets go of what was dropped, if no work is under way any more. */
void drv_textures_settle(CUcontext context);

/* Texture references: texref.c. */
void drv_texrefs_forget(CUmodule module);

#endif
