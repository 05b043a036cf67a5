package main

import (
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"runtime/debug"
)

// facts are what is known of a program that was built.
type facts struct {
	info *debug.BuildInfo
	sum  string // SHA-256 in hexadecimal
}

// inspect makes sure that a program is what a release promises: for its
// system, static, and without a trace of where it was built.
func inspect(path string, t target) (facts, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return facts{}, err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for key, want := range map[string]string{"GOOS": t.OS, "GOARCH": t.Arch, "CGO_ENABLED": "0", "-trimpath": "true"} {
		if settings[key] != want {
			return facts{}, fmt.Errorf("built with %s=%q, want %q", key, settings[key], want)
		}
	}
	check := map[string]func(string, string) error{"linux": checkELF, "darwin": checkMachO, "windows": checkPE}[t.OS]
	if err := check(path, t.Arch); err != nil {
		return facts{}, err
	}
	sum, err := fileSum(path)
	return facts{info, sum}, err
}

func checkELF(path, arch string) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; f.Machine != want {
		return fmt.Errorf("the program is for %s, want %s", f.Machine, want)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return errors.New("the program is not static")
		}
	}
	return nil
}

func checkMachO(path, arch string) error {
	f, err := macho.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if want := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[arch]; f.Cpu != want {
		return fmt.Errorf("the program is for %s, want %s", f.Cpu, want)
	}
	return nil
}

func checkPE(path, arch string) error {
	f, err := pe.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	want := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}[arch]
	if f.Machine != want {
		return fmt.Errorf("the program is for machine %#x, want %#x", f.Machine, want)
	}
	return nil
}
