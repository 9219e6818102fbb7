/* The file of a new trace; see new_trace.h. */
#include "launch/new_trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "dwell/dwell.h"
#include "program/executable.h"
#include "say/say.h"

#define NEW_TRACE_NUMBERS 10000u /* that are tried */
#define NEW_TRACE_MANY 5u        /* each fifth trace says how many there are */

/* ---- the name ------------------------------------------------------------------------------------ */

/* Programs that start another one, which a later word names. */
static const char *const wrappers[] = { "timeout", "nice", "ionice", "env", "taskset", "stdbuf", "setsid", "nohup", "time",
	"numactl", "chrt", "setarch", "unshare", "flock", "xvfb-run", "catchsegv", "mpirun", "mpiexec", "orterun", "srun", "uv",
	"poetry", "pipenv", "conda", "micromamba" };
/* Programs, or modules of Python, that run a script or a notebook. */
static const char *const launchers[] = { "torchrun", "accelerate", "deepspeed", "ipython", "ipython3", "jupyter", "jupyter-nbconvert",
	"jupyter-execute", "jupyter-run", "papermill", "streamlit", "coverage", "bash", "sh", "dash", "zsh", "torch.distributed.run",
	"torch.distributed.launch", "accelerate.commands.launch", "nbconvert", "IPython", "cProfile", "runpy", "pdb" };
static const char *const endings[] = { ".py", ".ipynb", ".sh" };

#define NEW_TRACE_COUNT(list) (sizeof(list) / sizeof *(list))

static bool new_trace_lists(const char *const *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], word) == 0)
			return true;
	return false;
}

static const char *new_trace_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The length of a script's name without its ending, as 5 of "train.py"; 0: the word does not end like a script. */
static size_t new_trace_stem(const char *word)
{
	size_t length = strlen(word);

	for (size_t i = 0; i < NEW_TRACE_COUNT(endings); i++) {
		size_t ending = strlen(endings[i]);

		if (length > ending && strcmp(word + length - ending, endings[i]) == 0)
			return length - ending;
	}
	return 0;
}

/* The word of the command that names a script, or a module of Python that is none of the launchers; NULL: there is none. */
static const char *new_trace_script(char **command, bool python)
{
	for (int i = 1; command[i]; i++) {
		if (new_trace_stem(command[i]))
			return new_trace_last_part(command[i]);
		if (strcmp(command[i], "-c") == 0)
			return NULL;
		if (!python || strcmp(command[i], "-m") != 0 || !command[i + 1])
			continue;
		if (!new_trace_lists(launchers, NEW_TRACE_COUNT(launchers), command[i + 1]))
			return command[i + 1];
		python = false; /* what follows is the launcher's */
		i++;
	}
	return NULL;
}

/* The program that a wrapper starts: the first word that is one. */
static char **new_trace_inner(char **command)
{
	struct stat status;
	char path[4096];

	for (command++; *command; command++)
		if (**command != '-' && !strchr(*command, '=') && dw_executable_search(*command, path) && access(path, X_OK) == 0 &&
		    stat(path, &status) == 0 && S_ISREG(status.st_mode))
			return command;
	return NULL;
}

void dw_new_trace_name(char **command, char *name, size_t size)
{
	const char *word = new_trace_last_part(command[0]), *script;
	bool python = strncmp(word, "python", 6) == 0;
	char **inner = command;

	while (new_trace_lists(wrappers, NEW_TRACE_COUNT(wrappers), word) && (inner = new_trace_inner(command))) {
		command = inner;
		word = new_trace_last_part(command[0]);
		python = strncmp(word, "python", 6) == 0;
	}
	if (python || new_trace_lists(launchers, NEW_TRACE_COUNT(launchers), word)) {
		script = new_trace_script(command, python);
		word = script ? script : word;
	}
	snprintf(name, size, "%s", word);
	if (new_trace_stem(name))
		name[new_trace_stem(name)] = '\0';
}

/* ---- the file ------------------------------------------------------------------------------------ */

void dw_new_trace_others(const char *name, unsigned number, char text[DW_NEW_TRACE_TEXT])
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	uint64_t bytes = 0;
	unsigned others = 0;

	*text = '\0';
	if (number % NEW_TRACE_MANY)
		return;
	for (unsigned i = 1; i < number; i++) {
		char path[4200], tail[16] = "";
		struct stat status;

		if (i > 1)
			snprintf(tail, sizeof tail, "-%u", i);
		snprintf(path, sizeof path, "%s%s.dwell", name, tail);
		if (stat(path, &status) != 0)
			continue;
		others++;
		bytes += (uint64_t)status.st_blocks * 512;
	}
	if (others)
		snprintf(text, DW_NEW_TRACE_TEXT,
		         "%u older traces of %.100s take %s here: with -o %.100s.dwell each run replaces that file, and dwell pack stores "
		         "a trace in a fraction of its size", others, base, dw_text_bytes((double)bytes, " ").at, base);
}

int dw_new_trace(char **command, dw_new_trace_create *create, void *context, const char **elsewhere)
{
	const char *temporary = getenv("TMPDIR"), *folder = "";
	char name[256], here[2048], path[4096], others[DW_NEW_TRACE_TEXT], number[16] = "";
	unsigned taken = 0;
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
		taken = i;
	}
	path[strlen(path) - strlen(number) - strlen(".dwell")] = '\0';
	dw_new_trace_others(path, taken, others);
	if (fd >= 0 && *others)
		dw_say("%s", others);
	return fd;
}
