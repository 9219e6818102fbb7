/*
 * Metadata: what a trace stores about its processes in addition to their records.
 *
 * The command line is stored, so that a reader knows what was recorded; values that look like
 * secrets are removed. Of the environment only the variables of an allowlist are read, once, when
 * the library is loaded: getenv() is not safe in signal handlers and in children of fork.
 */
#include "format/keys.h"
#include "record/about_process.h"
#include "record/entry.h"
#include "record/ids.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/redact.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/system/descriptor.h"
#include "base/system/system.h"

#define REDACTED "[redacted]"

static struct {
	int32_t rank, local_rank, world_size;
	char job[64];
} environment = { -1, -1, -1, "" };

/* What launchers tell their ranks: torchrun and what is built on it (accelerate), Open MPI, MPICH and Intel MPI,
 * launchers with PMIx, Slurm. The first one that is found counts, because the inner launchers come first: a task of
 * srun starts torchrun or mpirun, whose processes have the variables of both. */
static const struct {
	const char *rank, *local_rank, *world_size, *job;
} launchers[] = {
	{ "RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID" },
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE" },
	{ "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "PMI_JOBID" },
	{ "PMIX_RANK", "", "", "" },
	{ "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", "" },
};

static int32_t metadata_number_of(const char *name)
{
	const char *text = getenv(name);

	return text && *text >= '0' && *text <= '9' ? atoi(text) : -1;
}

/* Lightning starts its ranks itself and tells them all but their rank, which is the local one if there is
 * one node. */
static void metadata_read_lightning(void)
{
	if (environment.rank < 0 && environment.local_rank >= 0 && environment.world_size > 0 &&
	    metadata_number_of("NODE_RANK") == 0 && environment.local_rank < environment.world_size)
		environment.rank = environment.local_rank;
}

/* srun with PMIx gives a task PMIX_RANK too, but how many tasks there are only by variables of its own. */
static bool metadata_is_pmix_of_slurm(void)
{
	const char *name = getenv("PMIX_NAMESPACE");

	return name && strncmp(name, "slurm.", 6) == 0;
}

/* The script of sbatch has SLURM_PROCID=0 and is no rank: only srun says how many tasks its step has. */
static bool metadata_is_rank(const char *rank)
{
	if (strcmp(rank, "PMIX_RANK") == 0 && metadata_is_pmix_of_slurm())
		return false;
	return metadata_number_of(rank) >= 0 && (strcmp(rank, "SLURM_PROCID") != 0 || getenv("SLURM_STEP_NUM_TASKS"));
}

/* torchrun without --rdzv-id names each job "none". */
static const char *metadata_find_job(void)
{
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		const char *job = getenv(launchers[i].job);

		if (job && strcmp(job, "none") != 0 && strncmp(job, "slurm.", 6) != 0)
			return job;
	}
	return NULL;
}

static void metadata_read_job(void)
{
	const char *job = metadata_find_job(), *number = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");

	if (job)
		snprintf(environment.job, sizeof environment.job, "%s", job);
	else if (number)
		snprintf(environment.job, sizeof environment.job, "%s%s%s", number, step ? "." : "", step ? step : "");
}

void dw_metadata_read_environment(void)
{
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		if (environment.rank < 0 && metadata_is_rank(launchers[i].rank)) {
			environment.rank = metadata_number_of(launchers[i].rank);
			environment.local_rank = metadata_number_of(launchers[i].local_rank);
			environment.world_size = metadata_number_of(launchers[i].world_size);
		}
	}
	if (environment.rank < 0) {
		environment.local_rank = metadata_number_of("LOCAL_RANK");
		environment.world_size = metadata_number_of("WORLD_SIZE");
	}
	metadata_read_lightning();
	metadata_read_job();
}

/* Words that mark a name as that of a secret anywhere in it: HF_TOKEN, --db-password. */
static bool metadata_names_a_secret(const char *text, size_t length)
{
	static const char *const words[] = { "token", "secret", "passw", "pwd", "passphrase", "apikey",
		                                 "api-key", "api_key", "access-key", "access_key",
		                                 "accesskey", "credential", "auth", "private", "cookie" };

	for (size_t w = 0; w < sizeof words / sizeof *words; w++)
		for (size_t i = 0; i + strlen(words[w]) <= length; i++)
			if (strncasecmp(text + i, words[w], strlen(words[w])) == 0 &&
			    strncasecmp(text + i, "tokeniz", 7) != 0)
				return true;
	return false;
}

/* The same for the name of an argument or a field, where "key" alone is also a secret's name. */
static bool metadata_names_an_argument_secret(const char *text, size_t length)
{
	if (metadata_names_a_secret(text, length))
		return true;
	for (; length && *text == '-'; length--)
		text++;
	return length == 3 && strncasecmp(text, "key", 3) == 0;
}

static size_t metadata_append(char *line, size_t at, size_t size, const char *text, size_t length)
{
	if (at + length >= size)
		length = size > at + 1 ? size - at - 1 : 0;
	memcpy(line + at, text, length);
	line[at + length] = '\0';
	return at + length;
}

