package io.prwarden;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.prwarden.v1.KeyServiceGrpc;
import io.prwarden.v1.ReviewServiceGrpc;
import io.prwarden.v1.RuleServiceGrpc;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A call with one request and one answer that is tried again. Its listener hears of the last attempt only, so the
 * answer of each is kept until it is over.
 */
final class RepeatedCall<Q, A> extends ClientCall<Q, A> {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  /**
   * Calls that may have happened although the server could not say so, and that answer something else the second time.
   */
  private static final Set<String> ONCE =
      Set.of(
          ReviewServiceGrpc.getCancelReviewMethod().getFullMethodName(),
          RuleServiceGrpc.getCreateRuleMethod().getFullMethodName(),
          RuleServiceGrpc.getDeleteRuleMethod().getFullMethodName(),
          KeyServiceGrpc.getCreateKeyMethod().getFullMethodName(),
          KeyServiceGrpc.getDeleteKeyMethod().getFullMethodName());

  private final MethodDescriptor<Q, A> method;
  private final CallOptions options;
  private final Channel channel;
  private final int attempts;

  // Guarded by this.
  private ClientCall<Q, A> current;
  private Listener<A> listener;
  private Metadata headers;
  private Q request;
  private boolean canceled;

  RepeatedCall(MethodDescriptor<Q, A> method, CallOptions options, Channel channel, int attempts) {
    this.method = method;
    this.options = options;
    this.channel = channel;
    this.attempts = attempts;
  }

  @Override
  public synchronized void start(Listener<A> listener, Metadata headers) {
    this.listener = listener;
    this.headers = headers;
  }

  @Override
  public void request(int messages) {
    // Each attempt asks for its one answer itself.
  }

  @Override
  public synchronized void sendMessage(Q message) {
    request = message;
  }

  @Override
  public void halfClose() {
    attempt(1);
  }

  @Override
  public synchronized void cancel(String message, Throwable cause) {
    canceled = true;
    if (current != null) {
      current.cancel(message, cause);
    }
  }

  private synchronized void attempt(int number) {
    if (canceled) {
      Listener<A> hearer = listener;
      hearer.onClose(Status.CANCELLED.withDescription("canceled between two attempts"), new Metadata());
      return;
    }
    current = channel.newCall(method, options);
    // The channel keeps and changes what it gets.
    Metadata own = new Metadata();
    own.merge(headers);
    current.start(new Attempt(number), own);
    current.request(2); // the call itself refuses a second answer
    current.sendMessage(request);
    current.halfClose();
  }

  /** After how long to try again; empty when not. */
  static Optional<Duration> pauseAfter(ApiError error, MethodDescriptor<?, ?> method, int attempt) {
    switch (error.code()) {
      case RESOURCE_EXHAUSTED:
        return error.retryAfter(); // a message that is too large has none
      case UNAVAILABLE:
        if (ONCE.contains(method.getFullMethodName())) {
          return Optional.empty();
        }
        return Optional.of(error.retryAfter().orElseGet(() -> backoff(attempt)));
      default:
        return Optional.empty();
    }
  }

  private static Duration backoff(int attempt) {
    int doublings = Math.min(attempt - 1, 5); // more than the longest pause already
    long longest = Math.min(LONGEST_PAUSE.toMillis(), FIRST_PAUSE.toMillis() << doublings);
    return Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
  }

  /** One attempt's answer. */
  private final class Attempt extends Listener<A> {
    private final int number;
    private Metadata answerHeaders;
    private A answer;

    Attempt(int number) {
      this.number = number;
    }

    @Override
    public void onHeaders(Metadata headers) {
      answerHeaders = headers;
    }

    @Override
    public void onMessage(A message) {
      answer = message;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!status.isOk() && number < attempts) {
        Optional<Duration> pause = pauseAfter(ApiError.of(status, trailers), method, number);
        long left = options.getDeadline().timeRemaining(TimeUnit.NANOSECONDS);
        if (pause.isPresent() && pause.get().toNanos() < left) {
          CompletableFuture.delayedExecutor(pause.get().toNanos(), TimeUnit.NANOSECONDS)
              .execute(() -> attempt(number + 1));
          return;
        }
      }
      if (answerHeaders != null) {
        listener.onHeaders(answerHeaders);
      }
      if (answer != null) {
        listener.onMessage(answer);
      }
      listener.onClose(status, trailers);
    }

    @Override
    public void onReady() {
      // The one request is sent at once.
    }
  }
}
