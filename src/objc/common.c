// SPDX-License-Identifier: MIT
// Objects, strings, URLs and errors between C and Foundation, in terms of the typed sends. Same on both
// runtimes. Never raises on bad input: what cannot be converted becomes nil, NULL or a text that says so.
#include "objc/sends.h"

#include <stdio.h>
#include <string.h>

enum { UTF8_ENCODING = 4 }; // NSUTF8StringEncoding

id mt_objc_new(const char *class_name)
{
    return mtl_object_init(mtl_object_alloc((id)mt_objc_class(class_name)));
}

bool mt_objc_responds(id object, const char *selector)
{
    return mtl_object_respondsToSelector(object, mt_objc_selector(selector));
}

// ---- strings ----
id mt_objc_string(const char *text)
{
    return text ? mt_objc_string_bytes(text, strlen(text)) : NULL;
}

id mt_objc_string_bytes(const char *text, size_t length)
{
    id string = mtl_object_alloc((id)mt_objc_class("NSString"));
    return mtl_string_initWithBytes(string, text, length, UTF8_ENCODING);
}

const char *mt_objc_utf8(id string)
{
    return mtl_string_UTF8String(string);
}

// Bytes 10xxxxxx continue a character; a cut before one would leave half of it.
static size_t cut_at_character(const char *text, size_t length)
{
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static size_t copy_text(const char *text, char *buffer, size_t size)
{
    size_t length = strlen(text);
    if (size == 0)
        return length;
    size_t kept = length < size ? length : cut_at_character(text, size - 1);
    memcpy(buffer, text, kept);
    buffer[kept] = '\0';
    return length;
}

size_t mt_objc_copy_utf8(id string, char *buffer, size_t size)
{
    void *pool = mt_objc_pool_push();
    const char *text = mt_objc_utf8(string);
    size_t length = copy_text(text ? text : "", buffer, size);
    mt_objc_pool_pop(pool);
    return length;
}

id mt_objc_file_url(const char *path)
{
    void *pool = mt_objc_pool_push();
    id string = mt_objc_string(path);
    id url = NULL;
    if (string)
        url = mt_objc_retain(mtl_url_fileURLWithPath((id)mt_objc_class("NSURL"), string));
    mt_objc_release(string);
    mt_objc_pool_pop(pool);
    return url;
}

// ---- errors ----
static size_t describe(id error, char *buffer, size_t size)
{
    const char *text = mt_objc_utf8(mtl_error_localizedDescription(error));
    const char *domain = mt_objc_utf8(mtl_error_domain(error));
    char tail[256];
    snprintf(tail, sizeof tail, " (%s, code %ld)", domain ? domain : "no domain", mtl_error_code(error));
    size_t length = copy_text(text ? text : "no description", buffer, size);
    size_t used = length < size ? length : size;
    return length + copy_text(tail, buffer + used, size - used);
}

size_t mt_objc_error_text(id error, char *buffer, size_t size)
{
    if (!error)
        return copy_text("unknown error", buffer, size);
    void *pool = mt_objc_pool_push();
    size_t length = describe(error, buffer, size);
    mt_objc_pool_pop(pool);
    return length;
}
