// SPDX-License-Identifier: MIT
// Kernels in the manner of llama.cpp against double precision: quantised matrix-vector and matrix-matrix
// products, rms norm, rotary embedding, softmax and attention.
#include "msl/harness.h"
#include "msl/reference.h"

enum { BLOCK = 32 };
typedef struct mul_args {
    int32_t columns, rows;
    uint64_t row_bytes;
} mul_args;

// Random blocks of 4 or 8 bits; their values as doubles go to w.
static void make_blocks(int bits, int count, uint8_t *bytes, double *w)
{
    int size = bits == 4 ? 18 : 34;
    for (int b = 0; b < count; b++) {
        double d = ref_round(&ref_half, ref_random(0.01, 0.1));
        uint16_t d_bits = (uint16_t)ref_encode(&ref_half, d);
        memcpy(bytes + b * size, &d_bits, 2);
        for (int i = 0; i < size - 2; i++) {
            uint8_t q = (uint8_t)ref_bits();
            bytes[b * size + 2 + i] = q;
            if (bits == 4) {
                w[b * BLOCK + i] = d * ((q & 15) - 8);
                w[b * BLOCK + i + 16] = d * ((q >> 4) - 8);
            } else {
                w[b * BLOCK + i] = d * (int8_t)q;
            }
        }
    }
}

static void mul(int bits, int columns, int rows, int vectors, msl_call *call, double tolerance)
{
    static uint8_t weights[128 * 1024];
    static double w[128 * 1024];
    static float y[32 * 1024], out[64 * 64];
    mul_args args = {columns, rows, (uint64_t)columns / BLOCK * (bits == 4 ? 18 : 34)};
    ref_worst worst = {0};
    make_blocks(bits, columns / BLOCK * rows, weights, w);
    for (int i = 0; i < columns * vectors; i++)
        y[i] = ref_random(-1, 1);
    const msl_arg bound[4] = {VAL(args), BUF(weights), BUF(y), BUF(out)};
    call->args[4] = call->args[0];
    memcpy(call->args, bound, sizeof bound);
    msl_run_at(call, __FILE__, __LINE__);
    for (int v = 0; v < vectors; v++)
        for (int r = 0; r < rows; r++) {
            double sum = 0, size = 0;
            for (int c = 0; c < columns; c++) {
                sum += w[r * columns + c] * y[v * columns + c];
                size += fabs(w[r * columns + c] * y[v * columns + c]);
            }
            ref_note(&worst, fabs(out[v * rows + r] - sum) / size, tolerance, out[v * rows + r], sum,
                     v * rows + r);
        }
    CHECK_WORST(&worst, call->kernel);
}

static void products(void)
{
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    const int16_t simds = 4;
    [values setConstantValue:&simds type:MTLDataTypeShort atIndex:600];
    mul(4, 1024, 37, 1, &(msl_call){.kernel = "mul_mv_q4", .groups = {10}, .group = {64}}, 1e-6);
    mul(8, 1024, 33, 1,
        &(msl_call){.kernel = "mul_mv_q8",
                    .constants = values,
                    .groups = {33},
                    .group = {128},
                    .args = {SHARED(128)}},
        1e-6);
    // Weights are rounded to half on the way.
    mul(4, 96, 64, 32,
        &(msl_call){.kernel = "mul_mm_q4", .groups = {1, 2}, .group = {128}, .args = {SHARED(6144)}}, 1e-3);
    mul(8, 64, 32, 64,
        &(msl_call){.kernel = "mul_mm_q8", .groups = {2, 1}, .group = {128}, .args = {SHARED(6144)}}, 1e-3);
}

