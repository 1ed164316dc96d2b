// SPDX-License-Identifier: MIT
// Finds the kernels of a source: declarations, parameters and where their values come from, host names, and
// explicit instantiations, which become rows of the function table instead of code.
#include "attributes.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Parameter attributes that the standard library's SM_SRC knows by the same name.
static const char *const builtins[] = {
    "thread_position_in_grid",
    "thread_position_in_threadgroup",
    "threadgroup_position_in_grid",
    "thread_index_in_threadgroup",
    "thread_index_in_simdgroup",
    "thread_index_in_quadgroup",
    "simdgroup_index_in_threadgroup",
    "quadgroup_index_in_threadgroup",
    "threads_per_threadgroup",
    "threads_per_grid",
    "threads_per_simdgroup",
    "threads_per_quadgroup",
    "thread_execution_width",
    "threadgroups_per_grid",
    "simdgroups_per_threadgroup",
    "quadgroups_per_threadgroup",
    "dispatch_threads_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup",
    "dispatch_quadgroups_per_threadgroup",
    "grid_origin",
    "grid_size",
    NULL,
};

static const char *const unsupported_attributes[] = {"texture", "sampler",         "stage_in",
                                                     "payload", "imageblock_data", NULL};

typedef struct parameter {
    sm_argument argument;
    const char *builtin; // attribute name for SM_ARGUMENT_BUILTIN
    bool placed;         // has an index of its own
} parameter;

typedef struct parameter_list {
    parameter *items;
    size_t count, capacity;
    const char *unsupported;
} parameter_list;

// The name of the parameter in [from, to): the last name before attributes, array bounds and default value.
static uint32_t find_name(const sm_unit *unit, uint32_t from, uint32_t to)
{
    uint32_t name = SM_NO_TOKEN;
    for (uint32_t i = from; i < to && !sm_token_is(unit, i, "="); i++) {
        if (sm_token_is(unit, i, "<")) {
            uint32_t close = sm_match_angle(unit, i);
            if (close < to)
                i = close;
        } else if (sm_token_is(unit, i, "[") ||
                   (sm_token_is(unit, i, "(") && name != SM_NO_TOKEN && !sm_token_is(unit, i + 1, "*") &&
                    !sm_token_is(unit, i + 1, "&"))) {
            i = sm_skip(unit, i);
        } else if (sm_is_name(unit, i) && !sm_is_qualifier(unit, i)) {
            name = i;
        }
    }
    return name;
}

typedef struct shape {
    bool pointer, is_const, is_constant, is_threadgroup;
} shape;

static shape read_shape(const sm_unit *unit, uint32_t from, uint32_t to)
{
    shape s = {0};
    for (uint32_t i = from; i < to; i++) {
        if (sm_token_is(unit, i, "<")) {
            uint32_t close = sm_match_angle(unit, i);
            if (close < to)
                i = close;
        }
        if (sm_token_is(unit, i, "*") || sm_token_is(unit, i, "&"))
            s.pointer = true;
        s.is_const |= !s.pointer && sm_token_is(unit, i, "const");
        s.is_constant |= sm_token_is(unit, i, "constant");
        s.is_threadgroup |= sm_token_is(unit, i, "threadgroup");
    }
    return s;
}

static const char *find_builtin(const sm_unit *unit, const sm_attributes *attributes)
{
    for (int i = 0; builtins[i]; i++)
        if (sm_find_attribute(unit, attributes, builtins[i]))
            return builtins[i];
    return NULL;
}

static bool is_unsupported(const sm_unit *unit, const sm_attributes *attributes, const char *type)
{
    static const char *const types[] = {"texture",
                                        "depth",
                                        "sampler",
                                        "metal::texture",
                                        "metal::sampler",
                                        "visible_function_table",
                                        "intersection_function_table",
                                        NULL};
    for (int i = 0; unsupported_attributes[i]; i++)
        if (sm_find_attribute(unit, attributes, unsupported_attributes[i]))
            return true;
    for (int i = 0; types[i]; i++)
        if (strncmp(type, types[i], strlen(types[i])) == 0)
            return true;
    return false;
}

