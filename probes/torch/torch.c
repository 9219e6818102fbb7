/*
 * Attaching to PyTorch: called with the module when its import is done.
 *
 * Every part stands alone: what this PyTorch does not have, or has elsewhere, is left
 * out with one line that says so, and the rest is recorded.
 */
#include "format/keys.h"
#include "torch.h"

#include <dlfcn.h>

/* The module's own extension: what is looked for in it is found in the libraries that it
 * needs, whatever other PyTorch there is in the process. */
static void *extension(PyObject *torch)
{
	PyObject *module = PyObject_GetAttrString(torch, "_C");
	char path[4096] = "";

	if (module)
		dwp_python_text(module, "__file__", path, sizeof path);
	Py_XDECREF(module);
	PyErr_Clear();
	return *path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

/* The library that has a function. */
static void *home_of(void *handle, const char *function)
{
	void *address = dlsym(handle, function);
	Dl_info found;

	return address && dladdr(address, &found) && found.dli_fname
	           ? dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

static void say_missing(const char *version)
{
	const struct torch_layout *layout = &dwp_torch_layout;

	if (!layout->inputs || !layout->sequence || !layout->forward_thread)
		fprintf(stderr, "dwell: PyTorch %s is not known: its operators are recorded without%s%s\n",
		        version, layout->inputs ? "" : " shapes",
		        layout->sequence && layout->forward_thread ? "" : " links to their backward");
}

void dwp_torch_attach(PyObject *torch)
{
	void *own = extension(torch), *c10 = own ? home_of(own, "_ZN3c109alloc_cpuEm") : NULL;
	void *cpu = own ? home_of(own, "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE") : NULL;
	char version[64];

	dwp_python_text(torch, "__version__", version, sizeof version);
	dwell_meta(DW_KEY_TORCH_VERSION, version);
	if (own && dwp_torch_find_layout(torch, own)) {
		say_missing(version);
		if (cpu)
			dwp_states_attach(own, cpu);
		dwp_cost_measure(torch);
		dwp_script_attach(torch, own);
		dwp_operators_follow_gate();
	} else {
		fprintf(stderr, "dwell: PyTorch %s is not known: its operators are not recorded\n", version);
	}
	if (c10)
		dwp_memory_attach(c10);
	dwp_layers_attach(torch);
	dwp_loop_attach(torch);
	dwp_data_attach(torch);
	dwp_collectives_attach(torch, cpu);
}
