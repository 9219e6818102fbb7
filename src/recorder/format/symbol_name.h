/*
 * Names of functions as they are in the source, without a demangler: for `dwell run --step-on FUNCTION`; see
 * symbol_match.h.
 *
 * Of C++ and of Rust's older scheme. Without parameters, template arguments and anonymous namespaces: users do not type
 * them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define DW_SYMBOL_NAME_BYTES 512u

struct dw_symbol_writer {
	const char *at;
	char *to;
	size_t used;
};

static inline bool dw_symbol_put(struct dw_symbol_writer *writer, const char *text, size_t bytes)
{
	size_t more = writer->used ? 2 : 0;

	if (writer->used + more + bytes >= DW_SYMBOL_NAME_BYTES)
		return false;
	memcpy(writer->to + writer->used, "::", more);
	memcpy(writer->to + writer->used + more, text, bytes);
	writer->used += more + bytes;
	writer->to[writer->used] = '\0';
	return true;
}

/* "5hello": goes behind it, and says where the letters are. */
static inline const char *dw_symbol_word(struct dw_symbol_writer *writer, size_t *bytes)
{
	const char *word;

	for (*bytes = 0; *writer->at >= '0' && *writer->at <= '9' && *bytes < 10000; writer->at++)
		*bytes = *bytes * 10 + (size_t)(*writer->at - '0');
	word = writer->at;
	if (!*bytes || strnlen(word, *bytes) < *bytes)
		return NULL;
	writer->at += *bytes;
	return word;
}

static inline bool dw_symbol_take_word(struct dw_symbol_writer *writer)
{
	size_t bytes;
	const char *word = dw_symbol_word(writer, &bytes);

	if (!word)
		return false;
	if (bytes == 12 && memcmp(word, "_GLOBAL__N_1", bytes) == 0)
		return true;
	/* Rust: the hash behind the name */
	if (bytes == 17 && word[0] == 'h' && strspn(word + 1, "0123456789abcdef") >= 16 && *writer->at == 'E' &&
	    writer->used)
		return true;
	return dw_symbol_put(writer, word, bytes);
}

/* Goes behind template arguments, which begin with I. */
static inline bool dw_symbol_skip_arguments(struct dw_symbol_writer *writer)
{
	unsigned depth = 0;
	size_t bytes;

	do {
		char c = *writer->at;

		if (c >= '0' && c <= '9') {
			if (!dw_symbol_word(writer, &bytes))
				return false;
			continue;
		}
		if (!c)
			return false;
		writer->at++;
		if (c == 'L' && *writer->at != '_') { /* a value: "Li42E" */
			const char *end = strchr(writer->at, 'E');

			if (!end || *writer->at < 'a')
				return false;
			writer->at = end + 1;
		} else if (c == 'I' || c == 'N' || c == 'X' || c == 'J' || c == 'F') {
			depth++;
		} else if (c == 'E') {
			depth--;
		} else if (c == 'S' || c == 'T') {
			writer->at += strspn(writer->at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
			writer->at += *writer->at == '_' || (c == 'S' && *writer->at >= 'a');
		}
	} while (depth);
	return true;
}

/* The name of a symbol, in `to`. False: it is not known, as that of an operator. */
static inline bool dw_symbol_name(const char *symbol, char to[DW_SYMBOL_NAME_BYTES])
{
	struct dw_symbol_writer writer = { symbol, to, 0 };
	bool nested;

	to[0] = '\0';
	if (strncmp(symbol, "_Z", 2) != 0)
		return dw_symbol_put(&writer, symbol, strcspn(symbol, ".@"));
	writer.at += 2;
	nested = *writer.at == 'N';
	writer.at += nested;
	while (nested && *writer.at && strchr("rVKRO", *writer.at))
		writer.at++;
	if (strncmp(writer.at, "St", 2) == 0) {
		dw_symbol_put(&writer, "std", 3);
		writer.at += 2;
	}
	do {
		char c = *writer.at;
		size_t bytes;

		writer.at += c == 'L';
		if (*writer.at >= '0' && *writer.at <= '9') {
			if (!dw_symbol_take_word(&writer))
				return false;
		} else if (c == 'I') {
			if (!dw_symbol_skip_arguments(&writer))
				return false;
		} else if (c == 'B') { /* a mark of the binary interface */
			writer.at++;
			if (!dw_symbol_word(&writer, &bytes))
				return false;
		} else if ((c == 'C' || c == 'D') && writer.at[1] >= '0' && writer.at[1] <= '5' && writer.used) {
			const char *class = to + writer.used; /* "Net::Net", "Net::~Net" */
			char name[DW_SYMBOL_NAME_BYTES];

			while (class > to && class[-1] != ':')
				class --;
			name[0] = '~';
			memcpy(name + 1, class, strlen(class) + 1);
			if (strlen(name) + 3 >= DW_SYMBOL_NAME_BYTES - writer.used ||
			    !dw_symbol_put(&writer, name + (c == 'C'), strlen(name + (c == 'C'))))
				return false;
			writer.at += 2;
		} else {
			return false;
		}
	} while (nested && *writer.at && *writer.at != 'E');
	return writer.used && (!nested || *writer.at == 'E');
}

/*
 * Whether the symbol is a part of a function that the compiler put apart: its unlikely or last part, a loop of OpenMP
 * or of automatic threads, a piece of a coroutine, or what chooses one of its variants. A call of a part is no call of
 * the function. A copy (".constprop.0", ".isra.0", ".lto_priv.0", ".avx2") is the whole function.
 */
static inline bool dw_symbol_is_part(const char *symbol)
{
	static const char *const marks[] = { ".cold",    ".part.",    "._omp_fn.",  "._omp_cpyfn.", ".omp_outlined",
		                                 ".omp_par", "._loopfn.", ".extracted", ".resolver",    ".actor",
		                                 ".resume",  ".destroy",  ".cleanup" };
	size_t coroutine = 4, count = sizeof marks / sizeof *marks - (strncmp(symbol, "_Z", 2) == 0 ? 0 : coroutine);

	for (size_t i = 0; i < count; i++)
		if (strstr(symbol, marks[i]))
			return true;
	return false;
}