static int place_parameter(sm_unit *unit, const sm_attributes *attributes, shape s, uint32_t name,
                           parameter *p)
{
    const sm_attribute *buffer = sm_find_attribute(unit, attributes, "buffer");
    const sm_attribute *group = sm_find_attribute(unit, attributes, "threadgroup");
    p->argument.kind = SM_ARGUMENT_BUILTIN;
    p->builtin = find_builtin(unit, attributes);
    if (!buffer && !group && (p->builtin || !s.pointer))
        return p->builtin
                   ? 0
                   : sm_error_at(unit, name, "invalid type '%s' for input declaration in a kernel function",
                                 p->argument.type);
    p->argument.kind = group || (!buffer && s.is_threadgroup) ? SM_ARGUMENT_THREADGROUP : SM_ARGUMENT_BUFFER;
    p->argument.reads = true;
    p->argument.is_constant = s.is_constant;
    p->argument.writes = !s.is_const && !s.is_constant;
    p->placed = buffer || group;
    return p->placed ? sm_attribute_number(unit, buffer ? buffer : group, SM_MAX_BUFFERS, &p->argument.index)
                     : 0;
}

static int read_parameter(sm_unit *unit, uint32_t from, uint32_t to, parameter_list *list)
{
    if (to - from == 1 && sm_token_is(unit, from, "void"))
        return 0;
    if (!sm_grow((void **)&list->items, &list->capacity, list->count, sizeof(parameter)))
        return -ENOMEM;
    sm_attributes attributes = {.count = 0};
    uint32_t name = find_name(unit, from, to);
    shape s = read_shape(unit, from, name == SM_NO_TOKEN ? to : name);
    if (sm_token_is(unit, name + 1, "[") && !sm_is_attribute(unit, name + 1)) // constant int strides[3]
        s.pointer = name < to;
    sm_take_attributes(unit, from, to, &attributes);
    parameter *p = &list->items[list->count++];
    *p = (parameter){.argument = {.name = name == SM_NO_TOKEN ? "" : sm_copy_token(unit, name),
                                  .type = sm_type_text(unit, from, name == SM_NO_TOKEN ? to : name)}};
    if (is_unsupported(unit, &attributes, p->argument.type)) {
        list->unsupported = sm_arena_printf(
            &unit->arena, "argument '%s' (%s): textures, samplers and tables are not supported",
            p->argument.name, p->argument.type);
        p->builtin = "unsupported";
        p->argument.kind = SM_ARGUMENT_BUILTIN;
        return 0;
    }
    return place_parameter(unit, &attributes, s, name == SM_NO_TOKEN ? from : name, p);
}

// Arguments without an index take the lowest free ones, as Metal's compiler does.
static int number_parameters(sm_unit *unit, uint32_t at, parameter_list *list, sm_argument_kind kind)
{
    uint32_t used = 0, next = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].argument.kind == kind && list->items[i].placed)
            used |= 1u << list->items[i].argument.index;
    for (size_t i = 0; i < list->count; i++) {
        parameter *p = &list->items[i];
        if (p->argument.kind != kind || p->placed)
            continue;
        while (next < SM_MAX_BUFFERS && (used >> next & 1))
            next++;
        if (next >= SM_MAX_BUFFERS)
            return sm_error_at(unit, at, "too many buffer arguments: at most %d", SM_MAX_BUFFERS);
        p->argument.index = next;
        used |= 1u << next;
    }
    return 0;
}

