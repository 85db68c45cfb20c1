/* Proves what emit_onnx makes of each kind of edit: every case states the file before and the file after field by
 * field, so a byte too many or too few fails, unknown fields and odd encodings included. What comes out is imported
 * again. With a folder as argument the files are written there, for a second reader (tests/oracle/emit_onnx.py). */
#include "edited.h"

#include "support/allocator.h"

#include <stdio.h>

#define TENSOR_TYPE(dims) "2{1{1:1 2{" dims "}}}"
#define VECTOR            TENSOR_TYPE("1{1:2}")
#define IR(version)       "1:" version " 2'maker' 8{2:13} "
#define X                 "11{1'x' " VECTOR "} "
#define Y                 "12{1'y' " VECTOR "} "
#define FLOATS(name)      "1:2 2:1 8'" name "' 9#0000803f00000040"
#define UNKNOWN           "99'kept' 100:7 !ad0601020304 " /* 101 has 32 bits */

typedef struct {
    const char *name, *before, *after;
    void (*edit)(Edited *t);
    bool is_special; /* valid for import, but not for onnx.checker */
} Case;

/* ---- Nodes */

static void drop_first(Edited *t) {
    edited_drop_node(t, 0);
    edited_drop_values(t, "t");
    edited_rewire(t, 1, "x", "y");
}

static void drop_add(Edited *t) {
    drop_first(t);
    edited_drop_values(t, "w");
}

static void drop_last(Edited *t) {
    edited_drop_node(t, 1);
    edited_drop_values(t, "t");
    edited_rewire(t, 0, "x", "y");
}

static void clip_above(Edited *t) {
    edited_rewire(t, 0, "x _ hi", "y");
}

static void clip_nothing(Edited *t) {
    edited_rewire(t, 0, "x", "y");
    edited_drop_values(t, "lo hi");
}

static void split_other(Edited *t) {
    edited_rewire(t, 0, "x", "_ b");
    edited_drop_values(t, "a");
}

static void read_input(Edited *t) {
    edited_rewire(t, 0, "x", "y");
}

/* ---- What is added */

static void add_constant(Edited *t) {
    Value c = edited_constant(t, "c", DTYPE_F32, (Shape){.rank = 1, .dim = {2}}, "0000803f000080bf");
    edited_add_value(t, c);
    edited_rewire(t, 0, "x c", "y");
}

static void add_values(Edited *t) {
    edited_add_value(t, (Value){.name = STR("n"), .dtype = DTYPE_F32});
    edited_add_node(t, 0, (Node){.name = STR("neg"), .op = OP_NEG, .op_name = STR("Neg")}, "x", "n");
    edited_add_value(t, (Value){.name = STR("m"), .dtype = DTYPE_F32});
    edited_add_node(t, 0, (Node){.op = OP_ABS, .op_name = STR("Abs")}, "n", "m");
    edited_rewire(t, 0, "m", "t");
    edited_add_value(t, (Value){.name = STR("e"), .dtype = DTYPE_F32});
    edited_add_node(t, 1, (Node){.op = OP_EXP, .op_name = STR("Exp")}, "t", "e");
    edited_add_value(t, (Value){.name = STR("z"), .dtype = DTYPE_F32});
    edited_rewire(t, 2, "s", "z");
    edited_add_node(t, 3, (Node){.op = OP_ADD, .op_name = STR("Add")}, "e z", "y");
}

