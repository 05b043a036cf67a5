// Package pgtest runs real Postgres servers for tests. A server lives in a
// temporary folder, under an ordinary user, and ends, folder and all, with the
// process that started it, however that ends. It needs the Postgres server's
// programs (initdb, postgres) and nothing else.
package pgtest
