package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * AccountService is about whoever calls. No call needs a scope. What is about
 * the account of a person is for people who have signed in, on the pages of the
 * dashboard; an API key has no account.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away;
 * of all but GetAccount PERMISSION_DENIED (reason PERSON_NEEDED) to an API key.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class AccountServiceGrpc {

  private AccountServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.AccountService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetAccountRequest,
      io.prwarden.v1.GetAccountResponse> getGetAccountMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetAccount",
      requestType = io.prwarden.v1.GetAccountRequest.class,
      responseType = io.prwarden.v1.GetAccountResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetAccountRequest,
      io.prwarden.v1.GetAccountResponse> getGetAccountMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetAccountRequest, io.prwarden.v1.GetAccountResponse> getGetAccountMethod;
    if ((getGetAccountMethod = AccountServiceGrpc.getGetAccountMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getGetAccountMethod = AccountServiceGrpc.getGetAccountMethod) == null) {
          AccountServiceGrpc.getGetAccountMethod = getGetAccountMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetAccountRequest, io.prwarden.v1.GetAccountResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetAccount"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetAccountRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetAccountResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("GetAccount"))
              .build();
        }
      }
    }
    return getGetAccountMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.UpdateAccountRequest,
      io.prwarden.v1.UpdateAccountResponse> getUpdateAccountMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateAccount",
      requestType = io.prwarden.v1.UpdateAccountRequest.class,
      responseType = io.prwarden.v1.UpdateAccountResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.UpdateAccountRequest,
      io.prwarden.v1.UpdateAccountResponse> getUpdateAccountMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.UpdateAccountRequest, io.prwarden.v1.UpdateAccountResponse> getUpdateAccountMethod;
    if ((getUpdateAccountMethod = AccountServiceGrpc.getUpdateAccountMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getUpdateAccountMethod = AccountServiceGrpc.getUpdateAccountMethod) == null) {
          AccountServiceGrpc.getUpdateAccountMethod = getUpdateAccountMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.UpdateAccountRequest, io.prwarden.v1.UpdateAccountResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateAccount"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateAccountRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateAccountResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("UpdateAccount"))
              .build();
        }
      }
    }
    return getUpdateAccountMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ChangePasswordRequest,
      io.prwarden.v1.ChangePasswordResponse> getChangePasswordMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ChangePassword",
      requestType = io.prwarden.v1.ChangePasswordRequest.class,
      responseType = io.prwarden.v1.ChangePasswordResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ChangePasswordRequest,
      io.prwarden.v1.ChangePasswordResponse> getChangePasswordMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ChangePasswordRequest, io.prwarden.v1.ChangePasswordResponse> getChangePasswordMethod;
    if ((getChangePasswordMethod = AccountServiceGrpc.getChangePasswordMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getChangePasswordMethod = AccountServiceGrpc.getChangePasswordMethod) == null) {
          AccountServiceGrpc.getChangePasswordMethod = getChangePasswordMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ChangePasswordRequest, io.prwarden.v1.ChangePasswordResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ChangePassword"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ChangePasswordRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ChangePasswordResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("ChangePassword"))
              .build();
        }
      }
    }
    return getChangePasswordMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListSessionsRequest,
      io.prwarden.v1.ListSessionsResponse> getListSessionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListSessions",
      requestType = io.prwarden.v1.ListSessionsRequest.class,
      responseType = io.prwarden.v1.ListSessionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListSessionsRequest,
      io.prwarden.v1.ListSessionsResponse> getListSessionsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListSessionsRequest, io.prwarden.v1.ListSessionsResponse> getListSessionsMethod;
    if ((getListSessionsMethod = AccountServiceGrpc.getListSessionsMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getListSessionsMethod = AccountServiceGrpc.getListSessionsMethod) == null) {
          AccountServiceGrpc.getListSessionsMethod = getListSessionsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListSessionsRequest, io.prwarden.v1.ListSessionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListSessions"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListSessionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListSessionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("ListSessions"))
              .build();
        }
      }
    }
    return getListSessionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.EndSessionRequest,
      io.prwarden.v1.EndSessionResponse> getEndSessionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "EndSession",
      requestType = io.prwarden.v1.EndSessionRequest.class,
      responseType = io.prwarden.v1.EndSessionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.EndSessionRequest,
      io.prwarden.v1.EndSessionResponse> getEndSessionMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.EndSessionRequest, io.prwarden.v1.EndSessionResponse> getEndSessionMethod;
    if ((getEndSessionMethod = AccountServiceGrpc.getEndSessionMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getEndSessionMethod = AccountServiceGrpc.getEndSessionMethod) == null) {
          AccountServiceGrpc.getEndSessionMethod = getEndSessionMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.EndSessionRequest, io.prwarden.v1.EndSessionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "EndSession"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.EndSessionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.EndSessionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("EndSession"))
              .build();
        }
      }
    }
    return getEndSessionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.EndSessionsRequest,
      io.prwarden.v1.EndSessionsResponse> getEndSessionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "EndSessions",
      requestType = io.prwarden.v1.EndSessionsRequest.class,
      responseType = io.prwarden.v1.EndSessionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.EndSessionsRequest,
      io.prwarden.v1.EndSessionsResponse> getEndSessionsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.EndSessionsRequest, io.prwarden.v1.EndSessionsResponse> getEndSessionsMethod;
    if ((getEndSessionsMethod = AccountServiceGrpc.getEndSessionsMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getEndSessionsMethod = AccountServiceGrpc.getEndSessionsMethod) == null) {
          AccountServiceGrpc.getEndSessionsMethod = getEndSessionsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.EndSessionsRequest, io.prwarden.v1.EndSessionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "EndSessions"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.EndSessionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.EndSessionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("EndSessions"))
              .build();
        }
      }
    }
    return getEndSessionsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static AccountServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccountServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccountServiceStub>() {
        @java.lang.Override
        public AccountServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccountServiceStub(channel, callOptions);
        }
      };
    return AccountServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static AccountServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccountServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccountServiceBlockingV2Stub>() {
        @java.lang.Override
        public AccountServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccountServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return AccountServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static AccountServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccountServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccountServiceBlockingStub>() {
        @java.lang.Override
        public AccountServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccountServiceBlockingStub(channel, callOptions);
        }
      };
    return AccountServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static AccountServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccountServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccountServiceFutureStub>() {
        @java.lang.Override
        public AccountServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccountServiceFutureStub(channel, callOptions);
        }
      };
    return AccountServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * AccountService is about whoever calls. No call needs a scope. What is about
   * the account of a person is for people who have signed in, on the pages of the
   * dashboard; an API key has no account.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away;
   * of all but GetAccount PERMISSION_DENIED (reason PERSON_NEEDED) to an API key.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * GetAccount says who calls: an API key, or a person with the organizations
     * that he is a member of, and what he may do in each. Scope: none.
     * </pre>
     */
    default void getAccount(io.prwarden.v1.GetAccountRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetAccountResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetAccountMethod(), responseObserver);
    }

    /**
     * <pre>
     * UpdateAccount gives the caller another name, which others in his organizations
     * see. Over REST the answer is the person himself. Scope: none. Errors:
     * INVALID_ARGUMENT.
     * </pre>
     */
    default void updateAccount(io.prwarden.v1.UpdateAccountRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateAccountResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateAccountMethod(), responseObserver);
    }

    /**
     * <pre>
     * ChangePassword gives the caller another password. All of his sessions but
     * this one end. Answered with 204 and no body over REST. Scope: none.
     * Errors: INVALID_ARGUMENT for a wrong current password, and a new one that is
     * too short, too long or guessed easily; RESOURCE_EXHAUSTED after 5 wrong ones
     * in a minute.
     * </pre>
     */
    default void changePassword(io.prwarden.v1.ChangePasswordRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ChangePasswordResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getChangePasswordMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListSessions lists where the caller has signed in, the last used session
     * first. There are at most 100. Scope: none.
     * </pre>
     */
    default void listSessions(io.prwarden.v1.ListSessionsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListSessionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListSessionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * EndSession ends one of the caller's sessions, everywhere within 5 seconds.
     * Answered with 204 and no body over REST. Scope: none. Errors: NOT_FOUND.
     * </pre>
     */
    default void endSession(io.prwarden.v1.EndSessionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.EndSessionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getEndSessionMethod(), responseObserver);
    }

    /**
     * <pre>
     * EndSessions ends all of the caller's sessions, this one, too, everywhere
     * within 5 seconds. Answered with 204 and no body over REST. Scope: none.
     * </pre>
     */
    default void endSessions(io.prwarden.v1.EndSessionsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.EndSessionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getEndSessionsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service AccountService.
   * <pre>
   * AccountService is about whoever calls. No call needs a scope. What is about
   * the account of a person is for people who have signed in, on the pages of the
   * dashboard; an API key has no account.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away;
   * of all but GetAccount PERMISSION_DENIED (reason PERSON_NEEDED) to an API key.
   * </pre>
   */
  public static abstract class AccountServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return AccountServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service AccountService.
   * <pre>
   * AccountService is about whoever calls. No call needs a scope. What is about
   * the account of a person is for people who have signed in, on the pages of the
   * dashboard; an API key has no account.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away;
   * of all but GetAccount PERMISSION_DENIED (reason PERSON_NEEDED) to an API key.
   * </pre>
   */
  public static final class AccountServiceStub
      extends io.grpc.stub.AbstractAsyncStub<AccountServiceStub> {
    private AccountServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccountServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccountServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * GetAccount says who calls: an API key, or a person with the organizations
     * that he is a member of, and what he may do in each. Scope: none.
     * </pre>
     */
    public void getAccount(io.prwarden.v1.GetAccountRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetAccountResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetAccountMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * UpdateAccount gives the caller another name, which others in his organizations
     * see. Over REST the answer is the person himself. Scope: none. Errors:
     * INVALID_ARGUMENT.
     * </pre>
     */
    public void updateAccount(io.prwarden.v1.UpdateAccountRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateAccountResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateAccountMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ChangePassword gives the caller another password. All of his sessions but
     * this one end. Answered with 204 and no body over REST. Scope: none.
     * Errors: INVALID_ARGUMENT for a wrong current password, and a new one that is
     * too short, too long or guessed easily; RESOURCE_EXHAUSTED after 5 wrong ones
     * in a minute.
     * </pre>
     */
    public void changePassword(io.prwarden.v1.ChangePasswordRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ChangePasswordResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getChangePasswordMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListSessions lists where the caller has signed in, the last used session
     * first. There are at most 100. Scope: none.
     * </pre>
     */
    public void listSessions(io.prwarden.v1.ListSessionsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListSessionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListSessionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * EndSession ends one of the caller's sessions, everywhere within 5 seconds.
     * Answered with 204 and no body over REST. Scope: none. Errors: NOT_FOUND.
     * </pre>
     */
    public void endSession(io.prwarden.v1.EndSessionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.EndSessionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getEndSessionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * EndSessions ends all of the caller's sessions, this one, too, everywhere
     * within 5 seconds. Answered with 204 and no body over REST. Scope: none.
     * </pre>
     */
    public void endSessions(io.prwarden.v1.EndSessionsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.EndSessionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getEndSessionsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service AccountService.
   * <pre>
   * AccountService is about whoever calls. No call needs a scope. What is about
   * the account of a person is for people who have signed in, on the pages of the
   * dashboard; an API key has no account.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away;
   * of all but GetAccount PERMISSION_DENIED (reason PERSON_NEEDED) to an API key.
   * </pre>
   */
  public static final class AccountServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<AccountServiceBlockingV2Stub> {
    private AccountServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccountServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccountServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * GetAccount says who calls: an API key, or a person with the organizations
     * that he is a member of, and what he may do in each. Scope: none.
     * </pre>
     */
    public io.prwarden.v1.GetAccountResponse getAccount(io.prwarden.v1.GetAccountRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetAccountMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateAccount gives the caller another name, which others in his organizations
     * see. Over REST the answer is the person himself. Scope: none. Errors:
     * INVALID_ARGUMENT.
     * </pre>
     */
    public io.prwarden.v1.UpdateAccountResponse updateAccount(io.prwarden.v1.UpdateAccountRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateAccountMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ChangePassword gives the caller another password. All of his sessions but
     * this one end. Answered with 204 and no body over REST. Scope: none.
     * Errors: INVALID_ARGUMENT for a wrong current password, and a new one that is
     * too short, too long or guessed easily; RESOURCE_EXHAUSTED after 5 wrong ones
     * in a minute.
     * </pre>
     */
    public io.prwarden.v1.ChangePasswordResponse changePassword(io.prwarden.v1.ChangePasswordRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getChangePasswordMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListSessions lists where the caller has signed in, the last used session
     * first. There are at most 100. Scope: none.
     * </pre>
     */
    public io.prwarden.v1.ListSessionsResponse listSessions(io.prwarden.v1.ListSessionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListSessionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * EndSession ends one of the caller's sessions, everywhere within 5 seconds.
     * Answered with 204 and no body over REST. Scope: none. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.EndSessionResponse endSession(io.prwarden.v1.EndSessionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getEndSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * EndSessions ends all of the caller's sessions, this one, too, everywhere
     * within 5 seconds. Answered with 204 and no body over REST. Scope: none.
     * </pre>
     */
    public io.prwarden.v1.EndSessionsResponse endSessions(io.prwarden.v1.EndSessionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getEndSessionsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service AccountService.
   * <pre>
   * AccountService is about whoever calls. No call needs a scope. What is about
   * the account of a person is for people who have signed in, on the pages of the
   * dashboard; an API key has no account.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away;
   * of all but GetAccount PERMISSION_DENIED (reason PERSON_NEEDED) to an API key.
   * </pre>
   */
  public static final class AccountServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<AccountServiceBlockingStub> {
    private AccountServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccountServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccountServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * GetAccount says who calls: an API key, or a person with the organizations
     * that he is a member of, and what he may do in each. Scope: none.
     * </pre>
     */
    public io.prwarden.v1.GetAccountResponse getAccount(io.prwarden.v1.GetAccountRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetAccountMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateAccount gives the caller another name, which others in his organizations
     * see. Over REST the answer is the person himself. Scope: none. Errors:
     * INVALID_ARGUMENT.
     * </pre>
     */
    public io.prwarden.v1.UpdateAccountResponse updateAccount(io.prwarden.v1.UpdateAccountRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateAccountMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ChangePassword gives the caller another password. All of his sessions but
     * this one end. Answered with 204 and no body over REST. Scope: none.
     * Errors: INVALID_ARGUMENT for a wrong current password, and a new one that is
     * too short, too long or guessed easily; RESOURCE_EXHAUSTED after 5 wrong ones
     * in a minute.
     * </pre>
     */
    public io.prwarden.v1.ChangePasswordResponse changePassword(io.prwarden.v1.ChangePasswordRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getChangePasswordMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListSessions lists where the caller has signed in, the last used session
     * first. There are at most 100. Scope: none.
     * </pre>
     */
    public io.prwarden.v1.ListSessionsResponse listSessions(io.prwarden.v1.ListSessionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListSessionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * EndSession ends one of the caller's sessions, everywhere within 5 seconds.
     * Answered with 204 and no body over REST. Scope: none. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.EndSessionResponse endSession(io.prwarden.v1.EndSessionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getEndSessionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * EndSessions ends all of the caller's sessions, this one, too, everywhere
     * within 5 seconds. Answered with 204 and no body over REST. Scope: none.
     * </pre>
     */
    public io.prwarden.v1.EndSessionsResponse endSessions(io.prwarden.v1.EndSessionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getEndSessionsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service AccountService.
   * <pre>
   * AccountService is about whoever calls. No call needs a scope. What is about
   * the account of a person is for people who have signed in, on the pages of the
   * dashboard; an API key has no account.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * RESOURCE_EXHAUSTED over a rate limit, UNAVAILABLE while the database is away;
   * of all but GetAccount PERMISSION_DENIED (reason PERSON_NEEDED) to an API key.
   * </pre>
   */
  public static final class AccountServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<AccountServiceFutureStub> {
    private AccountServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccountServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccountServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * GetAccount says who calls: an API key, or a person with the organizations
     * that he is a member of, and what he may do in each. Scope: none.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetAccountResponse> getAccount(
        io.prwarden.v1.GetAccountRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetAccountMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * UpdateAccount gives the caller another name, which others in his organizations
     * see. Over REST the answer is the person himself. Scope: none. Errors:
     * INVALID_ARGUMENT.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.UpdateAccountResponse> updateAccount(
        io.prwarden.v1.UpdateAccountRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateAccountMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ChangePassword gives the caller another password. All of his sessions but
     * this one end. Answered with 204 and no body over REST. Scope: none.
     * Errors: INVALID_ARGUMENT for a wrong current password, and a new one that is
     * too short, too long or guessed easily; RESOURCE_EXHAUSTED after 5 wrong ones
     * in a minute.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ChangePasswordResponse> changePassword(
        io.prwarden.v1.ChangePasswordRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getChangePasswordMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListSessions lists where the caller has signed in, the last used session
     * first. There are at most 100. Scope: none.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListSessionsResponse> listSessions(
        io.prwarden.v1.ListSessionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListSessionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * EndSession ends one of the caller's sessions, everywhere within 5 seconds.
     * Answered with 204 and no body over REST. Scope: none. Errors: NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.EndSessionResponse> endSession(
        io.prwarden.v1.EndSessionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getEndSessionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * EndSessions ends all of the caller's sessions, this one, too, everywhere
     * within 5 seconds. Answered with 204 and no body over REST. Scope: none.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.EndSessionsResponse> endSessions(
        io.prwarden.v1.EndSessionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getEndSessionsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_GET_ACCOUNT = 0;
  private static final int METHODID_UPDATE_ACCOUNT = 1;
  private static final int METHODID_CHANGE_PASSWORD = 2;
  private static final int METHODID_LIST_SESSIONS = 3;
  private static final int METHODID_END_SESSION = 4;
  private static final int METHODID_END_SESSIONS = 5;

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
        case METHODID_GET_ACCOUNT:
          serviceImpl.getAccount((io.prwarden.v1.GetAccountRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetAccountResponse>) responseObserver);
          break;
        case METHODID_UPDATE_ACCOUNT:
          serviceImpl.updateAccount((io.prwarden.v1.UpdateAccountRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateAccountResponse>) responseObserver);
          break;
        case METHODID_CHANGE_PASSWORD:
          serviceImpl.changePassword((io.prwarden.v1.ChangePasswordRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ChangePasswordResponse>) responseObserver);
          break;
        case METHODID_LIST_SESSIONS:
          serviceImpl.listSessions((io.prwarden.v1.ListSessionsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListSessionsResponse>) responseObserver);
          break;
        case METHODID_END_SESSION:
          serviceImpl.endSession((io.prwarden.v1.EndSessionRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.EndSessionResponse>) responseObserver);
          break;
        case METHODID_END_SESSIONS:
          serviceImpl.endSessions((io.prwarden.v1.EndSessionsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.EndSessionsResponse>) responseObserver);
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
          getGetAccountMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetAccountRequest,
              io.prwarden.v1.GetAccountResponse>(
                service, METHODID_GET_ACCOUNT)))
        .addMethod(
          getUpdateAccountMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.UpdateAccountRequest,
              io.prwarden.v1.UpdateAccountResponse>(
                service, METHODID_UPDATE_ACCOUNT)))
        .addMethod(
          getChangePasswordMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ChangePasswordRequest,
              io.prwarden.v1.ChangePasswordResponse>(
                service, METHODID_CHANGE_PASSWORD)))
        .addMethod(
          getListSessionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListSessionsRequest,
              io.prwarden.v1.ListSessionsResponse>(
                service, METHODID_LIST_SESSIONS)))
        .addMethod(
          getEndSessionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.EndSessionRequest,
              io.prwarden.v1.EndSessionResponse>(
                service, METHODID_END_SESSION)))
        .addMethod(
          getEndSessionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.EndSessionsRequest,
              io.prwarden.v1.EndSessionsResponse>(
                service, METHODID_END_SESSIONS)))
        .build();
  }

  private static abstract class AccountServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    AccountServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.Account.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("AccountService");
    }
  }

  private static final class AccountServiceFileDescriptorSupplier
      extends AccountServiceBaseDescriptorSupplier {
    AccountServiceFileDescriptorSupplier() {}
  }

  private static final class AccountServiceMethodDescriptorSupplier
      extends AccountServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    AccountServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (AccountServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new AccountServiceFileDescriptorSupplier())
              .addMethod(getGetAccountMethod())
              .addMethod(getUpdateAccountMethod())
              .addMethod(getChangePasswordMethod())
              .addMethod(getListSessionsMethod())
              .addMethod(getEndSessionMethod())
              .addMethod(getEndSessionsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
