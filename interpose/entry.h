// SPDX-License-Identifier: MIT
// How the tap gets into a process: the contract between entry.c, which knows what to do with a device, and
// one file per system (entry_darwin.c, entry_linux.c), which knows how the functions of entry_points.def are
// replaced and how the originals are reached. Each replacement calls the original, shows the result to
// entry.c and returns it unchanged.
#ifndef MT_ENTRY_H
#define MT_ENTRY_H

#include "objc/objc.h"

#include <stdbool.h>

// ---- entry.c, called by the replacements on any thread; nil is allowed; errno is kept ----
void mt_tap_device(id device);
void mt_tap_device_array(id devices); // NSArray of devices

// Makes known what the program may have already, when the tap came late: each device, and by one throw-away
// queue, command buffer and encoder of each the classes of the rest.
void mt_tap_learn(void);

// ---- entry_<system>.c ----
// True if the replacements have been in place since before the program's own code ran, so that no device can
// have passed unseen. False if the library was loaded later. Does not change while the process lives.
bool mt_entry_at_launch(void);
// Called once by the constructor. At launch the loader has done the work already; later it is done here:
// every image now in the process and every one still to come gets the replacements. 0 or -errno: then devices
// are seen only if mt_entry_all_devices shows them.
int mt_entry_install(void);
// The devices there are, by the original function: an NSArray that the caller owns, or nil (no Metal in the
// process). For a library that came late: the program may have its devices already.
id mt_entry_all_devices(void);
// The program's variables, terminated by NULL. A library on macOS cannot rely on `environ`.
char **mt_entry_environment(void);

#endif
