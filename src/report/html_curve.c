/* The curve of what is alive, and the peak.
 *
 * Where there are more steps than places each place has the most that is alive at one of its steps: the peak is kept.
 */
#include "report/html_map.h"

#include <inttypes.h>

enum { MOST_PLACES = MAP_RIGHT - MAP_LEFT };

static uint64_t most_alive(const Plan *plan, uint64_t first, uint64_t last) {
    uint64_t most = 0;
    for (uint64_t s = first; s < last && s < plan->step_count; s++) {
        most = plan->steps[s].live_bytes > most ? plan->steps[s].live_bytes : most;
    }
    return most;
}

void map_curve(const Map *map) {
    const Plan *plan = map->html->page.facts->plan;
    uint64_t each = (map->steps + MOST_PLACES - 1) / MOST_PLACES;
    uint64_t before = UINT64_MAX;
    html_mark(map->html, "<path class=\"curve\" d=\"M%d %d", MAP_LEFT, CURVE_BOTTOM);
    for (uint64_t s = 0; s < map->steps; s += each) {
        uint64_t alive = plan->step_count == 0 ? plan->peak_live_bytes : most_alive(plan, s, s + each);
        if (alive != before) {
            html_mark(map->html, "H%.1fV%.1f", map_x(map, s), map_curve_y(map, alive));
        }
        before = alive;
    }
    html_mark(map->html, "H%dV%dz\"/>\n", MAP_RIGHT, CURVE_BOTTOM);
}

void map_peak(const Map *map) {
    enum { NEAR_RIGHT = MAP_RIGHT - 240 };
    const Html *html = map->html;
    const Plan *plan = html->page.facts->plan;
    double left = map_x(map, plan->peak_step), right = map_x(map, (uint64_t)plan->peak_step + 1);
    double x = (left + right) / 2, y = map_curve_y(map, plan->peak_live_bytes);
    bool has_row = plan->step_count > 0 && html->has_step[plan->peak_step];
    html_mark(html, has_row ? "<a id=\"peak\" href=\"#s%" PRIu32 "\">" : "<g id=\"peak\">", plan->peak_step);
    html_mark(html, "<path d=\"M%.1f %.1fV%dM%.1f %dV%d\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, y,
              CURVE_BOTTOM, x, MAP_TOP, MAP_BOTTOM, x, y);
    html_mark(html, "<text x=\"%.1f\" y=\"%d\"%s>peak " STR_FMT " at step " STR_FMT "</text>%s\n",
              x > NEAR_RIGHT ? x - 6 : x + 6, CURVE_BOTTOM + 14, x > NEAR_RIGHT ? " class=\"end\"" : "",
              STR_ARG(page_number(&html->page, plan->peak_live_bytes)),
              STR_ARG(page_number(&html->page, plan->peak_step)), has_row ? "</a>" : "</g>");
}
