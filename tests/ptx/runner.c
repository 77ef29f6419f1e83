/*
 * runner.c: runs PTX test files through the driver table, on the machine or on a GPU, and compares.
 *   runner [--gpu sim:h200] [--update] [--allow-pending] [--above sm_90] [--dump] FILE.ptx ...
 *   runner --coverage FILE.ptx ...
 * One line per kernel: "ok FILE/KERNEL" or "not ok FILE/KERNEL (why)". Exit status 1 if one is not.
 * --update rewrites the expected outputs from what came out: for use with --gpu cuda:0, where the
 * truth is. --above runs only files that need a newer GPU than that. README.md has the format.
 */
#include "test.h"

#include "cuda/driver.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct {
    const char *gpu;
    const char *program;
    bool update, allow_pending, dump;
    unsigned above;
    int progress; /* a worker tells its parent here which file it is at */
} options = {.gpu = "sim:h200", .progress = -1};

static const struct lk_driver *driver;
static unsigned capability; /* 90 */
static unsigned failures, pending;

#define POISON 0xa5

static const char *error_name(CUresult result)
{
    const char *name = NULL;
    driver->cuGetErrorName(result, &name);
    return name ? name : "?";
}

static bool open_driver(void)
{
    char *message;
    CUdevice device;
    driver = lk_driver_open(options.gpu, &device, &message);
    if (!driver) {
        fprintf(stderr, "%s\n", message);
        free(message);
        return false;
    }
    CUcontext context;
    int major = 0, minor = 0;
    CUresult result = driver->cuDevicePrimaryCtxRetain(&context, device);
    if (!result)
        result = driver->cuCtxSetCurrent(context);
    if (result) {
        fprintf(stderr, "no device: %s\n", error_name(result));
        return false;
    }
    driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    capability = (unsigned)(10 * major + minor);
    return true;
}

static CUresult launch_in_clusters(CUfunction function, const struct test_run *run, void **params)
{
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    cluster.value.clusterDim.x = run->cluster[0];
    cluster.value.clusterDim.y = run->cluster[1];
    cluster.value.clusterDim.z = run->cluster[2];
    CUlaunchConfig config = {.gridDimX = run->grid[0],
                             .gridDimY = run->grid[1],
                             .gridDimZ = run->grid[2],
                             .blockDimX = run->block[0],
                             .blockDimY = run->block[1],
                             .blockDimZ = run->block[2],
                             .sharedMemBytes = run->shared,
                             .attrs = &cluster,
                             .numAttrs = 1};
    return driver->cuLaunchKernelEx(&config, function, params, NULL);
}

/* Launches one kernel; out gets what it wrote. */
static CUresult launch(const struct test_file *file, CUmodule module, const struct test_run *run,
                       uint8_t *out)
{
    CUfunction function;
    CUdeviceptr out_address = 0, in_address = 0;
    size_t out_size = run->out_size ? run->out_size : 4;
    size_t in_size = file->input_size ? file->input_size : 4;
    CUresult result = driver->cuModuleGetFunction(&function, module, run->kernel);
    if (!result)
        result = driver->cuMemAlloc_v2(&out_address, out_size);
    if (!result)
        result = driver->cuMemAlloc_v2(&in_address, in_size);
    if (!result)
        result = driver->cuMemsetD8_v2(out_address, POISON, out_size);
    for (size_t i = 0; !result && i < file->map_count; i++)
        result =
            (CUresult)test_map_encode(driver, &file->maps[i], in_address, out_address, file->input);
    if (!result && file->input_size)
        result = driver->cuMemcpyHtoD_v2(in_address, file->input, file->input_size);
    void *params[] = {&out_address, &in_address};
    if (!result && run->cluster[0])
        result = launch_in_clusters(function, run, params);
    else if (!result && run->cooperative)
        result = driver->cuLaunchCooperativeKernel(function, run->grid[0], run->grid[1],
                                                   run->grid[2], run->block[0], run->block[1],
                                                   run->block[2], run->shared, NULL, params);
    else if (!result)
        result = driver->cuLaunchKernel(function, run->grid[0], run->grid[1], run->grid[2],
                                        run->block[0], run->block[1], run->block[2], run->shared,
                                        NULL, params, NULL);
    if (!result)
        result = driver->cuCtxSynchronize();
    if (!result && run->out_size)
        result = driver->cuMemcpyDtoH_v2(out, out_address, run->out_size);
    if (out_address)
        driver->cuMemFree_v2(out_address);
    if (in_address)
        driver->cuMemFree_v2(in_address);
    return result;
}

