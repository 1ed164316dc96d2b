// SPDX-License-Identifier: MIT
// The mathematical functions against the double functions of the C library, within the ulps that the Metal
// Shading Language Specification allows (its tables of accuracy; for the fast ones what it says for fast
// math).
#include "msl/harness.h"
#include "msl/reference.h"

enum { N = 2048 };
#define PI 3.14159265358979323846

typedef double (*function)(double, double, double);
#define F(name, expression)                                                                                  \
    static double f_##name(double x, double y, double z)                                                     \
    {                                                                                                        \
        (void)y;                                                                                             \
        (void)z;                                                                                             \
        return expression;                                                                                   \
    }
// sin and cos of pi times x, with the whole turns taken away exactly.
static double turns(double x)
{
    return x - 2 * nearbyint(x / 2);
}
static double exact_sinpi(double x)
{
    double t = turns(x);
    return fabs(t) == 1 || t == 0 ? 0 : fabs(t) > 0.5 ? copysign(sin(PI * (1 - fabs(t))), t) : sin(PI * t);
}
static double exact_cospi(double x)
{
    double t = fabs(turns(x));
    return t == 0.5 ? 0 : t < 0.25 ? cos(PI * t) : sin(PI * (0.5 - t));
}
static double middle(double x, double y, double z)
{
    return fmax(fmin(x, y), fmin(fmax(x, y), z));
}
static double smooth(double x, double y, double z)
{
    double t = fmin(fmax((z - x) / (y - x), 0), 1);
    return t * t * (3 - 2 * t);
}
F(exp, exp(x))
F(exp2, exp2(x))
F(exp10, pow(10, x))
F(log, log(x))
F(log2, log2(x))
F(log10, log10(x))
F(sin, sin(x))
F(cos, cos(x))
F(tan, tan(x))
F(asin, asin(x))
F(acos, acos(x))
F(atan, atan(x))
F(sinh, sinh(x))
F(cosh, cosh(x))
F(tanh, tanh(x))
F(asinh, asinh(x))
F(acosh, acosh(x))
F(atanh, atanh(x))
F(sinpi, exact_sinpi(x))
F(cospi, exact_cospi(x))
F(tanpi, exact_sinpi(x) / exact_cospi(x))
F(sqrt, sqrt(x))
F(rsqrt, 1 / sqrt(x))
F(floor, floor(x))
F(ceil, ceil(x))
F(trunc, trunc(x))
F(rint, nearbyint(x))
F(round, round(x))
F(fabs, fabs(x))
F(fract, x - floor(x))
F(saturate, fmin(fmax(x, 0), 1))
F(sign, x > 0 ? 1 : x < 0 ? -1 : 0)
F(pow, pow(x, y))
F(atan2, atan2(x, y))
F(fmod, fmod(x, y))
F(divide, x / y)
F(fmax, fmax(x, y))
F(fmin, fmin(x, y))
F(copysign, copysign(x, y))
F(fdim, x > y ? x - y : 0)
F(step, y < x ? 0 : 1)
F(fma, x *y + z)
F(mix, x + (y - x) * z)
F(clamp, fmin(fmax(x, y), z))
F(smoothstep, smooth(x, y, z))
F(fmax3, fmax(fmax(x, y), z))
F(fmin3, fmin(fmin(x, y), z))
F(fmedian3, middle(x, y, z))

// The range of each operand; ulps allowed for float, for fast math, and for the narrow types.
typedef struct row {
    const char *name;
    function f;
    double low[3], high[3];
    double ulps, fast, narrow;
} row;
#define R1(name, low, high, ulps, fast, narrow) {#name, f_##name, {low}, {high}, ulps, fast, narrow}

static const row unary[] = {
    // 3 + floor(fabs(2 * x)) ulps when fast
    R1(exp, -15, 10, 4, 33, 1),    R1(exp2, -14, 15, 4, 33, 1),   R1(exp10, -4, 4, 4, 33, 1),
    R1(log, 1e-3, 6e4, 4, 4, 1),   R1(log2, 1e-3, 6e4, 4, 4, 1),  R1(log10, 1e-3, 6e4, 4, 4, 1),
    R1(sin, -30, 30, 4, 1e3, 1),   R1(cos, -30, 30, 4, 1e3, 1),   R1(tan, -1.5, 1.5, 6, 64, 2),
    R1(asin, -1, 1, 4, 5, 1),      R1(acos, -1, 1, 4, 5, 1),      R1(atan, -50, 50, 5, 5, 1),
    R1(sinh, -9, 9, 4, 40, 1),     R1(cosh, -9, 9, 4, 40, 1),     R1(tanh, -5, 5, 5, 40, 1),
    R1(asinh, -50, 50, 4, 40, 1),  R1(acosh, 1, 50, 4, 40, 1),    R1(atanh, -0.999, 0.999, 5, 40, 1),
    R1(sinpi, -20, 20, 4, 1e3, 1), R1(cospi, -20, 20, 4, 1e3, 1), R1(tanpi, -0.49, 0.49, 6, 64, 2),
    R1(sqrt, 0, 6e4, 0, 1, 0),     R1(rsqrt, 1e-3, 6e4, 2, 2, 1), R1(floor, -99, 99, 0, 0, 0),
    R1(ceil, -99, 99, 0, 0, 0),    R1(trunc, -99, 99, 0, 0, 0),   R1(rint, -99, 99, 0, 0, 0),
    R1(round, -99, 99, 0, 0, 0),   R1(fabs, -99, 99, 0, 0, 0),    R1(fract, -99, 99, 0, 0, 0),
    R1(saturate, -2, 2, 0, 0, 0),  R1(sign, -2, 2, 0, 0, 0),      {"abs", f_fabs, {-99}, {99}, 0, 0, 0},
};
enum { UNARY = sizeof unary / sizeof *unary };

