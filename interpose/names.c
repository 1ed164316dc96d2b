// SPDX-License-Identifier: MIT
// File names: patterns expanded, a number put in where a name is taken. Runs once, at the first device.
#include "names.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Where the extension begins, or the end.
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return dot && dot != path && dot[-1] != '/' ? dot : path + strlen(path);
}

static int number_name(char *path, unsigned attempt)
{
    if (attempt == 0 || !path[0])
        return 0;
    char tail[64], numbered[MT_OPTION_PATH_MAX];
    const char *extension = extension_of(path);
    if (attempt == 1)
        snprintf(tail, sizeof tail, "-%d", (int)getpid());
    else
        snprintf(tail, sizeof tail, "-%d-%u", (int)getpid(), attempt);
    int length =
        snprintf(numbered, sizeof numbered, "%.*s%s%s", (int)(extension - path), path, tail, extension);
    if (length < 0 || (size_t)length >= sizeof numbered)
        return -ENAMETOOLONG;
    memcpy(path, numbered, (size_t)length + 1);
    return 0;
}

static int expand(const char *pattern, char *path)
{
    return mt_options_expand_path(pattern, (uint32_t)getpid(), mt_tap.program, path, MT_OPTION_PATH_MAX);
}

static int spool_beside(const char *out, char *spool)
{
    int length = snprintf(spool, MT_OPTION_PATH_MAX, "%.*s.mtap", (int)(extension_of(out) - out), out);
    return length < 0 || length >= MT_OPTION_PATH_MAX ? -ENAMETOOLONG : 0;
}

int mt_names_choose(unsigned attempt)
{
    int result = expand(mt_tap.options.out, mt_tap.out);
    if (result == 0 && mt_tap.options.spool[0])
        result = expand(mt_tap.options.spool, mt_tap.spool);
    else if (result == 0 && mt_tap.out[0])
        result = spool_beside(mt_tap.out, mt_tap.spool);
    if (result == 0)
        result = number_name(mt_tap.out, attempt);
    return result ? result : number_name(mt_tap.spool, attempt);
}

int mt_names_remove_old_spool(void)
{
    struct mt_spool_header header;
    int fd = mt_os_open_read(mt_tap.spool);
    if (fd < 0)
        return -EEXIST;
    int64_t got = mt_os_read_at(fd, &header, sizeof header, 0);
    close(fd);
    if (got != sizeof header || memcmp(header.magic, MT_SPOOL_MAGIC, sizeof header.magic) != 0)
        return -EEXIST;
    if (header.run == mt_tap.run || (header.state == MT_SPOOL_RUNNING && mt_os_process_alive(header.pid)))
        return -EEXIST;
    return unlink(mt_tap.spool) ? -EEXIST : 0;
}

int mt_names_check_out(void)
{
    static const char head[] = "{\"schema\":\"metaltap-report/";
    char begin[sizeof head - 1];
    if (!mt_tap.out[0] || access(mt_tap.out, F_OK) != 0)
        return 0;
    int fd = mt_os_open_read(mt_tap.out);
    if (fd < 0)
        return -EEXIST;
    int64_t got = mt_os_read_at(fd, begin, sizeof begin, 0);
    close(fd);
    return got == sizeof begin && memcmp(begin, head, sizeof begin) == 0 ? 0 : -EEXIST;
}
