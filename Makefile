# SPDX-License-Identifier: MIT
# Builds, tests, checks and installs everything. Objects and results go to build/ and nowhere else; a build with
# SAN=... has a tree of its own beside them. New source files are found by themselves: no list to keep.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# ---- settings ------------------------------------------------------------------------------------------------

PREFIX ?= /usr/local
DESTDIR ?=
SAN ?=
T ?=
OPT ?= -O2 -g
LLVM ?= 19
CC := clang-$(LLVM)
AR := llvm-ar-$(LLVM)

SOVERSION := 1
TOP := $(CURDIR)
B := build$(if $(SAN),/san-$(SAN))
SYSTEM := $(shell uname -s)
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# A goal that makes things in parallel even if nobody said -j.
PARALLEL = $(MAKE) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(CORES)) --no-print-directory

# V=1 shows the commands.
Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-7s %s\n' '$(1)' '$(2)')

ifneq ($(filter-out address undefined thread,$(SAN)),)
$(error SAN is one of address, undefined, thread)
endif

# ---- flags ---------------------------------------------------------------------------------------------------

# Programs that `make deps` may have to install first are asked at the first use, and once.
once = $(eval $(1) := $(shell $(2)))$($(1))
GNUSTEP_FLAGS = $(call once,GNUSTEP_FLAGS,gnustep-config --objc-flags)
GNUSTEP_LIBS = $(call once,GNUSTEP_LIBS,gnustep-config --base-libs)
GCC_INCLUDE = $(call once,GCC_INCLUDE,gcc -print-file-name=include)
LLVM_INCLUDE = $(call once,LLVM_INCLUDE,llvm-config-$(LLVM) --includedir)
LLVM_LIBS = $(call once,LLVM_LIBS,llvm-config-$(LLVM) --link-shared --ldflags --libs)

WARN := -Wall -Wextra -Wshadow -Werror
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
ifeq ($(SAN),undefined)
# "function" compares C types of a callee with those of the call, which Objective-C messages never promise.
SAN_FLAGS += -fno-sanitize=function -fno-sanitize-recover=all
endif
# Quoted only: <objc/...> is the runtime, "objc/..." is src/objc.
QUOTED := -iquote src/softmetal -iquote src -iquote interpose
INCLUDES := $(QUOTED) -Isrc/softmetal/include
BASE = $(OPT) $(WARN) -fPIC -fblocks -pthread $(INCLUDES) $(SAN_FLAGS) $(EXTRA)
CFLAGS_C = -std=gnu11 -Wstrict-prototypes $(BASE)

# Of gnustep-config's flags only what the ABI needs; system headers as such, since their warnings are not ours.
# The headers of libobjc lie among GCC's own, which clang must not see (its stdatomic.h would include GCC's): a
# folder with a link to objc/ alone stands for them.
GNUSTEP_ABI = $(filter-out -DGSWARN -DGSDIAGNOSE,$(filter -D% -fexceptions -fobjc-exceptions \
    -fno-strict-aliasing -fconstant-string-class=%,$(GNUSTEP_FLAGS))) \
    $(patsubst -I%,-isystem %,$(filter -I/usr/%,$(GNUSTEP_FLAGS)))
CFLAGS_OBJC = -std=gnu11 -fobjc-runtime=gcc $(GNUSTEP_ABI) -isystem $(B)/gcc-objc $(BASE)

LDFLAGS := -fuse-ld=lld -pthread
LIBS_C := -lcjson -ldl -lm
# After -lMetal wherever both are linked: GNUstep Base has block functions that leave clang's blocks on the stack.
LIBS_OBJC = $(filter -L/usr/% -l%,$(GNUSTEP_LIBS))
# A library with sanitizers takes their functions from the program that loads it.
LINK_SHARED = -shared -Wl,-soname,$(1) $(if $(SAN),,-Wl,-z,defs)

# ---- components: sources by wildcard ---------------------------------------------------------------------------

