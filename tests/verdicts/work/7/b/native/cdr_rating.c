/*
 * cdr_rating - rate the call detail records of one billing day.
 *
 * Records come from exchanges in several countries and carry the local wall
 * time of the exchange.  Each one is converted to UTC, matched against the
 * tariff by longest dialled prefix, split into peak and off-peak minutes and
 * added to the account of the caller.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NRECORDS 1900000
#define NACCOUNTS 60000
#define MAX_NODES 60000

typedef struct {
    const char *code;
    const char *tz;
} exchange_t;

static const exchange_t EXCHANGES[] = {
    {"LIS", "WET0WEST,M3.5.0/1,M10.5.0"},
    {"BER", "CET-1CEST,M3.5.0,M10.5.0/3"},
    {"ATH", "EET-2EEST,M3.5.0/3,M10.5.0/4"},
    {"NYC", "EST5EDT,M3.2.0,M11.1.0"},
    {"DEN", "MST7MDT,M3.2.0,M11.1.0"},
    {"SYD", "AEST-10AEDT,M10.1.0,M4.1.0/3"},
};
#define NEXCHANGES ((int)(sizeof EXCHANGES / sizeof EXCHANGES[0]))

typedef struct {
    int32_t child[10];
    int32_t rate;       /* 1/100 cent per minute, 0 when no tariff ends here */
} node_t;

typedef struct {
    uint32_t caller;
    char callee[20];
    int exchange;
    struct tm local;
    int duration;
} cdr_t;

typedef struct {
    int64_t charge;
    int64_t last_end;
    uint32_t calls;
    uint32_t overlaps;
} account_t;

static node_t *trie;
static int trie_used = 1;

static uint64_t rng_state = 0x5eedc0de1234ULL;
static uint32_t rnd(uint32_t n)
{
    rng_state = rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(((rng_state >> 32) * n) >> 32);
}

static void tariff_add(const char *prefix, int rate)
{
    int at = 0;
    for (; *prefix; prefix++) {
        int d = *prefix - '0';
        if (!trie[at].child[d])
            trie[at].child[d] = trie_used++;
        at = trie[at].child[d];
    }
    trie[at].rate = rate;
}

static int tariff_rate(const char *number)
{
    int at = 0, rate = 0;
    for (; *number; number++) {
        at = trie[at].child[*number - '0'];
        if (!at)
            break;
        if (trie[at].rate)
            rate = trie[at].rate;
    }
    return rate;
}

static void write_records(FILE *f)
{
    for (int i = 0; i < NRECORDS; i++) {
        uint32_t second = (uint32_t)((uint64_t)i * 86400 / NRECORDS);
        fprintf(f, "%u;%u%09u;%s;2026-03-%02u %02u:%02u:%02u;%u\n", rnd(NACCOUNTS),
                1 + rnd(9), rnd(1000000000), EXCHANGES[rnd(NEXCHANGES)].code, 17 + rnd(3),
                second / 3600, second / 60 % 60, second % 60, 1 + rnd(900));
    }
}

static int number(const char **p)
{
    int v = 0;
    while (**p >= '0' && **p <= '9')
        v = v * 10 + (*(*p)++ - '0');
    if (**p)
        (*p)++;
    return v;
}

static int parse_record(const char *line, cdr_t *r)
{
    const char *p = line;
    r->caller = (uint32_t)number(&p);
    size_t n = strcspn(p, ";");
    if (n >= sizeof r->callee)
        return -1;
    memcpy(r->callee, p, n);
    r->callee[n] = 0;
    p += n + 1;
    r->exchange = -1;
    for (int i = 0; i < NEXCHANGES; i++)
        if (!memcmp(p, EXCHANGES[i].code, 3))
            r->exchange = i;
    p += 4;
    memset(&r->local, 0, sizeof r->local);
    r->local.tm_year = number(&p) - 1900;
    r->local.tm_mon = number(&p) - 1;
    r->local.tm_mday = number(&p);
    r->local.tm_hour = number(&p);
    r->local.tm_min = number(&p);
    r->local.tm_sec = number(&p);
    r->local.tm_isdst = -1;
    r->duration = number(&p);
    return r->exchange < 0 || r->caller >= NACCOUNTS ? -1 : 0;
}

static int64_t start_utc(const cdr_t *r)
{
    struct tm t = r->local;
    setenv("TZ", EXCHANGES[r->exchange].tz, 1);
    tzset();
    return (int64_t)mktime(&t);
}

static void rate_call(account_t *acc, const cdr_t *r)
{
    int64_t start = start_utc(r);
    int rate = tariff_rate(r->callee);
    int begin = r->local.tm_hour * 3600 + r->local.tm_min * 60 + r->local.tm_sec;
    int peak = 0;
    for (int s = 0; s < r->duration; s += 60) {     /* whole minutes are charged */
        int hour = (begin + s) / 3600 % 24;
        peak += hour >= 8 && hour < 19;
    }
    int minutes = (r->duration + 59) / 60;
    acc->charge += (int64_t)rate * (2 * peak + (minutes - peak));
    acc->calls++;
    if (start < acc->last_end)
        acc->overlaps++;
    if (start + r->duration > acc->last_end)
        acc->last_end = start + r->duration;
}

int main(void)
{
    char path[] = "/tmp/cdr-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
    trie = calloc(MAX_NODES, sizeof *trie);
    account_t *accounts = calloc(NACCOUNTS, sizeof *accounts);
    if (!f || !trie || !accounts) {
        perror("cdr_rating");
        return 1;
    }
    unlink(path);
    for (int i = 1; i < 10; i++)
        tariff_add((char[]){(char)('0' + i), 0}, 900 + 10 * i);
    for (int i = 0; i < 9000; i++) {
        char prefix[8];
        snprintf(prefix, sizeof prefix, "%u", 10 + rnd(99990));
        tariff_add(prefix, 100 + (int)rnd(4000));
    }
    write_records(f);
    rewind(f);

    char *line = NULL;
    size_t cap = 0;
    long rated = 0, rejected = 0;
    while (getline(&line, &cap, f) > 0) {
        cdr_t r;
        if (parse_record(line, &r)) {
            rejected++;
            continue;
        }
        rate_call(&accounts[r.caller], &r);
        rated++;
    }
    int64_t charge = 0, last = 0;
    long overlaps = 0;
    for (int i = 0; i < NACCOUNTS; i++) {
        charge += accounts[i].charge;
        overlaps += accounts[i].overlaps;
        if (accounts[i].last_end > last)
            last = accounts[i].last_end;
    }
    printf("rated %ld, rejected %ld, charge %.2f, overlapping %ld, last end %lld\n", rated,
           rejected, (double)charge / 10000.0, overlaps, (long long)last);
    free(line);
    free(accounts);
    free(trie);
    fclose(f);
    return 0;
}
