/*
 * Whether a symbol is the function that a user named: for `dwell run --step-on FUNCTION`, in the command and in the
 * program.
 *
 * A name may be the symbol itself, or what a demangler makes of it; without parameters, template arguments, anonymous
 * namespaces, and without the namespaces and classes at its begin. Nothing is copied, so names have any length.
 */
#pragma once

#include "format/symbol_name.h"

#define DW_SYMBOL_EXACT 3u /* the symbol itself, or its name with parameters */
#define DW_SYMBOL_WHOLE 2u /* the whole name */
#define DW_SYMBOL_END 1u   /* its end, behind a "::" */

#define DW_SYMBOL_COMPONENTS 32u

/* A demangled name in parts. */
struct dw_symbol_parts {
	unsigned count; /* of components, without anonymous namespaces; of more than fit, the last ones */
	struct dw_symbol_part {
		const char *at;
		size_t bytes;
	} all[DW_SYMBOL_COMPONENTS];
	const char *parameters; /* "(double)...", or the end of the text */
};

/* Behind the bracket that closes the one at `at`, or at the end of the text. */
static inline const char *dw_symbol_close(const char *at)
{
	int depth = 0;

	do
		depth += (*at && strchr("(<[{", *at)) - (*at && strchr(")>]}", *at) && !(*at == '>' && at[-1] == '-'));
	while (*++at && depth > 0);
	return at;
}

/* Behind "operator" and what belongs to it, up to its parameters. */
static inline const char *dw_symbol_operator(const char *at)
{
	at += strlen("operator");
	if (at[0] == '(' && at[1] == ')')
		at += 2;
	else
		at += strspn(at, "<>=-+*/%^&|~!,");
	return *at == ' ' && at[1] != '(' ? at + strcspn(at, "(") : at; /* a conversion: "operator unsigned int" */
}

static inline bool dw_symbol_is_operator(const char *at)
{
	return strncmp(at, "operator", 8) == 0 && at[8] &&
	       !(at[8] == '_' || (at[8] >= '0' && at[8] <= '9') || (at[8] >= 'a' && at[8] <= 'z') ||
	         (at[8] >= 'A' && at[8] <= 'Z') || at[8] == ':');
}

static inline void dw_symbol_add_part(struct dw_symbol_parts *parts, const char *from, const char *end)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t bytes = (size_t)(end - from);

	if (!bytes || (bytes == sizeof anonymous - 1 && memcmp(from, anonymous, bytes) == 0))
		return;
	if (parts->count == DW_SYMBOL_COMPONENTS)
		memmove(parts->all, parts->all + 1, sizeof parts->all[0] * --parts->count);
	parts->all[parts->count++] = (struct dw_symbol_part){ from, bytes };
}

/* If the parameters at `at` are those of a function in which the name lies, as in "f(int) const::{lambda()#1}": the
 * "::" behind them; else NULL. */
static inline const char *dw_symbol_inside(const char *at)
{
	at = dw_symbol_close(at);
	at += strncmp(at, " const", 6) == 0 ? 6 : 0;
	return strncmp(at, "::", 2) == 0 ? at : NULL;
}

/* Divides a name. What a function returns is left out. */
static inline void dw_symbol_divide(const char *text, struct dw_symbol_parts *parts)
{
	const char *at = text, *from = text, *inside;

	parts->count = 0;
	while (*at) {
		inside = *at == '(' ? dw_symbol_inside(at) : NULL;
		if (inside) {
			at = inside;
		} else if (at == from && dw_symbol_is_operator(at)) {
			at = dw_symbol_operator(at);
		} else if (at[0] == ':' && at[1] == ':') {
			dw_symbol_add_part(parts, from, at);
			from = at += 2;
		} else if (*at == '(' && strncmp(at, "(anonymous namespace)", 21) != 0) {
			break;
		} else if (strchr("(<[{", *at)) {
			at = dw_symbol_close(at);
		} else if (*at == ' ') {
			parts->count = 0;
			from = ++at;
		} else {
			at++;
		}
	}
	dw_symbol_add_part(parts, from, at);
	parts->parameters = at;
}

/* Whether the texts are the same without spaces, and without marks of the binary interface, as "[abi:cxx11]", in `a`.
 */
static inline bool dw_symbol_same(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	const char *a_end = a + a_bytes, *b_end = b + b_bytes;

	for (;;) {
		while (a < a_end && *a == ' ')
			a++;
		while (b < b_end && *b == ' ')
			b++;
		if (a_end - a > 5 && strncmp(a, "[abi:", 5) == 0)
			a = dw_symbol_close(a);
		else if (a >= a_end || b >= b_end)
			return a >= a_end && b >= b_end;
		else if (*a++ != *b++)
			return false;
	}
}

