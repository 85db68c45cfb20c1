/* Tokens of the text form, for text_parse.c only. */
#ifndef S0_GRAPH_TEXT_LEX_H
#define S0_GRAPH_TEXT_LEX_H

#include "base/work.h"

typedef enum {
    TOKEN_END,    /* of the line */
    TOKEN_WORD,   /* a bare name, keyword or number */
    TOKEN_QUOTED, /* a name in quotes; `text` is what it stands for */
    TOKEN_LABEL,  /* %12; `text` is what follows the % */
    TOKEN_ARROW,  /* -> */
    TOKEN_MARK,   /* one character of = [ ] ( ) , : @ ? */
    TOKEN_WRONG,  /* already reported */
} TokenKind;

typedef struct {
    TokenKind kind;
    Str text;
    size_t column; /* from 1 */
    bool after_space;
} Token;

typedef struct {
    Work *work;
    Str line; /* without its end */
    uint32_t line_number;
    size_t at;
    Token token; /* the current one */
} Lexer;

/* Begins a line; the current token is its first. */
void lex_line(Lexer *lexer, Str line, uint32_t number);
void lex_next(Lexer *lexer);

bool lex_is_mark(const Lexer *lexer, char mark);
bool lex_take_mark(Lexer *lexer, char mark); /* takes it if it is there */
bool lex_take_word(Lexer *lexer, const char *word);

/* A diagnostic at the current token. False. */
bool lex_error(Lexer *lexer, const char *what, const char *expected);

/* Takes the mark, or reports. */
bool lex_expect(Lexer *lexer, char mark);

/* A whole number in the current token, taken; or reports. */
bool lex_int(Lexer *lexer, int64_t *number);

#endif
