/*
 * zoo_export.c: lockstep zoo export: a variant as one CUDA program that nvcc compiles by itself.
 */
#include "cli/target.h"
#include "cli/zoo.h"
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int usage(char *message)
{
    host_error("%s", message);
    free(message);
    return CLI_USAGE;
}

static bool find_one(const struct cli_zoo *options, const struct zoo_family **family,
                     const struct zoo_variant **variant)
{
    if (options->names.count != 1) {
        host_error("export: name one variant, as in 'lockstep zoo export scan/look_back'");
        return false;
    }
    if (!cli_find_family(options->names.items[0], family, variant))
        return false;
    if (!*variant) {
        host_error("export: which variant of %s? 'lockstep zoo show %s' lists them",
                   (*family)->name, (*family)->name);
        return false;
    }
    if (!zoo_source(*family, *variant)) {
        host_error("%s/%s runs on the CPU: there is no kernel to export", (*family)->name,
                   (*variant)->name);
        return false;
    }
    return true;
}

static bool open_device(const struct cli_zoo *options, const struct zoo_family *family,
                        const struct zoo_variant *variant, struct zoo_device *device)
{
    char name[TARGET_NAME], *message;
    if (!target_choose(options->gpu, name))
        return false;
    if (strcmp(name, "cpu") == 0) {
        host_error("export: --gpu cpu has no kernels; name a GPU, as in --gpu sim:h200");
        return false;
    }
    if (!zoo_device_open(name, device, &message)) {
        usage(message);
        return false;
    }
    const struct zoo_source *source = zoo_source(family, variant);
    if (zoo_runs_on(source, device->arch))
        return true;
    host_error("%s/%s needs sm_%s, and %s is sm_%d; choose a newer one, as in --gpu sim:h200",
               family->name, variant->name, source->arch, device->name, device->arch);
    return false;
}

/* The problem on the command line; NULL and a message if it is wrong. */
static char *read_problem(const struct cli_zoo *options, const struct zoo_device *device,
                          const struct zoo_variant *variant, struct zoo_problem *problem)
{
    const struct zoo_family *family = problem->family;
    char *message = NULL;
    if (!options->problems.size) {
        export_small_problem(device, family, variant, problem, &message);
        return message;
    }
    size_t count;
    struct zoo_problem *problems = zoo_problems(family, options->problems.data, &count, &message);
    if (!problems)
        return message;
    if (count > 1)
        message = lk_format("zoo export writes one problem, and '%s' are %zu",
                            options->problems.data, count);
    else if (problems->distribution != 0)
        message =
            lk_format("zoo export fills inputs with one distribution (%s); leave dist= out and "
                      "change fill_inputs in the exported file",
                      family->distributions[0]);
    else if (!zoo_takes(variant, problems))
        message = lk_format("%s/%s does not take %s; 'lockstep zoo test %s/%s %s --verbose' shows "
                            "which variants do",
                            family->name, variant->name, options->problems.data, family->name,
                            variant->name, options->problems.data);
    else if (!zoo_fits(device, variant, NULL, problems))
        message =
            lk_format("%s has too little shared memory for %s/%s; choose another GPU with --gpu",
                      device->name, family->name, variant->name);
    *problem = *problems;
    free(problems);
    return message;
}

static int write_file(const struct cli_zoo *options, const struct lk_buf *text)
{
    int flags = O_WRONLY | O_CREAT | (options->force ? O_TRUNC : O_EXCL);
    int file = open(options->file, flags, 0666);
    if (file < 0 && errno == EEXIST) {
        host_error("%s exists already; --force overwrites it, -o names another file",
                   options->file);
        return CLI_USAGE;
    }
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    bool fine = stream && fwrite(text->data, 1, text->size, stream) == text->size;
    fine = stream && fclose(stream) == 0 && fine;
    if (!fine) {
        host_error("%s: %s; name a file that can be written with -o", options->file,
                   strerror(errno));
        return CLI_USAGE;
    }
    return CLI_OK;
}

int cli_zoo_export(const struct cli_zoo *options)
{
    struct zoo_device device;
    struct lk_buf text = {0};
    struct export_request export = {.device = &device};
    char *message = NULL, *standard = NULL;
    if (!find_one(options, &export.problem.family, &export.variant) ||
        !open_device(options, export.problem.family, export.variant, &device))
        return CLI_USAGE;
    if ((message = read_problem(options, &device, export.variant, &export.problem)))
        return usage(message);
    standard = lk_format("%s.cu", export.variant->name);
    const char *slash = options->file ? strrchr(options->file, '/') : NULL;
    export.file = slash ? slash + 1 : options->file ? options->file : standard;
    int status = CLI_OK;
    if (!export_program(&export, &text, &message))
        status = usage(message);
    else if (options->file)
        status = write_file(options, &text);
    else
        fwrite(text.data, 1, text.size, stdout);
    lk_buf_free(&text);
    free(standard);
    return status;
}
