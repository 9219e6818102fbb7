/* The lists of activity.def; see activity.h. */
#include "base/code/activity.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *file;
	struct dw_library library;
} libraries[] = {
#define LIBRARY(file, role, activity) { file, { DW_LIBRARY_##role, DW_ACTIVITY_##activity } },
#include "base/code/activity.def"
};

static const struct header {
	const char *begin;
	enum dw_activity activity;
} headers[] = {
#define HEADER(begin, activity) { begin, DW_ACTIVITY_##activity },
#include "base/code/activity.def"
};

struct function {
	const char *name;
	enum dw_library_role role;
	enum dw_activity activity;
};

#define ROW(role, name, activity) { name, DW_LIBRARY_##role, DW_ACTIVITY_##activity },
#define NO_ROW(role, name, activity)

static const struct function reserved[] = {
#define RESERVED ROW
#define OTHERS NO_ROW
#define ACTIVITY(role, kind, name, activity) kind(role, name, activity)
#include "base/code/activity.def"
#undef RESERVED
#undef OTHERS
};

static const struct function of_others[] = {
#define RESERVED NO_ROW
#define OTHERS ROW
#define ACTIVITY(role, kind, name, activity) kind(role, name, activity)
#include "base/code/activity.def"
};

static const struct {
	const char *pattern;
	enum dw_operator_family family;
} operators[] = {
#define OPERATOR(pattern, family) { pattern, DW_OPERATOR_##family },
#include "base/code/activity.def"
};

