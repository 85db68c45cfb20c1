/* The picture of time and address: rectangles, and what stands around them. */
#include "report/html_map.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Geometry */

Map map_of(const Html *html) {
    enum { FAR = 3 }; /* a capacity so many times what is used would leave a picture of nothing */
    const Plan *plan = html->page.facts->plan;
    uint64_t used = plan->placed_bytes > plan->peak_live_bytes ? plan->placed_bytes : plan->peak_live_bytes;
    uint64_t capacity = plan->capacity_bytes;
    Map map = {.html = html, .steps = plan->step_count == 0 ? 1 : plan->step_count};
    map.has_capacity = capacity / FAR <= used;
    map.top_bytes = map.has_capacity && capacity > used ? capacity : used == 0 ? 1 : used;
    return map;
}

double map_x(const Map *map, uint64_t step) {
    return MAP_LEFT + (double)step / map->steps * (MAP_RIGHT - MAP_LEFT);
}

double map_y(const Map *map, uint64_t address) {
    return MAP_BOTTOM - (double)address / (double)map->top_bytes * (MAP_BOTTOM - MAP_TOP);
}

double map_curve_y(const Map *map, uint64_t bytes) {
    return CURVE_BOTTOM - (double)bytes / (double)map->top_bytes * (CURVE_BOTTOM - CURVE_TOP);
}

Rect map_rect(const Map *map, const Buffer *storage) {
    double x = map_x(map, storage->storage_first);
    double y = map_y(map, storage->offset + storage->physical_bytes);
    return (Rect){x, y, map_x(map, storage->storage_last) - x, map_y(map, storage->offset) - y};
}

/* What has a rectangle can be seen and pointed at. */
static Rect visible_rect(const Map *map, const Buffer *storage) {
    const double least = 1.5;
    Rect rect = map_rect(map, storage);
    rect.width = rect.width < least ? least : rect.width;
    rect.height = rect.height < least ? least : rect.height;
    return rect;
}

char map_letter(BufferKind kind) {
    static const char letter[] = "iaowpsk";
    return letter[kind];
}

/* ---- Which are drawn alone */

typedef struct {
    uint32_t buffer;
    double area;
} Area;

static int by_area(const void *left, const void *right) {
    const Area *a = left;
    const Area *b = right;
    if (a->area < b->area || a->area > b->area) {
        return a->area > b->area ? -1 : 1;
    }
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static bool is_visible(Rect rect) {
    const double least = 1, least_area = 8;
    return rect.width >= least && rect.height >= least && rect.width * rect.height >= least_area;
}

/* A few are all drawn alone, the largest of many if they can be seen. */
void html_choose_rects(Html *html) {
    enum { FEW = 150 };
    const Plan *plan = html->page.facts->plan;
    bool are_few = drawing_count(plan) <= FEW;
    const Map map = map_of(html);
    Area *area = arena_array(html->page.scratch, Area, plan->buffer_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        Rect rect = drawing_has(plan, i) ? map_rect(&map, &plan->buffers[i]) : (Rect){0};
        if (drawing_has(plan, i) && (are_few || is_visible(rect))) {
            area[count++] = (Area){i, rect.width * rect.height};
        }
    }
    if (count > 0) {
        qsort(area, count, sizeof *area, by_area);
    }
    for (uint32_t k = 0; k < count && k < HTML_MOST_RECTS; k++) {
        html->has_rect[area[k].buffer] = true;
    }
}

/* ---- Rectangles */

/* The part of it that is padding, at its top: where padding really lies is the layout's. */
static void mark_padding(const Map *map, const Buffer *storage, Rect rect) {
    double ratio = facts_padding_ratio(storage);
    double height = rect.height * (1 - 1 / ratio);
    if (ratio > 1 && height >= 0.5) {
        html_mark(map->html, "<rect class=\"h\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", rect.x, rect.y,
                  rect.width, height);
    }
}

/* "a" or "a 12 conv1/act", as much as there is room for. */
static void mark_label(const Map *map, uint32_t id, Rect rect) {
    const double line = 12, letter = 6.2, inset = 3;
    const Buffer *storage = &map->html->page.facts->plan->buffers[id];
    Arena *scratch = map->html->page.scratch;
    if (rect.height < line || rect.width < letter + 2 * inset) {
        return;
    }
    Str label = arena_format(scratch, "%c %" PRIu32 " " STR_FMT, map_letter(storage->kind), id,
                             STR_ARG(html_short_name(map->html, (BufferId){id})));
    uint32_t room = (uint32_t)((rect.width - 2 * inset) / letter);
    label = room < 4 ? (Str){label.ptr, 1} : text_clip(scratch, label, room);
    html_mark(map->html, "<text x=\"%.1f\" y=\"%.1f\">", rect.x + inset, rect.y + rect.height - inset);
    html_escape(label, map->html->page.out);
    html_mark(map->html, "</text>");
}

/* It leads to its row. Only a crowded peak can leave it none. */
static void mark_storage(const Map *map, uint32_t id) {
    const Html *html = map->html;
    const Buffer *storage = &html->page.facts->plan->buffers[id];
    Rect rect = visible_rect(map, storage);
    html_mark(html, "<a id=\"m%" PRIu32 "\" href=\"#", id);
    html_mark(html, html->has_row[id] ? "b%" PRIu32 : "buffers", id);
    html_mark(html, "\" tabindex=\"-1\" class=\"%c\"><title>%" PRIu32 " ", map_letter(storage->kind), id);
    html_escape(html_short_name(html, (BufferId){id}), html->page.out);
    html_mark(html, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", rect.x, rect.y, rect.width,
              rect.height);
    mark_padding(map, storage, rect);
    mark_label(map, id, rect);
    html_mark(html, "</a>\n");
}

static uint32_t mark_storages(const Map *map) {
    const Plan *plan = map->html->page.facts->plan;
    uint32_t count = 0;
    html_mark(map->html, "<g id=\"storages\">\n");
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (map->html->has_rect[i]) {
            mark_storage(map, i);
            count++;
        }
    }
    html_mark(map->html, "</g>\n");
    return count;
}

