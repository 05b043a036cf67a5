package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * KeyService manages the API keys of the caller's organization. Every call
 * needs the scope keys:admin.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
 * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
 * is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class KeyServiceGrpc {

  private KeyServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.KeyService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CreateKeyRequest,
      io.prwarden.v1.CreateKeyResponse> getCreateKeyMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateKey",
      requestType = io.prwarden.v1.CreateKeyRequest.class,
      responseType = io.prwarden.v1.CreateKeyResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CreateKeyRequest,
      io.prwarden.v1.CreateKeyResponse> getCreateKeyMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CreateKeyRequest, io.prwarden.v1.CreateKeyResponse> getCreateKeyMethod;
    if ((getCreateKeyMethod = KeyServiceGrpc.getCreateKeyMethod) == null) {
      synchronized (KeyServiceGrpc.class) {
        if ((getCreateKeyMethod = KeyServiceGrpc.getCreateKeyMethod) == null) {
          KeyServiceGrpc.getCreateKeyMethod = getCreateKeyMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CreateKeyRequest, io.prwarden.v1.CreateKeyResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateKey"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateKeyRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateKeyResponse.getDefaultInstance()))
              .setSchemaDescriptor(new KeyServiceMethodDescriptorSupplier("CreateKey"))
              .build();
        }
      }
    }
    return getCreateKeyMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListKeysRequest,
      io.prwarden.v1.ListKeysResponse> getListKeysMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListKeys",
      requestType = io.prwarden.v1.ListKeysRequest.class,
      responseType = io.prwarden.v1.ListKeysResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListKeysRequest,
      io.prwarden.v1.ListKeysResponse> getListKeysMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListKeysRequest, io.prwarden.v1.ListKeysResponse> getListKeysMethod;
    if ((getListKeysMethod = KeyServiceGrpc.getListKeysMethod) == null) {
      synchronized (KeyServiceGrpc.class) {
        if ((getListKeysMethod = KeyServiceGrpc.getListKeysMethod) == null) {
          KeyServiceGrpc.getListKeysMethod = getListKeysMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListKeysRequest, io.prwarden.v1.ListKeysResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListKeys"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListKeysRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListKeysResponse.getDefaultInstance()))
              .setSchemaDescriptor(new KeyServiceMethodDescriptorSupplier("ListKeys"))
              .build();
        }
      }
    }
    return getListKeysMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.DeleteKeyRequest,
      io.prwarden.v1.DeleteKeyResponse> getDeleteKeyMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteKey",
      requestType = io.prwarden.v1.DeleteKeyRequest.class,
      responseType = io.prwarden.v1.DeleteKeyResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.DeleteKeyRequest,
      io.prwarden.v1.DeleteKeyResponse> getDeleteKeyMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.DeleteKeyRequest, io.prwarden.v1.DeleteKeyResponse> getDeleteKeyMethod;
    if ((getDeleteKeyMethod = KeyServiceGrpc.getDeleteKeyMethod) == null) {
      synchronized (KeyServiceGrpc.class) {
        if ((getDeleteKeyMethod = KeyServiceGrpc.getDeleteKeyMethod) == null) {
          KeyServiceGrpc.getDeleteKeyMethod = getDeleteKeyMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.DeleteKeyRequest, io.prwarden.v1.DeleteKeyResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteKey"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteKeyRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteKeyResponse.getDefaultInstance()))
              .setSchemaDescriptor(new KeyServiceMethodDescriptorSupplier("DeleteKey"))
              .build();
        }
      }
    }
    return getDeleteKeyMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static KeyServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<KeyServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<KeyServiceStub>() {
        @java.lang.Override
        public KeyServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new KeyServiceStub(channel, callOptions);
        }
      };
    return KeyServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static KeyServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<KeyServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<KeyServiceBlockingV2Stub>() {
        @java.lang.Override
        public KeyServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new KeyServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return KeyServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static KeyServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<KeyServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<KeyServiceBlockingStub>() {
        @java.lang.Override
        public KeyServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new KeyServiceBlockingStub(channel, callOptions);
        }
      };
    return KeyServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static KeyServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<KeyServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<KeyServiceFutureStub>() {
        @java.lang.Override
        public KeyServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new KeyServiceFutureStub(channel, callOptions);
        }
      };
    return KeyServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * KeyService manages the API keys of the caller's organization. Every call
   * needs the scope keys:admin.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * CreateKey makes a key. The token is in the answer and nowhere else: only
     * its hash is stored. A key that a key makes can't do more than that one: it
     * has no other scopes, no higher rate limit, and no later end. Answered with
     * 201 over REST. Scope: keys:admin.
     * Errors: INVALID_ARGUMENT for a bad name, scope, expiry or rate limit;
     * PERMISSION_DENIED (SCOPE_MISSING) for a scope that the caller's own key
     * does not have; FAILED_PRECONDITION (KEY_QUOTA) while the organization has
     * 100 valid keys.
     * </pre>
     */
    default void createKey(io.prwarden.v1.CreateKeyRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateKeyResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateKeyMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListKeys lists the organization's keys: those that work first, then those
     * that are revoked or expired, for 90 days, of which the newest 1,000 are kept;
     * newest first among each. At most 1,000. It never answers a token. Scope: keys:admin.
     * </pre>
     */
    default void listKeys(io.prwarden.v1.ListKeysRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListKeysResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListKeysMethod(), responseObserver);
    }

    /**
     * <pre>
     * DeleteKey revokes a key, the caller's own too, and with `with_children` all
     * keys that it made. They are refused everywhere within 5 seconds. Answered
     * with 204 and no body over REST, also for a key that was revoked before, which
     * changes nothing. Scope: keys:admin. Errors: NOT_FOUND.
     * </pre>
     */
    default void deleteKey(io.prwarden.v1.DeleteKeyRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteKeyResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteKeyMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service KeyService.
   * <pre>
   * KeyService manages the API keys of the caller's organization. Every call
   * needs the scope keys:admin.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static abstract class KeyServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return KeyServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service KeyService.
   * <pre>
   * KeyService manages the API keys of the caller's organization. Every call
   * needs the scope keys:admin.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static final class KeyServiceStub
      extends io.grpc.stub.AbstractAsyncStub<KeyServiceStub> {
    private KeyServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected KeyServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new KeyServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateKey makes a key. The token is in the answer and nowhere else: only
     * its hash is stored. A key that a key makes can't do more than that one: it
     * has no other scopes, no higher rate limit, and no later end. Answered with
     * 201 over REST. Scope: keys:admin.
     * Errors: INVALID_ARGUMENT for a bad name, scope, expiry or rate limit;
     * PERMISSION_DENIED (SCOPE_MISSING) for a scope that the caller's own key
     * does not have; FAILED_PRECONDITION (KEY_QUOTA) while the organization has
     * 100 valid keys.
     * </pre>
     */
    public void createKey(io.prwarden.v1.CreateKeyRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateKeyResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateKeyMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListKeys lists the organization's keys: those that work first, then those
     * that are revoked or expired, for 90 days, of which the newest 1,000 are kept;
     * newest first among each. At most 1,000. It never answers a token. Scope: keys:admin.
     * </pre>
     */
    public void listKeys(io.prwarden.v1.ListKeysRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListKeysResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListKeysMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * DeleteKey revokes a key, the caller's own too, and with `with_children` all
     * keys that it made. They are refused everywhere within 5 seconds. Answered
     * with 204 and no body over REST, also for a key that was revoked before, which
     * changes nothing. Scope: keys:admin. Errors: NOT_FOUND.
     * </pre>
     */
    public void deleteKey(io.prwarden.v1.DeleteKeyRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteKeyResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteKeyMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service KeyService.
   * <pre>
   * KeyService manages the API keys of the caller's organization. Every call
   * needs the scope keys:admin.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static final class KeyServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<KeyServiceBlockingV2Stub> {
    private KeyServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected KeyServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new KeyServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateKey makes a key. The token is in the answer and nowhere else: only
     * its hash is stored. A key that a key makes can't do more than that one: it
     * has no other scopes, no higher rate limit, and no later end. Answered with
     * 201 over REST. Scope: keys:admin.
     * Errors: INVALID_ARGUMENT for a bad name, scope, expiry or rate limit;
     * PERMISSION_DENIED (SCOPE_MISSING) for a scope that the caller's own key
     * does not have; FAILED_PRECONDITION (KEY_QUOTA) while the organization has
     * 100 valid keys.
     * </pre>
     */
    public io.prwarden.v1.CreateKeyResponse createKey(io.prwarden.v1.CreateKeyRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateKeyMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListKeys lists the organization's keys: those that work first, then those
     * that are revoked or expired, for 90 days, of which the newest 1,000 are kept;
     * newest first among each. At most 1,000. It never answers a token. Scope: keys:admin.
     * </pre>
     */
    public io.prwarden.v1.ListKeysResponse listKeys(io.prwarden.v1.ListKeysRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListKeysMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteKey revokes a key, the caller's own too, and with `with_children` all
     * keys that it made. They are refused everywhere within 5 seconds. Answered
     * with 204 and no body over REST, also for a key that was revoked before, which
     * changes nothing. Scope: keys:admin. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.DeleteKeyResponse deleteKey(io.prwarden.v1.DeleteKeyRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteKeyMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service KeyService.
   * <pre>
   * KeyService manages the API keys of the caller's organization. Every call
   * needs the scope keys:admin.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static final class KeyServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<KeyServiceBlockingStub> {
    private KeyServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected KeyServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new KeyServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateKey makes a key. The token is in the answer and nowhere else: only
     * its hash is stored. A key that a key makes can't do more than that one: it
     * has no other scopes, no higher rate limit, and no later end. Answered with
     * 201 over REST. Scope: keys:admin.
     * Errors: INVALID_ARGUMENT for a bad name, scope, expiry or rate limit;
     * PERMISSION_DENIED (SCOPE_MISSING) for a scope that the caller's own key
     * does not have; FAILED_PRECONDITION (KEY_QUOTA) while the organization has
     * 100 valid keys.
     * </pre>
     */
    public io.prwarden.v1.CreateKeyResponse createKey(io.prwarden.v1.CreateKeyRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateKeyMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListKeys lists the organization's keys: those that work first, then those
     * that are revoked or expired, for 90 days, of which the newest 1,000 are kept;
     * newest first among each. At most 1,000. It never answers a token. Scope: keys:admin.
     * </pre>
     */
    public io.prwarden.v1.ListKeysResponse listKeys(io.prwarden.v1.ListKeysRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListKeysMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteKey revokes a key, the caller's own too, and with `with_children` all
     * keys that it made. They are refused everywhere within 5 seconds. Answered
     * with 204 and no body over REST, also for a key that was revoked before, which
     * changes nothing. Scope: keys:admin. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.DeleteKeyResponse deleteKey(io.prwarden.v1.DeleteKeyRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteKeyMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service KeyService.
   * <pre>
   * KeyService manages the API keys of the caller's organization. Every call
   * needs the scope keys:admin.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static final class KeyServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<KeyServiceFutureStub> {
    private KeyServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected KeyServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new KeyServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateKey makes a key. The token is in the answer and nowhere else: only
     * its hash is stored. A key that a key makes can't do more than that one: it
     * has no other scopes, no higher rate limit, and no later end. Answered with
     * 201 over REST. Scope: keys:admin.
     * Errors: INVALID_ARGUMENT for a bad name, scope, expiry or rate limit;
     * PERMISSION_DENIED (SCOPE_MISSING) for a scope that the caller's own key
     * does not have; FAILED_PRECONDITION (KEY_QUOTA) while the organization has
     * 100 valid keys.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CreateKeyResponse> createKey(
        io.prwarden.v1.CreateKeyRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateKeyMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListKeys lists the organization's keys: those that work first, then those
     * that are revoked or expired, for 90 days, of which the newest 1,000 are kept;
     * newest first among each. At most 1,000. It never answers a token. Scope: keys:admin.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListKeysResponse> listKeys(
        io.prwarden.v1.ListKeysRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListKeysMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * DeleteKey revokes a key, the caller's own too, and with `with_children` all
     * keys that it made. They are refused everywhere within 5 seconds. Answered
     * with 204 and no body over REST, also for a key that was revoked before, which
     * changes nothing. Scope: keys:admin. Errors: NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.DeleteKeyResponse> deleteKey(
        io.prwarden.v1.DeleteKeyRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteKeyMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_KEY = 0;
  private static final int METHODID_LIST_KEYS = 1;
  private static final int METHODID_DELETE_KEY = 2;

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
        case METHODID_CREATE_KEY:
          serviceImpl.createKey((io.prwarden.v1.CreateKeyRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CreateKeyResponse>) responseObserver);
          break;
        case METHODID_LIST_KEYS:
          serviceImpl.listKeys((io.prwarden.v1.ListKeysRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListKeysResponse>) responseObserver);
          break;
        case METHODID_DELETE_KEY:
          serviceImpl.deleteKey((io.prwarden.v1.DeleteKeyRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteKeyResponse>) responseObserver);
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
          getCreateKeyMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CreateKeyRequest,
              io.prwarden.v1.CreateKeyResponse>(
                service, METHODID_CREATE_KEY)))
        .addMethod(
          getListKeysMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListKeysRequest,
              io.prwarden.v1.ListKeysResponse>(
                service, METHODID_LIST_KEYS)))
        .addMethod(
          getDeleteKeyMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.DeleteKeyRequest,
              io.prwarden.v1.DeleteKeyResponse>(
                service, METHODID_DELETE_KEY)))
        .build();
  }

  private static abstract class KeyServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    KeyServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.KeyOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("KeyService");
    }
  }

  private static final class KeyServiceFileDescriptorSupplier
      extends KeyServiceBaseDescriptorSupplier {
    KeyServiceFileDescriptorSupplier() {}
  }

  private static final class KeyServiceMethodDescriptorSupplier
      extends KeyServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    KeyServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (KeyServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new KeyServiceFileDescriptorSupplier())
              .addMethod(getCreateKeyMethod())
              .addMethod(getListKeysMethod())
              .addMethod(getDeleteKeyMethod())
              .build();
        }
      }
    }
    return result;
  }
}
