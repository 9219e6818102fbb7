/* What an ELF file is, by its first bytes: a program, a library, a core file, and whether dwell has a use for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct dw_elf_kind {
	enum { DW_ELF_NONE, DW_ELF_OTHER, DW_ELF_OBJECT, DW_ELF_LIBRARY, DW_ELF_PROGRAM, DW_ELF_CORE } kind;
	bool is_32;     /* for processors of 32 bits */
	bool is_packed; /* by UPX: it unpacks a program into memory, and executes that */
};

/* `size` bytes of the file's begin. They should contain its program headers. */
struct dw_elf_kind dw_elf_kind(const void *bytes, size_t size);
/* What it is, and what to do about it: a phrase without an end. NULL: it is no ELF file. */
const char *dw_elf_kind_said(const struct dw_elf_kind *kind);
