// SPDX-License-Identifier: MIT
// The JSON report: texts and numbers at their limits, and what happens to the file. With a folder as its
// argument it writes sample spools, their reports and tables there, for tests/t340_report.py; with "report
// SPOOL OUT" a report.
#include "analysis/analysis.h"
#include "unit/test.h"
#include "unit/views_samples.h"
#include "views/json.h"
#include "views/report.h"
#include "views/table.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char folder[PATH_MAX / 2];

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX]; // so that a call can have several
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

// ---- texts and numbers ----
static void check_text(const char *bytes, uint32_t length, const char *expected)
{
    struct mt_out out;
    CHECK_EQ(mt_out_open_memory(&out), 0);
    mt_out_json_text(&out, (struct mt_text){bytes, length, false});
    CHECK_STR(mt_out_text(&out), expected);
    mt_out_free(&out);
}
#define CHECK_TEXT(literal, expected) check_text(literal, sizeof(literal) - 1, expected)

static void test_texts(void)
{
    check_text(NULL, 0, "null");
    CHECK_TEXT("", "\"\"");
    CHECK_TEXT("plain", "\"plain\"");
    CHECK_TEXT("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    CHECK_TEXT("\b\t\n\f\r\x01\x1f\x0b", "\"\\b\\t\\n\\f\\r\\u0001\\u001f\\u000b\"");
    CHECK_TEXT("a\0b", "\"a\\u0000b\"");
    CHECK_TEXT("<&>", "\"\\u003c\\u0026\\u003e\"");
    CHECK_TEXT("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7", "\"\\u2028\\u2029\xe2\x80\xa7\"");
    CHECK_TEXT("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    // One mark per part that could have begun a character.
    CHECK_TEXT("\xff", "\"\xef\xbf\xbd\"");
    CHECK_TEXT("\xe2\x82", "\"\xef\xbf\xbd\"");
    CHECK_TEXT("\xe2\x82x", "\"\xef\xbf\xbdx\"");
    CHECK_TEXT("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    CHECK_TEXT("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    CHECK_TEXT("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    struct mt_out out;
    CHECK_EQ(mt_out_open_memory(&out), 0);
    mt_out_json_text(&out, (struct mt_text){"cut", 3, true});
    CHECK_STR(mt_out_text(&out), "\"cut\xe2\x80\xa6\"");
    mt_out_free(&out);
}

static void test_numbers(void)
{
    const uint64_t values[] = {0,    9,     10,    99,     100,         999,       1000,
                               9999, 10000, 99999, 100000, SAMPLE_HUGE, UINT64_MAX};
    char text[64], expected[64];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)values[i]);
        *mt_format_u64(text, values[i]) = 0;
        CHECK_STR(text, expected);
    }
    for (uint64_t value = 1; value < UINT64_MAX / 7; value = value * 7 + 3) {
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
        *mt_format_u64(text, value) = 0;
        CHECK_STR(text, expected);
    }
    mt_format_decimal(text, 12005, 3);
    CHECK_STR(text, "12.005");
    mt_format_wall_time(text, 0);
    CHECK_STR(text, "1970-01-01T00:00:00.000000000Z");
    mt_format_wall_time(text, UINT64_C(951782399999999999));
    CHECK_STR(text, "2000-02-28T23:59:59.999999999Z");
    mt_format_wall_time(text, UINT64_C(951782400000000000) + UINT64_C(86400000000000));
    CHECK_STR(text, "2000-03-01T00:00:00.000000000Z");
    mt_format_wall_time(text, UINT64_C(1709164800000000001));
    CHECK_STR(text, "2024-02-29T00:00:00.000000001Z");
}

// ---- the file ----
static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text)
        abort();
    *size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static bool holds(const char *path, const char *expected)
{
    size_t size;
    char *text = read_whole(path, &size);
    bool same = size == strlen(expected) && !memcmp(text, expected, size);
    free(text);
    return same;
}

static int entries_in_folder(void)
{
    char command[PATH_MAX + 32];
    int count = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *pipe = popen(command, "r");             // NOLINT(bugprone-command-processor): a test's own folder
    if (!pipe || fscanf(pipe, "%d", &count) != 1) // NOLINT(cert-err34-c)
        count = -1;
    if (pipe)
        pclose(pipe);
    return count;
}

static void test_replaces_only_reports(const char *spool)
{
    char error[600] = "", out[PATH_MAX];
    snprintf(out, sizeof out, "%s", in_folder("report.json"));
    CHECK_EQ(mt_report_json(spool, out, MT_DETAIL_FULL, error, sizeof error), 0);
    struct stat status;
    CHECK_EQ(stat(out, &status), 0);
    CHECK_EQ(status.st_mode & 07777, 0600);
    int entries = entries_in_folder();
    CHECK_EQ(mt_report_json(spool, out, MT_DETAIL_SUMMARY, error, sizeof error), 0); // replaced
    CHECK_EQ(entries_in_folder(), entries);
    size_t size;
    char *text = read_whole(out, &size);
    CHECK(size > 100 && !strncmp(text, MT_REPORT_BEGINS, strlen(MT_REPORT_BEGINS)));
    CHECK_HAS(text, "\"detail\":\"summary\"");
    free(text);

    const char *foreign[] = {"{\"schema\":\"something\"}", "", "{\"schema\":\"metaltap-repor"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        write_file(out, foreign[i], strlen(foreign[i]));
        CHECK_EQ(mt_report_json(spool, out, MT_DETAIL_FULL, error, sizeof error), -EEXIST);
        CHECK_HAS(error, "left alone");
        CHECK_HAS(error, out);
        CHECK(holds(out, foreign[i]));
    }
    CHECK_EQ(unlink(out), 0);
    CHECK_EQ(entries_in_folder(), entries - 1);
}