static double f_nextafter(double x, double y, double z);
static const row several[] = {
    {"pow", f_pow, {0.1, -3, 0}, {20, 3, 0}, 16, 64, 4},
    {"powr", f_pow, {0.1, -3, 0}, {20, 3, 0}, 16, 64, 4},
    {"atan2", f_atan2, {-9, -9, 0}, {9, 9, 0}, 6, 6, 1},
    {"fmod", f_fmod, {-90, 0.5, 0}, {90, 7, 0}, 0, 1e9, 0},
    {"divide", f_divide, {-90, 0.5, 0}, {90, 7, 0}, 0, 2.5, 1},
    {"fmax", f_fmax, {-9, -9, 0}, {9, 9, 0}, 0, 0, 0},
    {"fmin", f_fmin, {-9, -9, 0}, {9, 9, 0}, 0, 0, 0},
    {"copysign", f_copysign, {-9, -9, 0}, {9, 9, 0}, 0, 0, 0},
    {"fdim", f_fdim, {-9, -9, 0}, {9, 9, 0}, 0, 0, 0},
    {"step", f_step, {-1, -1, 0}, {1, 1, 0}, 0, 0, 0},
    {"max", f_fmax, {-9, -9, 0}, {9, 9, 0}, 0, 0, 0},
    {"min", f_fmin, {-9, -9, 0}, {9, 9, 0}, 0, 0, 0},
    {"nextafter", f_nextafter, {-9, -9, 0}, {9, 9, 0}, 0, 0, 0},
    {"fma", f_fma, {-9, -9, -9}, {9, 9, 9}, 0, 0, 0},
    {"mix", f_mix, {1, 10, 0}, {9, 20, 1}, 4, 4, 8},
    {"clamp", f_clamp, {-9, -3, 2}, {9, 1, 5}, 0, 0, 0},
    {"smoothstep", f_smoothstep, {-9, 1, -9}, {0, 9, 9}, 64, 64, 64},
    {"fmax3", f_fmax3, {-9, -9, -9}, {9, 9, 9}, 0, 0, 0},
    {"fmin3", f_fmin3, {-9, -9, -9}, {9, 9, 9}, 0, 0, 0},
    {"fmedian3", f_fmedian3, {-9, -9, -9}, {9, 9, 9}, 0, 0, 0},
};
enum { SEVERAL = sizeof several / sizeof *several, ROWS = UNARY > SEVERAL ? UNARY : SEVERAL };

static const ref_format *format; // of the rows under way
static double f_nextafter(double x, double y, double z)
{
    (void)z;
    double step = ref_ulp(format, x);
    if (x == y)
        return y;
    // Towards zero from a power of two the step is half of it.
    bool inward = (y > x) != (x > 0);
    return y > x ? x + (inward && ref_ulp(format, x + step / 2) < step ? step / 2 : step)
                 : x - (inward && ref_ulp(format, x - step / 2) < step ? step / 2 : step);
}

typedef enum { PRECISE, FAST, NARROW } demand;

// Results near a zero of sin and its like may be off by a little that is many ulps when math is fast.
static double allowance(const row *r, demand d, double truth)
{
    if (d == NARROW)
        return r->narrow;
    if (d == FAST && (r->f == f_sin || r->f == f_cos || r->f == f_sinpi || r->f == f_cospi))
        return 0x1p-13 / ref_ulp(format, truth);
    return d == FAST ? r->fast : r->ulps;
}

static void fill(const row *rows, int count, double (*in)[ROWS][N])
{
    for (int r = 0; r < count; r++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < N; i++)
                in[k][r][i] = ref_round(format, ref_random(rows[r].low[k], rows[r].high[k]));
}

