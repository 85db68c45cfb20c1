/* The HTML report: its frame and the order of its sections. */
#include "report/html.h"

#include "base/fault.h"

#include <string.h>

static const char *file_text(const char *name) {
    size_t i = 0;
    while (i < html_file_count && strcmp(html_files[i].name, name) != 0) {
        i++;
    }
    CHECK(i < html_file_count);
    return html_files[i].text;
}

/* The policy has a browser fetch nothing, whatever the file says. */
static void write_head(const Html *html) {
    html_mark(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src "
                    "&#39;unsafe-inline&#39;; script-src &#39;unsafe-inline&#39;\"/>\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                    "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>");
    html_say(html, "stride0: %s on " STR_FMT, html->page.facts->file, STR_ARG(html->page.facts->device->name));
    html_mark(html, "</title>\n<style>\n/*<![CDATA[*/\n%s/*]]>*/\n</style>\n</head>\n", file_text("style"));
}

static void write_nav(const Html *html) {
    static const char *const link[][2] = {
        {"summary", "Summary"}, {"misfit", "Why it does not fit"}, {"map", "Map"},         {"buffers", "Buffers"},
        {"sweeps", "Tiles"},    {"forms", "Parameters"},           {"traffic", "Traffic"}, {"rewrites", "Rewrites"},
        {"steps", "Steps"},     {"warnings", "Warnings"},
    };
    html_mark(html, "<nav aria-label=\"Sections\"><ul>\n");
    for (size_t i = 0; i < sizeof link / sizeof *link; i++) {
        bool is_there = strcmp(link[i][0], "misfit") != 0 || !plan_fits(html->page.facts->plan);
        if (is_there) {
            html_mark(html, "<li><a href=\"#%s\">%s</a></li>\n", link[i][0], link[i][1]);
        }
    }
    html_mark(html, "</ul></nav>\n");
}

static void write_sections(const Html *html) {
    html_summary(html);
    html_misfit(html);
    html_map(html);
    html_buffers(html);
    html_sweeps(html);
    html_forms(html);
    html_traffic(html);
    html_rewrites(html);
    html_steps(html);
    html_warnings(html);
}

static void write_body(const Html *html) {
    html_mark(html, "<body>\n<a class=\"skip\" href=\"#main\">To the report</a>\n<header>\n<h1>");
    html_say(html, "%s on " STR_FMT, html->page.facts->file, STR_ARG(html->page.facts->device->name));
    html_mark(html, "</h1>\n");
    write_nav(html);
    html_mark(html, "</header>\n<main id=\"main\" tabindex=\"-1\">\n");
    write_sections(html);
    html_mark(html,
              "</main>\n<footer><p>Sizes are bytes. A range of steps is half-open: the last one is not part of it. "
              "A dash stands for what is not known. Every figure is the one of <code>stride0 plan --json</code>."
              "</p></footer>\n<script>\n/*<![CDATA[*/\n%s/*]]>*/\n</script>\n</body>\n</html>\n",
              file_text("script"));
}

void report_html(const Facts *facts, Arena *scratch, FILE *out) {
    enum { COLUMNS = 2 * HTML_NAME_WIDTH }; /* a name has half a line at most */
    const Plan *plan = facts->plan;
    Html html = {.page = {.facts = facts, .style = {.columns = COLUMNS}, .scratch = scratch, .out = out},
                 .has_row = arena_array(scratch, bool, plan->buffer_count),
                 .has_rect = arena_array(scratch, bool, plan->buffer_count),
                 .has_step = arena_array(scratch, bool, plan->step_count)};
    html_choose_rects(&html);
    html_choose_rows(&html);
    html_choose_steps(&html);
    write_head(&html);
    write_body(&html);
}
