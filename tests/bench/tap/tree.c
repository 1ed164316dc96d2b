// SPDX-License-Identifier: MIT
// The report that everybody writes first: all rows of dispatches as one tree of cJSON, then printed. With the
// columns of the report's dispatches, and no reading and no analysis at all: what stands beside the speed and
// the memory of `metaltap report`.
//
//     tree FILE DISPATCHES
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static cJSON *row_of(uint64_t number)
{
    enum { FORM = 5, GROUP = 14, COLUMNS = 16 };
    uint64_t buffer = number / 100 + 1, width = 4096 / (1 + number % 7);
    const uint64_t values[COLUMNS] = {number * 37,
                                      buffer,
                                      buffer,
                                      number % 100,
                                      number % 24 + 1,
                                      0,
                                      width,
                                      1 + number % 32,
                                      1,
                                      32,
                                      1 + number % 8,
                                      1,
                                      0,
                                      0,
                                      0,
                                      number % 4 + 1};
    cJSON *row = cJSON_CreateArray();
    for (int i = 0; i < COLUMNS; i++) {
        cJSON *item = i == FORM    ? cJSON_CreateString("threadgroups")
                      : i == GROUP ? cJSON_CreateNull()
                                   : cJSON_CreateNumber((double)values[i]);
        cJSON_AddItemToArray(row, item);
    }
    return row;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

int main(int count, char **arguments)
{
    uint64_t dispatches = count == 3 ? strtoull(arguments[2], NULL, 10) : 0;
    if (!dispatches) {
        fprintf(stderr, "usage: tree FILE DISPATCHES\n");
        return 2;
    }
    cJSON *top = cJSON_CreateObject();
    cJSON *rows = cJSON_AddArrayToObject(top, "rows");
    for (uint64_t i = 0; i < dispatches; i++)
        cJSON_AddItemToArray(rows, row_of(i));
    char *text = cJSON_PrintUnformatted(top);
    int rc = text && write_text(arguments[1], text) ? 0 : 1;
    if (rc)
        fprintf(stderr, "%s: not written\n", arguments[1]);
    free(text);
    cJSON_Delete(top);
    return rc;
}
