/* SPDX-License-Identifier: BSD-2-Clause */
/* The uplink to Kafka, at librdkafka's mock brokers. */
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <event2/listener.h>
#include <event2/util.h>

#include "encode/zipkin.h"
#include "kafkacluster.h"
#include "net/message.h"
#include "output/kafka/errors.h"
#include "output/kafka/producer.h"
#include "run.h"
#include "uplink_rig.h"

#define TOPIC "zipkin"
#define PARTITIONS 2

/* Destroyed while it connects, librdkafka 2.0 forgets its internal broker, once in some hundred times: 3,104
 * bytes. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:librdkafka.so";
}

static struct kafkacluster *cluster;
static struct rig rig;

/* What is in the topic */

struct found {
	unsigned int messages;
	GHashTable *times;  /* of each span, by its text: how often it is there */
	GHashTable *places; /* of each key: its partition + 1; a key in two is a failure */
};

static void count_spans(struct found *found, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *next = g_strstr_len(text + 1, end - text - 1, "span ");
		char *span = g_strndup(text, (gsize)((next ? next : end) - text));
		guint times = GPOINTER_TO_UINT(g_hash_table_lookup(found->times, span));

		g_hash_table_insert(found->times, span, GUINT_TO_POINTER(times + 1));
		text = next ? next : end;
	}
}

static void on_message(const rd_kafka_message_t *message, int partition, const char *key, void *data)
{
	struct found *found = data;
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(found->places, key));

	found->messages++;
	/* a list of structs in TBinary, a JSON array, a field of OTLP's request */
	ck_assert_uint_gt(message->len, 5);
	ck_assert_uint_eq(*(uint8_t *)message->payload, "\x0c[\x0a"[rig.is.format]);
	if (*key) {
		ck_assert_msg(!place || place == (guint)partition + 1, "%s is in two partitions", key);
		g_hash_table_insert(found->places, g_strdup(key), GUINT_TO_POINTER(partition + 1));
	} else {
		count_spans(found, (const char *)message->payload + 5, message->len - 5);
	}
}

static void find(struct found *found)
{
	found->messages = 0;
	found->times = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	found->places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	kafkacluster_read(cluster, TOPIC, PARTITIONS, on_message, found);
}

static void forget(struct found *found)
{
	g_hash_table_unref(found->times);
	g_hash_table_unref(found->places);
}

/*
 * All that was pushed is there, but for @lost. It may be there more often, as the mock brokers do not know
 * what is sent twice; tests/live/test_kafka_faults.py counts that at real ones.
 */
static void assert_there(unsigned int lost)
{
	struct found found;

	ASSERT_ROW(&rig, SPANS_QUEUED, 0);
	ASSERT_ROW(&rig, SPANS_SENT, rig.pushed - lost);
	find(&found);
	ck_assert_uint_eq(g_hash_table_size(found.times), rig.pushed - lost);
	forget(&found);
}

/* The rig */

static void begin(void)
{
	rig_open(&rig);
	cluster = kafkacluster_create(3);
	kafkacluster_add(cluster, TOPIC, PARTITIONS);
	rig.is.type = CONFIG_OUTPUT_KAFKA;
	rig.is.brokers = (char *)cluster->brokers;
	rig.is.topic = rig.is.events_topic = TOPIC;
	rig.is.messages_topic = rig.is.sasl_user = rig.is.sasl_password_file = "";
	rig.is.compression = CONFIG_COMPRESSION_ZSTD;
	rig.is.timeout = 4 * NS_PER_SECOND;
}

static void end(void)
{
	rig_close(&rig);
	kafkacluster_destroy(cluster);
}

static void deliver_all(void)
{
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
}

START_TEST(delivered)
{
	start(&rig);
	push(&rig, 30);
	deliver_all();
	ck_assert(state_of(&rig).up);
	ck_assert_str_eq(state_of(&rig).type, "kafka");
	ck_assert_str_eq(state_of(&rig).server, cluster->brokers);
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert_uint_eq(latencies(&rig), rig.pushed);
	ck_assert_uint_eq(in_log(&rig, ": connected"), 1);
	assert_there(0);
}
END_TEST

