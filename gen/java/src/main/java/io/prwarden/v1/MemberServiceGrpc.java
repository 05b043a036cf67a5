package io.prwarden.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * MemberService manages the people who are members of the caller's organization.
 * Every call needs the scope members:admin, but ListMemberNames and GetSingleSignOn.
 * Nobody gives or takes a role that may do more than he himself.
 * Errors of every call: UNAUTHENTICATED without a valid key,
 * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
 * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
 * is away.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class MemberServiceGrpc {

  private MemberServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "prwarden.v1.MemberService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListMembersRequest,
      io.prwarden.v1.ListMembersResponse> getListMembersMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListMembers",
      requestType = io.prwarden.v1.ListMembersRequest.class,
      responseType = io.prwarden.v1.ListMembersResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListMembersRequest,
      io.prwarden.v1.ListMembersResponse> getListMembersMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListMembersRequest, io.prwarden.v1.ListMembersResponse> getListMembersMethod;
    if ((getListMembersMethod = MemberServiceGrpc.getListMembersMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getListMembersMethod = MemberServiceGrpc.getListMembersMethod) == null) {
          MemberServiceGrpc.getListMembersMethod = getListMembersMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListMembersRequest, io.prwarden.v1.ListMembersResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListMembers"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListMembersRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListMembersResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("ListMembers"))
              .build();
        }
      }
    }
    return getListMembersMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListMemberNamesRequest,
      io.prwarden.v1.ListMemberNamesResponse> getListMemberNamesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListMemberNames",
      requestType = io.prwarden.v1.ListMemberNamesRequest.class,
      responseType = io.prwarden.v1.ListMemberNamesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListMemberNamesRequest,
      io.prwarden.v1.ListMemberNamesResponse> getListMemberNamesMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListMemberNamesRequest, io.prwarden.v1.ListMemberNamesResponse> getListMemberNamesMethod;
    if ((getListMemberNamesMethod = MemberServiceGrpc.getListMemberNamesMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getListMemberNamesMethod = MemberServiceGrpc.getListMemberNamesMethod) == null) {
          MemberServiceGrpc.getListMemberNamesMethod = getListMemberNamesMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListMemberNamesRequest, io.prwarden.v1.ListMemberNamesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListMemberNames"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListMemberNamesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListMemberNamesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("ListMemberNames"))
              .build();
        }
      }
    }
    return getListMemberNamesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.GetSingleSignOnRequest,
      io.prwarden.v1.GetSingleSignOnResponse> getGetSingleSignOnMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetSingleSignOn",
      requestType = io.prwarden.v1.GetSingleSignOnRequest.class,
      responseType = io.prwarden.v1.GetSingleSignOnResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.GetSingleSignOnRequest,
      io.prwarden.v1.GetSingleSignOnResponse> getGetSingleSignOnMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.GetSingleSignOnRequest, io.prwarden.v1.GetSingleSignOnResponse> getGetSingleSignOnMethod;
    if ((getGetSingleSignOnMethod = MemberServiceGrpc.getGetSingleSignOnMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getGetSingleSignOnMethod = MemberServiceGrpc.getGetSingleSignOnMethod) == null) {
          MemberServiceGrpc.getGetSingleSignOnMethod = getGetSingleSignOnMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.GetSingleSignOnRequest, io.prwarden.v1.GetSingleSignOnResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetSingleSignOn"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetSingleSignOnRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.GetSingleSignOnResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("GetSingleSignOn"))
              .build();
        }
      }
    }
    return getGetSingleSignOnMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.UpdateMemberRequest,
      io.prwarden.v1.UpdateMemberResponse> getUpdateMemberMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateMember",
      requestType = io.prwarden.v1.UpdateMemberRequest.class,
      responseType = io.prwarden.v1.UpdateMemberResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.UpdateMemberRequest,
      io.prwarden.v1.UpdateMemberResponse> getUpdateMemberMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.UpdateMemberRequest, io.prwarden.v1.UpdateMemberResponse> getUpdateMemberMethod;
    if ((getUpdateMemberMethod = MemberServiceGrpc.getUpdateMemberMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getUpdateMemberMethod = MemberServiceGrpc.getUpdateMemberMethod) == null) {
          MemberServiceGrpc.getUpdateMemberMethod = getUpdateMemberMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.UpdateMemberRequest, io.prwarden.v1.UpdateMemberResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateMember"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateMemberRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.UpdateMemberResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("UpdateMember"))
              .build();
        }
      }
    }
    return getUpdateMemberMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.RemoveMemberRequest,
      io.prwarden.v1.RemoveMemberResponse> getRemoveMemberMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RemoveMember",
      requestType = io.prwarden.v1.RemoveMemberRequest.class,
      responseType = io.prwarden.v1.RemoveMemberResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.RemoveMemberRequest,
      io.prwarden.v1.RemoveMemberResponse> getRemoveMemberMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.RemoveMemberRequest, io.prwarden.v1.RemoveMemberResponse> getRemoveMemberMethod;
    if ((getRemoveMemberMethod = MemberServiceGrpc.getRemoveMemberMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getRemoveMemberMethod = MemberServiceGrpc.getRemoveMemberMethod) == null) {
          MemberServiceGrpc.getRemoveMemberMethod = getRemoveMemberMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.RemoveMemberRequest, io.prwarden.v1.RemoveMemberResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RemoveMember"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RemoveMemberRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.RemoveMemberResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("RemoveMember"))
              .build();
        }
      }
    }
    return getRemoveMemberMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CreateInvitationRequest,
      io.prwarden.v1.CreateInvitationResponse> getCreateInvitationMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateInvitation",
      requestType = io.prwarden.v1.CreateInvitationRequest.class,
      responseType = io.prwarden.v1.CreateInvitationResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CreateInvitationRequest,
      io.prwarden.v1.CreateInvitationResponse> getCreateInvitationMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CreateInvitationRequest, io.prwarden.v1.CreateInvitationResponse> getCreateInvitationMethod;
    if ((getCreateInvitationMethod = MemberServiceGrpc.getCreateInvitationMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getCreateInvitationMethod = MemberServiceGrpc.getCreateInvitationMethod) == null) {
          MemberServiceGrpc.getCreateInvitationMethod = getCreateInvitationMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CreateInvitationRequest, io.prwarden.v1.CreateInvitationResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateInvitation"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateInvitationRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreateInvitationResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("CreateInvitation"))
              .build();
        }
      }
    }
    return getCreateInvitationMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.ListInvitationsRequest,
      io.prwarden.v1.ListInvitationsResponse> getListInvitationsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListInvitations",
      requestType = io.prwarden.v1.ListInvitationsRequest.class,
      responseType = io.prwarden.v1.ListInvitationsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.ListInvitationsRequest,
      io.prwarden.v1.ListInvitationsResponse> getListInvitationsMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.ListInvitationsRequest, io.prwarden.v1.ListInvitationsResponse> getListInvitationsMethod;
    if ((getListInvitationsMethod = MemberServiceGrpc.getListInvitationsMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getListInvitationsMethod = MemberServiceGrpc.getListInvitationsMethod) == null) {
          MemberServiceGrpc.getListInvitationsMethod = getListInvitationsMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.ListInvitationsRequest, io.prwarden.v1.ListInvitationsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListInvitations"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListInvitationsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.ListInvitationsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("ListInvitations"))
              .build();
        }
      }
    }
    return getListInvitationsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.DeleteInvitationRequest,
      io.prwarden.v1.DeleteInvitationResponse> getDeleteInvitationMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteInvitation",
      requestType = io.prwarden.v1.DeleteInvitationRequest.class,
      responseType = io.prwarden.v1.DeleteInvitationResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.DeleteInvitationRequest,
      io.prwarden.v1.DeleteInvitationResponse> getDeleteInvitationMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.DeleteInvitationRequest, io.prwarden.v1.DeleteInvitationResponse> getDeleteInvitationMethod;
    if ((getDeleteInvitationMethod = MemberServiceGrpc.getDeleteInvitationMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getDeleteInvitationMethod = MemberServiceGrpc.getDeleteInvitationMethod) == null) {
          MemberServiceGrpc.getDeleteInvitationMethod = getDeleteInvitationMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.DeleteInvitationRequest, io.prwarden.v1.DeleteInvitationResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteInvitation"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteInvitationRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.DeleteInvitationResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("DeleteInvitation"))
              .build();
        }
      }
    }
    return getDeleteInvitationMethod;
  }

  private static volatile io.grpc.MethodDescriptor<io.prwarden.v1.CreatePasswordLinkRequest,
      io.prwarden.v1.CreatePasswordLinkResponse> getCreatePasswordLinkMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreatePasswordLink",
      requestType = io.prwarden.v1.CreatePasswordLinkRequest.class,
      responseType = io.prwarden.v1.CreatePasswordLinkResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.prwarden.v1.CreatePasswordLinkRequest,
      io.prwarden.v1.CreatePasswordLinkResponse> getCreatePasswordLinkMethod() {
    io.grpc.MethodDescriptor<io.prwarden.v1.CreatePasswordLinkRequest, io.prwarden.v1.CreatePasswordLinkResponse> getCreatePasswordLinkMethod;
    if ((getCreatePasswordLinkMethod = MemberServiceGrpc.getCreatePasswordLinkMethod) == null) {
      synchronized (MemberServiceGrpc.class) {
        if ((getCreatePasswordLinkMethod = MemberServiceGrpc.getCreatePasswordLinkMethod) == null) {
          MemberServiceGrpc.getCreatePasswordLinkMethod = getCreatePasswordLinkMethod =
              io.grpc.MethodDescriptor.<io.prwarden.v1.CreatePasswordLinkRequest, io.prwarden.v1.CreatePasswordLinkResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreatePasswordLink"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreatePasswordLinkRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.prwarden.v1.CreatePasswordLinkResponse.getDefaultInstance()))
              .setSchemaDescriptor(new MemberServiceMethodDescriptorSupplier("CreatePasswordLink"))
              .build();
        }
      }
    }
    return getCreatePasswordLinkMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static MemberServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<MemberServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<MemberServiceStub>() {
        @java.lang.Override
        public MemberServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new MemberServiceStub(channel, callOptions);
        }
      };
    return MemberServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static MemberServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<MemberServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<MemberServiceBlockingV2Stub>() {
        @java.lang.Override
        public MemberServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new MemberServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return MemberServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static MemberServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<MemberServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<MemberServiceBlockingStub>() {
        @java.lang.Override
        public MemberServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new MemberServiceBlockingStub(channel, callOptions);
        }
      };
    return MemberServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static MemberServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<MemberServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<MemberServiceFutureStub>() {
        @java.lang.Override
        public MemberServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new MemberServiceFutureStub(channel, callOptions);
        }
      };
    return MemberServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * MemberService manages the people who are members of the caller's organization.
   * Every call needs the scope members:admin, but ListMemberNames and GetSingleSignOn.
   * Nobody gives or takes a role that may do more than he himself.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * ListMembers lists the members of the organization, by email. There are at
     * most 1,000. Scope: members:admin.
     * </pre>
     */
    default void listMembers(io.prwarden.v1.ListMembersRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListMembersResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListMembersMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListMemberNames lists the names of the members of the organization, by which
     * people know who created a review or decided about a finding. There are at most
     * 1,000. Scope: reviews:read.
     * </pre>
     */
    default void listMemberNames(io.prwarden.v1.ListMemberNamesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListMemberNamesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListMemberNamesMethod(), responseObserver);
    }

    /**
     * <pre>
     * GetSingleSignOn reads how people sign in at an identity provider, as the operator
     * has configured it, and which groups have a role in the organization. With `check`
     * the provider is asked for its endpoints, which takes 10 seconds at most. Scope:
     * organization:admin.
     * </pre>
     */
    default void getSingleSignOn(io.prwarden.v1.GetSingleSignOnRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetSingleSignOnResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetSingleSignOnMethod(), responseObserver);
    }

    /**
     * <pre>
     * UpdateMember gives a member another role. All sessions of the member end.
     * What single sign-on decides about a role, it decides again when the member
     * signs in. Scope: members:admin.
     * Errors: INVALID_ARGUMENT without a role; NOT_FOUND; PERMISSION_DENIED
     * (SCOPE_MISSING) for a role, given or taken, with a scope that the caller
     * lacks, (SIGN_IN_AGAIN) for a person whose password was not just given;
     * FAILED_PRECONDITION (LAST_OWNER).
     * </pre>
     */
    default void updateMember(io.prwarden.v1.UpdateMemberRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateMemberResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateMemberMethod(), responseObserver);
    }

    /**
     * <pre>
     * RemoveMember removes a member from the organization, and ends all of his
     * sessions. The account stays. Answered with 204 and no body over REST. Scope:
     * members:admin. Errors: NOT_FOUND; PERMISSION_DENIED and FAILED_PRECONDITION
     * as for UpdateMember.
     * </pre>
     */
    default void removeMember(io.prwarden.v1.RemoveMemberRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RemoveMemberResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRemoveMemberMethod(), responseObserver);
    }

    /**
     * <pre>
     * CreateInvitation invites a person by email to become a member, and answers
     * the link, which is in no other answer. Nothing is sent: you hand the link
     * over. It works once, for 7 days. An earlier invitation for the same email ends.
     * Answered with 201 over REST. Scope: members:admin.
     * Errors: INVALID_ARGUMENT for a bad email or role; ALREADY_EXISTS
     * (MEMBER_EXISTS); PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_QUOTA) over 1,000 members and open invitations.
     * </pre>
     */
    default void createInvitation(io.prwarden.v1.CreateInvitationRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateInvitationResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateInvitationMethod(), responseObserver);
    }

    /**
     * <pre>
     * ListInvitations lists the invitations that can still be accepted, the newest
     * first. Scope: members:admin.
     * </pre>
     */
    default void listInvitations(io.prwarden.v1.ListInvitationsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListInvitationsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListInvitationsMethod(), responseObserver);
    }

    /**
     * <pre>
     * DeleteInvitation ends an invitation. Answered with 204 and no body over REST.
     * Scope: members:admin. Errors: NOT_FOUND.
     * </pre>
     */
    default void deleteInvitation(io.prwarden.v1.DeleteInvitationRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteInvitationResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteInvitationMethod(), responseObserver);
    }

    /**
     * <pre>
     * CreatePasswordLink makes a link with which a member sets a new password, and
     * answers it; it is in no other answer. It works once, for an hour. An earlier
     * one ends. Scope: members:admin.
     * Errors: NOT_FOUND; PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_ELSEWHERE) for a person who is a member of another organization, too.
     * </pre>
     */
    default void createPasswordLink(io.prwarden.v1.CreatePasswordLinkRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreatePasswordLinkResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreatePasswordLinkMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service MemberService.
   * <pre>
   * MemberService manages the people who are members of the caller's organization.
   * Every call needs the scope members:admin, but ListMemberNames and GetSingleSignOn.
   * Nobody gives or takes a role that may do more than he himself.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static abstract class MemberServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return MemberServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service MemberService.
   * <pre>
   * MemberService manages the people who are members of the caller's organization.
   * Every call needs the scope members:admin, but ListMemberNames and GetSingleSignOn.
   * Nobody gives or takes a role that may do more than he himself.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static final class MemberServiceStub
      extends io.grpc.stub.AbstractAsyncStub<MemberServiceStub> {
    private MemberServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected MemberServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new MemberServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListMembers lists the members of the organization, by email. There are at
     * most 1,000. Scope: members:admin.
     * </pre>
     */
    public void listMembers(io.prwarden.v1.ListMembersRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListMembersResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListMembersMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListMemberNames lists the names of the members of the organization, by which
     * people know who created a review or decided about a finding. There are at most
     * 1,000. Scope: reviews:read.
     * </pre>
     */
    public void listMemberNames(io.prwarden.v1.ListMemberNamesRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListMemberNamesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListMemberNamesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * GetSingleSignOn reads how people sign in at an identity provider, as the operator
     * has configured it, and which groups have a role in the organization. With `check`
     * the provider is asked for its endpoints, which takes 10 seconds at most. Scope:
     * organization:admin.
     * </pre>
     */
    public void getSingleSignOn(io.prwarden.v1.GetSingleSignOnRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.GetSingleSignOnResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetSingleSignOnMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * UpdateMember gives a member another role. All sessions of the member end.
     * What single sign-on decides about a role, it decides again when the member
     * signs in. Scope: members:admin.
     * Errors: INVALID_ARGUMENT without a role; NOT_FOUND; PERMISSION_DENIED
     * (SCOPE_MISSING) for a role, given or taken, with a scope that the caller
     * lacks, (SIGN_IN_AGAIN) for a person whose password was not just given;
     * FAILED_PRECONDITION (LAST_OWNER).
     * </pre>
     */
    public void updateMember(io.prwarden.v1.UpdateMemberRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateMemberResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateMemberMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * RemoveMember removes a member from the organization, and ends all of his
     * sessions. The account stays. Answered with 204 and no body over REST. Scope:
     * members:admin. Errors: NOT_FOUND; PERMISSION_DENIED and FAILED_PRECONDITION
     * as for UpdateMember.
     * </pre>
     */
    public void removeMember(io.prwarden.v1.RemoveMemberRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.RemoveMemberResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRemoveMemberMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CreateInvitation invites a person by email to become a member, and answers
     * the link, which is in no other answer. Nothing is sent: you hand the link
     * over. It works once, for 7 days. An earlier invitation for the same email ends.
     * Answered with 201 over REST. Scope: members:admin.
     * Errors: INVALID_ARGUMENT for a bad email or role; ALREADY_EXISTS
     * (MEMBER_EXISTS); PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_QUOTA) over 1,000 members and open invitations.
     * </pre>
     */
    public void createInvitation(io.prwarden.v1.CreateInvitationRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreateInvitationResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateInvitationMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * ListInvitations lists the invitations that can still be accepted, the newest
     * first. Scope: members:admin.
     * </pre>
     */
    public void listInvitations(io.prwarden.v1.ListInvitationsRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.ListInvitationsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListInvitationsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * DeleteInvitation ends an invitation. Answered with 204 and no body over REST.
     * Scope: members:admin. Errors: NOT_FOUND.
     * </pre>
     */
    public void deleteInvitation(io.prwarden.v1.DeleteInvitationRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteInvitationResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteInvitationMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * CreatePasswordLink makes a link with which a member sets a new password, and
     * answers it; it is in no other answer. It works once, for an hour. An earlier
     * one ends. Scope: members:admin.
     * Errors: NOT_FOUND; PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_ELSEWHERE) for a person who is a member of another organization, too.
     * </pre>
     */
    public void createPasswordLink(io.prwarden.v1.CreatePasswordLinkRequest request,
        io.grpc.stub.StreamObserver<io.prwarden.v1.CreatePasswordLinkResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreatePasswordLinkMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service MemberService.
   * <pre>
   * MemberService manages the people who are members of the caller's organization.
   * Every call needs the scope members:admin, but ListMemberNames and GetSingleSignOn.
   * Nobody gives or takes a role that may do more than he himself.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static final class MemberServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<MemberServiceBlockingV2Stub> {
    private MemberServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected MemberServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new MemberServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * ListMembers lists the members of the organization, by email. There are at
     * most 1,000. Scope: members:admin.
     * </pre>
     */
    public io.prwarden.v1.ListMembersResponse listMembers(io.prwarden.v1.ListMembersRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListMembersMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListMemberNames lists the names of the members of the organization, by which
     * people know who created a review or decided about a finding. There are at most
     * 1,000. Scope: reviews:read.
     * </pre>
     */
    public io.prwarden.v1.ListMemberNamesResponse listMemberNames(io.prwarden.v1.ListMemberNamesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListMemberNamesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetSingleSignOn reads how people sign in at an identity provider, as the operator
     * has configured it, and which groups have a role in the organization. With `check`
     * the provider is asked for its endpoints, which takes 10 seconds at most. Scope:
     * organization:admin.
     * </pre>
     */
    public io.prwarden.v1.GetSingleSignOnResponse getSingleSignOn(io.prwarden.v1.GetSingleSignOnRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetSingleSignOnMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateMember gives a member another role. All sessions of the member end.
     * What single sign-on decides about a role, it decides again when the member
     * signs in. Scope: members:admin.
     * Errors: INVALID_ARGUMENT without a role; NOT_FOUND; PERMISSION_DENIED
     * (SCOPE_MISSING) for a role, given or taken, with a scope that the caller
     * lacks, (SIGN_IN_AGAIN) for a person whose password was not just given;
     * FAILED_PRECONDITION (LAST_OWNER).
     * </pre>
     */
    public io.prwarden.v1.UpdateMemberResponse updateMember(io.prwarden.v1.UpdateMemberRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateMemberMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RemoveMember removes a member from the organization, and ends all of his
     * sessions. The account stays. Answered with 204 and no body over REST. Scope:
     * members:admin. Errors: NOT_FOUND; PERMISSION_DENIED and FAILED_PRECONDITION
     * as for UpdateMember.
     * </pre>
     */
    public io.prwarden.v1.RemoveMemberResponse removeMember(io.prwarden.v1.RemoveMemberRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRemoveMemberMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CreateInvitation invites a person by email to become a member, and answers
     * the link, which is in no other answer. Nothing is sent: you hand the link
     * over. It works once, for 7 days. An earlier invitation for the same email ends.
     * Answered with 201 over REST. Scope: members:admin.
     * Errors: INVALID_ARGUMENT for a bad email or role; ALREADY_EXISTS
     * (MEMBER_EXISTS); PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_QUOTA) over 1,000 members and open invitations.
     * </pre>
     */
    public io.prwarden.v1.CreateInvitationResponse createInvitation(io.prwarden.v1.CreateInvitationRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateInvitationMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListInvitations lists the invitations that can still be accepted, the newest
     * first. Scope: members:admin.
     * </pre>
     */
    public io.prwarden.v1.ListInvitationsResponse listInvitations(io.prwarden.v1.ListInvitationsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListInvitationsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteInvitation ends an invitation. Answered with 204 and no body over REST.
     * Scope: members:admin. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.DeleteInvitationResponse deleteInvitation(io.prwarden.v1.DeleteInvitationRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteInvitationMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CreatePasswordLink makes a link with which a member sets a new password, and
     * answers it; it is in no other answer. It works once, for an hour. An earlier
     * one ends. Scope: members:admin.
     * Errors: NOT_FOUND; PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_ELSEWHERE) for a person who is a member of another organization, too.
     * </pre>
     */
    public io.prwarden.v1.CreatePasswordLinkResponse createPasswordLink(io.prwarden.v1.CreatePasswordLinkRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreatePasswordLinkMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service MemberService.
   * <pre>
   * MemberService manages the people who are members of the caller's organization.
   * Every call needs the scope members:admin, but ListMemberNames and GetSingleSignOn.
   * Nobody gives or takes a role that may do more than he himself.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static final class MemberServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<MemberServiceBlockingStub> {
    private MemberServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected MemberServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new MemberServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListMembers lists the members of the organization, by email. There are at
     * most 1,000. Scope: members:admin.
     * </pre>
     */
    public io.prwarden.v1.ListMembersResponse listMembers(io.prwarden.v1.ListMembersRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListMembersMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListMemberNames lists the names of the members of the organization, by which
     * people know who created a review or decided about a finding. There are at most
     * 1,000. Scope: reviews:read.
     * </pre>
     */
    public io.prwarden.v1.ListMemberNamesResponse listMemberNames(io.prwarden.v1.ListMemberNamesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListMemberNamesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * GetSingleSignOn reads how people sign in at an identity provider, as the operator
     * has configured it, and which groups have a role in the organization. With `check`
     * the provider is asked for its endpoints, which takes 10 seconds at most. Scope:
     * organization:admin.
     * </pre>
     */
    public io.prwarden.v1.GetSingleSignOnResponse getSingleSignOn(io.prwarden.v1.GetSingleSignOnRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetSingleSignOnMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * UpdateMember gives a member another role. All sessions of the member end.
     * What single sign-on decides about a role, it decides again when the member
     * signs in. Scope: members:admin.
     * Errors: INVALID_ARGUMENT without a role; NOT_FOUND; PERMISSION_DENIED
     * (SCOPE_MISSING) for a role, given or taken, with a scope that the caller
     * lacks, (SIGN_IN_AGAIN) for a person whose password was not just given;
     * FAILED_PRECONDITION (LAST_OWNER).
     * </pre>
     */
    public io.prwarden.v1.UpdateMemberResponse updateMember(io.prwarden.v1.UpdateMemberRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateMemberMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * RemoveMember removes a member from the organization, and ends all of his
     * sessions. The account stays. Answered with 204 and no body over REST. Scope:
     * members:admin. Errors: NOT_FOUND; PERMISSION_DENIED and FAILED_PRECONDITION
     * as for UpdateMember.
     * </pre>
     */
    public io.prwarden.v1.RemoveMemberResponse removeMember(io.prwarden.v1.RemoveMemberRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRemoveMemberMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CreateInvitation invites a person by email to become a member, and answers
     * the link, which is in no other answer. Nothing is sent: you hand the link
     * over. It works once, for 7 days. An earlier invitation for the same email ends.
     * Answered with 201 over REST. Scope: members:admin.
     * Errors: INVALID_ARGUMENT for a bad email or role; ALREADY_EXISTS
     * (MEMBER_EXISTS); PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_QUOTA) over 1,000 members and open invitations.
     * </pre>
     */
    public io.prwarden.v1.CreateInvitationResponse createInvitation(io.prwarden.v1.CreateInvitationRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateInvitationMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * ListInvitations lists the invitations that can still be accepted, the newest
     * first. Scope: members:admin.
     * </pre>
     */
    public io.prwarden.v1.ListInvitationsResponse listInvitations(io.prwarden.v1.ListInvitationsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListInvitationsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * DeleteInvitation ends an invitation. Answered with 204 and no body over REST.
     * Scope: members:admin. Errors: NOT_FOUND.
     * </pre>
     */
    public io.prwarden.v1.DeleteInvitationResponse deleteInvitation(io.prwarden.v1.DeleteInvitationRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteInvitationMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * CreatePasswordLink makes a link with which a member sets a new password, and
     * answers it; it is in no other answer. It works once, for an hour. An earlier
     * one ends. Scope: members:admin.
     * Errors: NOT_FOUND; PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_ELSEWHERE) for a person who is a member of another organization, too.
     * </pre>
     */
    public io.prwarden.v1.CreatePasswordLinkResponse createPasswordLink(io.prwarden.v1.CreatePasswordLinkRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreatePasswordLinkMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service MemberService.
   * <pre>
   * MemberService manages the people who are members of the caller's organization.
   * Every call needs the scope members:admin, but ListMemberNames and GetSingleSignOn.
   * Nobody gives or takes a role that may do more than he himself.
   * Errors of every call: UNAUTHENTICATED without a valid key,
   * PERMISSION_DENIED (reason SCOPE_MISSING) when the key lacks the scope,
   * RESOURCE_EXHAUSTED over the key's rate limit, UNAVAILABLE while the database
   * is away.
   * </pre>
   */
  public static final class MemberServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<MemberServiceFutureStub> {
    private MemberServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected MemberServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new MemberServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * ListMembers lists the members of the organization, by email. There are at
     * most 1,000. Scope: members:admin.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListMembersResponse> listMembers(
        io.prwarden.v1.ListMembersRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListMembersMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListMemberNames lists the names of the members of the organization, by which
     * people know who created a review or decided about a finding. There are at most
     * 1,000. Scope: reviews:read.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListMemberNamesResponse> listMemberNames(
        io.prwarden.v1.ListMemberNamesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListMemberNamesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * GetSingleSignOn reads how people sign in at an identity provider, as the operator
     * has configured it, and which groups have a role in the organization. With `check`
     * the provider is asked for its endpoints, which takes 10 seconds at most. Scope:
     * organization:admin.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.GetSingleSignOnResponse> getSingleSignOn(
        io.prwarden.v1.GetSingleSignOnRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetSingleSignOnMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * UpdateMember gives a member another role. All sessions of the member end.
     * What single sign-on decides about a role, it decides again when the member
     * signs in. Scope: members:admin.
     * Errors: INVALID_ARGUMENT without a role; NOT_FOUND; PERMISSION_DENIED
     * (SCOPE_MISSING) for a role, given or taken, with a scope that the caller
     * lacks, (SIGN_IN_AGAIN) for a person whose password was not just given;
     * FAILED_PRECONDITION (LAST_OWNER).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.UpdateMemberResponse> updateMember(
        io.prwarden.v1.UpdateMemberRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateMemberMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * RemoveMember removes a member from the organization, and ends all of his
     * sessions. The account stays. Answered with 204 and no body over REST. Scope:
     * members:admin. Errors: NOT_FOUND; PERMISSION_DENIED and FAILED_PRECONDITION
     * as for UpdateMember.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.RemoveMemberResponse> removeMember(
        io.prwarden.v1.RemoveMemberRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRemoveMemberMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * CreateInvitation invites a person by email to become a member, and answers
     * the link, which is in no other answer. Nothing is sent: you hand the link
     * over. It works once, for 7 days. An earlier invitation for the same email ends.
     * Answered with 201 over REST. Scope: members:admin.
     * Errors: INVALID_ARGUMENT for a bad email or role; ALREADY_EXISTS
     * (MEMBER_EXISTS); PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_QUOTA) over 1,000 members and open invitations.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CreateInvitationResponse> createInvitation(
        io.prwarden.v1.CreateInvitationRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateInvitationMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * ListInvitations lists the invitations that can still be accepted, the newest
     * first. Scope: members:admin.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.ListInvitationsResponse> listInvitations(
        io.prwarden.v1.ListInvitationsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListInvitationsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * DeleteInvitation ends an invitation. Answered with 204 and no body over REST.
     * Scope: members:admin. Errors: NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.DeleteInvitationResponse> deleteInvitation(
        io.prwarden.v1.DeleteInvitationRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteInvitationMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * CreatePasswordLink makes a link with which a member sets a new password, and
     * answers it; it is in no other answer. It works once, for an hour. An earlier
     * one ends. Scope: members:admin.
     * Errors: NOT_FOUND; PERMISSION_DENIED as for UpdateMember; FAILED_PRECONDITION
     * (MEMBER_ELSEWHERE) for a person who is a member of another organization, too.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.prwarden.v1.CreatePasswordLinkResponse> createPasswordLink(
        io.prwarden.v1.CreatePasswordLinkRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreatePasswordLinkMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_MEMBERS = 0;
  private static final int METHODID_LIST_MEMBER_NAMES = 1;
  private static final int METHODID_GET_SINGLE_SIGN_ON = 2;
  private static final int METHODID_UPDATE_MEMBER = 3;
  private static final int METHODID_REMOVE_MEMBER = 4;
  private static final int METHODID_CREATE_INVITATION = 5;
  private static final int METHODID_LIST_INVITATIONS = 6;
  private static final int METHODID_DELETE_INVITATION = 7;
  private static final int METHODID_CREATE_PASSWORD_LINK = 8;

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
        case METHODID_LIST_MEMBERS:
          serviceImpl.listMembers((io.prwarden.v1.ListMembersRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListMembersResponse>) responseObserver);
          break;
        case METHODID_LIST_MEMBER_NAMES:
          serviceImpl.listMemberNames((io.prwarden.v1.ListMemberNamesRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListMemberNamesResponse>) responseObserver);
          break;
        case METHODID_GET_SINGLE_SIGN_ON:
          serviceImpl.getSingleSignOn((io.prwarden.v1.GetSingleSignOnRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.GetSingleSignOnResponse>) responseObserver);
          break;
        case METHODID_UPDATE_MEMBER:
          serviceImpl.updateMember((io.prwarden.v1.UpdateMemberRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.UpdateMemberResponse>) responseObserver);
          break;
        case METHODID_REMOVE_MEMBER:
          serviceImpl.removeMember((io.prwarden.v1.RemoveMemberRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.RemoveMemberResponse>) responseObserver);
          break;
        case METHODID_CREATE_INVITATION:
          serviceImpl.createInvitation((io.prwarden.v1.CreateInvitationRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CreateInvitationResponse>) responseObserver);
          break;
        case METHODID_LIST_INVITATIONS:
          serviceImpl.listInvitations((io.prwarden.v1.ListInvitationsRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.ListInvitationsResponse>) responseObserver);
          break;
        case METHODID_DELETE_INVITATION:
          serviceImpl.deleteInvitation((io.prwarden.v1.DeleteInvitationRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.DeleteInvitationResponse>) responseObserver);
          break;
        case METHODID_CREATE_PASSWORD_LINK:
          serviceImpl.createPasswordLink((io.prwarden.v1.CreatePasswordLinkRequest) request,
              (io.grpc.stub.StreamObserver<io.prwarden.v1.CreatePasswordLinkResponse>) responseObserver);
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
          getListMembersMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListMembersRequest,
              io.prwarden.v1.ListMembersResponse>(
                service, METHODID_LIST_MEMBERS)))
        .addMethod(
          getListMemberNamesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListMemberNamesRequest,
              io.prwarden.v1.ListMemberNamesResponse>(
                service, METHODID_LIST_MEMBER_NAMES)))
        .addMethod(
          getGetSingleSignOnMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.GetSingleSignOnRequest,
              io.prwarden.v1.GetSingleSignOnResponse>(
                service, METHODID_GET_SINGLE_SIGN_ON)))
        .addMethod(
          getUpdateMemberMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.UpdateMemberRequest,
              io.prwarden.v1.UpdateMemberResponse>(
                service, METHODID_UPDATE_MEMBER)))
        .addMethod(
          getRemoveMemberMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.RemoveMemberRequest,
              io.prwarden.v1.RemoveMemberResponse>(
                service, METHODID_REMOVE_MEMBER)))
        .addMethod(
          getCreateInvitationMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CreateInvitationRequest,
              io.prwarden.v1.CreateInvitationResponse>(
                service, METHODID_CREATE_INVITATION)))
        .addMethod(
          getListInvitationsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.ListInvitationsRequest,
              io.prwarden.v1.ListInvitationsResponse>(
                service, METHODID_LIST_INVITATIONS)))
        .addMethod(
          getDeleteInvitationMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.DeleteInvitationRequest,
              io.prwarden.v1.DeleteInvitationResponse>(
                service, METHODID_DELETE_INVITATION)))
        .addMethod(
          getCreatePasswordLinkMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.prwarden.v1.CreatePasswordLinkRequest,
              io.prwarden.v1.CreatePasswordLinkResponse>(
                service, METHODID_CREATE_PASSWORD_LINK)))
        .build();
  }

  private static abstract class MemberServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    MemberServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.prwarden.v1.MemberOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("MemberService");
    }
  }

  private static final class MemberServiceFileDescriptorSupplier
      extends MemberServiceBaseDescriptorSupplier {
    MemberServiceFileDescriptorSupplier() {}
  }

  private static final class MemberServiceMethodDescriptorSupplier
      extends MemberServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    MemberServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (MemberServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new MemberServiceFileDescriptorSupplier())
              .addMethod(getListMembersMethod())
              .addMethod(getListMemberNamesMethod())
              .addMethod(getGetSingleSignOnMethod())
              .addMethod(getUpdateMemberMethod())
              .addMethod(getRemoveMemberMethod())
              .addMethod(getCreateInvitationMethod())
              .addMethod(getListInvitationsMethod())
              .addMethod(getDeleteInvitationMethod())
              .addMethod(getCreatePasswordLinkMethod())
              .build();
        }
      }
    }
    return result;
  }
}