static CUresult load(const struct test_file *file, CUmodule *module, char *log, size_t size)
{
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)size};
    log[0] = 0;
    return driver->cuModuleLoadDataEx(module, file->text, 2, names, values);
}

static void report(const struct test_file *file, const struct test_run *run, const char *why)
{
    bool good = !why;
    printf("%s %s/%s%s%s%s\n", good ? "ok" : "not ok", file->name, run->kernel, good ? "" : " (",
           good ? "" : why, good ? "" : ")");
    failures += !good;
}

static void dump(const struct test_section *s, const uint8_t *data)
{
    printf("# %s\n", s->label ? s->label : "");
    for (size_t i = 0; i + 4 <= s->size; i += 4) {
        uint32_t word;
        memcpy(&word, data + i, 4);
        printf("%s%08x%s", i % 32 ? " " : "#   ", word,
               i % 32 == 28 || i + 8 > s->size ? "\n" : "");
    }
}

/* Compares every section; reports the first difference and how many there are. */
static void judge(const struct test_file *file, const struct test_run *run, const uint8_t *out)
{
    char first[600] = "";
    unsigned differences = 0, waiting = 0;
    size_t offset = 0;
    for (size_t k = 0; k < run->section_count; k++) {
        const struct test_section *s = &run->sections[k];
        char why[256];
        if (!test_compare(s, out + offset, why, sizeof(why))) {
            bool is_pending = s->form == TEST_PENDING;
            waiting += is_pending;
            differences += !(is_pending && options.allow_pending);
            if (!first[0] && !(is_pending && options.allow_pending))
                snprintf(first, sizeof(first), "%s: %s", s->label ? s->label : "output", why);
            if (options.dump)
                dump(s, out + offset);
        }
        offset += s->size;
    }
    pending += waiting;
    if (differences > 1) {
        size_t used = strlen(first);
        snprintf(first + used, sizeof(first) - used, "; %u of %zu outputs differ", differences,
                 run->section_count);
    }
    report(file, run, differences ? first : NULL);
}

/* Runs that must end in an error get a process of their own. */
static int child(const char *path, const char *kernel)
{
    struct test_file *file = test_read(path);
    if (!file || !open_driver())
        return 2;
    CUmodule module;
    char log[2048];
    CUresult result = load(file, &module, log, sizeof(log));
    if (result) {
        fprintf(stderr, "%s\n", log);
    } else {
        for (size_t r = 0; r < file->run_count; r++)
            if (!strcmp(file->runs[r].kernel, kernel)) {
                uint8_t *out = calloc(1, file->runs[r].out_size + 4);
                result = launch(file, module, &file->runs[r], out);
                free(out);
            }
    }
    printf("result %d\n", (int)result);
    fflush(stdout);
    _exit(0); /* a context with an error is in no state to be closed */
}

