/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/check.h"

#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/proxyurl.h"
#include "config/explain.h"
#include "config/globs.h"
#include "config/keys.h"
#include "config/outputtype.h"
#include "config/pairrules.h"
#include "config/section.h"
#include "config/tagrules.h"
#include "config/tags.h"

/* A spool's log and file hold so many batches at least, and what they need beside. */
#define SPOOL_BATCHES 8
#define SPOOL_MIN (1024 * 1024)

const struct config_origin *check_later(const struct config_origin *one, const struct config_origin *origins,
	const char *section, const char *name)
{
	const struct config_origin *other = &origins[config_key_find(section, name) - config_keys];

	return !one || other->order > one->order ? other : one;
}

int check_broken(const struct config_origin *at, const char *message, const char *title)
{
	log_error("%s:%u: %s in [%s]", at->file, at->line, message, title);
	return -1;
}

static int check_keys(const struct config_origin *origins, const char *section, const char *title,
	const struct rule *rules, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		const struct config_origin *at = NULL;

		for (int k = 0; k < 4 && rules[i].keys[k]; k++)
			at = check_later(at, origins, section, rules[i].keys[k]);
		if (rules[i].broken)
			status = check_broken(at, rules[i].message, title);
	}
	return status;
}

int check_rules(const struct output_config *output, const struct rule *rules, size_t count)
{
	return check_keys(output->origins, "output", output->section, rules, count);
}

/* Whether a connection to @server comes to @own. What names mean is not known here. */
static bool is_same_place(const struct address *own, const struct address *server)
{
	if (own->port != server->port)
		return false;
	return !strcasecmp(own->host, server->host) ||
	       (address_is_loopback(server) && (address_is_loopback(own) || address_is_any(own)));
}

int check_circle(const struct config *config, const struct output_config *output, const char *listener)
{
	const struct config_origin *at = check_later(NULL, output->origins, "output", "server");
	const char *key = output_type_of(output)->intake;
	g_autofree char *message = g_strdup_printf(
		"`server` is the agent's own `%s` in [input], so its spans would come back for ever: name "
		"another server",
		key);
	struct address own, list[ADDRESSES_MAX];
	size_t count = 0;
	bool same = false;

	if (*listener && address_parse(listener, &own))
		count = output_servers(output, list);
	for (size_t i = 0; i < count; i++)
		same |= is_same_place(&own, &list[i]);
	at = check_later(at, config->origins, "input", key);
	return same ? check_broken(at, message, output->section) : 0;
}

static int check_session(const struct config *config)
{
	const bool own_relay = !config->relay_control_port;
	const struct rule rules[] = {
		{own_relay != !config->relay_data_port || own_relay != !config->relay_live_port,
			{"relay-control-port", "relay-data-port", "relay-live-port"},
			"the relay's ports must either all be 0, or none of them,"},
		{own_relay && config->keep, {"relay-control-port", "keep"},
			"`keep = yes` needs a relay daemon that outlives the agent: its ports cannot be 0"},
	};

	return check_keys(config->origins, "session", "session", rules, G_N_ELEMENTS(rules));
}

uint64_t check_batch_size(const struct output_config *output)
{
	return output->spool_size ? output->spool_size / SPOOL_BATCHES : UINT64_MAX;
}

/* Where a spool's size comes from [spool], its output's `batch-size` may be what breaks the rule. */
static int check_spool(const struct config *config, const struct output_config *output)
{
	const struct config_origin *at = check_later(NULL, output->origins, "output", "spool-size");

	if (!output->spool_size ||
		(output->spool_size >= SPOOL_MIN && output->batch_size <= check_batch_size(output)))
		return 0;
	at = check_later(at, output->origins, "output", "batch-size");
	if (config_output_is_set(output, "spool-size"))
		return check_broken(at,
			"`spool-size` must be 0 (no spool), or at least 1M and eight times `batch-size`",
			output->section);
	at = check_later(at, config->origins, "spool", "max-size");
	return check_broken(at,
		"`max-size` in [spool] must be 0 (no spool), or at least 1M and eight times `batch-size`",
		output->section);
}

/* An output that is switched off may keep its keys. */
static int check_keys_of_type(const struct output_config *output)
{
	const char *by_default = config_output_is_set(output, "type") ? "" : " (the default)";
	int status = 0;

	for (size_t i = 0; i < config_key_count && config_output_delivers(output); i++) {
		const struct config_key *key = &config_keys[i];
		g_autofree char *misfit = NULL, *instead = NULL, *message = NULL;

		if (key->scope != SCOPE_OUTPUT || output_key_fits(output, key) || !output->origins[i].file)
			continue;
		misfit = explain_misfit(key, (int)output->type);
		instead = explain_instead(key, (int)output->type);
		message = g_strdup_printf(
			"`%s` %s%s%s%s", key->name, misfit, by_default, instead, *instead ? "," : "");
		status = check_broken(&output->origins[i], message, output->section);
	}
	return status;
}

