/* Markup of the HTML report: escaped text, tables, links. */
#include "report/html.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* ---- Text */

static const char *entity(char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* U+FFFE and U+FFFF are UTF-8, and no characters of XML. Two names must not look the same: what has no width (U+00AD,
 * U+200B to U+200D, U+2060 to U+2064, U+FEFF) is no character here. */
static bool is_character(Str text) {
    uint32_t c = 0;
    str_character(text, &c);
    bool is_invisible = c == 0xAD || (c >= 0x200B && c <= 0x200D) || (c >= 0x2060 && c <= 0x2064) || c == 0xFEFF;
    return c != 0xFFFE && c != 0xFFFF && !is_invisible;
}

void html_escape(Str text, FILE *out) {
    for (size_t i = 0; i < text.len;) {
        bool is_harmless;
        size_t length = clean_character((Str){text.ptr + i, text.len - i}, &is_harmless);
        const char *named = entity(text.ptr[i]);
        if (named != NULL) {
            fputs(named, out);
        } else if (is_harmless && is_character((Str){text.ptr + i, length})) {
            fwrite(text.ptr + i, 1, length, out);
        } else {
            fputc('?', out);
        }
        i += length;
    }
}

void html_mark(const Html *html, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(html->page.out, format, args);
    va_end(args);
}

static void say(const Html *html, const char *format, va_list args) {
    html_escape(str_from(arena_vtext(html->page.scratch, format, args)), html->page.out);
}

void html_say(const Html *html, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(html, format, args);
    va_end(args);
}

void html_line(const Html *html, const char *format, ...) {
    va_list args;
    html_mark(html, "<p>");
    va_start(args, format);
    say(html, format, args);
    va_end(args);
    html_mark(html, "</p>\n");
}

/* ---- Sections and tables */

void html_section(const Html *html, const char *id, const char *title) {
    html_mark(html, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n", id, id, id, title);
}

void html_section_end(const Html *html) {
    html_mark(html, "</section>\n");
}

static bool is_number(const char *head) {
    return head[0] == '#';
}

/* The style sheet aligns columns by these names: "n3 n5". */
static void mark_numbers(const Html *html, const char *const *heads) {
    for (size_t k = 0; heads[k] != NULL; k++) {
        if (is_number(heads[k])) {
            html_mark(html, " n%zu", k + 1);
        }
    }
}

void html_table(const Html *html, HtmlTable table, const char *format, ...) {
    va_list args;
    html_mark(html,
              "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-labelledby=\"c-%s\">\n<table id=\"t-%s\" "
              "class=\"%s",
              table.id, table.id, table.is_sortable ? "sorts" : "still");
    mark_numbers(html, table.heads);
    html_mark(html, "\">\n<caption id=\"c-%s\">", table.id);
    va_start(args, format);
    say(html, format, args);
    va_end(args);
    html_mark(html, "</caption>\n<thead><tr>");
    for (size_t k = 0; table.heads[k] != NULL; k++) {
        html_mark(html, "<th scope=\"col\">%s</th>", table.heads[k] + is_number(table.heads[k]));
    }
    html_mark(html, "</tr></thead>\n<tbody>\n");
}

void html_table_end(const Html *html) {
    html_mark(html, "</tbody>\n</table>\n</div>\n");
}

void html_row(const Html *html) {
    html_mark(html, "<tr>");
}

void html_row_end(const Html *html) {
    html_mark(html, "</tr>\n");
}

/* ---- Cells */

void html_head(const Html *html, Str text) {
    html_mark(html, "<th scope=\"row\">");
    html_escape(text, html->page.out);
    html_mark(html, "</th>");
}

void html_key_head(const Html *html, const char *key, const char *words) {
    html_mark(html, "<th scope=\"row\" title=\"%s\">", key);
    html_escape(str_from(words), html->page.out);
    html_mark(html, "</th>");
}

void html_cell(const Html *html, Str text) {
    html_mark(html, "<td>");
    html_escape(text, html->page.out);
    html_mark(html, "</td>");
}

void html_word(const Html *html, const char *text) {
    html_cell(html, str_from(text));
}

void html_number(const Html *html, uint64_t number) {
    html_cell(html, page_number(&html->page, number));
}

void html_buffer_link(const Html *html, BufferId id) {
    if (!is_buffer(id)) {
        return;
    }
    if (html->has_row[id.index]) {
        html_mark(html, "<a href=\"#b%" PRIu32 "\">%" PRIu32 "</a>", id.index, id.index);
    } else {
        html_mark(html, "%" PRIu32, id.index);
    }
}

void html_buffer(const Html *html, BufferId id) {
    html_mark(html, "<td>");
    html_buffer_link(html, id);
    html_mark(html, "</td>");
}

void html_name_head(const Html *html, BufferId id) {
    bool has_row = html->has_row[id.index];
    html_mark(html, "<th scope=\"row\">");
    if (has_row) {
        html_mark(html, "<a href=\"#b%" PRIu32 "\">", id.index);
    }
    html_escape(page_name(&html->page, id), html->page.out);
    html_mark(html, has_row ? "</a></th>" : "</th>");
}

void html_step(const Html *html, uint32_t step) {
    bool has_row = html->has_step[step];
    html_mark(html, "<td>");
    if (has_row) {
        html_mark(html, "<a href=\"#s%" PRIu32 "\">", step);
    }
    html_escape(page_step(&html->page, step), html->page.out);
    html_mark(html, has_row ? "</a></td>" : "</td>");
}

void html_rest(const Html *html, uint64_t shown, uint64_t all) {
    if (shown < all) {
        html_line(html, "and " STR_FMT " more, which the JSON has", STR_ARG(page_number(&html->page, all - shown)));
    }
}

/* ---- Names */

static Str clip_name(const Html *html, Str name, uint32_t most) {
    return text_clip_name(html->page.scratch, clean_text(html->page.scratch, name),
                          (TextCut){most, TEXT_CUT_SIXTHS, 0});
}

Str html_long_name(const Html *html, Str name) {
    return clip_name(html, name, 2 * HTML_NAME_WIDTH);
}

Str html_short_name(const Html *html, BufferId id) {
    return clip_name(html, facts_buffer_name(html->page.facts, id, html->page.scratch), HTML_NAME_WIDTH);
}

Str html_node_name(const Html *html, NodeId id) {
    return !is_node(id) ? str_from(NULL)
                        : clip_name(html, node_title(html->page.scratch, graph_node(html->page.facts->graph, id)),
                                    HTML_NAME_WIDTH);
}
