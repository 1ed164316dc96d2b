// SPDX-License-Identifier: MIT
// Method encodings that mean the same though systems write them differently, and those that do not.
#include "swizzle.h"
#include "unit/test.h"

int main(void)
{
    CHECK(mt_encoding_same("v16@0:8", "v16@0:8"));
    CHECK(mt_encoding_same("v64@0:8{?=QQQ}16{?=QQQ}40", "v24@0:8{_MTLSize=QQQ}0{_MTLSize=QQQ}24"));
    CHECK(mt_encoding_same("@24@0:8@\"NSString\"16", "@24@0:8@16"));
    CHECK(mt_encoding_same("B32@0:8Q16Q24", "c32@0:8Q16Q24"));
    CHECK(mt_encoding_same("B32@0:8Q16Q24", "C32@0:8Q16Q24"));
    CHECK(mt_encoding_same("v32@0:8r^@16Q24", "v32@0:8^@16Q24"));
    CHECK(mt_encoding_same("@24@0:8^{_NSZone=}16", "@24@0:8^{_NSZone=^?^?Q@^{_NSZone}}16"));
    CHECK(mt_encoding_same("@32@0:8@16^@24", "@32@0:8^{dispatch_data_s=}16^@24"));
    CHECK(mt_encoding_same("v40@0:8@16{_NSRange=QQ}24", "v40@0:8@16{?=QQ}24"));

    CHECK(!mt_encoding_same("v16@0:8", "@16@0:8"));
    CHECK(!mt_encoding_same("v24@0:8@16", "v16@0:8"));
    CHECK(!mt_encoding_same("v16@0:8", "v24@0:8@16"));
    CHECK(!mt_encoding_same("v24@0:8Q16", "v24@0:8I16"));
    CHECK(!mt_encoding_same("v64@0:8{?=QQQ}16{?=QQQ}40", "v64@0:8{?=QQQ}16{?=QQ}40"));
    CHECK(!mt_encoding_same("v64@0:8{?=QQQ}16{?=QQQ}40", "v64@0:8{?=QQQ}16^{?=QQQ}40"));
    CHECK(!mt_encoding_same("v32@0:8@16d24", "v32@0:8@16Q24"));
    CHECK(!mt_encoding_same("v24@0:8@?16", "v24@0:8@16"));
    CHECK(!mt_encoding_same("", "v16@0:8"));
    CHECK(!mt_encoding_same("{", "}"));
    return test_end();
}