static bool metadata_is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-' || c == '.';
}

/* The length of "Bearer" and the like, which is between a header's name and its secret. */
static size_t metadata_scheme_length(const char *value)
{
	static const char *const schemes[] = { "Bearer ", "Basic ", "Digest ", "token " };

	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
		if (strncasecmp(value, schemes[i], strlen(schemes[i])) == 0)
			return strlen(schemes[i]);
	return 0;
}

/* The end of the value that begins at `value`: the closing quote if the value is quoted; for
 * NAME=VALUE the end of the argument or of the pair in a list; otherwise the end of the line. */
static const char *metadata_end_of_value(const char *value, char sign, char quote)
{
	if (!quote)
		return value + strcspn(value, sign == '=' ? "&;" : ",;}]\n");
	while (*value && *value != quote)
		value += value[0] == '\\' && value[1] ? 2 : 1;
	return value;
}

/*
 * Finds the next value of a secret in text: it follows NAME=, NAME: or "NAME": where NAME is the
 * name of a secret. Stores where it begins and ends in *from and *to. False: there is none.
 */
static bool metadata_find_secret(const char *text, const char **from, const char **to)
{
	for (const char *sign = text; (sign = strpbrk(sign, "=:")); sign++) {
		const char *end = sign, *start, *value = sign + 1;
		char quote = 0;

		while (end > text && (end[-1] == '"' || end[-1] == '\'' || end[-1] == ' ' || end[-1] == '\\'))
			end--;
		for (start = end; start > text && metadata_is_name_character(start[-1]);)
			start--;
		if (!metadata_names_an_argument_secret(start, (size_t)(end - start)) ||
		    (*sign == ':' && strncmp(sign, "://", 3) == 0))
			continue;
		while (*value == ' ' || *value == '\\')
			value++;
		if (*value == '"' || *value == '\'')
			quote = *value++;
		value += metadata_scheme_length(value);
		*from = value;
		*to = metadata_end_of_value(value, *sign, quote);
		if (*to > *from)
			return true;
	}
	return false;
}

static size_t metadata_append_redacted(char *line, size_t at, size_t size, const char *argument)
{
	const char *user, *host, *from, *to;

	for (;;) {
		user = strstr(argument, "://");
		host = user ? strchr(user, '@') : NULL;
		if (host && strcspn(user + 3, "/?# ") < (size_t)(host - user - 3))
			host = NULL; /* the @ belongs to the path */
		if (!metadata_find_secret(argument, &from, &to))
			from = NULL;
		if (host && (!from || user < from)) {
			from = user + 3;
			to = host;
		}
		if (!from)
			return metadata_append(line, at, size, argument, strlen(argument));
		at = metadata_append(line, at, size, argument, (size_t)(from - argument));
		at = metadata_append(line, at, size, REDACTED, strlen(REDACTED));
		argument = to;
	}
}

/* Programs for which -pPASSWORD is a password. For others -p is a port, a path or a profile. */
static bool metadata_takes_password(const char *program)
{
	static const char *const programs[] = { "mysql", "mysqldump", "mysqladmin", "mariadb",
		                                    "mariadb-dump", "sshpass", "mongo", "mongosh" };
	const char *slash = strrchr(program, '/');

	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (strcmp(slash ? slash + 1 : program, programs[i]) == 0)
			return true;
	return false;
}

/*
 * Redacted are the value of --token=V, of TOKEN=V and of a header or a JSON member (Token: V); the argument after --token;
 * the text between :// and @; and -pV of programs that take a password this way.
 */
void dw_metadata_redact(const char *arguments, size_t length, char *line, size_t size)
{
	bool hide_next = false, password = metadata_takes_password(arguments);
	size_t at = 0;

	line[0] = '\0';
	for (size_t i = 0; i < length; i += strlen(arguments + i) + 1) {
		const char *argument = arguments + i;
		size_t argument_length = strlen(argument);

		password |= i && metadata_takes_password(argument);
		if (i)
			at = metadata_append(line, at, size, " ", 1);
		if (hide_next && *argument != '-') {
			at = metadata_append(line, at, size, REDACTED, strlen(REDACTED));
		} else if (password && strncmp(argument, "-p", 2) == 0 && argument[2]) {
			at = metadata_append(line, at, size, "-p", 2);
			at = metadata_append(line, at, size, REDACTED, strlen(REDACTED));
		} else {
			at = metadata_append_redacted(line, at, size, argument);
		}
		hide_next = *argument == '-' && !strpbrk(argument, "=: ") &&
		            metadata_names_an_argument_secret(argument, argument_length);
	}
}

