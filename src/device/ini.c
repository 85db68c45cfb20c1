/* Reading INI text in two passes: every raw line is checked, then inih splits the lines that hold something.
 *
 * Invariant: inih sees only lines that it can't misread, and while it runs nothing is allocated, so that no way out
 * leads through its frames. */
#include "device/ini.h"

#include <ini.h>
#include <string.h>

typedef struct {
    Str text;
    uint32_t number;
} Line;

typedef struct {
    Work *work;
    Str file;
    DeviceIni *ini;
    Line pair[DEVICE_INI_MAX_KEYS]; /* raw lines of the entries, index by index */
    bool failed;
} Scan;

const char *device_ini_place(Arena *arena, Str file, uint32_t line) {
    return arena_text(arena, STR_FMT ":%u", STR_ARG(file), line);
}

static void line_error(Scan *scan, uint32_t line, DiagText text) {
    text.place = device_ini_place(&scan->work->keep, scan->file, line);
    diag_error(&scan->work->diags, text);
    scan->failed = true;
}

static const char *quote(Scan *scan, Str text) {
    return arena_text(&scan->work->keep, "'" STR_FMT "'", STR_ARG(text));
}

/* ---- First pass: the raw lines */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool has_control_byte(Scan *scan, const Line *line) {
    for (size_t i = 0; i < line->text.len; i++) {
        unsigned char c = (unsigned char)line->text.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            line_error(scan, line->number,
                       (DiagText){.what = "a control character in the text",
                                  .got = arena_text(&scan->work->keep, "byte 0x%02x in column %zu", c, i + 1),
                                  .expected = "printable text, tabs, and line ends LF or CR LF"});
            return true;
        }
    }
    return false;
}

static bool has_inline_comment(const Line *line) {
    for (size_t i = 1; i < line->text.len; i++) {
        if (line->text.ptr[i] == ';' && is_blank(line->text.ptr[i - 1])) {
            return true;
        }
    }
    return false;
}

static uint32_t line_of_section(const DeviceIni *ini, Str name) {
    for (uint32_t i = 0; i < ini->section_count; i++) {
        if (str_eq(ini->section[i].name, name)) {
            return ini->section[i].line;
        }
    }
    return 0;
}

/* A faulty section is kept too, so that its keys are not taken for keys of the one above. */
static void scan_section(Scan *scan, const Line *line) {
    Str text = str_trim(line->text);
    DeviceIni *ini = scan->ini;
    Str name = text.len < 2 ? (Str){NULL, 0} : str_trim((Str){text.ptr + 1, text.len - 2});
    bool is_closed = name.len > 0 && text.ptr[text.len - 1] == ']' && memchr(name.ptr, ']', name.len) == NULL;
    uint32_t twin = line_of_section(ini, name);
    if (!is_closed) {
        line_error(scan, line->number,
                   (DiagText){.what = "a section's line is not closed",
                              .got = quote(scan, text),
                              .expected = "[NAME] and nothing after it"});
    } else if (twin != 0) {
        line_error(scan, line->number,
                   (DiagText){.what = "a section stands twice",
                              .got = quote(scan, text),
                              .hint = arena_text(&scan->work->keep, "join it with the one of line %u", twin)});
    }
    if (ini->section_count == DEVICE_INI_MAX_SECTIONS) {
        line_error(scan, line->number,
                   (DiagText){.what = arena_text(&scan->work->keep, "more than %d sections", DEVICE_INI_MAX_SECTIONS)});
        return;
    }
    ini->section[ini->section_count++] = (DeviceIniSection){arena_str(&scan->work->keep, name), line->number};
}

/* The first earlier line of the same section and key, or 0. */
static uint32_t line_of_twin(const DeviceIni *ini, Str key) {
    for (uint32_t i = 0; i < ini->entry_count; i++) {
        const DeviceIniEntry *entry = &ini->entry[i];
        if (entry->section + 1 == ini->section_count && str_eq(entry->key, key)) {
            return entry->line;
        }
    }
    return 0;
}

static void scan_pair(Scan *scan, const Line *line) {
    DeviceIni *ini = scan->ini;
    Str value = line->text;
    Str key = str_trim(str_cut(&value, '='));
    value = str_trim(value);
    /* inih would also split at ':', which contracts are full of: one way to write a key is enough */
    if (key.len == 0 || value.len == 0 || memchr(key.ptr, ':', key.len) != NULL) {
        line_error(scan, line->number,
                   (DiagText){.what = "a line is neither a key, a section nor a comment",
                              .got = quote(scan, str_trim(line->text)),
                              .expected = "key = value, [section], or # comment"});
        return;
    }
    uint32_t twin = line_of_twin(ini, key);
    if (ini->section_count == 0) {
        line_error(scan, line->number,
                   (DiagText){.what = "a key stands before the first section", .got = quote(scan, key)});
    } else if (twin != 0) {
        line_error(scan, line->number,
                   (DiagText){.what = "a key stands twice in its section",
                              .got = quote(scan, key),
                              .hint = arena_text(&scan->work->keep, "keep this one or the one of line %u", twin)});
    } else if (ini->entry_count == DEVICE_INI_MAX_KEYS) {
        line_error(scan, line->number,
                   (DiagText){.what = arena_text(&scan->work->keep, "more than %d keys", DEVICE_INI_MAX_KEYS)});
    } else {
        scan->pair[ini->entry_count] = *line;
        ini->entry[ini->entry_count++] =
            (DeviceIniEntry){ini->section_count - 1, line->number, arena_str(&scan->work->keep, key),
                             arena_str(&scan->work->keep, value)};
    }
}

