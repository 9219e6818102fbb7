/*
 * Two hospitals train one model for the risk of sepsis; each has its own process and patients, and only sums of
 * gradients leave a site.
 *
 * Planted: the second hospital has twice as many patients, and the first waits for its sums in each round.
 * Truth: time that the first waits in the exchange, of its loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNS = 40, UNITS = 48, FIRST = 500, SECOND = 1000 };

struct model { float in[UNITS][SIGNS], out[UNITS]; };
struct message { struct model sums; int patients, last; };

struct site {
	int patients, link;
	float (*signs)[SIGNS];
	float *sepsis;
	struct model model;
	struct message mine, theirs;
};

static void admit(struct site *site, int patients, int link)
{
	site->patients = patients;
	site->link = link;
	site->signs = malloc((size_t)patients * sizeof *site->signs);
	site->sepsis = malloc((size_t)patients * sizeof *site->sepsis);
	for (int p = 0; p < patients; p++) {
		for (int s = 0; s < SIGNS; s++)
			site->signs[p][s] = (float)(rand() % 2000 - 1000) / 1000;
		site->sepsis[p] = site->signs[p][0] + site->signs[p][7] * site->signs[p][8] > 0.2f;
	}
	for (int u = 0; u < UNITS; u++) {
		site->model.out[u] = (float)(u % 7 - 3) / 10;
		for (int s = 0; s < SIGNS; s++)
			site->model.in[u][s] = (float)((u * 13 + s * 29) % 21 - 10) / 40;
	}
}

static void local_gradient(struct site *site)
{
	DWELL_ZONE("local gradient");
	const struct model *model = &site->model;
	struct model *sums = &site->mine.sums;
	float hidden[UNITS];

	memset(sums, 0, sizeof *sums);
	for (int p = 0; p < site->patients; p++) {
		const float *signs = site->signs[p];
		float logit = 0;

		for (int u = 0; u < UNITS; u++) {
			float a = 0;
			for (int s = 0; s < SIGNS; s++)
				a += model->in[u][s] * signs[s];
			hidden[u] = a > 0 ? a : 0;
			logit += model->out[u] * hidden[u];
		}
		float error = 1 / (1 + expf(-logit)) - site->sepsis[p];
		for (int u = 0; u < UNITS; u++) {
			float back = hidden[u] > 0 ? error * model->out[u] : 0;
			sums->out[u] += error * hidden[u];
			for (int s = 0; s < SIGNS; s++)
				sums->in[u][s] += back * signs[s];
		}
	}
	site->mine.patients = site->patients;
}

/* Whether the other site is still there. */
static int exchange(struct site *site)
{
	DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "exchange sums");
	if (send(site->link, &site->mine, sizeof site->mine, MSG_NOSIGNAL) != (ssize_t)sizeof site->mine)
		return 0;
	return recv(site->link, &site->theirs, sizeof site->theirs, MSG_WAITALL) == (ssize_t)sizeof site->theirs;
}

static void apply(struct site *site)
{
	DWELL_ZONE("apply");
	float rate = 0.2f / (float)(site->mine.patients + site->theirs.patients);
	const float *mine = site->mine.sums.in[0], *theirs = site->theirs.sums.in[0];
	float *weights = site->model.in[0];

	for (size_t i = 0; i < sizeof(struct model) / sizeof(float); i++)
		weights[i] -= rate * (mine[i] + theirs[i]);
}

int main(void)
{
	int links[2];
	static struct site site;
	struct watch watch;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, links))
		return 1;
	pid_t child = fork();
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(links[child != 0]);
	admit(&site, child ? FIRST : SECOND, links[child == 0]);
	watch_begin(&watch);
	do {
		DWELL_STEP();
		site.mine.last = child && watch_seconds(&watch) > 6;
		local_gradient(&site);
		planted_begin(&watch);
		if (!exchange(&site))
			break;
		planted_end(&watch);
		apply(&site);
		watch.steps++;
	} while (!site.mine.last && !site.theirs.last);
	if (child == 0)
		return 0;
	watch_tell(&watch);
	waitpid(child, NULL, 0);
}