static void test_never_through_a_link(const char *spool)
{
    char error[600] = "", out[PATH_MAX], aim[PATH_MAX];
    snprintf(out, sizeof out, "%s", in_folder("link.json"));
    snprintf(aim, sizeof aim, "%s", in_folder("aim.json"));
    CHECK_EQ(mt_report_json(spool, aim, MT_DETAIL_SUMMARY, error, sizeof error), 0);
    CHECK_EQ(symlink(aim, out), 0);
    CHECK_EQ(mt_report_json(spool, out, MT_DETAIL_FULL, error, sizeof error), -EEXIST);
    CHECK_HAS(error, "not a regular file");
    CHECK_EQ(mt_report_json(spool, folder, MT_DETAIL_FULL, error, sizeof error), -EEXIST);
    CHECK_EQ(unlink(out), 0);
    CHECK_EQ(unlink(aim), 0);
}

static void test_no_place(const char *spool)
{
    char error[600] = "";
    int entries = entries_in_folder();
    CHECK_EQ(mt_report_json(spool, in_folder("no/such/folder.json"), MT_DETAIL_FULL, error, sizeof error),
             -ENOENT);
    CHECK_HAS(error, "cannot be written");
    CHECK_EQ(mt_report_json(spool, "/proc/report.json", MT_DETAIL_FULL, error, sizeof error) < 0, 1);
    CHECK_HAS(error, "/proc/report.json");
    CHECK_EQ(mt_report_json(in_folder("none.mtap"), in_folder("x.json"), MT_DETAIL_FULL, error, sizeof error),
             -ENOENT);
    CHECK_HAS(error, "none.mtap");
    write_file(in_folder("text.mtap"), "no spool at all, but long enough to be looked at", 48);
    const char *text = in_folder("text.mtap");
    CHECK_INT(mt_report_json(text, in_folder("x.json"), MT_DETAIL_FULL, error, sizeof error), <, 0);
    CHECK_HAS(error, "text.mtap");
    CHECK_EQ(unlink(text), 0);
    CHECK_EQ(entries_in_folder(), entries);
}

static void test_no_room(const char *spool)
{
    char error[600] = "";
    int entries = entries_in_folder();
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full >= 0) {
        CHECK_EQ(mt_report_json_fd(spool, full, MT_DETAIL_FULL, error, sizeof error), -ENOSPC);
        CHECK_HAS(error, "could not be written");
        close(full);
    }
    // A limit for files must not end the program: the signal that goes with it is never raised.
    struct rlimit before, small;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 70000;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    CHECK_EQ(mt_report_json(spool, in_folder("big.json"), MT_DETAIL_FULL, error, sizeof error), -EFBIG);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_HAS(error, "big.json: could not be written");
    CHECK_EQ(entries_in_folder(), entries);
}

// ---- for other tests ----
static void write_table(const char *from, const char *to, bool color)
{
    char error[600] = "";
    int fd = open(to, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    int result = mt_report_table(from, fd, 120, color, error, sizeof error);
    if (!CHECK_EQ(result, 0))
        printf("    %s\n", error);
    close(fd);
}

static int write_samples(void)
{
    static const struct {
        const char *name;
        void (*make)(struct spool_maker *maker);
    } samples[] = {{"whole", sample_whole}, {"killed", sample_killed}, {"empty", sample_empty}};
    static const char *const details[] = {"summary", "cb", "full"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char spool[PATH_MAX], out[PATH_MAX], name[64], error[600] = "";
        snprintf(name, sizeof name, "%s.mtap", samples[i].name);
        snprintf(spool, sizeof spool, "%s", in_folder(name));
        sample_write(spool, samples[i].make);
        for (int detail = MT_DETAIL_SUMMARY; detail <= MT_DETAIL_FULL; detail++) {
            snprintf(name, sizeof name, "%s.%s.json", samples[i].name, details[detail]);
            snprintf(out, sizeof out, "%s", in_folder(name));
            if (!CHECK_EQ(mt_report_json(spool, out, (enum mt_report_detail)detail, error, sizeof error), 0))
                printf("    %s\n", error);
        }
        snprintf(name, sizeof name, "%s.spool.txt", samples[i].name);
        write_table(spool, in_folder(name), false);
        snprintf(name, sizeof name, "%s.json.txt", samples[i].name);
        write_table(out, in_folder(name), false);
    }
    return test_end();
}

static int report(const char *spool, const char *out)
{
    char error[600] = "";
    int result = mt_report_json(spool, out, MT_DETAIL_FULL, error, sizeof error);
    if (result)
        fprintf(stderr, "%s\n", error);
    return result ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "report"))
        return report(argv[2], argv[3]);
    if (argc == 2) {
        snprintf(folder, sizeof folder, "%s", argv[1]);
        return write_samples();
    }
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/views_json-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    char spool[PATH_MAX];
    snprintf(spool, sizeof spool, "%s", in_folder("whole.mtap"));
    sample_write(spool, sample_whole);
    test_texts();
    test_numbers();
    test_replaces_only_reports(spool);
    test_never_through_a_link(spool);
    test_no_place(spool);
    test_no_room(spool);
    CHECK_EQ(unlink(spool), 0);
    CHECK_EQ(rmdir(folder), 0);
    return test_end();
}
