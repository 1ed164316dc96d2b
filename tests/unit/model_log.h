// SPDX-License-Identifier: MIT
// What tests of the model share: a visitor that writes down all it is told, and lookups in that. One thread.
#ifndef TESTS_UNIT_MODEL_LOG_H
#define TESTS_UNIT_MODEL_LOG_H

#include "model/model.h"
#include "unit/spool_maker.h"
#include "unit/test.h"

enum { LOG_MOST = 512 };
struct model_log {
    struct mt_spool *spool;
    struct mt_model *model;
    struct mt_command_buffer cbs[LOG_MOST];
    int64_t horizons[LOG_MOST]; // as each command buffer was delivered
    struct mt_encoder encoders[LOG_MOST];
    struct mt_dispatch dispatches[LOG_MOST];
    struct mt_wait waits[LOG_MOST];
    struct mt_memory_event memory[LOG_MOST];
    struct mt_capture_event_info captures[LOG_MOST];
    uint32_t cb_count, encoder_count, dispatch_count, wait_count, memory_count, capture_count;
    char order[LOG_MOST * 6 + 1]; // C, E, D, W, M, P in the order they came
};

static inline void log_order(struct model_log *log, char what)
{
    size_t length = strlen(log->order);
    if (length + 1 < sizeof log->order)
        log->order[length] = what;
}

#define LOG_VISIT(function, type, array, count, letter)                                                      \
    static inline void function(void *context, const struct mt_model *model, const struct type *it)          \
    {                                                                                                        \
        struct model_log *log = context;                                                                     \
        (void)model;                                                                                         \
        if (log->count < LOG_MOST)                                                                           \
            log->array[log->count++] = *it;                                                                  \
        log_order(log, letter);                                                                              \
    }
LOG_VISIT(log_encoder, mt_encoder, encoders, encoder_count, 'E')
LOG_VISIT(log_dispatch, mt_dispatch, dispatches, dispatch_count, 'D')
LOG_VISIT(log_wait, mt_wait, waits, wait_count, 'W')
LOG_VISIT(log_memory, mt_memory_event, memory, memory_count, 'M')
LOG_VISIT(log_capture, mt_capture_event_info, captures, capture_count, 'P')
#undef LOG_VISIT

static inline void log_cb(void *context, const struct mt_model *model, const struct mt_command_buffer *it)
{
    struct model_log *log = context;
    if (log->cb_count < LOG_MOST) {
        log->horizons[log->cb_count] = mt_model_horizon_ns(model);
        log->cbs[log->cb_count++] = *it;
    }
    log_order(log, 'C');
}

// Opens what the maker made and runs the model over it. Texts live until log_end.
static inline struct model_log *log_run(const struct spool_maker *maker)
{
    struct model_log *log = calloc(1, sizeof *log);
    struct mt_spool_error error = {""};
    if (!log)
        abort();
    int fd = nameless_file(maker->bytes, maker->size);
    if (!CHECK_EQ(mt_spool_open_fd(fd, "made", &log->spool, &error), 0) ||
        !CHECK_EQ(mt_model_open(log->spool, &log->model, &error), 0)) {
        printf("    %s\n", error.text);
        abort();
    }
    close(fd);
    const struct mt_model_visitor visitor = {
        .context = log,
        .command_buffer = log_cb,
        .encoder = log_encoder,
        .dispatch = log_dispatch,
        .wait = log_wait,
        .memory = log_memory,
        .capture = log_capture,
    };
    CHECK_EQ(mt_model_run(log->model, &visitor), 0);
    return log;
}

static inline void log_end(struct model_log *log)
{
    mt_model_close(log->model);
    mt_spool_close(log->spool);
    free(log);
}

static inline const struct mt_command_buffer *log_find_cb(const struct model_log *log, uint32_t id)
{
    static const struct mt_command_buffer none;
    for (uint32_t i = 0; i < log->cb_count; i++)
        if (log->cbs[i].id == id)
            return &log->cbs[i];
    CHECK(!"the command buffer was delivered");
    return &none;
}

static inline const struct mt_encoder *log_find_encoder(const struct model_log *log, uint32_t id)
{
    static const struct mt_encoder none;
    for (uint32_t i = 0; i < log->encoder_count; i++)
        if (log->encoders[i].id == id)
            return &log->encoders[i];
    CHECK(!"the encoder was delivered");
    return &none;
}

// A text as a string, for CHECK_STR; good until the next few calls.
static inline const char *as_string(struct mt_text text)
{
    static char buffers[4][256];
    static int next;
    char *buffer = buffers[next++ % 4];
    uint32_t length = text.length < 255 ? text.length : 255;
    if (length)
        memcpy(buffer, text.bytes, length);
    buffer[length] = 0;
    return buffer;
}

// The path of a debug group: "outer/inner".
static inline const char *group_path(const struct mt_model *model, uint32_t group)
{
    static char path[2048];
    path[0] = 0;
    for (uint32_t i = 0; i < mt_model_group_depth(model, group); i++) {
        strncat(path, i ? "/" : "", sizeof path - strlen(path) - 1);
        strncat(path, as_string(mt_model_group_name(model, group, i)), sizeof path - strlen(path) - 1);
    }
    return path;
}

#endif
