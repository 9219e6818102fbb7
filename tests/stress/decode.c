/* A strict decoder of trace files, independent of the project's reader; see decode.h. */
#include "decode.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 65536

__attribute__((format(printf, 2, 3))) static void bad(struct trace *trace, const char *format, ...)
{
	va_list arguments;

	if (!trace->bad++) {
		va_start(arguments, format);
		vsnprintf(trace->why, sizeof trace->why, format, arguments);
		va_end(arguments);
	}
}

static uint32_t block_of(const struct trace *trace, const void *at)
{
	return (uint32_t)((size_t)((const char *)at - trace->data) / DW_BLOCK_BYTES);
}

/* ---- journals ---------------------------------------------------------------- */

static bool is_entry(const struct dw_entry *entry, const char *end)
{
	return entry->tag >> 16 == DW_ENTRY_MAGIC && entry->bytes >= sizeof *entry &&
	       entry->bytes % 8 == 0 && entry->bytes <= DW_ENTRY_MAX_BYTES + sizeof *entry &&
	       (const char *)entry + entry->bytes <= end;
}

static bool has_id(uint32_t type)
{
	return type == DW_ENTRY_PROCESS || type == DW_ENTRY_THREAD || type == DW_ENTRY_STRING ||
	       type == DW_ENTRY_OP || type == DW_ENTRY_SHAPES || type == DW_ENTRY_FRAME ||
	       type == DW_ENTRY_STACK || type == DW_ENTRY_MODULE;
}

static void add_id(struct trace *trace, const struct dw_entry *entry)
{
	uint32_t id = entry->id;

	if (!id || id > DW_ID_MASK) {
		bad(trace, "entry of type %u with id %u", entry->tag & 0xffff, id);
		return;
	}
	if (id >= trace->id_count) {
		uint32_t count = id * 2 < 4096 ? 4096 : id * 2;

		trace->entries = realloc(trace->entries, count * sizeof *trace->entries);
		memset(trace->entries + trace->id_count, 0,
		       (count - trace->id_count) * sizeof *trace->entries);
		trace->id_count = count;
	}
	/* A name may be written again after a session's start; never with another content. */
	const struct dw_entry *known = trace->entries[id];
	if (known && (known->bytes != entry->bytes || memcmp(known, entry, entry->bytes) != 0))
		bad(trace, "id %u stands for two things, of types %u and %u", id, known->tag & 0xffff,
		    entry->tag & 0xffff);
	trace->entries[id] = entry;
}

static void read_journal(struct trace *trace, const struct dw_chunk *chunk)
{
	const char *at = (const char *)(chunk + 1), *end = (const char *)chunk + DW_BLOCK_BYTES;

	trace->journal_count++;
	if (chunk->number == 1 && ((const struct dw_entry *)(const void *)at)->tag !=
	                              DW_ENTRY_TAG(DW_ENTRY_PROCESS) &&
	    ((const struct dw_entry *)(const void *)at)->tag != 0)
		bad(trace, "the journal in block %u does not begin with its process", block_of(trace, chunk));
	while (at + sizeof(struct dw_entry) <= end) {
		const struct dw_entry *entry = (const void *)at;

		if (!is_entry(entry, end)) {
			at += 8;
			trace->holes += 8;
			continue;
		}
		/* Twice as many at each power of two: under AddressSanitizer each realloc() copies. */
		if (!(trace->all_count & (trace->all_count - 1)))
			trace->all = realloc(trace->all, (trace->all_count ? 2 * trace->all_count : 1) * sizeof *trace->all);
		trace->all[trace->all_count++] = entry;
		if (has_id(entry->tag & 0xffff))
			add_id(trace, entry);
		at += entry->bytes;
	}
}

static const struct dw_entry *find(const struct trace *trace, uint32_t id, enum dw_entry_type type)
{
	const struct dw_entry *entry = id < trace->id_count ? trace->entries[id] : NULL;

	return entry && entry->tag == DW_ENTRY_TAG(type) ? entry : NULL;
}

const char *trace_text(const struct trace *trace, uint32_t id, uint32_t *length)
{
	const struct dw_entry_string *entry = (const void *)find(trace, id, DW_ENTRY_STRING);

	*length = entry ? entry->entry.aux & DW_TEXT_LENGTH_MASK : 0;
	return entry ? entry->text : "";
}

