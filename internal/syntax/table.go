package syntax

import "strings"

// words are what is known of the names of a language.
type words struct {
	keywords string // that are no operand, as `return`
	unary    string // operators that stand before an operand, as words or signs
	strength string // operators by how tightly they bind, weakest first, apart by `|`
}

var (
	slashes     = []string{"//"}
	hashes      = []string{"#"}
	stars       = []block{{begin: "/*", end: "*/"}}
	nestedStars = []block{{begin: "/*", end: "*/", nested: true}}
	plain       = []quote{{begin: `"`, end: `"`}, {begin: "'", end: "'"}}
	long        = []quote{
		{begin: `"""`, end: `"""`, lines: true}, {begin: "'''", end: "'''", lines: true},
		{begin: `"`, end: `"`}, {begin: "'", end: "'"},
	}
)

const (
	operatorsC = "== != <= >= && || ++ -- += -= *= /= %= &= |= ^= <<= >>= << >> -> :: ... .* ->*"
	strengthC  = "= += -= *= /= %= &= BAR= ^= <<= >>= : ? => ..|?? BARBAR or|&& and|" +
		"BAR|CARET|& |== != === !==|< > <= >= <=>|<< >>|+ -|* / %|** .*"
)

// strong is strengthC with its signs that mean something else in such a list.
var strong = strings.NewReplacer("BAR", "\x00", "CARET", "^").Replace(strengthC)

