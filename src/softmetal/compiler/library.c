// SPDX-License-Identifier: MIT
// Libraries: preprocess, rewrite, check, and answer questions about functions. Called from any thread; a
// library does not change once created, except for its precompiled header, which has a lock.
#define _GNU_SOURCE
#include "library.h"
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

atomic_ullong sm_libraries_built, sm_libraries_cached;

enum { MAX_SOURCE = 64 << 20, NEWEST_VERSION = 320 };

static unsigned metal_version(uint32_t language_version)
{
    unsigned major = language_version >> 16, minor = language_version & 0xffff;
    return major ? major * 100 + minor * 10 : NEWEST_VERSION;
}

// The name stands between quotes in line markers.
static char *clean_name(const char *name)
{
    char *copy = strdup(name && *name ? name : "program_source");
    for (char *p = copy; p && *p; p++)
        if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
            *p = '_';
    return copy;
}

static void make_key(sm_library *library, const sm_library_request *source, const char *text, size_t length,
                     const char *kind)
{
    const sm_compile_options *options = source->options;
    sm_hash hash;
    sm_hash_begin(&hash);
    sm_hash_add_string(&hash, kind);
    sm_hash_add_string(&hash, library->tools->front_id);
    sm_hash_add_string(&hash, library->file_name);
    sm_hash_add_number(&hash, metal_version(options->language_version));
    sm_hash_add_number(&hash, options->fast_math);
    for (size_t i = 0; i < options->macro_count; i++) {
        sm_hash_add_string(&hash, options->macros[i].name);
        sm_hash_add_string(&hash, options->macros[i].value);
    }
    for (int i = 0; source->include_folders && source->include_folders[i]; i++)
        sm_hash_add_string(&hash, source->include_folders[i]);
    sm_hash_add_number(&hash, length);
    sm_hash_add(&hash, text, length);
    sm_hash_end(&hash, library->key);
}

// A value with a line break would end the definition and begin something else.
static void write_macros(const sm_compile_options *options, sm_text *out)
{
    sm_text_puts(out, "#line 1 \"preprocessor_macros\"\n");
    for (size_t i = 0; i < options->macro_count; i++) {
        const char *name = options->macros[i].name, *value = options->macros[i].value;
        if (!name || !*name)
            continue;
        sm_text_puts(out, "#define ");
        sm_text_add(out, name, strcspn(name, "\r\n"));
        sm_text_puts(out, " ");
        if (value)
            sm_text_add(out, value, strcspn(value, "\r\n"));
        sm_text_puts(out, "\n");
    }
}

static int write_file(const char *path, const sm_text *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    size_t done = 0;
    int err = 0;
    while (done < text->length && !err) {
        ssize_t part = write(fd, text->data + done, text->length - done);
        if (part > 0)
            done += (size_t)part;
        else if (errno != EINTR)
            err = -errno;
    }
    if (close(fd) < 0 && !err)
        err = -errno;
    return err;
}

