/*
 * Waiting for other ranks: a range of communication where a thread waits for a collective.
 *
 * The collectives' own operators (c10d::allreduce_, gloo:all_reduce) are recorded as all
 * operators are, but they only start the work or run in another thread. A step waits in
 * Work.wait(), which torch.distributed's functions call unless async_op is given, and with
 * DistributedDataParallel at the end of its backward: there its reducer waits for the
 * gradients of all buckets and copies them. PyTorch announces neither. The first is hooked in
 * Python, the second where libtorch_cpu calls it.
 *
 * A collective that fails throws: this file is compiled so that exceptions pass through and
 * end the range.
 */
#include "torch.h"

static void collectives_before_wait(struct dwp_call *call)
{
	static struct dwell_site site = { "Work.wait", NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };

	call->began = dwell_begin(&site);
}

static void collectives_after_wait(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
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
