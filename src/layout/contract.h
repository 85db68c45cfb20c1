/* The layout contract: the text that says how a shape is stored, parsed.
 *
 *     contract := case ('|' case)*                    first case whose guard holds
 *     case     := ['when' PRED ':'] ['bank[' TERM+ ']'] LEVEL+ ['total@' B] ['base@' B] ['tail+' B]
 *     LEVEL    := DIM['/'div]['%'mod]['^'min]['@'align]['+'head]      outer -> inner
 *     TERM     := DIM['/'div]['%'mod]
 *     PRED     := cmp (('and'|'or') cmp)*             cmp := VAR (==|!=|<|<=|>|>=) INT | VAR in {INT,...}
 *
 * Manual: docs/contracts.md. Only the last case may lack a guard. Checks made here, with the column: every div,
 * mod, min, align, total and base is at least 1; the terms of a dimension, sorted by div, begin with div 1, each next
 * div is div * mod, exactly one has no mod, none stands twice. */
#ifndef S0_LAYOUT_CONTRACT_H
#define S0_LAYOUT_CONTRACT_H

#include "base/arena.h"
#include "layout/shape.h"

#include <stdbool.h>

typedef struct Contract Contract;

/* Where the text is wrong. `column` counts from 1. */
typedef struct {
    uint32_t column;
    const char *what;     /* "unknown dimension" */
    const char *got;      /* may be null */
    const char *expected; /* may be null */
} ContractError;

/* Null where the text is wrong, with the first error told. `text` must live as long as the arena. */
const Contract *contract_parse(Arena *arena, Str text, ContractError *error);

/* The text it was parsed from, white space trimmed. */
Str contract_text(const Contract *contract);

size_t contract_case_count(const Contract *contract); /* at least 1 */

/* What one case promises for every shape it takes. */
typedef struct {
    bool has_guard;
    bool names[DIM_COUNT];
    uint64_t bank_count; /* product of the moduli of its bank terms; UINT64_MAX where one has none, or it is larger */
    uint64_t base_bytes; /* of `base@`; else 1 */
} ContractCaseFacts;

/* k < contract_case_count(contract). */
ContractCaseFacts contract_case_facts(const Contract *contract, size_t k);

#endif
