/* Files: mapping and atomic writing, over POSIX. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* `reason` is an errno. Nothing is open when a message is made: making it may leave through the arena's escape. */
static bool file_error(Diags *diags, const char *path, const char *what, int reason) {
    const char *got = reason == 0 ? "not a regular file" : arena_text(diags->arena, "%s", strerror(reason));
    return diag_error(diags, (DiagText){.place = path, .what = what, .got = got});
}

enum { NOT_REGULAR = 0, MAPPED = -1 };

/* MAPPED, NOT_REGULAR or an errno. */
static int map_open_file(FileMap *map, int file) {
    struct stat info;
    if (fstat(file, &info) != 0) {
        return errno;
    }
    if (!S_ISREG(info.st_mode)) {
        return NOT_REGULAR;
    }
    *map = (FileMap){0};
    if (info.st_size == 0) {
        return MAPPED;
    }
    void *mapping = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping == MAP_FAILED) {
        return errno;
    }
    *map = (FileMap){.bytes = {mapping, (size_t)info.st_size}, .mapping = mapping};
    return MAPPED;
}

bool file_map(FileMap *map, const char *path, Diags *diags) {
    /* O_NONBLOCK: opening a FIFO nobody writes to must not hang; it is refused as no regular file. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return file_error(diags, path, "can't open the file", errno);
    }
    int outcome = map_open_file(map, file);
    close(file);
    return outcome == MAPPED || file_error(diags, path, "can't read the file", outcome);
}

void file_unmap(FileMap *map) {
    if (map->mapping != NULL) {
        munmap(map->mapping, map->bytes.len);
    }
    *map = (FileMap){0};
}

static void remove_temporary(const FileOut *out) {
    if (out->temporary != NULL) {
        unlink(out->temporary);
    }
}

/* Where `path` leads: through links where there is a file, else itself. */
static const char *resolve_links(const char *path, Diags *diags) {
    char resolved[PATH_MAX];
    return realpath(path, resolved) == NULL ? path : arena_text(diags->arena, "%s", resolved);
}

/* A new file in the folder of `path`, under a short name that nothing else has, with the mode of the file it replaces.
 */
static int open_beside(const char *path, const char **temporary, Diags *diags) {
    struct stat old;
    bool replaces = stat(path, &old) == 0;
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash - path + 1);
    int file = -1;
    for (int attempt = 0; file < 0 && attempt < 100; attempt++) {
        *temporary = arena_text(diags->arena, "%.*sstride0-%ld-%d.part", folder, path, (long)getpid(), attempt);
        file = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST) {
            break;
        }
    }
    if (file >= 0 && replaces) {
        (void)fchmod(file, old.st_mode & 07777);
    }
    return file;
}

/* A device or a pipe can't be renamed over: it is written in place. */
static bool is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool file_is_same(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool file_out_open(FileOut *out, const char *path, Diags *diags) {
    bool in_place = is_special(path);
    *out = (FileOut){.path = in_place ? path : resolve_links(path, diags)};
    int file = in_place ? open(path, O_WRONLY | O_CLOEXEC) : open_beside(out->path, &out->temporary, diags);
    out->stream = file < 0 ? NULL : fdopen(file, "w");
    if (out->stream != NULL) {
        return true;
    }
    int reason = errno;
    if (file >= 0) {
        close(file);
        remove_temporary(out);
    }
    return file_error(diags, path, "can't create the output file", reason);
}

bool file_out_commit(FileOut *out, Diags *diags) {
    bool written = fflush(out->stream) == 0 && !ferror(out->stream);
    written = fclose(out->stream) == 0 && written;
    if (written && out->temporary != NULL) {
        written = rename(out->temporary, out->path) == 0;
    }
    if (written) {
        return true;
    }
    int reason = errno;
    remove_temporary(out);
    return file_error(diags, out->path, "can't write the output file", reason);
}

void file_out_abandon(FileOut *out) {
    fclose(out->stream);
    remove_temporary(out);
}
