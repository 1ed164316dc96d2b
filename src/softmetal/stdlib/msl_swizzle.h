// SPDX-License-Identifier: MIT
// Swizzles (v.xy, v.bgra, ...) as properties of the vector classes: SM_SWIZZLES2/3/4 expand, inside a class
// with members x, y, ... of type T, to every choice of two to four components. Macros only; makes no code by
// itself.
#pragma once
#include "msl_types.h"

namespace metal {
enum { __sm_at_x, __sm_at_y, __sm_at_z, __sm_at_w };
// Writing to v.xx means nothing. Depends on T so that it is only looked at where such a setter is used.
template <class T, int A, int B, int C = 4, int D = 5>
inline constexpr bool __sm_distinct = A != B && A != C && A != D && B != C && B != D && C != D;
} // namespace metal

// Each takes the names (by position, by colour) of the chosen components.
#define SM_SWIZZLE2(p, pc, q, qc)                                                                            \
    constexpr vec<T, 2> __sm_get_##p##q() const { return vec<T, 2>(p, q); }                                  \
    constexpr void __sm_set_##p##q(vec<T, 2> from)                                                           \
    {                                                                                                        \
        static_assert(__sm_distinct<T, __sm_at_##p, __sm_at_##q>, "a component is assigned twice");          \
        p = from.x, q = from.y;                                                                              \
    }                                                                                                        \
    __declspec(property(get = __sm_get_##p##q, put = __sm_set_##p##q)) vec<T, 2> p##q;                       \
    __declspec(property(get = __sm_get_##p##q, put = __sm_set_##p##q)) vec<T, 2> pc##qc;

#define SM_SWIZZLE3(p, pc, q, qc, r_, rc)                                                                    \
    constexpr vec<T, 3> __sm_get_##p##q##r_() const { return vec<T, 3>(p, q, r_); }                          \
    constexpr void __sm_set_##p##q##r_(vec<T, 3> from)                                                       \
    {                                                                                                        \
        static_assert(__sm_distinct<T, __sm_at_##p, __sm_at_##q, __sm_at_##r_>,                              \
                      "a component is assigned twice");                                                      \
        p = from.x, q = from.y, r_ = from.z;                                                                 \
    }                                                                                                        \
    __declspec(property(get = __sm_get_##p##q##r_, put = __sm_set_##p##q##r_)) vec<T, 3> p##q##r_;           \
    __declspec(property(get = __sm_get_##p##q##r_, put = __sm_set_##p##q##r_)) vec<T, 3> pc##qc##rc;

#define SM_SWIZZLE4(p, pc, q, qc, r_, rc, s, sc)                                                             \
    constexpr vec<T, 4> __sm_get_##p##q##r_##s() const { return vec<T, 4>(p, q, r_, s); }                    \
    constexpr void __sm_set_##p##q##r_##s(vec<T, 4> from)                                                    \
    {                                                                                                        \
        static_assert(__sm_distinct<T, __sm_at_##p, __sm_at_##q, __sm_at_##r_, __sm_at_##s>,                 \
                      "a component is assigned twice");                                                      \
        p = from.x, q = from.y, r_ = from.z, s = from.w;                                                     \
    }                                                                                                        \
    __declspec(property(get = __sm_get_##p##q##r_##s, put = __sm_set_##p##q##r_##s)) vec<T, 4> p##q##r_##s;  \
    __declspec(property(get = __sm_get_##p##q##r_##s, put = __sm_set_##p##q##r_##s)) vec<T, 4> pc##qc##rc##sc;

// For each component of an N-vector; one copy per level, because a macro cannot expand inside itself.
#define SM_EACH2_A(M) M(x, r) M(y, g)
#define SM_EACH3_A(M) M(x, r) M(y, g) M(z, b)
#define SM_EACH4_A(M) M(x, r) M(y, g) M(z, b) M(w, a)
#define SM_EACH2_B(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g)
#define SM_EACH3_B(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g) M(__VA_ARGS__, z, b)
#define SM_EACH4_B(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g) M(__VA_ARGS__, z, b) M(__VA_ARGS__, w, a)
#define SM_EACH2_C(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g)
#define SM_EACH3_C(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g) M(__VA_ARGS__, z, b)
#define SM_EACH4_C(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g) M(__VA_ARGS__, z, b) M(__VA_ARGS__, w, a)
#define SM_EACH2_D(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g)
#define SM_EACH3_D(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g) M(__VA_ARGS__, z, b)
#define SM_EACH4_D(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g) M(__VA_ARGS__, z, b) M(__VA_ARGS__, w, a)

#define SM_PICK2_A(...) SM_EACH2_B(SM_PICK2_B, __VA_ARGS__)
#define SM_PICK2_B(...) SM_SWIZZLE2(__VA_ARGS__) SM_EACH2_C(SM_PICK2_C, __VA_ARGS__)
#define SM_PICK2_C(...) SM_SWIZZLE3(__VA_ARGS__) SM_EACH2_D(SM_SWIZZLE4, __VA_ARGS__)
#define SM_PICK3_A(...) SM_EACH3_B(SM_PICK3_B, __VA_ARGS__)
#define SM_PICK3_B(...) SM_SWIZZLE2(__VA_ARGS__) SM_EACH3_C(SM_PICK3_C, __VA_ARGS__)
#define SM_PICK3_C(...) SM_SWIZZLE3(__VA_ARGS__) SM_EACH3_D(SM_SWIZZLE4, __VA_ARGS__)
#define SM_PICK4_A(...) SM_EACH4_B(SM_PICK4_B, __VA_ARGS__)
#define SM_PICK4_B(...) SM_SWIZZLE2(__VA_ARGS__) SM_EACH4_C(SM_PICK4_C, __VA_ARGS__)
#define SM_PICK4_C(...) SM_SWIZZLE3(__VA_ARGS__) SM_EACH4_D(SM_SWIZZLE4, __VA_ARGS__)

#define SM_SWIZZLES2 SM_EACH2_A(SM_PICK2_A)
#define SM_SWIZZLES3 SM_EACH3_A(SM_PICK3_A)
#define SM_SWIZZLES4 SM_EACH4_A(SM_PICK4_A)