/* A tag that would not be there. */
static int check_tags(const struct output_config *output)
{
	const bool otlp = output->format == CONFIG_FORMAT_OTLP || output->format == CONFIG_FORMAT_OTLP_JSON;
	const char *key = otlp ? tags_find_resource_key(output->tags) : NULL;
	const struct config_origin *at = check_later(NULL, output->origins, "output", "tags");
	g_autofree char *message = NULL;

	if (!key)
		return 0;
	message = g_strdup_printf(
		"`tags` cannot set `%s` in OTLP, where the agent sets it: choose another key,", key);
	return check_broken(at, message, output->section);
}

/* What is done to tags is done to those of spans, which the output then has to take. */
static int check_tag_rules(const struct output_config *output)
{
	static const char *const keys[] = {"drop-tags", "rename-tags", "redact"};
	const struct config_origin *at = NULL;
	g_autofree char *message = NULL;
	const char *with;

	if (!config_output_delivers(output))
		return 0;
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		at = check_later(at, output->origins, "output", keys[i]);
	if ((*output->drop_tags || *output->rename_tags || *output->redact) &&
		!(output->takes & CONFIG_TAKES_SPANS)) {
		at = check_later(at, output->origins, "output", "takes");
		return check_broken(at,
			"`drop-tags`, `rename-tags` and `redact` are for tags of spans, and `takes` has no "
			"spans, while events and messages are sent as they are: take these keys away,",
			output->section);
	}
	message = tagrules_conflict(output->drop_tags, output->rename_tags, output->redact, &with);
	if (!message)
		return 0;
	at = check_later(
		check_later(NULL, output->origins, "output", "drop-tags"), output->origins, "output", with);
	return check_broken(at, message, output->section);
}

/* What names a type is its own to check. */
static int check_output(const struct config *config, const struct output_config *output)
{
	struct proxyurl proxy = {0};
	const bool proxied = *output->proxy && !proxyurl_parse(output->proxy, &proxy);
	const struct rule rules[] = {
		{proxied && *output->proxy_secret_file && !*proxy.user, {"proxy", "proxy-password-file"},
			"`proxy-password-file` needs a user in `proxy`, as http://USER@HOST:PORT,"},
		{*output->proxy_secret_file && *proxy.password, {"proxy", "proxy-password-file"},
			"the proxy's password is either in `proxy` or in `proxy-password-file`, not in "
			"both,"},
		{*output->proxy_secret_file && !config_output_is_set(output, "proxy"),
			{"proxy-password-file"}, "`proxy-password-file` needs `proxy`"},
		{output->retry_min > output->retry_max, {"retry-min", "retry-max"},
			"`retry-min` is larger than `retry-max`"},
		{!*output->tls_certificate != !*output->tls_key, {"tls-certificate", "tls-key"},
			"`tls-certificate` and `tls-key` go together"},
		{!output->tls && (*output->tls_ca || *output->tls_certificate || *output->tls_key),
			{"tls", "tls-ca", "tls-certificate", "tls-key"}, "TLS files need `tls = yes`"},
		{output->sasl && (!*output->sasl_user || !*output->sasl_password_file),
			{"sasl", "sasl-user", "sasl-password-file"},
			"`sasl` needs `sasl-user` and `sasl-password-file`"},
		{!output->sasl && (*output->sasl_user || *output->sasl_password_file),
			{"sasl", "sasl-user", "sasl-password-file"},
			"`sasl-user` and `sasl-password-file` need `sasl`"},
		{output->format == CONFIG_FORMAT_OTLP_JSON && !(output->takes & CONFIG_TAKES_SPANS),
			{"format", "takes"},
			"`format = otlp-json` is of spans, of which this output takes none; events and "
			"messages have lines of their own: leave `format` out"},
		{output->keep && (output->budget || *output->budget_file), {"keep", "budget", "budget-file"},
			"`budget` and `budget-file` need `keep = auto`"},
		{output->queue_size < 2 * output->batch_size, {"queue-size", "batch-size"},
			"`queue-size` must hold at least two batches: twice `batch-size`"},
	};
	const struct output_type *type = output_type_of(output);
	int status = check_rules(output, rules, G_N_ELEMENTS(rules));

	if (type->check && type->check(config, output) != 0)
		status = -1;
	if (check_keys_of_type(output) != 0 || check_tags(output) != 0 || check_tag_rules(output) != 0)
		status = -1;
	return check_spool(config, output) != 0 ? -1 : status;
}

