/*
 * profile_html.c: a profile as one self-contained page: no scripts, no network, light and dark.
 * It is well-formed XML, so that tests can read it.
 */
#include "base/text.h"
#include "gpu/whatif.h"
#include "report/report.h"
#include "report/svg.h"

#include <stdlib.h>
#include <string.h>

const char report_page_style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--dim:#6a737d;--line:#d8dee4;"
    "--soft:#f3f5f7;--hot:214,64,40;--accent:#0b6bcb;--good:#1a7f37}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e4e7ea;--dim:#8d96a0;"
    "--line:#343a41;--soft:#1e2328;--hot:240,110,70;--accent:#5aa9f5;--good:#4fc46a}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:1100px;padding:24px;"
    "background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:22px;margin:0}h2{font-size:19px;margin:40px 0 8px;"
    "border-top:1px solid var(--line);padding-top:24px}h3{font-size:15px;margin:24px 0 6px}\n"
    "code,pre,.code td{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}\n"
    ".dim{color:var(--dim)}table{border-collapse:collapse}td,th{padding:2px 10px 2px 0;"
    "text-align:left;vertical-align:top}th{color:var(--dim);font-weight:500}"
    ".number{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".cards{display:flex;flex-wrap:wrap;gap:12px;margin:12px 0}.card{background:var(--soft);"
    "border-radius:8px;padding:10px 14px;min-width:150px}.card b{display:block;font-size:19px}\n"
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(380px,1fr));gap:28px}\n"
    ".bar{background:var(--soft);height:12px;border-radius:3px;width:100%;min-width:180px}"
    ".bar i{display:block;height:12px;border-radius:3px;background:var(--accent)}"
    ".bar i.bound{background:rgb(var(--hot))}\n"
    ".code{background:var(--soft);border-radius:8px;overflow-x:auto;padding:6px 0}"
    ".code table{width:100%}.code td:last-child{width:100%}"
    ".code td,.code th{padding:0 8px;white-space:pre;tab-size:4}.code .number{color:var(--dim)}"
    ".code .note td{color:var(--dim);white-space:normal;padding-bottom:4px}\n"
    ".advice li{margin:6px 0}.gain{color:var(--good);font-weight:600;margin-right:6px}"
    ".fault{color:rgb(var(--hot))}\n"
    "svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font:11px system-ui}"
    "svg .strong{font-weight:600;font-size:12px}.grid{stroke:var(--line);fill:none}"
    ".roof{stroke:var(--accent);stroke-width:2;fill:none}.drop{stroke:var(--dim);"
    "stroke-dasharray:3 3;fill:none}.here{fill:rgb(var(--hot))}"
    ".sector{fill:none;stroke:var(--line)}.sector.hit{fill:rgba(var(--hot),.13);"
    "stroke:rgba(var(--hot),.6)}svg text.lane{font-size:7.5px;text-anchor:middle;fill:#111}"
    "svg text.lane.dim{fill:var(--dim)}svg text.address{text-anchor:end;fill:var(--dim);"
    "font:10px ui-monospace,monospace}.picture{margin:10px 0 22px}\n"
    "details{margin:12px 0}summary{cursor:pointer;color:var(--dim)}\n";

static void put(struct lk_buf *out, const char *text)
{
    lk_buf_add(out, text, strlen(text));
}

static void card(struct lk_buf *out, const char *title, const char *value, const char *more)
{
    put(out, "<div class=\"card\"><span class=\"dim\">");
    lk_buf_html(out, title);
    put(out, "</span><b>");
    lk_buf_html(out, value);
    put(out, "</b><span class=\"dim\">");
    lk_buf_html(out, more);
    put(out, "</span></div>\n");
}

