/* The lists of activity.def; see activity.h. */
#include "base/activity.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct library {
	const char *file;
	enum dw_library_role role;
	enum dw_activity activity;
};

static const struct library libraries[] = {
#define LIBRARY(file, role, activity) { file, DW_LIBRARY_##role, DW_ACTIVITY_##activity },
#include "base/activity.def"
};

static const struct {
	const char *begin;
	enum dw_library_role role;
} headers[] = {
#define HEADER(begin, role) { begin, DW_LIBRARY_##role },
#include "base/activity.def"
};

enum kind { OTHERS, RESERVED };

static const struct {
	const char *name;
	enum dw_library_role role;
	enum kind kind;
	enum dw_activity activity;
} functions[] = {
#define ACTIVITY(role, kind, name, activity) { name, DW_LIBRARY_##role, kind, DW_ACTIVITY_##activity },
#include "base/activity.def"
};

static const struct {
	const char *pattern;
	enum dw_operator_family family;
} operators[] = {
#define OPERATOR(pattern, family) { pattern, DW_OPERATOR_##family },
#include "base/activity.def"
};

static const struct {
	const char *pattern;
	enum dw_known_framework framework;
} ranges[] = {
#define RANGES(pattern, framework) { pattern, DW_KNOWN_##framework },
#include "base/activity.def"
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* ---- patterns ------------------------------------------------------------------------------------ */

/* A piece of text, and a pattern. `fold`: without regard to capitals. */
struct piece {
	const char *text;
	size_t length;
	bool fold;
};

static struct piece activity_piece(const char *text)
{
	return (struct piece){ .text = text, .length = strlen(text) };
}

static bool activity_same(char pattern, char text, bool fold)
{
	unsigned char of = (unsigned char)text;

	return pattern == text || pattern == '?' || (pattern == '^' && isupper(of)) ||
	       (fold && tolower((unsigned char)pattern) == tolower(of));
}

/* Whether the pattern matches all of the text. A star first matches as little as possible; only the last one may have to
 * match more. */
static bool activity_match(const char *pattern, struct piece piece)
{
	const char *star = NULL, *text = piece.text, *end = text + piece.length, *from = NULL;

	while (text < end) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern && activity_same(*pattern, *text, piece.fold)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* ---- libraries ----------------------------------------------------------------------------------- */

static const struct library *activity_library(const char *module)
{
	const char *slash = strrchr(module, '/'), *name = slash ? slash + 1 : module;

	for (size_t i = 0; i < COUNT(libraries); i++) {
		const char *file = libraries[i].file;

		if (*file == '/' || *file == '<' ? strstr(module, file) != NULL : activity_match(file, activity_piece(name)))
			return &libraries[i];
	}
	return NULL;
}

enum dw_library_role dw_library_role_of(const char *module)
{
	const struct library *library = module ? activity_library(module) : NULL;

	return library ? library->role : DW_LIBRARY_OWN;
}

static enum dw_library_role activity_header(const char *name)
{
	for (size_t i = 0; i < COUNT(headers); i++)
		if (strncmp(name, headers[i].begin, strlen(headers[i].begin)) == 0)
			return headers[i].role;
	return DW_LIBRARY_OWN;
}

bool dw_code_is_own(enum dw_library_role role, const char *name)
{
	return (role == DW_LIBRARY_OWN || role > DW_LIBRARY_RECORDER) && activity_header(name) == DW_LIBRARY_OWN;
}

/* ---- functions ----------------------------------------------------------------------------------- */

bool dw_code_is_nameless(const char *name)
{
	return strstr(name, "+0x") || strncmp(name, "0x", 2) == 0 || strcmp(name, "[jit]") == 0;
}

static enum dw_activity activity_find(enum dw_library_role role, struct piece name, bool own)
{
	for (size_t i = 0; i < COUNT(functions); i++)
		if ((functions[i].role == DW_LIBRARY_ANY || functions[i].role == role) && (!own || functions[i].kind == RESERVED) &&
		    activity_match(functions[i].name, name))
			return functions[i].activity;
	return DW_ACTIVITY_UNKNOWN;
}

/* Cuts what the C library puts before a name: "__read", "__libc_read", "_IO_fread", "__isoc99_fscanf". */
static struct piece activity_cut_begin(struct piece name)
{
	static const char begins[][8] = { "GI_", "libc_", "IO_", "int_", "new_", "isoc99_", "isoc23_" };

	while (name.length && *name.text == '_') {
		name.text++;
		name.length--;
	}
	for (size_t i = 0; i < COUNT(begins); i++) {
		size_t length = strlen(begins[i]);

		if (name.length > length && strncmp(name.text, begins[i], length) == 0) {
			name.text += length;
			name.length -= length;
		}
	}
	return name;
}

/* Cuts what it puts behind one: "pread64"; if it is `reserved`, "__memcpy_avx_unaligned", "__read_chk". */
static struct piece activity_cut_end(struct piece name, bool reserved)
{
	if (name.length > 2 && strncmp(name.text + name.length - 2, "64", 2) == 0)
		name.length -= 2;
	else if (!reserved)
		name.length = 0;
	else
		for (name.length -= name.length > 0; name.length && name.text[name.length] != '_'; name.length--)
			;
	return name;
}

/* A form of a name of the C library. */
static enum dw_activity activity_of_form(enum dw_library_role role, struct piece name)
{
	enum dw_activity found = DW_ACTIVITY_UNKNOWN;
	bool reserved = *name.text == '_';

	for (name = activity_cut_begin(name); name.length && !found; name = activity_cut_end(name, reserved))
		found = activity_find(role, name, false);
	return found;
}

enum dw_activity dw_activity_in_role(enum dw_library_role role, const char *module, const char *name, bool own)
{
	const struct piece whole = { .text = name, .length = strcspn(name, "@") }; /* "memcpy@@GLIBC_2.14" */
	enum dw_activity found = activity_find(role, whole, own);
	const struct library *library;

	if (found || own)
		return found ? found : DW_ACTIVITY_OWN;
	if ((role == DW_LIBRARY_SYSTEM || role == DW_LIBRARY_ALLOCATOR) && !dw_code_is_nameless(name))
		found = activity_of_form(DW_LIBRARY_SYSTEM, whole);
	library = !found && module ? activity_library(module) : NULL;
	return library ? library->activity : found;
}

enum dw_activity dw_activity_of(const char *module, const char *name, bool own)
{
	return dw_activity_in_role(module || own ? dw_library_role_of(module) : DW_LIBRARY_SYSTEM, module, name, own);
}

const char *dw_activity_name(enum dw_activity activity)
{
	static const char *const names[] = {
#define X(name, words) words,
		DW_ACTIVITIES(X)
#undef X
	};

	return activity < DW_ACTIVITY_COUNT ? names[activity] : names[DW_ACTIVITY_UNKNOWN];
}

/* ---- operators ----------------------------------------------------------------------------------- */

static bool activity_cut(struct piece *name, const char *end)
{
	size_t length = strlen(end);
	bool has = name->length > length && strncmp(name->text + name->length - length, end, length) == 0;

	name->length -= has ? length : 0;
	return has;
}

enum dw_operator_family dw_operator_family_of(const char *name)
{
	struct piece whole = { name, strlen(name), true }, plain = whole;

	if (strncmp(name, "aten::", 6) == 0)
		plain = (struct piece){ name + 6, whole.length - 6, true };
	activity_cut(&plain, "_backward");
	activity_cut(&plain, "_");
	for (size_t i = 0; i < COUNT(operators); i++)
		if (activity_match(operators[i].pattern, strstr(operators[i].pattern, "::") ? whole : plain))
			return operators[i].family;
	return DW_OPERATOR_OTHER;
}

enum dw_known_framework dw_known_framework_of(const char *name)
{
	for (size_t i = 0; i < COUNT(ranges); i++)
		if (activity_match(ranges[i].pattern, activity_piece(name)))
			return ranges[i].framework;
	return DW_KNOWN_NONE;
}
