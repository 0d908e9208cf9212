/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/kafka/errors.h"

#include <string.h>

#include <glib.h>

#include "base/sanitize.h"

bool errors_refuse(rd_kafka_resp_err_t error)
{
	switch (error) {
	case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
	case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
	case RD_KAFKA_RESP_ERR_INVALID_RECORD:
	case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
		return true;
	default:
		return false;
	}
}

bool errors_are_silence(rd_kafka_resp_err_t error)
{
	switch (error) {
	case RD_KAFKA_RESP_ERR__TIMED_OUT:
	case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
	case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
	case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
	case RD_KAFKA_RESP_ERR__TRANSPORT:
	case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
	case RD_KAFKA_RESP_ERR__WAIT_COORD:
	case RD_KAFKA_RESP_ERR__QUEUE_FULL:
	case RD_KAFKA_RESP_ERR__FATAL: /* what it is, is said separately */
		return true;
	default:
		return false;
	}
}

enum fault errors_fault(rd_kafka_resp_err_t error)
{
	switch (error) {
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
	case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
	case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
		return FAULT_TOPIC;
	case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
	case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
		return FAULT_PERMISSION;
	case RD_KAFKA_RESP_ERR__AUTHENTICATION:
	case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
	case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
		return FAULT_LOGIN;
	case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
		return FAULT_ENCODING;
	case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
	case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
	case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
	case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
	case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED:
		return FAULT_TRY_LATER;
	case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
	case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
		return FAULT_UNFIT;
	default:
		return FAULT_NONE;
	}
}

/* Depending on the version of TLS, the brokers say so in the handshake, or end the connection after it. */
static bool is_own_certificate(const char *reason)
{
	static const char *const alerts[] = {"alert certificate ", "alert bad certificate",
		"alert unsupported certificate", "alert unknown ca", "alert access denied",
		"alert handshake failure"};

	for (size_t i = 0; i < G_N_ELEMENTS(alerts); i++)
		if (strstr(reason, alerts[i]))
			return true;
	return false;
}

static enum fault fault_of_tls(const char *reason)
{
	if (strstr(reason, "certificate verify failed"))
		return FAULT_TLS_CERTIFICATE;
	if (is_own_certificate(reason))
		return FAULT_TLS_OWN;
	if (strstr(reason, "Receive failed") || strstr(reason, "Send failed"))
		return FAULT_CLOSED;
	/* a listener without TLS takes the handshake for a request that is too large */
	if (strstr(reason, "plaintext") || strstr(reason, "PLAINTEXT") ||
		strstr(reason, "wrong version number") || strstr(reason, "unexpected eof"))
		return FAULT_TLS_NONE;
	return FAULT_TLS;
}

static enum fault fault_of_transport(const char *reason)
{
	if (strstr(reason, "SSL routines") || strstr(reason, "SSL handshake failed"))
		return fault_of_tls(reason);
	if (strstr(reason, "Connection refused"))
		return FAULT_CONNECT_REFUSED;
	if (strstr(reason, "unreachable"))
		return FAULT_UNREACHABLE;
	if (strstr(reason, "setup timed out") || strstr(reason, "Connection timed out"))
		return FAULT_CONNECT_TIMEOUT;
	if (strstr(reason, "Timed out"))
		return FAULT_NO_ANSWER;
	if (strstr(reason, "ApiVersionRequest failed"))
		return FAULT_GARBLED;
	if (strstr(reason, "Disconnected") || strstr(reason, "reset by peer"))
		return FAULT_CLOSED;
	return FAULT_CONNECT;
}

enum fault errors_fault_of_broker(rd_kafka_resp_err_t error, const char *reason)
{
	switch (error) {
	case RD_KAFKA_RESP_ERR__RESOLVE:
		return FAULT_NO_ADDRESS;
	case RD_KAFKA_RESP_ERR__SSL:
		return fault_of_tls(reason);
	case RD_KAFKA_RESP_ERR__TRANSPORT:
		return fault_of_transport(reason);
	case RD_KAFKA_RESP_ERR__TIMED_OUT:
	case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
	case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
		return FAULT_NO_ANSWER;
	case RD_KAFKA_RESP_ERR__BAD_MSG:
		return FAULT_GARBLED;
	default:
		return errors_fault(error);
	}
}

/* "ssl://HOST:PORT/ID: the rest": writes HOST:PORT to @broker, and returns the rest. */
static const char *take_broker(const char *reason, char *broker, size_t size)
{
	const char *end = strstr(reason, ": "), *start = strstr(reason, "://"), *name;
	size_t length;

	*broker = '\0';
	if (!end)
		return reason;
	name = start && start < end ? start + 3 : reason;
	length = strcspn(name, "/ ");
	if (name + length >= end || name[length] != '/')
		return reason;
	g_strlcpy(broker, name, MIN(length + 1, size));
	return end + 2;
}

/* Ends the text where librdkafka says when this was, or how to configure it. */
static void cut(char *text)
{
	static const char *const ends[] = {" (after ", ": probably due ", ": increase ", " (see "};

	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		char *end = strstr(text, ends[i]);

		if (end)
			*end = '\0';
	}
}