/* It says so without anything to send. */
START_TEST(connected)
{
	start(&rig);
	RUN_UNTIL(&rig, state_of(&rig).up);
}
END_TEST

/* A message that is too large is halved, down to the span that is too large alone; of this no more is known.
 */
START_TEST(too_large)
{
	rig.is.window = 1;
	start(&rig);
	push(&rig, 1);
	deliver_all();
	/* the batch, its halves, and so on down to the first span, which is left alone at the end */
	kafkacluster_fail(cluster, KAFKACLUSTER_PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 3);
	push_many(&rig, 4);
	deliver_all();
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 1);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_REFUSED, 3);
	assert_there(1);
	ck_assert_uint_eq(in_log(&rig, "refuses a span"), 1);
}
END_TEST

/* Brokers that refuse everything get no span dropped for it. */
START_TEST(refuses_all)
{
	kafkacluster_fail(cluster, KAFKACLUSTER_PRODUCE, RD_KAFKA_RESP_ERR_INVALID_RECORD, 80);
	start(&rig);
	push(&rig, 20);
	RUN_UNTIL(&rig, state_of(&rig).servers[0].fault == FAULT_REFUSES_ALL);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 0);
	rd_kafka_mock_clear_request_errors(cluster->mock, KAFKACLUSTER_PRODUCE);
	deliver_all();
	assert_there(0);
}
END_TEST

/*
 * What passes is retried below us. One message at a time: the mock brokers take the next one all the same,
 * which tells the idempotent producer that they had this one.
 */
START_TEST(passing_errors)
{
	rig.is.window = 1;
	start(&rig);
	push(&rig, 1);
	deliver_all();
	kafkacluster_fail(cluster, KAFKACLUSTER_PRODUCE, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, 2);
	kafkacluster_fail(cluster, KAFKACLUSTER_PRODUCE, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, 2);
	push(&rig, 10);
	deliver_all();
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	assert_there(0);
}
END_TEST