/* The component without its template arguments. */
static inline size_t dw_symbol_bare(const struct dw_symbol_part *part)
{
	const char *at = part->at, *end = at + part->bytes;

	if (dw_symbol_is_operator(at))
		at = dw_symbol_operator(at);
	else
		at += *at == '<'; /* of Rust */
	while (at < end && *at != '<' && *at != '[')
		at++;
	return at < end ? (size_t)(at - part->at) : part->bytes;
}

/* `has_all`: the symbol's name has its template arguments. */
static inline bool dw_symbol_fits(const struct dw_symbol_part *own, const struct dw_symbol_part *wanted, bool has_all)
{
	size_t bare = dw_symbol_bare(wanted);

	if (dw_symbol_same(own->at, own->bytes, wanted->at, wanted->bytes))
		return true;
	return (bare == wanted->bytes || !has_all) && dw_symbol_same(own->at, dw_symbol_bare(own), wanted->at, bare);
}

/* The length of a symbol without what the compiler or the linker appended: the mark of a copy, a version. Rust's older
 * names have pairs of dots. */
static inline size_t dw_symbol_base(const char *symbol)
{
	size_t length = *symbol ? 1 + strcspn(symbol + 1, ".@") : 0;

	while (symbol[length] == '.' && symbol[length + 1] == '.') {
		length += 2;
		length += strcspn(symbol + length, ".@");
	}
	return length;
}

/* How well a symbol fits what the user wrote; 0: not. `clear`: its demangled name; NULL: it is not mangled, or nothing
 * demangles. */
static inline unsigned dw_symbol_rank(const char *symbol, const char *clear, const char *wanted)
{
	struct dw_symbol_parts own, want;
	char name[DW_SYMBOL_NAME_BYTES];
	bool has_all = clear || strncmp(symbol, "_Z", 2) != 0;
	size_t length = strlen(wanted);

	if (strcmp(symbol, wanted) == 0)
		return DW_SYMBOL_EXACT;
	if (dw_symbol_is_part(symbol))
		return 0;
	if (length == dw_symbol_base(symbol) && memcmp(symbol, wanted, length) == 0)
		return DW_SYMBOL_EXACT;
	if ((!clear && has_all) || strncmp(wanted, "_Z", 2) == 0)
		return 0;
	if (clear && dw_symbol_same(clear, strlen(clear), wanted, length))
		return DW_SYMBOL_EXACT;
	if (!clear && !dw_symbol_name(symbol, name))
		return 0;
	dw_symbol_divide(clear ? clear : name, &own);
	dw_symbol_divide(wanted, &want);
	if (!want.count || want.count > own.count)
		return 0;
	for (unsigned i = 1; i <= want.count; i++)
		if (!dw_symbol_fits(&own.all[own.count - i], &want.all[want.count - i], has_all))
			return 0;
	if (*want.parameters && clear &&
	    !dw_symbol_same(own.parameters,
	                    *own.parameters ? (size_t)(dw_symbol_close(own.parameters) - own.parameters) : 0,
	                    want.parameters, (size_t)(dw_symbol_close(want.parameters) - want.parameters)))
		return 0;
	return want.count == own.count ? DW_SYMBOL_WHOLE : DW_SYMBOL_END;
}

/* The last word of what the user wrote. */
struct dw_symbol_last {
	char plain[240];
	char mangled[256]; /* with its length before it; both "": there is none, as in an operator */
};

static inline void dw_symbol_last_word(const char *wanted, struct dw_symbol_last *last)
{
	struct dw_symbol_parts want;
	const char *at = "";
	size_t bytes = 0, digits = 0;

	if (strncmp(wanted, "_Z", 2) != 0 && strncmp(wanted, "_R", 2) != 0) {
		dw_symbol_divide(wanted, &want);
		if (want.count)
			at = want.all[want.count - 1].at;
		at += *at == '~';
		while (bytes < sizeof last->plain && ((at[bytes] >= '0' && at[bytes] <= '9') || at[bytes] == '_' ||
		                                      (at[bytes] >= 'a' && at[bytes] <= 'z') || (at[bytes] >= 'A' && at[bytes] <= 'Z')))
			bytes++;
		if (dw_symbol_is_operator(at) || bytes == sizeof last->plain)
			bytes = 0;
	}
	memcpy(last->plain, at, bytes);
	last->plain[bytes] = '\0';
	for (size_t left = bytes; left; left /= 10)
		digits++;
	for (size_t left = bytes, i = digits; left; left /= 10)
		last->mangled[--i] = (char)('0' + left % 10);
	memcpy(last->mangled + digits, at, bytes);
	last->mangled[digits + bytes] = '\0';
}

/* False: the symbol is none of that name, so that it need not be demangled. */
static inline bool dw_symbol_may_match(const char *symbol, const struct dw_symbol_last *last)
{
	return strstr(symbol, strncmp(symbol, "_Z", 2) == 0 ? last->mangled : last->plain) != NULL;
}
