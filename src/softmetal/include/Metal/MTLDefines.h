// SPDX-License-Identifier: MIT
// Foundation and the few names that Metal's declarations need and GNUstep Base 1.28 does not have.
// Everything here stands back when the program, or another header, has defined it before.
#ifndef SOFTMETAL_MTLDEFINES_H
#define SOFTMETAL_MTLDEFINES_H

#import <Foundation/Foundation.h>
#include <stdint.h>

#ifndef MTL_EXTERN
#ifdef __cplusplus
#define MTL_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define MTL_EXTERN extern __attribute__((visibility("default")))
#endif
#endif

// gobjc has no blocks and no lightweight generics: it sees no block-taking method, and plain collections.
#if defined(__BLOCKS__)
#define MTL_HAS_BLOCKS 1
#else
#define MTL_HAS_BLOCKS 0
#endif

#if __has_feature(objc_generics)
#define MTL_ARRAY_OF(type) NSArray<type>
#define MTL_DICTIONARY_OF(key, value) NSDictionary<key, value>
#else
#define MTL_ARRAY_OF(type) NSArray
#define MTL_DICTIONARY_OF(key, value) NSDictionary
#endif

// Availability is Apple's concern. Programs that annotate their own code still compile.
#ifndef API_AVAILABLE
#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#endif

#ifndef NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_END
#endif

// C11 lets a typedef repeat itself, so these agree with a Foundation or a libdispatch that has them too.
typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;
typedef double CFTimeInterval;
typedef struct dispatch_queue_s *dispatch_queue_t;
typedef struct dispatch_data_s *dispatch_data_t;

#endif
