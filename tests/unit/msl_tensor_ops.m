// SPDX-License-Identifier: MIT
// Tensors and matmul2d against triple loops over doubles. All numbers are whole and small: sums are exact in
// the narrowest type, so results have to be equal.
#include "msl/harness.h"
#include "msl/reference.h"

// An element type; format is NULL for whole numbers.
typedef struct type {
    const ref_format *format;
    int size;
    bool is_signed;
} type;
static const type FLOAT = {&ref_float, 4, true}, HALF = {&ref_half, 2, true}, BFLOAT = {&ref_bfloat, 2, true};
static const type INT8 = {NULL, 1, true}, UINT8 = {NULL, 1, false}, INT32 = {NULL, 4, true};

enum { MOST = 16384 };
// A matrix (or several in a row) as doubles and as bytes of its type.
typedef struct numbers {
    const type *type;
    int count;
    double value[MOST];
    uint8_t bytes[MOST * 4];
} numbers;

static double decode(const type *t, const uint8_t *bytes)
{
    uint32_t bits = 0;
    memcpy(&bits, bytes, (size_t)t->size);
    if (t->format)
        return ref_decode(t->format, bits);
    if (t->size == 1)
        return t->is_signed ? (int8_t)bits : (uint8_t)bits;
    return (int32_t)bits;
}
static void fill(numbers *n, const type *t, int count)
{
    CHECK(count <= MOST);
    n->type = t;
    n->count = count;
    for (int i = 0; i < count; i++) {
        int range = t->format ? 3 : 100,
            x = (int)(ref_bits() % (unsigned)(2 * range + 1)) - (t->is_signed ? range : 0);
        uint32_t bits = t->format ? ref_encode(t->format, x) : (uint32_t)x;
        n->value[i] = x;
        memcpy(n->bytes + i * t->size, &bits, (size_t)t->size);
    }
}
#define NUMBERS(n) MEM((n)->bytes, (size_t)((n)->count * (n)->type->size))

static void compare(const numbers *got, const double *want, const char *what)
{
    ref_worst worst = {0};
    for (int i = 0; i < got->count; i++)
        ref_same(&worst, decode(got->type, got->bytes + i * got->type->size), want[i], i);
    CHECK_WORST(&worst, what);
}

// One product of matrices inside arrays: rows of `step` elements, the operands transposed or not.
typedef struct side {
    const double *at;
    int step;
    bool transposed;
} side;
static double element(side s, int row, int column)
{
    return s.transposed ? s.at[column * s.step + row] : s.at[row * s.step + column];
}
static void multiply(double *c, int rows, int columns, int depth, side a, side b)
{
    for (int i = 0; i < rows * columns; i++)
        for (int k = 0; k < depth; k++)
            c[i] += element(a, i / columns, k) * element(b, k, i % columns);
}
static numbers a, b, c;
static double want[MOST];

static void start_from(const numbers *n, bool add)
{
    for (int i = 0; i < n->count; i++)
        want[i] = add ? n->value[i] : 0;
}

typedef struct fragment_case {
    const char *kernel;
    const type *a, *b, *c;
    bool ta, tb, add;
} fragment_case;

static void fragments(const fragment_case *f)
{
    enum { SIMDS = 2 };
    fill(&a, f->a, SIMDS * 256);
    fill(&b, f->b, SIMDS * 512);
    fill(&c, f->c, SIMDS * 512);
    start_from(&c, f->add);
    for (int s = 0; s < SIMDS; s++)
        multiply(want + s * 512, 16, 32, 16, (side){a.value + s * 256, 16, f->ta},
                 (side){b.value + s * 512, f->tb ? 16 : 32, f->tb});
    RUN(.kernel = f->kernel, .groups = {1}, .group = {SIMDS * 32},
        .args = {NUMBERS(&a), NUMBERS(&b), NUMBERS(&c)});
    compare(&c, want, f->kernel);
}

