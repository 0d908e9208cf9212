/* SPDX-License-Identifier: BSD-2-Clause */
#include "spans/v1_to_v2.h"

#include <string.h>

#include "spans/v1_annotations.h"
#include "status/trace/span2.h"

/* The annotations that say what a span is, rather than what happened in it. */
enum core {
	CS, /* client send */
	CR, /* client receive */
	SR, /* server receive */
	SS, /* server send */
	MS, /* message send, by the producer */
	MR, /* message receive, by the consumer */
	WS, /* wire send */
	WR, /* wire receive */
	CORES
};

static const struct {
	char name[3];
	enum span2_kind kind;
} cores[CORES] = {
	[CS] = {"cs", SPAN2_CLIENT},
	[CR] = {"cr", SPAN2_CLIENT},
	[SR] = {"sr", SPAN2_SERVER},
	[SS] = {"ss", SPAN2_SERVER},
	[MS] = {"ms", SPAN2_PRODUCER},
	[MR] = {"mr", SPAN2_CONSUMER},
	[WS] = {"ws", SPAN2_LOCAL},
	[WR] = {"wr", SPAN2_LOCAL},
};

struct conversion {
	const struct zipkinwire_span *v1;
	int64_t timestamp, duration; /* the span's own; 0: none */
	GPtrArray *out;
	guint first;        /* where in @out this span's begin */
	GHashTable *halves; /* of these, the first of each service; "": of none that is known */
	const GArray *annotations, *binaries;
	struct v1_annotation core[CORES];
	bool has[CORES];
};

/* Times come from a peer: they may be anything, and C forbids signed arithmetic to overflow. */
static int64_t difference(int64_t end, int64_t begin)
{
	return (int64_t)((uint64_t)end - (uint64_t)begin);
}

static const char *service_of(const struct span2_endpoint *host)
{
	return host->service ? host->service : "";
}

static void set_local(struct conversion *c, struct span2 *half, const struct span2_endpoint *host)
{
	half->local = span2_endpoint_copy(host);
	if (!g_hash_table_contains(c->halves, service_of(host)))
		g_hash_table_insert(c->halves, (gpointer)service_of(half->local), half);
}

static struct span2 *add_half(struct conversion *c, const struct v1_annotation *at)
{
	struct span2 *half = span2_new();

	half->trace_id_high = c->v1->trace_id_high;
	half->trace_id = c->v1->trace_id;
	half->id = c->v1->id;
	half->parent_id = c->v1->parent_id;
	half->name = v1_copy_name(c->v1->name);
	half->debug = c->v1->debug;
	g_ptr_array_add(c->out, half);
	if (at && at->has_host)
		set_local(c, half, &at->host);
	return half;
}

static bool same_service(const struct span2_endpoint *a, const struct span2_endpoint *b)
{
	return g_strcmp0(a->service, b->service) == 0;
}

static struct span2 *first_half(struct conversion *c)
{
	return g_ptr_array_index(c->out, c->first);
}

/* The half to which annotations of a host belong: that of the same service, or a new one. */
static struct span2 *half_of(struct conversion *c, const struct v1_annotation *note)
{
	struct span2 *half;

	if (!note || !note->has_host)
		return first_half(c);
	if (!first_half(c)->local) {
		set_local(c, first_half(c), &note->host);
		return first_half(c);
	}
	half = g_hash_table_lookup(c->halves, service_of(&note->host));
	return half ? half : add_half(c, note);
}

static int find_core(const struct v1_annotation *note)
{
	for (int i = 0; i < CORES; i++)
		if (note->has_host && strcmp(note->text, cores[i].name) == 0)
			return i;
	return -1;
}

/* Sorts the annotations into those that make a span what it is, and the others, which stay annotations. */
static void place_annotations(struct conversion *c)
{
	for (guint i = 0; i < c->annotations->len; i++) {
		const struct v1_annotation *note = &g_array_index(c->annotations, struct v1_annotation, i);
		struct span2 *half = half_of(c, note);
		int core = find_core(note);

		if (core < 0) {
			span2_annotate(half, note->timestamp, note->text);
			continue;
		}
		if (cores[core].kind != SPAN2_LOCAL)
			half->kind = cores[core].kind;
		c->core[core] = *note;
		c->has[core] = true;
	}
}

