/* What the files of the TFLite emitter share: a file being edited, what its bytes belong to, and what is to be done.
 *
 * An edit takes three steps, and after each the bytes are a whole FlatBuffer:
 *   1. room is opened behind the lists that will grow: nothing but positions changes;
 *   2. lists, indices and references are rewritten in place, and what is new is appended;
 *   3. what was reached from the root before and is not any more is cut out.
 * Room and cuts are multiples of 16 bytes, so everything keeps its alignment. The walker finds every reference, so that
 * steps 1 and 3 can correct it. A file with fields beyond the schema may hold references that nobody can find: in such
 * a file nothing is moved.
 *
 * References of a FlatBuffer point forward, those to a table's field list excepted; what a list in the file's middle
 * names may be at its end, never the other way round. */
#ifndef S0_EMIT_TFLITE_H
#define S0_EMIT_TFLITE_H

#include "base/work.h"
#include "graph/edit.h"
#include "import/flatbuf.h"

enum { EMIT_ALIGN_BYTES = 16, FLAT_REF_BYTES = 4 };

/* Slots that the importer does not read; the others are in import/tflite.h. */
enum {
    METADATA_NAME = 0,
    OPERATOR_INTERMEDIATES = 8,
};

/* ---- Bytes */

/* A FlatBuffer that grows at its end; it lives in work->scratch. `flat` reads it. */
typedef struct {
    Work *work;
    Flatbuf flat;
    uint8_t *bytes;
    size_t len, capacity;
} FlatImage;

FlatImage emit_image(Work *work, size_t len); /* zeroed */

/* The root table. Work is not bounded here: the walk has bounded how often bytes are named. */
FlatTable emit_image_root(FlatImage *image);

void emit_set(FlatImage *image, size_t at, uint64_t number, uint32_t bytes);
void emit_set_ref(FlatImage *image, size_t at, size_t target); /* target behind at */

/* Appending, zeroed. A table has a cell of field_bytes[slot] bytes for each slot, none where that is 0. */
size_t emit_add_table(FlatImage *image, const uint8_t *field_bytes, uint32_t slots);
void emit_set_field(FlatImage *image, size_t table, uint32_t slot, uint64_t number, uint32_t bytes);
size_t emit_field(const FlatImage *image, size_t table, uint32_t slot);

/* A vector that the cell at `at` names; where element 0 is, a multiple of `align`. */
size_t emit_add_vector(FlatImage *image, size_t at, uint64_t count, uint32_t element_bytes, uint32_t align);
void emit_add_text(FlatImage *image, size_t at, Str text); /* and the NUL that ends a string, uncounted */

/* ---- What the bytes belong to */

typedef struct {
    size_t at; /* of the number */
    size_t target;
    bool is_back; /* of a table to its field list: the number is at - target, else target - at */
} FlatRef;

typedef struct {
    size_t len;
    uint16_t *owner; /* a mark for each of len bytes, 0 where nothing that is reached from the root has it */
    FlatRef *refs;
    size_t ref_count, ref_capacity;
    bool has_unknown; /* a field or a union member that the schema does not have: the first is `unknown_slot` of a table
                       */
    size_t unknown_at;
    uint32_t unknown_slot;
    bool overlaps; /* two objects, or two fields of one, have a byte in common and are not the same one */
} FlatWalk;

/* Everything that is reached from the root. False with a diagnostic where the bytes are no FlatBuffer. */
bool emit_walk(Work *work, Span bytes, FlatWalk *walk);

/* The object that begins at `at` is named from several places; what was appended since the walk is not. */
bool emit_is_shared(const FlatWalk *walk, size_t at);

/* False with a diagnostic where the reader met a fault. */
bool emit_is_sound(Work *work, const Flatbuf *flat);

/* ---- Moving */

/* Before byte `at`, `bytes` are inserted, or from it on -bytes cut. */
typedef struct {
    size_t at;
    int64_t bytes;
} FlatMove;

/* The file with room and cuts, all its references corrected; `moves` by position. */
FlatImage emit_move(Work *work, Span bytes, const FlatWalk *walk, const FlatMove *moves, size_t count);

/* What `before` owns and `after` does not becomes zero, and leaves the file where a multiple of 16 can. */
FlatImage emit_sweep(const FlatImage *image, const FlatWalk *before, const FlatWalk *after);

/* ---- What is to be done */

enum { NO_TENSOR = -1 };

/* A row to append to the operator codes. */
typedef struct {
    int32_t builtin, version;
} EmitCode;

typedef struct {
    Work *work;
    const ModelEdit *edit;
    uint32_t tensor_count; /* of the main subgraph in the file; ids below are its tensors */
    uint32_t kept_tensors;
    int32_t *tensor_of; /* by value id: its tensor in the result, NO_TENSOR where it has none */

    uint32_t operator_count; /* of the main subgraph in the result */

    uint32_t buffer_count; /* of the file */
    bool *is_freed;        /* by buffer: only dropped tensors used it */
    int32_t *place_of;     /* by added value: the tensor of the file that it may take the place of, or NO_TENSOR */
    uint32_t *buffer_of;   /* by added value: its buffer in the result, 0 where it has no data */
    bool *is_own_buffer;   /* by added value: that is the buffer of the tensor whose place it takes */
    uint32_t new_buffers;  /* behind the file's */

    uint32_t code_count; /* of the file */
    uint32_t new_code_count;
    EmitCode *new_codes;
    uint32_t *code_of; /* by added node: its row in the result */
} TflitePlan;

/* False with a diagnostic where the file can't be edited so. */
bool emit_plan_tflite(Work *work, const ModelEdit *edit, Flatbuf *flat, const FlatTable *root, TflitePlan *plan);

/* Tensors that a node's list names in the result; the state that the importer adds to readers of variables is left
 * out. `tensors` has room for `count`. */
uint32_t emit_tensors_of(const TflitePlan *plan, const ValueId *values, uint32_t count, int32_t *tensors);

/* Carries it out on a file with room, walked. False with a diagnostic. */
bool emit_apply_tflite(FlatImage *image, const FlatWalk *walk, const TflitePlan *plan);

bool emit_refuse_tflite(Work *work, const char *what, const char *hint); /* false */

/* ---- New objects, appended; where they are */

size_t emit_add_tensor(FlatImage *image, const Value *value, uint32_t buffer);
size_t emit_add_quant(FlatImage *image, const Quant *quant); /* null: of a tensor that is not quantised */
size_t emit_add_buffer(FlatImage *image, Span data);         /* no data: the empty one */
size_t emit_add_code(FlatImage *image, const EmitCode *code);
size_t emit_add_operator(FlatImage *image, const TflitePlan *plan, uint32_t added);

/* The options of a new operator, appended and named by `options`; the member of BuiltinOptions. */
uint8_t emit_add_options(FlatImage *image, const Node *node, size_t *options);

#endif
