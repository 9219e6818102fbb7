/* Chat relay: every client has a connection and a session thread. A session reads lines
 * "ROOM NICK TEXT", keeps the room's history, and answers each with a receipt. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 3
#define MESSAGES 31000
#define WINDOW 50
#define ROOMS 16
#define HISTORY 256
#define LINE_MAX_LEN 512

typedef struct {
    pthread_mutex_t lock;
    char text[HISTORY][LINE_MAX_LEN];
    uint64_t posted, masked;
} Room;

static Room rooms[ROOMS];
static const char *blocked[] = {
    "lottery",  "free money", "casino",    "jackpot",   "double your", "act now",   "wire fee", "gift card",
    "no risk",  "winner",     "crypto",    "pills",     "cheap loan",  "click here", "refinance", "miracle",
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* One direction of a connection. Receipts and messages have to leave at once. */
static FILE *open_stream(int fd, const char *mode)
{
    FILE *f = fdopen(dup(fd), mode);
    if (!f)
        die("fdopen");
    setvbuf(f, NULL, _IONBF, 0);
    return f;
}

static uint32_t checksum(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

/* Blanks blocked words in place, whatever their case; returns how many. */
static int moderate(char *text)
{
    int found = 0;
    for (size_t w = 0; w < sizeof blocked / sizeof blocked[0]; w++) {
        size_t len = strlen(blocked[w]);
        char *at = text;
        while ((at = strcasestr(at, blocked[w]))) {
            memset(at, '*', len);
            at += len;
            found++;
        }
    }
    return found;
}

static uint64_t post(Room *r, const char *nick, const char *text, int masked)
{
    pthread_mutex_lock(&r->lock);
    uint64_t seq = r->posted++;
    snprintf(r->text[seq % HISTORY], LINE_MAX_LEN, "<%s> %s", nick, text);
    r->masked += masked;
    pthread_mutex_unlock(&r->lock);
    return seq;
}

static void *session(void *arg)
{
    int fd = (int)(intptr_t)arg;
    FILE *in = open_stream(fd, "r"), *out = open_stream(fd, "w");
    char line[LINE_MAX_LEN];
    while (fgets(line, sizeof line, in)) {
        char *save, *room = strtok_r(line, " ", &save);
        char *nick = strtok_r(NULL, " ", &save), *text = strtok_r(NULL, "\n", &save);
        if (!room || !nick || !text) {
            fprintf(out, "ERR malformed\n");
            continue;
        }
        unsigned where = (unsigned)atoi(room) % ROOMS;
        int masked = moderate(text);
        uint32_t sum = checksum(text);
        post(&rooms[where], nick, text, masked);
        fprintf(out, "OK %u %08x %d\n", where, sum, masked);
    }
    fclose(in);
    fclose(out);
    close(fd);
    return NULL;
}

typedef struct {
    int id, port;
    unsigned seed;
    uint64_t receipts, digest;
} Client;

static unsigned draw(Client *c, unsigned below)
{
    c->seed = c->seed * 1664525u + 1013904223u;
    return (unsigned)(((uint64_t)c->seed * below) >> 32);
}

static void compose(Client *c, char *out, size_t size)
{
    static const char *words[] = {"meeting", "moved",   "to",   "three", "please", "see",   "the",    "report",
                                  "from",    "Leipzig", "and",  "tell",  "me",     "what",  "you",    "think",
                                  "Casino",  "deploy",  "went", "fine",  "again",  "after", "lunch", "jackpot"};
    size_t at = (size_t)snprintf(out, size, "%u user%d", draw(c, ROOMS), c->id);
    unsigned n = 10 + draw(c, 16);
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, size - at, " %s", words[draw(c, 24)]);
    snprintf(out + at, size - at, "\n");
}

static void *client(void *arg)
{
    Client *c = arg;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    FILE *in = open_stream(fd, "r"), *out = open_stream(fd, "w");
    char line[LINE_MAX_LEN];
    int sent = 0, waiting = 0;
    while (sent < MESSAGES || waiting > 0) {
        while (waiting < WINDOW && sent < MESSAGES) {
            compose(c, line, sizeof line);
            fputs(line, out);
            sent++;
            waiting++;
        }
        for (int n = waiting < WINDOW / 2 ? waiting : WINDOW / 2; n > 0; n--, waiting--) {
            if (!fgets(line, sizeof line, in))
                die("receipt");
            c->receipts += strncmp(line, "OK ", 3) == 0;
            c->digest = c->digest * 31 + checksum(line);
        }
    }
    fclose(in);
    fclose(out);
    shutdown(fd, SHUT_RDWR);
    close(fd);
    return NULL;
}

int main(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(listener, CLIENTS) < 0)
        die("listen");
    getsockname(listener, (struct sockaddr *)&at, &len);
    for (int r = 0; r < ROOMS; r++)
        pthread_mutex_init(&rooms[r].lock, NULL);

    pthread_t sessions[CLIENTS], clients[CLIENTS];
    Client state[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        state[i] = (Client){.id = i, .port = ntohs(at.sin_port), .seed = 1000u + (unsigned)i};
        pthread_create(&clients[i], NULL, client, &state[i]);
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            die("accept");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        pthread_create(&sessions[i], NULL, session, (void *)(intptr_t)fd);
    }
    uint64_t receipts = 0, digest = 0, posted = 0, masked = 0;
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], NULL);
        pthread_join(sessions[i], NULL);
        receipts += state[i].receipts;
        digest ^= state[i].digest;
    }
    close(listener);
    for (int r = 0; r < ROOMS; r++) {
        posted += rooms[r].posted;
        masked += rooms[r].masked;
    }
    printf("posted %llu, receipts %llu, masked words %llu\n", (unsigned long long)posted, (unsigned long long)receipts,
           (unsigned long long)masked);
    printf("digest of receipts %016llx\n", (unsigned long long)digest);
    return 0;
}
