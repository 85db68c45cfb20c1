/* What the parts of reports for people share: the terminal's, and from it the page as HTML. Private to the room. */
#ifndef S0_REPORT_PAGE_H
#define S0_REPORT_PAGE_H

#include "report/report.h"
#include "report/text.h"

typedef struct {
    const Facts *facts;
    TerminalStyle style;
    Arena *scratch;
    FILE *out;
} Page;

enum { PAGE_INDENT = 2 };

/* A blank line, and a line that stands out. */
void page_heading(const Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One indented line; what is too long is broken at blanks. */
void page_line(const Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Colour on and off where the page has any. */
const char *page_color(const Page *page, const char *code);
#define PAGE_BOLD    "\033[1m"
#define PAGE_BAD     "\033[31m"
#define PAGE_GOOD    "\033[32m"
#define PAGE_PLAIN   "\033[0m"
#define PAGE_REVERSE "\033[7m"

Str page_number(const Page *page, uint64_t number);
const char *page_count(const Page *page, uint64_t count, const char *noun); /* "1 buffer", "2 buffers" */
const char *page_lane(const Device *device, uint32_t memory); /* " a lane" of a memory that has several; else empty */
Str page_name(const Page *page, BufferId id);                 /* of a buffer, cleaned, half a line at most */
Str page_step(const Page *page, uint32_t step);               /* "step 3: 'm' (Mul), multiply", the same */

/* ---- parts, in the order of the page */

void page_rewrites(const Page *page);   /* rewrites.c */
void page_parameters(const Page *page); /* parts.c */
void page_padding(const Page *page);
void page_inputs(const Page *page);
void page_traffic(const Page *page);  /* traffic.c */
void page_far_maps(const Page *page); /* lists.c */
void page_overflow(const Page *page); /* lists.c */
void page_sweep_list(const Page *page);
void page_sweeps(const Page *page);  /* timeline.c: the sweep at the peak, and those that take most cycles */
void page_drawing(const Page *page); /* drawing_page.c */

/* ---- of one sweep, or one step */

void page_sweep(const Page *page, uint32_t sweep);                      /* timeline.c */
const char *page_choice(const Page *page, const PlannedSweep *planned); /* "fused, 7 tiles of 1x12x3x28 (N C H W)" */
Str page_alive(const Page *page, uint32_t step);                        /* "X 2*896, s 16, 3 more" */
Str page_sweep_title(const Page *page, const PlannedSweep *planned);    /* "'m' (Mul) to 'a' (Add)" */
Str page_tile(const Page *page, const SweepChoice *choice);             /* lists.c: "1x8x2x28", N C H W */

/* ---- misfit.c: parts of why it does not fit */

/* How far the peak's operator is cut, or why it is not; empty where neither is known. */
Str misfit_cut(const Page *page);
const char *misfit_helpless(const Page *page); /* behind the operator's own bytes: no option lowers them; else empty */
Str misfit_waiting_for(const Page *page, BufferId id);   /* "until step 3: …" */
Str misfit_blamed(const Page *page, const Blame *blame); /* the buffer, or of a schedule the operator */

/* ---- words.c: the short names of the JSON in words */

/* "optimal: equals the bound", or how far what is placed is above it. */
const char *words_gap(const Page *page);

/* What to write into a device file so that plans use the memory in which they place nothing: of a misfit that has one.
 */
const char *words_unused(const Page *page);

/* What lies in a memory that takes another's overflow, in one sentence. */
const char *words_overflow(const Page *page, uint32_t memory);

/* "peak 768, placed 768, psram 4,096" */
Str words_sizes(const Page *page, const Plan *plan);

/* ", psram 4,096": what further memories hold of a plan; empty where they hold nothing. */
const char *words_further(const Page *page, const Plan *plan);

/* " beside psram": of a memory that does not fit, those that take its overflow in vain; empty where there are none. */
const char *words_beside(const Page *page, uint32_t memory);

const char *words_alias(const Plan *plan, const Buffer *buffer);
Str words_refusal(const Page *page, const Buffer *buffer); /* with the names it is about */
Str words_copy(const Page *page, BufferId output);         /* why a variable's value is copied; else empty */
Str words_order(const Page *page);                         /* what --order memory won; empty: not asked for */
Str words_no_view(const Page *page, NodeId node);          /* why a slice or a concatenation is copied; else empty */
Str words_whole(const Page *page, WholeReason reason, NodeId node); /* why an operator is not cut */
const char *words_remedy(const Page *page, const Remedy *remedy);
bool words_is_lack(const char *kind); /* a remedy that saves nothing: its bytes are those that are missing */

#endif
