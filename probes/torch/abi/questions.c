/*
 * What the files of this folder share: PyTorch's functions for callbacks, and the questions without an answer.
 */
#include "format/keys.h"
#include "private.h"

#include <stdlib.h>
#include <string.h>

struct dwp_abi_functions dwp_abi_functions;

uint64_t dwp_abi_add_callback(torch_start *start, torch_end *end, unsigned scopes, bool inputs)
{
	struct torch_callback callback = { start, end, 1.0, { 0 }, inputs, 0, 0 };

	for (unsigned i = 0; i < sizeof callback.scopes; i++)
		callback.scopes[i] = scopes >> i & 1;
	return dwp_abi_functions.add(callback);
}

void dwp_abi_remove_callback(uint64_t handle)
{
	dwp_abi_functions.remove(handle);
}

/* ---- what this PyTorch does not answer ---------------------------------------------------- */

/* `name`: what DWELL_TEST_BREAK contains in tests. `what`: what is missing without the answer.
 * `why`: the end of the line on standard error; "": it is no matter of the version; NULL: recording only takes longer, so
 * that no line is printed. */
static const struct {
	const char *name, *what, *why;
} questions[DWP_ABI_QUESTIONS] = {
	[DWP_ABI_OPERATORS] = { "operators", "operators are not recorded", "calls callbacks" },
	[DWP_ABI_NAMES] = { "names", "recording an operator takes longer", NULL },
	[DWP_ABI_SEQUENCES] = { "sequences", "operators have no links to their backward", "numbers operators" },
	[DWP_ABI_THREADS] = { "threads", "links to a backward do not name the thread", "numbers threads" },
	[DWP_ABI_SHAPES] = { "shapes", "shapes are not recorded", "lays out tensors" },
	[DWP_ABI_INTEGERS] = { "integers", "fewer FLOPs are counted, because strides and flags are not recorded",
	                       "lays out integers" },
	[DWP_ABI_ELEMENTS] = { "elements", "FLOPs are counted of tensors without memory, too",
	                       "lays out a tensor's memory" },
	[DWP_ABI_SCRIPT] = { "script", "stacks have no frames of TorchScript", "returns a script's calls" },
	[DWP_ABI_STATES] = { "states", "recording a backward takes longer", NULL },
	[DWP_ABI_ALLOCATOR] = { "allocator", "allocations on the CPU are not recorded", "calls its allocator" },
	[DWP_ABI_DEVICE_ALLOCATOR] = { "device allocator", "allocations on devices are not recorded",
	                               "calls an allocator's report" },
	[DWP_ABI_REDUCER] = { "reducer", "waits of DistributedDataParallel are not recorded",
	                      "calls its reducer" },
	[DWP_ABI_CALLS] = { "calls", "steps, phases and layers are not recorded", "calls functions" },
	[DWP_ABI_SECOND] = { "second", "the process has two LibTorch, and the second one is not recorded", "" },
	[DWP_ABI_MODULES] = { "modules", "the program has had more than 16,384 modules: the layers of others have the name of "
		"their class", "" },
};

char dwp_abi_version[64];
static uint32_t lacks; /* bits: 1 << question without an answer */

/* Stores a text about those questions without an answer for which something is missing, or for which recording
 * takes longer. Only the last value of a key counts. */
static void abi_note(const char *key, bool missing)
{
	char text[1024] = "";
	size_t at = 0;

	for (unsigned i = 0; i < DWP_ABI_QUESTIONS && at < sizeof text; i++)
		if (lacks >> i & 1 && (questions[i].why != NULL) == missing)
			at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? "; " : "", questions[i].what);
	if (*text)
		dwell_meta(key, text);
}

void dwp_abi_lacks(enum dwp_abi_question question)
{
	if (lacks >> question & 1)
		return;
	lacks |= 1u << question;
	if (questions[question].why && !*questions[question].why)
		fprintf(stderr, "dwell: PyTorch %s: %s\n", dwp_abi_version, questions[question].what);
	else if (questions[question].why)
		fprintf(stderr, "dwell: PyTorch %s: %s: this version %s in a way that dwell does not know\n",
		        dwp_abi_version, questions[question].what, questions[question].why);
	abi_note(questions[question].why ? DW_KEY_TORCH_LACKS : DW_KEY_TORCH_SLOWER, questions[question].why != NULL);
}

#ifdef DWP_ABI_BREAK
bool dwp_abi_breaks(enum dwp_abi_question question)
{
	const char *name = getenv("DWELL_TEST_BREAK");

	return name && strcmp(name, questions[question].name) == 0;
}
#endif
