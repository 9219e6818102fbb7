/* A script in the place of a program; see script.h. */
#include "program/script.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/executable.h"
#include "say/say.h"

#define SCRIPT_FIRST_LINE 256 /* bytes: what the kernel reads of it */

static bool script_is_python(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

/* Reads what follows "#!" in the first line; "" if the file does not begin so. Returns whether there is such a file. */
static bool script_read_line(const char *name, char line[SCRIPT_FIRST_LINE])
{
	struct stat status;
	ssize_t length = 0;
	int fd = -1;

	if (stat(name, &status) == 0 && S_ISREG(status.st_mode))
		fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, line, SCRIPT_FIRST_LINE - 1);
		close(fd);
	}
	line[length > 0 ? length : 0] = '\0';
	if (strncmp(line, "#!", 2) == 0) {
		line[strcspn(line, "\n")] = '\0';
		memmove(line, line + 2, strlen(line + 2) + 1);
	} else {
		line[0] = '\0';
	}
	return fd >= 0;
}

bool dw_script_is(const char *name)
{
	char line[SCRIPT_FIRST_LINE], path[4096];
	bool runs = dw_executable_search(name, path) && access(path, X_OK) == 0;

	if ((runs && !script_is_python(path)) || !script_read_line(name, line))
		return false;
	return *line ? !runs : script_is_python(name); /* without a first line execvp() would run it by a shell */
}

/* Splits the line into words; returns how many. */
static size_t script_split(char *line, char **words, size_t most)
{
	size_t count = 0;

	for (char *word = strtok_r(line, " \t\r", &line); word && count < most; word = strtok_r(NULL, " \t\r", &line))
		words[count++] = word;
	return count;
}

static bool script_is_env(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, "env") == 0;
}

char **dw_script_command(char **command)
{
	static char line[SCRIPT_FIRST_LINE], python[] = "python", python3[] = "python3";
	char path[4096], *words[8];
	static char **made;
	size_t count, operands = 0;

	if (!dw_script_is(command[0]))
		return command;
	script_read_line(command[0], line);
	count = script_split(line, words, sizeof words / sizeof *words);
	if (count > 1 && script_is_env(words[0]) && words[1][0] != '-') {
		count--; /* the program that env finds */
		memmove(words, words + 1, count * sizeof *words);
	}
	if (!count || !dw_executable_search(words[0], path) || access(path, X_OK) != 0) {
		words[0] = dw_executable_search(python, path) ? python : python3;
		count = 1;
	}
	while (command[operands])
		operands++;
	made = calloc(count + operands + 1, sizeof *made);
	if (!made)
		return command;
	memcpy(made, words, count * sizeof *made);
	memcpy(made + count, command, operands * sizeof *made);
	dw_say("%s is a script: run by %s", command[0], words[0]);
	return made;
}
