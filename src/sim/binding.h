/* The stages of a command, bound: for each distinct index of its parameters, the stage with the numbers of that index.
 *
 * The axes along which any parameter steps make a key, a number of mixed radix: all elements of one key are computed by
 * the same bound stages. Parameters are read once for a unit (see compute.c), in the order of keys. */
#ifndef S0_SIM_BINDING_H
#define S0_SIM_BINDING_H

#include "sim/machine.h"
#include "stage/bound.h"

typedef struct BoundKey {
    BoundStage bound;
    StageFault fault; /* null where it is bound */
    bool is_safe;     /* the reference has a value for every input of its type */
} BoundKey;

/* A parameter, and its numbers by key: 32 bits of an int32_t or a float. */
typedef struct {
    const CmdParam *param;
    bool is_once; /* it does not step along n or h from unit to unit: what was read holds for all of them */
    Strips strips;
    const uint32_t *order; /* key of each element in the order of strips; null where that is the order of keys */
    uint32_t *number;
    BoundStage decode; /* of codes that stand for reals */
    StageFault fault;  /* null where such codes can be decoded */
} BoundParam;

typedef struct {
    Sim *sim;
    uint32_t command;
    CmdBox keys;  /* extents of the unit along the axes that make a key, else 1 */
    CmdView view; /* the key of an index, as an address of 1 bit each */
    uint32_t key_count;
    CmdView places;  /* the place of an element: those of one key are neighbours, in the order of keys */
    uint32_t each;   /* elements of a key */
    bool is_read;    /* at least once */
    uint32_t *which; /* for each stage and key, its number in `bound` of the stage */
    BoundKey *bound[CMD_MAX_STAGES];
    BoundParam param[CMD_MAX_STAGES][CMD_MAX_PARAMS];
    uint8_t *packed; /* of one parameter */
    int32_t *code;
    float *x;
} Binding;

/* For units of these extents. */
void binding_init(Binding *binding, Sim *sim, uint32_t command, const CmdBox *unit);

/* Reads the parameters of the unit whose first index is (n, h) and binds all stages, as far as they are others. */
void binding_read(Binding *binding, uint64_t n, uint64_t h);

/* After the last unit: what the command itself has overwritten of its parameters is a fault. */
void binding_end(Binding *binding);

static inline uint32_t binding_which(const Binding *binding, uint32_t stage, uint32_t key) {
    return binding->which[(size_t)stage * binding->key_count + key];
}

#endif
