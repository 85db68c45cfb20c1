/* What the parts of the HTML report share. Private to the room.
 *
 * The report is one file: HTML that is well-formed XML too, with the picture, a style sheet and a script inside. Text
 * of a model reaches it through html_escape only; html_mark writes markup and takes numbers and our own words. */
#ifndef S0_REPORT_HTML_H
#define S0_REPORT_HTML_H

#include "report/page.h"

typedef struct {
    Page page;
    bool *has_row;                  /* buffer -> is in the table of buffers, as #b3 */
    bool *has_rect;                 /* buffer -> is drawn alone, as #m3 */
    bool *has_step;                 /* step -> is in the table of steps, as #s3 */
    uint32_t row_count, step_count; /* that are */
} Html;

/* The files of src/report/html, compiled in. */
typedef struct {
    const char *name, *text; /* without its extension */
} HtmlFile;

extern const HtmlFile html_files[];
extern const size_t html_file_count;

/* So many names, so long: the report stays small whatever the model is. */
enum { HTML_MOST_ROWS = 1100, HTML_MOST_RECTS = 600, HTML_MOST_LIST = 200, HTML_NAME_WIDTH = 48 };

/* ---- html_out.c */

/* Text as content of an element or a quoted attribute: whoever wrote it can end neither. What is no harmless character
 * (base/clean.h) becomes '?'. */
void html_escape(Str text, FILE *out);

void html_mark(const Html *html, const char *format, ...) __attribute__((format(printf, 2, 3))); /* as it is */
void html_say(const Html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));  /* escaped */
void html_line(const Html *html, const char *format, ...) __attribute__((format(printf, 2, 3))); /* a paragraph */

void html_section(const Html *html, const char *id, const char *title);
void html_section_end(const Html *html);

/* A table with its caption. Heads end with null; those of columns of numbers begin with '#'. */
typedef struct {
    const char *id;
    const char *const *heads;
    bool is_sortable; /* by the script */
} HtmlTable;

void html_table(const Html *html, HtmlTable table, const char *format, ...) __attribute__((format(printf, 3, 4)));
void html_table_end(const Html *html);

void html_row(const Html *html);
void html_row_end(const Html *html);
void html_head(const Html *html, Str text); /* of a row */
void html_key_head(const Html *html, const char *key,
                   const char *words); /* the same; `key` is the JSON's, as a tooltip */
void html_cell(const Html *html, Str text);
void html_word(const Html *html, const char *text);   /* a cell; null is empty */
void html_number(const Html *html, uint64_t number);  /* a cell; UINT64_MAX is "-" */
void html_buffer(const Html *html, BufferId id);      /* a cell: its number, linked to its row; empty of NO_BUFFER */
void html_buffer_link(const Html *html, BufferId id); /* the same without a cell */
void html_name_head(const Html *html, BufferId id);   /* a row's head: the buffer's name, linked */
void html_step(const Html *html, uint32_t step);      /* a cell: "step 3: 'm' (Mul), multiply", linked to its row */
void html_rest(const Html *html, uint64_t shown, uint64_t all); /* "and 3 more, which the JSON has" */

Str html_short_name(const Html *html, BufferId id); /* at most HTML_NAME_WIDTH characters, as are those of nodes */
Str html_node_name(const Html *html, NodeId id);    /* "'m' (Mul)"; empty of NO_NODE */
Str html_long_name(const Html *html, Str name);     /* cleaned, at most twice as long */

/* ---- sections, in the order of the report */

void html_summary(const Html *html); /* html_summary.c */
void html_misfit(const Html *html);  /* html_misfit.c */
void html_choose_rects(Html *html);  /* html_map.c; needed before any */
void html_map(const Html *html);
void html_choose_rows(Html *html); /* html_buffers.c; after those; needed before any */
void html_buffers(const Html *html);
void html_sweeps(const Html *html);   /* html_sweeps.c */
void html_forms(const Html *html);    /* html_forms.c */
void html_traffic(const Html *html);  /* html_traffic.c */
void html_rewrites(const Html *html); /* html_rewrites.c */
void html_choose_steps(Html *html);   /* html_steps.c; needed before any */
void html_steps(const Html *html);
void html_warnings(const Html *html); /* html_rewrites.c */

#endif