START_TEST(no_permission)
{
	start(&rig);
	push(&rig, 1);
	deliver_all();
	kafkacluster_fail(cluster, KAFKACLUSTER_PRODUCE, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
	push(&rig, 1);
	RUN_UNTIL(&rig, state_of(&rig).servers[0].fault == FAULT_PERMISSION);
	deliver_all();
	RUN_UNTIL(&rig, state_of(&rig).up);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	assert_there(0);
}
END_TEST

START_TEST(topic_missing)
{
	rig.is.topic = "another";
	rd_kafka_mock_topic_set_error(cluster->mock, "another", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	start(&rig);
	push(&rig, 2);
	RUN_UNTIL(&rig, state_of(&rig).servers[0].fault == FAULT_TOPIC);
	ck_assert_str_eq(state_of(&rig).error, "the brokers have no topic `another`");
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
	rd_kafka_mock_topic_set_error(cluster->mock, "another", RD_KAFKA_RESP_ERR_NO_ERROR);
	deliver_all();
	RUN_UNTIL(&rig, state_of(&rig).up);
}
END_TEST

/* Messages of Scribe's */

static void push_messages(const char *category, int count)
{
	struct batch *batch = batch_create(BATCH_MESSAGES, 0, 0);
	struct account_change change = {.row = {[SPANS_TAKEN] = count, [SPANS_QUEUED] = count}};
	struct buffer item = {0};
	char words[32];

	for (int i = 0; i < count; i++) {
		struct message message = {.time = 1,
			.category = (const uint8_t *)category,
			.category_size = (uint32_t)strlen(category),
			.payload = (const uint8_t *)words};

		message.payload_size = (uint32_t)snprintf(
			words, sizeof(words), "span %u", rig.pushed++); /* as found has them */
		item.size = 0;
		message_put(&item, &message);
		batch_add(batch, item.data, item.size, clock_wall());
	}
	buffer_free(&item);
	account_post(rig.account, &change);
	queue_push(rig.queue, batch);
}

struct read {
	unsigned int count;
	const char *key, *category;
};

static void on_read(const rd_kafka_message_t *message, int partition, const char *key, void *data)
{
	struct read *read = data;
	rd_kafka_headers_t *headers;
	const void *value;
	size_t size;

	(void)partition;
	read->count++;
	ck_assert_str_eq(key, read->key);
	ck_assert(message->len > 5 && !memcmp(message->payload, "span ", 5));
	ck_assert_int_eq(rd_kafka_message_headers(message, &headers), 0);
	ck_assert_int_eq(rd_kafka_header_get_last(headers, "category", &value, &size), 0);
	ck_assert_uint_eq(size, strlen(read->category));
	ck_assert_mem_eq(value, read->category, size);
}

static unsigned int count_in(const char *topic, const char *key, const char *category)
{
	struct read read = {0, key, category};

	kafkacluster_read(cluster, topic, 1, on_read, &read);
	return read.count;
}

static void begin_messages(const char *topic)
{
	rig.options.kind = KIND_MESSAGES;
	rig.is.messages_topic = (char *)topic;
	kafkacluster_add(cluster, "app", 1);
	kafkacluster_add(cluster, "a_b", 1);
	start(&rig);
}

/* Each is a message of the topic that its category is; one that nobody has costs only those that want it. */
START_TEST(messages_by_category)
{
	rd_kafka_mock_topic_set_error(cluster->mock, "another", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	begin_messages("");
	push_messages("app", 30);
	push_messages("another", 3);
	push_messages("a/b", 20);
	push_messages("app", 10);
	deliver_all();
	ASSERT_ROW(&rig, SPANS_SENT, 60);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 3);
	ck_assert(state_of(&rig).up);
	ck_assert_uint_eq(in_log(&rig, "refuses a message"), 1);
	ck_assert_uint_ge(count_in("app", "", "app"), 40);
	ck_assert_uint_ge(count_in("a_b", "", "a/b"), 20);
}
END_TEST

/* In one topic for all, the category is the key. */
START_TEST(messages_in_one_topic)
{
	begin_messages("app");
	push_messages("some", 25);
	deliver_all();
	ASSERT_ROW(&rig, SPANS_SENT, 25);
	ck_assert_uint_ge(count_in("app", "some", "some"), 25);
}
END_TEST

/* librdkafka makes no such topic. */
START_TEST(topic_too_long)
{
	g_autofree char *name = g_strnfill(600, 'x');

	rig.is.topic = name;
	start(&rig);
	push(&rig, 2);
	RUN_UNTIL(&rig, state_of(&rig).servers[0].fault == FAULT_UNFIT);
	ck_assert_str_eq(state_of(&rig).error, "librdkafka cannot use this `topic`");
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
}
END_TEST

/* What is no silence is not called that. */
START_TEST(error_of_its_own)
{
	start(&rig);
	push(&rig, 1);
	deliver_all();
	rd_kafka_mock_push_request_errors(cluster->mock, 0, 1, RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS);
	push(&rig, 1);
	RUN_UNTIL(&rig, *state_of(&rig).error);
	ck_assert_str_eq(state_of(&rig).error, "Broker: Invalid required acks value");
	ck_assert_int_eq(state_of(&rig).servers[0].fault, FAULT_UNFIT);
	deliver_all();
}
END_TEST

static void set_brokers(bool up)
{
	for (int i = 1; i <= 3; i++)
		if (up)
			rd_kafka_mock_broker_set_up(cluster->mock, i);
		else
			rd_kafka_mock_broker_set_down(cluster->mock, i);
}

/* All brokers end and come back: what waits meanwhile is delivered, and what was on its way is not lost. */
START_TEST(brokers_away)
{
	start(&rig);
	push(&rig, 10);
	deliver_all();
	set_brokers(false);
	push(&rig, 10);
	RUN_UNTIL(&rig, state_of(&rig).servers[0].fault != FAULT_NONE);
	ck_assert_uint_eq(in_log(&rig, "spans wait, retrying"), 1);
	run_ms(&rig, 100);
	set_brokers(true);
	deliver_all();
	RUN_UNTIL(&rig, state_of(&rig).up);
	ck_assert_uint_eq(in_log(&rig, "delivering again"), 1);
	assert_there(0);
}
END_TEST

/* One of three ends: it is no failure. */
START_TEST(one_broker_away)
{
	rd_kafka_mock_partition_set_leader(cluster->mock, TOPIC, 0, 1);
	rd_kafka_mock_partition_set_leader(cluster->mock, TOPIC, 1, 2);
	start(&rig);
	push(&rig, 10);
	deliver_all();
	rd_kafka_mock_broker_set_down(cluster->mock, 1);
	rd_kafka_mock_partition_set_leader(cluster->mock, TOPIC, 0, 3);
	push(&rig, 10);
	deliver_all();
	assert_there(0);
}
END_TEST

/* No answer in time: it comes back, and goes again. */
START_TEST(slow_brokers)
{
	rig.is.timeout = NS_PER_SECOND;
	start(&rig);
	push(&rig, 1);
	deliver_all();
	for (int i = 1; i <= 3; i++)
		rd_kafka_mock_broker_set_rtt(cluster->mock, i, 3000);
	push(&rig, 2);
	RUN_UNTIL(&rig, state_of(&rig).servers[0].fault == FAULT_NO_ANSWER);
	for (int i = 1; i <= 3; i++)
		rd_kafka_mock_broker_set_rtt(cluster->mock, i, 0);
	deliver_all();
	assert_there(0);
}
END_TEST

/* What no broker has answered goes back to the queue when the output ends, and another uplink has it. */
START_TEST(ended_at_work)
{
	struct uplink *uplink;

	start(&rig);
	push(&rig, 1);
	deliver_all();
	for (int i = 1; i <= 3; i++)
		rd_kafka_mock_broker_set_rtt(cluster->mock, i, 3000);
	push(&rig, 8);
	RUN_UNTIL(&rig, state_of(&rig).calls_open > 0);
	run_ms(&rig, 50);
	uplink_destroy(rig.uplink);
	rig.uplink = NULL;
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed - SPANS);
	for (int i = 1; i <= 3; i++)
		rd_kafka_mock_broker_set_rtt(cluster->mock, i, 0);
	uplink = uplink_create(rig.base, rig.queue, &rig.options);
	rig.uplink = uplink;
	deliver_all();
	assert_there(0);
}
END_TEST

static void on_drained(void *data)
{
	((struct rig *)data)->drained++;
}

START_TEST(drained)
{
	start(&rig);
	push(&rig, 5);
	queue_close(rig.queue);
	uplink_when_drained(rig.uplink, on_drained, &rig);
	RUN_UNTIL(&rig, rig.drained == 1);
	assert_there(0);
}
END_TEST

/* A trace of a batch is a message, with its id as the key. */
static void push_traces(int traces, int spans, bool records)
{
	struct buffer item = {0};

	for (int i = 0; i < spans; i++)
		for (int k = 1; k <= traces; k++) {
			const struct span span = {.trace_id = (uint64_t)k,
				.trace_id_high = k % 2 ? 0 : 7,
				.id = (uint64_t)(i * traces + k),
				.name = {"a", 1}};

			item.size = 0;
			ck_assert_int_ge(zipkin_encode(&item, &span), 0);
			if (records)
				push_record(&rig, &span);
			else
				push_span(&rig, item.data, item.size);
		}
	buffer_free(&item);
	push_batch(&rig);
}

/* This node's spans, and those of others, as each of the formats. */
START_TEST(by_trace)
{
	static const enum config_format formats[] = {
		CONFIG_FORMAT_THRIFT, CONFIG_FORMAT_JSON2, CONFIG_FORMAT_OTLP};
	struct found found;

	rig.is.format = formats[_i / 2];
	rig.is.key = CONFIG_KEY_TRACE;
	start(&rig);
	for (int i = 0; i < 3; i++)
		push_traces(20, 5, _i % 2);
	deliver_all();
	ASSERT_ROW(&rig, SPANS_SENT, rig.pushed);
	find(&found);
	ck_assert_uint_eq(found.messages, 60);
	ck_assert_uint_eq(g_hash_table_size(found.places), 20);
	ck_assert(g_hash_table_contains(found.places, "0000000000000011"));
	ck_assert(g_hash_table_contains(found.places, "00000000000000070000000000000012"));
	forget(&found);
}
END_TEST

/* What listens there is no broker: it closes the connection, with some words or without, or says nothing. */

static const char *says;

static void on_connection(
	struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size, void *data)
{
	(void)listener;
	(void)address;
	(void)size;
	(void)data;
	if (!says)
		return; /* the process's end closes it */
	(void)!write(fd, says, strlen(says));
	evutil_closesocket(fd);
}

static const char *const sayings[] = {"", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", NULL};

START_TEST(no_broker)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	struct evconnlistener *listener = evconnlistener_new_bind(rig.base, on_connection, NULL,
		LEV_OPT_CLOSE_ON_FREE, 16, (struct sockaddr *)&address, sizeof(address));
	char brokers[64];

	getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&address, &size);
	snprintf(brokers, sizeof(brokers), "127.0.0.1:%u", ntohs(address.sin_port));
	says = sayings[_i];
	rig.is.brokers = brokers;
	rig.is.timeout = NS_PER_SECOND;
	start(&rig);
	push(&rig, 1);
	RUN_UNTIL(&rig, state_of(&rig).servers[0].fault != FAULT_NONE);
	ck_assert_msg(!state_of(&rig).up, "%s", state_of(&rig).error);
	/* whoever tells it names the only broker */
	ck_assert_ptr_null(strstr(state_of(&rig).error, brokers));
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
	ck_assert_int_gt(errors(&rig), 0);
	evconnlistener_free(listener);
}
END_TEST

