// SPDX-License-Identifier: MIT
// Takes the .gputrace: starts it inside the creation of the window's first command buffer, holds back commits
// that would get into it unasked, stops it on a thread of its own. What belongs to the window is decided by
// window.c, where it is written by capture_output.c. Runs on the program's threads and that one thread. Sends
// nothing to Metal under its lock, and never waits without a limit on a thread of the program.
#include "capture.h"
#include "capture_output.h"
#include "entry.h"
#include "objc/sends.h"
#include "tap.h"
#include "window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
enum { REASON_BYTES = 768 };
static const uint64_t NO_LIMIT = UINT64_MAX;
static const uint64_t EDGE_NS = SECOND_NS / 5;   // for creations on the other side of the window's edge
static const uint64_t HOLD_NS = 2 * SECOND_NS;   // for a commit, while nothing of the window goes on
static const uint64_t METAL_NS = 30 * SECOND_NS; // for Metal to start, or to write a trace

static struct {
    mt_lock lock; // of `window`
    struct mt_window_state window;
    uint32_t changes; // counts what happened to `window`; threads sleep on it
    pid_t pid;
    bool has_thread;
    mt_os_thread thread;
    char path[MT_OUTPUT_PATH_MAX];
    bool said_refused, said_more, said_cut, said_unfinished;
} capture;

// Where this thread is: between the two calls that surround a creation, a commit.
static _Thread_local struct {
    bool is_creating, is_committing;
    enum mt_window_side side;
} here MT_TLS;

// ---- state ----
// In the child of a fork the capture is the parent's.
static bool is_ours(void)
{
    return capture.pid == getpid();
}

static struct mt_window_state *take(void)
{
    mt_lock_take(&capture.lock);
    return &capture.window;
}

// Wakes who waits for the state. Before the window begins, nobody does.
static void drop(void)
{
    bool is_quiet = capture.window.phase == MT_WINDOW_WAITING;
    mt_lock_drop(&capture.lock);
    if (is_quiet)
        return;
    __atomic_add_fetch(&capture.changes, 1, __ATOMIC_RELEASE);
    mt_os_wake_word(&capture.changes);
}

typedef bool condition(const struct mt_window_state *window);

static bool wait_for(condition *holds, uint64_t limit_ns)
{
    uint64_t begin = mt_os_clock_ns();
    for (;;) {
        uint32_t seen = __atomic_load_n(&capture.changes, __ATOMIC_ACQUIRE);
        mt_lock_take(&capture.lock);
        bool is_so = holds(&capture.window);
        mt_lock_drop(&capture.lock);
        if (is_so)
            return true;
        uint64_t passed = mt_os_clock_ns() - begin;
        if (passed >= limit_ns)
            return false;
        mt_os_wait_word(&capture.changes, seen, limit_ns == NO_LIMIT ? 0 : limit_ns - passed);
    }
}

static bool is_start_over(const struct mt_window_state *window)
{
    return window->phase != MT_WINDOW_STARTING;
}

static bool is_over(const struct mt_window_state *window)
{
    return window->phase == MT_WINDOW_OVER;
}

static bool is_stop_under_way(const struct mt_window_state *window)
{
    return window->phase >= MT_WINDOW_STOPPING;
}

static bool is_stop_due_or_over(const struct mt_window_state *window)
{
    return is_over(window) || mt_window_stop_due(window);
}

static bool is_front_clear(const struct mt_window_state *window)
{
    return mt_window_edge_clear(window, MT_WINDOW_INSIDE);
}

static bool is_back_clear(const struct mt_window_state *window)
{
    return mt_window_edge_clear(window, MT_WINDOW_BEHIND);
}

static void forget(void)
{
    __atomic_store_n(&mt_tap.capture, false, __ATOMIC_RELAXED);
}

// ---- on record ----
static void record(enum mt_capture_event event, const char *text, const struct mt_window_result *result)
{
    struct mt_rec_capture it = {
        .word = MT_REC_WORD(MT_REC_CAPTURE, mt_record_string(text, strlen(text))),
        .event = event,
    };
    if (result) {
        it.first = result->first;
        it.last = result->last;
        it.extra = result->extra;
    }
    mt_record_event(&it);
}

