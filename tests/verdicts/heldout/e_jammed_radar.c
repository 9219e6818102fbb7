/*
 * Follows ships by radar: pulses are compressed, peaks found and joined to tracks, and a small network learns from the range
 * profile what is sea and what is not.
 *
 * Planted: after 2.5 seconds another radar jams the band. There are many times as many peaks, and they are joined by
 * comparing each peak with each one of the last scans.
 * Truth: time of joining peaks, of the loop. Before the jammer it takes next to nothing.
 */
#include "clock.h"

#include <complex.h>
#include <dwell/probe.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 2048, PULSES = 10, KEPT = 6, PEAKS = 900, TAPS = 48, HIDDEN = 64, WINDOW = 32 };

struct peak { float range, strength, doppler; };

static float complex echo[CELLS], twiddle[CELLS / 2], chirp[CELLS];
static float power[CELLS];
static struct peak peaks[KEPT][PEAKS];
static int found[KEPT], joined;
static float w1[WINDOW][HIDDEN], w2[HIDDEN];

static void transform(float complex *x)
{
	for (int i = 1, j = 0; i < CELLS; i++) {
		int bit = CELLS >> 1;
		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			float complex other = x[i];
			x[i] = x[j], x[j] = other;
		}
	}
	for (int size = 2; size <= CELLS; size *= 2)
		for (int from = 0; from < CELLS; from += size)
			for (int k = 0; k < size / 2; k++) {
				float complex w = twiddle[k * (CELLS / size)], *a = &x[from + k], *b = &x[from + k + size / 2];
				float re = crealf(w) * crealf(*b) - cimagf(w) * cimagf(*b), im = crealf(w) * cimagf(*b) + cimagf(w) * crealf(*b);
				*b = *a - (re + im * I), *a += re + im * I;
			}
}

static void receive(int step, int jammed)
{
	DWELL_ZONE("pulse compression");
	memset(power, 0, sizeof power);
	for (int pulse = 0; pulse < PULSES; pulse++) {
		for (int i = 0; i < CELLS; i++) {
			float noise = (float)(rand() % 1000) / 4000;
			echo[i] = noise + (i % 401 == (step / 4) % 401 ? 3 : 0) + (jammed && i % 3 == 0 && rand() % 8 ? 9 : 0) * chirp[i];
		}
		transform(echo);
		for (int i = 0; i < CELLS; i++)
			echo[i] = conjf(echo[i]);
		transform(echo);
		for (int i = 0; i < CELLS; i++)
			power[i] += cabsf(echo[i]) / CELLS;
	}
}

static void find_peaks(int step)
{
	int at = step % KEPT;
	DWELL_ZONE("peaks");
	found[at] = 0;
	for (int i = 1; i < CELLS - 1 && found[at] < PEAKS; i++)
		if (power[i] > 12 && power[i] > power[i - 1] && power[i] > power[i + 1])
			peaks[at][found[at]++] = (struct peak){ (float)i, power[i], power[i - 1] - power[i + 1] };
}

static void join_peaks(int step)
{
	int at = step % KEPT;
	DWELL_ZONE("join");
	for (int i = 0; i < found[at]; i++) {
		const struct peak *now = &peaks[at][i];
		float least = 1e9f;
		for (int scan = 0; scan < KEPT; scan++)
			for (int k = 0; k < found[scan] && scan != at; k++) {
				const struct peak *then = &peaks[scan][k];
				float away = fabsf(now->range - then->range) / 4 + fabsf(now->strength - then->strength) + fabsf(now->doppler - then->doppler);
				if (away < least)
					least = away;
			}
		joined += least < 6;
	}
}

static void learn(void)
{
	DWELL_ZONE("sea clutter network");
	for (int from = 0; from + WINDOW < CELLS; from += 4) {
		float unit[HIDDEN] = { 0 }, out = 0, miss;
		for (int i = 0; i < WINDOW; i++)
			for (int h = 0; h < HIDDEN; h++)
				unit[h] += power[from + i] * w1[i][h];
		for (int h = 0; h < HIDDEN; h++)
			unit[h] = unit[h] > 0 ? unit[h] : 0, out += unit[h] * w2[h];
		miss = fmaxf(-1, fminf(1, out - power[from + WINDOW / 2] / 30));
		for (int h = 0; h < HIDDEN; h++) {
			float back = 1e-5f * miss * w2[h] * (unit[h] > 0);
			w2[h] -= 1e-5f * miss * unit[h];
			for (int i = 0; i < WINDOW; i++)
				w1[i][h] -= back * power[from + i];
		}
	}
}

int main(void)
{
	struct watch watch;
	for (int i = 0; i < CELLS; i++) {
		chirp[i] = cexpf(0.0004f * I * (float)i * (float)i);
		if (i < CELLS / 2)
			twiddle[i] = cexpf(-2 * (float)M_PI * I * (float)i / CELLS);
	}
	for (int i = 0; i < WINDOW * HIDDEN; i++)
		w1[i / HIDDEN][i % HIDDEN] = 0.05f * sinf((float)i * 3), w2[i % HIDDEN] = 0.05f * cosf((float)i);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		receive(watch.steps, watch_seconds(&watch) > 2.5);
		find_peaks(watch.steps);
		planted_begin(&watch);
		join_peaks(watch.steps);
		planted_end(&watch);
		learn();
	}
	watch_tell(&watch);
	fprintf(stderr, "%d peaks in the last scan, %d joined\n", found[(watch.steps - 1) % KEPT], joined);
}
