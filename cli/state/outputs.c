/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <string.h>

#include "base/human.h"
#include "base/sanitize.h"
#include "core/ledger.h"
#include "state/text.h"

/* How many outputs there are, without those that were removed and still deliver. */
static unsigned count_outputs(struct told state)
{
	struct told outputs = told_at(state, "outputs"), output = {0};
	unsigned count = 0;

	while (told_next(outputs, &output))
		count += !told_has(output, "leaving");
	return count;
}

bool state_delivers(struct told state)
{
	struct told outputs = told_at(state, "outputs"), output = {0};
	bool delivers = true;

	while (told_next(outputs, &output))
		delivers &= told_has(output, "leaving") || !told_is(output, "state", "down");
	return delivers;
}

/* Where it delivers to, and why it does not. One that has not connected yet tells how long it has been at it.
 */
static void put_head(struct buffer *out, struct told output, bool named)
{
	static const struct told_words states[] = {
		{"down", "NO"}, {"untried", "connected, nothing sent there yet"}, {"delivers", "yes"}, {0}};

	told_put(out, output, named ? "delivering  {name}: " : "delivering  ");
	told_put_by(out, output, "state", states);
	told_put(out, output, ", to {server}");
	told_put_if(out, output, "leaving", " (removed; what it has is delivered or stored)");
	told_put(out, output, "\n");
	if (!told_is(output, "state", "down"))
		return;
	if (told_is_null(output, "connecting_seconds"))
		told_put_if(out, output, "output_error", "  {output_error}\n");
	else
		told_put(out, output, "  connecting for {connecting_seconds|age}\n");
}

/* Which of several the node prefers, which is used, and, if that is another one, why. */
static void put_servers(struct buffer *out, struct told output)
{
	told_put(out, output, "  balance   {balance.node} prefers {servers.0.server} of {servers} servers, ");
	if (!told_has(output, "delivering")) {
		told_put(out, output, "of which none works\n");
	} else if (told_has(output, "servers.0.serving")) {
		told_put(out, output, "and uses it\n");
	} else {
		told_put(out, output, "and uses {server} until that one works again");
		if (told_has(output, "servers.0.failing"))
			told_put_if(out, output, "servers.0.error", ": {servers.0.error}");
		told_put(out, output, "\n");
	}
}

/* The same of a server's addresses. */
static void put_addresses(struct buffer *out, struct told balance)
{
	told_put(out, balance, "  balance   {node} prefers {preferred_address} of {addresses} addresses, ");
	if (told_is(balance, "address", told_text(balance, "preferred_address"))) {
		told_put(out, balance, "and uses it\n");
	} else {
		told_put(out, balance, "and uses {address} until that one works again");
		told_put_if(out, balance, "error", ": {error}");
		told_put(out, balance, "\n");
	}
}

/* Where nodes share servers out among them. */
static void put_balance(struct buffer *out, struct told output)
{
	struct told balance = told_at(output, "balance");
	int64_t servers = told_number(output, "servers"), addresses;

	if (told_is_null(output, "balance"))
		return;
	addresses = told_number(balance, "addresses");
	if (servers > 1)
		put_servers(out, output);
	if (addresses > 1)
		put_addresses(out, balance);
	if (servers == 1 && addresses == 1)
		told_put(out, balance, "  balance   nothing to choose: there is one server, at {address}\n");
}

/* Which share it keeps, where that is found out. */
static void put_share(struct buffer *out, struct told output)
{
	static const struct told_words by[] = {{"nobody", "as nobody has said what to keep"},
		{"file", "as its file says"}, {"server", "as its server says"}, {"budget", "for its budget"},
		{0}};

	if (told_is_null(output, "share"))
		return;
	buffer_printf(out, "  keeps     1/%.4g of the traces, ", told_real(output, "share.one_in"));
	told_put_by(out, output, "share.by", by);
	buffer_printf(out, ": %.0f spans/s\n", told_real(output, "share.spans_per_second"));
}