static void rms_norm(const char *kernel, int columns, unsigned group, bool weighted)
{
    enum { ROWS = 5 };
    static float x[ROWS * 2048], w[2048], y[ROWS * 2048];
    struct {
        int32_t columns;
        float eps;
    } args = {columns, 1e-5f};
    ref_worst worst = {0};
    for (int i = 0; i < ROWS * columns; i++)
        x[i] = ref_random(-2, 2), w[i % columns] = ref_random(0, 2);
    RUN(.kernel = kernel, .groups = {ROWS}, .group = {group},
        .args = {VAL(args), BUF(x), BUF(w), BUF(y), SHARED(128)});
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int i = 0; i < columns; i++)
            sum += (double)x[r * columns + i] * x[r * columns + i];
        for (int i = 0; i < columns; i++) {
            double want = x[r * columns + i] / sqrt(sum / columns + 1e-5) * (weighted ? w[i] : 1);
            ref_note(&worst, fabs(y[r * columns + i] - want), 2e-6 * (1 + fabs(want)), y[r * columns + i],
                     want, i);
        }
    }
    CHECK_WORST(&worst, kernel);
}

typedef struct rope_args {
    int32_t head, heads, tokens, dims;
    float base, scale, ext_factor, attn_factor, beta_fast, beta_slow;
    int32_t original;
} rope_args;

static double correction(const rope_args *a, double rotations)
{
    return a->dims * log(a->original / (rotations * 2 * acos(-1))) / (2 * log((double)a->base));
}

static void rotated(const rope_args *a, double position, int i, double *c, double *s)
{
    double theta = position * pow(a->base, -(double)i / a->dims), angle = a->scale * theta,
           size = a->attn_factor;
    if (a->ext_factor != 0) {
        double low = fmax(0, floor(correction(a, a->beta_fast)));
        double high = fmin(a->dims - 1, ceil(correction(a, a->beta_slow)));
        double part = (1 - fmin(1, fmax(0, (i * 0.5 - low) / fmax(0.001, high - low)))) * a->ext_factor;
        angle = angle * (1 - part) + theta * part;
        size *= 1 + 0.1 * log(1.0 / a->scale);
    }
    *c = cos(angle) * size;
    *s = sin(angle) * size;
}

static void rope(bool narrow, float ext_factor)
{
    enum { HEAD = 80, HEADS = 3, TOKENS = 4, N = HEAD * HEADS * TOKENS };
    rope_args args = {HEAD, HEADS, TOKENS, 64, 10000, 0.25f, ext_factor, 1.5f, 32, 1, 512};
    int32_t positions[TOKENS] = {0, 1, 17, 100};
    float x[N], y[N];
    uint16_t hx[N], hy[N];
    ref_worst worst = {0};
    for (int i = 0; i < N; i++) {
        x[i] = (float)ref_round(&ref_half, ref_random(-1, 1));
        hx[i] = (uint16_t)ref_encode(&ref_half, x[i]);
    }
    RUN(.kernel = narrow ? "rope_f16" : "rope_f32", .groups = {HEADS, TOKENS}, .group = {32},
        .args = {VAL(args), MEM(narrow ? (void *)hx : x, narrow ? sizeof hx : sizeof x), BUF(positions),
                 MEM(narrow ? (void *)hy : y, narrow ? sizeof hy : sizeof y)});
    for (int i = 0; i < N; i += 2) {
        double c = 1, s = 0;
        int token = i / (HEAD * HEADS);
        if (i % HEAD < args.dims)
            rotated(&args, positions[token], i % HEAD, &c, &s);
        const double want[2] = {x[i] * c - x[i + 1] * s, x[i] * s + x[i + 1] * c};
        for (int k = 0; k < 2; k++) {
            double got = narrow ? ref_decode(&ref_half, hy[i + k]) : y[i + k];
            ref_note(&worst, fabs(got - want[k]), narrow ? 2e-3 : 2e-5, got, want[k], i + k);
        }
    }
    CHECK_WORST(&worst, "rope");
}

