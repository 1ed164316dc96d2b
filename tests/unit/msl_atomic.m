// SPDX-License-Identifier: MIT
// Atomics on int, uint, float, bool and ulong, in device and threadgroup memory, from many threadgroups at
// once.
#include "msl/harness.h"
#include "msl/reference.h"

enum { CELLS = 11 };

// Are the n numbers, with the one more, a rearrangement of the others, with the one more of theirs?
static bool same_set(const uint32_t *a, uint32_t a_more, const uint32_t *b, uint32_t b_more, int n)
{
    uint64_t sum_a = a_more, sum_b = b_more, squares_a = (uint64_t)a_more * a_more,
             squares_b = (uint64_t)b_more * b_more;
    uint32_t xor_a = a_more, xor_b = b_more;
    for (int i = 0; i < n; i++) {
        sum_a += a[i], sum_b += b[i];
        squares_a += (uint64_t)a[i] * a[i], squares_b += (uint64_t)b[i] * b[i];
        xor_a ^= a[i], xor_b ^= b[i];
    }
    return sum_a == sum_b && squares_a == squares_b && xor_a == xor_b;
}

static void expect(uint32_t *c, const uint32_t *in, int n, bool is_signed)
{
    c[7] += in[7];
    for (int i = 0; i < n; i++) {
        bool more = is_signed ? (int32_t)in[i] > (int32_t)c[5] : in[i] > c[5];
        bool less = is_signed ? (int32_t)in[i] < (int32_t)c[6] : in[i] < c[6];
        c[0] += in[i];
        c[1] -= in[i];
        c[2] &= in[i] | 0x40;
        c[3] |= in[i];
        c[4] ^= in[i];
        c[5] = more ? in[i] : c[5];
        c[6] = less ? in[i] : c[6];
        c[9] *= in[i] | 1;
    }
    c[10] += (uint32_t)n;
}

static void integers(const char *kernel, int n, unsigned group, bool is_signed)
{
    uint32_t cells[CELLS] = {5, 6, ~0u, 1, 9, 0, 0, 1000, 31337, 1, 3}, want[CELLS];
    uint32_t in[4096], tickets[4096], exchanged[4096], expected_tickets[4096];
    for (int i = 0; i < n; i++) {
        in[i] = (uint32_t)ref_bits() >> 4;
        in[i] = is_signed && i % 2 ? -in[i] : in[i];
        expected_tickets[i] = 3 + (uint32_t)i;
    }
    memcpy(want, cells, sizeof want);
    expect(want, in, n, is_signed);
    RUN(.kernel = kernel, .threads = {(unsigned)n}, .group = {group},
        .args = {BUF(cells), BUF(in), BUF(tickets), BUF(exchanged)});
    for (int c = 0; c < CELLS; c++)
        if (c != 8 && !CHECK_EQ(cells[c], want[c]))
            printf("    %s, cell %d\n", kernel, c);
    CHECK(same_set(tickets, 0, expected_tickets, 0, n));
    CHECK(same_set(exchanged, cells[8], in, 31337, n));
}

static void others(void)
{
    enum { N = 2048 };
    float sum[5] = {1, 2, 77, -5, 0}, in[N], exchanged[N];
    uint64_t wide[2] = {0, ~0ull}, largest = 0, least = ~0ull;
    uint32_t in_struct[9] = {11, 0, 12, 13, 0, 14, 15, 0, 16};
    uint8_t flag[4] = {0, 0, 0, 9};
    double total = 0, top = -5;
    for (int i = 0; i < N; i++) {
        in[i] = (float)((int)(ref_bits() % 2000) - 1000) / 1024;
        total += in[i];
        top = fmax(top, in[i]);
        float shifted = in[i] + 2;
        uint32_t bits;
        memcpy(&bits, &shifted, 4);
        uint64_t key = (uint64_t)bits << 32 | (uint64_t)i;
        largest = key > largest ? key : largest;
        least = key < least ? key : least;
    }
    RUN(.kernel = "others", .threads = {N}, .group = {64},
        .args = {BUF(sum), BUF(wide), BUF(in_struct), BUF(flag), BUF(in), BUF(exchanged)});
    CHECK_NEAR(sum[0], 1 + total, 1e-3);
    CHECK_NEAR(sum[1], 2 - total, 1e-3);
    CHECK_NEAR(sum[3], top, 0);
    CHECK_NEAR(sum[4], N * 0.5, 0);
    CHECK_EQ(wide[0], largest);
    CHECK_EQ(wide[1], least);
    double swapped = sum[2];
    for (int i = 0; i < N; i++)
        swapped += exchanged[i];
    CHECK_NEAR(swapped, total + 77, 1e-9);
    const uint32_t want[9] = {11, 683, 12, 13, 683, 14, 15, 682, 16};
    CHECK(memcmp(in_struct, want, sizeof want) == 0);
    CHECK(flag[0] == 1 && flag[1] == 0 && flag[2] == 0 && flag[3] == 9);
}

static void last_group(void)
{
    enum { N = 6400, GROUP = 64 };
    static float in[N], partial[N / GROUP], total[1];
    uint32_t arrived[1] = {0};
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += in[i] = (float)(ref_bits() % 100);
    RUN(.kernel = "last_group", .threads = {N}, .group = {GROUP},
        .args = {BUF(in), BUF(partial), BUF(arrived), BUF(total)});
    CHECK_EQ(arrived[0], N / GROUP);
    CHECK_NEAR(total[0], sum, 0);
}

int main(void)
{
    msl_load("atomic.metal");
    integers("device_int", 4096, 128, true);
    integers("device_uint", 4000, 100, false);
    integers("threadgroup_int", 1024, 1024, true);
    integers("threadgroup_uint", 200, 200, false);
    others();
    last_group();
    return msl_end();
}
