// SPDX-License-Identifier: MIT
// One preprocessed MSL source on its way to C++: its tokens, its declarations, what was found in it, and the
// passes that work on it. A unit belongs to one thread until its library is published.
// Input is hostile: every pass must stay inside the token array whatever the text says.
#ifndef SOFTMETAL_COMPILER_UNIT_H
#define SOFTMETAL_COMPILER_UNIT_H

#include "compiler.h"
#include "text.h"

#include <string.h>

typedef enum sm_token_kind {
    SM_TOKEN_END,
    SM_TOKEN_NAME, // identifier or keyword
    SM_TOKEN_NUMBER,
    SM_TOKEN_STRING,
    SM_TOKEN_CHARACTER,
    SM_TOKEN_PUNCTUATION,
} sm_token_kind;

#define SM_NO_TOKEN UINT32_MAX

// Blanks, comments and directives are not tokens: they are the gaps between them and are copied as they are.
typedef struct sm_token {
    uint32_t offset, length;
    uint32_t match; // partner of ( [ { ) ] }, else SM_NO_TOKEN
    uint8_t kind;
    bool erased;
    uint16_t closing;        // so many ')' follow it
    const char *prefix;      // written before it
    const char *replacement; // written in its place
} sm_token;

typedef enum sm_decl_kind {
    SM_DECL_OTHER,
    SM_DECL_NAMESPACE, // and extern "C" { }
    SM_DECL_CLASS,
    SM_DECL_FUNCTION,
} sm_decl_kind;

#define SM_NO_DECL UINT32_MAX

// A declaration at namespace or class scope; bodies of functions are not looked into.
typedef struct sm_decl {
    uint32_t first, last;        // last is the ';' or '}', for namespaces and classes the '{'
    uint32_t params, params_end; // the parentheses of a function's parameters, or SM_NO_TOKEN
    uint32_t body;               // '{' or SM_NO_TOKEN
    uint32_t scope;              // the enclosing declaration or SM_NO_DECL
    uint8_t kind;                // sm_decl_kind
    bool is_template;            // template <...>
    bool is_instantiation;       // template without <...>
    bool has_address_space;      // names an address space outside the body
} sm_decl;

// A function constant: the public part first.
typedef struct sm_unit_constant {
    sm_constant info;
    const char *scope; // "a::b" or ""
} sm_unit_constant;

// A host-visible function: the public part first.
typedef struct sm_entry {
    sm_function function;
    const char *expression;  // C++ expression of the function to call
    const char *sources;     // ", SM_SRC(buffer,0)..." in the order of the parameters
    const char *unsupported; // why it cannot be run, or NULL
} sm_entry;

// A kernel function or template as declared.
typedef struct sm_kernel_decl {
    const char *name;
    uint32_t next; // another with the same name (overload) or SM_MAP_NONE
    sm_entry like; // without name and expression
    bool is_template;
} sm_kernel_decl;

typedef struct sm_unit {
    sm_arena arena;
    const char *file_name;
    char *text; // NUL-terminated; unknown pragmas are blanked in place
    size_t length;
    sm_token *tokens; // token_count of them and one SM_TOKEN_END
    size_t token_count, token_capacity;
    sm_decl *decls;
    size_t decl_count, decl_capacity;
    sm_entry *entries;
    size_t entry_count, entry_capacity;
    sm_map entry_names;
    sm_kernel_decl *kernels;
    size_t kernel_count, kernel_capacity;
    sm_map kernel_names;
    sm_unit_constant *constants;
    size_t constant_count, constant_capacity;
    sm_map numbers; // names of integer constants at namespace scope, as places in number_values
    int64_t *number_values;
    size_t number_count, number_capacity;
    sm_map guarded;   // names in is_function_constant_defined()
    bool distributed; // uses thread_elements()
    uint32_t error_count;
    sm_text errors;
} sm_unit;

// Takes over the text. 0, -EINVAL (errors has the messages) or -ENOMEM.
int sm_unit_open(sm_unit *unit, char *text, size_t length, const char *file_name);
void sm_unit_close(sm_unit *unit);
// The C++ text; call it after sm_unit_open.
void sm_unit_write(const sm_unit *unit, sm_text *out);

