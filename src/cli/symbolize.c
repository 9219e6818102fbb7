/* Names for the frames of a trace; see symbolize.h. */
#include "cli/symbolize.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cli/elf_symbols.h"
#include "record/record.h"

/* What the journals of the trace say of code. */
struct code {
	const struct dw_entry_string **strings; /* by id */
	uint32_t id_count;
	const struct dw_entry_module **modules;
	size_t module_count;
	const struct dw_entry_frame **frames;
	size_t frame_count;
};

typedef char *demangler(const char *, char *, size_t *, int *);

/* ---- reading the journals ---------------------------------------------------------- */

static int push(const void ***list, size_t *count, const void *item)
{
	if ((*count & (*count - 1)) == 0) { /* grows at powers of two */
		const void **grown = realloc(*list, (*count ? *count * 2 : 1) * sizeof **list);

		if (!grown)
			return -1;
		*list = grown;
	}
	(*list)[(*count)++] = item;
	return 0;
}

static void take_entry(struct code *code, const struct dw_entry *entry)
{
	switch (entry->tag & 0xffff) {
	case DW_ENTRY_STRING:
		if (entry->id < code->id_count &&
		    (entry->aux & DW_TEXT_LENGTH_MASK) <= entry->bytes - sizeof *entry)
			code->strings[entry->id] = (const void *)entry;
		break;
	case DW_ENTRY_MODULE:
		if (entry->bytes >= sizeof(struct dw_entry_module))
			push((const void ***)&code->modules, &code->module_count, entry);
		break;
	case DW_ENTRY_FRAME:
		if (entry->bytes >= sizeof(struct dw_entry_frame) && entry->aux)
			push((const void ***)&code->frames, &code->frame_count, entry);
		break;
	}
}

static void take_journal(struct code *code, const char *chunk)
{
	for (size_t at = DW_CHUNK_HEADER_BYTES; at + sizeof(struct dw_entry) <= DW_BLOCK_BYTES;) {
		const struct dw_entry *entry = (const void *)(chunk + at);

		/* A hole, or the end: entries begin on 8 bytes. */
		if (entry->tag >> 16 != DW_ENTRY_MAGIC || entry->bytes < sizeof *entry ||
		    entry->bytes % 8 || at + entry->bytes > DW_BLOCK_BYTES) {
			at += 8;
			continue;
		}
		take_entry(code, entry);
		at += entry->bytes;
	}
}

/* ---- naming one module's frames ----------------------------------------------------- */

static uint32_t function_id(const char *name, demangler *demangle)
{
	int status;
	char *plain = demangle && strncmp(name, "_Z", 2) == 0 ? demangle(name, NULL, NULL, &status) : NULL;
	uint32_t id = dw_intern_text(plain ? plain : name);

	free(plain);
	return id;
}

static void name_frame(uint32_t frame, const char *name, demangler *demangle)
{
	struct dw_entry_symbol *entry;
	uint32_t function = function_id(name, demangle);

	entry = function ? dw_journal_reserve(sizeof *entry) : NULL;
	if (!entry)
		return;
	entry->entry.id = frame;
	entry->function = function;
	dw_journal_commit(entry, DW_ENTRY_SYMBOL);
}

static void name_module(const struct code *code, const struct dw_entry_module *module,
                        demangler *demangle)
{
	const struct dw_entry_string *text =
	    module->path < code->id_count ? code->strings[module->path] : NULL;
	struct dw_elf_symbols elf;
	char path[4096];
	size_t length = text ? text->entry.aux & DW_TEXT_LENGTH_MASK : sizeof path;

	if (length >= sizeof path || module->build_id_bytes > sizeof module->build_id)
		return;
	memcpy(path, text->text, length);
	path[length] = '\0';
	if (dw_elf_open(&elf, path, module->build_id, module->build_id_bytes) != 0)
		return;
	for (size_t i = 0; i < code->frame_count; i++) {
		const char *name = code->frames[i]->entry.aux == module->entry.id
		                       ? dw_elf_find(&elf, code->frames[i]->offset)
		                       : NULL;

		if (name)
			name_frame(code->frames[i]->entry.id, name, demangle);
	}
	dw_elf_close(&elf);
}

void dw_symbolize(void)
{
	/* C++ names are put in plain words by the C++ library, if there is one. */
	void *library = NULL;
	demangler *demangle = NULL;
	struct code code = { .id_count = dw_session.map->next_id };
	struct stat status;
	char *map;

	if (fstat(dw_session.file, &status) != 0)
		return;
	map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, dw_session.file, 0);
	code.strings = calloc(code.id_count, sizeof *code.strings);
	if (map == MAP_FAILED || !code.strings)
		return;
	for (size_t at = DW_BLOCK_BYTES; at + DW_BLOCK_BYTES <= (size_t)status.st_size;
	     at += DW_BLOCK_BYTES) {
		const struct dw_chunk *chunk = (const void *)(map + at);

		if (chunk->magic == DW_CHUNK_MAGIC && chunk->type == DW_CHUNK_JOURNAL)
			take_journal(&code, map + at);
	}
	if (code.frame_count) {
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		demangle = library ? (demangler *)dlsym(library, "__cxa_demangle") : NULL;
	}
	for (size_t i = 0; i < code.module_count && code.frame_count; i++)
		name_module(&code, code.modules[i], demangle);
	free(code.strings);
	free(code.modules);
	free(code.frames);
	munmap(map, (size_t)status.st_size);
}
