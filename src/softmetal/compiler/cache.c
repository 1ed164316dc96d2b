// SPDX-License-Identifier: MIT
// The cache of compiled libraries and pipelines: <folder>/<SHA-256><suffix>, written to a temporary name and
// renamed. The only reader of SOFTMETAL_CACHE and SOFTMETAL_CACHE_SIZE. Never removes a file that is not a
// cache file.
#define _GNU_SOURCE
#include "cache.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char trailer_magic[8] = {'S', 'M', 'C', 'A', 'C', 'H', 'E', '1'};

typedef struct trailer {
    char magic[8];
    uint64_t length, checksum;
} trailer;

static struct {
    pthread_once_t once;
    atomic_bool opened, closed;
    char *folder;
    bool is_private;
    pid_t owner; // of the private folder: a forked child must not remove it
    uint64_t limit_bytes;
    atomic_uint counter;
    atomic_ullong written_bytes; // since the last trim
    pthread_mutex_t trim_lock;
} cache = {.once = PTHREAD_ONCE_INIT, .trim_lock = PTHREAD_MUTEX_INITIALIZER};

// "512M", "2G", "1000000"; what is not a size counts as not set.
static uint64_t parse_size(const char *text)
{
    const uint64_t standard = (uint64_t)2 << 30;
    char *end;
    if (!text || *text < '0' || *text > '9')
        return standard;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10), unit = 1;
    if (*end == 'k' || *end == 'K')
        unit = 1 << 10;
    else if (*end == 'm' || *end == 'M')
        unit = 1 << 20;
    else if (*end == 'g' || *end == 'G')
        unit = 1 << 30;
    return errno || value > UINT64_MAX / unit ? standard : value * unit;
}

static int make_folders(char *path)
{
    for (char *p = path + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char saved = *p;
        *p = '\0';
        int err = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
        *p = saved;
        if (err || !saved)
            return err;
    }
}

// What lies in this folder is run as code: it must be ours alone to write.
static int check_folder(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    if (st.st_uid != geteuid() || (st.st_mode & 022))
        return -EPERM;
    return access(path, R_OK | W_OK | X_OK) < 0 ? -errno : 0;
}

static char *wanted_folder(void)
{
    const char *set = secure_getenv("SOFTMETAL_CACHE"), *xdg = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    char *path = NULL;
    int made = -1;
    if (set && *set)
        made = asprintf(&path, "%s", set);
    else if (xdg && *xdg == '/')
        made = asprintf(&path, "%s/softmetal", xdg);
    else if (home && *home == '/')
        made = asprintf(&path, "%s/.cache/softmetal", home);
    if (made < 0)
        return NULL;
    return path;
}

static void open_private(void)
{
    const char *tmp = secure_getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/softmetal-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp") < 0)
        return;
    if (!mkdtemp(path)) {
        fprintf(stderr, "softmetal: cannot make a temporary folder: %s\n", strerror(errno));
        free(path);
        return;
    }
    cache.folder = path;
    cache.is_private = true;
    cache.owner = getpid();
}

static void choose_folder(void)
{
    const char *set = secure_getenv("SOFTMETAL_CACHE");
    cache.limit_bytes = parse_size(secure_getenv("SOFTMETAL_CACHE_SIZE"));
    // The first store looks whether the folder is over its limit.
    atomic_store(&cache.written_bytes, cache.limit_bytes);
    if (set && strcmp(set, "off") == 0) {
        open_private();
        return;
    }
    char *path = wanted_folder();
    int err = path ? make_folders(path) : -ENOENT;
    if (!err)
        err = check_folder(path);
    char *absolute = err ? NULL : realpath(path, NULL);
    if (absolute) {
        cache.folder = absolute;
    } else {
        fprintf(stderr, "softmetal: cache %s cannot be used (%s); using a temporary one\n",
                path ? path : "folder", strerror(err ? -err : errno));
        open_private();
    }
    free(path);
}

// Threads of the host may still be compiling while the process exits: whichever comes second, the removal or
// the making of the folder, sees the other.
static void open_cache(void)
{
    choose_folder();
    atomic_store(&cache.opened, true);
    if (atomic_load(&cache.closed) && cache.is_private)
        rmdir(cache.folder);
}

char *sm_cache_path(const char *key, const char *suffix)
{
    char *path = NULL;
    pthread_once(&cache.once, open_cache);
    if (!cache.folder || atomic_load(&cache.closed) ||
        asprintf(&path, "%s/%s%s", cache.folder, key, suffix) < 0)
        return NULL;
    return path;
}

char *sm_cache_temporary(const char *suffix)
{
    char name[64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, sizeof(name), "tmp-%d-%u-%lx", (int)getpid(), atomic_fetch_add(&cache.counter, 1),
             (unsigned long)now.tv_nsec);
    return sm_cache_path(name, suffix);
}

