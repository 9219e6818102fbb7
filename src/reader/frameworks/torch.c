/* PyTorch; see frameworks.h. */
#include "frameworks/torch.h"

#include <stdio.h>
#include <string.h>

#include "dwell/probe.h"

/* Collective operators, such as c10d::allreduce_, and the ranges of the threads that run them, such
 * as gloo:all_reduce. */
static const char *const collectives[] = { "c10d::", "gloo:", "nccl:", "mpi:", "ucc:", NULL };

const struct dw_framework dw_framework_torch = { .name = "torch", .collectives = collectives };

bool dw_torch_is_hidden(const char *name)
{
	static const char *const hidden[] = {
		"profiler::_record_function_enter", "profiler::_record_function_enter_new",
		"profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version",
	};

	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (strcmp(name, hidden[i]) == 0)
			return true;
	return false;
}

bool dw_framework_wraps_optimizer(const char *name)
{
	return strncmp(name, "Optimizer.step#", 15) == 0 || strncmp(name, "Optimizer.zero_grad#", 20) == 0;
}

bool dw_torch_names_call(const char *detail)
{
	return detail && (*detail == '#' || (strchr(detail, '.') && !strchr(detail, ' ')));
}

void dw_torch_annotation(uint32_t category, const char *name, const char *detail, char *text, size_t size)
{
	static const char zero[] = ".zero_grad";
	size_t length = dw_torch_names_call(detail) ? strlen(detail) : 0;
	const char *before = NULL;

	if (category == DWELL_CATEGORY_DATA && strcmp(name, "DataLoader.__next__") == 0)
		before = "enumerate(DataLoader)#";
	else if (category == DWELL_CATEGORY_PHASE && strcmp(name, "optimizer") == 0)
		before = length >= sizeof zero && strcmp(detail + length - (sizeof zero - 1), zero) == 0
		             ? "Optimizer.zero_grad#" : "Optimizer.step#";
	if (category == DWELL_CATEGORY_PHASE && length && *detail == '#')
		snprintf(text, size, "%s", detail); /* "## forward ##" */
	else
		snprintf(text, size, "%s%s", before && length ? before : "", before && length ? detail : name);
}