bool trace_text_is(const struct trace *trace, uint32_t id, const char *text)
{
	uint32_t length;
	const char *got = trace_text(trace, id, &length);

	return length == strlen(text) && memcmp(got, text, length) == 0;
}

/* Copies of the texts that were asked for, NUL-terminated; a test has few names. Of
 * the trace that was opened last. */
static struct { const struct dw_entry *entry; char text[128]; } cache[4096];

/* "function of FILE" where a module is known: functions are recorded by address. */
static const char *frame_name(const struct trace *trace, uint32_t id)
{
	const struct dw_entry_frame *frame = (const void *)find(trace, id, DW_ENTRY_FRAME);
	const struct dw_entry_module *module =
	    frame ? (const void *)find(trace, frame->entry.aux, DW_ENTRY_MODULE) : NULL;
	static char text[256];
	uint32_t length = 0;
	const char *path = module ? trace_text(trace, module->path, &length) : "";
	const char *slash = memrchr(path, '/', length);

	if (slash)
		length -= (uint32_t)(++slash - path);
	snprintf(text, sizeof text, "function of %.*s", slash ? (int)length : 0, slash ? slash : "");
	return text;
}

static const char *op_name(const struct trace *trace, uint32_t id)
{
	const struct dw_entry_op *op = (const void *)find(trace, id, DW_ENTRY_OP);
	const struct dw_entry *key = op ? &op->entry : NULL;
	uint32_t at = id % 4096, length;

	if (!op)
		return "";
	if (cache[at].entry != key || !*cache[at].text) {
		const char *text = trace_text(trace, op->name, &length);

		if (!op->name && op->frame) {
			text = frame_name(trace, op->frame);
			length = (uint32_t)strlen(text);
		}
		snprintf(cache[at].text, sizeof cache[at].text, "%.*s", (int)length, text);
		cache[at].entry = key;
	}
	return cache[at].text;
}

/* ---- chunks -------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
	const struct dw_chunk *a = *(const struct dw_chunk *const *)left;
	const struct dw_chunk *b = *(const struct dw_chunk *const *)right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

int trace_open(struct trace *trace, const char *path)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	memset(trace, 0, sizeof *trace);
	memset(cache, 0, sizeof cache);
	snprintf(trace->path, sizeof trace->path, "%s", path);
	if (file < 0 || fstat(file, &status) != 0 || status.st_size < (off_t)DW_BLOCK_BYTES) {
		bad(trace, "%s is missing or too small", path);
		if (file >= 0)
			close(file);
		return -1;
	}
	trace->size_bytes = (uint64_t)status.st_size;
	trace->data = mmap(NULL, trace->size_bytes, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (trace->data == MAP_FAILED || memcmp(trace->data, DW_MAGIC, 8) != 0) {
		bad(trace, "%s has no magic", path);
		if (trace->data != MAP_FAILED)
			munmap((void *)trace->data, trace->size_bytes);
		trace->data = NULL;
		return -1;
	}
	trace->head = (const void *)trace->data;
	trace->control = (const void *)(trace->data + DW_CONTROL_OFFSET);
	for (uint64_t at = DW_BLOCK_BYTES; at + DW_BLOCK_BYTES <= trace->size_bytes;
	     at += DW_BLOCK_BYTES) {
		const struct dw_chunk *chunk = (const void *)(trace->data + at);

		if (chunk->magic != DW_CHUNK_MAGIC) {
			if (chunk->magic)
				bad(trace, "block %u has a damaged magic", block_of(trace, chunk));
			continue;
		}
		if (chunk->type == DW_CHUNK_JOURNAL) {
			read_journal(trace, chunk);
		} else if (chunk->type != DW_CHUNK_STREAM) {
			bad(trace, "block %u has type %u", block_of(trace, chunk), chunk->type);
		} else if (chunk->number) {
			if (trace->chunk_count % 1024 == 0)
				trace->chunks = realloc(trace->chunks,
				                        (trace->chunk_count + 1024) * sizeof *trace->chunks);
			trace->chunks[trace->chunk_count++] = chunk;
		}
	}
	if (trace->chunk_count)
		qsort(trace->chunks, trace->chunk_count, sizeof *trace->chunks, by_place);
	return 0;
}

void trace_close(struct trace *trace)
{
	if (trace->data)
		munmap((void *)trace->data, trace->size_bytes);
	free(trace->entries);
	free(trace->all);
	free(trace->chunks);
	memset(trace, 0, sizeof *trace);
}

/* ---- records ------------------------------------------------------------------- */

