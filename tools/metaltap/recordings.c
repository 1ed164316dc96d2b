// SPDX-License-Identifier: MIT
// Finds spools by their headers. Looks at the beginning of regular files only and never changes one; what is
// in a header is not trusted beyond being shown.
#include "recordings.h"

#include "model/model.h"
#include "os/os.h"
#include "views/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void mt_recordings_folder(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(folder, size, ".");
    else
        snprintf(folder, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

bool mt_recording_header(const char *path, struct mt_spool_header *header, uint64_t *bytes)
{
    struct stat info;
    // Not blocking: a name like that may be a pipe nobody writes to.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                mt_os_read_at(fd, header, sizeof *header, 0) == (int64_t)sizeof *header &&
                memcmp(header->magic, MT_SPOOL_MAGIC, sizeof header->magic) == 0;
    close(fd);
    *bytes = ours ? (uint64_t)info.st_size : 0;
    return ours;
}

bool mt_recording_is_report(const char *path)
{
    static const char begins[] = MT_REPORT_BEGINS;
    char found[sizeof begins];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    int64_t count = mt_os_read_at(fd, found, sizeof begins - 1, 0);
    close(fd);
    return count == (int64_t)sizeof begins - 1 && memcmp(found, begins, sizeof begins - 1) == 0;
}

static int add(struct mt_recordings *recordings, const struct mt_recording *recording)
{
    struct mt_recording *items = realloc(recordings->items, (recordings->count + 1) * sizeof *items);
    if (!items)
        return -ENOMEM;
    items[recordings->count++] = *recording;
    recordings->items = items;
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct mt_recording *x = a, *y = b;
    if (x->header.start_wall_ns != y->header.start_wall_ns)
        return x->header.start_wall_ns < y->header.start_wall_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static int list_folder(struct mt_recordings *recordings, const char *folder, uint64_t run)
{
    int result = 0;
    DIR *directory = opendir(folder);
    if (!directory)
        return -errno;
    for (const struct dirent *entry; result == 0 && (entry = readdir(directory));) {
        struct mt_recording found = {0};
        if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN)
            continue;
        const char *separator = strcmp(folder, "/") == 0 ? "" : "/";
        int length = strcmp(folder, ".") == 0 ? snprintf(found.path, sizeof found.path, "%s", entry->d_name)
                                              : snprintf(found.path, sizeof found.path, "%s%s%s", folder,
                                                         separator, entry->d_name);
        if (length < (int)sizeof found.path && mt_recording_header(found.path, &found.header, &found.bytes) &&
            found.header.run == run)
            result = add(recordings, &found);
    }
    closedir(directory);
    return result;
}

int mt_recordings_find(struct mt_recordings *recordings, const char *pattern, uint64_t run, uint32_t pid,
                       const char *program)
{
    char folder[MT_OPTION_PATH_MAX], expanded[MT_OPTION_PATH_MAX];
    *recordings = (struct mt_recordings){0};
    mt_recordings_folder(pattern, folder, sizeof folder);
    int result = mt_options_expand_path(folder, pid, program, expanded, sizeof expanded);
    if (result == 0)
        result = list_folder(recordings, expanded, run);
    if (recordings->count)
        qsort(recordings->items, recordings->count, sizeof *recordings->items, by_start);
    return result;
}

void mt_recordings_free(struct mt_recordings *recordings)
{
    free(recordings->items);
    *recordings = (struct mt_recordings){0};
}

static void copy_name(const struct mt_text *program, char *name, size_t size)
{
    uint32_t start = program->length;
    while (start && program->bytes[start - 1] != '/')
        start--;
    if (start < program->length)
        snprintf(name, size, "%.*s", (int)(program->length - start), program->bytes + start);
}

void mt_recording_describe(struct mt_recording *recording)
{
    struct mt_spool *spool;
    struct mt_model *model;
    struct mt_spool_error error;
    snprintf(recording->program, sizeof recording->program, "program");
    if (mt_spool_open(recording->path, &spool, &error) != 0)
        return;
    if (mt_model_open(spool, &model, &error) == 0) {
        const struct mt_definitions *definitions = mt_model_definitions(model);
        copy_name(&definitions->process.program, recording->program, sizeof recording->program);
        recording->used_metal = definitions->device_count > 1 || definitions->queue_count > 1;
        mt_model_close(model);
    }
    mt_spool_close(spool);
}

bool mt_recording_running(const struct mt_recording *recording)
{
    return recording->header.state == MT_SPOOL_RUNNING && mt_os_process_alive(recording->header.pid);
}