/* ---- Around them */

static void mark_patterns(const Html *html) {
    html_mark(html, "<defs>\n<pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
                    "patternTransform=\"rotate(45)\"><path d=\"M0 0v5\"/></pattern>\n"
                    "<pattern id=\"dots\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
                    "<circle cx=\"2\" cy=\"2\" r=\"1\"/></pattern>\n</defs>\n");
}

static void mark_swatch(const Html *html, const char *class, const char *text) {
    html_mark(html,
              "<li><svg class=\"swatch\" viewBox=\"0 0 18 14\" aria-hidden=\"true\"><g class=\"%s\"><rect x=\"1\" "
              "y=\"1\" width=\"16\" height=\"12\"/>%s</g></svg> %s</li>\n",
              class,
              class[0] == 'h' || class[0] == 'd'
                  ? ""
                  : arena_text(html->page.scratch, "<text x=\"6\" y=\"11\">%s</text>", class),
              text);
}

static void mark_legend(const Html *html) {
    html_mark(html, "<ul class=\"legend\" aria-label=\"Legend\">\n");
    for (int kind = 0; kind < BUFFER_KIND_COUNT; kind++) {
        if (html->page.facts->plan->by_kind[kind].physical_bytes > 0) {
            const char class[] = {map_letter((BufferKind)kind), '\0'};
            mark_swatch(html, class, buffer_kind_name((BufferKind)kind));
        }
    }
    mark_swatch(html, "hatched", "padding: the part of a storage that holds no element, drawn at its top");
    mark_swatch(html, "dotted", "storages too small to be drawn alone");
    html_mark(html, "</ul>\n");
}

static void mark_notes(const Map *map, uint32_t alone, uint32_t together) {
    const Html *html = map->html;
    const Plan *plan = html->page.facts->plan;
    html_line(html, "%s drawn alone, %s too small for that and drawn together, over %s.",
              page_count(&html->page, alone, "storage"), page_count(&html->page, together, "storage"),
              page_count(&html->page, plan->step_count, "step"));
    if (plan->sweep_count > 0) {
        html_line(html, "Steps of tiles are drawn once each, however often they repeat.");
    }
    if (!map->has_capacity) {
        html_line(html, "The capacity, " STR_FMT " bytes, is far above the top of the picture.",
                  STR_ARG(page_number(&html->page, plan->capacity_bytes)));
    }
}

static void mark_picture(const Map *map) {
    const Html *html = map->html;
    html_mark(
        html,
        "<figure>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Picture of time and address\">\n"
        "<svg id=\"picture\" viewBox=\"0 0 %d %d\" role=\"group\" aria-labelledby=\"map-title\">\n"
        "<title id=\"map-title\">Storages of local memory by step and address, and what is alive; the table of "
        "buffers says the same</title>\n",
        MAP_WIDTH, MAP_HEIGHT);
    mark_patterns(html);
    map_axes(map);
    uint32_t together = map_small(map);
    uint32_t alone = mark_storages(map);
    map_curve(map);
    map_capacity(map);
    map_peak(map);
    html_mark(html, "</svg>\n</div>\n<p id=\"selected\" role=\"status\"></p>\n");
    mark_legend(html);
    html_mark(html, "<figcaption>\n");
    mark_notes(map, alone, together);
    html_mark(html, "</figcaption>\n</figure>\n");
}

void html_map(const Html *html) {
    const Map map = map_of(html);
    html_section(html, "map", "Time and address");
    if (html->page.facts->plan->placed_bytes == 0) {
        html_line(html, "Nothing lies in local memory.");
    } else {
        mark_picture(&map);
    }
    html_section_end(html);
}
