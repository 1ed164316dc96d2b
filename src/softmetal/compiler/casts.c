// SPDX-License-Identifier: MIT
// Casts between half and bfloat, which clang refuses: (half)x, (T)x, half(x) and T(x) become calls of the
// standard library's own cast. Only in sources that name bfloat, and only for the names that can mean one of
// the two: themselves, their aliases and the type parameters of templates. What is not clearly a cast stays.
#include "unit.h"

#include <errno.h>

enum { MAX_OPERAND_TOKENS = 20000, KIND_TYPE = 1, KIND_CLASS };

// Is the name at i a type that may be half or bfloat?
static bool is_narrow(const sm_unit *unit, const sm_map *types, uint32_t i)
{
    const sm_token *token = sm_token_at(unit, i);
    return token->kind == SM_TOKEN_NAME &&
           sm_map_get(types, unit->text + token->offset, token->length) == KIND_TYPE;
}

static bool learn(const sm_unit *unit, sm_map *types, uint32_t i, uint32_t kind)
{
    const sm_token *token = sm_token_at(unit, i);
    return sm_map_put(types, unit->text + token->offset, token->length, kind);
}

// The name that `typename T`, `class T`, `using T = half;` or `typedef half T;` at i makes, or SM_NO_TOKEN.
static uint32_t declared_name(const sm_unit *unit, const sm_map *types, uint32_t i)
{
    static const char *const after_parameter[] = {",", ">", "=", NULL};
    if (sm_token_is(unit, i, "using") && sm_token_is(unit, i + 2, "=") && is_narrow(unit, types, i + 3) &&
        sm_token_is(unit, i + 4, ";"))
        return i + 1;
    if (sm_token_is(unit, i, "typedef") && is_narrow(unit, types, i + 1) && sm_token_is(unit, i + 3, ";"))
        return i + 2;
    if ((sm_token_is(unit, i, "typename") || sm_token_is(unit, i, "class")) && sm_is_name(unit, i + 1) &&
        (sm_token_is(unit, i - 1, "<") || sm_token_is(unit, i - 1, ",")) &&
        sm_token_in(unit, i + 2, after_parameter))
        return i + 1;
    return SM_NO_TOKEN;
}

// A class of that name has constructors, which look like casts.
static bool names_class(const sm_unit *unit, uint32_t i)
{
    static const char *const after_class[] = {"{", ":", ";", "<", "final", NULL};
    return (sm_token_is(unit, i, "struct") || sm_token_is(unit, i, "class")) && sm_is_name(unit, i + 1) &&
           sm_token_in(unit, i + 2, after_class);
}

static int learn_types(const sm_unit *unit, sm_map *types, bool *has_bfloat)
{
    bool good = sm_map_put(types, "half", 4, KIND_TYPE) && sm_map_put(types, "bfloat", 6, KIND_TYPE);
    for (uint32_t i = 0; i < unit->token_count && good; i++) {
        *has_bfloat |= sm_token_is(unit, i, "bfloat");
        uint32_t name = declared_name(unit, types, i);
        if (name != SM_NO_TOKEN)
            good = learn(unit, types, name, KIND_TYPE);
    }
    for (uint32_t i = 0; i < unit->token_count && good; i++)
        if (names_class(unit, i))
            good = learn(unit, types, i + 1, KIND_CLASS);
    return good ? 0 : -ENOMEM;
}

static bool is_type_word(const sm_unit *unit, const sm_map *types, uint32_t i)
{
    static const char *const words[] = {"float",    "int",      "uint",     "short",   "ushort",  "char",
                                        "uchar",    "long",     "ulong",    "bool",    "size_t",  "int8_t",
                                        "uint8_t",  "int16_t",  "uint16_t", "int32_t", "int64_t", "uint32_t",
                                        "uint64_t", "unsigned", "signed",   NULL};
    return sm_token_in(unit, i, words) || is_narrow(unit, types, i);
}

