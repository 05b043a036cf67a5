package taint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
	"github.com/prwarden/prwarden/internal/taint"
)

func always(int) bool { return true }

// places are where patterns match; `@X` behind one is its focus.
func places(t testing.TB, text *syntax.Text, language string, patterns ...string) (all []taint.Place) {
	for _, pattern := range patterns {
		pattern, focus, _ := strings.Cut(pattern, " @")
		f, err := structure.Compile(syntax.Named(language), structure.Condition{Pattern: pattern, Focus: focus})
		require.NoError(t, err, pattern)
		f.All(structure.NewFile(text), always, func(m structure.Match) { all = append(all, taint.PlaceOf(m)) })
	}

	return all
}

// rule is the patterns of a language's sources, sinks and sanitizers.
type rule struct{ sources, sinks, sanitizers []string }

var rules = map[string]rule{
	"go": {
		[]string{"$R.FormValue($_)", "$R *http.Request @R"}, []string{"exec.Command($_, $X) @X", "run($X) @X"},
		[]string{"clean($$$)", "valid($X) @X"},
	},
	"python": {
		[]string{"request.args", "sys.argv"}, []string{"os.system($X) @X", "run($X) @X", "sh($$$)"}, []string{"quote($$$)", "int($$$)"},
	},
	"javascript": {
		[]string{"req.query", "req.body"}, []string{"exec($X, $$$) @X", "$E.innerHTML = $X @X", "run($X) @X"}, []string{"clean($$$)"},
	},
	"java": {
		[]string{"$R.getParameter($_)", "@RequestParam String $P @P"}, []string{"$X.exec($C) @C", "run($X) @X"}, []string{"clean($$$)"},
	},
	"kotlin": {[]string{"call.parameters"}, []string{"run($X) @X"}, []string{"clean($$$)"}},
	"c":      {[]string{"getenv($_)", "read_line($X) @X"}, []string{"system($X) @X", "run($X) @X"}, []string{"clean($$$)"}},
	"c#":     {[]string{"Request.Query"}, []string{"Process.Start($X) @X", "run($X) @X"}, []string{"clean($$$)"}},
	"ruby":   {[]string{"params"}, []string{"system($X) @X", "run($X) @X"}, []string{"clean($$$)"}},
	"php": {
		[]string{`\$_GET`}, []string{"shell_exec($X) @X", "run($X) @X", "echo $X @X"}, []string{"clean($$$)"},
	},
	"rust":  {[]string{"env::args()"}, []string{"run($X) @X"}, []string{"clean($$$)"}},
	"shell": {[]string{`\$1`, "read $X @X"}, []string{"eval $X @X"}, nil},
}

// flowsOf are the flows in a text, each as the lines of its steps.
func flowsOf(t testing.TB, language, text string) (all []string) {
	name, r := language, rules[language]
	if language == "typescript" {
		r = rules["javascript"]
	}
	read := syntax.Scan(syntax.Named(name), []byte(text))
	found := taint.Find(read, taint.Places{
		Sources: places(t, read, name, r.sources...), Sinks: places(t, read, name, r.sinks...),
		Sanitizers: places(t, read, name, r.sanitizers...),
	}, always)
	for _, flow := range found.Flows {
		lines := ""
		for _, s := range found.Steps(flow) {
			line := 1 + strings.Count(text[:read.Tokens[s.From].Start], "\n")
			lines += fmt.Sprintf("%s%d", []string{"s", "a", "!"}[s.Kind], line)
		}
		all = append(all, lines)
	}

	return all
}

func check(t *testing.T, language string, tests map[string][]string) {
	t.Helper()
	for text, want := range tests {
		assert.Equal(t, want, flowsOf(t, language, text), "%s:\n%s", language, text)
	}
}

