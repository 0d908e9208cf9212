/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/kafka/producer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "output/kafka/library.h"
#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "output/kafka/attendant.h"
#include "output/kafka/ends.h"
#include "output/kafka/errors.h"

/* At the end, so long at most for what is on its way, and as long again until it is given up. */
#define END_MS 300
#define STEP_MS 20
/* The same for the client's threads: a process should not end before they do. */
#define THREADS_NS NS_PER_SECOND

struct message {
	void *cargo;
	struct buffer bytes; /* librdkafka borrows them */
	bool doubted;        /* another one timed out while this was open */
	TAILQ_ENTRY(message) link;
};

struct producer {
	struct producer_handler handler;
	rd_kafka_t *client;
	rd_kafka_topic_t *topic;
	char *name;    /* the topic's */
	char *brokers; /* as configured */
	struct attendant *attendant;
	int fd; /* an eventfd, for librdkafka and the attendant */
	struct event *woken;
	TAILQ_HEAD(messages, message) messages;
	uint32_t open;
	bool ending;  /* nobody is told of troubles any more */
	bool cut_off; /* no broker can be reached, for all that is known */
	struct ends ends;
};

static void is_well(struct producer *producer)
{
	producer->ends.fault = FAULT_NONE;
	producer->cut_off = false;
}

/* Ends of messages */

static void forget(struct producer *producer, struct message *message)
{
	TAILQ_REMOVE(&producer->messages, message, link);
	producer->open--;
	buffer_free(&message->bytes);
	free(message);
}

/*
 * After a message that timed out, librdkafka numbers what is open anew (another epoch of its producer's id):
 * brokers do not know then what they have already, if its answer was lost.
 */
static void doubt_others(struct producer *producer)
{
	struct message *message;

	TAILQ_FOREACH(message, &producer->messages, link)
	message->doubted = true;
}

static void on_ended(rd_kafka_t *client, const rd_kafka_message_t *report, void *opaque)
{
	struct producer *producer = opaque;
	struct message *message = report->_private;
	struct message_end end = ends_of(&producer->ends, report->err);
	void *cargo = message->cargo;

	(void)client;
	end.maybe_kept = rd->message_status(report) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
	end.maybe_twice = end.result == MESSAGE_KEPT && message->doubted;
	if (end.result == MESSAGE_KEPT)
		is_well(producer);
	else if (errors_are_silence(report->err))
		doubt_others(producer);
	forget(producer, message);
	producer->handler.ended(cargo, &end, producer->handler.data);
}

/* Troubles */

static void tell_cut_off(struct producer *producer)
{
	if (!producer->cut_off || producer->ends.fault == FAULT_NONE || producer->ending)
		return;
	producer->handler.cut_off(producer->ends.fault, producer->ends.trouble, producer->handler.data);
}

/* Of the only broker that is configured: whoever tells the trouble tells where. */
static const char *without_place(const struct producer *producer, const char *words)
{
	size_t size = strlen(producer->brokers);

	return !strncmp(words, producer->brokers, size) && g_str_has_prefix(words + size, ": ")
		       ? words + size + 2
		       : words;
}

static void note_trouble(struct producer *producer, rd_kafka_resp_err_t error, const char *reason)
{
	enum fault fault = errors_fault_of_broker(error, reason);
	char words[sizeof(producer->ends.trouble)];

	/* that what is no broker is also silent says less, and comes more often */
	if (fault == FAULT_NONE || (fault == FAULT_NO_ANSWER && producer->ends.fault == FAULT_GARBLED))
		return;
	producer->ends.fault = fault;
	errors_words(reason, words, sizeof(words));
	g_strlcpy(producer->ends.trouble, without_place(producer, words), sizeof(producer->ends.trouble));
	tell_cut_off(producer);
}

static void is_broken(struct producer *producer)
{
	char reason[256] = "", words[256];

	rd->fatal_error(producer->client, reason, sizeof(reason));
	errors_words(reason, words, sizeof(words));
	if (!producer->ending)
		producer->handler.broken(words, producer->handler.data);
}

