/* What a program used and the trace does not have; see unrecorded.h. */
#include "read/unrecorded.h"

#include "format/layout.h"
#include "format/libraries.h"

static const struct library {
	const char *id, *label, *key;
	enum dw_library_use use;
	const char *missing, *remedy;
} libraries[] = {
#define X(id, label, beginnings, probe, variable, key, use, missing, remedy) \
	{ #id, (label), (key), DW_LIBRARY_##use, (missing), (remedy) },
	DW_LIBRARIES(X)
#undef X
};
#define LIBRARIES (sizeof libraries / sizeof *libraries)

_Static_assert(LIBRARIES <= DW_UNRECORDED_MOST, "the list of the caller is too short");

/* The last value of a key, in the process or in one that it was forked from, directly or not. */
static const char *unrecorded_inherited(const struct dw_source *source, uint32_t process, const char *key)
{
	const char *value = NULL;

	for (unsigned depth = 0; process < source->process_count && depth < 64 && !value; depth++) {
		if (source->processes[process].flags & DW_PROCESS_RUNNER)
			break;
		value = dw_source_meta(source, process, key);
		process = source->processes[process].parent;
	}
	return value;
}

/* What `dwell run` said when it started the processes of a file. */
static const char *unrecorded_of_runner(const struct dw_source *source, uint32_t file, const char *key)
{
	for (uint32_t i = 0; i < source->process_count; i++)
		if (source->processes[i].file == file && source->processes[i].flags & DW_PROCESS_RUNNER)
			return dw_source_meta(source, i, key);
	return NULL;
}

/* Finds the library in the list of a process: its file, and whether its probe was loaded. */
static bool unrecorded_in_list(const char *list, const char *id, char file[64], bool *has_probe)
{
	size_t length = strlen(id);

	for (const char *at = list; at && *at; at += strcspn(at, ";"), at += *at == ';') {
		const char *name = at + length + 1;
		size_t end = strcspn(at, ";");

		if (end <= length || strncmp(at, id, length) != 0 || at[length] != ' ')
			continue;
		snprintf(file, 64, "%.*s", (int)strcspn(name, " ;"), name);
		*has_probe = end > 6 && memcmp(at + end - 6, " probe", 6) == 0;
		return true;
	}
	return false;
}

/* Whether a library that is loaded counts as used. Some frameworks are linked to MPI, but only processes of a launcher call it.
 * `of_torch`: PyTorch is recorded. It calls MPI from C, so if there is a probe of MPI, the probe has seen all calls. */
static bool unrecorded_is_used(const struct library *library, const struct dw_source_process *self, const char *list, bool has_probe,
                               bool of_torch)
{
	bool of_ranks = self->world_size > 1, unused;
	char file[64];

	switch (library->use) {
	case DW_LIBRARY_PROBED: return !has_probe;
	case DW_LIBRARY_CALLED: return (of_ranks && !(has_probe && of_torch)) || (!has_probe && self->rank >= 0 && self->world_size < 0);
	default: return of_ranks && unrecorded_in_list(list, "cuda", file, &unused);
	}
}

/* Whether the process used the library, and the trace does not have all of it. */
static bool unrecorded_find(const struct dw_source *source, uint32_t process, const struct library *library,
                            struct dw_unrecorded *found)
{
	const struct dw_source_process *self = &source->processes[process];
	const char *list = dw_source_meta(source, process, DW_KEY_LIBRARIES), *lacks;
	bool recorded = *library->key && unrecorded_inherited(source, process, library->key), has_probe = false;
	char key[32];

	if (self->flags & DW_PROCESS_RUNNER)
		return false;
	dw_unrecorded_of(library->id, found);
	found->process = process;
	snprintf(key, sizeof key, "%s%s", library->id, DW_KEY_LACKS);
	lacks = dw_source_meta(source, process, key);
	if (!unrecorded_in_list(list, library->id, found->file, &has_probe) && !lacks)
		return false;
	found->partly = recorded;
	found->why = lacks;
	if (lacks)
		return true;
	if (recorded || !unrecorded_is_used(library, self, list, has_probe, unrecorded_inherited(source, process, DW_KEY_TORCH_VERSION)))
		return false;
	found->why = unrecorded_of_runner(source, self->file, key);
	if (!found->why)
		found->why = has_probe ? "its probe was loaded and saw no call; calls from Fortran are not seen" : library->remedy;
	return true;
}

size_t dw_source_unrecorded(const struct dw_source *source, uint32_t process,
                            struct dw_unrecorded list[DW_UNRECORDED_MOST])
{
	size_t count = 0;

	for (size_t l = 0; l < LIBRARIES; l++) {
		struct dw_unrecorded found;
		bool any = false;

		for (uint32_t p = 0; p < source->process_count; p++) {
			if ((process != DW_NO_INDEX && p != process) || !unrecorded_find(source, p, &libraries[l], &found))
				continue;
			if (any)
				list[count].processes++;
			else
				list[count] = found;
			any = true;
		}
		count += any;
	}
	return count;
}

bool dw_unrecorded_of(const char *id, struct dw_unrecorded *what)
{
	for (size_t l = 0; l < LIBRARIES; l++)
		if (strcmp(libraries[l].id, id) == 0) {
			*what = (struct dw_unrecorded){ .id = libraries[l].id, .label = libraries[l].label,
				                            .missing = libraries[l].missing, .why = "", .processes = 1 };
			return true;
		}
	return false;
}

static bool unrecorded_is_gap(const struct dw_source_meta *meta)
{
	return strncmp(meta->key, DW_KEY_GAP, strlen(DW_KEY_GAP)) == 0 || strcmp(meta->key, DW_KEY_APART) == 0;
}

const char *dw_source_next_gap(const struct dw_source *source, size_t *at)
{
	while (*at < source->meta_count) {
		const struct dw_source_meta *meta = &source->metas[(*at)++];
		bool again = !unrecorded_is_gap(meta);

		/* Of a process the last value of a key counts, and many processes may say the same. */
		for (size_t i = 0; i < source->meta_count && !again; i++) {
			const struct dw_source_meta *other = &source->metas[i];

			again = other > meta ? other->process == meta->process && strcmp(other->key, meta->key) == 0
			                     : other < meta && unrecorded_is_gap(other) && strcmp(other->value, meta->value) == 0;
		}
		if (!again)
			return meta->value;
	}
	return NULL;
}

bool dw_unrecorded_is_of_ranks(const struct dw_unrecorded *what)
{
	return strcmp(what->id, "mpi") == 0 || strcmp(what->id, "nccl") == 0;
}

void dw_unrecorded_text(const struct dw_unrecorded *what, char *to, size_t size)
{
	char where[100] = "";

	if (*what->file && what->processes > 1)
		snprintf(where, sizeof where, " (%s, %zu processes)", what->file, what->processes);
	else if (*what->file)
		snprintf(where, sizeof where, " (%s)", what->file);
	if (what->partly)
		snprintf(to, size, "%s is recorded in part%s: %.300s.", what->label, where, what->why);
	else
		snprintf(to, size, "%s is not recorded%s: %.300s. Missing: %s.", what->label, where, what->why, what->missing);
}