var (
	languageGo = &Language{
		Name: "Go", lines: slashes, blocks: stars,
		quotes:    []quote{{begin: `"`, end: `"`}, {begin: "'", end: "'"}, {begin: "`", end: "`", lines: true, raw: true}},
		operators: "== != <= >= && || ++ -- += -= *= /= %= &= |= ^= <<= >>= << >> &^ &^= := <- ...", ends: endsBefore,
		tails: "++ --",
		words: words{
			keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface " +
				"map package range return select struct switch type var",
			unary: "! - + * & ^ <- ~",
			strength: "= := += -= *= /= %= &= \x00= ^= <<= >>= &^= : <-|" + "\x00\x00|&&|== != < <= > >=|+ - \x00 ^|* / " +
				"% << >> & &^",
		},
	}
	languagePython = &Language{
		Name: "Python", lines: hashes, quotes: long, prefixes: "r u b f t rb br fr rf tr rt", braces: "f fr rf t tr rt",
		operators: "== != <= >= += -= *= /= //= %= &= |= ^= <<= >>= << >> ** **= // -> := @= ...",
		ends:      endsIndent, special: hasBackslash | noLinesInside,
		words: words{
			keywords: "as assert break case class continue def del elif else except finally for from global if import in is " +
				"and or nonlocal pass raise return try while with match",
			unary: "- + ~ not await * ** lambda yield",
			strength: "= += -= *= /= //= %= &= \x00= ^= <<= >>= **= @= : := ->|if else|or|and|" +
				"in is == != < <= > >=|\x00|^|&|<< >>|+ -|* / // % @|**",
		},
	}
	quotesScript = []quote{
		{begin: `"`, end: `"`}, {begin: "'", end: "'"}, {begin: "`", end: "`", lines: true, hole: true,
			opens: []string{"${"}},
	}
	operatorsScript = "== != === !== <= >= && || ?? ++ -- += -= *= /= %= &= |= ^= <<= >>= >>>= << >> >>> ** **= => " +
		"?. ... " +
		"&&= ||= ??="
	wordsScript = words{
		keywords: "break case catch class const continue debugger default do else export extends finally for function if " +
			"import in instanceof let of return switch throw try var while with",
		unary: "! - + ~ ++ -- typeof void delete await yield new ...",
		strength: "= += -= *= /= %= &= \x00= ^= <<= >>= >>>= **= &&= \x00\x00= ??= : ? =>|??|\x00\x00|&&|\x00|^|&|" +
			"== != === !==|< > <= >= in instanceof|<< >> >>>|+ -|* / %|**",
	}
	continuesScript = ". ?. , ? : = == != === !== + - * / % & | ^ && || ?? => < > <= >= in instanceof ) ] }"
	languageScript  = &Language{
		Name: "JavaScript", lines: slashes, blocks: stars, quotes: quotesScript, first: "$#", operators: operatorsScript,
		ends: endsBoth, continues: continuesScript, tails: "++ -- !", special: hasRegexps | hasJSX | noLinesInside,
		words: wordsScript,
	}
	languageTyped = &Language{
		Name: "TypeScript", lines: slashes, blocks: stars, quotes: quotesScript, first: "$#", operators: operatorsScript,
		ends: endsBoth, continues: continuesScript, tails: "++ -- !", special: hasRegexps | noLinesInside,
		words: wordsScript,
	}
	languageJava = &Language{
		Name: "Java", lines: slashes, blocks: stars,
		quotes: []quote{{begin: `"""`, end: `"""`, lines: true}, {begin: `"`, end: `"`}, {begin: "'", end: "'"}},
		first:  "$", operators: operatorsC + " >>> >>>=",
		words: words{
			keywords: "assert break case catch class const continue default do else enum extends final finally for goto if " +
				"implements import instanceof interface package private protected public return static switch " +
				"synchronized throw throws try while",
			unary: "! - + ~ ++ -- new", strength: strong,
		},
	}
	languageKotlin = &Language{
		Name: "Kotlin", lines: slashes, blocks: nestedStars,
		quotes: []quote{
			{begin: `"""`, end: `"""`, lines: true, raw: true, hole: true, opens: []string{"${"}, names: true},
			{begin: `"`, end: `"`, hole: true, opens: []string{"${"}, names: true}, {begin: "'", end: "'"},
		},
		operators: "== != === !== <= >= && || ++ -- += -= *= /= %= -> :: ?. ?: .. ..< !!",
		ends:      endsBoth, continues: ". ?. ?: && || , = + * / % ) ] } else", tails: "++ -- !!", special: noLinesInside,
		words: words{
			keywords: "break class continue do else for fun if import in interface is object package return throw try " +
				"typealias val var when while as",
			unary: "! - + ++ --", strength: "= += -= *= /= %= : ->|\x00\x00|&&|== != === !==|< > <= >=|in is|?:|.. ..<|+ " +
				"-|* / %|as",
		},
	}
	languageC = &Language{
		Name: "C", lines: slashes, blocks: stars, quotes: plain, prefixes: "l u u8 r lr ur u8r", first: "$",
		operators: operatorsC + " <=> ##", special: hasCRaw | hasDirectives | hasBackslash,
		words: words{
			keywords: "break case catch class const constexpr continue default delete do else enum extern for goto if " +
				"namespace public private protected return static struct switch template throw try typedef typename " +
				"union using virtual volatile while",
			unary: "! - + ~ ++ -- * & sizeof new", strength: strong,
		},
	}
	languageSharp = &Language{
		Name: "C#", lines: slashes, blocks: stars, quotes: plain,
		operators: operatorsC + " ?? ??= => ?.", special: hasSharp | hasDirectives,
		words: words{
			keywords: "break case catch class const continue default delegate do else enum event finally fixed for foreach " +
				"goto if in interface internal is as lock namespace override private protected public readonly return " +
				"sealed static struct switch throw try using virtual while",
			unary: "! - + ~ ++ -- new await", strength: strong,
		},
	}
	languageRuby = &Language{
		Name: "Ruby", lines: hashes,
		quotes: []quote{
			{begin: `"`, end: `"`, lines: true, hole: true, opens: []string{"#{"}}, {begin: "'", end: "'", lines: true},
			{begin: "`", end: "`", lines: true, hole: true, opens: []string{"#{"}},
		},
		first: "@$", operators: "== != === <= >= && || += -= *= /= %= &= |= ^= <<= >>= << >> ** **= => -> :: &. .. " +
			"... =~ !~ <=> &&= ||=",
		ends: endsBoth, continues: ". &. ) ] }", tails: "? ! * | ]", special: hasRegexps | hasPercent | hasBackslash,
		heredoc: heredocRuby,
		words: words{
			keywords: "alias begin break case class def do else elsif end ensure for if in module next redo rescue retry " +
				"return then undef unless until when while and or",
			unary: "! - + ~ not * & ** defined?", strength: strong,
		},
	}
	languagePHP = &Language{
		Name: "PHP", lines: []string{"//", "#"}, blocks: stars,
		quotes: []quote{
			{begin: `"`, end: `"`, lines: true, hole: true, opens: []string{"{$", "${"}, names: true},
			{begin: "'", end: "'", lines: true},
			{begin: "`", end: "`", lines: true, hole: true, opens: []string{"{$", "${"}, names: true},
		},
		first: "$", operators: operatorsC + " === !== ?? ??= => ?-> ** **= .= <=> <>", special: isPHP, heredoc: heredocPHP,
		words: words{
			keywords: "abstract as break case catch class const continue declare default do else elseif endif endforeach " +
				"enum extends final finally for foreach function global goto if implements instanceof interface " +
				"namespace private protected public return static switch throw trait try use while echo print",
			unary: "! - + ~ ++ -- @ & new clone include require include_once require_once", strength: strong + "|.",
		},
	}
	languageRust = &Language{
		Name: "Rust", lines: slashes, blocks: nestedStars, quotes: []quote{{begin: `"`, end: `"`, lines: true}},
		prefixes: "b c r br cr", operators: "== != <= >= && || += -= *= /= %= &= |= ^= <<= >>= << >> -> => :: .. ..= ...",
		special: hasLifetimes | hasRustRaw,
		words: words{
			keywords: "as break const continue else enum extern fn for if impl in let loop match mod move mut pub ref " +
				"return static struct trait type use where while",
			unary: "! - * & mut", strength: strong + "|as",
		},
	}
	languageShell = &Language{
		Name: "Shell", lines: hashes, spaced: true,
		quotes: []quote{
			{begin: "$'", end: "'", lines: true},
			{begin: `"`, end: `"`, lines: true, hole: true, opens: []string{"$(", "${"}, names: true},
			{begin: "'", end: "'", lines: true, raw: true},
		},
		first: "$", later: "-./:@%+", operators: "&& || ;; |& >> << <<< >& <& &> == != =~",
		ends: endsBefore, joins: "| && || |& ;", special: hasEscape, heredoc: heredocShell,
		words: words{
			keywords: "if then else elif fi for in do done while until case esac function select",
			unary:    "!", strength: "&& \x00\x00|\x00",
		},
	}
	languageYAML = &Language{
		Name: "YAML", lines: hashes, spaced: true, later: "-",
		quotes: []quote{
			{begin: `"`, end: `"`, lines: true, apart: true}, {begin: "'", end: "'", lines: true, raw: true,
				double: true, apart: true},
		},
		operators: "--- ... && || == !=", ends: endsIndent, special: hasScalars | noLinesInside,
		words: words{strength: ":|-"},
	}
	languageHCL = &Language{
		Name: "HCL", lines: []string{"#", "//"}, blocks: stars, later: "-",
		quotes:    []quote{{begin: `"`, end: `"`, lines: true, hole: true, opens: []string{"${", "%{"}}},
		operators: "== != <= >= && || => ...", ends: endsBefore, special: noLinesInside, heredoc: heredocHCL,
		words: words{unary: "! -", strength: "= : ?|\x00\x00|&&|== !=|< > <= >=|+ -|* / %"},
	}
	languageDocker = &Language{
		Name: "Dockerfile", lines: hashes, starting: true, quotes: plain, first: "$", later: "-./:@%+",
		operators: "&& || ;; >> << ==", ends: endsAlways, special: hasBackslash, heredoc: heredocShell,
		words: words{strength: "&& \x00\x00|\x00"},
	}
	languageJSON = &Language{
		Name: "JSON", lines: slashes, blocks: stars, quotes: plain, words: words{strength: ":"},
	}
	languageSQL = &Language{
		Name: "SQL", lines: []string{"--"}, blocks: stars,
		quotes: []quote{
			{begin: "'", end: "'", lines: true, raw: true, double: true}, {begin: `"`, end: `"`, lines: true, raw: true,
				double: true},
			{begin: "`", end: "`", raw: true},
		},
		first: "@$", operators: "<> != <= >= || :: := ->  ->> == =>", special: hasDollars,
		words: words{
			unary:    "- + not",
			strength: "or|and|= <> != < > <= >= in like is between|\x00\x00|+ -|* / %|::",
		},
	}
	languageHTML = &Language{
		Name: "HTML", quotes: []quote{{begin: `"`, end: `"`, lines: true, raw: true}, {begin: "'", end: "'",
			lines: true, raw: true}},
		blocks: []block{{begin: "<!--", end: "-->"}, {begin: "{{!--", end: "--}}"}, {begin: "<%--", end: "--%>"},
			{begin: "<%#", end: "%>"}, {begin: "{#", end: "#}"}, {begin: "{{/*", end: "*/}}"}},
		later: "-:", operators: "</ /> {{ }} <% %>", special: hasTags, loose: true,
		words: words{strength: "="},
	}
	languageXML = &Language{
		Name: "XML", quotes: []quote{{begin: `"`, end: `"`, lines: true, raw: true}, {begin: "'", end: "'",
			lines: true, raw: true}},
		blocks: []block{{begin: "<!--", end: "-->"}}, later: "-:.", operators: "</ />", special: hasTags, loose: true,
		words: words{strength: "="},
	}
	languageCSS = &Language{
		Name: "CSS", lines: []string{"//"}, spaced: true, blocks: stars, quotes: plain, later: "-",
		words: words{strength: ":"},
	}
)

