// SPDX-License-Identifier: MIT
// Libraries in all the forms they come in, and the functions taken from them. Runs on the program's threads
// and, for the forms with a completion handler, on Metal's. A library that could not be made is defined as
// well, with the reason.
#include "hooks.h"
#include "making.h"
#include "objc/sends.h"

enum { UTF8_ENCODING = 4 }; // NSUTF8StringEncoding

// ---- libraries ----
static void define_library(const struct mt_making *making, struct mt_object *entry, id object,
                           uint32_t number, uint32_t error)
{
    if (entry)
        ((struct mt_library_entry *)entry)->device = making->owner;
    struct mt_rec_library record = {
        .word = MT_REC_WORD(MT_REC_LIBRARY, number),
        .device = making->owner,
        .form = making->form | (making->is_async ? MT_LIBRARY_ASYNC : 0),
        .name = making->name ? making->name : mt_text_of(mtl_label(object)),
        .error = error,
        .begin = making->begin,
        .end = making->end,
        .source_bytes = making->source_bytes,
    };
    mt_record_define(&record);
}

static const struct mt_making_kind library_kind = {
    .kind = MT_KIND_LIBRARY,
    .role = MT_ROLE_LIBRARY,
    .counter = MT_COUNT_LIBRARY,
    .unexplained = "no such library",
    .define = define_library,
};

// `from` is what the library is made of: path, URL, bundle or source.
static void look_at_origin(struct mt_making *making, id from)
{
    switch (making->form) {
    case MT_LIBRARY_FILE:
        making->name = mt_text_of(from);
        break;
    case MT_LIBRARY_URL:
        making->name = mt_text_of(mtl_url_path(from));
        break;
    case MT_LIBRARY_BUNDLE:
        making->name = mt_text_of(mtl_bundle_bundlePath(from));
        break;
    case MT_LIBRARY_SOURCE:
        making->source_bytes = mtl_string_lengthOfBytes(from, UTF8_ENCODING);
        break;
    default:
        break;
    }
}

static void begin_library(struct mt_making *making, const struct mt_call *call, enum mt_library_form form,
                          id from, id *error)
{
    *making = (struct mt_making){.kind = &library_kind, .recorded = call->outermost, .form = form};
    if (call->outermost) {
        struct mt_ours ours;
        mt_ours_begin(&ours);
        struct mt_device_entry *device = mt_know_device(call->self);
        making->owner = device ? device->o.id : 0;
        look_at_origin(making, from);
        mt_ours_end(&ours);
    }
    mt_making_begin(making, error);
}

static id end_library(struct mt_making *making, struct mt_call *call, id library)
{
    mt_making_end(making, library);
    mt_call_end(call);
    return library;
}

id mt_hook_DEVICE_newDefaultLibrary(id self, SEL op)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newDefaultLibrary);
    begin_library(&making, &call, MT_LIBRARY_DEFAULT, NULL, NULL);
    return end_library(&making, &call, MT_FORWARD(call, id)(self, op));
}

// The forms that take one thing and an error; the forwarding is the same.
static id make_library(enum mt_hook hook, enum mt_library_form form, id self, SEL op, id from, id *error)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, hook);
    begin_library(&making, &call, form, from, error);
    return end_library(&making, &call, MT_FORWARD(call, id, id, id *)(self, op, from, making.place));
}

id mt_hook_DEVICE_newDefaultLibraryWithBundle(id self, SEL op, id bundle, id *error)
{
    return make_library(MT_HOOK_DEVICE_newDefaultLibraryWithBundle, MT_LIBRARY_BUNDLE, self, op, bundle,
                        error);
}

id mt_hook_DEVICE_newLibraryWithFile(id self, SEL op, id file, id *error)
{
    return make_library(MT_HOOK_DEVICE_newLibraryWithFile, MT_LIBRARY_FILE, self, op, file, error);
}

id mt_hook_DEVICE_newLibraryWithURL(id self, SEL op, id url, id *error)
{
    return make_library(MT_HOOK_DEVICE_newLibraryWithURL, MT_LIBRARY_URL, self, op, url, error);
}

id mt_hook_DEVICE_newLibraryWithData(id self, SEL op, id data, id *error)
{
    return make_library(MT_HOOK_DEVICE_newLibraryWithData, MT_LIBRARY_DATA, self, op, data, error);
}

id mt_hook_DEVICE_newLibraryStitched(id self, SEL op, id descriptor, id *error)
{
    return make_library(MT_HOOK_DEVICE_newLibraryStitched, MT_LIBRARY_OTHER, self, op, descriptor, error);
}

id mt_hook_DEVICE_newLibraryWithSource(id self, SEL op, id source, id options, id *error)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newLibraryWithSource);
    begin_library(&making, &call, MT_LIBRARY_SOURCE, source, error);
    id library = MT_FORWARD(call, id, id, id, id *)(self, op, source, options, making.place);
    return end_library(&making, &call, library);
}

void mt_hook_DEVICE_newLibraryWithSourceAsync(id self, SEL op, id source, id options, void *handler)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newLibraryWithSourceAsync);
    begin_library(&making, &call, MT_LIBRARY_SOURCE, source, NULL);
    void *ours = mt_making_handler(&making, handler);
    MT_FORWARD(call, void, id, id, void *)(self, op, source, options, ours ? ours : handler);
    mt_call_end(&call);
    mt_objc_block_release(ours);
}

void mt_hook_DEVICE_newLibraryStitchedAsync(id self, SEL op, id descriptor, void *handler)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newLibraryStitchedAsync);
    begin_library(&making, &call, MT_LIBRARY_OTHER, NULL, NULL);
    void *ours = mt_making_handler(&making, handler);
    MT_FORWARD(call, void, id, void *)(self, op, descriptor, ours ? ours : handler);
    mt_call_end(&call);
    mt_objc_block_release(ours);
}

