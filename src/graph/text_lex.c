/* Tokens of the text form. A line is one statement; a token never spans lines. */
#include "graph/text_lex.h"

#include <inttypes.h>
#include <string.h>

static bool is_word_byte(char c, bool is_first) {
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_letter || c == '_' || c == '.' || c == '/' || c == '+' || c == '-' || (!is_first && c == '$');
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

bool lex_error(Lexer *lexer, const char *what, const char *expected) {
    enum { LONGEST_SHOWN = 40 };
    Arena *arena = lexer->work->diags.arena;
    const Token *token = &lexer->token;
    size_t from = token->column == 0 ? 0 : token->column - 1;
    size_t length = lexer->at - from < LONGEST_SHOWN ? lexer->at - from : LONGEST_SHOWN;
    const char *got =
        length == 0 ? "the end of the line" : arena_text(arena, "%.*s", (int)length, lexer->line.ptr + from);
    if (token->kind != TOKEN_WRONG) {
        diag_error(&lexer->work->diags,
                   (DiagText){.place = arena_text(arena, "line %" PRIu32 " column %zu", lexer->line_number, from + 1),
                              .what = what,
                              .got = got,
                              .expected = expected});
    }
    return false;
}

static void wrong_token(Lexer *lexer, const char *what, const char *expected) {
    lex_error(lexer, what, expected);
    lexer->token.kind = TOKEN_WRONG;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* One escape at `at`, behind its backslash. Its length, 0 where it is none. */
static size_t read_escape(Str line, size_t at, char *byte) {
    static const char letters[] = "nrt\"\\", bytes[] = "\n\r\t\"\\";
    if (at >= line.len || line.ptr[at] == '\0') {
        return 0;
    }
    const char *known = strchr(letters, line.ptr[at]);
    if (known != NULL) {
        *byte = bytes[known - letters];
        return 1;
    }
    if (line.ptr[at] != 'x' || at + 2 >= line.len) {
        return 0;
    }
    int high = hex_digit(line.ptr[at + 1]);
    int low = hex_digit(line.ptr[at + 2]);
    *byte = (char)(unsigned char)(high * 16 + low);
    return high < 0 || low < 0 ? 0 : 3;
}

static void lex_quoted(Lexer *lexer) {
    Str line = lexer->line;
    size_t at = lexer->at + 1;
    char *text = NULL; /* made at the first escape; names without one are spans of the line */
    size_t length = 0, from = at;
    while (at < line.len && line.ptr[at] != '"') {
        char byte = line.ptr[at++];
        if (byte == '\\') {
            if (text == NULL) {
                text = arena_alloc(&lexer->work->keep, line.len - from + 1, 1);
                memcpy(text, line.ptr + from, length);
            }
            size_t escape = read_escape(line, at, &byte);
            if (escape == 0) {
                lexer->at = at;
                wrong_token(lexer, "unknown escape in a quoted name",
                            "\\n \\r \\t \\\" \\\\ or \\x and two hex digits");
                return;
            }
            at += escape;
        }
        if (text != NULL) {
            text[length] = byte;
        }
        length++;
    }
    if (at == line.len) {
        lexer->at = at;
        wrong_token(lexer, "a quoted name does not end on its line", "\"");
        return;
    }
    lexer->token.kind = TOKEN_QUOTED;
    lexer->token.text = (Str){text != NULL ? text : line.ptr + from, length};
    lexer->at = at + 1;
}

static void lex_word(Lexer *lexer, TokenKind kind, size_t from) {
    size_t at = from;
    while (at < lexer->line.len && is_word_byte(lexer->line.ptr[at], false)) {
        /* "x->y": a word ends before an arrow */
        if (lexer->line.ptr[at] == '-' && at + 1 < lexer->line.len && lexer->line.ptr[at + 1] == '>') {
            break;
        }
        at++;
    }
    lexer->token.kind = kind;
    lexer->token.text = (Str){lexer->line.ptr + from, at - from};
    lexer->at = at;
}

void lex_next(Lexer *lexer) {
    Str line = lexer->line;
    size_t before = lexer->at;
    while (lexer->at < line.len && is_space(line.ptr[lexer->at])) {
        lexer->at++;
    }
    lexer->token = (Token){.column = lexer->at + 1, .after_space = lexer->at > before};
    if (lexer->at == line.len || line.ptr[lexer->at] == '#') {
        lexer->token.kind = TOKEN_END;
        return;
    }
    const char *c = line.ptr + lexer->at;
    size_t left = line.len - lexer->at;
    if (*c == '"') {
        lex_quoted(lexer);
    } else if (*c == '%') {
        lex_word(lexer, TOKEN_LABEL, lexer->at + 1);
    } else if (left >= 2 && c[0] == '-' && c[1] == '>') {
        lexer->token.kind = TOKEN_ARROW;
        lexer->at += 2;
    } else if (is_word_byte(*c, true)) {
        lex_word(lexer, TOKEN_WORD, lexer->at);
    } else {
        lexer->at++;
        lexer->token.kind = TOKEN_MARK;
        lexer->token.text = (Str){c, 1};
        if (*c == '\0' || strchr("=[](),:@?", *c) == NULL) {
            wrong_token(lexer, "unexpected character", "a name, a number or one of = [ ] ( ) , : @ ?");
        }
    }
}

void lex_line(Lexer *lexer, Str line, uint32_t number) {
    lexer->line = line;
    lexer->line_number = number;
    lexer->at = 0;
    lex_next(lexer);
}

bool lex_is_mark(const Lexer *lexer, char mark) {
    return lexer->token.kind == TOKEN_MARK && lexer->token.text.ptr[0] == mark;
}

bool lex_take_mark(Lexer *lexer, char mark) {
    bool is_there = lex_is_mark(lexer, mark);
    if (is_there) {
        lex_next(lexer);
    }
    return is_there;
}

bool lex_take_word(Lexer *lexer, const char *word) {
    bool is_there = lexer->token.kind == TOKEN_WORD && str_eq(lexer->token.text, str_from(word));
    if (is_there) {
        lex_next(lexer);
    }
    return is_there;
}

bool lex_expect(Lexer *lexer, char mark) {
    if (lex_take_mark(lexer, mark)) {
        return true;
    }
    return lex_error(lexer, "something is missing", arena_text(lexer->work->diags.arena, "%c", mark));
}

bool lex_int(Lexer *lexer, int64_t *number) {
    if (lexer->token.kind != TOKEN_WORD || !str_to_i64(lexer->token.text, number)) {
        return lex_error(lexer, "not a whole number of 64 bits", "a whole number");
    }
    lex_next(lexer);
    return true;
}
