/*
 * What people call a process: the script or module that a Python runs, else the program;
 * without folders. Called by people.c for each process.
 *
 * A command is one line by now, its arguments parted by blanks: of a path with blanks
 * the last word is taken.
 */
#include <string.h>

#include "read/read.h"

/* The word at *at and its length; *at moves behind it. */
static const char *next_word(const char **at, size_t *length)
{
	const char *word = *at + strspn(*at, " ");

	*length = strcspn(word, " ");
	*at = word + *length;
	return word;
}

static bool is(const char *word, size_t length, const char *option)
{
	return strlen(option) == length && memcmp(word, option, length) == 0;
}

/* The script or the module in a Python's command; length 0: none, as of -c. */
static const char *script(const char *command, size_t *length)
{
	const char *word = next_word(&command, length);

	while (*(word = next_word(&command, length)) == '-') {
		if (is(word, *length, "-m"))
			return next_word(&command, length);
		if (is(word, *length, "-c") || *length == 1)
			*length = 0;
		if (!*length)
			return word;
		if (is(word, *length, "-X") || is(word, *length, "-W"))
			next_word(&command, length);
	}
	return word;
}

static bool is_interpreter(const char *program)
{
	const char *slash = strrchr(program, '/');

	return strncmp(slash ? slash + 1 : program, "python", strlen("python")) == 0;
}

const char *dw_read_label(struct dw_arena *arena, const struct dw_source_process *process)
{
	size_t length = 0;
	const char *word = is_interpreter(process->name) ? script(process->command, &length) : NULL;

	if (!length) {
		word = process->name;
		length = strlen(word);
	}
	for (size_t i = length; i-- > 0;)
		if (word[i] == '/' && i + 1 < length)
			return dw_arena_printf(arena, "%.*s", (int)(length - i - 1), word + i + 1);
	return dw_arena_printf(arena, "%.*s", (int)length, word);
}
