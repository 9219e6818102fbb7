/*
 * Native frames of a snapshot: elfutils unwinds by the tables for exceptions (.eh_frame) or, on
 * code without them, by frame pointers. Names come from symbol tables; lines and inlined functions
 * from debug information, if it is installed.
 */
#include "process/inside.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/version.h>
#include <stdio.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/system/proc.h"

static const char *unwind_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* ---- names ------------------------------------------------------------------------------------- */

/* Whether the address is code of the module's file. V8 maps parts of its program again, and makes code between them, which
 * elfutils then takes for the program's. */
static bool unwind_is_in_file(Dwfl_Module *module, uint64_t pc)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	size_t count;
	GElf_Phdr part;

	if (!elf || elf_getphdrnum(elf, &count) != 0)
		return true;
	for (int i = 0; i < (int)count; i++)
		if (gelf_getphdr(elf, i, &part) && part.p_type == PT_LOAD && pc - bias - part.p_vaddr < part.p_memsz)
			return true;
	return false;
}

/* Whether a symbol contains an address that is `offset` behind its value: by the rule of base/code/elf_symbols.h. Of symbols
 * without a size elfutils has already found the last one, and knows its section, but not where that ends. */
static bool unwind_contains(Dwfl_Module *module, const GElf_Sym *symbol, uint64_t pc, uint64_t offset)
{
	Dwarf_Addr within = pc, bias;
	Elf_Scn *section = symbol->st_size ? NULL : dwfl_module_address_section(module, &within, &bias);
	GElf_Shdr header;

	return symbol->st_size ? offset < symbol->st_size : gelf_getshdr(section, &header) && within < header.sh_size;
}

/* Whether the module's file is what is mapped: the file may have been replaced, or another library have come to the
 * place of one that was unloaded. Without a build-id in memory, it is taken for the same. */
static bool unwind_is_same(const struct dw_unwind *unwind, Dwfl_Module *module)
{
	const unsigned char *build_id;
	unsigned char there[64];
	GElf_Addr at = 0;
	int bytes = unwind->pid ? dwfl_module_build_id(module, &build_id, &at) : 0;

	return bytes <= 0 || bytes > (int)sizeof there || !at ||
	       (dw_process_memory(unwind->pid, at, there, (size_t)bytes) && memcmp(there, build_id, (size_t)bytes) == 0);
}

bool dw_unwind_is_current(struct dw_unwind *unwind, const struct dw_native *frames, size_t count)
{
	Dwfl_Module *last = NULL;

	for (size_t i = 0; i < count; i++) {
		Dwfl_Module *module = dwfl_addrmodule(unwind->dwfl, frames[i].pc);
		void **replaced;

		if (!module || module == last)
			continue;
		last = module;
		dwfl_module_info(module, &replaced, NULL, NULL, NULL, NULL, NULL, NULL);
		if (!*replaced && !unwind_is_same(unwind, module))
			return false;
	}
	return true;
}

const char *dw_unwind_function(struct dw_unwind *unwind, Dwfl_Module *module, uint64_t pc)
{
	GElf_Off offset = 0;
	GElf_Sym entry = { .st_size = 0 };
	const char *symbol = dwfl_module_addrinfo(module, pc, &offset, &entry, NULL, NULL, NULL), *name;
	bool named = symbol && *symbol != '$' && unwind_contains(module, &entry, pc, offset);
	char *clear = named ? dw_unwind_plain(symbol) : NULL;

	if (clear && entry.st_info == GELF_ST_INFO(STB_LOCAL, STT_NOTYPE))
		clear[1 + strcspn(clear + 1, ".")] = 0; /* a mark of NASM within the function, "function.loop" */
	name = clear ? dw_unwind_keep(unwind, clear) : NULL;
	free(clear);
	return name;
}

/* The function and the module at an address, from the symbol table, or as the process announced it. */
static struct dw_process_frame unwind_find_name(struct dw_unwind *unwind, Dwfl_Module *module, uint64_t pc)
{
	struct dw_process_frame name = { .function = NULL };
	const char *symbol, *file = NULL;
	char address[32], made[DW_CODE_NAME_BYTES];

	if (module) {
		name.function = dw_unwind_function(unwind, module, pc);
		dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	}
	symbol = module || unwind->names_later ? NULL : dw_made_name(&unwind->made, pc, made);
	snprintf(address, sizeof address, "0x%llx", (unsigned long long)pc);
	if (!name.function)
		name.function = dw_unwind_keep(unwind, symbol ? symbol : address);
	name.module = dw_unwind_keep(unwind, file ? unwind_base_name(file) : symbol ? "[jit]" : "?");
	return name;
}

