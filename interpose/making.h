// SPDX-License-Identifier: MIT
// The making of a library, a function or a pipeline: how long it took, what came of it or why nothing did, in
// the plain forms and in those with a completion handler. The hooks fill in what they know; making.c gives
// the number and has it defined. Runs on the program's threads and on those where Metal calls handlers.
#ifndef MT_MAKING_H
#define MT_MAKING_H

#include "know.h"

struct mt_making {
    const struct mt_making_kind *kind;
    bool recorded; // the program's own call
    bool is_async;
    uint32_t form;  // of a library; flags of a pipeline
    uint32_t owner; // device, of a function the library
    uint32_t function;
    uint32_t name, constants; // strings
    uint64_t source_bytes;
    uint64_t begin, end; // ticks
    // Metal writes to `place`; the program may have asked for no error, we do.
    id *place, *program_place;
    id error, error_before;
};

// One per kind of thing that is made.
struct mt_making_kind {
    enum mt_kind kind;
    enum mt_role role;
    enum mt_record_counter counter;
    const char *unexplained; // what to say when nothing was made and Metal gave no error
    // Writes the definition, and the entry unless it is NULL: nothing was made then, `error` is why.
    void (*define)(const struct mt_making *making, struct mt_object *entry, id object, uint32_t number,
                   uint32_t error);
};

// Before the call is forwarded: when its arguments have been looked at.
void mt_making_begin(struct mt_making *making, id *program_place);
// Behind it: gives the program its error, and what was made its number.
void mt_making_end(struct mt_making *making, id object);

// A handler to forward in place of the program's own, which it calls. Owned by the caller, who releases it
// behind mt_call_end: with it may go objects of the program, whose dealloc is the program's code. NULL if the
// program's is to be forwarded: the call is not recorded, or memory is short.
void *mt_making_handler(struct mt_making *making, const void *handler);
void *mt_making_reflection_handler(struct mt_making *making, const void *handler); // (id, reflection, error)

#endif