static void put_summary(struct lk_buf *out, const struct profile_launch *launch)
{
    const struct gpu_model *model = &launch->model;
    const struct gpu_occupancy *got = &model->occupancy;
    char a[REPORT_UNIT], value[64], more[128];
    put(out, "<div class=\"cards\">\n");
    card(out, "time", report_seconds(a, model->seconds), "modelled");
    card(out, "bound by", gpu_bound_words[model->bound], "the part that takes longest");
    snprintf(value, sizeof value, "%.0f %%", 100 * model->roof);
    snprintf(more, sizeof more, "%s of DRAM traffic", report_bytes(a, model->bytes));
    card(out, "of the roof", value, more);
    snprintf(value, sizeof value, "%.0f %%", 100 * got->fraction);
    snprintf(more, sizeof more, "%u of %u warps, limited by %s", got->warps_per_sm,
             launch->gpu->warps_per_sm, got->limiter);
    card(out, "occupancy", value, more);
    snprintf(value, sizeof value, "%u", launch->kernel->registers);
    snprintf(more, sizeof more, "%s; %s shared", launch->kernel->registers_from,
             report_bytes(a, (double)launch->shape.shared));
    card(out, "registers", value, more);
    put(out, "</div>\n");
    if (launch->fault) {
        put(out, "<p class=\"fault\">failed: ");
        lk_buf_html(out, launch->fault);
        put(out, "</p>\n");
    }
}

static void put_parts(struct lk_buf *out, const struct gpu_model *model)
{
    char time[REPORT_UNIT];
    double longest = model->parts[model->bound];
    put(out, "<div><h3>What each part alone would need</h3><table>\n");
    for (int i = 0; i < GPU_BOUND_COUNT; i++) {
        if (longest <= 0 || model->parts[i] < longest / 200)
            continue;
        lk_buf_printf(out,
                      "<tr><td>%s</td><td><div class=\"bar\"><i%s style=\"width:%.1f%%\"></i></div>"
                      "</td><td class=\"number\">%s</td></tr>\n",
                      gpu_bound_words[i], i == (int)model->bound ? " class=\"bound\"" : "",
                      100 * model->parts[i] / longest, report_seconds(time, model->parts[i]));
    }
    put(out, "</table></div>\n");
}

/* Heat map ----------------------------------------------------------------------------------------
 */

static const struct profile_line *line_at(const struct profile_launch *launch,
                                          const struct profile_source *source, unsigned number)
{
    for (unsigned i = 0; i < launch->line_count; i++)
        if (launch->lines[i].source == source && launch->lines[i].line == number)
            return &launch->lines[i];
    return NULL;
}

static void put_share(struct lk_buf *out, double share)
{
    put(out, "<td class=\"number\">");
    if (share >= 0.005)
        lk_buf_printf(out, "%.0f %%", 100 * share);
    put(out, "</td>");
}

static void put_note(struct lk_buf *out, const struct profile_line *line)
{
    bool any = false;
    for (int space = 0; space < GPU_SPACES; space++) {
        const struct profile_memory *m = &line->memory[space];
        double requests = (double)m->requests;
        if (!m->requests)
            continue;
        lk_buf_printf(out, "%s%s: ", any ? "; " : "", gpu_space_keys[space]);
        any = true;
        if (space == GPU_SPACE_SHARED)
            lk_buf_printf(out, "%.3g passes a request, %.3g by bank conflicts",
                          (double)m->wavefronts / requests, (double)m->conflicts / requests);
        else
            lk_buf_printf(out, "%.3g sectors a request (%.3g suffice)",
                          (double)m->sectors / requests, (double)m->sectors_ideal / requests);
        if (m->strided && m->stride)
            lk_buf_printf(out, ", stride %lld B", (long long)m->stride);
    }
    if (line->divergent)
        lk_buf_printf(out, "%ssplits a warp %llu times", any ? "; " : "",
                      (unsigned long long)line->divergent);
}

static void put_code_line(struct lk_buf *out, const struct profile_launch *launch,
                          const struct profile_source *source, unsigned number)
{
    static const struct profile_line nothing;
    const struct profile_line *line = line_at(launch, source, number);
    line = line ? line : &nothing;
    lk_buf_printf(out, "<tr style=\"background:rgba(var(--hot),%.3f)\">", 0.6 * line->heat);
    put_share(out, line->heat);
    put_share(out, line->issue);
    put_share(out, line->traffic);
    lk_buf_printf(out, "<td class=\"number\">%u</td><td>", number);
    lk_buf_html(out, profile_source_line(source, number));
    put(out, "</td></tr>\n");
    if (line->heat >= 0.1 && (line->divergent || line->memory[0].requests ||
                              line->memory[1].requests || line->memory[2].requests)) {
        put(out, "<tr class=\"note\"><td colspan=\"4\"></td><td>");
        put_note(out, line);
        put(out, "</td></tr>\n");
    }
}

