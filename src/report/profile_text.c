/*
 * profile_text.c: a profile on a terminal of 100 columns: what the program launched, then for each
 * kernel the summary, the parts of the time model, the source with its hot lines, and the advice.
 */
#include "gpu/whatif.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

enum { BAR = 30, LISTED_LINES = 40, DETAILED_GROUPS = 8, OVERVIEW_GROUPS = 24, WIDTH = 100 };

struct printer {
    FILE *out;
    const struct report_paint *paint;
    const struct profile *profile;
};

/* A bar of eighths of a column. */
static void put_bar(FILE *out, double fraction, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int all = (int)(fraction * width * 8 + 0.5), column = 0;
    all = all < 0 ? 0 : all > width * 8 ? width * 8 : all;
    for (; column < all / 8; column++)
        fputs("█", out);
    if (all % 8)
        fputs(eighths[all % 8], out), column++;
    fprintf(out, "%*s", width - column, "");
}

/* Groups: launches of one kernel in one shape ----------------------------------------------------
 */

struct group {
    const struct profile_launch *first;
    unsigned count;
    double seconds;
    const char *name; /* of a Python kernel that was compiled in several ways; else NULL */
};

static struct group *find_groups(const struct profile *profile, unsigned *count)
{
    struct group *groups = lk_alloc((profile->launch_count + 1) * sizeof(*groups));
    *count = 0;
    for (unsigned i = 0; i < profile->launch_count; i++) {
        const struct profile_launch *launch = profile->launches[i];
        unsigned at = 0;
        while (at < *count && !profile_same(groups[at].first, launch))
            at++;
        if (at == *count)
            groups[(*count)++] = (struct group){.first = launch};
        groups[at].count++;
        groups[at].seconds += launch->model.seconds;
    }
    return groups;
}

static int longest_first(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? 1 : -1;
    return a->first->number < b->first->number ? -1 : 1;
}

/* Trials: the ways in which one Python kernel was compiled, as an autotuner tries them
 * ---------------
 */

static double seconds_each(const struct group *group)
{
    return group->seconds / group->count;
}

/* What an autotuner has chosen is launched once more. */
static bool is_preferred(const struct group *a, const struct group *b)
{
    return a->count != b->count ? a->count > b->count : seconds_each(a) < seconds_each(b);
}

/* One group stays for each such kernel; the others move behind the last that stays. */
static void set_trials_aside(struct group *groups, unsigned *count)
{
    unsigned kept = 0;
    struct group *aside = lk_alloc((*count + 1) * sizeof *aside);
    unsigned aside_count = 0;
    for (unsigned i = 0; i < *count; i++) {
        unsigned at = 0;
        const struct profile_kernel *kernel = groups[i].first->kernel;
        while (at < kept &&
               !(profile_is_python(groups[at].first) && profile_is_python(groups[i].first) &&
                 strcmp(groups[at].first->kernel->name, kernel->name) == 0))
            at++;
        if (at == kept) {
            groups[kept++] = groups[i];
            continue;
        }
        struct group *shown = &groups[at], other = groups[i];
        if (is_preferred(&other, shown)) {
            other = *shown;
            *shown = groups[i];
        }
        other.name = shown->name = kernel->name;
        aside[aside_count++] = other;
    }
    memcpy(groups + kept, aside, aside_count * sizeof *aside);
    free(aside);
    *count = kept;
}

static const char *dimensions(char buf[64], const unsigned *d)
{
    if (d[2] > 1)
        snprintf(buf, 64, "%u x %u x %u", d[0], d[1], d[2]);
    else if (d[1] > 1)
        snprintf(buf, 64, "%u x %u", d[0], d[1]);
    else
        snprintf(buf, 64, "%u", d[0]);
    return buf;
}

/* Without namespaces and template arguments, where the whole is too long. */
static const char *short_name(const char *name, char buf[48])
{
    size_t length = strcspn(name, "<");
    const char *last = name;
    if (strlen(name) < 48)
        return name;
    for (const char *at = name; (at = strstr(at, "::")) && at < name + length; at += 2)
        last = at + 2;
    length -= (size_t)(last - name);
    snprintf(buf, 48, "%.*s%s", (int)(length < 43 ? length : 43), last,
             last[length] == '<' ? "<..>" : "");
    return buf;
}