sources = $(sort $(foreach d,$(1),$(wildcard $(d)/*.c $(d)/*.m)))
objects = $(addprefix $(B)/obj/,$(addsuffix .o,$(1)))

SM := src/softmetal
MSLC_MAIN := $(wildcard $(SM)/compiler/mslc_main.c)
COMPILER_SRC := $(filter-out %/mslc_main.c,$(call sources,$(SM)/compiler))
EXEC_SRC := $(call sources,$(SM)/exec)
METAL_SRC := $(call sources,$(SM)/metal)
LOWER_SRC := $(call sources,$(SM)/lower)
OBJC_SRC := $(filter-out %/objc_apple.c,$(call sources,src/objc))
# The tap: what runs in the target, and the way from its record to a report.
INTERPOSE_SRC := $(filter-out %_darwin.c,$(call sources,interpose))
READING_SRC := $(filter-out %_darwin.c,$(call sources,src/os src/spool src/model src/analysis src/views src/options))
TOOL_SRC := $(filter-out %_darwin.c,$(call sources,tools/metaltap))
TARGET_SRC := $(call sources,tests/targets)
UNIT_SRC := $(call sources,tests/unit)
BENCH_SRC := $(call sources,tests/bench)
# What measures the tap. LTTng-UST stands beside it where it is installed.
LTTNG := $(wildcard /usr/include/lttng/tracepoint.h /usr/include/*/lttng/tracepoint.h)
TAP_BENCH_SRC := $(filter-out $(if $(LTTNG),,%/peer_lttng.c),$(call sources,tests/bench/tap))
TORTURE_SRC := $(call sources,tests/torture)
ALL_SRC := $(INTERPOSE_SRC) $(READING_SRC) $(TOOL_SRC) $(MSLC_MAIN) $(COMPILER_SRC) $(EXEC_SRC) $(METAL_SRC) $(LOWER_SRC) $(OBJC_SRC) $(TARGET_SRC) \
    $(UNIT_SRC) $(BENCH_SRC) $(TAP_BENCH_SRC) $(TORTURE_SRC)

# What libMetal.so finds beside itself (../share/softmetal), and what programs include.
SHARE_SRC := $(wildcard $(SM)/kernel_abi.h) $(sort $(shell find $(SM)/stdlib -type f ! -name '.*' 2>/dev/null))
HEADER_SRC := $(sort $(shell find $(SM)/include -name '*.h' 2>/dev/null))

LIBMETAL := $(if $(METAL_SRC),$(B)/lib/libMetal.so)
LOWER := $(if $(LOWER_SRC),$(B)/libexec/softmetal/softmetal-lower)
MSLC := $(if $(MSLC_MAIN),$(B)/bin/softmetal-mslc)
LIBOBJC := $(if $(OBJC_SRC),$(B)/lib/libmetalobjc.a)
LIBTAP := $(if $(INTERPOSE_SRC),$(B)/lib/libmetaltap.so)
TOOL := $(if $(TOOL_SRC),$(B)/bin/metaltap)
SHARE := $(SHARE_SRC:$(SM)/%=$(B)/share/softmetal/%)
HEADERS := $(HEADER_SRC:$(SM)/include/%=$(B)/include/%)
PRODUCT := $(LIBTAP) $(TOOL) $(LIBMETAL) $(LOWER) $(MSLC) $(LIBOBJC) $(SHARE) $(HEADERS)

program_names = $(sort $(basename $(notdir $(1))))
TARGETS := $(addprefix $(B)/tests/targets/,$(call program_names,$(TARGET_SRC)))
UNITS := $(addprefix $(B)/tests/unit/,$(call program_names,$(UNIT_SRC)))
BENCH := $(B)/tests/bench/bench
TAP_BENCH := $(addprefix $(B)/tests/bench/tap/,target make_spool tree spend peers $(if $(LTTNG),peers-lttng))
FUZZ := $(B)/tests/fuzz/fuzz_spool
FUZZ_SEEDS := $(B)/tests/fuzz/make_seeds
FUZZ_SECONDS ?= 600
FUZZ_SRC := tests/fuzz/fuzz_spool.c $(call sources,src/spool src/model)
TORTURE := $(if $(TORTURE_SRC),$(B)/tests/torture/fail.so)

# ---- goals -----------------------------------------------------------------------------------------------------

.PHONY: fuzz run-fuzz macos-check all help deps deps-bench demo run-demo test run-test torture bench run-bench run-bench-tap \
    lint format clean install \
    install-files uninstall tests product FORCE

ifeq ($(SYSTEM),Darwin)
all deps demo test bench lint install:
	@echo 'On macOS nothing is built yet: softmetal stands in for Metal on Linux only, and the tap comes next.'
	@echo 'What works here: make help, make format.'
	@false
else
all: product tests ## build everything (default); SAN=address|undefined|thread, V=1

deps: ## install what is missing for build, test and lint (Debian, as root)
	$(Q)tools/build/deps.sh

deps-bench:
	$(Q)tools/build/deps.sh --bench

demo: deps ## run a Metal program that knows nothing of us under the tap, show where its time went
	$(Q)$(PARALLEL) run-demo

torture: deps ## make every call of the tap fail in turn, kill a program a hundred times; takes its time
	$(Q)$(PARALLEL) all
	$(Q)tests/torture/torture.py --build $(B) --mode plain --depth 4 --every 5
	$(Q)tests/torture/torture.py --build $(B) --mode keep --mode capture --mode spool --depth 2
	$(Q)KILLS=100 tests/run --build $(B) t541

test: deps ## build and run all tests; T='t012* exec' for some of them, SAN=... for a sanitizer
	$(Q)$(PARALLEL) all
	$(Q)tests/run --build $(B) $(T)

bench: deps deps-bench ## measure softmetal beside OpenCL on PoCL, and the tap beside LTTng-UST and fprintf
	$(Q)$(PARALLEL) run-bench
	$(Q)$(PARALLEL) run-bench-tap

fuzz: deps ## the spool's reader under libFuzzer, FUZZ_SECONDS (600)
	$(Q)$(PARALLEL) run-fuzz

lint: deps ## clang-format, clang-tidy, cppcheck, shellcheck, borders between the parts
	$(Q)$(PARALLEL) -k -O lint-all

install: install-files ## install to PREFIX (/usr/local) under DESTDIR
endif

macos-check: deps ## compile and link the macOS sources for both processors, inspect the result
	$(Q)tools/build/macos/check.sh $(B)/macos

run-demo: product $(B)/tests/targets/demo
	$(Q)mkdir -p $(B)/demo
	$(Q)$(B)/bin/metaltap run --out $(B)/demo/report.json -- $(B)/tests/targets/demo

run-bench-tap: product $(TAP_BENCH)
	$(Q)mkdir -p $(B)/bench
	$(Q)tests/bench/tap/run --build $(B) --json $(B)/bench/tap.json $(TAP_BENCH_ARGS)

run-bench: product $(BENCH)
	$(Q)mkdir -p $(B)/bench
	$(Q)$(BENCH) --kernels tests/bench/kernels --json $(B)/bench/softmetal.json $(BENCH_ARGS)

product: $(PRODUCT)
tests: $(TARGETS) $(UNITS) $(FUZZ) $(FUZZ_SEEDS) $(TORTURE) $(if $(SAN),,$(TAP_BENCH))

format: ## lay out the sources with clang-format
	$(Q)clang-format-$(LLVM) -i $(FORMAT_SRC)

clean: ## remove build/
	$(Q)rm -rf build

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.* ## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | sort -u | \
	    while IFS="$$(printf '\t')" read -r goal text; do printf '  make %-10s %s\n' "$$goal" "$$text"; done

# ---- compiling -------------------------------------------------------------------------------------------------

$(B)/obj/$(SM)/%.o: private EXTRA = -fvisibility=hidden
$(B)/obj/src/%.o: private EXTRA = -fvisibility=hidden
# Thread-locals of the tap are few and small enough for the room that a late library gets.
$(B)/obj/interpose/%.o: private EXTRA = -fvisibility=hidden -ftls-model=initial-exec
# The device's methods are categories in the files of what they make, as internal.h says.
$(B)/obj/$(SM)/metal/%.o: private EXTRA = -fvisibility=hidden -Wno-objc-protocol-method-implementation
$(B)/obj/$(SM)/lower/%.o: private EXTRA = -isystem $(LLVM_INCLUDE)
$(B)/obj/tests/%.o: private INCLUDES = -I$(B)/include $(QUOTED) -iquote tests
# Its dlsym is called by the sanitizers themselves, before they are ready for instrumented code.
$(B)/obj/interpose/entry_linux.c.o: private SAN_FLAGS =
# LLVM keeps memory until exit and is not instrumented: its tool is the same in every variant.
$(B)/obj/$(SM)/lower/%.o: private SAN_FLAGS =

$(B)/obj/%.c.o: %.c $(B)/flags-c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_C) -MMD -MP -c -o $@ $<

$(B)/obj/%.m.o: %.m $(B)/flags-objc
	$(call say,OBJC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_OBJC) -MMD -MP -c -o $@ $<

# Tests see the headers as a program does that has installed them.
$(call objects,$(TARGET_SRC) $(UNIT_SRC) $(BENCH_SRC) $(TAP_BENCH_SRC)): | $(HEADERS)

# Changed flags make everything anew. Nothing is compiled before the tools are there.
$(B)/flags-c: FORCE | $(B)/tools-found
	$(Q)echo '$(CC) $(CFLAGS_C) $(LLVM_INCLUDE)' | cmp -s - $@ || echo '$(CC) $(CFLAGS_C) $(LLVM_INCLUDE)' >$@
$(B)/flags-objc: FORCE | $(B)/tools-found
	$(Q)echo '$(CC) $(CFLAGS_OBJC)' | cmp -s - $@ || echo '$(CC) $(CFLAGS_OBJC)' >$@
$(B)/tools-found:
	$(Q)tools/build/deps.sh --check
	$(Q)mkdir -p $(B)/gcc-objc && ln -sfn $(GCC_INCLUDE)/objc $(B)/gcc-objc/objc
	$(Q)touch $@

-include $(patsubst %.o,%.d,$(call objects,$(ALL_SRC)))

# ---- linking ---------------------------------------------------------------------------------------------------

$(B)/lib/libMetal.so: $(B)/lib/libMetal.so.$(SOVERSION)
	$(Q)ln -sf $(<F) $@

# Its block functions are its own, even in a program that was linked with others first.
$(B)/lib/libMetal.so.$(SOVERSION): $(call objects,$(COMPILER_SRC) $(EXEC_SRC) $(METAL_SRC))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(SAN_FLAGS) $(call LINK_SHARED,$(@F)) -Wl,-Bsymbolic-functions -o $@ $^ $(LIBS_OBJC) \
	    $(LIBS_C)

$(B)/libexec/softmetal/softmetal-lower: $(call objects,$(LOWER_SRC))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LLVM_LIBS) -lm