static bool unwind_is_library(const char *module)
{
	static const char *const names[] = { "libc.so", "libc-2.", "libpthread", "libc.musl", "ld-musl" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(module, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* The module at *pc; NULL: there is none. Of code that is mapped again, *pc gets its first place. */
static Dwfl_Module *unwind_find_module(struct dw_unwind *unwind, uint64_t *pc)
{
	Dwfl_Module *found = dwfl_addrmodule(unwind->dwfl, *pc),
				*module = dw_mapped_find(&unwind->mapped, unwind->dwfl, pc);
	void **replaced;

	unwind->unknown |= !found;
	if (!module && found && unwind_is_in_file(found, *pc))
		module = found;
	if (!module || unwind_is_same(unwind, module))
		return module;
	dwfl_module_info(module, &replaced, NULL, NULL, NULL, NULL, NULL, NULL);
	*replaced = module; /* said once: a renewal does not mend it */
	return NULL;
}

static struct dw_place *unwind_make_place(struct dw_unwind *unwind, uint64_t pc)
{
	uint64_t in_file = pc;
	Dwfl_Module *module = unwind_find_module(unwind, &in_file);
	struct dw_process_frame inlined[DW_UNWIND_INLINED], name = unwind_find_name(unwind, module, in_file), *functions;
	size_t count = module ? dw_unwind_inlined(unwind, module, in_file, inlined) : 0;
	struct dw_place *place = dw_arena_alloc(&unwind->process->arena, sizeof *place);

	if (!count)
		inlined[count++] = name;
	functions = dw_arena_alloc(&unwind->process->arena, count * sizeof *functions);
	if (!place || !functions || !name.function || !name.module)
		return NULL;
	memcpy(functions, inlined, count * sizeof *functions);
	for (size_t i = 0; i < count; i++) {
		functions[i].module = name.module;
		if (!functions[i].function)
			functions[i].function = name.function;
	}
	*place = (struct dw_place){ .functions = functions, .count = (uint32_t)count,
		.loop = strncmp(functions[count - 1].function, "_PyEval_EvalFrameDefault", strlen("_PyEval_EvalFrameDefault")) == 0,
		.library = unwind_is_library(name.module), .made = module ? 0 : pc };
	return place;
}

const struct dw_place *dw_unwind_place(struct dw_unwind *unwind, uint64_t pc)
{
	uint32_t hash = dw_map_hash(pc), at = DW_MAP_FIND(&unwind->by_pc, hash, i, unwind->names[i].pc == pc);
	struct unwind_named *name;

	if (at != DW_MAP_NONE)
		return unwind->names[at].place;
	name = DW_GROW(&unwind->names, &unwind->name_capacity, unwind->name_count);
	if (!name || !(name->place = unwind_make_place(unwind, pc)) ||
	    !dw_map_add(&unwind->by_pc, hash, (uint32_t)unwind->name_count)) {
		unwind->no_memory = true;
		return NULL;
	}
	name->pc = pc;
	unwind->name_count++;
	return name->place;
}

/* ---- frames ------------------------------------------------------------------------------------ */

/* 0: not known, as always with elfutils before 0.188 (Ubuntu 22.04, Debian 11). */
static uint64_t unwind_stack_pointer(Dwfl_Frame *state)
{
	Dwarf_Word sp = 0;

#if _ELFUTILS_PREREQ(0, 188)
	if (dwfl_frame_reg(state, DW_PROCESS_SP, &sp) != 0)
		sp = 0;
#endif
	return sp;
}

static int unwind_take_frame(Dwfl_Frame *state, void *context)
{
	struct dw_unwind *unwind = context;
	Dwarf_Addr pc;
	bool activation;

	if (!dwfl_frame_pc(state, &pc, &activation) || !pc || unwind->count >= DW_UNWIND_MOST_FRAMES)
		return DWARF_CB_ABORT;
	/* A return address may be that of the next function. */
	unwind->frames[unwind->count++] = (struct dw_native){ pc - !activation, unwind_stack_pointer(state) };
	return DWARF_CB_OK;
}

static pid_t unwind_next_thread(Dwfl *dwfl, void *context, void **thread)
{
	struct dw_unwind *unwind = context;

	if (*thread)
		return 0;
	*thread = unwind;
	return (pid_t)unwind->snapshot->tid;
}

static bool unwind_get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
	*thread = context;
	return true;
}

static bool unwind_read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *context)
{
	const struct dw_unwind *unwind = context;

	return dw_snapshot_memory(unwind->snapshot, address, result, sizeof *result);
}

static bool unwind_set_registers(Dwfl_Thread *thread, void *context)
{
	const struct dw_snapshot *snapshot = ((struct dw_unwind *)context)->snapshot;

	for (unsigned i = 0; i < DW_PROCESS_REGISTERS; i++)
		if (snapshot->known >> i & 1 && !dwfl_thread_state_registers(thread, (int)i, 1, &snapshot->registers[i]))
			return false;
	dwfl_thread_state_register_pc(thread, snapshot->pc);
	return true;
}

bool dw_unwind_walk(struct dw_unwind *unwind, const struct dw_snapshot *snapshot,
                    struct dw_native frames[DW_UNWIND_MOST_FRAMES], size_t *count)
{
	int code;

	unwind->snapshot = snapshot;
	unwind->frames = frames;
	unwind->count = 0;
	code = dwfl_getthread_frames(unwind->dwfl, (pid_t)snapshot->tid, unwind_take_frame, unwind);
	*count = unwind->count;
	/* 0: the outermost frame was reached. */
	return code == 0;
}

/* ---- modules ----------------------------------------------------------------------------------- */

/* Its registers, its frames and the numbers of its system calls are others. */
static bool unwind_is_narrow(uint32_t pid)
{
	char head[EI_CLASS + 2];

	return dw_proc_read(pid, 0, "exe", head, sizeof head) > EI_CLASS && memcmp(head, ELFMAG, SELFMAG) == 0 &&
	       head[EI_CLASS] == ELFCLASS32;
}

int dw_unwind_open(struct dw_unwind *unwind, struct dw_process *process, struct dwell_error *error)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &no_path,
	};
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = unwind_next_thread, .get_thread = unwind_get_thread, .memory_read = unwind_read_memory,
		.set_initial_registers = unwind_set_registers,
	};

	int code;

	*unwind = (struct dw_unwind){ .dwfl = dwfl_begin(&callbacks), .pid = process->pid, .process = process };
	if (!unwind->dwfl)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while reading the modules of process %u", process->pid);
	if (unwind_is_narrow(process->pid))
		return dw_error_set(error, DWELL_E_IO,
		                    "process %u is a program for processors of 32 bits, whose stacks dwell does not read; "
		                    "build it for 64 bits, without -m32", process->pid);
	code = dwfl_linux_proc_report(unwind->dwfl, (pid_t)process->pid);
	if (code > 0)
		return dw_error_set(error, DWELL_E_IO, "the memory of process %u cannot be read: %s", process->pid,
		                    dw_process_explain(code));
	if (code != 0 || dwfl_report_end(unwind->dwfl, NULL, NULL) != 0 ||
	    !dwfl_attach_state(unwind->dwfl, NULL, (pid_t)process->pid, &threads, unwind))
		return dw_error_set(error, DWELL_E_IO, "the modules of process %u cannot be read: %s", process->pid,
		                    dwfl_errmsg(-1));
	dw_made_find(unwind);
	dw_mapped_read(&unwind->mapped, unwind->pid);
	return 0;
}

