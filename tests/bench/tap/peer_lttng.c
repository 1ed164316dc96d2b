// SPDX-License-Identifier: MIT
// LTTng-UST as a peer: a tracepoint with the fields of a dispatch. The session that takes its events is
// made by the script, before the program starts; without one the tracepoint is off and costs nothing, so
// that is an error here.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static int begin(const char *path)
{
    (void)path; // the session has one of its own
    struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 300 && !lttng_ust_tracepoint_enabled(metaltap_bench, dispatch); i++)
        nanosleep(&pause, NULL);
    return lttng_ust_tracepoint_enabled(metaltap_bench, dispatch) ? 0 : -ENOTCONN;
}

static void end(void) {}

static void dispatch(id self, SEL op, mtl_size groups, mtl_size threads)
{
    struct peer_fields fields = peer_fields_of(groups, threads);
    lttng_ust_tracepoint(metaltap_bench, dispatch, &fields);
    peer_original(self, op, groups, threads);
}

const struct peer peer_lttng = {"lttng", begin, NULL, dispatch, end};
