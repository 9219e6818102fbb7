/*
 * Fits prices of grain with a polynomial of many terms, and keeps a ledger that must survive a
 * power failure.
 *
 * Planted: each step appends its weights to the ledger and waits until the disk has them.
 * Truth: time of writing and waiting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <unistd.h>

enum { SECONDS = 5, OFFERS = 3000, TERMS = 600, COPIES = 40 };

static double terms[OFFERS][8], weights[TERMS], slopes[TERMS], errors[OFFERS];

static double value(const double *offer, int term)
{
	return offer[term & 7] * offer[(term >> 3) & 7] + offer[term % 5];
}

static void predict(void)
{
	DWELL_OP("predict");
	for (int at = 0; at < OFFERS; at++) {
		double sum = 0;

		for (int term = 0; term < TERMS; term++)
			sum += weights[term] * value(terms[at], term);
		errors[at] = sum - (double)(at % 91);
	}
}

static void descend(void)
{
	DWELL_OP("descend");
	for (int at = 0; at < OFFERS; at++)
		for (int term = 0; term < TERMS; term++)
			slopes[term] += errors[at] * value(terms[at], term);
	for (int term = 0; term < TERMS; term++) {
		weights[term] -= 1e-9 * slopes[term];
		slopes[term] = 0;
	}
}

static void append(int ledger)
{
	for (int copy = 0; copy < COPIES; copy++)
		if (write(ledger, weights, sizeof(weights)) != sizeof(weights))
			_exit(1);
	fsync(ledger);
}

int main(void)
{
	int ledger = open("ledger.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct watch watch;

	for (int at = 0; at < OFFERS; at++)
		for (int k = 0; k < 8; k++)
			terms[at][k] = (at * (k + 3)) % 100 / 100.0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		predict();
		descend();
		planted_begin(&watch);
		append(ledger);
		planted_end(&watch);
	}
	watch_tell(&watch);
	close(ledger);
	return 0;
}
