// SPDX-License-Identifier: MIT
// matrix<T, C, R>: C columns of R components, as in MSL (floatCxR, halfCxR).
#pragma once
#include "msl_vector.h"

namespace metal {
template <class T, int C, int R>
struct matrix {
    using column = vec<T, R>;
    column columns[C];

    matrix() = default;
    constexpr explicit matrix(T diagonal)
    {
        for (int i = 0; i < C; i++) {
            columns[i] = column(T(0));
            if (i < R)
                columns[i][i] = diagonal;
        }
    }
    template <class... A>
    constexpr matrix(A... a)
        requires(sizeof...(A) == C && (is_convertible_v<A, column> && ...) && !(is_arithmetic_v<A> && ...))
        : columns{column(a)...}
    {
    }
    template <class... A>
    constexpr matrix(A... a)
        requires(sizeof...(A) == C * R && (is_arithmetic_v<A> && ...))
    {
        T flat[] = {__sm_cast<T>(a)...};
        for (int i = 0; i < C; i++)
            for (int j = 0; j < R; j++)
                columns[i][j] = flat[i * R + j];
    }
    template <class U>
    constexpr explicit matrix(const matrix<U, C, R> &from)
        requires(!is_same_v<U, T>)
    {
        for (int i = 0; i < C; i++)
            columns[i] = column(from.columns[i]);
    }
    template <class I>
    constexpr column &operator[](I i)
    {
        return columns[(size_t)i];
    }
    template <class I>
    constexpr const column &operator[](I i) const
    {
        return columns[(size_t)i];
    }

    friend constexpr matrix operator+(matrix a, const matrix &b) { return a += b; }
    friend constexpr matrix operator-(matrix a, const matrix &b) { return a -= b; }
    friend constexpr matrix operator*(matrix a, T s) { return a *= s; }
    friend constexpr matrix operator*(T s, matrix a) { return a *= s; }
    friend constexpr matrix operator-(matrix a) { return a *= T(-1); }
    friend constexpr matrix &operator+=(matrix &a, const matrix &b)
    {
        for (int i = 0; i < C; i++)
            a.columns[i] += b.columns[i];
        return a;
    }
    friend constexpr matrix &operator-=(matrix &a, const matrix &b)
    {
        for (int i = 0; i < C; i++)
            a.columns[i] -= b.columns[i];
        return a;
    }
    friend constexpr matrix &operator*=(matrix &a, T s)
    {
        for (int i = 0; i < C; i++)
            a.columns[i] *= column(s);
        return a;
    }
    friend constexpr bool operator==(const matrix &a, const matrix &b)
    {
        for (int i = 0; i < C; i++)
            for (int j = 0; j < R; j++)
                if (a.columns[i][j] != b.columns[i][j])
                    return false;
        return true;
    }
};

template <class T, int C, int R>
constexpr vec<T, R> operator*(const matrix<T, C, R> &a, const vec<type_identity_t<T>, C> &x)
{
    vec<T, R> sum = a.columns[0] * vec<T, R>(x[0]);
    for (int i = 1; i < C; i++)
        sum += a.columns[i] * vec<T, R>(x[i]);
    return sum;
}
template <class T, int C, int R>
constexpr vec<T, C> operator*(const vec<type_identity_t<T>, R> &x, const matrix<T, C, R> &a)
{
    vec<T, C> product;
    for (int i = 0; i < C; i++) {
        T sum = x[0] * a.columns[i][0];
        for (int j = 1; j < R; j++)
            sum += x[j] * a.columns[i][j];
        product[i] = sum;
    }
    return product;
}
template <class T, int C, int R, int K>
constexpr matrix<T, K, R> operator*(const matrix<T, C, R> &a, const matrix<T, K, C> &b)
{
    matrix<T, K, R> product;
    for (int i = 0; i < K; i++)
        product.columns[i] = a * b.columns[i];
    return product;
}
template <class T, int N>
constexpr matrix<T, N, N> &operator*=(matrix<T, N, N> &a, const matrix<T, N, N> &b)
{
    return a = a * b;
}
template <class T, int C, int R>
constexpr matrix<T, R, C> transpose(const matrix<T, C, R> &a)
{
    matrix<T, R, C> turned;
    for (int i = 0; i < C; i++)
        for (int j = 0; j < R; j++)
            turned.columns[j][i] = a.columns[i][j];
    return turned;
}

template <class T>
constexpr T determinant(const matrix<T, 2, 2> &m)
{
    return m[0].x * m[1].y - m[1].x * m[0].y;
}
template <class T>
constexpr T determinant(const matrix<T, 3, 3> &m)
{
    return m[0].x * (m[1].y * m[2].z - m[2].y * m[1].z) - m[1].x * (m[0].y * m[2].z - m[2].y * m[0].z) +
           m[2].x * (m[0].y * m[1].z - m[1].y * m[0].z);
}
// Laplace expansion by the first two rows and the last two.
template <class T>
constexpr T determinant(const matrix<T, 4, 4> &m)
{
    T sum = T(0);
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 4; j++) {
            int k = i == 0 ? (j == 1 ? 2 : 1) : 0;
            int l = 6 - i - j - k;
            T upper = m[i].x * m[j].y - m[j].x * m[i].y;
            T lower = m[k].z * m[l].w - m[l].z * m[k].w;
            sum += (i + j) % 2 ? upper * lower : -(upper * lower);
        }
    return sum;
}

#define SM_MATRIX_NAME(T, C, R) typedef matrix<T, C, R> T##C##x##R;
#define SM_MATRIX_NAMES(T)                                                                                   \
    SM_MATRIX_NAME(T, 2, 2)                                                                                  \
    SM_MATRIX_NAME(T, 2, 3)                                                                                  \
    SM_MATRIX_NAME(T, 2, 4)                                                                                  \
    SM_MATRIX_NAME(T, 3, 2)                                                                                  \
    SM_MATRIX_NAME(T, 3, 3)                                                                                  \
    SM_MATRIX_NAME(T, 3, 4)                                                                                  \
    SM_MATRIX_NAME(T, 4, 2)                                                                                  \
    SM_MATRIX_NAME(T, 4, 3)                                                                                  \
    SM_MATRIX_NAME(T, 4, 4)
SM_MATRIX_NAMES(float)
SM_MATRIX_NAMES(half)
SM_MATRIX_NAMES(bfloat)
#undef SM_MATRIX_NAME
#undef SM_MATRIX_NAMES
} // namespace metal
#define SM_MATRIX_GLOBAL(T)                                                                                  \
    using metal::T##2x2;                                                                                     \
    using metal::T##2x3;                                                                                     \
    using metal::T##2x4;                                                                                     \
    using metal::T##3x2;                                                                                     \
    using metal::T##3x3;                                                                                     \
    using metal::T##3x4;                                                                                     \
    using metal::T##4x2;                                                                                     \
    using metal::T##4x3;                                                                                     \
    using metal::T##4x4;
SM_MATRIX_GLOBAL(float)
SM_MATRIX_GLOBAL(half)
SM_MATRIX_GLOBAL(bfloat)
#undef SM_MATRIX_GLOBAL
