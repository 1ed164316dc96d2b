// SPDX-License-Identifier: MIT
// How the tap gets into a process on macOS. Inserted at launch (DYLD_INSERT_LIBRARIES, or linked), dyld
// itself redirects every bind and dlsym of the functions in entry_points.def by the table in
// __DATA,__interpose. In a library that was dlopen'd later that table means nothing, and fishhook rewrites
// the symbol pointers of the images there are and of each one added. Runs in the target, from the constructor
// and under dyld's lock in the notifications of new images; never touches the system's own libraries.
#include "entry.h"

#include "fishhook.h"

#include <crt_externs.h>
#include <dlfcn.h>
#include <errno.h>
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <mach/mach.h>
#include <stdint.h>

// ---- the replacements ----
// dyld exempts the library that holds the table, and rebind_image leaves it out: a call from here by the
// plain name is a call of the original.
#define ENTRY(result, name, parameters, arguments)                                                           \
    extern id name parameters;                                                                               \
    static id replace_##name parameters                                                                      \
    {                                                                                                        \
        id made = name arguments;                                                                            \
        mt_tap_##result(made);                                                                               \
        return made;                                                                                         \
    }
// Not linked with its framework, which would then be in every process the tap is in: CoreGraphics alone can
// change which GPU is the default. Without it the address is NULL, and dyld passes over such a pair.
#define ENTRY_ELSEWHERE(result, name, parameters, arguments)                                                 \
    extern id name parameters __attribute__((weak_import));                                                  \
    ENTRY(result, name, parameters, arguments)
#include "entry_points.def"
#undef ENTRY
#undef ENTRY_ELSEWHERE

// ---- at launch ----
struct interposed {
    const void *replacement, *original;
};
#define ENTRY(result, name, parameters, arguments) {(const void *)replace_##name, (const void *)name},
#define ENTRY_ELSEWHERE ENTRY
__attribute__((used, section("__DATA,__interpose,interposing"))) static const struct interposed pairs[] = {
#include "entry_points.def"
};
#undef ENTRY
#undef ENTRY_ELSEWHERE

// Asks dyld instead of guessing from the environment: it applies the table to what dlsym returns, whoever
// calls, but never to our own pointer. The two differ if the table is in force, even if other libraries'
// replacements are chained before or behind ours; they do not where the system forbids interposing.
bool mt_entry_at_launch(void)
{
    void *found = dlsym(RTLD_DEFAULT, "MTLCreateSystemDefaultDevice");
    return found && found != (void *)MTLCreateSystemDefaultDevice;
}

// ---- later ----
enum { ENTRIES = sizeof pairs / sizeof pairs[0] };

#define ENTRY(result, name, parameters, arguments) #name,
#define ENTRY_ELSEWHERE ENTRY
static const char *const names[ENTRIES] = {
#include "entry_points.def"
};
#undef ENTRY
#undef ENTRY_ELSEWHERE

// What fishhook is told, filled once before the first image is shown to it.
static struct late {
    struct rebinding rebindings[ENTRIES];
    size_t count;
} late;

extern const struct mach_header __dso_handle; // our own, from the linker

// A row without an original (its framework is not in the process) must stay out: nothing could be called.
static void choose_rebindings(void)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (pairs[i].original)
            late.rebindings[late.count++] = (struct rebinding){names[i], (void *)pairs[i].replacement, NULL};
}

// Not ours, which keeps the originals. Not the shared cache: its pointers are signed or cannot be written,
// and what Apple's frameworks make is of classes that mt_entry_all_devices leads to.
static bool may_rebind(const struct mach_header *image)
{
    return image != &__dso_handle && image->magic == MH_MAGIC_64 && !(image->flags & MH_DYLIB_IN_CACHE);
}

// dyld makes some segments read-only once their pointers are set, and old copies of fishhook write without
// asking. Segments that stay writable are left alone.
static bool protect_sealed(const struct mach_header *image, intptr_t slide, vm_prot_t protection)
{
    const char *at = (const char *)image + sizeof(struct mach_header_64);
    for (uint32_t i = 0; i < image->ncmds; i++) {
        const struct segment_command_64 *segment = (const void *)at;
        at += segment->cmdsize;
        if (segment->cmd != LC_SEGMENT_64 || !(segment->flags & SG_READ_ONLY))
            continue;
        vm_address_t start = (vm_address_t)segment->vmaddr + (vm_address_t)slide;
        if (vm_protect(mach_task_self(), start, segment->vmsize, false, protection) != KERN_SUCCESS)
            return false;
    }
    return true;
}

// Called by dyld for each image there is, and for each new one before its initializers run. fishhook gets
// them one by one, since it would itself take all of them.
static void rebind_image(const struct mach_header *image, intptr_t slide)
{
    if (!may_rebind(image))
        return;
    if (protect_sealed(image, slide, VM_PROT_READ | VM_PROT_WRITE | VM_PROT_COPY))
        rebind_symbols_image((void *)image, slide, late.rebindings, late.count);
    protect_sealed(image, slide, VM_PROT_READ);
}

// After dlclose, pointers into this library would remain everywhere.
static bool stay_loaded(void)
{
    Dl_info own;
    return dladdr(&__dso_handle, &own) && dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

int mt_entry_install(void)
{
    if (mt_entry_at_launch())
        return 0;
    if (!stay_loaded())
        return -ENOTSUP;
    choose_rebindings();
    _dyld_register_func_for_add_image(rebind_image);
    return 0;
}

id mt_entry_all_devices(void)
{
    return MTLCopyAllDevices();
}

// Programs built for macOS 11 and earlier have a variable of their own; this call knows which one counts.
char **mt_entry_environment(void)
{
    return *_NSGetEnviron();
}