// `reason` has the cure behind a semicolon.
static void refused(const char *reason)
{
    mt_warn_once(&capture.said_refused, "capture not started: %s", reason);
    record(MT_CAPTURE_FAILED, reason, NULL);
    forget();
}

// ---- start ----
static bool is_set_to_other(const char *name)
{
    const char *value = getenv(name);
    return value && strcmp(value, "1") != 0;
}

// Both names are in use. What the user set stays; who forbids it with one is not outwitted with the other.
static void allow_captures(void)
{
    if (is_set_to_other("METAL_CAPTURE_ENABLED") || is_set_to_other("MTL_CAPTURE_ENABLED"))
        return;
    setenv("METAL_CAPTURE_ENABLED", "1", 0);
    setenv("MTL_CAPTURE_ENABLED", "1", 0);
}

void mt_capture_configure(void)
{
    int saved = errno;
    if (mt_tap.options.capture[0]) {
        memset(&capture, 0, sizeof capture);
        capture.pid = getpid();
        mt_window_begin(&capture.window, &mt_tap.options.window);
        allow_captures();
        mt_tap.capture = true;
    }
    errno = saved;
}

static void say_not_allowed(char *reason, size_t size)
{
    const char *name =
        is_set_to_other("METAL_CAPTURE_ENABLED") ? "METAL_CAPTURE_ENABLED" : "MTL_CAPTURE_ENABLED";
    if (is_set_to_other(name))
        snprintf(reason, size, "%s is set to '%s'; remove it or set it to 1", name, getenv(name));
    else
        snprintf(reason, size,
                 "Metal does not offer GPU trace documents in this process; set METAL_CAPTURE_ENABLED=1 "
                 "before the program starts%s",
                 mt_entry_at_launch() ? "" : ", or have metaltap there from its start (metaltap run)");
}

static bool start_document(id manager, id object, char *reason, size_t size)
{
    id descriptor = mt_objc_new("MTLCaptureDescriptor");
    id url = mt_objc_file_url(capture.path);
    id error = NULL;
    bool is_started = false;
    if (!descriptor || !url) {
        snprintf(reason, size, "%s cannot be made a file URL; choose a path in UTF-8", capture.path);
    } else {
        mtl_captureDescriptor_setCaptureObject(descriptor, object);
        mtl_captureDescriptor_setDestination(descriptor, MTL_CAPTURE_TO_DOCUMENT);
        mtl_captureDescriptor_setOutputURL(descriptor, url);
        is_started = mtl_captureManager_startCapture(manager, descriptor, &error);
        if (!is_started) {
            char text[REASON_BYTES / 2];
            mt_objc_error_text(error, text, sizeof text);
            snprintf(reason, size, "Metal says: %s; the program runs on without", text);
        }
    }
    mt_objc_release(url);
    mt_objc_release(descriptor);
    return is_started;
}

static bool start_metal(id object, char *reason, size_t size)
{
    id manager = mtl_captureManager_sharedCaptureManager((id)mt_objc_class("MTLCaptureManager"));
    if (!manager) {
        snprintf(reason, size, "there is no MTLCaptureManager; captures need macOS 10.15 or later");
        return false;
    }
    if (mtl_captureManager_isCapturing(manager)) {
        snprintf(reason, size,
                 "another capture runs in this process; switch the program's own off, or choose a window "
                 "behind it (METALTAP_WINDOW)");
        return false;
    }
    if (!mtl_captureManager_supportsDestination(manager, MTL_CAPTURE_TO_DOCUMENT)) {
        say_not_allowed(reason, size);
        return false;
    }
    return start_document(manager, object, reason, size);
}

static void stop_when_due(void *unused);

static bool try_start(id object, char *reason, size_t size)
{
    if (!mt_output_choose(capture.path, sizeof capture.path, reason, size))
        return false;
    struct mt_call ours;
    mt_calls_ours_begin(&ours);
    void *pool = mt_objc_pool_push();
    bool is_started = start_metal(object, reason, size);
    mt_objc_pool_pop(pool);
    mt_calls_ours_end(&ours);
    return is_started;
}

