/* Small append-only ledger: posts a day of payments and prints a balance sheet. */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACCOUNTS 256
#define PAYMENTS 850
#define JOURNAL "ledger.journal"

struct payment {
    uint32_t id, from, to, cents;
    uint32_t crc;
    char memo[108];
};

static double balance[ACCOUNTS];
static uint32_t seed = 20231;

static uint32_t next_random(void) {
    seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5;
    return seed;
}

static uint32_t crc_of(const void *data, size_t n) {
    const uint8_t *p = data;
    uint32_t c = ~0u;
    while (n--) {
        c ^= *p++;
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ (0xEDB88320u & -(c & 1));
    }
    return ~c;
}

static void fill_payment(struct payment *p, uint32_t id) {
    memset(p, 0, sizeof *p);
    p->id = id;
    p->from = next_random() % ACCOUNTS;
    p->to = next_random() % ACCOUNTS;
    p->cents = 100 + next_random() % 90000;
    snprintf(p->memo, sizeof p->memo, "invoice %08u of week %u", next_random(), id % 52);
    p->crc = crc_of(p->memo, sizeof p->memo);
}

static int post_payment(int fd, const struct payment *p) {
    if (write(fd, p, sizeof *p) != (ssize_t)sizeof *p) return -1;
    if (fsync(fd) != 0) return -1;
    balance[p->from] -= p->cents / 100.0;
    balance[p->to] += p->cents / 100.0;
    return 0;
}

static long verify_journal(const char *path) {
    FILE *f = fopen(path, "rb");
    struct payment p;
    long good = 0;
    while (fread(&p, sizeof p, 1, f) == 1)
        if (crc_of(p.memo, sizeof p.memo) == p.crc) good++;
    fclose(f);
    return good;
}

/* projects the balances of the waiting list a number of days ahead */
static double wait_list_projection(int days) {
    double total = 0;
    for (int d = 0; d < days; d++)
        for (int a = 0; a < ACCOUNTS; a++) {
            double rate = 0.02 + 0.01 * sin(a * 0.1 + d * 0.01);
            total += balance[a] * pow(1.0 + rate / 365.0, d % 365);
        }
    return total / days;
}

static double flush_ratio(void) {
    double pos = 0, neg = 0;
    for (int a = 0; a < ACCOUNTS; a++)
        if (balance[a] > 0) pos += balance[a]; else neg -= balance[a];
    return pos / (neg + 1);
}

int main(void) {
    int fd = open(JOURNAL, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (fd < 0) { perror(JOURNAL); return 1; }
    for (uint32_t i = 0; i < PAYMENTS; i++) {
        struct payment p;
        fill_payment(&p, i);
        if (post_payment(fd, &p) != 0) { perror("post"); return 1; }
    }
    close(fd);
    long good = verify_journal(JOURNAL);
    double ahead = wait_list_projection(40000);
    printf("%ld payments verified, projection %.2f, ratio %.3f\n", good, ahead, flush_ratio());
    unlink(JOURNAL);
    return 0;
}
