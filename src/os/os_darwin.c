// SPDX-License-Identifier: MIT
// What os.h promises, on macOS 12 and later (arm64, x86_64, x86_64 under Rosetta). Public calls of libSystem
// only. Runs in the target and in the tools, on any thread; what os.h calls hook-safe takes no lock unless a
// thread of ours sleeps, and never allocates.
#include "os/os.h"

#include <TargetConditionals.h>
#include <crt_externs.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { THREAD_STACK_BYTES = 1024 * 1024, NANOSECONDS = 1000 * 1000 * 1000, PLACES = 16 };

// The system's own call to wait for a word came with macOS 14.4. Here the word's address picks one of a few
// places with a lock and a condition. Words that share a place wake each other's threads, which look again.
struct place {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    uint32_t sleepers;
};

static struct {
    uint64_t ticks_per_second;
    pid_t owner; // the process whose threads sleep here: after a fork, places copied from the parent are void
    struct place places[PLACES];
} os;

static int error_of(int result)
{
    return result < 0 ? -errno : 0;
}

// ---- time ----
bool mt_os_ticks_from_clock;

#ifdef __x86_64__
// Rosetta makes rdtsc up from another counter, at a rate it does not tell.
static bool is_translated(void)
{
    int translated = 0;
    size_t size = sizeof translated;
    return sysctlbyname("sysctl.proc_translated", &translated, &size, NULL, 0) == 0 && translated == 1;
}

static bool tsc_is_constant(void)
{
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & 1U << 8);
}

static bool counter_usable(void)
{
    return !is_translated() && tsc_is_constant();
}

static uint64_t counter_rate(void)
{
    uint64_t rate = 0;
    size_t size = sizeof rate;
    return sysctlbyname("machdep.tsc.frequency", &rate, &size, NULL, 0) == 0 ? rate : 0;
}
#else
// The virtual counter is what mach_absolute_time itself reads. The two differ by an offset that changes when
// the machine sleeps, which anchors take care of.
static bool counter_usable(void)
{
    return true;
}

static uint64_t counter_rate(void)
{
    uint64_t rate;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
    return rate;
}
#endif

void mt_os_ticks_init(void)
{
    int saved = errno;
    mt_os_ticks_from_clock = !counter_usable();
    os.ticks_per_second = mt_os_ticks_from_clock ? NANOSECONDS : counter_rate();
    errno = saved;
}

uint64_t mt_os_ticks_per_second(void)
{
    return os.ticks_per_second;
}

// This clock is mach_absolute_time in nanoseconds: on Apple silicon that one counts in units of 125/3 ns.
uint64_t mt_os_clock_ns(void)
{
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}

uint64_t mt_os_wall_ns(void)
{
    return clock_gettime_nsec_np(CLOCK_REALTIME);
}

// ---- files ----
int mt_os_create(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

// Opened without blocking, for a pipe would wait for its writer before we can see what it is.
int mt_os_open_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct stat status;
    int error = error_of(fstat(fd, &status));
    if (!error && !S_ISREG(status.st_mode))
        error = -EINVAL;
    if (error) {
        close(fd);
        return error;
    }
    return fd;
}

int mt_os_truncate(int fd, uint64_t bytes)
{
    int error;
    do {
        error = error_of(ftruncate(fd, (off_t)bytes));
    } while (error == -EINTR);
    return error;
}

// Beyond the limit the system sends SIGXFSZ, and the target has not asked for that.
static bool over_file_limit(uint64_t end)
{
    struct rlimit limit;
    return end > INT64_MAX || (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur);
}

static int write_zeros(int fd, uint64_t offset, uint64_t bytes)
{
    const char zeros[16 * 1024] = {0};
    while (bytes > 0) {
        size_t count = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
        ssize_t written = pwrite(fd, zeros, count, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        offset += (uint64_t)written;
        bytes -= (uint64_t)written;
    }
    return 0;
}

// The request counts from the end of what is allocated already, which is not the end of the file.
static int preallocate(int fd, const struct stat *status, uint64_t end)
{
    uint64_t allocated = (uint64_t)status->st_blocks * 512;
    if (end <= allocated)
        return 0;
    fstore_t store = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE};
    store.fst_length = (off_t)(end - allocated);
    return error_of(fcntl(fd, F_PREALLOCATE, &store));
}

