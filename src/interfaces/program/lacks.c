/* Probes that the program does not get; see lacks.h. */
#include "program/lacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"
#include "program/executable.h"
#include "program/installed.h"
#include "read/unrecorded.h"
#include "say/say.h"

static void lacks_note(const char *id, const char *why)
{
	char key[32];

	snprintf(key, sizeof key, "%s%s", id, DW_KEY_LACKS);
	dwell_meta(key, why);
}

/* A library of which the program loads the probe itself, by a variable of the environment. */
static void lacks_note_variable(const char *id, bool allowed, const char *variable, bool takes_two)
{
	const char *value = getenv(variable), *slash = value ? strrchr(value, '/') : NULL;
	char text[300];

	if (!allowed)
		snprintf(text, sizeof text, "dwell run was started with --no-%s", id);
	else if (!takes_two && value && *value && strncmp(slash ? slash + 1 : value, "libdwell-", 9) != 0)
		snprintf(text, sizeof text, "the variable %s names another tool, %.150s: unset it", variable, value);
	else
		return;
	lacks_note(id, text);
}

/* Why the probe of MPI is not loaded, or NULL. */
static const char *lacks_find_mpi(bool mpi)
{
	char path[4096];

	if (!mpi)
		return "dwell run was started with --no-mpi";
	return dw_installed_find(DW_INSTALLED_MPI, path) ? NULL : "libdwell-mpi.so is not installed with this dwell";
}

void dw_lacks_note(const struct dw_executable *executable, bool mpi, bool ggml, bool cuda, bool nvtx, bool itt)
{
	static const char *const ids[] = { "mpi", "nccl", "cuda", "nvtx", "itt", "ggml", "python", "torch" };
	const char *why = executable->refusal;

	for (size_t i = 0; why && i < sizeof ids / sizeof *ids; i++)
		lacks_note(ids[i], why);
	if (why)
		return;
	why = lacks_find_mpi(mpi);
	if (why)
		lacks_note("mpi", why);
	for (size_t i = 0; i < executable->contained_count; i++)
		if (ggml || strcmp(executable->contained[i].name, "ggml") != 0)
			dw_say("%s is not recorded: it is a part of %s; %s", executable->contained[i].name, executable->name,
			       executable->contained[i].remedy);
	if (!ggml)
		lacks_note("ggml", "dwell run was started with --no-ggml");
	lacks_note_variable("nccl", true, "NCCL_PROFILER_PLUGIN", false);
	lacks_note_variable("cuda", cuda, "CUDA_INJECTION64_PATH", false);
	lacks_note_variable("nvtx", nvtx, "NVTX_INJECTION64_PATH", true);
	lacks_note_variable("itt", itt, "INTEL_LIBITTNOTIFY64", false);
}

void dw_lacks_say(const struct dw_source *source)
{
	struct dw_unrecorded list[DW_UNRECORDED_MOST];
	size_t count;
	char text[512];

	count = dw_source_unrecorded(source, DW_NO_INDEX, list);
	for (size_t i = 0; i < count; i++) {
		dw_unrecorded_text(&list[i], text, sizeof text);
		/* PyTorch's probe has said what it lacks of a version. */
		if (!list[i].partly || strcmp(list[i].id, "torch") != 0)
			dw_say("%s", text);
	}
}
