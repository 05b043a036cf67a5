package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * ReviewService starts scans of pull requests and reads their results.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
 * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
 * while the database is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class ReviewServiceGrpc {

  private ReviewServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.ReviewService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CreateReviewRequest,
      io.prwarden.v1.CreateReviewResponse> getCreateReviewMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateReview",
      requestType = io.prwarden.v1.CreateReviewRequest.class,
      responseType = io.prwarden.v1.CreateReviewResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CreateReviewRequest,
      io.prwarden.v1.CreateReviewResponse> getCreateReviewMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CreateReviewRequest, io.prwarden.v1.CreateReviewResponse> getCreateReviewMethod;
    if ((getCreateReviewMethod = ReviewServiceGrpc.getCreateReviewMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getCreateReviewMethod = ReviewServiceGrpc.getCreateReviewMethod) == null) {
          ReviewServiceGrpc.getCreateReviewMethod = getCreateReviewMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CreateReviewRequest, io.prwarden.v1.CreateReviewResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateReview"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateReviewRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateReviewResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("CreateReview"))
              .build();
        }
      }
    }
    return getCreateReviewMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetReviewRequest,
      io.prwarden.v1.GetReviewResponse> getGetReviewMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetReview",
      requestType = io.prwarden.v1.GetReviewRequest.class,
      responseType = io.prwarden.v1.GetReviewResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetReviewRequest,
      io.prwarden.v1.GetReviewResponse> getGetReviewMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetReviewRequest, io.prwarden.v1.GetReviewResponse> getGetReviewMethod;
    if ((getGetReviewMethod = ReviewServiceGrpc.getGetReviewMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getGetReviewMethod = ReviewServiceGrpc.getGetReviewMethod) == null) {
          ReviewServiceGrpc.getGetReviewMethod = getGetReviewMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetReviewRequest, io.prwarden.v1.GetReviewResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetReview"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetReviewRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetReviewResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("GetReview"))
              .build();
        }
      }
    }
    return getGetReviewMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListReviewsRequest,
      io.prwarden.v1.ListReviewsResponse> getListReviewsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListReviews",
      requestType = io.prwarden.v1.ListReviewsRequest.class,
      responseType = io.prwarden.v1.ListReviewsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListReviewsRequest,
      io.prwarden.v1.ListReviewsResponse> getListReviewsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListReviewsRequest, io.prwarden.v1.ListReviewsResponse> getListReviewsMethod;
    if ((getListReviewsMethod = ReviewServiceGrpc.getListReviewsMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getListReviewsMethod = ReviewServiceGrpc.getListReviewsMethod) == null) {
          ReviewServiceGrpc.getListReviewsMethod = getListReviewsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListReviewsRequest, io.prwarden.v1.ListReviewsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListReviews"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListReviewsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListReviewsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("ListReviews"))
              .build();
        }
      }
    }
    return getListReviewsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CountReviewsRequest,
      io.prwarden.v1.CountReviewsResponse> getCountReviewsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CountReviews",
      requestType = io.prwarden.v1.CountReviewsRequest.class,
      responseType = io.prwarden.v1.CountReviewsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CountReviewsRequest,
      io.prwarden.v1.CountReviewsResponse> getCountReviewsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CountReviewsRequest, io.prwarden.v1.CountReviewsResponse> getCountReviewsMethod;
    if ((getCountReviewsMethod = ReviewServiceGrpc.getCountReviewsMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getCountReviewsMethod = ReviewServiceGrpc.getCountReviewsMethod) == null) {
          ReviewServiceGrpc.getCountReviewsMethod = getCountReviewsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CountReviewsRequest, io.prwarden.v1.CountReviewsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CountReviews"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CountReviewsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CountReviewsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("CountReviews"))
              .build();
        }
      }
    }
    return getCountReviewsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListFindingsRequest,
      io.prwarden.v1.ListFindingsResponse> getListFindingsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListFindings",
      requestType = io.prwarden.v1.ListFindingsRequest.class,
      responseType = io.prwarden.v1.ListFindingsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListFindingsRequest,
      io.prwarden.v1.ListFindingsResponse> getListFindingsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListFindingsRequest, io.prwarden.v1.ListFindingsResponse> getListFindingsMethod;
    if ((getListFindingsMethod = ReviewServiceGrpc.getListFindingsMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getListFindingsMethod = ReviewServiceGrpc.getListFindingsMethod) == null) {
          ReviewServiceGrpc.getListFindingsMethod = getListFindingsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListFindingsRequest, io.prwarden.v1.ListFindingsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListFindings"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListFindingsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListFindingsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("ListFindings"))
              .build();
        }
      }
    }
    return getListFindingsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.SearchFindingsRequest,
      io.prwarden.v1.SearchFindingsResponse> getSearchFindingsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SearchFindings",
      requestType = io.prwarden.v1.SearchFindingsRequest.class,
      responseType = io.prwarden.v1.SearchFindingsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.SearchFindingsRequest,
      io.prwarden.v1.SearchFindingsResponse> getSearchFindingsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.SearchFindingsRequest, io.prwarden.v1.SearchFindingsResponse> getSearchFindingsMethod;
    if ((getSearchFindingsMethod = ReviewServiceGrpc.getSearchFindingsMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getSearchFindingsMethod = ReviewServiceGrpc.getSearchFindingsMethod) == null) {
          ReviewServiceGrpc.getSearchFindingsMethod = getSearchFindingsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.SearchFindingsRequest, io.prwarden.v1.SearchFindingsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SearchFindings"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.SearchFindingsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.SearchFindingsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("SearchFindings"))
              .build();
        }
      }
    }
    return getSearchFindingsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListRepositoriesRequest,
      io.prwarden.v1.ListRepositoriesResponse> getListRepositoriesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListRepositories",
      requestType = io.prwarden.v1.ListRepositoriesRequest.class,
      responseType = io.prwarden.v1.ListRepositoriesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListRepositoriesRequest,
      io.prwarden.v1.ListRepositoriesResponse> getListRepositoriesMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListRepositoriesRequest, io.prwarden.v1.ListRepositoriesResponse> getListRepositoriesMethod;
    if ((getListRepositoriesMethod = ReviewServiceGrpc.getListRepositoriesMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getListRepositoriesMethod = ReviewServiceGrpc.getListRepositoriesMethod) == null) {
          ReviewServiceGrpc.getListRepositoriesMethod = getListRepositoriesMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListRepositoriesRequest, io.prwarden.v1.ListRepositoriesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListRepositories"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRepositoriesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListRepositoriesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("ListRepositories"))
              .build();
        }
      }
    }
    return getListRepositoriesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetSarifRequest,
      com.google.api.HttpBody> getGetSarifMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetSarif",
      requestType = io.prwarden.v1.GetSarifRequest.class,
      responseType = com.google.api.HttpBody.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetSarifRequest,
      com.google.api.HttpBody> getGetSarifMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetSarifRequest, com.google.api.HttpBody> getGetSarifMethod;
    if ((getGetSarifMethod = ReviewServiceGrpc.getGetSarifMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getGetSarifMethod = ReviewServiceGrpc.getGetSarifMethod) == null) {
          ReviewServiceGrpc.getGetSarifMethod = getGetSarifMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetSarifRequest, com.google.api.HttpBody>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetSarif"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetSarifRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  com.google.api.HttpBody.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("GetSarif"))
              .build();
        }
      }
    }
    return getGetSarifMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetDiffRequest,
      io.prwarden.v1.GetDiffResponse> getGetDiffMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetDiff",
      requestType = io.prwarden.v1.GetDiffRequest.class,
      responseType = io.prwarden.v1.GetDiffResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetDiffRequest,
      io.prwarden.v1.GetDiffResponse> getGetDiffMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetDiffRequest, io.prwarden.v1.GetDiffResponse> getGetDiffMethod;
    if ((getGetDiffMethod = ReviewServiceGrpc.getGetDiffMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getGetDiffMethod = ReviewServiceGrpc.getGetDiffMethod) == null) {
          ReviewServiceGrpc.getGetDiffMethod = getGetDiffMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetDiffRequest, io.prwarden.v1.GetDiffResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetDiff"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetDiffRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetDiffResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("GetDiff"))
              .build();
        }
      }
    }
    return getGetDiffMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CancelReviewRequest,
      io.prwarden.v1.CancelReviewResponse> getCancelReviewMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CancelReview",
      requestType = io.prwarden.v1.CancelReviewRequest.class,
      responseType = io.prwarden.v1.CancelReviewResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CancelReviewRequest,
      io.prwarden.v1.CancelReviewResponse> getCancelReviewMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CancelReviewRequest, io.prwarden.v1.CancelReviewResponse> getCancelReviewMethod;
    if ((getCancelReviewMethod = ReviewServiceGrpc.getCancelReviewMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getCancelReviewMethod = ReviewServiceGrpc.getCancelReviewMethod) == null) {
          ReviewServiceGrpc.getCancelReviewMethod = getCancelReviewMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CancelReviewRequest, io.prwarden.v1.CancelReviewResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CancelReview"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CancelReviewRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CancelReviewResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("CancelReview"))
              .build();
        }
      }
    }
    return getCancelReviewMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.WatchReviewRequest,
      io.prwarden.v1.WatchReviewResponse> getWatchReviewMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "WatchReview",
      requestType = io.prwarden.v1.WatchReviewRequest.class,
      responseType = io.prwarden.v1.WatchReviewResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.WatchReviewRequest,
      io.prwarden.v1.WatchReviewResponse> getWatchReviewMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.WatchReviewRequest, io.prwarden.v1.WatchReviewResponse> getWatchReviewMethod;
    if ((getWatchReviewMethod = ReviewServiceGrpc.getWatchReviewMethod) == null) {
      synchronized (ReviewServiceGrpc.class) {
        if ((getWatchReviewMethod = ReviewServiceGrpc.getWatchReviewMethod) == null) {
          ReviewServiceGrpc.getWatchReviewMethod = getWatchReviewMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.WatchReviewRequest, io.prwarden.v1.WatchReviewResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "WatchReview"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.WatchReviewRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.WatchReviewResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ReviewServiceMethodDescriptorSupplier("WatchReview"))
              .build();
        }
      }
    }
    return getWatchReviewMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static ReviewServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ReviewServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ReviewServiceStub>() {
        @java.lang.Override
        public ReviewServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ReviewServiceStub(channel, callOptions);
        }
      };
    return ReviewServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static ReviewServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ReviewServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ReviewServiceBlockingV2Stub>() {
        @java.lang.Override
        public ReviewServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ReviewServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return ReviewServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static ReviewServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ReviewServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ReviewServiceBlockingStub>() {
        @java.lang.Override
        public ReviewServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ReviewServiceBlockingStub(channel, callOptions);
        }
      };
    return ReviewServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static ReviewServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ReviewServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ReviewServiceFutureStub>() {
        @java.lang.Override
        public ReviewServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ReviewServiceFutureStub(channel, callOptions);
        }
      };
    return ReviewServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * ReviewService starts scans of pull requests and reads their results.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * CreateReview starts a scan of one pull request. The review is stored
     * durably before it is answered, with 202 over REST. Scope: reviews:write.
     * The request header (gRPC metadata) `Idempotency-Key`, 1 to 255 visible
     * ASCII characters, makes a retry safe: for 24 hours the same key with the
     * same request gets the first answer again, unchanged.
     * Errors: INVALID_ARGUMENT for a bad field or an unknown ruleset;
     * PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository that the
     * organization may not scan; ABORTED (IDEMPOTENCY_CONFLICT) when the
     * idempotency key was used with another request; UNAVAILABLE (QUEUE_FULL)
     * while 10,000 reviews of the organization wait.
     * </pre>
     */
    default void createReview(io.prwarden.v1.CreateReviewRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateReviewResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateReviewMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetReview reads a review in any state. Scope: reviews:read. Errors:
     * NOT_FOUND, also for another organization's review.
     * </pre>
     */
    default void getReview(io.prwarden.v1.GetReviewRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetReviewResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetReviewMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListReviews lists the organization's reviews, newest first, without their
     * findings. With `query`, `created_by` or several filters a page looks at 2000
     * reviews at most, so it may have fewer than `page_size`, or none, and yet a
     * `next_page_token`. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter
     * or page token.
     * </pre>
     */
    default void listReviews(io.prwarden.v1.ListReviewsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListReviewsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListReviewsMethod(), responseObserver);
    }

    /**
     * <pre>
     * CountReviews counts the organization's reviews by where they stand. Each count
     * ends at 1000, which stands for 1000 or more. With `query`, `created_by`, `repo` or
     * `pr_number` it looks at the newest 2000 reviews at most, and says so in `partial`.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter.
     * </pre>
     */
    default void countReviews(io.prwarden.v1.CountReviewsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CountReviewsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCountReviewsMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListFindings pages through the findings of a review, in the order of file,
     * line and rule id; those that were fixed and those that are suppressed, too,
     * when they are asked for. Scope: reviews:read. Errors: NOT_FOUND;
     * INVALID_ARGUMENT for a bad filter or page token; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was canceled.
     * </pre>
     */
    default void listFindings(io.prwarden.v1.ListFindingsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListFindingsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListFindingsMethod(), responseObserver);
    }

    /**
     * <pre>
     * SearchFindings lists the findings that the latest complete review of each pull
     * request reports, or counts them by rule, file or repository. Without `decision`
     * they are those that verdicts are decided by. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    default void searchFindings(io.prwarden.v1.SearchFindingsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.SearchFindingsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSearchFindingsMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListRepositories lists the repositories that have reviews, by their names.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    default void listRepositories(io.prwarden.v1.ListRepositoriesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRepositoriesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListRepositoriesMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetSarif reads the findings of a complete review as a SARIF 2.1.0 log
     * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), shaped for GitHub code
     * scanning: media type application/sarif+json, at most 25,000 results, the
     * most severe. Scope: reviews:read. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was
     * canceled.
     * </pre>
     */
    default void getSarif(io.prwarden.v1.GetSarifRequest request,
        io.grpc.stub.StreamObserver<com.google.api.HttpBody> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetSarifMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetDiff reads changed lines around the findings of a complete review, as its
     * scan compared them: the head with where it left the base. The lines are read
     * from the scanner's cache, and from the code host when that lacks them, for
     * this answer only: no source is stored. What rules match that mask is replaced
     * by `****` on both sides of the diff, and so are equal texts elsewhere in the
     * answer. Scope: source:read, which no key has unless it was asked for.
     * An answer has at most 64 files, 20,000 lines and 4 MiB, and what takes longer
     * than 2 seconds to mask comes on the next page.
     * Errors: NOT_FOUND, also for another organization's review; INVALID_ARGUMENT
     * for a bad field or page token; FAILED_PRECONDITION (REVIEW_NOT_COMPLETE) for a
     * review that waits, runs, failed or was canceled; UNAVAILABLE while no scanner
     * or code host can be reached. That source can't be shown is no error:
     * `availability` says so.
     * </pre>
     */
    default void getDiff(io.prwarden.v1.GetDiffRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetDiffResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetDiffMethod(), responseObserver);
    }

    /**
     * <pre>
     * CancelReview stops a queued or running review and answers it in its new
     * state. Scope: reviews:write. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_FINISHED) when it is complete, failed or canceled already.
     * </pre>
     */
    default void cancelReview(io.prwarden.v1.CancelReviewRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CancelReviewResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCancelReviewMethod(), responseObserver);
    }

    /**
     * <pre>
     * WatchReview streams the state of a review: at once as it is, then after
     * every change of state and on progress, and a keep-alive every 15 seconds.
     * The last message has a final state and the stream ends. Over REST it is
     * newline-delimited JSON, each line `{"result": …}`, or `{"error": …}` when
     * it breaks. Scope: reviews:read. Errors: NOT_FOUND; UNAVAILABLE
     * (WATCH_LIMIT) over 100 open watches of one key.
     * </pre>
     */
    default void watchReview(io.prwarden.v1.WatchReviewRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.WatchReviewResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchReviewMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service ReviewService.
   * <pre>
   * ReviewService starts scans of pull requests and reads their results.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static abstract class ReviewServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return ReviewServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service ReviewService.
   * <pre>
   * ReviewService starts scans of pull requests and reads their results.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class ReviewServiceStub
      extends io.grpc.stub.AbstractAsyncStub<ReviewServiceStub> {
    private ReviewServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ReviewServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ReviewServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateReview starts a scan of one pull request. The review is stored
     * durably before it is answered, with 202 over REST. Scope: reviews:write.
     * The request header (gRPC metadata) `Idempotency-Key`, 1 to 255 visible
     * ASCII characters, makes a retry safe: for 24 hours the same key with the
     * same request gets the first answer again, unchanged.
     * Errors: INVALID_ARGUMENT for a bad field or an unknown ruleset;
     * PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository that the
     * organization may not scan; ABORTED (IDEMPOTENCY_CONFLICT) when the
     * idempotency key was used with another request; UNAVAILABLE (QUEUE_FULL)
     * while 10,000 reviews of the organization wait.
     * </pre>
     */
    public void createReview(io.prwarden.v1.CreateReviewRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateReviewResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateReviewMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetReview reads a review in any state. Scope: reviews:read. Errors:
     * NOT_FOUND, also for another organization's review.
     * </pre>
     */
    public void getReview(io.prwarden.v1.GetReviewRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetReviewResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetReviewMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListReviews lists the organization's reviews, newest first, without their
     * findings. With `query`, `created_by` or several filters a page looks at 2000
     * reviews at most, so it may have fewer than `page_size`, or none, and yet a
     * `next_page_token`. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter
     * or page token.
     * </pre>
     */
    public void listReviews(io.prwarden.v1.ListReviewsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListReviewsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListReviewsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CountReviews counts the organization's reviews by where they stand. Each count
     * ends at 1000, which stands for 1000 or more. With `query`, `created_by`, `repo` or
     * `pr_number` it looks at the newest 2000 reviews at most, and says so in `partial`.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter.
     * </pre>
     */
    public void countReviews(io.prwarden.v1.CountReviewsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CountReviewsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCountReviewsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListFindings pages through the findings of a review, in the order of file,
     * line and rule id; those that were fixed and those that are suppressed, too,
     * when they are asked for. Scope: reviews:read. Errors: NOT_FOUND;
     * INVALID_ARGUMENT for a bad filter or page token; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was canceled.
     * </pre>
     */
    public void listFindings(io.prwarden.v1.ListFindingsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListFindingsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListFindingsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * SearchFindings lists the findings that the latest complete review of each pull
     * request reports, or counts them by rule, file or repository. Without `decision`
     * they are those that verdicts are decided by. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public void searchFindings(io.prwarden.v1.SearchFindingsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.SearchFindingsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSearchFindingsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListRepositories lists the repositories that have reviews, by their names.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public void listRepositories(io.prwarden.v1.ListRepositoriesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListRepositoriesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListRepositoriesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetSarif reads the findings of a complete review as a SARIF 2.1.0 log
     * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), shaped for GitHub code
     * scanning: media type application/sarif+json, at most 25,000 results, the
     * most severe. Scope: reviews:read. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was
     * canceled.
     * </pre>
     */
    public void getSarif(io.prwarden.v1.GetSarifRequest request,
        io.grpc.stub.StreamObserver<com.google.api.HttpBody> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetSarifMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetDiff reads changed lines around the findings of a complete review, as its
     * scan compared them: the head with where it left the base. The lines are read
     * from the scanner's cache, and from the code host when that lacks them, for
     * this answer only: no source is stored. What rules match that mask is replaced
     * by `****` on both sides of the diff, and so are equal texts elsewhere in the
     * answer. Scope: source:read, which no key has unless it was asked for.
     * An answer has at most 64 files, 20,000 lines and 4 MiB, and what takes longer
     * than 2 seconds to mask comes on the next page.
     * Errors: NOT_FOUND, also for another organization's review; INVALID_ARGUMENT
     * for a bad field or page token; FAILED_PRECONDITION (REVIEW_NOT_COMPLETE) for a
     * review that waits, runs, failed or was canceled; UNAVAILABLE while no scanner
     * or code host can be reached. That source can't be shown is no error:
     * `availability` says so.
     * </pre>
     */
    public void getDiff(io.prwarden.v1.GetDiffRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetDiffResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetDiffMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CancelReview stops a queued or running review and answers it in its new
     * state. Scope: reviews:write. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_FINISHED) when it is complete, failed or canceled already.
     * </pre>
     */
    public void cancelReview(io.prwarden.v1.CancelReviewRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CancelReviewResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCancelReviewMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * WatchReview streams the state of a review: at once as it is, then after
     * every change of state and on progress, and a keep-alive every 15 seconds.
     * The last message has a final state and the stream ends. Over REST it is
     * newline-delimited JSON, each line `{"result": …}`, or `{"error": …}` when
     * it breaks. Scope: reviews:read. Errors: NOT_FOUND; UNAVAILABLE
     * (WATCH_LIMIT) over 100 open watches of one key.
     * </pre>
     */
    public void watchReview(io.prwarden.v1.WatchReviewRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.WatchReviewResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchReviewMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service ReviewService.
   * <pre>
   * ReviewService starts scans of pull requests and reads their results.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class ReviewServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<ReviewServiceBlockingV2Stub> {
    private ReviewServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ReviewServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ReviewServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateReview starts a scan of one pull request. The review is stored
     * durably before it is answered, with 202 over REST. Scope: reviews:write.
     * The request header (gRPC metadata) `Idempotency-Key`, 1 to 255 visible
     * ASCII characters, makes a retry safe: for 24 hours the same key with the
     * same request gets the first answer again, unchanged.
     * Errors: INVALID_ARGUMENT for a bad field or an unknown ruleset;
     * PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository that the
     * organization may not scan; ABORTED (IDEMPOTENCY_CONFLICT) when the
     * idempotency key was used with another request; UNAVAILABLE (QUEUE_FULL)
     * while 10,000 reviews of the organization wait.
     * </pre>
     */
    public io.prwarden.v1.CreateReviewResponse createReview(io.prwarden.v1.CreateReviewRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateReviewMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetReview reads a review in any state. Scope: reviews:read. Errors:
     * NOT_FOUND, also for another organization's review.
     * </pre>
     */
    public io.prwarden.v1.GetReviewResponse getReview(io.prwarden.v1.GetReviewRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetReviewMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListReviews lists the organization's reviews, newest first, without their
     * findings. With `query`, `created_by` or several filters a page looks at 2000
     * reviews at most, so it may have fewer than `page_size`, or none, and yet a
     * `next_page_token`. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter
     * or page token.
     * </pre>
     */
    public io.prwarden.v1.ListReviewsResponse listReviews(io.prwarden.v1.ListReviewsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListReviewsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CountReviews counts the organization's reviews by where they stand. Each count
     * ends at 1000, which stands for 1000 or more. With `query`, `created_by`, `repo` or
     * `pr_number` it looks at the newest 2000 reviews at most, and says so in `partial`.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter.
     * </pre>
     */
    public io.prwarden.v1.CountReviewsResponse countReviews(io.prwarden.v1.CountReviewsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCountReviewsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListFindings pages through the findings of a review, in the order of file,
     * line and rule id; those that were fixed and those that are suppressed, too,
     * when they are asked for. Scope: reviews:read. Errors: NOT_FOUND;
     * INVALID_ARGUMENT for a bad filter or page token; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was canceled.
     * </pre>
     */
    public io.prwarden.v1.ListFindingsResponse listFindings(io.prwarden.v1.ListFindingsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListFindingsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SearchFindings lists the findings that the latest complete review of each pull
     * request reports, or counts them by rule, file or repository. Without `decision`
     * they are those that verdicts are decided by. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public io.prwarden.v1.SearchFindingsResponse searchFindings(io.prwarden.v1.SearchFindingsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSearchFindingsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListRepositories lists the repositories that have reviews, by their names.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public io.prwarden.v1.ListRepositoriesResponse listRepositories(io.prwarden.v1.ListRepositoriesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListRepositoriesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetSarif reads the findings of a complete review as a SARIF 2.1.0 log
     * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), shaped for GitHub code
     * scanning: media type application/sarif+json, at most 25,000 results, the
     * most severe. Scope: reviews:read. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was
     * canceled.
     * </pre>
     */
    public com.google.api.HttpBody getSarif(io.prwarden.v1.GetSarifRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetSarifMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetDiff reads changed lines around the findings of a complete review, as its
     * scan compared them: the head with where it left the base. The lines are read
     * from the scanner's cache, and from the code host when that lacks them, for
     * this answer only: no source is stored. What rules match that mask is replaced
     * by `****` on both sides of the diff, and so are equal texts elsewhere in the
     * answer. Scope: source:read, which no key has unless it was asked for.
     * An answer has at most 64 files, 20,000 lines and 4 MiB, and what takes longer
     * than 2 seconds to mask comes on the next page.
     * Errors: NOT_FOUND, also for another organization's review; INVALID_ARGUMENT
     * for a bad field or page token; FAILED_PRECONDITION (REVIEW_NOT_COMPLETE) for a
     * review that waits, runs, failed or was canceled; UNAVAILABLE while no scanner
     * or code host can be reached. That source can't be shown is no error:
     * `availability` says so.
     * </pre>
     */
    public io.prwarden.v1.GetDiffResponse getDiff(io.prwarden.v1.GetDiffRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetDiffMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CancelReview stops a queued or running review and answers it in its new
     * state. Scope: reviews:write. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_FINISHED) when it is complete, failed or canceled already.
     * </pre>
     */
    public io.prwarden.v1.CancelReviewResponse cancelReview(io.prwarden.v1.CancelReviewRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCancelReviewMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * WatchReview streams the state of a review: at once as it is, then after
     * every change of state and on progress, and a keep-alive every 15 seconds.
     * The last message has a final state and the stream ends. Over REST it is
     * newline-delimited JSON, each line `{"result": …}`, or `{"error": …}` when
     * it breaks. Scope: reviews:read. Errors: NOT_FOUND; UNAVAILABLE
     * (WATCH_LIMIT) over 100 open watches of one key.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, io.prwarden.v1.WatchReviewResponse>
        watchReview(io.prwarden.v1.WatchReviewRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getWatchReviewMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service ReviewService.
   * <pre>
   * ReviewService starts scans of pull requests and reads their results.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class ReviewServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<ReviewServiceBlockingStub> {
    private ReviewServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ReviewServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ReviewServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateReview starts a scan of one pull request. The review is stored
     * durably before it is answered, with 202 over REST. Scope: reviews:write.
     * The request header (gRPC metadata) `Idempotency-Key`, 1 to 255 visible
     * ASCII characters, makes a retry safe: for 24 hours the same key with the
     * same request gets the first answer again, unchanged.
     * Errors: INVALID_ARGUMENT for a bad field or an unknown ruleset;
     * PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository that the
     * organization may not scan; ABORTED (IDEMPOTENCY_CONFLICT) when the
     * idempotency key was used with another request; UNAVAILABLE (QUEUE_FULL)
     * while 10,000 reviews of the organization wait.
     * </pre>
     */
    public io.prwarden.v1.CreateReviewResponse createReview(io.prwarden.v1.CreateReviewRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateReviewMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetReview reads a review in any state. Scope: reviews:read. Errors:
     * NOT_FOUND, also for another organization's review.
     * </pre>
     */
    public io.prwarden.v1.GetReviewResponse getReview(io.prwarden.v1.GetReviewRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetReviewMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListReviews lists the organization's reviews, newest first, without their
     * findings. With `query`, `created_by` or several filters a page looks at 2000
     * reviews at most, so it may have fewer than `page_size`, or none, and yet a
     * `next_page_token`. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter
     * or page token.
     * </pre>
     */
    public io.prwarden.v1.ListReviewsResponse listReviews(io.prwarden.v1.ListReviewsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListReviewsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CountReviews counts the organization's reviews by where they stand. Each count
     * ends at 1000, which stands for 1000 or more. With `query`, `created_by`, `repo` or
     * `pr_number` it looks at the newest 2000 reviews at most, and says so in `partial`.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter.
     * </pre>
     */
    public io.prwarden.v1.CountReviewsResponse countReviews(io.prwarden.v1.CountReviewsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCountReviewsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListFindings pages through the findings of a review, in the order of file,
     * line and rule id; those that were fixed and those that are suppressed, too,
     * when they are asked for. Scope: reviews:read. Errors: NOT_FOUND;
     * INVALID_ARGUMENT for a bad filter or page token; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was canceled.
     * </pre>
     */
    public io.prwarden.v1.ListFindingsResponse listFindings(io.prwarden.v1.ListFindingsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListFindingsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * SearchFindings lists the findings that the latest complete review of each pull
     * request reports, or counts them by rule, file or repository. Without `decision`
     * they are those that verdicts are decided by. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public io.prwarden.v1.SearchFindingsResponse searchFindings(io.prwarden.v1.SearchFindingsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSearchFindingsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListRepositories lists the repositories that have reviews, by their names.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public io.prwarden.v1.ListRepositoriesResponse listRepositories(io.prwarden.v1.ListRepositoriesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListRepositoriesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetSarif reads the findings of a complete review as a SARIF 2.1.0 log
     * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), shaped for GitHub code
     * scanning: media type application/sarif+json, at most 25,000 results, the
     * most severe. Scope: reviews:read. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was
     * canceled.
     * </pre>
     */
    public com.google.api.HttpBody getSarif(io.prwarden.v1.GetSarifRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetSarifMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetDiff reads changed lines around the findings of a complete review, as its
     * scan compared them: the head with where it left the base. The lines are read
     * from the scanner's cache, and from the code host when that lacks them, for
     * this answer only: no source is stored. What rules match that mask is replaced
     * by `****` on both sides of the diff, and so are equal texts elsewhere in the
     * answer. Scope: source:read, which no key has unless it was asked for.
     * An answer has at most 64 files, 20,000 lines and 4 MiB, and what takes longer
     * than 2 seconds to mask comes on the next page.
     * Errors: NOT_FOUND, also for another organization's review; INVALID_ARGUMENT
     * for a bad field or page token; FAILED_PRECONDITION (REVIEW_NOT_COMPLETE) for a
     * review that waits, runs, failed or was canceled; UNAVAILABLE while no scanner
     * or code host can be reached. That source can't be shown is no error:
     * `availability` says so.
     * </pre>
     */
    public io.prwarden.v1.GetDiffResponse getDiff(io.prwarden.v1.GetDiffRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetDiffMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CancelReview stops a queued or running review and answers it in its new
     * state. Scope: reviews:write. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_FINISHED) when it is complete, failed or canceled already.
     * </pre>
     */
    public io.prwarden.v1.CancelReviewResponse cancelReview(io.prwarden.v1.CancelReviewRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCancelReviewMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * WatchReview streams the state of a review: at once as it is, then after
     * every change of state and on progress, and a keep-alive every 15 seconds.
     * The last message has a final state and the stream ends. Over REST it is
     * newline-delimited JSON, each line `{"result": …}`, or `{"error": …}` when
     * it breaks. Scope: reviews:read. Errors: NOT_FOUND; UNAVAILABLE
     * (WATCH_LIMIT) over 100 open watches of one key.
     * </pre>
     */
    public java.util.Iterator<io.prwarden.v1.WatchReviewResponse> watchReview(
        io.prwarden.v1.WatchReviewRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchReviewMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service ReviewService.
   * <pre>
   * ReviewService starts scans of pull requests and reads their results.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope that
   * the call names, RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE
   * while the database is away.
   * </pre>
   */
  public static final class ReviewServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<ReviewServiceFutureStub> {
    private ReviewServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ReviewServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ReviewServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * CreateReview starts a scan of one pull request. The review is stored
     * durably before it is answered, with 202 over REST. Scope: reviews:write.
     * The request header (gRPC metadata) `Idempotency-Key`, 1 to 255 visible
     * ASCII characters, makes a retry safe: for 24 hours the same key with the
     * same request gets the first answer again, unchanged.
     * Errors: INVALID_ARGUMENT for a bad field or an unknown ruleset;
     * PERMISSION_DENIED (REPOSITORY_NOT_ALLOWED) for a repository that the
     * organization may not scan; ABORTED (IDEMPOTENCY_CONFLICT) when the
     * idempotency key was used with another request; UNAVAILABLE (QUEUE_FULL)
     * while 10,000 reviews of the organization wait.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CreateReviewResponse> createReview(
        io.prwarden.v1.CreateReviewRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateReviewMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetReview reads a review in any state. Scope: reviews:read. Errors:
     * NOT_FOUND, also for another organization's review.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetReviewResponse> getReview(
        io.prwarden.v1.GetReviewRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetReviewMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListReviews lists the organization's reviews, newest first, without their
     * findings. With `query`, `created_by` or several filters a page looks at 2000
     * reviews at most, so it may have fewer than `page_size`, or none, and yet a
     * `next_page_token`. Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter
     * or page token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListReviewsResponse> listReviews(
        io.prwarden.v1.ListReviewsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListReviewsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * CountReviews counts the organization's reviews by where they stand. Each count
     * ends at 1000, which stands for 1000 or more. With `query`, `created_by`, `repo` or
     * `pr_number` it looks at the newest 2000 reviews at most, and says so in `partial`.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CountReviewsResponse> countReviews(
        io.prwarden.v1.CountReviewsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCountReviewsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListFindings pages through the findings of a review, in the order of file,
     * line and rule id; those that were fixed and those that are suppressed, too,
     * when they are asked for. Scope: reviews:read. Errors: NOT_FOUND;
     * INVALID_ARGUMENT for a bad filter or page token; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was canceled.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListFindingsResponse> listFindings(
        io.prwarden.v1.ListFindingsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListFindingsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * SearchFindings lists the findings that the latest complete review of each pull
     * request reports, or counts them by rule, file or repository. Without `decision`
     * they are those that verdicts are decided by. Scope: reviews:read. Errors:
     * INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.SearchFindingsResponse> searchFindings(
        io.prwarden.v1.SearchFindingsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSearchFindingsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListRepositories lists the repositories that have reviews, by their names.
     * Scope: reviews:read. Errors: INVALID_ARGUMENT for a bad filter or page token.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListRepositoriesResponse> listRepositories(
        io.prwarden.v1.ListRepositoriesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListRepositoriesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetSarif reads the findings of a complete review as a SARIF 2.1.0 log
     * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), shaped for GitHub code
     * scanning: media type application/sarif+json, at most 25,000 results, the
     * most severe. Scope: reviews:read. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_NOT_COMPLETE) for a review that waits, runs, failed or was
     * canceled.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<com.google.api.HttpBody> getSarif(
        io.prwarden.v1.GetSarifRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetSarifMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetDiff reads changed lines around the findings of a complete review, as its
     * scan compared them: the head with where it left the base. The lines are read
     * from the scanner's cache, and from the code host when that lacks them, for
     * this answer only: no source is stored. What rules match that mask is replaced
     * by `****` on both sides of the diff, and so are equal texts elsewhere in the
     * answer. Scope: source:read, which no key has unless it was asked for.
     * An answer has at most 64 files, 20,000 lines and 4 MiB, and what takes longer
     * than 2 seconds to mask comes on the next page.
     * Errors: NOT_FOUND, also for another organization's review; INVALID_ARGUMENT
     * for a bad field or page token; FAILED_PRECONDITION (REVIEW_NOT_COMPLETE) for a
     * review that waits, runs, failed or was canceled; UNAVAILABLE while no scanner
     * or code host can be reached. That source can't be shown is no error:
     * `availability` says so.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetDiffResponse> getDiff(
        io.prwarden.v1.GetDiffRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetDiffMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * CancelReview stops a queued or running review and answers it in its new
     * state. Scope: reviews:write. Errors: NOT_FOUND; FAILED_PRECONDITION
     * (REVIEW_FINISHED) when it is complete, failed or canceled already.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CancelReviewResponse> cancelReview(
        io.prwarden.v1.CancelReviewRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCancelReviewMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_REVIEW = 0;
  private static final int METHODID_GET_REVIEW = 1;
  private static final int METHODID_LIST_REVIEWS = 2;
  private static final int METHODID_COUNT_REVIEWS = 3;
  private static final int METHODID_LIST_FINDINGS = 4;
  private static final int METHODID_SEARCH_FINDINGS = 5;
  private static final int METHODID_LIST_REPOSITORIES = 6;
  private static final int METHODID_GET_SARIF = 7;
  private static final int METHODID_GET_DIFF = 8;
  private static final int METHODID_CANCEL_REVIEW = 9;
  private static final int METHODID_WATCH_REVIEW = 10;

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
        case METHODID_CREATE_REVIEW:
          serviceImpl.createReview((io.prwarden.v1.CreateReviewRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CreateReviewResponse>) responseObserver);
          break;
        case METHODID_GET_REVIEW:
          serviceImpl.getReview((io.prwarden.v1.GetReviewRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetReviewResponse>) responseObserver);
          break;
        case METHODID_LIST_REVIEWS:
          serviceImpl.listReviews((io.prwarden.v1.ListReviewsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListReviewsResponse>) responseObserver);
          break;
        case METHODID_COUNT_REVIEWS:
          serviceImpl.countReviews((io.prwarden.v1.CountReviewsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CountReviewsResponse>) responseObserver);
          break;
        case METHODID_LIST_FINDINGS:
          serviceImpl.listFindings((io.prwarden.v1.ListFindingsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListFindingsResponse>) responseObserver);
          break;
        case METHODID_SEARCH_FINDINGS:
          serviceImpl.searchFindings((io.prwarden.v1.SearchFindingsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.SearchFindingsResponse>) responseObserver);
          break;
        case METHODID_LIST_REPOSITORIES:
          serviceImpl.listRepositories((io.prwarden.v1.ListRepositoriesRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListRepositoriesResponse>) responseObserver);
          break;
        case METHODID_GET_SARIF:
          serviceImpl.getSarif((io.prwarden.v1.GetSarifRequest) request,
              (io.grpc.stub.StreamObserver<com.google.api.HttpBody>) responseObserver);
          break;
        case METHODID_GET_DIFF:
          serviceImpl.getDiff((io.prwarden.v1.GetDiffRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetDiffResponse>) responseObserver);
          break;
        case METHODID_CANCEL_REVIEW:
          serviceImpl.cancelReview((io.prwarden.v1.CancelReviewRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CancelReviewResponse>) responseObserver);
          break;
        case METHODID_WATCH_REVIEW:
          serviceImpl.watchReview((io.prwarden.v1.WatchReviewRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.WatchReviewResponse>) responseObserver);
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
          getCreateReviewMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CreateReviewRequest,
              io.prwarden.v1.CreateReviewResponse>(
                service, METHODID_CREATE_REVIEW)))
        .addMethod(
          getGetReviewMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetReviewRequest,
              io.prwarden.v1.GetReviewResponse>(
                service, METHODID_GET_REVIEW)))
        .addMethod(
          getListReviewsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListReviewsRequest,
              io.prwarden.v1.ListReviewsResponse>(
                service, METHODID_LIST_REVIEWS)))
        .addMethod(
          getCountReviewsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CountReviewsRequest,
              io.prwarden.v1.CountReviewsResponse>(
                service, METHODID_COUNT_REVIEWS)))
        .addMethod(
          getListFindingsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListFindingsRequest,
              io.prwarden.v1.ListFindingsResponse>(
                service, METHODID_LIST_FINDINGS)))
        .addMethod(
          getSearchFindingsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.SearchFindingsRequest,
              io.prwarden.v1.SearchFindingsResponse>(
                service, METHODID_SEARCH_FINDINGS)))
        .addMethod(
          getListRepositoriesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListRepositoriesRequest,
              io.prwarden.v1.ListRepositoriesResponse>(
                service, METHODID_LIST_REPOSITORIES)))
        .addMethod(
          getGetSarifMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetSarifRequest,
              com.google.api.HttpBody>(
                service, METHODID_GET_SARIF)))
        .addMethod(
          getGetDiffMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetDiffRequest,
              io.prwarden.v1.GetDiffResponse>(
                service, METHODID_GET_DIFF)))
        .addMethod(
          getCancelReviewMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CancelReviewRequest,
              io.prwarden.v1.CancelReviewResponse>(
                service, METHODID_CANCEL_REVIEW)))
        .addMethod(
          getWatchReviewMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              io.prwarden.v1.WatchReviewRequest,
              io.prwarden.v1.WatchReviewResponse>(
                service, METHODID_WATCH_REVIEW)))
        .build();
  }

  private static abstract class ReviewServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    ReviewServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.ReviewOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("ReviewService");
    }
  }

  private static final class ReviewServiceFileDescriptorSupplier
      extends ReviewServiceBaseDescriptorSupplier {
    ReviewServiceFileDescriptorSupplier() {}
  }

  private static final class ReviewServiceMethodDescriptorSupplier
      extends ReviewServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    ReviewServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (ReviewServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new ReviewServiceFileDescriptorSupplier())
              .addMethod(getCreateReviewMethod())
              .addMethod(getGetReviewMethod())
              .addMethod(getListReviewsMethod())
              .addMethod(getCountReviewsMethod())
              .addMethod(getListFindingsMethod())
              .addMethod(getSearchFindingsMethod())
              .addMethod(getListRepositoriesMethod())
              .addMethod(getGetSarifMethod())
              .addMethod(getGetDiffMethod())
              .addMethod(getCancelReviewMethod())
              .addMethod(getWatchReviewMethod())
              .build();
        }
      }
    }
    return result;
  }
}
