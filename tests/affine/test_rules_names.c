/* What axes are called when operators between them have gone.
 *
 * A value that takes the place of another has the names of both: what an operator says of one end reaches all that the
 * other was connected to. Where both ends are known, and as different dimensions, the operator between them stays, for
 * it is what moves elements from the one to the other; unless only such operators read what it makes. All extents are
 * equal, so that whoever goes by sizes takes one axis for another. The names were derived by hand from
 * docs/contracts.md, rule 7. */
#include "affine/simplified.h"

#define TO_SAME "const k int64[4] = 4 4 4 4\n"
#define POOL    "input x float32[4,4,4,4]\nnode MaxPool p: x -> a kernel_shape=[1,1]\n" TO_SAME

typedef struct {
    Model model;
    const char *expected; /* nodes that are left; null: all of them */
    const char *names;    /* "value=LETTERS …" */
} Row;

static const Row rows[] = {
    {{.what = "behind what names its axes", .text = POOL "node Reshape r: a k -> y\noutput y\n"},
     "MaxPool x -> y\n",
     "x=NCHW y=NCHW"},
    {{.what = "in front of it",
      .text = "input x float32[4,4,4,4]\n" TO_SAME "node Reshape r: x k -> a\n"
              "node MaxPool p: a -> y kernel_shape=[1,1]\noutput y\n"},
     "MaxPool x -> y\n",
     "x=NCHW y=NCHW"},
    {{.what = "names go on behind it",
      .text = POOL "node Reshape r: a k -> b\nnode Relu s: b -> c\nnode Reshape t: c k -> d\nnode Exp u: d -> y\n"
                   "output y\n"},
     "MaxPool x -> a\nRelu a -> c\nExp c -> y\n",
     "x=NCHW a=NCHW c=NCHW y=NCHW"},
    {{.what = "through a transpose",
      .text = POOL "node Reshape r: a k -> b\nnode Transpose s: b -> y perm=[0,2,3,1]\noutput y\n"},
     "MaxPool x -> a\nTranspose a -> y\n",
     "a=NCHW y=NHWC"},
    {{.what = "and to what else reads the input",
      .text = "input x float32[4,4,4,4]\n" TO_SAME "node Relu q: x -> z\nnode Reshape r: x k -> a\n"
              "node MaxPool p: a -> y kernel_shape=[1,1]\noutput z\noutput y\n"},
     "Relu x -> z\nMaxPool x -> y\n",
     "x=NCHW y=NCHW z=NCHW"},
    {{.what = "constants are named from who reads them then",
      .text = POOL "const c float32[4] = 1 2 3 4\nconst e float32[4,1,1] = 1 2 3 4\nnode Reshape r: a k -> b\n"
                   "node Mul m: b c -> d\nnode Add n: d e -> y\noutput y\n"},
     "MaxPool x -> a\nMul a c -> d\nAdd d e -> y\n",
     "c=W e=CHW y=NCHW"},
    {{.what = "what went still names the axes",
      .text = "input x float32[4,4,4,4]\nconst g float32[4] = 1 1 1 1\nconst z float32[4] = 0 0 0 0\n"
              "node Sigmoid i: x -> a\nnode BatchNormalization n: a g z z g -> b epsilon=0.0\nnode Exp o: b -> y\n"
              "output y\n"},
     "Sigmoid x -> a\nExp a -> y\n",
     "x=NCHW a=NCHW y=NCHW"},

    /* ---- both ends are known */
    {{.what = "the transpose of an image, read as one that is not transposed",
      .text = POOL "node Reshape r: a k -> b\nnode Relu s: b -> c\nnode Transpose t: c -> d perm=[0,2,3,1]\n"
                   "node MaxPool u: d -> y kernel_shape=[1,1]\noutput y\n"},
     NULL,
     "a=NCHW b=NWCH c=NWCH d=NCHW"},
    {{.what = "also by an Identity",
      .text = POOL "node Identity r: a -> b\nnode Relu s: b -> c\nnode Transpose t: c -> d perm=[0,2,3,1]\n"
                   "node Add u: a d -> y\noutput y\n"},
     "MaxPool x -> a\nRelu a -> c\nTranspose c -> d\nAdd a d -> y\n",
     "a=NCHW c=NCHW d=NCHW y=NCHW"},
    {{.what = "a transpose takes its input under any names",
      .text = POOL "node Reshape r: a k -> c\nnode Transpose t: c -> d perm=[0,2,3,1]\n"
                   "node MaxPool u: d -> y kernel_shape=[1,1]\noutput y\n"},
     "MaxPool x -> a\nTranspose a -> d\nMaxPool d -> y\n",
     "a=NCHW d=NCHW y=NCHW"},

    /* ---- other shapes */
    {{.what = "what flattens takes the map, whose axes are its own",
      .text = "format tflite\ninput x float32[1,4,4,4]\nvalue a float32[1,4,4,4]\nconst k int32[2] = 1 64\n"
              "value b float32[1,64]\nconst w float32[3,64] = splat 2\nvalue y float32[1,3]\nnode Relu r: x -> a\n"
              "node Reshape(RESHAPE) q: a k -> b\nnode FULLY_CONNECTED f: b w -> y\noutput y\n"},
     "Relu x -> a\nFULLY_CONNECTED a w -> y\n",
     "a=NHWC y=WC"},
    {{.what = "but an output keeps its shape",
      .text = "format tflite\ninput x float32[1,4,4,4]\nvalue a float32[1,4,4,4]\nconst k int32[2] = 1 64\n"
              "value b float32[1,64]\nconst w float32[3,64] = splat 2\nvalue y float32[1,3]\nnode Relu r: x -> a\n"
              "node Reshape(RESHAPE) q: a k -> b\nnode FULLY_CONNECTED f: b w -> y\noutput b\noutput y\n"},
     NULL,
     "a=NHWC b=WC y=WC"},
};

static const char *letters_of(Work *work, const Value *value) {
    char *letters = arena_alloc(&work->keep, SHAPE_MAX_RANK + 1, 1);
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        letters[k] = "NCHWOI"[value->dims[k]];
    }
    return letters;
}

static bool has_names(Work *work, const Graph *graph, const Row *row) {
    Str rest = str_from(row->names);
    while (rest.len > 0) {
        Str wanted = str_cut(&rest, ' ');
        Str name = str_cut(&wanted, '=');
        const char *got = letters_of(work, value_of(graph, arena_str(&work->keep, name).ptr));
        if (!str_eq(str_from(got), wanted)) {
            fprintf(stderr, "%s: '" STR_FMT "' is %s, expected " STR_FMT "\n", row->model.what, STR_ARG(name), got,
                    STR_ARG(wanted));
            return false;
        }
    }
    return true;
}

static bool check_row(Work *work, const void *argument) {
    const Row *row = argument;
    Simplified out;
    const char *before;
    const Graph *graph = simplify_model(work, &row->model, &out, &before);
    const char *got = list_nodes(work, graph), *expected = row->expected == NULL ? before : row->expected;
    if (strcmp(got, expected) != 0) {
        fprintf(stderr, "%s:\n%sexpected:\n%s\n", row->model.what, got, expected);
        return false;
    }
    return has_names(work, graph, row);
}

static void test_names(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof rows[0], check_row);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