static void add_attributes(Edited *t) {
    static const int64_t ints[] = {1, -1};
    static const float floats[] = {1.0f, -2.0f};
    static const Str strs[] = {{"a", 1}, {"", 0}};
    Value tensor = edited_constant(t, "", DTYPE_I8, (Shape){.rank = 1, .dim = {2}}, "ff7f");
    Attr attrs[] = {
        {.name = STR("i"), .kind = ATTR_INT, .i = -2},
        {.name = STR("f"), .kind = ATTR_FLOAT, .f = 0.5},
        {.name = STR("s"), .kind = ATTR_STR, .s = STR("hi")},
        {.name = STR("is"), .kind = ATTR_INTS, .count = 2, .ints = ints},
        {.name = STR("fs"), .kind = ATTR_FLOATS, .count = 2, .floats = floats},
        {.name = STR("ss"), .kind = ATTR_STRS, .count = 2, .strs = strs},
        {.name = STR("none"), .kind = ATTR_INTS},
        {.name = STR("t"), .kind = ATTR_TENSOR, .tensor = graph_add_value(t->graph, &t->work->keep, tensor)},
    };
    Attr *kept = arena_array(&t->work->keep, Attr, sizeof attrs / sizeof attrs[0]);
    memcpy(kept, attrs, sizeof attrs);
    Node thing = {.name = STR("thing"), .op = OP_CUSTOM, .op_name = STR("com.maker.Thing")};
    thing.attrs = kept;
    thing.attr_count = sizeof attrs / sizeof attrs[0];
    edited_drop_node(t, 0);
    edited_add_node(t, 0, thing, "x _", "y");
}

/* A constant of each dtype that has elements; none is read. */
static const struct {
    DType dtype;
    int64_t elems;
    const char *hex;
} dtype_rows[] = {
    {DTYPE_F32, 1, "0000803f"},
    {DTYPE_F16, 1, "003c"},
    {DTYPE_BF16, 1, "803f"},
    {DTYPE_F64, 1, "000000000000f03f"},
    {DTYPE_I8, 3, "ff7f80"},
    {DTYPE_U8, 1, "ff"},
    {DTYPE_I16, 1, "feff"},
    {DTYPE_U16, 1, "feff"},
    {DTYPE_I32, 1, "feffffff"},
    {DTYPE_U32, 1, "feffffff"},
    {DTYPE_I64, 1, "feffffffffffffff"},
    {DTYPE_U64, 1, "feffffffffffffff"},
    {DTYPE_BOOL, 2, "0100"},
    {DTYPE_C64, 1, "0000803f00000040"},
    {DTYPE_C128, 1, "000000000000f03f0000000000000040"},
    {DTYPE_I4, 5, "3f780e"},
    {DTYPE_U4, 2, "ff"},
    {DTYPE_I2, 5, "e401"},
    {DTYPE_U2, 4, "e4"},
    {DTYPE_F8E4M3FN, 1, "38"},
    {DTYPE_F4E2M1, 3, "2103"},
};

static void add_dtypes(Edited *t, size_t first, size_t end) {
    for (size_t k = first; k < end; k++) {
        Shape shape = {.rank = 1, .dim = {dtype_rows[k].elems}};
        edited_add_value(
            t, edited_constant(t, dtype_name(dtype_rows[k].dtype), dtype_rows[k].dtype, shape, dtype_rows[k].hex));
    }
}

enum { FIRST_SMALL = 15 }; /* row of dtype_rows */

static void add_known_dtypes(Edited *t) {
    add_dtypes(t, 0, FIRST_SMALL);
}

static void add_small_dtypes(Edited *t) {
    add_dtypes(t, FIRST_SMALL, sizeof dtype_rows / sizeof dtype_rows[0]);
}

static void add_shapes(Edited *t) {
    edited_add_value(t, edited_constant(t, "scalar", DTYPE_I8, (Shape){.rank = 0}, "05"));
    edited_add_value(t, edited_constant(t, "map", DTYPE_I8, (Shape){.rank = 3, .dim = {1, 2, 1}}, "0506"));
    edited_add_value(t, edited_constant(t, "none", DTYPE_I8, (Shape){.rank = 2, .dim = {0, 300}}, ""));
}

/* ---- What goes with a value */

