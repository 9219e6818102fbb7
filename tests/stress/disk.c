/*
 * Full disks and other limits: the program continues, it receives no signal, and records that are
 * not in the file are counted.
 */
#include "stress.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct written {
	uint64_t records;
	uint64_t after; /* of these, made when there was room again; or names that were refused */
	uint64_t ns;    /* that refused names took */
	uint32_t id;    /* of a name that had space again */
};
#define NAMES 20000
static struct written *written;

static void write_marks(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		DWELL_COUNTER("mark", (double)i);
	}
	written->records += n;
}

/* kept + lost == written, and the loss has this cause. */
static void check_sum(const char *path, enum dw_loss cause, bool some_lost)
{
	struct trace trace;
	uint64_t kept, lost;

	if (!stress_read(&trace, path))
		return;
	kept = trace.records - trace.own;
	lost = trace_lost_all(&trace);
	if (kept + lost != written->records)
		FAIL("%llu kept + %llu lost, but %llu written", (unsigned long long)kept,
		     (unsigned long long)lost, (unsigned long long)written->records);
	CHECK_U64(trace_lost(&trace, cause), lost);
	CHECK(!some_lost || lost > 0);
	CHECK(kept > 0);
	trace_close(&trace);
}

/* ---- a full disk ----------------------------------------------------------------- */

static bool small_disk(void)
{
	return mkdir("disk", 0700) == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", "disk", "tmpfs", 0, "size=8m") == 0;
}

/* Takes all of the disk but `left` bytes. */
static void fill_disk(off_t left)
{
	int file = open("disk/filler", O_CREAT | O_WRONLY, 0600);
	off_t size = 0;

	while (fallocate(file, 0, size, 65536) == 0)
		size += 65536;
	if (ftruncate(file, size - left) != 0)
		FAIL("cannot make room on the small disk");
	close(file);
}

static void on_small_disk(void *unused)
{
	stress_start("disk/a.dwell", NULL);
	write_marks(1);
	fill_disk(3 * 65536);
	write_marks(60000); /* 960 KB */
	unlink("disk/filler");
	stress_sleep_us(100000); /* the recorder asks again 16 times a second */
	write_marks(1000);
	written->after = 1000;
}

static void disk_full(void)
{
	if (!small_disk())
		stress_skip("cannot mount a small tmpfs here");
	written = stress_shared(sizeof *written);
	CHECK_EXITED(stress_child(on_small_disk, NULL), 0);
	check_sum("disk/a.dwell", DW_LOSS_DISK, true);
	umount("disk");
}

/* Ranges that lose their begin or their end to the full disk do not end others. */
static void ranges_on_small_disk(void *unused)
{
	stress_start("disk/b.dwell", NULL);
	{
		DWELL_ZONE("around all");
		fill_disk(65536);
		write_marks(20000);
		{
			DWELL_ZONE("lost begin");
			unlink("disk/filler");
			stress_sleep_us(100000);
			{
				DWELL_ZONE("kept begin");
			}
		}
		DWELL_MARK("inside of around all");
	}
	written->records += 7;
}

struct around {
	uint64_t mark_ticks, end_ticks;
};

static void find_around(void *context, const struct trace_record *record)
{
	struct around *around = context;

	if (record->kind == DW_MARK && strcmp(record->name, "inside of around all") == 0)
		around->mark_ticks = record->ticks;
	if (record->kind == TRACE_END && strcmp(record->name, "around all") == 0)
		around->end_ticks = record->ticks;
}

static void disk_full_nesting(void)
{
	struct around around = { 0 };
	struct trace trace;

	if (!small_disk())
		stress_skip("cannot mount a small tmpfs here");
	written = stress_shared(sizeof *written);
	CHECK_EXITED(stress_child(ranges_on_small_disk, NULL), 0);
	check_sum("disk/b.dwell", DW_LOSS_DISK, true);
	if (!stress_read(&trace, "disk/b.dwell"))
		return;
	trace_walk(&trace, find_around, &around);
	/* It may be cut where records are missing; it must not end with another's end. */
	CHECK(around.mark_ticks && !around.end_ticks);
	CHECK(trace.surplus_ends == 2);
	trace_close(&trace);
	umount("disk");
}