/* Under the process's lock, as dw_metadata_process(): static, because a signal handler's stack may be small. */
static uint32_t metadata_command_line(void)
{
	static char arguments[2048], line[2048];
	int fd = dw_descriptor_open("/proc/self/cmdline", O_RDONLY, 0);
	long length = fd < 0 ? -1 : dw_call(SYS_read, fd, arguments, sizeof arguments - 1);

	dw_descriptor_close(fd);
	if (length <= 0)
		return 0;
	arguments[length] = '\0';
	dw_metadata_redact(arguments, (size_t)length, line, sizeof line);
	return dw_intern_text(line);
}

bool dw_metadata_process(struct dw_entry_process *entry)
{
	static char path[1024];
	long length = dw_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
	const char *base;

	path[length > 0 ? length : 0] = '\0';
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	entry->name = dw_intern_text(path);
	entry->command = metadata_command_line();
	entry->rank = environment.rank;
	entry->local_rank = environment.local_rank;
	entry->world_size = environment.world_size;
	entry->job = environment.job[0] ? dw_intern_text(environment.job) : 0;
	if (dw_session.runner)
		entry->flags |= DW_PROCESS_RUNNER;
	if (strncmp(base, "python", 6) == 0)
		entry->flags |= DW_PROCESS_PYTHON;
	return true;
}

/* ---- metadata that the program reports -------------------------------------------- */

/* A value may be long and is usually written once, so it is written without the table of names. */
static uint32_t metadata_write_value(const char *text)
{
	size_t length = strlen(text), longest = DW_ENTRY_MAX_BYTES - sizeof(struct dw_entry_string);
	uint32_t cut = length > longest ? DW_TEXT_CUT : 0, id;
	struct dw_entry_string *entry;

	if (cut)
		length = longest;
	entry = dw_journal_reserve(sizeof *entry + length);
	id = entry ? dw_new_id() : 0;
	if (!id)
		return 0;
	entry->entry.id = id;
	entry->entry.aux = (uint32_t)length | cut;
	memcpy(entry->text, text, length);
	dw_journal_commit(entry, DW_ENTRY_STRING);
	return id;
}

bool dw_meta(const char *key, const char *value, uint32_t flags)
{
	DW_KEEP_ERRNO;
	enum dw_loss cause;
	struct dw_entry_meta *entry = NULL;
	bool secret = key && metadata_names_a_secret(key, strlen(key));

	if (key && value && dw_session_head() && dw_process_ready(&cause)) {
		uint32_t key_id = dw_intern_text(key);
		uint32_t value_id = metadata_write_value(secret ? REDACTED : value);

		entry = key_id && value_id ? dw_journal_reserve(sizeof *entry) : NULL;
		if (entry) {
			entry->entry.id = key_id;
			entry->entry.aux = value_id;
			entry->flags = secret ? 0 : flags;
			dw_journal_commit(entry, DW_ENTRY_META);
		}
	}
	return entry != NULL;
}

bool dwell_meta_try(const char *key, const char *value, bool json)
{
	return dw_meta(key, value, json ? DW_META_JSON : 0);
}

void dwell_meta(const char *key, const char *value)
{
	dw_meta(key, value, 0);
}

void dwell_meta_json(const char *key, const char *json)
{
	dw_meta(key, json, DW_META_JSON);
}

static void metadata_name_thread(uint32_t text)
{
	struct dw_slot *slot = dw_slot_here(NULL);
	struct dw_entry_thread_name *entry = slot && text ? dw_journal_reserve(sizeof *entry) : NULL;

	if (entry) {
		entry->entry.id = slot->thread;
		entry->entry.aux = text;
		dw_journal_commit(entry, DW_ENTRY_THREAD_NAME);
	}
}

void dwell_thread_name(const char *name)
{
	DW_KEEP_ERRNO;

	if (dw_session_head())
		metadata_name_thread(dw_intern_text(name));
}

/* The next number of a name, from 0. Of more names than the table has, all get the number 0. */
static unsigned metadata_next_number(uint32_t text)
{
	static struct {
		uint32_t text, next; /* atomic */
	} names[64];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint32_t found = 0;

		if (__atomic_compare_exchange_n(&names[i].text, &found, text, false, __ATOMIC_RELAXED,
		                                __ATOMIC_RELAXED) ||
		    found == text)
			return __atomic_fetch_add(&names[i].next, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

void dwell_thread_number(const char *name, int number)
{
	DW_KEEP_ERRNO;
	char numbered[256];

	if (dw_session_head() && name) {
		snprintf(numbered, sizeof numbered, "%.240s %u", name,
		         number < 0 ? metadata_next_number(dw_intern_text(name)) : (unsigned)number);
		metadata_name_thread(dw_intern_text(numbered));
	}
}

void dwell_rank(int rank, int local_rank, int world_size)
{
	char text[96];

	environment.rank = rank;
	environment.local_rank = local_rank;
	environment.world_size = world_size;
	/* The PROCESS entry may be written already: readers use the latest value of a key. */
	snprintf(text, sizeof text, "[%d,%d,%d]", rank, local_rank, world_size);
	dw_meta(DW_KEY_RANK, text, DW_META_JSON);
}
