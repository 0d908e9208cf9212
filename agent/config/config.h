/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration: an INI file, read strictly. Every key has a default that works, so an empty file does;
 * unknown sections and keys, and values out of range, are errors with file, line and a suggestion.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glib.h>

#include "config/inputtypes.h"
#include "config/outputtypes.h"
#include "core/kind.h"

#define CONFIG_DEFAULT_FILE "/etc/blkin/agent.conf"

#define CONFIG_OUTPUTS_MAX 16 /* [output] is one of them */
#define CONFIG_LANES_MAX (KINDS * CONFIG_OUTPUTS_MAX)
#define CONFIG_OUTPUT_NAME_MAX 32 /* characters */

#define CONFIG_OUTPUT(upper, lower) CONFIG_OUTPUT_##upper,
enum config_output { OUTPUT_TYPES(CONFIG_OUTPUT) CONFIG_OUTPUT_TYPES };
#undef CONFIG_OUTPUT
enum config_kernel { CONFIG_KERNEL_LIVE, CONFIG_KERNEL_FLIGHT };
enum config_page { CONFIG_PAGE_TOKEN, CONFIG_PAGE_OPEN, CONFIG_PAGE_OFF };
enum config_file_sync { CONFIG_FILE_SYNC_ROTATION, CONFIG_FILE_SYNC_BATCH };
enum config_ack { CONFIG_ACK_SPOOLED, CONFIG_ACK_QUEUED };
enum config_sync { CONFIG_SYNC_NORMAL, CONFIG_SYNC_FULL };
enum config_format { CONFIG_FORMAT_THRIFT, CONFIG_FORMAT_JSON2, CONFIG_FORMAT_OTLP, CONFIG_FORMAT_OTLP_JSON };
enum config_kafka_key { CONFIG_KEY_NONE, CONFIG_KEY_TRACE };
enum config_sasl {
	CONFIG_SASL_NONE,
	CONFIG_SASL_PLAIN,
	CONFIG_SASL_SCRAM_SHA_256,
	CONFIG_SASL_SCRAM_SHA_512
};
enum config_compression { CONFIG_COMPRESSION_GZIP, CONFIG_COMPRESSION_ZSTD, CONFIG_COMPRESSION_NONE };

/* What an output takes: a bit for each word of `takes`, in their order, which is that of enum kind. */
enum config_takes { CONFIG_TAKES_SPANS = 1, CONFIG_TAKES_EVENTS = 2, CONFIG_TAKES_MESSAGES = 4 };

/* Where a key was set last. */
struct config_origin {
	const char *file; /* interned; NULL: nowhere, it has its default */
	unsigned line;
	unsigned order; /* among all that was set, from 1 */
};

