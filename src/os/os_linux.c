// SPDX-License-Identifier: MIT
// os.h on Linux. Runs in the target, on whatever thread asks, and in the tools. Owns the choice of the tick
// counter and the count of sleepers, nothing else. Never allocates with malloc, never prints, and what is
// called hook-safe leaves errno alone.
#define _GNU_SOURCE
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14; older kernels say EINVAL
#endif

bool mt_os_ticks_from_clock;

static struct {
    uint64_t ticks_per_second;
    uint32_t sleepers; // threads in mt_os_wait_word, so that waking nobody costs no system call
} os;

// ---- time ----

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t mt_os_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t mt_os_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

// The beginning of a small file, terminated; its length or -errno.
static int read_small_file(const char *path, char *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int64_t length = mt_os_read_at(fd, buffer, size - 1, 0);
    close(fd);
    if (length < 0)
        return (int)length;
    buffer[length] = 0;
    return (int)length;
}

#if defined(__x86_64__)
static bool kernel_trusts_tsc(void)
{
    char name[32];
    return read_small_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
                           sizeof name) > 0 &&
           strcmp(name, "tsc\n") == 0;
}

static bool counter_usable(void)
{
    unsigned a, b, c, d;
    bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1U << 8);
    return invariant || kernel_trusts_tsc();
}

static uint64_t counter_rate(void)
{
    unsigned denominator, numerator, crystal_hz, d;
    if (!__get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &d) || !denominator || !crystal_hz)
        return 0;
    return (uint64_t)crystal_hz * numerator / denominator;
}
#elif defined(__aarch64__)
static bool counter_usable(void)
{
    return true; // the architecture promises it
}

static uint64_t counter_rate(void)
{
    uint64_t rate;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
    return rate;
}
#else
static bool counter_usable(void)
{
    return false;
}

static uint64_t counter_rate(void)
{
    return 0;
}
#endif

void mt_os_ticks_init(void)
{
    int saved = errno;
    mt_os_ticks_from_clock = !counter_usable();
    os.ticks_per_second = mt_os_ticks_from_clock ? 1000000000U : counter_rate();
    errno = saved;
}

uint64_t mt_os_ticks_per_second(void)
{
    return os.ticks_per_second;
}

// ---- files ----

int mt_os_create(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

int mt_os_open_read(const char *path)
{
    // O_NONBLOCK: a pipe without a writer must not hold us up before it is refused.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    struct stat status;
    int rc = fstat(fd, &status) ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

// For file systems that cannot reserve.
static int write_zeros(int fd, uint64_t offset, uint64_t bytes)
{
    static const char zeros[4096];
    while (bytes) {
        size_t some = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
        ssize_t written = pwrite(fd, zeros, some, (off_t)offset);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written == 0)
            return -ENOSPC;
        if (written > 0) {
            offset += (uint64_t)written;
            bytes -= (uint64_t)written;
        }
    }
    return 0;
}

int mt_os_reserve(int fd, uint64_t offset, uint64_t bytes)
{
    // Growing past the limit raises SIGXFSZ, which ends the program: ask first.
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        offset + bytes > limit.rlim_cur)
        return -EFBIG;
    int rc;
    do
        rc = fallocate(fd, 0, (off_t)offset, (off_t)bytes) ? -errno : 0;
    while (rc == -EINTR);
    return rc == -EOPNOTSUPP || rc == -ENOSYS ? write_zeros(fd, offset, bytes) : rc;
}

int mt_os_truncate(int fd, uint64_t bytes)
{
    int rc;
    do
        rc = ftruncate(fd, (off_t)bytes) ? -errno : 0;
    while (rc == -EINTR);
    return rc;
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void touch_pages(void *memory, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += page_bytes()) {
        // An atomic addition of 0: a write, and no change, whoever else writes there.
        __atomic_fetch_add((char *)memory + at, 0, __ATOMIC_RELAXED);
    }
}

// Pages may be larger than what the offset is a multiple of: then the mapping begins earlier, and
// mt_os_unmap finds its beginning again.
int mt_os_map_file(int fd, uint64_t offset, size_t bytes, bool populate, void **memory)
{
    size_t before = (size_t)(offset % page_bytes());
    char *start =
        mmap(NULL, bytes + before, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - before));
    if (start == MAP_FAILED)
        return -errno;
    if (populate && madvise(start, bytes + before, MADV_POPULATE_WRITE))
        touch_pages(start + before, bytes);
    *memory = start + before;
    return 0;
}

int mt_os_map_memory(size_t bytes, void **memory)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return -ENOMEM;
    *memory = start;
    return 0;
}

void mt_os_unmap(void *memory, size_t bytes)
{
    int saved = errno;
    size_t before = (uintptr_t)memory % page_bytes();
    munmap((char *)memory - before, bytes + before);
    errno = saved;
}

int mt_os_write_all(int fd, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count) {
        ssize_t written = write(fd, from, count);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0) {
            from += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

int64_t mt_os_read_at(int fd, void *bytes, size_t count, uint64_t offset)
{
    size_t got = 0;
    while (got < count) {
        ssize_t some = pread(fd, (char *)bytes + got, count - got, (off_t)(offset + got));
        if (some < 0 && errno != EINTR)
            return -errno;
        if (some == 0)
            break;
        if (some > 0)
            got += (size_t)some;
    }
    return (int64_t)got;
}

int mt_os_rename(const char *from, const char *to)
{
    return rename(from, to) ? -errno : 0;
}

int mt_os_free_bytes(const char *path_of_a_file_to_be, uint64_t *bytes)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path_of_a_file_to_be, '/');
    if (slash) {
        size_t length = slash == path_of_a_file_to_be ? 1 : (size_t)(slash - path_of_a_file_to_be);
        if (length >= sizeof folder)
            return -ENAMETOOLONG;
        memcpy(folder, path_of_a_file_to_be, length);
        folder[length] = 0;
    }
    struct statvfs status;
    if (statvfs(folder, &status))
        return -errno;
    *bytes = (uint64_t)status.f_bavail * status.f_frsize;
    return 0;
}

