/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/ledger.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "core/kind.h"

const double ledger_bucket_seconds[LEDGER_BUCKETS] = {
	0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 5, 15, 60, 600};

/* The output whose rows are stored without its name in a checkpoint, as when there was only one. */
#define UNNAMED "default"
/* Behind a row's name in a checkpoint: what there was of it at ledger_acknowledge; and when that was. */
#define ACKNOWLEDGED "+acknowledged"
#define ACKNOWLEDGED_AT "acknowledged_at"
/* What a spool's files say of themselves: these, and a digit. */
#define STORED "stored_"
/* No row comes to more, or the next start could not read the checkpoint. */
#define AMOUNT_MAX (INT64_C(1) << 53)
#define NAME_MAX_SIZE 128

struct account {
	char *name;
	struct account_rows is;
	struct stored stored;
	bool loaded; /* from a snapshot */
	struct account *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ledger ledger;
static struct loss losses[LEDGER_ROWS];
static struct acknowledged acknowledged;
static struct account *accounts;

static bool is_likely(int64_t amount)
{
	return amount >= -AMOUNT_MAX && amount <= AMOUNT_MAX;
}

static void note_loss(struct loss *loss, int64_t more)
{
	int64_t now = clock_monotonic();

	loss->amount = now - loss->at < LEDGER_EPISODE_NS ? loss->amount + more : more;
	loss->at = now;
}

/* The reader, whose rows come here, may be wrong. */
static void add_row(int64_t *to, int64_t change, const struct row_info *info, struct loss *loss)
{
	if (__builtin_add_overflow(*to, change, to) || !is_likely(*to))
		*to = change > 0 ? AMOUNT_MAX : -AMOUNT_MAX;
	if (change > 0 && (info->lost || info->noted) && is_likely(change))
		note_loss(loss, change);
}

static void add_to_ledger(const struct ledger *change)
{
	for (size_t i = 0; i < LEDGER_ROWS; i++)
		add_row(&ledger.row[i], change->row[i], &ledger_rows[i], &losses[i]);
}

static void add_to_account(struct account *account, enum account_row row, int64_t change)
{
	add_row(&account->is.row[row], change, &account_rows[row], &account->is.lost[row]);
}

static void add_all_to_account(struct account *account, const struct account_change *change)
{
	for (int i = 0; i < ACCOUNT_ROWS; i++)
		add_to_account(account, i, change->row[i]);
}

void ledger_post(const struct ledger *change)
{
	ledger_post_with(change, NULL, 0);
}

void ledger_post_with(const struct ledger *change, const struct account_entry *entries, size_t count)
{
	pthread_mutex_lock(&lock);
	add_to_ledger(change);
	for (size_t i = 0; i < count; i++)
		add_all_to_account(entries[i].account, &entries[i].change);
	pthread_mutex_unlock(&lock);
}

void ledger_add(enum ledger_row row, int64_t amount)
{
	pthread_mutex_lock(&lock);
	add_row(&ledger.row[row], amount, &ledger_rows[row], &losses[row]);
	pthread_mutex_unlock(&lock);
}

void ledger_read_losses(struct loss *of)
{
	pthread_mutex_lock(&lock);
	memcpy(of, losses, sizeof(losses));
	pthread_mutex_unlock(&lock);
}

/* What there is of the rows that are losses. */
static void acknowledge_rows(
	const struct row_info *rows, const int64_t *amounts, size_t count, int64_t *known)
{
	for (size_t i = 0; i < count; i++)
		known[i] = rows[i].lost ? amounts[i] : 0;
}

void ledger_acknowledge(int64_t now)
{
	pthread_mutex_lock(&lock);
	acknowledged.at = now;
	acknowledge_rows(ledger_rows, ledger.row, LEDGER_ROWS, acknowledged.rows.row);
	for (struct account *each = accounts; each; each = each->next)
		acknowledge_rows(account_rows, each->is.row, ACCOUNT_ROWS, each->is.acknowledged);
	pthread_mutex_unlock(&lock);
}

void ledger_read_acknowledged(struct acknowledged *is)
{
	pthread_mutex_lock(&lock);
	*is = acknowledged;
	pthread_mutex_unlock(&lock);
}

void ledger_read(struct ledger *rows)
{
	ledger_read_with(rows, NULL, NULL, 0);
}

void ledger_read_with(struct ledger *rows, struct account *const *of, struct account_rows *to, size_t count)
{
	pthread_mutex_lock(&lock);
	*rows = ledger;
	for (size_t i = 0; i < count; i++)
		to[i] = of[i]->is;
	pthread_mutex_unlock(&lock);
}

uint64_t account_waiting(const struct account *account)
{
	int64_t waiting;

	pthread_mutex_lock(&lock);
	waiting = account->is.row[SPANS_QUEUED] + account->is.row[SPANS_HELD] +
		  account->is.row[SPANS_ENTRUSTED];
	pthread_mutex_unlock(&lock);
	return waiting > 0 ? (uint64_t)waiting : 0;
}

void ledger_forget_pending(void)
{
	pthread_mutex_lock(&lock);
	ledger.row[SPANS_MADE] -= ledger.row[SPANS_PENDING];
	ledger.row[SPANS_PENDING] = 0;
	pthread_mutex_unlock(&lock);
}

/* Accounts */

static struct account *find_account(const char *name)
{
	struct account *account = accounts;

