/*
 * A conditional random field that finds names of genes in abstracts.
 *
 * Planted: nothing.
 * Truth: time of the update, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAGS      24
#define WORDS     40
#define FEATURES  160
#define SENTENCES 12

typedef double lattice[WORDS][TAGS];

static float sentence[WORDS][FEATURES], emission[TAGS][FEATURES], d_emission[TAGS][FEATURES];
static double transition[TAGS][TAGS], d_transition[TAGS][TAGS];
static lattice potential, alpha, beta, marginal;
static int gold[WORDS];

static void read_sentence(int number)
{
    for (int w = 0; w < WORDS; w++) {
        gold[w] = (number * 7 + w * w) % TAGS;
        for (int f = 0; f < FEATURES; f++)
            sentence[w][f] = (float)((number + gold[w] * f + w) % 23) / 23;
    }
}

static void potentials(void)
{
    DWELL_ZONE("potentials");
    for (int w = 0; w < WORDS; w++)
        for (int t = 0; t < TAGS; t++) {
            float sum = 0;

            for (int f = 0; f < FEATURES; f++)
                sum += emission[t][f] * sentence[w][f];
            potential[w][t] = sum;
        }
}

static double log_sum(const double *terms)
{
    double most = terms[0], sum = 0;

    for (int t = 1; t < TAGS; t++)
        most = terms[t] > most ? terms[t] : most;
    for (int t = 0; t < TAGS; t++)
        sum += exp(terms[t] - most);
    return most + log(sum);
}

static double left_to_right(void)
{
    DWELL_ZONE("alphas");
    double terms[TAGS];

    memcpy(alpha[0], potential[0], sizeof(alpha[0]));
    for (int w = 1; w < WORDS; w++)
        for (int t = 0; t < TAGS; t++) {
            for (int from = 0; from < TAGS; from++)
                terms[from] = alpha[w - 1][from] + transition[from][t];
            alpha[w][t] = potential[w][t] + log_sum(terms);
        }
    return log_sum(alpha[WORDS - 1]);
}

static void right_to_left(void)
{
    DWELL_ZONE("betas");
    double terms[TAGS];

    memset(beta[WORDS - 1], 0, sizeof(beta[0]));
    for (int w = WORDS - 2; w >= 0; w--)
        for (int t = 0; t < TAGS; t++) {
            for (int to = 0; to < TAGS; to++)
                terms[to] = transition[t][to] + potential[w + 1][to] + beta[w + 1][to];
            beta[w][t] = log_sum(terms);
        }
}

static void expectations(double all)
{
    DWELL_ZONE("expectations");
    for (int w = 0; w < WORDS; w++)
        for (int t = 0; t < TAGS; t++) {
            marginal[w][t] = exp(alpha[w][t] + beta[w][t] - all) - (t == gold[w]);
            for (int f = 0; f < FEATURES; f++)
                d_emission[t][f] += (float)marginal[w][t] * sentence[w][f];
            if (w == 0)
                continue;
            for (int from = 0; from < TAGS; from++)
                d_transition[from][t] += exp(alpha[w - 1][from] + transition[from][t] + potential[w][t] + beta[w][t] - all) -
                                         (from == gold[w - 1] && t == gold[w]);
        }
}

static void update(void)
{
    DWELL_ZONE("update");
    for (int t = 0; t < TAGS; t++) {
        for (int f = 0; f < FEATURES; f++)
            emission[t][f] -= 1e-4f * d_emission[t][f];
        for (int to = 0; to < TAGS; to++)
            transition[t][to] -= 1e-4 * d_transition[t][to];
    }
    memset(d_emission, 0, sizeof(d_emission));
    memset(d_transition, 0, sizeof(d_transition));
}

int main(void)
{
    struct watch watch;
    double loss = 0;

    watch_begin(&watch);
    while (watch_seconds(&watch) < 5.5) {
        DWELL_STEP();
        for (int s = 0; s < SENTENCES; s++) {
            double all;

            read_sentence(watch.steps * SENTENCES + s);
            potentials();
            all = left_to_right();
            right_to_left();
            expectations(all);
            loss = 0.99 * loss + 0.01 * all;
        }
        planted_begin(&watch);
        update();
        planted_end(&watch);
        watch.steps++;
    }
    watch_tell(&watch);
    printf("loss %g\n", loss);
    return 0;
}
