/*
 * Attaches to PyTorch in a process without Python: called by the library that `dwell run` preloads, when
 * PyTorch's library has been loaded and initialised.
 *
 * Each part works by itself, as in Python. What needs a Python object is not recorded.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../cost.h"
#include "format/keys.h"
#include "native.h"

/* The text after `before` in the first line of a file that has it, up to a quote or the line's end. */
static bool attach_read_text(const char *path, const char *before, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof line, file))
		if (strncmp(line, before, strlen(before)) == 0) {
			line[strcspn(line + strlen(before), "'\"\n") + strlen(before)] = '\0';
			snprintf(text, size, "%s", line + strlen(before));
			found = *text != '\0';
		}
	if (file)
		fclose(file);
	return found;
}

/* No function of PyTorch returns its version. The archives of LibTorch have it in a file, pip's packages
 * in version.py, and Debian's library in its name. */
static void attach_find_version(const char *library, char *version, size_t size)
{
	static const char suffix[] = "/libtorch_cpu.so.";
	const char *slash = strrchr(library, '/');
	int folder = slash ? (int)(slash - library) : 0;
	char path[4200];

	snprintf(path, sizeof path, "%.*s/../build-version", folder, library);
	if (attach_read_text(path, "", version, size))
		return;
	snprintf(path, sizeof path, "%.*s/../version.py", folder, library);
	if (attach_read_text(path, "__version__ = '", version, size))
		return;
	if (slash && strncmp(slash, suffix, sizeof suffix - 1) == 0 && isdigit((unsigned char)slash[sizeof suffix - 1]))
		snprintf(version, size, "%s", slash + sizeof suffix - 1);
	else
		snprintf(version, size, "unknown");
}

/* Returns whether calls of the program are watched. */
static bool attach_first(void *library, const char *path, bool has_probes)
{
	char version[64];
	bool has_operators, watches = false;

	attach_find_version(path, version, sizeof version);
	dwell_meta(DW_KEY_TORCH_VERSION, version);
	dwp_native_prepare_work(library);
	has_operators = dwp_abi_attach(library, version);
	if (has_operators && dwell_gate) {
		dwp_cost_of_operators();
		dwp_cost_of_steps();
	}
	dwp_memory_attach();
	dwp_native_modules_attach(library);
	if (dwp_native_is_alone() && !has_probes)
		watches = dwp_native_enter(library, &dwp_native_loop);
	if (watches)
		dwp_native_loop_attach(); /* first: its callbacks come before those of operators */
	if (has_operators)
		dwp_operators_follow_gate();
	return watches;
}

/* `path`: of libtorch_cpu.so, which the process has loaded. `has_probes`: the program is linked to the recorder, so it marks
 * its steps and phases itself, and nothing else does. Called again when the program has loaded more libraries; never by two
 * threads at once. */
DWELL_API void dwp_native_attach(const char *path, bool has_probes);

void dwp_native_attach(const char *path, bool has_probes)
{
	static void *library; /* never closed */
	static bool watches;

	if (library) {
		if (dwp_native_is_alone() && watches)
			dwp_native_enter_added(library);
	} else {
		library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
		if (library)
			watches = attach_first(library, path, has_probes);
	}
}

/* ---- what ../core.h and ../places.h ask of the program: it has no lines of Python ------------------ */

__thread struct torch_places dwp_torch_places __attribute__((tls_model("initial-exec")));
uint32_t dwp_torch_attention;

void dwp_torch_places_between(struct torch_places *my, struct dwp_place here, uint64_t now)
{
}

void dwp_torch_places_read_cpu(struct torch_places *my)
{
}

void dwp_torch_places_long(struct torch_places *my, uint64_t began, bool called, uint32_t op)
{
}

void dwp_torch_places_forget(void)
{
}

void dwp_torch_places_thread(void)
{
}

void dwp_torch_places_restart(void)
{
}

void dwp_torch_attend(uint32_t bit, bool wanted)
{
}

struct dwp_places_layout dwp_places_layout;
uintptr_t dwp_places_codes[DWP_PLACES_CODES];

enum dwp_places_kind dwp_places_look(uintptr_t code)
{
	return DWP_PLACES_UNKNOWN;
}

uint32_t dwp_python_stack(const uint32_t *inner, uint32_t count)
{
	return count ? dwell_intern_stack(inner, count) : 0;
}

void dwp_loop_operator(void)
{
}
