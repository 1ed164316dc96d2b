// SPDX-License-Identifier: MIT
// Chooses the path of a capture, see capture_output.h. Metal refuses a path that exists and stops in the
// middle of a trace when the disk is full, so both are looked at first. Runs once, on the thread that starts
// the capture; never writes, removes or overwrites anything.
#include "capture_output.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Traces of a few command buffers were seen to have 80 MB to some GB.
#define LEAST_FREE_BYTES (UINT64_C(512) << 20)
static const char suffix[] = ".gputrace";

// Relative to the folder the program is in, as Metal would take it.
static int absolute_path(char *path, size_t size)
{
    char name[MT_OPTION_PATH_MAX], folder[MT_OPTION_PATH_MAX] = "";
    int rc =
        mt_options_expand_path(mt_tap.options.capture, (uint32_t)getpid(), mt_tap.program, name, sizeof name);
    if (rc)
        return rc;
    if (name[0] != '/' && !getcwd(folder, sizeof folder))
        return -errno;
    int length = snprintf(path, size, "%s%s%s", folder, folder[0] ? "/" : "", name);
    return length > 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

// trace.gputrace, trace-2.gputrace, ...
static int free_name(char *path, size_t size)
{
    enum { ATTEMPTS = 10000 };
    char wanted[MT_OUTPUT_PATH_MAX];
    snprintf(wanted, sizeof wanted, "%s", path);
    size_t stem = strlen(wanted), end = strlen(suffix);
    bool has_suffix = stem > end && strcmp(wanted + stem - end, suffix) == 0;
    stem -= has_suffix ? end : 0;
    for (unsigned n = 2; exists(path); n++) {
        int length = snprintf(path, size, "%.*s-%u%s", (int)stem, wanted, n, has_suffix ? suffix : "");
        if (n == ATTEMPTS)
            return -EEXIST;
        if (length < 0 || (size_t)length >= size)
            return -ENAMETOOLONG;
    }
    if (strcmp(path, wanted) != 0)
        mt_log(MT_LOG_WARN, "capture: %s exists, the trace goes to %s", wanted, path);
    return 0;
}

static bool check_folder(const char *path, char *reason, size_t reason_size)
{
    char folder[MT_OUTPUT_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    slash[slash == folder] = '\0';
    struct stat status;
    int error = stat(folder, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
    if (error) {
        snprintf(reason, reason_size, "the folder %s: %s; create it", folder, strerror(error));
        return false;
    }
    if (access(folder, W_OK | X_OK) != 0) {
        snprintf(reason, reason_size, "cannot write to the folder %s: %s; choose another (METALTAP_CAPTURE)",
                 folder, strerror(errno));
        return false;
    }
    return true;
}

static bool check_space(const char *path, char *reason, size_t reason_size)
{
    uint64_t bytes;
    if (mt_os_free_bytes(path, &bytes) != 0 || bytes >= LEAST_FREE_BYTES)
        return true;
    snprintf(reason, reason_size,
             "only %llu MB are free where %s is to be, traces take %llu MB and more; make room or choose "
             "another folder (METALTAP_CAPTURE)",
             (unsigned long long)(bytes >> 20), path, (unsigned long long)(LEAST_FREE_BYTES >> 20));
    return false;
}

bool mt_output_choose(char *path, size_t size, char *reason, size_t reason_size)
{
    int rc = absolute_path(path, size);
    if (rc == 0 && !check_folder(path, reason, reason_size))
        return false;
    if (rc == 0)
        rc = free_name(path, size);
    if (rc) {
        snprintf(reason, reason_size,
                 "no name for it can be made of %s: %s; choose another (METALTAP_CAPTURE)",
                 mt_tap.options.capture, strerror(-rc));
        return false;
    }
    return check_space(path, reason, reason_size);
}
