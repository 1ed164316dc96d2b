// SPDX-License-Identifier: MIT
// Puts a report's file in place: see file.h. Runs in tools, and in a target at its exit.
#include "views/file.h"

#include "os/os.h"
#include "views/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void mt_file_tell(char *error, size_t error_size, const char *path, const char *what, int result)
{
    char reason[128] = "";
    if (!error_size)
        return;
    if (result)
        mt_format_errno(reason, sizeof(reason), result < 0 ? -result : result);
    int length = snprintf(error, error_size, "%s: %s%s%s", path, what, result ? ": " : "", reason);
    (void)length;
}

// What stands at the path already: 0 if nothing, or a report of ours.
static int check_existing(const char *path, char *error, size_t error_size)
{
    static const char begins[] = MT_REPORT_BEGINS;
    char head[sizeof(begins) - 1];
    struct stat status;
    if (lstat(path, &status) < 0) {
        if (errno == ENOENT)
            return 0;
        int result = -errno;
        mt_file_tell(error, error_size, path, "cannot be looked at", result);
        return result;
    }
    const char *what = "exists and is not a metaltap report, left alone";
    if (S_ISREG(status.st_mode)) {
        int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        int64_t count = fd >= 0 ? mt_os_read_at(fd, head, sizeof(head), 0) : -errno;
        if (fd >= 0)
            close(fd);
        if (count == (int64_t)sizeof(head) && !memcmp(head, begins, sizeof(head)))
            return 0;
        if (count < 0)
            what = "exists and cannot be read, left alone";
    } else {
        what = "exists and is not a regular file, left alone";
    }
    mt_file_tell(error, error_size, path, what, 0);
    return -EEXIST;
}

// In the same folder, with a name that fits wherever the report's own does not leave room for an ending.
static char *temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, size = folder + 48;
    char *name = malloc(size);
    if (!name)
        return NULL;
    memcpy(name, path, folder);
    int length = snprintf(name + folder, size - folder, ".metaltap-report-%016llx",
                          (unsigned long long)mt_os_random());
    (void)length;
    return name;
}

int mt_file_begin(struct mt_file *file, const char *path, char *error, size_t error_size)
{
    *file = (struct mt_file){.path = path, .fd = -1};
    int result = check_existing(path, error, error_size);
    if (result)
        return result;
    file->temporary = temporary_name(path);
    file->fd = file->temporary ? mt_os_create(file->temporary) : -ENOMEM;
    if (file->fd >= 0)
        return 0;
    result = file->fd;
    mt_file_tell(error, error_size, path, "cannot be written", result);
    free(file->temporary);
    file->temporary = NULL;
    return result;
}

int mt_file_end(struct mt_file *file, int result, char *error, size_t error_size)
{
    if (close(file->fd) < 0 && !result) { // where a network file system says that it is full
        result = -errno;
        mt_file_tell(error, error_size, file->path, "could not be written", result);
    }
    if (!result) {
        result = mt_os_rename(file->temporary, file->path);
        if (result)
            mt_file_tell(error, error_size, file->path, "could not be put in place", result);
    }
    if (result)
        unlink(file->temporary);
    free(file->temporary);
    file->temporary = NULL;
    return result;
}
