// SPDX-License-Identifier: MIT
// Runs the tools. No shell, no inherited descriptors, no preloaded libraries in the child.
#ifndef SOFTMETAL_COMPILER_PROCESS_H
#define SOFTMETAL_COMPILER_PROCESS_H

#include "text.h"

// Runs argv[0] and waits; what it says on stderr is added to *messages. Returns its exit status (128 + signal
// if one killed it) or -errno; -ECANCELED after sm_process_stop().
int sm_process_run(const char *const *argv, sm_text *messages);
// Ends the children that run now and refuses new ones. Called once, when the process exits.
void sm_process_stop(void);

#endif
