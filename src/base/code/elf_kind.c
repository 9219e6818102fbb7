/* What an ELF file is, by its first bytes; see elf_kind.h. */
#include "base/code/elf_kind.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define PACKER "UPX!"        /* stands behind the program headers */
#define PACKER_WITHIN 4096u

/* A number of `bytes` bytes. Beyond what is known: 0. */
static uint64_t kind_number(const unsigned char *data, size_t size, uint64_t at, unsigned bytes)
{
	uint64_t number = 0;

	if (at > size || size - at < bytes)
		return 0;
	for (unsigned i = 0; i < bytes; i++)
		number |= (uint64_t)data[at + i] << 8 * (data[EI_DATA] == ELFDATA2MSB ? bytes - 1 - i : i);
	return number;
}

#define KIND_FIELD(data, size, is_32, type, field)                                                     \
	((is_32) ? kind_number(data, size, offsetof(Elf32_##type, field), sizeof((Elf32_##type *)0)->field) \
	         : kind_number(data, size, offsetof(Elf64_##type, field), sizeof((Elf64_##type *)0)->field))

static bool kind_has_loader(const unsigned char *data, size_t size, bool is_32)
{
	uint64_t at = KIND_FIELD(data, size, is_32, Ehdr, e_phoff), one = KIND_FIELD(data, size, is_32, Ehdr, e_phentsize);
	uint64_t count = KIND_FIELD(data, size, is_32, Ehdr, e_phnum);

	for (uint64_t i = 0; i < count && at < size; i++, at += one) /* the type comes first */
		if (kind_number(data, size, at, 4) == PT_INTERP)
			return true;
	return false;
}

struct dw_elf_kind dw_elf_kind(const void *bytes, size_t size)
{
	const unsigned char *data = bytes;
	struct dw_elf_kind kind = { .kind = DW_ELF_NONE };

	if (size < EI_NIDENT || memcmp(data, ELFMAG, SELFMAG) != 0)
		return kind;
	kind.is_32 = data[EI_CLASS] == ELFCLASS32;
	switch (KIND_FIELD(data, size, kind.is_32, Ehdr, e_type)) {
	case ET_CORE: kind.kind = DW_ELF_CORE; break;
	case ET_REL: kind.kind = DW_ELF_OBJECT; break;
	case ET_EXEC: kind.kind = DW_ELF_PROGRAM; break;
	case ET_DYN: /* a program without a loader is linked statically; libraries begin nowhere */
		kind.kind = kind_has_loader(data, size, kind.is_32) || KIND_FIELD(data, size, kind.is_32, Ehdr, e_entry) ? DW_ELF_PROGRAM
		                                                                                                          : DW_ELF_LIBRARY;
		break;
	default: kind.kind = DW_ELF_OTHER; break;
	}
	kind.is_packed = kind.kind == DW_ELF_PROGRAM && !KIND_FIELD(data, size, kind.is_32, Ehdr, e_shnum) &&
	                 memmem(data, size < PACKER_WITHIN ? size : PACKER_WITHIN, PACKER, strlen(PACKER));
	return kind;
}

const char *dw_elf_kind_said(const struct dw_elf_kind *kind)
{
	static const char *const said[][2] = {
		[DW_ELF_NONE] = { NULL, NULL },
		[DW_ELF_OTHER] = { "it is an ELF file of a kind that dwell does not know", "it is a 32-bit ELF file" },
		[DW_ELF_OBJECT] = { "it is an object file (ELF): link it to a program, which dwell run records",
		                    "it is an object file of a 32-bit program" },
		[DW_ELF_LIBRARY] = { "it is a library (ELF): dwell run records a program that loads it",
		                     "it is a library (ELF) of 32-bit programs, which dwell does not record" },
		[DW_ELF_PROGRAM] = { "it is a program (ELF): dwell run records it",
		                     "it is a 32-bit program (ELF), which dwell does not record: build it for 64 bits, without -m32" },
		[DW_ELF_CORE] = { "it is a core file of a program that died, which dwell does not read: open it in gdb",
		                  "it is a core file of a 32-bit program, which dwell does not read: open it in gdb" },
	};

	if (kind->is_packed && !kind->is_32)
		return "it is a program that UPX has packed: upx -d unpacks it, so that its functions have names; dwell run records it";
	return said[kind->kind][kind->is_32];
}