START_TEST(no_password)
{
	rig.is.sasl = CONFIG_SASL_PLAIN;
	rig.is.sasl_user = "u";
	rig.is.sasl_password_file = "/nonexistent/password";
	start(&rig);
	RUN_UNTIL(&rig, state_of(&rig).servers[0].fault == FAULT_PASSWORD);
	ck_assert_str_eq(state_of(&rig).error,
		"the password in `/nonexistent/password` cannot be read: No such file or directory");
}
END_TEST

/* What librdkafka 2.0 and 2.8 say. */
START_TEST(words_of_librdkafka)
{
	static const struct {
		rd_kafka_resp_err_t error;
		enum fault fault;
		const char *reason, *words;
	} said[] = {
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_CONNECT_REFUSED,
			"127.0.0.1:9092/bootstrap: Connect to ipv4#127.0.0.1:9092 failed: Connection refused "
			"(after "
			"0ms in state CONNECT)",
			"127.0.0.1:9092: Connection refused"},
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_NO_ANSWER,
			"127.0.0.1:9092/1: ApiVersionRequest failed: Local: Timed out: probably due to "
			"broker version < "
			"0.10 (see api.version.request configuration) (after 2001ms in state "
			"APIVERSION_QUERY)",
			"127.0.0.1:9092: no answer to the first request: is this a broker's listener?"},
		{RD_KAFKA_RESP_ERR__BAD_MSG, FAULT_GARBLED,
			"[thrd:a:1/bootstrap]: a:1/bootstrap: Receive failed: Invalid response size 9 "
			"(0..8): increase "
			"receive.message.max.bytes",
			"a:1: its answer is not Kafka's: this is not a broker's listener, or one with TLS "
			"(`tls = yes`)"},
		{RD_KAFKA_RESP_ERR__SSL, FAULT_TLS_CERTIFICATE,
			"ssl://a:1/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate "
			"verify "
			"failed: broker certificate could not be verified",
			"a:1: its certificate is not signed by a trusted authority, or not valid for this "
			"name"},
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_TLS_NONE,
			"ssl://a:1/bootstrap: SSL handshake failed: Disconnected: connecting to a PLAINTEXT "
			"broker "
			"listener? (after 1ms in state SSL_HANDSHAKE)",
			"a:1: the server does not speak TLS on this port"},
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_TLS_OWN,
			"ssl://a:1/bootstrap: Receive failed: error:0A000412:SSL routines::sslv3 alert bad "
			"certificate: "
			"SSL alert number 42",
			"a:1: the server wants a client certificate that it accepts (`tls-certificate`, "
			"`tls-key`)"},
		/* as Java says it, also of one that has expired */
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_TLS_OWN,
			"ssl://a:1/1: Receive failed: error:0A000416:SSL routines::sslv3 alert certificate "
			"unknown: SSL alert number 46",
			"a:1: the server wants a client certificate that it accepts (`tls-certificate`, "
			"`tls-key`)"},
		{RD_KAFKA_RESP_ERR__AUTHENTICATION, FAULT_LOGIN,
			"sasl_ssl://[::1]:9/3: SASL\033 authentication error",
			"[::1]:9: SASL? authentication error"},
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_CLOSED,
			"a:1/bootstrap: Disconnected while requesting ApiVersion: might be caused by "
			"incorrect security.protocol configuration (connecting to a SSL listener?) or broker "
			"version is < 0.10 (see api.version.request) (after 0ms in state APIVERSION_QUERY)",
			"a:1: it closes the connection at the first request: are `tls` and `sasl` right, and "
			"is this a broker's listener?"},
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_CLOSED,
			"a:1/1: Disconnected: verify that security.protocol is correctly configured, broker "
			"might require SASL authentication (after 2ms in state UP)",
			"a:1: Disconnected: are `tls` and `sasl` right?"},
		{RD_KAFKA_RESP_ERR__RESOLVE, FAULT_NO_ADDRESS, "a:1/bootstrap: Failed to resolve 'a:1'",
			"a:1: no address for this name"},
		{RD_KAFKA_RESP_ERR__RESOLVE, FAULT_NO_ADDRESS,
			"[thrd:a:1/bootstrap]: a:1/bootstrap: Failed to resolve 'a:1': Name or service not "
			"known (after 7ms in state CONNECT)",
			"a:1: no address for this name: Name or service not known"},
		{RD_KAFKA_RESP_ERR__SSL, FAULT_TLS_NONE,
			"ssl://a:1/bootstrap: SSL handshake failed: error:0A00010B:SSL routines::wrong "
			"version number: connecting to a PLAINTEXT broker listener? (after 0ms in state "
			"SSL_HANDSHAKE)",
			"a:1: the server does not speak TLS on this port"},
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_CONNECT_TIMEOUT,
			"ssl://a:1/bootstrap: Connection setup timed out in state SSL_HANDSHAKE (after "
			"3003ms in state SSL_HANDSHAKE)",
			"a:1: no answer to the TLS handshake: does the server speak TLS on this port?"},
		{RD_KAFKA_RESP_ERR__TRANSPORT, FAULT_GARBLED,
			"a:1/bootstrap: ApiVersionRequest failed: Local: Broker transport failure: probably "
			"due to broker version < 0.10",
			"a:1: this is not a broker's listener"},
		{RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, FAULT_UNFIT,
			"Idempotent producer not supported by any of the 1 broker(s) in state UP: requires "
			"Apache Kafka broker version >= 0.11.0",
			"this is not a broker's listener (but a controller's, perhaps), or its Kafka is "
			"older than 0.11"},
		{RD_KAFKA_RESP_ERR__AUTHENTICATION, FAULT_LOGIN,
			"sasl_plaintext://a:1/bootstrap: SASL PLAIN mechanism handshake failed: Broker: "
			"Request not valid in current SASL state: broker's supported mechanisms:  (after 0ms "
			"in state AUTH_HANDSHAKE)",
			"a:1: the listener takes no SASL: `sasl = none`"},
		{RD_KAFKA_RESP_ERR__AUTHENTICATION, FAULT_LOGIN,
			"sasl_plaintext://a:1/bootstrap: SASL PLAIN mechanism handshake failed: Broker: "
			"Unsupported SASL mechanism: broker's supported mechanisms: "
			"SCRAM-SHA-256,SCRAM-SHA-512 (after 0ms in state AUTH_HANDSHAKE)",
			"a:1: the listener takes only these kinds of `sasl`: SCRAM-SHA-256,SCRAM-SHA-512"},
	};

	for (size_t i = 0; i < LENGTH(said); i++) {
		char words[256];

		ck_assert_msg(errors_fault_of_broker(said[i].error, said[i].reason) == said[i].fault, "%s",
			said[i].reason);
		errors_words(said[i].reason, words, sizeof(words));
		ck_assert_str_eq(words, said[i].words);
	}
}
END_TEST

