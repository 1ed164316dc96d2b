// SPDX-License-Identifier: MIT
// Function constants: what the program puts into MTLFunctionConstantValues, remembered per object so that a
// specialised function can be told from its siblings. Metal has no way to ask for it. Runs on the program's
// threads. Names and lists live in the tap's own memory; lists are used again.
#include "constants_text.h"
#include "hooks.h"
#include "know.h"
#include "objc/sends.h"

#include <errno.h>
#include <string.h>

enum { FIRST_ROOM = 8, ROOMS = 16, NAME_ROOM = 256, TEXT_ROOM = 4096, UTF8_ENCODING = 4 };

// What a list begins with while nobody uses it.
struct free_list {
    struct free_list *next;
};
struct kept_name {
    struct kept_name *next;
    char text[];
};

static struct {
    mt_lock lock;
    struct free_list *free[ROOMS]; // by size: FIRST_ROOM constants, twice that, ...
    struct kept_name *names;
    bool class_hooked;
} state;

// ---- names ----
// Programs have few names, and the same ones all the time.
static const char *keep_name(const char *text)
{
    mt_lock_take(&state.lock);
    struct kept_name *name = state.names;
    while (name && strcmp(name->text, text) != 0)
        name = name->next;
    if (!name) {
        name = mt_arena(sizeof *name + strlen(text) + 1);
        if (name) {
            strcpy(name->text, text);
            name->next = state.names;
            state.names = name;
        }
    }
    mt_lock_drop(&state.lock);
    return name ? name->text : NULL;
}

// A text that has no UTF-8 raises an exception when it is asked for it; its length there is 0.
static const char *name_of(id string)
{
    char text[NAME_ROOM];
    if (!string || mtl_string_lengthOfBytes(string, UTF8_ENCODING) == 0)
        return NULL;
    mt_objc_copy_utf8(string, text, sizeof text);
    return keep_name(text);
}

// ---- lists ----
static unsigned size_class(uint32_t room)
{
    unsigned size = 0;
    while (size < ROOMS && (uint32_t)FIRST_ROOM << size < room)
        size++;
    return size;
}

static struct mt_constant *take_list(unsigned size)
{
    mt_lock_take(&state.lock);
    struct free_list *list = state.free[size];
    if (list)
        state.free[size] = list->next;
    mt_lock_drop(&state.lock);
    if (list)
        return (struct mt_constant *)list;
    return mt_arena(((size_t)FIRST_ROOM << size) * sizeof(struct mt_constant));
}

static void give_list_back(struct mt_constants_entry *entry)
{
    if (!entry->list)
        return;
    unsigned size = size_class(entry->room);
    struct free_list *list = (struct free_list *)entry->list;
    entry->list = NULL;
    entry->room = entry->count = 0;
    mt_lock_take(&state.lock);
    list->next = state.free[size];
    state.free[size] = list;
    mt_lock_drop(&state.lock);
}

static bool make_room(struct mt_constants_entry *entry, uint32_t wanted)
{
    unsigned size = size_class(wanted);
    if (wanted <= entry->room || size == ROOMS)
        return wanted <= entry->room;
    uint32_t count = entry->count;
    struct mt_constant *list = take_list(size);
    if (!list)
        return false;
    if (count)
        memcpy(list, entry->list, count * sizeof *list);
    give_list_back(entry);
    entry->list = list;
    entry->count = count;
    entry->room = (uint32_t)FIRST_ROOM << size;
    return true;
}

static void set_one(struct mt_constants_entry *entry, const struct mt_constant *constant)
{
    uint32_t place = 0, after = entry->count;
    while (place < after) {
        uint32_t middle = (place + after) / 2;
        if (mt_constant_order(&entry->list[middle], constant) < 0)
            place = middle + 1;
        else
            after = middle;
    }
    if (place == entry->count || mt_constant_order(&entry->list[place], constant) != 0) {
        if (!make_room(entry, entry->count + 1))
            return;
        memmove(&entry->list[place + 1], &entry->list[place], (entry->count - place) * sizeof *entry->list);
        entry->count++;
    }
    entry->list[place] = *constant;
}

static struct mt_constants_entry *entry_of(id values)
{
    bool taken_over;
    struct mt_constants_entry *entry = mt_objects_find(MT_KIND_CONSTANTS, values);
    return entry ? entry : mt_objects_add(MT_KIND_CONSTANTS, values, &taken_over);
}

