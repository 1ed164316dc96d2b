// SPDX-License-Identifier: MIT
// An inference engine in plain C, in the manner of those that are written so: a graph of operations for the
// prompt and one for each token, cut into one to three command buffers that are made without retained
// references, enqueued, encoded with concurrent dispatches and barriers, and waited for at the end. Prints
// each command buffer as a line of JSON. Knows nothing of where or under what it runs.
#include "objc/sends.h"
#include "targets/stranger_said.h"

enum { WIDTH = 256, TOKENS = 6, LAYERS = 3, MOST_PARTS = 3, MOST_NODES = 32 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "constant int rows [[function_constant(0)]];\n"
    "kernel void kernel_mul_mm(device float *x [[buffer(0)]], constant uint &layer [[buffer(1)]],\n"
    "                          uint i [[thread_position_in_grid]]) { x[i] = x[i] * 0.5f + layer; }\n"
    "kernel void kernel_mul_mv(device float *x [[buffer(0)]], constant uint &layer [[buffer(1)]],\n"
    "                          uint i [[thread_position_in_grid]]) { x[i] = x[i] * 0.5f + layer + rows; }\n"
    "kernel void kernel_rms_norm(device float *x [[buffer(0)]], threadgroup float *sum [[threadgroup(0)]],\n"
    "                            uint i [[thread_position_in_grid]], uint t "
    "[[thread_index_in_threadgroup]])\n"
    "{\n"
    "    sum[t] = x[i];\n"
    "    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);\n"
    "    x[i] = sum[t];\n"
    "}\n"
    "kernel void kernel_add(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; "
    "}\n";

enum op { OP_MUL_MM, OP_MUL_MV, OP_NORM, OP_ADD, OPS };
static const char *const kernel_names[OPS] = {"kernel_mul_mm", "kernel_mul_mv", "kernel_rms_norm",
                                              "kernel_add"};
static const char *const printed_names[OPS] = {"kernel_mul_mm", "kernel_mul_mv 0=7", "kernel_rms_norm",
                                               "kernel_add"};

struct node {
    enum op op;
    uint32_t layer, rows;
    bool needs_barrier;
};
struct graph {
    const char *name;
    int nodes, parts;
    struct node node[MOST_NODES];
};
struct engine {
    id device, queue, data, pipelines[OPS];
    unsigned buffers; // made so far
};
struct part {
    id buffer;
    struct said said;
};

// ---- setting up ----
static int give_up(const char *what, id error)
{
    char text[1024];
    mt_objc_error_text(error, text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(1);
}

static id make_pipeline(id device, id library, enum op op)
{
    id error = NULL, name = mt_objc_string(kernel_names[op]);
    id constants = mt_objc_new("MTLFunctionConstantValues"), function;
    const int32_t rows = 7;
    mtl_constants_setValueAtIndex(constants, &rows, MTL_TYPE_INT, 0);
    if (op == OP_MUL_MV)
        function = mtl_library_newFunctionWithConstants(library, name, constants, &error);
    else
        function = mtl_library_newFunctionWithName(library, name);
    id pipeline = function ? mtl_device_newComputePipelineState(device, function, &error) : NULL;
    if (!pipeline)
        give_up(kernel_names[op], error);
    mt_objc_release(function);
    mt_objc_release(constants);
    mt_objc_release(name);
    return pipeline;
}

static void start(struct engine *engine)
{
    id error = NULL, text = mt_objc_string(source), label = mt_objc_string("engine");
    engine->device = MTLCreateSystemDefaultDevice();
    engine->queue = mtl_device_newCommandQueue(engine->device);
    mtl_setLabel(engine->queue, label);
    engine->data =
        mtl_device_newBufferWithLength(engine->device, WIDTH * 8 * sizeof(float), MTL_STORAGE_SHARED);
    id library = mtl_device_newLibraryWithSource(engine->device, text, NULL, &error);
    if (!library)
        give_up("library", error);
    for (enum op op = 0; op < OPS; op++)
        engine->pipelines[op] = make_pipeline(engine->device, library, op);
    mt_objc_release(library);
    mt_objc_release(label);
    mt_objc_release(text);
}

static void stop(struct engine *engine)
{
    for (enum op op = 0; op < OPS; op++)
        mt_objc_release(engine->pipelines[op]);
    mt_objc_release(engine->data);
    mt_objc_release(engine->queue);
    mt_objc_release(engine->device);
}

static struct graph make_graph(const char *name, enum op product, uint32_t rows)
{
    struct graph graph = {.name = name};
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        const enum op ops[] = {OP_NORM, product, product, OP_ADD};
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
            graph.node[graph.nodes++] = (struct node){ops[i], layer, rows, i != 2};
    }
    return graph;
}

// ---- encoding ----
static void say_begin(struct part *part, const struct engine *engine, const char *label)
{
    said_open(&part->said, "{");
    said_key_number(&part->said, "command_buffer", engine->buffers);
    said_key_number(&part->said, "queue", 0);
    said_key_text(&part->said, "label", label);
    said_key_text(&part->said, "end", "completed");
    said_key_text(&part->said, "flags", "unretained");
    said_key_number(&part->said, "enqueued", 1);
    said_key_number(&part->said, "handlers", 0);
    said_key_number(&part->said, "waits_scheduled", 0);
    said_key_number(&part->said, "event_waits", 0);
    said_key_number(&part->said, "event_signals", 0);
    said_key(&part->said, "encoders");
    said_open(&part->said, "[");
}

static void say_dispatch(struct said *said, const struct node *node, const char *form, mtl_size grid,
                         mtl_size threads, const char *group)
{
    said_open(said, "[");
    said_text(said, printed_names[node->op]);
    said_text(said, form);
    said_three(said, grid.width, grid.height, grid.depth);
    said_three(said, threads.width, threads.height, threads.depth);
    said_number(said, WIDTH * sizeof(float));
    said_number(said, node->needs_barrier);
    said_open(said, "[");
    said_text(said, group);
    said_close(said, "]");
    said_close(said, "]");
}

static void encode_node(const struct engine *engine, id encoder, const struct node *node, struct said *said)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%u", kernel_names[node->op] + strlen("kernel_"), node->layer);
    id group = mt_objc_string(name);
    mtl_pushDebugGroup(encoder, group);
    if (node->needs_barrier)
        mtl_compute_memoryBarrierWithScope(encoder, 1);
    mtl_compute_setComputePipelineState(encoder, engine->pipelines[node->op]);
    mtl_compute_setBuffer(encoder, engine->data, 0, 0);
    mtl_compute_setBytes(encoder, &node->layer, sizeof node->layer, 1);
    mtl_size threads = mtl_size_make(node->op == OP_NORM ? WIDTH : 32, 1, 1);
    if (node->op == OP_ADD) {
        mtl_size grid = mtl_size_make((NSUInteger)WIDTH * node->rows - 5, 1, 1);
        mtl_compute_dispatchThreads(encoder, grid, threads);
        say_dispatch(said, node, "threads", grid, threads, name);
    } else {
        mtl_size groups = mtl_size_make(WIDTH / threads.width, node->rows, 1);
        mtl_compute_dispatchThreadgroups(encoder, groups, threads);
        say_dispatch(said, node, "threadgroups", groups, threads, name);
    }
    mtl_popDebugGroup(encoder);
    mt_objc_release(group);
}

