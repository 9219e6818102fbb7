/*
 * Learns from star spectra in a mapped file, all of which is read once before the loop.
 *
 * Decoy: 96 MB are mapped and faulted in before the first step, and none during the loop.
 * Truth: time that the kernel works for the loop, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECONDS = 5, SPECTRA = 12000, LINES = 2048, BATCH = 1200 };

static const float *open_spectra(const char *path)
{
	static float spectrum[LINES];
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	const float *map;

	for (int at = 0; at < SPECTRA; at++) {
		for (int line = 0; line < LINES; line += 8)
			spectrum[line] = (float)((at + line) % 333) / 333;
		if (write(file, spectrum, sizeof(spectrum)) != sizeof(spectrum))
			return NULL;
	}
	map = mmap(NULL, SPECTRA * sizeof(spectrum), PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
	close(file);
	unlink(path);
	return map == MAP_FAILED ? NULL : map;
}

static void learn(const float *spectra, float *weights)
{
	DWELL_OP("lines, gradient");
	for (int at = 0; at < BATCH; at++, spectra += LINES) {
		float error = -1;

		for (int line = 0; line < LINES; line++)
			error += spectra[line] * weights[line];
		for (int line = 0; line < LINES; line++)
			weights[line] -= 1e-8f * error * spectra[line];
	}
}

int main(void)
{
	static float weights[LINES];
	struct watch watch;
	const float *spectra = open_spectra("spectra.bin");
	volatile float sum = 0;
	double system_before;

	if (!spectra)
		return 1;
	for (size_t at = 0; at < (size_t)SPECTRA * LINES; at += 512)
		sum += spectra[at];
	watch_begin(&watch);
	system_before = system_s();
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		learn(spectra + (size_t)(watch.steps % (SPECTRA / BATCH)) * BATCH * LINES, weights);
	}
	watch_tell_share(&watch, (system_s() - system_before) / watch_seconds(&watch));
	return 0;
}
