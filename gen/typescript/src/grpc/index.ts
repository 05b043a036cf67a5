/**
 * prwarden over gRPC, for Node.
 *
 * @packageDocumentation
 */
import { type Client as ConnectClient, createClient as connect } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { SecureClientSessionOptions } from "node:http2";
import type { RetryOptions } from "../retry.js";
import { serverURL } from "../url.js";
import { withCalls } from "./calls.js";
import { KeyService } from "./gen/prwarden/v1/key_pb.js";
import { ReviewService } from "./gen/prwarden/v1/review_pb.js";
import { RuleService } from "./gen/prwarden/v1/rule_pb.js";

export { Code } from "@connectrpc/connect";
export type { FieldViolation, RetryOptions } from "../retry.js";
export { ApiError } from "./errors.js";
export { type WatchOptions, watchReview } from "./watch.js";
export * from "./gen/google/api/httpbody_pb.js";
export * from "./gen/prwarden/v1/key_pb.js";
export * from "./gen/prwarden/v1/review_pb.js";
export * from "./gen/prwarden/v1/rule_pb.js";
export * from "./gen/prwarden/v1/severity_pb.js";

// 10,000 findings, with as many suppressed and fixed ones.
const maxAnswer = 128 << 20;

/** Options of a client. */
export interface ClientOptions extends RetryOptions {
  /**
   * The gRPC API, `https://HOST[:PORT]`. `http://` sends the key and all else in plain text, for tests and trusted
   * networks.
   */
  url: string;
  /** The API key, `prw_…`. */
  apiKey: string;
  /**
   * What an https server must show and what it is shown: for example `{ ca }`, the authorities to trust instead of the
   * public ones, or `{ cert, key }`.
   */
  tls?: Pick<SecureClientSessionOptions, "ca" | "cert" | "key" | "passphrase" | "servername" | "minVersion">;
}

/**
 * Calls one server with one API key.
 *
 * A call that fails throws; {@link ApiError.of} says what the server said. A call that is answered at once takes at
 * most `timeoutMs` in all, or the `timeoutMs` of the call. Within that time it is tried again when the server asks for
 * it (over the rate limit, or away for a moment) and nothing can happen twice: `createReview` gets an
 * `idempotency-key` unless it has one, and calls that create, cancel or delete something else are only repeated over
 * the rate limit. `watchReview` of `reviews` has no timeout, and is not repeated; {@link watchReview}
 * opens it again.
 */
export interface Client {
  /** Starts reviews and reads their results. */
  reviews: ConnectClient<typeof ReviewService>;
  /** Lists, creates, tries and deletes rules. */
  rules: ConnectClient<typeof RuleService>;
  /** Makes, lists and revokes API keys. */
  keys: ConnectClient<typeof KeyService>;
}

/** Makes a client; it connects with the first call. */
export function createClient(options: ClientOptions): Client {
  const url = serverURL(options.url);
  if (url.pathname !== "/") {
    throw new TypeError(`url: must have no path; it is ${options.url}`);
  }
  const transport = withCalls(
    createGrpcTransport({ baseUrl: url.origin, nodeOptions: options.tls, readMaxBytes: maxAnswer }),
    options.apiKey,
    options.timeoutMs ?? 60_000,
    options.attempts ?? 4,
  );
  return {
    reviews: connect(ReviewService, transport),
    rules: connect(RuleService, transport),
    keys: connect(KeyService, transport),
  };
}
