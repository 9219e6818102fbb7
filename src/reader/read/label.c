/*
 * A short label for a process: the script or module that a Python interpreter runs, otherwise the
 * program; without folders. Called by processes.c for each process.
 *
 * A command is stored as one line with blanks between its arguments. So of a path that contains
 * blanks only a part is found.
 */
#include <stdio.h>

#include "read/read.h"

#define MOST_LABEL 200u
#define MOST_LOOK 4096u /* bytes of a name and a command that are read */

/* The word at *at and its length; *at moves to its end. */
static const char *label_next_word(const char **at, size_t *length)
{
	const char *word = *at + strspn(*at, " ");

	*length = strcspn(word, " ");
	*at = word + *length;
	return word;
}

static bool label_word_is(const char *word, size_t length, const char *option)
{
	return strlen(option) == length && memcmp(word, option, length) == 0;
}

/* The script or module in the command of a Python interpreter; length 0: none, as with -c. */
static const char *label_find_script(const char *command, size_t *length)
{
	const char *word;

	label_next_word(&command, length); /* the interpreter */
	while (*(word = label_next_word(&command, length)) == '-') {
		if (label_word_is(word, *length, "-m"))
			return label_next_word(&command, length);
		if (label_word_is(word, *length, "-c") || *length == 1)
			*length = 0;
		if (!*length)
			return word;
		if (label_word_is(word, *length, "-X") || label_word_is(word, *length, "-W"))
			label_next_word(&command, length);
	}
	return word;
}

static bool label_is_interpreter(const char *program)
{
	const char *slash = strrchr(program, '/');

	return strncmp(slash ? slash + 1 : program, "python", strlen("python")) == 0;
}

/* Cuts the label, because many processes may have the same long name. */
static const char *label_keep(struct dw_arena *arena, const char *word, size_t length)
{
	return dw_arena_text(arena, word, length < MOST_LABEL ? length : MOST_LABEL);
}

const char *dw_read_label(struct dw_arena *arena, const struct dw_source_process *process)
{
	char name[MOST_LOOK + 1], command[MOST_LOOK + 1];
	size_t length = 0;
	const char *word = NULL;

	snprintf(name, sizeof name, "%.*s", (int)MOST_LOOK, process->name);
	if (label_is_interpreter(name)) {
		snprintf(command, sizeof command, "%.*s", (int)MOST_LOOK, process->command);
		word = label_find_script(command, &length);
	}
	if (!length) {
		word = name;
		length = strlen(name);
	}
	for (size_t i = length; i-- > 0;)
		if (word[i] == '/' && i + 1 < length)
			return label_keep(arena, word + i + 1, length - i - 1);
	return label_keep(arena, word, length);
}
