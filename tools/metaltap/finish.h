// SPDX-License-Identifier: MIT
// What `metaltap run` does when the program has ended: reports that are missing, the summary, where the files
// are. One thread; everything goes to standard error, since standard output is the program's.
#ifndef MT_FINISH_H
#define MT_FINISH_H

#include "options/options.h"

#include <sys/types.h>

struct mt_finish {
    const struct mt_options *options;
    const char *place, *program; // pattern of the spools' folder; what was started
    uint64_t run;
    pid_t process;
    bool quiet;
};

void mt_finish(const struct mt_finish *finish);

#endif
