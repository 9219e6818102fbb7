/*
 * Interning: one id for each name, for the life of the process.
 *
 * The table consists of chains. Entries are added by compare-and-swap and never removed. So signal
 * handlers may use it, and a child of fork always finds it complete: an entry is written to the
 * journal first and added to the table last. The table holds the image of each entry. So a session
 * with a new file can write all entries again under the same ids, and ids that call sites have
 * stored stay valid. Two threads that intern the same content at the same time may get two ids;
 * readers merge entries by content.
 */
#include "format/arguments.h"
#include "record/entry.h"
#include "record/ids.h"
#include "record/layer_paths.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/thread.h"

#include <string.h>

#define CHAINS 16384u

struct node {
	struct node *next;
	uint64_t hash;
	struct dw_entry entry; /* with tag and id; the rest of the entry follows */
};

static struct node *chains[CHAINS];

uint32_t dw_new_id(void)
{
	struct dw_head *head = dw_session_head();
	uint32_t id = head ? __atomic_fetch_add(&head->next_id, 1, __ATOMIC_RELAXED) : 0;

	if (id > DW_ID_MASK) {
		__atomic_store_n(&head->next_id, DW_ID_MASK + 1, __ATOMIC_RELAXED);
		return 0;
	}
	return id;
}

uint32_t dw_new_profile_id(void)
{
	struct dw_head *head = dw_session_head();
	uint32_t id = head ? __atomic_add_fetch(&head->last_profile, 1, __ATOMIC_RELAXED) : 0;

	return id <= DW_ID_MASK ? id : 0;
}

static bool intern_ids_left(void)
{
	const struct dw_head *head = dw_session_head();

	return head && DW_LOAD(head->next_id) <= DW_ID_MASK;
}

/* Whether two entries are the same in all but tag and id. */
static bool intern_same_content(const struct dw_entry *a, const struct dw_entry *b)
{
	return a->tag == b->tag && a->bytes == b->bytes && a->aux == b->aux &&
	       memcmp(a + 1, b + 1, a->bytes - sizeof *a) == 0;
}

static uint64_t intern_content_hash(const struct dw_entry *entry)
{
	return dw_hash(entry + 1, entry->bytes - sizeof *entry,
	               (uint64_t)entry->tag << 32 | entry->aux);
}

static uint32_t intern_find(const struct node *node, uint64_t hash, const struct dw_entry *entry)
{
	for (; node; node = node->next)
		if (node->hash == hash && intern_same_content(&node->entry, entry))
			return node->entry.id;
	return 0;
}

/* Writes an image to the journal. It gets an id only when the journal has space for it, because on
 * a full disk many attempts fail and the number of ids is limited. */
static bool intern_append(struct dw_entry *image)
{
	struct dw_entry *entry = dw_journal_reserve(image->bytes);

	if (!entry || (!image->id && !(image->id = dw_new_id())))
		return false;
	entry->id = image->id;
	entry->aux = image->aux;
	memcpy(entry + 1, image + 1, image->bytes - sizeof *image);
	dw_journal_commit(entry, (enum dw_entry_type)(image->tag & 0xffff));
	return true;
}

uint32_t dw_intern_find(const struct dw_entry *entry)
{
	uint64_t hash = intern_content_hash(entry);

	/* Pairs with the release in dw_intern(): nodes are complete. */
	return intern_find(__atomic_load_n(&chains[hash % CHAINS], __ATOMIC_ACQUIRE), hash, entry);
}

uint32_t dw_intern(struct dw_entry *entry)
{
	uint64_t hash = intern_content_hash(entry);
	struct node **chain = &chains[hash % CHAINS];
	/* Pairs with the release below: nodes are complete. */
	struct node *first = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
	uint32_t id = intern_find(first, hash, entry);
	uint32_t session = DW_LOAD(dw_session.generation);
	enum dw_loss cause;
	struct node *node;

	if (id)
		return id;
	entry->id = 0;
	if (!intern_ids_left() || !dw_process_ready(&cause) || !intern_append(entry))
		return 0;
	node = dw_intern_memory(sizeof *node - sizeof *entry + entry->bytes);
	if (!node)
		return entry->id; /* valid for this record; the next one interns it again */
	node->hash = hash;
	memcpy(&node->entry, entry, entry->bytes);
	node->next = first;
	while (!__atomic_compare_exchange_n(chain, &node->next, node, true, __ATOMIC_RELEASE,
	                                    __ATOMIC_RELAXED))
		;
	/* A session that started meanwhile wrote the table to its file, perhaps without this node.
	 * Either it found the node, or this thread sees its generation. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (session != DW_LOAD(dw_session.generation) && dw_process_ready(&cause))
		intern_append(&node->entry);
	return entry->id;
}

uint32_t dw_intern_string_by(const char *text, size_t length, uint32_t (*intern)(struct dw_entry *))
{
	union {
		struct dw_entry_string entry;
		char room[sizeof(struct dw_entry) + 2048]; /* signal handlers may have small stacks */
	} image;
	const size_t longest = sizeof image.room - sizeof image.entry;
	uint32_t cut = 0;

	if (length > longest) {
		length = longest;
		cut = DW_TEXT_CUT;
	}
	image.entry.entry.tag = DW_ENTRY_TAG(DW_ENTRY_STRING);
	image.entry.entry.bytes = (uint32_t)((sizeof image.entry + length + 7) & ~(size_t)7);
	image.entry.entry.aux = (uint32_t)length | cut;
	memset(image.entry.text, 0, image.entry.entry.bytes - sizeof image.entry);
	memcpy(image.entry.text, text, length);
	return intern(&image.entry.entry);
}

uint32_t dw_intern_string(const char *text, size_t length)
{
	return dw_intern_string_by(text, length, dw_intern);
}

