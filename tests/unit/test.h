// SPDX-License-Identifier: MIT
// The whole of a unit test's framework: CHECK macros that print the failing expression with its values and
// count on, and test_end() for main's return value. One program per file, one thread, no state but the
// counters below.
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int test_checks, test_failures;

// Counts one check; the caller prints the values when it is false.
static inline bool test_record(bool passed, const char *file, int line, const char *expression)
{
    test_checks++;
    if (passed)
        return true;
    test_failures++;
    printf("%s:%d: failed: %s\n", file, line, expression);
    return false;
}

// Compares as signed 64-bit numbers; each side was evaluated once, by the caller.
static inline bool test_compare(long long a, const char *op, long long b)
{
    if (op[0] == '=')
        return a == b;
    if (op[0] == '!')
        return a != b;
    if (op[0] == '<')
        return op[1] == '=' ? a <= b : a < b;
    return op[1] == '=' ? a >= b : a > b;
}

static inline bool test_int(long long a, const char *op, long long b, const char *file, int line,
                            const char *expression)
{
    bool passed = test_compare(a, op, b);
    if (!test_record(passed, file, line, expression))
        printf("    left %lld (0x%llx), right %lld (0x%llx)\n", a, (unsigned long long)a, b,
               (unsigned long long)b);
    return passed;
}

static inline bool test_near(double a, double b, double tolerance, const char *file, int line,
                             const char *expression)
{
    // Written so that a NaN on one side only fails, and two infinities of one sign are equal.
    bool passed = a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance;
    if (!test_record(passed, file, line, expression))
        printf("    left %.17g, right %.17g, allowed difference %g\n", a, b, tolerance);
    return passed;
}

static inline bool test_str(const char *a, const char *b, const char *file, int line, const char *expression)
{
    bool passed = a == b || (a && b && strcmp(a, b) == 0);
    if (!test_record(passed, file, line, expression))
        printf("    left  \"%s\"\n    right \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
    return passed;
}

static inline bool test_has(const char *text, const char *part, const char *file, int line,
                            const char *expression)
{
    bool passed = text && part && strstr(text, part);
    if (!test_record(passed, file, line, expression))
        printf("    text \"%s\"\n    lacks \"%s\"\n", text ? text : "(null)", part ? part : "(null)");
    return passed;
}

// Each gives true if it held, so that a test can stop where going on makes no sense: if (!CHECK(p)) return;
#define CHECK(condition) test_record((condition) ? true : false, __FILE__, __LINE__, #condition)
#define CHECK_INT(a, op, b)                                                                                  \
    test_int((long long)(a), #op, (long long)(b), __FILE__, __LINE__, #a " " #op " " #b)
#define CHECK_EQ(a, b) CHECK_INT(a, ==, b)
#define CHECK_NEAR(a, b, tolerance) test_near(a, b, tolerance, __FILE__, __LINE__, #a " near " #b)
#define CHECK_STR(a, b) test_str(a, b, __FILE__, __LINE__, #a " equals " #b)
#define CHECK_HAS(text, part) test_has(text, part, __FILE__, __LINE__, #text " contains " #part)

// A test that checked nothing has not passed.
static inline int test_end(void)
{
    printf("%d checks, %d failed\n", test_checks, test_failures);
    return test_failures || !test_checks ? 1 : 0;
}

#endif