static void scan_line(Scan *scan, const Line *line) {
    Str text = str_trim(line->text);
    if (has_control_byte(scan, line) || text.len == 0 || text.ptr[0] == '#' || text.ptr[0] == ';') {
        return;
    }
    if (is_blank(line->text.ptr[0])) {
        line_error(scan, line->number,
                   (DiagText){.what = "a line is indented, so it would continue the one above",
                              .got = quote(scan, text),
                              .hint = "write each value on one line, from the first column"});
    } else if (has_inline_comment(line)) {
        line_error(scan, line->number,
                   (DiagText){.what = "' ;' would cut the value here",
                              .got = quote(scan, text),
                              .hint = "put the comment on a line of its own"});
    } else if (text.ptr[0] == '[') {
        scan_section(scan, line);
    } else {
        scan_pair(scan, line);
    }
}

static void scan_text(Scan *scan, Str text) {
    static const char mark[] = "\xef\xbb\xbf";
    if (str_starts(text, str_from(mark))) {
        text = (Str){text.ptr + 3, text.len - 3};
    }
    for (uint32_t number = 1; text.len > 0; number++) {
        Line line = {str_cut(&text, '\n'), number};
        if (line.text.len > 0 && line.text.ptr[line.text.len - 1] == '\r') {
            line.text.len--;
        }
        scan_line(scan, &line);
    }
}

/* ---- Second pass: inih, entry by entry */

typedef struct {
    Scan *scan;
    uint32_t next;    /* entry that is given next */
    uint32_t handled; /* entries that came back as they were given */
    int limit_bytes;  /* of inih's buffer */
    bool is_cut;      /* the line `next` does not fit it */
} Feed;

/* fgets for inih: the next pair's line. */
static char *feed_line(char *buffer, int size, void *user) {
    Feed *feed = user;
    if (feed->next == feed->scan->ini->entry_count) {
        return NULL;
    }
    const Line *line = &feed->scan->pair[feed->next];
    feed->limit_bytes = size - 3; /* inih keeps room for CR, LF and NUL */
    feed->is_cut = size < 4 || line->text.len > (size_t)feed->limit_bytes;
    if (feed->is_cut) {
        return NULL;
    }
    memcpy(buffer, line->text.ptr, line->text.len);
    memcpy(buffer + line->text.len, "\n", 2);
    feed->next++;
    return buffer;
}

static int take_pair(void *user, const char *section, const char *key, const char *value) {
    Feed *feed = user;
    (void)section; /* the sections' lines were read in the first pass */
    const DeviceIniEntry *entry = &feed->scan->ini->entry[feed->next - 1];
    bool same = str_eq(entry->key, str_from(key)) && str_eq(entry->value, str_from(value));
    feed->handled += same && feed->handled + 1 == feed->next;
    return 1;
}

static void split_with_inih(Scan *scan) {
    Feed feed = {.scan = scan};
    bool parsed = ini_parse_stream(feed_line, &feed, take_pair, &feed) == 0;
    if (feed.is_cut) {
        const Line *line = &scan->pair[feed.next];
        line_error(scan, line->number,
                   (DiagText){.what = "a line is too long",
                              .got = arena_text(&scan->work->keep, "%zu bytes", line->text.len),
                              .expected = arena_text(&scan->work->keep, "at most %d bytes", feed.limit_bytes),
                              .hint = "shorten the source, or the contract"});
    } else if (!parsed || feed.handled != scan->ini->entry_count) {
        uint32_t entry = feed.handled < scan->ini->entry_count ? feed.handled : 0;
        line_error(scan, scan->ini->entry[entry].line, (DiagText){.what = "the INI reader can't split this line"});
    }
}

const DeviceIni *device_ini_read(Work *work, Str text, Str file) {
    if (text.len > DEVICE_INI_MAX_BYTES) {
        diag_error(&work->diags,
                   (DiagText){.place = arena_text(&work->keep, STR_FMT, STR_ARG(file)),
                              .what = "the file is too large for a device",
                              .got = arena_text(&work->keep, "%zu bytes", text.len),
                              .expected = arena_text(&work->keep, "at most %d bytes", DEVICE_INI_MAX_BYTES)});
        return NULL;
    }
    Scan *scan = arena_new(&work->scratch, Scan);
    *scan = (Scan){.work = work, .file = file, .ini = arena_new(&work->keep, DeviceIni)};
    scan_text(scan, text);
    if (!scan->failed && scan->ini->entry_count > 0) {
        split_with_inih(scan);
    }
    return scan->failed ? NULL : scan->ini;
}
