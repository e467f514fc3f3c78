import { describe, expect, it } from "vitest";
import { parseRedisUrl } from "./redis-address.ts";
import { UnfitRedisError } from "./check-server.ts";

const nodes = (...places: string[]) =>
  places.map((place) => ({ host: place.replace(/:\d+$/, ""), port: Number(/\d+$/.exec(place)?.[0]) }));

describe("the URL of a Redis", () => {
  it.each([
    "redis://a:7000",
    "redis://a",
    "rediss://user:password@a:7000/3",
    "redis://:pa,ss@a:7000",
    "redis://:p%2Fss@a:7000?family=6",
  ])("is one server's: %s", (url) => {
    expect(parseRedisUrl(url)).toMatchObject({ kind: "server", url });
  });

  it("is one server's where it says that it is no cluster, which the client need not know", () => {
    expect(parseRedisUrl("redis://a:7000/2?cluster=false")).toMatchObject({
      kind: "server",
      url: "redis://a:7000/2",
    });
  });

  it.each([
    ["redis://a:7000,redis://b:7001,redis://c:7002", nodes("a:7000", "b:7001", "c:7002")],
    ["redis://a:7000, b:7001 , [::1]:7002", nodes("a:7000", "b:7001", "::1:7002")],
    ["redis://a,redis://b/0,redis://c/", nodes("a:6379", "b:6379", "c:6379")],
    ["redis://a:7000?cluster=true", nodes("a:7000")],
    ["redis://a:7000?cluster=true,b:7001?cluster=true", nodes("a:7000", "b:7001")],
  ])("is a cluster's: %s", (url, expected) => {
    expect(parseRedisUrl(url)).toEqual({ kind: "cluster", nodes: expected, tls: false });
  });

  it.each([
    "rediss://me:a%2Cb%40c@a:7000,b:7001",
    "rediss://me:a%2Cb%40c@a:7000,rediss://b:7001",
    "rediss://me:a%2Cb%40c@a:7000,rediss://me:a%2Cb%40c@b:7001",
  ])("names scheme, user and password for all nodes: %s", (url) => {
    expect(parseRedisUrl(url)).toEqual({
      kind: "cluster",
      nodes: nodes("a:7000", "b:7001"),
      tls: true,
      username: "me",
      password: "a,b@c",
    });
  });

  it.each([
    ["", /This is not a URL of Redis\. Give one such as redis:\/\/127\.0\.0\.1:6379/],
    ["a:7000", /not a URL/],
    ["http://a:7000", /not a URL/],
    ["redis://", /not a URL/],
    ["redis://a:7000,", /not a URL/],
    ["redis://a:7000,b:port", /not a URL/],
    ["redis://a:7000,rediss://b:7001", /node b:7001 does not have the scheme redis:\/\//],
    ["redis://a:7000,b:7001/1", /node b:7001 names database 1; a cluster has only 0/],
    ["redis://a:7000/1?cluster=true", /node a:7000 names database 1/],
    ["redis://me:secret@a:7000,redis://me:other@b:7001", /node b:7001 has another user or password/],
    ["redis://a:7000?clutser=true,b:7001", /node a:7000 has the parameter clutser; only cluster=true/],
    ["redis://a:7000?cluster=yes", /node a:7000 has the parameter cluster; only cluster=true/],
    ["redis://a:7000?password=secret,b:7001", /node a:7000 has the parameter password/],
    ["redis://me:6379/secret@a:7000", /\/ as %2F/],
    ["redis://me:6379?secret@a:7000,b:7001", /\/ as %2F/],
    ["redis://me:6379#secret@a:7000", /\/ as %2F/],
    ["redis://me:sec#secret@a:7000", /not valid, perhaps because of an unencoded character.*# as %23/],
    ["redis://me:sec/secret@a:7000", /not valid, perhaps because of an unencoded character.*\/ as %2F/],
    ["redis://:secret%zz@a:7000", /a % that is not encoded.*% as %25/],
    ["redis://secret%@a:7000", /a % that is not encoded/],
    ["redis://me:100%secret@a:7000,b:7001", /a % that is not encoded/],
    ["redis://a:7000?password=secret", /among its parameters.*DROVER_REDIS_PASSWORD_FILE/],
    ["redis://a:7000/0?family=4&PassWord=secret", /among its parameters/],
    ["redis://a:7000?username=secret&cluster=false", /among its parameters/],
  ])("is refused where it can mean nothing, without a password in the message: %s", (url, message) => {
    expect(() => parseRedisUrl(url)).toThrow(UnfitRedisError);
    expect(() => parseRedisUrl(url)).toThrow(message);
    expect(() => parseRedisUrl(url)).not.toThrow(/secret|other@/);
  });
});
