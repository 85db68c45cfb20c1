/* Axes of the picture: ticks of bytes and steps, and the line of the capacity. */
#include "report/html_map.h"

/* The smallest 1, 2 or 5 times a power of ten of which at most `most` are in `all`. */
static uint64_t round_interval(uint64_t all, uint64_t most) {
    for (uint64_t power = 1; power <= UINT64_MAX / 100; power *= 10) {
        for (uint64_t k = 1; k <= 5; k += k == 1 ? 1 : 3) {
            if (all / (k * power) <= most) {
                return k * power;
            }
        }
    }
    return all;
}

/* The smallest power of two of which at most `most` are in `all`. */
static uint64_t binary_interval(uint64_t all, uint64_t most) {
    uint64_t interval = 1;
    while (all / interval > most) {
        interval *= 2;
    }
    return interval;
}

static void mark_bytes(const Map *map, double y, uint64_t bytes) {
    html_mark(map->html,
              "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" class=\"end\">" STR_FMT "</text>\n",
              MAP_LEFT, y, MAP_RIGHT, MAP_LEFT - 6, y + 4, STR_ARG(page_number(&map->html->page, bytes)));
}

static void mark_addresses(const Map *map) {
    enum { MOST = 10, MOST_OF_CURVE = 4 };
    uint64_t interval = binary_interval(map->top_bytes, MOST);
    for (uint64_t at = 0; at <= map->top_bytes; at += interval) {
        mark_bytes(map, map_y(map, at), at);
        if (interval > UINT64_MAX - at) {
            break;
        }
    }
    interval = binary_interval(map->top_bytes, MOST_OF_CURVE);
    for (uint64_t at = 0; at <= map->top_bytes; at += interval) {
        mark_bytes(map, map_curve_y(map, at), at);
        if (interval > UINT64_MAX - at) {
            break;
        }
    }
}

static void mark_steps(const Map *map) {
    enum { MOST = 12, BELOW = 16, WIDE = 24 };
    uint64_t interval = round_interval(map->steps, MOST);
    for (uint64_t step = 0; step < map->steps; step += interval) {
        double x = map_x(map, step);
        html_mark(map->html, "<path class=\"grid\" d=\"M%.1f %dV%dM%.1f %dV%d\"/>", x, CURVE_TOP, CURVE_BOTTOM, x,
                  MAP_TOP, MAP_BOTTOM + 4);
        bool is_last = x > MAP_RIGHT - WIDE; /* the picture ends soon behind it */
        html_mark(map->html, "<text x=\"%.1f\" y=\"%d\" class=\"%s\">" STR_FMT "</text>\n", is_last ? MAP_WIDTH - 2 : x,
                  MAP_BOTTOM + BELOW, is_last ? "end" : "middle", STR_ARG(page_number(&map->html->page, step)));
    }
}

static void mark_titles(const Map *map) {
    html_mark(map->html,
              "<text x=\"%d\" y=\"%d\" class=\"title\">bytes alive</text><text x=\"%d\" y=\"%d\" class=\"title\">"
              "address</text><text x=\"%d\" y=\"%d\" class=\"title end\">step</text>\n",
              MAP_LEFT, CURVE_TOP - 10, MAP_LEFT, MAP_TOP - 8, MAP_RIGHT, MAP_HEIGHT - 8);
}

void map_capacity(const Map *map) {
    if (!map->has_capacity) {
        return;
    }
    uint64_t capacity = map->html->page.facts->plan->capacity_bytes;
    double curve = map_curve_y(map, capacity), y = map_y(map, capacity);
    html_mark(map->html,
              "<g class=\"capacity\"><path d=\"M%d %.1fH%dM%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
              "class=\"end\">capacity " STR_FMT "</text></g>\n",
              MAP_LEFT, curve, MAP_RIGHT, MAP_LEFT, y, MAP_RIGHT, MAP_RIGHT, y - 5,
              STR_ARG(page_number(&map->html->page, capacity)));
}

void map_axes(const Map *map) {
    html_mark(map->html, "<g class=\"axes\">\n");
    mark_addresses(map);
    mark_steps(map);
    mark_titles(map);
    html_mark(map->html, "</g>\n");
}
