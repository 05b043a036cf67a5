package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * TriageService decides about findings. A decision sets a finding aside: it does
 * not count for verdicts, at once and in later scans, until the day on which the
 * decision ends. It is about a fingerprint, so it stays when lines move.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
 * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
 * while the database is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class TriageServiceGrpc {

  private TriageServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.TriageService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.SetTriageRequest,
      io.prwarden.v1.SetTriageResponse> getSetTriageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SetTriage",
      requestType = io.prwarden.v1.SetTriageRequest.class,
      responseType = io.prwarden.v1.SetTriageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.SetTriageRequest,
      io.prwarden.v1.SetTriageResponse> getSetTriageMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.SetTriageRequest, io.prwarden.v1.SetTriageResponse> getSetTriageMethod;
    if ((getSetTriageMethod = TriageServiceGrpc.getSetTriageMethod) == null) {
      synchronized (TriageServiceGrpc.class) {
        if ((getSetTriageMethod = TriageServiceGrpc.getSetTriageMethod) == null) {
          TriageServiceGrpc.getSetTriageMethod = getSetTriageMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.SetTriageRequest, io.prwarden.v1.SetTriageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SetTriage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.SetTriageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.SetTriageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new TriageServiceMethodDescriptorSupplier("SetTriage"))
              .build();
        }
      }
    }
    return getSetTriageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.UndoTriageRequest,
      io.prwarden.v1.UndoTriageResponse> getUndoTriageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UndoTriage",
      requestType = io.prwarden.v1.UndoTriageRequest.class,
      responseType = io.prwarden.v1.UndoTriageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.UndoTriageRequest,
      io.prwarden.v1.UndoTriageResponse> getUndoTriageMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.UndoTriageRequest, io.prwarden.v1.UndoTriageResponse> getUndoTriageMethod;
    if ((getUndoTriageMethod = TriageServiceGrpc.getUndoTriageMethod) == null) {
      synchronized (TriageServiceGrpc.class) {
        if ((getUndoTriageMethod = TriageServiceGrpc.getUndoTriageMethod) == null) {
          TriageServiceGrpc.getUndoTriageMethod = getUndoTriageMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.UndoTriageRequest, io.prwarden.v1.UndoTriageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UndoTriage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UndoTriageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UndoTriageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new TriageServiceMethodDescriptorSupplier("UndoTriage"))
              .build();
        }
      }
    }
    return getUndoTriageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListTriageRequest,
      io.prwarden.v1.ListTriageResponse> getListTriageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListTriage",
      requestType = io.prwarden.v1.ListTriageRequest.class,
      responseType = io.prwarden.v1.ListTriageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListTriageRequest,
      io.prwarden.v1.ListTriageResponse> getListTriageMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListTriageRequest, io.prwarden.v1.ListTriageResponse> getListTriageMethod;
    if ((getListTriageMethod = TriageServiceGrpc.getListTriageMethod) == null) {
      synchronized (TriageServiceGrpc.class) {
        if ((getListTriageMethod = TriageServiceGrpc.getListTriageMethod) == null) {
          TriageServiceGrpc.getListTriageMethod = getListTriageMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListTriageRequest, io.prwarden.v1.ListTriageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListTriage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListTriageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListTriageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new TriageServiceMethodDescriptorSupplier("ListTriage"))
              .build();
        }
      }
    }
    return getListTriageMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static TriageServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TriageServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TriageServiceStub>() {
        @java.lang.Override
        public TriageServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TriageServiceStub(channel, callOptions);
        }
      };
    return TriageServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static TriageServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TriageServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TriageServiceBlockingV2Stub>() {
        @java.lang.Override
        public TriageServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TriageServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return TriageServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static TriageServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TriageServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TriageServiceBlockingStub>() {
        @java.lang.Override
        public TriageServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TriageServiceBlockingStub(channel, callOptions);
        }
      };
    return TriageServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static TriageServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<TriageServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<TriageServiceFutureStub>() {
        @java.lang.Override
        public TriageServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new TriageServiceFutureStub(channel, callOptions);
        }
      };
    return TriageServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * TriageService decides about findings. A decision sets a finding aside: it does
   * not count for verdicts, at once and in later scans, until the day on which the
   * decision ends. It is about a fingerprint, so it stays when lines move.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * SetTriage decides about findings, all of them or none. It changes the verdicts
     * of the latest complete reviews that have them: of at most 100 reviews with
     * 50,000 findings together, and of the others with their next scan. Scope:
     * findings:triage.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND
     * (FINDING_NOT_FOUND) when no latest review has a finding with a fingerprint;
     * PERMISSION_DENIED (TRIAGE_NOT_ALLOWED) when the organization's policy does not
     * let one person set a finding aside in that way, as with comments in the code.
     * </pre>
     */
    default void setTriage(io.prwarden.v1.SetTriageRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.SetTriageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSetTriageMethod(), responseObserver);
    }

    /**
     * <pre>
     * UndoTriage puts back what a change replaced, within an hour. Scope:
     * findings:triage.
     * Errors: NOT_FOUND (TRIAGE_NOT_FOUND), also when the change was undone already;
     * FAILED_PRECONDITION (TRIAGE_CHANGED) when it is over an hour old, or somebody
     * has decided about one of the findings since.
     * </pre>
     */
    default void undoTriage(io.prwarden.v1.UndoTriageRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UndoTriageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUndoTriageMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListTriage lists decisions, newest first, for 90 days also those that have
     * ended. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page
     * token.
     * </pre>
     */
    default void listTriage(io.prwarden.v1.ListTriageRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListTriageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListTriageMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service TriageService.
   * <pre>
   * TriageService decides about findings. A decision sets a finding aside: it does
   * not count for verdicts, at once and in later scans, until the day on which the
   * decision ends. It is about a fingerprint, so it stays when lines move.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static abstract class TriageServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return TriageServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service TriageService.
   * <pre>
   * TriageService decides about findings. A decision sets a finding aside: it does
   * not count for verdicts, at once and in later scans, until the day on which the
   * decision ends. It is about a fingerprint, so it stays when lines move.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class TriageServiceStub
      extends io.grpc.stub.AbstractAsyncStub<TriageServiceStub> {
    private TriageServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TriageServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TriageServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * SetTriage decides about findings, all of them or none. It changes the verdicts
     * of the latest complete reviews that have them: of at most 100 reviews with
     * 50,000 findings together, and of the others with their next scan. Scope:
     * findings:triage.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND
     * (FINDING_NOT_FOUND) when no latest review has a finding with a fingerprint;
     * PERMISSION_DENIED (TRIAGE_NOT_ALLOWED) when the organization's policy does not
     * let one person set a finding aside in that way, as with comments in the code.
     * </pre>
     */
    public void setTriage(io.prwarden.v1.SetTriageRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.SetTriageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSetTriageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * UndoTriage puts back what a change replaced, within an hour. Scope:
     * findings:triage.
     * Errors: NOT_FOUND (TRIAGE_NOT_FOUND), also when the change was undone already;
     * FAILED_PRECONDITION (TRIAGE_CHANGED) when it is over an hour old, or somebody
     * has decided about one of the findings since.
     * </pre>
     */
    public void undoTriage(io.prwarden.v1.UndoTriageRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UndoTriageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUndoTriageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListTriage lists decisions, newest first, for 90 days also those that have
     * ended. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page
     * token.
     * </pre>
     */
    public void listTriage(io.prwarden.v1.ListTriageRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListTriageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListTriageMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service TriageService.
   * <pre>
   * TriageService decides about findings. A decision sets a finding aside: it does
   * not count for verdicts, at once and in later scans, until the day on which the
   * decision ends. It is about a fingerprint, so it stays when lines move.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class TriageServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<TriageServiceBlockingV2Stub> {
    private TriageServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TriageServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TriageServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * SetTriage decides about findings, all of them or none. It changes the verdicts
     * of the latest complete reviews that have them: of at most 100 reviews with
     * 50,000 findings together, and of the others with their next scan. Scope:
     * findings:triage.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND
     * (FINDING_NOT_FOUND) when no latest review has a finding with a fingerprint;
     * PERMISSION_DENIED (TRIAGE_NOT_ALLOWED) when the organization's policy does not
     * let one person set a finding aside in that way, as with comments in the code.
     * </pre>
     */
    public io.prwarden.v1.SetTriageResponse setTriage(io.prwarden.v1.SetTriageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSetTriageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UndoTriage puts back what a change replaced, within an hour. Scope:
     * findings:triage.
     * Errors: NOT_FOUND (TRIAGE_NOT_FOUND), also when the change was undone already;
     * FAILED_PRECONDITION (TRIAGE_CHANGED) when it is over an hour old, or somebody
     * has decided about one of the findings since.
     * </pre>
     */
    public io.prwarden.v1.UndoTriageResponse undoTriage(io.prwarden.v1.UndoTriageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUndoTriageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListTriage lists decisions, newest first, for 90 days also those that have
     * ended. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page
     * token.
     * </pre>
     */
    public io.prwarden.v1.ListTriageResponse listTriage(io.prwarden.v1.ListTriageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListTriageMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service TriageService.
   * <pre>
   * TriageService decides about findings. A decision sets a finding aside: it does
   * not count for verdicts, at once and in later scans, until the day on which the
   * decision ends. It is about a fingerprint, so it stays when lines move.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class TriageServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<TriageServiceBlockingStub> {
    private TriageServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TriageServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TriageServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * SetTriage decides about findings, all of them or none. It changes the verdicts
     * of the latest complete reviews that have them: of at most 100 reviews with
     * 50,000 findings together, and of the others with their next scan. Scope:
     * findings:triage.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND
     * (FINDING_NOT_FOUND) when no latest review has a finding with a fingerprint;
     * PERMISSION_DENIED (TRIAGE_NOT_ALLOWED) when the organization's policy does not
     * let one person set a finding aside in that way, as with comments in the code.
     * </pre>
     */
    public io.prwarden.v1.SetTriageResponse setTriage(io.prwarden.v1.SetTriageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSetTriageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UndoTriage puts back what a change replaced, within an hour. Scope:
     * findings:triage.
     * Errors: NOT_FOUND (TRIAGE_NOT_FOUND), also when the change was undone already;
     * FAILED_PRECONDITION (TRIAGE_CHANGED) when it is over an hour old, or somebody
     * has decided about one of the findings since.
     * </pre>
     */
    public io.prwarden.v1.UndoTriageResponse undoTriage(io.prwarden.v1.UndoTriageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUndoTriageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListTriage lists decisions, newest first, for 90 days also those that have
     * ended. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page
     * token.
     * </pre>
     */
    public io.prwarden.v1.ListTriageResponse listTriage(io.prwarden.v1.ListTriageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListTriageMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service TriageService.
   * <pre>
   * TriageService decides about findings. A decision sets a finding aside: it does
   * not count for verdicts, at once and in later scans, until the day on which the
   * decision ends. It is about a fingerprint, so it stays when lines move.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class TriageServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<TriageServiceFutureStub> {
    private TriageServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected TriageServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new TriageServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * SetTriage decides about findings, all of them or none. It changes the verdicts
     * of the latest complete reviews that have them: of at most 100 reviews with
     * 50,000 findings together, and of the others with their next scan. Scope:
     * findings:triage.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND
     * (FINDING_NOT_FOUND) when no latest review has a finding with a fingerprint;
     * PERMISSION_DENIED (TRIAGE_NOT_ALLOWED) when the organization's policy does not
     * let one person set a finding aside in that way, as with comments in the code.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.SetTriageResponse> setTriage(
        io.prwarden.v1.SetTriageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSetTriageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * UndoTriage puts back what a change replaced, within an hour. Scope:
     * findings:triage.
     * Errors: NOT_FOUND (TRIAGE_NOT_FOUND), also when the change was undone already;
     * FAILED_PRECONDITION (TRIAGE_CHANGED) when it is over an hour old, or somebody
     * has decided about one of the findings since.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.UndoTriageResponse> undoTriage(
        io.prwarden.v1.UndoTriageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUndoTriageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListTriage lists decisions, newest first, for 90 days also those that have
     * ended. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page
     * token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListTriageResponse> listTriage(
        io.prwarden.v1.ListTriageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListTriageMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_SET_TRIAGE = 0;
  private static final int METHODID_UNDO_TRIAGE = 1;
  private static final int METHODID_LIST_TRIAGE = 2;

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
        case METHODID_SET_TRIAGE:
          serviceImpl.setTriage((io.prwarden.v1.SetTriageRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.SetTriageResponse>) responseObserver);
          break;
        case METHODID_UNDO_TRIAGE:
          serviceImpl.undoTriage((io.prwarden.v1.UndoTriageRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.UndoTriageResponse>) responseObserver);
          break;
        case METHODID_LIST_TRIAGE:
          serviceImpl.listTriage((io.prwarden.v1.ListTriageRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListTriageResponse>) responseObserver);
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
          getSetTriageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.SetTriageRequest,
              io.prwarden.v1.SetTriageResponse>(
                service, METHODID_SET_TRIAGE)))
        .addMethod(
          getUndoTriageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.UndoTriageRequest,
              io.prwarden.v1.UndoTriageResponse>(
                service, METHODID_UNDO_TRIAGE)))
        .addMethod(
          getListTriageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListTriageRequest,
              io.prwarden.v1.ListTriageResponse>(
                service, METHODID_LIST_TRIAGE)))
        .build();
  }

  private static abstract class TriageServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    TriageServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.TriageOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("TriageService");
    }
  }

  private static final class TriageServiceFileDescriptorSupplier
      extends TriageServiceBaseDescriptorSupplier {
    TriageServiceFileDescriptorSupplier() {}
  }

  private static final class TriageServiceMethodDescriptorSupplier
      extends TriageServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    TriageServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (TriageServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new TriageServiceFileDescriptorSupplier())
              .addMethod(getSetTriageMethod())
              .addMethod(getUndoTriageMethod())
              .addMethod(getListTriageMethod())
              .build();
        }
      }
    }
    return result;
  }
}
