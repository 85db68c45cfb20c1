/* A device: memories, layouts by role, what its engine can read, and what things cost. Read from an INI file whose
 * format docs/devices.md describes key by key.
 *
 * Invariant of a Device handed out: at least one memory is called `local`, and it is bounded; an arena has a `flash`,
 * a scratchpad a `far`; alignments, capacities, lanes and banks are at least 1; the contract of every role is parsed,
 * names the channels of its tensors and has no more banks than `local` has lanes; at least one form is readable; every
 * value but the name and the kind has a source, which `fact` keeps in the order of the file. */
#ifndef S0_DEVICE_DEVICE_H
#define S0_DEVICE_DEVICE_H

#include "base/work.h"
#include "layout/view.h"

typedef enum {
    DEVICE_ARENA,      /* a microcontroller: operators work in local SRAM, constants stay in flash */
    DEVICE_SCRATCHPAD, /* an accelerator: DMA between far and local memory */
} DeviceKind;

/* Whose overflow a further memory takes. */
typedef enum { OVERFLOW_NONE, OVERFLOW_LOCAL, OVERFLOW_BACKING } DeviceOverflow;

/* Where a number comes from: cited in the file, or assumed. */
typedef struct {
    uint64_t value;
    bool is_assumed;
    Str source; /* the citation, or why it is assumed */
} DeviceCost;

typedef struct {
    Str name;                /* local, flash, far, or a further one's own name */
    uint64_t bytes;          /* that tensors may take of one lane: what the file calls bytes, less reserved_bytes;
                                UINT64_MAX where it says "unbounded" */
    uint64_t reserved_bytes; /* what the runtime itself keeps of one lane; 0 where that is not told */
    uint64_t align_bytes;    /* start alignment and allocation unit; any integer */
    uint64_t lanes;          /* separate address spaces that reserve the same range; 1 where there are none */
    uint64_t banks;          /* conflict groups inside one lane; 1 where there are none */
    DeviceOverflow overflow; /* NONE of local, of flash or far, and of what is described only */
    uint64_t price;          /* of a byte there, in any unit: what has a choice goes where it is cheapest */
    bool is_assumed;         /* the capacity is */
    Str source;              /* of the capacity */
} DeviceMemory;

/* What a stored tensor is to the device: each role has its layout contract. */
typedef enum { ROLE_ACTIVATION, ROLE_WEIGHT, ROLE_PARAMETER, ROLE_COUNT } Role;

/* How a parameter is stored; in order of size. */
typedef enum { FORM_SCALAR, FORM_CHANNEL, FORM_ROW, FORM_FULL, FORM_COUNT } Form;

typedef struct {
    bool readable;        /* the engine can read this form in place */
    uint64_t grain_bytes; /* what one element of it occupies at least: 1, a block, a vector; 0 where not readable */
    bool is_assumed;
    Str source;
} DeviceForm;

/* What an operator's kernel takes beside its operands. */
typedef enum {
    WORKSPACE_BYTES,  /* a number */
    WORKSPACE_INPUT,  /* as much as its first input takes in local memory */
    WORKSPACE_OUTPUT, /* as its first output */
} WorkspaceRule;

/* The contract of an operator that no specification tells: a custom one. */
typedef struct {
    Str name;    /* as the model states it; of TFLite without "CUSTOM:" */
    Str section; /* of its facts */
    WorkspaceRule workspace;
    uint64_t workspace_bytes; /* WORKSPACE_BYTES: of one lane; 0 by default */
    uint64_t align_bytes;     /* of its operands and its workspace: a power of two; 1 by default */
    bool may_alias;           /* its first output may take the place of its first input */
} DeviceOperator;

/* One sourced value of the file as it stands there, for reports that tag what is assumed. */
typedef struct {
    Str section, key, value;
    bool is_assumed;
    Str source;
    uint32_t line;
} DeviceFact;

enum { DEVICE_MAX_MEMORIES = 8 };

typedef struct {
    Str name;
    Str file; /* path it was read from, or preset:NAME */
    DeviceKind kind;
    uint32_t memory_count;
    DeviceMemory memory[DEVICE_MAX_MEMORIES];
    uint32_t local, backing; /* indices of `local`, and of `flash` (arena) or `far` (scratchpad) */

    const Contract *contract[ROLE_COUNT];
    DeviceForm form[FORM_COUNT];
    uint32_t
        record_bits; /* bits of one channel's record in the conv parameter stream, 0 where plain vectors are read */

    uint32_t operator_count;
    const DeviceOperator *operators;

    /* Described only: no figure of a plan rests on dtypes, requantise and mac_cycle. How tiles are chosen rests on the
     * others. A file may leave any of it out. */
    uint64_t dtypes; /* set of dtypes the engine computes, bit k for DType k of base/dtype.h; all by default */
    Str requantise;  /* semantics id: tflite-double, tflite-single, onnx, half-away; empty where it is not told */
    /* throughput and overheads; 0 without a source where it is not told */
    DeviceCost vector_bytes_cycle; /* bytes an element-wise engine takes in a cycle */
    DeviceCost mac_cycle;          /* multiply-accumulates a cycle */
    DeviceCost issue_cycles, descriptor_cycles, sync_cycles;
    DeviceCost dma_bytes_cycle, dma_setup_cycles, dma_burst_bytes, dma_min_bytes, dma_max_bytes, dma_align_bytes,
        dma_channels;

    const DeviceFact *fact;
    size_t fact_count;
} Device;

/* The memory whose overflow it takes; itself where it takes none. */
static inline uint32_t device_first(const Device *device, uint32_t memory) {
    switch (device->memory[memory].overflow) {
    case OVERFLOW_LOCAL:
        return device->local;
    case OVERFLOW_BACKING:
        return device->backing;
    default:
        return memory;
    }
}

/* A preset's name, or a path (anything with a '/' or ending in ".ini"). Null with diagnostics that name file and line.
 */
const Device *device_load(Work *work, Str name_or_path);

/* Reads a device from text; `file` is for messages. Nothing of `text` is kept. */
const Device *device_parse(Work *work, Str text, Str file);

/* The presets, in the order of the documentation. */
typedef struct {
    const char *name;
    const char *text; /* the INI file, as in devices/NAME.ini */
} DevicePreset;
extern const DevicePreset device_presets[];
extern const size_t device_preset_count;

/* The preset of that name; null where there is none. */
const DevicePreset *device_find_preset(Str name);

/* "mcu-cm, teach": the names of all presets. */
const char *device_preset_names(Arena *arena);

/* The names of the presets that are nearest to what was typed, for a hint: "a", "a or b"; may be empty. */
Str device_suggest(Arena *arena, Str typed);

/* The sourced value of a key, as in device_fact(d, "memory local", "align_bytes"); null where its default holds. */
const DeviceFact *device_fact(const Device *device, const char *section, const char *key);

/* What the file says of an operator, by the name that a model states, with or without "CUSTOM:"; null where it says
 * nothing. */
const DeviceOperator *device_find_operator(const Device *device, Str name);

/* The name of an operator without "CUSTOM:", as sections have it. */
Str device_bare_operator(Str name);

/* The path that it was read from; null of a preset. */
const char *device_path(const Device *device);

/* Does no figure of a plan rest on this value? So it is with memories that are neither `local` nor the one behind it,
 * with `banks`, and of an arena with all of [engine] and [dma]. */
bool device_is_described_only(const Device *device, const DeviceFact *fact);

const char *device_kind_name(DeviceKind kind);
const char *form_name(Form form);
const char *role_name(Role role);

#endif
