/*
 * Domains and names; see table.h.
 *
 * They are in chains that only grow at their head, in memory that is never freed. A thread that adds
 * one looks first at what others added meanwhile, so that there is one for each text. Texts come from
 * other people's programs: they are cut to DWI_LONGEST bytes, and what is not UTF-8 is replaced.
 */
#include "table.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "format/keys.h"

#define CHAINS 4096u /* a power of two */
#define MOST_NAMES 65536u
#define BLOCK_BYTES ((size_t)256 << 10)

/* ---- what is known about domains --------------------------------------------------------------- */

static const struct {
	const char *prefix; /* of the domain's name */
	uint32_t category, flags;
} known_domains[] = {
	{ "dnnl::primitive::execute", DWELL_CATEGORY_OPERATOR, DWI_FRAMEWORK },
	{ "dnnl::", DWELL_CATEGORY_ZONE, DWI_FRAMEWORK },
	{ "PyTorch", DWELL_CATEGORY_OPERATOR, DWI_FRAMEWORK | DWI_NAMES_DECIDE },
	{ "NCCL", DWELL_CATEGORY_COMMUNICATION, 0 },
};

const char *dwi_step_name(void)
{
	static char name[256];
	static uint32_t state; /* atomic; 0: unknown, 1: is being read, 2: known */
	uint32_t unknown = 0;

	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2)
		return name;
	if (!__atomic_compare_exchange_n(&state, &unknown, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return "";
	const char *options = getenv("DWELL_OPTIONS");
	const char *value = options ? strstr(options, "step-on=") : NULL;
	if (value) {
		size_t length = strlen(value += strlen("step-on="));

		if (length < sizeof name)
			memcpy(name, value, length + 1);
	}
	__atomic_store_n(&state, 2, __ATOMIC_RELEASE);
	return name;
}

/* The name may be a pattern: XLA adds a number to the names of its modules that changes from run to run. */
static bool name_is_step_name(const char *text)
{
	const char *name = dwi_step_name();

	return *name && (strcmp(name, text) == 0 || fnmatch(name, text, 0) == 0);
}

/* Domains whose frames are iterations say so with the last word of their names. */
static bool name_frames_are_steps(const char *domain)
{
	static const char *const words[] = { "step", "steps", "iteration", "iterations" };
	size_t length = strlen(domain);

	if (*dwi_step_name())
		return name_is_step_name(domain);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t word = strlen(words[i]);
		const char *at = domain + length - word;

		if (length >= word && strcasecmp(at, words[i]) == 0 &&
		    (length == word || strchr("./: _-", at[-1])))
			return true;
	}
	return false;
}

/* ---- memory and text -------------------------------------------------------------------------- */

static struct block {
	size_t used; /* atomic */
	char data[];
} *newest_block;

void *dwi_memory(size_t bytes)
{
	int saved = errno;

	bytes = (bytes + 15) & ~(size_t)15;
	for (;;) {
		struct block *block = __atomic_load_n(&newest_block, __ATOMIC_ACQUIRE);

		if (block) {
			size_t at = __atomic_fetch_add(&block->used, bytes, __ATOMIC_RELAXED);

			if (at + bytes <= BLOCK_BYTES - 16)
				return block->data + 8 + at;
		}
		struct block *fresh = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
		                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (fresh == MAP_FAILED) {
			errno = saved;
			return NULL;
		}
		if (!__atomic_compare_exchange_n(&newest_block, &block, fresh, false, __ATOMIC_RELEASE,
		                                 __ATOMIC_RELAXED))
			munmap(fresh, BLOCK_BYTES); /* another thread was first */
	}
}