/* An end without a begin, at exactly timestamp + duration, shows when its begin was. */
static void infer_begin(struct conversion *c, enum core begin, enum core end)
{
	if (c->has[begin] || !c->has[end] || !c->timestamp || !c->duration)
		return;
	if (difference(c->core[end].timestamp, c->timestamp) != c->duration)
		return;
	c->core[begin] = c->core[end];
	c->core[begin].timestamp = c->timestamp;
	c->has[begin] = true;
}

/* The time of the half where @begin happened. What the span says itself wins over its annotations, if it says
 * both. */
static void set_times(struct conversion *c, enum core begin, enum core end)
{
	struct span2 *half = half_of(c, &c->core[begin]);

	if (c->timestamp && c->duration) {
		half->timestamp = c->timestamp;
		half->duration = c->duration;
		return;
	}
	half->timestamp = c->core[begin].timestamp;
	if (c->has[end])
		half->duration = difference(c->core[end].timestamp, c->core[begin].timestamp);
}

/* The half on the other side: an additional one if a service calls itself. */
static struct span2 *far_half(struct conversion *c, enum core near, enum core far, enum span2_kind near_kind)
{
	struct span2 *half;

	if (!same_service(&c->core[near].host, &c->core[far].host)) {
		half = half_of(c, &c->core[far]);
	} else {
		half_of(c, &c->core[near])->kind = near_kind;
		half = add_half(c, &c->core[far]);
		half->kind = cores[far].kind;
	}
	half->shared = true;
	return half;
}

/* Client and server in one span: the client has the span's time, the server has its own annotations. */
static void place_both_sides(struct conversion *c)
{
	struct span2 *client, *server;

	set_times(c, CS, CR);
	client = half_of(c, &c->core[CS]);
	server = far_half(c, CS, SR, SPAN2_CLIENT);
	server->timestamp = c->core[SR].timestamp;
	if (c->has[SS])
		server->duration = difference(c->core[SS].timestamp, c->core[SR].timestamp);
	if (!c->has[CR] && !c->duration)
		client->duration = 0;
}

/* Neither a whole client nor a whole server: an end without its begin is shown as an annotation. */
static void place_incomplete(struct conversion *c)
{
	for (guint i = c->first; i < c->out->len; i++) {
		struct span2 *half = g_ptr_array_index(c->out, i);
		enum core begin = half->kind == SPAN2_CLIENT ? CS : SR;
		enum core end = half->kind == SPAN2_CLIENT ? CR : SS;

		if (half->kind != SPAN2_CLIENT && half->kind != SPAN2_SERVER)
			continue;
		if (c->has[begin])
			half->timestamp = c->core[begin].timestamp;
		if (c->has[end])
			span2_annotate(half, c->core[end].timestamp, cores[end].name);
	}
	if (c->timestamp) {
		first_half(c)->timestamp = c->timestamp;
		first_half(c)->duration = c->duration;
	}
}

static void place_rpc(struct conversion *c)
{
	infer_begin(c, CS, CR);
	infer_begin(c, SR, SS);
	if (c->has[CS] && c->has[SR])
		place_both_sides(c);
	else if (c->has[CS] && c->has[CR])
		set_times(c, CS, CR);
	else if (c->has[SR] && c->has[SS])
		set_times(c, SR, SS);
	else
		place_incomplete(c);
	/* A server that did not begin the span leaves its time, or how long it took, to the client. */
	if (!c->has[CS] && c->has[SR] && (!c->timestamp || (c->has[SS] && !c->duration)))
		half_of(c, &c->core[SR])->shared = true;
}

static void place_produced_and_consumed(struct conversion *c)
{
	struct span2 *producer = half_of(c, &c->core[MS]);
	struct span2 *consumer = far_half(c, MS, MR, SPAN2_PRODUCER);
	int64_t received = c->core[MR].timestamp;

	consumer->timestamp = c->has[WR] ? c->core[WR].timestamp : received;
	if (c->has[WR])
		consumer->duration = difference(received, c->core[WR].timestamp);
	producer->timestamp = c->core[MS].timestamp;
	producer->duration = c->has[WS] ? difference(c->core[WS].timestamp, c->core[MS].timestamp) : 0;
}

static void place_messaging(struct conversion *c)
{
	if (c->has[MS] && c->has[MR]) {
		place_produced_and_consumed(c);
	} else if (c->has[MS]) {
		set_times(c, MS, WS);
	} else if (c->has[MR] && c->has[WR]) {
		set_times(c, WR, MR);
	} else if (c->has[MR]) {
		set_times(c, MR, WR);
	} else {
		for (enum core core = WS; core <= WR; core++)
			if (c->has[core])
				span2_annotate(half_of(c, &c->core[core]), c->core[core].timestamp,
					cores[core].name);
	}
}

