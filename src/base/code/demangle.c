/*
 * Demangles names: of C++ with the C++ library of this machine, if there is one, and of Rust.
 *
 * The library is loaded at the first such name, so that traces of C programs can be read without
 * it. Called by the reader, from any thread.
 */
#include "base/code/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/code/demangle_rust.h"

typedef char *demangler(const char *, char *, size_t *, int *);

char *dw_demangle(const char *name)
{
	void *library;
	demangler *demangle;
	char *found;
	int status;

	if (strncmp(name, "_R", 2) == 0)
		return dw_demangle_rust(name);
	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	/* Loading it twice gives the same library; it is never unloaded. */
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	demangle = library ? (demangler *)dlsym(library, "__cxa_demangle") : NULL;
	found = demangle ? demangle(name, NULL, NULL, &status) : NULL;
	if (found)
		dw_demangle_rust_older(found);
	return found;
}

size_t dw_plain_length(const char *name)
{
	static const char *const marks[] = { " [clone ", ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", "._omp_fn." };
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *mark = strstr(name, marks[i]);

		if (mark && mark != name && (size_t)(mark - name) < length)
			length = (size_t)(mark - name);
	}
	return length;
}

/* Behind the bracket that closes the one at `at`, or at the end of the text. */
static const char *demangle_skip(const char *at)
{
	int depth = 0;

	do {
		if (at[0] == '-' && at[1] == '>')
			at++;
		else
			depth += (*at == '(' || *at == '<') - (*at == ')' || *at == '>');
	} while (*++at && depth > 0);
	return at;
}

/* The length of the text if the name goes on with it, otherwise 0. */
static size_t demangle_match(const char *at, const char *text)
{
	return strncmp(at, text, strlen(text)) == 0 ? strlen(text) : 0;
}

/* Behind "operator" and the signs or the type that belong to it. */
static size_t demangle_operator(const char *at)
{
	static const char operator[] = "operator";

	at += sizeof operator - 1;
	return sizeof operator - 1 + (*at == '(' ? 2 : *at == ' ' ? strcspn(at, "(") : strspn(at, "<>-="));
}

/* Whether it may be of C++: with a scope, or parameters directly behind the name. Other names have remarks in brackets. */
static bool demangle_may_be_cpp(const char *name)
{
	const char *bracket = strchr(name, '(');

	return strstr(name, "::") || (bracket && bracket != name && bracket[-1] != ' ');
}

void dw_name_shorten(char *name)
{
	const char *at = name + (*name == '<'); /* of Rust: <type as trait>::function */
	bool rust = *name == '<';
	char *to = name;

	if (!demangle_may_be_cpp(name) || strstr(name, "<locals>") || strstr(name, "<lambda>"))
		return;
	while (*at) {
		size_t nothing = demangle_match(at, "(anonymous namespace)::") + demangle_match(at, "__cxx11::");

		if (nothing) {
			at += nothing;
		} else if (demangle_match(at, "operator") && (to == name || to[-1] == ':') && strchr("<>(- ", at[8])) {
			size_t bytes = demangle_operator(at);

			memmove(to, at, bytes);
			to += bytes;
			at += bytes;
		} else if (*at == '<') {
			at = demangle_skip(at);
		} else if (*at == '(') {
			at = demangle_skip(at);
			if (*at != ':' && *at != '#') /* of a function in which the name lies */
				break;
		} else if (rust && strncmp(at, " as ", 4) == 0) {
			for (unsigned depth = 1; depth && *at; at++)
				depth += (*at == '<') - (*at == '>' && at[-1] != '-');
			rust = false;
		} else if (rust && *at == '>') {
			rust = false;
			at++;
		} else if (*at == ' ') {
			to = name; /* of what it returns */
			at++;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

enum { NAME_BYTES = 4096 }; /* of a name, with its arguments */

char *dw_name_short(char *to, size_t size, const char *name)
{
	char whole[NAME_BYTES];

	snprintf(whole, sizeof whole, "%s", name);
	dw_name_shorten(whole);
	snprintf(to, size, "%s", whole);
	return to;
}

bool dw_name_is_of_object(const char *name)
{
	char text[200], *last, *class;

	dw_name_short(text, sizeof text, name);
	last = strrchr(text, ':');
	if (!last || last == text || last[-1] != ':')
		return false;
	last[-1] = '\0';
	last++;
	class = strrchr(text, ':');
	class = class ? class + 1 : text;
	return strcmp(last, "operator=") == 0 || strcmp(last + (*last == '~'), class) == 0;
}

void dw_name_take_outer(char *name)
{
	char *inner = strstr(name, ".<locals>.<");

	if (inner)
		*inner = '\0';
}
