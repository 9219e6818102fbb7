/*
 * Learns online which reader borrows which book: a factorization machine, updated with each batch of loans.
 *
 * Planted: the batch's gradients are appended to a journal that fdatasync() brings to the disc before they are applied.
 * Truth: time in fdatasync(), of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READERS = 6000, BOOKS = 9000, RANK = 48, BATCH = 1600, TRIES = 240 };

struct loan {
	int reader, book;
	float wanted;
};

static float of_reader[READERS][RANK], of_book[BOOKS][RANK];
static float bias[BOOKS];

/* The write-ahead journal: what a restart replays. */
struct journal {
	int file;
	uint64_t number;
	size_t used;
	char buffer[sizeof(uint64_t) + BATCH * (2 * sizeof(int) + sizeof(float))];
};

static void journal_open(struct journal *journal)
{
	char name[] = "/tmp/loans-XXXXXX";

	journal->file = mkstemp(name);
	if (journal->file < 0) {
		perror(name);
		exit(1);
	}
	unlink(name);
	journal->number = 0;
}

static void journal_begin(struct journal *journal)
{
	journal->number++;
	memcpy(journal->buffer, &journal->number, sizeof journal->number);
	journal->used = sizeof journal->number;
}

static void journal_put(struct journal *journal, const void *what, size_t bytes)
{
	memcpy(journal->buffer + journal->used, what, bytes);
	journal->used += bytes;
}

static void journal_commit(struct journal *journal, struct watch *watch)
{
	if (lseek(journal->file, 0, SEEK_CUR) > 8 << 20)
		lseek(journal->file, 0, SEEK_SET);
	if (write(journal->file, journal->buffer, journal->used) < 0)
		perror("journal");
	planted_begin(watch);
	fdatasync(journal->file);
	planted_end(watch);
}

static uint64_t seed = 88172645463325252u;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static struct loan next_loan(void)
{
	struct loan loan = { (int)(draw() % READERS), 0, 1 };

	/* Readers like the books whose numbers are near their own. */
	if (draw() & 1) {
		loan.book = (int)((loan.reader + draw() % 400) % BOOKS);
	} else {
		loan.book = (int)(draw() % BOOKS);
		loan.wanted = 0;
	}
	return loan;
}

static float score(const struct loan *loan)
{
	const float *a = of_reader[loan->reader], *b = of_book[loan->book];
	float sum = bias[loan->book];

	for (int k = 0; k < RANK; k++)
		sum += a[k] * b[k];
	return 1 / (1 + expf(-sum));
}

/* The hardest of some books that the reader did not take, as a further negative. */
static struct loan hardest(int reader)
{
	struct loan worst = { reader, 0, 0 };
	float most = -1;

	for (int i = 0; i < TRIES; i++) {
		struct loan loan = { reader, (int)(draw() % BOOKS), 0 };
		float said = score(&loan);

		if (said > most) {
			most = said;
			worst = loan;
		}
	}
	return worst;
}

static void apply(const struct loan *loan, float slope)
{
	float *a = of_reader[loan->reader], *b = of_book[loan->book];

	bias[loan->book] -= 0.05f * slope;
	for (int k = 0; k < RANK; k++) {
		float old = a[k];

		a[k] -= 0.05f * (slope * b[k] + 1e-4f * a[k]);
		b[k] -= 0.05f * (slope * old + 1e-4f * b[k]);
	}
}

int main(void)
{
	static struct loan loans[BATCH];
	static float slopes[BATCH];
	static struct journal journal;
	struct watch watch;
	double loss = 0;

	for (int i = 0; i < READERS * RANK; i++)
		(&of_reader[0][0])[i] = (float)(draw() % 1000) / 5000 - 0.1f;
	for (int i = 0; i < BOOKS * RANK; i++)
		(&of_book[0][0])[i] = (float)(draw() % 1000) / 5000 - 0.1f;
	journal_open(&journal);

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_PHASE("mine");
			for (int i = 0; i < BATCH; i++) {
				loans[i] = next_loan();
				if (loans[i].wanted == 0)
					loans[i] = hardest(loans[i].reader);
			}
		}
		{
			DWELL_PHASE("forward");
			journal_begin(&journal);
			for (int i = 0; i < BATCH; i++) {
				float said = score(&loans[i]);

				loss -= log(loans[i].wanted > 0 ? said + 1e-6 : 1 - said + 1e-6);
				slopes[i] = said - loans[i].wanted;
				journal_put(&journal, &loans[i].reader, sizeof(int));
				journal_put(&journal, &loans[i].book, sizeof(int));
				journal_put(&journal, &slopes[i], sizeof(float));
			}
		}
		DWELL_PHASE("update");
		journal_commit(&journal, &watch);
		for (int i = 0; i < BATCH; i++)
			apply(&loans[i], slopes[i]);
	}
	watch_tell(&watch);
	printf("mean loss %.4f\n", loss / watch.steps / BATCH);
	close(journal.file);
	return 0;
}
