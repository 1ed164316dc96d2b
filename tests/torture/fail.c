// SPDX-License-Identifier: MIT
// Stands in front of libc (LD_PRELOAD, before libmetaltap.so) and makes one call of the tap fail: a call
// counts if it returns into libmetaltap.so, or into libcjson.so, which nobody but the tap uses. Everybody
// else's go straight through. Runs in the target on any thread. Never allocates, and never fails a call that
// nobody asked it to fail.
//
//     TORTURE_LOG=FILE     a line per call that counts: its number, function, and return addresses, nearest
//                          first, relative to their image; those in cJSON begin with c
//     TORTURE_NTH=N        the Nth call fails; with TORTURE_SITE, the Nth at that site
//     TORTURE_SITE=TEXT    calls whose line in the log begins with this behind the number
//     TORTURE_STAY=1       and every such call after it
//     TORTURE_ERROR=N      with this errno instead of the usual one; "short": transfers one byte less or none
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <unwind.h>

#define EXPORTED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum { IMAGES = 2, FRAMES = 6, MOST_FRAMES = 24, SHORT = -1 };

static struct {
    struct image {
        uintptr_t base, begin, end;
    } images[IMAGES]; // the tap, and cJSON
    bool ready;
    const char *log;
    uint64_t nth;
    const char *site;
    bool stay;
    int error; // 0: the usual one
    uint32_t count, at_site;
} torture;

static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

// ---- who calls ----
static int find_image(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    static const char *const names[IMAGES] = {"/libmetaltap.so", "/libcjson.so"};
    for (int i = 0; i < IMAGES; i++) {
        if (!info->dlpi_name || !strstr(info->dlpi_name, names[i]))
            continue;
        for (int part = 0; part < info->dlpi_phnum; part++) {
            const ElfW(Phdr) *header = &info->dlpi_phdr[part];
            if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
                continue;
            uintptr_t begin = info->dlpi_addr + header->p_vaddr;
            torture.images[i] = (struct image){info->dlpi_addr, begin, begin + header->p_memsz};
        }
    }
    return 0;
}

static uint64_t number_in(const char *variable)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : 0;
}

// At the first call of all, long before there is a second thread.
static void prepare(void)
{
    const char *error = getenv("TORTURE_ERROR");
    torture.log = getenv("TORTURE_LOG");
    torture.nth = number_in("TORTURE_NTH");
    torture.site = getenv("TORTURE_SITE");
    torture.stay = number_in("TORTURE_STAY") != 0;
    if (error)
        torture.error = strcmp(error, "short") == 0 ? SHORT : (int)strtol(error, NULL, 10);
    dl_iterate_phdr(find_image, NULL);
    torture.ready = true;
}

static const struct image *image_of(uintptr_t address)
{
    for (int i = 0; i < IMAGES; i++) {
        if (address - torture.images[i].begin < torture.images[i].end - torture.images[i].begin)
            return &torture.images[i];
    }
    return NULL;
}

struct trace {
    char line[160]; // as the log has it
    int length, count, looked_at;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *argument)
{
    struct trace *trace = argument;
    uintptr_t address = _Unwind_GetIP(context);
    const struct image *image = image_of(address);
    if (!image && trace->count)
        return _URC_END_OF_STACK; // the program, or Metal
    if (image) {
        trace->length +=
            snprintf(trace->line + trace->length, sizeof trace->line - (size_t)trace->length, " %s%lx",
                     image == torture.images ? "" : "c", (unsigned long)(address - image->base));
        trace->count++;
    }
    return trace->count == FRAMES || ++trace->looked_at == MOST_FRAMES ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static bool is_at(const struct trace *trace, const char *site)
{
    size_t length = strlen(site);
    return strncmp(trace->line, site, length) == 0 && (!trace->line[length] || trace->line[length] == ' ');
}

// ---- the real ones ----
static void *real(const char *name)
{
    static void *(*symbol)(void *, const char *);
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; !symbol && i < sizeof versions / sizeof *versions; i++) { // the tap has a dlsym too
        void *address = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&symbol, &address, sizeof symbol);
    }
    if (!symbol)
        abort();
    return symbol(RTLD_NEXT, name);
}