/* From a little before the first line that ran to the last; long gaps are skipped. */
static void put_source(struct lk_buf *out, const struct profile_launch *launch,
                       const struct profile_source *source)
{
    put(out, "<h3>");
    lk_buf_html(out, source->shown);
    put(out,
        "</h3><div class=\"code\"><table><tr><th>heat</th><th>issue</th><th>L2</th><th>line</th>"
        "<th></th></tr>\n");
    bool gap = false, begun = false;
    for (unsigned number = 1; number <= source->line_count; number++) {
        bool near = false;
        for (unsigned k = number > 2 ? number - 2 : 1; k <= number + 3 && !near; k++)
            near = line_at(launch, source, k) != NULL;
        if (near && gap && begun)
            put(out, "<tr><td colspan=\"4\"></td><td class=\"dim\">...</td></tr>\n");
        gap = !near;
        if (near) {
            begun = true;
            put_code_line(out, launch, source, number);
        }
    }
    put(out, "</table></div>\n");
}

static void put_sources(struct lk_buf *out, const struct profile_launch *launch)
{
    for (unsigned i = 0; i < launch->line_count; i++) {
        const struct profile_source *source = launch->lines[i].source;
        bool shown = !source || !source->line_count;
        for (unsigned k = 0; k < i && !shown; k++)
            shown = launch->lines[k].source == source;
        if (!shown)
            put_source(out, launch, source);
    }
}

/* Pictures of accesses ----------------------------------------------------------------------------
 */

static void put_picture(struct lk_buf *out, const struct profile_record *record)
{
    const struct profile_code *code = record->code;
    struct svg_access access = {.mask = record->mask, .bytes = record->bytes};
    for (unsigned lane = 0; lane < 32; lane++)
        access.addresses[lane] = (uint64_t)record->addresses[lane];
    put(out, "<div class=\"picture\"><code>");
    lk_buf_printf(out, "%u: ", code->line);
    lk_buf_html(out, profile_source_line(code->source, code->line));
    put(out, "</code> <span class=\"dim\">");
    lk_buf_html(out, code->text);
    put(out, "</span>\n");
    (profile_is_in(record, GPU_SPACE_GLOBAL) ? svg_global : svg_shared)(out, &access);
    put(out, "</div>\n");
}

/* The first access of each kind that a line makes, as far as the trace has it; hottest lines
 * first. */
static void put_pictures(struct lk_buf *out, const struct profile_launch *launch)
{
    unsigned pictures = 0;
    for (unsigned i = 0; i < launch->line_count && pictures < 8; i++) {
        const struct profile_line *line = &launch->lines[i];
        bool shown[2][PROFILE_KINDS] = {{false}};
        for (size_t k = 0; k < launch->trace_count && pictures < 8; k++) {
            const struct profile_record *record = &launch->trace[k];
            const struct profile_code *code = record->code;
            bool global = profile_is_in(record, GPU_SPACE_GLOBAL);
            if (code->source != line->source || code->line != line->line ||
                (!global && !profile_is_in(record, GPU_SPACE_SHARED)) ||
                code->kind == PROFILE_BULK || shown[global][code->kind])
                continue;
            shown[global][code->kind] = true;
            if (!pictures++)
                put(out, "<h3>What one warp touches (numbers are lanes)</h3>\n");
            put_picture(out, record);
        }
    }
}

/* Tables ------------------------------------------------------------------------------------------
 */

static void put_advice(struct lk_buf *out, const struct profile_launch *launch)
{
    put(out, "<h3>Advice</h3>\n");
    if (!launch->advice_count) {
        put(out, "<p class=\"dim\">Nothing that the model expects to gain 3 % or more.</p>\n");
        return;
    }
    put(out, "<ul class=\"advice\">\n");
    for (unsigned i = 0; i < launch->advice_count; i++) {
        const struct advice *advice = &launch->advice[i];
        put(out, "<li>");
        if (advice->gain > 1)
            lk_buf_printf(out, "<span class=\"gain\">%.*fx</span>", advice->gain < 9.95 ? 2 : 0,
                          advice->gain);
        if (advice->source) {
            put(out, "<code>");
            lk_buf_html(out, advice->source->shown);
            lk_buf_printf(out, ":%u</code>: ", advice->line);
        }
        lk_buf_html(out, advice->text);
        put(out, "</li>\n");
    }
    put(out, "</ul>\n");
}

