// Package ngram says how often a few neighbouring bytes occur in code.
//
// The engine looks for a rule in two steps: it looks everywhere for a window of
// about four bytes that every match of the rule has, and then, at the places
// where the window is, for the rule. Most rules offer several windows, and which
// one is taken decides how many places there are. innerHTML has six, here with
// their places in each MiB of code, letters without regard to case:
//
//	window     inne   nner   nerh   erht   rhtm   html
//	expected   19.0   53.8   1.09   0.92   0.25   69.8
//	actual     37.5   49.8   6.26   7.10   6.69    115
//
// To take the first one or the last one costs 6 to 18 times the visits of the
// third. Nobody needs exact rates for that, only their order, so a small table
// will do.
//
// # The idea
//
// A table of all windows of four bytes would have 2^32 entries. This one has
// three parts:
//
//   - Bytes are reduced to 64 symbols: a letter in either case is one, each
//     punctuation mark is one, all digits are one (see alphabet.go). Bytes of one
//     symbol share its rate as they share its places.
//   - The rates of pairs and triples of symbols are known, as logarithms in a
//     byte each. Longer texts are put together: of all places of "ner", the part
//     that "h" follows at is taken to be what it is of all places of "er",
//     whatever was before, so
//     rate("nerh") = rate("ner") · rate("erh") / rate("er").
//     This is a Markov chain of second order.
//   - Code is full of words, and for a word the chain is wrong: of "er" at the
//     end of a word it can't know which word that was. The 24,000 sequences of
//     four symbols where it is most wrong, and that matters, have a correction:
//     a power of two from 1/256 to 256.
//
// A window of sets, `SK[0-9a-f]`, has the sum of the rates of all texts it stands
// for. Up to 64 texts are added up one by one. More are summed by dynamic
// programming over the last two symbols, without corrections, which even out
// over many texts; see walk.go.
//
// # Training
//
// The table is a file, table.bin, that a command makes from source trees:
//
//	go run ./internal/dev/ngramtrain -o table.bin DIR...
//
// It takes text files up to 1 MiB, each content once, and weights them so that
// files of one extension count for no more than 6 MiB. Nothing but counts gets
// into the table. The same trees give the same table. The one committed is of
// 67,744 files, which count for 149 MiB, of 58 public repositories (Go, Python,
// TypeScript, JavaScript, Java, Kotlin, PHP, Ruby, Rust, C, C++, shell,
// Terraform, YAML, Markdown and more) and of Go's own source.
//
// # What was measured
//
// On 168 MiB of 14 other repositories, of which nothing was in the training: 5,000
// names of 4 to 20 bytes, picked by hash among those that occur at ten places or
// more, with 13,387 different windows of four bytes.
//
//	                               chain    this   all windows
//	                               alone   table   of training
//	rank correlation with actual    0.68    0.80          0.81
//	median factor to actual         2.81    2.09          1.97
//	chosen within 2 x of best       72 %    83 %          86 %
//	hits per MiB of the chosen      23.2    14.0          13.7
//
// "Chosen" is the window of a name with the least expected rate, "best" the one
// with the least actual rate: 10.6 hits per MiB. Taking each name's last window
// gives 274. The last column is what a table of unlimited size would do, with
// every window of the training text in it. So the error that is left is not in
// the size of the table but in other code being different.
//
// In CPU time, on a machine that was busy with other work: 40 ns for four exact
// bytes by RateOf, 0.12 µs by Rate; 0.3 µs for three bytes and [0-9a-f], 1.5 µs
// for [0-9a-f]{4}, 7 µs for [0-9a-z_]{4}, 83 µs for eight sets of any byte; about
// 2.5 ms to decode the table, once. The file has 59 KiB, the table in memory 330
// KiB.
//
// Whole octaves are precise enough for triples: eighths improved none of these
// figures by 2 %. Rates of triples under 2 per MiB are left to be estimated
// from pairs: storing those from 0.3 changed nothing either and took twice the
// space, which does more good as corrections.
package ngram
