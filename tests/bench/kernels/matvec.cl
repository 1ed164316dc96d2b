// SPDX-License-Identifier: MIT
// Matrix-vector products y = a * x with one work-group of 32 per row: the counterpart of matvec.metal in
// OpenCL. PoCL 3.1 has neither subgroups nor half arithmetic, so sums meet in a tree in local memory, and f16
// is loaded with vload_half. Run by the benchmark only.

typedef struct {
    uint columns;
} matvec_params;

typedef struct {
    ushort d; // f16
    char q[32];
} block_q8_0;

typedef struct {
    ushort d;    // f16
    uchar q[16]; // weight i in the low half of q[i], weight i + 16 in the high half
} block_q4_0;

#define LANES 32

static float dot_f32(global const float *row, global const float *x, uint columns, uint lane)
{
    float sum = 0;
    for (uint i = lane; i < columns; i += LANES)
        sum += row[i] * x[i];
    return sum;
}

static float dot_f16(global const half *row, global const float *x, uint columns, uint lane)
{
    global const float4 *x4 = (global const float4 *)x;
    float sum = 0;
    for (uint i = lane; i < columns / 4; i += LANES)
        sum += dot(vload_half4(i, row), x4[i]);
    return sum;
}

// Four lanes share a block, eight weights each.
static float dot_q8_0(global const block_q8_0 *row, global const float *x, uint columns, uint lane)
{
    const uint part = lane % 4 * 8;
    float sum = 0;
    for (uint i = lane / 4; i < columns / 32; i += LANES / 4) {
        global const char *q = row[i].q + part;
        global const float *y = x + i * 32 + part;
        float block = 0;
        for (uint j = 0; j < 8; j++)
            block += (float)q[j] * y[j];
        sum += block * vload_half(0, (global const half *)&row[i].d);
    }
    return sum;
}

// Two lanes share a block, eight bytes each: eight weights of its first half and eight of its second.
static float dot_q4_0(global const block_q4_0 *row, global const float *x, uint columns, uint lane)
{
    const uint part = lane % 2 * 8;
    float sum = 0;
    for (uint i = lane / 2; i < columns / 32; i += LANES / 2) {
        global const uchar *q = row[i].q + part;
        global const float *y = x + i * 32 + part;
        float block = 0, offset = 0;
        for (uint j = 0; j < 8; j++) {
            block += (float)(q[j] & 15) * y[j] + (float)(q[j] >> 4) * y[j + 16];
            offset += y[j] + y[j + 16];
        }
        sum += (block - 8 * offset) * vload_half(0, (global const half *)&row[i].d);
    }
    return sum;
}

#define MATVEC(name, type, row_length)                                                                       \
    kernel void matvec_##name(global const type *a, global const float *x, global float *y,                  \
                              const matvec_params p)                                                         \
    {                                                                                                        \
        local float sums[LANES];                                                                             \
        const uint row = get_group_id(0), lane = get_local_id(0);                                            \
        sums[lane] = dot_##name(a + row * (row_length), x, p.columns, lane);                                 \
        for (uint step = LANES / 2; step > 0; step /= 2) {                                                   \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
            if (lane < step)                                                                                 \
                sums[lane] += sums[lane + step];                                                             \
        }                                                                                                    \
        if (lane == 0)                                                                                       \
            y[row] = sums[0];                                                                                \
    }

MATVEC(f32, float, p.columns)
MATVEC(f16, half, p.columns)
MATVEC(q8_0, block_q8_0, p.columns / 32)
MATVEC(q4_0, block_q4_0, p.columns / 32)
