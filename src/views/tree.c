// SPDX-License-Identifier: MIT
// cJSON trees with exact numbers and safe texts: see tree.h. cJSON's own numbers are doubles and its own
// texts end at a NUL byte, so both are given to it ready-made.
#include "views/tree.h"

#include <errno.h>
#include <string.h>

// Arrays have no key. Gives what was added, or NULL.
static cJSON *add(struct mt_tree *tree, cJSON *to, const char *key, cJSON *item)
{
    bool added =
        to && item && (key ? cJSON_AddItemToObjectCS(to, key, item) : cJSON_AddItemToArray(to, item));
    if (added)
        return item;
    cJSON_Delete(item);
    tree->error = -ENOMEM;
    return NULL;
}

cJSON *mt_tree_object(struct mt_tree *tree)
{
    cJSON *object = cJSON_CreateObject();
    if (!object)
        tree->error = -ENOMEM;
    return object;
}

cJSON *mt_tree_add_object(struct mt_tree *tree, cJSON *to, const char *key)
{
    return add(tree, to, key, cJSON_CreateObject());
}

cJSON *mt_tree_add_array(struct mt_tree *tree, cJSON *to, const char *key)
{
    return add(tree, to, key, cJSON_CreateArray());
}

void mt_tree_null(struct mt_tree *tree, cJSON *to, const char *key)
{
    add(tree, to, key, cJSON_CreateNull());
}

void mt_tree_bool(struct mt_tree *tree, cJSON *to, const char *key, bool value)
{
    add(tree, to, key, cJSON_CreateBool(value));
}

void mt_tree_u64(struct mt_tree *tree, cJSON *to, const char *key, uint64_t value)
{
    char digits[24];
    *mt_format_u64(digits, value) = 0;
    add(tree, to, key, cJSON_CreateRaw(digits));
}

void mt_tree_time(struct mt_tree *tree, cJSON *to, const char *key, int64_t time_ns)
{
    char digits[24] = "-";
    if (time_ns == MT_NO_TIME) {
        mt_tree_null(tree, to, key);
    } else if (time_ns < 0) {
        *mt_format_u64(digits + 1, 0 - (uint64_t)time_ns) = 0;
        add(tree, to, key, cJSON_CreateRaw(digits));
    } else {
        mt_tree_u64(tree, to, key, (uint64_t)time_ns);
    }
}

void mt_tree_decimal(struct mt_tree *tree, cJSON *to, const char *key, uint64_t value, unsigned decimals)
{
    char digits[32];
    mt_format_decimal(digits, value, decimals);
    add(tree, to, key, cJSON_CreateRaw(digits));
}

void mt_tree_percent(struct mt_tree *tree, cJSON *to, const char *key, uint64_t part, uint64_t whole)
{
    if (whole)
        mt_tree_decimal(tree, to, key, (uint64_t)((unsigned __int128)part * 100000 / whole), 3);
    else
        mt_tree_null(tree, to, key);
}

void mt_tree_text(struct mt_tree *tree, cJSON *to, const char *key, struct mt_text text)
{
    struct mt_out out;
    if (!text.bytes) {
        mt_tree_null(tree, to, key);
        return;
    }
    if (mt_out_open_memory(&out) == 0)
        mt_out_json_text(&out, text);
    const char *escaped = mt_out_text(&out);
    add(tree, to, key, escaped ? cJSON_CreateRaw(escaped) : NULL);
    mt_out_free(&out);
}

void mt_tree_word(struct mt_tree *tree, cJSON *to, const char *key, const char *word)
{
    mt_tree_text(tree, to, key, (struct mt_text){word, word ? (uint32_t)strlen(word) : 0, false});
}

void mt_tree_samples(struct mt_tree *tree, cJSON *to, const char *key, struct mt_samples *samples)
{
    if (!samples->count) {
        mt_tree_null(tree, to, key);
        return;
    }
    cJSON *object = mt_tree_add_object(tree, to, key);
    mt_tree_word(tree, object, "how", "exact");
    mt_tree_u64(tree, object, "count", samples->count);
    mt_tree_u64(tree, object, "total_ns", samples->total);
    mt_tree_u64(tree, object, "min_ns", samples->min);
    mt_tree_u64(tree, object, "max_ns", samples->max);
    mt_tree_u64(tree, object, "mean_ns", mt_samples_mean(samples));
    mt_tree_u64(tree, object, "p50_ns", mt_samples_quantile(samples, 50));
    mt_tree_u64(tree, object, "p95_ns", mt_samples_quantile(samples, 95));
    mt_tree_word(tree, object, "quantiles", mt_samples_are_exact(samples) ? "exact" : "within 0.5%");
}

void mt_tree_id(struct mt_tree *tree, cJSON *to, const char *key, uint32_t id)
{
    if (id)
        mt_tree_u64(tree, to, key, id);
    else
        mt_tree_null(tree, to, key);
}

void mt_tree_print(struct mt_tree *tree, cJSON *it, struct mt_out *out)
{
    char *text = it && !tree->error ? cJSON_PrintUnformatted(it) : NULL;
    if (text)
        mt_out_string(out, text);
    else
        tree->error = -ENOMEM;
    cJSON_free(text);
    cJSON_Delete(it);
}