typedef struct cached_file {
    char *name;
    int64_t used_ns;
    uint64_t size;
} cached_file;

static int oldest_first(const void *a, const void *b)
{
    int64_t x = ((const cached_file *)a)->used_ns, y = ((const cached_file *)b)->used_ns;
    return x < y ? -1 : x > y;
}

static bool is_cache_name(const char *name)
{
    return strncmp(name, "tmp-", 4) == 0 || (strspn(name, "0123456789abcdef") == 64 && name[64] == '.');
}

static cached_file *list_files(DIR *dir, size_t *count, uint64_t *total)
{
    int fd = dirfd(dir);
    cached_file *files = NULL;
    size_t capacity = 0;
    for (struct dirent *entry; fd >= 0 && (entry = readdir(dir));) {
        struct stat st;
        if (!is_cache_name(entry->d_name) || fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(st.st_mode) || !sm_grow((void **)&files, &capacity, *count, sizeof(*files)))
            continue;
        char *name = strdup(entry->d_name);
        if (!name)
            break;
        int64_t used = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        files[(*count)++] = (cached_file){name, used, (uint64_t)st.st_size};
        *total += (uint64_t)st.st_size;
    }
    return files;
}

// What was used a moment ago may be needed by a running build; an old temporary file was left by a killed
// process.
static bool must_go(const cached_file *file, uint64_t total, int64_t now_ns)
{
    const int64_t second_ns = 1000000000, age_ns = now_ns - file->used_ns;
    if (strncmp(file->name, "tmp-", 4) == 0)
        return age_ns > 3600 * second_ns;
    return age_ns > 60 * second_ns && total > cache.limit_bytes - cache.limit_bytes / 10;
}

static void trim(void)
{
    DIR *dir = opendir(cache.folder);
    if (!dir)
        return;
    int fd = dirfd(dir);
    size_t count = 0;
    uint64_t total = 0;
    cached_file *files = list_files(dir, &count, &total);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    bool over = total > cache.limit_bytes;
    if (count)
        qsort(files, count, sizeof(*files), oldest_first);
    for (size_t i = 0; i < count; i++) {
        bool temporary = strncmp(files[i].name, "tmp-", 4) == 0;
        if (fd >= 0 && (over || temporary) && must_go(&files[i], total, now_ns) &&
            unlinkat(fd, files[i].name, 0) == 0)
            total -= files[i].size;
        free(files[i].name);
    }
    free(files);
    closedir(dir);
}

static void count_written(uint64_t bytes)
{
    if (cache.is_private || atomic_fetch_add(&cache.written_bytes, bytes) + bytes < cache.limit_bytes / 16)
        return;
    if (pthread_mutex_trylock(&cache.trim_lock) != 0)
        return;
    atomic_store(&cache.written_bytes, 0);
    trim();
    pthread_mutex_unlock(&cache.trim_lock);
}

static int write_all(int fd, const void *data, size_t length)
{
    const char *bytes = data;
    while (length) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && errno != EINTR)
            return -errno;
        if (done > 0) {
            bytes += done;
            length -= (size_t)done;
        }
    }
    return 0;
}

// Any cache file is well under this.
enum { MAX_FILE = 1 << 30 };

static int read_all(const char *path, char **data, size_t *length)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    int err = fstat(fd, &st) < 0 ? -errno : !S_ISREG(st.st_mode) || st.st_size > MAX_FILE ? -EINVAL : 0;
    *data = err ? NULL : malloc((size_t)st.st_size + 1);
    *length = 0;
    if (!err && !*data)
        err = -ENOMEM;
    while (!err && *length < (size_t)st.st_size) {
        ssize_t got = read(fd, *data + *length, (size_t)st.st_size - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        *length += (size_t)got;
    }
    if (!err) {
        (*data)[*length] = '\0';
        futimens(fd, NULL);
    } else {
        free(*data);
        *data = NULL;
    }
    close(fd);
    return err;
}

static trailer make_trailer(const void *data, size_t length)
{
    trailer end = {.length = length, .checksum = sm_checksum(data, length)};
    memcpy(end.magic, trailer_magic, sizeof(end.magic));
    return end;
}

// Takes the trailer off; false if it does not fit the content.
static bool check_trailer(const char *data, size_t *length)
{
    trailer end;
    if (*length < sizeof(end))
        return false;
    size_t content = *length - sizeof(end);
    memcpy(&end, data + content, sizeof(end));
    if (memcmp(end.magic, trailer_magic, sizeof(end.magic)) != 0 || end.length != content ||
        end.checksum != sm_checksum(data, content))
        return false;
    *length = content;
    return true;
}

