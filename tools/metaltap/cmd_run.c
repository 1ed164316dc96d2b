// SPDX-License-Identifier: MIT
// `metaltap run`: reads the flags, makes the program's environment, checks what can go wrong before it
// starts, runs it and hands over to finish.c. One thread. Standard output and input belong to the program.
#include "cli.h"
#include "environment.h"
#include "finish.h"
#include "launch.h"
#include "options/options.h"
#include "os/os.h"
#include "program.h"
#include "progress.h"
#include "version.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLAGS_MAX = 32, FIRST_PROGRESS_MS = 2000, PROGRESS_MS = 1000, DONE = -1 };
static const char default_out[] = "metaltap-%n-%p.json";

extern char **environ;

struct run {
    struct mt_options options;
    struct mt_environment environment;
    const char *library_wish; // --library
    char library[PATH_MAX], program[PATH_MAX];
    const char *place; // pattern of the spool or of the report beside it: where recordings lie
    uint64_t number;
    bool quiet;
};

// ---- flags ----

// Makes a file's pattern absolute: the program may change its folder before the tap reads it. Percent signs
// of the folder itself are doubled.
static bool absolute(const char *pattern, char *result, size_t size)
{
    char folder[PATH_MAX];
    size_t length = 0;
    if (pattern[0] == '/' || !pattern[0])
        return snprintf(result, size, "%s", pattern) < (int)size;
    if (!getcwd(folder, sizeof folder))
        return false;
    for (const char *p = folder; *p && length + 2 < size; p++) {
        if (*p == '%')
            result[length++] = '%';
        result[length++] = *p;
    }
    int added =
        snprintf(result + length, size - length, "%s%s", strcmp(folder, "/") == 0 ? "" : "/", pattern);
    return added < (int)(size - length);
}

static int set_option(struct run *run, size_t i, const char *value)
{
    const struct mt_option_info *option = &mt_option_table[i];
    char path[PATH_MAX], error[MT_OPTION_ERROR_MAX];
    if (strcmp(option->value, "FILE") == 0) {
        if (!absolute(value, path, sizeof path))
            return mt_cli_usage("run", "--%s=%s: the path is too long", option->flag, value);
        value = path;
    }
    if (mt_options_set(&run->options, option->flag, value, error, sizeof error) != 0)
        return mt_cli_usage("run", "%s", error);
    if (mt_environment_set(&run->environment, option->variable, value) != 0) {
        mt_cli_say("out of memory");
        return MT_EXIT_NOT_STARTED;
    }
    return MT_EXIT_OK;
}

// The flags of options.def, then those of the launcher.
static size_t all_flags(struct mt_flag *flags)
{
    size_t count = 0;
    for (size_t i = 0; i < mt_option_count && count < FLAGS_MAX; i++)
        flags[count++] =
            (struct mt_flag){mt_option_table[i].flag, mt_option_table[i].value, mt_option_table[i].help};
    for (size_t i = 0; i < mt_run_flag_count && count < FLAGS_MAX; i++)
        flags[count++] = mt_run_flags[i];
    return count;
}

static int set_own_flag(struct run *run, const char *name, const char *value)
{
    if (strcmp(name, "library") == 0) {
        run->library_wish = value;
        return MT_EXIT_OK;
    }
    if (strcmp(name, "quiet") == 0) {
        run->quiet = true;
        return MT_EXIT_OK;
    }
    if (strcmp(name, "help") == 0)
        mt_help_run();
    else
        printf("metaltap %s\n", MT_VERSION);
    return DONE;
}

// Reads flags up to the program's name. MT_EXIT_OK, DONE when there is nothing more to do, or the exit code.
static int read_flags(struct run *run, int count, char **arguments, int *at)
{
    struct mt_flag flags[FLAGS_MAX];
    size_t flag_count = all_flags(flags);
    while (*at < count && arguments[*at][0] == '-') {
        const char *value;
        if (strcmp(arguments[*at], "--") == 0) {
            ++*at;
            break;
        }
        int i = mt_cli_flag("run", flags, flag_count, count, arguments, at, &value);
        if (i < 0)
            return MT_EXIT_USAGE;
        int result = (size_t)i < mt_option_count ? set_option(run, (size_t)i, value)
                                                 : set_own_flag(run, flags[i].name, value);
        if (result != MT_EXIT_OK)
            return result;
    }
    if (*at == count)
        return mt_cli_usage("run", "a program is missing: metaltap run [options] -- program [arguments]");
    return MT_EXIT_OK;
}

static void tell_problem(void *context, const char *text)
{
    bool *any = context;
    *any = true;
    mt_cli_usage("options", "%s", text);
}

