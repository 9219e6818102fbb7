/*
 * Predicts the colour of a glaze after firing from its oxides: a network with one hidden layer that learns from a stream of
 * firings. A ledger gives each recipe a number, by which the kiln's bias is found.
 *
 * Planted: the ledger compares a recipe's label with all labels since the start, one after the other, so each step is longer.
 * Truth: time in the search of the ledger, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OXIDES = 24, HIDDEN = 160, COLOURS = 3, FIRINGS = 96, MOST = 1 << 20, FRESH = 30 };

struct recipe {
	char label[32];
	int fired;
};

struct ledger {
	struct recipe *recipes;
	int count;
};

struct firing {
	char label[32];
	float oxides[OXIDES], colour[COLOURS];
};

static float first[HIDDEN][OXIDES], second[COLOURS][HIDDEN], first_change[HIDDEN][OXIDES], second_change[COLOURS][HIDDEN];
static float bias[64];
static struct watch watch;

static int number_of(struct ledger *ledger, const char *label)
{
	int found = -1;

	planted_begin(&watch);
	for (int i = 0; i < ledger->count && found < 0; i++)
		if (!strcmp(ledger->recipes[i].label, label))
			found = i;
	planted_end(&watch);
	if (found < 0 && ledger->count < MOST) {
		found = ledger->count++;
		strcpy(ledger->recipes[found].label, label);
	}
	ledger->recipes[found].fired++;
	return found;
}

static void fire(struct firing *firing, int recipe)
{
	snprintf(firing->label, sizeof firing->label, "stoneware/cone-6/%08d", recipe);
	for (int o = 0; o < OXIDES; o++)
		firing->oxides[o] = (float)((unsigned)(recipe * 31 + o * 977) % 1000) / 1000 - 0.5f;
	for (int c = 0; c < COLOURS; c++)
		firing->colour[c] = sinf(3 * firing->oxides[c] + 2 * firing->oxides[c + 5]) + 0.01f * (float)(rand() % 10);
}

static float learn(struct firing *firings, const int *numbers)
{
	float loss = 0;

	DWELL_ZONE("network");
	memset(first_change, 0, sizeof first_change);
	memset(second_change, 0, sizeof second_change);
	for (int pass = 0; pass < 10; pass++)
		for (int f = 0; f < FIRINGS; f++) {
			float hidden[HIDDEN], back[HIDDEN] = { 0 };

			for (int h = 0; h < HIDDEN; h++) {
				float sum = 0;

				for (int o = 0; o < OXIDES; o++)
					sum += first[h][o] * firings[f].oxides[o];
				hidden[h] = tanhf(sum);
			}
			for (int c = 0; c < COLOURS; c++) {
				float error = bias[numbers[f] & 63] - firings[f].colour[c];

				for (int h = 0; h < HIDDEN; h++)
					error += second[c][h] * hidden[h];
				loss += error * error;
				bias[numbers[f] & 63] -= 0.0005f * error;
				for (int h = 0; h < HIDDEN; h++) {
					second_change[c][h] += error * hidden[h];
					back[h] += error * second[c][h];
				}
			}
			for (int h = 0; h < HIDDEN; h++)
				for (int o = 0; o < OXIDES; o++)
					first_change[h][o] += back[h] * (1 - hidden[h] * hidden[h]) * firings[f].oxides[o];
		}
	for (int h = 0; h < HIDDEN; h++)
		for (int o = 0; o < OXIDES; o++)
			first[h][o] -= 0.01f / FIRINGS * first_change[h][o];
	for (int c = 0; c < COLOURS; c++)
		for (int h = 0; h < HIDDEN; h++)
			second[c][h] -= 0.01f / FIRINGS * second_change[c][h];
	return loss / FIRINGS;
}

int main(void)
{
	static struct firing firings[FIRINGS];
	struct ledger ledger = { calloc(MOST, sizeof(struct recipe)), 0 };
	int numbers[FIRINGS], next = 0;
	float loss = 0;

	srand(8);
	for (int h = 0; h < HIDDEN; h++) {
		for (int o = 0; o < OXIDES; o++)
			first[h][o] = 0.4f * ((float)rand() / (float)RAND_MAX - 0.5f);
		for (int c = 0; c < COLOURS; c++)
			second[c][h] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("firings");
			for (int f = 0; f < FIRINGS; f++) {
				fire(&firings[f], f < FRESH ? next++ : rand() % (next + 1));
				numbers[f] = number_of(&ledger, firings[f].label);
			}
		}
		loss = learn(firings, numbers);
	}
	watch_tell(&watch);
	printf("%d recipes, loss %.4f\n", ledger.count, loss);
	free(ledger.recipes);
	return 0;
}
