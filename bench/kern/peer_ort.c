/* Candidates: ONNX Runtime for Node (tools/setup bench puts it into build/ort), in a child that is asked by lines of
 * text: see ort_child.mjs. It has maps of its own, and checks its results itself. */
#include "candidate.h"

#ifdef BENCH_ORT
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { ANSWER_TEXT = 256 };

typedef struct {
    FILE *to, *from;
} Child;

typedef struct {
    long number; /* the child's */
} Ort;

static Child child;

static void become(int in, int out, const char *const *arg) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execvp(arg[0], (char *const *)arg);
    _exit(EXIT_FAILURE);
}

static bool start(void) {
    static const char *const arg[] = {"node", BENCH_ORT_CHILD, BENCH_ORT_PACKAGES, BENCH_ORT_MODELS, NULL};
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(to[1]);
        close(from[0]);
        become(to[0], from[1], arg);
    }
    close(to[0]);
    close(from[1]);
    child.to = fdopen(to[1], "w");
    child.from = fdopen(from[0], "r");
    return pid > 0 && child.to != NULL && child.from != NULL;
}

/* The line that was answered, without its end; an empty one where the child has ended. */
static void hear(char answer[ANSWER_TEXT]) {
    fflush(child.to);
    if (fgets(answer, ANSWER_TEXT, child.from) == NULL) {
        answer[0] = '\0';
    }
    answer[strcspn(answer, "\n")] = '\0';
}

/* The child's number of it; negative where it can't be had. */
static long open_model(const Row *row, const char *kind) {
    char answer[ANSWER_TEXT], *end;
    Shape shape = row->shape;
    fprintf(child.to, "open %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", kind,
            row->layout == NHWC ? "nhwc" : "nchw", shape.n, shape.c, shape.h, shape.w);
    hear(answer);
    long number = strtol(answer, &end, 10);
    if (end != answer && *end == '\0') {
        return number;
    }
    fprintf(stderr, "skipped: ONNX Runtime, %s\n", answer[0] != '\0' ? answer : "it has ended");
    return -1;
}

static double elapsed_ns(void *self, uint64_t calls) {
    const Ort *ort = self;
    char answer[ANSWER_TEXT], *end;
    fprintf(child.to, "time %ld %" PRIu64 "\n", ort->number, calls);
    hear(answer);
    double ns = strtod(answer, &end);
    return end != answer && *end == '\0' ? ns : -1;
}

static void add_kind(const Problem *problem, Candidates *list, const char *kind) {
    long number = open_model(&problem->row, kind);
    if (number < 0) {
        return;
    }
    Ort *ort = bench_alloc(sizeof *ort);
    ort->number = number;
    Candidate candidate = {.self = ort, .elapsed_ns = elapsed_ns, .drop = free, .slack = -1, .is_library = true};
    snprintf(candidate.name, sizeof candidate.name, "onnxruntime-%s", kind);
    candidates_add(list, candidate);
}

static void add_ort(const Problem *problem, Candidates *list) {
    char answer[ANSWER_TEXT];
    fputs("close\n", child.to);
    hear(answer);
    if (problem->row.elem == INT8) {
        add_kind(problem, list, "qlinear");
    } else if (problem->row.elem == FLOAT32) {
        add_kind(problem, list, "muladd");
    }
    if (problem->row.elem == FLOAT32 && problem->row.layout == NCHW) {
        add_kind(problem, list, "bnorm");
    }
}

Family family_ort(void) {
    static char version[ANSWER_TEXT];
    signal(SIGPIPE, SIG_IGN);
    if (access(BENCH_ORT_PACKAGES "/node_modules/onnxruntime-node", R_OK) != 0 || !start()) {
        return (Family){"ONNX Runtime", "onnxruntime-node (npm), by tools/setup bench", NULL, NULL};
    }
    fputs("version\n", child.to);
    hear(version);
    if (version[0] == '\0') {
        return (Family){"ONNX Runtime", "a Node.js that runs onnxruntime-node", NULL, NULL};
    }
    return (Family){"ONNX Runtime", NULL, version, add_ort};
}
#else
Family family_ort(void) {
    return (Family){"ONNX Runtime", "python3-onnx and nodejs", NULL, NULL};
}
#endif
