// SPDX-License-Identifier: MIT
// Strings of a spool by id, kept as they are (any bytes, no terminator), and the tree of debug-group paths
// made of them. Both live as long as the model, and stay as small as the spool's own strings and paths.
#include "model/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024, MAX_GROUPS = 256 * 1024 };

struct mt_text_chunk {
    struct mt_text_chunk *next;
    size_t used, size;
    char bytes[];
};

// ---- strings ----

// A long text gets a chunk of its own behind the one under way, so that no room is lost there.
static struct mt_text_chunk *chunk_for(struct mt_texts *texts, size_t count)
{
    struct mt_text_chunk *first = texts->chunks;
    if (first && first->size - first->used >= count)
        return first;
    bool alone = count > CHUNK_BYTES / 4;
    size_t size = alone ? count : CHUNK_BYTES;
    struct mt_text_chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk)
        return NULL;
    *chunk = (struct mt_text_chunk){.size = size};
    if (alone && first) {
        chunk->next = first->next;
        first->next = chunk;
    } else {
        chunk->next = first;
        texts->chunks = chunk;
    }
    return chunk;
}

char *mt_texts_keep(struct mt_texts *texts, const char *bytes, size_t count)
{
    struct mt_text_chunk *chunk = chunk_for(texts, count);
    if (!chunk)
        return NULL;
    char *kept = chunk->bytes + chunk->used;
    memcpy(kept, bytes, count);
    chunk->used += count;
    return kept;
}

int mt_texts_add(struct mt_texts *texts, const struct mt_rec_string *record)
{
    int error;
    texts->table.entry_bytes = sizeof(struct mt_text);
    struct mt_text *text = mt_table_at(&texts->table, mt_rec_small(record->word), &error);
    if (!text)
        return error ? error : -ERANGE;
    uint32_t length = record->length & ~MT_STRING_CUT;
    // Through an offset: the text goes on behind the record's own 16 bytes.
    const char *bytes = (const char *)record + offsetof(struct mt_rec_string, text);
    char *kept = mt_texts_keep(texts, bytes, length);
    if (!kept)
        return -ENOMEM;
    *text = (struct mt_text){.bytes = kept, .length = length, .cut = record->length & MT_STRING_CUT};
    return 0;
}

struct mt_text mt_texts_get(const struct mt_texts *texts, uint32_t id)
{
    const struct mt_text *text = mt_table_find(&texts->table, id);
    return text ? *text : (struct mt_text){0};
}

void mt_texts_free(struct mt_texts *texts)
{
    for (struct mt_text_chunk *chunk = texts->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    mt_table_free(&texts->table);
}

// ---- debug-group paths ----

static uint32_t group_bucket(const struct mt_groups *groups, uint32_t parent, uint32_t string)
{
    uint64_t hash = ((uint64_t)parent << 32 | string) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32) & groups->mask;
}

static void put_group(struct mt_groups *groups, uint32_t number)
{
    uint32_t b = group_bucket(groups, groups->nodes[number].parent, groups->nodes[number].string);
    while (groups->buckets[b])
        b = (b + 1) & groups->mask;
    groups->buckets[b] = number;
}

static int grow_groups(struct mt_groups *groups)
{
    uint32_t capacity = groups->capacity ? groups->capacity * 2 : 64;
    if (capacity > MAX_GROUPS)
        return -ENOMEM;
    uint32_t *buckets = calloc(capacity * (size_t)2, sizeof *buckets);
    struct mt_group *nodes = realloc(groups->nodes, capacity * sizeof *nodes);
    if (nodes)
        groups->nodes = nodes;
    if (!nodes || !buckets) {
        free(buckets);
        return -ENOMEM;
    }
    if (!groups->count)
        groups->nodes[groups->count++] = (struct mt_group){0};
    free(groups->buckets);
    groups->buckets = buckets;
    groups->capacity = capacity;
    groups->mask = capacity * 2 - 1;
    for (uint32_t i = 1; i < groups->count; i++)
        put_group(groups, i);
    return 0;
}

uint32_t mt_groups_child(struct mt_groups *groups, uint32_t parent, uint32_t string)
{
    if (!groups->capacity && grow_groups(groups))
        return 0;
    for (uint32_t b = group_bucket(groups, parent, string); groups->buckets[b]; b = (b + 1) & groups->mask) {
        uint32_t number = groups->buckets[b];
        if (groups->nodes[number].parent == parent && groups->nodes[number].string == string)
            return number;
    }
    uint32_t depth = groups->nodes[parent].depth + 1;
    if (depth > MT_GROUP_MAX_DEPTH || (groups->count == groups->capacity && grow_groups(groups)))
        return 0;
    groups->nodes[groups->count] = (struct mt_group){.parent = parent, .string = string, .depth = depth};
    put_group(groups, groups->count);
    return groups->count++;
}

void mt_groups_free(struct mt_groups *groups)
{
    free(groups->nodes);
    free(groups->buckets);
}

uint32_t mt_model_group_depth(const struct mt_model *model, uint32_t group)
{
    return group < model->groups.count ? model->groups.nodes[group].depth : 0;
}

struct mt_text mt_model_group_name(const struct mt_model *model, uint32_t group, uint32_t level)
{
    uint32_t depth = mt_model_group_depth(model, group);
    if (level >= depth)
        return (struct mt_text){0};
    while (depth-- > level + 1)
        group = model->groups.nodes[group].parent;
    return mt_texts_get(&model->texts, model->groups.nodes[group].string);
}