// ---- processes ----

int mt_os_program_path(char *buffer, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
    buffer[length < 0 ? 0 : length] = 0;
    return length < 0 ? -errno : (int)length;
}

// All of a file whose size is not told, in memory from mt_os_map_memory; -EFBIG over `most`.
static int read_whole_file(const char *path, size_t most, char **text, size_t *size, size_t *length)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = -EFBIG;
    for (*size = 1 << 16; *size <= most; *size *= 4) {
        void *memory;
        rc = mt_os_map_memory(*size, &memory);
        if (rc)
            break;
        int64_t got = mt_os_read_at(fd, memory, *size - 1, 0);
        if (got >= 0 && (size_t)got < *size - 1) {
            *text = memory;
            *length = (size_t)got;
            break;
        }
        mt_os_unmap(memory, *size);
        rc = got < 0 ? (int)got : -EFBIG;
        if (got < 0)
            break;
    }
    close(fd);
    return rc;
}

void mt_os_arguments(bool (*each)(void *context, const char *argument), void *context)
{
    int saved = errno;
    char *text;
    size_t size, length;
    if (!read_whole_file("/proc/self/cmdline", 1 << 24, &text, &size, &length)) {
        for (size_t at = 0; at < length; at += strlen(text + at) + 1) {
            if (!each(context, text + at))
                break;
        }
        mt_os_unmap(text, size);
    }
    errno = saved;
}

void mt_os_host_name(char *buffer, size_t size)
{
    if (gethostname(buffer, size))
        buffer[0] = 0;
    buffer[size - 1] = 0;
}

void mt_os_system_name(char *buffer, size_t size)
{
    struct utsname name;
    buffer[0] = 0;
    if (!uname(&name))
        snprintf(buffer, size, "%s %s %s", name.sysname, name.release, name.machine);
}

uint64_t mt_os_thread_id(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

void mt_os_thread_name(char *buffer, size_t size)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    snprintf(buffer, size, "%s", name);
}

bool mt_os_is_setuid(void)
{
    return getauxval(AT_SECURE) || getuid() != geteuid() || getgid() != getegid();
}

bool mt_os_process_alive(uint32_t pid)
{
    if (!pid || pid > INT_MAX)
        return false;
    if (kill((pid_t)pid, 0) && errno != EPERM)
        return false;
    // A killed process that nobody has waited for still has its number, but runs no more.
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    if (read_small_file(path, text, sizeof text) <= 0)
        return true;
    const char *name_end = strrchr(text, ')');
    return !name_end || strlen(name_end) < 3 || !strchr("ZX", name_end[2]);
}

uint64_t mt_os_random(void)
{
    uint64_t number = 0;
    int saved = errno;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        number = (mt_os_clock_ns() ^ (uint64_t)getpid() << 40) * UINT64_C(0x9e3779b97f4a7c15);
    errno = saved;
    return number;
}

int mt_os_remove_variable(const char *name)
{
    return unsetenv(name) ? -errno : 0;
}

// ---- threads ----

// Handed to a new thread, in memory of its own, which the thread gives back.
struct thread_start {
    void (*run)(void *);
    void *argument;
    char name[16];
};

static void *thread_main(void *memory)
{
    struct thread_start start = *(struct thread_start *)memory;
    mt_os_unmap(memory, sizeof start);
    prctl(PR_SET_NAME, start.name);
    start.run(start.argument);
    return NULL;
}

static int create_thread(pthread_t *thread, void *start)
{
    enum { STACK_BYTES = 1024 * 1024 };
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error)
        return -error;
    // A program with much thread-local memory may need more: then the default it is.
    error = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (!error)
        error = pthread_create(thread, &attributes, thread_main, start);
    if (error == EINVAL)
        error = pthread_create(thread, NULL, thread_main, start);
    pthread_attr_destroy(&attributes);
    return -error;
}

int mt_os_thread_start(mt_os_thread *thread, const char *name, void (*run)(void *), void *argument)
{
    void *memory;
    int rc = mt_os_map_memory(sizeof(struct thread_start), &memory);
    if (rc)
        return rc;
    struct thread_start *start = memory;
    *start = (struct thread_start){.run = run, .argument = argument};
    snprintf(start->name, sizeof start->name, "%s", name);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t handle;
    rc = create_thread(&handle, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc)
        mt_os_unmap(memory, sizeof *start);
    else
        thread->handle = (uintptr_t)handle;
    return rc;
}

void mt_os_thread_join(mt_os_thread thread)
{
    pthread_join((pthread_t)thread.handle, NULL);
}

void mt_os_wait_word(const uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    int saved = errno;
    struct timespec limit = {.tv_sec = (time_t)(timeout_ns / 1000000000U),
                             .tv_nsec = (long)(timeout_ns % 1000000000U)};
    // Counted before the kernel compares the word: whoever changes it afterwards sees us.
    __atomic_fetch_add(&os.sleepers, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns ? &limit : NULL, NULL, 0);
    __atomic_fetch_sub(&os.sleepers, 1, __ATOMIC_SEQ_CST);
    errno = saved;
}

void mt_os_wake_word(const uint32_t *word)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&os.sleepers, __ATOMIC_SEQ_CST))
        return;
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = saved;
}
