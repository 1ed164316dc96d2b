# SPDX-License-Identifier: MIT
# The linters, one stamp per file and linter in build/lint, so that a second `make lint` looks only at what changed.
# Included by the Makefile; clang-tidy sees each file with the flags it is compiled with.

L := build/lint
FIND_SRC = $(sort $(shell find interpose src shaders tools tests -type f ! -name '.*' \( $(1) \) 2>/dev/null))
FORMAT_SRC := $(call FIND_SRC,-name '*.c' -o -name '*.m' -o -name '*.h' -o -name '*.def' -o -path '*/stdlib/*')
SHELL_SRC := $(call FIND_SRC,-name '*.sh') $(wildcard .ci/run)
CPPCHECK_SRC := $(filter %.c,$(ALL_SRC))
PYTHON_SRC := $(call FIND_SRC,-name '*.py') $(wildcard tests/run tests/bench/run)

.PHONY: lint-all lint-borders
lint-all: $(FORMAT_SRC:%=$(L)/format/%.ok) $(ALL_SRC:%=$(L)/tidy/%.ok) $(CPPCHECK_SRC:%=$(L)/cppcheck/%.ok) \
    $(SHELL_SRC:%=$(L)/shell/%.ok) lint-borders
	@echo 'lint: clean'

$(L)/format/%.ok: % .clang-format $(wildcard src/softmetal/stdlib/.clang-format)
	$(Q)clang-format-$(LLVM) --dry-run -Werror $<
	$(Q)mkdir -p $(@D) && touch $@

# The object stands for all headers of its source: it is younger than each of them.
tidy = clang-tidy-$(LLVM) --quiet $(1) -- $(2) 2>$@.log || { cat $@.log; exit 1; }
$(L)/tidy/%.c.ok: %.c $(B)/obj/%.c.o .clang-tidy
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(call tidy,$<,$(CFLAGS_C))
	$(Q)touch $@
$(L)/tidy/%.m.ok: %.m $(B)/obj/%.m.o .clang-tidy
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(call tidy,$<,$(CFLAGS_OBJC))
	$(Q)touch $@
$(L)/tidy/$(SM)/lower/%.ok: private EXTRA = -isystem $(LLVM_INCLUDE)
$(L)/tidy/$(SM)/metal/%.ok: private EXTRA = -Wno-objc-protocol-method-implementation
$(L)/tidy/tests/%.ok: private INCLUDES = -I$(B)/include $(QUOTED) -iquote tests

$(L)/cppcheck/%.ok: % $(B)/obj/%.o tools/build/cppcheck.txt
	$(call say,CPPCHECK,$<)
	$(Q)mkdir -p $(@D)
	$(Q)cppcheck --quiet --std=c11 --enable=warning,performance,portability --error-exitcode=1 --inline-suppr \
	    --suppressions-list=tools/build/cppcheck.txt -Isrc/softmetal -Isrc -Iinterpose -Itests $<
	$(Q)touch $@

$(L)/shell/%.ok: %
	$(Q)shellcheck -x -S warning -P tests/lib $<
	$(Q)mkdir -p $(@D) && touch $@

lint-borders:
	$(Q)python3 tools/build/borders.py
