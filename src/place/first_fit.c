/* First fit: the items by first step, each in the lowest hole of the moment, as an allocator would place them.
 *
 * Greedy in that order meets exactly the items that live at the step, so this finds the same offsets without a look at
 * them: O(n sqrt n) whatever the input.
 *
 * Invariant: the holes are sorted by offset and no two touch. They stand in pages of which none is empty, each with
 * the size of its largest hole; the last hole of all is the top, which reaches to the end of the 64 bits and stays
 * when nothing is left of it. */
#include "place/pack.h"

#include "base/checked.h"

#include <string.h>

enum { PAGE_HOLES = 256 };

/* Pages in which a hole was large enough but for its alignment, after which an item goes to the top. */
enum { MOST_MISFITS = 16 };

typedef struct {
    size_t count;
    uint64_t largest; /* bytes */
    Block hole[PAGE_HOLES];
} Page;

typedef struct {
    Page **page;
    size_t count, capacity;
    Arena *arena;
} Holes;

/* The number of a page and of a hole in it. */
typedef struct {
    size_t page, at;
} Spot;

static Block *hole_at(const Holes *holes, Spot spot) {
    return &holes->page[spot.page]->hole[spot.at];
}

static void measure(Page *page) {
    page->largest = 0;
    for (size_t i = 0; i < page->count; i++) {
        uint64_t size = page->hole[i].end - page->hole[i].offset;
        page->largest = size > page->largest ? size : page->largest;
    }
}

static Page *add_page(Holes *holes, size_t at) {
    holes->page = arena_grow(holes->arena, holes->page, holes->count, &holes->capacity, sizeof *holes->page);
    memmove(&holes->page[at + 1], &holes->page[at], (holes->count - at) * sizeof *holes->page);
    holes->page[at] = arena_new(holes->arena, Page);
    holes->count++;
    return holes->page[at];
}

static Holes all_free(Arena *arena) {
    Holes holes = {.arena = arena};
    Page *page = add_page(&holes, 0);
    page->hole[page->count++] = (Block){0, UINT64_MAX};
    measure(page);
    return holes;
}

/* The upper half of a full page goes to a page of its own. */
static void split_page(Holes *holes, size_t at) {
    Page *upper = add_page(holes, at + 1);
    Page *lower = holes->page[at];
    lower->count = PAGE_HOLES / 2;
    upper->count = PAGE_HOLES - lower->count;
    memcpy(upper->hole, &lower->hole[lower->count], upper->count * sizeof *upper->hole);
    measure(lower);
    measure(upper);
}

static void set_hole(Holes *holes, Spot spot, Block hole) {
    *hole_at(holes, spot) = hole;
    measure(holes->page[spot.page]);
}

/* Puts `hole` before what stands at `spot`. */
static void insert_hole(Holes *holes, Spot spot, Block hole) {
    if (holes->page[spot.page]->count == PAGE_HOLES) {
        split_page(holes, spot.page);
        size_t kept = holes->page[spot.page]->count;
        spot = spot.at > kept ? (Spot){spot.page + 1, spot.at - kept} : spot;
    }
    Page *page = holes->page[spot.page];
    memmove(&page->hole[spot.at + 1], &page->hole[spot.at], (page->count - spot.at) * sizeof *page->hole);
    page->count++;
    set_hole(holes, spot, hole);
}

static void remove_hole(Holes *holes, Spot spot) {
    Page *page = holes->page[spot.page];
    page->count--;
    memmove(&page->hole[spot.at], &page->hole[spot.at + 1], (page->count - spot.at) * sizeof *page->hole);
    measure(page);
    if (page->count == 0) {
        holes->count--;
        memmove(&holes->page[spot.page], &holes->page[spot.page + 1], (holes->count - spot.page) * sizeof *holes->page);
    }
}