static void encode_part(const struct engine *engine, const struct graph *graph, struct part *part, int index)
{
    int first = graph->nodes * index / graph->parts, end = graph->nodes * (index + 1) / graph->parts;
    unsigned barriers = 0;
    id encoder =
        mtl_commandBuffer_computeCommandEncoderWithDispatchType(part->buffer, MTL_DISPATCH_CONCURRENT);
    said_open(&part->said, "{");
    said_key_text(&part->said, "kind", "compute");
    said_key_text(&part->said, "form", "dispatch_type");
    said_key_text(&part->said, "dispatch_type", "concurrent");
    said_key_text(&part->said, "label", NULL);
    said_key(&part->said, "group");
    said_open(&part->said, "[");
    said_close(&part->said, "]");
    said_key(&part->said, "dispatches");
    said_open(&part->said, "[");
    mtl_compute_setThreadgroupMemoryLength(encoder, WIDTH * sizeof(float), 0);
    for (int i = first; i < end; i++) {
        encode_node(engine, encoder, &graph->node[i], &part->said);
        barriers += graph->node[i].needs_barrier;
    }
    mtl_encoder_endEncoding(encoder);
    said_close(&part->said, "]");
    said_key_number(&part->said, "barriers", barriers);
    static const char *const nothing[] = {"fence_waits", "fence_updates", "signposts", "indirect_executes",
                                          "executed",    "blits",         "blit_bytes"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        said_key_number(&part->said, nothing[i], 0);
    said_close(&part->said, "}");
    said_close(&part->said, "]");
}

// All command buffers are made and enqueued first, so that they could be encoded in any order.
static void compute(struct engine *engine, const struct graph *graph)
{
    struct part parts[MOST_PARTS] = {0};
    void *pool = mt_objc_pool_push();
    for (int i = 0; i < graph->parts; i++) {
        char label[64];
        snprintf(label, sizeof label, "%s %d/%d", graph->name, i, graph->parts);
        id text = mt_objc_string(label);
        parts[i].buffer =
            mt_objc_retain(mtl_commandQueue_commandBufferWithUnretainedReferences(engine->queue));
        say_begin(&parts[i], engine, label);
        engine->buffers++;
        mtl_setLabel(parts[i].buffer, text);
        mtl_commandBuffer_enqueue(parts[i].buffer);
        mt_objc_release(text);
    }
    for (int i = graph->parts - 1; i >= 0; i--) {
        encode_part(engine, graph, &parts[i], i);
        mtl_commandBuffer_commit(parts[i].buffer);
    }
    for (int i = 0; i < graph->parts; i++) {
        bool waits = i == graph->parts - 1 || i == 0;
        if (waits)
            mtl_commandBuffer_waitUntilCompleted(parts[i].buffer);
        said_key_number(&parts[i].said, "waits_completed", waits);
        said_close(&parts[i].said, "}");
        said_print(&parts[i].said);
        mt_objc_release(parts[i].buffer);
    }
    mt_objc_pool_pop(pool);
}

int main(void)
{
    struct engine engine = {0};
    void *pool = mt_objc_pool_push();
    start(&engine);
    struct graph prompt = make_graph("prompt", OP_MUL_MM, 8), token = make_graph("token", OP_MUL_MV, 1);
    prompt.parts = MOST_PARTS;
    compute(&engine, &prompt);
    for (int i = 0; i < TOKENS; i++) {
        token.parts = 1 + i % MOST_PARTS;
        compute(&engine, &token);
    }
    stop(&engine);
    mt_objc_pool_pop(pool);
    return 0;
}