func TestPython(t *testing.T) {
	t.Parallel()
	check(t, "python", map[string][]string{
		"os.system(request.args['a'])":                                                                     {"s1!1"},
		"x = request.args['a']\nos.system('ls ' + x)":                                                      {"s1a1!2"},
		"x = request.args['a']\ny = f'ls {x}'\nz = y\nos.system(z)":                                        {"s1a1a2a3!4"},
		"x = request.args['a']\nx = 'b'\nos.system(x)":                                                     nil,
		"x = quote(request.args['a'])\nos.system(x)":                                                       nil,
		"x = request.args['a']\nos.system(quote(x))":                                                       nil,
		"x = request.args['a']\nos.system(quote(x) + x)":                                                   {"s1a1!2"},
		"x = request.args['a']\nquote(run(x))":                                                             {"s1a1!2"},
		"os.system(x)\nx = request.args['a']":                                                              nil,
		"x = os.system(x)\nx = request.args":                                                               nil,
		"x = request.args['a']\nx = run(x)":                                                                {"s1a1!2"},
		"def f():\n  x = request.args['a']\ndef g(x):\n  os.system(x)":                                     nil,
		"x = request.args\ndef f():\n  os.system(x)":                                                       nil,
		"def f():\n  x = request.args\n  def g():\n    os.system(x)\n":                                     {"s2a2!4"},
		"def f():\n  x = request.args\n  def g(x):\n    os.system(x)\n":                                    nil,
		"x = request.args\nif c:\n  x = 'a'\nos.system(x)":                                                 {"s1a1!4"},
		"x = request.args\nif c:\n  x = 'a'\nelse:\n  x = 'b'\nos.system(x)":                               nil,
		"x = request.args\nif c:\n  x = 'a'\nelif d:\n  x = 'b'\nos.system(x)":                             {"s1a1!6"},
		"if c:\n  x = request.args\nelse:\n  os.system(x)\nos.system(x)":                                   {"s2a2!5"},
		"if c:\n  x = request.args\n  return x\nos.system(x)":                                              nil,
		"x = request.args\nif c: x = 'a'\nos.system(x)":                                                    {"s1a1!3"},
		"for x in request.args:\n  os.system(x)":                                                           {"s1a1!2"},
		"x = [a for a in request.args]\nos.system(x)":                                                      {"s1a1!2"},
		"with open(request.args['a']) as f:\n  os.system(f)":                                               {"s1a1!2"},
		"x = request.args\nos.system(y == x)\nz = x is None\nos.system(z)":                                 nil,
		"x = request.args\ny = 'a' if x else 'b'\nos.system(y)":                                            nil,
		"x = request.args\ny = x if x else 'b'\nos.system(y)":                                              {"s1a1a2!3"},
		"a, b = request.args, 'b'\nos.system(b)\nos.system(a)":                                             {"s1a1!3"},
		"a, b = f(request.args)\nos.system(b)":                                                             {"s1a1!2"},
		"(a, b) = f(request.args)\nos.system(b)":                                                           {"s1a1!2"},
		"self.x = request.args\nos.system(self.y)\nos.system(self.x)":                                      {"s1a1!3"},
		"x = request.args\nos.system(x.a.b)\nx.a = 'b'\nos.system(x.a)\nx = y\nos.system(x.a)":             {"s1a1!2", "s1a1!4"},
		"d['a'] = request.args\nos.system(d['b'])":                                                         {"s1a1!2"},
		"l = []\nl.append(request.args)\nos.system(' '.join(l))":                                           {"s2a2!3"},
		"os.system(cmd=request.args)\nx = request.args\nf(x=1)\nos.system(x)":                              {"s1!1", "s2a2!4"},
		"f = lambda a: run(a)\nx = request.args\ng = lambda: run(x)":                                       {"s2a2!3"},
		"x: str = request.args\nrun(x)":                                                                    {"s1a1!2"},
		"if (n := request.args):\n  run(n)":                                                                {"s1a1!2"},
		"x = '''\nrequest.args'''\nrun(x) # run(request.args)":                                             nil,
		"x = request.args\nrun('x')\nrun(y.x)":                                                             nil,
		"x = request.args\nx += 'a'\nrun(x)\ny = 'a'\ny += x\nrun(y)":                                      {"s1a1!3", "s1a1a5!6"},
		"try:\n  n = int(request.args['n'])\nexcept ValueError:\n  n = 0\nrun(n)":                          nil,
		"x = request.args\ntry:\n  y = x\nexcept E:\n  y = ''\nrun(y)":                                     {"s1a1a3!6"},
		"match = request.args\nrun(match)":                                                                 {"s1a1!2"},
		"class A:\n  def f(self):\n    self.x = request.args\n  def g(self):\n    run(self.x)\n":           nil,
		"x = request.args\nsh('a', x)":                                                                     {"s1a1!2"},
		"@app.route('/')\nasync def f(a, b=1) -> str:\n  x = request.args.get('a', '')\n  return run(x)\n": {"s3a3!4"},
	})
}

