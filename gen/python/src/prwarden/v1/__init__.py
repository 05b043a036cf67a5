"""Messages and gRPC stubs of version 1 of the API, made from its protos."""
