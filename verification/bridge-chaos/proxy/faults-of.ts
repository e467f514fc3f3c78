import type { CallFault, EventFault, SpoiledList } from "@drover/testing/fault-proxy";
import type { Verb } from "../oracle/facts.ts";
import type { FrameFaultKind, RequestFault, RequestFaultKind } from "../schedules/schedule.ts";

/** A schedule's fault as the proxy knows it. */
export function callFaultOf({ do: kind, retryAfter, cycle }: RequestFault, verb: Verb): CallFault {
  // A list that comes as a stream has no other page to refuse.
  if (kind === "list-410" && verb === "stream") return spoilt("expired");
  const fault = callFaults[kind];
  if (fault.do === "refuse") return { ...fault, retryAfter };
  return fault.do === "spoil list" ? { ...fault, cycle } : fault;
}

export const eventFaultOf = (kind: FrameFaultKind): EventFault => eventFaults[kind];

const refused = (status: number): CallFault => ({ do: "refuse", status });
const spoilt = (how: SpoiledList["how"]): CallFault => ({ do: "spoil list", how });

const callFaults: Readonly<Record<RequestFaultKind, CallFault>> = {
  "watch-410": refused(410),
  "watch-429": refused(429),
  "watch-500": refused(500),
  "watch-503": refused(503),
  "watch-reset": { do: "reset" },
  "watch-html": { do: "garbage", of: "html" },
  "watch-garbage": { do: "garbage", of: "bytes" },
  "watch-closes": { do: "garbage", of: "nothing" },
  "watch-hang": { do: "hang" },
  "list-410": refused(410),
  "list-429": refused(429),
  "list-500": refused(500),
  "list-503": refused(503),
  "list-reset": { do: "reset" },
  "list-html": { do: "garbage", of: "html" },
  "list-garbage": { do: "garbage", of: "bytes" },
  "list-truncated": spoilt("truncated"),
  "list-no-metadata": spoilt("no metadata"),
  "list-no-uid": spoilt("no uid"),
  "list-endless": spoilt("endless"),
  "list-hang": { do: "hang" },
  "all-401": refused(401),
};

const eventFaults: Readonly<Record<FrameFaultKind, EventFault>> = {
  "frame-410": { do: "error", code: 410 },
  "frame-error-500": { do: "error", code: 500 },
  "frame-error-no-code": { do: "error" },
  "frame-cut": { do: "cut" },
  "frame-truncated": { do: "truncate" },
  "frame-garbage": { do: "garbage" },
  "frame-no-uid": { do: "no uid" },
  "frame-huge": { do: "huge" },
  "frame-repeat": { do: "duplicate" },
  "frame-replay": { do: "replay" },
  "frame-silent": { do: "fall silent" },
  "frame-swallow": { do: "swallow" },
};
