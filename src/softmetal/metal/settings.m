// SPDX-License-Identifier: MIT
// Reads softmetal's environment variables, once, when the first device is made. No other file of the Metal
// classes calls getenv. A value it does not know is told on stderr with the right ones, and never ends the
// program.
#import "metal/internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static sm_settings settings;

static void complain(const char *variable, const char *value, const char *expected)
{
    fprintf(stderr, "softmetal: %s=%s is not known; expected %s\n", variable, value, expected);
}

static const char *text_of(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

static bool flag_of(const char *variable)
{
    const char *value = text_of(variable);
    if (!value || !strcmp(value, "0"))
        return false;
    if (strcmp(value, "1") != 0)
        complain(variable, value, "0 or 1");
    return !strcmp(value, "1");
}

static sm_profile read_profile(void)
{
    static const char *const name[] = {
        [SM_PROFILE_APPLE] = "apple", [SM_PROFILE_AMD] = "amd", [SM_PROFILE_NONE] = "none"};
    const char *value = text_of("SOFTMETAL_PROFILE");
    if (!value)
        return SM_PROFILE_APPLE;
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
        if (!strcmp(value, name[i]))
            return (sm_profile)i;
    complain("SOFTMETAL_PROFILE", value, "apple, amd or none");
    return SM_PROFILE_APPLE;
}

static int read_debug_layer(void)
{
    const char *value = text_of("SOFTMETAL_DEBUG_LAYER");
    if (!value)
        return 0;
    if (value[0] >= '0' && value[0] <= '2' && !value[1])
        return value[0] - '0';
    complain("SOFTMETAL_DEBUG_LAYER", value, "0, 1 or 2");
    return 0;
}

// "name:N" with this name: stores N. True if the text is such a fault.
static bool numbered_fault(const char *text, const char *name, long *number)
{
    size_t length = strlen(name);
    if (strncmp(text, name, length) != 0 || text[length] != ':')
        return false;
    char *end;
    errno = 0;
    long value = strtol(text + length + 1, &end, 10);
    if (errno || end == text + length + 1 || *end || value < 0)
        return false;
    *number = value;
    return true;
}

static bool plain_fault(const char *text, const char *name, bool *flag)
{
    if (strcmp(text, name) != 0)
        return false;
    return *flag = true;
}

static void read_fault(const char *text)
{
    if (numbered_fault(text, "fail-cb", &settings.fail_command_buffer) ||
        numbered_fault(text, "fail-alloc", &settings.fail_allocation) ||
        plain_fault(text, "nil-counter-sets", &settings.nil_counter_sets) ||
        plain_fault(text, "zero-samples", &settings.zero_samples) ||
        plain_fault(text, "error-samples", &settings.error_samples))
        return;
    complain(
        "SOFTMETAL_FAULT", text,
        "fail-cb:N, fail-alloc:N, nil-counter-sets, zero-samples, error-samples, or several with commas");
}

static void read_faults(void)
{
    settings.fail_command_buffer = settings.fail_allocation = -1;
    const char *value = text_of("SOFTMETAL_FAULT");
    char *list = value ? strdup(value) : NULL;
    char *rest = NULL;
    for (char *item = list ? strtok_r(list, ",", &rest) : NULL; item; item = strtok_r(NULL, ",", &rest))
        read_fault(item);
    free(list);
}

static void read_settings(void)
{
    settings.profile = read_profile();
    settings.debug_layer = read_debug_layer();
    settings.capture_enabled = flag_of("METAL_CAPTURE_ENABLED") || flag_of("MTL_CAPTURE_ENABLED");
    settings.validate = flag_of("SOFTMETAL_VALIDATE");
    const char *log_path = text_of("SOFTMETAL_LOG");
    settings.log_path = log_path ? strdup(log_path) : NULL; // the program may change its environment later
    read_faults();
}

const sm_settings *sm_get_settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_settings);
    return &settings;
}
