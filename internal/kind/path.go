package kind

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2/data"
)

// vendorFolders have copies of what others maintain, in lower case. Linguist's own list
// is about statistics of languages: it has `.github`, `env` and `cache`, too.
var vendorFolders = setOf(
	"node_modules", "bower_components", "jspm_packages", "vendor", "vendors", "_vendor", "third_party", "third-party",
	"thirdparty", "3rdparty", "3rd_party", "3rd-party", "extern", "externals", "deps", "godeps", "_workspace", "carthage",
	"site-packages", "dist-packages", ".venv", "venv", ".yarn", "dist", "ace-builds", "mathjax", "flow-typed",
	"boringssl", "cboringssl", "ccryptoboringssl", "cnioboringssl", "embeddedlibraries",
)

// vendorNames are files that tools copy into a repository, in lower case.
var vendorNames = setOf(
	"gradlew", "gradlew.bat", "mvnw", "mvnw.cmd", "mavenwrapperdownloader.java", "config.guess", "config.sub",
	"aclocal.m4", "libtool.m4", "ltoptions.m4", "ltsugar.m4", "ltversion.m4", "lt~obsolete.m4", "ltmain.sh",
	"install-sh", "cpplint.py", "dotnet-install.sh", "dotnet-install.ps1", "erlang.mk",
)

// googleFolders are where every project has its copies of Google's protos.
var googleFolders = []string{"/google/api/", "/google/rpc/", "/google/type/", "/google/protobuf/"}

// isGoogles says whether a path in lower case, behind a slash, has one of these folders.
func isGoogles(lower string) bool {
	return slices.ContainsFunc(googleFolders, func(folder string) bool { return strings.Contains(lower, folder) })
}

// libraries are beginnings of names that files of well-known libraries have.
var libraries = []string{
	"jquery", "bootstrap", "modernizr", "html5shiv", "respond.", "angular", "react.", "react-dom", "vue.", "d3.",
	"lodash", "underscore", "moment", "font-awesome", "fontawesome", "normalize", "foundation", "select2", "ckeditor",
	"tiny_mce", "tinymce", "mootools", "prototype", "raphael", "highcharts", "chart.", "leaflet", "mathjax", "swagger-ui",
}

// licenceHead is where a copy of a library says whose it is, in bytes.
const licenceHead = 1 << 10

func setOf(list ...string) map[string]bool {
	all := make(map[string]bool, len(list))
	for _, name := range list {
		all[name] = true
	}

	return all
}

// isIn says whether one of the folders of a path in lower case has one of the names.
func isIn(lower string, folders map[string]bool) bool {
	for {
		folder, rest, more := strings.Cut(lower, "/")
		if !more {
			return false
		}
		if folders[folder] {
			return true
		}
		lower = rest
	}
}

// vendored says what makes a file a copy of what others maintain. The name of a library
// alone does not: its file begins with a licence.
func vendored(file string, text []byte) string {
	lower := strings.ToLower(file)
	name := path.Base(lower)
	if isIn(lower, vendorFolders) || vendorNames[name] || strings.HasPrefix(lower, "gradle/wrapper/") ||
		strings.HasSuffix(name, ".phar") || // a program of PHP with all its libraries
		strings.HasPrefix(lower, "sorbet/rbi/gems/") || // signatures of other gems
		strings.HasPrefix(lower, "eng/common/") || // of .NET's repositories, which arcade writes
		strings.HasSuffix(name, ".proto") && isGoogles("/"+lower) {
		return "its path is one of copies of other projects"
	}

	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".css", ".scss", ".less":
		isOne := func(library string) bool { return strings.HasPrefix(name, library) }
		head := bytes.ToLower(text[:min(len(text), licenceHead)])
		if slices.ContainsFunc(libraries, isOne) && (bytes.Contains(head, []byte("/*!")) ||
			bytes.Contains(head, []byte("license")) || bytes.Contains(head, []byte("copyright"))) {
			return "its name and its licence are those of a library"
		}
	}

	return ""
}

// testFolders have tests and what they need, in lower case.
var testFolders = setOf(
	"test", "tests", "testing", "__tests__", "spec", "testdata", "testsuite", "unittests", "e2e", "fixtures",
	"__fixtures__", "__mocks__", "__snapshots__", "androidtest", "inttest", "integrationtest", "integration-test",
	"integration_test",
)

