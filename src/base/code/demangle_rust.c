/*
 * Demangles names of Rust: those of the older scheme, which are names of C++ with a hash, and those that begin with "_R".
 *
 * Lifetimes are left out, and identifiers that are not ASCII stay encoded. A name may refer to its own parts: depth and
 * length of the result are limited.
 */
#include "base/code/demangle_rust.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 2000u
#define MOST_DEPTH 100u

struct rust {
	const char *text; /* after "_R" */
	size_t at;
	char *out;
	size_t count; /* bytes of `out` */
	unsigned depth;
	bool mute;    /* a part is read that is not printed */
	bool bad;
};

static void rust_path(struct rust *rust);
static void rust_type(struct rust *rust);

static void rust_print(struct rust *rust, const char *text, size_t bytes)
{
	if (rust->mute)
		return;
	if (rust->count + bytes >= MOST_BYTES) {
		rust->bad = true;
		return;
	}
	memcpy(rust->out + rust->count, text, bytes);
	rust->count += bytes;
}

static void rust_say(struct rust *rust, const char *text)
{
	rust_print(rust, text, strlen(text));
}

static void rust_say_number(struct rust *rust, const char *format, uint64_t number)
{
	char text[64];

	snprintf(text, sizeof text, format, (unsigned long long)number);
	rust_say(rust, text);
}

static bool rust_take(struct rust *rust, char letter)
{
	bool is = !rust->bad && rust->text[rust->at] == letter;

	rust->at += is;
	return is;
}

/* A number of base 62 with its "_"; "_" alone is 0. */
static uint64_t rust_number(struct rust *rust)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	uint64_t number = 0;

	if (rust_take(rust, '_'))
		return 0;
	while (!rust->bad && !rust_take(rust, '_')) {
		char letter = rust->text[rust->at++];
		const char *digit = letter ? strchr(digits, letter) : NULL;

		if (!digit || number > UINT64_MAX / 62 - 1)
			rust->bad = true;
		else
			number = number * 62 + (uint64_t)(digit - digits);
	}
	return number + 1;
}

struct identifier {
	const char *text;
	size_t bytes;
	uint64_t number; /* of those of equal names */
};

static struct identifier rust_identifier(struct rust *rust)
{
	struct identifier found = { "", 0, 0 };

	if (rust_take(rust, 's'))
		found.number = rust_number(rust) + 1;
	rust_take(rust, 'u');
	while (rust->text[rust->at] >= '0' && rust->text[rust->at] <= '9' && found.bytes < MOST_BYTES)
		found.bytes = found.bytes * 10 + (size_t)(rust->text[rust->at++] - '0');
	rust_take(rust, '_');
	found.text = rust->text + rust->at;
	if (rust->bad || strnlen(found.text, found.bytes) < found.bytes) {
		rust->bad = true;
		found.bytes = 0;
	}
	rust->at += found.bytes;
	return found;
}

/* Reads again a part that was read before. */
static void rust_again(struct rust *rust, void (*read)(struct rust *))
{
	size_t here, start = rust->at - 1, at = (size_t)rust_number(rust);

	here = rust->at;
	if (at >= start)
		rust->bad = true;
	if (rust->bad || rust->mute)
		return;
	rust->at = at;
	read(rust);
	rust->at = here;
}

static void rust_constant(struct rust *rust)
{
	char type = rust->text[rust->at], value[20];
	size_t count = 0;

	if (rust_take(rust, 'B')) {
		rust_again(rust, rust_constant);
		return;
	}
	if (rust_take(rust, 'p')) {
		rust_say(rust, "_");
		return;
	}
	if (type < 'a' || type > 'z') {
		rust->bad = true;
		return;
	}
	rust->at++;
	if (rust_take(rust, 'n'))
		rust_say(rust, "-");
	while (!rust->bad && !rust_take(rust, '_')) {
		if (!rust->text[rust->at] || count == sizeof value - 1)
			rust->bad = true;
		else
			value[count++] = rust->text[rust->at++];
	}
	value[count] = '\0';
	if (type == 'b')
		rust_say(rust, strcmp(value, "1") == 0 ? "true" : "false");
	else if (count > 16)
		rust_say(rust, "_");
	else
		rust_say_number(rust, "%llu", strtoull(value, NULL, 16));
}