	while (account && strcmp(account->name, name) != 0)
		account = account->next;
	return account;
}

struct account *account_open(const char *name)
{
	struct account *account;

	pthread_mutex_lock(&lock);
	account = find_account(name);
	if (!account) {
		account = g_new0(struct account, 1);
		account->name = g_strdup(name);
		account->next = accounts;
		accounts = account;
	}
	pthread_mutex_unlock(&lock);
	return account;
}

void account_post(struct account *account, const struct account_change *change)
{
	pthread_mutex_lock(&lock);
	add_all_to_account(account, change);
	pthread_mutex_unlock(&lock);
}

void account_add(struct account *account, enum account_row row, int64_t amount)
{
	pthread_mutex_lock(&lock);
	add_to_account(account, row, amount);
	pthread_mutex_unlock(&lock);
}

void account_move(struct account *account, enum account_row from, enum account_row to, int64_t amount)
{
	pthread_mutex_lock(&lock);
	add_to_account(account, from, -amount);
	add_to_account(account, to, amount);
	pthread_mutex_unlock(&lock);
}

int64_t account_enter_spool(struct account *account, int64_t spooled, int64_t lost, bool unknown)
{
	int64_t *row = account->is.row, found;

	pthread_mutex_lock(&lock);
	found = spooled + lost - row[SPANS_SPOOLED];
	if (unknown && found < 0) {
		lost -= found;
		found = 0;
	}
	row[found > 0 ? SPANS_RECOVERED : SPANS_SENT] += found > 0 ? found : -found;
	row[SPANS_SPOOLED] = spooled;
	add_to_account(account, SPANS_DROPPED_SPOOL_CORRUPT, lost);
	pthread_mutex_unlock(&lock);
	return lost;
}

int64_t account_enter_discarded(struct account *account, int64_t ever)
{
	int64_t *row = account->is.row, known, more;

	pthread_mutex_lock(&lock);
	known = row[SPANS_DROPPED_DISCARDED];
	more = account->loaded && is_likely(ever) ? MAX(ever - known, 0) : 0;
	row[SPANS_DROPPED_DISCARDED] += more;
	row[SPANS_SPOOLED] -= more;
	known += more;
	pthread_mutex_unlock(&lock);
	return known;
}

void account_note_stored(struct account *account, const struct stored *stored)
{
	pthread_mutex_lock(&lock);
	account->stored = *stored;
	pthread_mutex_unlock(&lock);
}

void account_read_stored(const struct account *account, struct stored *stored)
{
	pthread_mutex_lock(&lock);
	*stored = account->stored;
	pthread_mutex_unlock(&lock);
}

/* The lowest bucket that has it; mostly that of the one before. */
static int bucket_of(double seconds, int before)
{
	int bucket = before;

	while (bucket < LEDGER_BUCKETS && seconds > ledger_bucket_seconds[bucket])
		bucket++;
	while (bucket > 0 && seconds <= ledger_bucket_seconds[bucket - 1])
		bucket--;
	return bucket;
}

void account_delivered(struct account *account, const int64_t *events, uint32_t count, int64_t now)
{
	struct ledger_latency more = {0}, *latency = &account->is.latency;
	int bucket = 0;

	for (uint32_t i = 0; i < count; i++) {
		double seconds = ((double)now - (double)events[i]) / 1e9;

		bucket = bucket_of(seconds, bucket);
		more.bucket[bucket]++;
		more.sum += seconds > 0 ? seconds : 0;
	}
	pthread_mutex_lock(&lock);
	for (bucket = 0; bucket <= LEDGER_BUCKETS; bucket++)
		latency->bucket[bucket] += more.bucket[bucket];
	latency->sum += more.sum;
	pthread_mutex_unlock(&lock);
}

/* Checkpoints */

/* "NAME" or "OUTPUT.NAME", with @suffix. */
static void save_row(
	const char *output, const char *name, const char *suffix, int64_t amount, struct buffer *out)
{
	const char *const parts[] = {output, *output ? "." : "", name, suffix};
	const size_t sizes[] = {strlen(output), *output != 0, strlen(name), strlen(suffix)};

	pack_u32(out, (uint32_t)(sizes[0] + sizes[1] + sizes[2] + sizes[3]));
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		buffer_put(out, parts[i], sizes[i]);
	pack_u64(out, (uint64_t)amount);
}

/* Appends rows with their names; returns how many. */
static uint32_t save_rows(const char *output, const struct row_info *rows, const int64_t *amounts,
	const int64_t *known, size_t count, struct buffer *out)
{
	uint32_t saved = (uint32_t)count;

	for (size_t i = 0; i < count; i++)
		save_row(output, rows[i].name, "", amounts[i], out);
	for (size_t i = 0; i < count; i++) {
		if (!known[i])
			continue;
		save_row(output, rows[i].name, ACKNOWLEDGED, known[i], out);
		saved++;
	}
	return saved;
}

static uint32_t save_stored(const char *output, const struct stored *stored, struct buffer *out)
{
	if (!stored->number[0])
		return 0;
	for (int i = 0; i < ACCOUNT_STORED; i++) {
		const char digit[] = {(char)('0' + i), '\0'};

		save_row(output, STORED, digit, stored->number[i], out);
	}
	return ACCOUNT_STORED;
}

static const char *prefix_of(const struct account *account)
{
	return strcmp(account->name, UNNAMED) ? account->name : "";
}

static bool is_entrusted(void)
{
	bool any = false;

	for (const struct account *each = accounts; each; each = each->next)
		any |= each->is.row[SPANS_ENTRUSTED] != 0;
	return any;
}

bool ledger_entrusted(void)
{
	bool any;

	pthread_mutex_lock(&lock);
	any = is_entrusted();
	pthread_mutex_unlock(&lock);
	return any;
}

bool ledger_save(struct buffer *out)
{
	struct buffer list = {0};
	uint32_t count;
	bool entrusted;

	pthread_mutex_lock(&lock);
	entrusted = is_entrusted();
	count = save_rows("", ledger_rows, ledger.row, acknowledged.rows.row, LEDGER_ROWS, &list);
	for (const struct account *each = accounts; each; each = each->next) {
		count += save_rows(prefix_of(each), account_rows, each->is.row, each->is.acknowledged,
			ACCOUNT_ROWS, &list);
		count += save_stored(prefix_of(each), &each->stored, &list);
	}
	if (acknowledged.at) {
		save_row("", ACKNOWLEDGED_AT, "", acknowledged.at, &list);
		count++;
	}
	pthread_mutex_unlock(&lock);
	pack_u32(out, count);
	buffer_put(out, list.data, list.size);
	buffer_free(&list);
	return entrusted;
}

/* As save_stored has named it; NULL: it is none. */
static int64_t *find_stored(struct account *account, const char *name)
{
	unsigned i = g_str_has_prefix(name, STORED) ? (unsigned)name[strlen(STORED)] - '0' : ACCOUNT_STORED;

	return account && i < ACCOUNT_STORED ? &account->stored.number[i] : NULL;
}

/* Finds the row of that name; NULL if there is none. */
static int64_t *find_row(char *name)
{
	bool known = g_str_has_suffix(name, ACKNOWLEDGED);
	char *dot = strrchr(name, '.');
	const char *row = dot ? dot + 1 : name;
	struct account *account;
	size_t i;

	if (!strcmp(name, ACKNOWLEDGED_AT))
		return &acknowledged.at;
	if (known)
		name[strlen(name) - strlen(ACKNOWLEDGED)] = '\0';
	i = row_find(ledger_rows, LEDGER_ROWS, row);
	if (dot)
		*dot = '\0';
	if (!dot && i < LEDGER_ROWS)
		return known ? &acknowledged.rows.row[i] : &ledger.row[i];
	i = row_find(account_rows, ACCOUNT_ROWS, row);
	account = find_account(dot ? name : UNNAMED);
	if (!account || i == ACCOUNT_ROWS)
		return find_stored(account, row);
	account->loaded = true;
	return known ? &account->is.acknowledged[i] : &account->is.row[i];
}

/* Reads the list, and if @take, adds it to the rows. Returns false if it is damaged. */
static bool walk_saved(struct unpacker from, bool take)
{
	uint32_t count = unpack_u32(&from);

	for (uint32_t n = 0; n < count && !from.failed; n++) {
		char name[NAME_MAX_SIZE];
		int64_t amount, *row;

		unpack_text(&from, name, sizeof(name));
		amount = (int64_t)unpack_u64(&from);
		if (!is_likely(amount))
			return false;
		row = take ? find_row(name) : NULL;
		if (row && is_likely(*row))
			*row += amount;
	}
	return !from.failed;
}

/* Versions that had only one output did not store what the output had taken: it is the sum of the rest. */
static void complete(struct account *account)
{
	int64_t *row = account->is.row;

	if (row[SPANS_TAKEN])
		return;
	for (int i = SPANS_QUEUED; i <= SPANS_DROPPED_SHUTDOWN; i++)
		row[SPANS_TAKEN] += row[i];
	row[SPANS_TAKEN] -= row[SPANS_RECOVERED];
}

/*
 * Subtracts the gauges, from themselves and from the rows that they are part of. Reading continues where the
 * slowest output has everything settled, so what this one had queued is made again. What senders wait for an
 * OK for is not: they send it again. What nobody has any more is lost.
 * What waited for its trace waited in memory, so it is left out.
 */
static void unmake(void)
{
	int64_t most = 0;

	for (struct account *each = accounts; each; each = each->next) {
		int64_t *row = each->is.row;

		complete(each);
		if (lane_kind(each->name, NULL) == KIND_SPANS)
			most = MAX(most, row[SPANS_QUEUED]);
		row[SPANS_TAKEN] -= row[SPANS_QUEUED];
		row[SPANS_GIVEN_BACK] += row[SPANS_HELD];
		row[SPANS_DROPPED_SHUTDOWN] += row[SPANS_ENTRUSTED];
		row[SPANS_SAMPLED_OUT] += row[SPANS_UNDECIDED];
		row[SPANS_QUEUED] = row[SPANS_HELD] = row[SPANS_ENTRUSTED] = row[SPANS_UNDECIDED] = 0;
	}
	ledger.row[SPANS_MADE] -= ledger.row[SPANS_PENDING] + most;
	ledger.row[SPANS_PENDING] = 0;
}

bool ledger_load(struct unpacker from)
{
	if (!walk_saved(from, false))
		return false;
	pthread_mutex_lock(&lock);
	for (struct account *each = accounts; each; each = each->next)
		each->stored = (struct stored){0};
	walk_saved(from, true);
	unmake();
	pthread_mutex_unlock(&lock);
	return true;
}