static void encode(double (*in)[N], int count, uint8_t *to)
{
    int size = format == &ref_float ? 4 : 2;
    for (int i = 0; i < count * N; i++) {
        uint32_t bits = ref_encode(format, in[i / N][i % N]);
        memcpy(to + i * size, &bits, (size_t)size);
    }
}

static void check(const char *kernel, const ref_format *f, const row *rows, int count, demand d)
{
    static double in[3][ROWS][N];
    static uint8_t bytes[4][ROWS * N * 4];
    uint32_t n = N;
    format = f;
    fill(rows, count, in);
    for (int k = 0; k < 3; k++)
        encode(in[k], count, bytes[k]);
    RUN(.kernel = kernel, .threads = {N}, .group = {256},
        .args = {BUF(bytes[0]), BUF(bytes[1]), BUF(bytes[2]), BUF(bytes[3]), VAL(n)});
    for (int r = 0; r < count; r++) {
        ref_worst worst = {0};
        char what[60];
        for (int i = 0; i < N; i++) {
            double truth = rows[r].f(in[0][r][i], in[1][r][i], in[2][r][i]);
            uint32_t bits = 0;
            int size = f == &ref_float ? 4 : 2;
            memcpy(&bits, bytes[3] + (r * N + i) * size, (size_t)size);
            double got = ref_decode(f, bits);
            ref_note(&worst, ref_error(f, got, truth), allowance(&rows[r], d, truth), got, truth, i);
        }
        snprintf(what, sizeof what, "%s: %s", kernel, rows[r].name);
        if (!CHECK_WORST(&worst, what))
            printf("    of %.9g, %.9g, %.9g\n", in[0][r][worst.at], in[1][r][worst.at], in[2][r][worst.at]);
    }
}

// The same functions elsewhere: tiny arguments, huge ones, and around the points where a result is near zero.
static const struct elsewhere {
    const char *name; // NULL: all that are not named
    double low, high;
} tiny[] = {{"log", 0.99, 1.01}, {"log2", 0.99, 1.01}, {"log10", 0.99, 1.01}, {"acosh", 1, 1.01},
            {"acos", 0.99, 1},   {"asin", 0.99, 1},    {"cospi", 0.49, 0.51}, {NULL, 1e-30, 1e-3}},
  huge[] = {{"exp", 10, 88},     {"exp2", 20, 127},   {"exp10", 5, 38},    {"sinh", 9, 88},
            {"cosh", 9, 88},     {"asin", -0.1, 0.1}, {"acos", -1, -0.99}, {"atanh", 0.9, 0.999999},
            {"sin", 1e2, 1e5},   {"cos", 1e2, 1e5},   {"tan", 1e2, 1e4},   {"sinpi", 1e3, 1e6},
            {"cospi", 1e3, 1e6}, {"tanpi", 1e3, 1e5}, {NULL, 1e6, 1e30}};

static void move_rows(row *rows, const struct elsewhere *to)
{
    memcpy(rows, unary, sizeof unary);
    for (int r = 0; r < UNARY; r++) {
        const struct elsewhere *e = to;
        while (e->name && strcmp(e->name, rows[r].name) != 0)
            e++;
        rows[r].low[0] = e->low;
        rows[r].high[0] = e->high;
    }
}

