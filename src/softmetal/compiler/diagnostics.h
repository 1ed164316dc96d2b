// SPDX-License-Identifier: MIT
// Turns what clang says about the rewritten text into messages about the user's text.
#ifndef SOFTMETAL_COMPILER_DIAGNOSTICS_H
#define SOFTMETAL_COMPILER_DIAGNOSTICS_H

#include "text.h"

typedef struct sm_message_map {
    const char *file_name; // as in the line markers
    const char *source;    // the user's text, or NULL
    const char *rewritten; // the text clang saw, or NULL if it saw the user's
    const char *hidden[2]; // folders of ours: a leading one is cut off
    const char *unit;      // a file of ours: lines that name it are left out
} sm_message_map;

// Adds the messages to *out: columns are moved to the user's line, which is shown with a caret.
void sm_map_messages(const char *messages, const sm_message_map *map, sm_text *out);

#endif
