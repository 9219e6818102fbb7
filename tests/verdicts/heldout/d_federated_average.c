/*
 * Federated averaging: in each round six of forty hospitals train the network that they got on their own patients,
 * and the server averages what they send.
 *
 * Planted: nothing. The hospitals' training is the work.
 * Truth: time of sending and averaging, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

enum { SECONDS = 6, CLIENTS = 40, CHOSEN = 6, PATIENTS = 60, INPUTS = 40, UNITS = 32, EPOCHS = 2 };

struct model {
	float in[UNITS][INPUTS], out[UNITS], bias;
};

static struct hospital {
	float patients[PATIENTS][INPUTS], ill[PATIENTS];
	struct model model;
} hospitals[CLIENTS];
static struct model global;

static void fill(void)
{
	unsigned seed = 2;

	for (int client = 0; client < CLIENTS; client++)
		for (int patient = 0; patient < PATIENTS; patient++) {
			float sum = 0;

			for (int at = 0; at < INPUTS; at++) {
				seed = seed * 1664525u + 1013904223u;
				hospitals[client].patients[patient][at] = (float)(seed >> 16) / 65536 - 0.5f + (float)client / 100;
				sum += at % 3 ? 0 : hospitals[client].patients[patient][at];
			}
			hospitals[client].ill[patient] = sum > 0;
		}
	for (int unit = 0; unit < UNITS; unit++) {
		for (int at = 0; at < INPUTS; at++)
			global.in[unit][at] = sinf((float)(unit * INPUTS + at)) / 6;
		global.out[unit] = cosf((float)unit) / 6;
	}
}

static void train(struct hospital *hospital)
{
	struct model *model = &hospital->model;

	for (int turn = 0; turn < EPOCHS * PATIENTS; turn++) {
		const float *patient = hospital->patients[turn % PATIENTS];
		float hidden[UNITS], error = model->bias;

		{
			DWELL_PHASE("forward");
			for (int unit = 0; unit < UNITS; unit++) {
				float sum = 0;

				for (int at = 0; at < INPUTS; at++)
					sum += model->in[unit][at] * patient[at];
				hidden[unit] = tanhf(sum);
				error += model->out[unit] * hidden[unit];
			}
			error = 1 / (1 + expf(-error)) - hospital->ill[turn % PATIENTS];
		}
		DWELL_PHASE("backward");
		for (int unit = 0; unit < UNITS; unit++) {
			float back = 0.05f * error * model->out[unit] * (1 - hidden[unit] * hidden[unit]);

			model->out[unit] -= 0.05f * error * hidden[unit];
			for (int at = 0; at < INPUTS; at++)
				model->in[unit][at] -= back * patient[at];
		}
		model->bias -= 0.05f * error;
	}
}

int main(void)
{
	enum { NUMBERS = sizeof(struct model) / sizeof(float) };
	struct watch watch;

	fill();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		struct hospital *chosen[CHOSEN];

		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "broadcast");
			for (int at = 0; at < CHOSEN; at++) {
				chosen[at] = &hospitals[(watch.steps * 7 + at * 5) % CLIENTS];
				chosen[at]->model = global;
			}
		}
		planted_end(&watch);
		for (int at = 0; at < CHOSEN; at++) {
			DWELL_ZONE("local training");
			train(chosen[at]);
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("average");
			float *to = (float *)&global;

			memset(&global, 0, sizeof(global));
			for (int at = 0; at < CHOSEN; at++)
				for (int number = 0; number < NUMBERS; number++)
					to[number] += ((const float *)&chosen[at]->model)[number] / CHOSEN;
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
