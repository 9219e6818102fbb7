/* Replays a trading session: limit orders are matched in price-time priority and
 * every fill is booked on the two accounts in the position ledger (SQLite). */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SYMBOLS 24
#define N_ACCOUNTS 40
#define N_ORDERS 3200000
#define LEVELS 2048
#define POOL 400000

typedef struct { int32_t next; int32_t qty; int32_t account; } Resting;
typedef struct { int32_t head, tail; } Level;
typedef struct { Level bid[LEVELS], ask[LEVELS]; int best_bid, best_ask; double mid; } Book;

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *update;
    uint64_t fills;
} Ledger;

static const char *const tickers[N_SYMBOLS] = {
    "abx", "brt", "cwn", "dlo", "ern", "fgp", "gtk", "hmv", "ixo", "jpl", "kdr", "lsb",
    "mqt", "nvc", "ozk", "pfr", "qed", "rhl", "stn", "tbo", "urw", "vex", "wlk", "zmd" };

static Book books[N_SYMBOLS];
static Resting *pool;
static int32_t free_list = -1;
static uint64_t rng_state = 88172645463325252ull;

static uint32_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 32);
}

static void check(Ledger *l, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "ledger: %s\n", sqlite3_errmsg(l->db));
        exit(1);
    }
}

static void ledger_open(Ledger *l)
{
    sqlite3_stmt *ins;

    memset(l, 0, sizeof *l);
    check(l, sqlite3_open(":memory:", &l->db));
    check(l, sqlite3_exec(l->db,
                          "CREATE TABLE position (account INTEGER, symbol TEXT, qty INTEGER, cash INTEGER,"
                          " PRIMARY KEY (symbol, account)) WITHOUT ROWID; BEGIN", NULL, NULL, NULL));
    check(l, sqlite3_prepare_v2(l->db, "INSERT INTO position VALUES (?1, upper(?2), 0, 0)", -1, &ins, NULL));
    for (int s = 0; s < N_SYMBOLS; s++)
        for (int a = 0; a < N_ACCOUNTS; a++) {
            sqlite3_bind_int(ins, 1, a);
            sqlite3_bind_text(ins, 2, tickers[s], -1, SQLITE_STATIC);
            check(l, sqlite3_step(ins));
            sqlite3_reset(ins);
        }
    sqlite3_finalize(ins);
    /* the feed has lower-case tickers, the back office upper-case ones */
    check(l, sqlite3_prepare_v2(l->db,
                                "UPDATE position SET qty = qty + ?1, cash = cash - ?1 * ?2"
                                " WHERE account = ?3 AND symbol = upper(?4)", -1, &l->update, NULL));
}

static void ledger_book(Ledger *l, int symbol, int account, int qty, int price)
{
    sqlite3_bind_int(l->update, 1, qty);
    sqlite3_bind_int(l->update, 2, price);
    sqlite3_bind_int(l->update, 3, account);
    sqlite3_bind_text(l->update, 4, tickers[symbol], -1, SQLITE_STATIC);
    check(l, sqlite3_step(l->update));
    sqlite3_reset(l->update);
}

static void rest(Level *lv, int qty, int account)
{
    int32_t i = free_list;
    if (i < 0) {
        fprintf(stderr, "order pool exhausted\n");
        exit(1);
    }
    free_list = pool[i].next;
    pool[i] = (Resting){ -1, qty, account };
    if (lv->head < 0)
        lv->head = i;
    else
        pool[lv->tail].next = i;
    lv->tail = i;
}

static void pop_front(Level *lv)
{
    int32_t i = lv->head;
    lv->head = pool[i].next;
    pool[i].next = free_list;
    free_list = i;
}

/* Matches against one side; returns what is left of qty. */
static int match(Ledger *l, int symbol, int buy, int limit, int qty, int account)
{
    Book *b = &books[symbol];

    while (qty > 0) {
        int p = buy ? b->best_ask : b->best_bid;
        if (p < 0 || p >= LEVELS || (buy ? p > limit : p < limit))
            break;
        Level *lv = buy ? &b->ask[p] : &b->bid[p];
        if (lv->head < 0) {
            if (buy)
                b->best_ask++;
            else
                b->best_bid--;
            continue;
        }
        Resting *r = &pool[lv->head];
        int n = r->qty < qty ? r->qty : qty;
        if (r->account != account) { /* self-trades cancel without booking */
            ledger_book(l, symbol, account, buy ? n : -n, p);
            ledger_book(l, symbol, r->account, buy ? -n : n, p);
            l->fills++;
        }
        qty -= n;
        r->qty -= n;
        if (r->qty == 0)
            pop_front(lv);
    }
    return qty;
}

/* Cancels what is left in the book, as the exchange does at the end of a phase. */
static void close_phase(Book *b)
{
    for (int p = 0; p < LEVELS; p++) {
        while (b->bid[p].head >= 0)
            pop_front(&b->bid[p]);
        while (b->ask[p].head >= 0)
            pop_front(&b->ask[p]);
    }
    b->best_bid = -1;
    b->best_ask = LEVELS;
}

int main(void)
{
    Ledger ledger;
    sqlite3_stmt *sum;
    long resting = 0;

    pool = malloc(POOL * sizeof *pool);
    for (int i = POOL - 1; i >= 0; i--)
        pool[i].next = free_list, free_list = i;
    for (int s = 0; s < N_SYMBOLS; s++) {
        memset(books[s].bid, -1, sizeof books[s].bid);
        memset(books[s].ask, -1, sizeof books[s].ask);
        books[s].best_bid = -1, books[s].best_ask = LEVELS, books[s].mid = LEVELS / 2;
    }
    ledger_open(&ledger);
    for (int i = 0; i < N_ORDERS; i++) {
        int s = (int)(rnd() % N_SYMBOLS), buy = (int)(rnd() & 1), account = (int)(rnd() % N_ACCOUNTS);
        Book *b = &books[s];
        b->mid += ((int)(rnd() % 201) - 100) / 2000.0;
        int off = (int)(rnd() % 40) + 1, aggressive = rnd() % 60 == 0;
        int price = (int)b->mid + (buy ? -off : off) + (aggressive ? (buy ? 42 : -42) : 0), qty = 1 + (int)(rnd() % 20);
        if (price < 0 || price >= LEVELS)
            continue;
        qty = match(&ledger, s, buy, price, qty, account);
        if (qty > 0 && buy) {
            rest(&b->bid[price], qty, account);
            if (price > b->best_bid)
                b->best_bid = price;
        } else if (qty > 0) {
            rest(&b->ask[price], qty, account);
            if (price < b->best_ask)
                b->best_ask = price;
        }
        if (i % 100000 == 99999)
            for (int k = 0; k < N_SYMBOLS; k++)
                close_phase(&books[k]);
    }
    for (int32_t i = free_list; i >= 0; i = pool[i].next)
        resting++;
    check(&ledger, sqlite3_prepare_v2(ledger.db, "SELECT sum(qty), sum(cash), max(abs(qty)) FROM position", -1, &sum, NULL));
    check(&ledger, sqlite3_step(sum));
    printf("fills %lu  resting %ld  net qty %d  net cash %d  largest position %d\n", ledger.fills, POOL - resting,
           sqlite3_column_int(sum, 0), sqlite3_column_int(sum, 1), sqlite3_column_int(sum, 2));
    sqlite3_finalize(sum);
    sqlite3_finalize(ledger.update);
    sqlite3_exec(ledger.db, "COMMIT", NULL, NULL, NULL);
    return sqlite3_close(ledger.db) == SQLITE_OK ? 0 : 1;
}
