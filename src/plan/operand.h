/* Operands: along which axis of a node's map a constant lies, and in which form it is stored.
 *
 * The axis comes from the operator's definition and from aligned position, never from a size (README.md, promise 2);
 * the form is the smallest that is bit-identical to what the file holds (promise 3). */
#ifndef S0_PLAN_OPERAND_H
#define S0_PLAN_OPERAND_H

#include "plan/plan.h"

typedef struct {
    const Value *map;             /* what the operand is broadcast over: output 0 of the node */
    Shape stored;                 /* the smallest form, with the rank of the operand; extent 1 repeats */
    uint8_t dims[SHAPE_MAX_RANK]; /* what this reader calls the axes of `stored` */
    Broadcast broadcast;          /* of that form over the map; BROADCAST_NONE for weights and configuration */
    int32_t axis;                 /* of the map, where its numbers go along one axis; -1 where there is none */
    int32_t start;                /* axis of the map that the operand's axes go along from, one by one; -1: not told */
    int32_t spread_axis;          /* of the map: its channels, which larger forms keep */
    uint32_t varies;              /* set of axes of the map, bit k for axis k: its numbers differ along these at most */
    Form form; /* of `stored`; FORM_COUNT where it is none: numbers along another axis than C, or along some axes */
} Operand;

/* What input `k` of `node`, a constant or what a caller gives, is. False with a refusal where its axis can't be known,
 * or where the number of its elements contradicts its axis. */
bool operand_of(const Plan *plan, const Node *node, uint32_t k, Work *work, Operand *operand);

/* Shape of a form over the map, with the map's rank. */
Shape operand_form_shape(const Operand *operand, Form form);

/* Has the form a place for each of its numbers? */
bool operand_fits_form(const Operand *operand, Form form);

#endif
