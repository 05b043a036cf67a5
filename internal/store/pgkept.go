package store

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Compiling the queries of a review takes Postgres longer than answering them.
// So a session keeps them, under names: PREPARE and EXECUTE, the statements,
// because lib/pq's own need a round trip more and must know the session. Behind
// a connection pooler each message may come to another session. One that lacks
// the queries says so, and has changed nothing; they are sent again with what
// compiles them in front.

// nameOf names questions that are asked together, by their queries: programs of
// different versions may share a session.
func nameOf(questions []question) string {
	h := fnv.New64a()
	for _, q := range questions {
		_, _ = h.Write([]byte(q.query)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return "prwarden_" + strconv.FormatUint(h.Sum64(), 36)
}

// pgExecute is the message that asks compiled questions.
func pgExecute(name string, questions []question) (string, error) {
	i := 0
	return joined(questions, func(_ string, args []any) (string, error) {
		text := "EXECUTE " + name + "_" + strconv.Itoa(i)
		i++
		if len(args) == 0 {
			return text, nil
		}
		return withLiterals(text+"(?"+strings.Repeat(", ?", len(args)-1)+")", args)
	})
}

// pgCompile is a statement that makes a session compile questions, also when it
// has: after a change of the schema it may have to. The first question comes
// last, so that a session that has it has all.
func pgCompile(name string, questions []question) string {
	var text strings.Builder
	text.WriteString("DO $prwarden$ BEGIN ")
	for i := len(questions) - 1; i >= 0; i-- {
		one := name + "_" + strconv.Itoa(i)
		fmt.Fprintf(&text, "IF EXISTS (SELECT 1 FROM pg_prepared_statements WHERE name = '%s') THEN DEALLOCATE %[1]s; END IF; EXECUTE %s; ",
			one, pq.QuoteLiteral("PREPARE "+one+" AS "+sqlx.Rebind(sqlx.DOLLAR, questions[i].query)))
	}
	text.WriteString("END $prwarden$; ")
	return text.String()
}

// lacksCompiled reports whether an error says that a session lacks a compiled
// query, or that the schema has changed since.
func lacksCompiled(sqlState string) bool {
	return sqlState == "26000" || sqlState == "0A000"
}

// joined writes questions one after the other.
func joined(questions []question, write func(query string, args []any) (string, error)) (string, error) {
	all := make([]string, len(questions))
	for i, q := range questions {
		var err error
		if all[i], err = write(q.query, q.args); err != nil {
			return "", err
		}
	}
	return strings.Join(all, "; "), nil
}