struct walk {
	struct trace *trace;
	void (*visit)(void *, const struct trace_record *);
	void *context;
	struct trace_record record;
	uint32_t open[MAX_DEPTH]; /* ids */
	uint32_t depth;
	uint64_t ticks;
};

static const uint8_t payload_words[16] = DW_PAYLOAD_WORDS;

/* Words of the record at `at`; 0: the end of the data; -1: damage. */
static int record_words(const uint32_t *at, const uint32_t *end)
{
	if (at >= end || !*at)
		return 0;
	if (!(*at & DW_WORD_PRESENT))
		return -1;
	if (*at & DW_WORD_END)
		return 1;
	if (at + 2 > end)
		return -1;
	uint32_t kind = at[1] >> DW_KIND_SHIFT;
	uint32_t words = kind == DW_EXT ? at[1] & DW_EXT_WORDS_MASK : payload_words[kind];
	return at + 2 + words > end ? -1 : (int)(2 + words);
}

uint64_t trace_chunk_records(const struct dw_chunk *chunk, uint64_t *bad_words)
{
	const uint32_t *at = (const void *)(chunk + 1);
	const uint32_t *end = (const void *)((const char *)chunk + DW_BLOCK_BYTES);
	uint64_t records = 0;
	int words;

	while ((words = record_words(at, end)) > 0) {
		at += words;
		records++;
	}
	*bad_words += words < 0;
	return records;
}

static void set_thread(struct walk *walk, uint32_t id)
{
	walk->record.thread = (const void *)find(walk->trace, id, DW_ENTRY_THREAD);
	if (!walk->record.thread)
		bad(walk->trace, "records of thread %u, which has no entry", id);
}

static void one_record(struct walk *walk, const uint32_t *at)
{
	struct trace *trace = walk->trace;
	struct trace_record *record = &walk->record;

	record->kind = *at & DW_WORD_END ? TRACE_END : at[1] >> DW_KIND_SHIFT;
	record->id = record->kind == TRACE_END ? 0 : at[1] & DW_ID_MASK;
	record->payload = at + 2;
	walk->ticks += *at >> DW_DELTA_SHIFT;
	if (record->kind == DW_EXT && record->id >> DW_EXT_TYPE_SHIFT == DW_EXT_TIME) {
		uint64_t ticks = at[2] | (uint64_t)at[3] << 32;

		if (ticks < walk->ticks)
			bad(trace, "time runs back by %llu ticks in block %u",
			    (unsigned long long)(walk->ticks - ticks), block_of(trace, at));
		walk->ticks = ticks;
	}
	record->ticks = walk->ticks;
	record->depth = walk->depth;
	record->name = op_name(trace, record->id);
	if (record->kind == TRACE_END) {
		if (walk->depth)
			record->id = walk->open[--walk->depth];
		else
			trace->surplus_ends++;
		record->name = op_name(trace, record->id);
	} else if (record->kind == DW_BEGIN) {
		/* A thread waits for a limited time until it may write a name, and counts one that it could not write. */
		if (record->id && !*record->name && !trace_lost(trace, DW_LOSS_DICTIONARY))
			bad(trace, "a range of id %u, which is no operation", record->id);
		if (walk->depth == MAX_DEPTH)
			bad(trace, "ranges nest too deep");
		else
			walk->open[walk->depth++] = record->id;
	} else if (record->kind == DW_THREAD) {
		set_thread(walk, record->id);
	} else if (record->kind == DW_LOSS) {
		walk->depth = 0; /* what is open is not known */
	}
	trace->records++;
	trace->own += record->kind == DW_EXT || record->kind == DW_THREAD || record->kind == DW_LOSS ||
	              strcmp(record->name, "dwell: new chunk") == 0;
	if (walk->visit)
		walk->visit(walk->context, record);
}