func TestGo(t *testing.T) {
	t.Parallel()
	check(t, "go", map[string][]string{
		"func f(w W, r *http.Request) {\n\tx := r.FormValue(\"a\")\n\trun(x)\n}":                                                                                           {"s2a2!3"},
		"func f(w W, r *http.Request) {\n\trun(r.URL.Path)\n}\nfunc g(r R) { run(r.URL) }":                                                                                 {"s1!2"},
		"func f(w W, r *http.Request) {\n\tgo func() {\n\t\trun(r.Host)\n\t}()\n}":                                                                                         {"s1!3"},
		"func f(r R) {\n\tx, err := g(r.FormValue(\"a\"))\n\tif err != nil {\n\t\trun(err)\n\t}\n\trun(x)\n}":                                                              {"s2a2!6"},
		"func f(r R) {\n\tx := fmt.Sprintf(\"%s\", r.FormValue(\"a\"))\n\trun(x)\n}":                                                                                       {"s2a2!3"},
		"func f(r R) {\n\tvar x string = r.FormValue(\"a\")\n\trun(x)\n\trun(string)\n}":                                                                                   {"s2a2!3"},
		"func f(r R) {\n\tfor i, x := range r.FormValue(\"a\") {\n\t\trun(i)\n\t\trun(x)\n\t}\n}":                                                                          {"s2a2!4"},
		"func f(r R) {\n\tif x := r.FormValue(\"a\"); x != \"\" {\n\t\trun(x)\n\t}\n}":                                                                                     {"s2a2!3"},
		"func f(r R) {\n\tx := r.FormValue(\"a\")\n\tswitch c {\n\tcase 1:\n\t\tx = \"a\"\n\t\trun(x)\n\tcase 2:\n\t\trun(x)\n\tdefault:\n\t\tx = \"b\"\n\t}\n\trun(x)\n}": {"s2a2!8", "s2a2!12"},
		"func f(r R) {\n\tx := r.FormValue(\"a\")\n\tswitch c {\n\tcase 1:\n\t\tx = \"a\"\n\tdefault:\n\t\tx = \"b\"\n\t}\n\trun(x)\n}":                                    nil,
		"func f(r R) {\n\tx := r.FormValue(\"a\")\n\tif !valid(x) {\n\t\treturn\n\t}\n\trun(x)\n}":                                                                         nil,
		"func f(r R) {\n\tvar b strings.Builder\n\tb.WriteString(r.FormValue(\"a\"))\n\trun(b.String())\n}":                                                                {"s3a3!4"},
		"func (s *S) f(r R) struct{ a int } {\n\tx := T{a: r.FormValue(\"a\")}\n\trun(x)\n}":                                                                               {"s2a2!3"},
		"func f(r R) {\n\ta, b := r.FormValue(\"a\"), \"b\"\n\trun(b)\n\trun(a)\n}":                                                                                        {"s2a2!4"},
		"func f(r R) {\n\tx := r.FormValue(\"a\")\n\ts.x = x\n\tm[\"a\"] = x\n\trun(s.y)\n\trun(m)\n}":                                                                     {"s2a2a4!6"},
		"func f(r R) interface{} {\n\tx := \"\"\n\tg(func(a A) error {\n\t\tx = r.FormValue(\"a\")\n\t\ty := x\n\t\treturn nil\n\t})\n\trun(x)\n\trun(y)\n}":               {"s4a4!8"},
	})
}

