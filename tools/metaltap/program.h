// SPDX-License-Identifier: MIT
// Finds the program to run as execvp would, and tells before it starts what would go wrong. One thread.
#ifndef MT_PROGRAM_H
#define MT_PROGRAM_H

#include <stddef.h>

// Fills `path` with the file to execute. 0; or the exit code (126, 127) after a message.
int mt_program_find(const char *name, const char *search, char *path, size_t size);
// Warns if the tap cannot be inserted into it, or into the interpreter of a script. 0; or the exit code after
// a message, if it cannot be executed.
int mt_program_check(const char *path);

// ---- what the system's dynamic loader does with inserted libraries: one file per system ----
extern const char mt_loader_variable[];   // LD_PRELOAD
extern const char mt_loader_library[];    // libmetaltap.so
extern const char mt_loader_separators[]; // bytes that end a name in that variable
// Why the loader would not insert a library into this program and what to do, in one line; empty if it would
// or if that is not known.
void mt_loader_refusal(const char *path, char *why, size_t size);

#endif