/* Full before anything is recorded: not even a name has room. */
static void full_from_the_start(void *unused)
{
	stress_start("disk/c.dwell", NULL);
	fill_disk(0);
	for (int i = 0; i < 1000; i++) {
		DWELL_ZONE("nowhere");
		dwell_step();
	}
	dwell_meta("key", "value");
	dwell_thread_name("name");
}

static void disk_full_at_once(void)
{
	struct trace trace;

	if (!small_disk())
		stress_skip("cannot mount a small tmpfs here");
	CHECK_EXITED(stress_child(full_from_the_start, NULL), 0);
	if (stress_read(&trace, "disk/c.dwell")) {
		CHECK_U64(trace.records, 0);
		CHECK(trace_lost(&trace, DW_LOSS_DISK) >= 2000);
	}
	trace_close(&trace);
	umount("disk");
}

/* New names on a full disk: each is refused at once, and no id is used up. */
static void names_on_small_disk(void *unused)
{
	char name[32];
	uint64_t start;
	uint32_t id;

	stress_start("disk/d.dwell", NULL);
	write_marks(1);
	fill_disk(0);
	do { /* until the journal's chunk is full */
		snprintf(name, sizeof name, "early %llu", (unsigned long long)written->records++);
		id = dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
	} while (id && written->records < 100000);
	start = stress_now_ns();
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "refused name %d", i);
		written->after += dwell_intern(DWELL_CATEGORY_ZONE, name, NULL) == 0;
	}
	written->ns = stress_now_ns() - start;
	unlink("disk/filler");
	stress_sleep_us(100000); /* the recorder asks again 16 times a second */
	written->id = dwell_intern(DWELL_CATEGORY_ZONE, "a name with space again", NULL);
}

static void disk_full_names(void)
{
	struct trace trace;

	if (!small_disk())
		stress_skip("cannot mount a small tmpfs here");
	written = stress_shared(sizeof *written);
	CHECK_EXITED(stress_child(names_on_small_disk, NULL), 0);
	CHECK_U64(written->after, NAMES);
	CHECK(written->id != 0);
	printf("    %.0f ns a refused name\n", (double)written->ns / NAMES);
	if (stress_read(&trace, "disk/d.dwell")) {
		CHECK(trace_text_is(&trace, written->id - 1, "a name with space again"));
		CHECK(trace.head->next_id < written->id + 10);
		CHECK(written->id < 3 * written->records); /* each early name has a STRING and an OP */
		CHECK_U64(trace_lost(&trace, DW_LOSS_DICTIONARY), 0);
		CHECK_U64(trace_lost(&trace, DW_LOSS_DISK), NAMES + 1);
	}
	trace_close(&trace);
	umount("disk");
}

/* ---- RLIMIT_FSIZE ------------------------------------------------------------------ */

static void under_limit(void *unused)
{
	struct rlimit limit = { 2 << 20, 2 << 20 };

	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &limit);
	stress_start("limit.dwell", NULL);
	write_marks(400000); /* 6.4 MB */
}

static void file_limit(void)
{
	struct stat status;

	written = stress_shared(sizeof *written);
	CHECK_EXITED(stress_child(under_limit, NULL), 0);
	check_sum("limit.dwell", DW_LOSS_LIMIT, true);
	CHECK(stat("limit.dwell", &status) == 0 && status.st_size <= 2 << 20);
}

const struct stress_test disk_tests[] = {
	{ "disk.full", disk_full },
	{ "disk.full-nesting", disk_full_nesting },
	{ "disk.full-at-once", disk_full_at_once },
	{ "disk.full-names", disk_full_names },
	{ "disk.file-limit", file_limit },
	{ NULL, NULL },
};