static void remake(Edited *t) {
    Value *y = graph_value(t->graph, edited_value(t, "t"));
    y->has_shape = true;
    y->shape = (Shape){.rank = 2, .dim = {1, 2}}; /* bound; the file's [n,2] stays true */
    graph_value(t->graph, edited_value(t, "u"))->dtype = DTYPE_F16;
    Value *v = graph_value(t->graph, edited_value(t, "v"));
    v->has_shape = true;
    v->shape = (Shape){.rank = 0};
    edited_add_value(t, edited_constant(t, "ghost", DTYPE_I8, (Shape){.rank = 0}, "05"));
    for (uint32_t k = 0; k < 3; k++) {
        const char *const values[] = {"x", "t", "u", "v"};
        edited_rewire(t, k, values[k], values[k + 1]);
    }
}

static void remake_by_added(Edited *t) {
    graph_value(t->graph, edited_value(t, "t"))->dtype = DTYPE_F16;
    edited_drop_node(t, 0);
    edited_add_node(t, 0, (Node){.op = OP_NEG, .op_name = STR("Neg")}, "x", "t");
}

static void drop_constant(Edited *t) {
    edited_drop_node(t, 2);
    edited_drop_values(t, "c t");
    edited_rewire(t, 3, "x", "y");
}

static void drop_beside_subgraph(Edited *t) {
    edited_drop_node(t, 0);
    edited_drop_values(t, "t w");
}

#define BRANCH(kind, fields) "5{1'" kind "' 20:5 6{2'" kind "' " fields "12{1'r' " VECTOR "} }} "

