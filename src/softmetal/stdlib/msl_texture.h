// SPDX-License-Identifier: MIT
// Texture and sampler types, as far as sources that only name them need: softmetal runs compute on buffers.
// Using one is an error that says so.
#pragma once
#include "msl_vector.h"

namespace metal {
enum class access { sample, read, write, read_write };
enum class coord { normalized, pixel };
enum class address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class filter { nearest, linear, bicubic };
enum class mip_filter { none, nearest, linear };

template <class T>
inline constexpr bool __sm_no_textures = false;

template <class T>
struct __sm_texture {
    template <class... A>
    vec<T, 4> sample(A...) const
    {
        static_assert(__sm_no_textures<T>, "softmetal has no textures");
        return vec<T, 4>(T(0));
    }
    template <class... A>
    vec<T, 4> read(A...) const
    {
        static_assert(__sm_no_textures<T>, "softmetal has no textures");
        return vec<T, 4>(T(0));
    }
    template <class... A>
    void write(A...) const
    {
        static_assert(__sm_no_textures<T>, "softmetal has no textures");
    }
    template <class... A>
    uint get_width(A...) const
    {
        static_assert(__sm_no_textures<T>, "softmetal has no textures");
        return 0;
    }
    template <class... A>
    uint get_height(A...) const
    {
        static_assert(__sm_no_textures<T>, "softmetal has no textures");
        return 0;
    }
};
#define SM_TEXTURE(name)                                                                                     \
    template <class T, access Access = access::sample>                                                       \
    struct name : __sm_texture<T> {};
SM_TEXTURE(texture1d)
SM_TEXTURE(texture1d_array)
SM_TEXTURE(texture2d)
SM_TEXTURE(texture2d_array)
SM_TEXTURE(texture2d_ms)
SM_TEXTURE(texture3d)
SM_TEXTURE(texturecube)
SM_TEXTURE(texture_buffer)
SM_TEXTURE(depth2d)
#undef SM_TEXTURE
struct sampler {
    template <class... A>
    constexpr sampler(A...)
    {
    }
};
} // namespace metal