static void on_error(rd_kafka_t *client, int error, const char *reason, void *opaque)
{
	struct producer *producer = opaque;

	(void)client;
	if (error == RD_KAFKA_RESP_ERR__FATAL) {
		is_broken(producer);
	} else if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
		producer->cut_off = true;
		tell_cut_off(producer);
	} else {
		note_trouble(producer, (rd_kafka_resp_err_t)error, reason);
	}
}

/* It goes to standard error otherwise; what matters comes by on_error, too. */
static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
	(void)client;
	(void)level;
	(void)facility;
	(void)text;
}

/* The loop */

static void tell_answer(struct producer *producer, rd_kafka_resp_err_t error)
{
	enum fault fault = errors_fault(error);
	char words[256];

	if (!error) {
		is_well(producer);
		producer->handler.answered(FAULT_NONE, "", producer->handler.data);
	} else if (fault == FAULT_TOPIC) {
		snprintf(words, sizeof(words), "the brokers have no topic `%.200s`", producer->name);
		producer->handler.answered(fault, words, producer->handler.data);
	} else if (fault != FAULT_NONE) {
		errors_words(rd->err2str(error), words, sizeof(words));
		producer->handler.answered(fault, words, producer->handler.data);
	} else {
		fault = ends_explain(&producer->ends, error, words, sizeof(words));
		producer->handler.answered(fault, words, producer->handler.data);
	}
}

static void serve(struct producer *producer)
{
	while (rd->poll(producer->client, 0) > 0)
		;
}

static void on_woken(evutil_socket_t fd, short what, void *data)
{
	struct producer *producer = data;
	rd_kafka_resp_err_t error;
	uint64_t times;

	(void)what;
	(void)!read(fd, &times, sizeof(times)); /* it may be 0: watch */
	serve(producer);
	if (attendant_take_answer(producer->attendant, &error))
		tell_answer(producer, error);
}

/* For the owner */

/* A category is a header, too. */
static rd_kafka_resp_err_t produce(
	struct producer *producer, const struct message_label *label, struct message *message)
{
	const struct buffer *bytes = &message->bytes;

	if (!producer->topic || label->category)
		return rd->producev(producer->client,
			RD_KAFKA_V_TOPIC(label->topic ? label->topic : producer->name),
			RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
			RD_KAFKA_V_VALUE(bytes->data, bytes->size),
			RD_KAFKA_V_KEY(label->key, label->key_size),
			RD_KAFKA_V_HEADER("category", label->category ? label->category : "",
				(ssize_t)label->category_size),
			RD_KAFKA_V_OPAQUE(message), RD_KAFKA_V_END);
	return rd->producev(producer->client, RD_KAFKA_V_RKT(producer->topic),
		RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA), RD_KAFKA_V_VALUE(bytes->data, bytes->size),
		RD_KAFKA_V_KEY(label->key, label->key_size), RD_KAFKA_V_OPAQUE(message), RD_KAFKA_V_END);
}

bool producer_send(struct producer *producer, const struct message_label *label, struct buffer *bytes,
	void *cargo, struct message_end *end)
{
	struct message *message = memory_get(sizeof(*message));
	rd_kafka_resp_err_t error;

	message->cargo = cargo;
	message->bytes = *bytes;
	*bytes = (struct buffer){0};
	TAILQ_INSERT_TAIL(&producer->messages, message, link);
	producer->open++;
	error = produce(producer, label, message);
	if (!error)
		return true;
	*end = ends_of(&producer->ends, error);
	forget(producer, message);
	return false;
}

uint32_t producer_open(const struct producer *producer)
{
	return producer->open;
}

void producer_ask(struct producer *producer)
{
	attendant_ask(producer->attendant);
}

static rd_kafka_t *create_client(
	struct producer *producer, const struct output_config *is, enum kind kind, struct kafka_why *why)
{
	rd_kafka_conf_t *conf = settings_configure(is, kind, why);
	rd_kafka_t *client;
	char error[256] = "";