// Of these languages only comments and strings are known.
var (
	languageHash = &Language{
		Name: "scripts", lines: hashes, spaced: true, blocks: []block{{begin: "<#", end: "#>"}}, quotes: long, loose: true,
	}
	languageDash = &Language{
		Name: "Lua", lines: []string{"--", "#"}, quotes: plain, loose: true,
		blocks: []block{{begin: "--[[", end: "]]"}, {begin: "{-", end: "-}"}, {begin: "/*", end: "*/"}},
	}
	languageSemicolon = &Language{
		Name: "Lisp", lines: []string{";", "#"}, blocks: []block{{begin: "#|", end: "|#"}},
		quotes: []quote{{begin: `"`, end: `"`, lines: true}}, loose: true,
	}
	languagePercent = &Language{Name: "TeX", lines: []string{"%"}, blocks: []block{{begin: "%{", end: "%}"}},
		loose: true}
	languageML = &Language{
		Name: "ML", lines: slashes, blocks: []block{{begin: "(*", end: "*)", nested: true}},
		quotes: []quote{{begin: `"`, end: `"`, lines: true}}, loose: true,
	}
	languageBatch = &Language{
		Name: "Batch", lines: []string{"REM ", "rem ", "::", "'"}, spaced: true, quotes: []quote{{begin: `"`, end: `"`}},
		loose: true,
	}
	languageSlash = &Language{Name: "Swift", lines: slashes, blocks: stars, quotes: long, loose: true}

	// Prose has no comments.
	Prose = &Language{Name: "prose"}

	// Any is for files of which the language is not known: the usual kinds of comments
	// count.
	Any = &Language{
		Name: "unknown", spaced: true, loose: true,
		lines: []string{"//", "#", "--", ";", "%", "REM ", "rem ", "!"},
		blocks: []block{
			{begin: "/*", end: "*/"}, {begin: "<!--", end: "-->"}, {begin: "(*", end: "*)"}, {begin: "{-", end: "-}"},
			{begin: "#|", end: "|#"}, {begin: "--[[", end: "]]"}, {begin: "{{!--", end: "--}}"}, {begin: "{#", end: "#}"},
		},
		quotes: append([]quote{{begin: "`", end: "`"}}, plain...),
	}
)