// ---- whether it fails ----
static void log_call(uint32_t number, const struct trace *trace)
{
    char line[200];
    int length = snprintf(line, sizeof line, "%u %s\n", number, trace->line);
    int fd = open(torture.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (write(fd, line, (size_t)length) != length)
        abort(); // a test that cannot tell what it did proves nothing
    close(fd);
}

static bool is_chosen(uint32_t number, const struct trace *trace)
{
    if (!torture.nth || (torture.site && !is_at(trace, torture.site)))
        return false;
    if (torture.site)
        number = __atomic_add_fetch(&torture.at_site, 1, __ATOMIC_RELAXED);
    return number == torture.nth || (torture.stay && number > torture.nth);
}

static bool count_call(const char *function)
{
    struct trace trace = {0};
    inside = true;
    int saved = errno;
    trace.length = snprintf(trace.line, sizeof trace.line, "%s", function);
    _Unwind_Backtrace(add_frame, &trace);
    uint32_t number = __atomic_add_fetch(&torture.count, 1, __ATOMIC_RELAXED);
    bool chosen = is_chosen(number, &trace);
    if (torture.log && (chosen || !torture.nth))
        log_call(number, &trace);
    errno = saved;
    inside = false;
    return chosen;
}

static bool fails(const char *function, const void *caller)
{
    if (!torture.ready && !inside) {
        inside = true;
        prepare();
        inside = false;
    }
    return !inside && image_of((uintptr_t)caller) && count_call(function);
}

static bool fails_with(const char *function, const void *caller, int usual_error)
{
    if (!fails(function, caller))
        return false;
    if (usual_error)
        errno = torture.error > 0 ? torture.error : usual_error;
    return true;
}

// ---- the functions ----
// glibc declares the first parameter of getrlimit as an enum of its own.
#define FAULT_RESOURCE __rlimit_resource_t
#define FAULT(result, name, parameters, arguments, failure, error)                                           \
    EXPORTED result name parameters                                                                          \
    {                                                                                                        \
        static result(*forward) parameters;                                                                  \
        if (fails_with(#name, CALLER, error))                                                                \
            return failure;                                                                                  \
        if (!forward) {                                                                                      \
            void *address = real(#name);                                                                     \
            memcpy(&forward, &address, sizeof forward);                                                      \
        }                                                                                                    \
        return forward arguments;                                                                            \
    }
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *image);
int __cxa_atexit(void (*function)(void *), void *context, void *image);
#include "faults.def"
#undef FAULT

// What looking a symbol up may need itself has other names in libc.
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

EXPORTED void *malloc(size_t bytes)
{
    return fails_with("malloc", CALLER, ENOMEM) ? NULL : __libc_malloc(bytes);
}

EXPORTED void *calloc(size_t count, size_t bytes)
{
    return fails_with("calloc", CALLER, ENOMEM) ? NULL : __libc_calloc(count, bytes);
}

EXPORTED void *realloc(void *memory, size_t bytes)
{
    return fails_with("realloc", CALLER, ENOMEM) ? NULL : __libc_realloc(memory, bytes);
}

EXPORTED int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (fails_with("open", CALLER, EMFILE))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

// As Linux does: the descriptor is gone, whatever it says.
EXPORTED int close(int fd)
{
    bool failed = fails("close", CALLER);
    int result = (int)syscall(SYS_close, fd);
    if (failed)
        errno = EIO;
    return failed ? -1 : result;
}

EXPORTED int fcntl(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (fails_with("fcntl", CALLER, EMFILE))
        return -1;
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

// How many bytes of `count` a transfer gets that is to fail by being short.
static size_t fewer(size_t count)
{
    return count > 1 ? count / 2 : 0;
}

// What the tap has to say about a failure is let through.
EXPORTED ssize_t write(int fd, const void *bytes, size_t count)
{
    if (fd != STDERR_FILENO && fails_with("write", CALLER, ENOSPC)) {
        if (torture.error != SHORT)
            return -1;
        count = fewer(count);
    }
    return syscall(SYS_write, fd, bytes, count);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    if (fails_with("pwrite", CALLER, ENOSPC)) {
        if (torture.error != SHORT)
            return -1;
        count = fewer(count);
    }
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

EXPORTED ssize_t pread(int fd, void *bytes, size_t count, off_t offset)
{
    if (fails_with("pread", CALLER, EIO)) {
        if (torture.error != SHORT)
            return -1;
        count = fewer(count);
    }
    return syscall(SYS_pread64, fd, bytes, count, offset);
}

// Of system calls only a wait, which may always end early.
EXPORTED long syscall(long number, ...)
{
    static long (*forward)(long, ...);
    va_list more;
    long values[6];
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        values[i] = va_arg(more, long);
    va_end(more);
    if (!forward) {
        void *address = real("syscall");
        memcpy(&forward, &address, sizeof forward);
    }
    bool waits = number == SYS_futex && (values[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    if (waits && fails_with("syscall", CALLER, EINTR))
        return -1;
    return forward(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
