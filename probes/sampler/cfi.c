/*
 * Call frame information: how to get from a place in code to its caller.
 *
 * Compilers write it for each function into the section .eh_frame, in DWARF's language for tables, with an index
 * for binary search (.eh_frame_hdr; Linux Standard Base, "Exception Frames"; DWARF 5, section 6.4). A small
 * interpreter executes the table of one function up to the place. It follows the registers that a walk needs: the
 * frame's end, the frame pointer and the return address. Callers keep the result.
 *
 * _dl_find_object() of glibc 2.35 and newer finds a module's index without a lock and in signal handlers. With
 * another C library, dws_cfi_prepare() is false. A module that was loaded later may be unloaded by another thread while its
 * tables are read: they are copied by the kernel, which refuses where nothing is mapped any more.
 */
#include "sampler.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/system/system.h"

#ifdef __x86_64__
#define REG_FP 6u
#define REG_SP 7u
#else
#define REG_FP 29u
#define REG_SP 31u
#endif

#define MOST_REMEMBERED 8
#define LASTING 256u
#define ENTRY_BYTES 2048u /* of an entry, at most; a longer one is not understood */
#define COMMON_BYTES 256u
#define SHORT_BYTES 128u /* of an entry that are copied at once: most are shorter */
#define ENCODED_TABLE 0x3b /* signed, 4 bytes, relative to the index */

/* Declared in <dlfcn.h> of glibc 2.35. */
struct found_object {
	unsigned long long flags;
	void *map_start, *map_end, *link_map, *index;
	unsigned long long reserved[7];
};
static int (*find_object)(void *address, struct found_object *found);

/* Memory of the modules that the program began with, which are never unloaded: one range each. */
static struct dws_stack lasting[LASTING];
static unsigned lasting_count;

static int cfi_add_lasting(struct dl_phdr_info *file, size_t bytes, void *unused)
{
	struct dws_stack range = { UINTPTR_MAX, 0 };

	(void)bytes;
	(void)unused;
	for (unsigned i = 0; i < file->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &file->dlpi_phdr[i];
		uintptr_t low = file->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		range.low = low < range.low ? low : range.low;
		range.high = low + part->p_memsz > range.high ? low + part->p_memsz : range.high;
	}
	if (range.high && lasting_count < LASTING)
		lasting[lasting_count++] = range;
	return 0;
}

static bool cfi_lasts(uintptr_t at)
{
	for (unsigned i = 0; i < lasting_count; i++)
		if (at >= lasting[i].low && at < lasting[i].high)
			return true;
	return false;
}