static int read_file(const char *path, sm_text *out)
{
    char buffer[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
    if (fd < 0)
        return -errno;
    ssize_t got;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            sm_text_add(out, buffer, (size_t)got);
    if (got < 0)
        err = -errno;
    close(fd);
    return err ? err : out->failed ? -ENOMEM : 0;
}

static int run_preprocessor(const sm_library *library, const sm_library_request *source, const char *input,
                            const char *output, sm_text *messages)
{
    // Of all warnings only those that the source itself gives.
    static const char *const flags[] = {"-E",
                                        "-x",
                                        "c++",
                                        "-std=gnu++20",
                                        "-nostdinc",
                                        "-nostdinc++",
                                        "-undef",
                                        "-Wno-everything",
                                        "-W#warnings",
                                        "-fno-caret-diagnostics",
                                        "-fno-color-diagnostics",
                                        NULL};
    char version[48], include[4096], macros[4096];
    snprintf(version, sizeof(version), "-D__METAL_VERSION__=%u",
             metal_version(source->options->language_version));
    snprintf(include, sizeof(include), "%s/include", library->tools->stdlib);
    snprintf(macros, sizeof(macros), "%s/macros.h", library->tools->stdlib);
    sm_arguments arguments = {.count = 0};
    sm_arguments_add(&arguments, library->tools->clang);
    sm_arguments_add_all(&arguments, flags);
    const char *const named[] = {version, "-I", include, "-include", macros, NULL};
    sm_arguments_add_all(&arguments, named);
    for (int i = 0; source->include_folders && source->include_folders[i]; i++) {
        sm_arguments_add(&arguments, "-I");
        sm_arguments_add(&arguments, source->include_folders[i]);
    }
    const char *const files[] = {"-o", output, input, NULL};
    sm_arguments_add_all(&arguments, files);
    return sm_run_tool(&arguments, messages);
}

// Cuts off what stands before the user's first line: it names our files.
static void cut_prelude(sm_text *text, const char *file_name)
{
    char marker[512];
    snprintf(marker, sizeof(marker), "# 1 \"%s\"", file_name);
    char *start = text->data ? strstr(text->data, marker) : NULL;
    if (!start)
        return;
    text->length -= (size_t)(start - text->data);
    memmove(text->data, start, text->length + 1);
}

static int preprocess(const sm_library *library, const sm_library_request *source, sm_text *out,
                      sm_text *messages)
{
    char *input = sm_cache_temporary(".metal"), *output = sm_cache_temporary(".ii");
    sm_text text = {0};
    write_macros(source->options, &text);
    sm_text_printf(&text, "#line 1 \"%s\"\n", library->file_name);
    sm_text_add(&text, source->text, source->length);
    sm_text_puts(&text, "\n");
    int err = !input || !output || text.failed ? -ENOMEM : write_file(input, &text);
    if (!err)
        err = run_preprocessor(library, source, input, output, messages);
    if (!err)
        err = read_file(output, out);
    if (!err)
        cut_prelude(out, library->file_name);
    if (input)
        unlink(input);
    if (output)
        unlink(output);
    sm_text_free(&text);
    free(input);
    free(output);
    return err;
}

// Does the text come from files that are neither the user's string nor ours? They may change unseen.
static bool has_other_files(const sm_library *library, const char *text)
{
    size_t name = strlen(library->file_name), ours = strlen(library->tools->stdlib);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (line[0] != '#' || line[1] != ' ' || line[2] < '0' || line[2] > '9')
            continue;
        const char *quote = line + strcspn(line, "\"\n");
        if (*quote != '"')
            continue;
        bool user = strncmp(quote + 1, library->file_name, name) == 0 && quote[1 + name] == '"';
        if (!user && quote[1] != '<' && strncmp(quote + 1, library->tools->stdlib, ours) != 0 &&
            strncmp(quote + 1, "preprocessor_macros", 19) != 0)
            return true;
    }
    return false;
}

sm_message_map sm_library_messages(const sm_library *library)
{
    return (sm_message_map){.file_name = library->file_name,
                            .source = library->source,
                            .rewritten = library->rewritten,
                            .hidden = {library->tools->stdlib, library->tools->share}};
}

static sm_header_request header_request(const sm_library *library)
{
    return (sm_header_request){.tools = library->tools,
                               .key = library->key,
                               .text = library->rewritten,
                               .length = library->rewritten_length,
                               .fast_math = library->fast_math,
                               .distributed = library->unit.distributed};
}

static int build_header(sm_library *library, sm_text *log)
{
    sm_text messages = {0};
    sm_header_request request = header_request(library);
    int err = sm_header_build(&request, &messages);
    library->header_checked = !err;
    library->header_generation += !err;
    sm_message_map map = sm_library_messages(library);
    sm_map_messages(messages.data, &map, log);
    sm_text_free(&messages);
    return err;
}

int sm_library_header(sm_library *library, char **path, unsigned *generation, sm_text *log)
{
    int err = 0;
    sm_header_request request = header_request(library);
    *path = sm_cache_path(library->key, ".pch");
    if (!*path)
        return -ENOMEM;
    pthread_mutex_lock(&library->header_lock);
    if (!sm_header_exists(&request, !library->header_checked))
        err = build_header(library, log);
    library->header_checked |= !err;
    *generation = library->header_generation;
    pthread_mutex_unlock(&library->header_lock);
    return err;
}

