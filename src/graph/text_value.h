/* Types, flags and data of values in the text form, for text_parse.c only. */
#ifndef S0_GRAPH_TEXT_VALUE_H
#define S0_GRAPH_TEXT_VALUE_H

#include "graph/graph.h"
#include "graph/text_lex.h"

/* A number behind the current token, taken; or reports. */
bool lex_single(Lexer *lexer, double *number); /* of float32 */
bool lex_double(Lexer *lexer, double *number);

/* What may follow the name of a value: type, flags and, where `is_constant`, data. False where something is wrong. */
bool text_declaration(Lexer *lexer, Value *value, bool is_constant);

#endif