// `values` holds `range.length` of them, one behind the other; with a name it is one.
static void remember(id self, const void *values, uint32_t type, ns_range range, const char *name)
{
    int saved_errno = errno;
    struct mt_constants_entry *entry = values ? entry_of(self) : NULL;
    size_t size = mt_constant_size(type);
    if (!entry) {
        errno = saved_errno;
        return;
    }
    mt_lock_take(&entry->lock);
    for (NSUInteger i = 0; i < range.length; i++) {
        struct mt_constant constant = {.name = name, .index = (uint32_t)(range.location + i), .type = type};
        memcpy(constant.bytes, (const char *)values + i * size, size);
        set_one(entry, &constant);
    }
    mt_lock_drop(&entry->lock);
    errno = saved_errno;
}

static void copy_list(id from, id to)
{
    struct mt_constants_entry *source = mt_objects_find(MT_KIND_CONSTANTS, from);
    bool taken_over;
    struct mt_constants_entry *copy = source ? mt_objects_add(MT_KIND_CONSTANTS, to, &taken_over) : NULL;
    if (!copy)
        return;
    mt_lock_take(&source->lock);
    copy->count = 0;
    if (make_room(copy, source->count)) {
        copy->count = source->count;
        if (copy->count)
            memcpy(copy->list, source->list, copy->count * sizeof *copy->list);
    }
    mt_lock_drop(&source->lock);
}

uint32_t mt_constants_text(id constants)
{
    struct mt_constants_entry *entry = constants ? mt_objects_find(MT_KIND_CONSTANTS, constants) : NULL;
    if (!entry)
        return 0;
    char text[TEXT_ROOM];
    mt_lock_take(&entry->lock);
    size_t length = mt_constants_format(entry->list, entry->count, text, sizeof text);
    mt_lock_drop(&entry->lock);
    return mt_record_string(text, length);
}

// ---- hooks ----
// The class is a public one that programs instantiate themselves: there is no call of Metal's that would show
// it to us.
void mt_hook_constants_class(void)
{
    if (__atomic_exchange_n(&state.class_hooked, true, __ATOMIC_RELAXED))
        return;
    struct mt_ours ours;
    mt_ours_begin(&ours);
    id values = mt_objc_new("MTLFunctionConstantValues");
    mt_swizzle(values, MT_ROLE_CONSTANTS);
    mt_objc_release(values);
    mt_ours_end(&ours);
}

void mt_hook_CONSTANTS_setValueAtIndex(id self, SEL op, const void *value, NSUInteger type, NSUInteger index)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_CONSTANTS_setValueAtIndex);
    MT_FORWARD(call, void, const void *, NSUInteger, NSUInteger)(self, op, value, type, index);
    if (call.outermost)
        remember(self, value, (uint32_t)type, (ns_range){index, 1}, NULL);
    mt_call_end(&call);
}

void mt_hook_CONSTANTS_setValues(id self, SEL op, const void *values, NSUInteger type, ns_range range)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_CONSTANTS_setValues);
    MT_FORWARD(call, void, const void *, NSUInteger, ns_range)(self, op, values, type, range);
    if (call.outermost)
        remember(self, values, (uint32_t)type, range, NULL);
    mt_call_end(&call);
}

void mt_hook_CONSTANTS_setValueWithName(id self, SEL op, const void *value, NSUInteger type, id name)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_CONSTANTS_setValueWithName);
    MT_FORWARD(call, void, const void *, NSUInteger, id)(self, op, value, type, name);
    if (call.outermost) {
        struct mt_ours ours;
        mt_ours_begin(&ours);
        const char *kept = name_of(name);
        if (kept)
            remember(self, value, (uint32_t)type, (ns_range){0, 1}, kept);
        mt_ours_end(&ours);
    }
    mt_call_end(&call);
}

void mt_hook_CONSTANTS_reset(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_CONSTANTS_reset);
    MT_FORWARD(call, void)(self, op);
    struct mt_constants_entry *entry = mt_objects_find(MT_KIND_CONSTANTS, self);
    if (entry) {
        mt_lock_take(&entry->lock);
        entry->count = 0;
        mt_lock_drop(&entry->lock);
    }
    mt_call_end(&call);
}

// At any depth: a descriptor copies the values it is given, and Metal copies descriptors.
id mt_hook_CONSTANTS_copyWithZone(id self, SEL op, void *zone)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_CONSTANTS_copyWithZone);
    id copy = MT_FORWARD(call, id, void *)(self, op, zone);
    if (copy && copy != self) {
        int saved_errno = errno;
        mt_swizzle(copy, MT_ROLE_CONSTANTS);
        copy_list(self, copy);
        errno = saved_errno;
    }
    mt_call_end(&call);
    return copy;
}

void mt_hook_CONSTANTS_dealloc(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_CONSTANTS_dealloc);
    struct mt_constants_entry *entry = mt_objects_find(MT_KIND_CONSTANTS, self);
    if (entry) {
        give_list_back(entry);
        mt_objects_remove(&entry->o);
    }
    MT_FORWARD(call, void)(self, op);
    mt_call_end(&call);
}