bool sm_library_renew_header(sm_library *library, unsigned generation, sm_text *log)
{
    sm_header_request request = header_request(library);
    pthread_mutex_lock(&library->header_lock);
    bool newer = library->header_generation != generation;
    if (!newer && (generation == 0 || !sm_header_exists(&request, true)))
        newer = build_header(library, log) == 0;
    pthread_mutex_unlock(&library->header_lock);
    return newer;
}

// A text that was found good, with the warnings that there were.
static bool load_checked(const char *key, sm_text *text, sm_text *log)
{
    char *warnings = NULL;
    size_t length = 0;
    if (sm_cache_load(key, ".pre", &text->data, &text->length) != 0)
        return false;
    if (sm_cache_load(key, ".log", &warnings, &length) == 0)
        sm_text_add(log, warnings, length);
    free(warnings);
    return true;
}

static void store_checked(const sm_library *library, const sm_text *log)
{
    int err = log->length ? sm_cache_store(library->key, ".log", log->data, log->length) : 0;
    if (!err)
        err = sm_cache_store(library->key, ".pre", library->unit.text, library->unit.length);
    if (err)
        sm_cache_remove(library->key, ".pre"); // the next process does the work again
}

// The preprocessed text, and whether it is known to be good.
static int get_text(sm_library *library, const sm_library_request *source, sm_text *text, bool *checked,
                    sm_text *log)
{
    make_key(library, source, source->text, source->length, "source");
    *checked = load_checked(library->key, text, log);
    if (*checked)
        return 0;
    sm_text messages = {0};
    *text = (sm_text){0};
    int err = preprocess(library, source, text, &messages);
    sm_message_map map = sm_library_messages(library);
    map.rewritten = NULL;
    sm_map_messages(messages.data, &map, log);
    sm_text_free(&messages);
    if (err || !has_other_files(library, text->data))
        return err;
    char *known = NULL;
    size_t known_length = 0;
    make_key(library, source, text->data, text->length, "preprocessed");
    *checked = sm_cache_load(library->key, ".pre", &known, &known_length) == 0;
    free(known);
    return 0;
}

// Tokens are needed while rewriting only.
static void drop_tokens(sm_unit *unit)
{
    free(unit->tokens);
    free(unit->decls);
    free(unit->text);
    unit->tokens = NULL;
    unit->decls = NULL;
    unit->text = NULL;
    unit->token_count = unit->token_capacity = unit->decl_count = unit->decl_capacity = 0;
    sm_map_free(&unit->guarded); // its keys, like those of numbers, lie in the text
    sm_map_free(&unit->numbers);
}

static int rewrite(sm_library *library, sm_text *text, sm_text *log)
{
    sm_text rewritten = {0};
    size_t length = text->length;
    char *data = sm_text_take(text);
    int err = data ? sm_unit_open(&library->unit, data, length, library->file_name) : -ENOMEM;
    if (!err)
        sm_unit_write(&library->unit, &rewritten);
    if (!err && rewritten.failed)
        err = -ENOMEM;
    sm_message_map map = sm_library_messages(library);
    map.rewritten = library->unit.text; // our own messages are about the preprocessed text
    sm_map_messages(library->unit.errors.data, &map, log);
    library->rewritten_length = rewritten.length;
    library->rewritten = sm_text_take(&rewritten);
    return err;
}

static int copy_constants(sm_library *library)
{
    size_t count = library->unit.constant_count;
    library->constants = calloc(count + 1, sizeof(*library->constants));
    for (size_t i = 0; library->constants && i < count; i++)
        library->constants[i] = library->unit.constants[i].info;
    return library->constants ? 0 : -ENOMEM;
}

