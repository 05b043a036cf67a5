package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * StatsService reads numbers about the organization's reviews. They are counted
 * when a review is complete, stay when it is deleted, and are kept for 400 days.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
 * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
 * while the database is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class StatsServiceGrpc {

  private StatsServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.StatsService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListRuleStatsRequest,
      io.prwarden.v1.ListRuleStatsResponse> getListRuleStatsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListRuleStats",
      requestType = io.prwarden.v1.ListRuleStatsRequest.class,
      responseType = io.prwarden.v1.ListRuleStatsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListRuleStatsRequest,
      io.prwarden.v1.ListRuleStatsResponse> getListRuleStatsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListRuleStatsRequest, io.prwarden.v1.ListRuleStatsResponse> getListRuleStatsMethod;
    if ((getListRuleStatsMethod = StatsServiceGrpc.getListRuleStatsMethod) == null) {
      synchronized (StatsServiceGrpc.class) {
        if ((getListRuleStatsMethod = StatsServiceGrpc.getListRuleStatsMethod) == null) {
          StatsServiceGrpc.getListRuleStatsMethod = getListRuleStatsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListRuleStatsRequest, io.prwarden.v1.ListRuleStatsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListRuleStats"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRuleStatsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRuleStatsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new StatsServiceMethodDescriptorSupplier("ListRuleStats"))
              .build();
        }
      }
    }
    return getListRuleStatsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetTrendsRequest,
      io.prwarden.v1.GetTrendsResponse> getGetTrendsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetTrends",
      requestType = io.prwarden.v1.GetTrendsRequest.class,
      responseType = io.prwarden.v1.GetTrendsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetTrendsRequest,
      io.prwarden.v1.GetTrendsResponse> getGetTrendsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetTrendsRequest, io.prwarden.v1.GetTrendsResponse> getGetTrendsMethod;
    if ((getGetTrendsMethod = StatsServiceGrpc.getGetTrendsMethod) == null) {
      synchronized (StatsServiceGrpc.class) {
        if ((getGetTrendsMethod = StatsServiceGrpc.getGetTrendsMethod) == null) {
          StatsServiceGrpc.getGetTrendsMethod = getGetTrendsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetTrendsRequest, io.prwarden.v1.GetTrendsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetTrends"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetTrendsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetTrendsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new StatsServiceMethodDescriptorSupplier("GetTrends"))
              .build();
        }
      }
    }
    return getGetTrendsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static StatsServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<StatsServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<StatsServiceStub>() {
        @java.lang.Override
        public StatsServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new StatsServiceStub(channel, callOptions);
        }
      };
    return StatsServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static StatsServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<StatsServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<StatsServiceBlockingV2Stub>() {
        @java.lang.Override
        public StatsServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new StatsServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return StatsServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static StatsServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<StatsServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<StatsServiceBlockingStub>() {
        @java.lang.Override
        public StatsServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new StatsServiceBlockingStub(channel, callOptions);
        }
      };
    return StatsServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static StatsServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<StatsServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<StatsServiceFutureStub>() {
        @java.lang.Override
        public StatsServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new StatsServiceFutureStub(channel, callOptions);
        }
      };
    return StatsServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * StatsService reads numbers about the organization's reviews. They are counted
   * when a review is complete, stay when it is deleted, and are kept for 400 days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * ListRuleStats says for each rule how much it found in a window of days, how
     * much of that was fixed or suppressed, and what matching it took. The rules that found
     * most come first. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad
     * filter, window or page token.
     * Each finding counts once in its pull request, on the day (UTC) of the review
     * that had it first: a review is compared with the one before of the same
     * repository, pull request and ruleset. Where that one is deleted, or both ran
     * at the same time, findings may count again. Only findings that a review
     * stores count, at most 10,000.
     * </pre>
     */
    default void listRuleStats(io.prwarden.v1.ListRuleStatsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRuleStatsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListRuleStatsMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetTrends says how findings came and went in a window of days: what was found,
     * fixed and open, and how long fixing took. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or window.
     * </pre>
     */
    default void getTrends(io.prwarden.v1.GetTrendsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetTrendsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetTrendsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service StatsService.
   * <pre>
   * StatsService reads numbers about the organization's reviews. They are counted
   * when a review is complete, stay when it is deleted, and are kept for 400 days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static abstract class StatsServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return StatsServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service StatsService.
   * <pre>
   * StatsService reads numbers about the organization's reviews. They are counted
   * when a review is complete, stay when it is deleted, and are kept for 400 days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class StatsServiceStub
      extends io.grpc.stub.AbstractAsyncStub<StatsServiceStub> {
    private StatsServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected StatsServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new StatsServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListRuleStats says for each rule how much it found in a window of days, how
     * much of that was fixed or suppressed, and what matching it took. The rules that found
     * most come first. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad
     * filter, window or page token.
     * Each finding counts once in its pull request, on the day (UTC) of the review
     * that had it first: a review is compared with the one before of the same
     * repository, pull request and ruleset. Where that one is deleted, or both ran
     * at the same time, findings may count again. Only findings that a review
     * stores count, at most 10,000.
     * </pre>
     */
    public void listRuleStats(io.prwarden.v1.ListRuleStatsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRuleStatsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListRuleStatsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetTrends says how findings came and went in a window of days: what was found,
     * fixed and open, and how long fixing took. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or window.
     * </pre>
     */
    public void getTrends(io.prwarden.v1.GetTrendsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetTrendsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetTrendsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service StatsService.
   * <pre>
   * StatsService reads numbers about the organization's reviews. They are counted
   * when a review is complete, stay when it is deleted, and are kept for 400 days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class StatsServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<StatsServiceBlockingV2Stub> {
    private StatsServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected StatsServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new StatsServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * ListRuleStats says for each rule how much it found in a window of days, how
     * much of that was fixed or suppressed, and what matching it took. The rules that found
     * most come first. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad
     * filter, window or page token.
     * Each finding counts once in its pull request, on the day (UTC) of the review
     * that had it first: a review is compared with the one before of the same
     * repository, pull request and ruleset. Where that one is deleted, or both ran
     * at the same time, findings may count again. Only findings that a review
     * stores count, at most 10,000.
     * </pre>
     */
    public io.prwarden.v1.ListRuleStatsResponse listRuleStats(io.prwarden.v1.ListRuleStatsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListRuleStatsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetTrends says how findings came and went in a window of days: what was found,
     * fixed and open, and how long fixing took. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or window.
     * </pre>
     */
    public io.prwarden.v1.GetTrendsResponse getTrends(io.prwarden.v1.GetTrendsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetTrendsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service StatsService.
   * <pre>
   * StatsService reads numbers about the organization's reviews. They are counted
   * when a review is complete, stay when it is deleted, and are kept for 400 days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class StatsServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<StatsServiceBlockingStub> {
    private StatsServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected StatsServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new StatsServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListRuleStats says for each rule how much it found in a window of days, how
     * much of that was fixed or suppressed, and what matching it took. The rules that found
     * most come first. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad
     * filter, window or page token.
     * Each finding counts once in its pull request, on the day (UTC) of the review
     * that had it first: a review is compared with the one before of the same
     * repository, pull request and ruleset. Where that one is deleted, or both ran
     * at the same time, findings may count again. Only findings that a review
     * stores count, at most 10,000.
     * </pre>
     */
    public io.prwarden.v1.ListRuleStatsResponse listRuleStats(io.prwarden.v1.ListRuleStatsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListRuleStatsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetTrends says how findings came and went in a window of days: what was found,
     * fixed and open, and how long fixing took. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or window.
     * </pre>
     */
    public io.prwarden.v1.GetTrendsResponse getTrends(io.prwarden.v1.GetTrendsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetTrendsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service StatsService.
   * <pre>
   * StatsService reads numbers about the organization's reviews. They are counted
   * when a review is complete, stay when it is deleted, and are kept for 400 days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class StatsServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<StatsServiceFutureStub> {
    private StatsServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected StatsServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new StatsServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListRuleStats says for each rule how much it found in a window of days, how
     * much of that was fixed or suppressed, and what matching it took. The rules that found
     * most come first. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad
     * filter, window or page token.
     * Each finding counts once in its pull request, on the day (UTC) of the review
     * that had it first: a review is compared with the one before of the same
     * repository, pull request and ruleset. Where that one is deleted, or both ran
     * at the same time, findings may count again. Only findings that a review
     * stores count, at most 10,000.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListRuleStatsResponse> listRuleStats(
        io.prwarden.v1.ListRuleStatsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListRuleStatsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetTrends says how findings came and went in a window of days: what was found,
     * fixed and open, and how long fixing took. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or window.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetTrendsResponse> getTrends(
        io.prwarden.v1.GetTrendsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetTrendsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_RULE_STATS = 0;
  private static final int METHODID_GET_TRENDS = 1;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_LIST_RULE_STATS:
          serviceImpl.listRuleStats((io.prwarden.v1.ListRuleStatsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListRuleStatsResponse>) responseObserver);
          break;
        case METHODID_GET_TRENDS:
          serviceImpl.getTrends((io.prwarden.v1.GetTrendsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetTrendsResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getListRuleStatsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListRuleStatsRequest,
              io.prwarden.v1.ListRuleStatsResponse>(
                service, METHODID_LIST_RULE_STATS)))
        .addMethod(
          getGetTrendsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetTrendsRequest,
              io.prwarden.v1.GetTrendsResponse>(
                service, METHODID_GET_TRENDS)))
        .build();
  }

  private static abstract class StatsServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    StatsServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.Stats.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("StatsService");
    }
  }

  private static final class StatsServiceFileDescriptorSupplier
      extends StatsServiceBaseDescriptorSupplier {
    StatsServiceFileDescriptorSupplier() {}
  }

  private static final class StatsServiceMethodDescriptorSupplier
      extends StatsServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    StatsServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (StatsServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new StatsServiceFileDescriptorSupplier())
              .addMethod(getListRuleStatsMethod())
              .addMethod(getGetTrendsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
