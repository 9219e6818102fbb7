/*
 * The function symbols of an ELF file, sorted and looked up by address.
 *
 * Only 64-bit little-endian files for this kind of machine; other files have no symbols. No file
 * can cause reads outside of it, not even if another process writes to it at the same time:
 * headers, symbols and names are copied before they are checked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct dw_elf_symbols {
	const char *map;
	size_t size_bytes;
	struct dw_elf_function {
		uint64_t start, end;
		const char *name; /* in one of `names` */
	} *functions;
	char *names[2];       /* copies of both tables */
	size_t count;
};

/* build_id NULL: any. Returns 0, or -1 if the file is not the requested one. */
int dw_elf_open(struct dw_elf_symbols *symbols, const char *path, const uint8_t *build_id,
                size_t build_id_bytes);
/* Where the function at an address begins by the unwind table, for code without symbols; 0: not known. */
uint64_t dw_elf_function_start(const struct dw_elf_symbols *symbols, uint64_t offset);
const char *dw_elf_find(const struct dw_elf_symbols *symbols, uint64_t offset);
void dw_elf_close(struct dw_elf_symbols *symbols);
