// SPDX-License-Identifier: MIT
// Reflection: the arguments of a kernel and the shape of the structs they point to. Own declarations for
// programs on Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLARGUMENT_H
#define SOFTMETAL_MTLARGUMENT_H

#import <Metal/MTLDataType.h>

@class MTLStructType, MTLArrayType, MTLPointerType;

typedef NS_ENUM(NSInteger, MTLBindingType) {
    MTLBindingTypeBuffer = 0,
    MTLBindingTypeThreadgroupMemory = 1,
    MTLBindingTypeTexture = 2,
    MTLBindingTypeSampler = 3,
    MTLBindingTypeImageblockData = 16,
    MTLBindingTypeImageblock = 17,
    MTLBindingTypeVisibleFunctionTable = 24,
    MTLBindingTypePrimitiveAccelerationStructure = 25,
    MTLBindingTypeInstanceAccelerationStructure = 26,
    MTLBindingTypeIntersectionFunctionTable = 27,
    MTLBindingTypeObjectPayload = 34,
    MTLBindingTypeTensor = 37,
};

typedef NS_ENUM(NSUInteger, MTLArgumentType) {
    MTLArgumentTypeBuffer = 0,
    MTLArgumentTypeThreadgroupMemory = 1,
    MTLArgumentTypeTexture = 2,
    MTLArgumentTypeSampler = 3,
    MTLArgumentTypeImageblockData = 16,
    MTLArgumentTypeImageblock = 17,
    MTLArgumentTypeVisibleFunctionTable = 24,
    MTLArgumentTypePrimitiveAccelerationStructure = 25,
    MTLArgumentTypeInstanceAccelerationStructure = 26,
    MTLArgumentTypeIntersectionFunctionTable = 27,
};

typedef NS_ENUM(NSUInteger, MTLBindingAccess) {
    MTLBindingAccessReadOnly = 0,
    MTLArgumentAccessReadOnly = 0,
    MTLBindingAccessMTLArgumentAccessReadOnly = 0,
    MTLBindingAccessReadWrite = 1,
    MTLArgumentAccessReadWrite = 1,
    MTLBindingAccessMTLArgumentAccessReadWrite = 1,
    MTLBindingAccessWriteOnly = 2,
    MTLArgumentAccessWriteOnly = 2,
    MTLBindingAccessMTLArgumentAccessWriteOnly = 2,
};

typedef MTLBindingAccess MTLArgumentAccess;

@interface MTLType : NSObject {
  @protected
    MTLDataType _dataType;
}
@property (readonly) MTLDataType dataType;
@end

@interface MTLStructMember : NSObject {
  @private
    NSString *_name;
    NSUInteger _offset;
    MTLDataType _dataType;
    MTLStructType *_structType;
    MTLArrayType *_arrayType;
    MTLPointerType *_pointerType;
    NSUInteger _argumentIndex;
}
@property (readonly) NSString *name;
@property (readonly) NSUInteger offset;
@property (readonly) MTLDataType dataType;
@property (readonly) NSUInteger argumentIndex;
- (MTLStructType *)structType;
- (MTLArrayType *)arrayType;
- (MTLPointerType *)pointerType;
@end

@interface MTLStructType : MTLType {
  @private
    MTL_ARRAY_OF(MTLStructMember *) * _members;
}
@property (readonly) MTL_ARRAY_OF(MTLStructMember *) * members;
- (MTLStructMember *)memberByName:(NSString *)name;
@end

@interface MTLArrayType : MTLType {
  @private
    MTLDataType _elementType;
    NSUInteger _arrayLength;
    NSUInteger _stride;
    NSUInteger _argumentIndexStride;
    MTLStructType *_elementStructType;
    MTLArrayType *_elementArrayType;
    MTLPointerType *_elementPointerType;
}
@property (readonly) MTLDataType elementType;
@property (readonly) NSUInteger arrayLength;
@property (readonly) NSUInteger stride;
@property (readonly) NSUInteger argumentIndexStride;
- (MTLStructType *)elementStructType;
- (MTLArrayType *)elementArrayType;
- (MTLPointerType *)elementPointerType;
@end

@interface MTLPointerType : MTLType {
  @private
    MTLDataType _elementType;
    MTLBindingAccess _access;
    NSUInteger _alignment;
    NSUInteger _dataSize;
    BOOL _elementIsArgumentBuffer;
    MTLStructType *_elementStructType;
    MTLArrayType *_elementArrayType;
}
@property (readonly) MTLDataType elementType;
@property (readonly) MTLBindingAccess access;
@property (readonly) NSUInteger alignment;
@property (readonly) NSUInteger dataSize;
@property (readonly) BOOL elementIsArgumentBuffer;
- (MTLStructType *)elementStructType;
- (MTLArrayType *)elementArrayType;
@end

@interface MTLArgument : NSObject {
  @private
    NSString *_name;
    MTLArgumentType _type;
    MTLBindingAccess _access;
    NSUInteger _index;
    BOOL _active;
    NSUInteger _bufferAlignment;
    NSUInteger _bufferDataSize;
    MTLDataType _bufferDataType;
    MTLStructType *_bufferStructType;
    MTLPointerType *_bufferPointerType;
    NSUInteger _threadgroupMemoryAlignment;
    NSUInteger _threadgroupMemoryDataSize;
    NSUInteger _arrayLength;
}
@property (readonly) NSString *name;
@property (readonly) MTLArgumentType type;
@property (readonly) MTLBindingAccess access;
@property (readonly) NSUInteger index;
@property (readonly, getter=isActive) BOOL active;
@property (readonly) NSUInteger bufferAlignment;
@property (readonly) NSUInteger bufferDataSize;
@property (readonly) MTLDataType bufferDataType;
@property (readonly) MTLStructType *bufferStructType;
@property (readonly) MTLPointerType *bufferPointerType;
@property (readonly) NSUInteger threadgroupMemoryAlignment;
@property (readonly) NSUInteger threadgroupMemoryDataSize;
@property (readonly) NSUInteger arrayLength;
@end

@protocol MTLBinding<NSObject>
@property (readonly) NSString *name;
@property (readonly) MTLBindingType type;
@property (readonly) MTLBindingAccess access;
@property (readonly) NSUInteger index;
@property (readonly, getter=isUsed) BOOL used;
@property (readonly, getter=isArgument) BOOL argument;
@end

@protocol MTLBufferBinding<MTLBinding>
@property (readonly) NSUInteger bufferAlignment;
@property (readonly) NSUInteger bufferDataSize;
@property (readonly) MTLDataType bufferDataType;
@property (readonly) MTLStructType *bufferStructType;
@property (readonly) MTLPointerType *bufferPointerType;
@end

@protocol MTLThreadgroupBinding<MTLBinding>
@property (readonly) NSUInteger threadgroupMemoryAlignment;
@property (readonly) NSUInteger threadgroupMemoryDataSize;
@end

@interface MTLArgumentDescriptor : NSObject<NSCopying> {
  @private
    MTLDataType _dataType;
    NSUInteger _index;
    NSUInteger _arrayLength;
    MTLBindingAccess _access;
    NSUInteger _constantBlockAlignment;
}
@property (nonatomic) MTLDataType dataType;
@property (nonatomic) NSUInteger index;
@property (nonatomic) NSUInteger arrayLength;
@property (nonatomic) MTLBindingAccess access;
@property (nonatomic) NSUInteger constantBlockAlignment;
+ (MTLArgumentDescriptor *)argumentDescriptor;
@end

#endif