$(B)/bin/softmetal-mslc: $(call objects,$(MSLC_MAIN) $(COMPILER_SRC))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(SAN_FLAGS) -o $@ $^ $(LIBS_C)

# Exports the functions of entry_points.def and dlsym, and nothing else; knows its own from Metal's, even loaded late.
$(B)/lib/libmetaltap.so: $(call objects,$(INTERPOSE_SRC) $(READING_SRC) $(OBJC_SRC))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(SAN_FLAGS) $(call LINK_SHARED,$(@F)) -Wl,-Bsymbolic-functions -o $@ $^ $(LIBS_C)

$(B)/bin/metaltap: $(call objects,$(TOOL_SRC) $(READING_SRC))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(SAN_FLAGS) -o $@ $^ $(LIBS_C)

# The parts of the tap, for tests: all but what takes Metal's place.
$(B)/lib/metaltap-parts.a: $(call objects,$(filter-out interpose/entry%,$(INTERPOSE_SRC)) $(READING_SRC))

# Compiler and executor without the classes, for unit tests: libMetal.so hides their functions.
$(B)/lib/softmetal-parts.a: $(call objects,$(COMPILER_SRC) $(EXEC_SRC))
$(B)/lib/libmetalobjc.a: $(call objects,$(OBJC_SRC))
%.a:
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$(AR) rcsD $@ $^

