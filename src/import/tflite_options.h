/* The rows of tflite_options.def: fields of builtin_options as attributes, for the reader and for who writes them. */
#ifndef S0_IMPORT_TFLITE_OPTIONS_H
#define S0_IMPORT_TFLITE_OPTIONS_H

#include <stdint.h>

typedef enum {
    FORM_INT,
    FORM_UINT,
    FORM_LONG,
    FORM_BYTE,
    FORM_BOOL,
    FORM_FLOAT,
    FORM_STR,
    FORM_EACH,
    FORM_INTS,
    FORM_LONGS,
    FORM_FLOATS,
    FORM_SOME,
    FORM_DTYPE,
    FORM_PADDING,
    FORM_ACTIVATION,
    FORM_MIRROR,
    FORM_GELU,
    FORM_BLOCK,
    FORM_BLOCKS,
    FORM_COUNT,
} TfliteForm;

enum { SECOND = 256, TFLITE_OPTION_SLOTS = 3 };

typedef struct {
    uint16_t table; /* member of BuiltinOptions, SECOND + member of BuiltinOptions2 */
    uint8_t form;
    int8_t absent;
    int8_t slot[TFLITE_OPTION_SLOTS];
    const char *name;
} TfliteOption;

extern const TfliteOption tflite_options[]; /* by table */
extern const uint32_t tflite_option_count;

#endif
