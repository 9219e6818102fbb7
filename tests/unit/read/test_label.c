/* Labels of processes, as shown to users. */
#include "check.h"

#include "read/read.h"

static void label_is(const char *want, const char *name, const char *command)
{
	struct dw_arena arena = { 0 };
	struct dw_source_process process = { .name = name, .command = command };

	CHECK_STR(dw_read_label(&arena, &process), want);
	dw_arena_reset(&arena);
}

TEST(scripts_modules_and_programs)
{
	label_is("train", "/opt/job/train", "/opt/job/train --lr 0.1");
	label_is("train.py", "/usr/bin/python3.11", "python3 train.py --data /data");
	label_is("train.py", "/usr/bin/python3.11", "python3 -u -X dev -W ignore scripts/train.py");
	label_is("torch.distributed.run", "/usr/bin/python3.11", "python -m torch.distributed.run t.py");
	label_is("python3.11", "/usr/bin/python3.11", "python3 -c import\\ this");
	label_is("python3.11", "/usr/bin/python3.11", "python3 -");
	label_is("python3.11", "/usr/bin/python3.11", "python3");
	label_is("python3.11", "/usr/bin/python3.11", "");
	label_is("folder/", "folder/", "");
	label_is("(unknown)", "(unknown)", "");
}

CHECK_MAIN