# A test program is one source file. Its library path is relative, so that build/ can be moved.
TEST_LIBS = -L$(B)/lib $(LIBOBJC) $(if $(LIBMETAL),-lMetal) $(LIBS_OBJC) $(LIBS_C)
TEST_RPATH := ../../lib
define link_test
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(SAN_FLAGS) -Wl,-rpath,'$$ORIGIN/$(TEST_RPATH)' -Wl,--as-needed -o $@ $(1) $(TEST_LIBS) $(2)
endef
$(B)/tests/targets/%: $(B)/obj/tests/targets/%.c.o $(B)/lib/metaltap-parts.a $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$< $(B)/lib/metaltap-parts.a)
$(B)/tests/targets/%: $(B)/obj/tests/targets/%.m.o $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$<)
UNIT_PARTS := $(B)/lib/softmetal-parts.a $(B)/lib/metaltap-parts.a
$(B)/tests/unit/%: $(B)/obj/tests/unit/%.c.o $(UNIT_PARTS) $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$< $(UNIT_PARTS))
$(B)/tests/unit/%: $(B)/obj/tests/unit/%.m.o $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$<)
# Stands between the tap and libc; a sanitizer would stand there too.
$(B)/obj/tests/torture/%.o: private SAN_FLAGS =
$(B)/obj/tests/torture/%.o: private EXTRA = -fvisibility=hidden
$(B)/tests/torture/fail.so: $(call objects,$(TORTURE_SRC))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $^ -ldl
$(BENCH): $(call objects,$(BENCH_SRC)) $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$(filter %.o,$^),-lOpenCL)
# The recorders side by side have the whole tap in them, its hooks being what is measured.
TAP_BENCH_PARTS := $(B)/lib/metaltap-parts.a
TAP_PEERS := $(call objects,$(addprefix tests/bench/tap/,peers.c peer_tap.c peer_stdio.c) \
    $(filter interpose/entry%,$(INTERPOSE_SRC)))
