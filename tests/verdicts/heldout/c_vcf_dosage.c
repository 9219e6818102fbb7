/*
 * Predicts a trait from genotypes. Each batch is a block of a VCF file, as text in memory, that is parsed when it is needed.
 *
 * Planted: the block is parsed with sscanf(), which looks for the end of the whole block for each genotype.
 * Truth: time of parsing, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PEOPLE 256
#define VARIANTS 48
#define HIDDEN 192
#define BLOCKS 12

static char *blocks[BLOCKS];
static float dosage[PEOPLE][VARIANTS], trait[PEOPLE];
static float w1[HIDDEN][VARIANTS], w2[HIDDEN], g1[HIDDEN][VARIANTS], g2[HIDDEN], hidden[PEOPLE][HIDDEN], output[PEOPLE];

static void make_blocks(void)
{
	for (int b = 0; b < BLOCKS; b++) {
		char *at = blocks[b] = malloc(VARIANTS * (PEOPLE * 9 + 40) + 1);

		for (int v = 0; v < VARIANTS; v++) {
			at += sprintf(at, "22 %d", 16000000 + 1000 * b + v);
			for (int p = 0; p < PEOPLE; p++)
				at += sprintf(at, " %d|%d:%02d", rand() % 4 == 0, rand() % 3 == 0, rand() % 100);
			*at++ = '\n';
		}
		*at = 0;
	}
}

static void read_block(const char *text)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "read block");
	for (int v = 0; v < VARIANTS; v++) {
		int chromosome, position, used;

		if (sscanf(text, "%d %d%n", &chromosome, &position, &used) != 2)
			return;
		text += used;
		for (int p = 0; p < PEOPLE; p++) {
			int mother, father, quality;

			if (sscanf(text, " %d|%d:%d%n", &mother, &father, &quality, &used) != 3)
				return;
			text += used;
			dosage[p][v] = (float)(mother + father) * (0.5f + 0.005f * (float)quality);
		}
	}
	for (int p = 0; p < PEOPLE; p++) {
		trait[p] = 0;
		for (int v = 0; v < VARIANTS; v += 5)
			trait[p] += 0.2f * dosage[p][v];
	}
}

static void forward(void)
{
	DWELL_PHASE("forward");
	for (int p = 0; p < PEOPLE; p++) {
		output[p] = 0;
		for (int h = 0; h < HIDDEN; h++) {
			float sum = 0;

			for (int v = 0; v < VARIANTS; v++)
				sum += w1[h][v] * dosage[p][v];
			hidden[p][h] = tanhf(sum);
			output[p] += w2[h] * hidden[p][h];
		}
	}
}

static float backward(void)
{
	float loss = 0;

	DWELL_PHASE("backward");
	memset(g1, 0, sizeof g1);
	memset(g2, 0, sizeof g2);
	for (int p = 0; p < PEOPLE; p++) {
		const float miss = (output[p] - trait[p]) / PEOPLE;

		loss += miss * miss * PEOPLE;
		for (int h = 0; h < HIDDEN; h++) {
			const float back = miss * w2[h] * (1 - hidden[p][h] * hidden[p][h]);

			g2[h] += miss * hidden[p][h];
			for (int v = 0; v < VARIANTS; v++)
				g1[h][v] += back * dosage[p][v];
		}
	}
	return loss;
}

static void update(void)
{
	DWELL_PHASE("optimizer");
	for (int h = 0; h < HIDDEN; h++) {
		w2[h] -= 0.05f * g2[h];
		for (int v = 0; v < VARIANTS; v++)
			w1[h][v] -= 0.05f * g1[h][v];
	}
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	srand(22);
	make_blocks();
	for (int h = 0; h < HIDDEN; h++) {
		w2[h] = (float)(rand() % 200 - 100) / 1000;
		for (int v = 0; v < VARIANTS; v++)
			w1[h][v] = (float)(rand() % 200 - 100) / 1000;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		read_block(blocks[watch.steps % BLOCKS]);
		planted_end(&watch);
		for (int epoch = 0; epoch < 3; epoch++) {
			forward();
			loss = backward();
			update();
		}
	}
	printf("loss %.4f\n", (double)loss);
	watch_tell(&watch);
	return 0;
}
