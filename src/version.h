// SPDX-License-Identifier: MIT
// The version of metaltap, in one place: the library records it, the tool prints it.
#ifndef MT_VERSION_H
#define MT_VERSION_H

#define MT_VERSION "0.1.0"

#endif
