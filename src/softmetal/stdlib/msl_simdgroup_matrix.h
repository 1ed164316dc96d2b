// SPDX-License-Identifier: MIT
// simdgroup_matrix<T, 8, 8>. Two representations, one per compilation:
//  - by default lane 0 owns the whole tile and alone does all work on it; nothing has to meet;
//  - with SM_MATRIX_DISTRIBUTED (sources that name thread_elements) each lane has the two elements that it
//  has
//    on Apple's GPUs, and a multiplication is one meeting.
// MSL demands that all lanes of a simdgroup call these functions together; nothing here checks it.
#pragma once
#include "msl_simd.h"

namespace metal {
typedef __sm_lanes<float, 8> __sm_row8;

inline __sm_row8 __sm_load_row(const float *p)
{
    __sm_row8 row;
    __builtin_memcpy(&row, p, sizeof row);
    return row;
}
inline __sm_row8 __sm_load_row(const half *p)
{
    __sm_lanes<half, 8> row;
    __builtin_memcpy(&row, p, sizeof row);
    return __builtin_convertvector(row, __sm_row8);
}
inline __sm_row8 __sm_load_row(const bfloat *p)
{
    __sm_lanes<ushort, 8> bits;
    __builtin_memcpy(&bits, p, sizeof bits);
    return __builtin_bit_cast(__sm_row8, __builtin_convertvector(bits, __sm_lanes<uint, 8>) << 16);
}
inline void __sm_store_row(float *p, __sm_row8 row) { __builtin_memcpy(p, &row, sizeof row); }
inline void __sm_store_row(half *p, __sm_row8 row)
{
    auto narrow = __builtin_convertvector(row, __sm_lanes<half, 8>);
    __builtin_memcpy(p, &narrow, sizeof narrow);
}
inline void __sm_store_row(bfloat *p, __sm_row8 row)
{
    for (int i = 0; i < 8; i++)
        p[i] = __sm_to_bfloat(row[i]);
}

// d = a * b + c on whole tiles, row by row: eight accumulators, each row of b used eight times. a is read
// element by element, so a narrow one is widened first. c is null for zero; d may be c.
template <class D, class A, class B>
inline __attribute__((always_inline)) void __sm_multiply(D *d, const A *a, const B *b, const D *c)
{
    float wide[64];
    const float *left = wide;
    if constexpr (is_same_v<A, float>) {
        left = a;
    } else {
        for (int i = 0; i < 8; i++)
            __sm_store_row(wide + 8 * i, __sm_load_row(a + 8 * i));
        // Keeps them in memory: broadcasting from there beats shuffling them out of registers.
        __asm__ volatile("" : : "r"(wide) : "memory");
    }
    __sm_row8 sum[8];
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++)
        sum[i] = c ? __sm_load_row(c + 8 * i) : (__sm_row8)0.0f;
#pragma clang loop unroll(full)
    for (int k = 0; k < 8; k++) {
        __sm_row8 row = __sm_load_row(b + 8 * k);
#pragma clang loop unroll(full)
        for (int i = 0; i < 8; i++)
            sum[i] = __builtin_elementwise_fma((__sm_row8)left[8 * i + k], row, sum[i]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++)
        __sm_store_row(d + 8 * i, sum[i]);
}
} // namespace metal

// Called, not inlined: the lowering keeps calls to C functions named __sm_*. They must never meet other
// lanes.
#define SM_EACH_TILE(M, ...) M(__VA_ARGS__, float) M(__VA_ARGS__, half) M(__VA_ARGS__, bfloat)
#define SM_EACH_TILE_2(M, ...) M(__VA_ARGS__, float) M(__VA_ARGS__, half) M(__VA_ARGS__, bfloat)
#define SM_TILE_MULTIPLY(D, A, B)                                                                            \
    extern "C" __attribute__((noinline)) inline void __sm_mma_##D##_##A##_##B(D *d, const A *a, const B *b,  \
                                                                              const D *c)                    \
    {                                                                                                        \
        metal::__sm_multiply(d, a, b, c);                                                                    \
    }                                                                                                        \
    namespace metal {                                                                                        \
    inline void __sm_tile_multiply(D *d, const A *a, const B *b, const D *c)                                 \
    {                                                                                                        \
        __sm_mma_##D##_##A##_##B(d, a, b, c);                                                                \
    }                                                                                                        \
    }
#define SM_TILE_MULTIPLY_A(D, A) SM_EACH_TILE(SM_TILE_MULTIPLY, D, A)
SM_EACH_TILE_2(SM_TILE_MULTIPLY_A, float)
SM_EACH_TILE_2(SM_TILE_MULTIPLY_A, half)
SM_EACH_TILE_2(SM_TILE_MULTIPLY_A, bfloat)
#undef SM_TILE_MULTIPLY
#undef SM_TILE_MULTIPLY_A
#undef SM_EACH_TILE
#undef SM_EACH_TILE_2

