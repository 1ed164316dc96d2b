// SPDX-License-Identifier: MIT
// The search for a program along PATH and what can be known about it before it starts. Never executes
// anything; the kernel has the last word.
#include "program.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRIPT_LINE_MAX = 256, INTERPRETERS_MAX = 4 };
static const char default_search[] = "/usr/bin:/bin";

// 0, or why this file cannot be executed.
static int executable(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return -errno;
    if (S_ISDIR(info.st_mode))
        return -EISDIR;
    if (!S_ISREG(info.st_mode))
        return -EACCES;
    return access(path, X_OK) == 0 ? 0 : -errno;
}

static int tell_not_executable(const char *path, int error)
{
    if (error == -ENOENT || error == -ENOTDIR) {
        mt_cli_say("%s: program not found", path);
        return MT_EXIT_NOT_FOUND;
    }
    if (error == -EISDIR)
        mt_cli_say("%s: is a folder, not a program", path);
    else if (error == -EACCES)
        mt_cli_say("%s: not executable (chmod +x makes a program executable)", path);
    else
        mt_cli_say("%s: cannot be executed: %s", path, strerror(-error));
    return MT_EXIT_NOT_EXECUTABLE;
}

// Like execvp: the first file that can be executed, or the first one that is there and cannot.
static int search_path(const char *name, const char *search, char *path, size_t size)
{
    char refused[PATH_MAX] = "";
    int refusal = 0;
    for (const char *at = search;; at++) {
        int length = (int)strcspn(at, ":");
        int need = snprintf(path, size, "%.*s%s%s", length, at, length ? "/" : "", name);
        int error = need < (int)size ? executable(path) : -ENAMETOOLONG;
        if (error == 0)
            return MT_EXIT_OK;
        if (error == -EACCES && !refused[0] && (size_t)need < sizeof refused) {
            memcpy(refused, path, (size_t)need + 1);
            refusal = error;
        }
        at += length;
        if (!*at)
            break;
    }
    if (refused[0])
        return tell_not_executable(refused, refusal);
    mt_cli_say("%s: program not found (not in any folder of PATH)", name);
    return MT_EXIT_NOT_FOUND;
}

int mt_program_find(const char *name, const char *search, char *path, size_t size)
{
    if (!strchr(name, '/') && *name)
        return search_path(name, search && *search ? search : default_search, path, size);
    int need = snprintf(path, size, "%s", name);
    int error = need < (int)size ? executable(name) : -ENAMETOOLONG;
    return error ? tell_not_executable(name, error) : MT_EXIT_OK;
}

// The interpreter that a script's first line names; false if this is no script.
static bool script_interpreter(const char *path, char *interpreter, size_t size)
{
    char line[SCRIPT_LINE_MAX + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, line, SCRIPT_LINE_MAX);
    close(fd);
    if (length < 2 || memcmp(line, "#!", 2) != 0)
        return false;
    line[length] = '\0';
    const char *start = line + 2 + strspn(line + 2, " \t");
    snprintf(interpreter, size, "%.*s", (int)strcspn(start, " \t\r\n"), start);
    // The system takes a carriage return as a part of the name: the file has line ends of Windows.
    if (strchr(line, '\r') && strchr(line, '\r') < strchr(line, '\n'))
        snprintf(interpreter + strlen(interpreter), size - strlen(interpreter), "\r");
    return true;
}

int mt_program_check(const char *path)
{
    char interpreter[SCRIPT_LINE_MAX], next[SCRIPT_LINE_MAX], why[1024];
    const char *program = path;
    for (int depth = 0; depth < INTERPRETERS_MAX && script_interpreter(program, next, sizeof next); depth++) {
        memcpy(interpreter, next, sizeof interpreter);
        int error = executable(interpreter);
        if (error) {
            mt_cli_say("%s: its first line names '%s', which %s", program, interpreter,
                       error == -ENOENT ? "does not exist" : "cannot be executed");
            return MT_EXIT_NOT_EXECUTABLE;
        }
        program = interpreter;
    }
    mt_loader_refusal(program, why, sizeof why);
    if (why[0])
        mt_cli_say("warning: %s: %s", program, why);
    return MT_EXIT_OK;
}