// all has the languages by how much is known of them, and the canonical names of
// internal/language that stand for each, apart by commas.
var all = []struct {
	language   *Language
	names      string
	structured bool
}{
	{languagePHP, "php,hack", true},
	{languageHTML, "html,vue,svelte,astro,html+erb,html+php,html+razor,html+django,html+ecr,html+eex,handlebars," +
		"mustache," +
		"twig,jinja,blade,java server pages,ejs,liquid", true},
	{languageTyped, "typescript", true},
	{languageScript, "javascript,tsx,jsx", true},
	{languageC, "c++,c,objective-c,objective-c++,cuda", true},
	{languageSharp, "c#", true},
	{languageGo, "go", true},
	{languagePython, "python,starlark", true},
	{languageJava, "java,groovy,gradle", true},
	{languageKotlin, "kotlin", true},
	{languageRuby, "ruby,crystal", true},
	{languageRust, "rust", true},
	{languageShell, "shell,fish", true},
	{languageDocker, "dockerfile", true},
	{languageYAML, "yaml,miniyaml", true},
	{languageHCL, "hcl,terraform", true},
	{languageJSON, "json,json with comments,json5", true},
	{languageSQL, "sql,plpgsql,plsql,tsql,sqlpl,mysql", true},
	{languageXML, "xml,svg,xslt,maven pom", true},
	{languageCSS, "css,scss,less", true},
	{languageSlash, "swift,scala,dart,protocol buffer,zig,solidity,glsl,verilog,systemverilog,d,thrift,v,gradle " +
		"kotlin", false},
	{languageHash, "toml,ini,dotenv,java properties,makefile,cmake,perl,raku,r,julia,elixir,tcl,awk,sed,powershell," +
		"graphql," +
		"nix,ignore list,codeowners,editorconfig,git config,git attributes,ssh config,text proto,nginx,apacheconf", false},
	{languageDash, "lua,haskell,ada,elm,vhdl", false},
	{languageSemicolon, "common lisp,emacs lisp,clojure,scheme,racket,assembly", false},
	{languagePercent, "tex,erlang", false},
	{languageML, "ocaml,f#,pascal", false},
	{languageBatch, "batchfile,visual basic .net,vbscript,vba", false},
	{Prose, "markdown,mdx,restructuredtext,asciidoc,org,rmarkdown", false},
	{Any, "", false},
}

var (
	byName = map[string]*Language{}
	rank   = map[*Language]int{}
)

func init() {
	for i, x := range all {
		x.language.build()
		rank[x.language] = i
		for name := range strings.SplitSeq(x.names, ",") {
			if name != "" {
				byName[name] = x.language
			}
		}
	}
}