static const Case cases[] = {
    {.name = "node dropped, its reader rewired; unknown fields stay",
     .before = IR("7") UNKNOWN "7{1{1'x' 2't' 3'a' 4'Identity'} 1{3'r' 99'in' 1't' 4'Relu' 6'doc' 2'y' 100:1} 2'g' " X Y
                               "13{1't' " VECTOR "} 99'g' 13{1'other' " VECTOR "} } 14{1'k' 2'v'} " UNKNOWN,
     .edit = drop_first,
     .after = IR("7") UNKNOWN "7{1{3'r' 99'in' 1'x' 4'Relu' 6'doc' 2'y' 100:1} 2'g' " X Y "99'g' 13{1'other' " VECTOR
                              "} } 14{1'k' 2'v'} " UNKNOWN},
    {.name = "output of a dropped node made by the one before it",
     .before = IR("7") "7{1{1'x' 2't' 4'Relu'} 1{1't' 2'y' 4'Identity'} 2'g' " X Y "}",
     .edit = drop_last,
     .after = IR("7") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y "}"},
    {.name = "initializer",
     .before =
         IR("7") "7{1{1'x' 1'w' 2't' 4'Add'} 1{1't' 2'y' 4'Relu'} 2'g' 5{" FLOATS("w") "} 5{" FLOATS("v") "} " X Y "}",
     .edit = drop_add,
     .after = IR("7") "7{1{1'x' 2'y' 4'Relu'} 2'g' 5{" FLOATS("v") "} " X Y "}"},
    {.name = "initializer of IR 3 and its input",
     .before =
         IR("3") "7{1{1'x' 1'w' 2't' 4'Add'} 1{1't' 2'y' 4'Relu'} 2'g' 5{" FLOATS("w") "} 11{1'w' " VECTOR "} " X Y "}",
     .edit = drop_add,
     .after = IR("3") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y "}"},
    {.name = "sparse initializer",
     .before = IR("7") "7{1{1'x' 1'w' 2't' 4'Add'} 1{1't' 2'y' 4'Relu'} 2'g' " X Y
                       "15{1{1:1 2:1 8'w' 9#0000803f} 2{1:1 2:7 9#0100000000000000} 3:2} "
                       "15{1{1:1 2:1 8'v' 9#0000803f} 2{1:1 2:7 9#0100000000000000} 3:2} }",
     .edit = drop_add,
     .after = IR("7") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y
                      "15{1{1:1 2:1 8'v' 9#0000803f} 2{1:1 2:7 9#0100000000000000} 3:2} }"},
    {.name = "Constant",
     .before = IR("7") "7{1{2'c' 4'Constant' 5{1'value' 20:4 5{" FLOATS(
         "") "}}} 1{2'd' 4'Constant' 5{1'value' 20:4 5{" FLOATS("") "}}} 1{1'x' 1'c' 2't' 4'Add'} 1{1't' 2'y' 4'Relu'} "
                                                                    "1{2'last' 4'Constant' 5{1'value_float' 20:1 "
                                                                    "!150000803f}} 2'g' " X Y "}",
     .edit = drop_constant,
     .after = IR("7") "7{1{2'd' 4'Constant' 5{1'value' 20:4 5{" FLOATS(
         "") "}}} 1{1'x' 2'y' 4'Relu'} "
             "1{2'last' 4'Constant' 5{1'value_float' 20:1 !150000803f}} 2'g' " X Y "}"},
    {.name = "fewer inputs, one of them absent",
     .before =
         IR("7") "7{1{1'x' 1'lo' 1'hi' 2'y' 4'Clip'} 2'g' 5{2:1 8'lo' 9#0000803f} 5{2:1 8'hi' 9#00000040} " X Y "}",
     .edit = clip_above,
     .after = IR("7") "7{1{1'x' 1'' 1'hi' 2'y' 4'Clip'} 2'g' 5{2:1 8'lo' 9#0000803f} 5{2:1 8'hi' 9#00000040} " X Y "}"},
    {.name = "inputs between outputs and other fields",
     .before = IR(
         "7") "7{1{1'x' 2'y' 4'Clip' 1'lo' 99'z' 1'hi'} 2'g' 5{2:1 8'lo' 9#0000803f} 5{2:1 8'hi' 9#00000040} " X Y "}",
     .edit = clip_nothing,
     .after = IR("7") "7{1{1'x' 2'y' 4'Clip' 99'z'} 2'g' " X Y "}"},
    {.name = "absent output",
     .before = IR("7") "7{1{1'x' 2'a' 2'b' 4'Split'} 1{1'b' 2'y' 4'Relu'} 2'g' " X "12{1'y'} 13{1'a' 2{1{1:1}}} }",
     .edit = split_other,
     .after = IR("7") "7{1{1'x' 2'' 2'b' 4'Split'} 1{1'b' 2'y' 4'Relu'} 2'g' " X "12{1'y'} }",
     .is_special = true},
    {.name = "node without inputs gets one",
     .before = IR("7") "8{1'my' 2:1} 7{1{4'Thing' 7'my' 2'y'} 2'g' " X Y "}",
     .edit = read_input,
     .after = IR("7") "8{1'my' 2:1} 7{1{4'Thing' 7'my' 2'y' 1'x'} 2'g' " X Y "}"},
    {.name = "constant added",
     .before = IR("7") "7{1{1'x' 1'x' 2'y' 4'Add'} 2'g' " X Y "99'g'}",
     .edit = add_constant,
     .after = IR("7") "7{1{1'x' 1'c' 2'y' 4'Add'} 2'g' " X Y "99'g' 5{1:2 2:1 8'c' 9#0000803f000080bf} }"},
    {.name = "constant added to IR 3",
     .before = IR("3") "7{1{1'x' 1'x' 2'y' 4'Add'} 2'g' " X Y "}",
     .edit = add_constant,
     .after =
         IR("3") "7{1{1'x' 1'c' 2'y' 4'Add'} 2'g' " X Y "5{1:2 2:1 8'c' 9#0000803f000080bf} 11{1'c' " VECTOR "} }"},
    {.name = "constants of every dtype",
     .before = IR("7") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y "}",
     .edit = add_known_dtypes,
     .after = IR("7") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y
                      "5{1:1 2:1 8'float32' 9#0000803f} 5{1:1 2:10 8'float16' 9#003c} 5{1:1 2:16 8'bfloat16' 9#803f} "
                      "5{1:1 2:11 8'float64' 9#000000000000f03f} 5{1:3 2:3 8'int8' 9#ff7f80} 5{1:1 2:2 8'uint8' 9#ff} "
                      "5{1:1 2:5 8'int16' 9#feff} 5{1:1 2:4 8'uint16' 9#feff} 5{1:1 2:6 8'int32' 9#feffffff} "
                      "5{1:1 2:12 8'uint32' 9#feffffff} 5{1:1 2:7 8'int64' 9#feffffffffffffff} "
                      "5{1:1 2:13 8'uint64' 9#feffffffffffffff} 5{1:2 2:9 8'bool' 9#0100} "
                      "5{1:1 2:14 8'complex64' 9#0000803f00000040} "
                      "5{1:1 2:15 8'complex128' 9#000000000000f03f0000000000000040} }"},
    /* int4 [-1,3,-8,7,-2] with the low nibble first: case I2 of the import test */
    {.name = "constants of small dtypes",
     .before = IR("11") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y "}",
     .edit = add_small_dtypes,
     .after = IR("11") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y
                       "5{1:5 2:22 8'int4' 9#3f780e} 5{1:2 2:21 8'uint4' 9#ff} 5{1:5 2:26 8'int2' 9#e401} "
                       "5{1:4 2:25 8'uint2' 9#e4} 5{1:1 2:17 8'float8e4m3fn' 9#38} 5{1:3 2:23 8'float4e2m1' 9#2103} }",
     .is_special = true},
    {.name = "constants of rank 0 and 3, and without elements, in IR 3",
     .before = IR("3") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y "}",
     .edit = add_shapes,
     .after = IR("3") "7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y "5{2:3 8'scalar' 9#05} 11{1'scalar' 2{1{1:3 2{}}}} "
                      "5{1:1 1:2 1:1 2:3 8'map' 9#0506} 11{1'map' 2{1{1:3 2{1{1:1} 1{1:2} 1{1:1}}}}} "
                      "5{1:0 1:300 2:3 8'none' 9#} 11{1'none' 2{1{1:3 2{1{1:0} 1{1:300}}}}} }"},
    {.name = "nodes added at the start, between and at the end",
     .before = IR("7") "7{99'g' 1{1'x' 2't' 4'Relu'} 1{1't' 2's' 4'Sqrt'} 1{1's' 2'y' 4'Relu'} 2'g' " X Y "}",
     .edit = add_values,
     .after = IR("7") "7{99'g' 1{1'x' 2'n' 3'neg' 4'Neg'} 1{1'n' 2'm' 4'Abs'} 1{1'm' 2't' 4'Relu'} 1{1't' 2'e' 4'Exp'} "
                      "1{1't' 2's' 4'Sqrt'} 1{1's' 2'z' 4'Relu'} 2'g' " X Y "1{1'e' 1'z' 2'y' 4'Add'} }"},
    {.name = "attributes of every kind",
     .before = IR("7") "8{1'com.maker' 2:1} 7{1{1'x' 2'y' 4'Relu'} 2'g' " X Y "}",
     .edit = add_attributes,
     .after =
         IR("7") "8{1'com.maker' 2:1} 7{"
                 "1{1'x' 1'' 2'y' 3'thing' 4'Thing' 5{1'i' 3:-2 20:2} 5{1'f' !150000003f 20:1} 5{1's' 4'hi' 20:3} "
                 "5{1'is' 8:1 8:-1 20:7} 5{1'fs' !3d0000803f !3d000000c0 20:6} 5{1'ss' 9'a' 9'' 20:8} 5{1'none' 20:7} "
                 "5{1't' 5{1:2 2:3 9#ff7f} 20:4} 7'com.maker'} 2'g' " X Y "}"},
    {.name = "value_info stays as long as it is true",
     .before = IR("7") "7{1{1'x' 2't' 4'Relu'} 1{1't' 2'u' 4'Relu'} 1{1'u' 2'v' 4'Relu'} 1{1'v' 2'y' 4'Relu'} 2'g' "
                       "11{1'x'} 12{1'y'} 13{1't' 2{1{1:1 2{1{2'n'} 1{1:2}}}}} 13{1'u' " VECTOR "} 13{1'v' " VECTOR "} "
                       "13{1'ghost' " VECTOR "} 13{1'other' " VECTOR "} }",
     .edit = remake,
     .after = IR("7") "7{1{1'x' 2't' 4'Relu'} 1{1't' 2'u' 4'Relu'} 1{1'u' 2'v' 4'Relu'} 1{1'v' 2'y' 4'Relu'} 2'g' "
                      "11{1'x'} 12{1'y'} 13{1't' 2{1{1:1 2{1{2'n'} 1{1:2}}}}} 13{1'other' " VECTOR
                      "} 5{2:3 8'ghost' 9#05} }",
     .is_special = true},
    {.name = "value_info of what an added node makes",
     .before = IR("7") "7{1{1'x' 2't' 4'Relu'} 1{1't' 2'y' 4'Relu'} 2'g' " X Y "13{1't' " VECTOR "} }",
     .edit = remake_by_added,
     .after = IR("7") "7{1{1'x' 2't' 4'Neg'} 1{1't' 2'y' 4'Relu'} 2'g' " X Y "}"},
    {.name = "quantization_annotation of a dropped tensor, and with a dropped parameter",
     .before = IR("7") "7{1{1'x' 1'w' 2't' 4'Add'} 1{1't' 2'y' 4'Relu'} 2'g' 5{" FLOATS("w") "} 5{" FLOATS(
         "v") "} " X Y "14{1't' 2{1'SCALE_TENSOR' 2'v'}} 14{1'y' 2{1'SCALE_TENSOR' 2'v'}} "
              "14{1'x' 2{1'ZERO_POINT_TENSOR' 2'v'} 2{1'SCALE_TENSOR' 2'w'}} }",
     .edit = drop_add,
     .after = IR("7") "7{1{1'x' 2'y' 4'Relu'} 2'g' 5{" FLOATS("v") "} " X Y "14{1'y' 2{1'SCALE_TENSOR' 2'v'}} }"},
    {.name = "subgraphs stay; their own names are theirs",
     .before = IR("7") "7{1{1'x' 1'w' 2't' 4'Add'} 1{1'c' 2'y' 4'If' " BRANCH(
         "then_branch", "1{1'x' 2't' 4'Relu'} 1{1't' 2'r' 4'Relu'} ")
         BRANCH("else_branch",
                "1{1'w' 2'r' 4'Relu'} 5{" FLOATS("w") "} ") "} 2'g' 5{" FLOATS("w") "} 11{1'c' 2{1{1:9 2{}}}} " X Y "}",
     .edit = drop_beside_subgraph,
     .after = IR("7") "7{1{1'c' 2'y' 4'If' " BRANCH("then_branch", "1{1'x' 2't' 4'Relu'} 1{1't' 2'r' 4'Relu'} ")
         BRANCH("else_branch", "1{1'w' 2'r' 4'Relu'} 5{" FLOATS("w") "} ") "} 2'g' 11{1'c' 2{1{1:9 2{}}}} " X Y "}",
     .is_special = true},
    /* lengths of two bytes where one would do: of the initializer, of its dims, of the node that stays */
    {.name = "odd encodings stay",
     .before =
         IR("7") "7{1{1'x' 2't' 4'Identity'} 1{1't' 2'y' 4'Relu'} !0a9000 1'x' 2'z' 4'Tanh' !9a060178 !2a9200 1:2 "
                 "!1081004201764a080000803f00000040 2'g' " X Y "}",
     .edit = drop_first,
     .after = IR("7") "7{1{1'x' 2'y' 4'Relu'} !0a9000 1'x' 2'z' 4'Tanh' !9a060178 !2a9200 1:2 "
                      "!1081004201764a080000803f00000040 2'g' " X Y "}"},
};

/* ---- Checking a case */

static const char *out_folder;

static void write_case(size_t index, const char *what, Span bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%02zu-%s.onnx", out_folder, index, what);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

static void print_bytes(const char *what, Span bytes) {
    print_error("%s:", what);
    for (size_t k = 0; k < bytes.len; k++) {
        print_error("%02x", bytes.ptr[k]);
    }
    print_error("\n");
}

static Span text_bytes(OnnxBytes *bytes, const char *text) {
    bytes->len = 0;
    put_fields(bytes, text);
    return (Span){bytes->data, bytes->len};
}

static bool is_same(Span a, Span b) {
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static void must(bool ok, const Case *c, const char *what, const Work *work) {
    if (!ok) {
        print_error("case '%s': %s\n", c->name, what);
        diags_print(&work->diags, "", stderr);
    }
    assert_true(ok);
}

static void check_case(const Case *c, size_t index) {
    OnnxBytes before, after;
    Span file = text_bytes(&before, c->before);
    Span expected = text_bytes(&after, c->after);
    Work work;
    Edited t, again;
    WORK_BEGIN(&work);
    must(edited_import(&t, &work, file), c, "not imported", &work);
    c->edit(&t);
    Span out = {0};
    must(emit_onnx(&t.edit, file, &work, &out), c, "not emitted", &work);
    if (!is_same(out, expected)) {
        print_bytes("got     ", out);
        print_bytes("expected", expected);
    }
    must(is_same(out, expected), c, "other bytes", &work);
    must(edited_import(&again, &work, out), c, "not imported again", &work);
    if (out_folder != NULL && !c->is_special) {
        write_case(index, "before", file);
        write_case(index, "after", out);
    }
    work_free(&work);
}

static void test_cases(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        check_case(&cases[k], k);
    }
}

/* Nothing to edit: the file itself, odd lengths and all. */
static void test_identity(void **state) {
    (void)state;
    static const char *const more[] = {
        IR("7") "!3aa200 "
                "1{1'x' 2'y' 4'Relu'} 2'g' 11{1'x'} 12{1'y'} 99'1234' ",
        "7{ 1{1'x' 2'y' 4'Relu'} 11{1'x'} 12{1'y'} } " IR("7"),
        IR("7") "7{}",
    };
    size_t count = sizeof cases / sizeof cases[0];
    for (size_t k = 0; k < count + sizeof more / sizeof more[0]; k++) {
        OnnxBytes bytes;
        Span file = text_bytes(&bytes, k < count ? cases[k].before : more[k - count]);
        Work work;
        Edited t;
        WORK_BEGIN(&work);
        Case c = {.name = k < count ? cases[k].name : more[k - count]};
        must(edited_import(&t, &work, file), &c, "not imported", &work);
        Span out = {0};
        must(emit_onnx(&t.edit, file, &work, &out), &c, "not emitted", &work);
        must(out.ptr == file.ptr && out.len == file.len, &c, "not the same bytes", &work);
        work_free(&work);
    }
}

/* ---- What is refused */

static void drop_outer(Edited *t) {
    edited_drop_values(t, "w");
}

static void add_huge(Edited *t) {
    static const uint8_t byte;
    Value huge = edited_constant(t, "huge", DTYPE_I8, (Shape){.rank = 1, .dim = {INT64_C(1) << 31}}, "");
    Const *constant = arena_new(&t->work->keep, Const);
    *constant = (Const){.stored = huge.shape, .bytes = {&byte, (size_t)1 << 31}, .is_known = true}; /* never read */
    huge.constant = constant;
    edited_add_value(t, huge);
}

typedef struct {
    const char *name, *file;
    void (*edit)(Edited *t);
    s0_status status;
    const char *tensor, *what, *got, *expected;
} Refusal;

static const Refusal refusals[] = {
    {.name = "a node still reads it",
     .file = IR("7") "7{1{1'x' 1'w' 2'y' 4'Add' 3'a'} 5{" FLOATS("w") "} " X Y "}",
     .edit = drop_outer,
     .status = S0_REFUSED,
     .tensor = "w",
     .what = "the node reads a tensor"},
    {.name = "a subgraph still reads it",
     .file = IR("7") "7{1{1'c' 2'y' 4'If' " BRANCH("then_branch", "1{1'w' 2'r' 4'Relu'} ")
         BRANCH("else_branch", "1{1'x' 2'r' 4'Relu'} ") "} 5{" FLOATS("w") "} 11{1'c' 2{1{1:9 2{}}}} " X Y "}",
     .edit = drop_outer,
     .status = S0_REFUSED,
     .tensor = "w",
     .what = "a subgraph of the node"},
    {.name = "a subgraph has it as its result",
     .file = IR("7") "7{1{1'c' 2'y' 4'If' 5{1'then_branch' 20:5 6{12{1'w'}}} " BRANCH(
         "else_branch", "1{1'x' 2'r' 4'Relu'} ") "} 5{" FLOATS("w") "} 11{1'c' 2{1{1:9 2{}}}} " X Y "}",
     .edit = drop_outer,
     .status = S0_REFUSED,
     .tensor = "w",
     .what = "a subgraph of the node"},
    {.name = "past the limit of protobuf",
     .file = IR("7") "7{1{1'x' 2'y' 4'Relu'} " X Y "}",
     .edit = add_huge,
     .status = S0_BAD_INPUT,
     .what = "larger than an ONNX file can be",
     .got = "2147483",
     .expected = "2147483647 bytes at most"},
};

static bool says(const char *text, const char *part) {
    return part == NULL || (text != NULL && strstr(text, part) != NULL);
}

static void test_refusals(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        const Refusal *r = &refusals[k];
        const Case c = {.name = r->name};
        OnnxBytes bytes;
        Span file = text_bytes(&bytes, r->file);
        Work work;
        Edited t;
        WORK_BEGIN(&work);
        must(edited_import(&t, &work, file), &c, "not imported", &work);
        r->edit(&t);
        Span out = {0};
        must(!emit_onnx(&t.edit, file, &work, &out), &c, "not refused", &work);
        const DiagText *text = &work.diags.last->text;
        must(diags_status(&work.diags) == r->status && says(text->what, r->what) && says(text->got, r->got) &&
                 says(text->expected, r->expected) && str_eq(text->tensor, str_from(r->tensor)),
             &c, "another message", &work);
        work_free(&work);
    }
}

/* ---- Memory */

/* False where memory ran out. */
static bool emit_with(const s0_allocator *allocator, const Case *c, Span file) {
    Work work;
    Edited t;
    work_init(&work, allocator);
    if (setjmp(work.escape) != 0) {
        import_close(&t.files);
        work_free(&work);
        return false;
    }
    t = (Edited){0};
    Span out;
    assert_true(edited_import(&t, &work, file));
    c->edit(&t);
    assert_true(emit_onnx(&t.edit, file, &work, &out));
    work_free(&work);
    return true;
}

static void test_out_of_memory(void **state) {
    (void)state;
    size_t failed = 0;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        OnnxBytes bytes;
        Span file = text_bytes(&bytes, cases[k].before);
        bool done = false;
        for (size_t n = 1; !done; n++) {
            CountingAllocator counter = {.fail_at = n};
            s0_allocator allocator = counting_allocator(&counter);
            done = emit_with(&allocator, &cases[k], file);
            assert_int_equal(counter.live_bytes, 0);
            assert_false(counter.told_wrong_size);
            failed += !done;
        }
    }
    print_message("%zu allocations failed in turn\n", failed);
    assert_true(failed > sizeof cases / sizeof cases[0]);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_out_of_memory),
    };
    out_folder = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
