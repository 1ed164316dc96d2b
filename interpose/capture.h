// SPDX-License-Identifier: MIT
// The .gputrace capture: when it begins and ends (window.c) and how it is done (capture.c). The hooks call
// these on the program's threads, only while mt_tap.capture is set; a thread of capture.c's own stops the
// capture. One capture per process. Never stops inside commit or a handler, never holds a lock while it sends
// to Metal, and gives up with one line on standard error if Metal refuses.
#ifndef MT_CAPTURE_H
#define MT_CAPTURE_H

#include "objc/objc.h"

#include <stdbool.h>
#include <stdint.h>

// In the constructor: sets the variables that Metal wants to see before the first device, and mt_tap.capture.
void mt_capture_configure(void);
// Inside commandBuffer*, before it is forwarded: starts the capture if this is the first buffer of the
// window. The objects are those the program received.
void mt_capture_before_create(id device, id queue);
// The command buffer that came of it, or 0 if Metal gave none. True if it is one of those asked for; then its
// record gets MT_CB_CAPTURED. (Others that exist while a capture runs get the mark too: *disturbed.)
bool mt_capture_created(uint32_t command_buffer, bool *disturbed);
// For those that were made earlier: asked when they are committed and when they are done.
bool mt_capture_runs(void);
// Before commit is forwarded. Holds a buffer back that was not asked for, for a bounded time, until the
// capture has been stopped, unless the same thread still has to commit one that was.
void mt_capture_before_commit(uint32_t command_buffer);
void mt_capture_committed(uint32_t command_buffer);
// A buffer is done or was dropped without commit.
void mt_capture_finished(uint32_t command_buffer);
// A thread begins to wait for the GPU: a step ends.
void mt_capture_wait_begins(void);
// At exit: ends a capture that still runs and joins the thread.
void mt_capture_end(void);

#endif
