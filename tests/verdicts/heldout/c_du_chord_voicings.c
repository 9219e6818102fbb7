/*
 * Which voicing follows a chord: pitches of four voices are looked up in tables, mixed by two dense layers, and the next chord of 500 is
 * chosen. Stochastic gradients over a book of chorales.
 *
 * Decoy: a lock that nobody else wants, a fresh block, naps of 60 us, flushed lines, a rehearsal and a small saved file, all of a moment or rare.
 * Truth: time of all these together, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VOICES = 4, PITCHES = 60, TABLE = 24, HIDDEN = 128, CHORDS = 500, BATCH = 24, BOOK = 4096 };

struct book {
	pthread_mutex_t turning;
	unsigned char pitch[BOOK][VOICES];
	short next[BOOK];
};

static struct book book = { .turning = PTHREAD_MUTEX_INITIALIZER };
static float table[PITCHES][TABLE], mix[HIDDEN][VOICES * TABLE], choose[CHORDS][HIDDEN];

struct scratch {
	float in[VOICES * TABLE], hidden[HIDDEN], chance[CHORDS], back[HIDDEN], low[VOICES * TABLE];
};

static float sing(int page, struct scratch *s)
{
	float top = -1e30f, sum = 0;

	for (int v = 0; v < VOICES; v++)
		memcpy(s->in + v * TABLE, table[book.pitch[page][v]], sizeof table[0]);
	for (int h = 0; h < HIDDEN; h++) {
		float x = 0;

		for (int i = 0; i < VOICES * TABLE; i++)
			x += mix[h][i] * s->in[i];
		s->hidden[h] = x / (1.0f + fabsf(x));
	}
	for (int c = 0; c < CHORDS; c++) {
		float x = 0;

		for (int h = 0; h < HIDDEN; h++)
			x += choose[c][h] * s->hidden[h];
		s->chance[c] = x;
		top = x > top ? x : top;
	}
	for (int c = 0; c < CHORDS; c++)
		sum += s->chance[c] = expf(s->chance[c] - top);
	for (int c = 0; c < CHORDS; c++)
		s->chance[c] /= sum;
	return -logf(s->chance[book.next[page]] + 1e-9f);
}

static void correct(int page, struct scratch *s, float rate)
{
	for (int h = 0; h < HIDDEN; h++)
		s->back[h] = 0;
	for (int i = 0; i < VOICES * TABLE; i++)
		s->low[i] = 0;
	for (int c = 0; c < CHORDS; c++) {
		const float g = s->chance[c] - (c == book.next[page]);

		for (int h = 0; h < HIDDEN; h++)
			s->back[h] += g * choose[c][h];
		for (int h = 0; h < HIDDEN; h++)
			choose[c][h] -= rate * g * s->hidden[h];
	}
	for (int h = 0; h < HIDDEN; h++) {
		const float rest = 1.0f - fabsf(s->hidden[h]), g = s->back[h] * rest * rest;

		for (int i = 0; i < VOICES * TABLE; i++)
			s->low[i] += g * mix[h][i];
		for (int i = 0; i < VOICES * TABLE; i++)
			mix[h][i] -= rate * g * s->in[i];
	}
	for (int v = 0; v < VOICES; v++)
		for (int t = 0; t < TABLE; t++)
			table[book.pitch[page][v]][t] -= rate * s->low[v * TABLE + t];
}

static void save(void)
{
	FILE *file = tmpfile();

	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
	if (!file)
		return;
	fwrite(table, sizeof table, 1, file);
	fclose(file);
}

int main(void)
{
	struct watch watch;
	FILE *notes = tmpfile();
	float loss = 0;

	if (!notes)
		return 1;
	srand(12);
	for (int p = 0; p < BOOK; p++) {
		for (int v = 0; v < VOICES; v++)
			book.pitch[p][v] = (unsigned char)(rand() % PITCHES);
		book.next[p] = (short)(rand() % CHORDS);
	}
	for (float *w = table[0]; w < table[0] + PITCHES * TABLE; w++)
		*w = (float)rand() / (float)RAND_MAX - 0.5f;
	for (float *w = mix[0]; w < mix[0] + HIDDEN * VOICES * TABLE; w++)
		*w = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (float *w = choose[0]; w < choose[0] + CHORDS * HIDDEN; w++)
		*w = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		struct scratch *s = malloc(sizeof *s);

		if (!s)
			return 1;
		int page;
		{
			DWELL_ZONE("lock");
			pthread_mutex_lock(&book.turning);
			page = rand() % (BOOK - BATCH);
			pthread_mutex_unlock(&book.turning);
		}
		if (watch.steps % 25 == 24) {
			DWELL_ZONE("sleep");
			usleep(60);
		}
		planted_end(&watch);
		loss = 0;
		{
			DWELL_ZONE("train");
			for (int b = 0; b < BATCH; b++) {
				loss += sing(page + b, s);
				correct(page + b, s, 1e-4f);
			}
		}
		planted_begin(&watch);
		if (watch.steps % 60 == 59) {
			DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "rehearsal");
			for (int b = 0; b < 8; b++)
				loss += 0.0f * sing(b, s);
		}
		if (watch.steps % 10 == 0) {
			DWELL_ZONE("log");
			fprintf(notes, "%d %.4f\n", watch.steps, (double)loss / BATCH);
			fflush(notes);
		}
		if (watch.steps % 200 == 199)
			save();
		free(s);
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("loss %.4f\n", (double)loss / BATCH);
	return 0;
}
