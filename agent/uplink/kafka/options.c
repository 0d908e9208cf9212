/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/kafka/options.h"

#include <glib.h>

#include "base/log.h"

/* Files that do not do are better found before librdkafka does, which says less of them. */
static bool check_tls(const struct uplink_options *options)
{
	const struct kafka_settings *is = &options->kafka;
	struct tls *tls;
	char why[512];

	if (!is->use_tls)
		return true;
	tls = tls_create(&is->tls, options->tls_later, why, sizeof(why));
	if (!tls)
		log_error("[%s]: %s", options->section, why);
	tls_free(tls);
	return tls != NULL;
}

struct kafkaoptions *kafkaoptions_create(const struct uplink_options *options)
{
	struct kafkaoptions *copy;
	struct kafka_settings *is;

	if (!check_tls(options))
		return NULL;
	copy = g_new0(struct kafkaoptions, 1);
	copy->window = MAX(options->window, 1);
	copy->settings = options->kafka;
	is = &copy->settings;
	is->brokers = g_strdup(is->brokers);
	is->topic = g_strdup(is->topic);
	is->tls.ca = g_strdup(is->tls.ca);
	is->tls.certificate = g_strdup(is->tls.certificate);
	is->tls.key = g_strdup(is->tls.key);
	is->sasl_user = g_strdup(is->sasl_user);
	is->sasl_password_file = g_strdup(is->sasl_password_file);
	return copy;
}

void kafkaoptions_free(struct kafkaoptions *options)
{
	struct kafka_settings *is = &options->settings;

	g_free((char *)is->brokers);
	g_free((char *)is->topic);
	g_free((char *)is->tls.ca);
	g_free((char *)is->tls.certificate);
	g_free((char *)is->tls.key);
	g_free((char *)is->sasl_user);
	g_free((char *)is->sasl_password_file);
	g_free(options);
}