// A tile of elements of the size of Bits from memory and back; `step` is the distance of rows in elements.
#define SM_TILE_MOVE(Bits)                                                                                   \
    extern "C" __attribute__((noinline)) inline void __sm_tile_load_##Bits(Bits *tile, const Bits *from,     \
                                                                           ulong step, bool transpose)       \
    {                                                                                                        \
        if (!transpose)                                                                                      \
            for (int i = 0; i < 8; i++)                                                                      \
                __builtin_memcpy(tile + 8 * i, from + i * step, 8 * sizeof(Bits));                           \
        else                                                                                                 \
            for (int i = 0; i < 8; i++)                                                                      \
                for (int j = 0; j < 8; j++)                                                                  \
                    tile[8 * i + j] = from[j * step + i];                                                    \
    }                                                                                                        \
    extern "C" __attribute__((noinline)) inline void __sm_tile_store_##Bits(const Bits *tile, Bits *to,      \
                                                                            ulong step, bool transpose)      \
    {                                                                                                        \
        if (!transpose)                                                                                      \
            for (int i = 0; i < 8; i++)                                                                      \
                __builtin_memcpy(to + i * step, tile + 8 * i, 8 * sizeof(Bits));                             \
        else                                                                                                 \
            for (int i = 0; i < 8; i++)                                                                      \
                for (int j = 0; j < 8; j++)                                                                  \
                    to[j * step + i] = tile[8 * i + j];                                                      \
    }
SM_TILE_MOVE(uint)
SM_TILE_MOVE(ushort)
#undef SM_TILE_MOVE

namespace metal {
template <class T, int Cols, int Rows = Cols>
struct simdgroup_matrix;

// Which two neighbouring elements of a row a lane has.
constexpr uint __sm_fragment_row(uint lane) { return ((lane >> 2) & 4) + ((lane >> 1) & 3); }
constexpr uint __sm_fragment_column(uint lane) { return ((lane >> 2) & 2) * 2 + (lane & 1) * 2; }

#ifndef SM_MATRIX_DISTRIBUTED

template <class T>
struct simdgroup_matrix<T, 8, 8> {
    T tile[64];

    simdgroup_matrix() = default;
    inline explicit simdgroup_matrix(T diagonal)
    {
        if (__sm_lane() == 0)
            for (int i = 0; i < 64; i++)
                tile[i] = i % 9 == 0 ? diagonal : (T)0.0f;
    }
    // Other lanes have nothing to copy.
    inline simdgroup_matrix(const simdgroup_matrix &from)
    {
        if (__sm_lane() == 0)
            __builtin_memcpy(tile, from.tile, sizeof tile);
    }
    inline simdgroup_matrix &operator=(const simdgroup_matrix &from)
    {
        if (__sm_lane() == 0)
            __builtin_memcpy(tile, from.tile, sizeof tile);
        return *this;
    }
};

template <class T, int Cols, int Rows = Cols>
inline simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value)
{
    simdgroup_matrix<T, Cols, Rows> d;
    if (__sm_lane() == 0)
        for (int i = 0; i < 64; i++)
            d.tile[i] = value;
    return d;
}
template <class T>
inline void simdgroup_load(simdgroup_matrix<T, 8, 8> &d, const T *from, ulong elements_per_row = 8,
                           ulong2 origin = ulong2(0ul), bool transpose = false)
{
    if (__sm_lane() != 0)
        return;
    from += origin.y * elements_per_row + origin.x;
    if constexpr (sizeof(T) == 4)
        __sm_tile_load_uint((uint *)d.tile, (const uint *)from, elements_per_row, transpose);
    else
        __sm_tile_load_ushort((ushort *)d.tile, (const ushort *)from, elements_per_row, transpose);
}
template <class T>
inline void simdgroup_store(const simdgroup_matrix<T, 8, 8> &d, T *to, ulong elements_per_row = 8,
                            ulong2 origin = ulong2(0ul), bool transpose = false)
{
    if (__sm_lane() != 0)
        return;
    to += origin.y * elements_per_row + origin.x;
    if constexpr (sizeof(T) == 4)
        __sm_tile_store_uint((const uint *)d.tile, (uint *)to, elements_per_row, transpose);
    else
        __sm_tile_store_ushort((const ushort *)d.tile, (ushort *)to, elements_per_row, transpose);
}
template <class D, class A, class B, class C>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                                          const simdgroup_matrix<B, 8, 8> &b,
                                          const simdgroup_matrix<C, 8, 8> &c)
{
    if (__sm_lane() != 0)
        return;
    if constexpr (is_same_v<C, D>) {
        __sm_tile_multiply(d.tile, a.tile, b.tile, c.tile);
    } else {
        D start[64];
        for (int i = 0; i < 64; i++)
            start[i] = __sm_cast<D>(c.tile[i]);
        __sm_tile_multiply(d.tile, a.tile, b.tile, start);
    }
}
template <class D, class A, class B>
inline void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                               const simdgroup_matrix<B, 8, 8> &b)
{
    if (__sm_lane() == 0)
        __sm_tile_multiply(d.tile, a.tile, b.tile, (const D *)nullptr);
}

