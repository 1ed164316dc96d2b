// SPDX-License-Identifier: MIT
// Pieces of the language as engines use them: arguments of all forms, templates, overloads by address space, pointers
// in structs, initialisers, names that the standard library must not take away.
#include <metal_stdlib>
#include <metal_math>
#include <metal_simdgroup>
#include <metal_atomic>
using namespace metal;

// ---- buffers by order, by attribute, and both

kernel void by_order(device const float *a, constant float &b, device float *c, constant int2 &d,
                     uint i [[thread_position_in_grid]])
{
    c[i] = a[i] * b + d.y;
}

kernel void mixed_order(uint i [[thread_position_in_grid]], device float *out [[buffer(3)]],
                        constant float *first [[buffer(0)]], device const char *second [[buffer(1)]],
                        constant uint &third [[buffer(2)]])
{
    out[i] = first[i] * 100 + second[i] + third;
}

// ---- argument structs

enum class op : uint { add, subtract };
struct inner {
    ushort rank;
    uchar flags[3];
};
struct arguments {
    int n;
    uint64_t stride[2];
    float eps;
    inner details;
    op which;
    packed_float3 p;
    float4 q;
    bool yes;
};
typedef struct {
    device float *data;
    device const int *indices;
    uint count;
} pointers;

kernel void structs(constant arguments &args [[buffer(0)]], device float *out [[buffer(1)]],
                    constant arguments *again [[buffer(2)]])
{
    out[0] = args.n;
    out[1] = args.stride[1];
    out[2] = args.eps;
    out[3] = args.details.rank * 10 + args.details.flags[2];
    out[4] = args.which == op::subtract;
    out[5] = args.p.z;
    out[6] = args.q.w;
    out[7] = args.yes;
    out[8] = sizeof(arguments);
    arguments copy = again[1];
    copy.q.x += 1;
    out[9] = copy.q.x + copy.n;
}

kernel void through_pointers(device const pointers *tables [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    pointers t = tables[i % 2];
    if (i / 2 < t.count)
        t.data[t.indices[i / 2]] += i;
}

// ---- templates and explicit instantiation

template <typename T>
struct scale_by {
    T factor;
    T operator()(T x) const thread { return x * factor; }
};
struct square {
    template <typename T>
    T operator()(T x) const
    {
        return x * x;
    }
};
template <typename T, typename Op, int N = 4>
kernel void apply(device T *data [[buffer(0)]], constant T &k [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    T sum = 0;
#pragma clang loop unroll(full)
    for (int n = 0; n < N; n++)
        sum += Op()(data[i * N + n]);
    data[i * N] = sum * k;
}
typedef decltype(apply<float, square, 2>) apply_t;
template [[host_name("apply_float_2")]] kernel apply_t apply<float, square, 2>;
template [[host_name("apply_int_4")]] [[kernel]] void apply<int, square>(device int *, constant int &, uint);

template <typename T, typename U = T>
constexpr T pick(U a, T b)
{
    return sizeof(U) > sizeof(T) ? T(a) : b;
}

// ---- overloads by address space

int first_two(device const float *x) { return (int)(x[0] * 10 + x[1]); }
int first_two(threadgroup const float *x) { return (int)(x[0] * 10 + x[1]); }
int first_two(constant float *x) { return (int)(x[0] * 10 + x[1]); }
int first_two(thread const float *x) { return (int)(x[0] * 10 + x[1]); }
int count_up(device float &x) { return x += 1, (int)x; }
int count_up(thread float &x) { return x += 1, (int)x; }

struct pair { // not the standard library's
    int first, second;
};
struct range {
    uint begin, end;
};

constant float table[] = {1.5f, 2.5f, 3.5f};
constant int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
static constexpr constant uint LENGTH = 5;

kernel void pieces(device float *d [[buffer(0)]], constant float *c [[buffer(1)]], device int *out [[buffer(2)]],
                   threadgroup float *g [[threadgroup(0)]])
{
    float local[2] = {7, 8};
    g[0] = 5;
    g[1] = 6;
    out[0] = first_two(d) + first_two(g) * 100 + first_two(c) * 10000 + first_two(local) * 1000000;
    out[1] = count_up(d[0]) + 10 * count_up(local[0]) + 100 * (int)local[0];
    pair p = {3, 4};
    range r = {.begin = 1, .end = LENGTH};
    out[2] = p.first * 10 + p.second;
    out[3] = r.end - r.begin;
    out[4] = (int)(table[1] * 10) + grid[1][2];
    auto add = [&](int a) { return a + p.first; };
    out[5] = add(10);
    out[6] = pick<int>(2.5, 3) * 10 + pick<float>((uchar)1, 9.0f);
    int sum = 0;
    for (auto x : local)
        sum += (int)x;
    out[7] = sum;
    array<int, 3> a = {{1, 2, 3}};
    out[8] = a[0] + a[2] + (int)a.size();
    out[9] = is_same_v<float, decltype(1.0f * 2)> + 2 * (int)is_same_v<half, decltype(1.0h * 2.0h)>;
    out[10] = numeric_limits<int>::max() == 2147483647 && numeric_limits<half>::max() == 65504.0h;
    thread const float *q = local;
    thread float *const w = local + 1;
    *w = q[0];
    out[11] = (int)local[1];
    out[12] = (int)(INFINITY > 3e38f) + 2 * (int)isnan(NAN) + (int)(M_PI_F * 100) + (FLT_MAX > 1e38f ? 1000 : 0);
    union {
        float f;
        uint u;
    } both;
    both.f = 1.0f;
    out[13] = both.u >> 23;
    size_t size = sizeof(size_t);
    ptrdiff_t distance = &local[1] - &local[0];
    out[14] = (int)size * 10 + (int)distance;
    int64_t wide = (int64_t)1 << 40;
    out[15] = (int)(wide >> 38) + (int)(uint8_t)300;
}

// ---- macros given by the program and versions

kernel void macros(device int *out [[buffer(0)]])
{
#ifdef PLAIN
    out[0] = 1;
#endif
#ifdef NUMBER
    out[1] = NUMBER;
#endif
#ifdef EXPRESSION
    out[2] = EXPRESSION(3);
#endif
    out[3] = __METAL_VERSION__;
#if defined(__METAL__) && defined(__METAL_MACOS__)
    out[4] = 1;
#endif
}

[[max_total_threads_per_threadgroup(64)]] kernel void limited(device int *out [[buffer(0)]],
                                                              uint i [[thread_position_in_grid]])
{
    out[i] = 1;
}
