// SPDX-License-Identifier: MIT
// Where a capture is written: a name that is free, in a folder that can take it. Runs on the thread that
// starts the capture; creates nothing, sends nothing to Metal.
#ifndef MT_CAPTURE_OUTPUT_H
#define MT_CAPTURE_OUTPUT_H

#include "options/options.h"

enum { MT_OUTPUT_PATH_MAX = 2 * MT_OPTION_PATH_MAX };

// The absolute path to write to, from METALTAP_CAPTURE. False if none will do; `reason` says why and, behind
// a semicolon, what helps.
bool mt_output_choose(char *path, size_t size, char *reason, size_t reason_size);

#endif