#else

template <class T>
struct simdgroup_matrix<T, 8, 8> {
    using elements_type = vec<T, 2>;
    elements_type elements;

    simdgroup_matrix() = default;
    inline explicit simdgroup_matrix(T diagonal)
    {
        uint row = __sm_fragment_row(__sm_lane()), column = __sm_fragment_column(__sm_lane());
        elements.x = row == column ? diagonal : (T)0.0f;
        elements.y = row == column + 1 ? diagonal : (T)0.0f;
    }
    inline elements_type &thread_elements() { return elements; }
    inline const elements_type &thread_elements() const { return elements; }
};

template <class T, int Cols, int Rows = Cols>
inline simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value)
{
    simdgroup_matrix<T, Cols, Rows> d;
    d.elements = vec<T, 2>(value);
    return d;
}
// Where this lane's elements lie: the first, and the distance to the second.
struct __sm_fragment_place {
    ulong first, step;
};
inline __sm_fragment_place __sm_fragment(ulong elements_per_row, const ulong2 &origin, bool transpose)
{
    ulong row = __sm_fragment_row(__sm_lane()), column = __sm_fragment_column(__sm_lane());
    ulong start = origin.y * elements_per_row + origin.x;
    if (transpose)
        return {start + column * elements_per_row + row, elements_per_row};
    return {start + row * elements_per_row + column, 1};
}
template <class T>
inline void simdgroup_load(simdgroup_matrix<T, 8, 8> &d, const T *from, ulong elements_per_row = 8,
                           ulong2 origin = ulong2(0ul), bool transpose = false)
{
    __sm_fragment_place at = __sm_fragment(elements_per_row, origin, transpose);
    d.elements = vec<T, 2>(from[at.first], from[at.first + at.step]);
}
template <class T>
inline void simdgroup_store(const simdgroup_matrix<T, 8, 8> &d, T *to, ulong elements_per_row = 8,
                            ulong2 origin = ulong2(0ul), bool transpose = false)
{
    __sm_fragment_place at = __sm_fragment(elements_per_row, origin, transpose);
    to[at.first] = d.elements.x;
    to[at.first + at.step] = d.elements.y;
}

// Lanes l and l + 1 have the four elements of half a row, lanes l + 8 and l + 9 the other half.
template <class T>
inline void __sm_tile_gather(T *tile, const T *in)
{
    for (uint row = 0; row < 8; row++) {
        uint lane = (row & 4) * 4 + (row & 3) * 2;
        __builtin_memcpy(tile + 8 * row, in + 2 * lane, 4 * sizeof(T));
        __builtin_memcpy(tile + 8 * row + 4, in + 2 * lane + 16, 4 * sizeof(T));
    }
}
template <class T>
inline void __sm_tile_scatter(T *out, const T *tile)
{
    for (uint row = 0; row < 8; row++) {
        uint lane = (row & 4) * 4 + (row & 3) * 2;
        __builtin_memcpy(out + 2 * lane, tile + 8 * row, 4 * sizeof(T));
        __builtin_memcpy(out + 2 * lane + 16, tile + 8 * row + 4, 4 * sizeof(T));
    }
}
template <class D, class A, class B>
struct __sm_matrix_multiply {
    static void f(sm_simd *s, sm_u32)
    {
        A a[64];
        B b[64];
        D d[64];
        __sm_tile_gather(a, __sm_in<A>(s, 0));
        __sm_tile_gather(b, __sm_in<B>(s, 1));
        __sm_tile_gather(d, __sm_in<D>(s, 2));
        __sm_multiply<D, A, B>(d, a, b, d);
        __sm_tile_scatter(__sm_out<D>(s), d);
    }
};
template <class D, class A, class B, class C>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                                          const simdgroup_matrix<B, 8, 8> &b,
                                          const simdgroup_matrix<C, 8, 8> &c)
{
    sm_simd *s = __sm_simd();
    uint lane = __sm_lane();
    __sm_in<vec<A, 2>>(s, 0)[lane] = a.elements;
    __sm_in<vec<B, 2>>(s, 1)[lane] = b.elements;
    __sm_in<vec<D, 2>>(s, 2)[lane] = vec<D, 2>(c.elements);
    __sm_simd_sync(&__sm_matrix_multiply<D, A, B>::f);
    d.elements = __sm_out<vec<D, 2>>(s)[lane];
}
template <class D, class A, class B>
inline void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                               const simdgroup_matrix<B, 8, 8> &b)
{
    simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>((D)0.0f));
}

#endif

template <class A, class B>
inline simdgroup_matrix<A, 8, 8> operator*(const simdgroup_matrix<A, 8, 8> &a,
                                           const simdgroup_matrix<B, 8, 8> &b)
{
    simdgroup_matrix<A, 8, 8> d;
    simdgroup_multiply(d, a, b);
    return d;
}
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
} // namespace metal
