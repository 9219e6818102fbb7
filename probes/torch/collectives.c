/*
 * Waits for other ranks: a range of communication while a thread waits for a collective.
 *
 * The operators of collectives (c10d::allreduce_, gloo:all_reduce) are recorded like all operators,
 * but they only start the work, or they run in another thread. A step waits in two places: in
 * Work.wait(), which torch.distributed's functions call unless async_op is given, and with
 * DistributedDataParallel at the end of backward, where its reducer waits for the gradients of all
 * buckets and copies them. PyTorch has no callback for either. The first is hooked in Python, the
 * second where libtorch_cpu calls it.
 *
 * A collective that fails throws a C++ exception. This file is compiled so that exceptions pass
 * through it and end the range.
 */
#include "torch.h"

static void collectives_before_wait(struct dwp_call *call)
{
	static struct dwell_site site = { "Work.wait", NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };

	call->began = dwell_begin(&site);
	dwp_torch_places_enter(TORCH_PLACES_HIDDEN);
}

static void collectives_after_wait(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
	dwp_torch_places_leave(TORCH_PLACES_HIDDEN);
}

static void (*finalize_backward)(void *reducer);

static void collectives_record_finalize(void *reducer)
{
	static struct dwell_site site = { "DistributedDataParallel.finalize_backward", NULL, NULL, 0,
		                              DWELL_CATEGORY_COMMUNICATION, 0 };
	DWELL_SCOPE_OPEN(dwell_begin(&site), 0);

	finalize_backward(reducer);
}

void dwp_collectives_attach(PyObject *torch)
{
	static const struct dwp_hook wait = { collectives_before_wait, collectives_after_wait };

	dwp_hook_path(torch, "_C._distributed_c10d.Work", "wait", &wait);
	dwp_abi_replace_finalize_backward(collectives_record_finalize, &finalize_backward);
}