static void print_overview(const struct printer *p, const struct group *groups, unsigned count)
{
    char time[REPORT_UNIT], grid[64], block[64], name[48];
    double all = 0;
    for (unsigned i = 0; i < count; i++)
        all += groups[i].seconds;
    fprintf(p->out, "%s  share       time  launches  kernel%s\n", p->paint->bold, p->paint->plain);
    for (unsigned i = 0; i < count && i < OVERVIEW_GROUPS; i++) {
        const struct profile_launch *launch = groups[i].first;
        fprintf(p->out, "  %4.1f %% %10s %9u  %s %s<<<%s, %s>>>, launch %u%s\n",
                all > 0 ? 100 * groups[i].seconds / all : 0,
                report_seconds(time, groups[i].seconds), groups[i].count,
                short_name(launch->kernel->name, name), p->paint->dim,
                dimensions(grid, launch->grid), dimensions(block, launch->block), launch->number,
                p->paint->plain);
    }
    if (count > OVERVIEW_GROUPS)
        fprintf(p->out, "  %sand %u more%s\n", p->paint->dim, count - OVERVIEW_GROUPS,
                p->paint->plain);
    fprintf(p->out, "\n");
}

/* Summary ----------------------------------------------------------------------------------------
 */

static void print_title(const struct printer *p, const struct group *group)
{
    const struct profile_launch *launch = group->first;
    char grid[64], block[64], name[48];
    fprintf(p->out, "%s%s%s <<<%s, %s>>> on %s", p->paint->bold,
            short_name(launch->kernel->name, name), p->paint->plain, dimensions(grid, launch->grid),
            dimensions(block, launch->block), launch->gpu->name);
    if (group->count > 1)
        fprintf(p->out, ", x %u", group->count);
    fprintf(p->out, "%s  (launch %u)%s\n", p->paint->dim, launch->number, p->paint->plain);
}

/* Its lines, one under the other. */
static void print_fault(const struct printer *p, const char *fault)
{
    fprintf(p->out, "  %sfailed%s     ", p->paint->red, p->paint->plain);
    for (bool first = true; *fault; first = false) {
        size_t length = strcspn(fault, "\n");
        fprintf(p->out, "%*s%.*s\n", first ? 0 : 13, "", (int)length, fault);
        fault += length + (fault[length] == '\n');
        fault += strspn(fault, " ");
    }
}

static void print_summary(const struct printer *p, const struct profile_launch *launch)
{
    const struct gpu_model *model = &launch->model;
    const struct gpu_occupancy *occupancy = &model->occupancy;
    const struct profile_kernel *kernel = launch->kernel;
    char a[REPORT_UNIT], b[REPORT_UNIT];
    fprintf(p->out, "  time       %s%s%s, modelled; bound by %s%s%s\n", p->paint->bold,
            report_seconds(a, model->seconds), p->paint->plain, p->paint->bold,
            gpu_bound_words[model->bound], p->paint->plain);
    fprintf(p->out, "  roof       %.0f %% of the roofline: %s from and to DRAM, %s operations\n",
            100 * model->roof, report_bytes(a, model->bytes), report_count(b, model->flops));
    if (occupancy->blocks_per_sm == 0)
        fprintf(p->out, "  occupancy  %sdoes not fit on an SM: %s%s\n", p->paint->red,
                occupancy->limiter, p->paint->plain);
    else
        fprintf(p->out,
                "  occupancy  %.0f %%: %u of %u warps on an SM, limited by %s; %.3g wave%s of "
                "blocks\n",
                100 * occupancy->fraction, occupancy->warps_per_sm, launch->gpu->warps_per_sm,
                occupancy->limiter, model->waves, model->waves == 1 ? "" : "s");
    fprintf(p->out, "  registers  %u a thread (%s); shared memory %s a block", kernel->registers,
            kernel->registers_from, report_bytes(a, (double)launch->shape.shared));
    if (kernel->local_bytes)
        fprintf(p->out, "; local memory %s a thread", report_bytes(a, kernel->local_bytes));
    if (kernel->spill_bytes)
        fprintf(p->out, "; %s%u B spilled%s", p->paint->yellow, kernel->spill_bytes,
                p->paint->plain);
    fprintf(p->out, "\n");
    if (launch->fault)
        print_fault(p, launch->fault);
}

