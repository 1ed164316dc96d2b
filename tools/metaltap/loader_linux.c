// SPDX-License-Identifier: MIT
// What glibc's loader does with LD_PRELOAD, seen from the outside: it reads the file's headers and rights
// and starts nothing.
#ifdef __linux__
#define _GNU_SOURCE
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

const char mt_loader_variable[] = "LD_PRELOAD";
const char mt_loader_library[] = "libmetaltap.so";
const char mt_loader_separators[] = ": ";

enum { PROGRAM_HEADERS_MAX = 128 };
#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

// True if the loader will distrust the environment: the program runs with rights its user does not have.
static bool gains_rights(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return false;
    if ((info.st_mode & S_ISUID) && info.st_uid != geteuid())
        return true;
    if ((info.st_mode & S_ISGID) && (info.st_mode & S_IXGRP) && info.st_gid != getegid())
        return true;
    return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

// True unless the file surely has no loader to ask for.
static bool has_loader(int fd, const Elf64_Ehdr *header)
{
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > PROGRAM_HEADERS_MAX)
        return true;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr part;
        off_t place = (off_t)(header->e_phoff + i * sizeof part);
        if (pread(fd, &part, sizeof part, place) != (ssize_t)sizeof part)
            return true;
        if (part.p_type == PT_INTERP)
            return true;
    }
    return false;
}

static const char *refusal(int fd)
{
    Elf64_Ehdr header;
    if (gains_rights(fd))
        return "runs with rights of another user (setuid, setgid or file capabilities), so the loader "
               "ignores "
               "LD_PRELOAD and nothing will be recorded; run a copy of it without those rights";
    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return "";
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || (OWN_MACHINE != EM_NONE && header.e_machine != OWN_MACHINE))
        return "is a program for another processor or word size, into which the library cannot be loaded; "
               "nothing "
               "will be recorded";
    if (!has_loader(fd, &header))
        return "is linked statically, so LD_PRELOAD has no effect and nothing of it will be recorded "
               "(programs that "
               "it starts may be); link it dynamically";
    return "";
}

void mt_loader_refusal(const char *path, char *why, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    why[0] = '\0';
    if (fd < 0)
        return;
    snprintf(why, size, "%s", refusal(fd));
    close(fd);
}
#endif