// Can an operand begin at i? `-`, `*`, `&` and the like may also go on with what stood before.
static bool begins_operand(const sm_unit *unit, uint32_t i)
{
    static const char *const words[] = {"const",  "noexcept", "override", "final", "volatile",
                                        "device", "constant", "thread",   "and",   "or",
                                        "xor",    "requires", NULL};
    const sm_token *token = sm_token_at(unit, i);
    if (token->kind == SM_TOKEN_NAME)
        return !sm_token_in(unit, i, words);
    return token->kind == SM_TOKEN_NUMBER || token->kind == SM_TOKEN_CHARACTER || sm_token_is(unit, i, "(") ||
           sm_token_is(unit, i, "!") || sm_token_is(unit, i, "~") || sm_token_is(unit, i, "::");
}

static bool is_sign(const sm_unit *unit, uint32_t i)
{
    static const char *const signs[] = {"-", "+", "*", "&", "++", "--", NULL};
    return sm_token_in(unit, i, signs);
}

// After a template's name: the token behind its arguments, or i if the '<' compares.
static uint32_t skip_template_arguments(const sm_unit *unit, uint32_t i)
{
    static const char *const no_arguments[] = {"&&", "||", "?", "==", "!=", NULL};
    uint32_t close = sm_token_is(unit, i, "<") ? sm_match_angle(unit, i) : SM_NO_TOKEN;
    if (close == SM_NO_TOKEN)
        return i;
    for (uint32_t j = i; j < close; j = sm_skip(unit, j) + 1)
        if (sm_token_in(unit, j, no_arguments))
            return i;
    bool goes_on = sm_token_is(unit, close + 1, "(") || sm_token_is(unit, close + 1, "::") ||
                   sm_token_is(unit, close + 1, "{");
    return goes_on ? close + 1 : i;
}

// The token behind a::b<c>, with what calls, subscripts and members follow it.
static uint32_t skip_postfix(const sm_unit *unit, uint32_t i)
{
    for (uint32_t first = i; i < unit->token_count && i - first < MAX_OPERAND_TOKENS;) {
        if (sm_is_name(unit, i))
            i = skip_template_arguments(unit, i + 1);
        else if (sm_token_is(unit, i, "(") || sm_token_is(unit, i, "[") ||
                 (sm_token_is(unit, i, "{") && i > first))
            i = sm_skip(unit, i) + 1;
        else
            i++; // a number, "::", ".", "->", "++", "--"
        bool member =
            sm_token_is(unit, i - 1, ".") || sm_token_is(unit, i - 1, "->") || sm_token_is(unit, i - 1, "::");
        bool more = sm_token_is(unit, i, "(") || sm_token_is(unit, i, "[") || sm_token_is(unit, i, ".") ||
                    sm_token_is(unit, i, "->") || sm_token_is(unit, i, "::") || sm_token_is(unit, i, "++") ||
                    sm_token_is(unit, i, "--") || (sm_token_is(unit, i, "{") && sm_is_name(unit, i - 1));
        if (!member && !more)
            return i;
    }
    return SM_NO_TOKEN;
}

// (int)x inside an operand: the token behind the parentheses, or i if they hold a value.
static uint32_t skip_inner_cast(const sm_unit *unit, const sm_map *types, uint32_t i)
{
    if (!sm_token_is(unit, i, "("))
        return i;
    uint32_t close = sm_skip(unit, i), behind = close + 1;
    bool type = is_type_word(unit, types, i + 1) && (close == i + 2 || sm_is_name(unit, close - 1));
    if (sm_token_is(unit, behind, "(") ? type
                                       : begins_operand(unit, behind) || (type && is_sign(unit, behind)))
        return behind;
    return i;
}

// The token behind the operand that begins at i: signs and casts, then a name, a value or parentheses.
static uint32_t skip_operand(const sm_unit *unit, const sm_map *types, uint32_t i)
{
    for (int steps = 0; steps < 64; steps++) {
        uint32_t behind = skip_inner_cast(unit, types, i);
        if (behind != i)
            i = behind;
        else if (is_sign(unit, i) || sm_token_is(unit, i, "!") || sm_token_is(unit, i, "~"))
            i++;
        else
            return begins_operand(unit, i) ? skip_postfix(unit, i) : SM_NO_TOKEN;
    }
    return SM_NO_TOKEN;
}

