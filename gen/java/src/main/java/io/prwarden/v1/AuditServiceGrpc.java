package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * AuditService reads the audit log of the caller's organization: who changed
 * keys, rules, the policy, connections, webhooks, decisions about findings and the
 * organization itself, over the API and on the operator's command line. Reviews leave no events; each says who created it.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
 * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class AuditServiceGrpc {

  private AuditServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.AuditService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListEventsRequest,
      io.prwarden.v1.ListEventsResponse> getListEventsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListEvents",
      requestType = io.prwarden.v1.ListEventsRequest.class,
      responseType = io.prwarden.v1.ListEventsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListEventsRequest,
      io.prwarden.v1.ListEventsResponse> getListEventsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListEventsRequest, io.prwarden.v1.ListEventsResponse> getListEventsMethod;
    if ((getListEventsMethod = AuditServiceGrpc.getListEventsMethod) == null) {
      synchronized (AuditServiceGrpc.class) {
        if ((getListEventsMethod = AuditServiceGrpc.getListEventsMethod) == null) {
          AuditServiceGrpc.getListEventsMethod = getListEventsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListEventsRequest, io.prwarden.v1.ListEventsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListEvents"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListEventsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListEventsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AuditServiceMethodDescriptorSupplier("ListEvents"))
              .build();
        }
      }
    }
    return getListEventsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static AuditServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AuditServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AuditServiceStub>() {
        @java.lang.Override
        public AuditServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AuditServiceStub(channel, callOptions);
        }
      };
    return AuditServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static AuditServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AuditServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AuditServiceBlockingV2Stub>() {
        @java.lang.Override
        public AuditServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AuditServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return AuditServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static AuditServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AuditServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AuditServiceBlockingStub>() {
        @java.lang.Override
        public AuditServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AuditServiceBlockingStub(channel, callOptions);
        }
      };
    return AuditServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static AuditServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AuditServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AuditServiceFutureStub>() {
        @java.lang.Override
        public AuditServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AuditServiceFutureStub(channel, callOptions);
        }
      };
    return AuditServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * AuditService reads the audit log of the caller's organization: who changed
   * keys, rules, the policy, connections, webhooks, decisions about findings and the
   * organization itself, over the API and on the operator's command line. Reviews leave no events; each says who created it.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * ListEvents lists events, newest first. Scope: audit:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    default void listEvents(io.prwarden.v1.ListEventsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListEventsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListEventsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service AuditService.
   * <pre>
   * AuditService reads the audit log of the caller's organization: who changed
   * keys, rules, the policy, connections, webhooks, decisions about findings and the
   * organization itself, over the API and on the operator's command line. Reviews leave no events; each says who created it.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away.
   * </pre>
   */
  public static abstract class AuditServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return AuditServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service AuditService.
   * <pre>
   * AuditService reads the audit log of the caller's organization: who changed
   * keys, rules, the policy, connections, webhooks, decisions about findings and the
   * organization itself, over the API and on the operator's command line. Reviews leave no events; each says who created it.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away.
   * </pre>
   */
  public static final class AuditServiceStub
      extends io.grpc.stub.AbstractAsyncStub<AuditServiceStub> {
    private AuditServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AuditServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AuditServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListEvents lists events, newest first. Scope: audit:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public void listEvents(io.prwarden.v1.ListEventsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListEventsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListEventsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service AuditService.
   * <pre>
   * AuditService reads the audit log of the caller's organization: who changed
   * keys, rules, the policy, connections, webhooks, decisions about findings and the
   * organization itself, over the API and on the operator's command line. Reviews leave no events; each says who created it.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away.
   * </pre>
   */
  public static final class AuditServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<AuditServiceBlockingV2Stub> {
    private AuditServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AuditServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AuditServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * ListEvents lists events, newest first. Scope: audit:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public io.prwarden.v1.ListEventsResponse listEvents(io.prwarden.v1.ListEventsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListEventsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service AuditService.
   * <pre>
   * AuditService reads the audit log of the caller's organization: who changed
   * keys, rules, the policy, connections, webhooks, decisions about findings and the
   * organization itself, over the API and on the operator's command line. Reviews leave no events; each says who created it.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away.
   * </pre>
   */
  public static final class AuditServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<AuditServiceBlockingStub> {
    private AuditServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AuditServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AuditServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListEvents lists events, newest first. Scope: audit:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public io.prwarden.v1.ListEventsResponse listEvents(io.prwarden.v1.ListEventsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListEventsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service AuditService.
   * <pre>
   * AuditService reads the audit log of the caller's organization: who changed
   * keys, rules, the policy, connections, webhooks, decisions about findings and the
   * organization itself, over the API and on the operator's command line. Reviews leave no events; each says who created it.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away.
   * </pre>
   */
  public static final class AuditServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<AuditServiceFutureStub> {
    private AuditServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AuditServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AuditServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListEvents lists events, newest first. Scope: audit:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListEventsResponse> listEvents(
        io.prwarden.v1.ListEventsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListEventsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_EVENTS = 0;

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
        case METHODID_LIST_EVENTS:
          serviceImpl.listEvents((io.prwarden.v1.ListEventsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListEventsResponse>) responseObserver);
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
          getListEventsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListEventsRequest,
              io.prwarden.v1.ListEventsResponse>(
                service, METHODID_LIST_EVENTS)))
        .build();
  }

  private static abstract class AuditServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    AuditServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.Audit.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("AuditService");
    }
  }

  private static final class AuditServiceFileDescriptorSupplier
      extends AuditServiceBaseDescriptorSupplier {
    AuditServiceFileDescriptorSupplier() {}
  }

  private static final class AuditServiceMethodDescriptorSupplier
      extends AuditServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    AuditServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (AuditServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new AuditServiceFileDescriptorSupplier())
              .addMethod(getListEventsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
