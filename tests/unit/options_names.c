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

// "report spool" of process 4711 of the program demo.
static const char *names(const char *out_pattern, const char *spool_pattern, unsigned attempt)
{
    static char both[2 * MT_OPTION_PATH_MAX];
    char out[MT_OPTION_PATH_MAX], spool[MT_OPTION_PATH_MAX];
    struct mt_options options;
    mt_options_defaults(&options);
    snprintf(options.out, sizeof options.out, "%s", out_pattern);
    snprintf(options.spool, sizeof options.spool, "%s", spool_pattern);
    int result = mt_options_file_names(&options, 4711, "/bin/demo", attempt, out, spool);
    snprintf(both, sizeof both, "%s %s", out, spool);
    return result == 0 ? both : result == -ENAMETOOLONG ? "long" : "?";
}

static void check_file_names(void)
{
    char nearly[MT_OPTION_PATH_MAX];
    CHECK_STR(names("", "", 0), " ");
    CHECK_STR(names("", "", 1), " ");
    CHECK_STR(names("a/r-%p.json", "", 0), "a/r-4711.json a/r-4711.mtap");
    CHECK_STR(names("%n.json", "", 0), "demo.json demo.mtap");
    CHECK_STR(names("report", "", 0), "report report.mtap");
    CHECK_STR(names(".json", "", 0), ".json .json.mtap");
    CHECK_STR(names("a.b/.json", "", 0), "a.b/.json a.b/.json.mtap");
    CHECK_STR(names("a.b/c", "", 1), "a.b/c-4711 a.b/c-4711.mtap");
    CHECK_STR(names("x.json.gz", "", 0), "x.json.gz x.json.mtap");
    CHECK_STR(names("x.json", "y", 0), "x.json y");
    CHECK_STR(names("x.json", "y", 1), "x-4711.json y-4711");
    CHECK_STR(names("", "d/y.mtap", 0), " d/y.mtap");
    CHECK_STR(names("x.json", "", 1), "x-4711.json x-4711.mtap");
    CHECK_STR(names("x.json", "", 12), "x-4711-12.json x-4711-12.mtap");
    memset(nearly, 'x', sizeof nearly - 1);
    nearly[sizeof nearly - 1] = '\0';
    CHECK_STR(names(nearly, "", 0), "long");
    CHECK_STR(names(nearly, "y", 1), "long");
    CHECK_STR(names("", nearly, 1), "long");
    CHECK_STR(names("", nearly, 0) + 1, nearly);
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
    check_file_names();
    check_glob();
    return test_end();
}