// May an operand begin at i, by what stands before it? `depth` bounds (int)(half)(bfloat)x.
static bool follows_operator(const sm_unit *unit, const sm_map *types, uint32_t i, int depth)
{
    static const char *const operators[] = {"return", "case", "else", NULL};
    uint32_t open = sm_token_at(unit, i - 1)->match;
    if (i == 0 || sm_token_is(unit, i - 1, "]"))
        return false;
    if (sm_token_is(unit, i - 1, ")")) // only after another cast
        return depth < 16 && open < i && is_type_word(unit, types, open + 1) &&
               (open + 3 == i || sm_is_name(unit, i - 2)) && follows_operator(unit, types, open, depth + 1);
    return !sm_is_name(unit, i - 1) || sm_token_in(unit, i - 1, operators);
}

// "(T)" in front of an operand at i?
static bool is_c_cast(const sm_unit *unit, const sm_map *types, uint32_t i)
{
    return sm_token_is(unit, i, "(") && is_narrow(unit, types, i + 1) && sm_token_is(unit, i + 2, ")") &&
           follows_operator(unit, types, i, 0) && (begins_operand(unit, i + 3) || is_sign(unit, i + 3));
}

// One argument, neither a list nor a pack?
static bool has_one_argument(const sm_unit *unit, uint32_t open, uint32_t close)
{
    for (uint32_t i = open + 1; i < close; i = sm_skip(unit, i) + 1)
        if (sm_token_is(unit, i, ",") || sm_token_is(unit, i, "..."))
            return false;
    return begins_operand(unit, open + 1) || is_sign(unit, open + 1);
}

// Does the '{' at i begin a list of values? Not the body of something.
static bool opens_list(const sm_unit *unit, uint32_t i)
{
    static const char *const before[] = {"=", ",", "(", "{", "return", NULL};
    return sm_token_is(unit, i, "{") && sm_token_in(unit, i - 1, before);
}

// "T(x)" at i with one argument? Not "half (&x)[4]", "operator half()", or a declaration's beginning.
static bool is_functional_cast(const sm_unit *unit, const sm_map *types, uint32_t i)
{
    static const char *const no_values[] = {".", "->", "::", "~", "}", ";", "{", NULL};
    if (!is_narrow(unit, types, i) || !sm_token_is(unit, i + 1, "(") || !follows_operator(unit, types, i, 0))
        return false;
    uint32_t close = sm_skip(unit, i + 1);
    bool declares = sm_token_is(unit, close + 1, "[") || sm_token_is(unit, close + 1, "(");
    if (declares || (sm_token_in(unit, i - 1, no_values) && !opens_list(unit, i - 1)))
        return false;
    return has_one_argument(unit, i + 1, close);
}

static void rewrite_c_cast(sm_unit *unit, const sm_map *types, uint32_t i)
{
    uint32_t behind = skip_operand(unit, types, i + 3);
    if (behind == SM_NO_TOKEN || behind > unit->token_count)
        return;
    const char *name = sm_copy_token(unit, i + 1);
    sm_erase(unit, i, i + 3);
    unit->tokens[i].replacement = sm_arena_printf(&unit->arena, "metal::__sm_c_cast<%s>(", name);
    unit->tokens[behind - 1].closing++;
}

static void rewrite_functional_cast(sm_unit *unit, uint32_t i)
{
    const char *name = sm_copy_token(unit, i);
    unit->tokens[i].replacement = sm_arena_printf(&unit->arena, "metal::__sm_c_cast<%s>", name);
}

int sm_rewrite_casts(sm_unit *unit)
{
    sm_map types = {0};
    bool has_bfloat = false;
    int err = learn_types(unit, &types, &has_bfloat);
    for (uint32_t i = 0; i < unit->token_count && !err && has_bfloat; i++) {
        const sm_token *token = &unit->tokens[i];
        if (token->erased || token->replacement)
            continue;
        if (is_c_cast(unit, &types, i))
            rewrite_c_cast(unit, &types, i);
        else if (is_functional_cast(unit, &types, i))
            rewrite_functional_cast(unit, i);
    }
    sm_map_free(&types);
    return err;
}
