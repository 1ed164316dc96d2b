// SPDX-License-Identifier: MIT
// Declarations in the shapes in which engines write them, for the tests of the compiler's front end.
#include <metal_stdlib>
#define BASE 4
#define AT(n) (BASE + n)
constant int A [[function_constant(AT(0))]];
constant float F [[function_constant(BASE + 1)]];
constant half H [[ function_constant(6) ]];
constant metal::float4 V [[function_constant(7)]];
enum { slot = 9, next_slot };
constexpr constant int SLOT = next_slot + 1;
constant uint U [[function_constant(SLOT)]];
constant bool X [[function_constant(20)]], Y [[function_constant(21)]];
constant bool has_F = is_function_constant_defined(F);
constant float F2 = has_F ? F * 2 : 3;

namespace outer { namespace inner {
constant int Q [[function_constant(30)]];
constant bool has_Q = is_function_constant_defined(outer::inner::Q);
kernel void in_namespace(device float *o) { o[0] = Q + F2 + V.x + H; }
template <typename T, int N> kernel void scaled(device T *o [[buffer(0)]]) { o[0] = T(N) + A; }
template [[host_name("scaled_inside")]] kernel void scaled<float, 3>(device float *o [[buffer(0)]]);
} }
template [[host_name("scaled_outside")]] [[kernel]] decltype(outer::inner::scaled<half, 4>) outer::inner::scaled<half, 4>;
namespace a::b { kernel void deep(device int *o) { o[0] = U; } }

using namespace metal;
struct Args { device float *p [[id(0)]]; constant int *q [[id(1)]]; float x; };
[[kernel]] [[max_total_threads_per_threadgroup(32 * 8)]] void attributes(constant Args &args [[buffer(2)]],
    device atomic_uint *c, threadgroup float *t, threadgroup float *u [[threadgroup(0)]],
    uint3 g [[ thread_position_in_grid ]])
{
    args.p[g.x] = args.x + args.q[0] + t[0] + u[0];
    atomic_fetch_add_explicit(c, 1u, memory_order_relaxed);
}
[[host_name("renamed")]] [[kernel, max_total_threads_per_threadgroup(64)]] void original(device float *o) { o[0] = 1; }
kernel void optional_buffers(device float *a [[buffer(0), function_constant(X)]],
    device half *b [[buffer(0)]] [[function_constant(Y)]], device float *o [[buffer(1)]])
{
    o[0] = X ? a[0] : Y ? float(b[0]) : 0.0;
}
template <typename T> kernel void overloaded(device T *a, device T *b) { a[0] = b[0]; }
template <typename T> kernel void overloaded(device T *a, device T *b, device T *c) { a[0] = b[0] + c[0]; }
template [[host_name("overloaded_2")]] kernel void overloaded(device float *a, device float *b);
template [[host_name("overloaded_3")]] kernel void overloaded<float>(device float *a, device float *b, device float *c);

template <typename T> T block_sum(T x, uint lane)
{
    for (int i = 0; i < 2; i++) {
        threadgroup T shared[32];
        threadgroup struct { T v; } one;
        shared[lane] = x;
        one.v = x;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x += shared[0] + one.v;
    }
    return x;
}
struct Tile { float d[4]; };
kernel void threadgroup_locals(device float *o, uint l [[thread_index_in_threadgroup]])
{
    threadgroup Tile t;
    threadgroup Tile ts[2];
    float threadgroup odd[4];
    threadgroup float *p = t.d;
    threadgroup float (&r)[4] = ts[0].d;
    threadgroup atomic_uint count;
    static threadgroup int st[2];
    p[l & 3] = l;
    r[0] = 2;
    odd[0] = 1;
    st[0] = 1;
    atomic_store_explicit(&count, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    o[l] = block_sum(t.d[0] + r[0] + odd[0] + st[0], l) + block_sum(half(1.5), l);
}

constant constexpr auto raw = R"x(kernel void not_a_kernel( { [ )x";
device float *pick(device float *a, device float *b, bool c) { return c ? a : b; }
void forward(device float *x, int n = 3);
void forward(device float *x, int n) { x[0] = n; }
struct S {
    float v;
    S(float a) : v{a} {}
    float get() const device { return v; }
    float get() const thread { return v; }
    float get() const constant { return v; }
    S operator+(thread const S &o) const thread { return S(v + o.v); }
    S operator+(device const S &o) const thread { return S(v + o.v); }
};
inline kernel void bodies(device S *s, device float *o, constant float *k, uint2 g [[thread_position_in_grid]],
    ushort2 t [[thread_position_in_threadgroup]])
{
    thread S x(1.0);
    S y = x + s[0];
    forward(o);
    device float *q = pick(o, o + 1, true);
    *q = y.get() + s[0].get() + k[g.x] + (1.0f > 0.5 ? 1e-3 : .5) + 0x1p-2 + 1'000 + 0.5h;
    #pragma unroll(4)
    for (int i = 0; i < 4; i++)
        o[i] += 1;
    #pragma METAL fp math_mode(fast)
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 4; i++) { o[i] = i << 2 >> 1; }
    int a[4] = {0};
    int b[2] = {1, 2};
    o[a[b[0]]] = as_type<float>(a[b[1]]);
}
kernel void no_arguments() { }
kernel void void_arguments(void) { }
vertex float4 not_compute(uint id [[vertex_id]]) { return float4(id); }
