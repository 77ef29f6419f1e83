/*
 * target.c: parses --gpu and asks the real driver which GPUs there are; see target.h.
 */
#include "cli/target.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void target_find_devices(struct target_devices *devices)
{
    devices->count = lk_driver_list(devices->device, TARGET_DEVICES);
}

static const struct gpu_info *parse_simulated(const char *text, unsigned *count)
{
    char *message;
    const struct gpu_info *gpu = gpu_parse(text, count, &message);
    if (!gpu)
        host_error("%s", message);
    free(message);
    return gpu;
}

const struct gpu_info *target_find_gpu(const char *name)
{
    unsigned count;
    return parse_simulated(name, &count);
}

static void set_simulated(struct target *target, const struct gpu_info *gpu, unsigned count)
{
    *target = (struct target){
        .simulated = gpu, .count = count, .cc_major = gpu->cc_major, .cc_minor = gpu->cc_minor};
}

static void set_real(struct target *target, const struct target_devices *devices, unsigned index)
{
    *target = (struct target){.index = index,
                              .cc_major = devices->device[index].cc_major,
                              .cc_minor = devices->device[index].cc_minor};
}

static bool parse_real(const char *text, struct target *target)
{
    unsigned long long index;
    struct target_devices devices;
    if (!cli_number("--gpu cuda:N", text, 0, TARGET_DEVICES - 1, &index))
        return false;
    target_find_devices(&devices);
    if (index < devices.count) {
        set_real(target, &devices, (unsigned)index);
        return true;
    }
    if (devices.count == 0)
        host_error("cuda:%llu: this machine has no NVIDIA GPU that its driver can open; "
                   "--gpu sim:h200 needs none",
                   index);
    else
        host_error("cuda:%llu: this machine has %u GPU%s, cuda:0 to cuda:%u", index, devices.count,
                   devices.count > 1 ? "s" : "", devices.count - 1);
    return false;
}

bool target_parse(const char *text, struct target *target)
{
    if (!text || !*text) {
        struct target_devices devices;
        target_find_devices(&devices);
        if (devices.count > 0)
            set_real(target, &devices, 0);
        else
            set_simulated(target, gpu_find("h200"), 1);
        return true;
    }
    if (strncasecmp(text, "sim:", 4) == 0) {
        unsigned many;
        const struct gpu_info *gpu = parse_simulated(text, &many);
        if (gpu)
            set_simulated(target, gpu, many);
        return gpu != NULL;
    }
    if (strncasecmp(text, "cuda:", 5) == 0)
        return parse_real(text + 5, target);
    host_error("a GPU is sim:NAME or cuda:N, as in --gpu sim:h200, not '%s'", text);
    return false;
}

void target_name(const struct target *target, char name[TARGET_NAME])
{
    if (!target->simulated)
        snprintf(name, TARGET_NAME, "cuda:%u", target->index);
    else if (target->count == 1)
        snprintf(name, TARGET_NAME, "sim:%s", target->simulated->id);
    else
        snprintf(name, TARGET_NAME, "sim:%sx%u", target->simulated->id, target->count);
}

bool target_choose(const char *gpu, char name[TARGET_NAME])
{
    struct target target;
    if (!gpu)
        gpu = getenv("LOCKSTEP_GPU");
    if (gpu && strcmp(gpu, "cpu") == 0) {
        snprintf(name, TARGET_NAME, "cpu");
        return true;
    }
    if (!target_parse(gpu, &target))
        return false;
    target_name(&target, name);
    return true;
}
