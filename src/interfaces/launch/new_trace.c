/* The file of a new trace; see new_trace.h. */
#include "launch/new_trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwell/dwell.h"

#define NEW_TRACE_NUMBERS 10000u /* that are tried */

static const char *new_trace_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void dw_new_trace_name(char **command, char *name, size_t size)
{
	const char *word = new_trace_last_part(command[0]);

	if (strncmp(word, "python", 6) == 0)
		for (int i = 1; command[i]; i++) {
			size_t length = strlen(command[i]);

			if (length > 3 && strcmp(command[i] + length - 3, ".py") == 0) {
				word = new_trace_last_part(command[i]);
				break;
			}
			if (strcmp(command[i], "-m") == 0 && command[i + 1]) {
				word = command[i + 1];
				break;
			}
		}
	snprintf(name, size, "%s", word);
	size_t length = strlen(name);
	if (length > 3 && strcmp(name + length - 3, ".py") == 0)
		name[length - 3] = '\0';
}

int dw_new_trace(char **command, dw_new_trace_create *create, void *context, const char **elsewhere)
{
	const char *temporary = getenv("TMPDIR"), *folder = "";
	char name[256], here[2048], path[4096], number[16] = "";
	bool is_there = getcwd(here, sizeof here) || errno != ENOENT;
	int fd = DWELL_E_EXISTS;

	*elsewhere = NULL;
	if (!is_there || access(".", W_OK) != 0) {
		*elsewhere = is_there ? "cannot be written to" : "was removed";
		folder = temporary && temporary[0] == '/' ? temporary : "/tmp";
	}
	dw_new_trace_name(command, name, sizeof name);
	for (unsigned i = 1; i < NEW_TRACE_NUMBERS && fd == DWELL_E_EXISTS; i++) {
		if (i > 1)
			snprintf(number, sizeof number, "-%u", i);
		snprintf(path, sizeof path, "%s%s%s%s.dwell", folder, *folder ? "/" : "", name, number);
		fd = create(context, path);
	}
	return fd;
}