// Several threads may reserve parts of one file at once: nothing here shortens it or writes outside the part.
int mt_os_reserve(int fd, uint64_t offset, uint64_t bytes)
{
    uint64_t end = offset + bytes;
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    if (end < offset || over_file_limit(end))
        return -EFBIG;
    if (bytes == 0 || end <= (uint64_t)status.st_size) // handed out before: real already
        return 0;
    int error = preallocate(fd, &status, end);
    if (error == -ENOTSUP || error == -EINVAL) // a file system without preallocation: network, FAT
        return write_zeros(fd, offset, bytes);
    return error ? error : write_zeros(fd, end - 1, 1); // which makes the file that long
}

// Pages are of 4 or 16 KiB; a part of the file need not begin with one, so its page's edge is mapped.
static size_t beyond_page_edge(uint64_t position)
{
    return (size_t)(position & ((uint64_t)getpagesize() - 1));
}

// A store that changes nothing, even if somebody else writes there now, makes the page ours and writable.
static void touch_pages(volatile char *pages, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += (size_t)getpagesize())
        __atomic_fetch_or(pages + at, 0, __ATOMIC_RELAXED);
}

int mt_os_map_file(int fd, uint64_t offset, size_t bytes, bool populate, void **memory)
{
    size_t lead = beyond_page_edge(offset);
    void *pages = mmap(NULL, lead + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - lead));
    if (pages == MAP_FAILED)
        return -errno;
    if (populate)
        touch_pages(pages, lead + bytes);
    *memory = (char *)pages + lead;
    return 0;
}

int mt_os_map_memory(size_t bytes, void **memory)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (pages == MAP_FAILED)
        return -errno;
    *memory = pages;
    return 0;
}

void mt_os_unmap(void *memory, size_t bytes)
{
    size_t lead = beyond_page_edge((uintptr_t)memory);
    munmap((char *)memory - lead, lead + bytes);
}

int mt_os_write_all(int fd, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t written = write(fd, from, count < INT_MAX ? count : INT_MAX); // more is EINVAL
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        from += written;
        count -= (size_t)written;
    }
    return 0;
}

