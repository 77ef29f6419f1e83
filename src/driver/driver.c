/*
 * driver.c: the two tables of driver.h: simt's, filled from api.def, and the real driver's, which
 * load.c looks up in libcuda.so.1.
 */
#include "cuda/driver.h"
#include "driver/state.h"

#include "cuda/load.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct lk_driver simt_table = {
    .gpu = "sim:h200",
    .simulated = true,
#define FN(result, name, parameters, arguments) .name = drv_##name,
#include "cuda/api.def"
};

const struct lk_driver *lk_driver_simt(void)
{
    return &simt_table;
}

static const struct lk_driver *open_cuda(const char *gpu, char **message)
{
    static struct lk_driver table;
    static void *library;
    int device;
    if (!library) {
        void *found = lk_driver_find_real(message);
        if (!found || !lk_driver_load(&table, found, message))
            return NULL;
        library = found;
    }
    if (!lk_driver_has_device(&table, gpu, &device, message))
        return NULL;
    table.gpu = strdup(gpu);
    return &table;
}

const struct lk_driver *lk_driver_open(const char *gpu, char **message)
{
    *message = NULL;
    if (!gpu)
        gpu = getenv("LOCKSTEP_GPU");
    if (!gpu || !*gpu)
        gpu = "sim:h200";
    if (strncasecmp(gpu, "cuda:", 5) == 0)
        return open_cuda(gpu, message);
    if (!drv_device_count && lk_driver_set_gpu(gpu, message) != CUDA_SUCCESS)
        return NULL;
    free(*message);
    *message = NULL;
    simt_table.gpu = strdup(gpu);
    return &simt_table;
}