static void two_results(void)
{
    float in[N], out[N][12];
    ref_worst worst[12] = {{0}};
    for (int i = 0; i < N; i++)
        in[i] = i % 5 ? ref_random(-30, 30) : ldexpf(1, i % 40 - 20);
    RUN(.kernel = "two_results", .threads = {N}, .group = {64}, .args = {BUF(in), BUF(out)});
    for (int i = 0; i < N; i++) {
        double x = in[i];
        int e;
        double m = frexp(x, &e);
        const double want[12] = {sin(x), cos(x), x - trunc(x), trunc(x), m, e, ldexp(x, 5) + ldexp(x, -7),
                                 e - 1,  sin(x), cos(x),       m,        e};
        for (int r = 0; r < 12; r++)
            ref_note(&worst[r], ref_error(&ref_float, out[i][r], want[r]), r % 8 < 2 ? 4 : 0, out[i][r],
                     want[r], i);
    }
    for (int r = 0; r < 12; r++)
        CHECK_WORST(&worst[r], "sincos, modf, frexp, ldexp, ilogb");
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void expect_geometric(const double *p, const double *q, double *w)
{
    double difference[4], length = sqrt(dot(p, p, 3)), unit[3], facing;
    for (int c = 0; c < 4; c++)
        difference[c] = p[c] - q[c];
    for (int c = 0; c < 3; c++)
        unit[c] = q[c] / sqrt(dot(q, q, 3));
    w[0] = dot(p, q, 4), w[1] = dot(p, q, 2), w[2] = dot(p, q, 3);
    w[3] = length, w[4] = dot(p, p, 2);
    w[5] = sqrt(dot(difference, difference, 4)), w[6] = dot(difference, difference, 3);
    facing = q[0] < 0 ? 1 : -1;
    for (int c = 0; c < 3; c++) {
        int next = (c + 1) % 3, last = (c + 2) % 3;
        w[7 + c] = p[c] / length;
        w[10 + c] = p[next] * q[last] - p[last] * q[next];
        w[13 + c] = p[c] - 2 * dot(unit, p, 3) * unit[c];
        w[16 + c] = facing * p[c];
    }
    double cosine = dot(unit, p, 3) / length, k = 1 - 0.25 * (1 - cosine * cosine);
    w[19] = 0.5 * p[1] / length - (0.5 * cosine + sqrt(k)) * unit[1];
}

static void geometric(void)
{
    float a[N][4], b[N][4], out[N][20];
    ref_worst worst[20] = {{0}};
    for (int i = 0; i < 4 * N; i++)
        a[i / 4][i % 4] = ref_random(-5, 5), b[i / 4][i % 4] = ref_random(-5, 5);
    RUN(.kernel = "geometric", .threads = {N}, .group = {64}, .args = {BUF(a), BUF(b), BUF(out)});
    for (int i = 0; i < N; i++) {
        double p[4], q[4], want[20];
        for (int c = 0; c < 4; c++)
            p[c] = a[i][c], q[c] = b[i][c];
        expect_geometric(p, q, want);
        for (int r = 0; r < 20; r++)
            ref_note(&worst[r], fabs(out[i][r] - want[r]), 2e-5 * fmax(1, fabs(want[r]) / 10), out[i][r],
                     want[r], i);
    }
    for (int r = 0; r < 20; r++)
        CHECK_WORST(&worst[r], "dot, length, distance, normalize, cross, reflect, faceforward, refract");
}

static void special(void)
{
    float in[8] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, -1.0f, 0x1p-140f, 1e38f}, out[8][16];
    ref_worst worst[16] = {{0}};
    RUN(.kernel = "special", .threads = {8}, .group = {8}, .args = {BUF(in), BUF(out)});
    for (int i = 0; i < 8; i++) {
        double x = in[i];
        const double want[16] = {exp(x),
                                 log(x),
                                 sqrt(x),
                                 1 / sqrt(x),
                                 1 / x,
                                 floor(x),
                                 isnan(x) ? 1 : fmax(x, 1),
                                 isnan(x) ? 1 : fmin(x, 1),
                                 x * x,
                                 tanh(x),
                                 atan(x),
                                 (isnan(x) ? 1 : 0) + (isinf(x) ? 2 : 0) + (isfinite(x) ? 4 : 0) +
                                     (isnormal(in[i]) ? 8 : 0) + (signbit(x) ? 16 : 0),
                                 isinf(x) ? NAN : sin(x),
                                 !isnan(x),
                                 isnan(x) ? 2 : 1,
                                 copysign(3, x)};
        for (int r = 0; r < 16; r++)
            if (!(isnan(x) && (r == 11 || r == 15))) // the sign of a NaN
                ref_note(&worst[r], ref_error(&ref_float, out[i][r], want[r]), 16, out[i][r], want[r], i);
    }
    for (int r = 0; r < 16; r++)
        if (!CHECK_WORST(&worst[r], "infinity, NaN, zero"))
            printf("    result %d of %g\n", r, in[worst[r].at]);
}

int main(void)
{
    msl_start();
    MTLCompileOptions *precise = [[[MTLCompileOptions alloc] init] autorelease];
    [precise setFastMathEnabled:NO];
    msl_load_with("math.metal", precise);
    check("unary_float", &ref_float, unary, UNARY, PRECISE);
    check("several_float", &ref_float, several, SEVERAL, PRECISE);
    row moved[UNARY];
    move_rows(moved, tiny);
    check("unary_float", &ref_float, moved, UNARY, PRECISE);
    move_rows(moved, huge);
    check("unary_float", &ref_float, moved, UNARY, PRECISE);
    check("unary_precise", &ref_float, unary, UNARY, PRECISE);
    check("unary_half", &ref_half, unary, UNARY, NARROW);
    check("several_half", &ref_half, several, SEVERAL, NARROW);
    check("unary_bfloat", &ref_bfloat, unary, UNARY, NARROW);
    check("several_bfloat", &ref_bfloat, several, SEVERAL, NARROW);
    check("unary_vector", &ref_float, unary, UNARY, PRECISE);
    two_results();
    geometric();
    special();
    msl_load("math.metal");
    check("unary_float", &ref_float, unary, UNARY, FAST);
    check("several_float", &ref_float, several, SEVERAL, FAST);
    check("unary_precise", &ref_float, unary, UNARY, PRECISE);
    check("unary_fast", &ref_float, unary, UNARY, FAST);
    return msl_end();
}