static int finish_parameters(sm_unit *unit, const parameter_list *list, sm_entry *entry)
{
    sm_argument *arguments = sm_arena_alloc(&unit->arena, (list->count + 1) * sizeof(*arguments));
    sm_text sources = {0};
    for (size_t i = 0; i < list->count && arguments; i++) {
        const parameter *p = &list->items[i];
        static const char *const kinds[] = {"buffer", "threadgroup", NULL};
        arguments[i] = p->argument;
        sm_text_printf(&sources, ", SM_SRC(%s,%u)", p->builtin ? p->builtin : kinds[p->argument.kind],
                       p->argument.index);
    }
    entry->function.arguments = arguments;
    entry->function.argument_count = list->count;
    entry->unsupported = list->unsupported;
    entry->sources = sm_arena_copy(&unit->arena, sources.data, sources.failed ? 0 : sources.length);
    bool failed = sources.failed || !arguments;
    sm_text_free(&sources);
    return failed ? -ENOMEM : 0;
}

static int read_parameters(sm_unit *unit, uint32_t open, uint32_t close, sm_entry *entry)
{
    parameter_list list = {0};
    uint32_t from = open + 1;
    int err = 0;
    for (uint32_t i = from; i <= close && !err; i++) {
        if (i == close || sm_token_is(unit, i, ",")) {
            if (i > from)
                err = read_parameter(unit, from, i, &list);
            from = i + 1;
        } else if (sm_token_is(unit, i, "<")) {
            uint32_t angle = sm_match_angle(unit, i);
            if (angle < close)
                i = angle;
        } else {
            i = sm_skip(unit, i);
        }
    }
    if (!err)
        err = number_parameters(unit, open, &list, SM_ARGUMENT_BUFFER);
    if (!err)
        err = number_parameters(unit, open, &list, SM_ARGUMENT_THREADGROUP);
    if (!err)
        err = finish_parameters(unit, &list, entry);
    free(list.items);
    return err;
}

// Template parameters say nothing to the caller; "template <...>" is skipped.
static uint32_t head_start(const sm_unit *unit, const sm_decl *decl)
{
    uint32_t i = decl->first;
    while (sm_token_is(unit, i, "template")) {
        uint32_t close = sm_token_is(unit, i + 1, "<") ? sm_match_angle(unit, i + 1) : i;
        i = close == SM_NO_TOKEN ? i + 2 : close + 1;
    }
    return i;
}

// The `kernel` keyword or attribute in a declaration's head; SM_NO_TOKEN if it is no kernel.
static uint32_t find_kernel_word(const sm_unit *unit, const sm_decl *decl)
{
    uint32_t end = decl->params != SM_NO_TOKEN ? decl->params : decl->last;
    for (uint32_t i = head_start(unit, decl); i < end; i = sm_skip(unit, i) + 1) {
        if (sm_token_is(unit, i, "kernel") || sm_token_is(unit, i, "vertex") ||
            sm_token_is(unit, i, "fragment"))
            return i;
        if (sm_is_attribute(unit, i))
            for (uint32_t k = i + 2; k < sm_skip(unit, i); k++)
                if (sm_token_is(unit, k, "kernel"))
                    return k;
        if (sm_token_is(unit, i, "="))
            break;
    }
    return SM_NO_TOKEN;
}

static int add_entry(sm_unit *unit, const char *name, const char *expression, sm_entry like)
{
    if (sm_map_get(&unit->entry_names, name, strlen(name)) != SM_MAP_NONE)
        return 0;
    if (!sm_grow((void **)&unit->entries, &unit->entry_capacity, unit->entry_count, sizeof(sm_entry)) ||
        !sm_map_put(&unit->entry_names, name, strlen(name), (uint32_t)unit->entry_count))
        return -ENOMEM;
    like.function.name = name;
    like.expression = expression;
    unit->entries[unit->entry_count++] = like;
    return 0;
}

static int add_kernel(sm_unit *unit, sm_kernel_decl kernel)
{
    size_t length = strlen(kernel.name);
    kernel.next = sm_map_get(&unit->kernel_names, kernel.name, length);
    if (!sm_grow((void **)&unit->kernels, &unit->kernel_capacity, unit->kernel_count, sizeof(kernel)) ||
        !sm_map_put(&unit->kernel_names, kernel.name, length, (uint32_t)unit->kernel_count))
        return -ENOMEM;
    unit->kernels[unit->kernel_count++] = kernel;
    return 0;
}

