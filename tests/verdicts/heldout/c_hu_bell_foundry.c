/*
 * Learns the partials of a bell from the profile of its mould: one hidden layer, batches of profiles, plain SGD. A ledger of the
 * foundry gets two entries for each batch, so that a stopped run can say how far it came.
 *
 * Planted: the ledger is opened with O_DSYNC, so that each of the entries waits until the disk has it.
 * Truth: time in write() to the ledger, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROFILE = 384, HIDDEN = 1024, PARTIALS = 8, BATCH = 64, MOULDS = 512 };

static float profile[MOULDS][PROFILE], partial[MOULDS][PARTIALS];
static float into[PROFILE][HIDDEN], out[HIDDEN][PARTIALS];
static float hidden[BATCH][HIDDEN], error[BATCH][PARTIALS], back[BATCH][HIDDEN];
static struct watch watch;

struct ledger {
	int file;
	char path[64];
};

static void ledger_open(struct ledger *ledger)
{
	snprintf(ledger->path, sizeof ledger->path, "foundry-%d.ledger", (int)getpid());
	ledger->file = open(ledger->path, O_CREAT | O_WRONLY | O_APPEND | O_DSYNC, 0644);
	if (ledger->file < 0) {
		perror("ledger");
		exit(1);
	}
}

static void ledger_enter(struct ledger *ledger, const char *form, ...)
{
	char line[160];
	va_list rest;
	int length;

	va_start(rest, form);
	length = vsnprintf(line, sizeof line, form, rest);
	va_end(rest);
	planted_begin(&watch);
	if (write(ledger->file, line, (size_t)length) != length)
		perror("ledger");
	planted_end(&watch);
}

static void ledger_close(struct ledger *ledger)
{
	close(ledger->file);
	unlink(ledger->path);
}

static float forward(const int *mould)
{
	float loss = 0;

	for (int b = 0; b < BATCH; b++) {
		memset(hidden[b], 0, sizeof hidden[b]);
		for (int p = 0; p < PROFILE; p++)
			for (int h = 0; h < HIDDEN; h++)
				hidden[b][h] += profile[mould[b]][p] * into[p][h];
		memset(error[b], 0, sizeof error[b]);
		for (int h = 0; h < HIDDEN; h++) {
			hidden[b][h] = tanhf(hidden[b][h]);
			for (int o = 0; o < PARTIALS; o++)
				error[b][o] += hidden[b][h] * out[h][o];
		}
		for (int o = 0; o < PARTIALS; o++) {
			error[b][o] -= partial[mould[b]][o];
			loss += error[b][o] * error[b][o];
		}
	}
	return loss / (BATCH * PARTIALS);
}

static void backward(const int *mould, float rate)
{
	for (int b = 0; b < BATCH; b++)
		for (int h = 0; h < HIDDEN; h++) {
			float sum = 0;
			for (int o = 0; o < PARTIALS; o++) {
				sum += error[b][o] * out[h][o];
				out[h][o] -= rate * error[b][o] * hidden[b][h];
			}
			back[b][h] = rate * sum * (1 - hidden[b][h] * hidden[b][h]);
		}
	for (int b = 0; b < BATCH; b++)
		for (int p = 0; p < PROFILE; p++)
			for (int h = 0; h < HIDDEN; h++)
				into[p][h] -= profile[mould[b]][p] * back[b][h];
}

int main(void)
{
	struct ledger ledger;
	float loss = 0;
	int mould[BATCH];

	srand(41);
	for (int m = 0; m < MOULDS; m++) {
		for (int p = 0; p < PROFILE; p++)
			profile[m][p] = cosf((float)p * 0.03f * (float)(m % 17 + 1)) + 0.2f * (float)rand() / (float)RAND_MAX;
		for (int o = 0; o < PARTIALS; o++)
			partial[m][o] = sinf((float)(m % 17) * 0.4f + (float)o);
	}
	for (int i = 0; i < PROFILE * HIDDEN; i++)
		(&into[0][0])[i] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int i = 0; i < HIDDEN * PARTIALS; i++)
		(&out[0][0])[i] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
	ledger_open(&ledger);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("draw moulds");
			for (int b = 0; b < BATCH; b++)
				mould[b] = rand() % MOULDS;
		}
		{
			DWELL_ZONE("forward");
			loss = forward(mould);
			ledger_enter(&ledger, "batch %d loss %.5f\n", watch.steps, (double)loss);
		}
		{
			DWELL_ZONE("backward");
			backward(mould, 0.00005f);
			ledger_enter(&ledger, "batch %d done, weight %.5f\n", watch.steps, (double)into[3][7]);
		}
	}
	watch_tell(&watch);
	ledger_close(&ledger);
	printf("loss %.4f\n", (double)loss);
	return 0;
}