int64_t mt_os_read_at(int fd, void *bytes, size_t count, uint64_t offset)
{
    size_t done = 0;
    while (done < count) {
        size_t wanted = count - done < INT_MAX ? count - done : INT_MAX;
        ssize_t got = pread(fd, (char *)bytes + done, wanted, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (int64_t)done;
}

int mt_os_rename(const char *from, const char *to)
{
    return error_of(rename(from, to));
}

int mt_os_free_bytes(const char *path_of_a_file_to_be, uint64_t *bytes)
{
    const char *slash = strrchr(path_of_a_file_to_be, '/');
    size_t length = slash ? (size_t)(slash - path_of_a_file_to_be) : 0;
    char folder[PATH_MAX];
    if (length >= sizeof folder)
        return -ENAMETOOLONG;
    memcpy(folder, path_of_a_file_to_be, length);
    folder[length] = '\0';
    const char *place = length ? folder : slash ? "/" : ".";
    struct statfs status; // statvfs counts blocks in 32 bits here
    if (statfs(place, &status) != 0)
        return -errno;
    *bytes = status.f_bavail * status.f_bsize;
    return 0;
}

// ---- processes ----
int mt_os_program_path(char *buffer, size_t size)
{
    char path[4 * PATH_MAX];
    uint32_t length = sizeof path;
    if (size == 0)
        return -EINVAL;
    if (_NSGetExecutablePath(path, &length) != 0)
        return -ENAMETOOLONG;
    strlcpy(buffer, path, size);
    return (int)strlen(buffer);
}

void mt_os_arguments(bool (*each)(void *context, const char *argument), void *context)
{
    int count = *_NSGetArgc();
    char **arguments = *_NSGetArgv();
    for (int i = 0; i < count && arguments[i]; i++)
        if (!each(context, arguments[i]))
            return;
}

void mt_os_host_name(char *buffer, size_t size)
{
    if (size == 0)
        return;
    if (gethostname(buffer, size) != 0)
        buffer[0] = '\0';
    buffer[size - 1] = '\0';
}

void mt_os_system_name(char *buffer, size_t size)
{
    struct utsname name;
    char version[32] = "";
    size_t length = sizeof version - 1;
    memset(&name, 0, sizeof name);
    uname(&name);
    if (sysctlbyname("kern.osproductversion", version, &length, NULL, 0) != 0)
        version[0] = '\0';
    snprintf(buffer, size, "macOS %s (%s %s) %s", version, name.sysname, name.release, name.machine);
}

uint64_t mt_os_thread_id(void)
{
    uint64_t id = 0;
    pthread_threadid_np(NULL, &id);
    return id;
}

void mt_os_thread_name(char *buffer, size_t size)
{
    if (size == 0)
        return;
    if (pthread_getname_np(pthread_self(), buffer, size) != 0)
        buffer[0] = '\0';
}

bool mt_os_is_setuid(void)
{
    return issetugid();
}

bool mt_os_process_alive(uint32_t pid)
{
    if (pid == 0 || pid > INT32_MAX) // 0 and negative ones are groups
        return false;
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

uint64_t mt_os_random(void)
{
    uint64_t value;
    arc4random_buf(&value, sizeof value);
    return value;
}

int mt_os_remove_variable(const char *name)
{
    return error_of(unsetenv(name));
}

// ---- waiting for a word ----

// A lock may have been held by a thread that a fork left behind. Called before a thread of ours starts or
// sleeps; the program's own threads only ever wake.
static void open_places(void)
{
    if (__atomic_load_n(&os.owner, __ATOMIC_ACQUIRE) == getpid())
        return;
    for (int i = 0; i < PLACES; i++) {
        struct place *place = &os.places[i];
        place->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        place->woken = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        place->sleepers = 0;
    }
    __atomic_store_n(&os.owner, getpid(), __ATOMIC_RELEASE);
}

static struct place *place_of(const uint32_t *word)
{
    return &os.places[((uintptr_t)word >> 6) % PLACES];
}

// The sleeper counts itself before it looks at the word, the waker looks at the count after the word was
// changed: one of them sees the other.
void mt_os_wait_word(const uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    open_places();
    struct place *place = place_of(word);
    struct timespec limit = {(time_t)(timeout_ns / NANOSECONDS), (long)(timeout_ns % NANOSECONDS)};
    pthread_mutex_lock(&place->lock);
    __atomic_fetch_add(&place->sleepers, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == expected) {
        if (timeout_ns)
            pthread_cond_timedwait_relative_np(&place->woken, &place->lock, &limit);
        else
            pthread_cond_wait(&place->woken, &place->lock);
    }
    __atomic_fetch_sub(&place->sleepers, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&place->lock);
}

void mt_os_wake_word(const uint32_t *word)
{
    struct place *place = place_of(word);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&place->sleepers, __ATOMIC_SEQ_CST) == 0)
        return;
    if (__atomic_load_n(&os.owner, __ATOMIC_ACQUIRE) != getpid())
        return;
    int saved = errno;
    pthread_mutex_lock(&place->lock);
    pthread_cond_broadcast(&place->woken);
    pthread_mutex_unlock(&place->lock);
    errno = saved;
}

// ---- threads ----
struct start {
    void (*run)(void *);
    void *argument;
    char name[64];
};

static void *thread_main(void *memory)
{
    struct start start = *(struct start *)memory;
    mt_os_unmap(memory, sizeof start);
    pthread_setname_np(start.name); // a thread can name only itself here
    start.run(start.argument);
    return NULL;
}

// The new thread takes the signal mask of the one that makes it.
static int create_masked(pthread_t *thread, struct start *start)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    int error = pthread_attr_init(&attributes);
    if (error)
        return -error;
    pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, &attributes, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}

int mt_os_thread_start(mt_os_thread *thread, const char *name, void (*run)(void *), void *argument)
{
    void *memory = NULL;
    pthread_t handle;
    open_places();
    int error = mt_os_map_memory(sizeof(struct start), &memory);
    if (error)
        return error;
    struct start *start = memory;
    start->run = run;
    start->argument = argument;
    strlcpy(start->name, name, sizeof start->name);
    error = create_masked(&handle, start);
    if (error)
        mt_os_unmap(memory, sizeof(struct start));
    else
        thread->handle = (uintptr_t)handle;
    return error;
}

void mt_os_thread_join(mt_os_thread thread)
{
    pthread_join((pthread_t)thread.handle, NULL); // NOLINT(performance-no-int-to-ptr)
}
