# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: methods can be overridden while other threads send messages to the class and its subclasses
. "$TESTLIB/sh.sh"

# If libobjc were left to free the tables that it replaces, this would crash within a second.
run_ok "$targets/override_threads"
assert_matches out '^[1-9][0-9]* right, 0 wrong, 0 not overridden$'
