package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * ConnectionService manages how the caller's organization reaches its code
 * hosts: which, with which credentials, and whether that works. No call answers
 * a secret, but for the one for webhooks that the server itself makes.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
 * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
 * while the database is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class ConnectionServiceGrpc {

  private ConnectionServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.ConnectionService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CreateConnectionRequest,
      io.prwarden.v1.CreateConnectionResponse> getCreateConnectionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateConnection",
      requestType = io.prwarden.v1.CreateConnectionRequest.class,
      responseType = io.prwarden.v1.CreateConnectionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CreateConnectionRequest,
      io.prwarden.v1.CreateConnectionResponse> getCreateConnectionMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CreateConnectionRequest, io.prwarden.v1.CreateConnectionResponse> getCreateConnectionMethod;
    if ((getCreateConnectionMethod = ConnectionServiceGrpc.getCreateConnectionMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getCreateConnectionMethod = ConnectionServiceGrpc.getCreateConnectionMethod) == null) {
          ConnectionServiceGrpc.getCreateConnectionMethod = getCreateConnectionMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CreateConnectionRequest, io.prwarden.v1.CreateConnectionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateConnection"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateConnectionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateConnectionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("CreateConnection"))
              .build();
        }
      }
    }
    return getCreateConnectionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.SetUpGitHubAppRequest,
      io.prwarden.v1.SetUpGitHubAppResponse> getSetUpGitHubAppMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SetUpGitHubApp",
      requestType = io.prwarden.v1.SetUpGitHubAppRequest.class,
      responseType = io.prwarden.v1.SetUpGitHubAppResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.SetUpGitHubAppRequest,
      io.prwarden.v1.SetUpGitHubAppResponse> getSetUpGitHubAppMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.SetUpGitHubAppRequest, io.prwarden.v1.SetUpGitHubAppResponse> getSetUpGitHubAppMethod;
    if ((getSetUpGitHubAppMethod = ConnectionServiceGrpc.getSetUpGitHubAppMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getSetUpGitHubAppMethod = ConnectionServiceGrpc.getSetUpGitHubAppMethod) == null) {
          ConnectionServiceGrpc.getSetUpGitHubAppMethod = getSetUpGitHubAppMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.SetUpGitHubAppRequest, io.prwarden.v1.SetUpGitHubAppResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SetUpGitHubApp"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.SetUpGitHubAppRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.SetUpGitHubAppResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("SetUpGitHubApp"))
              .build();
        }
      }
    }
    return getSetUpGitHubAppMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListConnectionsRequest,
      io.prwarden.v1.ListConnectionsResponse> getListConnectionsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListConnections",
      requestType = io.prwarden.v1.ListConnectionsRequest.class,
      responseType = io.prwarden.v1.ListConnectionsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListConnectionsRequest,
      io.prwarden.v1.ListConnectionsResponse> getListConnectionsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListConnectionsRequest, io.prwarden.v1.ListConnectionsResponse> getListConnectionsMethod;
    if ((getListConnectionsMethod = ConnectionServiceGrpc.getListConnectionsMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getListConnectionsMethod = ConnectionServiceGrpc.getListConnectionsMethod) == null) {
          ConnectionServiceGrpc.getListConnectionsMethod = getListConnectionsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListConnectionsRequest, io.prwarden.v1.ListConnectionsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListConnections"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListConnectionsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListConnectionsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("ListConnections"))
              .build();
        }
      }
    }
    return getListConnectionsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetConnectionRequest,
      io.prwarden.v1.GetConnectionResponse> getGetConnectionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetConnection",
      requestType = io.prwarden.v1.GetConnectionRequest.class,
      responseType = io.prwarden.v1.GetConnectionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetConnectionRequest,
      io.prwarden.v1.GetConnectionResponse> getGetConnectionMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetConnectionRequest, io.prwarden.v1.GetConnectionResponse> getGetConnectionMethod;
    if ((getGetConnectionMethod = ConnectionServiceGrpc.getGetConnectionMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getGetConnectionMethod = ConnectionServiceGrpc.getGetConnectionMethod) == null) {
          ConnectionServiceGrpc.getGetConnectionMethod = getGetConnectionMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetConnectionRequest, io.prwarden.v1.GetConnectionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetConnection"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetConnectionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetConnectionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("GetConnection"))
              .build();
        }
      }
    }
    return getGetConnectionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.UpdateConnectionRequest,
      io.prwarden.v1.UpdateConnectionResponse> getUpdateConnectionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateConnection",
      requestType = io.prwarden.v1.UpdateConnectionRequest.class,
      responseType = io.prwarden.v1.UpdateConnectionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.UpdateConnectionRequest,
      io.prwarden.v1.UpdateConnectionResponse> getUpdateConnectionMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.UpdateConnectionRequest, io.prwarden.v1.UpdateConnectionResponse> getUpdateConnectionMethod;
    if ((getUpdateConnectionMethod = ConnectionServiceGrpc.getUpdateConnectionMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getUpdateConnectionMethod = ConnectionServiceGrpc.getUpdateConnectionMethod) == null) {
          ConnectionServiceGrpc.getUpdateConnectionMethod = getUpdateConnectionMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.UpdateConnectionRequest, io.prwarden.v1.UpdateConnectionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateConnection"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateConnectionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateConnectionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("UpdateConnection"))
              .build();
        }
      }
    }
    return getUpdateConnectionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.DeleteConnectionRequest,
      io.prwarden.v1.DeleteConnectionResponse> getDeleteConnectionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteConnection",
      requestType = io.prwarden.v1.DeleteConnectionRequest.class,
      responseType = io.prwarden.v1.DeleteConnectionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.DeleteConnectionRequest,
      io.prwarden.v1.DeleteConnectionResponse> getDeleteConnectionMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.DeleteConnectionRequest, io.prwarden.v1.DeleteConnectionResponse> getDeleteConnectionMethod;
    if ((getDeleteConnectionMethod = ConnectionServiceGrpc.getDeleteConnectionMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getDeleteConnectionMethod = ConnectionServiceGrpc.getDeleteConnectionMethod) == null) {
          ConnectionServiceGrpc.getDeleteConnectionMethod = getDeleteConnectionMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.DeleteConnectionRequest, io.prwarden.v1.DeleteConnectionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteConnection"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteConnectionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteConnectionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("DeleteConnection"))
              .build();
        }
      }
    }
    return getDeleteConnectionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.RotateConnectionSecretRequest,
      io.prwarden.v1.RotateConnectionSecretResponse> getRotateConnectionSecretMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RotateConnectionSecret",
      requestType = io.prwarden.v1.RotateConnectionSecretRequest.class,
      responseType = io.prwarden.v1.RotateConnectionSecretResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.RotateConnectionSecretRequest,
      io.prwarden.v1.RotateConnectionSecretResponse> getRotateConnectionSecretMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.RotateConnectionSecretRequest, io.prwarden.v1.RotateConnectionSecretResponse> getRotateConnectionSecretMethod;
    if ((getRotateConnectionSecretMethod = ConnectionServiceGrpc.getRotateConnectionSecretMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getRotateConnectionSecretMethod = ConnectionServiceGrpc.getRotateConnectionSecretMethod) == null) {
          ConnectionServiceGrpc.getRotateConnectionSecretMethod = getRotateConnectionSecretMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.RotateConnectionSecretRequest, io.prwarden.v1.RotateConnectionSecretResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RotateConnectionSecret"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RotateConnectionSecretRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RotateConnectionSecretResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("RotateConnectionSecret"))
              .build();
        }
      }
    }
    return getRotateConnectionSecretMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.TestConnectionRequest,
      io.prwarden.v1.TestConnectionResponse> getTestConnectionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "TestConnection",
      requestType = io.prwarden.v1.TestConnectionRequest.class,
      responseType = io.prwarden.v1.TestConnectionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.TestConnectionRequest,
      io.prwarden.v1.TestConnectionResponse> getTestConnectionMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.TestConnectionRequest, io.prwarden.v1.TestConnectionResponse> getTestConnectionMethod;
    if ((getTestConnectionMethod = ConnectionServiceGrpc.getTestConnectionMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getTestConnectionMethod = ConnectionServiceGrpc.getTestConnectionMethod) == null) {
          ConnectionServiceGrpc.getTestConnectionMethod = getTestConnectionMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.TestConnectionRequest, io.prwarden.v1.TestConnectionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "TestConnection"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.TestConnectionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.TestConnectionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("TestConnection"))
              .build();
        }
      }
    }
    return getTestConnectionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListConnectionRepositoriesRequest,
      io.prwarden.v1.ListConnectionRepositoriesResponse> getListConnectionRepositoriesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListConnectionRepositories",
      requestType = io.prwarden.v1.ListConnectionRepositoriesRequest.class,
      responseType = io.prwarden.v1.ListConnectionRepositoriesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListConnectionRepositoriesRequest,
      io.prwarden.v1.ListConnectionRepositoriesResponse> getListConnectionRepositoriesMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListConnectionRepositoriesRequest, io.prwarden.v1.ListConnectionRepositoriesResponse> getListConnectionRepositoriesMethod;
    if ((getListConnectionRepositoriesMethod = ConnectionServiceGrpc.getListConnectionRepositoriesMethod) == null) {
      synchronized (ConnectionServiceGrpc.class) {
        if ((getListConnectionRepositoriesMethod = ConnectionServiceGrpc.getListConnectionRepositoriesMethod) == null) {
          ConnectionServiceGrpc.getListConnectionRepositoriesMethod = getListConnectionRepositoriesMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListConnectionRepositoriesRequest, io.prwarden.v1.ListConnectionRepositoriesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListConnectionRepositories"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListConnectionRepositoriesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListConnectionRepositoriesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ConnectionServiceMethodDescriptorSupplier("ListConnectionRepositories"))
              .build();
        }
      }
    }
    return getListConnectionRepositoriesMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static ConnectionServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ConnectionServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ConnectionServiceStub>() {
        @java.lang.Override
        public ConnectionServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ConnectionServiceStub(channel, callOptions);
        }
      };
    return ConnectionServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static ConnectionServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ConnectionServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ConnectionServiceBlockingV2Stub>() {
        @java.lang.Override
        public ConnectionServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ConnectionServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return ConnectionServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static ConnectionServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ConnectionServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ConnectionServiceBlockingStub>() {
        @java.lang.Override
        public ConnectionServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ConnectionServiceBlockingStub(channel, callOptions);
        }
      };
    return ConnectionServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static ConnectionServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ConnectionServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ConnectionServiceFutureStub>() {
        @java.lang.Override
        public ConnectionServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ConnectionServiceFutureStub(channel, callOptions);
        }
      };
    return ConnectionServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * ConnectionService manages how the caller's organization reaches its code
   * hosts: which, with which credentials, and whether that works. No call answers
   * a secret, but for the one for webhooks that the server itself makes.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * CreateConnection makes a connection. The host is not called: TestConnection
     * says whether the credentials are right. Addresses must be https, and public
     * when they are called, unless the operator allows them (`connections_allow`).
     * Answered with 201 over REST. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also for a kind
     * that the server doesn't know; ALREADY_EXISTS (CONNECTION_EXISTS) when the
     * organization has one of this name; FAILED_PRECONDITION (CONNECTION_QUOTA)
     * over 100 connections, (SECRETS_KEY_MISSING) while the operator has given the
     * server no key for secrets.
     * </pre>
     */
    default void createConnection(io.prwarden.v1.CreateConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateConnectionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateConnectionMethod(), responseObserver);
    }

    /**
     * <pre>
     * SetUpGitHubApp begins to make a connection together with its GitHub App, and
     * answers an address for a browser. Its page posts a manifest of the App to
     * GitHub, where somebody who may create Apps of the account confirms it; then
     * the server gets the App's private key and webhook secret from GitHub and
     * stores the connection. Addresses are as in CreateConnection. Scope:
     * hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; ALREADY_EXISTS
     * (CONNECTION_EXISTS) when the organization has one of this name;
     * FAILED_PRECONDITION (CONNECTION_QUOTA) over 100 connections and set-ups,
     * (SECRETS_KEY_MISSING) as for CreateConnection, (PUBLIC_URL_MISSING) while the
     * operator has not told the server its own address.
     * </pre>
     */
    default void setUpGitHubApp(io.prwarden.v1.SetUpGitHubAppRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.SetUpGitHubAppResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSetUpGitHubAppMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListConnections lists the connections of the organization, the oldest
     * first. There are at most 100. Scope: hosts:read.
     * </pre>
     */
    default void listConnections(io.prwarden.v1.ListConnectionsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListConnectionsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListConnectionsMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetConnection reads a connection. Scope: hosts:read. Errors: NOT_FOUND.
     * </pre>
     */
    default void getConnection(io.prwarden.v1.GetConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetConnectionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetConnectionMethod(), responseObserver);
    }

    /**
     * <pre>
     * UpdateConnection changes the fields that are given. The addresses stay as
     * they are, because the secrets belong to them. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * ALREADY_EXISTS (CONNECTION_EXISTS) when another one has the name;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator.
     * </pre>
     */
    default void updateConnection(io.prwarden.v1.UpdateConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateConnectionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateConnectionMethod(), responseObserver);
    }

    /**
     * <pre>
     * DeleteConnection deletes a connection with its secrets. What it published
     * stays at the host. Answered with 204 and no body over REST. Scope:
     * hosts:write. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_DECLARED) for
     * a connection of the operator.
     * </pre>
     */
    default void deleteConnection(io.prwarden.v1.DeleteConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteConnectionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteConnectionMethod(), responseObserver);
    }

    /**
     * <pre>
     * RotateConnectionSecret replaces the secrets that are given, and makes a
     * broken connection active again. Of the secrets for webhooks the one before is
     * still taken, until the next rotation. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator,
     * (SECRETS_KEY_MISSING) as for CreateConnection.
     * </pre>
     */
    default void rotateConnectionSecret(io.prwarden.v1.RotateConnectionSecretRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RotateConnectionSecretResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRotateConnectionSecretMethod(), responseObserver);
    }

    /**
     * <pre>
     * TestConnection asks the host what the credentials may do, keeps the answer
     * and returns the connection as it is then: its state, the reason when it is
     * broken, and the permissions that are missing. Scope: hosts:read. Errors:
     * NOT_FOUND; UNAVAILABLE (HOST_UNAVAILABLE) when the host can't be asked now.
     * </pre>
     */
    default void testConnection(io.prwarden.v1.TestConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.TestConnectionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getTestConnectionMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListConnectionRepositories lists repositories that the credentials reach and
     * that the connection is for, of the first 1,000 that the host names. Scope:
     * hosts:read. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_BROKEN);
     * UNAVAILABLE (HOST_UNAVAILABLE) as for TestConnection.
     * </pre>
     */
    default void listConnectionRepositories(io.prwarden.v1.ListConnectionRepositoriesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListConnectionRepositoriesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListConnectionRepositoriesMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service ConnectionService.
   * <pre>
   * ConnectionService manages how the caller's organization reaches its code
   * hosts: which, with which credentials, and whether that works. No call answers
   * a secret, but for the one for webhooks that the server itself makes.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static abstract class ConnectionServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return ConnectionServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service ConnectionService.
   * <pre>
   * ConnectionService manages how the caller's organization reaches its code
   * hosts: which, with which credentials, and whether that works. No call answers
   * a secret, but for the one for webhooks that the server itself makes.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class ConnectionServiceStub
      extends io.grpc.stub.AbstractAsyncStub<ConnectionServiceStub> {
    private ConnectionServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ConnectionServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ConnectionServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateConnection makes a connection. The host is not called: TestConnection
     * says whether the credentials are right. Addresses must be https, and public
     * when they are called, unless the operator allows them (`connections_allow`).
     * Answered with 201 over REST. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also for a kind
     * that the server doesn't know; ALREADY_EXISTS (CONNECTION_EXISTS) when the
     * organization has one of this name; FAILED_PRECONDITION (CONNECTION_QUOTA)
     * over 100 connections, (SECRETS_KEY_MISSING) while the operator has given the
     * server no key for secrets.
     * </pre>
     */
    public void createConnection(io.prwarden.v1.CreateConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateConnectionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateConnectionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * SetUpGitHubApp begins to make a connection together with its GitHub App, and
     * answers an address for a browser. Its page posts a manifest of the App to
     * GitHub, where somebody who may create Apps of the account confirms it; then
     * the server gets the App's private key and webhook secret from GitHub and
     * stores the connection. Addresses are as in CreateConnection. Scope:
     * hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; ALREADY_EXISTS
     * (CONNECTION_EXISTS) when the organization has one of this name;
     * FAILED_PRECONDITION (CONNECTION_QUOTA) over 100 connections and set-ups,
     * (SECRETS_KEY_MISSING) as for CreateConnection, (PUBLIC_URL_MISSING) while the
     * operator has not told the server its own address.
     * </pre>
     */
    public void setUpGitHubApp(io.prwarden.v1.SetUpGitHubAppRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.SetUpGitHubAppResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSetUpGitHubAppMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListConnections lists the connections of the organization, the oldest
     * first. There are at most 100. Scope: hosts:read.
     * </pre>
     */
    public void listConnections(io.prwarden.v1.ListConnectionsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListConnectionsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListConnectionsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetConnection reads a connection. Scope: hosts:read. Errors: NOT_FOUND.
     * </pre>
     */
    public void getConnection(io.prwarden.v1.GetConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetConnectionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetConnectionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * UpdateConnection changes the fields that are given. The addresses stay as
     * they are, because the secrets belong to them. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * ALREADY_EXISTS (CONNECTION_EXISTS) when another one has the name;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator.
     * </pre>
     */
    public void updateConnection(io.prwarden.v1.UpdateConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateConnectionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateConnectionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * DeleteConnection deletes a connection with its secrets. What it published
     * stays at the host. Answered with 204 and no body over REST. Scope:
     * hosts:write. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_DECLARED) for
     * a connection of the operator.
     * </pre>
     */
    public void deleteConnection(io.prwarden.v1.DeleteConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteConnectionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteConnectionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RotateConnectionSecret replaces the secrets that are given, and makes a
     * broken connection active again. Of the secrets for webhooks the one before is
     * still taken, until the next rotation. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator,
     * (SECRETS_KEY_MISSING) as for CreateConnection.
     * </pre>
     */
    public void rotateConnectionSecret(io.prwarden.v1.RotateConnectionSecretRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RotateConnectionSecretResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRotateConnectionSecretMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * TestConnection asks the host what the credentials may do, keeps the answer
     * and returns the connection as it is then: its state, the reason when it is
     * broken, and the permissions that are missing. Scope: hosts:read. Errors:
     * NOT_FOUND; UNAVAILABLE (HOST_UNAVAILABLE) when the host can't be asked now.
     * </pre>
     */
    public void testConnection(io.prwarden.v1.TestConnectionRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.TestConnectionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getTestConnectionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListConnectionRepositories lists repositories that the credentials reach and
     * that the connection is for, of the first 1,000 that the host names. Scope:
     * hosts:read. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_BROKEN);
     * UNAVAILABLE (HOST_UNAVAILABLE) as for TestConnection.
     * </pre>
     */
    public void listConnectionRepositories(io.prwarden.v1.ListConnectionRepositoriesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListConnectionRepositoriesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListConnectionRepositoriesMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service ConnectionService.
   * <pre>
   * ConnectionService manages how the caller's organization reaches its code
   * hosts: which, with which credentials, and whether that works. No call answers
   * a secret, but for the one for webhooks that the server itself makes.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class ConnectionServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<ConnectionServiceBlockingV2Stub> {
    private ConnectionServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ConnectionServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ConnectionServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateConnection makes a connection. The host is not called: TestConnection
     * says whether the credentials are right. Addresses must be https, and public
     * when they are called, unless the operator allows them (`connections_allow`).
     * Answered with 201 over REST. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also for a kind
     * that the server doesn't know; ALREADY_EXISTS (CONNECTION_EXISTS) when the
     * organization has one of this name; FAILED_PRECONDITION (CONNECTION_QUOTA)
     * over 100 connections, (SECRETS_KEY_MISSING) while the operator has given the
     * server no key for secrets.
     * </pre>
     */
    public io.prwarden.v1.CreateConnectionResponse createConnection(io.prwarden.v1.CreateConnectionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SetUpGitHubApp begins to make a connection together with its GitHub App, and
     * answers an address for a browser. Its page posts a manifest of the App to
     * GitHub, where somebody who may create Apps of the account confirms it; then
     * the server gets the App's private key and webhook secret from GitHub and
     * stores the connection. Addresses are as in CreateConnection. Scope:
     * hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; ALREADY_EXISTS
     * (CONNECTION_EXISTS) when the organization has one of this name;
     * FAILED_PRECONDITION (CONNECTION_QUOTA) over 100 connections and set-ups,
     * (SECRETS_KEY_MISSING) as for CreateConnection, (PUBLIC_URL_MISSING) while the
     * operator has not told the server its own address.
     * </pre>
     */
    public io.prwarden.v1.SetUpGitHubAppResponse setUpGitHubApp(io.prwarden.v1.SetUpGitHubAppRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSetUpGitHubAppMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListConnections lists the connections of the organization, the oldest
     * first. There are at most 100. Scope: hosts:read.
     * </pre>
     */
    public io.prwarden.v1.ListConnectionsResponse listConnections(io.prwarden.v1.ListConnectionsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListConnectionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetConnection reads a connection. Scope: hosts:read. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.GetConnectionResponse getConnection(io.prwarden.v1.GetConnectionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateConnection changes the fields that are given. The addresses stay as
     * they are, because the secrets belong to them. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * ALREADY_EXISTS (CONNECTION_EXISTS) when another one has the name;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator.
     * </pre>
     */
    public io.prwarden.v1.UpdateConnectionResponse updateConnection(io.prwarden.v1.UpdateConnectionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteConnection deletes a connection with its secrets. What it published
     * stays at the host. Answered with 204 and no body over REST. Scope:
     * hosts:write. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_DECLARED) for
     * a connection of the operator.
     * </pre>
     */
    public io.prwarden.v1.DeleteConnectionResponse deleteConnection(io.prwarden.v1.DeleteConnectionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RotateConnectionSecret replaces the secrets that are given, and makes a
     * broken connection active again. Of the secrets for webhooks the one before is
     * still taken, until the next rotation. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator,
     * (SECRETS_KEY_MISSING) as for CreateConnection.
     * </pre>
     */
    public io.prwarden.v1.RotateConnectionSecretResponse rotateConnectionSecret(io.prwarden.v1.RotateConnectionSecretRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRotateConnectionSecretMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * TestConnection asks the host what the credentials may do, keeps the answer
     * and returns the connection as it is then: its state, the reason when it is
     * broken, and the permissions that are missing. Scope: hosts:read. Errors:
     * NOT_FOUND; UNAVAILABLE (HOST_UNAVAILABLE) when the host can't be asked now.
     * </pre>
     */
    public io.prwarden.v1.TestConnectionResponse testConnection(io.prwarden.v1.TestConnectionRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getTestConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListConnectionRepositories lists repositories that the credentials reach and
     * that the connection is for, of the first 1,000 that the host names. Scope:
     * hosts:read. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_BROKEN);
     * UNAVAILABLE (HOST_UNAVAILABLE) as for TestConnection.
     * </pre>
     */
    public io.prwarden.v1.ListConnectionRepositoriesResponse listConnectionRepositories(io.prwarden.v1.ListConnectionRepositoriesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListConnectionRepositoriesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service ConnectionService.
   * <pre>
   * ConnectionService manages how the caller's organization reaches its code
   * hosts: which, with which credentials, and whether that works. No call answers
   * a secret, but for the one for webhooks that the server itself makes.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class ConnectionServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<ConnectionServiceBlockingStub> {
    private ConnectionServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ConnectionServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ConnectionServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateConnection makes a connection. The host is not called: TestConnection
     * says whether the credentials are right. Addresses must be https, and public
     * when they are called, unless the operator allows them (`connections_allow`).
     * Answered with 201 over REST. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also for a kind
     * that the server doesn't know; ALREADY_EXISTS (CONNECTION_EXISTS) when the
     * organization has one of this name; FAILED_PRECONDITION (CONNECTION_QUOTA)
     * over 100 connections, (SECRETS_KEY_MISSING) while the operator has given the
     * server no key for secrets.
     * </pre>
     */
    public io.prwarden.v1.CreateConnectionResponse createConnection(io.prwarden.v1.CreateConnectionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SetUpGitHubApp begins to make a connection together with its GitHub App, and
     * answers an address for a browser. Its page posts a manifest of the App to
     * GitHub, where somebody who may create Apps of the account confirms it; then
     * the server gets the App's private key and webhook secret from GitHub and
     * stores the connection. Addresses are as in CreateConnection. Scope:
     * hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; ALREADY_EXISTS
     * (CONNECTION_EXISTS) when the organization has one of this name;
     * FAILED_PRECONDITION (CONNECTION_QUOTA) over 100 connections and set-ups,
     * (SECRETS_KEY_MISSING) as for CreateConnection, (PUBLIC_URL_MISSING) while the
     * operator has not told the server its own address.
     * </pre>
     */
    public io.prwarden.v1.SetUpGitHubAppResponse setUpGitHubApp(io.prwarden.v1.SetUpGitHubAppRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSetUpGitHubAppMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListConnections lists the connections of the organization, the oldest
     * first. There are at most 100. Scope: hosts:read.
     * </pre>
     */
    public io.prwarden.v1.ListConnectionsResponse listConnections(io.prwarden.v1.ListConnectionsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListConnectionsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetConnection reads a connection. Scope: hosts:read. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.GetConnectionResponse getConnection(io.prwarden.v1.GetConnectionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateConnection changes the fields that are given. The addresses stay as
     * they are, because the secrets belong to them. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * ALREADY_EXISTS (CONNECTION_EXISTS) when another one has the name;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator.
     * </pre>
     */
    public io.prwarden.v1.UpdateConnectionResponse updateConnection(io.prwarden.v1.UpdateConnectionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteConnection deletes a connection with its secrets. What it published
     * stays at the host. Answered with 204 and no body over REST. Scope:
     * hosts:write. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_DECLARED) for
     * a connection of the operator.
     * </pre>
     */
    public io.prwarden.v1.DeleteConnectionResponse deleteConnection(io.prwarden.v1.DeleteConnectionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RotateConnectionSecret replaces the secrets that are given, and makes a
     * broken connection active again. Of the secrets for webhooks the one before is
     * still taken, until the next rotation. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator,
     * (SECRETS_KEY_MISSING) as for CreateConnection.
     * </pre>
     */
    public io.prwarden.v1.RotateConnectionSecretResponse rotateConnectionSecret(io.prwarden.v1.RotateConnectionSecretRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRotateConnectionSecretMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * TestConnection asks the host what the credentials may do, keeps the answer
     * and returns the connection as it is then: its state, the reason when it is
     * broken, and the permissions that are missing. Scope: hosts:read. Errors:
     * NOT_FOUND; UNAVAILABLE (HOST_UNAVAILABLE) when the host can't be asked now.
     * </pre>
     */
    public io.prwarden.v1.TestConnectionResponse testConnection(io.prwarden.v1.TestConnectionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getTestConnectionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListConnectionRepositories lists repositories that the credentials reach and
     * that the connection is for, of the first 1,000 that the host names. Scope:
     * hosts:read. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_BROKEN);
     * UNAVAILABLE (HOST_UNAVAILABLE) as for TestConnection.
     * </pre>
     */
    public io.prwarden.v1.ListConnectionRepositoriesResponse listConnectionRepositories(io.prwarden.v1.ListConnectionRepositoriesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListConnectionRepositoriesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service ConnectionService.
   * <pre>
   * ConnectionService manages how the caller's organization reaches its code
   * hosts: which, with which credentials, and whether that works. No call answers
   * a secret, but for the one for webhooks that the server itself makes.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class ConnectionServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<ConnectionServiceFutureStub> {
    private ConnectionServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ConnectionServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ConnectionServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateConnection makes a connection. The host is not called: TestConnection
     * says whether the credentials are right. Addresses must be https, and public
     * when they are called, unless the operator allows them (`connections_allow`).
     * Answered with 201 over REST. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also for a kind
     * that the server doesn't know; ALREADY_EXISTS (CONNECTION_EXISTS) when the
     * organization has one of this name; FAILED_PRECONDITION (CONNECTION_QUOTA)
     * over 100 connections, (SECRETS_KEY_MISSING) while the operator has given the
     * server no key for secrets.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CreateConnectionResponse> createConnection(
        io.prwarden.v1.CreateConnectionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateConnectionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * SetUpGitHubApp begins to make a connection together with its GitHub App, and
     * answers an address for a browser. Its page posts a manifest of the App to
     * GitHub, where somebody who may create Apps of the account confirms it; then
     * the server gets the App's private key and webhook secret from GitHub and
     * stores the connection. Addresses are as in CreateConnection. Scope:
     * hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; ALREADY_EXISTS
     * (CONNECTION_EXISTS) when the organization has one of this name;
     * FAILED_PRECONDITION (CONNECTION_QUOTA) over 100 connections and set-ups,
     * (SECRETS_KEY_MISSING) as for CreateConnection, (PUBLIC_URL_MISSING) while the
     * operator has not told the server its own address.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.SetUpGitHubAppResponse> setUpGitHubApp(
        io.prwarden.v1.SetUpGitHubAppRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSetUpGitHubAppMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListConnections lists the connections of the organization, the oldest
     * first. There are at most 100. Scope: hosts:read.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListConnectionsResponse> listConnections(
        io.prwarden.v1.ListConnectionsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListConnectionsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetConnection reads a connection. Scope: hosts:read. Errors: NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetConnectionResponse> getConnection(
        io.prwarden.v1.GetConnectionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetConnectionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * UpdateConnection changes the fields that are given. The addresses stay as
     * they are, because the secrets belong to them. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * ALREADY_EXISTS (CONNECTION_EXISTS) when another one has the name;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.UpdateConnectionResponse> updateConnection(
        io.prwarden.v1.UpdateConnectionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateConnectionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * DeleteConnection deletes a connection with its secrets. What it published
     * stays at the host. Answered with 204 and no body over REST. Scope:
     * hosts:write. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_DECLARED) for
     * a connection of the operator.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.DeleteConnectionResponse> deleteConnection(
        io.prwarden.v1.DeleteConnectionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteConnectionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RotateConnectionSecret replaces the secrets that are given, and makes a
     * broken connection active again. Of the secrets for webhooks the one before is
     * still taken, until the next rotation. Scope: hosts:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (CONNECTION_DECLARED) for a connection of the operator,
     * (SECRETS_KEY_MISSING) as for CreateConnection.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.RotateConnectionSecretResponse> rotateConnectionSecret(
        io.prwarden.v1.RotateConnectionSecretRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRotateConnectionSecretMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * TestConnection asks the host what the credentials may do, keeps the answer
     * and returns the connection as it is then: its state, the reason when it is
     * broken, and the permissions that are missing. Scope: hosts:read. Errors:
     * NOT_FOUND; UNAVAILABLE (HOST_UNAVAILABLE) when the host can't be asked now.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.TestConnectionResponse> testConnection(
        io.prwarden.v1.TestConnectionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getTestConnectionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListConnectionRepositories lists repositories that the credentials reach and
     * that the connection is for, of the first 1,000 that the host names. Scope:
     * hosts:read. Errors: NOT_FOUND; FAILED_PRECONDITION (CONNECTION_BROKEN);
     * UNAVAILABLE (HOST_UNAVAILABLE) as for TestConnection.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListConnectionRepositoriesResponse> listConnectionRepositories(
        io.prwarden.v1.ListConnectionRepositoriesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListConnectionRepositoriesMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_CONNECTION = 0;
  private static final int METHODID_SET_UP_GIT_HUB_APP = 1;
  private static final int METHODID_LIST_CONNECTIONS = 2;
  private static final int METHODID_GET_CONNECTION = 3;
  private static final int METHODID_UPDATE_CONNECTION = 4;
  private static final int METHODID_DELETE_CONNECTION = 5;
  private static final int METHODID_ROTATE_CONNECTION_SECRET = 6;
  private static final int METHODID_TEST_CONNECTION = 7;
  private static final int METHODID_LIST_CONNECTION_REPOSITORIES = 8;

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
        case METHODID_CREATE_CONNECTION:
          serviceImpl.createConnection((io.prwarden.v1.CreateConnectionRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CreateConnectionResponse>) responseObserver);
          break;
        case METHODID_SET_UP_GIT_HUB_APP:
          serviceImpl.setUpGitHubApp((io.prwarden.v1.SetUpGitHubAppRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.SetUpGitHubAppResponse>) responseObserver);
          break;
        case METHODID_LIST_CONNECTIONS:
          serviceImpl.listConnections((io.prwarden.v1.ListConnectionsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListConnectionsResponse>) responseObserver);
          break;
        case METHODID_GET_CONNECTION:
          serviceImpl.getConnection((io.prwarden.v1.GetConnectionRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetConnectionResponse>) responseObserver);
          break;
        case METHODID_UPDATE_CONNECTION:
          serviceImpl.updateConnection((io.prwarden.v1.UpdateConnectionRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateConnectionResponse>) responseObserver);
          break;
        case METHODID_DELETE_CONNECTION:
          serviceImpl.deleteConnection((io.prwarden.v1.DeleteConnectionRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteConnectionResponse>) responseObserver);
          break;
        case METHODID_ROTATE_CONNECTION_SECRET:
          serviceImpl.rotateConnectionSecret((io.prwarden.v1.RotateConnectionSecretRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.RotateConnectionSecretResponse>) responseObserver);
          break;
        case METHODID_TEST_CONNECTION:
          serviceImpl.testConnection((io.prwarden.v1.TestConnectionRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.TestConnectionResponse>) responseObserver);
          break;
        case METHODID_LIST_CONNECTION_REPOSITORIES:
          serviceImpl.listConnectionRepositories((io.prwarden.v1.ListConnectionRepositoriesRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListConnectionRepositoriesResponse>) responseObserver);
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
          getCreateConnectionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CreateConnectionRequest,
              io.prwarden.v1.CreateConnectionResponse>(
                service, METHODID_CREATE_CONNECTION)))
        .addMethod(
          getSetUpGitHubAppMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.SetUpGitHubAppRequest,
              io.prwarden.v1.SetUpGitHubAppResponse>(
                service, METHODID_SET_UP_GIT_HUB_APP)))
        .addMethod(
          getListConnectionsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListConnectionsRequest,
              io.prwarden.v1.ListConnectionsResponse>(
                service, METHODID_LIST_CONNECTIONS)))
        .addMethod(
          getGetConnectionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetConnectionRequest,
              io.prwarden.v1.GetConnectionResponse>(
                service, METHODID_GET_CONNECTION)))
        .addMethod(
          getUpdateConnectionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.UpdateConnectionRequest,
              io.prwarden.v1.UpdateConnectionResponse>(
                service, METHODID_UPDATE_CONNECTION)))
        .addMethod(
          getDeleteConnectionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.DeleteConnectionRequest,
              io.prwarden.v1.DeleteConnectionResponse>(
                service, METHODID_DELETE_CONNECTION)))
        .addMethod(
          getRotateConnectionSecretMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.RotateConnectionSecretRequest,
              io.prwarden.v1.RotateConnectionSecretResponse>(
                service, METHODID_ROTATE_CONNECTION_SECRET)))
        .addMethod(
          getTestConnectionMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.TestConnectionRequest,
              io.prwarden.v1.TestConnectionResponse>(
                service, METHODID_TEST_CONNECTION)))
        .addMethod(
          getListConnectionRepositoriesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListConnectionRepositoriesRequest,
              io.prwarden.v1.ListConnectionRepositoriesResponse>(
                service, METHODID_LIST_CONNECTION_REPOSITORIES)))
        .build();
  }

  private static abstract class ConnectionServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    ConnectionServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.ConnectionOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("ConnectionService");
    }
  }

  private static final class ConnectionServiceFileDescriptorSupplier
      extends ConnectionServiceBaseDescriptorSupplier {
    ConnectionServiceFileDescriptorSupplier() {}
  }

  private static final class ConnectionServiceMethodDescriptorSupplier
      extends ConnectionServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    ConnectionServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (ConnectionServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new ConnectionServiceFileDescriptorSupplier())
              .addMethod(getCreateConnectionMethod())
              .addMethod(getSetUpGitHubAppMethod())
              .addMethod(getListConnectionsMethod())
              .addMethod(getGetConnectionMethod())
              .addMethod(getUpdateConnectionMethod())
              .addMethod(getDeleteConnectionMethod())
              .addMethod(getRotateConnectionSecretMethod())
              .addMethod(getTestConnectionMethod())
              .addMethod(getListConnectionRepositoriesMethod())
              .build();
        }
      }
    }
    return result;
  }
}