// The thread is there before the capture, since nobody else could stop it.
static void start(id object)
{
    char reason[REASON_BYTES];
    wait_for(is_front_clear, EDGE_NS);
    int rc = mt_os_thread_start(&capture.thread, "metaltap-trace", stop_when_due, NULL);
    if (rc)
        snprintf(reason, sizeof reason, "no thread can be made to stop it: %s; the program runs on without",
                 strerror(-rc));
    bool is_started = rc == 0 && try_start(object, reason, sizeof reason);
    if (is_started)
        record(MT_CAPTURE_STARTED, capture.path, NULL);
    mt_window_started(take(), is_started);
    capture.has_thread = rc == 0;
    drop();
    if (is_started)
        mt_log(MT_LOG_INFO, "capture started: %s", capture.path);
    else
        refused(reason);
}

// ---- stop ----
static void stop_metal(void)
{
    struct mt_call ours;
    mt_calls_ours_begin(&ours);
    void *pool = mt_objc_pool_push();
    id manager = mtl_captureManager_sharedCaptureManager((id)mt_objc_class("MTLCaptureManager"));
    mtl_captureManager_stopCapture(manager);
    mt_objc_pool_pop(pool);
    mt_calls_ours_end(&ours);
}

static void say_result(const struct mt_window_result *result)
{
    if (access(capture.path, F_OK) != 0) {
        char reason[REASON_BYTES];
        snprintf(reason, sizeof reason, "Metal wrote nothing to %s", capture.path);
        mt_warn_once(&capture.said_refused, "capture failed: %s; look for its own messages above", reason);
        record(MT_CAPTURE_FAILED, reason, NULL);
        return;
    }
    record(MT_CAPTURE_STOPPED, capture.path, result);
    mt_log(MT_LOG_INFO, "captured command buffers %u to %u: %s", result->first, result->last, capture.path);
    if (result->extra)
        mt_warn_once(
            &capture.said_more,
            "capture: command buffers in %s that were not asked for: %u; what was asked for could not "
            "finish without them",
            capture.path, result->extra);
    if (result->cut)
        mt_warn_once(&capture.said_cut,
                     "capture: cut off after %u command buffers; METALTAP_WINDOW=cb:N+K chooses others",
                     result->count);
    if (result->unfinished)
        mt_warn_once(&capture.said_unfinished,
                     "capture: %u of %u command buffers asked for had not finished when it was stopped",
                     result->unfinished, result->count);
}

static void stop_when_due(void *unused)
{
    (void)unused;
    wait_for(is_stop_due_or_over, NO_LIMIT);
    struct mt_window_state *window = take();
    bool is_due = window->phase == MT_WINDOW_RUNNING;
    if (is_due)
        mt_window_stops(window);
    drop();
    if (!is_due)
        return;
    stop_metal();
    window = take();
    struct mt_window_result result = mt_window_result(window);
    mt_window_stopped(window);
    drop();
    forget();
    say_result(&result);
}

// ---- what the hooks tell ----
static bool is_running(const struct mt_window_state *window)
{
    return window->phase == MT_WINDOW_RUNNING || window->phase == MT_WINDOW_STOPPING;
}

// True if a capture runs. Whoever waits for this creation may start one as soon as the lock is dropped.
static bool create_ends(uint32_t command_buffer)
{
    struct mt_window_state *window = take();
    bool has_capture = is_running(window);
    if (here.is_creating)
        mt_window_create_ends(window, here.side, command_buffer, mt_os_thread_id());
    else // made before the tap was there
        mt_window_seen(window, command_buffer);
    here.is_creating = false;
    drop();
    return has_capture;
}

