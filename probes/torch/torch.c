/*
 * Attaching to PyTorch: called with the module when its import is done.
 *
 * Every part stands alone: what this PyTorch does not have, or has elsewhere, is left
 * out with one line that says so, and the rest is recorded.
 */
#include "torch.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static int match(struct dl_phdr_info *info, size_t size, void *pair)
{
	const char **name_and_path = pair, *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;

	if (strncmp(name, name_and_path[0], strlen(name_and_path[0])) != 0)
		return 0;
	name_and_path[1] = info->dlpi_name;
	return 1;
}

/* A library that is in the process already, by the beginning of its file name. */
static void *library(const char *name)
{
	const char *name_and_path[2] = { name, NULL };

	return dl_iterate_phdr(match, name_and_path)
	           ? dlopen(name_and_path[1], RTLD_NOW | RTLD_NOLOAD) : NULL;
}

static void say_missing(const char *version)
{
	const struct torch_layout *layout = &dwell_torch_layout;

	if (!layout->inputs || !layout->sequence || !layout->forward_thread)
		fprintf(stderr, "dwell: PyTorch %s is not known: its operators are recorded without%s%s\n",
		        version, layout->inputs ? "" : " shapes",
		        layout->sequence && layout->forward_thread ? "" : " links to their backward");
}

void dwell_torch_attach(PyObject *torch)
{
	void *cpu = library("libtorch_cpu.so"), *c10 = library("libc10.so");
	char version[64];

	dwell_python_text(torch, "__version__", version, sizeof version);
	dwell_meta("torch.version", version);
	if (cpu && dwell_torch_find_layout(torch, cpu)) {
		say_missing(version);
		dwell_operators_follow_gate();
	} else {
		fprintf(stderr, "dwell: PyTorch %s is not known: its operators are not recorded\n", version);
	}
	if (c10)
		dwell_memory_attach(c10);
	dwell_layers_attach(torch);
	dwell_loop_attach(torch);
	dwell_data_attach(torch);
	dwell_collectives_attach(torch);
}