/* Reads parts up to an "E". */
static void rust_list(struct rust *rust, void (*read)(struct rust *))
{
	for (bool first = true; !rust->bad && !rust_take(rust, 'E'); first = false) {
		if (!first)
			rust_say(rust, ", ");
		read(rust);
	}
}

static void rust_argument(struct rust *rust)
{
	if (rust_take(rust, 'L')) {
		rust_number(rust);
		rust_say(rust, "'_");
	} else if (rust_take(rust, 'K')) {
		rust_constant(rust);
	} else {
		rust_type(rust);
	}
}

static void rust_binder(struct rust *rust)
{
	if (rust_take(rust, 'G'))
		rust_number(rust);
}

static void rust_function_type(struct rust *rust)
{
	rust_binder(rust);
	rust_take(rust, 'U');
	if (rust_take(rust, 'K') && !rust_take(rust, 'C'))
		rust_identifier(rust);
	rust_say(rust, "fn(");
	rust_list(rust, rust_type);
	rust_say(rust, ")");
	if (rust_take(rust, 'u'))
		return;
	rust_say(rust, " -> ");
	rust_type(rust);
}

static void rust_trait(struct rust *rust)
{
	rust_path(rust);
	while (rust_take(rust, 'p')) {
		struct identifier name = rust_identifier(rust);

		rust_say(rust, "<");
		rust_print(rust, name.text, name.bytes);
		rust_say(rust, " = ");
		rust_type(rust);
		rust_say(rust, ">");
	}
}

static void rust_reference(struct rust *rust, const char *mark)
{
	rust_say(rust, mark);
	if (rust_take(rust, 'L'))
		rust_number(rust);
	rust_type(rust);
}

static bool rust_basic_type(struct rust *rust)
{
	static const char *const basic[26] = { "i8", "bool", "char", "f64", "str", "f32", NULL, "u8", "isize", "usize", NULL, "i32", "u32",
		"i128", "u128", "_", NULL, NULL, "i16", "u16", "()", "...", NULL, "i64", "u64", "!" };
	char letter = rust->text[rust->at];
	const char *name = letter >= 'a' && letter <= 'z' ? basic[letter - 'a'] : NULL;

	if (!name)
		return false;
	rust->at++;
	rust_say(rust, name);
	return true;
}

static void rust_compound_type(struct rust *rust, char letter)
{
	switch (letter) {
	case 'A':
	case 'S':
		rust_say(rust, "[");
		rust_type(rust);
		if (letter == 'A') {
			rust_say(rust, "; ");
			rust_constant(rust);
		}
		rust_say(rust, "]");
		break;
	case 'T':
		rust_say(rust, "(");
		rust_list(rust, rust_type);
		rust_say(rust, ")");
		break;
	case 'R': rust_reference(rust, "&"); break;
	case 'Q': rust_reference(rust, "&mut "); break;
	case 'P': rust_reference(rust, "*const "); break;
	case 'O': rust_reference(rust, "*mut "); break;
	case 'F': rust_function_type(rust); break;
	case 'B': rust_again(rust, rust_type); break;
	default: /* 'D' */
		rust_say(rust, "dyn ");
		rust_binder(rust);
		rust_list(rust, rust_trait);
		if (rust_take(rust, 'L'))
			rust_number(rust);
	}
}

static void rust_type(struct rust *rust)
{
	char letter = rust->text[rust->at];

	if (++rust->depth > MOST_DEPTH)
		rust->bad = true;
	if (!rust->bad && !rust_basic_type(rust)) {
		if (letter && strchr("ASTRQPOFBD", letter)) {
			rust->at++;
			rust_compound_type(rust, letter);
		} else {
			rust_path(rust);
		}
	}
	rust->depth--;
}