/* [output], or [output NAME] */
struct output_config {
	char *name;               /* "default" for [output] */
	char *section;            /* as a file has it, without the brackets */
	uint64_t type;            /* an enum config_output */
	uint64_t takes;           /* of enum config_takes */
	char *server;             /* HOST:PORT, or several with commas, in the order of preference */
	uint64_t balance;         /* whether each node prefers one of its own by its name instead: 0 or 1 */
	char *category;           /* Scribe's, of spans, */
	char *events_category;    /* and of events; messages have their own */
	uint64_t format;          /* HTTP's, files', Kafka's: an enum config_format */
	char *path;               /* HTTP's and OTLP's; by type and format, if it is set nowhere */
	char *logs_path;          /* OTLP's, of events and messages */
	char *headers_file;       /* HTTP's and OTLP's: headers for each request; "": none */
	char *proxy;              /* the same: proxyurl.h; "": none */
	char *proxy_secret_file;  /* of its password; "": none */
	uint64_t compression;     /* of HTTP's bodies and Kafka's messages: an enum config_compression */
	char *brokers;            /* Kafka's: HOST:PORT, or several with commas */
	char *topic;              /* the same: of spans, */
	char *events_topic;       /* of events, */
	char *messages_topic;     /* of messages, "": by their category, */
	uint64_t key;             /* an enum config_kafka_key, */
	uint64_t sasl;            /* an enum config_sasl, */
	char *sasl_user;          /* "" without SASL, */
	char *sasl_password_file; /* the same */
	char *directory;          /* files': where they are; by its name, if it is set nowhere */
	uint64_t rotate_size;     /* bytes of a file; 0: any */
	int64_t rotate_time;      /* ns; 0: any */
	uint64_t total_size;      /* bytes of finished files; 0: any */
	uint64_t sync;            /* an enum config_file_sync */
	uint64_t tls;             /* 0 or 1 */
	char *tls_ca;             /* PEM files; "": the system's authorities, */
	char *tls_certificate;    /* and none of our own */
	char *tls_key;
	uint64_t keep;             /* one trace in so many; 0: as many as make the budget, */
	uint64_t budget;           /* which is so many spans/s; 0: none is set, */
	char *budget_file;         /* unless this file says the share; "": none, */
	uint64_t keep_errors;      /* and of the rest spans with an error: 0 or 1; */
	int64_t keep_slower;       /* and those that took so long at least, ns; 0: none; */
	int64_t keep_traces;       /* with what else of their traces comes within so many ns; 0: alone */
	uint64_t keep_traces_size; /* bytes of what may wait for that */
	char *tags;                /* added to every span: tags.h */
	char *drop_tags;           /* globs of tags that are left out, */
	char *rename_tags;         /* those that get another key, */
	char *redact;              /* and globs of those that lose their value: tagrules.h */
	uint64_t batch_spans;
	uint64_t batch_size;     /* bytes */
	int64_t batch_delay;     /* ns */
	uint64_t queue_size;     /* bytes */
	uint64_t window;         /* calls */
	int64_t timeout;         /* ns */
	int64_t retry_min;       /* ns */
	int64_t retry_max;       /* ns */
	int64_t return_interval; /* ns */
	uint64_t rate_limit;     /* bytes/s; 0: none */
	uint64_t spool_size; /* bytes of disk, [spool]'s if this output has none of its own; 0: no spool */
	struct config_origin *origins; /* of each key, by the order of the table */
	atomic_uint owners;            /* no key: output_config_ref */
	bool own_directory; /* no key, of files: `directory` is below the state directory, so it is made */
};

