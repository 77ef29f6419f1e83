/*
 * image.h: what our own linker's output begins with; it loads again like a cubin.
 */
#ifndef LOCKSTEP_DRIVER_IMAGE_H
#define LOCKSTEP_DRIVER_IMAGE_H

#define DRV_LINKED_MAGIC "\x7fLKPTX\n"
#define DRV_LINKED_REGISTERS "//registers " /* then a number: CU_JIT_MAX_REGISTERS of the link */

/* Registers per thread that it was limited to; 0: not limited, or another image. */
unsigned drv_linked_registers(const void *image);

#endif
