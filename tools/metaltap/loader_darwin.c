// SPDX-License-Identifier: MIT
// What dyld does with DYLD_INSERT_LIBRARIES, seen from the outside: reads the file's rights, its Mach-O
// headers and its code signature, and starts nothing. Everything read is checked for its size; a file that
// cannot be understood gives no answer.
#include "program.h"

#include <fcntl.h>
#include <libkern/OSByteOrder.h>
#include <mach-o/fat.h>
#include <mach-o/loader.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char mt_loader_variable[] = "DYLD_INSERT_LIBRARIES";
const char mt_loader_library[] = "libmetaltap.dylib";
const char mt_loader_separators[] = ":";

enum {
    SLICES_MAX = 32,
    COMMANDS_BYTES_MAX = 1 << 20,
    SIGNATURE_BYTES_MAX = 16 << 20,
    // The signature's own format: big-endian, documented with the kernel's sources (cs_blobs.h).
    MAGIC_SIGNATURE = 0xfade0cc0,
    MAGIC_DIRECTORY = 0xfade0c02,
    MAGIC_ENTITLEMENTS = 0xfade7171,
    DIRECTORY_FLAGS_AT = 12,
    DIRECTORY_PLATFORM_AT = 38,
    DIRECTORY_BYTES = 44,
    FLAG_RESTRICT = 0x800,
    FLAG_LIBRARY_VALIDATION = 0x2000,
    FLAG_HARDENED = 0x10000,
};

#define RESIGN                                                                                               \
    "re-sign a copy of it (cp it, then: codesign -f -s - COPY) and run that; nothing will be recorded"

// What matters of the slice that the system would run.
struct program {
    bool understood;
    bool arm64e, other_processor;
    bool restrict_segment;
    bool platform; // one of Apple's own
    uint32_t flags;
    bool allows_variables, allows_libraries; // entitlements
};

// A copy of a part of the file, or NULL. The caller frees it.
static void *read_part(int fd, uint64_t offset, size_t bytes)
{
    void *part = malloc(bytes ? bytes : 1);
    if (part && pread(fd, part, bytes, (off_t)offset) != (ssize_t)bytes) {
        free(part);
        part = NULL;
    }
    return part;
}

// ---- the slice ----
static bool is_own_processor(cpu_type_t type)
{
#ifdef __aarch64__
    return type == CPU_TYPE_ARM64;
#else
    return type == CPU_TYPE_X86_64;
#endif
}

// Apple silicon runs Intel programs too, and the library has a slice for them.
static bool is_possible_processor(cpu_type_t type)
{
    return type == CPU_TYPE_X86_64 || is_own_processor(type);
}

// Where the slice begins that would run: the processor's own, else one that can be translated. 0 also if it
// is no universal file.
static uint64_t slice_of(int fd)
{
    struct fat_header head;
    struct fat_arch slices[SLICES_MAX];
    uint64_t start = 0;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        OSSwapBigToHostInt32(head.magic) != FAT_MAGIC)
        return 0;
    uint32_t count = OSSwapBigToHostInt32(head.nfat_arch);
    size_t bytes = count * sizeof slices[0];
    if (count > SLICES_MAX || pread(fd, slices, bytes, sizeof head) != (ssize_t)bytes)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        cpu_type_t type = (cpu_type_t)OSSwapBigToHostInt32((uint32_t)slices[i].cputype);
        if (is_own_processor(type))
            return OSSwapBigToHostInt32(slices[i].offset);
        if (is_possible_processor(type))
            start = OSSwapBigToHostInt32(slices[i].offset);
    }
    return start;
}

// ---- the signature ----
static uint32_t big_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// True if the property list says <key>name</key><true/>, with any blanks between.
static bool is_entitled(const char *list, size_t bytes, const char *name)
{
    static const char answer[] = "<true/>";
    const char *key = memmem(list, bytes, name, strlen(name));
    if (!key)
        return false;
    const char *end = list + bytes;
    const char *value = memmem(key, (size_t)(end - key), "</key>", 6);
    if (!value)
        return false;
    value += 6;
    while (value < end && strchr(" \t\r\n", *value))
        value++;
    return (size_t)(end - value) >= sizeof answer - 1 && memcmp(value, answer, sizeof answer - 1) == 0;
}

static void read_blob(struct program *program, const uint8_t *blob, size_t bytes)
{
    uint32_t magic = big_word(blob);
    if (magic == MAGIC_DIRECTORY && bytes >= DIRECTORY_BYTES) {
        program->flags |= big_word(blob + DIRECTORY_FLAGS_AT);
        program->platform |= blob[DIRECTORY_PLATFORM_AT] != 0;
    }
    if (magic != MAGIC_ENTITLEMENTS)
        return;
    const char *list = (const char *)blob + 8;
    program->allows_variables =
        is_entitled(list, bytes - 8, "com.apple.security.cs.allow-dyld-environment-variables");
    program->allows_libraries =
        is_entitled(list, bytes - 8, "com.apple.security.cs.disable-library-validation");
}