/* What was open when another message timed out. */

#define KEYS 16 /* of which some go to each partition */

static struct ends_seen {
	unsigned int kept, doubted, failed;
} ends_seen[2];

static void on_message_ended(void *cargo, const struct message_end *end, void *data)
{
	struct ends_seen *seen = cargo;

	(void)data;
	seen->kept += end->result == MESSAGE_KEPT;
	seen->doubted += end->result == MESSAGE_KEPT && end->maybe_twice;
	seen->failed += end->result == MESSAGE_FAILED;
}

static void on_answer(enum fault fault, const char *why, void *data)
{
	(void)fault;
	(void)why;
	(void)data;
}

static void on_break(const char *why, void *data)
{
	(void)data;
	ck_abort_msg("%s", why);
}

static void send_keyed(struct producer *producer, struct ends_seen *seen)
{
	for (int i = 0; i < KEYS; i++) {
		g_autofree char *key = g_strdup_printf("key %d", i);
		const struct message_label label = {.key = key, .key_size = strlen(key)};
		struct buffer bytes = {0};
		struct message_end end;

		buffer_put(&bytes, "123456", 6);
		ck_assert(producer_send(producer, &label, &bytes, seen, &end));
	}
}

/* A broker is silent; another one is slow, and answers what was sent before a message for the first one timed
 * out, and what was open then: that one may be there twice, as librdkafka numbers it anew if its answer is
 * lost. */
