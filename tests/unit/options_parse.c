// SPDX-License-Identifier: MIT
// shows: every option is read from its variable and its flag; wrong names and values are told with the
// nearest right one Checks src/options alone: no file, no environment, one thread.
#include "options/nearest.h"
#include "options/options.h"
#include "unit/test.h"

#include <errno.h>
#include <stdlib.h>

static struct mt_options options;
static char error[MT_OPTION_ERROR_MAX];

static int set(const char *name, const char *value)
{
    mt_options_defaults(&options);
    return mt_options_set(&options, name, value, error, sizeof error);
}

static void check_defaults(void)
{
    memset(&options, 0x5a, sizeof options);
    mt_options_defaults(&options);
    CHECK_STR(options.out, "");
    CHECK_STR(options.spool, "");
    CHECK_STR(options.capture, "");
    CHECK_STR(options.only, "");
    CHECK_EQ(options.detail, MT_DETAIL_FULL);
    CHECK_EQ(options.keep, 0);
    CHECK_EQ(options.window.kind, MT_WINDOW_STEP);
    CHECK_EQ(options.window.first, 0);
    CHECK_EQ(options.window.count, 1);
    CHECK(!options.window_given);
    CHECK_EQ(options.follow, MT_FOLLOW_EXEC);
    CHECK_EQ(options.log, MT_LOG_WARN);
}

// Each row by both of its names; its own default is a value it accepts.
static void check_rows(void)
{
    CHECK_EQ(mt_option_count, 9);
    for (size_t i = 0; i < mt_option_count; i++) {
        const struct mt_option_info *row = &mt_option_table[i];
        CHECK_EQ(set(row->variable, row->fallback), 0);
        CHECK_EQ(set(row->flag, row->fallback), 0);
        CHECK_STR(error, "");
        CHECK(strncmp(row->variable, "METALTAP_", 9) == 0);
    }
}

static void check_words(void)
{
    CHECK_EQ(set("METALTAP_DETAIL", "summary"), 0);
    CHECK_EQ(options.detail, MT_DETAIL_SUMMARY);
    CHECK_EQ(set("detail", "cb"), 0);
    CHECK_EQ(options.detail, MT_DETAIL_CB);
    CHECK_EQ(set("follow", "fork"), 0);
    CHECK_EQ(options.follow, MT_FOLLOW_FORK);
    CHECK_EQ(set("log", "quiet"), 0);
    CHECK_EQ(options.log, MT_LOG_QUIET);
    CHECK_EQ(set("METALTAP_DETAIL", "ful"), -EINVAL);
    CHECK_STR(error, "METALTAP_DETAIL=ful: use summary, cb or full (did you mean full?)");
    CHECK_EQ(options.detail, MT_DETAIL_FULL);
    CHECK_EQ(set("log", "inof"), -EINVAL);
    CHECK_STR(error, "--log=inof: use quiet, warn or info (did you mean info?)");
    CHECK_EQ(set("follow", "zebra"), -EINVAL);
    CHECK_STR(error, "--follow=zebra: use exec or fork");
    CHECK_EQ(set("detail", ""), 0);
    CHECK_EQ(options.detail, MT_DETAIL_FULL);
}

static void check_sizes(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"1", 1},
                {"4096", 4096},
                {"1K", 1024},
                {"64M", UINT64_C(64) << 20},
                {"3g", UINT64_C(3) << 30},
                {"18446744073709551615", UINT64_MAX},
                {"17179869183G", UINT64_C(17179869183) << 30}};
    static const char *const bad[] = {
        "x", "M", "-1", "64MB", "64 M", "1.5G", "64X", "18446744073709551616", "17179869184G", " 1", "0x10"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK_EQ(set("METALTAP_KEEP", good[i].text), 0);
        CHECK_EQ(options.keep, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(set("METALTAP_KEEP", bad[i]), -EINVAL);
        CHECK_HAS(error, "use a number of bytes with K, M or G");
        CHECK_EQ(options.keep, 0);
    }
}

static void check_windows(void)
{
    static const char *const bad[] = {"cb",
                                      "cb:",
                                      "cb:x",
                                      "cb:1+",
                                      "cb:1+0",
                                      "cb:1+2+3",
                                      "step",
                                      "step:1 ",
                                      "layer:1",
                                      "cb:-1",
                                      "1",
                                      "cb:18446744073709551615+1",
                                      "cb:99999999999999999999"};
    CHECK_EQ(set("window", "cb:7"), 0);
    CHECK_EQ(options.window.kind, MT_WINDOW_CB);
    CHECK_EQ(options.window.first, 7);
    CHECK_EQ(options.window.count, 1);
    CHECK(options.window_given);
    CHECK_EQ(set("METALTAP_WINDOW", "step:3+12"), 0);
    CHECK_EQ(options.window.kind, MT_WINDOW_STEP);
    CHECK_EQ(options.window.first, 3);
    CHECK_EQ(options.window.count, 12);
    CHECK_EQ(mt_options_set(&options, "window", "", error, sizeof error), 0);
    CHECK(!options.window_given);
    CHECK_EQ(options.window.first, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(set("window", bad[i]), -EINVAL);
        CHECK_HAS(error, "use cb:N, cb:N+K, step:N or step:N+K");
        CHECK(!options.window_given);
        CHECK_EQ(options.window.first, 0);
    }
}