/* The reader writes down what it has pending, which takes as much again. */
uint64_t check_max_pending(const struct config *config)
{
	return config->reader_memory / 2;
}

static int check_memory(const struct config *config)
{
	const struct config_origin *at;

	if (config->max_pending <= check_max_pending(config))
		return 0;
	at = check_later(NULL, config->origins, "session", "reader-memory");
	at = check_later(at, config->origins, "spans", "max-pending");
	return check_broken(
		at, "`reader-memory` must be at least twice `max-pending` of [spans],", "session");
}

/* It becomes a link, so nothing else than a web page may be behind it. */
static int check_ui(const struct config *config)
{
	const char *ui = config->ui;

	if (!*ui || ((g_str_has_prefix(ui, "https://") || g_str_has_prefix(ui, "http://")) &&
			    strstr(ui, "{trace}")))
		return 0;
	return check_broken(check_later(NULL, config->origins, "agent", "ui"),
		"`ui` must be http://... or https://... with {trace} where a trace's id goes,", "agent");
}

/* Spans are events, too. LTTng has exclusions for this, but `lttng list` then ends the session daemon (2.13).
 */
static int check_events(const struct config *config)
{
	static const char *const own[] = {"blkin:", "zipkin:"};
	const struct config_origin *at = check_later(NULL, config->origins, "events", "names");

	for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
		g_autofree char *glob = globs_reaching(config->event_names, own[i]), *message = NULL;

		if (!glob)
			continue;
		message =
			g_strdup_printf("`names` has `%s`, which stands for spans (%s*), too, and these are "
					"recorded anyway: name the providers of the events, as `PROVIDER:*`,",
				glob, own[i]);
		return check_broken(at, message, "events");
	}
	return 0;
}

/* They are assembled anyway. */
static int check_pairs(const struct config *config)
{
	const struct config_origin *at = check_later(NULL, config->origins, "events", "spans");
	struct pair_rules rules;
	char error[512];

	pair_rules_parse(&rules, config->event_spans, error, sizeof(error));
	for (size_t i = 0; i < rules.count; i++) {
		const struct pair_rule *rule = &rules.of[i];
		g_autofree char *both = g_strconcat(rule->enter, ",", rule->exit, NULL), *message = NULL;
		g_autofree char *own = globs_reaching(both, "blkin:"), *old = globs_reaching(both, "zipkin:");

		if (rule->kernel || (!own && !old))
			continue;
		message = g_strdup_printf(
			"`spans` has `%s`, which stands for events that spans are made of "
			"anyway (blkin:*, zipkin:*): name another provider's, as `myserver:*_enter`,",
			own ? own : old);
		return check_broken(at, message, "events");
	}
	return 0;
}

/* Who listens where: the page, then the inputs. */
struct listener {
	const char *section, *key, *address;
};

static struct listener listener_of(const struct config *config, size_t number)
{
	if (number == 0)
		return (struct listener){"agent", "http", config->http};
	return (struct listener){"input", input_keys[number - 1], config->input[number - 1]};
}

/* Only one of two can listen at an address. What names mean is not known here. */
static int check_listeners(const struct config *config)
{
	int status = 0;

	for (size_t i = 0; i <= INPUTS; i++)
		for (size_t k = 0; k < i; k++) {
			const struct listener one = listener_of(config, k), other = listener_of(config, i);
			const struct config_origin *at;
			g_autofree char *message = NULL;

			if (!*one.address || strcasecmp(one.address, other.address) != 0)
				continue;
			at = check_later(NULL, config->origins, one.section, one.key);
			at = check_later(at, config->origins, other.section, other.key);
			message = g_strdup_printf(
				"`%s` is where `%s` in [%s] listens, too: choose another port,", other.key,
				one.key, one.section);
			status = check_broken(at, message, other.section);
		}
	return status;
}

int config_check(const struct config *config)
{
	int status = check_session(config);

	if (check_listeners(config) != 0)
		status = -1;
	if (check_ui(config) != 0)
		status = -1;
	if (check_events(config) != 0)
		status = -1;
	if (check_pairs(config) != 0)
		status = -1;
	if (check_memory(config) != 0)
		status = -1;
	for (guint i = 0; i < config->outputs->len; i++)
		if (check_output(config, g_ptr_array_index(config->outputs, i)) != 0)
			status = -1;
	return status;
}