/* Of numbers that may be anything: C forbids signed arithmetic to overflow. */
static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* What becomes of its spans. @pending: those of the node in assembly, which will be its own, too. */
static void put_rows(struct buffer *out, struct told output, int64_t pending)
{
	const char *kind = told_text(output, "kind");
	struct told rows = told_at(output, kind);
	char label[16];

	if (strcmp(kind, "spans") != 0 || told_has(output, "leaving"))
		pending = 0;
	words_copy(label, sizeof(label), (const uint8_t *)kind, strlen(kind));
	buffer_printf(out, "  %-9s %" PRId64, label,
		sum(sum(told_number(rows, "taken"), told_number(rows, "recovered")), pending));
	told_put(out, rows, ": {sent} sent, ");
	buffer_printf(out, "%" PRId64 " pending, %" PRId64 " queued, ", pending,
		sum(sum(told_number(rows, "queued"), told_number(rows, "held")),
			told_number(rows, "entrusted")));
	told_put(out, rows, "{spooled} spooled, ");
	told_put_if(out, rows, "undecided", "{undecided} undecided, ");
	told_put_if(out, rows, "given_back", "{given_back} given back, ");
	told_put_if(out, rows, "sampled_out", "{sampled_out} sampled out, ");
	told_put(out, rows, "{dropped} dropped\n");
	told_put_if(
		out, rows, "asked", "  traces    {asked} spans kept, as other agents keep their traces\n");
}

/* How much is in it, and what becomes of that. @kind: of what, a plural. */
static void put_stored(struct buffer *out, struct told spool, const char *kind)
{
	static const struct told_words drains[] = {{"stopped", ", not draining"},
		{"begins", ", being delivered"}, {"drains", ", delivered in about {drain_seconds|age}"}, {0}};
	int64_t count = told_number(spool, "spans");
	char items[16];

	words_copy(items, sizeof(items), (const uint8_t *)kind, strlen(kind));
	if (count == 1 && g_str_has_suffix(items, "s"))
		items[strlen(items) - 1] = '\0';
	buffer_printf(out, "%" PRId64 " %s", count, items);
	told_put_by(out, spool, "drain", drains);
}

/* The file of a spool does not get smaller as it is emptied: so its size says nothing of what is in it. */
static void put_spool(struct buffer *out, struct told spool, const char *kind)
{
	bool known = told_has(spool, "bytes") && told_is(spool, "state", "ok");

	if (told_is(spool, "state", "none"))
		return;
	told_put(out, spool, "  spool     ");
	if (told_has(spool, "batches")) {
		put_stored(out, spool, kind);
		told_put(out, spool, "; its file has {bytes|size} of {max_bytes|size}\n");
	} else {
		told_put(out, spool,
			known ? "empty (its file has {bytes|size} of {max_bytes|size})\n"
			      : "its file has {bytes|size} of {max_bytes|size}\n");
	}
	told_put_if(out, spool, "error", "  {error}\n");
}

/* Of the last bucket of the histogram no more is known than where it begins. */
static void put_latency(struct buffer *out, struct told output)
{
	char most[HUMAN_MAX];

	if (told_is_null(output, "latency"))
		return;
	human_time(most, (int64_t)(ledger_bucket_seconds[LEDGER_BUCKETS - 1] * 1e9));
	told_put(out, output, "  latency   half of the {kind} ");
	if (told_has(output, "latency.p50_seconds"))
		told_put(out, output, "within {latency.p50_seconds|time}, ");
	if (told_has(output, "latency.p99_seconds"))
		told_put(out, output, "99 % within {latency.p99_seconds|time}\n");
	else
		buffer_printf(out, "%safter more than %s\n",
			told_has(output, "latency.p50_seconds") ? "some " : "", most);
}

void state_put_outputs(struct buffer *out, struct told state)
{
	struct told outputs = told_at(state, "outputs"), output = {0};
	int64_t pending = told_number(state, "spans.pending");
	unsigned count = count_outputs(state);

	while (told_next(outputs, &output)) {
		put_head(out, output, count > 1 || told_has(output, "leaving"));
		put_balance(out, output);
		put_share(out, output);
		put_rows(out, output, pending);
		told_put(out, output, "  queue     {queue_bytes|size} of {max_queue_bytes|size}\n");
		put_spool(out, told_at(output, "spool"), told_text(output, "kind"));
		put_latency(out, output);
	}
	if (!count)
		told_put(out, state, "delivering  nowhere: every output has `type = none`\n");
}
