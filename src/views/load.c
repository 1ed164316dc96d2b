// SPDX-License-Identifier: MIT
// Loads the small sections: see load.h. A report is scanned byte by byte for the first section that is not
// needed; only what stands before it is kept and parsed.
#include "views/load.h"

#include "os/os.h"
#include "spool/format.h"
#include "views/file.h"
#include "views/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cJSON *mt_load_get(const cJSON *from, const char *key)
{
    return from ? cJSON_GetObjectItemCaseSensitive(from, key) : NULL;
}

double mt_load_number(const cJSON *from, const char *key)
{
    const cJSON *item = mt_load_get(from, key);
    return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

const char *mt_load_string(const cJSON *from, const char *key)
{
    return cJSON_GetStringValue(mt_load_get(from, key));
}

__attribute__((format(printf, 4, 5))) static int tell(char *error, size_t size, int result,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error, size, format, arguments);
    va_end(arguments);
    return result;
}

// ---- where the needed part ends ----
struct scan {
    int depth;
    bool in_text, escaped, key_next;
    size_t text_begin; // of the text at depth 1 that is being read, behind its quote
    size_t comma;      // the last one at depth 1
    size_t cut_at;     // the comma before the first section that is not needed; 0: not found yet
    char section[32];  // the last key at depth 1
};

static void end_key(struct scan *scan, const char *bytes, size_t end)
{
    size_t length = end - scan->text_begin;
    scan->key_next = false;
    if (length >= sizeof(scan->section))
        length = sizeof(scan->section) - 1;
    memcpy(scan->section, bytes + scan->text_begin, length);
    scan->section[length] = 0;
    if (!strcmp(scan->section, MT_REPORT_TABLE_ENDS))
        scan->cut_at = scan->comma;
}

static void scan_text(struct scan *scan, const char *bytes, size_t at)
{
    if (scan->escaped) {
        scan->escaped = false;
    } else if (bytes[at] == '\\') {
        scan->escaped = true;
    } else if (bytes[at] == '"') {
        scan->in_text = false;
        if (scan->depth == 1 && scan->key_next)
            end_key(scan, bytes, at);
    }
}

static void scan_byte(struct scan *scan, const char *bytes, size_t at)
{
    if (scan->in_text) {
        scan_text(scan, bytes, at);
        return;
    }
    switch (bytes[at]) {
    case '"':
        scan->in_text = true;
        scan->text_begin = at + 1;
        break;
    case '{':
    case '[':
        scan->key_next = ++scan->depth == 1;
        break;
    case '}':
    case ']':
        scan->depth--;
        break;
    case ',':
        if (scan->depth == 1) {
            scan->key_next = true;
            scan->comma = at;
        }
        break;
    default:
        break;
    }
}

struct text {
    char *bytes;
    size_t used, room;
};

// One more piece of the file; gives its size, 0 at the end, or -errno.
static int64_t read_more(int fd, struct text *text)
{
    enum { PIECE = 64 * 1024 };
    if (text->room - text->used < PIECE + 1) {
        size_t room = text->room ? text->room * 2 : (size_t)PIECE * 2;
        char *bytes = realloc(text->bytes, room);
        if (!bytes)
            return -ENOMEM;
        text->bytes = bytes;
        text->room = room;
    }
    int64_t count = mt_os_read_at(fd, text->bytes + text->used, PIECE, text->used);
    if (count > 0)
        text->used += (size_t)count;
    return count;
}

// Reads until the needed part is there, and leaves exactly that in `text`, closed and terminated.
static int read_needed(int fd, const char *path, struct text *text, char *error, size_t error_size)
{
    struct scan scan = {0};
    size_t at = 0;
    while (!scan.cut_at) {
        int64_t count = text->used < MT_LOAD_MAX_BYTES ? read_more(fd, text) : -EFBIG;
        if (count < 0)
            return tell(error, error_size, (int)count, "%s: its summary could not be read%s", path,
                        count == -EFBIG ? ": more than 64 MB" : "");
        for (; at < text->used && !scan.cut_at && (scan.depth > 0 || at == 0); at++)
            scan_byte(&scan, text->bytes, at);
        if (scan.depth == 0 && at > 0)
            break;
        if (!count)
            return tell(error, error_size, -ENODATA, "%s: cut after %zu bytes, in its section \"%s\"", path,
                        text->used, scan.section);
    }
    if (scan.cut_at) {
        text->bytes[scan.cut_at] = '}';
        at = scan.cut_at + 1;
    }
    text->bytes[at] = 0;
    return 0;
}

