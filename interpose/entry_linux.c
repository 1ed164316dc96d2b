// SPDX-License-Identifier: MIT
// How the tap gets into a process on Linux. With LD_PRELOAD its functions stand in front of Metal's for every
// image that is bound, and its dlsym gives them out as well, as dyld does on macOS. Loaded later, it needs
// none of that: the classes of Metal's devices lead to everything, and if there is no Metal yet, a thread of
// our own waits for one.
#define _GNU_SOURCE
#include "entry.h"

#ifdef __linux__

#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum entry {
#define ENTRY(result, name, parameters, arguments) ENTRY_##name,
#define ENTRY_ELSEWHERE(result, name, parameters, arguments)
#include "entry_points.def"
#undef ENTRY
#undef ENTRY_ELSEWHERE
    ENTRIES
};

static struct {
    void *originals[ENTRIES]; // found when first needed; whoever finds one finds the same
    void *(*dlsym)(void *, const char *);
    uint32_t stop; // a word that ends the watch
} entries;

// ---- the originals ----
typedef void *(*dlsym_function)(void *, const char *);

static dlsym_function real_dlsym(void)
{
    dlsym_function found = __atomic_load_n(&entries.dlsym, __ATOMIC_RELAXED);
    if (found)
        return found;
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; !found && i < sizeof versions / sizeof *versions; i++) {
        void *address = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&found, &address, sizeof found);
    }
    __atomic_store_n(&entries.dlsym, found, __ATOMIC_RELAXED);
    return found;
}

// Behind us in the order of the loader, or in a library that was loaded out of that order.
static void *original(enum entry entry, const char *name)
{
    void *found = __atomic_load_n(&entries.originals[entry], __ATOMIC_RELAXED);
    if (found || !real_dlsym())
        return found;
    found = real_dlsym()(RTLD_NEXT, name);
    void *metal = found ? NULL : dlopen("libMetal.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (metal) {
        found = real_dlsym()(metal, name);
        dlclose(metal);
    }
    __atomic_store_n(&entries.originals[entry], found, __ATOMIC_RELAXED);
    return found;
}

// ---- the replacements ----
#define ENTRY(result, name, parameters, arguments)                                                           \
    EXPORTED id name parameters;                                                                             \
    id name parameters                                                                                       \
    {                                                                                                        \
        id(*forward) parameters;                                                                             \
        void *address = original(ENTRY_##name, #name);                                                       \
        memcpy(&forward, &address, sizeof forward);                                                          \
        id made = forward ? forward arguments : NULL;                                                        \
        mt_tap_##result(made);                                                                               \
        return made;                                                                                         \
    }
#define ENTRY_ELSEWHERE(result, name, parameters, arguments)
#include "entry_points.def"
#undef ENTRY
#undef ENTRY_ELSEWHERE

static const struct {
    const char *name;
    void *replacement;
} names[ENTRIES] = {
#define ENTRY(result, name, parameters, arguments) {#name, (void *)name},
#define ENTRY_ELSEWHERE(result, name, parameters, arguments)
#include "entry_points.def"
#undef ENTRY
#undef ENTRY_ELSEWHERE
};

static void *replaced(unsigned entry, void *found)
{
    if (found == names[entry].replacement)
        return original((enum entry)entry, names[entry].name) ? found : NULL;
    if (!found)
        return NULL;
    __atomic_store_n(&entries.originals[entry], found, __ATOMIC_RELAXED);
    return names[entry].replacement;
}

// The last call is a jump, so that the real function sees its true caller: what RTLD_NEXT means depends on
// it.
EXPORTED void *dlsym(void *handle, const char *name)
{
    dlsym_function forward = real_dlsym();
    if (!forward)
        return NULL;
    if (name[0] == 'M') {
        for (unsigned i = 0; i < ENTRIES; i++) {
            if (strcmp(name, names[i].name) == 0)
                return replaced(i, forward(handle, name));
        }
    }
    __attribute__((musttail)) return forward(handle, name);
}

// ---- at launch or later ----
extern char **environ;
char **mt_entry_environment(void)
{
    return environ;
}

// Libraries of the launch stand in the order in which they are searched, the C library behind those that were
// preloaded; what is loaded later comes at the end. Asking for a symbol would not tell: a library finds its
// own.
static struct link_map *image_of(const void *address)
{
    Dl_info info;
    void *image = NULL;
    return dladdr1(address, &info, &image, RTLD_DL_LINKMAP) ? image : NULL;
}

bool mt_entry_at_launch(void)
{
    dlsym_function in_libc = real_dlsym();
    void *address = NULL;
    memcpy(&address, &in_libc, sizeof address);
    const struct link_map *libc = address ? image_of(address) : NULL;
    const struct link_map *image = image_of(names[0].replacement);
    while (image && image != libc)
        image = image->l_next;
    return libc && image == libc;
}

id mt_entry_all_devices(void)
{
    id (*copy)(void);
    void *address = original(ENTRY_MTLCopyAllDevices, "MTLCopyAllDevices");
    memcpy(&copy, &address, sizeof copy);
    return copy ? copy() : NULL;
}

// Programs load Metal and use it; what they do in the first moments is not seen.
static void wait_for_metal(void *unused)
{
    (void)unused;
    static const uint64_t pause_ns = 20 * 1000 * 1000;
    while (!original(ENTRY_MTLCopyAllDevices, "MTLCopyAllDevices"))
        mt_os_wait_word(&entries.stop, 0, pause_ns);
    mt_tap_learn();
}

int mt_entry_install(void)
{
    if (mt_entry_at_launch() || original(ENTRY_MTLCopyAllDevices, "MTLCopyAllDevices"))
        return 0;
    mt_os_thread watcher;
    return mt_os_thread_start(&watcher, "metaltap-entry", wait_for_metal, NULL);
}

#endif