static void print_parts(const struct printer *p, const struct gpu_model *model)
{
    bool shown[GPU_BOUND_COUNT] = {false};
    char time[REPORT_UNIT];
    double longest = model->parts[model->bound];
    fprintf(p->out, "\n  %swhat each part alone would need%s\n", p->paint->dim, p->paint->plain);
    for (int row = 0; row < 6; row++) {
        int best = -1;
        for (int i = 0; i < GPU_BOUND_COUNT; i++)
            if (!shown[i] && (best < 0 || model->parts[i] > model->parts[best]))
                best = i;
        if (best < 0 || model->parts[best] <= longest / 200)
            break;
        shown[best] = true;
        bool bound = best == (int)model->bound;
        fprintf(p->out, "    %-32s %s", gpu_bound_words[best], bound ? p->paint->yellow : "");
        put_bar(p->out, model->parts[best] / longest, BAR);
        fprintf(p->out, "%s %9s\n", bound ? p->paint->plain : "",
                report_seconds(time, model->parts[best]));
    }
}

/* Source -----------------------------------------------------------------------------------------
 */

static int by_place(const void *left, const void *right)
{
    const struct profile_line *a = *(const struct profile_line *const *)left;
    const struct profile_line *b = *(const struct profile_line *const *)right;
    if (a->source != b->source)
        return !a->source ? 1 : !b->source ? -1 : strcmp(a->source->path, b->source->path);
    return a->line < b->line ? -1 : a->line > b->line;
}

static void put_share(const struct printer *p, double share)
{
    if (share >= 0.005)
        fprintf(p->out, " %3.0f %%", 100 * share);
    else
        fprintf(p->out, "      ");
}

/* The counters that a reader of this line wants, in a few words. */
static void print_notes(const struct printer *p, const struct profile_line *line)
{
    for (int space = 0; space < GPU_SPACES; space++) {
        const struct profile_memory *m = &line->memory[space];
        double requests = (double)m->requests;
        if (!m->requests)
            continue;
        fprintf(p->out, "%*s%s%s:", 36, "", p->paint->dim, gpu_space_keys[space]);
        if (space == GPU_SPACE_SHARED) {
            fprintf(p->out, " %.3g wavefronts a request", (double)m->wavefronts / requests);
            if (m->conflicts)
                fprintf(p->out, ", %.3g by bank conflicts", (double)m->conflicts / requests);
        } else {
            fprintf(p->out, " %.3g sectors a request", (double)m->sectors / requests);
            if (m->sectors > m->sectors_ideal)
                fprintf(p->out, " (%.3g suffice)", (double)m->sectors_ideal / requests);
            if (m->sectors)
                fprintf(p->out, ", %.0f %% hit L1",
                        100.0 * (double)m->l1_hits / (double)m->sectors);
        }
        if (m->turns > m->requests)
            fprintf(p->out, ", %.3g turns", (double)m->turns / requests);
        if (m->strided && m->stride)
            fprintf(p->out, ", stride %lld B", (long long)m->stride);
        fprintf(p->out, "%s\n", p->paint->plain);
    }
    if (line->divergent)
        fprintf(p->out, "%*s%ssplits a warp %llu times; %.3g of 32 lanes on average%s\n", 36, "",
                p->paint->dim, (unsigned long long)line->divergent,
                (double)line->threads / (double)line->warps, p->paint->plain);
}

/* Columns of white space at the line's start. */
static size_t indent_of(const char *text)
{
    size_t columns = 0;
    for (; *text == ' ' || *text == '\t'; text++)
        columns += *text == '\t' ? 8 - columns % 8 : 1;
    return columns;
}

/* The text from a column on, as far as there is room; tabs as blanks, characters whole. */
static void put_source_text(FILE *out, const char *text, size_t from, size_t room)
{
    size_t column = 0;
    for (; *text && column < from + room; text++) {
        unsigned char c = (unsigned char)*text;
        size_t next = c == '\t' ? column + 8 - column % 8 : column + ((c & 0xc0) != 0x80);
        for (; c == '\t' && column < next; column++)
            if (column >= from)
                fputc(' ', out);
        if (c != '\t' && column >= from)
            fputc(c, out);
        column = next;
    }
    while ((*text & 0xc0) == 0x80)
        fputc(*text++, out);
}

