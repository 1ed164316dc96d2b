// SPDX-License-Identifier: MIT
// Prints the functions of the program's default library, or "none".
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdio.h>

int main(void)
{
    @autoreleasepool {
        id<MTLLibrary> library = [[MTLCreateSystemDefaultDevice() newDefaultLibrary] autorelease];
        printf("%s\n",
               library ? [[[library functionNames] componentsJoinedByString:@" "] UTF8String] : "none");
    }
    return 0;
}
