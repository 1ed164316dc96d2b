// SPDX-License-Identifier: MIT
// Text for terminals: cells of a fixed width, durations and sizes that people read, and texts of other
// programs made harmless (no control characters, no direction marks). ASCII of our own, so that any terminal
// shows it.
#ifndef MT_VIEWS_COLUMNS_H
#define MT_VIEWS_COLUMNS_H

#include "views/out.h"

enum { MT_CELL_BYTES = 24 };

// Left-aligned in exactly `width` columns, cut with "..." if it is longer. NULL counts as empty.
void mt_cell_text(struct mt_out *out, const char *text, unsigned width);
// Right-aligned, ASCII only, never cut; at least one blank stands before it.
void mt_cell_right(struct mt_out *out, const char *text, unsigned width);
// The whole text, made harmless.
void mt_cell_plain(struct mt_out *out, const char *text);
// "950 ns", "12.3 us", "1.02 s"; "-" for a negative number, which stands for unknown.
void mt_cell_duration(char to[MT_CELL_BYTES], double ns);
void mt_cell_size(char to[MT_CELL_BYTES], double bytes); // "12.3 MiB"
void mt_cell_count(char to[MT_CELL_BYTES], double count);
void mt_cell_percent(char to[MT_CELL_BYTES], double percent);

#endif
