package io.prwarden;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Deadline;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.prwarden.v1.ReviewServiceGrpc;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** What every call gets: the API key, a deadline, and repetitions. */
final class Calls implements ClientInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> IDEMPOTENCY_KEY =
      Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);

  private final String apiKey;
  private final Duration timeout;
  private final int attempts;

  Calls(String apiKey, Duration timeout, int attempts) {
    this.apiKey = apiKey;
    this.timeout = timeout;
    this.attempts = attempts;
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions given, Channel next) {
    ClientCall<Q, A> call;
    if (method.getType() == MethodDescriptor.MethodType.UNARY) {
      CallOptions options =
          given.getDeadline() != null
              ? given
              : given.withDeadline(Deadline.after(timeout.toNanos(), TimeUnit.NANOSECONDS));
      call = new RepeatedCall<>(method, options, next, attempts);
    } else {
      call = next.newCall(method, given);
    }
    boolean creates = method.getFullMethodName().equals(ReviewServiceGrpc.getCreateReviewMethod().getFullMethodName());
    return new SimpleForwardingClientCall<Q, A>(call) {
      @Override
      public void start(Listener<A> listener, Metadata headers) {
        headers.put(AUTHORIZATION, "Bearer " + apiKey);
        if (creates && !headers.containsKey(IDEMPOTENCY_KEY)) {
          headers.put(IDEMPOTENCY_KEY, UUID.randomUUID().toString());
        }
        super.start(listener, headers);
      }
    };
  }
}