START_TEST(doubted)
{
	const struct producer_handler handler = {on_message_ended, on_answer, on_answer, on_break, NULL};
	struct producer *producer;
	struct kafka_why why;

	memset(ends_seen, 0, sizeof(ends_seen));
	rig.is.key = CONFIG_KEY_TRACE; /* so that they go in one request */
	rig.is.timeout = 3 * NS_PER_SECOND;
	rd_kafka_mock_partition_set_leader(cluster->mock, TOPIC, 0, 1);
	rd_kafka_mock_partition_set_leader(cluster->mock, TOPIC, 1, 2);
	producer = producer_create(rig.base, &rig.is, KIND_SPANS, &handler, &why);
	ck_assert_ptr_nonnull(producer);
	/* it knows the leaders */
	send_keyed(producer, &ends_seen[0]);
	RUN_UNTIL(&rig, ends_seen[0].kept == KEYS);
	rd_kafka_mock_broker_set_rtt(cluster->mock, 1, 60000);
	rd_kafka_mock_broker_set_rtt(cluster->mock, 2, 2500);
	memset(ends_seen, 0, sizeof(ends_seen));
	send_keyed(producer, &ends_seen[0]);
	RUN_UNTIL(&rig, ends_seen[0].kept > 0);
	send_keyed(producer, &ends_seen[1]);
	RUN_UNTIL(&rig, ends_seen[1].kept > 0);
	ck_assert_uint_gt(ends_seen[0].failed, 0);
	ck_assert_uint_eq(ends_seen[0].doubted, 0);
	ck_assert_uint_eq(ends_seen[1].doubted, ends_seen[1].kept);
	producer_destroy(producer);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("kafka");

	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, delivered);
	tcase_add_test(tests, connected);
	tcase_add_test(tests, too_large);
	tcase_add_test(tests, refuses_all);
	tcase_add_test(tests, passing_errors);
	tcase_add_test(tests, no_permission);
	tcase_add_test(tests, topic_missing);
	tcase_add_test(tests, topic_too_long);
	tcase_add_test(tests, messages_by_category);
	tcase_add_test(tests, messages_in_one_topic);
	tcase_add_test(tests, error_of_its_own);
	tcase_add_test(tests, brokers_away);
	tcase_add_test(tests, one_broker_away);
	tcase_add_test(tests, slow_brokers);
	tcase_add_test(tests, ended_at_work);
	tcase_add_test(tests, drained);
	tcase_add_loop_test(tests, by_trace, 0, 6);
	tcase_add_loop_test(tests, no_broker, 0, LENGTH(sayings));
	tcase_add_test(tests, no_password);
	tcase_add_test(tests, words_of_librdkafka);
	tcase_add_test(tests, doubted);
	return run_cases("kafka", tests);
}
