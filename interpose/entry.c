// SPDX-License-Identifier: MIT
// The tap's life in a process: what it is told to do, its start at the first device, the fork, the exit. The
// constructor reads the options and touches nothing else; a program that never asks for a device is left as
// it is, but for one variable. Never sends a message late in exit: the flush is registered with the first
// device and so runs before the program's libraries are taken down.
#include "entry.h"
#include "capture.h"
#include "names.h"
#include "objc/sends.h"
#include "tap.h"
#include "version.h"
#include "views/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mt_tap mt_tap;

static struct {
    pthread_mutex_t starting;
    bool fork_watched, exit_registered, no_spool, out_taken, option_problem;
} life = {.starting = PTHREAD_MUTEX_INITIALIZER};

// ---- options ----
static void ignore_problem(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static void say_problem(void *context, const char *text)
{
    (void)context;
    mt_log(MT_LOG_WARN, "%s", text);
}

static void read_program_name(void)
{
    char path[4096];
    if (mt_os_program_path(path, sizeof path) < 0)
        path[0] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(mt_tap.program, sizeof mt_tap.program, "%s", slash ? slash + 1 : path);
}

// Processes of one run know each other by this number, so that none writes over another's files.
static void read_run(void)
{
    const char *given = getenv("METALTAP_RUN");
    char *end = NULL;
    mt_tap.run = given ? strtoull(given, &end, 16) : 0;
    if (mt_tap.run && end && !*end)
        return;
    char text[17];
    mt_tap.run = mt_os_random() | 1;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)mt_tap.run);
    setenv("METALTAP_RUN", text, 1);
}

static bool is_wanted(void)
{
    const struct mt_options *options = &mt_tap.options;
    if (mt_os_is_setuid() || !(options->out[0] || options->spool[0] || options->capture[0]))
        return false;
    return !options->only[0] || mt_options_glob(options->only, mt_tap.program);
}

// ---- what is known of the process ----
static uint32_t string(const char *text)
{
    return mt_record_string(text, strlen(text));
}

static void define_text(enum mt_text_kind kind, const char *name, uint32_t number, const char *text)
{
    struct mt_rec_text record = {
        .word = MT_REC_WORD(MT_REC_TEXT, string(text)),
        .kind = kind,
        .name = name ? string(name) : 0,
        .number = number,
    };
    mt_record_define(&record);
}

static bool define_argument(void *context, const char *argument)
{
    enum { MOST = 256 };
    uint32_t *number = context;
    define_text(MT_TEXT_ARGUMENT, NULL, *number, argument);
    return ++*number < MOST;
}

static void define_process(void)
{
    char text[1024];
    struct mt_rec_process record = {.word = MT_REC_WORD(MT_REC_PROCESS, 0), .parent = (uint32_t)getppid()};
    if (mt_os_program_path(text, sizeof text) > 0)
        record.program = string(text);
    mt_os_host_name(text, sizeof text);
    record.host = string(text);
    mt_os_system_name(text, sizeof text);
    record.system = string(text);
    record.tap_version = string(MT_VERSION);
    mt_record_define(&record);
    uint32_t number = 0;
    mt_os_arguments(define_argument, &number);
    for (char **variable = mt_entry_environment(); variable && *variable; variable++) {
        char *value = strchr(*variable, '=');
        if (strncmp(*variable, "METALTAP_", 9) != 0 || !value || (size_t)(value - *variable) >= sizeof text)
            continue;
        memcpy(text, *variable, (size_t)(value - *variable));
        text[value - *variable] = '\0';
        define_text(MT_TEXT_OPTION, text, 0, value + 1);
    }
}

// ---- start ----
static void recording_stopped(const char *text)
{
    mt_log(MT_LOG_WARN, "%s", text);
}

static int start_spool(void)
{
    enum { ATTEMPTS = 100 };
    for (unsigned attempt = 0; attempt < ATTEMPTS;) {
        int result = mt_names_choose(attempt);
        if (result)
            return result;
        if (mt_names_check_out() != 0) {
            attempt++;
            continue;
        }
        const struct mt_record_setup setup = {
            .path = mt_tap.spool,
            .keep_bytes = mt_tap.options.keep,
            .run = mt_tap.run,
            .warn = recording_stopped,
        };
        result = mt_record_start(&setup);
        if (result != -EEXIST && result != -ELOOP)
            return result;
        if (result == -ELOOP || mt_names_remove_old_spool() != 0)
            attempt++;
    }
    return -EEXIST;
}

static void begin_recording(void)
{
    if (!mt_tap.options.out[0] && !mt_tap.options.spool[0])
        return;
    int result = start_spool();
    if (result) {
        mt_log(MT_LOG_WARN, "cannot record into %s: %s; the program runs on without", mt_tap.spool,
               strerror(-result));
        mt_tap.out[0] = '\0';
        return;
    }
    define_process();
    mt_log(MT_LOG_INFO, "recording into %s", mt_tap.spool);
}

static void finish(void);