uint32_t dw_intern_text(const char *text)
{
	return text ? dw_intern_string(text, strlen(text)) : 0;
}

uint32_t dw_intern_op_of(uint32_t category, const char *name, uint32_t name_id, const char *detail,
                         uint32_t shapes, const char *file, uint32_t line)
{
	struct dw_entry_op op = {
		.entry = { DW_ENTRY_TAG(DW_ENTRY_OP), sizeof op, 0, category },
		.name = name_id,
		.shapes = shapes,
		.line = line,
	};
	uint32_t id = 0;

	/* Stops at the first failure, so that a refusal is counted only once. */
	if (op.name && (!detail || (op.detail = dw_intern_text(detail)) != 0) &&
	    (!file || (op.file = dw_intern_text(file)) != 0))
		id = dw_intern(&op.entry);

	if (category == DWELL_CATEGORY_LAYER && name)
		dw_layers_remember(id, name);
	return id;
}

uint32_t dw_intern_op(uint32_t category, const char *name, const char *detail, uint32_t shapes,
                      const char *file, uint32_t line)
{
	return dw_intern_op_of(category, name, dw_intern_text(name), detail, shapes, file, line);
}

uint32_t dw_intern_frame(const char *function, const char *file, uint32_t line)
{
	struct dw_entry_frame frame = {
		.entry = { DW_ENTRY_TAG(DW_ENTRY_FRAME), sizeof frame, 0, 0 },
		.function = dw_intern_text(function),
		.file = dw_intern_text(file),
		.line = line,
	};

	return frame.function ? dw_intern(&frame.entry) : 0;
}

uint32_t dw_intern_stack(const uint32_t *frames, uint32_t count)
{
	union {
		struct dw_entry_stack entry;
		char room[sizeof(struct dw_entry) + (DW_STACK_DEEPEST + 1) * 4];
	} image;

	/* Of a deeper stack the innermost frames are stored. */
	if (count > DW_STACK_DEEPEST)
		count = DW_STACK_DEEPEST;
	size_t bytes = (sizeof image.entry + (size_t)count * 4 + 7) & ~(size_t)7;

	memset(&image, 0, bytes);
	memcpy(image.entry.frames, frames, (size_t)count * 4);
	image.entry.entry.tag = DW_ENTRY_TAG(DW_ENTRY_STACK);
	image.entry.entry.bytes = (uint32_t)bytes;
	image.entry.entry.aux = count;
	return dw_intern(&image.entry.entry);
}

uint32_t dw_intern_shapes_work(const struct dwell_tensor *tensors, unsigned count, uint64_t flops,
                               uint64_t bytes)
{
	union {
		struct dw_entry_shapes entry;
		char room[sizeof(struct dw_entry) + 1024];
	} image;
	const int64_t work[2] = { (int64_t)flops, (int64_t)bytes };
	const struct dwell_tensor given = { work, 2, DWELL_ARG_WORK };
	size_t at = sizeof image.entry;
	unsigned stored = 0, extra = flops != DWELL_NOT_GIVEN || bytes != DWELL_NOT_GIVEN;

	for (; stored < count + extra; stored++) {
		/* The work comes first, so that it is never cut off. */
		const struct dwell_tensor *tensor = extra && !stored ? &given : &tensors[stored - extra];
		size_t sizes = tensor->dimensions * sizeof(int64_t);

		if (at + 8 + sizes > sizeof image.room)
			break; /* more arguments than any operator has: the first ones are stored */
		dw_argument_put(image.room + at, tensor);
		if (sizes)
			memcpy(image.room + at + 8, tensor->sizes, sizes);
		at += 8 + sizes;
	}
	image.entry.entry.tag = DW_ENTRY_TAG(DW_ENTRY_SHAPES);
	image.entry.entry.bytes = (uint32_t)at;
	image.entry.entry.aux = stored;
	return dw_intern(&image.entry.entry);
}

uint32_t dw_intern_shapes(const struct dwell_tensor *tensors, unsigned count)
{
	return dw_intern_shapes_work(tensors, count, DWELL_NOT_GIVEN, DWELL_NOT_GIVEN);
}

uint32_t dw_intern_parameters(const struct dwell_tensor *tensors, unsigned count)
{
	struct dwell_tensor sums[16];
	int64_t elements[16];
	unsigned used = 0;

	if (count <= 16)
		return dw_intern_shapes(tensors, count);
	for (unsigned i = 0; i < count; i++) {
		int64_t product = 1;
		unsigned at = 0;

		for (unsigned d = 0; d < tensors[i].dimensions; d++)
			product *= tensors[i].sizes[d];
		while (at < used && sums[at].dtype != tensors[i].dtype && at < 15)
			at++;
		if (at == used) {
			elements[used] = 0;
			sums[used++] = (struct dwell_tensor){ &elements[at], 1, tensors[i].dtype };
		}
		elements[at] += product;
	}
	return dw_intern_shapes(sums, used);
}

bool dw_intern_op_entry(uint32_t id, struct dw_entry_op *op)
{
	for (uint32_t i = 0; i < CHAINS; i++)
		for (struct node *node = __atomic_load_n(&chains[i], __ATOMIC_ACQUIRE); node;
		     node = node->next)
			if (node->entry.id == id && node->entry.tag == DW_ENTRY_TAG(DW_ENTRY_OP)) {
				memcpy(op, &node->entry, sizeof *op);
				return true;
			}
	return false;
}

void dw_intern_replay(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see dw_intern() */
	for (uint32_t i = 0; i < CHAINS; i++)
		for (struct node *node = __atomic_load_n(&chains[i], __ATOMIC_ACQUIRE); node;
		     node = node->next)
			intern_append(&node->entry);
}
