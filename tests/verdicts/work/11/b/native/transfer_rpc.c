/* Settlement service: a client submits groups of transfers over a TCP
 * connection, the server checks each group's seal, books it and answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dwell.h"

enum { GROUPS = 110, TRANSFERS = 1500, ACCOUNTS = 4096, SEAL_ROUNDS = 5500 };

struct header {
    uint32_t kind;
    uint32_t length;
    uint64_t seal;
};

struct transfer {
    uint32_t from, to;
    int64_t amount;
};

struct reply {
    uint32_t booked, refused;
    uint64_t seal;
};

static int64_t balance[ACCOUNTS];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static uint64_t seal_of(const void *data, size_t length)
{
    uint64_t h = 0x243f6a8885a308d3ull;
    const unsigned char *p = data;
    for (int round = 0; round < SEAL_ROUNDS; round++)
        for (size_t i = 0; i + 8 <= length; i += 64) {
            uint64_t w;
            memcpy(&w, p + i, 8);
            h = mix(h ^ (w + (uint64_t)round));
        }
    return h;
}

static void send_all(int fd, const void *data, size_t length)
{
    const char *p = data;
    while (length > 0) {
        ssize_t n = write(fd, p, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("write");
        p += n;
        length -= (size_t)n;
    }
}

static int receive_all(int fd, void *data, size_t length)
{
    char *p = data;
    while (length > 0) {
        ssize_t n = read(fd, p, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            fail("read");
        if (n == 0)
            return 0;
        p += n;
        length -= (size_t)n;
    }
    return 1;
}

static void send_message(int fd, uint32_t kind, const void *body, uint32_t length, uint64_t seal)
{
    struct header h = {kind, length, seal};
    send_all(fd, &h, sizeof h);
    send_all(fd, body, length);
}

static struct reply book(const struct transfer *list, size_t n)
{
    struct reply r = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        const struct transfer *t = &list[i];
        if (t->from == t->to || balance[t->from] < t->amount) {
            r.refused++;
            continue;
        }
        balance[t->from] -= t->amount;
        balance[t->to] += t->amount;
        r.booked++;
    }
    return r;
}

static void *serve(void *arg)
{
    int listener = *(int *)arg;
    int fd = accept(listener, NULL, NULL);
    if (fd < 0)
        fail("accept");
    struct header h;
    struct transfer *list = malloc(TRANSFERS * sizeof *list);
    while (receive_all(fd, &h, sizeof h)) {
        if (h.length > TRANSFERS * sizeof *list || !receive_all(fd, list, h.length))
            break;
        struct reply r = {0, 0, 0};
        if (seal_of(list, h.length) == h.seal)
            r = book(list, h.length / sizeof *list);
        r.seal = mix(h.seal);
        send_all(fd, &r, sizeof r);
    }
    free(list);
    close(fd);
    return NULL;
}

static int listen_local(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t size = sizeof *address;
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) || listen(fd, 4) ||
        getsockname(fd, (struct sockaddr *)address, &size))
        fail("listen");
    return fd;
}

static size_t make_group(struct transfer *list, int group, uint64_t *seed)
{
    size_t n = TRANSFERS - (size_t)(group % 7) * 40;
    for (size_t i = 0; i < n; i++) {
        *seed = mix(*seed + 0x9e3779b97f4a7c15ull);
        list[i].from = (uint32_t)(*seed % ACCOUNTS);
        list[i].to = (uint32_t)((*seed >> 20) % ACCOUNTS);
        list[i].amount = (int64_t)((*seed >> 44) % 5000);
    }
    return n;
}

int main(void)
{
    struct sockaddr_in address;
    pthread_t server;
    int listener = listen_local(&address);
    for (int i = 0; i < ACCOUNTS; i++)
        balance[i] = 100000;
    if (pthread_create(&server, NULL, serve, &listener))
        fail("pthread_create");
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
        fail("connect");

    struct transfer list[TRANSFERS];
    uint64_t seed = 7, digest = 0;
    long booked = 0, refused = 0;
    for (int group = 0; group < GROUPS; group++) {
        size_t n = make_group(list, group, &seed);
        struct reply r;
        size_t bytes = n * sizeof *list;
        send_message(fd, 1, list, (uint32_t)bytes, seal_of(list, bytes));
        if (!receive_all(fd, &r, sizeof r))
            fail("reply");
        booked += r.booked;
        refused += r.refused;
        digest = mix(digest ^ r.seal);
        DWELL_STEP();
    }
    shutdown(fd, SHUT_WR);
    pthread_join(server, NULL);
    close(fd);
    close(listener);
    int64_t total = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        total += balance[i];
    printf("booked %ld refused %ld\n", booked, refused);
    printf("total %lld digest %016llx\n", (long long)total, (unsigned long long)digest);
    return 0;
}