static void run_in_child(const struct test_file *file, const struct test_run *run)
{
    int pipe_ends[2];
    if (pipe(pipe_ends))
        abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    char *arguments[] = {(char *)options.program,
                         "--gpu",
                         (char *)driver->gpu,
                         "--child",
                         file->path,
                         run->kernel,
                         NULL};
    pid_t pid;
    int error = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    char text[8192] = "", why[8400];
    size_t used = 0;
    ssize_t got;
    while (!error && (got = read(pipe_ends[0], text + used, sizeof(text) - 1 - used)) > 0)
        used += (size_t)got;
    close(pipe_ends[0]);
    int status = 0;
    if (!error)
        waitpid(pid, &status, 0);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    const char *result = strstr(text, "result ");
    snprintf(why, sizeof(why), "status %d: %s", code, text);
    for (char *c = why; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    bool good = run->stops ? code == 3 && strstr(text, run->stops)
                           : code == 0 && result && strtol(result + 7, NULL, 10) == run->fails;
    report(file, run, good ? NULL : why);
}

/* What the machine does not support does not matter on a GPU. */
static bool only_stops(const struct test_file *file)
{
    for (size_t r = 0; r < file->run_count; r++)
        if (!file->runs[r].stops)
            return false;
    return true;
}

static void run_file(const char *path)
{
    struct test_file *file = test_read(path);
    if (!file) {
        printf("not ok %s (cannot be read)\n", path);
        failures++;
        return;
    }
    uint8_t **outputs = calloc(file->run_count + 1, sizeof(*outputs));
    CUmodule module = NULL;
    char log[2048];
    if (file->needs > capability || file->needs <= options.above) {
        if (!options.above)
            printf("# skip %s: needs sm_%u\n", file->name, file->needs);
        goto out;
    }
    if (!driver->simulated && only_stops(file))
        goto out;
    CUresult result = load(file, &module, log, sizeof(log));
    if (result) {
        for (char *c = log; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
        printf("not ok %s (does not load: %s: %s)\n", file->name, error_name(result), log);
        failures++;
        goto out;
    }
    for (size_t r = 0; r < file->run_count; r++) {
        const struct test_run *run = &file->runs[r];
        if (run->stops || run->fails) {
            if (!run->stops || driver->simulated)
                run_in_child(file, run);
            continue;
        }
        uint8_t *out = calloc(1, run->out_size + 4);
        result = launch(file, module, run, out);
        if (result) {
            report(file, run, error_name(result));
            free(out);
            if (result != CUDA_ERROR_NOT_FOUND)
                break;
            continue;
        }
        outputs[r] = out;
        if (!options.update)
            judge(file, run, out);
    }
    if (options.update && test_update(file, outputs))
        printf("updated %s\n", file->name);
    driver->cuModuleUnload(module);
out:
    for (size_t r = 0; r < file->run_count; r++)
        free(outputs[r]);
    free(outputs);
    test_free(file);
}

/* Files run in a worker, so that one that ends the process does not take the others along: the
 * parent reports it and starts a worker for the rest. */
#define ALL_DONE UINT32_MAX

static int work(char **paths, uint32_t count)
{
    if (!open_driver())
        return 2;
    for (uint32_t i = 0; i <= count; i++) {
        uint32_t now = i < count ? i : ALL_DONE;
        if (options.progress >= 0 && write(options.progress, &now, sizeof(now)) != sizeof(now))
            return 2;
        if (i < count)
            run_file(paths[i]);
    }
    if (pending)
        printf("# %u outputs are pending\n", pending);
    return failures ? 1 : 0;
}

static int start_worker(char **argv, int option_count, char **paths, uint32_t count,
                        uint32_t *reached)
{
    int ends[2];
    if (pipe(ends))
        abort();
    char number[16];
    snprintf(number, sizeof(number), "%d", ends[1]);
    char **arguments = calloc((size_t)option_count + count + 4, sizeof(*arguments));
    int n = 0;
    for (int i = 0; i < option_count; i++)
        arguments[n++] = argv[i];
    arguments[n++] = "--worker";
    arguments[n++] = number;
    memcpy(arguments + n, paths, count * sizeof(*paths));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    fflush(stdout);
    pid_t pid;
    int error = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(arguments);
    close(ends[1]);
    uint32_t now;
    *reached = 0;
    while (!error && read(ends[0], &now, sizeof(now)) == sizeof(now))
        *reached = now;
    close(ends[0]);
    int status = 0;
    if (error || waitpid(pid, &status, 0) < 0)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_in_workers(char **argv, int option_count, char **paths, uint32_t count)
{
    int worst = 0;
    for (uint32_t first = 0; first < count;) {
        uint32_t reached;
        int status = start_worker(argv, option_count, paths + first, count - first, &reached);
        worst = status && worst != 2 ? (status == 2 ? 2 : 1) : worst;
        if (reached == ALL_DONE || status == 2)
            break;
        printf("not ok %s (the process ended with status %d)\n", paths[first + reached], status);
        first += reached + 1;
    }
    return worst;
}

static void usage(void)
{
    fprintf(stderr,
            "usage: runner [--gpu GPU] [--update] [--allow-pending] [--above sm_N] [--dump] "
            "FILE.ptx ...\n       runner --coverage FILE.ptx ...\n");
    exit(2);
}

int main(int argc, char **argv)
{
    bool coverage = false;
    options.program = argv[0];
    setvbuf(stdout, NULL, _IOLBF, 0);
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--update"))
            options.update = true;
        else if (!strcmp(argv[i], "--allow-pending"))
            options.allow_pending = true;
        else if (!strcmp(argv[i], "--dump"))
            options.dump = true;
        else if (!strcmp(argv[i], "--coverage"))
            coverage = true;
        else if (!strcmp(argv[i], "--gpu") && i + 1 < argc)
            options.gpu = argv[++i];
        else if (!strcmp(argv[i], "--above") && i + 1 < argc)
            options.above = (unsigned)strtoul(argv[++i] + 3, NULL, 10);
        else if (!strcmp(argv[i], "--worker") && i + 1 < argc)
            options.progress = (int)strtol(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--child") && i + 2 < argc)
            return child(argv[i + 1], argv[i + 2]);
        else
            usage();
    }
    if (i == argc)
        usage();
    if (coverage)
        return test_coverage(argv + i, (size_t)(argc - i), false) ? 0 : 1;
    uint32_t count = (uint32_t)(argc - i);
    return options.progress >= 0 ? work(argv + i, count) : run_in_workers(argv, i, argv + i, count);
}
