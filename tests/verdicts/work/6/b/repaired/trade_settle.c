/*
 * trade_settle - end-of-day settlement run.
 *
 * Loads the day's executions into the book, matches the confirmations that the
 * brokers send against them, nets the matched ones per account and instrument
 * and prints the cash and stock movements together with the breaks.
 */
#include <ctype.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXECUTIONS 260000
#define INSTRUMENTS 400
#define ACCOUNTS 900
#define CONFIRMS 110
#define BATCHES 6
#define REF_LEN 24

typedef struct { char ref[REF_LEN]; long qty; double px; } confirm_t;
typedef struct { long matched, price_breaks, qty_breaks, unknown; } outcome_t;

static uint64_t state = 88172645463325252ull;

static uint32_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static void check(sqlite3 *db, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st;
    check(db, sqlite3_prepare_v2(db, sql, -1, &st, NULL));
    return st;
}

static void make_ref(char *out, long i)
{
    snprintf(out, REF_LEN, "LX%02lXQ%07ldT", (i * 37) % 251, i);
}

static long quantity(long i) { return 100 * (1 + (i * 7919) % 50); }
static double price(long i) { return 10.0 + (double)((i * 104729) % 9000) / 100.0; }

static void create_book(sqlite3 *db)
{
    check(db, sqlite3_exec(db,
        "CREATE TABLE execution(id INTEGER PRIMARY KEY, ref TEXT NOT NULL, account INT, instrument INT,"
        " side INT, qty INT, px REAL, state INT DEFAULT 0);"
        "CREATE UNIQUE INDEX execution_ref ON execution(ref);"
        "CREATE TABLE movement(account INT, instrument INT, stock INT, cash REAL,"
        " PRIMARY KEY(account, instrument)) WITHOUT ROWID;", NULL, NULL, NULL));
}

static void load_executions(sqlite3 *db, long from, long to)
{
    char ref[REF_LEN];
    sqlite3_stmt *ins = prepare(db,
        "INSERT INTO execution(id, ref, account, instrument, side, qty, px) VALUES(?,?,?,?,?,?,?)");
    check(db, sqlite3_exec(db, "BEGIN", NULL, NULL, NULL));
    for (long i = from; i < to; i++) {
        make_ref(ref, i);
        sqlite3_bind_int64(ins, 1, i + 1);
        sqlite3_bind_text(ins, 2, ref, -1, SQLITE_STATIC);
        sqlite3_bind_int(ins, 3, (int)(rnd() % ACCOUNTS));
        sqlite3_bind_int(ins, 4, (int)(rnd() % INSTRUMENTS));
        sqlite3_bind_int(ins, 5, (rnd() & 1) ? 1 : -1);
        sqlite3_bind_int64(ins, 6, quantity(i));
        sqlite3_bind_double(ins, 7, price(i));
        check(db, sqlite3_step(ins));
        sqlite3_reset(ins);
    }
    check(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    sqlite3_finalize(ins);
}

/* Some brokers send our reference in lower case. */
static void receive_confirm(confirm_t *c, long loaded)
{
    long i = rnd() % loaded;
    make_ref(c->ref, i);
    if (rnd() % 50 == 0)
        c->ref[0] = 'Z';
    if (rnd() % 3 == 0)
        for (char *p = c->ref; *p; p++)
            *p = (char)tolower((unsigned char)*p);
    c->qty = quantity(i) + (rnd() % 60 == 0 ? 100 : 0);
    c->px = price(i) + (rnd() % 45 == 0 ? 0.05 : 0.0);
}

static void match(sqlite3 *db, const confirm_t *list, int n, outcome_t *out)
{
    sqlite3_stmt *find = prepare(db, "SELECT id, qty, px FROM execution WHERE ref = ?");
    sqlite3_stmt *mark = prepare(db, "UPDATE execution SET state = ? WHERE id = ?");
    check(db, sqlite3_exec(db, "BEGIN", NULL, NULL, NULL));
    for (int k = 0; k < n; k++) {
        int verdict = 1;
        char ref[REF_LEN] = { 0 };
        for (int i = 0; list[k].ref[i]; i++)
            ref[i] = (char)toupper((unsigned char)list[k].ref[i]);
        sqlite3_bind_text(find, 1, ref, -1, SQLITE_STATIC);
        if (sqlite3_step(find) != SQLITE_ROW) {
            out->unknown++;
            sqlite3_reset(find);
            continue;
        }
        sqlite3_int64 id = sqlite3_column_int64(find, 0);
        if (sqlite3_column_int64(find, 1) != list[k].qty) {
            out->qty_breaks++;
            verdict = 2;
        } else if (fabs(sqlite3_column_double(find, 2) - list[k].px) > 0.005) {
            out->price_breaks++;
            verdict = 3;
        } else {
            out->matched++;
        }
        sqlite3_reset(find);
        sqlite3_bind_int(mark, 1, verdict);
        sqlite3_bind_int64(mark, 2, id);
        check(db, sqlite3_step(mark));
        sqlite3_reset(mark);
    }
    check(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    sqlite3_finalize(find);
    sqlite3_finalize(mark);
}

static void net_positions(sqlite3 *db)
{
    check(db, sqlite3_exec(db,
        "DELETE FROM movement;"
        "INSERT INTO movement SELECT account, instrument, sum(side * qty), -sum(side * qty * px)"
        " FROM execution WHERE state IN (0, 1) GROUP BY account, instrument;", NULL, NULL, NULL));
}

static double number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = prepare(db, sql);
    check(db, sqlite3_step(st));
    double v = sqlite3_column_double(st, 0);
    sqlite3_finalize(st);
    return v;
}

int main(void)
{
    sqlite3 *db;
    outcome_t out = { 0 };
    static confirm_t confirms[CONFIRMS];
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 1;
    create_book(db);
    for (int b = 0; b < BATCHES; b++) {
        long from = (long)EXECUTIONS * b / BATCHES, to = (long)EXECUTIONS * (b + 1) / BATCHES;
        load_executions(db, from, to);
        for (int k = 0; k < CONFIRMS; k++)
            receive_confirm(&confirms[k], to);
        match(db, confirms, CONFIRMS, &out);
        net_positions(db);
    }
    printf("matched %ld  price breaks %ld  quantity breaks %ld  unknown %ld\n", out.matched, out.price_breaks,
           out.qty_breaks, out.unknown);
    printf("movements %.0f  net cash %.2f  gross stock %.0f\n", number(db, "SELECT count(*) FROM movement"),
           number(db, "SELECT sum(cash) FROM movement"), number(db, "SELECT sum(abs(stock)) FROM movement"));
    sqlite3_close(db);
    return 0;
}
