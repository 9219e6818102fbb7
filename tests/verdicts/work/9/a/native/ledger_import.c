/* Nightly import of bank statement lines into the ledger database.
 *
 * Statement lines arrive with the counterparty's IBAN in whatever case the
 * sending bank uses.  Each line is matched against the customer master, then
 * booked; unmatched lines go to a suspense table.  At the end the balances
 * per branch are computed for the daily report.
 */
#include <ctype.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUSTOMERS 6000
#define LINES 20000
#define BRANCHES 24

struct line {
    char iban[32];
    long cents;
    int day;
    char memo[48];
};

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;

static uint32_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 32);
}

static void die(sqlite3 *db, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void sql(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        die(db, text);
}

static sqlite3_stmt *prep(sqlite3 *db, const char *text)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, text, -1, &st, NULL) != SQLITE_OK)
        die(db, text);
    return st;
}

static void make_iban(unsigned id, char *out)
{
    uint64_t h = id * 2654435761ull % 9999999967ull;
    sprintf(out, "DE%02u5001%010llu%02u", id % 97, (unsigned long long)h, id % 89);
}

static void create_schema(sqlite3 *db)
{
    sql(db, "CREATE TABLE customer(id INTEGER PRIMARY KEY, iban TEXT NOT NULL,"
            " branch INTEGER NOT NULL, name TEXT)");
    sql(db, "CREATE UNIQUE INDEX customer_iban ON customer(iban)");
    sql(db, "CREATE TABLE booking(id INTEGER PRIMARY KEY, customer INTEGER NOT NULL,"
            " day INTEGER, cents INTEGER, memo TEXT)");
    sql(db, "CREATE INDEX booking_customer ON booking(customer, day)");
    sql(db, "CREATE TABLE suspense(iban TEXT, day INTEGER, cents INTEGER)");
}

static void load_customers(sqlite3 *db)
{
    sqlite3_stmt *st = prep(db, "INSERT INTO customer(id,iban,branch,name) VALUES(?,?,?,?)");
    sql(db, "BEGIN");
    for (unsigned i = 1; i <= CUSTOMERS; i++) {
        char iban[32], name[32];
        make_iban(i, iban);
        sprintf(name, "Customer %06u", i);
        sqlite3_bind_int(st, 1, (int)i);
        sqlite3_bind_text(st, 2, iban, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(st, 3, (int)(i % BRANCHES));
        sqlite3_bind_text(st, 4, name, -1, SQLITE_TRANSIENT);
        if (sqlite3_step(st) != SQLITE_DONE)
            die(db, "customer");
        sqlite3_reset(st);
    }
    sql(db, "COMMIT");
    sqlite3_finalize(st);
}

static void read_statement(struct line *lines)
{
    for (int i = 0; i < LINES; i++) {
        char iban[32];
        make_iban(1 + rnd() % (CUSTOMERS + CUSTOMERS / 50), iban);
        if (rnd() % 3 == 0)
            for (char *c = iban; *c; c++)
                *c = (char)tolower((unsigned char)*c);
        snprintf(lines[i].iban, sizeof lines[i].iban, "%s", iban);
        lines[i].cents = (long)(rnd() % 500000) - 180000;
        lines[i].day = (int)(rnd() % 31) + 1;
        snprintf(lines[i].memo, sizeof lines[i].memo, "REF %08x / invoice %u", rnd(), rnd() % 100000);
    }
}

static void book(sqlite3 *db, const struct line *lines, long *booked, long *parked)
{
    sqlite3_stmt *find = prep(db, "SELECT id FROM customer WHERE upper(iban) = upper(?)");
    sqlite3_stmt *ins = prep(db, "INSERT INTO booking(customer,day,cents,memo) VALUES(?,?,?,?)");
    sqlite3_stmt *park = prep(db, "INSERT INTO suspense(iban,day,cents) VALUES(?,?,?)");

    sql(db, "BEGIN");
    for (int i = 0; i < LINES; i++) {
        const struct line *l = &lines[i];
        sqlite3_bind_text(find, 1, l->iban, -1, SQLITE_STATIC);
        sqlite3_int64 id = sqlite3_step(find) == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;
        sqlite3_reset(find);
        sqlite3_stmt *st = id ? ins : park;
        if (id) {
            sqlite3_bind_int64(st, 1, id);
            sqlite3_bind_text(st, 4, l->memo, -1, SQLITE_STATIC);
            ++*booked;
        } else {
            sqlite3_bind_text(st, 1, l->iban, -1, SQLITE_STATIC);
            ++*parked;
        }
        sqlite3_bind_int(st, 2, l->day);
        sqlite3_bind_int64(st, 3, l->cents);
        if (sqlite3_step(st) != SQLITE_DONE)
            die(db, "booking");
        sqlite3_reset(st);
    }
    sql(db, "COMMIT");
    sqlite3_finalize(find);
    sqlite3_finalize(ins);
    sqlite3_finalize(park);
}

/* Interest is accrued on the running balance of each customer, day by day. */
static double accrue(sqlite3 *db, int rounds)
{
    sqlite3_stmt *st = prep(db, "SELECT day, sum(cents) FROM booking WHERE customer = ?"
                                " GROUP BY day ORDER BY day");
    double interest = 0;
    for (int r = 0; r < rounds; r++)
        for (int c = 1; c <= CUSTOMERS; c++) {
            double balance = 0;
            int last = 0;
            sqlite3_bind_int(st, 1, c);
            while (sqlite3_step(st) == SQLITE_ROW) {
                int day = sqlite3_column_int(st, 0);
                interest += balance * (day - last) * (0.01 + 0.002 * r) / 36500.0;
                balance += (double)sqlite3_column_int64(st, 1);
                last = day;
            }
            interest += balance * (31 - last) * (0.01 + 0.002 * r) / 36500.0;
            sqlite3_reset(st);
        }
    sqlite3_finalize(st);
    return interest;
}

int main(void)
{
    sqlite3 *db;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        die(db, "open");
    create_schema(db);
    load_customers(db);

    struct line *lines = calloc(LINES, sizeof *lines);
    read_statement(lines);
    long booked = 0, parked = 0;
    book(db, lines, &booked, &parked);
    printf("booked %ld, parked %ld\n", booked, parked);
    printf("accrued %.4f\n", accrue(db, 80));

    sqlite3_stmt *st = prep(db, "SELECT branch, count(*), sum(cents) FROM booking b JOIN customer c"
                                " ON c.id = b.customer GROUP BY branch ORDER BY 3 DESC LIMIT 3");
    while (sqlite3_step(st) == SQLITE_ROW)
        printf("branch %2d: %d lines, %.2f\n", sqlite3_column_int(st, 0),
               sqlite3_column_int(st, 1), (double)sqlite3_column_int64(st, 2) / 100);
    sqlite3_finalize(st);
    sqlite3_close(db);
    free(lines);
    return 0;
}