/* It does not change once it is loaded: a reload makes another one (merge.h). */
struct config {
	/* [agent] */
	char *http;             /* ADDRESS:PORT to listen on for /metrics and the like; "" for none */
	char *socket;           /* path of the control socket; "" for none */
	uint64_t log_level;     /* an enum log_level */
	uint64_t log_format;    /* an enum log_format */
	int64_t stop_timeout;   /* ns that a stop waits for the reader */
	char *state_directory;  /* where what outlives the agent is kept */
	uint64_t metrics_spans; /* pairs of service and span name that /metrics lists */
	uint64_t page;          /* an enum config_page */
	uint64_t page_traces;   /* bytes of spans that the page's traces are found in; 0: none are kept */
	char *ui;               /* the address of a trace, with {trace} in it; "": none is known */
	/* [session] */
	char *session_name;
	char *tracing_group; /* whose members reach the system's session daemon; "" for one's own */
	char *relay_host;    /* where relayd listens, for all three ports */
	uint64_t relay_control_port;
	uint64_t relay_data_port;
	uint64_t relay_live_port;
	char *relay_output;     /* relayd's --output */
	uint64_t keep;          /* whether the session outlives the agent */
	int64_t live_timer;     /* ns */
	uint64_t level;         /* spans of this severity and above are recorded: syslog's number */
	uint64_t memory;        /* bytes of ring buffer for each user who runs traced programs, at first; */
	uint64_t memory_max;    /* and what they may grow to */
	uint64_t disk;          /* bytes of relay files for each such user */
	uint64_t canary;        /* whether the agent records events of its own: 0 or 1 */
	uint64_t reader_memory; /* bytes of memory that the process which reads may take */
	/* [spans] */
	int64_t linger;       /* ns of silence after which a classic span is taken to be over */
	int64_t grace;        /* ns that a classic span still takes annotations after it ended */
	uint64_t max_pending; /* bytes of spans being assembled */
	/* [events]: what programs record beside spans */
	char *event_names;    /* with `*`; "": none */
	uint64_t event_level; /* those of this severity and above: syslog's number */
	char *event_filter;   /* LTTng's expression; "": none */
	char *event_context;  /* added to each: contexts.h */
	char *event_spans;    /* which of them are a span, two by two: pairrules.h; "": none */
	/* [kernel] */
	char *kernel_events;        /* with `*`; "": none */
	char *kernel_syscalls;      /* the same */
	char *kernel_functions;     /* without `*`; "": none */
	uint64_t kernel_own;        /* whether what the agent and LTTng do is recorded, too: 0 or 1 */
	uint64_t kernel_mode;       /* an enum config_kernel */
	uint64_t flight_per_minute; /* traces that are kept with what the kernel did */
	uint64_t flight_size;       /* bytes of what is kept of them, in all */
	/* [input] */
	char *input[INPUTS];  /* by enum input_type: the ADDRESS:PORT or path to listen on; "": it does not */
	char *input_category; /* of Scribe's messages that are spans */
	uint64_t input_ack;   /* an enum config_ack */
	uint64_t input_connections; /* at once */
	uint64_t input_memory;      /* bytes */
	int64_t input_timeout;      /* ns of silence in the middle of a call */
	/* [output] and each [output NAME] */
	GPtrArray *outputs; /* of struct output_config *: first `default`, then by the order of the files */
	/* [spool] */
	uint64_t spool_max_size;     /* bytes of disk, for an output that does not say; 0: no spool */
	uint64_t spool_sync;         /* an enum config_sync */
	uint64_t spool_replay_share; /* per cent of the spans that are sent */
	uint64_t spool_replay_floor; /* spans/s */
	/* [thresholds], whose keys are globs: thresholds.h */
	GPtrArray *thresholds; /* of struct threshold * */
	/* no keys */
	bool user;      /* an agent of a user's own: blkin-agent --user */
	bool own_relay; /* a relay daemon of the agent's own listens on the ports */
	/* where the values come from */
	char *path, *hash;             /* config_read's, and sources_hash of it; NULL: no file was read */
	GPtrArray *files;              /* of char *: the files that were read, in their order */
	struct config_origin *origins; /* of each key, by the order of the table, but for those of outputs */
	unsigned settings;             /* so many were read */
};

/* The output of that name, or of a lane of that name (core/kind.h), also one whose type is none; NULL if
 * there is none. `default` always is. */
const struct output_config *config_output(const struct config *config, const char *name);

/* An output's configuration does not change either, and may be kept beyond the configuration that it came
 * with. In any thread. @output may be NULL for the second one. */
const struct output_config *output_config_ref(const struct output_config *output);
void output_config_unref(const struct output_config *output);

/* Whether it delivers anything: its type is not none; and items of the kind. */
bool config_output_delivers(const struct output_config *output);
bool config_lane_is_on(const struct output_config *output, enum kind kind);

/* Whether any does so of events. */
bool config_wants_events(const struct config *config);

/* Whether programs are to record events beside spans, as they are or for pairs. */
bool config_records_events(const struct config *config);

/* Whether the kernel's events are to be read with all others, */
bool config_reads_kernel(const struct config *config);

/* or to be recorded in a ring of their own, which is read only when a span is late. Neither: none is named.
 */
bool config_flies(const struct config *config);

/* Where the answers about late traces are: below the state directory. */
#define FLIGHT_FOLDER "flight"

/* Where the output delivers to, for people: its servers, brokers, or directory, "" for none; borrowed from
 * it. */
const char *config_output_place(const struct output_config *output);

/* Whether a file sets the key for the output; there must be such a key. */
bool config_output_is_set(const struct output_config *output, const char *key);

#endif
