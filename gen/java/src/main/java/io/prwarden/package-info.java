/**
 * Client of prwarden, the self-hosted pull-request scanner, over gRPC: {@link io.prwarden.PrwardenClient} calls a
 * server, {@link io.prwarden.ApiError} says what it said when it refused. The messages are in {@code io.prwarden.v1}.
 */
package io.prwarden;