$(B)/tests/bench/tap/%: private TEST_RPATH = ../../../lib
$(B)/tests/bench/tap/target: $(B)/obj/tests/bench/tap/target.m.o $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$<)
$(addprefix $(B)/tests/bench/tap/,make_spool tree spend): $(B)/tests/bench/tap/%: $(B)/obj/tests/bench/tap/%.c.o \
    $(TAP_BENCH_PARTS) $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$< $(TAP_BENCH_PARTS))
$(B)/tests/bench/tap/peers: $(TAP_PEERS) $(TAP_BENCH_PARTS) $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$(TAP_PEERS) $(TAP_BENCH_PARTS))
$(B)/tests/bench/tap/peers-lttng: $(TAP_PEERS) $(B)/obj/tests/bench/tap/peer_lttng.c.o $(TAP_BENCH_PARTS) $(LIBMETAL) $(LIBOBJC)
	$(call link_test,$(filter %.o,$^) $(TAP_BENCH_PARTS),-llttng-ust)
.SECONDARY: $(call objects,$(ALL_SRC))

# The reader under libFuzzer, with the sanitizers that suit it in every variant. Seeds are made, not kept.
$(FUZZ): $(FUZZ_SRC) $(wildcard src/spool/*.h src/model/*.h tests/unit/spool_*.h) $(B)/flags-c
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(OPT) $(WARN) $(QUOTED) -iquote tests -fsanitize=fuzzer,address,undefined \
	    -fno-sanitize-recover=all -o $@ $(FUZZ_SRC)
$(FUZZ_SEEDS): tests/fuzz/make_seeds.c $(wildcard src/spool/*.h tests/unit/spool_*.h) $(B)/flags-c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(OPT) $(WARN) $(QUOTED) -iquote tests -o $@ $<

run-fuzz: $(FUZZ) $(FUZZ_SEEDS)
	$(Q)mkdir -p $(B)/fuzz/corpus
	$(Q)$(FUZZ_SEEDS) $(B)/fuzz/seeds
	$(Q)$(FUZZ) -max_total_time=$(FUZZ_SECONDS) -max_len=24576 -timeout=20 -rss_limit_mb=1024 \
	    -print_final_stats=1 -artifact_prefix=$(B)/fuzz/ $(B)/fuzz/corpus $(B)/fuzz/seeds

# ---- files that are only copied --------------------------------------------------------------------------------

$(B)/share/softmetal/%: $(SM)/%
	$(Q)mkdir -p $(@D) && cp $< $@
$(B)/include/%: $(SM)/include/%
	$(Q)mkdir -p $(@D) && cp $< $@

# ---- install ---------------------------------------------------------------------------------------------------

INSTALLED := $(patsubst $(B)/%,%,$(LIBTAP) $(TOOL) $(LOWER) $(MSLC) $(LIBOBJC) $(SHARE) $(HEADERS)) \
    $(if $(LIBMETAL),lib/libMetal.so.$(SOVERSION)) lib/pkgconfig/softmetal.pc
INSTALL_TO = $(DESTDIR)$(PREFIX)

install-files: product
	$(Q)for file in $(filter-out %.pc,$(INSTALLED)); do \
	    case $$file in bin/*|libexec/*|*.so|*.so.*) mode=755 ;; *) mode=644 ;; esac; \
	    install -D -m $$mode "$(B)/$$file" "$(INSTALL_TO)/$$file" || exit 1; \
	done
	$(Q)mkdir -p "$(INSTALL_TO)/lib/pkgconfig"
	$(Q)ln -sf libMetal.so.$(SOVERSION) "$(INSTALL_TO)/lib/libMetal.so"
	$(Q)mkdir -p "$(INSTALL_TO)/share/softmetal/gcc-objc"
	$(Q)ln -sfn $(GCC_INCLUDE)/objc "$(INSTALL_TO)/share/softmetal/gcc-objc/objc"
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@CFLAGS@|-fobjc-runtime=gcc -fblocks $(GNUSTEP_ABI)|' \
	    -e 's|@LIBS@|$(LIBS_OBJC)|' tools/build/softmetal.pc.in >"$(INSTALL_TO)/lib/pkgconfig/softmetal.pc"

uninstall: ## remove what install put there
	$(Q)cd "$(INSTALL_TO)" && rm -f $(INSTALLED) lib/libMetal.so share/softmetal/gcc-objc/objc
	$(Q)cd "$(INSTALL_TO)" && for d in $(sort $(dir $(INSTALLED))) share/softmetal/gcc-objc; do \
	    rmdir -p --ignore-fail-on-non-empty "$$d" 2>/dev/null || :; done

# ---- lint ------------------------------------------------------------------------------------------------------

include tools/build/lint.mk