static void walk_chunk(struct walk *walk, const struct dw_chunk *chunk)
{
	struct trace *trace = walk->trace;
	const uint32_t *at = (const void *)(chunk + 1);
	uint32_t end_bytes = chunk->end_bytes ? chunk->end_bytes : DW_BLOCK_BYTES;
	const uint32_t *end = (const void *)((const char *)chunk + end_bytes);
	int words;

	walk->ticks = chunk->base_ticks;
	walk->record.chunk = chunk;
	walk->record.process = (const void *)find(trace, chunk->process, DW_ENTRY_PROCESS);
	if (!walk->record.process)
		bad(trace, "block %u is of process %u, which has no entry", block_of(trace, chunk),
		    chunk->process);
	set_thread(walk, chunk->thread);
	while ((words = record_words(at, end)) > 0) {
		one_record(walk, at);
		at += words;
	}
	if (words < 0)
		bad(trace, "block %u is damaged at byte %ld: %08x %08x", block_of(trace, chunk),
		    (long)((const char *)at - (const char *)chunk), at[0], at[1]);
	if (words == 0 && chunk->end_bytes && at != end)
		bad(trace, "block %u ends at %ld, not at %u", block_of(trace, chunk),
		    (long)((const char *)at - (const char *)chunk), chunk->end_bytes);
	if (chunk->end_bytes && chunk->end_ticks != walk->ticks)
		bad(trace, "block %u ends at another time than it says", block_of(trace, chunk));
}

void trace_walk(struct trace *trace, void (*visit)(void *, const struct trace_record *),
                void *context)
{
	struct walk *walk = calloc(1, sizeof *walk);
	const struct dw_chunk *last = NULL;

	trace->records = trace->own = trace->gaps = trace->surplus_ends = trace->open = 0;
	*walk = (struct walk){ .trace = trace, .visit = visit, .context = context };
	for (size_t i = 0; i < trace->chunk_count; i++) {
		const struct dw_chunk *chunk = trace->chunks[i];
		bool same = last && last->process == chunk->process && last->stream == chunk->stream;

		if (same && last->number == chunk->number)
			bad(trace, "blocks %u and %u are the same place of one stream", block_of(trace, last),
			    block_of(trace, chunk));
		if (!same) {
			trace->open += walk->depth;
			walk->depth = 0;
			trace->gaps += chunk->number - 1;
		} else if (chunk->number != last->number + 1) {
			trace->gaps += chunk->number - last->number - 1;
			walk->depth = 0;
		} else if (chunk->base_ticks != walk->ticks) {
			bad(trace, "block %u does not go on where the one before ended", block_of(trace, chunk));
		}
		walk_chunk(walk, chunk);
		last = chunk;
	}
	trace->open += walk->depth;
	free(walk);
}

/* ---- questions ------------------------------------------------------------------- */

uint64_t trace_lost(const struct trace *trace, enum dw_loss cause)
{
	uint64_t lost = trace->head->lost[cause];

	for (size_t i = 0; i < trace->all_count; i++)
		if (trace->all[i]->tag == DW_ENTRY_TAG(DW_ENTRY_THREAD))
			lost += ((const struct dw_entry_thread *)(const void *)trace->all[i])->lost[cause];
	return lost;
}

const char *trace_losses(const struct trace *trace)
{
	static const char *const labels[] = {
#define X(name, label, text) label,
		DW_LOSS_CAUSES(X)
#undef X
	};
	static char line[256];
	int at = snprintf(line, sizeof line, "lost:");

	for (uint32_t cause = 0; cause < DW_LOSS_COUNT; cause++)
		if (trace_lost(trace, (enum dw_loss)cause))
			at += snprintf(line + at, sizeof line - (size_t)at, " %llu %s",
			               (unsigned long long)trace_lost(trace, (enum dw_loss)cause), labels[cause]);
	return line;
}

uint64_t trace_lost_all(const struct trace *trace)
{
	uint64_t lost = 0;

	for (uint32_t cause = 0; cause < DW_LOSS_SLOTS; cause++)
		lost += trace_lost(trace, (enum dw_loss)cause);
	return lost;
}

struct count {
	uint32_t kind, pid;
	const char *name;
	uint64_t count;
};

static void count_record(void *context, const struct trace_record *record)
{
	struct count *count = context;

	count->count += record->kind == count->kind &&
	                (!count->pid || (record->process && record->process->pid == count->pid)) &&
	                strcmp(record->name, count->name) == 0;
}

uint64_t trace_count_pid(struct trace *trace, uint32_t pid, uint32_t kind, const char *name)
{
	struct count count = { kind, pid, name, 0 };

	trace_walk(trace, count_record, &count);
	return count.count;
}

uint64_t trace_count(struct trace *trace, uint32_t kind, const char *name)
{
	return trace_count_pid(trace, 0, kind, name);
}

size_t trace_entries(const struct trace *trace, enum dw_entry_type type)
{
	size_t count = 0;

	for (size_t i = 0; i < trace->all_count; i++)
		count += trace->all[i]->tag == DW_ENTRY_TAG(type);
	return count;
}