static int read_limits(sm_unit *unit, const sm_attributes *attributes, sm_entry *entry,
                       const char **host_name)
{
    const sm_attribute *host = sm_find_attribute(unit, attributes, "host_name");
    const sm_attribute *limit = sm_find_attribute(unit, attributes, "max_total_threads_per_threadgroup");
    int64_t value;
    *host_name = host ? sm_attribute_string(unit, host) : NULL;
    // The limit may depend on template parameters: then there is none to tell before the pipeline exists.
    if (limit && sm_evaluate(unit, limit->from, limit->to, &value) && value > 0 && value <= SM_MAX_THREADS)
        entry->function.max_threads = (uint32_t)value;
    if (host && !**host_name)
        return sm_error_at(unit, host->name, "'host_name' attribute requires a non-empty string");
    return 0;
}

// From the global namespace on: a kernel may be called min, which `using namespace metal` brings too.
static const char *qualified(sm_unit *unit, uint32_t decl, const char *name)
{
    const char *scope = sm_scope_name(unit, decl);
    return sm_arena_printf(&unit->arena, "::%s%s%s", scope, *scope ? "::" : "", name);
}

// &name, told apart from its overloads by the types of its parameters.
static const char *overload(sm_unit *unit, const sm_decl *decl, const char *name)
{
    return sm_arena_printf(&unit->arena, "static_cast<void (*)(%s)>(&%s)",
                           sm_join(unit, decl->params + 1, decl->params_end), name);
}

static bool has_word(const sm_unit *unit, uint32_t from, uint32_t to, const char *word)
{
    for (uint32_t i = from; i < to; i = sm_skip(unit, i) + 1)
        if (sm_token_is(unit, i, word))
            return true;
    return false;
}

static int collect_declaration(sm_unit *unit, uint32_t index, uint32_t word, sm_attributes *attributes)
{
    const sm_decl *decl = &unit->decls[index];
    uint32_t name = decl->params - 1;
    if (decl->params == SM_NO_TOKEN || !sm_is_name(unit, name))
        return sm_error_at(unit, word, "'kernel' applies to functions only");
    sm_kernel_decl kernel = {.name = sm_copy_token(unit, name), .is_template = decl->is_template};
    const char *host_name;
    bool render = !sm_token_is(unit, word, "kernel");
    if (!render && !has_word(unit, head_start(unit, decl), name, "void"))
        return sm_error_at(unit, name, "kernel must have void return type");
    int err = render ? 0 : read_parameters(unit, decl->params, decl->params_end, &kernel.like);
    if (!err)
        err = read_limits(unit, attributes, &kernel.like, &host_name);
    unit->tokens[word].replacement = has_word(unit, decl->first, decl->params, "static") ? "" : "static";
    if (err || render || decl->body == SM_NO_TOKEN)
        return err;
    err = add_kernel(unit, kernel);
    bool full_specialisation = sm_token_is(unit, decl->first + 2, ">");
    if (err || (decl->is_template && !full_specialisation))
        return err;
    const char *expression = qualified(unit, index, kernel.name);
    if (unit->kernels[unit->kernel_count - 1].next != SM_MAP_NONE)
        expression = overload(unit, decl, expression);
    return add_entry(unit, host_name ? host_name : kernel.name, expression, kernel.like);
}

static size_t parameter_count(const sm_unit *unit, const sm_decl *decl)
{
    size_t count = 0;
    for (uint32_t i = decl->params + 1; i < decl->params_end; i = sm_skip(unit, i) + 1) {
        if (sm_token_is(unit, i, "<") && sm_match_angle(unit, i) < decl->params_end)
            i = sm_match_angle(unit, i);
        count += sm_token_is(unit, i, ",") || i == decl->params + 1;
    }
    return count;
}

