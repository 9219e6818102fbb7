/* Finds, once in a process, what walks of stacks need: the tables of unwinding, the interpreter, the first thread's stack. */
#include "sampler.h"

#include <stdlib.h>
#include <unistd.h>

void dws_prepare(void)
{
	const char *runner = getenv("DWELL_RUNNER");

	if (dws_process.pid)
		return;
	dws_process.has_tables = dws_cfi_prepare();
	dws_waits_prepare();
	dws_python_prepare(&dws_process.lacks);
	dws_process.pid = getpid();
	dws_process.is_program = runner && strtol(runner, NULL, 10) == getppid();
	dws_take_first_stack();
}