static int read_options(struct run *run, int count, char **arguments, int *at)
{
    bool any_problem = false;
    mt_options_defaults(&run->options);
    mt_options_from_environment(&run->options, run->environment.entries, tell_problem, &any_problem);
    if (any_problem)
        return MT_EXIT_USAGE;
    int result = read_flags(run, count, arguments, at);
    if (result != MT_EXIT_OK)
        return result;
    for (size_t i = 0; i < mt_option_count && !run->options.out[0] && !run->options.spool[0]; i++)
        if (strcmp(mt_option_table[i].field, "out") == 0)
            result = set_option(run, i, default_out);
    run->place = run->options.spool[0] ? run->options.spool : run->options.out;
    return result;
}

// ---- the library ----

static int find_library(struct run *run)
{
    const char *wish = run->library_wish;
    char path[PATH_MAX], own[PATH_MAX - 32];
    if (!wish || !*wish)
        wish = mt_environment_get(&run->environment, "METALTAP_LIBRARY");
    if (!wish || !*wish) {
        int length = mt_os_program_path(own, sizeof own);
        char *slash = length > 0 ? strrchr(own, '/') : NULL;
        if (slash)
            *slash = '\0';
        snprintf(path, sizeof path, "%s/../lib/%s", slash ? own : ".", mt_loader_library);
        wish = path;
    }
    struct stat info;
    if (!realpath(wish, run->library) || stat(run->library, &info) != 0) {
        mt_cli_say("%s: library not found: %s; --library FILE or METALTAP_LIBRARY says where it is", wish,
                   strerror(errno));
        return MT_EXIT_NOT_STARTED;
    }
    if (!S_ISREG(info.st_mode) || access(run->library, R_OK) != 0) {
        mt_cli_say("%s: is no library that can be read", run->library);
        return MT_EXIT_NOT_STARTED;
    }
    if (strpbrk(run->library, mt_loader_separators)) {
        mt_cli_say(
            "%s: a path with a colon or blank cannot stand in %s: give a copy elsewhere with --library",
            run->library, mt_loader_variable);
        return MT_EXIT_NOT_STARTED;
    }
    return MT_EXIT_OK;
}

static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (*list) {
        size_t part = strcspn(list, mt_loader_separators);
        if (part == length && strncmp(list, name, part) == 0)
            return true;
        list += part;
        list += strspn(list, mt_loader_separators);
    }
    return false;
}

// In front of what was there, which stays.
static int insert_library(struct run *run)
{
    const char *before = mt_environment_get(&run->environment, mt_loader_variable);
    if (before && listed(before, run->library))
        return 0;
    size_t size = strlen(run->library) + (before ? strlen(before) : 0) + 2;
    char *list = malloc(size);
    if (!list)
        return -ENOMEM;
    snprintf(list, size, "%s%s%s", run->library, before && *before ? ":" : "", before ? before : "");
    int result = mt_environment_set(&run->environment, mt_loader_variable, list);
    free(list);
    return result;
}

static int complete_environment(struct run *run)
{
    char number[17];
    run->number = mt_os_random() | 1; // 0 is no run
    snprintf(number, sizeof number, "%016llx", (unsigned long long)run->number);
    int result = insert_library(run);
    if (result == 0)
        result = mt_environment_set(&run->environment, "METALTAP_RUN", number);
    if (result == 0 && run->options.capture[0])
        result = mt_environment_set(&run->environment, "METAL_CAPTURE_ENABLED", "1");
    if (result == 0 && run->options.capture[0])
        result = mt_environment_set(&run->environment, "MTL_CAPTURE_ENABLED", "1");
    if (result == 0)
        return MT_EXIT_OK;
    mt_cli_say("out of memory");
    return MT_EXIT_NOT_STARTED;
}

// ---- the output ----

