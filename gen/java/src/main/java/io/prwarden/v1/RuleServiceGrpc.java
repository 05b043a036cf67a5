package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * RuleService lists rulesets and reads, creates, changes, tries and deletes
 * rules of the caller's organization.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
 * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
 * while the database is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class RuleServiceGrpc {

  private RuleServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.RuleService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListRulesetsRequest,
      io.prwarden.v1.ListRulesetsResponse> getListRulesetsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListRulesets",
      requestType = io.prwarden.v1.ListRulesetsRequest.class,
      responseType = io.prwarden.v1.ListRulesetsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListRulesetsRequest,
      io.prwarden.v1.ListRulesetsResponse> getListRulesetsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListRulesetsRequest, io.prwarden.v1.ListRulesetsResponse> getListRulesetsMethod;
    if ((getListRulesetsMethod = RuleServiceGrpc.getListRulesetsMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getListRulesetsMethod = RuleServiceGrpc.getListRulesetsMethod) == null) {
          RuleServiceGrpc.getListRulesetsMethod = getListRulesetsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListRulesetsRequest, io.prwarden.v1.ListRulesetsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListRulesets"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRulesetsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRulesetsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("ListRulesets"))
              .build();
        }
      }
    }
    return getListRulesetsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListRulesRequest,
      io.prwarden.v1.ListRulesResponse> getListRulesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListRules",
      requestType = io.prwarden.v1.ListRulesRequest.class,
      responseType = io.prwarden.v1.ListRulesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListRulesRequest,
      io.prwarden.v1.ListRulesResponse> getListRulesMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListRulesRequest, io.prwarden.v1.ListRulesResponse> getListRulesMethod;
    if ((getListRulesMethod = RuleServiceGrpc.getListRulesMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getListRulesMethod = RuleServiceGrpc.getListRulesMethod) == null) {
          RuleServiceGrpc.getListRulesMethod = getListRulesMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListRulesRequest, io.prwarden.v1.ListRulesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListRules"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRulesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRulesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("ListRules"))
              .build();
        }
      }
    }
    return getListRulesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetRuleRequest,
      io.prwarden.v1.GetRuleResponse> getGetRuleMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetRule",
      requestType = io.prwarden.v1.GetRuleRequest.class,
      responseType = io.prwarden.v1.GetRuleResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetRuleRequest,
      io.prwarden.v1.GetRuleResponse> getGetRuleMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetRuleRequest, io.prwarden.v1.GetRuleResponse> getGetRuleMethod;
    if ((getGetRuleMethod = RuleServiceGrpc.getGetRuleMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getGetRuleMethod = RuleServiceGrpc.getGetRuleMethod) == null) {
          RuleServiceGrpc.getGetRuleMethod = getGetRuleMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetRuleRequest, io.prwarden.v1.GetRuleResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetRule"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetRuleRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetRuleResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("GetRule"))
              .build();
        }
      }
    }
    return getGetRuleMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CreateRuleRequest,
      io.prwarden.v1.CreateRuleResponse> getCreateRuleMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateRule",
      requestType = io.prwarden.v1.CreateRuleRequest.class,
      responseType = io.prwarden.v1.CreateRuleResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CreateRuleRequest,
      io.prwarden.v1.CreateRuleResponse> getCreateRuleMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CreateRuleRequest, io.prwarden.v1.CreateRuleResponse> getCreateRuleMethod;
    if ((getCreateRuleMethod = RuleServiceGrpc.getCreateRuleMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getCreateRuleMethod = RuleServiceGrpc.getCreateRuleMethod) == null) {
          RuleServiceGrpc.getCreateRuleMethod = getCreateRuleMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CreateRuleRequest, io.prwarden.v1.CreateRuleResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateRule"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateRuleRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateRuleResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("CreateRule"))
              .build();
        }
      }
    }
    return getCreateRuleMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.UpdateRuleRequest,
      io.prwarden.v1.UpdateRuleResponse> getUpdateRuleMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateRule",
      requestType = io.prwarden.v1.UpdateRuleRequest.class,
      responseType = io.prwarden.v1.UpdateRuleResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.UpdateRuleRequest,
      io.prwarden.v1.UpdateRuleResponse> getUpdateRuleMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.UpdateRuleRequest, io.prwarden.v1.UpdateRuleResponse> getUpdateRuleMethod;
    if ((getUpdateRuleMethod = RuleServiceGrpc.getUpdateRuleMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getUpdateRuleMethod = RuleServiceGrpc.getUpdateRuleMethod) == null) {
          RuleServiceGrpc.getUpdateRuleMethod = getUpdateRuleMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.UpdateRuleRequest, io.prwarden.v1.UpdateRuleResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateRule"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateRuleRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateRuleResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("UpdateRule"))
              .build();
        }
      }
    }
    return getUpdateRuleMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.BatchRulesRequest,
      io.prwarden.v1.BatchRulesResponse> getBatchRulesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "BatchRules",
      requestType = io.prwarden.v1.BatchRulesRequest.class,
      responseType = io.prwarden.v1.BatchRulesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.BatchRulesRequest,
      io.prwarden.v1.BatchRulesResponse> getBatchRulesMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.BatchRulesRequest, io.prwarden.v1.BatchRulesResponse> getBatchRulesMethod;
    if ((getBatchRulesMethod = RuleServiceGrpc.getBatchRulesMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getBatchRulesMethod = RuleServiceGrpc.getBatchRulesMethod) == null) {
          RuleServiceGrpc.getBatchRulesMethod = getBatchRulesMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.BatchRulesRequest, io.prwarden.v1.BatchRulesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "BatchRules"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.BatchRulesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.BatchRulesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("BatchRules"))
              .build();
        }
      }
    }
    return getBatchRulesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ExportRulesRequest,
      io.prwarden.v1.ExportRulesResponse> getExportRulesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ExportRules",
      requestType = io.prwarden.v1.ExportRulesRequest.class,
      responseType = io.prwarden.v1.ExportRulesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ExportRulesRequest,
      io.prwarden.v1.ExportRulesResponse> getExportRulesMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ExportRulesRequest, io.prwarden.v1.ExportRulesResponse> getExportRulesMethod;
    if ((getExportRulesMethod = RuleServiceGrpc.getExportRulesMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getExportRulesMethod = RuleServiceGrpc.getExportRulesMethod) == null) {
          RuleServiceGrpc.getExportRulesMethod = getExportRulesMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ExportRulesRequest, io.prwarden.v1.ExportRulesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ExportRules"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ExportRulesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ExportRulesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("ExportRules"))
              .build();
        }
      }
    }
    return getExportRulesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListRuleHistoryRequest,
      io.prwarden.v1.ListRuleHistoryResponse> getListRuleHistoryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListRuleHistory",
      requestType = io.prwarden.v1.ListRuleHistoryRequest.class,
      responseType = io.prwarden.v1.ListRuleHistoryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListRuleHistoryRequest,
      io.prwarden.v1.ListRuleHistoryResponse> getListRuleHistoryMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListRuleHistoryRequest, io.prwarden.v1.ListRuleHistoryResponse> getListRuleHistoryMethod;
    if ((getListRuleHistoryMethod = RuleServiceGrpc.getListRuleHistoryMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getListRuleHistoryMethod = RuleServiceGrpc.getListRuleHistoryMethod) == null) {
          RuleServiceGrpc.getListRuleHistoryMethod = getListRuleHistoryMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListRuleHistoryRequest, io.prwarden.v1.ListRuleHistoryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListRuleHistory"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRuleHistoryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRuleHistoryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("ListRuleHistory"))
              .build();
        }
      }
    }
    return getListRuleHistoryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.TestRuleRequest,
      io.prwarden.v1.TestRuleResponse> getTestRuleMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "TestRule",
      requestType = io.prwarden.v1.TestRuleRequest.class,
      responseType = io.prwarden.v1.TestRuleResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.TestRuleRequest,
      io.prwarden.v1.TestRuleResponse> getTestRuleMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.TestRuleRequest, io.prwarden.v1.TestRuleResponse> getTestRuleMethod;
    if ((getTestRuleMethod = RuleServiceGrpc.getTestRuleMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getTestRuleMethod = RuleServiceGrpc.getTestRuleMethod) == null) {
          RuleServiceGrpc.getTestRuleMethod = getTestRuleMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.TestRuleRequest, io.prwarden.v1.TestRuleResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "TestRule"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.TestRuleRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.TestRuleResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("TestRule"))
              .build();
        }
      }
    }
    return getTestRuleMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.TryRulesRequest,
      io.prwarden.v1.TryRulesResponse> getTryRulesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "TryRules",
      requestType = io.prwarden.v1.TryRulesRequest.class,
      responseType = io.prwarden.v1.TryRulesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.TryRulesRequest,
      io.prwarden.v1.TryRulesResponse> getTryRulesMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.TryRulesRequest, io.prwarden.v1.TryRulesResponse> getTryRulesMethod;
    if ((getTryRulesMethod = RuleServiceGrpc.getTryRulesMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getTryRulesMethod = RuleServiceGrpc.getTryRulesMethod) == null) {
          RuleServiceGrpc.getTryRulesMethod = getTryRulesMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.TryRulesRequest, io.prwarden.v1.TryRulesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "TryRules"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.TryRulesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.TryRulesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("TryRules"))
              .build();
        }
      }
    }
    return getTryRulesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.DeleteRuleRequest,
      io.prwarden.v1.DeleteRuleResponse> getDeleteRuleMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteRule",
      requestType = io.prwarden.v1.DeleteRuleRequest.class,
      responseType = io.prwarden.v1.DeleteRuleResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.DeleteRuleRequest,
      io.prwarden.v1.DeleteRuleResponse> getDeleteRuleMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.DeleteRuleRequest, io.prwarden.v1.DeleteRuleResponse> getDeleteRuleMethod;
    if ((getDeleteRuleMethod = RuleServiceGrpc.getDeleteRuleMethod) == null) {
      synchronized (RuleServiceGrpc.class) {
        if ((getDeleteRuleMethod = RuleServiceGrpc.getDeleteRuleMethod) == null) {
          RuleServiceGrpc.getDeleteRuleMethod = getDeleteRuleMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.DeleteRuleRequest, io.prwarden.v1.DeleteRuleResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteRule"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteRuleRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteRuleResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RuleServiceMethodDescriptorSupplier("DeleteRule"))
              .build();
        }
      }
    }
    return getDeleteRuleMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static RuleServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RuleServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RuleServiceStub>() {
        @java.lang.Override
        public RuleServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RuleServiceStub(channel, callOptions);
        }
      };
    return RuleServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static RuleServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RuleServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RuleServiceBlockingV2Stub>() {
        @java.lang.Override
        public RuleServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RuleServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return RuleServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static RuleServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RuleServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RuleServiceBlockingStub>() {
        @java.lang.Override
        public RuleServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RuleServiceBlockingStub(channel, callOptions);
        }
      };
    return RuleServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static RuleServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RuleServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RuleServiceFutureStub>() {
        @java.lang.Override
        public RuleServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RuleServiceFutureStub(channel, callOptions);
        }
      };
    return RuleServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * RuleService lists rulesets and reads, creates, changes, tries and deletes
   * rules of the caller's organization.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * ListRulesets lists the rulesets that are active for the caller's
     * organization: `default`, `custom`, and one for each repository that has
     * rules of its own. Scope: rules:read.
     * </pre>
     */
    default void listRulesets(io.prwarden.v1.ListRulesetsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRulesetsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListRulesetsMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListRules lists the rules of one ruleset, ordered by id. Scope:
     * rules:read. Errors: NOT_FOUND for an unknown ruleset.
     * </pre>
     */
    default void listRules(io.prwarden.v1.ListRulesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRulesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListRulesMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetRule reads one rule: a default rule, or a rule that was created over
     * this API, and what people decided about its findings in a window of days. Scope:
     * rules:read. Errors: NOT_FOUND, INVALID_ARGUMENT for a bad window.
     * </pre>
     */
    default void getRule(io.prwarden.v1.GetRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetRuleResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetRuleMethod(), responseObserver);
    }

    /**
     * <pre>
     * CreateRule creates a custom rule. It applies to reviews that are claimed
     * after the answer. Answered with 201 over REST. Scope: rules:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also when the
     * rule fails its own cases; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a
     * repository that the organization may not scan; ALREADY_EXISTS
     * (RULE_EXISTS) when the id is taken, by a default rule too;
     * FAILED_PRECONDITION (RULE_QUOTA) over 5,000 rules in the organization, or
     * over 16 MiB of them as a document of BatchRules in JSON without blanks.
     * </pre>
     */
    default void createRule(io.prwarden.v1.CreateRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateRuleResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateRuleMethod(), responseObserver);
    }

    /**
     * <pre>
     * UpdateRule changes a custom rule: the fields that the update mask names,
     * or, without one over REST, those that are in the body. A list is replaced as
     * a whole, and a field that is named and not given gets its default. Fields
     * that the server sets, and the id, are left as they are. The new rule applies
     * to reviews that are claimed after the answer. Scope: rules:write.
     * Errors: INVALID_ARGUMENT as for CreateRule, and for a mask that names no
     * field of a rule; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository
     * that the organization may not scan, (DEFAULT_RULE) for a rule of the default
     * ruleset; NOT_FOUND; FAILED_PRECONDITION (RULE_QUOTA) as for CreateRule, for
     * the size; ABORTED (ETAG_MISMATCH) when the rule was changed since the etag of
     * the request, or meanwhile.
     * </pre>
     */
    default void updateRule(io.prwarden.v1.UpdateRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateRuleResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateRuleMethod(), responseObserver);
    }

    /**
     * <pre>
     * BatchRules makes the organization's rules those of a document, in one
     * transaction: it creates, changes and, when asked to, deletes rules. A rule
     * that is as it shall be is left alone, so a second push of the same document
     * changes nothing. Scope: rules:write.
     * The document may have 5,000 rules and 16 MiB, and the cases of changed rules
     * may take 25 seconds. Over REST it is the body. Over gRPC it comes in one or
     * more messages of up to 1 MiB: the rules of all of them count, of the other
     * fields those of the first. An organization has one such call at a time, and
     * a server two.
     * Errors: INVALID_ARGUMENT as for CreateRule, with fields such as
     * `rules[2].pattern`; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a
     * repository that the organization may not scan; ALREADY_EXISTS (RULE_EXISTS)
     * for the id of a default rule; FAILED_PRECONDITION (RULE_QUOTA) as for
     * CreateRule; ABORTED (ETAG_MISMATCH) when rules were changed since the etag of
     * the request, or meanwhile; UNAVAILABLE while another such call runs.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<io.prwarden.v1.BatchRulesRequest> batchRules(
        io.grpc.stub.StreamObserver<io.prwarden.v1.BatchRulesResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getBatchRulesMethod(), responseObserver);
    }

    /**
     * <pre>
     * ExportRules lists all rules that were created over the API, for the
     * organization and for repositories, ordered by id, as a document that
     * BatchRules takes. Scope: rules:read.
     * </pre>
     */
    default void exportRules(io.prwarden.v1.ExportRulesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ExportRulesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getExportRulesMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListRuleHistory lists the changes of a rule that was created over the API,
     * newest first, also when it was deleted. Of an organization's rules the last
     * 50,000 changes are kept. Scope: rules:read. Errors: NOT_FOUND for a rule that
     * never was, or of which no change is kept.
     * </pre>
     */
    default void listRuleHistory(io.prwarden.v1.ListRuleHistoryRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRuleHistoryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListRuleHistoryMethod(), responseObserver);
    }

    /**
     * <pre>
     * TestRule runs a pattern over a text without storing anything. The text is
     * treated as one file of which every line was added. Scope: rules:read.
     * Errors: INVALID_ARGUMENT for a pattern that a rule could not have.
     * </pre>
     */
    default void testRule(io.prwarden.v1.TestRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.TestRuleResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getTestRuleMethod(), responseObserver);
    }

    /**
     * <pre>
     * TryRules runs rules over the pull requests of the organization that were
     * reviewed last, as their reviews saw them, and stores nothing. The rules need
     * not exist; one that does is replaced by the one of that id. Pull requests
     * that can't be read any more have an `error`. Scopes: rules:write, because
     * what a rule hits tells also of text that is masked, and reviews:read because
     * the answer shows what findings do. Their `snippet` is empty without
     * source:read, and where source is switched off, because a rule can be made to
     * match every line.
     * Errors: INVALID_ARGUMENT for a rule that could not be created; UNAVAILABLE
     * while the organization has another trial running, or others have too many.
     * </pre>
     */
    default void tryRules(io.prwarden.v1.TryRulesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.TryRulesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getTryRulesMethod(), responseObserver);
    }

    /**
     * <pre>
     * DeleteRule deletes a custom rule. Reviews that are already running still
     * use it. Answered with 204 and no body over REST. Scope: rules:write.
     * Errors: PERMISSION_DENIED (DEFAULT_RULE) for a rule of the default
     * ruleset, which can only be disabled in a repository's rules file;
     * NOT_FOUND.
     * </pre>
     */
    default void deleteRule(io.prwarden.v1.DeleteRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteRuleResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteRuleMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service RuleService.
   * <pre>
   * RuleService lists rulesets and reads, creates, changes, tries and deletes
   * rules of the caller's organization.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static abstract class RuleServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return RuleServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service RuleService.
   * <pre>
   * RuleService lists rulesets and reads, creates, changes, tries and deletes
   * rules of the caller's organization.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class RuleServiceStub
      extends io.grpc.stub.AbstractAsyncStub<RuleServiceStub> {
    private RuleServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RuleServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RuleServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListRulesets lists the rulesets that are active for the caller's
     * organization: `default`, `custom`, and one for each repository that has
     * rules of its own. Scope: rules:read.
     * </pre>
     */
    public void listRulesets(io.prwarden.v1.ListRulesetsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRulesetsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListRulesetsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListRules lists the rules of one ruleset, ordered by id. Scope:
     * rules:read. Errors: NOT_FOUND for an unknown ruleset.
     * </pre>
     */
    public void listRules(io.prwarden.v1.ListRulesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRulesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListRulesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetRule reads one rule: a default rule, or a rule that was created over
     * this API, and what people decided about its findings in a window of days. Scope:
     * rules:read. Errors: NOT_FOUND, INVALID_ARGUMENT for a bad window.
     * </pre>
     */
    public void getRule(io.prwarden.v1.GetRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetRuleResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetRuleMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CreateRule creates a custom rule. It applies to reviews that are claimed
     * after the answer. Answered with 201 over REST. Scope: rules:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also when the
     * rule fails its own cases; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a
     * repository that the organization may not scan; ALREADY_EXISTS
     * (RULE_EXISTS) when the id is taken, by a default rule too;
     * FAILED_PRECONDITION (RULE_QUOTA) over 5,000 rules in the organization, or
     * over 16 MiB of them as a document of BatchRules in JSON without blanks.
     * </pre>
     */
    public void createRule(io.prwarden.v1.CreateRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateRuleResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateRuleMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * UpdateRule changes a custom rule: the fields that the update mask names,
     * or, without one over REST, those that are in the body. A list is replaced as
     * a whole, and a field that is named and not given gets its default. Fields
     * that the server sets, and the id, are left as they are. The new rule applies
     * to reviews that are claimed after the answer. Scope: rules:write.
     * Errors: INVALID_ARGUMENT as for CreateRule, and for a mask that names no
     * field of a rule; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository
     * that the organization may not scan, (DEFAULT_RULE) for a rule of the default
     * ruleset; NOT_FOUND; FAILED_PRECONDITION (RULE_QUOTA) as for CreateRule, for
     * the size; ABORTED (ETAG_MISMATCH) when the rule was changed since the etag of
     * the request, or meanwhile.
     * </pre>
     */
    public void updateRule(io.prwarden.v1.UpdateRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateRuleResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateRuleMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * BatchRules makes the organization's rules those of a document, in one
     * transaction: it creates, changes and, when asked to, deletes rules. A rule
     * that is as it shall be is left alone, so a second push of the same document
     * changes nothing. Scope: rules:write.
     * The document may have 5,000 rules and 16 MiB, and the cases of changed rules
     * may take 25 seconds. Over REST it is the body. Over gRPC it comes in one or
     * more messages of up to 1 MiB: the rules of all of them count, of the other
     * fields those of the first. An organization has one such call at a time, and
     * a server two.
     * Errors: INVALID_ARGUMENT as for CreateRule, with fields such as
     * `rules[2].pattern`; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a
     * repository that the organization may not scan; ALREADY_EXISTS (RULE_EXISTS)
     * for the id of a default rule; FAILED_PRECONDITION (RULE_QUOTA) as for
     * CreateRule; ABORTED (ETAG_MISMATCH) when rules were changed since the etag of
     * the request, or meanwhile; UNAVAILABLE while another such call runs.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<io.prwarden.v1.BatchRulesRequest> batchRules(
        io.grpc.stub.StreamObserver<io.prwarden.v1.BatchRulesResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getBatchRulesMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * ExportRules lists all rules that were created over the API, for the
     * organization and for repositories, ordered by id, as a document that
     * BatchRules takes. Scope: rules:read.
     * </pre>
     */
    public void exportRules(io.prwarden.v1.ExportRulesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ExportRulesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getExportRulesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListRuleHistory lists the changes of a rule that was created over the API,
     * newest first, also when it was deleted. Of an organization's rules the last
     * 50,000 changes are kept. Scope: rules:read. Errors: NOT_FOUND for a rule that
     * never was, or of which no change is kept.
     * </pre>
     */
    public void listRuleHistory(io.prwarden.v1.ListRuleHistoryRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRuleHistoryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListRuleHistoryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * TestRule runs a pattern over a text without storing anything. The text is
     * treated as one file of which every line was added. Scope: rules:read.
     * Errors: INVALID_ARGUMENT for a pattern that a rule could not have.
     * </pre>
     */
    public void testRule(io.prwarden.v1.TestRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.TestRuleResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getTestRuleMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * TryRules runs rules over the pull requests of the organization that were
     * reviewed last, as their reviews saw them, and stores nothing. The rules need
     * not exist; one that does is replaced by the one of that id. Pull requests
     * that can't be read any more have an `error`. Scopes: rules:write, because
     * what a rule hits tells also of text that is masked, and reviews:read because
     * the answer shows what findings do. Their `snippet` is empty without
     * source:read, and where source is switched off, because a rule can be made to
     * match every line.
     * Errors: INVALID_ARGUMENT for a rule that could not be created; UNAVAILABLE
     * while the organization has another trial running, or others have too many.
     * </pre>
     */
    public void tryRules(io.prwarden.v1.TryRulesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.TryRulesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getTryRulesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * DeleteRule deletes a custom rule. Reviews that are already running still
     * use it. Answered with 204 and no body over REST. Scope: rules:write.
     * Errors: PERMISSION_DENIED (DEFAULT_RULE) for a rule of the default
     * ruleset, which can only be disabled in a repository's rules file;
     * NOT_FOUND.
     * </pre>
     */
    public void deleteRule(io.prwarden.v1.DeleteRuleRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteRuleResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteRuleMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service RuleService.
   * <pre>
   * RuleService lists rulesets and reads, creates, changes, tries and deletes
   * rules of the caller's organization.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class RuleServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<RuleServiceBlockingV2Stub> {
    private RuleServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RuleServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RuleServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * ListRulesets lists the rulesets that are active for the caller's
     * organization: `default`, `custom`, and one for each repository that has
     * rules of its own. Scope: rules:read.
     * </pre>
     */
    public io.prwarden.v1.ListRulesetsResponse listRulesets(io.prwarden.v1.ListRulesetsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListRulesetsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListRules lists the rules of one ruleset, ordered by id. Scope:
     * rules:read. Errors: NOT_FOUND for an unknown ruleset.
     * </pre>
     */
    public io.prwarden.v1.ListRulesResponse listRules(io.prwarden.v1.ListRulesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListRulesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetRule reads one rule: a default rule, or a rule that was created over
     * this API, and what people decided about its findings in a window of days. Scope:
     * rules:read. Errors: NOT_FOUND, INVALID_ARGUMENT for a bad window.
     * </pre>
     */
    public io.prwarden.v1.GetRuleResponse getRule(io.prwarden.v1.GetRuleRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetRuleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CreateRule creates a custom rule. It applies to reviews that are claimed
     * after the answer. Answered with 201 over REST. Scope: rules:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also when the
     * rule fails its own cases; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a
     * repository that the organization may not scan; ALREADY_EXISTS
     * (RULE_EXISTS) when the id is taken, by a default rule too;
     * FAILED_PRECONDITION (RULE_QUOTA) over 5,000 rules in the organization, or
     * over 16 MiB of them as a document of BatchRules in JSON without blanks.
     * </pre>
     */
    public io.prwarden.v1.CreateRuleResponse createRule(io.prwarden.v1.CreateRuleRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateRuleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateRule changes a custom rule: the fields that the update mask names,
     * or, without one over REST, those that are in the body. A list is replaced as
     * a whole, and a field that is named and not given gets its default. Fields
     * that the server sets, and the id, are left as they are. The new rule applies
     * to reviews that are claimed after the answer. Scope: rules:write.
     * Errors: INVALID_ARGUMENT as for CreateRule, and for a mask that names no
     * field of a rule; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository
     * that the organization may not scan, (DEFAULT_RULE) for a rule of the default
     * ruleset; NOT_FOUND; FAILED_PRECONDITION (RULE_QUOTA) as for CreateRule, for
     * the size; ABORTED (ETAG_MISMATCH) when the rule was changed since the etag of
     * the request, or meanwhile.
     * </pre>
     */
    public io.prwarden.v1.UpdateRuleResponse updateRule(io.prwarden.v1.UpdateRuleRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateRuleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * BatchRules makes the organization's rules those of a document, in one
     * transaction: it creates, changes and, when asked to, deletes rules. A rule
     * that is as it shall be is left alone, so a second push of the same document
     * changes nothing. Scope: rules:write.
     * The document may have 5,000 rules and 16 MiB, and the cases of changed rules
     * may take 25 seconds. Over REST it is the body. Over gRPC it comes in one or
     * more messages of up to 1 MiB: the rules of all of them count, of the other
     * fields those of the first. An organization has one such call at a time, and
     * a server two.
     * Errors: INVALID_ARGUMENT as for CreateRule, with fields such as
     * `rules[2].pattern`; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a
     * repository that the organization may not scan; ALREADY_EXISTS (RULE_EXISTS)
     * for the id of a default rule; FAILED_PRECONDITION (RULE_QUOTA) as for
     * CreateRule; ABORTED (ETAG_MISMATCH) when rules were changed since the etag of
     * the request, or meanwhile; UNAVAILABLE while another such call runs.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<io.prwarden.v1.BatchRulesRequest, io.prwarden.v1.BatchRulesResponse>
        batchRules() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getBatchRulesMethod(), getCallOptions());
    }

    /**
     * <pre>
     * ExportRules lists all rules that were created over the API, for the
     * organization and for repositories, ordered by id, as a document that
     * BatchRules takes. Scope: rules:read.
     * </pre>
     */
    public io.prwarden.v1.ExportRulesResponse exportRules(io.prwarden.v1.ExportRulesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getExportRulesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListRuleHistory lists the changes of a rule that was created over the API,
     * newest first, also when it was deleted. Of an organization's rules the last
     * 50,000 changes are kept. Scope: rules:read. Errors: NOT_FOUND for a rule that
     * never was, or of which no change is kept.
     * </pre>
     */
    public io.prwarden.v1.ListRuleHistoryResponse listRuleHistory(io.prwarden.v1.ListRuleHistoryRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListRuleHistoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * TestRule runs a pattern over a text without storing anything. The text is
     * treated as one file of which every line was added. Scope: rules:read.
     * Errors: INVALID_ARGUMENT for a pattern that a rule could not have.
     * </pre>
     */
    public io.prwarden.v1.TestRuleResponse testRule(io.prwarden.v1.TestRuleRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getTestRuleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * TryRules runs rules over the pull requests of the organization that were
     * reviewed last, as their reviews saw them, and stores nothing. The rules need
     * not exist; one that does is replaced by the one of that id. Pull requests
     * that can't be read any more have an `error`. Scopes: rules:write, because
     * what a rule hits tells also of text that is masked, and reviews:read because
     * the answer shows what findings do. Their `snippet` is empty without
     * source:read, and where source is switched off, because a rule can be made to
     * match every line.
     * Errors: INVALID_ARGUMENT for a rule that could not be created; UNAVAILABLE
     * while the organization has another trial running, or others have too many.
     * </pre>
     */
    public io.prwarden.v1.TryRulesResponse tryRules(io.prwarden.v1.TryRulesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getTryRulesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteRule deletes a custom rule. Reviews that are already running still
     * use it. Answered with 204 and no body over REST. Scope: rules:write.
     * Errors: PERMISSION_DENIED (DEFAULT_RULE) for a rule of the default
     * ruleset, which can only be disabled in a repository's rules file;
     * NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.DeleteRuleResponse deleteRule(io.prwarden.v1.DeleteRuleRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteRuleMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service RuleService.
   * <pre>
   * RuleService lists rulesets and reads, creates, changes, tries and deletes
   * rules of the caller's organization.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class RuleServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<RuleServiceBlockingStub> {
    private RuleServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RuleServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RuleServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListRulesets lists the rulesets that are active for the caller's
     * organization: `default`, `custom`, and one for each repository that has
     * rules of its own. Scope: rules:read.
     * </pre>
     */
    public io.prwarden.v1.ListRulesetsResponse listRulesets(io.prwarden.v1.ListRulesetsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListRulesetsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListRules lists the rules of one ruleset, ordered by id. Scope:
     * rules:read. Errors: NOT_FOUND for an unknown ruleset.
     * </pre>
     */
    public io.prwarden.v1.ListRulesResponse listRules(io.prwarden.v1.ListRulesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListRulesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetRule reads one rule: a default rule, or a rule that was created over
     * this API, and what people decided about its findings in a window of days. Scope:
     * rules:read. Errors: NOT_FOUND, INVALID_ARGUMENT for a bad window.
     * </pre>
     */
    public io.prwarden.v1.GetRuleResponse getRule(io.prwarden.v1.GetRuleRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetRuleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CreateRule creates a custom rule. It applies to reviews that are claimed
     * after the answer. Answered with 201 over REST. Scope: rules:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also when the
     * rule fails its own cases; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a
     * repository that the organization may not scan; ALREADY_EXISTS
     * (RULE_EXISTS) when the id is taken, by a default rule too;
     * FAILED_PRECONDITION (RULE_QUOTA) over 5,000 rules in the organization, or
     * over 16 MiB of them as a document of BatchRules in JSON without blanks.
     * </pre>
     */
    public io.prwarden.v1.CreateRuleResponse createRule(io.prwarden.v1.CreateRuleRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateRuleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateRule changes a custom rule: the fields that the update mask names,
     * or, without one over REST, those that are in the body. A list is replaced as
     * a whole, and a field that is named and not given gets its default. Fields
     * that the server sets, and the id, are left as they are. The new rule applies
     * to reviews that are claimed after the answer. Scope: rules:write.
     * Errors: INVALID_ARGUMENT as for CreateRule, and for a mask that names no
     * field of a rule; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository
     * that the organization may not scan, (DEFAULT_RULE) for a rule of the default
     * ruleset; NOT_FOUND; FAILED_PRECONDITION (RULE_QUOTA) as for CreateRule, for
     * the size; ABORTED (ETAG_MISMATCH) when the rule was changed since the etag of
     * the request, or meanwhile.
     * </pre>
     */
    public io.prwarden.v1.UpdateRuleResponse updateRule(io.prwarden.v1.UpdateRuleRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateRuleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ExportRules lists all rules that were created over the API, for the
     * organization and for repositories, ordered by id, as a document that
     * BatchRules takes. Scope: rules:read.
     * </pre>
     */
    public io.prwarden.v1.ExportRulesResponse exportRules(io.prwarden.v1.ExportRulesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getExportRulesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListRuleHistory lists the changes of a rule that was created over the API,
     * newest first, also when it was deleted. Of an organization's rules the last
     * 50,000 changes are kept. Scope: rules:read. Errors: NOT_FOUND for a rule that
     * never was, or of which no change is kept.
     * </pre>
     */
    public io.prwarden.v1.ListRuleHistoryResponse listRuleHistory(io.prwarden.v1.ListRuleHistoryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListRuleHistoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * TestRule runs a pattern over a text without storing anything. The text is
     * treated as one file of which every line was added. Scope: rules:read.
     * Errors: INVALID_ARGUMENT for a pattern that a rule could not have.
     * </pre>
     */
    public io.prwarden.v1.TestRuleResponse testRule(io.prwarden.v1.TestRuleRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getTestRuleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * TryRules runs rules over the pull requests of the organization that were
     * reviewed last, as their reviews saw them, and stores nothing. The rules need
     * not exist; one that does is replaced by the one of that id. Pull requests
     * that can't be read any more have an `error`. Scopes: rules:write, because
     * what a rule hits tells also of text that is masked, and reviews:read because
     * the answer shows what findings do. Their `snippet` is empty without
     * source:read, and where source is switched off, because a rule can be made to
     * match every line.
     * Errors: INVALID_ARGUMENT for a rule that could not be created; UNAVAILABLE
     * while the organization has another trial running, or others have too many.
     * </pre>
     */
    public io.prwarden.v1.TryRulesResponse tryRules(io.prwarden.v1.TryRulesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getTryRulesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteRule deletes a custom rule. Reviews that are already running still
     * use it. Answered with 204 and no body over REST. Scope: rules:write.
     * Errors: PERMISSION_DENIED (DEFAULT_RULE) for a rule of the default
     * ruleset, which can only be disabled in a repository's rules file;
     * NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.DeleteRuleResponse deleteRule(io.prwarden.v1.DeleteRuleRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteRuleMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service RuleService.
   * <pre>
   * RuleService lists rulesets and reads, creates, changes, tries and deletes
   * rules of the caller's organization.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class RuleServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<RuleServiceFutureStub> {
    private RuleServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RuleServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RuleServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListRulesets lists the rulesets that are active for the caller's
     * organization: `default`, `custom`, and one for each repository that has
     * rules of its own. Scope: rules:read.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListRulesetsResponse> listRulesets(
        io.prwarden.v1.ListRulesetsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListRulesetsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListRules lists the rules of one ruleset, ordered by id. Scope:
     * rules:read. Errors: NOT_FOUND for an unknown ruleset.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListRulesResponse> listRules(
        io.prwarden.v1.ListRulesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListRulesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetRule reads one rule: a default rule, or a rule that was created over
     * this API, and what people decided about its findings in a window of days. Scope:
     * rules:read. Errors: NOT_FOUND, INVALID_ARGUMENT for a bad window.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetRuleResponse> getRule(
        io.prwarden.v1.GetRuleRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetRuleMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * CreateRule creates a custom rule. It applies to reviews that are claimed
     * after the answer. Answered with 201 over REST. Scope: rules:write.
     * Errors: INVALID_ARGUMENT with the field and what is allowed, also when the
     * rule fails its own cases; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a
     * repository that the organization may not scan; ALREADY_EXISTS
     * (RULE_EXISTS) when the id is taken, by a default rule too;
     * FAILED_PRECONDITION (RULE_QUOTA) over 5,000 rules in the organization, or
     * over 16 MiB of them as a document of BatchRules in JSON without blanks.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CreateRuleResponse> createRule(
        io.prwarden.v1.CreateRuleRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateRuleMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * UpdateRule changes a custom rule: the fields that the update mask names,
     * or, without one over REST, those that are in the body. A list is replaced as
     * a whole, and a field that is named and not given gets its default. Fields
     * that the server sets, and the id, are left as they are. The new rule applies
     * to reviews that are claimed after the answer. Scope: rules:write.
     * Errors: INVALID_ARGUMENT as for CreateRule, and for a mask that names no
     * field of a rule; PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository
     * that the organization may not scan, (DEFAULT_RULE) for a rule of the default
     * ruleset; NOT_FOUND; FAILED_PRECONDITION (RULE_QUOTA) as for CreateRule, for
     * the size; ABORTED (ETAG_MISMATCH) when the rule was changed since the etag of
     * the request, or meanwhile.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.UpdateRuleResponse> updateRule(
        io.prwarden.v1.UpdateRuleRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateRuleMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ExportRules lists all rules that were created over the API, for the
     * organization and for repositories, ordered by id, as a document that
     * BatchRules takes. Scope: rules:read.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ExportRulesResponse> exportRules(
        io.prwarden.v1.ExportRulesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getExportRulesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListRuleHistory lists the changes of a rule that was created over the API,
     * newest first, also when it was deleted. Of an organization's rules the last
     * 50,000 changes are kept. Scope: rules:read. Errors: NOT_FOUND for a rule that
     * never was, or of which no change is kept.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListRuleHistoryResponse> listRuleHistory(
        io.prwarden.v1.ListRuleHistoryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListRuleHistoryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * TestRule runs a pattern over a text without storing anything. The text is
     * treated as one file of which every line was added. Scope: rules:read.
     * Errors: INVALID_ARGUMENT for a pattern that a rule could not have.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.TestRuleResponse> testRule(
        io.prwarden.v1.TestRuleRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getTestRuleMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * TryRules runs rules over the pull requests of the organization that were
     * reviewed last, as their reviews saw them, and stores nothing. The rules need
     * not exist; one that does is replaced by the one of that id. Pull requests
     * that can't be read any more have an `error`. Scopes: rules:write, because
     * what a rule hits tells also of text that is masked, and reviews:read because
     * the answer shows what findings do. Their `snippet` is empty without
     * source:read, and where source is switched off, because a rule can be made to
     * match every line.
     * Errors: INVALID_ARGUMENT for a rule that could not be created; UNAVAILABLE
     * while the organization has another trial running, or others have too many.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.TryRulesResponse> tryRules(
        io.prwarden.v1.TryRulesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getTryRulesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * DeleteRule deletes a custom rule. Reviews that are already running still
     * use it. Answered with 204 and no body over REST. Scope: rules:write.
     * Errors: PERMISSION_DENIED (DEFAULT_RULE) for a rule of the default
     * ruleset, which can only be disabled in a repository's rules file;
     * NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.DeleteRuleResponse> deleteRule(
        io.prwarden.v1.DeleteRuleRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteRuleMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_RULESETS = 0;
  private static final int METHODID_LIST_RULES = 1;
  private static final int METHODID_GET_RULE = 2;
  private static final int METHODID_CREATE_RULE = 3;
  private static final int METHODID_UPDATE_RULE = 4;
  private static final int METHODID_EXPORT_RULES = 5;
  private static final int METHODID_LIST_RULE_HISTORY = 6;
  private static final int METHODID_TEST_RULE = 7;
  private static final int METHODID_TRY_RULES = 8;
  private static final int METHODID_DELETE_RULE = 9;
  private static final int METHODID_BATCH_RULES = 10;

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
        case METHODID_LIST_RULESETS:
          serviceImpl.listRulesets((io.prwarden.v1.ListRulesetsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListRulesetsResponse>) responseObserver);
          break;
        case METHODID_LIST_RULES:
          serviceImpl.listRules((io.prwarden.v1.ListRulesRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListRulesResponse>) responseObserver);
          break;
        case METHODID_GET_RULE:
          serviceImpl.getRule((io.prwarden.v1.GetRuleRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetRuleResponse>) responseObserver);
          break;
        case METHODID_CREATE_RULE:
          serviceImpl.createRule((io.prwarden.v1.CreateRuleRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CreateRuleResponse>) responseObserver);
          break;
        case METHODID_UPDATE_RULE:
          serviceImpl.updateRule((io.prwarden.v1.UpdateRuleRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateRuleResponse>) responseObserver);
          break;
        case METHODID_EXPORT_RULES:
          serviceImpl.exportRules((io.prwarden.v1.ExportRulesRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ExportRulesResponse>) responseObserver);
          break;
        case METHODID_LIST_RULE_HISTORY:
          serviceImpl.listRuleHistory((io.prwarden.v1.ListRuleHistoryRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListRuleHistoryResponse>) responseObserver);
          break;
        case METHODID_TEST_RULE:
          serviceImpl.testRule((io.prwarden.v1.TestRuleRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.TestRuleResponse>) responseObserver);
          break;
        case METHODID_TRY_RULES:
          serviceImpl.tryRules((io.prwarden.v1.TryRulesRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.TryRulesResponse>) responseObserver);
          break;
        case METHODID_DELETE_RULE:
          serviceImpl.deleteRule((io.prwarden.v1.DeleteRuleRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteRuleResponse>) responseObserver);
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
        case METHODID_BATCH_RULES:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.batchRules(
              (io.grpc.stub.StreamObserver<io.prwarden.v1.BatchRulesResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getListRulesetsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListRulesetsRequest,
              io.prwarden.v1.ListRulesetsResponse>(
                service, METHODID_LIST_RULESETS)))
        .addMethod(
          getListRulesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListRulesRequest,
              io.prwarden.v1.ListRulesResponse>(
                service, METHODID_LIST_RULES)))
        .addMethod(
          getGetRuleMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetRuleRequest,
              io.prwarden.v1.GetRuleResponse>(
                service, METHODID_GET_RULE)))
        .addMethod(
          getCreateRuleMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CreateRuleRequest,
              io.prwarden.v1.CreateRuleResponse>(
                service, METHODID_CREATE_RULE)))
        .addMethod(
          getUpdateRuleMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.UpdateRuleRequest,
              io.prwarden.v1.UpdateRuleResponse>(
                service, METHODID_UPDATE_RULE)))
        .addMethod(
          getBatchRulesMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              io.prwarden.v1.BatchRulesRequest,
              io.prwarden.v1.BatchRulesResponse>(
                service, METHODID_BATCH_RULES)))
        .addMethod(
          getExportRulesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ExportRulesRequest,
              io.prwarden.v1.ExportRulesResponse>(
                service, METHODID_EXPORT_RULES)))
        .addMethod(
          getListRuleHistoryMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListRuleHistoryRequest,
              io.prwarden.v1.ListRuleHistoryResponse>(
                service, METHODID_LIST_RULE_HISTORY)))
        .addMethod(
          getTestRuleMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.TestRuleRequest,
              io.prwarden.v1.TestRuleResponse>(
                service, METHODID_TEST_RULE)))
        .addMethod(
          getTryRulesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.TryRulesRequest,
              io.prwarden.v1.TryRulesResponse>(
                service, METHODID_TRY_RULES)))
        .addMethod(
          getDeleteRuleMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.DeleteRuleRequest,
              io.prwarden.v1.DeleteRuleResponse>(
                service, METHODID_DELETE_RULE)))
        .build();
  }

  private static abstract class RuleServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    RuleServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.RuleOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("RuleService");
    }
  }

  private static final class RuleServiceFileDescriptorSupplier
      extends RuleServiceBaseDescriptorSupplier {
    RuleServiceFileDescriptorSupplier() {}
  }

  private static final class RuleServiceMethodDescriptorSupplier
      extends RuleServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    RuleServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (RuleServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new RuleServiceFileDescriptorSupplier())
              .addMethod(getListRulesetsMethod())
              .addMethod(getListRulesMethod())
              .addMethod(getGetRuleMethod())
              .addMethod(getCreateRuleMethod())
              .addMethod(getUpdateRuleMethod())
              .addMethod(getBatchRulesMethod())
              .addMethod(getExportRulesMethod())
              .addMethod(getListRuleHistoryMethod())
              .addMethod(getTestRuleMethod())
              .addMethod(getTryRulesMethod())
              .addMethod(getDeleteRuleMethod())
              .build();
        }
      }
    }
    return result;
  }
}
