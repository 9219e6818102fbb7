/*
 * The function symbols of an ELF file, sorted and looked up by address.
 *
 * Only 64-bit little-endian files for this kind of machine; other files have no symbols. No file
 * can cause reads outside of it, not even if another process writes to it at the same time:
 * headers, symbols and names are copied before they are checked. Names are copied when they are requested,
 * because a large library has tens of megabytes of them.
 *
 * No function is found that does not contain the address. A symbol with a size contains just its bytes. Assembly often
 * has symbols without a size or a type: such a symbol reaches to the next one, to the next function by the unwind
 * table, or to the end of its section, whichever is first. It is not used within a function that has a size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/code/code_loop.h"

struct dw_elf_symbols {
	const char *map;
	size_t size_bytes;
	struct dw_elf_function {
		uint64_t start, end;
		uint32_t name; /* in the strings of its table */
		uint8_t table;
		bool sized; /* the symbol says where it ends */
	} * functions;  /* by start */
	struct {
		uint64_t start, end;
	} * code; /* sections of code */
	size_t code_count;
	struct {
		uint64_t offset, bytes; /* in the file; 0 bytes: there is no such table */
	} strings[2];
	size_t count;
	struct dw_arena names;
};

/* build_id NULL: any. `near`: the only addresses for which dw_elf_find() will be called, so that few functions are sorted;
 * NULL: any. Returns 0, or -1 if the file is not the requested one. */
int dw_elf_open(struct dw_elf_symbols *symbols, const char *path, const uint8_t *build_id, size_t build_id_bytes,
                const uint64_t *near, size_t near_count);
/* Where the function at an address begins by the unwind table, for code without symbols; of code between functions of
 * the table, where the one before it ends. 0: not known. */
uint64_t dw_elf_function_start(const struct dw_elf_symbols *symbols, uint64_t offset);
/* What the loop does in which an address lies. */
enum dw_code_loop dw_elf_loop(const struct dw_elf_symbols *symbols, uint64_t offset);
/* The name of the function at an address, valid until the symbols are closed; NULL: there is none. */
const char *dw_elf_find(struct dw_elf_symbols *symbols, uint64_t offset);
/* The same of one of the functions. "" if its name is damaged or memory ran out. */
const char *dw_elf_name(struct dw_elf_symbols *symbols, const struct dw_elf_function *function);
void dw_elf_close(struct dw_elf_symbols *symbols);