func TestJavaScript(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"javascript", "typescript"} {
		check(t, language, map[string][]string{
			"app.get('/', (req, res) => {\n  exec(`ls ${req.query.a}`, () => {})\n})":                               {"s2!2"},
			"app.get('/', async (req, res) => {\n  const {a, b: c} = req.query\n  exec(c)\n  exec(b)\n  run(a)\n})": {"s2a2!3", "s2a2!5"},
			"function f(req) {\n  let x = req.query.a, y = 1;\n  exec(y);\n  exec(x);\n}":                           {"s2a2!4"},
			"function f(req) {\n  var x = req.query.a\n}\nfunction g() {\n  exec(x)\n}":                             nil,
			"const x = req.query\nconst f = () => exec(x)\nconst g = y => exec(y)\nconst h = x => exec(x)":          {"s1a1!2"},
			"class A {\n  f(req) {\n    this.x = req.query\n    run(this.x)\n  }\n  g() {\n    run(this.x)\n  }\n}": {"s3a3!4"},
			"e.innerHTML = req.query.a":        {"s1!1"},
			"e.innerHTML = clean(req.query.a)": nil,
			"const x = req.query.a ? 'a' : 'b'\nrun(x)\nrun(req.query.a === 'a')\nrun(!req.query.a)":               nil,
			"const x = req.query.a || 'b'\nrun(x)\nrun({x})\nrun({x: 1})":                                          {"s1a1!2", "s1a1!3"},
			"let x = req.query.a\nif (c)\n  x = 'a'\nrun(x)":                                                       {"s1a1!4"},
			"let x = req.query.a\nif (c) {\n  x = 'a'\n} else if (d) {\n  x = 'b'\n} else {\n  x = 'c'\n}\nrun(x)": nil,
			"let x = req.query.a\nif (c) {\n  x = 'a'\n}\nelse {\n  run(x)\n}\nrun(x)":                             {"s1a1!6", "s1a1!8"},
			"let x = ''\nreq.query.a.split(',').forEach(function(y) {\n  x += y\n})\nrun(x)":                       {"s2a2a3!5"},
			"req.query.a.map(x => run(x))":                                                                         {"s1a1!1"},
			"for (const x of req.query.a) run(x)\nfor (const k in req.body) { run(k) }":                            {"s1a1!1", "s2a2!2"},
			"let x; while ((x = req.query.a)) {\n  run(x)\n}":                                                      {"s1a1!2"},
			"const a = []\na.push(req.query.a)\nrun(a.join())":                                                     {"s2a2!3"},
			"const f = function() {\n  return req.query.a\n}\nrun(f)":                                              nil,
			"switch (c) {\n  case 1:\n    x = req.query.a\n    break\n  case 2:\n    run(x)\n}\nrun(x)":            {"s3a3!8"},
			"let x = req.query.a\nx = x.trim()\nrun(x)":                                                            {"s1a1a2!3"},
		})
	}
	check(t, "typescript", map[string][]string{
		"const f = (req: Request, res: Response): Promise<void> => {\n  const x: string = req.query.a as string\n  run(x)\n}":              {"s2a2!3"},
		"class A {\n  async f(@Body() a: B): Promise<void> {\n    const x = req.body\n    run(x)\n  }\n  g(): string { return run(x) }\n}": {"s3a3!4"},
	})
	check(t, "javascript", map[string][]string{
		"const x = req.query.a\nconst y = <p title={x}>{x}</p>\nrun(y)": {"s1a1a2!3"},
	})
}

func TestJava(t *testing.T) {
	t.Parallel()
	check(t, "java", map[string][]string{
		"class A {\n  void f(R r) throws E {\n    final String x = r.getParameter(\"a\");\n    rt.exec(\"ls \" + x);\n  }\n}":                         {"s3a3!4"},
		"class A {\n  String f(@RequestParam String x, int y) {\n    run(y);\n    return run(x);\n  }\n  void g() { run(x); }\n}":                     {"s2!4"},
		"class A { void f() {\n  StringBuilder b = new StringBuilder();\n  b.append(\"a\").append(r.getParameter(\"a\"));\n  run(b.toString());\n} }": {"s3a3!4"},
		"class A { void f() {\n  Map<String, String> m = r.getParameter(\"a\");\n  run(String.x);\n  for (String x : m) { run(x); }\n} }":             {"s2a2a4!4"},
		"class A { void f() {\n  String x = r.getParameter(\"a\");\n  list.forEach(y -> run(x));\n  new T() { void g() { run(x); } };\n} }":           {"s2a2!3", "s2a2!4"},
		"class A { void f() {\n  String x = r.getParameter(\"a\");\n  if (x == null) { x = \"\"; } else { x = clean(x); }\n  run(x);\n} }":            nil,
		"class A { void f() {\n  String x = null;\n  try {\n    x = r.getParameter(\"a\");\n  } catch (E e) {\n    x = \"\";\n  }\n  run(x);\n} }":    {"s4a4!8"},
	})
}

