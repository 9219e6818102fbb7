/* The account of CPU time: what the kernel counted against what samples stand for, and the causes of the difference. */
#include "made.h"

#include "format/keys.h"
#include "model/samples/cpu_account.h"

#define MS 1000000ull
#define PERIOD (10 * MS)

static struct made made;

struct part {
	const char *name;
	uint64_t cpu_ms, sampled_at_ms, samples;
	uint32_t end;
};

static void thread(const struct part *part)
{
	static uint32_t tid = 70000;
	uint32_t id = dw_encode_new_id(made.process.encode);
	struct dw_entry_thread *entry = dw_encode_entry(&made.process, DW_ENTRY_THREAD, id, made.process.id, sizeof *entry);

	entry->tid = tid++;
	snprintf(entry->name, sizeof entry->name, "%s", part->name);
	entry->cpu_ns = part->cpu_ms * MS;
	entry->sampled_cpu_ns = part->sampled_at_ms * MS;
	entry->sample_weight = part->samples;
	entry->end = part->end;
}

static void meta(const char *key, const char *value)
{
	dw_encode_meta(&made.process, key, value, true);
}

/* A process that was to be sampled every 10 ms, and used so much of the CPU by its end; 0: its end is not known. */
static void begin(unsigned process_ms)
{
	char text[32];

	made_init(&made);
	meta(DW_KEY_SAMPLE_ASKED_NS, "10000000");
	snprintf(text, sizeof text, "%llu", process_ms * MS);
	if (process_ms)
		meta(DW_KEY_PROCESS_CPU_NS, text);
}

static const struct dw_cpu_account *account(void)
{
	return made_open(&made, NULL) == 0 ? dw_model_cpu_account(made.model, &made.error) : NULL;
}

/* The only row from which time is missing; NULL: there is none, or there are several. */
static const struct dw_cpu_row *missing(const struct dw_cpu_account *account)
{
	const struct dw_cpu_row *found = NULL;

	for (size_t i = 0; i < account->count; i++)
		if (account->rows[i].missing_ns) {
			if (found)
				return NULL;
			found = &account->rows[i];
		}
	return found;
}

TEST(samples_that_differ_by_chance_are_no_finding)
{
	begin(1024);
	thread(&(struct part){ "worker-1", 512, 505, 51, DW_THREAD_ENDED });
	thread(&(struct part){ "worker-2", 512, 505, 48, DW_THREAD_ENDED });
	const struct dw_cpu_account *made_account = account();

	REQUIRE(made_account);
	CHECK_EQ(made_account->missing_ns, 0);
	CHECK_EQ(made_account->kernel_ns, 1024 * MS);
	CHECK_EQ(made_account->sampled_ns, 990 * MS);
	made_close(&made);
}

TEST(each_cause_is_told_from_the_others)
{
	static const struct {
		unsigned process_ms;
		const char *key, *value;
		struct part parts[2];
		enum dw_cpu_why why;
		uint64_t missing_ms;
	} cases[] = {
		{ 1500, DW_KEY_SAMPLE_UNSEEN, "[150,1200000000]", { { "main", 300, 295, 30, 1 } }, DW_CPU_SHORT_THREADS, 1200 },
		{ 2500, NULL, NULL, { { "main", 500, 495, 50, 1 } }, DW_CPU_OTHER_THREADS, 2000 },
		{ 2500, NULL, NULL, { { "main", 2500, 500, 50, 3 } }, DW_CPU_BLOCKED, 2000 },
		{ 2500, NULL, NULL, { { "main", 2500, 500, 50, 1 } }, DW_CPU_STOPPED, 2000 },
		{ 2500, NULL, NULL, { { "main", 2500, 2495, 50, 1 } }, DW_CPU_LATE, 2000 },
		{ 2500, NULL, NULL, { { "main", 2500, 0, 0, 1 } }, DW_CPU_NO_SAMPLES, 2500 },
		{ 2500, DW_KEY_SAMPLE_LACKS, "refused", { { "main", 2500, 0, 0, 0 } }, DW_CPU_LACKS, 2500 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_cpu_account *found;
		const struct dw_cpu_row *row;

		begin(cases[i].process_ms);
		if (cases[i].key)
			meta(cases[i].key, cases[i].value);
		thread(&cases[i].parts[0]);
		found = account();
		REQUIRE(found);
		row = missing(found);
		REQUIRE(row);
		CHECK_EQ(row->why, cases[i].why);
		CHECK_EQ(row->missing_ns, cases[i].missing_ms * MS);
		CHECK_EQ(found->unknown_ns, row->why == DW_CPU_STOPPED || row->why == DW_CPU_NO_SAMPLES ? row->missing_ns : 0);
		made_close(&made);
	}
}

TEST(a_surplus_of_short_threads_is_set_against_what_others_miss)
{
	begin(1500);
	meta(DW_KEY_SAMPLE_UNSEEN, "[30,240000000]");
	thread(&(struct part){ "main", 300, 295, 30, DW_THREAD_ENDED });
	for (unsigned i = 0; i < 120; i++)
		thread(&(struct part){ "piece", 8, 5, 1, DW_THREAD_ENDED });
	const struct dw_cpu_account *found = account();

	REQUIRE(found);
	CHECK_EQ(found->missing_ns, 0);
	made_close(&made);
}

TEST(a_process_that_was_not_to_be_sampled_has_no_account)
{
	made_init(&made);
	meta(DW_KEY_PROCESS_CPU_NS, "5000000000");
	thread(&(struct part){ "main", 5000, 0, 0, DW_THREAD_ENDED });
	const struct dw_cpu_account *found = account();

	REQUIRE(found);
	CHECK_EQ(found->count, 0);
	made_close(&made);
}

CHECK_MAIN