// Blanks do not count, as other programs may have laid the report out anew.
static bool ends_whole(int fd)
{
    static const char wanted[] = MT_REPORT_ENDS;
    char tail[64];
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < (off_t)sizeof(tail))
        return false;
    int64_t at = mt_os_read_at(fd, tail, sizeof(tail), (uint64_t)size - sizeof(tail));
    size_t left = sizeof(wanted) - 1;
    while (left && at-- > 0) {
        if (tail[at] == wanted[left - 1])
            left--;
        else if (tail[at] != ' ' && tail[at] != '\n' && tail[at] != '\r' && tail[at] != '\t')
            return false;
    }
    return !left;
}

static int load_json(int fd, const char *path, struct mt_loaded *loaded, char *error, size_t error_size)
{
    struct text text = {0};
    int result = read_needed(fd, path, &text, error, error_size);
    if (result)
        goto out;
    loaded->report = text.bytes ? cJSON_Parse(text.bytes) : NULL;
    const char *schema = mt_load_string(loaded->report, "schema");
    if (!loaded->report || !schema || !mt_load_get(loaded->report, "summary"))
        result = tell(error, error_size, -EBADMSG, "%s: damaged: the first %zu bytes are no report", path,
                      text.used);
    else if (strcmp(schema, MT_REPORT_SCHEMA) != 0)
        result = tell(error, error_size, -EPROTO, "%s: a report of form %.40s; this program knows %s", path,
                      schema, MT_REPORT_SCHEMA);
    loaded->cut = !ends_whole(fd);
out:
    free(text.bytes);
    return result;
}

static int load_spool(const char *path, struct mt_loaded *loaded, char *error, size_t error_size)
{
    struct mt_out out;
    bool whole;
    int result = mt_out_open_memory(&out);
    if (!result)
        result = mt_json_write(path, &out, MT_DETAIL_SUMMARY, &whole, error, error_size);
    const char *text = result ? NULL : mt_out_text(&out);
    loaded->from_spool = true;
    loaded->report = text ? cJSON_Parse(text) : NULL;
    if (!result && !loaded->report)
        result = -ENOMEM;
    if (out.error || result == -ENOMEM)
        result = tell(error, error_size, -ENOMEM, "%s: not enough memory for its summary", path);
    mt_out_free(&out);
    return result;
}

// {"schema":"metaltap-report/ with any blanks between, as other programs may have laid it out.
static bool begins_as_report(const char *head)
{
    static const char *const parts[] = {"{", "\"schema\"", ":", "\"metaltap-report/"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        head += strspn(head, " \t\r\n");
        if (strncmp(head, parts[i], strlen(parts[i])) != 0)
            return false;
        head += strlen(parts[i]);
    }
    return true;
}

static int tell_neither(const char *path, const char *head, int64_t count, char *error, size_t error_size)
{
    char bytes[16 * 3 + 1] = "";
    for (int64_t i = 0; i < count && i < 8; i++)
        (void)snprintf(bytes + i * 3, sizeof(bytes) - (size_t)i * 3, " %02x", (unsigned char)head[i]);
    if (!count)
        return tell(error, error_size, -EINVAL, "%s: empty: neither a metaltap spool nor a metaltap report",
                    path);
    return tell(error, error_size, -EINVAL,
                "%s: neither a metaltap spool nor a metaltap report (begins with%s)", path, bytes);
}

int mt_load(const char *path, struct mt_loaded *loaded, char *error, size_t error_size)
{
    char head[128] = "";
    int result = 0;
    *loaded = (struct mt_loaded){0};
    int fd = mt_os_open_read(path);
    if (fd < 0) {
        mt_file_tell(error, error_size, path, "cannot be read", fd);
        return fd;
    }
    int64_t count = mt_os_read_at(fd, head, sizeof(head) - 1, 0);
    if (count < 0) {
        mt_file_tell(error, error_size, path, "cannot be read", (int)count);
        result = (int)count;
    } else if (!memcmp(head, MT_SPOOL_MAGIC, sizeof(MT_SPOOL_MAGIC) - 1)) {
        result = load_spool(path, loaded, error, error_size);
    } else if (begins_as_report(head)) {
        result = load_json(fd, path, loaded, error, error_size);
    } else {
        result = tell_neither(path, head, count, error, error_size);
    }
    close(fd);
    if (result)
        mt_load_free(loaded);
    return result;
}

void mt_load_free(struct mt_loaded *loaded)
{
    cJSON_Delete(loaded->report);
    loaded->report = NULL;
}
