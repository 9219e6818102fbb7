/*
 * A bandit that appends its choices to a ledger which other programs use too.
 *
 * Planted: the ledger's lock file is often there, and the loop then sleeps for twice as long each time.
 * Truth: time until the loop has made the lock file itself, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 6, ARMS = 48, TRAITS = 160 };

static double inverse[ARMS][TRAITS], covariance[TRAITS][TRAITS], context[TRAITS];

static void other_program(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int file = open("ledger.lock", O_CREAT | O_EXCL | O_WRONLY, 0600);

		if (file >= 0) {
			usleep(4000);
			close(file);
			unlink("ledger.lock");
		}
		usleep(1500);
	}
}

static void take_lock(void)
{
	for (unsigned pause = 500;; pause *= 2) {
		int file = open("ledger.lock", O_CREAT | O_EXCL | O_WRONLY, 0600);

		if (file >= 0) {
			close(file);
			return;
		}
		usleep(pause < 4000 ? pause : 4000);
	}
}

static void choose(int step)
{
	DWELL_ZONE("choose an arm");
	for (int trait = 0; trait < TRAITS; trait++)
		context[trait] = (double)((step * 13 + trait * 7) % 101) / 101;
	for (int i = 0; i < TRAITS; i++)
		for (int k = 0; k < TRAITS; k++)
			covariance[i][k] = covariance[i][k] * 0.999 + context[i] * context[k];
	for (int arm = 0; arm < ARMS; arm++)
		for (int i = 0; i < TRAITS; i++) {
			double sum = 0;

			for (int k = 0; k < TRAITS; k++)
				sum += covariance[i][k] * context[k];
			inverse[arm][i] = 0.9 * inverse[arm][i] + sum / (arm + TRAITS);
		}
}

int main(void)
{
	struct watch watch;
	FILE *ledger = fopen("ledger.txt", "w");
	pid_t child = fork();

	if (child == 0)
		other_program();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int round = 0; round < 4; round++)
			choose(watch.steps * 4 + round);
		DWELL_ZONE("ledger");
		planted_begin(&watch);
		take_lock();
		planted_end(&watch);
		fprintf(ledger, "%d %.4f\n", watch.steps, inverse[watch.steps % ARMS][0]);
		unlink("ledger.lock");
	}
	watch_tell(&watch);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fclose(ledger);
	unlink("ledger.txt");
	unlink("ledger.lock");
	return 0;
}