// A library from before the tap was there.
static struct mt_library_entry *know_library_late(id library)
{
    bool define;
    struct mt_library_entry *entry =
        mt_know_claim(MT_KIND_LIBRARY, library, MT_COUNT_LIBRARY, false, &define);
    if (!define)
        return entry;
    struct mt_ours ours;
    mt_ours_begin(&ours);
    struct mt_device_entry *device = mt_know_device(mtl_device(library));
    struct mt_making making = {.form = MT_LIBRARY_OTHER, .owner = device ? device->o.id : 0};
    entry->made = mt_os_ticks();
    define_library(&making, &entry->o, library, entry->o.id, 0);
    mt_ours_end(&ours);
    return entry;
}

static uint32_t library_of(id self)
{
    struct mt_library_entry *library = mt_objects_find(MT_KIND_LIBRARY, self);
    if (!library)
        library = know_library_late(self);
    return library ? library->o.id : 0;
}

void mt_hook_LIBRARY_setLabel(id self, SEL op, id label)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_LIBRARY_setLabel);
    MT_FORWARD(call, void, id)(self, op, label);
    if (call.outermost)
        mt_record_label(MT_OBJECT_LIBRARY, library_of(self), label);
    mt_call_end(&call);
}

// ---- functions ----
static void define_function(const struct mt_making *making, struct mt_object *entry, id object,
                            uint32_t number, uint32_t error)
{
    (void)object;
    if (entry) {
        ((struct mt_function_entry *)entry)->name = making->name;
        ((struct mt_function_entry *)entry)->constants = making->constants;
    }
    struct mt_rec_function record = {
        .word = MT_REC_WORD(MT_REC_FUNCTION, number),
        .library = making->owner,
        .name = making->name,
        .constants = making->constants,
        .error = error,
    };
    mt_record_define(&record);
}

static const struct mt_making_kind function_kind = {
    .kind = MT_KIND_FUNCTION,
    .role = MT_ROLE_FUNCTION,
    .counter = MT_COUNT_FUNCTION,
    .unexplained = "no function of this name in the library",
    .define = define_function,
};

static void begin_function(struct mt_making *making, const struct mt_call *call, id name, id values,
                           id *error)
{
    *making = (struct mt_making){.kind = &function_kind, .recorded = call->outermost};
    if (call->outermost) {
        struct mt_ours ours;
        mt_ours_begin(&ours);
        making->owner = library_of(call->self);
        making->name = mt_text_of(name);
        making->constants = mt_constants_text(values);
        mt_ours_end(&ours);
    }
    mt_making_begin(making, error);
}

static void begin_described_function(struct mt_making *making, const struct mt_call *call, id descriptor,
                                     id *error)
{
    if (!call->outermost) {
        begin_function(making, call, NULL, NULL, error);
        return;
    }
    id name = NULL, values = NULL;
    struct mt_ours ours;
    mt_ours_begin(&ours);
    if (mt_objc_responds(descriptor, "specializedName")) {
        name = mtl_functionDescriptor_specializedName(descriptor);
        values = mtl_functionDescriptor_constantValues(descriptor);
    }
    begin_function(making, call, name ? name : mtl_name(descriptor), values, error);
    mt_ours_end(&ours);
}

static id end_function(struct mt_making *making, struct mt_call *call, id function)
{
    mt_making_end(making, function);
    mt_call_end(call);
    return function;
}

id mt_hook_LIBRARY_newFunction(id self, SEL op, id name)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_LIBRARY_newFunction);
    begin_function(&making, &call, name, NULL, NULL);
    return end_function(&making, &call, MT_FORWARD(call, id, id)(self, op, name));
}

id mt_hook_LIBRARY_newFunctionConstants(id self, SEL op, id name, id values, id *error)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_LIBRARY_newFunctionConstants);
    begin_function(&making, &call, name, values, error);
    id function = MT_FORWARD(call, id, id, id, id *)(self, op, name, values, making.place);
    return end_function(&making, &call, function);
}

void mt_hook_LIBRARY_newFunctionConstantsAsync(id self, SEL op, id name, id values, void *handler)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_LIBRARY_newFunctionConstantsAsync);
    begin_function(&making, &call, name, values, NULL);
    void *ours = mt_making_handler(&making, handler);
    MT_FORWARD(call, void, id, id, void *)(self, op, name, values, ours ? ours : handler);
    mt_call_end(&call);
    mt_objc_block_release(ours);
}

id mt_hook_LIBRARY_newFunctionDescriptor(id self, SEL op, id descriptor, id *error)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_LIBRARY_newFunctionDescriptor);
    begin_described_function(&making, &call, descriptor, error);
    id function = MT_FORWARD(call, id, id, id *)(self, op, descriptor, making.place);
    return end_function(&making, &call, function);
}

void mt_hook_LIBRARY_newFunctionDescriptorAsync(id self, SEL op, id descriptor, void *handler)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_LIBRARY_newFunctionDescriptorAsync);
    begin_described_function(&making, &call, descriptor, NULL);
    void *ours = mt_making_handler(&making, handler);
    MT_FORWARD(call, void, id, void *)(self, op, descriptor, ours ? ours : handler);
    mt_call_end(&call);
    mt_objc_block_release(ours);
}

void mt_hook_FUNCTION_setLabel(id self, SEL op, id label)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_FUNCTION_setLabel);
    MT_FORWARD(call, void, id)(self, op, label);
    struct mt_function_entry *function = call.outermost ? mt_objects_find(MT_KIND_FUNCTION, self) : NULL;
    if (function)
        mt_record_label(MT_OBJECT_FUNCTION, function->o.id, label);
    mt_call_end(&call);
}