static void soft_max(int columns, unsigned group, bool masked, float max_bias)
{
    enum { ROWS = 3, HEADS = 4 };
    static float x[ROWS * HEADS * 600], y[ROWS * HEADS * 600];
    static uint16_t mask[ROWS * 600];
    struct {
        int32_t columns, rows, heads;
        float scale, max_bias, m0;
    } args = {columns, ROWS, HEADS, 0.5f, max_bias, 0.7f};
    ref_worst worst = {0};
    for (int i = 0; i < ROWS * HEADS * columns; i++)
        x[i] = ref_random(-8, 8);
    for (int i = 0; i < ROWS * columns; i++)
        mask[i] = i % 5 == 2 ? 0xfc00 : (uint16_t)ref_encode(&ref_half, -(double)(i % 4)); // minus infinity
    RUN(.kernel = "soft_max", .groups = {ROWS, HEADS}, .group = {group},
        .args = {
            VAL(args), BUF(x), {mask, sizeof mask, masked ? MSL_BUFFER : MSL_UNBOUND}, BUF(y), SHARED(128)});
    for (int row = 0; row < ROWS * HEADS; row++) {
        int head = row / ROWS;
        double slope = max_bias > 0 ? pow(args.m0, head + 1) : 1, sum = 0, e[600];
        for (int i = 0; i < columns; i++) {
            double m = masked ? slope * ref_decode(&ref_half, mask[row % ROWS * columns + i]) : 0;
            sum += e[i] = exp(x[row * columns + i] * 0.5 + m);
        }
        for (int i = 0; i < columns; i++)
            ref_note(&worst, fabs(y[row * columns + i] - e[i] / sum), 1e-6, y[row * columns + i], e[i] / sum,
                     i);
    }
    CHECK_WORST(&worst, "soft_max");
}

static void attention(int queries, int keys)
{
    enum { D = 64, MOST = 64 };
    static uint16_t q[MOST * D], k[MOST * D], v[MOST * D];
    static double dq[MOST * D], dk[MOST * D], dv[MOST * D];
    static float out[MOST * D];
    struct {
        int32_t queries, keys;
        float scale;
    } args = {queries, keys, 0.125f};
    ref_worst worst = {0};
    for (int i = 0; i < MOST * D; i++) {
        q[i] = (uint16_t)ref_encode(&ref_half, ref_random(-2, 2)), dq[i] = ref_decode(&ref_half, q[i]);
        k[i] = (uint16_t)ref_encode(&ref_half, ref_random(-2, 2)), dk[i] = ref_decode(&ref_half, k[i]);
        v[i] = (uint16_t)ref_encode(&ref_half, ref_random(-2, 2)), dv[i] = ref_decode(&ref_half, v[i]);
    }
    RUN(.kernel = "flash_attention_64", .groups = {(unsigned)(queries + 7) / 8}, .group = {32},
        .args = {VAL(args), BUF(q), BUF(k), BUF(v), BUF(out), SHARED(8 * D * 2 + 2 * 64 * 4)});
    for (int i = 0; i < queries; i++) {
        double weight[MOST], sum = 0;
        for (int j = 0; j < keys; j++) {
            double score = 0;
            for (int c = 0; c < D; c++)
                score += dq[i * D + c] * dk[j * D + c];
            sum += weight[j] = exp(score * 0.125);
        }
        for (int c = 0; c < D; c++) {
            double want = 0;
            for (int j = 0; j < keys; j++)
                want += weight[j] / sum * dv[j * D + c];
            ref_note(&worst, fabs(out[i * D + c] - want), 1e-5, out[i * D + c], want, i * D + c);
        }
    }
    CHECK_WORST(&worst, "flash_attention");
}

int main(void)
{
    msl_load("llama_style.metal");
    products();
    rms_norm("rms_norm_4", 1000, 256, false);
    rms_norm("rms_norm_mul_4", 2048, 512, true);
    rope(false, 0);
    rope(false, 1);
    rope(true, 0.5f);
    soft_max(600, 256, true, 8);
    soft_max(50, 32, false, 0);
    attention(24, 64);
    attention(13, 40);
    return msl_end();
}
