/* Parsing a layout contract: the grammar of contract.h, one function a rule. */
#include "layout/contract_scan.h"
#include "layout/view.h"

#include "base/checked.h"
#include "base/fault.h"

enum { LONGEST_TEXT = 1 << 16 };

/* ---- Terms and levels */

/* DIM['/'div]['%'mod] */
static bool parse_term(Scan *scan, ContractTerm *term) {
    *term = (ContractTerm){.div = 1, .at = scan->at};
    if (!scan_accept_dim(scan, &term->dim)) {
        return scan_error(scan, scan->at, "unknown dimension", "N, C, H, W, O or I");
    }
    if (scan_accept(scan, "/") && !scan_expect_number(scan, 1, &term->div)) {
        return false;
    }
    if (scan_accept(scan, "%") && !scan_expect_number(scan, 1, &term->mod)) {
        return false;
    }
    term->end = scan->at;
    return true;
}

static bool expect_end_of_token(Scan *scan, const char *expected) {
    size_t begin = scan->at;
    char c = scan_peek(scan);
    scan_space(scan);
    return scan->at > begin || scan_is_end(scan) || c == '|' || c == ']' ||
           scan_error(scan, begin, "the token does not end here", expected);
}

static bool too_many(Scan *scan, const char *what, int most) {
    return scan_error(scan, scan->at, what, arena_text(scan->arena, "at most %d", most));
}

static bool parse_bank_term(Scan *scan, ContractTerm *term) {
    if (!parse_term(scan, term)) {
        return false;
    }
    term->is_bank = true;
    return expect_end_of_token(scan, "/div, then %mod, then a space or ']'");
}

static bool parse_level(Scan *scan, ContractTerm *term) {
    if (!parse_term(scan, term)) {
        return false;
    }
    if (scan_accept(scan, "^") && !scan_expect_number(scan, 1, &term->min)) {
        return false;
    }
    if (scan_accept(scan, "@") && !scan_expect_number(scan, 1, &term->align_bytes)) {
        return false;
    }
    if (scan_accept(scan, "+") && !scan_expect_number(scan, 0, &term->head_bytes)) {
        return false;
    }
    term->end = scan->at;
    return expect_end_of_token(scan, "/div, %mod, ^min, @align, +head in this order, then a space");
}

/* ---- Cases */

static bool parse_banks(Scan *scan, ContractCase *item) {
    if (!scan_accept(scan, "bank[")) {
        return true;
    }
    item->bank_term = arena_array(scan->arena, ContractTerm, VIEW_MAX_BANK_TERMS);
    scan_space(scan);
    do {
        if (item->bank_term_count == VIEW_MAX_BANK_TERMS) {
            return too_many(scan, "too many bank terms", VIEW_MAX_BANK_TERMS);
        }
        if (!parse_bank_term(scan, &item->bank_term[item->bank_term_count])) {
            return false;
        }
        item->bank_term_count++;
    } while (!scan_is_end(scan) && scan_peek(scan) != ']' && scan_peek(scan) != '|');
    return scan_accept(scan, "]") || scan_error(scan, scan->at, "bank[ does not end", "']'");
}

static bool is_level_start(const Scan *scan) {
    return scan_peek(scan) >= 'A' && scan_peek(scan) <= 'Z';
}

static bool parse_levels(Scan *scan, ContractCase *item) {
    item->level = arena_array(scan->arena, ContractTerm, VIEW_MAX_LEVELS);
    scan_space(scan);
    if (!is_level_start(scan)) {
        return scan_error(scan, scan->at, "a level is missing", "a level, such as H or C/16 or W@64");
    }
    while (is_level_start(scan)) {
        if (item->level_count == VIEW_MAX_LEVELS) {
            return too_many(scan, "too many levels", VIEW_MAX_LEVELS);
        }
        if (!parse_level(scan, &item->level[item->level_count])) {
            return false;
        }
        item->level_count++;
    }
    return true;
}

static bool parse_suffix(Scan *scan, const char *word, uint64_t smallest, uint64_t *bytes) {
    if (!scan_accept(scan, word)) {
        return true;
    }
    return scan_expect_number(scan, smallest, bytes) && expect_end_of_token(scan, "a space behind the number");
}

static bool parse_case(Scan *scan, ContractCase *item) {
    item->total_bytes = 1;
    item->base_bytes = 1;
    if (scan_accept_word(scan, "when") && !guard_parse(scan, &item->guard)) {
        return false;
    }
    scan_space(scan);
    return parse_banks(scan, item) && parse_levels(scan, item) && parse_suffix(scan, "total@", 1, &item->total_bytes) &&
           parse_suffix(scan, "base@", 1, &item->base_bytes) && parse_suffix(scan, "tail+", 0, &item->tail_bytes) &&
           contract_check_case(scan, item);
}

static bool parse_cases(Scan *scan, Contract *contract) {
    size_t capacity = 0;
    do {
        scan_space(scan);
        size_t begin = scan->at;
        ContractCase item = {0};
        if (!parse_case(scan, &item)) {
            return false;
        }
        contract->item = arena_grow(scan->arena, contract->item, contract->count, &capacity, sizeof *contract->item);
        contract->item[contract->count++] = item;
        if (scan_peek(scan) == '|' && item.guard.count == 0) {
            return scan_error(scan, begin, "only the last case may lack a guard", "'when ...:' before it");
        }
    } while (scan_accept(scan, "|"));
    return scan_is_end(scan) || scan_error(scan, scan->at, "the case does not end here",
                                           "a level, total@, base@, tail+ in this order, '|' or the end");
}

const Contract *contract_parse(Arena *arena, Str text, ContractError *error) {
    Contract *contract = arena_new(arena, Contract);
    Scan scan = {.arena = arena, .text = text, .error = error};
    contract->text = str_trim(text);
    if (text.len > LONGEST_TEXT) {
        scan_error(&scan, LONGEST_TEXT, "the contract is too long",
                   arena_text(arena, "at most %d bytes", LONGEST_TEXT));
        return NULL;
    }
    return parse_cases(&scan, contract) ? contract : NULL;
}

Str contract_text(const Contract *contract) {
    return contract->text;
}

size_t contract_case_count(const Contract *contract) {
    return contract->count;
}

ContractCaseFacts contract_case_facts(const Contract *contract, size_t k) {
    CHECK(k < contract->count);
    const ContractCase *item = &contract->item[k];
    ContractCaseFacts facts = {.has_guard = item->guard.count > 0, .bank_count = 1, .base_bytes = item->base_bytes};
    for (int dim = 0; dim < DIM_COUNT; dim++) {
        facts.names[dim] = item->names[dim];
    }
    for (uint32_t t = 0; t < item->bank_term_count; t++) {
        uint64_t mod = item->bank_term[t].mod;
        if (mod == 0 || !checked_mul(facts.bank_count, mod, &facts.bank_count)) {
            facts.bank_count = UINT64_MAX;
            break;
        }
    }
    return facts;
}
