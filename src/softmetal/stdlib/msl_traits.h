// SPDX-License-Identifier: MIT
// Type traits, compile-time sequences and the cast that the rewriter puts in place of static_cast.
// Compile-time only: nothing here makes code. Only names that Metal has: sources add their own to namespace
// metal. bfloat and half count as floating point, as in Metal.
#pragma once
#include "msl_types.h"

namespace metal {
template <class T, T V>
struct integral_constant {
    static constexpr T value = V;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const { return V; }
    constexpr T operator()() const { return V; }
};
template <bool B>
using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool B, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
    using type = T;
};
template <bool B, class T = void>
using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F>
struct conditional {
    using type = T;
};
template <class T, class F>
struct conditional<false, T, F> {
    using type = F;
};
template <bool B, class T, class F>
using conditional_t = typename conditional<B, T, F>::type;
template <class T>
struct type_identity {
    using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

// A trait made by a compiler builtin, in both spellings.
#define SM_TRANSFORM(name, builtin)                                                                          \
    template <class T>                                                                                       \
    using name##_t = builtin(T);                                                                             \
    template <class T>                                                                                       \
    struct name {                                                                                            \
        using type = builtin(T);                                                                             \
    };
SM_TRANSFORM(remove_cv, __remove_cv)
SM_TRANSFORM(remove_const, __remove_const)
SM_TRANSFORM(remove_volatile, __remove_volatile)
SM_TRANSFORM(remove_reference, __remove_reference_t)
SM_TRANSFORM(remove_cvref, __remove_cvref)
SM_TRANSFORM(remove_pointer, __remove_pointer)
SM_TRANSFORM(remove_extent, __remove_extent)
SM_TRANSFORM(remove_all_extents, __remove_all_extents)
SM_TRANSFORM(add_pointer, __add_pointer)
SM_TRANSFORM(add_lvalue_reference, __add_lvalue_reference)
SM_TRANSFORM(add_rvalue_reference, __add_rvalue_reference)
SM_TRANSFORM(decay, __decay)
SM_TRANSFORM(make_signed, __make_signed)
SM_TRANSFORM(make_unsigned, __make_unsigned)
SM_TRANSFORM(underlying_type, __underlying_type)
#undef SM_TRANSFORM
template <class T>
struct add_const {
    using type = const T;
};
template <class T>
using add_const_t = const T;
// Address spaces are erased before this header is seen.
template <class T>
using remove_addrspace_t = T;
template <class T>
struct remove_addrspace {
    using type = T;
};

#define SM_PREDICATE(name, expression)                                                                       \
    template <class T>                                                                                       \
    inline constexpr bool name##_v = expression;                                                             \
    template <class T>                                                                                       \
    struct name : bool_constant<name##_v<T>> {};
template <class T, class U>
inline constexpr bool is_same_v = __is_same(T, U);
template <class T, class U>
struct is_same : bool_constant<__is_same(T, U)> {};
SM_PREDICATE(is_floating_point, (is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, half> ||
                                 is_same_v<remove_cv_t<T>, bfloat>))
SM_PREDICATE(is_integral, __is_integral(T))
SM_PREDICATE(is_arithmetic, (is_integral_v<T> || is_floating_point_v<T>))
SM_PREDICATE(is_signed, (is_floating_point_v<T> || __is_signed(T)))
SM_PREDICATE(is_unsigned, __is_unsigned(T))
SM_PREDICATE(is_scalar, __is_scalar(T))
SM_PREDICATE(is_void, __is_void(T))
SM_PREDICATE(is_pointer, __is_pointer(T))
SM_PREDICATE(is_reference, __is_reference(T))
SM_PREDICATE(is_lvalue_reference, __is_lvalue_reference(T))
SM_PREDICATE(is_rvalue_reference, __is_rvalue_reference(T))
SM_PREDICATE(is_array, __is_array(T))
SM_PREDICATE(is_class, __is_class(T))
SM_PREDICATE(is_union, __is_union(T))
SM_PREDICATE(is_enum, __is_enum(T))
SM_PREDICATE(is_function, __is_function(T))
SM_PREDICATE(is_const, __is_const(T))
SM_PREDICATE(is_volatile, __is_volatile(T))
SM_PREDICATE(is_trivial, __is_trivial(T))
SM_PREDICATE(is_trivially_copyable, __is_trivially_copyable(T))
SM_PREDICATE(is_standard_layout, __is_standard_layout(T))
SM_PREDICATE(is_default_constructible, __is_constructible(T))
#undef SM_PREDICATE
template <class B, class D>
inline constexpr bool is_base_of_v = __is_base_of(B, D);
template <class B, class D>
struct is_base_of : bool_constant<is_base_of_v<B, D>> {};
template <class From, class To>
inline constexpr bool is_convertible_v = __is_convertible(From, To);
template <class From, class To>
struct is_convertible : bool_constant<is_convertible_v<From, To>> {};
template <class T, class... A>
inline constexpr bool is_constructible_v = __is_constructible(T, A...);
template <class T, class... A>
struct is_constructible : bool_constant<is_constructible_v<T, A...>> {};
template <class T, class U>
inline constexpr bool is_assignable_v = __is_assignable(T, U);

template <class... B>
struct conjunction : bool_constant<(bool(B::value) && ...)> {};
template <class... B>
struct disjunction : bool_constant<(bool(B::value) || ...)> {};
template <class B>
struct negation : bool_constant<!bool(B::value)> {};
template <class... B>
inline constexpr bool conjunction_v = (bool(B::value) && ...);
template <class... B>
inline constexpr bool disjunction_v = (bool(B::value) || ...);
// Names that sources for Apple's headers use although they are private there.
template <class... B>
struct _disjunction : disjunction<B...> {};
template <class... B>
struct _conjunction : conjunction<B...> {};

template <class T>
T &&declval() noexcept;

template <class T, T... I>
struct integer_sequence {
    using value_type = T;
    static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I>
using index_sequence = integer_sequence<size_t, I...>;
template <class T, T N>
using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N>
using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T>
using index_sequence_for = make_index_sequence<sizeof...(T)>;

// A value that is the same in all threads; on the CPU this needs no marking.
template <class T>
using uniform = T;
template <class T>
constexpr T make_uniform(T x)
{
    return x;
}

// What the rewriter puts in place of casts: clang refuses half <-> bfloat, and float -> bfloat would be a
// library call. A scalar comes as a const reference, which may also be bound to a bit field.
template <class To, class From>
    requires(__is_scalar(From) && !__is_reference(To))
constexpr To __sm_cast(const From &x)
{
    using F = remove_cv_t<From>;
    if constexpr (is_same_v<remove_cv_t<To>, bfloat> && is_arithmetic_v<F> && !is_same_v<F, bfloat>)
        return __sm_to_bfloat((float)x);
    else if constexpr (is_same_v<remove_cv_t<To>, half> && is_same_v<F, bfloat>)
        return (half)__sm_from_bfloat(x);
    else
        return static_cast<To>(x);
}
template <class To, class From>
    requires(!__is_scalar(__remove_cvref(From)) || __is_reference(To))
constexpr To __sm_cast(From &&x)
{
    return static_cast<To>(static_cast<From &&>(x));
}
// The same for (To)x and To(x), which may also turn one pointer into another.
template <class To, class From>
    requires(__is_scalar(From))
constexpr To __sm_c_cast(const From &x)
{
    if constexpr (is_arithmetic_v<To> && is_arithmetic_v<From>)
        return __sm_cast<To>(x);
    else
        return (To)x;
}
template <class To, class From>
    requires(!__is_scalar(__remove_cvref(From)))
constexpr To __sm_c_cast(From &&x)
{
    return (To) static_cast<From &&>(x);
}
} // namespace metal
