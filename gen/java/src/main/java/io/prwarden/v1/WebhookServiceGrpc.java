package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * WebhookService manages receivers that the caller's organization has told what
 * happens: by signed messages of Standard Webhooks, or in Slack. A message that
 * is not taken is sent again for some three days.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
 * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
 * while the database is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class WebhookServiceGrpc {

  private WebhookServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.WebhookService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CreateWebhookRequest,
      io.prwarden.v1.CreateWebhookResponse> getCreateWebhookMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateWebhook",
      requestType = io.prwarden.v1.CreateWebhookRequest.class,
      responseType = io.prwarden.v1.CreateWebhookResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CreateWebhookRequest,
      io.prwarden.v1.CreateWebhookResponse> getCreateWebhookMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CreateWebhookRequest, io.prwarden.v1.CreateWebhookResponse> getCreateWebhookMethod;
    if ((getCreateWebhookMethod = WebhookServiceGrpc.getCreateWebhookMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getCreateWebhookMethod = WebhookServiceGrpc.getCreateWebhookMethod) == null) {
          WebhookServiceGrpc.getCreateWebhookMethod = getCreateWebhookMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CreateWebhookRequest, io.prwarden.v1.CreateWebhookResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateWebhook"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateWebhookRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateWebhookResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("CreateWebhook"))
              .build();
        }
      }
    }
    return getCreateWebhookMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListWebhooksRequest,
      io.prwarden.v1.ListWebhooksResponse> getListWebhooksMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListWebhooks",
      requestType = io.prwarden.v1.ListWebhooksRequest.class,
      responseType = io.prwarden.v1.ListWebhooksResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListWebhooksRequest,
      io.prwarden.v1.ListWebhooksResponse> getListWebhooksMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListWebhooksRequest, io.prwarden.v1.ListWebhooksResponse> getListWebhooksMethod;
    if ((getListWebhooksMethod = WebhookServiceGrpc.getListWebhooksMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getListWebhooksMethod = WebhookServiceGrpc.getListWebhooksMethod) == null) {
          WebhookServiceGrpc.getListWebhooksMethod = getListWebhooksMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListWebhooksRequest, io.prwarden.v1.ListWebhooksResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListWebhooks"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListWebhooksRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListWebhooksResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("ListWebhooks"))
              .build();
        }
      }
    }
    return getListWebhooksMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetWebhookRequest,
      io.prwarden.v1.GetWebhookResponse> getGetWebhookMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetWebhook",
      requestType = io.prwarden.v1.GetWebhookRequest.class,
      responseType = io.prwarden.v1.GetWebhookResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetWebhookRequest,
      io.prwarden.v1.GetWebhookResponse> getGetWebhookMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetWebhookRequest, io.prwarden.v1.GetWebhookResponse> getGetWebhookMethod;
    if ((getGetWebhookMethod = WebhookServiceGrpc.getGetWebhookMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getGetWebhookMethod = WebhookServiceGrpc.getGetWebhookMethod) == null) {
          WebhookServiceGrpc.getGetWebhookMethod = getGetWebhookMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetWebhookRequest, io.prwarden.v1.GetWebhookResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetWebhook"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetWebhookRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetWebhookResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("GetWebhook"))
              .build();
        }
      }
    }
    return getGetWebhookMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.UpdateWebhookRequest,
      io.prwarden.v1.UpdateWebhookResponse> getUpdateWebhookMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateWebhook",
      requestType = io.prwarden.v1.UpdateWebhookRequest.class,
      responseType = io.prwarden.v1.UpdateWebhookResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.UpdateWebhookRequest,
      io.prwarden.v1.UpdateWebhookResponse> getUpdateWebhookMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.UpdateWebhookRequest, io.prwarden.v1.UpdateWebhookResponse> getUpdateWebhookMethod;
    if ((getUpdateWebhookMethod = WebhookServiceGrpc.getUpdateWebhookMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getUpdateWebhookMethod = WebhookServiceGrpc.getUpdateWebhookMethod) == null) {
          WebhookServiceGrpc.getUpdateWebhookMethod = getUpdateWebhookMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.UpdateWebhookRequest, io.prwarden.v1.UpdateWebhookResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateWebhook"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateWebhookRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateWebhookResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("UpdateWebhook"))
              .build();
        }
      }
    }
    return getUpdateWebhookMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.DeleteWebhookRequest,
      io.prwarden.v1.DeleteWebhookResponse> getDeleteWebhookMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteWebhook",
      requestType = io.prwarden.v1.DeleteWebhookRequest.class,
      responseType = io.prwarden.v1.DeleteWebhookResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.DeleteWebhookRequest,
      io.prwarden.v1.DeleteWebhookResponse> getDeleteWebhookMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.DeleteWebhookRequest, io.prwarden.v1.DeleteWebhookResponse> getDeleteWebhookMethod;
    if ((getDeleteWebhookMethod = WebhookServiceGrpc.getDeleteWebhookMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getDeleteWebhookMethod = WebhookServiceGrpc.getDeleteWebhookMethod) == null) {
          WebhookServiceGrpc.getDeleteWebhookMethod = getDeleteWebhookMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.DeleteWebhookRequest, io.prwarden.v1.DeleteWebhookResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteWebhook"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteWebhookRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteWebhookResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("DeleteWebhook"))
              .build();
        }
      }
    }
    return getDeleteWebhookMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.RotateWebhookSecretRequest,
      io.prwarden.v1.RotateWebhookSecretResponse> getRotateWebhookSecretMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RotateWebhookSecret",
      requestType = io.prwarden.v1.RotateWebhookSecretRequest.class,
      responseType = io.prwarden.v1.RotateWebhookSecretResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.RotateWebhookSecretRequest,
      io.prwarden.v1.RotateWebhookSecretResponse> getRotateWebhookSecretMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.RotateWebhookSecretRequest, io.prwarden.v1.RotateWebhookSecretResponse> getRotateWebhookSecretMethod;
    if ((getRotateWebhookSecretMethod = WebhookServiceGrpc.getRotateWebhookSecretMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getRotateWebhookSecretMethod = WebhookServiceGrpc.getRotateWebhookSecretMethod) == null) {
          WebhookServiceGrpc.getRotateWebhookSecretMethod = getRotateWebhookSecretMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.RotateWebhookSecretRequest, io.prwarden.v1.RotateWebhookSecretResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RotateWebhookSecret"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RotateWebhookSecretRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RotateWebhookSecretResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("RotateWebhookSecret"))
              .build();
        }
      }
    }
    return getRotateWebhookSecretMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.SendTestWebhookRequest,
      io.prwarden.v1.SendTestWebhookResponse> getSendTestWebhookMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SendTestWebhook",
      requestType = io.prwarden.v1.SendTestWebhookRequest.class,
      responseType = io.prwarden.v1.SendTestWebhookResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.SendTestWebhookRequest,
      io.prwarden.v1.SendTestWebhookResponse> getSendTestWebhookMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.SendTestWebhookRequest, io.prwarden.v1.SendTestWebhookResponse> getSendTestWebhookMethod;
    if ((getSendTestWebhookMethod = WebhookServiceGrpc.getSendTestWebhookMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getSendTestWebhookMethod = WebhookServiceGrpc.getSendTestWebhookMethod) == null) {
          WebhookServiceGrpc.getSendTestWebhookMethod = getSendTestWebhookMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.SendTestWebhookRequest, io.prwarden.v1.SendTestWebhookResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SendTestWebhook"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.SendTestWebhookRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.SendTestWebhookResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("SendTestWebhook"))
              .build();
        }
      }
    }
    return getSendTestWebhookMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListWebhookMessagesRequest,
      io.prwarden.v1.ListWebhookMessagesResponse> getListWebhookMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListWebhookMessages",
      requestType = io.prwarden.v1.ListWebhookMessagesRequest.class,
      responseType = io.prwarden.v1.ListWebhookMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListWebhookMessagesRequest,
      io.prwarden.v1.ListWebhookMessagesResponse> getListWebhookMessagesMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListWebhookMessagesRequest, io.prwarden.v1.ListWebhookMessagesResponse> getListWebhookMessagesMethod;
    if ((getListWebhookMessagesMethod = WebhookServiceGrpc.getListWebhookMessagesMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getListWebhookMessagesMethod = WebhookServiceGrpc.getListWebhookMessagesMethod) == null) {
          WebhookServiceGrpc.getListWebhookMessagesMethod = getListWebhookMessagesMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListWebhookMessagesRequest, io.prwarden.v1.ListWebhookMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListWebhookMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListWebhookMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListWebhookMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("ListWebhookMessages"))
              .build();
        }
      }
    }
    return getListWebhookMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.RedeliverWebhookMessageRequest,
      io.prwarden.v1.RedeliverWebhookMessageResponse> getRedeliverWebhookMessageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RedeliverWebhookMessage",
      requestType = io.prwarden.v1.RedeliverWebhookMessageRequest.class,
      responseType = io.prwarden.v1.RedeliverWebhookMessageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.RedeliverWebhookMessageRequest,
      io.prwarden.v1.RedeliverWebhookMessageResponse> getRedeliverWebhookMessageMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.RedeliverWebhookMessageRequest, io.prwarden.v1.RedeliverWebhookMessageResponse> getRedeliverWebhookMessageMethod;
    if ((getRedeliverWebhookMessageMethod = WebhookServiceGrpc.getRedeliverWebhookMessageMethod) == null) {
      synchronized (WebhookServiceGrpc.class) {
        if ((getRedeliverWebhookMessageMethod = WebhookServiceGrpc.getRedeliverWebhookMessageMethod) == null) {
          WebhookServiceGrpc.getRedeliverWebhookMessageMethod = getRedeliverWebhookMessageMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.RedeliverWebhookMessageRequest, io.prwarden.v1.RedeliverWebhookMessageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RedeliverWebhookMessage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RedeliverWebhookMessageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RedeliverWebhookMessageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WebhookServiceMethodDescriptorSupplier("RedeliverWebhookMessage"))
              .build();
        }
      }
    }
    return getRedeliverWebhookMessageMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static WebhookServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<WebhookServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<WebhookServiceStub>() {
        @java.lang.Override
        public WebhookServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new WebhookServiceStub(channel, callOptions);
        }
      };
    return WebhookServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static WebhookServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<WebhookServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<WebhookServiceBlockingV2Stub>() {
        @java.lang.Override
        public WebhookServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new WebhookServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return WebhookServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static WebhookServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<WebhookServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<WebhookServiceBlockingStub>() {
        @java.lang.Override
        public WebhookServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new WebhookServiceBlockingStub(channel, callOptions);
        }
      };
    return WebhookServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static WebhookServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<WebhookServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<WebhookServiceFutureStub>() {
        @java.lang.Override
        public WebhookServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new WebhookServiceFutureStub(channel, callOptions);
        }
      };
    return WebhookServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * WebhookService manages receivers that the caller's organization has told what
   * happens: by signed messages of Standard Webhooks, or in Slack. A message that
   * is not taken is sent again for some three days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * CreateWebhook makes a webhook. Nothing is sent: SendTestWebhook does. The
     * address must be https, and public when it is called, unless the operator
     * allows it (`webhooks_allow`). Answered with 201 over REST. Scope:
     * webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed;
     * FAILED_PRECONDITION (WEBHOOK_QUOTA) over 20 webhooks, (SECRETS_KEY_MISSING)
     * while the operator has given the server no key for secrets.
     * </pre>
     */
    default void createWebhook(io.prwarden.v1.CreateWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateWebhookResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateWebhookMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListWebhooks lists the webhooks of the organization, the oldest first. There
     * are at most 20. Scope: webhooks:read.
     * </pre>
     */
    default void listWebhooks(io.prwarden.v1.ListWebhooksRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListWebhooksResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListWebhooksMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetWebhook reads a webhook. Scope: webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    default void getWebhook(io.prwarden.v1.GetWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetWebhookResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetWebhookMethod(), responseObserver);
    }

    /**
     * <pre>
     * UpdateWebhook changes the fields that are given. What waits for a webhook
     * that is disabled is not sent any more. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (SECRETS_KEY_MISSING) when a new address can't be sealed.
     * </pre>
     */
    default void updateWebhook(io.prwarden.v1.UpdateWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateWebhookResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateWebhookMethod(), responseObserver);
    }

    /**
     * <pre>
     * DeleteWebhook deletes a webhook with its messages. Answered with 204 and no
     * body over REST. Scope: webhooks:write. Errors: NOT_FOUND.
     * </pre>
     */
    default void deleteWebhook(io.prwarden.v1.DeleteWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteWebhookResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteWebhookMethod(), responseObserver);
    }

    /**
     * <pre>
     * RotateWebhookSecret makes a new secret. Messages are signed with the one
     * before, too, until the next rotation. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT for the format slack, which has no secret;
     * NOT_FOUND; FAILED_PRECONDITION (SECRETS_KEY_MISSING) as for CreateWebhook.
     * </pre>
     */
    default void rotateWebhookSecret(io.prwarden.v1.RotateWebhookSecretRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RotateWebhookSecretResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRotateWebhookSecretMethod(), responseObserver);
    }

    /**
     * <pre>
     * SendTestWebhook sends a message of the event `webhook.test`, and does not
     * wait for its delivery: ListWebhookMessages shows it. Scope: webhooks:write.
     * Errors: NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    default void sendTestWebhook(io.prwarden.v1.SendTestWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.SendTestWebhookResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSendTestWebhookMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListWebhookMessages lists the newest 100 messages of a webhook with all
     * attempts to deliver them, the newest first. They are kept for 30 days. Scope:
     * webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    default void listWebhookMessages(io.prwarden.v1.ListWebhookMessagesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListWebhookMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListWebhookMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * RedeliverWebhookMessage has a message sent once more, with the same
     * identifier, whether it was delivered or not. Scope: webhooks:write. Errors:
     * NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    default void redeliverWebhookMessage(io.prwarden.v1.RedeliverWebhookMessageRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RedeliverWebhookMessageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRedeliverWebhookMessageMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service WebhookService.
   * <pre>
   * WebhookService manages receivers that the caller's organization has told what
   * happens: by signed messages of Standard Webhooks, or in Slack. A message that
   * is not taken is sent again for some three days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static abstract class WebhookServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return WebhookServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service WebhookService.
   * <pre>
   * WebhookService manages receivers that the caller's organization has told what
   * happens: by signed messages of Standard Webhooks, or in Slack. A message that
   * is not taken is sent again for some three days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class WebhookServiceStub
      extends io.grpc.stub.AbstractAsyncStub<WebhookServiceStub> {
    private WebhookServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected WebhookServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new WebhookServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateWebhook makes a webhook. Nothing is sent: SendTestWebhook does. The
     * address must be https, and public when it is called, unless the operator
     * allows it (`webhooks_allow`). Answered with 201 over REST. Scope:
     * webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed;
     * FAILED_PRECONDITION (WEBHOOK_QUOTA) over 20 webhooks, (SECRETS_KEY_MISSING)
     * while the operator has given the server no key for secrets.
     * </pre>
     */
    public void createWebhook(io.prwarden.v1.CreateWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateWebhookResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateWebhookMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListWebhooks lists the webhooks of the organization, the oldest first. There
     * are at most 20. Scope: webhooks:read.
     * </pre>
     */
    public void listWebhooks(io.prwarden.v1.ListWebhooksRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListWebhooksResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListWebhooksMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetWebhook reads a webhook. Scope: webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    public void getWebhook(io.prwarden.v1.GetWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetWebhookResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetWebhookMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * UpdateWebhook changes the fields that are given. What waits for a webhook
     * that is disabled is not sent any more. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (SECRETS_KEY_MISSING) when a new address can't be sealed.
     * </pre>
     */
    public void updateWebhook(io.prwarden.v1.UpdateWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateWebhookResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateWebhookMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * DeleteWebhook deletes a webhook with its messages. Answered with 204 and no
     * body over REST. Scope: webhooks:write. Errors: NOT_FOUND.
     * </pre>
     */
    public void deleteWebhook(io.prwarden.v1.DeleteWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteWebhookResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteWebhookMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RotateWebhookSecret makes a new secret. Messages are signed with the one
     * before, too, until the next rotation. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT for the format slack, which has no secret;
     * NOT_FOUND; FAILED_PRECONDITION (SECRETS_KEY_MISSING) as for CreateWebhook.
     * </pre>
     */
    public void rotateWebhookSecret(io.prwarden.v1.RotateWebhookSecretRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RotateWebhookSecretResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRotateWebhookSecretMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * SendTestWebhook sends a message of the event `webhook.test`, and does not
     * wait for its delivery: ListWebhookMessages shows it. Scope: webhooks:write.
     * Errors: NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    public void sendTestWebhook(io.prwarden.v1.SendTestWebhookRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.SendTestWebhookResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSendTestWebhookMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListWebhookMessages lists the newest 100 messages of a webhook with all
     * attempts to deliver them, the newest first. They are kept for 30 days. Scope:
     * webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    public void listWebhookMessages(io.prwarden.v1.ListWebhookMessagesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListWebhookMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListWebhookMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RedeliverWebhookMessage has a message sent once more, with the same
     * identifier, whether it was delivered or not. Scope: webhooks:write. Errors:
     * NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    public void redeliverWebhookMessage(io.prwarden.v1.RedeliverWebhookMessageRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RedeliverWebhookMessageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRedeliverWebhookMessageMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service WebhookService.
   * <pre>
   * WebhookService manages receivers that the caller's organization has told what
   * happens: by signed messages of Standard Webhooks, or in Slack. A message that
   * is not taken is sent again for some three days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class WebhookServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<WebhookServiceBlockingV2Stub> {
    private WebhookServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected WebhookServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new WebhookServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateWebhook makes a webhook. Nothing is sent: SendTestWebhook does. The
     * address must be https, and public when it is called, unless the operator
     * allows it (`webhooks_allow`). Answered with 201 over REST. Scope:
     * webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed;
     * FAILED_PRECONDITION (WEBHOOK_QUOTA) over 20 webhooks, (SECRETS_KEY_MISSING)
     * while the operator has given the server no key for secrets.
     * </pre>
     */
    public io.prwarden.v1.CreateWebhookResponse createWebhook(io.prwarden.v1.CreateWebhookRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListWebhooks lists the webhooks of the organization, the oldest first. There
     * are at most 20. Scope: webhooks:read.
     * </pre>
     */
    public io.prwarden.v1.ListWebhooksResponse listWebhooks(io.prwarden.v1.ListWebhooksRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListWebhooksMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetWebhook reads a webhook. Scope: webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.GetWebhookResponse getWebhook(io.prwarden.v1.GetWebhookRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateWebhook changes the fields that are given. What waits for a webhook
     * that is disabled is not sent any more. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (SECRETS_KEY_MISSING) when a new address can't be sealed.
     * </pre>
     */
    public io.prwarden.v1.UpdateWebhookResponse updateWebhook(io.prwarden.v1.UpdateWebhookRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteWebhook deletes a webhook with its messages. Answered with 204 and no
     * body over REST. Scope: webhooks:write. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.DeleteWebhookResponse deleteWebhook(io.prwarden.v1.DeleteWebhookRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RotateWebhookSecret makes a new secret. Messages are signed with the one
     * before, too, until the next rotation. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT for the format slack, which has no secret;
     * NOT_FOUND; FAILED_PRECONDITION (SECRETS_KEY_MISSING) as for CreateWebhook.
     * </pre>
     */
    public io.prwarden.v1.RotateWebhookSecretResponse rotateWebhookSecret(io.prwarden.v1.RotateWebhookSecretRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRotateWebhookSecretMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SendTestWebhook sends a message of the event `webhook.test`, and does not
     * wait for its delivery: ListWebhookMessages shows it. Scope: webhooks:write.
     * Errors: NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    public io.prwarden.v1.SendTestWebhookResponse sendTestWebhook(io.prwarden.v1.SendTestWebhookRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSendTestWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListWebhookMessages lists the newest 100 messages of a webhook with all
     * attempts to deliver them, the newest first. They are kept for 30 days. Scope:
     * webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.ListWebhookMessagesResponse listWebhookMessages(io.prwarden.v1.ListWebhookMessagesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListWebhookMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RedeliverWebhookMessage has a message sent once more, with the same
     * identifier, whether it was delivered or not. Scope: webhooks:write. Errors:
     * NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    public io.prwarden.v1.RedeliverWebhookMessageResponse redeliverWebhookMessage(io.prwarden.v1.RedeliverWebhookMessageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRedeliverWebhookMessageMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service WebhookService.
   * <pre>
   * WebhookService manages receivers that the caller's organization has told what
   * happens: by signed messages of Standard Webhooks, or in Slack. A message that
   * is not taken is sent again for some three days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class WebhookServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<WebhookServiceBlockingStub> {
    private WebhookServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected WebhookServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new WebhookServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateWebhook makes a webhook. Nothing is sent: SendTestWebhook does. The
     * address must be https, and public when it is called, unless the operator
     * allows it (`webhooks_allow`). Answered with 201 over REST. Scope:
     * webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed;
     * FAILED_PRECONDITION (WEBHOOK_QUOTA) over 20 webhooks, (SECRETS_KEY_MISSING)
     * while the operator has given the server no key for secrets.
     * </pre>
     */
    public io.prwarden.v1.CreateWebhookResponse createWebhook(io.prwarden.v1.CreateWebhookRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListWebhooks lists the webhooks of the organization, the oldest first. There
     * are at most 20. Scope: webhooks:read.
     * </pre>
     */
    public io.prwarden.v1.ListWebhooksResponse listWebhooks(io.prwarden.v1.ListWebhooksRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListWebhooksMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetWebhook reads a webhook. Scope: webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.GetWebhookResponse getWebhook(io.prwarden.v1.GetWebhookRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateWebhook changes the fields that are given. What waits for a webhook
     * that is disabled is not sent any more. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (SECRETS_KEY_MISSING) when a new address can't be sealed.
     * </pre>
     */
    public io.prwarden.v1.UpdateWebhookResponse updateWebhook(io.prwarden.v1.UpdateWebhookRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteWebhook deletes a webhook with its messages. Answered with 204 and no
     * body over REST. Scope: webhooks:write. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.DeleteWebhookResponse deleteWebhook(io.prwarden.v1.DeleteWebhookRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RotateWebhookSecret makes a new secret. Messages are signed with the one
     * before, too, until the next rotation. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT for the format slack, which has no secret;
     * NOT_FOUND; FAILED_PRECONDITION (SECRETS_KEY_MISSING) as for CreateWebhook.
     * </pre>
     */
    public io.prwarden.v1.RotateWebhookSecretResponse rotateWebhookSecret(io.prwarden.v1.RotateWebhookSecretRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRotateWebhookSecretMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SendTestWebhook sends a message of the event `webhook.test`, and does not
     * wait for its delivery: ListWebhookMessages shows it. Scope: webhooks:write.
     * Errors: NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    public io.prwarden.v1.SendTestWebhookResponse sendTestWebhook(io.prwarden.v1.SendTestWebhookRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSendTestWebhookMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListWebhookMessages lists the newest 100 messages of a webhook with all
     * attempts to deliver them, the newest first. They are kept for 30 days. Scope:
     * webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.ListWebhookMessagesResponse listWebhookMessages(io.prwarden.v1.ListWebhookMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListWebhookMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RedeliverWebhookMessage has a message sent once more, with the same
     * identifier, whether it was delivered or not. Scope: webhooks:write. Errors:
     * NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    public io.prwarden.v1.RedeliverWebhookMessageResponse redeliverWebhookMessage(io.prwarden.v1.RedeliverWebhookMessageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRedeliverWebhookMessageMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service WebhookService.
   * <pre>
   * WebhookService manages receivers that the caller's organization has told what
   * happens: by signed messages of Standard Webhooks, or in Slack. A message that
   * is not taken is sent again for some three days.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class WebhookServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<WebhookServiceFutureStub> {
    private WebhookServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected WebhookServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new WebhookServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateWebhook makes a webhook. Nothing is sent: SendTestWebhook does. The
     * address must be https, and public when it is called, unless the operator
     * allows it (`webhooks_allow`). Answered with 201 over REST. Scope:
     * webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed;
     * FAILED_PRECONDITION (WEBHOOK_QUOTA) over 20 webhooks, (SECRETS_KEY_MISSING)
     * while the operator has given the server no key for secrets.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CreateWebhookResponse> createWebhook(
        io.prwarden.v1.CreateWebhookRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateWebhookMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListWebhooks lists the webhooks of the organization, the oldest first. There
     * are at most 20. Scope: webhooks:read.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListWebhooksResponse> listWebhooks(
        io.prwarden.v1.ListWebhooksRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListWebhooksMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetWebhook reads a webhook. Scope: webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetWebhookResponse> getWebhook(
        io.prwarden.v1.GetWebhookRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetWebhookMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * UpdateWebhook changes the fields that are given. What waits for a webhook
     * that is disabled is not sent any more. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed; NOT_FOUND;
     * FAILED_PRECONDITION (SECRETS_KEY_MISSING) when a new address can't be sealed.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.UpdateWebhookResponse> updateWebhook(
        io.prwarden.v1.UpdateWebhookRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateWebhookMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * DeleteWebhook deletes a webhook with its messages. Answered with 204 and no
     * body over REST. Scope: webhooks:write. Errors: NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.DeleteWebhookResponse> deleteWebhook(
        io.prwarden.v1.DeleteWebhookRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteWebhookMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RotateWebhookSecret makes a new secret. Messages are signed with the one
     * before, too, until the next rotation. Scope: webhooks:write.
     * Errors: INVALID_ARGUMENT for the format slack, which has no secret;
     * NOT_FOUND; FAILED_PRECONDITION (SECRETS_KEY_MISSING) as for CreateWebhook.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.RotateWebhookSecretResponse> rotateWebhookSecret(
        io.prwarden.v1.RotateWebhookSecretRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRotateWebhookSecretMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * SendTestWebhook sends a message of the event `webhook.test`, and does not
     * wait for its delivery: ListWebhookMessages shows it. Scope: webhooks:write.
     * Errors: NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.SendTestWebhookResponse> sendTestWebhook(
        io.prwarden.v1.SendTestWebhookRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSendTestWebhookMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListWebhookMessages lists the newest 100 messages of a webhook with all
     * attempts to deliver them, the newest first. They are kept for 30 days. Scope:
     * webhooks:read. Errors: NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListWebhookMessagesResponse> listWebhookMessages(
        io.prwarden.v1.ListWebhookMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListWebhookMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RedeliverWebhookMessage has a message sent once more, with the same
     * identifier, whether it was delivered or not. Scope: webhooks:write. Errors:
     * NOT_FOUND; FAILED_PRECONDITION (WEBHOOK_DISABLED).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.RedeliverWebhookMessageResponse> redeliverWebhookMessage(
        io.prwarden.v1.RedeliverWebhookMessageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRedeliverWebhookMessageMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_WEBHOOK = 0;
  private static final int METHODID_LIST_WEBHOOKS = 1;
  private static final int METHODID_GET_WEBHOOK = 2;
  private static final int METHODID_UPDATE_WEBHOOK = 3;
  private static final int METHODID_DELETE_WEBHOOK = 4;
  private static final int METHODID_ROTATE_WEBHOOK_SECRET = 5;
  private static final int METHODID_SEND_TEST_WEBHOOK = 6;
  private static final int METHODID_LIST_WEBHOOK_MESSAGES = 7;
  private static final int METHODID_REDELIVER_WEBHOOK_MESSAGE = 8;

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
        case METHODID_CREATE_WEBHOOK:
          serviceImpl.createWebhook((io.prwarden.v1.CreateWebhookRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CreateWebhookResponse>) responseObserver);
          break;
        case METHODID_LIST_WEBHOOKS:
          serviceImpl.listWebhooks((io.prwarden.v1.ListWebhooksRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListWebhooksResponse>) responseObserver);
          break;
        case METHODID_GET_WEBHOOK:
          serviceImpl.getWebhook((io.prwarden.v1.GetWebhookRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetWebhookResponse>) responseObserver);
          break;
        case METHODID_UPDATE_WEBHOOK:
          serviceImpl.updateWebhook((io.prwarden.v1.UpdateWebhookRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateWebhookResponse>) responseObserver);
          break;
        case METHODID_DELETE_WEBHOOK:
          serviceImpl.deleteWebhook((io.prwarden.v1.DeleteWebhookRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteWebhookResponse>) responseObserver);
          break;
        case METHODID_ROTATE_WEBHOOK_SECRET:
          serviceImpl.rotateWebhookSecret((io.prwarden.v1.RotateWebhookSecretRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.RotateWebhookSecretResponse>) responseObserver);
          break;
        case METHODID_SEND_TEST_WEBHOOK:
          serviceImpl.sendTestWebhook((io.prwarden.v1.SendTestWebhookRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.SendTestWebhookResponse>) responseObserver);
          break;
        case METHODID_LIST_WEBHOOK_MESSAGES:
          serviceImpl.listWebhookMessages((io.prwarden.v1.ListWebhookMessagesRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListWebhookMessagesResponse>) responseObserver);
          break;
        case METHODID_REDELIVER_WEBHOOK_MESSAGE:
          serviceImpl.redeliverWebhookMessage((io.prwarden.v1.RedeliverWebhookMessageRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.RedeliverWebhookMessageResponse>) responseObserver);
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
          getCreateWebhookMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CreateWebhookRequest,
              io.prwarden.v1.CreateWebhookResponse>(
                service, METHODID_CREATE_WEBHOOK)))
        .addMethod(
          getListWebhooksMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListWebhooksRequest,
              io.prwarden.v1.ListWebhooksResponse>(
                service, METHODID_LIST_WEBHOOKS)))
        .addMethod(
          getGetWebhookMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetWebhookRequest,
              io.prwarden.v1.GetWebhookResponse>(
                service, METHODID_GET_WEBHOOK)))
        .addMethod(
          getUpdateWebhookMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.UpdateWebhookRequest,
              io.prwarden.v1.UpdateWebhookResponse>(
                service, METHODID_UPDATE_WEBHOOK)))
        .addMethod(
          getDeleteWebhookMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.DeleteWebhookRequest,
              io.prwarden.v1.DeleteWebhookResponse>(
                service, METHODID_DELETE_WEBHOOK)))
        .addMethod(
          getRotateWebhookSecretMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.RotateWebhookSecretRequest,
              io.prwarden.v1.RotateWebhookSecretResponse>(
                service, METHODID_ROTATE_WEBHOOK_SECRET)))
        .addMethod(
          getSendTestWebhookMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.SendTestWebhookRequest,
              io.prwarden.v1.SendTestWebhookResponse>(
                service, METHODID_SEND_TEST_WEBHOOK)))
        .addMethod(
          getListWebhookMessagesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListWebhookMessagesRequest,
              io.prwarden.v1.ListWebhookMessagesResponse>(
                service, METHODID_LIST_WEBHOOK_MESSAGES)))
        .addMethod(
          getRedeliverWebhookMessageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.RedeliverWebhookMessageRequest,
              io.prwarden.v1.RedeliverWebhookMessageResponse>(
                service, METHODID_REDELIVER_WEBHOOK_MESSAGE)))
        .build();
  }

  private static abstract class WebhookServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    WebhookServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.WebhookOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("WebhookService");
    }
  }

  private static final class WebhookServiceFileDescriptorSupplier
      extends WebhookServiceBaseDescriptorSupplier {
    WebhookServiceFileDescriptorSupplier() {}
  }

  private static final class WebhookServiceMethodDescriptorSupplier
      extends WebhookServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    WebhookServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (WebhookServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new WebhookServiceFileDescriptorSupplier())
              .addMethod(getCreateWebhookMethod())
              .addMethod(getListWebhooksMethod())
              .addMethod(getGetWebhookMethod())
              .addMethod(getUpdateWebhookMethod())
              .addMethod(getDeleteWebhookMethod())
              .addMethod(getRotateWebhookSecretMethod())
              .addMethod(getSendTestWebhookMethod())
              .addMethod(getListWebhookMessagesMethod())
              .addMethod(getRedeliverWebhookMessageMethod())
              .build();
        }
      }
    }
    return result;
  }
}
