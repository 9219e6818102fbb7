/* What the kernel says about a process; from /proc. */
#include "top/use.h"

#include <unistd.h>

#include "base/system/proc.h"

void dw_top_use_add(struct dw_top_use *use, uint32_t pid)
{
	struct dw_proc_stat stat;

	if (!dw_proc_read_stat(pid, 0, &stat))
		return;
	use->processes++;
	use->threads += stat.threads;
	use->cpu_ns += stat.cpu_ns;
	use->resident_bytes += stat.resident_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