// testWords are ends of the names of classes that test. `Spec` is not: Java has KeySpec.
var testWords = []string{"Test", "Tests", "TestCase"}

// testEndings are ends of the names of folders that have tests, as C# has them.
var testEndings = []string{".tests", ".test", ".unittests", ".integrationtests", "-tests", "_tests", "-test"}

// test says what makes a file a test.
func test(file string) string {
	const why = "its path is one of tests"
	lower := strings.ToLower(file)
	if isIn(lower, testFolders) {
		return why
	}
	for folder := range strings.SplitSeq(path.Dir(lower), "/") {
		if strings.Contains(folder, ".tests.") || // App.Tests.iOS
			slices.ContainsFunc(testEndings, func(end string) bool { return strings.HasSuffix(folder, end) }) {
			return why
		}
	}
	name, plain := path.Base(file), path.Base(lower)
	for _, word := range []string{"_test.", ".test.", "-test.", "_spec.", ".spec.", "-spec.", "_tests.", ".tests."} {
		if strings.Contains(plain, word) {
			return why
		}
	}

	switch path.Ext(plain) {
	case ".t": // of Perl's prove
		return why
	case ".py":
		if strings.HasPrefix(plain, "test_") || plain == "conftest.py" || plain == "tests.py" {
			return why
		}
	case ".java", ".kt", ".scala", ".groovy", ".cs", ".vb", ".fs", ".php", ".swift", ".m", ".mm":
		stem := strings.TrimSuffix(name, path.Ext(name))
		if slices.ContainsFunc(testWords, func(word string) bool { return strings.HasSuffix(stem, word) }) {
			return why
		}
	}

	return ""
}

// prose are endings of texts for people, in lower case.
var prose = setOf(".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".org", ".textile", ".rdoc", ".pod")

// sampleFolders show how something is used, in lower case; go-enry knows them in the root folder only.
var sampleFolders = setOf(
	"example", "examples", "_examples", "sample", "samples", "demo", "demos", "tutorial", "tutorials",
)

// documentation says what makes a file documentation: its ending, its folder, or go-enry's table.
func documentation(file string) string {
	lower := strings.ToLower(file)
	if prose[path.Ext(lower)] {
		return "its ending is one of texts for people"
	}
	if isIn(lower, sampleFolders) || strings.Contains(lower, "-examples/") {
		return "its path is one of documentation"
	}
	for _, matcher := range data.DocumentationMatchers {
		if matcher.MatchString(file) {
			return "its path is one of documentation"
		}
	}

	return ""
}

// toolFolders have programs that build, check, measure or release a project, in lower case.
var toolFolders = setOf(
	"script", "scripts", "tools", "hack", "scripts-dev", "dev-scripts", "buildscripts", "build-tools",
	"build_tools", "ci", ".ci", ".circleci", ".buildkite", "bench", "benches", "benchmark", "benchmarks",
	"perf", "playground", "playgrounds", "sandbox",
)

// toolNames are files that tools for building run, in lower case.
var toolNames = setOf(
	"build.rs", "conanfile.py", "dangerfile", "dangerfile.js", "dangerfile.ts", "fabfile.py", "gruntfile.js",
	"gulpfile.js", "magefile.go", "noxfile.py", "rakefile", "setup.py", "tasks.py", "waf", "wscript",
)

// configured are tools for developers whose settings are programs, such as webpack.config.js.
var configured = setOf(
	"babel", "commitlint", "cypress", "eslint", "jest", "karma", "metro", "playwright", "postcss", "prettier", "rollup",
	"rspack", "stylelint", "tailwind", "tsup", "vite", "vitest", "vue", "webpack",
)

// tooling says what makes a file part of a tool for those who work on the project.
func tooling(file string) string {
	lower := strings.ToLower(file)
	name := path.Base(lower)
	if isIn(lower, toolFolders) || toolNames[name] || strings.HasPrefix(name, "dev-") {
		return "its path is one of tools for developers"
	}
	if tool, _, ok := strings.Cut(name, ".config."); ok && configured[tool] {
		return "its name is one of settings of tools"
	}

	return ""
}