size_t dwi_utf8_sequence(const unsigned char *text, size_t left)
{
	unsigned char first = text[0];
	size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2
	              : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;

	if (!length || length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f) ||
	    (first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

size_t dwi_copy_utf8(char *to, const char *text, size_t length)
{
	size_t size = 0;

	for (size_t at = 0; at < length;) {
		size_t part = dwi_utf8_sequence((const unsigned char *)text + at, length - at);

		memcpy(to + size, part ? text + at : "\xef\xbf\xbd", part ? part : 3);
		size += part ? part : 3;
		at += part ? part : 1;
	}
	to[size] = '\0';
	return size;
}

/* The length up to DWI_LONGEST, without the part of a sequence that this cuts. */
static size_t name_cut_length(const char *text, size_t length)
{
	size_t cut = DWI_LONGEST;

	if (length <= DWI_LONGEST)
		return length;
	while (cut > DWI_LONGEST - 3 && ((unsigned char)text[cut] & 0xc0) == 0x80)
		cut--;
	return cut;
}

const char *dwi_narrow(const int32_t *wide, char text[DWI_LONGEST + 8])
{
	static const unsigned char leads[] = { 0, 0xc0, 0xe0, 0xf0 };
	size_t size = 0;

	for (; wide && *wide && size < DWI_LONGEST; wide++) {
		uint32_t c = (uint32_t)*wide;

		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;
		if (c < 0x80) {
			text[size++] = (char)c;
		} else {
			unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

			text[size++] = (char)(leads[more] | c >> 6 * more);
			while (more--)
				text[size++] = (char)(0x80 | (c >> 6 * more & 0x3f));
		}
	}
	text[size] = '\0';
	return text;
}

static uint64_t name_text_hash(const char *text, size_t length, uint64_t seed)
{
	uint64_t hash = seed ^ (length * 0x9e3779b97f4a7c15u), word;

	for (; length; text += 8) {
		size_t part = length < 8 ? length : 8;

		word = 0;
		memcpy(&word, text, part);
		hash = (hash ^ word) * 0xd6e8feb86659fd93u;
		hash ^= hash >> 32;
		length -= part;
	}
	return hash;
}

/* ---- domains and names ------------------------------------------------------------------------- */

static struct dwi_domain *domains[64];
static struct dwi_name *names[CHAINS];
static uint32_t name_count; /* atomic */

static struct dwi_domain *domain_find(struct dwi_domain *from, const struct dwi_domain *until,
                                      uint64_t hash, enum dwi_face face, const char *name)
{
	for (; from != until; from = from->next)
		if (from->hash == hash && from->face == face && strcmp(from->name, name) == 0)
			return from;
	return NULL;
}

static void domain_classify(struct dwi_domain *domain)
{
	domain->category = DWELL_CATEGORY_ZONE;
	for (size_t i = 0; i < sizeof known_domains / sizeof *known_domains; i++)
		if (strncmp(domain->name, known_domains[i].prefix, strlen(known_domains[i].prefix)) == 0) {
			domain->category = known_domains[i].category;
			domain->flags = known_domains[i].flags;
			break;
		}
	if (name_frames_are_steps(domain->name))
		domain->flags |= DWI_FRAMES_ARE_STEPS;
}

void dwi_domain_note(struct dwi_domain *domain)
{
	static char lists[DWI_FACES][512];
	static uint32_t lock;
	size_t length, name = strlen(domain->name);
	const char *key = domain->face == DWI_ITT ? DW_KEY_ITT : DW_KEY_NVTX;
	char *list = lists[domain->face];

	if (__atomic_load_n(&domain->noted, __ATOMIC_RELAXED) || !dwell_active() ||
	    __atomic_exchange_n(&domain->noted, 1, __ATOMIC_RELAXED))
		return;
	if (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return; /* another thread or an interrupted one writes; the domain is missing in the list */
	length = strlen(list);
	if (length + name + 16 < sizeof lists[0]) {
		if (length)
			memcpy(list + length, ", ", 3);
		length = strlen(list);
		memcpy(list + length, name ? domain->name : "(default)", name ? name + 1 : 10);
		dwell_meta(key, list);
	}
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

struct dwi_domain *dwi_domain(enum dwi_face face, const char *name)
{
	size_t length = name ? strlen(name) : 0, size;
	char text[3 * DWI_LONGEST + 1];
	struct dwi_domain *first, *domain, *seen = NULL, *fresh = NULL;

	length = name_cut_length(name, length);
	size = dwi_copy_utf8(text, name ? name : "", length);
	uint64_t hash = name_text_hash(text, size, 1);
	struct dwi_domain **chain = &domains[hash % 64];
	for (;;) {
		first = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
		domain = domain_find(first, seen, hash, face, text);
		if (domain)
			return domain;
		if (!fresh) {
			char *copy = dwi_memory(size + 1);

			fresh = dwi_memory(sizeof *fresh);
			if (!fresh || !copy)
				return NULL;
			memcpy(copy, text, size + 1);
			fresh->name = copy;
			fresh->hash = hash;
			fresh->face = face;
			domain_classify(fresh);
		}
		fresh->next = seen = first;
		if (__atomic_compare_exchange_n(chain, &first, fresh, false, __ATOMIC_RELEASE,
		                                __ATOMIC_RELAXED))
			return fresh;
	}
}

static struct dwi_name *name_find(struct dwi_name *from, const struct dwi_name *until, uint64_t hash,
                                  const struct dwi_domain *domain, enum dwi_use use, const char *text,
                                  size_t length)
{
	for (; from != until; from = from->next)
		if (from->hash == hash && from->domain == domain && from->use == use && from->length == length &&
		    memcmp(from->text, text, length) == 0)
			return from;
	return NULL;
}

/* What a range of this name is: the domain decides, and sometimes the name. */
static void name_classify(struct dwi_name *name)
{
	static const uint32_t categories[] = { [DWI_MARK] = DWELL_CATEGORY_MARK,
		                                   [DWI_COUNTER] = DWELL_CATEGORY_COUNTER,
		                                   [DWI_FLOW] = DWELL_CATEGORY_FLOW };
	const struct dwi_domain *domain = name->domain;

	if (name->use == DWI_OPERATOR_RANGE) {
		name->framework = true;
		name->site.category = strstr(name->text, "::") ? DWELL_CATEGORY_OPERATOR : DWELL_CATEGORY_ZONE;
		return;
	}
	name->framework = domain->flags & DWI_FRAMEWORK;
	name->site.category = name->use == DWI_RANGE ? domain->category : categories[name->use];
	if (domain->flags & DWI_NAMES_DECIDE && !strstr(name->text, "::")) {
		name->framework = false;
		if (name->use == DWI_RANGE)
			name->site.category = DWELL_CATEGORY_ZONE;
	}
	name->step = name->use == DWI_RANGE && name_is_step_name(name->site.name);
}

static struct dwi_name *name_make(struct dwi_domain *domain, enum dwi_use use, const char *text,
                                  size_t length, uint64_t hash)
{
	/* Where a domain announces what the named things are made for, its names alone would be those of
	 * the things. */
	static const char creates[] = "create ";
	bool create = use == DWI_RANGE && strcmp(domain->name, "dnnl::primitive::create") == 0;
	size_t before = create ? sizeof creates - 1 : 0;
	struct dwi_name *name = dwi_memory(sizeof *name);
	char *copy = dwi_memory(length + 1), *shown = dwi_memory(before + 3 * length + 1);

	if (!name || !copy || !shown)
		return NULL;
	memcpy(copy, text, length);
	memcpy(shown, creates, before);
	dwi_copy_utf8(shown + before, text, length);
	name->text = copy;
	name->length = (uint32_t)length;
	name->hash = hash;
	name->domain = domain;
	name->use = (uint8_t)use;
	name->site.name = shown;
	name_classify(name);
	return name;
}

struct dwi_name *dwi_name_of_length(struct dwi_domain *domain, enum dwi_use use, const char *text,
                                    size_t length)
{
	static const char others[] = "(other names)";
	struct dwi_name *first, *name, *seen = NULL, *fresh = NULL;

	if (!domain)
		return NULL;
	length = name_cut_length(text, length);
	if (__atomic_load_n(&name_count, __ATOMIC_RELAXED) >= MOST_NAMES) {
		uint64_t known = name_text_hash(text, length, (uintptr_t)domain + use);
		first = __atomic_load_n(&names[known & (CHAINS - 1)], __ATOMIC_ACQUIRE);
		if (!name_find(first, NULL, known, domain, use, text, length))
			text = others, length = sizeof others - 1;
	}
	uint64_t hash = name_text_hash(text, length, (uintptr_t)domain + use);
	struct dwi_name **chain = &names[hash & (CHAINS - 1)];
	for (;;) {
		first = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
		name = name_find(first, seen, hash, domain, use, text, length);
		if (name)
			return name;
		if (!fresh && !(fresh = name_make(domain, use, text, length, hash)))
			return NULL;
		fresh->next = seen = first;
		/* Release pairs with the acquires: what is found is complete. */
		if (__atomic_compare_exchange_n(chain, &first, fresh, false, __ATOMIC_RELEASE,
		                                __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&name_count, 1, __ATOMIC_RELAXED);
			return fresh;
		}
	}
}

struct dwi_name *dwi_name(struct dwi_domain *domain, enum dwi_use use, const char *text)
{
	if (!text || !*text)
		text = "(no name)";
	return dwi_name_of_length(domain, use, text, strnlen(text, DWI_LONGEST + 4));
}