/* The lowest aligned offset in `hole`, false where the item does not fit. */
static bool fits(Block hole, const PackItem *item, uint64_t *offset) {
    uint64_t low;
    if (!checked_round_up(hole.offset, item->align, &low) || low > hole.end || hole.end - low < item->size) {
        return false;
    }
    *offset = low;
    return true;
}

/* The lowest hole in which the item fits, else the top. */
static Spot lowest_fit(const Holes *holes, const PackItem *item) {
    uint64_t offset;
    size_t misfits = 0;
    for (Spot spot = {0}; spot.page < holes->count && misfits < MOST_MISFITS; spot.page++) {
        const Page *page = holes->page[spot.page];
        if (page->largest < item->size) {
            continue;
        }
        for (spot.at = 0; spot.at < page->count; spot.at++) {
            if (fits(page->hole[spot.at], item, &offset)) {
                return spot;
            }
        }
        misfits++;
    }
    return (Spot){holes->count - 1, holes->page[holes->count - 1]->count - 1};
}

/* Takes `block` out of the hole that it lies in. */
static void take(Holes *holes, Spot spot, Block block) {
    Block hole = *hole_at(holes, spot);
    Block below = {hole.offset, block.offset};
    bool leaves_below = below.offset < below.end;
    bool leaves_above = block.end < hole.end || hole.end == UINT64_MAX;
    if (leaves_above) {
        set_hole(holes, spot, (Block){block.end, hole.end});
    }
    if (leaves_below && leaves_above) {
        insert_hole(holes, spot, below);
    } else if (leaves_below) {
        set_hole(holes, spot, below);
    } else if (!leaves_above) {
        remove_hole(holes, spot);
    }
}

/* The first hole at `offset` or above; no block ends above the top. */
static Spot first_above(const Holes *holes, uint64_t offset) {
    size_t low = 0;
    size_t high = holes->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const Page *page = holes->page[middle];
        if (page->hole[page->count - 1].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Spot spot = {low, 0};
    while (hole_at(holes, spot)->offset < offset) {
        spot.at++;
    }
    return spot;
}

/* The hole before `spot`. False where that is the first of all. */
static bool step_down(const Holes *holes, Spot spot, Spot *before) {
    if (spot.at == 0 && spot.page == 0) {
        return false;
    }
    *before =
        spot.at > 0 ? (Spot){spot.page, spot.at - 1} : (Spot){spot.page - 1, holes->page[spot.page - 1]->count - 1};
    return true;
}

/* Gives `block` back: it becomes one hole with those that it touches. */
static void give(Holes *holes, Block block) {
    Spot above = first_above(holes, block.end);
    Spot below;
    bool meets_below = step_down(holes, above, &below) && hole_at(holes, below)->end == block.offset;
    bool meets_above = hole_at(holes, above)->offset == block.end;
    block.offset = meets_below ? hole_at(holes, below)->offset : block.offset;
    block.end = meets_above ? hole_at(holes, above)->end : block.end;
    if (meets_above) {
        set_hole(holes, above, block);
    }
    if (meets_above && meets_below) {
        remove_hole(holes, below);
    } else if (meets_below) {
        set_hole(holes, below, block);
    } else if (!meets_above) {
        insert_hole(holes, above, block);
    }
}

bool first_fit(const Pack *pack, const size_t *order, Arena *scratch, uint64_t *offset, uint64_t *height) {
    const LifeEnd *death = pack_deaths(pack, scratch);
    Holes holes = all_free(scratch);
    *height = 0;
    for (size_t i = 0; i < pack->count; i++) {
        const PackItem *item = &pack->item[order[i]];
        for (; death->last <= item->first; death++) {
            uint64_t freed = offset[death->item];
            give(&holes, (Block){freed, freed + pack->item[death->item].size});
        }
        Spot spot = lowest_fit(&holes, item);
        uint64_t low;
        if (!fits(*hole_at(&holes, spot), item, &low)) {
            return false;
        }
        offset[order[i]] = low;
        take(&holes, spot, (Block){low, low + item->size});
        *height = low + item->size > *height ? low + item->size : *height;
    }
    return true;
}
