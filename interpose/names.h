// SPDX-License-Identifier: MIT
// Which files this process writes. Never over something that is not ours, and never over what another process
// of the same run, or one that still runs, has written: such a name gets the process's number in it.
#ifndef MT_NAMES_H
#define MT_NAMES_H

// Fills mt_tap.out and mt_tap.spool from the options. `attempt` 0 gives the names as asked for, each further
// one other names. 0 or -errno.
int mt_names_choose(unsigned attempt);
// Whether the spool of that name, which exists, may be removed: it is one of an earlier run that is over.
int mt_names_remove_old_spool(void); // 0 removed; -EEXIST it stays
// -EEXIST if something stands at mt_tap.out that is no report of ours.
int mt_names_check_out(void);

#endif