static void put_whatifs(struct lk_buf *out, const struct profile_launch *launch)
{
    static const char *const titles[] = {"threads a block", "registers a thread", "shared memory"};
    struct gpu_whatif rows[GPU_WHATIFS];
    unsigned count = gpu_whatifs(launch->gpu, launch->shape.threads, launch->shape.registers,
                                 launch->shape.shared, rows);
    put(out, "<details><summary>Occupancy: what if</summary><div class=\"two\">\n");
    for (int kind = 0; kind < GPU_WHATIF_KINDS; kind++) {
        lk_buf_printf(out, "<table><tr><th>%s</th><th>warps</th><th>occupancy</th><th></th></tr>\n",
                      titles[kind]);
        for (unsigned i = 0; i < count; i++)
            if ((int)rows[i].kind == kind)
                lk_buf_printf(out,
                              "<tr%s><td class=\"number\">%zu</td><td class=\"number\">%u</td><td>"
                              "<div class=\"bar\"><i style=\"width:%.0f%%\"></i></div></td><td>"
                              "%s</td></tr>\n",
                              rows[i].is_now ? " style=\"font-weight:600\"" : "", rows[i].value,
                              rows[i].occupancy.warps_per_sm, 100 * rows[i].occupancy.fraction,
                              rows[i].occupancy.blocks_per_sm ? rows[i].occupancy.limiter
                                                              : "does not run");
        put(out, "</table>\n");
    }
    put(out, "</div></details>\n");
}

static void put_counters(struct lk_buf *out, struct profile_launch *launch)
{
    put(out, "<details><summary>All counters</summary><table>\n");
    for (unsigned i = 0; i < gpu_counter_count; i++) {
        const struct gpu_counter_info *info = &gpu_counter_infos[i];
        uint64_t value = *gpu_counter(&launch->counters, i);
        if (value)
            lk_buf_printf(out,
                          "<tr><td>%s</td><td class=\"number\">%llu</td><td><code class=\"dim\">%s"
                          "</code></td></tr>\n",
                          info->words, (unsigned long long)value, info->ncu);
    }
    put(out, "</table></details>\n");
}

static void put_launch(struct lk_buf *out, struct profile_launch *launch, unsigned times)
{
    put(out, "<h2>");
    lk_buf_html(out, launch->kernel->name);
    lk_buf_printf(out,
                  " <span class=\"dim\">&lt;&lt;&lt;(%u, %u, %u), (%u, %u, %u)&gt;&gt;&gt;, launch "
                  "%u",
                  launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                  launch->block[1], launch->block[2], launch->number);
    if (times > 1)
        lk_buf_printf(out, ", x %u", times);
    put(out, "</span></h2>\n");
    put_summary(out, launch);
    put_advice(out, launch);
    put(out, "<div class=\"two\"><div><h3>Roofline</h3>\n");
    svg_roofline(out, launch);
    put(out, "</div>\n");
    put_parts(out, &launch->model);
    put(out, "</div>\n");
    put_sources(out, launch);
    put_pictures(out, launch);
    put_whatifs(out, launch);
    put_counters(out, launch);
}

void report_profile_html(struct lk_buf *out, const struct profile *profile,
                         const struct report_run *run)
{
    put(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
             "<meta name=\"viewport\" content=\"width=device-width\"/><title>");
    lk_buf_html(out, run->program);
    put(out, "</title><style>\n");
    put(out, report_page_style);
    put(out, report_timeline_style);
    put(out, "</style></head><body>\n<h1>");
    lk_buf_html(out, run->program);
    put(out, "</h1>\n");
    if (profile->launch_count)
        lk_buf_printf(out, "<p class=\"dim\">on a simulated %s; times are modelled</p>\n",
                      profile->launches[0]->gpu->name);
    else
        put(out, "<p>No kernel ran.</p>\n");
    if (run->status)
        lk_buf_printf(out, "<p class=\"fault\">The program ended with status %d.</p>\n",
                      run->status);
    report_timeline_html(out, &profile->timelines);
    for (unsigned i = 0; i < profile->launch_count; i++) {
        unsigned times = 0;
        bool shown = false;
        for (unsigned k = 0; k < profile->launch_count; k++) {
            bool same = profile_same(profile->launches[i], profile->launches[k]);
            shown = shown || (same && k < i);
            times += same;
        }
        if (!shown)
            put_launch(out, profile->launches[i], times);
    }
    put(out, "</body></html>\n");
}
