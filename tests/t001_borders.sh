# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: the border check finds each kind of forbidden include, language, path and missing licence line
. "$TESTLIB/sh.sh"

spdx='// SPDX-License-Identifier: MIT'
mkdir -p tree/interpose tree/tools/metaltap tree/src/model tree/src/objc tree/src/softmetal/metal

put() { # FILE LINE...
    local file=tree/$1
    shift
    printf '%s\n' "$spdx" "$@" >"$file"
}
borders() { run python3 "$SRC/tools/build/borders.py" tree; }
# One file that breaks one rule: found with that file's name, and gone when the file is.
finds() { # FILE TEXT LINE...
    local file=$1 text=$2
    shift 2
    put "$file" "$@"
    borders
    assert_eq "exit code with a bad $file" 1 "$status"
    assert_has err "$file:"
    assert_has err "$text"
    rm "tree/$file"
}

put src/objc/objc.h
put src/model/model.h
put interpose/record.h
put src/options.h
put interpose/good.c '#include "record.h"' '#include "objc/objc.h"' '#include <stdio.h>'
put tools/metaltap/good.c '#include "options.h"' '#include "model/model.h"'
put src/softmetal/metal/good.m '#import <Foundation/Foundation.h>'
borders
cat err
assert_eq 'exit code of a good tree' 0 "$status"

finds interpose/bad.c 'may not include src/model/model.h' '#include "model/model.h"'
finds tools/metaltap/bad.c 'may not include interpose/record.h' '#include "interpose/record.h"'
finds src/model/bad.c 'may not include interpose/record.h' '#include "interpose/record.h"'
finds src/model/bad.m 'Objective-C has no place here'
finds src/model/bad.cpp 'C++ has no place here'
finds src/model/path.c 'absolute path' "const char *p = \"/ho""me/me/x\";"
finds src/model/host.c 'package registry' "// from py""pi.org"
finds src/model/blank.c 'blanks at the end' 'int x; '
echo 'int x;' >tree/src/model/bare.c
borders
assert_has err 'src/model/bare.c:1: no SPDX line'