/* What librdkafka asks of its own settings, we ask of ours. */
static const char *take_question(char *text)
{
	static const char *const begins[] = {": might be caused by ", ": verify that security.protocol"};

	for (size_t i = 0; i < G_N_ELEMENTS(begins); i++) {
		char *begin = strstr(text, begins[i]);

		if (begin) {
			*begin = '\0';
			return ": are `tls` and `sasl` right?";
		}
	}
	return "";
}

/* What a handshake of TLS ended with, in the words of the agent's own TLS (net/tls.c). */
static const char *words_of_tls(const char *reason)
{
	switch (fault_of_tls(reason)) {
	case FAULT_TLS_CERTIFICATE: /* librdkafka's are much longer, and not about us */
		return "its certificate is not signed by a trusted authority, or not valid for this name";
	case FAULT_TLS_NONE:
		return "the server does not speak TLS on this port";
	case FAULT_TLS_OWN:
		return strstr(reason, "alert handshake failure")
			       ? "the server wants a client certificate that it accepts (`tls-certificate`, "
				 "`tls-key`), or another kind of TLS"
			       : "the server wants a client certificate that it accepts (`tls-certificate`, "
				 "`tls-key`)";
	default:
		return NULL;
	}
}

/* "SASL PLAIN mechanism handshake failed: WHY: broker's supported mechanisms: NAMES" */
static char *words_of_sasl(const char *reason)
{
	static const char before[] = "supported mechanisms:";
	const char *found = strstr(reason, before);
	g_autofree char *names = found ? g_strstrip(g_strdup(found + strlen(before))) : NULL;

	if (!names || !strstr(reason, "handshake failed"))
		return NULL;
	return *names ? g_strdup_printf("the listener takes only these kinds of `sasl`: %s", names)
		      : g_strdup("the listener takes no SASL: `sasl = none`");
}

/* What was there instead of a broker, as far as can be told. */
static const char *words_of_stranger(const char *reason, bool tls)
{
	if (strstr(reason, "dempoten") && strstr(reason, "not supported"))
		return "this is not a broker's listener (but a controller's, perhaps), or its Kafka is older "
		       "than 0.11";
	if (strstr(reason, "Invalid response size"))
		return tls ? "its answer is not Kafka's: this is not a broker's listener"
			   : "its answer is not Kafka's: this is not a broker's listener, or one with TLS "
			     "(`tls = yes`)";
	if (strstr(reason, "while requesting ApiVersion"))
		return "it closes the connection at the first request: are `tls` and `sasl` right, and is "
		       "this a broker's listener?";
	if (strstr(reason, "ApiVersionRequest failed"))
		return strstr(reason, "Timed out")
			       ? "no answer to the first request: is this a broker's listener?"
			       : "this is not a broker's listener";
	return NULL;
}

/* What stands for librdkafka's words, where those speak of its own configuration, or to programmers; NULL:
 * nothing. */
static char *translate(const char *reason, bool tls)
{
	static const char resolve[] = "Failed to resolve '";
	const char *words = NULL, *why = strstr(reason, "': ");
	char *sasl = words_of_sasl(reason);

	if (sasl)
		return sasl;
	if (g_str_has_prefix(reason, resolve))
		return g_strdup_printf("no address for this name%s", why ? why + 1 : "");
	if (strstr(reason, "SSL routines") || strstr(reason, "SSL handshake failed") ||
		strstr(reason, "certificate verify failed"))
		words = words_of_tls(reason);
	else if (strstr(reason, "setup timed out in state SSL_HANDSHAKE"))
		words = "no answer to the TLS handshake: does the server speak TLS on this port?";
	else if (strstr(reason, "setup timed out"))
		words = "no connection in time";
	return g_strdup(words ? words : words_of_stranger(reason, tls));
}

/* "[thrd:NAME]: BROKER: Connect to ipv4#HOST:PORT failed: the reason (after 0ms in state CONNECT)" */
void errors_words(const char *reason, char *words, size_t size)
{
	const char *start = strchr(reason, ' '), *failed;
	g_autofree char *text = NULL, *better = NULL, *plain = NULL;
	const char *question;
	char broker[128];
	bool tls;

	if (g_str_has_prefix(reason, "[thrd:") && start)
		reason = start + 1;
	tls = g_str_has_prefix(reason, "ssl:") || g_str_has_prefix(reason, "sasl_ssl:");
	plain = g_strdup(take_broker(reason, broker, sizeof(broker)));
	question = take_question(plain);
	cut(plain);
	better = translate(plain, tls);
	failed = strstr(plain, " failed: ");
	reason = better                                             ? better
		 : g_str_has_prefix(plain, "Connect to ") && failed ? failed + strlen(" failed: ")
								    : plain;
	text = g_strdup_printf("%s%s%s%s", broker, *broker ? ": " : "", reason, better ? "" : question);
	words_copy(words, size, (const uint8_t *)text, strlen(text));
}