static void print_line(const struct printer *p, const struct profile_line *line, size_t indent)
{
    const char *text = profile_source_line(line->source, line->line);
    bool hot = line->heat >= 0.1;
    const char *style = line->heat >= 0.4 ? p->paint->red : hot ? p->paint->yellow : "";
    fprintf(p->out, "  %s", style);
    put_bar(p->out, line->heat, 8);
    put_share(p, line->heat);
    fprintf(p->out, "%s", *style ? p->paint->plain : "");
    put_share(p, line->issue);
    put_share(p, line->traffic);
    fprintf(p->out, " %5u %s", line->line, hot ? p->paint->bold : "");
    text = text ? text : "";
    put_source_text(p->out, text, indent_of(text) < indent ? indent_of(text) : indent, WIDTH - 36);
    fprintf(p->out, "%s\n", hot ? p->paint->plain : "");
    if (hot)
        print_notes(p, line);
}

/* What all lines of a file that are shown begin with. */
static size_t common_indent(const struct profile_line **lines, unsigned count,
                            const struct profile_source *source)
{
    size_t least = WIDTH;
    for (unsigned i = 0; i < count; i++) {
        const char *text = profile_source_line(lines[i]->source, lines[i]->line);
        if (lines[i]->source == source && text && indent_of(text) < least &&
            strspn(text, " \t}") < strlen(text))
            least = indent_of(text);
    }
    return least == WIDTH ? 0 : least;
}

static bool is_listed(const struct profile_launch *launch, const struct profile_line *line)
{
    for (unsigned i = 0; i < launch->advice_count; i++)
        if (launch->advice[i].source == line->source && launch->advice[i].line == line->line)
            return line->line != 0;
    return line->line && (line->heat >= 0.005 || line->issue >= 0.005);
}

static void print_source(const struct printer *p, const struct profile_launch *launch)
{
    const struct profile_line *chosen[LISTED_LINES];
    unsigned count = 0;
    for (unsigned i = 0; i < launch->line_count && count < LISTED_LINES; i++)
        if (is_listed(launch, &launch->lines[i]))
            chosen[count++] = &launch->lines[i];
    if (!count) {
        fprintf(p->out, "\n  %sno line numbers: compile with -lineinfo%s\n", p->paint->dim,
                p->paint->plain);
        return;
    }
    qsort(chosen, count, sizeof(void *), by_place);
    size_t indent = 0;
    for (unsigned i = 0; i < count; i++) {
        if (i == 0 || chosen[i]->source != chosen[i - 1]->source) {
            indent = common_indent(chosen, count, chosen[i]->source);
            fprintf(p->out, "\n  %s%-8s  heat issue    L2  line %s%s\n", p->paint->dim, "",
                    chosen[i]->source ? chosen[i]->source->shown : "", p->paint->plain);
        } else if (chosen[i]->line != chosen[i - 1]->line + 1) {
            fprintf(p->out, "%*s%s...%s\n", 33, "", p->paint->dim, p->paint->plain);
        }
        print_line(p, chosen[i], indent);
    }
}

/* Advice -----------------------------------------------------------------------------------------
 */

static void put_wrapped(FILE *out, const char *text, int indent, int column)
{
    bool first = true;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (!first && column + 1 + (int)length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)length, text);
        column += (int)length;
        text += length + (text[length] == ' ');
        first = false;
    }
    fputc('\n', out);
}

static void print_advice(const struct printer *p, const struct profile_launch *launch)
{
    if (launch->fault)
        return;
    if (!launch->advice_count) {
        fprintf(p->out, "\n  %sno advice: nothing that the model expects to gain 3 %% or more%s\n",
                p->paint->green, p->paint->plain);
        return;
    }
    fprintf(p->out, "\n  %sadvice%s\n", p->paint->bold, p->paint->plain);
    for (unsigned i = 0; i < launch->advice_count; i++) {
        const struct advice *advice = &launch->advice[i];
        char place[256] = "", gain[16] = "";
        if (advice->source)
            snprintf(place, sizeof place, "%s:%u: ", advice->source->shown, advice->line);
        if (advice->gain > 1)
            snprintf(gain, sizeof gain, "%.*fx", advice->gain < 9.95 ? 2 : 0, advice->gain);
        fprintf(p->out, "  %s%6s%s  %s%s%s", p->paint->green, gain, p->paint->plain, p->paint->bold,
                place, p->paint->plain);
        put_wrapped(p->out, advice->text, 10, 10 + (int)strlen(place));
    }
}