static void read_signature(struct program *program, const uint8_t *signature, size_t bytes)
{
    if (bytes < 12 || big_word(signature) != MAGIC_SIGNATURE)
        return;
    uint32_t count = big_word(signature + 8);
    for (uint32_t i = 0; i < count && 12 + (i + 1) * 8ULL <= bytes; i++) {
        uint32_t at = big_word(signature + 12 + i * 8ULL + 4);
        if (at > bytes || bytes - at < 8)
            continue;
        uint32_t length = big_word(signature + at + 4);
        if (length >= 8 && length <= bytes - at)
            read_blob(program, signature + at, length);
    }
}

// ---- the load commands ----
static void read_command(struct program *program, int fd, uint64_t slice, const struct load_command *command)
{
    if (command->cmd == LC_SEGMENT_64 && command->cmdsize >= sizeof(struct segment_command_64)) {
        const struct segment_command_64 *segment = (const void *)command;
        program->restrict_segment |= strncmp(segment->segname, "__RESTRICT", sizeof segment->segname) == 0;
    }
    if (command->cmd == LC_CODE_SIGNATURE && command->cmdsize >= sizeof(struct linkedit_data_command)) {
        const struct linkedit_data_command *place = (const void *)command;
        if (place->datasize > SIGNATURE_BYTES_MAX)
            return;
        uint8_t *signature = read_part(fd, slice + place->dataoff, place->datasize);
        if (signature)
            read_signature(program, signature, place->datasize);
        free(signature);
    }
}

static void read_program(struct program *program, int fd)
{
    struct mach_header_64 head;
    uint64_t slice = slice_of(fd);
    if (pread(fd, &head, sizeof head, (off_t)slice) != (ssize_t)sizeof head || head.magic != MH_MAGIC_64 ||
        head.sizeofcmds > COMMANDS_BYTES_MAX)
        return;
    program->understood = true;
    program->other_processor = !is_possible_processor(head.cputype);
    program->arm64e =
        head.cputype == CPU_TYPE_ARM64 && (head.cpusubtype & ~CPU_SUBTYPE_MASK) == CPU_SUBTYPE_ARM64E;
    char *commands = read_part(fd, slice + sizeof head, head.sizeofcmds);
    uint32_t at = 0;
    for (uint32_t i = 0; commands && i < head.ncmds; i++) {
        const struct load_command *command = (const void *)(commands + at);
        if (head.sizeofcmds - at < sizeof *command || command->cmdsize < sizeof *command ||
            command->cmdsize > head.sizeofcmds - at || command->cmdsize % 8)
            break;
        read_command(program, fd, slice, command);
        at += command->cmdsize;
    }
    free(commands);
}

// ---- the answer ----
// The file gives rights its user does not have, or the system guards it; NULL if neither.
static const char *refusal_by_rights(const struct stat *info)
{
    if (((info->st_mode & S_ISUID) && info->st_uid != geteuid()) ||
        ((info->st_mode & S_ISGID) && info->st_gid != getegid()))
        return "runs with rights of another user (setuid or setgid), so dyld ignores "
               "DYLD_INSERT_LIBRARIES and nothing will be recorded; run a copy of it without those rights";
    if (info->st_flags & SF_RESTRICTED)
        return "is protected by the system, which removes DYLD_INSERT_LIBRARIES for it and for all it "
               "starts; "
               "nothing will be recorded: name the program itself instead of sh, env or the system's python3";
    return NULL;
}

static const char *refusal_by_contents(const struct program *program)
{
    if (!program->understood)
        return "";
    if (program->other_processor)
        return "is a program for another processor, into which the library cannot be loaded";
    if (program->platform || program->arm64e)
        return "is one of the system's own programs (arm64e, or signed as such), into which only the "
               "system's "
               "libraries can be loaded; use a copy from elsewhere (Homebrew, python.org)";
    if (program->restrict_segment || (program->flags & FLAG_RESTRICT))
        return "asks not to be given any libraries (__RESTRICT), so dyld ignores DYLD_INSERT_LIBRARIES; "
               "nothing will be recorded";
    if ((program->flags & FLAG_HARDENED) && !program->allows_variables)
        return "has the hardened runtime without com.apple.security.cs.allow-dyld-environment-variables, so "
               "dyld ignores DYLD_INSERT_LIBRARIES; " RESIGN " otherwise";
    if ((program->flags & (FLAG_HARDENED | FLAG_LIBRARY_VALIDATION)) && !program->allows_libraries)
        return "accepts only libraries of its own maker "
               "(no com.apple.security.cs.disable-library-validation) and would end at once; " RESIGN
               " otherwise";
    return "";
}

void mt_loader_refusal(const char *path, char *why, size_t size)
{
    struct stat info;
    struct program program = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    why[0] = '\0';
    if (fd < 0)
        return;
    const char *reason = fstat(fd, &info) == 0 ? refusal_by_rights(&info) : NULL;
    if (!reason) {
        read_program(&program, fd);
        reason = refusal_by_contents(&program);
    }
    snprintf(why, size, "%s", reason);
    close(fd);
}
