/* TFLite: walks everything that is reached from the root, by the table tflite_schema.def. */
#include "emit/tflite.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    char letter;
    uint8_t number;
    const char *slots;
} Row;

static const Row rows[] = {
#define TABLE(letter, number, slots) {letter, number, slots},
#include "import/tflite_schema.def"
#undef TABLE
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* Marks of FlatWalk.owner: at the first byte of an object what it is, further in INSIDE. */
enum {
    MARK_INSIDE = 1,
    MARK_FIELDS = 2,         /* a table's field list, which tables of one shape have in common */
    MARK_NUMBERS = 8,        /* + bytes of an element */
    MARK_TABLE = 32,         /* + row */
    MARK_TABLES = 32 + 1024, /* + row of the elements */
    MARK_SHARED = 1 << 15,   /* added to the mark of an object that is named again */
};

typedef struct {
    Work *work;
    Flatbuf flat;
    FlatWalk *walk;
} Walker;

static const Row *find_row(char letter, int64_t number) {
    for (size_t k = 0; k < ROW_COUNT; k++) {
        if (rows[k].letter == letter && rows[k].number == number) {
            return &rows[k];
        }
    }
    return NULL;
}

static void add_ref(Walker *w, size_t at, size_t target, bool is_back) {
    FlatWalk *walk = w->walk;
    walk->refs = arena_grow(&w->work->scratch, walk->refs, walk->ref_count, &walk->ref_capacity, sizeof *walk->refs);
    walk->refs[walk->ref_count++] = (FlatRef){at, target, is_back};
}

/* Claims the bytes of an object; false where it was claimed before, and need not be walked again. */
static bool claim(Walker *w, size_t at, uint64_t bytes, uint32_t mark) {
    uint16_t *owner = w->walk->owner + at;
    if ((owner[0] & ~MARK_SHARED) == (int)mark) {
        owner[0] = (uint16_t)(mark | MARK_SHARED);
        return false;
    }
    for (uint64_t k = 0; k < bytes; k++) {
        if (owner[k] != 0) {
            w->walk->overlaps = true;
            return false;
        }
    }
    for (uint64_t k = 0; k < bytes; k++) {
        owner[k] = MARK_INSIDE;
    }
    owner[0] = (uint16_t)mark;
    return true;
}

static void note_unknown(FlatWalk *walk, const FlatTable *table, uint32_t slot) {
    if (!walk->has_unknown) {
        walk->has_unknown = true;
        walk->unknown_at = table->at;
        walk->unknown_slot = slot;
    }
}

static void walk_table(Walker *w, const FlatTable *table, const Row *row);

static void walk_vector(Walker *w, const FlatTable *table, uint32_t slot, size_t cell, uint32_t element_bytes) {
    FlatVector vector = flat_vector(&w->flat, table, slot, element_bytes);
    if (w->flat.fault == NULL) {
        size_t start = vector.at - FLAT_REF_BYTES;
        add_ref(w, cell, start, false);
        claim(w, start, FLAT_REF_BYTES + (uint64_t)vector.count * element_bytes, MARK_NUMBERS + element_bytes);
    }
}

static void walk_tables(Walker *w, const FlatTable *table, uint32_t slot, size_t cell, const Row *row) {
    FlatVector vector = flat_tables(&w->flat, table, slot);
    if (w->flat.fault != NULL) {
        return;
    }
    size_t start = vector.at - FLAT_REF_BYTES;
    add_ref(w, cell, start, false);
    if (!claim(w, start, FLAT_REF_BYTES + (uint64_t)vector.count * FLAT_REF_BYTES,
               MARK_TABLES + (uint32_t)(row - rows))) {
        return;
    }
    for (uint32_t k = 0; k < vector.count && w->flat.fault == NULL; k++) {
        FlatTable element = flat_table_at(&w->flat, &vector, k);
        add_ref(w, vector.at + (size_t)k * FLAT_REF_BYTES, element.at, false);
        walk_table(w, &element, row);
    }
}

/* A union's number stands in the slot before it. */
static const Row *row_of_field(Walker *w, const FlatTable *table, uint32_t slot, char letter) {
    bool is_table = isalpha((unsigned char)letter) != 0;
    return find_row(letter, is_table ? 0 : flat_int(&w->flat, table, slot - 1, FLAT_U8, 0));
}

static void walk_field(Walker *w, const FlatTable *table, uint32_t slot, char letter) {
    size_t cell;
    if (strchr(".:|", letter) != NULL || !flat_cell(&w->flat, table, slot, FLAT_REF_BYTES, &cell)) {
        return;
    }
    if (isdigit((unsigned char)letter)) {
        walk_vector(w, table, slot, cell, (uint32_t)(letter - '0'));
        return;
    }
    bool is_vector = isupper((unsigned char)letter) != 0;
    const Row *row = row_of_field(w, table, slot, is_vector ? (char)tolower((unsigned char)letter) : letter);
    if (row == NULL) {
        note_unknown(w->walk, table, slot);
    } else if (is_vector) {
        walk_tables(w, table, slot, cell, row);
    } else {
        FlatTable child = flat_table(&w->flat, table, slot);
        add_ref(w, cell, child.at, false);
        walk_table(w, &child, row);
    }
}

static uint32_t bytes_of_field(char letter) {
    return letter == '.' ? 1 : letter == '|' ? 8 : 4;
}

static uint32_t slots_of(const FlatTable *table) {
    return table->vtable_bytes / 2 - 2;
}

/* Up to the end of its last field. A table may say that it is longer than that: some writers count padding that is not
 * there, and another object follows at once. */
static uint32_t bytes_of_table(Walker *w, const FlatTable *table, const Row *row) {
    uint32_t known = (uint32_t)strlen(row->slots), bytes = FLAT_REF_BYTES;
    for (uint32_t slot = known; slot < slots_of(table); slot++) {
        if (flat_has(&w->flat, table, slot)) {
            note_unknown(w->walk, table, slot);
            return table->bytes;
        }
    }
    for (uint32_t slot = 0; slot < known; slot++) {
        size_t cell;
        uint32_t field = bytes_of_field(row->slots[slot]);
        if (flat_cell(&w->flat, table, slot, field, &cell)) {
            uint32_t end = (uint32_t)(cell - table->at) + field;
            bytes = end > bytes ? end : bytes;
        }
    }
    return bytes;
}

/* Two fields in one place: what one of them is set to, the other one reads. */
static bool has_common_cells(Walker *w, const FlatTable *table, const Row *row) {
    uint32_t known = (uint32_t)strlen(row->slots);
    for (uint32_t a = 0; a < known; a++) {
        for (uint32_t b = 0; b < a; b++) {
            size_t at, other;
            uint32_t bytes = bytes_of_field(row->slots[a]), others = bytes_of_field(row->slots[b]);
            if (flat_cell(&w->flat, table, a, bytes, &at) && flat_cell(&w->flat, table, b, others, &other) &&
                at < other + others && other < at + bytes) {
                return true;
            }
        }
    }
    return false;
}

static void walk_table(Walker *w, const FlatTable *table, const Row *row) {
    if (w->flat.fault != NULL || !flat_charge(&w->flat, table->vtable, table->vtable_bytes)) {
        return;
    }
    add_ref(w, table->at, table->vtable, true);
    claim(w, table->vtable, table->vtable_bytes, MARK_FIELDS);
    if (!claim(w, table->at, bytes_of_table(w, table, row), MARK_TABLE + (uint32_t)(row - rows))) {
        return;
    }
    w->walk->overlaps |= has_common_cells(w, table, row);
    for (uint32_t slot = 0; row->slots[slot] != 0 && w->flat.fault == NULL; slot++) {
        walk_field(w, table, slot, row->slots[slot]);
    }
}

bool emit_walk(Work *work, Span bytes, FlatWalk *walk) {
    Walker w = {.work = work, .walk = walk};
    FlatTable root;
    *walk = (FlatWalk){.len = bytes.len, .owner = arena_array(&work->scratch, uint16_t, bytes.len)};
    if (flat_open(&w.flat, bytes, "TFL3", &root)) {
        claim(&w, 0, 2 * FLAT_REF_BYTES, MARK_INSIDE); /* where the root is, and the identifier */
        add_ref(&w, 0, root.at, false);
        walk_table(&w, &root, find_row('r', 0));
    }
    return emit_is_sound(work, &w.flat);
}

bool emit_is_shared(const FlatWalk *walk, size_t at) {
    return at < walk->len && (walk->owner[at] & MARK_SHARED) != 0;
}

bool emit_is_sound(Work *work, const Flatbuf *flat) {
    if (flat->fault == NULL) {
        return true;
    }
    Arena *texts = work->diags.arena;
    return diag_error(&work->diags, (DiagText){.place = arena_text(texts, "byte %zu", flat->fault_at),
                                               .what = flat->fault,
                                               .got = arena_text(texts, "a file of %zu bytes", flat->bytes.len),
                                               .expected = "a whole TFLite model with the identifier TFL3",
                                               .hint = "check that the file was copied completely"});
}
