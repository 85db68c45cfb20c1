/* How long `stride0 plan` takes and how much memory it needs: the whole command, as a process, median of several runs.
 *
 * Prints a row a model on each of several devices: every example, every network of S0_SHARED where there is one, and
 * synthetic chains of 10 000 and 100 000 nodes with the ratio of their times: one of blocks with convolutions, whose
 * storages hold few values each, and one of operators in place, all values of which lie in one storage. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 7, MAX_ARGUMENTS = 32, MAX_FILES = 256, LINE_BYTES = 512 };

#define ARENA "mcu-cm"

typedef struct {
    double median_ms;
    long peak_kib;
    int status;
} Timing;

static double now_ms(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

/* One run, its output thrown away. */
static int run_once(char *const arguments[], struct rusage *usage) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execv(arguments[0], arguments);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, usage) < 0) {
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static Timing time_command(char *const arguments[]) {
    double ms[RUNS];
    Timing timing = {0};
    for (int i = 0; i < RUNS; i++) {
        struct rusage usage;
        double start = now_ms();
        timing.status = run_once(arguments, &usage);
        ms[i] = now_ms() - start;
        timing.peak_kib = usage.ru_maxrss > timing.peak_kib ? usage.ru_maxrss : timing.peak_kib;
    }
    qsort(ms, RUNS, sizeof *ms, by_value);
    timing.median_ms = ms[RUNS / 2];
    return timing;
}

/* Adds --dim for each value that dims.tsv gives the model; `line` holds the text. */
static int add_dims(char *arguments[], int count, const char *name, char *line) {
    FILE *file = fopen(S0_SHARED_DIR "/models/dims.tsv", "r");
    while (file != NULL && fgets(line, LINE_BYTES, file) != NULL) {
        char *tab = strchr(line, '\t');
        char *slash = tab == NULL ? NULL : strchr(line, '/');
        if (slash == NULL || strncmp(slash + 1, name, (size_t)(tab - slash - 1)) != 0 ||
            strlen(name) != (size_t)(tab - slash - 1)) {
            continue;
        }
        for (char *word = strtok(tab + 1, " \n"); word != NULL && count < MAX_ARGUMENTS - 5;
             word = strtok(NULL, " \n")) {
            arguments[count++] = (char *)"--dim";
            arguments[count++] = word;
        }
        break;
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

/* An arena with room for all of it; on a scratchpad the device's own memory, so that maps are cut and spilled. */
static Timing time_model(const char *device, const char *path, const char *name) {
    char line[LINE_BYTES];
    char *arguments[MAX_ARGUMENTS] = {(char *)S0_COMMAND, (char *)"plan", (char *)path, (char *)"-d", (char *)device};
    int count = add_dims(arguments, 5, name, line);
    if (strcmp(device, ARENA) == 0) {
        arguments[count++] = (char *)"--budget";
        arguments[count++] = (char *)"1G";
    }
    arguments[count] = NULL;
    Timing timing = time_command(arguments);
    struct stat info = {0};
    stat(path, &info);
    printf("%8.1f ms  %7.1f MiB  file %7.1f MiB  status %d  %s\n", timing.median_ms, (double)timing.peak_kib / 1024,
           (double)info.st_size / (1024 * 1024), timing.status, name);
    fflush(stdout);
    return timing;
}

static int by_name(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool is_model(const char *name) {
    size_t length = strlen(name);
    return (length > 5 && strcmp(name + length - 5, ".onnx") == 0) ||
           (length > 7 && strcmp(name + length - 7, ".tflite") == 0);
}

static void time_folder(const char *device, const char *folder) {
    char *names[MAX_FILES];
    size_t count = 0;
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry = open_folder == NULL ? NULL : readdir(open_folder); entry != NULL && count < MAX_FILES;
         entry = readdir(open_folder)) {
        if (is_model(entry->d_name)) {
            names[count++] = strdup(entry->d_name);
        }
    }
    if (open_folder != NULL) {
        closedir(open_folder);
    }
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        time_model(device, path, names[i]);
        free(names[i]);
    }
}

/* Ten times the nodes should take little more than ten times as long. */
static void time_chain(const char *device, const char *name) {
    static const char *const nodes[] = {"10000", "100000"};
    double ms[2];
    for (int i = 0; i < 2; i++) {
        char path[1024], title[LINE_BYTES];
        snprintf(path, sizeof path, S0_CHAINS_DIR "/%s_%s.onnx", name, nodes[i]);
        snprintf(title, sizeof title, "%s of %s nodes", name, nodes[i]);
        ms[i] = time_model(device, path, title).median_ms;
    }
    printf("t(100 k) / t(10 k) = %.1f\n", ms[1] / ms[0]);
}

static void time_device(const char *device) {
    printf("plan -d %s, whole command, median of %d runs, largest resident memory\n", device, RUNS);
    time_folder(device, S0_SOURCE_DIR "/examples");
    time_folder(device, S0_SHARED_DIR "/models/tflite");
    time_folder(device, S0_SHARED_DIR "/models/onnx");
    time_folder(device, S0_SHARED_DIR "/models/derived");
    time_chain(device, "chain");
    time_chain(device, "chain_in_place");
}

int main(void) {
    static const char *const devices[] = {ARENA, "nvdla-small", "ascend-220x", "teach"};
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        time_device(devices[i]);
    }
    return 0;
}