void mt_capture_before_create(id device, id queue)
{
    if (!is_ours())
        return;
    int saved = errno;
    if (here.is_creating) // the last one came to nothing, and nobody said so
        create_ends(0);
    bool is_first;
    here.side = mt_window_create_begins(take(), &is_first);
    here.is_creating = true;
    drop();
    if (is_first)
        start(device ? device : queue);
    else if (here.side != MT_WINDOW_BEFORE)
        wait_for(is_start_over, METAL_NS);
    if (here.side == MT_WINDOW_BEHIND)
        wait_for(is_back_clear, EDGE_NS);
    errno = saved;
}

bool mt_capture_runs(void)
{
    if (!is_ours())
        return false;
    bool runs = is_running(take());
    drop();
    return runs;
}

bool mt_capture_created(uint32_t command_buffer, bool *disturbed)
{
    if (!is_ours())
        return false;
    bool is_wanted = here.is_creating && here.side == MT_WINDOW_INSIDE && command_buffer;
    *disturbed = create_ends(command_buffer);
    return is_wanted && *disturbed;
}

static uint32_t progress(void)
{
    uint32_t answer = take()->progress;
    mt_lock_drop(&capture.lock);
    return answer;
}

// Until the capture is about to stop, as long as it comes nearer to that; then until Metal has written it.
static enum mt_window_commit hold(void)
{
    uint32_t before;
    bool is_stopping;
    do {
        before = progress();
        is_stopping = wait_for(is_stop_under_way, HOLD_NS);
    } while (!is_stopping && progress() != before);
    if (is_stopping && wait_for(is_over, METAL_NS))
        return MT_WINDOW_PASS;
    enum mt_window_commit answer = mt_window_commit_forced(take());
    drop();
    return answer;
}

void mt_capture_before_commit(uint32_t command_buffer)
{
    if (!is_ours())
        return;
    int saved = errno;
    enum mt_window_commit answer = mt_window_commit_begins(take(), command_buffer, mt_os_thread_id());
    drop();
    if (answer == MT_WINDOW_HOLD)
        answer = hold();
    here.is_committing = answer == MT_WINDOW_TRACKED;
    errno = saved;
}

void mt_capture_committed(uint32_t command_buffer)
{
    (void)command_buffer;
    if (!is_ours() || !here.is_committing)
        return;
    mt_window_commit_ends(take());
    here.is_committing = false;
    drop();
}

void mt_capture_finished(uint32_t command_buffer)
{
    if (!is_ours())
        return;
    mt_window_finished(take(), command_buffer);
    drop();
}

void mt_capture_wait_begins(void)
{
    if (!is_ours())
        return;
    mt_window_waits(take());
    drop();
}

// ---- exit ----
static void say_never_began(uint64_t created, uint64_t steps)
{
    const struct mt_window *asked = &mt_tap.options.window;
    const char *kind = asked->kind == MT_WINDOW_CB ? "cb" : "step";
    char reason[REASON_BYTES];
    snprintf(reason, sizeof reason,
             "the program ended before %s:%llu, after %llu command buffers in %llu steps; choose an earlier "
             "window (METALTAP_WINDOW)",
             kind, (unsigned long long)asked->first, (unsigned long long)created, (unsigned long long)steps);
    refused(reason);
}

static void end_running(void)
{
    mt_window_end(take(), false);
    drop();
    if (wait_for(is_stop_under_way, HOLD_NS))
        return;
    mt_window_end(take(), true);
    drop();
}

// A program that ends without any command buffer is told nothing: it may be a helper of the one that was
// meant.
void mt_capture_end(void)
{
    if (!is_ours())
        return;
    int saved = errno;
    wait_for(is_start_over, HOLD_NS);
    const struct mt_window_state *window = take();
    enum mt_window_phase phase = window->phase;
    uint64_t created = window->created, steps = window->steps + (window->created_in_step > 0);
    mt_lock_drop(&capture.lock);
    if (phase == MT_WINDOW_WAITING && created)
        say_never_began(created, steps);
    else if (phase == MT_WINDOW_RUNNING)
        end_running();
    // A thread that hangs in Metal is left where it is.
    if (capture.has_thread && wait_for(is_over, METAL_NS)) {
        mt_os_thread_join(capture.thread);
        capture.has_thread = false;
    }
    forget();
    errno = saved;
}
