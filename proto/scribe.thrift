/*
 * Scribe, as far as an agent and a collector speak it.
 *
 * fb303's calls stand in the same service: `extends fb303.FacebookService` generates code that does not
 * compile with Thrift's c_glib, and a service's name is not on the wire. Only Log is answered by every
 * collector; Zipkin answers the others with UNKNOWN_METHOD.
 */
namespace c_glib Blkin
namespace py scribe

enum ResultCode {
  OK = 0,
  TRY_LATER = 1
}

struct LogEntry {
  1: string category,
  2: string message
}

enum fb_status {
  DEAD = 0,
  STARTING = 1,
  ALIVE = 2,
  STOPPING = 3,
  STOPPED = 4,
  WARNING = 5
}

service Scribe {
  ResultCode Log(1: list<LogEntry> messages),

  string getName(),
  string getVersion(),
  fb_status getStatus(),
  string getStatusDetails(),
  map<string, i64> getCounters(),
  i64 aliveSince()
}