	if (!conf)
		return NULL;
	rd->conf_set_opaque(conf, producer);
	rd->conf_set_dr_msg_cb(conf, on_ended);
	rd->conf_set_error_cb(conf, on_error);
	rd->conf_set_log_cb(conf, on_log);
	client = rd->new (RD_KAFKA_PRODUCER, conf, error, sizeof(error));
	if (client)
		return client;
	rd->conf_destroy(conf);
	why->fault = strstr(error, "ssl.") ? FAULT_TLS_FILES : FAULT_UNFIT;
	errors_words(error, why->words, sizeof(why->words));
	return NULL;
}

/* The loop is woken when there is something to serve. */
static bool watch(struct producer *producer, struct event_base *base)
{
	static const uint64_t once = 1;
	rd_kafka_queue_t *queue;

	producer->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (producer->fd < 0)
		return false;
	producer->woken = event_new(base, producer->fd, EV_READ | EV_PERSIST, on_woken, producer);
	if (!producer->woken)
		g_error("out of memory");
	event_add(producer->woken, NULL);
	queue = rd->queue_get_main(producer->client);
	rd->queue_io_event_enable(queue, producer->fd, &once, sizeof(once));
	rd->queue_destroy(queue);
	event_active(producer->woken, EV_READ, 1); /* for what came before */
	return true;
}

/* The attendant's last act, in its thread if the network hangs: nothing refers to the messages any more. */
static void release(void *data)
{
	struct producer *producer = data;

	while (!TAILQ_EMPTY(&producer->messages))
		forget(producer, TAILQ_FIRST(&producer->messages));
	if (producer->fd >= 0)
		close(producer->fd);
	g_free(producer->name);
	g_free(producer->brokers);
	free(producer);
}

/* The client has sent nothing yet, so it ends at once. */
static struct producer *give_up(struct producer *producer, struct kafka_why *why)
{
	why->fault = FAULT_UNFIT;
	g_strlcpy(why->words,
		producer->topic || !producer->name ? "too many threads or open files, or too little memory"
						   : "librdkafka cannot use this `topic`",
		sizeof(why->words));
	if (producer->topic)
		rd->topic_destroy(producer->topic);
	rd->destroy(producer->client);
	if (producer->woken)
		event_free(producer->woken);
	release(producer);
	return NULL;
}

struct producer *producer_create(struct event_base *base, const struct output_config *is, enum kind kind,
	const struct producer_handler *handler, struct kafka_why *why)
{
	struct producer *producer = memory_get(sizeof(*producer));
	const char *topic = settings_topic(is, kind);

	TAILQ_INIT(&producer->messages);
	producer->fd = -1;
	producer->handler = *handler;
	producer->ends.timeout_ns = is->timeout;
	producer->client = create_client(producer, is, kind, why);
	if (!producer->client) {
		free(producer);
		return NULL;
	}
	producer->name = g_strdup(topic);
	producer->ends.topic = producer->name;
	producer->brokers = g_strdup(is->brokers);
	if (topic)
		producer->topic = rd->topic_new(producer->client, topic, NULL);
	if (!producer->topic == !topic && watch(producer, base))
		producer->attendant =
			attendant_create(producer->client, producer->topic, is->timeout, producer->fd);
	return producer->attendant ? producer : give_up(producer, why);
}

/* Takes back what @flags say, and waits a little for what is not. */
static void take_back(struct producer *producer, int flags)
{
	rd->purge(producer->client, flags | RD_KAFKA_PURGE_F_NON_BLOCKING);
	for (int waited = 0; producer->open > 0 && waited < END_MS; waited += STEP_MS)
		rd->poll(producer->client, STEP_MS);
}

static void end(struct producer *producer, int64_t patience_ns)
{
	const struct message_end unknown = {
		.result = MESSAGE_FAILED, .maybe_kept = true, .words = "taken back"};
	struct message *message;

	producer->ending = true;
	event_free(producer->woken);
	take_back(producer, RD_KAFKA_PURGE_F_QUEUE);
	if (producer->open > 0)
		take_back(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
	TAILQ_FOREACH(message, &producer->messages, link)
	producer->handler.ended(message->cargo, &unknown, producer->handler.data);
	attendant_end(producer->attendant, patience_ns, release, producer);
}

void producer_destroy(struct producer *producer)
{
	end(producer, THREADS_NS);
}

void producer_abandon(struct producer *producer)
{
	end(producer, 0);
}
