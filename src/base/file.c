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

/* What a link says, from where it stands; null where `path` is none. */
static const char *follow_link(const char *path, Arena *arena) {
    char says[PATH_MAX];
    ssize_t length = readlink(path, says, sizeof says);
    if (length <= 0 || (size_t)length == sizeof says) {
        return NULL;
    }
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL || says[0] == '/' ? 0 : (int)(slash - path + 1);
    return arena_text(arena, "%.*s%.*s", folder, path, (int)length, says);
}

/* Where `path` leads: through links, also where the last leads to nothing yet; itself where its folder is none. */
static const char *find_target(const char *path, Arena *arena) {
    enum { MOST_LINKS = 40 };
    char resolved[PATH_MAX];
    const char *at = path;
    for (int links = 0; links < MOST_LINKS; links++) {
        const char *next = realpath(at, resolved) == NULL ? follow_link(at, arena) : NULL;
        if (next == NULL) {
            break;
        }
        at = next;
    }
    if (realpath(at, resolved) != NULL) {
        return arena_text(arena, "%s", resolved);
    }
    const char *slash = strrchr(at, '/');
    const char *name = slash == NULL ? at : slash + 1;
    const char *folder = slash == NULL ? "." : arena_text(arena, "%.*s", (int)(slash - at + 1), at);
    return realpath(folder, resolved) == NULL || name[0] == '\0' ? path : arena_text(arena, "%s/%s", resolved, name);
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
    bool exist = stat(a, &x) == 0 && stat(b, &y) == 0;
    return exist && x.st_dev == y.st_dev && x.st_ino == y.st_ino && !S_ISCHR(x.st_mode);
}

bool file_is_regular(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool file_is_same_target(const char *a, const char *b, Arena *arena) {
    struct stat status;
    bool is_device = stat(a, &status) == 0 && S_ISCHR(status.st_mode);
    return file_is_same(a, b) || (!is_device && strcmp(find_target(a, arena), find_target(b, arena)) == 0);
}

bool file_out_open(FileOut *out, const char *path, Diags *diags) {
    bool in_place = is_special(path);
    *out = (FileOut){.path = in_place ? path : find_target(path, diags->arena)};
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
