import { defineLuaScript, luaAssembler, luaSources } from "@drover/queue";
import { luaFile } from "#lua-file";

/** Most reverse indexes of a stream: there is one for each subscription that looks up objects of its kind. */
const maxIndexes = 10_000;
/** Most records that one call writes or removes: a page of a list, and the buffered changes. */
const maxRecords = 10_000;
/** Most terms that one call adds to indexes or removes from them. No object that etcd stores has more. */
const maxTerms = 100_000;
/** Most bytes of an object's index entries, as JSON. */
const maxIndexEntryBytes = 4_194_304;

const sources = luaSources(luaFile, { maxIndexes, maxRecords, maxTerms, maxIndexEntryBytes });
const bridgeScript = <const Name extends string>(name: string, file: string, names: readonly Name[]) =>
  defineLuaScript(name, names, luaAssembler(sources)(`scripts/${file}`));

/** The scripts that only bridges run. The Lua files describe them, their arguments and their answers. */
export const bridgeScripts = {
  hold: bridgeScript("hold a stream", "hold", ["token", "holder", "lease"]),
  renew: bridgeScript("renew a stream's lease", "renew", ["token", "writes", "lease"]),
  release: bridgeScript("release a stream", "release", ["token"]),
  write: bridgeScript("write to a stream's index", "write", [
    "token",
    "writes",
    "put",
    "forget",
    "position",
    "emittedTo",
  ]),
  updateIndexes: bridgeScript("file objects under terms", "update-indexes", ["token", "filings"]),
  dropIndexes: bridgeScript("drop a stream's files", "drop-indexes", ["token", "files"]),
  forget: bridgeScript("forget a stream", "forget", ["token"]),
  owe: bridgeScript("owe a queue wakes", "owe", ["token", "queue", "wakes", "most"]),
  removeOwed: bridgeScript("settle what a queue is owed", "remove-owed", [
    "token",
    "queue",
    "accepted",
    "all",
  ]),
  dropOwed: bridgeScript("drop what queues are owed", "drop-owed", ["token", "queues"]),
  hasEventId: bridgeScript("whether an event is known", "has-event-id", ["id", "lasts"]),
  recordEventId: bridgeScript("record an event", "record-event-id", ["id", "lasts", "most"]),
  heartbeat: bridgeScript("say that a bridge is here", "heartbeat", ["bridge", "lasts"]),
  beginCampaign: bridgeScript("begin a campaign", "begin-campaign", ["of", "name", "at"]),
  finishCampaign: bridgeScript("finish a campaign", "finish-campaign", ["of", "name", "done"]),
};