// The kernel that an instantiation names; with a parameter list, the overload with as many parameters.
static const sm_kernel_decl *find_kernel(const sm_unit *unit, const sm_decl *decl, uint32_t name,
                                         bool *overloaded)
{
    const sm_token *token = sm_token_at(unit, name);
    uint32_t i = sm_map_get(&unit->kernel_names, unit->text + token->offset, token->length);
    if (i == SM_MAP_NONE)
        return NULL;
    const sm_kernel_decl *found = &unit->kernels[i];
    *overloaded = found->next != SM_MAP_NONE;
    if (decl->params == SM_NO_TOKEN || !*overloaded)
        return found;
    size_t count = parameter_count(unit, decl);
    for (; i != SM_MAP_NONE; i = unit->kernels[i].next)
        if (unit->kernels[i].like.function.argument_count == count)
            return &unit->kernels[i];
    return found;
}

// template [[host_name("x")]] [[kernel]] decltype(f<int>) f<int>;   or   ... kernel void f<int>(device int
// *);
static int collect_instantiation(sm_unit *unit, uint32_t index, sm_attributes *attributes)
{
    const sm_decl *decl = &unit->decls[index];
    uint32_t end = decl->params != SM_NO_TOKEN ? decl->params : decl->last, name = end - 1;
    bool explicit_arguments = sm_token_is(unit, name, ">"), overloaded = false;
    if (explicit_arguments)
        name = sm_match_angle_back(unit, name) - 1;
    if (name <= decl->first || !sm_is_name(unit, name))
        return sm_error_at(unit, decl->first, "explicit instantiation of an unnamed kernel");
    const sm_kernel_decl *kernel = find_kernel(unit, decl, name, &overloaded);
    if (!kernel)
        return sm_error_at(unit, name, "explicit instantiation of '%s', which is not a kernel template",
                           sm_copy_token(unit, name));
    sm_entry like = kernel->like;
    const char *host_name;
    int err = read_limits(unit, attributes, &like, &host_name);
    uint32_t first = name;
    while (sm_token_is(unit, first - 1, "::") && sm_is_name(unit, first - 2))
        first -= 2;
    const char *expression = qualified(unit, index, sm_join(unit, first, end));
    if (!host_name)
        host_name = explicit_arguments ? sm_join(unit, name, end) : kernel->name;
    if (decl->params != SM_NO_TOKEN && (!explicit_arguments || overloaded))
        expression = overload(unit, decl, expression);
    sm_erase(unit, decl->first, decl->last + 1);
    return err ? err : add_entry(unit, host_name, expression, like);
}

int sm_collect_kernels(sm_unit *unit)
{
    int err = 0;
    for (uint32_t d = 0; d < unit->decl_count && err != -ENOMEM; d++) {
        const sm_decl *decl = &unit->decls[d];
        uint32_t word = decl->kind == SM_DECL_FUNCTION || decl->kind == SM_DECL_OTHER
                            ? find_kernel_word(unit, decl)
                            : SM_NO_TOKEN;
        if (word == SM_NO_TOKEN || unit->tokens[decl->first].erased)
            continue;
        sm_attributes attributes = {.count = 0};
        uint32_t end = decl->params != SM_NO_TOKEN ? decl->params : decl->last;
        sm_take_attributes(unit, decl->is_instantiation ? decl->first : head_start(unit, decl), end,
                           &attributes);
        if (decl->params_end != SM_NO_TOKEN) // void f() [[attribute]]
            sm_take_attributes(unit, decl->params_end, decl->body < decl->last ? decl->body : decl->last,
                               &attributes);
        int result = decl->is_instantiation ? collect_instantiation(unit, d, &attributes)
                                            : collect_declaration(unit, d, word, &attributes);
        err = result ? result : err;
    }
    return err;
}