// lex.c
int sm_lex(sm_unit *unit);
// decls.c
int sm_scan_declarations(sm_unit *unit);
// dedupe.c: drops what differs from an earlier declaration in address spaces only; makes helpers static.
int sm_dedupe(sm_unit *unit);
// kernels.c
int sm_collect_kernels(sm_unit *unit);
// constants.c
int sm_collect_constants(sm_unit *unit);
// Writes the definitions of all function constants for one pipeline; -EINVAL and *why for a bad value.
int sm_write_constants(const sm_unit_constant *constants, size_t count, const sm_constant_value *values,
                       size_t value_count, sm_text *out, const char **why);
// casts.c
int sm_rewrite_casts(sm_unit *unit);
// rewrite.c
int sm_rewrite(sm_unit *unit);
// expr.c: learns the integer constants and enumerators of the source.
int sm_collect_numbers(sm_unit *unit);
// The value of an integer constant expression in tokens [from, to).
bool sm_evaluate(const sm_unit *unit, uint32_t from, uint32_t to, int64_t *out);

// Helpers over tokens; any index is allowed, those outside give the end token.
static inline const sm_token *sm_token_at(const sm_unit *unit, uint32_t i)
{
    return &unit->tokens[i < unit->token_count ? i : unit->token_count];
}

// Asked millions of times for a large source: most answers are in the first letter.
static inline bool sm_token_is(const sm_unit *unit, uint32_t i, const char *text)
{
    const sm_token *token = sm_token_at(unit, i);
    const char *here = unit->text + token->offset;
    return token->length && *here == *text && strlen(text) == token->length &&
           memcmp(here, text, token->length) == 0;
}
bool sm_token_in(const sm_unit *unit, uint32_t i, const char *const *words); // words ends with NULL
static inline const char *sm_token_text(const sm_unit *unit, uint32_t i)
{
    return unit->text + sm_token_at(unit, i)->offset;
}
static inline bool sm_is_name(const sm_unit *unit, uint32_t i)
{
    return sm_token_at(unit, i)->kind == SM_TOKEN_NAME;
}
// Index of the partner of an opening bracket, or i itself where there is none.
static inline uint32_t sm_skip(const sm_unit *unit, uint32_t i)
{
    uint32_t match = sm_token_at(unit, i)->match;
    return match != SM_NO_TOKEN && match > i ? match : i;
}
// The '>' that closes the '<' at i, or SM_NO_TOKEN.
uint32_t sm_match_angle(const sm_unit *unit, uint32_t i);
// The '<' that the '>' at i closes, or SM_NO_TOKEN.
uint32_t sm_match_angle_back(const sm_unit *unit, uint32_t i);
// "[[" at i?
bool sm_is_attribute(const sm_unit *unit, uint32_t i);
bool sm_is_address_space(const sm_unit *unit, uint32_t i);
void sm_erase(sm_unit *unit, uint32_t from, uint32_t to); // [from, to)
const char *sm_copy_token(sm_unit *unit, uint32_t i);
// Tokens [from, to) as C++ with the address spaces left out, separated by blanks.
const char *sm_join(sm_unit *unit, uint32_t from, uint32_t to);
bool sm_is_qualifier(const sm_unit *unit, uint32_t i);
// The type in tokens [from, to) without qualifiers, pointers and references.
const char *sm_type_text(sm_unit *unit, uint32_t from, uint32_t to);
// "a::b" for a declaration's namespaces, "" outside of them.
const char *sm_scope_name(sm_unit *unit, uint32_t decl);
// Adds "file:line:column: error: ..." for the place of an offset or a token; always returns -EINVAL.
int sm_error_at_offset(sm_unit *unit, size_t offset, const char *format, ...) SM_PRINTF(3, 4);
int sm_error_at(sm_unit *unit, uint32_t token, const char *format, ...) SM_PRINTF(3, 4);

#endif
