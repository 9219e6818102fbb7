/*
 * Learns to trim a rotor by policy gradient. The rotor is simulated by a digital twin, a process of its own that shares
 * observations and actions with the learner in memory; two semaphores hand them over.
 *
 * Planted: twin and learner work in turn: while the twin integrates its blades, the learner waits for the semaphore.
 * Truth: time that the learner waits for the twin, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROTORS = 64, SEEN = 24, HIDDEN = 128, CONTROLS = 4, SUBSTEPS = 420, EPOCHS = 5 };

struct twin {
	sem_t acted, observed;
	int over;
	float action[ROTORS][CONTROLS], state[ROTORS][SEEN], reward[ROTORS];
};

static struct twin *twin;
static float w1[SEEN][HIDDEN], w2[HIDDEN][CONTROLS], g1[SEEN][HIDDEN], g2[HIDDEN][CONTROLS];
static float hidden[ROTORS][HIDDEN], mean[ROTORS][CONTROLS], noise[ROTORS][CONTROLS];

static void integrate(void)
{
	for (int r = 0; r < ROTORS; r++) {
		float *s = twin->state[r], vibration = 0;
		for (int t = 0; t < SUBSTEPS; t++) {
			for (int b = 0; b < SEEN / 2; b++) {
				float flap = s[b], rate = s[SEEN / 2 + b], pitch = twin->action[r][b % CONTROLS];
				float lift = pitch * (1 + 0.3f * flap) - 0.2f * rate - 1.1f * flap + 0.05f * s[(b + 1) % (SEEN / 2)];
				s[SEEN / 2 + b] = rate + 0.01f * lift;
				s[b] = flap + 0.01f * s[SEEN / 2 + b];
			}
			vibration += s[0] * s[0] + s[SEEN / 2] * s[SEEN / 2];
		}
		twin->reward[r] = -vibration / SUBSTEPS;
	}
}

static void simulate(void)
{
	for (sem_wait(&twin->acted); !twin->over; sem_wait(&twin->acted)) {
		integrate();
		sem_post(&twin->observed);
	}
	_exit(0);
}

static void policy(void)
{
	for (int r = 0; r < ROTORS; r++) {
		for (int h = 0; h < HIDDEN; h++)
			hidden[r][h] = 0;
		for (int i = 0; i < SEEN; i++)
			for (int h = 0; h < HIDDEN; h++)
				hidden[r][h] += twin->state[r][i] * w1[i][h];
		for (int c = 0; c < CONTROLS; c++)
			mean[r][c] = 0;
		for (int h = 0; h < HIDDEN; h++) {
			hidden[r][h] = tanhf(hidden[r][h]);
			for (int c = 0; c < CONTROLS; c++)
				mean[r][c] += hidden[r][h] * w2[h][c];
		}
	}
}

static void act(void)
{
	DWELL_ZONE("act");
	policy();
	for (int r = 0; r < ROTORS; r++)
		for (int c = 0; c < CONTROLS; c++) {
			noise[r][c] = (float)(rand() % 2001 - 1000) / 4000;
			twin->action[r][c] = mean[r][c] + noise[r][c];
		}
}

static void learn(void)
{
	DWELL_ZONE("learn");
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		float baseline = 0;
		policy();
		for (int r = 0; r < ROTORS; r++)
			baseline += twin->reward[r] / ROTORS;
		for (int r = 0; r < ROTORS; r++)
			for (int h = 0; h < HIDDEN; h++) {
				float back = 0;
				for (int c = 0; c < CONTROLS; c++) {
					float pull = (twin->reward[r] - baseline) * noise[r][c];
					g2[h][c] += pull * hidden[r][h], back += pull * w2[h][c];
				}
				back *= 1 - hidden[r][h] * hidden[r][h];
				for (int i = 0; i < SEEN; i++)
					g1[i][h] += back * twin->state[r][i];
			}
		for (int h = 0; h < HIDDEN; h++) {
			for (int i = 0; i < SEEN; i++)
				w1[i][h] += 1e-4f * g1[i][h], g1[i][h] = 0;
			for (int c = 0; c < CONTROLS; c++)
				w2[h][c] += 1e-4f * g2[h][c], g2[h][c] = 0;
		}
	}
}

int main(void)
{
	struct watch watch;
	pid_t child;
	twin = mmap(NULL, sizeof *twin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&twin->acted, 1, 0);
	sem_init(&twin->observed, 1, 0);
	for (int i = 0; i < SEEN * HIDDEN; i++)
		w1[i / HIDDEN][i % HIDDEN] = 0.2f * sinf((float)(7 * i));
	for (int r = 0; r < ROTORS; r++)
		twin->state[r][r % SEEN] = 0.3f;
	if (!(child = fork()))
		simulate();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		act();
		sem_post(&twin->acted);
		planted_begin(&watch);
		{
			DWELL_ZONE("observe");
			sem_wait(&twin->observed);
		}
		planted_end(&watch);
		learn();
	}
	watch_tell(&watch);
	twin->over = 1;
	sem_post(&twin->acted);
	waitpid(child, NULL, 0);
}