void dw_unwind_renew(struct dw_unwind *unwind)
{
	dwfl_report_begin(unwind->dwfl);
	dwfl_linux_proc_report(unwind->dwfl, (pid_t)unwind->pid);
	dwfl_report_end(unwind->dwfl, NULL, NULL);
	dw_made_find(unwind);
	dw_mapped_read(&unwind->mapped, unwind->pid);
	unwind->name_count = 0;
	dw_map_reset(&unwind->by_pc);
}

void dw_unwind_close(struct dw_unwind *unwind)
{
	free(unwind->names);
	dw_code_names_reset(&unwind->made.names);
	dw_mapped_reset(&unwind->mapped);
	dw_map_reset(&unwind->by_pc);
	if (unwind->dwfl)
		dwfl_end(unwind->dwfl);
}

struct unwind_wanted {
	const char *in, *symbol, *module;
	uint64_t address;
};

static int unwind_look_in_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *context)
{
	struct unwind_wanted *wanted = context;
	const char *file = NULL;
	int count;

	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	file = unwind_base_name(file ? file : name);
	if (!file || !strstr(file, wanted->in))
		return DWARF_CB_OK;
	count = dwfl_module_getsymtab(module);
	for (int i = 0; i < count; i++) {
		GElf_Addr address;
		GElf_Sym entry;
		const char *symbol = dwfl_module_getsym_info(module, i, &entry, &address, NULL, NULL, NULL);

		if (symbol && entry.st_shndx != SHN_UNDEF && strcmp(symbol, wanted->symbol) == 0) {
			wanted->address = address;
			wanted->module = file;
			return DWARF_CB_ABORT;
		}
	}
	return DWARF_CB_OK;
}

uint64_t dw_unwind_symbol(struct dw_unwind *unwind, const char *in, const char *symbol, const char **module)
{
	struct unwind_wanted wanted = { .in = in, .symbol = symbol };

	dwfl_getmodules(unwind->dwfl, unwind_look_in_module, &wanted, 0);
	*module = dw_unwind_keep(unwind, wanted.module);
	return wanted.address;
}
