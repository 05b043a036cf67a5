# Makes the SBOM of a program, in CycloneDX 1.6, from what the linker wrote into
# it (go version -m -json). Its number comes from the program's checksum, so that
# the same program has the same document.
def purl: "pkg:golang/\(.Path | ascii_downcase)@\(.Version | gsub("\\+"; "%2B"))";
def library: {"bom-ref": purl, type: "library", name: .Path, version: .Version, scope: "required", purl: "\(purl)?type=module"};

("pkg:golang/\(.Main.Path)@\($version)?goarch=\($arch)&goos=\($os)&type=module") as $main
| [({Path: "std", Version: (.GoVersion | ltrimstr("go"))} | library), (.Deps[]? | .Replace // . | library)] as $parts
| {
    "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: "urn:uuid:\($sum[:8])-\($sum[8:12])-8\($sum[13:16])-a\($sum[17:20])-\($sum[20:32])",
    version: 1,
    metadata: {
      timestamp: (env.SOURCE_DATE_EPOCH | tonumber | todate),
      component: {
        "bom-ref": $main,
        type: "application",
        name: "prwarden",
        version: $version,
        hashes: [{alg: "SHA-256", content: $sum}],
        purl: $main,
        properties: [{name: "prwarden:commit", value: $commit}, {name: "prwarden:file", value: $file}],
      },
    },
    components: $parts,
    dependencies: ([{ref: $main, dependsOn: [$parts[] | ."bom-ref"]}] + [$parts[] | {ref: ."bom-ref"}]),
  }