static void set_remote(struct span2 *half, const struct span2_endpoint *remote)
{
	if (half->remote)
		g_free(half->remote->service);
	g_free(half->remote);
	half->remote = span2_endpoint_copy(remote);
}

static bool same_endpoint(const struct span2_endpoint *a, const struct span2_endpoint *b)
{
	return same_service(a, b) && strcmp(a->ipv4, b->ipv4) == 0 && strcmp(a->ipv6, b->ipv6) == 0 &&
	       a->port == b->port;
}

/*
 * The caller: not the server itself, and without the server's name, which some attach to the client's socket.
 */
static void place_caller(
	struct conversion *c, const struct v1_annotation *ca, const struct v1_annotation *server)
{
	struct span2_endpoint caller = ca->host;

	if (same_endpoint(&ca->host, &server->host))
		return;
	if (same_service(&ca->host, &server->host))
		caller.service = NULL;
	if (caller.service || *caller.ipv4 || *caller.ipv6 || caller.port)
		set_remote(half_of(c, server), &caller);
}

/* Addresses alone, of a span that is no client's or server's by its annotations. */
static void place_lone_addresses(
	struct conversion *c, const struct v1_annotation *ca, const struct v1_annotation *sa)
{
	if (ca && sa) {
		set_remote(half_of(c, ca), &sa->host);
	} else if (sa) {
		set_remote(first_half(c), &sa->host);
	} else {
		first_half(c)->kind = SPAN2_SERVER;
		set_remote(first_half(c), &ca->host);
	}
}

static void place_addresses(struct conversion *c, const struct v1_annotation *ca,
	const struct v1_annotation *sa, const struct v1_annotation *ma)
{
	const struct v1_annotation *core = c->core;

	if (!c->has[CS] && !c->has[CR] && !c->has[SR] && !c->has[SS] && (ca || sa)) {
		place_lone_addresses(c, ca, sa);
		return;
	}
	if (ca && (c->has[SR] || c->has[SS]))
		place_caller(c, ca, c->has[SR] ? &core[SR] : &core[SS]);
	if (sa && (c->has[CS] || c->has[CR]))
		set_remote(half_of(c, c->has[CS] ? &core[CS] : &core[CR]), &sa->host);
	if (ma && c->has[MS])
		set_remote(half_of(c, &core[MS]), &ma->host);
	if (ma && c->has[MR])
		set_remote(half_of(c, &core[MR]), &ma->host);
}

static void place_binaries(struct conversion *c)
{
	const struct v1_annotation *ca = NULL, *sa = NULL, *ma = NULL;

	for (guint i = 0; i < c->binaries->len; i++) {
		const struct v1_annotation *note = &g_array_index(c->binaries, struct v1_annotation, i);
		const struct v1_annotation **address = *note->text == 'c'   ? &ca
						       : *note->text == 's' ? &sa
									    : &ma;
		struct span2 *half;

		if (v1_is_address_key(note->text)) {
			*address = note->has_host ? note : NULL;
			continue;
		}
		half = half_of(c, note);
		/* An empty "lc" exists only for its host. */
		if (strcmp(note->text, "lc") != 0 || note->value.size)
			span2_tag(half, note->text, note->value.data, note->value.size);
	}
	place_addresses(c, ca, sa, ma);
}

const char *v1_wrong_ids(uint64_t trace_id_high, uint64_t trace_id, uint64_t id)
{
	if (!trace_id && !trace_id_high)
		return "its trace id is 0";
	return id ? NULL : "its span id is 0";
}

const char *v1_to_v2(const struct v1_span *v1, GPtrArray *spans)
{
	struct conversion c = {.v1 = &v1->fields,
		.timestamp = v1->fields.timestamp,
		.duration = v1->fields.duration,
		.out = spans,
		.first = spans->len,
		.annotations = v1->annotations,
		.binaries = v1->binaries};
	const char *wrong = v1_wrong_ids(c.v1->trace_id_high, c.v1->trace_id, c.v1->id);

	if (wrong)
		return wrong;
	c.halves = g_hash_table_new(g_str_hash, g_str_equal);
	add_half(&c, NULL);
	place_annotations(&c);
	place_rpc(&c);
	place_messaging(&c);
	place_binaries(&c);
	g_hash_table_unref(c.halves);
	for (guint i = c.first; i < spans->len; i++)
		span2_settle(g_ptr_array_index(spans, i));
	return NULL;
}
