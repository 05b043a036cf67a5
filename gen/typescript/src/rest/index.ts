/**
 * prwarden over REST, wherever there is `fetch`.
 *
 * @packageDocumentation
 */
import createFetchClient, { type Client as FetchClient } from "openapi-fetch";
import type { RetryOptions } from "../retry.js";
import { serverURL } from "../url.js";
import { retrying } from "./calls.js";
import type { components, paths } from "./gen/openapi.js";

export type { FieldViolation, RetryOptions } from "../retry.js";
export { ApiError } from "./errors.js";
export { type WatchOptions, watchReview } from "./watch.js";
export type { components, operations, paths } from "./gen/openapi.js";

/** The objects of the API by name, such as `Schemas["Review"]`. */
export type Schemas = components["schemas"];

/** Options of a client. */
export interface ClientOptions extends RetryOptions {
  /** The REST API without the /v1, `https://HOST[:PORT][/PATH]`. */
  url: string;
  /** The API key, `prw_…`. */
  apiKey: string;
  /** What makes the requests; the global `fetch` when not given. */
  fetch?: (request: Request) => Promise<Response>;
}

/**
 * Calls one server with one API key. `GET`, `POST` and `DELETE` take the paths of the API and are typed by its OpenAPI
 * document.
 */
export type Client = FetchClient<paths>;

/**
 * Makes a client.
 *
 * A call resolves to `{ data, error, response }`, and `ApiError.of` says what an `error` means. A request takes at most
 * `timeoutMs` in all. Within that time it is tried again when the server asks for it (over the rate limit, or away for
 * a moment) and nothing can happen twice: `POST /v1/reviews` gets an `Idempotency-Key` unless it has one, and other
 * requests that change something are only repeated over the rate limit. A watch has no timeout,
 * and {@link watchReview} opens it again.
 */
export function createClient(options: ClientOptions): Client {
  return createFetchClient<paths>({
    baseUrl: serverURL(options.url).href.replace(/\/+$/, ""),
    headers: { Authorization: `Bearer ${options.apiKey}` },
    fetch: retrying(options.fetch ?? ((request) => fetch(request)), options.timeoutMs ?? 60_000, options.attempts ?? 4),
  });
}