// By making a file there and taking it away: rights alone do not tell it (root, read-only media, quotas).
static int try_folder(const char *folder)
{
    char path[MT_OPTION_PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/.metaltap-XXXXXX", folder);
    int fd = mkstemp(path);
    if (fd < 0)
        return -errno;
    unlink(path);
    close(fd);
    return 0;
}

// Tells before the run what would otherwise be known only after it. A folder whose name depends on the
// process cannot be checked.
static int check_place(const char *pattern)
{
    char folder[MT_OPTION_PATH_MAX], path[MT_OPTION_PATH_MAX];
    struct stat info;
    if (!pattern[0])
        return MT_EXIT_OK;
    mt_recordings_folder(pattern, folder, sizeof folder);
    if (strstr(folder, "%p") || strstr(folder, "%n") ||
        mt_options_expand_path(folder, 0, "", path, sizeof path) != 0)
        return MT_EXIT_OK;
    int result = stat(path, &info) != 0 ? -errno : S_ISDIR(info.st_mode) ? try_folder(path) : -ENOTDIR;
    if (result == 0)
        return MT_EXIT_OK;
    if (result == -ENOTDIR)
        mt_cli_say("output not writable: %s is no folder", path);
    else
        mt_cli_say("output not writable: the folder %s: %s", path, strerror(-result));
    return MT_EXIT_NOT_STARTED;
}

static bool is_spool(const char *path)
{
    struct mt_spool_header header;
    uint64_t bytes;
    return mt_recording_header(path, &header, &bytes);
}

// What is there under a fixed name must be ours, since nothing else is ever replaced.
static int check_existing(const char *pattern, bool (*ours)(const char *path), const char *what)
{
    char path[MT_OPTION_PATH_MAX];
    struct stat info;
    if (!pattern[0] || strstr(pattern, "%p") || strstr(pattern, "%n") ||
        mt_options_expand_path(pattern, 0, "", path, sizeof path) != 0 || lstat(path, &info) != 0)
        return MT_EXIT_OK;
    if (S_ISDIR(info.st_mode))
        mt_cli_say("output not writable: %s is a folder", path);
    else if (S_ISREG(info.st_mode) && !ours(path))
        mt_cli_say("output not writable: %s exists and is no %s of metaltap; it is left alone", path, what);
    else
        return MT_EXIT_OK;
    return MT_EXIT_NOT_STARTED;
}

static int check_outputs(const struct run *run)
{
    int result = check_place(run->options.out);
    if (result == MT_EXIT_OK)
        result = check_place(run->options.spool);
    if (result == MT_EXIT_OK)
        result = check_place(run->options.capture);
    if (result == MT_EXIT_OK)
        result = check_existing(run->options.out, mt_recording_is_report, "report");
    if (result == MT_EXIT_OK)
        result = check_existing(run->options.spool, is_spool, "recording");
    return result;
}

// ---- the run ----

static void tick(void *context, pid_t process)
{
    mt_progress_tick(context, process);
}

static int exit_code(int status)
{
    return WIFSIGNALED(status) ? MT_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int launch_and_finish(struct run *run, char **arguments)
{
    struct mt_progress progress = {
        .pattern = run->place,
        .program = run->program,
        .run = run->number,
        .start_ns = mt_os_clock_ns(),
    };
    bool show = !run->quiet && isatty(STDERR_FILENO);
    struct mt_launch launch = {
        .path = run->program,
        .arguments = arguments,
        .environment = run->environment.entries,
        .first_tick_ms = show ? FIRST_PROGRESS_MS : 0,
        .tick_ms = PROGRESS_MS,
        .tick = tick,
        .context = &progress,
    };
    struct mt_finish finish = {&run->options, run->place, run->program, run->number, 0, run->quiet};
    int status = 0;
    int result = mt_launch(&launch, &finish.process, &status);
    // Whatever becomes of our own messages: the exit code is the program's.
    signal(SIGPIPE, SIG_IGN);
    mt_progress_end(&progress);
    if (result != 0) {
        mt_cli_say("%s: cannot be executed: %s", run->program, strerror(-result));
        return MT_EXIT_NOT_EXECUTABLE;
    }
    if (WIFSIGNALED(status) && !run->quiet)
        mt_cli_say("signal %d (%s) ended the program", WTERMSIG(status), strsignal(WTERMSIG(status)));
    mt_finish(&finish);
    return exit_code(status);
}

static int run_program(struct run *run, int count, char **arguments)
{
    int at = 0;
    int result = read_options(run, count, arguments, &at);
    if (result == DONE)
        return mt_cli_close_output(MT_EXIT_OK);
    if (result == MT_EXIT_OK)
        result = mt_program_find(arguments[at], mt_environment_get(&run->environment, "PATH"), run->program,
                                 sizeof run->program);
    if (result == MT_EXIT_OK)
        result = find_library(run);
    if (result == MT_EXIT_OK)
        result = check_outputs(run);
    if (result == MT_EXIT_OK)
        result = mt_program_check(run->program);
    if (result == MT_EXIT_OK)
        result = complete_environment(run);
    return result == MT_EXIT_OK ? launch_and_finish(run, arguments + at) : result;
}

int mt_cmd_run(int count, char **arguments)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run || mt_environment_copy(&run->environment, environ) != 0) {
        free(run);
        mt_cli_say("out of memory");
        return MT_EXIT_NOT_STARTED;
    }
    int result = run_program(run, count, arguments);
    mt_environment_free(&run->environment);
    free(run);
    return result;
}