void report_whatifs_text(FILE *out, const struct report_paint *paint, const struct gpu_info *gpu,
                         unsigned threads, unsigned registers, size_t shared)
{
    static const char *const titles[] = {"threads a block", "registers a thread", "shared memory"};
    struct gpu_whatif rows[GPU_WHATIFS];
    unsigned count = gpu_whatifs(gpu, threads, registers, shared, rows);
    for (int kind = 0; kind < GPU_WHATIF_KINDS; kind++) {
        fprintf(out, "  %sif %-18s  blocks  warps  occupancy%s\n", paint->dim, titles[kind],
                paint->plain);
        for (unsigned i = 0; i < count; i++) {
            const struct gpu_occupancy *got = &rows[i].occupancy;
            char bytes[REPORT_UNIT], value[REPORT_UNIT];
            if ((int)rows[i].kind != kind)
                continue;
            snprintf(value, sizeof value, "%zu", rows[i].value);
            const char *shown =
                kind == GPU_WHATIF_SHARED ? report_bytes(bytes, (double)rows[i].value) : value;
            fprintf(out, "  %s%s %18s %7u %6u %8.0f %%  ", rows[i].is_now ? paint->bold : "",
                    rows[i].is_now ? "->" : "  ", shown, got->blocks_per_sm, got->warps_per_sm,
                    100 * got->fraction);
            put_bar(out, got->fraction, 16);
            fprintf(out, " %s%s\n", got->blocks_per_sm ? got->limiter : "does not run",
                    rows[i].is_now ? paint->plain : "");
        }
    }
}

/* Occupancy is worth a table where it is low. */
static void print_occupancy(const struct printer *p, const struct profile_launch *launch)
{
    if (launch->model.occupancy.fraction >= 0.5)
        return;
    fprintf(p->out, "\n");
    report_whatifs_text(p->out, p->paint, launch->gpu, launch->shape.threads,
                        launch->shape.registers, launch->shape.shared);
}

/* The other ways, fastest first. */
static void print_trials(const struct printer *p, const struct group *shown,
                         const struct group *aside, unsigned count)
{
    enum { LISTED = 8 };
    char time[REPORT_UNIT], grid[64], block[64];
    unsigned all = 0, listed = 0;
    for (unsigned i = 0; i < count; i++)
        all += aside[i].name && strcmp(aside[i].name, shown->name) == 0;
    fprintf(p->out,
            "\n  it ran compiled or launched in %u ways; this one is reported, the others took\n",
            all + 1);
    for (double last = -1; listed < all && listed < LISTED;) {
        const struct group *next = NULL;
        for (unsigned i = 0; i < count; i++)
            if (strcmp(aside[i].name, shown->name) == 0 && seconds_each(&aside[i]) > last &&
                (!next || seconds_each(&aside[i]) < seconds_each(next)))
                next = &aside[i];
        if (!next)
            break;
        last = seconds_each(next);
        listed++;
        fprintf(p->out, "    %10s  <<<%s, %s>>>, %u registers, %zu B shared%s, launch %u%s\n",
                report_seconds(time, last), dimensions(grid, next->first->grid),
                dimensions(block, next->first->block), next->first->shape.registers,
                next->first->shape.shared, p->paint->dim, next->first->number, p->paint->plain);
    }
    if (all > listed)
        fprintf(p->out, "    and %u more\n", all - listed);
}

void report_profile_text(FILE *out, const struct report_paint *paint, const struct profile *profile)
{
    struct printer p = {out, paint, profile};
    unsigned count, all;
    struct group *groups = find_groups(profile, &count);
    if (count > 0)
        qsort(groups, count, sizeof(*groups), longest_first);
    if (count > 1)
        print_overview(&p, groups, count);
    all = count;
    set_trials_aside(groups, &count);
    report_timeline_text(out, paint, &profile->timelines);
    for (unsigned i = 0; i < count && i < DETAILED_GROUPS; i++) {
        const struct profile_launch *launch = groups[i].first;
        if (i)
            fprintf(out, "\n");
        print_title(&p, &groups[i]);
        print_summary(&p, launch);
        print_parts(&p, &launch->model);
        print_source(&p, launch);
        print_occupancy(&p, launch);
        print_advice(&p, launch);
        if (groups[i].name)
            print_trials(&p, &groups[i], groups + count, all - count);
    }
    if (count > DETAILED_GROUPS)
        fprintf(out, "\n%sthe other %u are shown with --launch N or --kernel NAME%s\n", paint->dim,
                count - DETAILED_GROUPS, paint->plain);
    free(groups);
}
