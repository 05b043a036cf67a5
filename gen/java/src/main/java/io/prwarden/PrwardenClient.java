package io.prwarden;

import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptors;
import io.grpc.Deadline;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.prwarden.v1.KeyServiceGrpc;
import io.prwarden.v1.Review;
import io.prwarden.v1.ReviewServiceGrpc;
import io.prwarden.v1.RuleServiceGrpc;
import io.prwarden.v1.WatchReviewRequest;
import io.prwarden.v1.WatchReviewResponse;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Calls one server with one API key. It can be used by many threads.
 *
 * <p>Every call that fails throws {@link io.grpc.StatusRuntimeException}; {@link ApiError#of(Throwable)} says what the
 * server said.
 *
 * <p>A call that is answered at once takes at most the timeout in all, unless it has a deadline of its own. Within that
 * time it is tried again when the server asks for it (over the rate limit, or away for a moment) and nothing can happen
 * twice: {@code CreateReview} gets an {@code idempotency-key} unless it has one, and calls that create, cancel or delete
 * something else are repeated over the rate limit only. {@code WatchReview} has no timeout, and is not repeated;
 * {@link #watch} opens it again.
 */
public final class PrwardenClient implements AutoCloseable {
  /** 10,000 findings, with as many suppressed and fixed ones, are more than the 4 MiB that gRPC takes by default. */
  private static final int MAX_ANSWER = 128 << 20;

  private static final Set<Review.Status> FINAL =
      EnumSet.of(Review.Status.complete, Review.Status.failed, Review.Status.canceled);

  private final ManagedChannel connection;
  private final Channel channel;
  private final int attempts;

  private PrwardenClient(Builder builder) {
    URI uri = URI.create(builder.url);
    boolean secure = "https".equals(uri.getScheme());
    boolean bare = uri.getPath() == null || uri.getPath().isEmpty() || uri.getPath().equals("/");
    if (!(secure || "http".equals(uri.getScheme())) || uri.getHost() == null || !bare) {
      throw new IllegalArgumentException(
          "url: must be https://HOST[:PORT] or http://HOST[:PORT]; it is " + builder.url);
    }
    int port = uri.getPort() != -1 ? uri.getPort() : secure ? 443 : 80;
    ChannelCredentials credentials = secure ? builder.tls : InsecureChannelCredentials.create();
    connection =
        Grpc.newChannelBuilderForAddress(uri.getHost(), port, credentials)
            .maxInboundMessageSize(MAX_ANSWER)
            .build();
    attempts = builder.attempts;
    channel =
        ClientInterceptors.intercept(connection, new Calls(builder.apiKey, builder.timeout, builder.attempts));
  }

  /**
   * Returns a builder of a client, which connects with its first call.
   *
   * @param url {@code https://HOST[:PORT]} of the gRPC API; {@code http://} sends the key and all else in plain text,
   *     for tests and trusted networks
   * @param apiKey {@code prw_…}
   */
  public static Builder builder(String url, String apiKey) {
    return new Builder(url, apiKey);
  }

  /** Starts reviews and reads their results. */
  public ReviewServiceGrpc.ReviewServiceBlockingStub reviews() {
    return ReviewServiceGrpc.newBlockingStub(channel);
  }

  /** Lists, creates, tries and deletes rules. */
  public RuleServiceGrpc.RuleServiceBlockingStub rules() {
    return RuleServiceGrpc.newBlockingStub(channel);
  }

  /** Makes, lists and revokes API keys. */
  public KeyServiceGrpc.KeyServiceBlockingStub keys() {
    return KeyServiceGrpc.newBlockingStub(channel);
  }

  /** The channel with all that the stubs above have, for stubs of other kinds: asynchronous ones, futures. */
  public Channel channel() {
    return channel;
  }

  /**
   * Watches a review: passes on its state at once, then every change and progress, until the state is final; no
   * keep-alives. A watch that breaks, as when the server is restarted, is opened again, as often in a row without an
   * update as a call is tried.
   *
   * @param timeout how long at most
   * @return the last update, whose state is final
   * @throws io.grpc.StatusRuntimeException when the server refuses, the watch can't be opened again, or the time is over
   */
  public WatchReviewResponse watch(String reviewId, Duration timeout, Consumer<WatchReviewResponse> onUpdate)
      throws InterruptedException {
    Deadline deadline = Deadline.after(timeout.toNanos(), TimeUnit.NANOSECONDS);
    WatchReviewRequest request = WatchReviewRequest.newBuilder().setReviewId(reviewId).build();
    for (int attempt = 1; ; attempt++) {
      try {
        Iterator<WatchReviewResponse> updates = reviews().withDeadline(deadline).watchReview(request);
        while (updates.hasNext()) {
          WatchReviewResponse update = updates.next();
          attempt = 1;
          if (!update.getKeepAlive()) {
            onUpdate.accept(update);
          }
          if (FINAL.contains(update.getStatus())) {
            return update;
          }
        }
        throw Status.UNAVAILABLE.withDescription("the watch ended before the review did").asRuntimeException();
      } catch (StatusRuntimeException e) {
        Optional<Duration> pause =
            RepeatedCall.pauseAfter(ApiError.of(e), ReviewServiceGrpc.getWatchReviewMethod(), attempt);
        if (attempt >= attempts
            || pause.isEmpty()
            || pause.get().toNanos() >= deadline.timeRemaining(TimeUnit.NANOSECONDS)) {
          throw e;
        }
        TimeUnit.NANOSECONDS.sleep(pause.get().toNanos());
      }
    }
  }

  /** Ends the connection; open watches are canceled. */
  @Override
  public void close() {
    connection.shutdownNow();
  }

  /** Makes a {@link PrwardenClient}. */
  public static final class Builder {
    private final String url;
    private final String apiKey;
    private ChannelCredentials tls = TlsChannelCredentials.create();
    private Duration timeout = Duration.ofSeconds(60);
    private int attempts = 4;

    private Builder(String url, String apiKey) {
      this.url = Objects.requireNonNull(url, "url");
      this.apiKey = Objects.requireNonNull(apiKey, "apiKey");
    }

    /**
     * What an https server must show and what it is shown, from {@link TlsChannelCredentials#newBuilder()}; what Java
     * trusts by default.
     */
    public Builder tls(ChannelCredentials tls) {
      this.tls = Objects.requireNonNull(tls, "tls");
      return this;
    }

    /** How long a call may take, with its repetitions; a minute by default. */
    public Builder timeout(Duration timeout) {
      this.timeout = Objects.requireNonNull(timeout, "timeout");
      return this;
    }

    /** How often a call is tried, at least 1; 4 by default. */
    public Builder attempts(int attempts) {
      if (attempts < 1) {
        throw new IllegalArgumentException("attempts: must be at least 1; it is " + attempts);
      }
      this.attempts = attempts;
      return this;
    }

    /** Returns the client. */
    public PrwardenClient build() {
      return new PrwardenClient(this);
    }
  }
}