static int build(sm_library *library, const sm_library_request *source, sm_text *log)
{
    sm_text text = {0};
    bool checked = false;
    int err = get_text(library, source, &text, &checked, log);
    if (err) {
        sm_text_free(&text);
        return err;
    }
    err = rewrite(library, &text, log);
    if (!err && !checked) {
        err = build_header(library, log);
        if (!err)
            store_checked(library, log);
    }
    drop_tokens(&library->unit);
    if (!err)
        err = copy_constants(library);
    if (!err)
        atomic_fetch_add(checked ? &sm_libraries_cached : &sm_libraries_built, 1);
    return err;
}

static int check_source(const sm_library_request *source, const char *name, sm_text *log)
{
    if (source->length > MAX_SOURCE) {
        sm_text_printf(log, "%s:1:1: error: the source is too large: at most %d bytes\n", name, MAX_SOURCE);
        return -EINVAL;
    }
    const char *nul = source->length ? memchr(source->text, '\0', source->length) : NULL;
    if (!nul)
        return 0;
    unsigned line = 1;
    for (const char *p = source->text; p < nul; p++)
        line += *p == '\n';
    sm_text_printf(log, "%s:%u:1: error: the source contains a null character\n", name, line);
    return -EINVAL;
}

static void library_free(sm_library *library)
{
    sm_unit_close(&library->unit);
    free(library->constants);
    free(library->source);
    free(library->rewritten);
    free(library->file_name);
    pthread_mutex_destroy(&library->header_lock);
    free(library);
}

static sm_library *library_new(const sm_library_request *source)
{
    sm_library *library = calloc(1, sizeof(*library));
    if (!library)
        return NULL;
    atomic_init(&library->references, 1);
    pthread_mutex_init(&library->header_lock, NULL);
    library->fast_math = source->options->fast_math;
    library->file_name = clean_name(source->options->file_name);
    library->source = malloc(source->length + 1);
    if (!library->source || !library->file_name) {
        library_free(library);
        return NULL;
    }
    if (source->length)
        memcpy(library->source, source->text, source->length);
    library->source[source->length] = '\0';
    library->source_length = source->length;
    return library;
}

int sm_library_build(const sm_library_request *source, sm_library **out, char **log)
{
    sm_text text = {0};
    char *missing = NULL;
    sm_library *library = library_new(source);
    int err = library ? check_source(source, library->file_name, &text) : -ENOMEM;
    if (!err)
        err = sm_toolchain_get(&library->tools, &missing);
    if (!err)
        err = build(library, source, &text);
    if (missing)
        sm_text_puts(&text, missing);
    if (err && !text.length)
        sm_text_printf(&text, "softmetal: cannot compile the library: %s\n", strerror(-err));
    if (err && library)
        library_free(library);
    *out = err ? NULL : library;
    if (log)
        *log = text.length ? sm_text_take(&text) : NULL;
    sm_text_free(&text);
    free(missing);
    return err;
}

int sm_library_create(const char *source, size_t length, const sm_compile_options *options, sm_library **out,
                      char **log)
{
    static const sm_compile_options standard = {.fast_math = true};
    sm_library_request request = {.text = source, .length = length, .options = options ? options : &standard};
    return sm_library_build(&request, out, log);
}

sm_library *sm_library_retain(sm_library *library)
{
    atomic_fetch_add_explicit(&library->references, 1, memory_order_relaxed);
    return library;
}

void sm_library_release(sm_library *library)
{
    if (library && atomic_fetch_sub_explicit(&library->references, 1, memory_order_acq_rel) == 1)
        library_free(library);
}

const char *sm_library_source(const sm_library *library)
{
    return library->source;
}

size_t sm_library_function_count(const sm_library *library)
{
    return library->unit.entry_count;
}

const sm_function *sm_library_function(const sm_library *library, size_t i)
{
    return i < library->unit.entry_count ? &library->unit.entries[i].function : NULL;
}

const sm_function *sm_library_find(const sm_library *library, const char *name)
{
    uint32_t i = sm_map_get(&library->unit.entry_names, name, strlen(name));
    return i == SM_MAP_NONE ? NULL : &library->unit.entries[i].function;
}

const sm_constant *sm_library_constants(const sm_library *library, size_t *count)
{
    *count = library->unit.constant_count;
    return library->constants;
}
