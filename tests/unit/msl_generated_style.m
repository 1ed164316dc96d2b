// SPDX-License-Identifier: MIT
// Kernels in the manner of Tint, SPIRV-Cross, naga and tinygrad against double precision.
#include "msl/harness.h"
#include "msl/reference.h"

static void tint_matmul(unsigned m, unsigned k, unsigned n)
{
    static float a[4096], b[4096], c[4096];
    uint32_t uniforms[4] = {m, k, n, 0};
    ref_worst worst = {0};
    for (unsigned i = 0; i < 4096; i++)
        a[i] = ref_random(-1, 1), b[i] = ref_random(-1, 1), c[i] = 99;
    RUN(.kernel = "tint_matmul", .groups = {(n + 15) / 16, (m + 15) / 16}, .group = {8, 8},
        .args = {VAL(uniforms), BUF(a), BUF(b), BUF(c), SHARED(2048)});
    for (unsigned i = 0; i < m * n; i++) {
        double sum = 0;
        for (unsigned j = 0; j < k; j++)
            sum += (double)a[i / n * k + j] * b[j * n + i % n];
        ref_note(&worst, fabs(c[i] - sum), 1e-5, c[i], sum, i);
    }
    CHECK_WORST(&worst, "tint_matmul");
    CHECK_EQ(c[m * n], 99);
}

static void histogram(void)
{
    enum { N = 500, GROUP = 64 };
    static struct {
        uint32_t count[4], values[N][4];
    } in;
    struct {
        uint32_t bins[16], starts[16], rank[GROUP];
    } out, want = {{0}, {0}, {0}};
    in.count[0] = N;
    for (int i = 0; i < N * 4; i++)
        in.values[i / 4][i % 4] = (uint32_t)ref_bits();
    for (int i = 0; i < N; i++) {
        uint32_t value = in.values[i][i & 3];
        want.bins[value & 15] += (value & 3) + 1;
    }
    for (int i = 1; i < 16; i++)
        want.starts[i] = want.starts[i - 1] + want.bins[i - 1];
    for (int i = 0; i < GROUP; i++)
        want.rank[i] = i % 32 ? want.rank[i - 1] + (in.values[i - 1][0] & 1) : 0;
    RUN(.kernel = "histogram_main0", .groups = {1}, .group = {GROUP},
        .args = {MEM(&in, sizeof in), MEM(&out, sizeof out)});
    CHECK(memcmp(out.bins, want.bins, sizeof out.bins) == 0);
    CHECK(memcmp(out.starts, want.starts, sizeof out.starts) == 0);
    CHECK(memcmp(out.rank, want.rank, sizeof out.rank) == 0);
}

typedef struct particle {
    float pos[2], vel[2];
} particle;
typedef struct params {
    float delta, distance, pull[2], turn[4];
} params;

static void move(const params *p, const particle *all, int count, int index, double *to)
{
    double mass[2] = {0, 0}, velocity[2];
    int near_by = 0;
    const particle *self = &all[index];
    for (int i = 0; i < count; i++) {
        double dx = (double)all[i].pos[0] - self->pos[0], dy = (double)all[i].pos[1] - self->pos[1];
        if (i == index || sqrt(dx * dx + dy * dy) >= p->distance)
            continue;
        mass[0] += all[i].pos[0], mass[1] += all[i].pos[1];
        near_by++;
    }
    for (int c = 0; c < 2; c++) {
        double corner = c ? 1 : -1, at = self->pos[c];
        mass[c] = near_by ? mass[c] / near_by - at : 0;
        velocity[c] = self->vel[c] + mass[c] * 0.25 + (p->pull[c] + corner - 3 * at) * 0.125;
    }
    for (int c = 0; c < 2; c++) {
        double turned = p->turn[c] * velocity[0] + p->turn[2 + c] * velocity[1];
        to[2 + c] = fmin(fmax(turned, -1), 1);
        to[c] = self->pos[c] + to[2 + c] * p->delta;
    }
}

static void naga_particles(void)
{
    enum { N = 150 };
    params p = {0.04f, 0.3f, {0.5f, -0.5f}, {0.8f, 0.6f, -0.6f, 0.8f}};
    particle from[N], to[N];
    uint32_t sizes[2] = {sizeof from, sizeof to};
    ref_worst worst = {0};
    for (int i = 0; i < N * 4; i++)
        ((float *)from)[i] = ref_random(-1, 1);
    RUN(.kernel = "naga_particles", .groups = {3}, .group = {64},
        .args = {VAL(p), BUF(from), BUF(to), VAL(sizes)});
    for (int i = 0; i < N; i++) {
        double want[4];
        move(&p, from, N, i, want);
        for (int c = 0; c < 4; c++)
            ref_note(&worst, fabs(((float *)&to[i])[c] - want[c]), 2e-6, ((float *)&to[i])[c], want[c],
                     i * 4 + c);
    }
    CHECK_WORST(&worst, "naga_particles");
}

static void tinygrad(void)
{
    static float out[1024], numbers[4096], top[16];
    static uint16_t a[1024], b[1024];
    ref_worst product = {0}, reduction = {0};
    for (int i = 0; i < 1024; i++) {
        a[i] = (uint16_t)ref_encode(&ref_half, ref_random(-1, 1));
        b[i] = (uint16_t)ref_encode(&ref_half, ref_random(-1, 1));
    }
    for (int i = 0; i < 4096; i++)
        numbers[i] = ref_random(-30, 3);
    RUN(.kernel = "r_8_8_4_4_16", .groups = {8, 8}, .group = {4}, .args = {BUF(out), BUF(a), BUF(b)});
    RUN(.kernel = "r_16_16_16", .groups = {16}, .group = {16}, .args = {BUF(top), BUF(numbers)});
    for (int i = 0; i < 1024; i++) {
        double sum = 0;
        for (int k = 0; k < 32; k++)
            sum += ref_decode(&ref_half, a[i / 32 * 32 + k]) * ref_decode(&ref_half, b[k * 32 + i % 32]);
        ref_note(&product, fabs(out[i] - fmax(sum, 0)), 1e-5, out[i], fmax(sum, 0), i);
    }
    for (int g = 0; g < 16; g++) {
        double largest = -INFINITY;
        for (int i = 0; i < 256; i++)
            largest = fmax(largest, numbers[g * 256 + i]);
        double want = exp(largest) + trunc(largest);
        ref_note(&reduction, fabs(top[g] - want), 1e-5 * fabs(want), top[g], want, g);
    }
    CHECK_WORST(&product, "r_8_8_4_4_16");
    CHECK_WORST(&reduction, "r_16_16_16");
}

int main(void)
{
    msl_load("generated_style.metal");
    tint_matmul(48, 32, 64);
    tint_matmul(21, 37, 19);
    histogram();
    naga_particles();
    tinygrad();
    return msl_end();
}