bool dws_cfi_prepare(void)
{
	*(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
	dl_iterate_phdr(cfi_add_lasting, NULL);
	return find_object != NULL;
}

bool dws_cfi_module(uintptr_t address, struct dws_stack *range)
{
	struct found_object found;

	if (!find_object || find_object((void *)address, &found) != 0)
		return false;
	*range = (struct dws_stack){ (uintptr_t)found.map_start, (uintptr_t)found.map_end };
	return true;
}

/* ---- bytes ------------------------------------------------------------------------------- */

struct reader {
	const uint8_t *at, *end;
	bool bad; /* something in it is not understood */
};

static uint64_t cfi_take(struct reader *reader, unsigned bytes)
{
	uint64_t value = 0;

	if ((size_t)(reader->end - reader->at) < bytes) {
		reader->bad = true;
		reader->at = reader->end;
		return 0;
	}
	memcpy(&value, reader->at, bytes);
	reader->at += bytes;
	return value;
}

static uint64_t cfi_take_uleb(struct reader *reader)
{
	uint64_t value = 0, byte = 128;

	for (unsigned shift = 0; byte & 128 && !reader->bad && shift < 64; shift += 7) {
		byte = cfi_take(reader, 1);
		value |= (byte & 127) << shift;
	}
	return value;
}

static int64_t cfi_take_sleb(struct reader *reader)
{
	uint64_t value = 0, byte = 128;
	unsigned shift = 0;

	for (; byte & 128 && !reader->bad && shift < 64; shift += 7) {
		byte = cfi_take(reader, 1);
		value |= (byte & 127) << shift;
	}
	if (byte & 64 && shift < 64)
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

static unsigned cfi_encoded_bytes(unsigned encoding)
{
	unsigned form = encoding & 7;

	return form == 2 ? 2 : form == 3 ? 4 : form == 0 || form == 4 ? 8 : 0;
}

/* ---- the index --------------------------------------------------------------------------- */

/* Copies up to `bytes`, as many as are mapped. Returns how many. */
static size_t cfi_load(void *to, uintptr_t from, size_t bytes, bool lasts)
{
	if (!lasts)
		return dws_copy(to, from, bytes);
	memcpy(to, (const void *)from, bytes);
	return bytes;
}

#define BLOCK 256u   /* rows of an index that are copied at once: a copy by the kernel costs as much as thousands of instructions */
#define PIVOTS 4096u /* rows that are remembered */

/* A row of an index: a function and its entry, both relative to the index, in order of functions. */
struct index_row {
	int32_t function, entry;
};

/* Bytes of tables by their address: the begins of indices, the rows with which each search begins, and the common parts of entries. */
static struct dws_pair pivots[PIVOTS];

void dws_cfi_forget(void)
{
	for (unsigned i = 0; i < PIVOTS; i++)
		dws_pair_set(&pivots[i], 0, 0);
}

/* Eight bytes of an index, remembered. 0: they cannot be read. */
static uint64_t cfi_pivot(uintptr_t at, bool lasts)
{
	struct dws_pair *pair = &pivots[dws_sampler_hash(11, at) % PIVOTS];
	uint64_t value = dws_pair_get(pair, at);

	if (!value && cfi_load(&value, at, sizeof value, lasts) == sizeof value)
		dws_pair_set(pair, at, value);
	return value;
}

static uintptr_t cfi_row_at(uintptr_t index, uint32_t number)
{
	return index + 12 + sizeof(struct index_row) * (uintptr_t)number;
}

/* The number of rows of an index. 0: it is none, or not understood. */
static uint32_t cfi_rows(uintptr_t index, bool lasts)
{
	uint64_t head = cfi_pivot(index, lasts), count = cfi_pivot(index + 4, lasts) >> 32;

	return (head & 255) == 1 && (head >> 24 & 255) == ENCODED_TABLE && cfi_encoded_bytes(head >> 8 & 255) == 4 &&
	               cfi_encoded_bytes(head >> 16 & 255) == 4
	           ? (uint32_t)count
	           : 0;
}

/* The number of rows that are not after a place in code: the last of them has it. */
static uint32_t cfi_search(const struct index_row *rows, uint32_t count, uintptr_t index, uintptr_t pc)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = low + (count - low) / 2;

		if (index + (uintptr_t)(intptr_t)rows[middle].function <= pc)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

/* The address of the function's entry in .eh_frame, or 0; *start gets the address of the function. */
static uintptr_t cfi_find_entry(uintptr_t pc, uintptr_t *start, bool lasts)
{
	struct index_row rows[BLOCK];
	struct found_object found;
	uint32_t low = 0, high, count;
	uintptr_t index;

	if (!find_object || find_object((void *)pc, &found) != 0 || !found.index)
		return 0;
	index = (uintptr_t)found.index;
	high = cfi_rows(index, lasts);
	while (high - low > BLOCK) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t row = cfi_pivot(cfi_row_at(index, middle), lasts);

		if (!row)
			return 0;
		if (index + (uintptr_t)(intptr_t)(int32_t)row <= pc)
			low = middle;
		else
			high = middle;
	}
	count = high - low;
	if (!count || cfi_load(rows, cfi_row_at(index, low), count * sizeof *rows, lasts) < count * sizeof *rows)
		return 0;
	count = cfi_search(rows, count, index, pc);
	if (!count)
		return 0;
	*start = index + (uintptr_t)(intptr_t)rows[count - 1].function;
	return index + (uintptr_t)(intptr_t)rows[count - 1].entry;
}

/* ---- the table of a function ----------------------------------------------------------------- */

enum place { PLACE_SAME, PLACE_IN_FRAME, PLACE_AT_FP, PLACE_NONE, PLACE_UNKNOWN };

struct where {
	uint8_t place; /* enum place */
	int64_t offset;
};

struct row {
	uint8_t end; /* enum dws_frame_end */
	int64_t end_offset;
	struct where fp, returns;
};

struct table {
	uintptr_t pc, location;
	bool lasts; /* the module is never unloaded */
	uint64_t code_align;
	int64_t data_align;
	uint32_t return_register;
	bool is_signal;
	unsigned encoding;
	struct row row, initial, remembered[MOST_REMEMBERED];
	int remembered_count;
};

static void cfi_set_end(struct row *row, uint64_t reg, int64_t offset)
{
	row->end = reg == REG_SP ? DWS_END_SP : reg == REG_FP ? DWS_END_FP : DWS_END_UNKNOWN;
	row->end_offset = offset;
}

static struct where *cfi_where(struct table *table, uint64_t reg)
{
	return reg == REG_FP ? &table->row.fp : reg == table->return_register ? &table->row.returns : NULL;
}

static void cfi_put(struct table *table, uint64_t reg, enum place place, int64_t offset)
{
	struct where *where = cfi_where(table, reg);

	if (where)
		*where = (struct where){ (uint8_t)place, offset };
}

static void cfi_restore(struct table *table, uint64_t reg)
{
	if (reg == REG_FP)
		table->row.fp = table->initial.fp;
	else if (reg == table->return_register)
		table->row.returns = table->initial.returns;
}

/*
 * The frame's end as an expression. Two are common on x86-64: in a function that aligned its stack it is a word
 * below the frame pointer; in the procedure linkage table it depends on the place, because an entry of 16 bytes
 * pushes a number after 11 of them.
 */
static void cfi_take_end(struct table *table, struct reader *reader)
{
	uint64_t bytes = cfi_take_uleb(reader);
	struct reader expression = { reader->at, reader->at + bytes, false };

	table->row.end = DWS_END_UNKNOWN;
	if (reader->bad || bytes > (size_t)(reader->end - reader->at)) {
		reader->bad = true;
		return;
	}
	reader->at += bytes;
	switch (cfi_take(&expression, 1)) {
	case 0x70 + REG_FP:
		table->row.end_offset = cfi_take_sleb(&expression);
		if (cfi_take(&expression, 1) == 0x06 && expression.at == expression.end)
			table->row.end = DWS_END_AT_FP;
		break;
	case 0x70 + REG_SP:
		if (bytes != 11 || cfi_take(&expression, 1) != 8)
			break;
		table->row.end = DWS_END_SP;
		table->row.end_offset = (table->pc & 15) >= 11 ? 16 : 8;
		break;
	default: break;
	}
}

/* A register whose place is an expression: that of the frame pointer in a function that aligned its stack. */
static void cfi_take_place(struct table *table, struct reader *reader)
{
	uint64_t reg = cfi_take_uleb(reader), bytes = cfi_take_uleb(reader);
	struct reader expression = { reader->at, reader->at + bytes, false };
	int64_t offset;

	if (reader->bad || bytes > (size_t)(reader->end - reader->at)) {
		reader->bad = true;
		return;
	}
	reader->at += bytes;
	if (cfi_take(&expression, 1) != 0x70 + REG_FP) {
		cfi_put(table, reg, PLACE_UNKNOWN, 0);
		return;
	}
	offset = cfi_take_sleb(&expression);
	cfi_put(table, reg, expression.at == expression.end && !expression.bad ? PLACE_AT_FP : PLACE_UNKNOWN, offset);
}

static void cfi_advance(struct table *table, uint64_t units)
{
	table->location += units * table->code_align;
}

/* Operations 0x00 to 0x3f. */
static void cfi_extended(struct table *table, struct reader *reader, unsigned operation)
{
	uint64_t reg;

	switch (operation) {
	case 0x00: break; /* nop */
	case 0x02: cfi_advance(table, cfi_take(reader, 1)); break;
	case 0x03: cfi_advance(table, cfi_take(reader, 2)); break;
	case 0x04: cfi_advance(table, cfi_take(reader, 4)); break;
	case 0x05:
		reg = cfi_take_uleb(reader);
		cfi_put(table, reg, PLACE_IN_FRAME, (int64_t)cfi_take_uleb(reader) * table->data_align);
		break;
	case 0x06: cfi_restore(table, cfi_take_uleb(reader)); break;
	case 0x07: cfi_put(table, cfi_take_uleb(reader), PLACE_NONE, 0); break;
	case 0x08: cfi_put(table, cfi_take_uleb(reader), PLACE_SAME, 0); break;
	case 0x09: /* in another register */
		cfi_put(table, cfi_take_uleb(reader), PLACE_UNKNOWN, 0);
		cfi_take_uleb(reader);
		break;
	case 0x0a:
		if (table->remembered_count < MOST_REMEMBERED)
			table->remembered[table->remembered_count++] = table->row;
		else
			reader->bad = true;
		break;
	case 0x0b:
		if (table->remembered_count)
			table->row = table->remembered[--table->remembered_count];
		break;
	case 0x0c:
		reg = cfi_take_uleb(reader);
		cfi_set_end(&table->row, reg, (int64_t)cfi_take_uleb(reader));
		break;
	case 0x0d: cfi_set_end(&table->row, cfi_take_uleb(reader), table->row.end_offset); break;
	case 0x0e: table->row.end_offset = (int64_t)cfi_take_uleb(reader); break;
	case 0x0f: cfi_take_end(table, reader); break;
	case 0x10: cfi_take_place(table, reader); break;
	case 0x11:
		reg = cfi_take_uleb(reader);
		cfi_put(table, reg, PLACE_IN_FRAME, cfi_take_sleb(reader) * table->data_align);
		break;
	case 0x12:
		reg = cfi_take_uleb(reader);
		cfi_set_end(&table->row, reg, cfi_take_sleb(reader) * table->data_align);
		break;
	case 0x13: table->row.end_offset = cfi_take_sleb(reader) * table->data_align; break;
	case 0x14: /* a value that is no place */
	case 0x15:
		cfi_put(table, cfi_take_uleb(reader), PLACE_UNKNOWN, 0);
		cfi_take_uleb(reader);
		break;
	case 0x16:
		cfi_put(table, cfi_take_uleb(reader), PLACE_UNKNOWN, 0);
		reg = cfi_take_uleb(reader);
		if (reg > (size_t)(reader->end - reader->at))
			reader->bad = true;
		else
			reader->at += reg;
		break;
	case 0x2d: break; /* aarch64: the return address is signed from here on; the walk removes signatures */
	case 0x2e: cfi_take_uleb(reader); break; /* bytes of arguments */
	default: reader->bad = true; break;
	}
}

/* Executes operations until the place is reached. */
static void cfi_execute(struct table *table, struct reader *reader, bool stops)
{
	while (reader->at < reader->end && !reader->bad && !(stops && table->location > table->pc)) {
		struct row before = table->row;
		unsigned operation = (unsigned)cfi_take(reader, 1), low = operation & 0x3f;

		switch (operation >> 6) {
		case 1: cfi_advance(table, low); break;
		case 2: cfi_put(table, low, PLACE_IN_FRAME, (int64_t)cfi_take_uleb(reader) * table->data_align); break;
		case 3: cfi_restore(table, low); break;
		default: cfi_extended(table, reader, operation); break;
		}
		if (stops && table->location > table->pc)
			table->row = before;
	}
}

/* An entry's bytes after its length, in `copy` of `most` bytes; bad if it is none. A long entry ends early. */
static struct reader cfi_open(uintptr_t entry, uint8_t *copy, size_t most, bool lasts)
{
	size_t got = cfi_load(copy, entry, SHORT_BYTES < most ? SHORT_BYTES : most, lasts), bytes;
	uint32_t length;

	if (got < sizeof length)
		return (struct reader){ .bad = true };
	memcpy(&length, copy, sizeof length);
	if (!length || length == UINT32_MAX)
		return (struct reader){ .bad = true }; /* the longer form occurs in no section that is below 4 GB */
	bytes = length < most - sizeof length ? sizeof length + length : most;
	if (bytes > got && got == SHORT_BYTES)
		got += cfi_load(copy + got, entry + got, bytes - got, lasts);
	return (struct reader){ copy + sizeof length, copy + (got < bytes ? got : bytes), false };
}

/* What nearly all common parts say, and no more. There are few of them, and each search reads one: they are remembered. */
union common {
	uint64_t word; /* 0: it is not remembered */
	struct {
		uint64_t known : 1, code_align : 4, encoding : 8, return_register : 8, end : 3, returns : 3;
		int64_t data_align : 8, end_offset : 14, returns_offset : 14;
	} is;
};

static void cfi_put_common(struct table *table, union common common)
{
	table->code_align = common.is.code_align;
	table->data_align = common.is.data_align;
	table->return_register = common.is.return_register;
	table->encoding = common.is.encoding;
	table->row = table->initial = (struct row){ .end = common.is.end, .end_offset = common.is.end_offset,
		.returns = { common.is.returns, common.is.returns_offset } };
}

static union common cfi_common_of(const struct table *table)
{
	const struct row *row = &table->row;
	union common common = { .is = { .known = 1, .code_align = table->code_align & 15, .encoding = table->encoding & 255,
		                            .return_register = table->return_register & 255, .end = row->end & 7,
		                            .returns = row->returns.place & 7 } };
	struct table again = { .pc = 0 };

	common.is.data_align = table->data_align % 128;
	common.is.end_offset = row->end_offset % 8192;
	common.is.returns_offset = row->returns.offset % 8192;
	cfi_put_common(&again, common);
	if (table->is_signal || row->fp.place || row->fp.offset || again.code_align != table->code_align ||
	    again.data_align != table->data_align || again.return_register != table->return_register ||
	    again.encoding != table->encoding || again.row.end_offset != row->end_offset ||
	    again.row.returns.offset != row->returns.offset)
		common.word = 0;
	return common;
}

/* The common part of the entries of one compilation. */
static bool cfi_read_common(struct table *table, uintptr_t entry)
{
	uint8_t copy[COMMON_BYTES];
	struct reader reader = cfi_open(entry, copy, sizeof copy, table->lasts), extra;
	const char *augmentation;
	uint64_t version, bytes;

	if (reader.bad || cfi_take(&reader, 4) != 0)
		return false;
	version = cfi_take(&reader, 1);
	augmentation = (const char *)reader.at;
	while (cfi_take(&reader, 1) && !reader.bad)
		;
	table->code_align = cfi_take_uleb(&reader);
	table->data_align = cfi_take_sleb(&reader);
	table->return_register = (uint32_t)(version == 1 ? cfi_take(&reader, 1) : cfi_take_uleb(&reader));
	if (*augmentation == 'z') {
		bytes = cfi_take_uleb(&reader);
		if (reader.bad || bytes > (size_t)(reader.end - reader.at))
			return false;
		extra = (struct reader){ reader.at, reader.at + bytes, false };
		reader.at += bytes;
		while (*++augmentation && !extra.bad)
			switch (*augmentation) {
			case 'R': table->encoding = (unsigned)cfi_take(&extra, 1); break;
			case 'P': extra.at += cfi_encoded_bytes((unsigned)cfi_take(&extra, 1)); break;
			case 'L': cfi_take(&extra, 1); break;
			case 'S': table->is_signal = true; break;
			default: break; /* 'B', 'G': aarch64's signing keys */
			}
	} else if (*augmentation) {
		return false;
	}
	cfi_execute(table, &reader, false);
	table->initial = table->row;
	return !reader.bad;
}

static bool cfi_take_common(struct table *table, uintptr_t entry)
{
	struct dws_pair *pair = &pivots[dws_sampler_hash(13, entry) % PIVOTS];
	union common common = { .word = dws_pair_get(pair, entry) };

	if (common.word) {
		cfi_put_common(table, common);
		return true;
	}
	if (!cfi_read_common(table, entry))
		return false;
	common = cfi_common_of(table);
	if (common.word)
		dws_pair_set(pair, entry, common.word);
	return true;
}

/* Reads the entry up to what is said of the function's frames. *bytes: of its code. */
static bool cfi_open_function(struct table *table, struct reader *reader, uintptr_t entry, uint64_t *bytes)
{
	uint32_t common;
	unsigned encoded;

	if (reader->bad)
		return false;
	common = (uint32_t)cfi_take(reader, 4);
	if (!common || !cfi_take_common(table, entry + 4 - common) || table->is_signal)
		return false;
	encoded = cfi_encoded_bytes(table->encoding);
	if (!encoded)
		return false;
	cfi_take(reader, encoded);
	*bytes = cfi_take(reader, encoded);
	return !reader->bad;
}

static bool cfi_take_function(struct table *table, uintptr_t entry, uintptr_t start)
{
	uint8_t copy[ENTRY_BYTES];
	struct reader reader = cfi_open(entry, copy, sizeof copy, table->lasts);
	uint64_t bytes;

	if (!cfi_open_function(table, &reader, entry, &bytes) || table->pc - start >= bytes)
		return false; /* between two functions */
	reader.at += cfi_take_uleb(&reader); /* where the language's own data lie */
	table->location = start;
	cfi_execute(table, &reader, true);
	return !reader.bad;
}

uint64_t dws_cfi_function(uintptr_t pc)
{
	struct table table = { .pc = pc, .lasts = true };
	uint8_t copy[ENTRY_BYTES];
	uintptr_t start = 0, entry;
	struct reader reader;
	uint64_t bytes;

	if (!find_object)
		*(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
	entry = cfi_find_entry(pc, &start, true);
	if (!entry || start != pc)
		return 0;
	reader = cfi_open(entry, copy, sizeof copy, true);
	return cfi_open_function(&table, &reader, entry, &bytes) ? bytes : 0;
}

struct dws_rule dws_cfi_find(uintptr_t pc)
{
	struct table table = { .pc = pc, .lasts = cfi_lasts(pc) };
	struct dws_rule rule = { DWS_END_UNKNOWN, false, false, false, 0, 0, 0 };
	uintptr_t start = 0;
	uintptr_t entry = cfi_find_entry(pc, &start, table.lasts);
	const struct row *row = &table.row;

	if (!entry || !cfi_take_function(&table, entry, start))
		return rule;
	if (row->returns.place == PLACE_NONE)
		return (struct dws_rule){ DWS_END_OUTERMOST, false, false, false, 0, 0, 0 };
	if (row->fp.place == PLACE_UNKNOWN || row->returns.place == PLACE_UNKNOWN || row->returns.place == PLACE_AT_FP ||
	    row->end_offset != (int32_t)row->end_offset || row->fp.offset != (int16_t)row->fp.offset ||
	    row->returns.offset != (int16_t)row->returns.offset)
		return rule;
	rule.end = row->end;
	rule.end_offset = (int32_t)row->end_offset;
	rule.saves_fp = row->fp.place == PLACE_IN_FRAME || row->fp.place == PLACE_AT_FP;
	rule.fp_at_fp = row->fp.place == PLACE_AT_FP;
	rule.fp_offset = (int16_t)row->fp.offset;
	rule.returns_in_register = row->returns.place == PLACE_SAME;
	rule.return_offset = (int16_t)row->returns.offset;
	return rule;
}
