/* Building a trace in memory; see encode.h. */
#include "format/arguments.h"
#include "format/encode.h"

#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_BLOCKS 16u
#define MOST_BLOCKS (1u << 28)
#define FILE_BLOCKS 1024u   /* by which a file grows */
#define RELEASE_BLOCKS 512u /* after so many new blocks the pages of a file are released */

/* ---- the file ----------------------------------------------------------------- */

/* Grows the mapping; new pages are zero. A file's space is reserved first, because a write to a page
 * without space on disk ends the process. */
static char *encode_grow_image(struct dw_encode *encode, size_t old_bytes, size_t bytes)
{
	int flags = encode->in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *grown;

	if (encode->in_file) {
		encode->error = posix_fallocate(encode->fd, (off_t)old_bytes, (off_t)(bytes - old_bytes));
		if (encode->error)
			return NULL;
	}
	grown = encode->image ? mremap(encode->image, old_bytes, bytes, MREMAP_MAYMOVE)
	                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags,
	                             encode->in_file ? encode->fd : -1, 0);
	if (grown == MAP_FAILED)
		return NULL;
	if (!encode->in_file)
		madvise(grown, bytes, MADV_NOHUGEPAGE); /* blocks may be nearly empty */
	return grown;
}

static uint32_t encode_next_capacity(const struct dw_encode *encode)
{
	if (encode->in_file)
		return encode->capacity + FILE_BLOCKS;
	return encode->capacity ? encode->capacity * 2 : FIRST_BLOCKS;
}

static uint32_t encode_new_block(struct dw_encode *encode)
{
	if (encode->failed)
		return 0;
	if (encode->blocks == encode->capacity) {
		uint32_t capacity = encode_next_capacity(encode);
		char *image = capacity <= MOST_BLOCKS
		                  ? encode_grow_image(encode, (size_t)encode->capacity * DW_BLOCK_BYTES,
		                                      (size_t)capacity * DW_BLOCK_BYTES)
		                  : NULL;

		if (!image) {
			encode->failed = true;
			return 0;
		}
		encode->image = image;
		encode->capacity = capacity;
	}
	/* The file keeps what the pages have. */
	if (encode->in_file && encode->blocks % RELEASE_BLOCKS == 0)
		madvise(encode->image, (size_t)encode->blocks * DW_BLOCK_BYTES, MADV_DONTNEED);
	return encode->blocks++;
}

struct dw_chunk *dw_encode_chunk(const struct dw_encode *encode, uint32_t block)
{
	return (struct dw_chunk *)(void *)(encode->image + (size_t)block * DW_BLOCK_BYTES);
}

struct dw_head *dw_encode_head(struct dw_encode *encode)
{
	return (struct dw_head *)(void *)encode->image;
}

static void encode_init_image(struct dw_encode *encode, enum dw_clock_kind kind, uint64_t ticks_per_second)
{
	struct dw_head *head;

	encode_new_block(encode);
	if (encode->failed)
		return;
	head = dw_encode_head(encode);
	memcpy(head->magic, DW_MAGIC, sizeof head->magic);
	head->version_major = DW_VERSION_MAJOR;
	head->version_minor = DW_VERSION_MINOR;
	head->block_bytes = DW_BLOCK_BYTES;
	head->byte_order = DW_BYTE_ORDER;
	snprintf(head->writer, sizeof head->writer, "dwell " DWELL_VERSION);
	head->clock_kind = kind;
	head->ticks_per_second = ticks_per_second;
	head->next_block = 1;
	head->max_blocks = UINT32_MAX / 2;
	head->next_id = 1;
	head->next_gate = 1;
}

void dw_encode_init(struct dw_encode *encode, enum dw_clock_kind kind, uint64_t ticks_per_second)
{
	memset(encode, 0, sizeof *encode);
	encode_init_image(encode, kind, ticks_per_second);
}

void dw_encode_init_file(struct dw_encode *encode, enum dw_clock_kind kind, uint64_t ticks_per_second,
                         int fd)
{
	memset(encode, 0, sizeof *encode);
	encode->in_file = true;
	encode->fd = fd;
	encode_init_image(encode, kind, ticks_per_second);
}

