// SPDX-License-Identifier: MIT
// softmetal-mslc: the MSL compiler from the command line, for tests and for trying kernel files.
// Checks a source and lists its functions; compiles one pipeline or all of them. Never leaves files behind
// outside the cache.
#include "library.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 100 };

typedef struct command {
    const char *file, *kernel;
    bool fast_math, all, emit_rewritten, stats;
    sm_macro macros[MAX_OPTIONS];
    size_t macro_count;
    const char *includes[MAX_OPTIONS + 2];
    size_t include_count;
    sm_constant_value constants[MAX_OPTIONS];
    const char *constant_texts[MAX_OPTIONS];
    size_t constant_count;
    uint32_t version;
} command;

static int usage(FILE *out)
{
    fputs("usage: softmetal-mslc [options] file.metal\n"
          "  -D NAME[=VALUE]        define a macro\n"
          "  -I FOLDER              look there for #include\n"
          "  --std=3.1              language version\n"
          "  --[no-]fast-math       fast math is on unless told otherwise\n"
          "  --kernel NAME          compile one pipeline\n"
          "  --constant N=VALUE     function constant for it, by index or name\n"
          "  --all                  compile all pipelines\n"
          "  --emit-rewritten       print the C++ text\n"
          "  --stats                print what was compiled and what came from the cache\n",
          out);
    return out == stderr ? 2 : 0;
}

static void add_macro(command *c, char *text)
{
    char *equals = strchr(text, '=');
    if (c->macro_count == MAX_OPTIONS)
        return;
    if (equals)
        *equals = '\0';
    c->macros[c->macro_count++] = (sm_macro){text, equals ? equals + 1 : "1"};
}

// The value's type is that of the constant, which is known once the library is.
static void add_constant(command *c, char *text)
{
    char *equals = strchr(text, '='), *end;
    if (!equals || c->constant_count == MAX_OPTIONS)
        return;
    *equals = '\0';
    sm_constant_value *value = &c->constants[c->constant_count];
    value->index = (uint32_t)strtoul(text, &end, 10);
    value->name = *end ? text : NULL;
    c->constant_texts[c->constant_count++] = equals + 1;
}

static const char *argument_of(char **argv, int *i, const char *option)
{
    size_t length = strlen(option);
    if (strncmp(argv[*i], option, length) != 0)
        return NULL;
    if (argv[*i][length])
        return argv[*i] + length;
    return argv[*i + 1] ? argv[++*i] : NULL;
}

static bool parse_flag(command *c, const char *argument)
{
    if (strcmp(argument, "--fast-math") == 0)
        c->fast_math = true;
    else if (strcmp(argument, "--no-fast-math") == 0)
        c->fast_math = false;
    else if (strcmp(argument, "--all") == 0)
        c->all = true;
    else if (strcmp(argument, "--stats") == 0)
        c->stats = true;
    else if (strcmp(argument, "--emit-rewritten") == 0)
        c->emit_rewritten = true;
    else
        return false;
    return true;
}

static bool parse(command *c, char **argv)
{
    for (int i = 1; argv[i]; i++) {
        const char *value;
        unsigned major, minor;
        if (parse_flag(c, argv[i]))
            continue;
        if ((value = argument_of(argv, &i, "-D")))
            add_macro(c, (char *)value);
        else if ((value = argument_of(argv, &i, "-I")) && c->include_count < MAX_OPTIONS)
            c->includes[c->include_count++] = value;
        else if (strcmp(argv[i], "--kernel") == 0 && argv[i + 1])
            c->kernel = argv[++i];
        else if (strcmp(argv[i], "--constant") == 0 && argv[i + 1])
            add_constant(c, argv[++i]);
        else if (sscanf(argv[i], "--std=%u.%u", &major, &minor) == 2)
            c->version = major << 16 | minor;
        else if (argv[i][0] != '-' && !c->file)
            c->file = argv[i];
        else
            return false;
    }
    return c->file != NULL;
}

static char *read_source(const char *path, size_t *length)
{
    sm_text text = {0};
    char buffer[65536];
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t got;
    do {
        got = fread(buffer, 1, sizeof(buffer), file);
        sm_text_add(&text, buffer, got);
    } while (got == sizeof(buffer));
    fclose(file);
    *length = text.length;
    return sm_text_take(&text);
}

static void list_function(const sm_function *function)
{
    static const char *const kinds[] = {"buffer", "threadgroup", "builtin"};
    printf("%s", function->name);
    if (function->max_threads)
        printf(" max %u", function->max_threads);
    printf("\n");
    for (size_t i = 0; i < function->argument_count; i++) {
        const sm_argument *a = &function->arguments[i];
        printf("    %s %s: %s", a->type, a->name, kinds[a->kind]);
        if (a->kind != SM_ARGUMENT_BUILTIN)
            printf("(%u)%s%s%s", a->index, a->reads ? " read" : "", a->writes ? " write" : "",
                   a->is_constant ? " constant" : "");
        printf("\n");
    }
}

