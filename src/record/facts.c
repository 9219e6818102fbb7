/*
 * Facts: what a trace says about its processes beside their records.
 *
 * The command line is stored so that a trace explains itself; what looks like a
 * secret in it is not. Of the environment an allowlist is read, once, when the
 * library is loaded (getenv is not for signal handlers and children of fork).
 */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define REDACTED "[redacted]"

static struct {
	int32_t rank, local_rank, world_size;
	char job[64];
} environment = { -1, -1, -1, "" };

static int32_t number_of(const char *first, const char *second)
{
	const char *text = getenv(first);

	if (!text)
		text = getenv(second);
	return text && *text >= '0' && *text <= '9' ? atoi(text) : -1;
}

void dw_facts_read_environment(void)
{
	const char *job = getenv("TORCHELASTIC_RUN_ID");

	environment.rank = number_of("RANK", "SLURM_PROCID");
	environment.local_rank = number_of("LOCAL_RANK", "SLURM_LOCALID");
	environment.world_size = number_of("WORLD_SIZE", "SLURM_NTASKS");
	if (!job)
		job = getenv("SLURM_JOB_ID");
	if (job)
		snprintf(environment.job, sizeof environment.job, "%s", job);
}

static bool names_a_secret(const char *text, size_t length)
{
	static const char *const words[] = { "token", "secret", "passw", "apikey", "api-key", "api_key",
		                                 "credential", "auth", "private" };

	for (size_t w = 0; w < sizeof words / sizeof *words; w++)
		for (size_t i = 0; i + strlen(words[w]) <= length; i++)
			if (strncasecmp(text + i, words[w], strlen(words[w])) == 0)
				return true;
	return false;
}

static size_t append(char *line, size_t at, size_t room, const char *text, size_t length)
{
	if (at + length >= room)
		length = room > at + 1 ? room - at - 1 : 0;
	memcpy(line + at, text, length);
	line[at + length] = '\0';
	return at + length;
}

/*
 * The arguments, blanks between them. The value of --token=V, of TOKEN=V and the
 * argument after --token are redacted, and what stands between :// and @.
 */
static void redact(const char *arguments, size_t length, char *line, size_t room)
{
	bool hide_next = false;
	size_t at = 0;

	line[0] = '\0';
	for (size_t i = 0; i < length; i += strlen(arguments + i) + 1) {
		const char *argument = arguments + i, *value = strchr(argument, '=');
		const char *user = strstr(argument, "://"), *host = user ? strchr(user, '@') : NULL;
		size_t name_length = value ? (size_t)(value - argument) : strlen(argument);
		bool secret = names_a_secret(argument, name_length);

		if (i)
			at = append(line, at, room, " ", 1);
		if (hide_next && *argument != '-') {
			at = append(line, at, room, REDACTED, strlen(REDACTED));
		} else if (secret && value) {
			at = append(line, at, room, argument, name_length + 1);
			at = append(line, at, room, REDACTED, strlen(REDACTED));
		} else if (host) {
			at = append(line, at, room, argument, (size_t)(user + 3 - argument));
			at = append(line, at, room, REDACTED, strlen(REDACTED));
			at = append(line, at, room, host, strlen(host));
		} else {
			at = append(line, at, room, argument, strlen(argument));
		}
		hide_next = secret && !value && *argument == '-';
	}
}

static uint32_t command_line(void)
{
	char arguments[2048], line[2048];
	int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? -1 : read(file, arguments, sizeof arguments - 1);

	if (file >= 0)
		close(file);
	if (length <= 0)
		return 0;
	arguments[length] = '\0';
	redact(arguments, (size_t)length, line, sizeof line);
	return dw_intern_text(line);
}

bool dw_facts_process(struct dw_entry_process *entry)
{
	char path[1024];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	const char *base;

	path[length > 0 ? length : 0] = '\0';
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	entry->name = dw_intern_text(path);
	entry->command = command_line();
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

/* ---- told by the program -------------------------------------------------------- */

/* A value may be long and is said once: it goes to the journal without the table. */
static uint32_t write_value(const char *text)
{
	size_t length = strlen(text), longest = DW_ENTRY_MAX_BYTES - sizeof(struct dw_entry_string);
	uint32_t cut = length > longest ? DW_TEXT_CUT : 0, id = dw_new_id();
	struct dw_entry_string *entry;

	if (cut)
		length = longest;
	entry = id ? dw_journal_reserve(sizeof *entry + length) : NULL;
	if (!entry)
		return 0;
	entry->entry.id = id;
	entry->entry.aux = (uint32_t)length | cut;
	memcpy(entry->text, text, length);
	dw_journal_commit(entry, DW_ENTRY_STRING);
	return id;
}

void dw_meta(const char *key, const char *value, uint32_t flags)
{
	int saved = errno;
	enum dw_loss cause;
	struct dw_entry_meta *entry;
	bool secret = names_a_secret(key, strlen(key));

	if (dw_session_head() && dw_process_ready(&cause)) {
		uint32_t key_id = dw_intern_text(key);
		uint32_t value_id = write_value(secret ? REDACTED : value);

		entry = key_id && value_id ? dw_journal_reserve(sizeof *entry) : NULL;
		if (entry) {
			entry->entry.id = key_id;
			entry->entry.aux = value_id;
			entry->flags = secret ? 0 : flags;
			dw_journal_commit(entry, DW_ENTRY_META);
		}
	}
	errno = saved;
}

void dwell_meta(const char *key, const char *value)
{
	dw_meta(key, value, 0);
}

void dwell_meta_json(const char *key, const char *json)
{
	dw_meta(key, json, DW_META_JSON);
}

void dwell_thread_name(const char *name)
{
	int saved = errno;
	enum dw_loss cause;
	struct dw_slot *slot = dw_slot_here(&cause);

	if (slot) {
		uint32_t text = dw_intern_text(name);
		struct dw_entry_thread_name *entry = text ? dw_journal_reserve(sizeof *entry) : NULL;

		if (entry) {
			entry->entry.id = slot->thread;
			entry->entry.aux = text;
			dw_journal_commit(entry, DW_ENTRY_THREAD_NAME);
		}
	}
	errno = saved;
}

void dwell_rank(int rank, int local_rank, int world_size)
{
	char text[96];

	environment.rank = rank;
	environment.local_rank = local_rank;
	environment.world_size = world_size;
	/* The PROCESS entry may stand already: later facts win. */
	snprintf(text, sizeof text, "[%d,%d,%d]", rank, local_rank, world_size);
	dw_meta("dwell.rank", text, DW_META_JSON);
}