void dw_encode_reset(struct dw_encode *encode)
{
	if (encode->image)
		munmap(encode->image, (size_t)encode->capacity * DW_BLOCK_BYTES);
	memset(encode, 0, sizeof *encode);
}

void *dw_encode_take(struct dw_encode *encode, size_t *bytes)
{
	char *image = encode->failed ? NULL : encode->image;

	if (!image)
		return NULL;
	*bytes = dw_encode_bytes(encode);
	if (encode->in_file && ftruncate(encode->fd, (off_t)*bytes) != 0)
		return NULL;
	if (encode->capacity > encode->blocks)
		munmap(image + *bytes, (size_t)(encode->capacity - encode->blocks) * DW_BLOCK_BYTES);
	memset(encode, 0, sizeof *encode);
	return image;
}

size_t dw_encode_bytes(const struct dw_encode *encode)
{
	return (size_t)encode->blocks * DW_BLOCK_BYTES;
}

uint32_t dw_encode_new_id(struct dw_encode *encode)
{
	struct dw_head *head = dw_encode_head(encode);

	if (encode->failed || head->next_id > DW_ID_MASK)
		return 0;
	return head->next_id++;
}

uint32_t dw_encode_new_chunk(struct dw_encode *encode, uint32_t type, uint32_t process,
                             uint32_t stream, uint64_t number)
{
	uint32_t block = encode_new_block(encode);
	struct dw_chunk *chunk;

	if (!block)
		return 0;
	chunk = dw_encode_chunk(encode, block);
	chunk->magic = DW_CHUNK_MAGIC;
	chunk->type = type;
	chunk->process = process;
	chunk->stream = stream;
	chunk->number = number;
	dw_encode_head(encode)->next_block = encode->blocks;
	return block;
}

/* ---- journals --------------------------------------------------------------- */

static void *encode_reserve_entry(struct dw_encode_process *process, size_t bytes)
{
	bytes = (bytes + 7) & ~(size_t)7;
	if (bytes > DW_ENTRY_MAX_BYTES || process->encode->failed)
		return NULL;
	if (!process->block || process->at_bytes + bytes > DW_BLOCK_BYTES) {
		process->block = dw_encode_new_chunk(process->encode, DW_CHUNK_JOURNAL, process->id, 0,
		                           ++process->number);
		process->at_bytes = DW_CHUNK_HEADER_BYTES;
		if (!process->block)
			return NULL;
	}
	struct dw_entry *entry =
	    (struct dw_entry *)(void *)((char *)dw_encode_chunk(process->encode, process->block) +
	                                process->at_bytes);
	process->at_bytes += (uint32_t)bytes;
	entry->bytes = (uint32_t)bytes;
	return entry;
}

void *dw_encode_entry(struct dw_encode_process *process, enum dw_entry_type type, uint32_t id,
                      uint32_t aux, size_t bytes)
{
	struct dw_entry *entry = encode_reserve_entry(process, bytes);

	if (!entry)
		return NULL;
	entry->tag = DW_ENTRY_TAG(type);
	entry->id = id;
	entry->aux = aux;
	return entry;
}

struct dw_entry_process *dw_encode_process_init(struct dw_encode_process *process,
                                                struct dw_encode *encode, uint32_t parent)
{
	struct dw_entry_process *entry;

	memset(process, 0, sizeof *process);
	process->encode = encode;
	process->id = encode->failed ? 0 : dw_encode_new_id(encode);
	entry = dw_encode_entry(process, DW_ENTRY_PROCESS, process->id, parent, sizeof *entry);
	if (!entry)
		return NULL;
	process->first_block = process->block;
	entry->rank = entry->local_rank = entry->world_size = -1;
	return entry;
}

struct dw_entry_process *dw_encode_process_entry(const struct dw_encode_process *process)
{
	if (process->encode->failed || !process->first_block)
		return NULL;
	return (struct dw_entry_process *)(void *)(dw_encode_chunk(process->encode,
	                                                           process->first_block) + 1);
}

