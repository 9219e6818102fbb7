/*
 * Attaching to PyTorch: called with the module when its import is done.
 *
 * Each part works by itself: what this PyTorch does not answer (abi/abi.h) is not recorded, one
 * line on standard error says so, and the rest is recorded.
 */
#include "format/keys.h"
#include "torch.h"

void dwp_torch_attach(PyObject *torch)
{
	char version[64];

	dwp_python_text(torch, "__version__", version, sizeof version);
	dwell_meta(DW_KEY_TORCH_VERSION, version);
	dwp_torch_places_attach();
	if (dwp_abi_attach(dwp_abi_open_extension(torch), version)) {
		dwp_cost_measure(torch);
		dwp_python_on_gate(dwp_operators_follow_gate);
		dwp_operators_follow_gate();
	}
	dwp_memory_attach();
	dwp_layers_attach(torch);
	dwp_loop_attach(torch, dwp_operators_follow_gate);
	dwp_data_attach(torch);
	dwp_collectives_attach(torch);
	dwp_recompiled_attach();
}