static const struct {
	const char *pattern;
	enum dw_known_framework framework;
} ranges[] = {
#define RANGES(pattern, framework) { pattern, DW_KNOWN_##framework },
#include "base/code/activity.def"
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

/* Whether a letter of a pattern, which is no star, matches one of a text. */
static inline bool activity_same(char pattern, char text, bool fold)
{
	unsigned char of = (unsigned char)text;

	return pattern == text || pattern == '?' || (pattern == '^' && isupper(of)) ||
	       (fold && tolower((unsigned char)pattern) == tolower(of));
}

/* Whether the pattern, up to `end`, matches the begin of the text; moves both behind it. */
static bool activity_match_begin(const char **pattern, const char *end, struct piece *piece)
{
	for (; *pattern < end; ++*pattern, piece->text++, piece->length--)
		if (!piece->length || !activity_same(**pattern, *piece->text, piece->fold))
			return false;
	return true;
}

/* Moves to where the pattern, up to `end`, first matches, and behind that. */
static bool activity_skip_to(const char *pattern, const char *end, struct piece *piece)
{
	for (size_t i = 0; i <= piece->length; i++) {
		struct piece at = { piece->text + i, piece->length - i, piece->fold };
		const char *from = pattern;

		if (pattern < end && !(at.length && activity_same(*pattern, *at.text, at.fold)))
			continue;
		if (activity_match_begin(&from, end, &at)) {
			*piece = at;
			return true;
		}
	}
	return false;
}

/* Whether the pattern matches all of the text. Nearly all fail at their first or last letter. */
static bool activity_match(const char *pattern, struct piece piece)
{
	const char *star, *last;
	struct piece end;

	if (*pattern != '*' && !(piece.length && activity_same(*pattern, *piece.text, piece.fold)))
		return false;
	star = strchrnul(pattern, '*');
	if (!activity_match_begin(&pattern, star, &piece) || !*star)
		return !*pattern && !piece.length;
	last = strrchr(star, '*') + 1;
	end.length = strlen(last);
	if (piece.length < end.length)
		return false;
	piece.length -= end.length;
	end = (struct piece){ piece.text + piece.length, end.length, piece.fold };
	if (!activity_match_begin(&last, last + end.length, &end))
		return false;
	for (pattern++; *(star = strchrnul(pattern, '*')); pattern = star + 1)
		if (!activity_skip_to(pattern, star, &piece))
			return false;
	return true;
}

/* ---- libraries ----------------------------------------------------------------------------------- */

struct dw_library dw_library_of(const char *module)
{
	const char *slash = module ? strrchr(module, '/') : NULL, *name = slash ? slash + 1 : module;

	for (size_t i = 0; module && i < COUNT(libraries); i++) {
		const char *file = libraries[i].file;

		if (*file == '/' || *file == '<' ? strstr(module, file) != NULL : activity_match(file, activity_piece(name)))
			return libraries[i].library;
	}
	return (struct dw_library){ DW_LIBRARY_OWN, DW_ACTIVITY_UNKNOWN };
}

const char *dw_package_of(const char *file, size_t *length)
{
	for (size_t i = 0; i < COUNT(libraries); i++) {
		const char *pattern = libraries[i].file,
				   *found = *pattern == '/' || *pattern == '<' ? strstr(file, pattern) : NULL;
		enum dw_library_role role = libraries[i].library.role;

		if (!found || (role != DW_LIBRARY_PACKAGE && role != DW_LIBRARY_INTERPRETER))
			continue;
		found += strlen(pattern);
		if (found[-1] != '/') /* of Python's version, or "<frozen os>" */
			found += strcspn(found, "/ ") + (found[strcspn(found, "/ ")] != '\0');
		*length = strcspn(found, "/.>");
		return *length ? found : NULL;
	}
	return NULL;
}

const char *dw_library_name(const char *module, char text[64])
{
	static const char packages[] = "-packages/"; /* site-, dist- */
	const char *package = strstr(module, packages), *slash = strrchr(module, '/');
	const char *name = package ? package + sizeof packages - 1 : slash ? slash + 1 : module;

	snprintf(text, 64, "%.*s", (int)strcspn(name, "/."), name);
	return text;
}

/* Where the name of a function begins: behind the type that a function template returns, "void std::sort<int*>(int*)". */
static const char *activity_function(const char *name)
{
	const char *begin = name;
	int depth = 0;

	for (const char *at = name; *at && (depth || *at != '('); at++) {
		depth += *at == '<' || *at == '(' || *at == '[';
		depth -= *at == '>' || *at == ')' || *at == ']';
		if (!depth && *at == ' ' && strncmp(begin, "operator", 8) != 0)
			begin = at + 1;
		if (depth < 0 || strncmp(at, "operator", 8) == 0) /* its signs are no brackets */
			break;
	}
	return begin;
}

/* The row of a function that a header of the compiler or the system brought; NULL: none did. */
static const struct header *activity_header(const char *name, const char *file)
{
	name = activity_function(name);
	for (size_t i = 0; i < COUNT(headers); i++) {
		const char *begin = headers[i].begin;

		if (*begin == '/' ? file && strstr(file, begin) : strncmp(name, begin, strlen(begin)) == 0)
			return &headers[i];
	}
	return NULL;
}

struct dw_library dw_library_of_function(struct dw_library library, const char *name, const char *file)
{
	const struct header *header = library.role == DW_LIBRARY_OWN ? activity_header(name, file) : NULL;

	return header ? (struct dw_library){ DW_LIBRARY_HEADER, header->activity } : library;
}

bool dw_code_is_own(enum dw_library_role role, const char *name, const char *file)
{
	return (role == DW_LIBRARY_OWN || role > DW_LIBRARY_RECORDER) && !activity_header(name, file);
}

/* ---- functions ----------------------------------------------------------------------------------- */

bool dw_code_is_made(const char *name)
{
	return strcmp(name, "[jit]") == 0;
}

bool dw_code_is_nameless(const char *name)
{
	return strstr(name, "+0x") || strncmp(name, "0x", 2) == 0 || *name == '['; /* "[jit]", "[frames left out]" */
}

static enum dw_activity activity_find(enum dw_library_role role, struct piece name, bool own)
{
	for (size_t i = 0; i < COUNT(reserved); i++)
		if (activity_match(reserved[i].name, name))
			return reserved[i].activity;
	for (size_t i = 0; i < COUNT(of_others) && !own; i++)
		if (of_others[i].role == role && activity_match(of_others[i].name, name))
			return of_others[i].activity;
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

/* Cuts what it puts behind one: "pread64"; if it `is_reserved`, "__memcpy_avx_unaligned", "__read_chk". */
static struct piece activity_cut_end(struct piece name, bool is_reserved)
{
	if (name.length > 2 && strncmp(name.text + name.length - 2, "64", 2) == 0)
		name.length -= 2;
	else if (!is_reserved)
		name.length = 0;
	else
		for (name.length -= name.length > 0; name.length && name.text[name.length] != '_'; name.length--)
			;
	return name;
}

/* A form of a name of the C library. */
static enum dw_activity activity_of_form(struct piece name)
{
	enum dw_activity found = DW_ACTIVITY_UNKNOWN;
	bool is_reserved = *name.text == '_';

	for (name = activity_cut_begin(name); name.length && !found; name = activity_cut_end(name, is_reserved))
		found = activity_find(DW_LIBRARY_SYSTEM, name, false);
	return found;
}

/* Whether a name may be a form of another one. */
static bool activity_has_forms(const char *name)
{
	return *name == '_' || (strstr(name, "64") && !dw_code_is_nameless(name));
}

/* The last part of a name, without its arguments: "_M_fill" of "void std::vector<copy_t>::_M_fill<int>(int)". */
static struct piece activity_member(const char *name)
{
	struct piece member = { .text = activity_function(name) };
	int depth = 0;

	for (const char *at = member.text; *at && (depth || *at != '('); at++) {
		depth += (*at == '<') - (*at == '>');
		if (!depth && at[0] == ':' && at[1] == ':')
			member.text = at + 2;
	}
	member.length = strcspn(member.text, "<(");
	return member;
}

enum dw_activity dw_activity_of_code(struct dw_library library, const char *name, bool own)
{
	const struct piece whole = { .text = name, .length = strcspn(name, "@") }; /* "memcpy@@GLIBC_2.14" */
	bool header = library.role == DW_LIBRARY_HEADER;
	enum dw_activity found = activity_find(header ? DW_LIBRARY_OWN : library.role, whole, own);

	if (!found && header)
		found = activity_find(library.role, activity_member(name), false);
	if (found || own)
		return found ? found : DW_ACTIVITY_OWN;
	if (library.role == DW_LIBRARY_ALLOCATOR)
		found = activity_find(DW_LIBRARY_SYSTEM, whole, false);
	if (library.role == DW_LIBRARY_SYSTEM && activity_has_forms(name))
		found = activity_of_form(whole);
	return found ? found : library.usual;
}

enum dw_activity dw_activity_of(const char *module, const char *name, bool own)
{
	const struct dw_library libc = { DW_LIBRARY_SYSTEM, DW_ACTIVITY_UNKNOWN };

	return dw_activity_of_code(module || own ? dw_library_of(module) : libc, name, own);
}

enum dw_activity dw_activity_of_wait(const char *module, const char *name, const char *caller)
{
	bool built_of = strncmp(name, "pthread_cond_", 13) == 0 || strncmp(name, "pthread_mutex_", 14) == 0;

	return built_of && caller && dw_library_role_of(caller) == DW_LIBRARY_INTERPRETER ? DW_ACTIVITY_GIL
	                                                                                  : dw_activity_of(module, name, false);
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
