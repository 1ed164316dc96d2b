// SPDX-License-Identifier: MIT
// The small parts of a report as cJSON trees: members whose numbers are exact and whose texts are safe. The
// first failure (memory) is kept in the writer's error. One thread at a time.
#ifndef MT_VIEWS_TREE_H
#define MT_VIEWS_TREE_H

#include "analysis/samples.h"
#include "model/model.h"
#include "views/out.h"

#include <cjson/cJSON.h>

struct mt_tree {
    int error; // 0 or -ENOMEM
};

// Keys must be constants: they are not copied. A NULL object is passed over.
cJSON *mt_tree_object(struct mt_tree *tree); // a new one, nobody's
cJSON *mt_tree_add_object(struct mt_tree *tree, cJSON *to, const char *key);
cJSON *mt_tree_add_array(struct mt_tree *tree, cJSON *to, const char *key);
void mt_tree_null(struct mt_tree *tree, cJSON *to, const char *key);
void mt_tree_bool(struct mt_tree *tree, cJSON *to, const char *key, bool value);
void mt_tree_u64(struct mt_tree *tree, cJSON *to, const char *key, uint64_t value);
void mt_tree_time(struct mt_tree *tree, cJSON *to, const char *key, int64_t time_ns); // or null
void mt_tree_decimal(struct mt_tree *tree, cJSON *to, const char *key, uint64_t value, unsigned decimals);
void mt_tree_percent(struct mt_tree *tree, cJSON *to, const char *key, uint64_t part, uint64_t whole);
void mt_tree_text(struct mt_tree *tree, cJSON *to, const char *key, struct mt_text text); // or null
void mt_tree_word(struct mt_tree *tree, cJSON *to, const char *key, const char *word);    // plain, or NULL
// An object of statistics, or null if there is no sample.
void mt_tree_samples(struct mt_tree *tree, cJSON *to, const char *key, struct mt_samples *samples);
// A definition's reference: null for 0.
void mt_tree_id(struct mt_tree *tree, cJSON *to, const char *key, uint32_t id);

// Prints the tree and deletes it.
void mt_tree_print(struct mt_tree *tree, cJSON *it, struct mt_out *out);

#endif
