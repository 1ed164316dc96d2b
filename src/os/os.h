// SPDX-License-Identifier: MIT
// What the tap and the tools ask of the system, one file per system (os_linux.c, os_darwin.c). Functions
// return 0 or -errno unless they say otherwise. None allocates with malloc, prints, or changes errno where
// its comment says "hook-safe". Any thread may call anything here.
#ifndef MT_OS_H
#define MT_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- time ----
// The tick counter of records: the CPU's own where it is constant and the same on all cores, otherwise the
// clock below in nanoseconds. mt_os_ticks_init decides, once, before the first tick is read.
void mt_os_ticks_init(void);
uint64_t mt_os_ticks_per_second(void);                                    // what the system says, or 0
extern bool mt_os_ticks_from_clock __attribute__((visibility("hidden"))); // true: no usable counter
// The clock that Metal's GPU times are on, in nanoseconds: CLOCK_MONOTONIC, or mach_absolute_time.
uint64_t mt_os_clock_ns(void);
uint64_t mt_os_wall_ns(void); // since 1970

// The counter itself, for those who know that it is in use. Hook-safe, no fence.
static inline uint64_t mt_os_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return mt_os_clock_ns();
#endif
}

static inline uint64_t mt_os_ticks(void) // hook-safe
{
    return __builtin_expect(mt_os_ticks_from_clock, 0) ? mt_os_clock_ns() : mt_os_counter();
}

// ---- files ----
// Creates a file that did not exist, 0600, not through a link at its end, closed on exec. Gives the
// descriptor or -errno (-EEXIST, -ELOOP, ...).
int mt_os_create(const char *path);
// Opens an existing regular file for reading; -EINVAL if it is no regular file.
int mt_os_open_read(const char *path);
// Makes [offset, offset + bytes) of the file real: zeros on disk, so that writing to a mapping of it cannot
// fail later. -ENOSPC, -EDQUOT, or -EFBIG without the signal that goes with a file limit.
int mt_os_reserve(int fd, uint64_t offset, uint64_t bytes);
int mt_os_truncate(int fd, uint64_t bytes);
// Shared mapping of a reserved part. `populate` touches the pages for writing now, as far as the system can.
int mt_os_map_file(int fd, uint64_t offset, size_t bytes, bool populate, void **memory);
// Private zeroed memory straight from the system: what the tap uses in place of malloc.
int mt_os_map_memory(size_t bytes, void **memory);
void mt_os_unmap(void *memory, size_t bytes);
int mt_os_write_all(int fd, const void *bytes, size_t count);
int64_t mt_os_read_at(int fd, void *bytes, size_t count, uint64_t offset); // bytes read or -errno
int mt_os_rename(const char *from, const char *to);
int mt_os_free_bytes(const char *path_of_a_file_to_be, uint64_t *bytes);

// ---- processes ----
// The program's own path; cut to fit, always terminated. Returns its length or -errno.
int mt_os_program_path(char *buffer, size_t size);
// Calls `each` for the process's arguments in order; stops when it returns false.
void mt_os_arguments(bool (*each)(void *context, const char *argument), void *context);
void mt_os_host_name(char *buffer, size_t size);
void mt_os_system_name(char *buffer, size_t size); // "Linux 6.1.0 x86_64"
uint64_t mt_os_thread_id(void);                    // hook-safe
void mt_os_thread_name(char *buffer, size_t size); // of the calling thread; may be empty
bool mt_os_is_setuid(void);                        // more rights than the user who started it
bool mt_os_process_alive(uint32_t pid);
uint64_t mt_os_random(void);
int mt_os_remove_variable(const char *name);

// ---- threads of our own: all signals blocked, small stack, named, detached or joined by the caller ----
typedef struct mt_os_thread {
    uintptr_t handle;
} mt_os_thread;
int mt_os_thread_start(mt_os_thread *thread, const char *name, void (*run)(void *), void *argument);
void mt_os_thread_join(mt_os_thread thread);
// Sleeps until *word differs from `expected`, somebody wakes it, or the time is over (0: no limit).
void mt_os_wait_word(const uint32_t *word, uint32_t expected, uint64_t timeout_ns);
void mt_os_wake_word(const uint32_t *word); // all of them; hook-safe, cheap if nobody waits

#endif
