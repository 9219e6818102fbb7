/*
 * Objects of Python, read from the interpreter's memory: types by name, dictionaries of modules, attributes of instances.
 *
 * The process may change its memory meanwhile: what cannot be read, or is not of the type that it should have, is 0.
 */
#include "process/inside.h"

#define OBJECTS_ENTRIES 65536u /* of a dictionary */

bool dw_object_read(const struct dw_python *python, uint64_t address, void *to, size_t size)
{
	return address >= 4096 && dw_process_memory(python->pid, address, to, size);
}

uint64_t dw_object_word(const struct dw_python *python, uint64_t address)
{
	uint64_t word;

	return dw_object_read(python, address, &word, sizeof word) ? word : 0;
}

/* Whether the text at the address is `name`. */
static bool objects_is_text(const struct dw_python *python, uint64_t address, const char *name)
{
	char text[40];
	size_t size = strlen(name) + 1;

	return size <= sizeof text && dw_object_read(python, address, text, size) && memcmp(text, name, size) == 0;
}

/* The fourth word of a type is its name. */
bool dw_object_is(const struct dw_python *python, uint64_t object, const char *name)
{
	uint64_t type = object % 8 ? 0 : dw_object_word(python, object + 8);

	return type && objects_is_text(python, dw_object_word(python, type + 24), name);
}

/* A str of ASCII, as names in a program are. */
static bool objects_is_str(const struct dw_python *python, uint64_t object, const char *name)
{
	return dw_object_word(python, object + 16) == strlen(name) && dw_object_is(python, object, "str") &&
	       objects_is_text(python, object + python->layout.text, name);
}

void dw_object_text(const struct dw_python *python, uint64_t object, char text[64])
{
	uint64_t length = dw_object_word(python, object + 16);

	*text = '\0';
	if (!dw_object_is(python, object, "str"))
		return;
	length = length < 63 ? length : 63;
	text[dw_object_read(python, object + python->layout.text, text, length) ? length : 0] = '\0';
	for (char *at = text; *at; at++)
		*at = *at < ' ' || *at > '~' ? '?' : *at;
}

/* ---- dictionaries ---------------------------------------------------------------------------------- */

/* The entries of a dictionary's keys. */
struct objects_keys {
	uint64_t entries, count;
	size_t size, key; /* of an entry, and where the key is in it: before the value */
};

static bool objects_read_keys(const struct dw_python *python, uint64_t keys, struct objects_keys *found)
{
	uint8_t head[40];
	uint64_t size;

	if (!dw_object_read(python, keys, head, sizeof head))
		return false;
	if (python->layout.minor < 11) {
		memcpy(&size, head + 8, 8);
		memcpy(&found->count, head + 32, 8);
		found->entries = keys + 40 + size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : size <= 0xffffffff ? 4 : 8);
	} else {
		memcpy(&found->count, head + 24, 8);
		found->entries = keys + 32 + ((uint64_t)1 << (head[9] & 63));
	}
	found->key = python->layout.minor < 11 || head[10] == 0 ? 8 : 0; /* behind the hash */
	found->size = found->key + 16;
	return true;
}

/* The number of the entry with the key; UINT64_MAX: there is none. */
static uint64_t objects_find_key(const struct dw_python *python, const struct objects_keys *keys, const char *key)
{
	for (uint64_t i = 0; i < keys->count && i < OBJECTS_ENTRIES; i++) {
		uint64_t at = dw_object_word(python, keys->entries + i * keys->size + keys->key);

		if (at && objects_is_str(python, at, key))
			return i;
	}
	return UINT64_MAX;
}

uint64_t dw_object_lookup(const struct dw_python *python, uint64_t dictionary, const char *key)
{
	struct objects_keys keys;
	uint64_t values, at;

	if (!dw_object_is(python, dictionary, "dict") || !objects_read_keys(python, dw_object_word(python, dictionary + 32), &keys))
		return 0;
	values = dw_object_word(python, dictionary + 40); /* of an instance that shares its keys with others */
	at = objects_find_key(python, &keys, key);
	if (at == UINT64_MAX)
		return 0;
	return dw_object_word(python, values ? values + 8 * at : keys.entries + at * keys.size + keys.key + 8);
}

/* ---- attributes of instances ------------------------------------------------------------------------ */

/* Where an instance has its values if it has no dictionary yet; 0: it has one, or shares keys in it. */
static uint64_t objects_values(const struct dw_python *python, uint64_t object, uint64_t type)
{
	uint64_t word, base;
	uint8_t head[4];

	switch (python->layout.minor) {
	case 11: return dw_object_word(python, object - 32);
	case 12:
		word = dw_object_word(python, object - 24);
		return word & 1 ? word + 1 : 0;
	case 13:
		base = object + dw_object_word(python, type + 32);
		return dw_object_read(python, base, head, sizeof head) && head[3] ? base + 8 : 0;
	default: return 0;
	}
}

uint64_t dw_object_attribute(const struct dw_python *python, uint64_t object, const char *name)
{
	uint32_t minor = python->layout.minor;
	uint64_t type = object % 8 ? 0 : dw_object_word(python, object + 8), values = type ? objects_values(python, object, type) : 0, at;
	struct objects_keys keys;

	if (!type || minor > 13)
		return 0;
	if (!values)
		return dw_object_lookup(python, dw_object_word(python, minor < 11 ? object + 16 : object - 24), name);
	if (!objects_read_keys(python, dw_object_word(python, type + (minor == 11 ? 872 : 880)), &keys))
		return 0;
	at = objects_find_key(python, &keys, name);
	return at < 256 ? dw_object_word(python, values + 8 * at) : 0;
}

/* ---- names of threads ------------------------------------------------------------------------------- */

/* The outermost frame of a thread of the module threading has the Thread as its first variable. */
bool dw_python_thread_name(struct dw_python *python, struct dw_arena *arena, const struct dw_python_frame *outermost, char name[64])
{
	static const char tail[] = "/threading.py";
	uint32_t minor = python->layout.minor;
	const struct dw_place *place = dw_python_place(python, arena, outermost);
	const char *file = place && place->count ? place->functions->file : NULL;
	uint64_t thread;

	if (!file || strlen(file) < sizeof tail || strcmp(file + strlen(file) + 1 - sizeof tail, tail) != 0)
		return false;
	thread = dw_object_word(python, outermost->at + (minor == 9 ? 360 : minor == 10 ? 352 : 72));
	dw_object_text(python, dw_object_attribute(python, thread, "_name"), name);
	return *name != '\0';
}