uint32_t dw_encode_string(struct dw_encode_process *process, const char *text)
{
	const size_t longest = DW_ENTRY_MAX_BYTES - sizeof(struct dw_entry_string);
	struct dw_entry_string *entry;
	uint32_t cut = 0, id;
	size_t length;

	if (!text || process->encode->failed)
		return 0;
	length = strlen(text);
	if (length > longest) {
		length = longest;
		cut = DW_TEXT_CUT;
	}
	id = dw_encode_new_id(process->encode);
	entry = dw_encode_entry(process, DW_ENTRY_STRING, id, (uint32_t)length | cut,
	                        sizeof *entry + length);
	if (!entry)
		return 0;
	memcpy(entry->text, text, length);
	return id;
}

uint32_t dw_encode_op_of(struct dw_encode_process *process, uint32_t category, uint32_t name,
                         uint32_t detail, uint32_t shapes, uint32_t file, uint32_t line)
{
	uint32_t id = process->encode->failed ? 0 : dw_encode_new_id(process->encode);
	struct dw_entry_op *entry = dw_encode_entry(process, DW_ENTRY_OP, id, category, sizeof *entry);

	if (!entry)
		return 0;
	entry->name = name;
	entry->detail = detail;
	entry->shapes = shapes;
	entry->file = file;
	entry->line = line;
	return id;
}

uint32_t dw_encode_shapes(struct dw_encode_process *process, const struct dwell_tensor *tensors,
                          uint32_t count)
{
	size_t bytes = sizeof(struct dw_entry_shapes);
	struct dw_entry_shapes *entry;
	uint32_t id;
	uint8_t *at;

	for (uint32_t i = 0; i < count; i++)
		bytes += 8 + (size_t)tensors[i].dimensions * 8;
	id = process->encode->failed ? 0 : dw_encode_new_id(process->encode);
	entry = dw_encode_entry(process, DW_ENTRY_SHAPES, id, count, bytes);
	if (!entry)
		return 0;
	at = entry->tensors;
	for (uint32_t i = 0; i < count; i++) {
		size_t sizes = (size_t)tensors[i].dimensions * 8;

		dw_argument_put((char *)at, &tensors[i]);
		if (sizes)
			memcpy(at + 8, tensors[i].sizes, sizes);
		at += 8 + sizes;
	}
	return id;
}

uint32_t dw_encode_thread(struct dw_encode_process *process, uint32_t tid, uint32_t stream,
                          uint64_t start_ticks, const char *kernel_name)
{
	uint32_t id = process->encode->failed ? 0 : dw_encode_new_id(process->encode);
	struct dw_entry_thread *entry =
	    dw_encode_entry(process, DW_ENTRY_THREAD, id, process->id, offsetof(struct dw_entry_thread, cpu_ns));

	if (!entry)
		return 0;
	entry->tid = tid;
	entry->stream = stream;
	entry->start_ticks = start_ticks;
	if (kernel_name) {
		size_t length = strnlen(kernel_name, sizeof entry->name - 1);

		memcpy(entry->name, kernel_name, length);
	}
	return id;
}

void dw_encode_thread_name(struct dw_encode_process *process, uint32_t thread, const char *name)
{
	uint32_t text = dw_encode_string(process, name);

	dw_encode_entry(process, DW_ENTRY_THREAD_NAME, thread, text,
	                sizeof(struct dw_entry_thread_name));
}

void dw_encode_step(struct dw_encode_process *process, uint32_t thread, uint64_t number,
                    uint64_t start_ticks, uint64_t end_ticks, uint64_t cpu_ns, uint32_t flags)
{
	struct dw_entry_step *entry =
	    dw_encode_entry(process, DW_ENTRY_STEP, thread, flags, sizeof *entry);

	if (!entry)
		return;
	entry->number = number;
	entry->start_ticks = start_ticks;
	entry->end_ticks = end_ticks;
	entry->cpu_ns = cpu_ns;
}