static void check_unknown(void)
{
    CHECK_EQ(set("METALTAP_DETIAL", "full"), -ENOENT);
    CHECK_STR(error, "unknown option METALTAP_DETIAL: did you mean METALTAP_DETAIL?");
    CHECK_EQ(set("METALTAP_OUTPUT", "x"), -ENOENT);
    CHECK_STR(error, "unknown option METALTAP_OUTPUT: did you mean METALTAP_OUT?");
    CHECK_EQ(set("METALTAP_PURPLE", "x"), -ENOENT);
    CHECK_STR(error, "unknown option METALTAP_PURPLE");
    CHECK_EQ(set("detial", "x"), -ENOENT);
    CHECK_STR(error, "unknown option --detial: did you mean --detail?");
    CHECK_EQ(set("METALTAP_", "x"), -ENOENT);
    CHECK_STR(error, "unknown option METALTAP_");
    CHECK_EQ(set("", "x"), -ENOENT);
}

// Whatever the value holds, the message is one line and stays in its buffer.
static void check_messages(void)
{
    char small[16], value[8000];
    memset(small, 'x', sizeof small);
    mt_options_defaults(&options);
    CHECK_EQ(mt_options_set(&options, "METALTAP_DETAIL", "ful", small, 10), -EINVAL);
    CHECK_STR(small, "METALTAP_");
    CHECK_EQ(small[10], 'x');
    CHECK_EQ(mt_options_set(&options, "METALTAP_DETAIL", "ful", NULL, 0), -EINVAL);
    CHECK_EQ(set("detail", "a\nb\033[1m"), -EINVAL);
    CHECK_HAS(error, "--detail=a?b?[1m: use");
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    CHECK_EQ(set("detail", value), -EINVAL);
    CHECK_HAS(error, "...: use summary, cb or full");
    CHECK_EQ(set("out", value), -EINVAL);
    CHECK_HAS(error, "the path is too long");
    CHECK_STR(options.out, "");
    CHECK_EQ(set("only", value), -EINVAL);
    CHECK_HAS(error, "the pattern is too long");
    CHECK_EQ(set(value, "1"), -ENOENT);
    CHECK_INT(strlen(error), <, sizeof error);
}

static char problems[4][MT_OPTION_ERROR_MAX];
static size_t problem_count;
static void note_problem(void *context, const char *text)
{
    CHECK(context == problems);
    if (problem_count < 4)
        snprintf(problems[problem_count], sizeof problems[0], "%s", text);
    problem_count++;
}

static void check_environment(void)
{
    char *environment[] = {"HOME=/",
                           "METALTAP_OUT=a=b.json",
                           "METALTAP_RUN=0123456789abcdef",
                           "METALTAP_LIBRARY=/x.so",
                           "METALTAP_KEEP=12Q",
                           "METALTAP_DETAIL=cb",
                           "METALTAP_LOGG=info",
                           "METALTAP_ONLY=",
                           "XMETALTAP_KEEP=1",
                           "METALTAP",
                           "METALTAP_KEEP",
                           NULL};
    char *none[] = {NULL};
    mt_options_defaults(&options);
    mt_options_from_environment(&options, environment, note_problem, problems);
    CHECK_STR(options.out, "a=b.json");
    CHECK_EQ(options.detail, MT_DETAIL_CB);
    CHECK_EQ(options.keep, 0);
    CHECK_EQ(problem_count, 2);
    CHECK_HAS(problems[0], "METALTAP_KEEP=12Q: use a number");
    CHECK_STR(problems[1], "unknown option METALTAP_LOGG: did you mean METALTAP_LOG?");
    mt_options_from_environment(&options, none, note_problem, problems);
    mt_options_from_environment(&options, NULL, note_problem, problems);
    CHECK_EQ(problem_count, 2);
}

static void check_nearest(void)
{
    static const char *const verbs[] = {"run", "report", "options", "help", "version"};
    CHECK_EQ(mt_nearest("rnu", verbs, 5), 0);
    CHECK_EQ(mt_nearest("reprot", verbs, 5), 1);
    CHECK_EQ(mt_nearest("REPORT", verbs, 5), 1);
    CHECK_EQ(mt_nearest("opt", verbs, 5), 2);
    CHECK_EQ(mt_nearest("xyz", verbs, 5), 5);
    CHECK_EQ(mt_nearest("", verbs, 5), 5);
    CHECK_EQ(mt_nearest("run", verbs, 0), 0);
    CHECK_EQ(mt_nearest("rn", verbs, 1), 0);
}

int main(void)
{
    check_defaults();
    check_rows();
    check_words();
    check_sizes();
    check_windows();
    check_unknown();
    check_messages();
    check_environment();
    check_nearest();
    return test_end();
}