static void start(void)
{
    int saved = errno;
    pthread_mutex_lock(&life.starting);
    if (!mt_tap.started) {
        mt_options_from_environment(&mt_tap.options, mt_entry_environment(), say_problem, NULL);
        mt_tap.add_scheduled = mt_objc_selector("addScheduledHandler:");
        mt_tap.add_completed = mt_objc_selector("addCompletedHandler:");
        if (!life.exit_registered)
            life.exit_registered = atexit(finish) == 0;
        if (!life.exit_registered)
            mt_log(MT_LOG_WARN, "no memory to be called at exit; metaltap report reads what is recorded");
        begin_recording();
        __atomic_store_n(&mt_tap.started, true, __ATOMIC_RELEASE);
        mt_hook_constants_class();
    }
    pthread_mutex_unlock(&life.starting);
    errno = saved;
}

static bool ready(void)
{
    if (!mt_calls_wanted || !mt_objc_available())
        return false;
    if (!__atomic_load_n(&mt_tap.started, __ATOMIC_ACQUIRE))
        start();
    return true;
}

void mt_tap_device(id device)
{
    if (device && ready())
        mt_know_device(device);
}

void mt_tap_device_array(id devices)
{
    if (!devices || !ready())
        return;
    struct mt_call ours;
    mt_calls_ours_begin(&ours);
    NSUInteger count = mtl_array_count(devices);
    for (NSUInteger i = 0; i < count; i++)
        mt_know_device(mtl_array_objectAtIndex(devices, i));
    mt_calls_ours_end(&ours);
}

// ---- late ----
static void learn_classes(id device)
{
    id queue = mtl_device_newCommandQueue(device);
    mt_swizzle(queue, MT_ROLE_QUEUE);
    id commands = mtl_commandQueue_commandBuffer(queue);
    mt_swizzle(commands, MT_ROLE_COMMAND_BUFFER);
    id compute = mtl_commandBuffer_computeCommandEncoder(commands);
    mt_swizzle(compute, MT_ROLE_COMPUTE);
    mtl_encoder_endEncoding(compute);
    id blit = mtl_commandBuffer_blitCommandEncoder(commands);
    mt_swizzle(blit, MT_ROLE_BLIT);
    mtl_encoder_endEncoding(blit);
    id event = mtl_device_newSharedEvent(device);
    mt_swizzle(event, MT_ROLE_SHARED_EVENT);
    mt_objc_release(event);
    mt_objc_release(queue);
}

void mt_tap_learn(void)
{
    int saved = errno;
    if (!mt_calls_wanted || !mt_objc_available())
        return;
    void *pool = mt_objc_pool_push();
    id devices = mt_entry_all_devices();
    mt_tap_device_array(devices);
    struct mt_call ours;
    mt_calls_ours_begin(&ours);
    for (NSUInteger i = 0; i < mtl_array_count(devices); i++)
        learn_classes(mtl_array_objectAtIndex(devices, i));
    mt_calls_ours_end(&ours);
    mt_objc_release(devices);
    mt_objc_pool_pop(pool);
    errno = saved;
}

// ---- exit and fork ----
static void write_report(void)
{
    char error[MT_OPTION_ERROR_MAX];
    if (!mt_tap.out[0])
        return;
    int result = mt_report_json(mt_tap.spool, mt_tap.out, mt_tap.options.detail, error, sizeof error);
    if (result)
        mt_log(MT_LOG_WARN, "no report: %s; the record is in %s (metaltap report %s)", error, mt_tap.spool,
               mt_tap.spool);
    else
        mt_log(MT_LOG_INFO, "report in %s", mt_tap.out);
}

static void finish(void)
{
    int saved = errno;
    if (mt_calls_wanted && mt_tap.started) {
        if (mt_tap.options.capture[0])
            mt_capture_end();
        bool recorded = mt_record_path() != NULL;
        mt_record_stop();
        __atomic_store_n(&mt_calls_wanted, false, __ATOMIC_RELAXED);
        if (recorded)
            write_report();
    }
    errno = saved;
}

static void after_fork(void)
{
    int saved = errno;
    mt_record_after_fork();
    mt_objects_after_fork();
    mt_swizzle_after_fork();
    mt_tap.capture = false;
    if (mt_tap.options.follow != MT_FOLLOW_FORK)
        __atomic_store_n(&mt_calls_wanted, false, __ATOMIC_RELAXED);
    else if (mt_calls_wanted && mt_tap.started)
        begin_recording();
    errno = saved;
}

__attribute__((constructor)) static void enter(void)
{
    int saved = errno;
    mt_options_defaults(&mt_tap.options);
    mt_options_from_environment(&mt_tap.options, mt_entry_environment(), ignore_problem, NULL);
    read_program_name();
    mt_calls_wanted = is_wanted();
    if (mt_calls_wanted) {
        read_run();
        if (mt_tap.options.capture[0])
            mt_capture_configure();
        pthread_atfork(NULL, NULL, after_fork);
        mt_entry_install();
        if (!mt_entry_at_launch())
            mt_tap_learn();
    }
    errno = saved;
}
