package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * PullRequestService reads the pull requests of which code hosts told the
 * caller's organization, and what is published in them.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
 * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
 * while the database is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class PullRequestServiceGrpc {

  private PullRequestServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.PullRequestService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListPullRequestsRequest,
      io.prwarden.v1.ListPullRequestsResponse> getListPullRequestsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListPullRequests",
      requestType = io.prwarden.v1.ListPullRequestsRequest.class,
      responseType = io.prwarden.v1.ListPullRequestsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListPullRequestsRequest,
      io.prwarden.v1.ListPullRequestsResponse> getListPullRequestsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListPullRequestsRequest, io.prwarden.v1.ListPullRequestsResponse> getListPullRequestsMethod;
    if ((getListPullRequestsMethod = PullRequestServiceGrpc.getListPullRequestsMethod) == null) {
      synchronized (PullRequestServiceGrpc.class) {
        if ((getListPullRequestsMethod = PullRequestServiceGrpc.getListPullRequestsMethod) == null) {
          PullRequestServiceGrpc.getListPullRequestsMethod = getListPullRequestsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListPullRequestsRequest, io.prwarden.v1.ListPullRequestsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListPullRequests"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListPullRequestsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListPullRequestsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new PullRequestServiceMethodDescriptorSupplier("ListPullRequests"))
              .build();
        }
      }
    }
    return getListPullRequestsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetPullRequestRequest,
      io.prwarden.v1.GetPullRequestResponse> getGetPullRequestMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetPullRequest",
      requestType = io.prwarden.v1.GetPullRequestRequest.class,
      responseType = io.prwarden.v1.GetPullRequestResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetPullRequestRequest,
      io.prwarden.v1.GetPullRequestResponse> getGetPullRequestMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetPullRequestRequest, io.prwarden.v1.GetPullRequestResponse> getGetPullRequestMethod;
    if ((getGetPullRequestMethod = PullRequestServiceGrpc.getGetPullRequestMethod) == null) {
      synchronized (PullRequestServiceGrpc.class) {
        if ((getGetPullRequestMethod = PullRequestServiceGrpc.getGetPullRequestMethod) == null) {
          PullRequestServiceGrpc.getGetPullRequestMethod = getGetPullRequestMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetPullRequestRequest, io.prwarden.v1.GetPullRequestResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetPullRequest"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetPullRequestRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetPullRequestResponse.getDefaultInstance()))
              .setSchemaDescriptor(new PullRequestServiceMethodDescriptorSupplier("GetPullRequest"))
              .build();
        }
      }
    }
    return getGetPullRequestMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.RepublishPullRequestRequest,
      io.prwarden.v1.RepublishPullRequestResponse> getRepublishPullRequestMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RepublishPullRequest",
      requestType = io.prwarden.v1.RepublishPullRequestRequest.class,
      responseType = io.prwarden.v1.RepublishPullRequestResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.RepublishPullRequestRequest,
      io.prwarden.v1.RepublishPullRequestResponse> getRepublishPullRequestMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.RepublishPullRequestRequest, io.prwarden.v1.RepublishPullRequestResponse> getRepublishPullRequestMethod;
    if ((getRepublishPullRequestMethod = PullRequestServiceGrpc.getRepublishPullRequestMethod) == null) {
      synchronized (PullRequestServiceGrpc.class) {
        if ((getRepublishPullRequestMethod = PullRequestServiceGrpc.getRepublishPullRequestMethod) == null) {
          PullRequestServiceGrpc.getRepublishPullRequestMethod = getRepublishPullRequestMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.RepublishPullRequestRequest, io.prwarden.v1.RepublishPullRequestResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RepublishPullRequest"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RepublishPullRequestRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RepublishPullRequestResponse.getDefaultInstance()))
              .setSchemaDescriptor(new PullRequestServiceMethodDescriptorSupplier("RepublishPullRequest"))
              .build();
        }
      }
    }
    return getRepublishPullRequestMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListThreadsRequest,
      io.prwarden.v1.ListThreadsResponse> getListThreadsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListThreads",
      requestType = io.prwarden.v1.ListThreadsRequest.class,
      responseType = io.prwarden.v1.ListThreadsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListThreadsRequest,
      io.prwarden.v1.ListThreadsResponse> getListThreadsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListThreadsRequest, io.prwarden.v1.ListThreadsResponse> getListThreadsMethod;
    if ((getListThreadsMethod = PullRequestServiceGrpc.getListThreadsMethod) == null) {
      synchronized (PullRequestServiceGrpc.class) {
        if ((getListThreadsMethod = PullRequestServiceGrpc.getListThreadsMethod) == null) {
          PullRequestServiceGrpc.getListThreadsMethod = getListThreadsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListThreadsRequest, io.prwarden.v1.ListThreadsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListThreads"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListThreadsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListThreadsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new PullRequestServiceMethodDescriptorSupplier("ListThreads"))
              .build();
        }
      }
    }
    return getListThreadsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static PullRequestServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<PullRequestServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<PullRequestServiceStub>() {
        @java.lang.Override
        public PullRequestServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new PullRequestServiceStub(channel, callOptions);
        }
      };
    return PullRequestServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static PullRequestServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<PullRequestServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<PullRequestServiceBlockingV2Stub>() {
        @java.lang.Override
        public PullRequestServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new PullRequestServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return PullRequestServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static PullRequestServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<PullRequestServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<PullRequestServiceBlockingStub>() {
        @java.lang.Override
        public PullRequestServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new PullRequestServiceBlockingStub(channel, callOptions);
        }
      };
    return PullRequestServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static PullRequestServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<PullRequestServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<PullRequestServiceFutureStub>() {
        @java.lang.Override
        public PullRequestServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new PullRequestServiceFutureStub(channel, callOptions);
        }
      };
    return PullRequestServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * PullRequestService reads the pull requests of which code hosts told the
   * caller's organization, and what is published in them.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * ListPullRequests lists pull requests, the latest known first. Scope:
     * hosts:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    default void listPullRequests(io.prwarden.v1.ListPullRequestsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListPullRequestsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListPullRequestsMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetPullRequest reads one. Scope: hosts:read. Errors: INVALID_ARGUMENT
     * without a repository; NOT_FOUND when no code host told of it.
     * </pre>
     */
    default void getPullRequest(io.prwarden.v1.GetPullRequestRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetPullRequestResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetPullRequestMethod(), responseObserver);
    }

    /**
     * <pre>
     * RepublishPullRequest has the newest review of the head published again, also
     * when publishing was given up. What people deleted or resolved stays so.
     * Scope: hosts:write. Errors: INVALID_ARGUMENT without a repository;
     * NOT_FOUND when no code host told of it.
     * </pre>
     */
    default void republishPullRequest(io.prwarden.v1.RepublishPullRequestRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RepublishPullRequestResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRepublishPullRequestMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListThreads lists the comments on lines that were posted in a pull request.
     * Scope: hosts:read. Errors: INVALID_ARGUMENT without a repository; NOT_FOUND
     * when no code host told of it.
     * </pre>
     */
    default void listThreads(io.prwarden.v1.ListThreadsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListThreadsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListThreadsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service PullRequestService.
   * <pre>
   * PullRequestService reads the pull requests of which code hosts told the
   * caller's organization, and what is published in them.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static abstract class PullRequestServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return PullRequestServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service PullRequestService.
   * <pre>
   * PullRequestService reads the pull requests of which code hosts told the
   * caller's organization, and what is published in them.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class PullRequestServiceStub
      extends io.grpc.stub.AbstractAsyncStub<PullRequestServiceStub> {
    private PullRequestServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected PullRequestServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new PullRequestServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListPullRequests lists pull requests, the latest known first. Scope:
     * hosts:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public void listPullRequests(io.prwarden.v1.ListPullRequestsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListPullRequestsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListPullRequestsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetPullRequest reads one. Scope: hosts:read. Errors: INVALID_ARGUMENT
     * without a repository; NOT_FOUND when no code host told of it.
     * </pre>
     */
    public void getPullRequest(io.prwarden.v1.GetPullRequestRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetPullRequestResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetPullRequestMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RepublishPullRequest has the newest review of the head published again, also
     * when publishing was given up. What people deleted or resolved stays so.
     * Scope: hosts:write. Errors: INVALID_ARGUMENT without a repository;
     * NOT_FOUND when no code host told of it.
     * </pre>
     */
    public void republishPullRequest(io.prwarden.v1.RepublishPullRequestRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RepublishPullRequestResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRepublishPullRequestMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListThreads lists the comments on lines that were posted in a pull request.
     * Scope: hosts:read. Errors: INVALID_ARGUMENT without a repository; NOT_FOUND
     * when no code host told of it.
     * </pre>
     */
    public void listThreads(io.prwarden.v1.ListThreadsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListThreadsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListThreadsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service PullRequestService.
   * <pre>
   * PullRequestService reads the pull requests of which code hosts told the
   * caller's organization, and what is published in them.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class PullRequestServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<PullRequestServiceBlockingV2Stub> {
    private PullRequestServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected PullRequestServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new PullRequestServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * ListPullRequests lists pull requests, the latest known first. Scope:
     * hosts:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public io.prwarden.v1.ListPullRequestsResponse listPullRequests(io.prwarden.v1.ListPullRequestsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListPullRequestsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetPullRequest reads one. Scope: hosts:read. Errors: INVALID_ARGUMENT
     * without a repository; NOT_FOUND when no code host told of it.
     * </pre>
     */
    public io.prwarden.v1.GetPullRequestResponse getPullRequest(io.prwarden.v1.GetPullRequestRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetPullRequestMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RepublishPullRequest has the newest review of the head published again, also
     * when publishing was given up. What people deleted or resolved stays so.
     * Scope: hosts:write. Errors: INVALID_ARGUMENT without a repository;
     * NOT_FOUND when no code host told of it.
     * </pre>
     */
    public io.prwarden.v1.RepublishPullRequestResponse republishPullRequest(io.prwarden.v1.RepublishPullRequestRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRepublishPullRequestMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListThreads lists the comments on lines that were posted in a pull request.
     * Scope: hosts:read. Errors: INVALID_ARGUMENT without a repository; NOT_FOUND
     * when no code host told of it.
     * </pre>
     */
    public io.prwarden.v1.ListThreadsResponse listThreads(io.prwarden.v1.ListThreadsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListThreadsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service PullRequestService.
   * <pre>
   * PullRequestService reads the pull requests of which code hosts told the
   * caller's organization, and what is published in them.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class PullRequestServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<PullRequestServiceBlockingStub> {
    private PullRequestServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected PullRequestServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new PullRequestServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListPullRequests lists pull requests, the latest known first. Scope:
     * hosts:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public io.prwarden.v1.ListPullRequestsResponse listPullRequests(io.prwarden.v1.ListPullRequestsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListPullRequestsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetPullRequest reads one. Scope: hosts:read. Errors: INVALID_ARGUMENT
     * without a repository; NOT_FOUND when no code host told of it.
     * </pre>
     */
    public io.prwarden.v1.GetPullRequestResponse getPullRequest(io.prwarden.v1.GetPullRequestRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetPullRequestMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RepublishPullRequest has the newest review of the head published again, also
     * when publishing was given up. What people deleted or resolved stays so.
     * Scope: hosts:write. Errors: INVALID_ARGUMENT without a repository;
     * NOT_FOUND when no code host told of it.
     * </pre>
     */
    public io.prwarden.v1.RepublishPullRequestResponse republishPullRequest(io.prwarden.v1.RepublishPullRequestRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRepublishPullRequestMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListThreads lists the comments on lines that were posted in a pull request.
     * Scope: hosts:read. Errors: INVALID_ARGUMENT without a repository; NOT_FOUND
     * when no code host told of it.
     * </pre>
     */
    public io.prwarden.v1.ListThreadsResponse listThreads(io.prwarden.v1.ListThreadsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListThreadsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service PullRequestService.
   * <pre>
   * PullRequestService reads the pull requests of which code hosts told the
   * caller's organization, and what is published in them.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class PullRequestServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<PullRequestServiceFutureStub> {
    private PullRequestServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected PullRequestServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new PullRequestServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListPullRequests lists pull requests, the latest known first. Scope:
     * hosts:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListPullRequestsResponse> listPullRequests(
        io.prwarden.v1.ListPullRequestsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListPullRequestsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetPullRequest reads one. Scope: hosts:read. Errors: INVALID_ARGUMENT
     * without a repository; NOT_FOUND when no code host told of it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetPullRequestResponse> getPullRequest(
        io.prwarden.v1.GetPullRequestRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetPullRequestMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RepublishPullRequest has the newest review of the head published again, also
     * when publishing was given up. What people deleted or resolved stays so.
     * Scope: hosts:write. Errors: INVALID_ARGUMENT without a repository;
     * NOT_FOUND when no code host told of it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.RepublishPullRequestResponse> republishPullRequest(
        io.prwarden.v1.RepublishPullRequestRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRepublishPullRequestMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListThreads lists the comments on lines that were posted in a pull request.
     * Scope: hosts:read. Errors: INVALID_ARGUMENT without a repository; NOT_FOUND
     * when no code host told of it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListThreadsResponse> listThreads(
        io.prwarden.v1.ListThreadsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListThreadsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_PULL_REQUESTS = 0;
  private static final int METHODID_GET_PULL_REQUEST = 1;
  private static final int METHODID_REPUBLISH_PULL_REQUEST = 2;
  private static final int METHODID_LIST_THREADS = 3;

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
        case METHODID_LIST_PULL_REQUESTS:
          serviceImpl.listPullRequests((io.prwarden.v1.ListPullRequestsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListPullRequestsResponse>) responseObserver);
          break;
        case METHODID_GET_PULL_REQUEST:
          serviceImpl.getPullRequest((io.prwarden.v1.GetPullRequestRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetPullRequestResponse>) responseObserver);
          break;
        case METHODID_REPUBLISH_PULL_REQUEST:
          serviceImpl.republishPullRequest((io.prwarden.v1.RepublishPullRequestRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.RepublishPullRequestResponse>) responseObserver);
          break;
        case METHODID_LIST_THREADS:
          serviceImpl.listThreads((io.prwarden.v1.ListThreadsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListThreadsResponse>) responseObserver);
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
          getListPullRequestsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListPullRequestsRequest,
              io.prwarden.v1.ListPullRequestsResponse>(
                service, METHODID_LIST_PULL_REQUESTS)))
        .addMethod(
          getGetPullRequestMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetPullRequestRequest,
              io.prwarden.v1.GetPullRequestResponse>(
                service, METHODID_GET_PULL_REQUEST)))
        .addMethod(
          getRepublishPullRequestMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.RepublishPullRequestRequest,
              io.prwarden.v1.RepublishPullRequestResponse>(
                service, METHODID_REPUBLISH_PULL_REQUEST)))
        .addMethod(
          getListThreadsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListThreadsRequest,
              io.prwarden.v1.ListThreadsResponse>(
                service, METHODID_LIST_THREADS)))
        .build();
  }

  private static abstract class PullRequestServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    PullRequestServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.PullRequestOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("PullRequestService");
    }
  }

  private static final class PullRequestServiceFileDescriptorSupplier
      extends PullRequestServiceBaseDescriptorSupplier {
    PullRequestServiceFileDescriptorSupplier() {}
  }

  private static final class PullRequestServiceMethodDescriptorSupplier
      extends PullRequestServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    PullRequestServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (PullRequestServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new PullRequestServiceFileDescriptorSupplier())
              .addMethod(getListPullRequestsMethod())
              .addMethod(getGetPullRequestMethod())
              .addMethod(getRepublishPullRequestMethod())
              .addMethod(getListThreadsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
