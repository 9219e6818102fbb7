/* The journal: entries by many threads, chunk after chunk, and holes left by killed processes. */
#include "check.h"

#include <pthread.h>

#include "session.h"

#define THREADS 4
#define ENTRIES 2000

static uint32_t first_window; /* of this session: those before are of files since trimmed */

static bool journal_begin(void)
{
	enum dw_loss cause;

	first_window = dw_process ? dw_process->window_count : 0;
	return session_begin(0) && dw_process_ready(&cause);
}

/* All entries of a type in this session's windows, by a scan of the memory. */
static int count_entries(enum dw_entry_type type, int *holes)
{
	int found = 0;

	*holes = 0;
	for (uint32_t w = first_window; w < dw_process->window_count; w++) {
		const struct dw_window *window = &dw_process->windows[w];

		for (uint32_t b = 0; b < window->count; b++) {
			const char *block = window->base + (size_t)b * DW_BLOCK_BYTES;
			const struct dw_chunk *chunk = (const void *)block;
			uint32_t at = sizeof *chunk;

			if (chunk->magic != DW_CHUNK_MAGIC || chunk->type != DW_CHUNK_JOURNAL)
				continue;
			while (at + sizeof(struct dw_entry) <= DW_BLOCK_BYTES) {
				const struct dw_entry *entry = (const void *)(block + at);

				if (entry->tag >> 16 == DW_ENTRY_MAGIC) {
					found += entry->tag == DW_ENTRY_TAG(type);
					at += entry->bytes;
				} else {
					*holes += entry->bytes != 0; /* reserved and never tagged */
					at += 8;
				}
			}
		}
	}
	return found;
}

TEST(entries_are_zero_and_aligned)
{
	REQUIRE(journal_begin());
	for (size_t bytes = sizeof(struct dw_entry); bytes < 300; bytes += 13) {
		struct dw_entry *entry = dw_journal_reserve(bytes);

		REQUIRE(entry != NULL);
		CHECK_EQ((uintptr_t)entry % 8, 0);
		CHECK_EQ(entry->bytes, (bytes + 7) & ~(size_t)7);
		CHECK_EQ(entry->tag, 0);
		for (size_t i = 8; i < bytes; i++)
			CHECK_EQ(((char *)entry)[i], 0);
		dw_journal_commit(entry, DW_ENTRY_META);
	}
	session_end();
}

TEST(a_hole_hides_nothing_behind_it)
{
	int holes;

	REQUIRE(journal_begin());
	struct dw_entry *hole = dw_journal_reserve(sizeof(struct dw_entry_string) + 40);
	REQUIRE(hole != NULL); /* and the process is killed here */
	struct dw_entry *after = dw_journal_reserve(sizeof(struct dw_entry_clock));
	REQUIRE(after != NULL);
	CHECK((char *)after == (char *)hole + hole->bytes);
	dw_journal_commit(after, DW_ENTRY_CLOCK);
	CHECK_EQ(count_entries(DW_ENTRY_CLOCK, &holes), 2); /* and the one of joining */
	CHECK_EQ(holes, 1);
	session_end();
}

TEST(the_largest_entry_fits)
{
	REQUIRE(journal_begin());
	for (int i = 0; i < 5; i++) {
		struct dw_entry *entry = dw_journal_reserve(DW_ENTRY_MAX_BYTES);

		REQUIRE(entry != NULL);
		memset(entry + 1, 'x', entry->bytes - sizeof *entry);
		dw_journal_commit(entry, DW_ENTRY_STRING);
	}
	session_end();
}

static void *append_entries(void *number)
{
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct dw_entry_meta *entry = dw_journal_reserve(sizeof *entry + i % 5 * 8);

		if (!entry)
			return NULL;
		/* Who else has this room would overwrite it. */
		entry->entry.id = (uint32_t)(uintptr_t)number * ENTRIES + i + 1;
		entry->entry.aux = ~entry->entry.id;
		dw_journal_commit(entry, DW_ENTRY_META);
	}
	return number;
}

TEST(threads_that_append_at_once)
{
	pthread_t threads[THREADS];
	int holes;

	REQUIRE(journal_begin());
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, append_entries, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		CHECK(result != NULL);
	}
	CHECK_EQ(count_entries(DW_ENTRY_META, &holes), THREADS * ENTRIES);
	CHECK_EQ(holes, 0);
	session_end();
}

CHECK_MAIN
