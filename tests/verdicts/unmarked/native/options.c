/* Prices an Asian option by simulation on two threads. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 64

struct market { double spot, strike, vol, rate, years; };
struct job { const struct market *m; uint64_t seed; long paths; double sum, sq; };

static pthread_mutex_t result_mutex = PTHREAD_MUTEX_INITIALIZER;
static double grand_sum, grand_sq;
static long grand_paths;

static uint64_t mix(uint64_t *s) {
    uint64_t z = (*s += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *s) { return ((mix(s) >> 11) + 0.5) / 9007199254740992.0; }

static void normal_pair(uint64_t *s, double *a, double *b) {
    double r = sqrt(-2 * log(uniform(s))), t = 6.283185307179586 * uniform(s);
    *a = r * cos(t);
    *b = r * sin(t);
}

/* the rate of a sleeping account, one multiplication */
static double sleep_rate(const struct market *m, double t) { return m->rate * (1 - 0.1 * t); }

static double lock_in_price(const struct market *m, uint64_t *s) {
    double dt = m->years / STEPS, price = m->spot, sum = 0;
    for (int i = 0; i < STEPS; i += 2) {
        double z[2];
        normal_pair(s, &z[0], &z[1]);
        for (int k = 0; k < 2; k++) {
            double drift = (sleep_rate(m, i * dt) - 0.5 * m->vol * m->vol) * dt;
            price *= exp(drift + m->vol * sqrt(dt) * z[k]);
            sum += price;
        }
    }
    return sum / STEPS;
}

static void *simulate(void *arg) {
    struct job *j = arg;
    for (long i = 0; i < j->paths; i++) {
        double gain = lock_in_price(j->m, &j->seed) - j->m->strike;
        if (gain > 0) {
            j->sum += gain;
            j->sq += gain * gain;
        }
    }
    pthread_mutex_lock(&result_mutex);
    grand_sum += j->sum;
    grand_sq += j->sq;
    grand_paths += j->paths;
    pthread_mutex_unlock(&result_mutex);
    return NULL;
}

static void report(const struct market *m) {
    double mean = grand_sum / grand_paths, var = grand_sq / grand_paths - mean * mean;
    printf("price %.4f +- %.4f (%ld paths)\n", mean * exp(-m->rate * m->years),
           sqrt(var / grand_paths), grand_paths);
}

int main(void) {
    struct market m = {100, 103, 0.25, 0.03, 1.0};
    struct job jobs[2] = {{&m, 1, 520000, 0, 0}, {&m, 987654321, 520000, 0, 0}};
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, simulate, &jobs[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    report(&m);
    return 0;
}
