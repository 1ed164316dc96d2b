// SPDX-License-Identifier: MIT
// File names: patterns expanded, a number put in where a name is taken. Runs once, at the first device.
#include "names.h"
#include "tap.h"
#include "views/report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int mt_names_choose(unsigned attempt)
{
    return mt_options_file_names(&mt_tap.options, (uint32_t)getpid(), mt_tap.program, attempt, mt_tap.out,
                                 mt_tap.spool);
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
    static const char head[] = MT_REPORT_BEGINS;
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