static void list_library(const sm_library *library)
{
    size_t count;
    const sm_constant *constants = sm_library_constants(library, &count);
    for (size_t i = 0; i < sm_library_function_count(library); i++)
        list_function(sm_library_function(library, i));
    for (size_t i = 0; i < count; i++)
        printf("constant %u: %s %s%s\n", constants[i].index, constants[i].type, constants[i].name,
               constants[i].required ? " required" : "");
    printf("%zu functions, %zu constants\n", sm_library_function_count(library), count);
}

// Values are given as int, bool or float; the conversion to the constant's own type is clang's.
static void set_constants(command *c)
{
    enum { TYPE_FLOAT = 3, TYPE_INT = 29, TYPE_BOOL = 53 };
    for (size_t i = 0; i < c->constant_count; i++) {
        const char *text = c->constant_texts[i];
        sm_constant_value *value = &c->constants[i];
        bool truth = strcmp(text, "true") == 0;
        if (truth || strcmp(text, "false") == 0) {
            value->type = TYPE_BOOL;
            value->bytes[0] = truth;
        } else if (strpbrk(text, ".ep") && strncmp(text, "0x", 2) != 0) {
            float number = strtof(text, NULL);
            value->type = TYPE_FLOAT;
            memcpy(value->bytes, &number, sizeof(number));
        } else {
            int32_t number = (int32_t)strtol(text, NULL, 0);
            value->type = TYPE_INT;
            memcpy(value->bytes, &number, sizeof(number));
        }
    }
}

static bool compile_one(command *c, sm_library *library, const sm_function *function)
{
    sm_pipeline *pipeline;
    char *log = NULL;
    if (sm_pipeline_create(library, function, c->constants, c->constant_count, &pipeline, &log) < 0) {
        fprintf(stderr, "%s\n", log ? log : "no memory");
        free(log);
        return false;
    }
    const sm_kernel *kernel = sm_pipeline_kernel(pipeline, &log);
    if (kernel && c->kernel)
        printf("%s: %u sites, frame %u bytes, static threadgroup %u bytes, %u arguments\n", function->name,
               kernel->sites, kernel->frame_bytes, kernel->static_threadgroup_bytes,
               kernel->arg_layouts_count);
    if (!kernel)
        fprintf(stderr, "%s", log ? log : "no memory\n");
    free(log);
    sm_pipeline_release(pipeline);
    return kernel != NULL;
}

// All are queued before the first is waited for, so that all cores work.
static bool compile_all(command *c, sm_library *library)
{
    size_t count = sm_library_function_count(library), good = 0;
    sm_pipeline **pipelines = calloc(count + 1, sizeof(*pipelines));
    for (size_t i = 0; pipelines && i < count; i++)
        sm_pipeline_create(library, sm_library_function(library, i), c->constants, c->constant_count,
                           &pipelines[i], NULL);
    for (size_t i = 0; pipelines && i < count; i++) {
        char *log = NULL;
        if (pipelines[i] && sm_pipeline_kernel(pipelines[i], &log))
            good++;
        else
            fprintf(stderr, "%s", log ? log : "no memory\n");
        free(log);
        sm_pipeline_release(pipelines[i]);
    }
    free(pipelines);
    printf("%zu of %zu pipelines compiled\n", good, count);
    return good == count;
}

static bool compile_pipelines(command *c, sm_library *library)
{
    if (c->all)
        return compile_all(c, library);
    const sm_function *function = sm_library_find(library, c->kernel);
    if (function)
        return compile_one(c, library, function);
    fprintf(stderr, "softmetal-mslc: no function '%s'\n", c->kernel);
    return false;
}

static bool run(command *c, const char *text, size_t length)
{
    char *log = NULL;
    sm_library *library = NULL;
    sm_compile_options options = {.macros = c->macros,
                                  .macro_count = c->macro_count,
                                  .language_version = c->version,
                                  .fast_math = c->fast_math,
                                  .file_name = c->file};
    sm_library_request request = {
        .text = text, .length = length, .options = &options, .include_folders = c->includes};
    int err = sm_library_build(&request, &library, &log);
    if (log)
        fprintf(stderr, "%s", log);
    free(log);
    if (err)
        return false;
    bool good = true;
    set_constants(c);
    if (c->emit_rewritten)
        fwrite(library->rewritten, 1, library->rewritten_length, stdout);
    else if (c->kernel || c->all)
        good = compile_pipelines(c, library);
    else
        list_library(library);
    sm_library_release(library);
    return good;
}

int main(int argc, char **argv)
{
    command c = {.fast_math = true};
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return usage(stdout);
    if (!parse(&c, argv))
        return usage(stderr);
    size_t length = 0;
    char *text = read_source(c.file, &length), *copy = strdup(c.file);
    if (!text || !copy) {
        fprintf(stderr, "softmetal-mslc: %s: %s\n", c.file, strerror(errno));
        free(copy);
        free(text);
        return 1;
    }
    c.includes[c.include_count] = dirname(copy);
    bool good = run(&c, text, length);
    if (c.stats) {
        sm_compiler_stats stats;
        sm_compiler_get_stats(&stats);
        printf("libraries: %llu built, %llu cached; pipelines: %llu built, %llu cached\n",
               (unsigned long long)stats.libraries_built, (unsigned long long)stats.libraries_cached,
               (unsigned long long)stats.pipelines_built, (unsigned long long)stats.pipelines_cached);
    }
    free(copy);
    free(text);
    return good ? 0 : 1;
}
