// SPDX-License-Identifier: MIT
// The table from files as they are found: reports that are cut at any byte, laid out anew, of another version
// or not ours at all; and cells for terminals.
#include "unit/test.h"
#include "unit/views_samples.h"
#include "views/columns.h"
#include "views/json.h"
#include "views/load.h"
#include "views/report.h"
#include "views/table.h"

#include <errno.h>
#include <limits.h>

static char folder[PATH_MAX / 2], report_path[PATH_MAX], other_path[PATH_MAX], table_path[PATH_MAX];

static int table_of(const char *path, bool color, char *error, size_t size)
{
    int fd = open(table_path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    error[0] = 0;
    int result = mt_report_table(path, fd, 0, color, error, size);
    close(fd);
    return result;
}

static char *read_text(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text)
        abort();
    *size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

// ---- cells ----
static void check_cell(const char *text, unsigned width, const char *expected)
{
    struct mt_out out;
    CHECK_EQ(mt_out_open_memory(&out), 0);
    mt_cell_text(&out, text, width);
    CHECK_STR(mt_out_text(&out), expected);
    mt_out_free(&out);
}

static void check_duration(double ns, const char *expected)
{
    char cell[MT_CELL_BYTES];
    mt_cell_duration(cell, ns);
    CHECK_STR(cell, expected);
}

static void test_cells(void)
{
    check_cell("abc", 5, "abc  ");
    check_cell("abcdef", 5, "ab...");
    check_cell("abcde", 5, "abcde");
    check_cell(NULL, 3, "   ");
    check_cell("abcdef", 2, "..");
    check_cell("\xe6\xbc\xa2\xe5\xad\x97", 5, "\xe6\xbc\xa2\xe5\xad\x97 "); // two columns each
    check_cell("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 5, "\xe6\xbc\xa2...");
    check_cell("e\xcc\x81!", 3, "e\xcc\x81! "); // an accent takes none
    check_cell("\x1b[31m", 11, "\\u001b[31m ");
    // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is for
    check_cell("\xe2\x80\xae", 6, "\\u202e");
    check_cell("\xf3\xa0\x80\x81", 9, "\\u0e0001 ");
    check_cell("a\nb", 4, "a\\nb");
    check_cell("\xff", 2, "? ");
    check_duration(-1, "-");
    check_duration(0, "0 ns");
    check_duration(999, "999 ns");
    check_duration(1000, "1.00 us");
    check_duration(9996, "10.0 us");
    check_duration(999499, "999 us");
    check_duration(999500, "1.00 ms");
    check_duration(12345678, "12.3 ms");
    check_duration(1e9, "1.00 s");
    check_duration(123456e9, "123456 s");
    char cell[MT_CELL_BYTES];
    mt_cell_size(cell, 1536);
    CHECK_STR(cell, "1.50 KiB");
    mt_cell_size(cell, 1023);
    CHECK_STR(cell, "1023 B");
    mt_cell_size(cell, 1.8446744073709552e19);
    CHECK_STR(cell, "16.0 EiB");
}

// ---- files ----
static void test_not_ours(void)
{
    char error[600];
    static const struct {
        const char *bytes;
        int result;
        const char *says;
    } files[] = {
        {"\x7f"
         "ELF",
         -EINVAL, "neither a metaltap spool nor a metaltap report (begins with 7f 45 4c 46)"},
        {"", -EINVAL, "empty"},
        {"{\"schema\":\"other/1\"}", -EINVAL, "neither"},
        {"{\"schema\":\"metaltap-report/2\",\"summary\":{}}", -EPROTO, "metaltap-report/2"},
        {"{\"schema\":\"metaltap-report/1\"}", -EBADMSG, "damaged"},
        {"{\"schema\":\"metaltap-report/1\",\"summary\":{]}", -EBADMSG, "damaged"},
        {"{\"schema\":\"metaltap-report/1\",\"summary\":{\"wall_ns\"", -ENODATA,
         "cut after 50 bytes, in its section \"summary\""},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_file(other_path, files[i].bytes, strlen(files[i].bytes));
        CHECK_EQ(table_of(other_path, false, error, sizeof error), files[i].result);
        CHECK_HAS(error, files[i].says);
        CHECK_HAS(error, other_path);
    }
    CHECK_EQ(table_of("/no/such/file", false, error, sizeof error), -ENOENT);
    CHECK_HAS(error, "/no/such/file: cannot be read");
    CHECK_INT(table_of(folder, false, error, sizeof error), <, 0);
    write_file(other_path, MT_SPOOL_MAGIC, 8); // a spool's beginning and no more
    CHECK_INT(table_of(other_path, false, error, sizeof error), <, 0);
    CHECK_HAS(error, other_path);
}

// Every prefix of a report: an error that names the file, never a table that looks whole.
static void test_cut_anywhere(void)
{
    size_t size;
    char error[600], *text = read_text(report_path, &size);
    size_t needed = (size_t)(strstr(text, "\n\"" MT_REPORT_TABLE_ENDS "\"") - text);
    for (size_t length = 0; length + 2 < size; length += length < 300 || length > size - 300 ? 1 : 997) {
        write_file(other_path, text, length);
        int result = table_of(other_path, false, error, sizeof error);
        if (!CHECK_INT(result, <, 0) || !CHECK_HAS(error, other_path))
            printf("    cut after %zu of %zu bytes\n", length, size);
        if (length > needed + 20 && !CHECK_HAS(error, "the summary is whole"))
            printf("    cut after %zu of %zu bytes\n", length, size);
    }
    write_file(other_path, text, size - 1); // only the last line's end is gone
    CHECK_EQ(table_of(other_path, false, error, sizeof error), 0);
    free(text);
}

// As other programs lay JSON out, with blanks.
static void test_laid_out_anew(void)
{
    size_t size, used;
    char error[600], *text = read_text(report_path, &size);
    cJSON *tree = cJSON_Parse(text);
    char *again = cJSON_Print(tree);
    CHECK(again && again[1] == '\n');
    write_file(other_path, again, strlen(again));
    CHECK_EQ(table_of(other_path, false, error, sizeof error), 0);
    free(text);
    text = read_text(table_path, &used);
    CHECK_HAS(text, "/opt/model server/run");
    CHECK_HAS(text, "add [0=1 is_causal=true]");
    free(text);
    cJSON_free(again);
    cJSON_Delete(tree);
}

static void test_colors(void)
{
    size_t size;
    char error[600];
    CHECK_EQ(table_of(report_path, true, error, sizeof error), 0);
    char *text = read_text(table_path, &size);
    CHECK_HAS(text, "\x1b[1m/opt/model server/run\x1b[0m");
    CHECK(!strstr(text, "\x1b[31m\xd7\x90")); // only sequences of our own
    free(text);
    CHECK_EQ(table_of(report_path, false, error, sizeof error), 0);
    text = read_text(table_path, &size);
    CHECK(!memchr(text, '\x1b', size));
    free(text);
}

int main(void)
{
    const char *temporary = getenv("TMPDIR");
    char spool[PATH_MAX], error[600] = "";
    snprintf(folder, sizeof folder, "%s/views_table-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    snprintf(spool, sizeof spool, "%s/whole.mtap", folder);
    snprintf(report_path, sizeof report_path, "%s/whole.json", folder);
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    snprintf(table_path, sizeof table_path, "%s/table.txt", folder);
    sample_write(spool, sample_whole);
    CHECK_EQ(mt_report_json(spool, report_path, MT_DETAIL_FULL, error, sizeof error), 0);
    test_cells();
    test_not_ours();
    test_cut_anywhere();
    test_laid_out_anew();
    test_colors();
    const char *const files[] = {spool, report_path, other_path, table_path};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        CHECK_EQ(unlink(files[i]), 0);
    CHECK_EQ(rmdir(folder), 0);
    return test_end();
}
