// SPDX-License-Identifier: MIT
// The small sections of a report as a cJSON tree, from a spool or from a JSON report of any size: of the
// latter only the beginning is read. For views that show a summary. Runs in tools.
#ifndef MT_VIEWS_LOAD_H
#define MT_VIEWS_LOAD_H

#include <cjson/cJSON.h>

#include <stdbool.h>
#include <stddef.h>

enum { MT_LOAD_MAX_BYTES = 64 * 1024 * 1024 };

struct mt_loaded {
    cJSON *report;
    bool from_spool;
    bool cut; // a JSON report whose end is missing, behind what was needed here
};

// 0 or -errno with one line in `error`: -EINVAL it is neither, -EPROTO a version that we do not know,
// -ENODATA cut (how much was read is told), -EBADMSG damaged.
int mt_load(const char *path, struct mt_loaded *loaded, char *error, size_t error_size);
void mt_load_free(struct mt_loaded *loaded);

// Members by path of keys; NULL, and a number below 0 for what is absent or null.
const cJSON *mt_load_get(const cJSON *from, const char *key);
double mt_load_number(const cJSON *from, const char *key);
const char *mt_load_string(const cJSON *from, const char *key); // NULL if it is none

#endif
