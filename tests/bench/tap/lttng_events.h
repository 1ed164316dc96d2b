// SPDX-License-Identifier: MIT
// The tracepoint of peer_lttng.c, as LTTng-UST wants it declared: its headers read this file several times.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER metaltap_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/tap/lttng_events.h"

#if !defined(TESTS_BENCH_TAP_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TESTS_BENCH_TAP_LTTNG_EVENTS_H

#include "peers.h"

#include <lttng/tracepoint.h>

// clang-format off
// cppcheck-suppress unknownMacro
LTTNG_UST_TRACEPOINT_EVENT(
    metaltap_bench, dispatch,
    LTTNG_UST_TP_ARGS(const struct peer_fields *, fields),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint32_t, pipeline, fields->pipeline)
        lttng_ust_field_integer(uint32_t, grid_x, fields->grid[0])
        lttng_ust_field_integer(uint32_t, grid_y, fields->grid[1])
        lttng_ust_field_integer(uint32_t, grid_z, fields->grid[2])
        lttng_ust_field_integer(uint16_t, threadgroup_x, fields->threadgroup[0])
        lttng_ust_field_integer(uint16_t, threadgroup_y, fields->threadgroup[1])
        lttng_ust_field_integer(uint16_t, threadgroup_z, fields->threadgroup[2])
        lttng_ust_field_integer(uint16_t, memory, fields->threadgroup_memory)
    )
)
// clang-format on

#endif

#include <lttng/tracepoint-event.h>