static void all_fragments(void)
{
    const fragment_case cases[] = {
        {"fragments_half_nn", &HALF, &HALF, &FLOAT, false, false, true},
        {"fragments_half_nt", &HALF, &HALF, &FLOAT, false, true, true},
        {"fragments_half_tn", &HALF, &HALF, &FLOAT, true, false, true},
        {"fragments_half_tt", &HALF, &HALF, &FLOAT, true, true, true},
        {"fragments_half_set", &HALF, &HALF, &FLOAT, false, false, false},
        {"fragments_float", &FLOAT, &FLOAT, &FLOAT, false, true, true},
        {"fragments_bfloat", &BFLOAT, &BFLOAT, &FLOAT, false, false, true},
        {"fragments_narrow", &HALF, &HALF, &HALF, false, false, true},
        {"fragments_bnarrow", &BFLOAT, &BFLOAT, &BFLOAT, false, true, true},
        {"fragments_mixed", &HALF, &BFLOAT, &FLOAT, true, false, true},
        {"fragments_int8", &INT8, &INT8, &INT32, false, true, true},
        {"fragments_uint8", &UINT8, &UINT8, &INT32, false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        fragments(&cases[i]);
}

static void odd_sizes(void)
{
    uint32_t counts[3] = {0};
    fill(&a, &HALF, 24 * 20);
    fill(&b, &HALF, 40 * 20);
    fill(&c, &FLOAT, 24 * 40);
    start_from(&c, false);
    multiply(want, 24, 40, 20, (side){a.value, 20, false}, (side){b.value, 20, true});
    RUN(.kernel = "odd_sizes", .groups = {1}, .group = {32},
        .args = {NUMBERS(&a), NUMBERS(&b), NUMBERS(&c), BUF(counts)});
    compare(&c, want, "odd_sizes");
    CHECK(counts[0] == 24 * 20 && counts[1] == 40 * 20 && counts[2] == 24 * 40);
}

static void one_element(void)
{
    double whole[512] = {0};
    fill(&a, &FLOAT, 256);
    fill(&b, &FLOAT, 512);
    fill(&c, &FLOAT, 32);
    multiply(whole, 16, 32, 16, (side){a.value, 16, false}, (side){b.value, 32, false});
    for (int lane = 0; lane < 32; lane++) { // the fourth element of the second fragment's upper half
        int row = (lane >> 2 & 4) | (lane >> 1 & 3), column = ((lane >> 2 & 2) | (lane & 1)) * 4;
        want[lane] = whole[row * 32 + 16 + column + 3];
    }
    RUN(.kernel = "one_element", .groups = {1}, .group = {32},
        .args = {NUMBERS(&a), NUMBERS(&b), NUMBERS(&c)});
    compare(&c, want, "one_element");
}

typedef struct sizes {
    int32_t m, n, k;
} sizes;

static void staged(const char *kernel, const type *t, sizes s)
{
    fill(&a, t, s.m * s.k);
    fill(&b, &FLOAT, s.n * s.k);
    fill(&c, &FLOAT, s.n * s.m);
    start_from(&c, false);
    multiply(want, s.n, s.m, s.k, (side){b.value, s.k, false}, (side){a.value, s.k, true});
    RUN(.kernel = kernel, .groups = {(unsigned)(s.n + 31) / 32, (unsigned)(s.m + 63) / 64}, .group = {128},
        .args = {VAL(s), NUMBERS(&a), NUMBERS(&b), NUMBERS(&c), SHARED(64 * 48 * 4)});
    compare(&c, want, kernel);
}

static void all_staged(void)
{
    fill(&a, &HALF, 2 * 64 * 32);
    fill(&b, &HALF, 2 * 32 * 32);
    fill(&c, &FLOAT, 32 * 64);
    start_from(&c, false);
    for (int turn = 0; turn < 2; turn++) // c[n][m] = sum over k of b[k][n] a[m][k]
        multiply(want, 32, 64, 32, (side){b.value + turn * 1024, 32, true},
                 (side){a.value + turn * 2048, 32, true});
    RUN(.kernel = "all_staged", .groups = {1}, .group = {128},
        .args = {NUMBERS(&a), NUMBERS(&b), NUMBERS(&c)});
    compare(&c, want, "all_staged");
}

typedef struct memory_case {
    const char *kernel;
    const type *in, *out;
    bool add;
    unsigned threads, rows, columns; // of a tile
} memory_case;

static void memory(memory_case m, sizes s)
{
    fill(&a, m.in, s.m * s.k);
    fill(&b, m.in, s.n * s.k);
    fill(&c, m.out, s.n * s.m);
    start_from(&c, m.add);
    multiply(want, s.m, s.n, s.k, (side){a.value, s.k, false}, (side){b.value, s.n, false});
    unsigned across = ((unsigned)s.n + m.columns - 1) / m.columns;
    unsigned down = ((unsigned)s.m + m.rows - 1) / m.rows;
    RUN(.kernel = m.kernel, .groups = {across, down}, .group = {m.threads},
        .args = {VAL(s), NUMBERS(&a), NUMBERS(&b), NUMBERS(&c)});
    compare(&c, want, m.kernel);
}

static void alone(void)
{
    enum { THREADS = 40 };
    fill(&a, &FLOAT, THREADS * 90);
    fill(&b, &FLOAT, THREADS * 126);
    fill(&c, &FLOAT, THREADS * 35);
    start_from(&c, false);
    for (int i = 0; i < THREADS; i++)
        multiply(want + i * 35, 5, 7, 18, (side){a.value + i * 90, 18, false},
                 (side){b.value + i * 126, 18, true});
    RUN(.kernel = "alone", .threads = {THREADS}, .group = {64},
        .args = {NUMBERS(&a), NUMBERS(&b), NUMBERS(&c)});
    compare(&c, want, "alone");
}

static void chain(void)
{
    static numbers v, rows, columns;
    double scores[16 * 32] = {0}, sums[16] = {0}, lowest[32];
    fill(&a, &FLOAT, 256);
    fill(&b, &FLOAT, 512);
    fill(&v, &FLOAT, 32 * 48);
    fill(&c, &FLOAT, 16 * 48);
    fill(&rows, &FLOAT, 16);
    fill(&columns, &FLOAT, 32);
    multiply(scores, 16, 32, 16, (side){a.value, 16, false}, (side){b.value, 16, true});
    for (int j = 0; j < 32; j++)
        lowest[j] = INFINITY;
    for (int i = 0; i < 16; i++) {
        double largest = -INFINITY;
        for (int j = 0; j < 32; j++) {
            double x = scores[i * 32 + j];
            sums[i] += x;
            largest = fmax(largest, x);
            lowest[j] = fmin(lowest[j], x);
        }
        for (int j = 0; j < 32; j++)
            scores[i * 32 + j] -= largest;
    }
    start_from(&c, false);
    multiply(want, 16, 48, 32, (side){scores, 32, false}, (side){v.value, 48, false});
    RUN(.kernel = "chain", .groups = {1}, .group = {32},
        .args = {NUMBERS(&a), NUMBERS(&b), NUMBERS(&v), NUMBERS(&c), NUMBERS(&rows), NUMBERS(&columns)});
    compare(&c, want, "chain");
    compare(&rows, sums, "sums of rows");
    compare(&columns, lowest, "smallest of columns");
}

// Extents, strides and elements of views.
static void views(void)
{
    float data[120];
    int32_t out[16] = {0};
    static const int32_t right[16] = {4, 5, 6, 1, 4, 20, 80, 3, 3, 3, 4, 2, 24, 3, 2, 24};
    for (int i = 0; i < 120; i++)
        data[i] = (float)i;
    RUN(.kernel = "views", .threads = {1}, .args = {BUF(data), BUF(out)});
    for (int i = 0; i < 16; i++)
        if (!CHECK(out[i] == right[i]))
            printf("    at %d: %d\n", i, (int)out[i]);
}

// What Metal refuses has to be refused here too, with the reason.
static void refused(void)
{
    static const char source[] =
        "#include <metal_tensor>\n#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
        "using namespace metal; using namespace mpp::tensor_ops;\n"
        "kernel void k(device float *a [[buffer(0)]]) {\n"
        "  matmul2d<matmul2d_descriptor(16, 32, 16), execution_simdgroups<4>> product;\n"
        "  auto left = product.get_left_input_cooperative_tensor<float, float, float>(); a[0] = left[0]; }\n";
    // Sources that do not ask for tensors may have names of their own.
    static const char own_names[] =
        "#include <metal_stdlib>\nusing namespace metal; struct tensor { int x; }; struct extents { int y; "
        "};\n"
        "kernel void k(device int *a [[buffer(0)]]) { tensor t = {1}; extents e = {2}; a[0] = t.x + e.y; }\n";
    int32_t out[1] = {0};
    CHECK(!msl_compile(source, nil));
    CHECK(strstr(msl.error, "one simdgroup or thread only"));
    msl_source(own_names);
    RUN(.kernel = "k", .threads = {1}, .args = {BUF(out)});
    CHECK(out[0] == 3);
}

int main(void)
{
    // A read outside of a tensor's extents gives the same results, but leaves the buffer.
    setenv("SOFTMETAL_VALIDATE", "1", 1);
    msl_load("tensor_ops.metal");
    all_fragments();
    odd_sizes();
    one_element();
    staged("staged_float", &FLOAT, (sizes){64, 32, 48});
    staged("staged_half", &HALF, (sizes){90, 45, 77});
    staged("staged_bfloat", &BFLOAT, (sizes){130, 70, 100});
    all_staged();
    memory((memory_case){"memory_half", &HALF, &FLOAT, true, 128, 32, 48}, (sizes){96, 96, 40});
    memory((memory_case){"memory_half", &HALF, &FLOAT, true, 128, 32, 48}, (sizes){50, 61, 37});
    memory((memory_case){"memory_set", &FLOAT, &FLOAT, false, 64, 32, 48}, (sizes){33, 100, 100});
    memory((memory_case){"memory_narrow", &HALF, &HALF, false, 32, 32, 48}, (sizes){70, 50, 33});
    memory((memory_case){"memory_int8", &INT8, &INT32, true, 128, 32, 48}, (sizes){40, 110, 70});
    memory((memory_case){"memory_odd", &HALF, &FLOAT, true, 64, 24, 40}, (sizes){60, 90, 20});
    memory((memory_case){"memory_alone", &FLOAT, &FLOAT, true, 1, 32, 48}, (sizes){37, 55, 19});
    alone();
    chain();
    views();
    refused();
    return msl_end();
}