int sm_cache_commit(const char *temporary, const char *key, const char *suffix)
{
    struct stat st = {0};
    char *path = sm_cache_path(key, suffix);
    int err = path ? 0 : -ENOMEM;
    if (!err && (stat(temporary, &st) < 0 || rename(temporary, path) < 0))
        err = -errno;
    free(path);
    if (!err)
        count_written((uint64_t)st.st_size);
    return err;
}

static int append_trailer(const char *path, const void *data, size_t length)
{
    trailer end = make_trailer(data, length);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    int err = write_all(fd, &end, sizeof(end));
    if (close(fd) < 0 && !err)
        err = -errno;
    return err;
}

int sm_cache_commit_sealed(const char *temporary, const char *key, const char *suffix)
{
    char *data;
    size_t length;
    int err = read_all(temporary, &data, &length);
    if (err)
        return err;
    err = append_trailer(temporary, data, length);
    free(data);
    return err ? err : sm_cache_commit(temporary, key, suffix);
}

static int store(const char *key, const char *suffix, const void *data, size_t length, bool sealed)
{
    char *temporary = sm_cache_temporary(suffix);
    if (!temporary)
        return -ENOMEM;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int err = fd < 0 ? -errno : write_all(fd, data, length);
    trailer end = make_trailer(data, length);
    if (!err && sealed)
        err = write_all(fd, &end, sizeof(end));
    if (fd >= 0 && close(fd) < 0 && !err)
        err = -errno;
    if (!err)
        err = sm_cache_commit(temporary, key, suffix);
    if (err && fd >= 0)
        unlink(temporary);
    free(temporary);
    return err;
}

int sm_cache_store(const char *key, const char *suffix, const void *data, size_t length)
{
    return store(key, suffix, data, length, true);
}

int sm_cache_store_plain(const char *key, const char *suffix, const void *data, size_t length)
{
    return store(key, suffix, data, length, false);
}

int sm_cache_load(const char *key, const char *suffix, char **data, size_t *length)
{
    char *path = sm_cache_path(key, suffix);
    int err = path ? read_all(path, data, length) : -ENOMEM;
    if (!err && !check_trailer(*data, length)) {
        unlink(path);
        free(*data);
        *data = NULL;
        err = -ENOENT;
    } else if (!err) {
        (*data)[*length] = '\0';
    }
    free(path);
    return err;
}

bool sm_cache_check_sealed(const char *key, const char *suffix)
{
    char *data;
    size_t length;
    bool good = sm_cache_load(key, suffix, &data, &length) == 0;
    if (good)
        free(data);
    return good;
}

int sm_cache_commit_plain(const char *temporary, const char *key, const char *suffix)
{
    char *data;
    size_t length;
    int err = read_all(temporary, &data, &length);
    if (err)
        return err;
    trailer end = make_trailer(data, length);
    free(data);
    err = sm_cache_commit(temporary, key, suffix);
    return err ? err : sm_cache_store(key, ".sum", &end, sizeof(end));
}

bool sm_cache_check_plain(const char *key, const char *suffix)
{
    char *sum = NULL, *data = NULL, *path = sm_cache_path(key, suffix);
    size_t sum_length = 0, length = 0;
    bool good = path && sm_cache_load(key, ".sum", &sum, &sum_length) == 0 && sum_length == sizeof(trailer) &&
                read_all(path, &data, &length) == 0;
    if (good) {
        trailer end = make_trailer(data, length);
        good = memcmp(&end, sum, sizeof(end)) == 0;
    }
    free(data);
    free(sum);
    free(path);
    return good;
}

bool sm_cache_touch(const char *key, const char *suffix)
{
    char *path = sm_cache_path(key, suffix);
    bool found = path && utimensat(AT_FDCWD, path, NULL, 0) == 0;
    free(path);
    return found;
}

void sm_cache_remove(const char *key, const char *suffix)
{
    char *path = sm_cache_path(key, suffix);
    if (path)
        unlink(path);
    free(path);
}

static void remove_content(void)
{
    DIR *dir = opendir(cache.folder);
    int fd = dir ? dirfd(dir) : -1;
    for (struct dirent *entry; fd >= 0 && (entry = readdir(dir));)
        if (is_cache_name(entry->d_name))
            unlinkat(fd, entry->d_name, 0);
    if (dir)
        closedir(dir);
}

void sm_cache_close(void)
{
    enum { ATTEMPTS = 20, PAUSE_NS = 5000000 };
    atomic_store(&cache.closed, true);
    if (!atomic_load(&cache.opened) || !cache.is_private || cache.owner != getpid())
        return;
    // A thread that got a path before may still write a file.
    for (int i = 0; i < ATTEMPTS; i++) {
        remove_content();
        if (rmdir(cache.folder) == 0 || errno != ENOTEMPTY)
            return;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
}