func TestOtherLanguages(t *testing.T) {
	t.Parallel()
	check(t, "php", map[string][]string{
		"<?php\n$x = $_GET['a'];\necho \"a $x\";\necho clean($x);":                                                                               {"s2a2!3"},
		"<?php\nfunction f($a) {\n  $x = $_GET['a'];\n  return run($x);\n}\nfunction g() { run($x); }":                                           {"s3a3!4"},
		"<?php\nforeach ($_GET as $k => $v) {\n  run($k);\n  run($v);\n}":                                                                        {"s2a2!4"},
		"<?php\n$x .= $_GET['a'];\n[$a, $b] = $x;\nrun($b);\nrun((int) $c);":                                                                     {"s2a2a3!4"},
		"<?php\nclass A { public function f(B $b): ?string {\n  $this->x = $_GET['a'];\n  run($this->x);\n  $f = fn ($y) => run($this->x);\n} }": {"s3a3!4", "s3a3!5"},
		"<?php\n$x = $_GET['a'];\nrun('a' . $x . 'b');":                                                                                          {"s2a2!3"},
		"<p><?php echo $_GET['a'] ?></p>":                                                                                                        {"s1!1"},
	})
	check(t, "ruby", map[string][]string{
		"def show\n  x = params[:id]\n  system(\"ls #{x}\")\nend\ndef other\n  system(x)\nend":                           {"s2a2!3"},
		"def show a, b\n  x = params[:id]\n  x = 'a' if c\n  system(x)\nend":                                             {"s2a2!4"},
		"def show\n  x = params[:id]\n  if c\n    x = 'a'\n  else\n    x = 'b'\n  end\n  system(x)\nend":                 nil,
		"def show\n  params[:ids].each do |x|\n    system(x)\n  end\n  params[:a].map { |y| run(y) }\nend":               {"s2a2!3", "s5a5!5"},
		"def show\n  x = params[:id]\n  return unless y\n  system(x)\nend":                                               {"s2a2!4"},
		"def show\n  while x do\n    a\n  end\n  case y\n  when 1 then z = params\n  end\n  run(z)\nend\ndef b = run(z)": {"s6a6!8"},
		"x = {class: 1, if: params[:a]}\nrun(x)\ns << x\nrun(s)":                                                         {"s1a1!2", "s1a1a3!4"},
	})
	check(t, "c#", map[string][]string{
		"class A { public string F(string a)\n{\n  var x = Request.Query[\"a\"];\n  Process.Start($\"ls {x}\");\n}\nint G() => run(x); }": {"s3a3!4"},
		"class A { void F() {\n  foreach (var x in Request.Query) run(x);\n  var y = new B { C = Request.Query };\n  run(y);\n} }":        {"s2a2!2", "s3a3!4"},
	})
	check(t, "kotlin", map[string][]string{
		"fun f(a: String): Int {\n  val x = call.parameters[\"a\"]\n  run(\"ls $x\")\n}\nfun g() = run(x)": {"s2a2!3"},
		"fun f() {\n  call.parameters.forEach { x -> run(x) }\n  val y = if (c) call.parameters else null\n  run(y)\n  run(a = y)\n}": {
			"s2a2!2", "s3a3!4", "s3a3!5"},
		"fun f() {\n  var x = call.parameters\n  when (c) {\n    1 -> x = \"\"\n    else -> run(x)\n  }\n}": {"s2a2!5"},
	})
	check(t, "rust", map[string][]string{
		"fn f() {\n  let x: Vec<String> = env::args().collect();\n  run(&x[1]);\n}\nfn g() { run(x); }":         {"s2a2!3"},
		"fn f() {\n  let x = env::args();\n  let y = format!(\"ls {x}\");\n  if let Some(z) = y { run(z); }\n}": {"s2a2a3a4!4"},
		"fn f() {\n  let x = if c { env::args() } else { \"\" };\n  run(x);\n  x.iter().map(|y| run(y));\n}":    {"s2a2!3", "s2a2a4!4"},
	})
	check(t, "c", map[string][]string{
		"int main(void)\n{\n  char *x = getenv(\"a\");\n  char y[9];\n  read_line(&y);\n  system(x);\n  system(y);\n}\nint g() { system(x); }": {
			"s3a3!6", "s5!7"},
		"void f() {\n  for (auto x : getenv(\"a\")) { run(x); }\n}": {"s2a2!2"},
	})
	check(t, "shell", map[string][]string{
		"f() {\n  local x=$1\n  if [ -n \"$x\" ]; then eval \"ls $x\"; fi\n}\ng() { eval $x; }": {"s2a2!3"},
		"x=$1\nfor y in $x; do\n  eval $y\ndone\nread z\neval \"$z\"":                           {"s1a1a2!3", "s5!6"},
		"x=$1\ncase $y in\n  a) x=b ;;\n  b) eval $x ;;\nesac\neval $x":                         {"s1a1!4", "s1a1!6"},
	})
}
