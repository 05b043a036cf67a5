// Package blackbox tests the real binary: it is built once, started as a user
// would start it, and spoken to over REST and gRPC only. There is no code here
// but tests.
package blackbox
