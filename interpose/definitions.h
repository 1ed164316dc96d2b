// SPDX-License-Identifier: MIT
// The stream of definitions: what all threads share and what is never overwritten, and the ids of texts.
// Internal to the recorder. Any thread may call anything, but none while it is interrupted in here: record.c
// sees to that.
#ifndef MT_DEFINITIONS_H
#define MT_DEFINITIONS_H

#include "segments.h"

// Begins the stream in a new file; what was defined before this start, here or in the parent, is copied.
int mt_definitions_start(void);
// False if there was no room.
bool mt_definitions_add(const void *record);
// 0 if there was no room; the length is not 0.
uint32_t mt_definitions_string(const char *text, size_t length);

void mt_definitions_lock_for_fork(void);
void mt_definitions_unlock_after_fork(void); // in both processes

#endif
