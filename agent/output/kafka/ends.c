/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/kafka/ends.h"

#include <stdio.h>

#include <glib.h>

#include "output/kafka/errors.h"
#include "output/kafka/library.h"

/* What was taken back by us says nothing of the brokers. */
static bool is_taken_back(rd_kafka_resp_err_t error)
{
	return error == RD_KAFKA_RESP_ERR__PURGE_QUEUE || error == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT ||
	       error == RD_KAFKA_RESP_ERR__DESTROY;
}

enum fault ends_explain(const struct ends *ends, rd_kafka_resp_err_t error, char *words, size_t size)
{
	if (ends->fault != FAULT_NONE) {
		g_strlcpy(words, ends->trouble, size);
		return ends->fault;
	}
	if (errors_are_silence(error)) {
		snprintf(words, size, "no answer within %g s", (double)ends->timeout_ns / 1e9);
		return FAULT_NO_ANSWER;
	}
	errors_words(rd->err2str(error), words, size);
	return error == RD_KAFKA_RESP_ERR__BAD_MSG ? FAULT_GARBLED : FAULT_UNFIT;
}

static void explain_failure(const struct ends *ends, rd_kafka_resp_err_t error, struct message_end *end)
{
	end->fault = is_taken_back(error) ? FAULT_NONE : errors_fault(error);
	if (end->fault == FAULT_TOPIC) {
		snprintf(end->words, sizeof(end->words), "the brokers have no topic `%.200s`", ends->topic);
	} else if (is_taken_back(error) || end->fault != FAULT_NONE) {
		errors_words(rd->err2str(error), end->words, sizeof(end->words));
	} else {
		end->fault = ends_explain(ends, error, end->words, sizeof(end->words));
	}
}

/* A message's own topic may be one that nobody has, or may write: that is no trouble of the others. */
static bool is_refused(const struct ends *ends, rd_kafka_resp_err_t error)
{
	return errors_refuse(error) ||
	       (!ends->topic &&
		       (errors_fault(error) == FAULT_TOPIC || error == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION ||
			       error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED));
}

struct message_end ends_of(const struct ends *ends, rd_kafka_resp_err_t error)
{
	struct message_end end = {.result = MESSAGE_KEPT};

	if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
		return end;
	end.result = is_refused(ends, error) ? MESSAGE_REFUSED : MESSAGE_FAILED;
	if (end.result == MESSAGE_REFUSED)
		errors_words(rd->err2str(error), end.words, sizeof(end.words));
	else
		explain_failure(ends, error, &end);
	return end;
}
