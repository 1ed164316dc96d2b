// SPDX-License-Identifier: MIT
// shows: names of files are expanded as documented and program names are matched as a shell does
// Checks paths and globs of src/options: no file is touched, one thread.
#include "options/options.h"
#include "unit/test.h"

#include <errno.h>

static const char *expand(const char *pattern)
{
    static char path[64];
    int result = mt_options_expand_path(pattern, 4711, "/usr/bin/demo", path, sizeof path);
    return result == 0 ? path : result == -EINVAL ? "invalid" : result == -ENAMETOOLONG ? "long" : "?";
}

static void check_expansion(void)
{
    char path[8];
    CHECK_STR(expand("report.json"), "report.json");
    CHECK_STR(expand("%n-%p.json"), "demo-4711.json");
    CHECK_STR(expand("%p%p%n%n%%"), "47114711demodemo%");
    CHECK_STR(expand("100%%p"), "100%p");
    CHECK_STR(expand(""), "");
    CHECK_STR(expand("%"), "invalid");
    CHECK_STR(expand("a%q"), "invalid");
    CHECK_STR(expand("0123456789012345678901234567890123456789012345678901234567890123"), "long");
    CHECK_STR(expand("012345678901234567890123456789012345678901234567890123456789%p"), "long");
    CHECK_EQ(mt_options_expand_path("%n", 1, "plain", path, sizeof path), 0);
    CHECK_STR(path, "plain");
    CHECK_EQ(mt_options_expand_path("%n", 1, "1234567", path, sizeof path), 0);
    CHECK_EQ(mt_options_expand_path("%n", 1, "12345678", path, sizeof path), -ENAMETOOLONG);
    CHECK_EQ(mt_options_expand_path("%p", UINT32_MAX, "", path, sizeof path), -ENAMETOOLONG);
    CHECK_EQ(mt_options_expand_path("", 1, "", path, 0), -ENAMETOOLONG);
}

// What set accepts, expand must expand.
static void check_patterns_agree(void)
{
    static const char *const patterns[] = {"a", "%p", "%n", "%%", "%", "%x", "a%", "%%%", "%%%p", "%p%"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct mt_options options;
        char error[MT_OPTION_ERROR_MAX], path[64];
        mt_options_defaults(&options);
        int set = mt_options_set(&options, "out", patterns[i], error, sizeof error);
        CHECK_EQ(set, mt_options_expand_path(patterns[i], 1, "x", path, sizeof path));
        CHECK(set == 0 || strstr(error, "process id"));
    }
}

static const char *spool(const char *out, const char *own)
{
    static char pattern[MT_OPTION_PATH_MAX];
    struct mt_options options;
    mt_options_defaults(&options);
    snprintf(options.out, sizeof options.out, "%s", out);
    snprintf(options.spool, sizeof options.spool, "%s", own);
    int result = mt_options_spool_pattern(&options, pattern, sizeof pattern);
    return result == 0 ? pattern : result == -ENOENT ? "none" : result == -ENAMETOOLONG ? "long" : "?";
}

static void check_spool(void)
{
    char nearly[MT_OPTION_PATH_MAX];
    CHECK_STR(spool("", ""), "none");
    CHECK_STR(spool("a/report-%p.json", ""), "a/report-%p.mtap");
    CHECK_STR(spool("report", ""), "report.mtap");
    CHECK_STR(spool(".json", ""), ".json.mtap");
    CHECK_STR(spool("x.json.gz", ""), "x.json.gz.mtap");
    CHECK_STR(spool("x.json", "y"), "y");
    CHECK_STR(spool("", "y.mtap"), "y.mtap");
    memset(nearly, 'x', sizeof nearly - 1);
    nearly[sizeof nearly - 1] = '\0';
    CHECK_STR(spool(nearly, ""), "long");
}

static void check_glob(void)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "llama-cli", true},
        {"llama*", "llama", true},
        {"llama*", "llam", false},
        {"*cli", "llama-cli", true},
        {"*-*-*", "a-b-c", true},
        {"*-*-*", "a-b", false},
        {"?", "a", true},
        {"?", "", false},
        {"??", "a", false},
        {"a?c", "abc", true},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[xyz]", "y", true},
        {"[xyz]", "a", false},
        {"[", "[", true},
        {"[a", "[a", true},
        {"[]a]", "]", true},
        {"[a-]", "-", true},
        {"a*b*c", "aXXbYYc", true},
        {"a*b*c", "aXXbYY", false},
        {"python3*", "python3.11", true},
        {"demo", "Demo", false},
        {"**a", "ba", true},
        {"*[0-9]", "t12", true},
        {"*[0-9]", "t1x", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!CHECK_EQ(mt_options_glob(cases[i].pattern, cases[i].text), cases[i].matches))
            printf("    pattern \"%s\", text \"%s\"\n", cases[i].pattern, cases[i].text);
}

int main(void)
{
    check_expansion();
    check_patterns_agree();
    check_spool();
    check_glob();
    return test_end();
}
