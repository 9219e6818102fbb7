/*
 * Runs the operators of work.h with lines of Python, and opens the extension of PyTorch. Needs the
 * interpreter's lock.
 *
 * A backward is run by calling the node itself, not by autograd's engine. Once the engine has run, it has a thread for each device,
 * and refuses to work in processes that the program forks later.
 */
#include "../torch.h"
#include "work.h"

#include <dlfcn.h>
#include <stdio.h>

static PyObject *module, *names;

/* Functions are looked up in torch._C of this module and in the libraries that it needs, so that another
 * PyTorch in the process is not used by mistake. */
void *dwp_abi_open_extension(PyObject *torch)
{
	PyObject *extension = PyObject_GetAttrString(torch, "_C");
	char path[4096] = "";

	if (extension)
		dwp_python_text(extension, "__file__", path, sizeof path);
	PyErr_Clear();
	Py_XDECREF(extension);
	Py_INCREF(torch);
	module = torch;
	return *path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

bool dwp_abi_work_begin(void)
{
	names = dwp_python_names("torch", module);
	return names != NULL;
}

void dwp_abi_work_end(void)
{
	Py_CLEAR(names);
}

bool dwp_abi_make_tensor(const int64_t sizes[3], uint16_t dtype)
{
	const char *type = dtype == DWELL_INT16 ? "int16" : dtype == DWELL_FLOAT64 ? "float64" : "complex128";
	char code[160];

	snprintf(code, sizeof code, "t = torch.zeros((%d, %d, %d), device='cpu', dtype=torch.%s)", (int)sizes[0],
	         (int)sizes[1], (int)sizes[2], type);
	return dwp_python_run(names, code);
}

uintptr_t dwp_abi_tensor_elements(void)
{
	PyObject *address =
		dwp_python_run(names, "a = t.data_ptr()") ? PyDict_GetItemString(names, "a") : NULL; /* borrowed */
	uintptr_t elements = address ? (uintptr_t)PyLong_AsUnsignedLongLong(address) : 0;

	if (PyErr_Occurred()) {
		PyErr_Clear();
		return 0;
	}
	return elements;
}

/* A function that is compiled once, because it is timed. */
static bool work_cost(void)
{
	static const char code[] = "one = torch.ones((), device='cpu')\n"
	                           "def work():\n"
	                           " with torch.inference_mode(False), torch.enable_grad():\n"
	                           "  for i in range(2):\n"
	                           "   sum = (t.exp() * t).sum().grad_fn\n"
	                           "   mul = sum.next_functions[0][0]\n"
	                           "   with torch.no_grad(): mul.next_functions[0][0](mul(sum(one))[0])\n";
	PyObject *function = PyDict_GetItemString(names, "work"), *result = NULL; /* borrowed */

	if (!function && dwp_python_run(names, code))
		function = PyDict_GetItemString(names, "work");
	if (function)
		result = PyObject_CallObject(function, NULL);
	Py_XDECREF(result);
	PyErr_Clear();
	return result != NULL;
}

bool dwp_abi_work(enum dwp_abi_work work)
{
	static const char *const code[] = {
		[DWP_ABI_WORK_NEG] = "with torch.no_grad(): torch.neg(t)",
		[DWP_ABI_WORK_RAISE] = "with torch.inference_mode(False), torch.enable_grad():\n"
		                       " t = torch.ones((), device='cpu', requires_grad=True)\n"
		                       " for i in range(7): t.exp()\n",
		[DWP_ABI_WORK_EXP] = "with torch.inference_mode(False), torch.enable_grad(): y = t.exp()",
		[DWP_ABI_WORK_BACKWARD] =
			"with torch.inference_mode(False), torch.no_grad(): y.grad_fn(torch.ones((), device='cpu'))",
		[DWP_ABI_WORK_INTEGERS] = "with torch.inference_mode(False), torch.no_grad():\n"
								  " torch.all(t, 2, True)\n"
								  " torch.flip(t, (1, 2, 0))\n",
		[DWP_ABI_WORK_CHECK] =
			"with torch.inference_mode(False), torch.no_grad():\n"
			" torch.all(torch.zeros((7, 1, 3), dtype=torch.float64, device='cpu'), 1, False)\n"
			" torch.flip(torch.zeros((7, 0, 3), dtype=torch.float64, device='cpu'), (2, 0))\n"
			" torch.bitwise_not(torch.zeros((7, 1, 3), dtype=torch.int16, device='cpu'))\n"
			" torch.logical_not(torch.zeros((2, 1, 1, 3, 1, 5), dtype=torch.bfloat16, device='cpu'))\n"
			" torch.cumsum(torch.zeros((7, 1, 3), dtype=torch.float64, device='cpu'), 2)\n"
			"with torch.inference_mode(False), torch.enable_grad():\n"
			" t = torch.ones((), device='cpu', requires_grad=True)\n"
			" y = t.sin()\n"
			" with torch.no_grad(): y.grad_fn(torch.ones((), device='cpu'))\n",
		[DWP_ABI_WORK_SCRIPT] = "torch.jit.CompilationUnit('def " DWP_ABI_SCRIPT_NAME "(x):\\n return torch.neg(x)\\n')."
		                        DWP_ABI_SCRIPT_NAME "(torch.zeros(1, device='cpu'))",
	};

	if (work == DWP_ABI_WORK_COST)
		return work_cost();
	return dwp_python_run(names, code[work]);
}
