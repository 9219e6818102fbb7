/*
 * Learns which words fit a crossword's gaps: a small network scores words by their letters, while an editor's thread keeps
 * the list of words in order.
 *
 * Planted: the editor holds the lock of the word list while it ranks all words anew, and the trainer waits for it to draw its words.
 * Truth: time that the trainer waits for the lock, of its loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 72000
#define LENGTH 12
#define LETTERS 27
#define INPUT (LENGTH * LETTERS)
#define HIDDEN 96
#define DRAWN 96

struct word {
	char text[LENGTH];
	unsigned used;
	float liked;
};

static struct {
	pthread_mutex_t lock;
	struct word words[WORDS];
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool closing;

static int by_liking(const void *a, const void *b)
{
	const struct word *one = a, *other = b;

	if (one->liked != other->liked)
		return one->liked < other->liked ? 1 : -1;
	return memcmp(one->text, other->text, LENGTH);
}

/* The list that readers of the magazine see: liked words come first, worn ones go down. */
static void *edit(void *unused)
{
	unsigned round = 0;

	(void)unused;
	while (!atomic_load(&closing)) {
		pthread_mutex_lock(&list.lock);
		round++;
		for (size_t i = 0; i < WORDS; i++) {
			unsigned mix = (unsigned)(i * 2654435761u) ^ round * 40503u;
			list.words[i].liked = (float)(mix % 8191) / (1.0f + (float)list.words[i].used);
		}
		qsort(list.words, WORDS, sizeof list.words[0], by_liking);
		pthread_mutex_unlock(&list.lock);
		usleep(17000);
	}
	return NULL;
}

struct scorer {
	float in[HIDDEN][INPUT], out[HIDDEN], hidden[HIDDEN];
};

static float score(struct scorer *net, const char *text)
{
	float sum = 0;

	for (int h = 0; h < HIDDEN; h++) {
		float a = 0;
		/* not one-hot but blurred: neighbours in the alphabet count a little */
		for (int p = 0; p < LENGTH; p++) {
			const float *w = net->in[h] + p * LETTERS;
			for (int l = 0; l < LETTERS; l++)
				a += w[l] / (1.0f + (float)abs(l - text[p]));
		}
		net->hidden[h] = tanhf(a);
		sum += net->out[h] * net->hidden[h];
	}
	return sum;
}

static void correct(struct scorer *net, const char *text, float wrong)
{
	for (int h = 0; h < HIDDEN; h++) {
		const float back = 1e-3f * wrong * net->out[h] * (1 - net->hidden[h] * net->hidden[h]);
		net->out[h] -= 1e-3f * wrong * net->hidden[h];
		for (int p = 0; p < LENGTH; p++)
			net->in[h][p * LETTERS + text[p]] -= back;
	}
}

int main(void)
{
	static struct scorer net;
	struct watch watch;
	pthread_t editor;
	float wrong = 0;
	unsigned dice = 11;

	for (size_t i = 0; i < WORDS; i++)
		for (int p = 0; p < LENGTH; p++)
			list.words[i].text[p] = (char)((i * 31 + (size_t)p * p * 7 + i / 97) % LETTERS);
	for (int h = 0; h < HIDDEN; h++) {
		net.out[h] = 0.1f * sinf((float)h);
		for (int i = 0; i < INPUT; i++)
			net.in[h][i] = 0.1f * cosf((float)(h * 13 + i * 7));
	}
	pthread_create(&editor, NULL, edit, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		char drawn[DRAWN][LENGTH];

		{
			DWELL_ZONE("draw words");
			planted_begin(&watch);
			pthread_mutex_lock(&list.lock);
			planted_end(&watch);
			for (int d = 0; d < DRAWN; d++) {
				dice = dice * 1103515245u + 12345u;
				struct word *word = &list.words[(dice >> 8) % WORDS];
				word->used++;
				memcpy(drawn[d], word->text, LENGTH);
			}
			pthread_mutex_unlock(&list.lock);
		}
		DWELL_ZONE("learn words");
		for (int d = 0; d < DRAWN; d++) {
			wrong = score(&net, drawn[d]) - (drawn[d][0] % 5 == 0 ? 1.0f : -0.2f);
			correct(&net, drawn[d], wrong);
		}
	}
	watch_tell(&watch);
	atomic_store(&closing, true);
	pthread_join(editor, NULL);
	printf("last wrong %.4f\n", (double)wrong);
	return 0;
}
