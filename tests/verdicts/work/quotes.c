/* Revalue a portfolio; prices come from a quote service in another process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "dwell/dwell.h"

#define POSITIONS 24
#define DAYS 40
#define PATHS 3600

struct request { int day, count, ids[POSITIONS]; };
struct reply { int count; double price[POSITIONS]; };
struct position { int id; double amount, cost, vol; };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void transfer(int fd, void *data, size_t size, int out)
{
    char *p = data;
    while (size) {
        ssize_t n = out ? write(fd, p, size) : read(fd, p, size);
        if (n <= 0) exit(out ? 1 : 0);
        p += n;
        size -= (size_t)n;
    }
}

static void quote_service(int fd)
{
    struct request q;
    struct reply r;
    for (;;) {
        transfer(fd, &q, sizeof q, 0);
        struct timespec venue = {0, 900000}; /* the exchange's answer time */
        nanosleep(&venue, NULL);
        r.count = q.count;
        for (int i = 0; i < q.count; i++)
            r.price[i] = 50 + 3 * q.ids[i] + 5 * sin(q.day * 0.3 + q.ids[i]) + 0.1 * q.day;
        transfer(fd, &r, sizeof r, 1);
    }
}

static void ask(int fd, int day, const struct position *p, int n, double *price)
{
    struct request q = {.day = day, .count = n};
    struct reply r;
    for (int i = 0; i < n; i++) q.ids[i] = p[i].id;
    transfer(fd, &q, sizeof q, 1);
    transfer(fd, &r, sizeof r, 0);
    memcpy(price, r.price, sizeof(double) * (size_t)n);
}

static void mark_to_market(int fd, int day, const struct position *p, double *price)
{
#ifdef REPAIRED
    ask(fd, day, p, POSITIONS, price);
#else
    for (int i = 0; i < POSITIONS; i++) ask(fd, day, p + i, 1, price + i);
#endif
}

static unsigned long long state = 88172645463325252ull;
static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double value_at_risk(const struct position *p, const double *price)
{
    static double result[PATHS];
    for (int s = 0; s < PATHS; s++) {
        double v = 0, market = sqrt(-2 * log(uniform() + 1e-12)) * cos(6.283185307 * uniform());
        for (int i = 0; i < POSITIONS; i++) {
            double own = sqrt(-2 * log(uniform() + 1e-12)) * cos(6.283185307 * uniform());
            v += p[i].amount * price[i] * (exp(p[i].vol * (0.6 * market + 0.8 * own)) - 1);
        }
        result[s] = v;
    }
    qsort(result, PATHS, sizeof result[0], ascending);
    return -result[PATHS / 100];
}

int main(void)
{
    int ends[2];
    double start = now(), waiting = 0, worst = 0, price[POSITIONS];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        quote_service(ends[1]);
    }
    close(ends[1]);
    struct position book[POSITIONS];
    for (int i = 0; i < POSITIONS; i++)
        book[i] = (struct position){i + 1, 10 + i % 7 * 4, 48 + 3 * i, 0.01 + 0.001 * (i % 9)};
    for (int day = 0; day < DAYS; day++) {
        DWELL_STEP();
        double t = now();
        mark_to_market(ends[0], day, book, price);
        waiting += now() - t;
        double value = 0, gain = 0;
        for (int i = 0; i < POSITIONS; i++) {
            value += book[i].amount * price[i];
            gain += book[i].amount * (price[i] - book[i].cost);
        }
        double risk = 0;
        for (int k = 0; k < 8; k++) risk += value_at_risk(book, price) / 8;
        if (risk > worst) worst = risk;
        if (day % 10 == 0) printf("day %d: value %.2f, gain %.2f, risk %.2f\n", day, value, gain, risk);
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
    printf("worst one-day risk %.2f\n", worst);
    double total = now() - start;
#ifdef REPAIRED
    waiting = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", waiting / total, total);
    return 0;
}