/* The path of an implementation says only in which module it is. */
static void rust_implementation(struct rust *rust)
{
	bool mute = rust->mute;

	if (rust_take(rust, 's'))
		rust_number(rust);
	rust->mute = true;
	rust_path(rust);
	rust->mute = mute;
}

static void rust_nested(struct rust *rust)
{
	char kind = rust->text[rust->at];
	struct identifier name;

	rust->at += kind != '\0';
	rust_path(rust);
	name = rust_identifier(rust);
	rust_say(rust, "::");
	if (kind >= 'A' && kind <= 'Z') {
		rust_say(rust, kind == 'C' ? "{closure" : "{shim");
		rust_say(rust, name.bytes ? ":" : "");
		rust_print(rust, name.text, name.bytes);
		rust_say_number(rust, "#%llu}", name.number);
	} else {
		rust_print(rust, name.text, name.bytes);
		rust->bad |= !name.bytes;
	}
}

static void rust_as(struct rust *rust)
{
	rust_say(rust, "<");
	rust_type(rust);
	rust_say(rust, " as ");
	rust_path(rust);
	rust_say(rust, ">");
}

static void rust_path(struct rust *rust)
{
	struct identifier name;

	if (++rust->depth > MOST_DEPTH)
		rust->bad = true;
	if (rust_take(rust, 'C')) {
		name = rust_identifier(rust);
		rust_print(rust, name.text, name.bytes);
	} else if (rust_take(rust, 'M')) {
		rust_implementation(rust);
		rust_type(rust);
	} else if (rust_take(rust, 'X')) {
		rust_implementation(rust);
		rust_as(rust);
	} else if (rust_take(rust, 'Y')) {
		rust_as(rust);
	} else if (rust_take(rust, 'N')) {
		rust_nested(rust);
	} else if (rust_take(rust, 'I')) {
		rust_path(rust);
		rust_say(rust, "<");
		rust_list(rust, rust_argument);
		rust_say(rust, ">");
	} else if (rust_take(rust, 'B')) {
		rust_again(rust, rust_path);
	} else {
		rust->bad = true;
	}
	rust->depth--;
}

char *dw_demangle_rust(const char *name)
{
	struct rust rust = { .text = name + 2 };

	if (strncmp(name, "_R", 2) != 0 || !(rust.out = malloc(MOST_BYTES)))
		return NULL;
	rust_path(&rust);
	rust.out[rust.bad ? 0 : rust.count] = '\0';
	if (!rust.bad && rust.count)
		return rust.out;
	free(rust.out);
	return NULL;
}

/* ---- the older scheme ------------------------------------------------------------------------ */

#define HASH "::h"
#define HASH_BYTES 19u

/* The character for which an escape stands, which begins at `at` with "$"; 0: it is none. */
static char rust_escape(const char *at, size_t *bytes)
{
	static const char names[][4] = { "SP", "BP", "RF", "LT", "GT", "LP", "RP", "C" };
	const char *end = strchr(at + 1, '$');

	*bytes = end ? (size_t)(end + 1 - at) : 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (*bytes == strlen(names[i]) + 2 && memcmp(at + 1, names[i], *bytes - 2) == 0)
			return "@*&<>(),"[i];
	return *bytes == 5 && at[1] == 'u' ? (char)strtoul(at + 2, NULL, 16) : 0;
}

void dw_demangle_rust_older(char *name)
{
	size_t length = strlen(name), bytes;
	char *to = name, *at = name, letter;

	if (length <= HASH_BYTES || strncmp(name + length - HASH_BYTES, HASH, 3) != 0 ||
	    strspn(name + length - 16, "0123456789abcdef") != 16)
		return;
	name[length - HASH_BYTES] = '\0';
	while (*at) {
		if (at[0] == '_' && at[1] == '$' && (at == name || at[-1] == ':')) {
			at++; /* an identifier begins with no escape */
		} else if (*at == '$' && (letter = rust_escape(at, &bytes)) != 0) {
			*to++ = letter;
			at += bytes;
		} else if (at[0] == '.' && at[1] == '.') {
			*to++ = ':';
			*to++ = ':';
			at += 2;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}
